/* adapt.c - frames of different ages. A schema may gain arguments with defaults; callers and kernels compiled before
 * that go on working: their frame is copied field by field, by name, to or from today's. A new argument that does
 * not hold its default cannot be passed to an older kernel, and that is an error which says so. */
#include <string.h>

#include "core/dispatch/registry.h"
#include "core/plugin/plugin.h"

static const tn_field *find_field(const tn__layout *l, const char *name, bool result, int index)
{
    if (result) return index < l->n_results ? &l->fields[index] : NULL;
    for (int i = 0; i < l->n_args; i++)
        if (strcmp(l->fields[l->n_results + i].name, name) == 0) return &l->fields[l->n_results + i];
    return NULL;
}

static tn_status refuse(const tn_op *op, const tn__layout *older, const char *what, const char *name)
{
    return tn__fail(NULL, TN_ERR_PLUGIN, "a kernel compiled against '%s' cannot serve '%s': %s '%s'", older->schema->text,
                    op->schema, what, name);
}

tn_status tn__adapt_check(const tn_op *op, const tn__layout *older)
{
    const tn__layout *now = op->layout;
    if (older->n_results != now->n_results) return refuse(op, older, "the number of results differs in", op->name);
    for (int i = 0; i < older->n_results + older->n_args; i++) {
        const tn_field *f = &older->fields[i];
        const tn_field *today = find_field(now, f->name, i < older->n_results, i);
        if (!today) return refuse(op, older, "there is no more an argument", f->name);
        if (today->kind != f->kind || (today->flags & TN_FIELD_WRITTEN) != (f->flags & TN_FIELD_WRITTEN))
            return refuse(op, older, "the type changed of", f->name);
    }
    for (int i = 0; i < now->n_args; i++) {
        const tn_field *f = &now->fields[now->n_results + i];
        if (!find_field(older, f->name, false, 0) && !(f->flags & TN_FIELD_DEFAULTED))
            return refuse(op, older, "it does not know the required argument", f->name);
    }
    return TN_OK;
}

static void copy_fields(const tn__layout *from, const void *src, const tn__layout *to, void *dst, bool results)
{
    int first = results ? 0 : to->n_results, last = results ? to->n_results : to->n_results + to->n_args;
    for (int i = first; i < last; i++) {
        const tn_field *d = &to->fields[i], *s = find_field(from, d->name, results, i);
        if (s) memcpy((char *)dst + d->offset, (const char *)src + s->offset, d->size);
    }
}

static tn_status check_defaults(tn_call *call, const tn__layout *older, const void *frame)
{
    const tn__layout *now = call->op->layout;
    for (int i = 0; i < now->n_args; i++) {
        const tn_field *f = &now->fields[now->n_results + i];
        if (find_field(older, f->name, false, 0)) continue;
        if (memcmp((const char *)frame + f->offset, now->defaults + f->offset, f->size) != 0)
            return tn__fail(call, TN_ERR_UNSUPPORTED, "this kernel was compiled against '%s', which has no '%s'; leave it at its "
                            "default, or rebuild the plugin", older->schema->text, f->name);
    }
    return TN_OK;
}

tn_status tn__adapted_call(tn_call *call, void *frame)
{
    const tn__kernel *outer = call->kernel;
    const tn__layout *older = outer->layout, *now = call->op->layout;
    TN__TRY(check_defaults(call, older, frame));
    _Alignas(16) unsigned char old_frame[4096];
    if (older->size > sizeof old_frame)
        return tn__fail(call, TN_ERR_UNSUPPORTED, "the frame of '%s' is too long to adapt", older->schema->text);
    memcpy(old_frame, older->defaults, older->size);
    copy_fields(now, frame, older, old_frame, false);
    copy_fields(now, frame, older, old_frame, true); /* a structured kernel finds its results there */
    call->kernel = outer->inner;
    call->data = outer->inner->data;
    tn_status status = outer->inner->fn(call, old_frame);
    copy_fields(older, old_frame, now, frame, true);
    return status;
}

/* A caller compiled against an older header: its frame ends early, what it has stands where today's stands. */
tn_status tn__call_with_older_frame(const tn_op *op, void *frame, uint64_t keys, const char *file, int line)
{
    uint32_t size = ((tn_frame *)frame)->size;
    tn_call call = {.op = op, .file = file, .line = line};
    _Alignas(16) unsigned char whole[4096];
    if (size < sizeof(tn_frame) || op->frame_size > sizeof whole)
        return tn__fail(&call, TN_ERR_ARGUMENT, "the frame's size is %u; today's is %u, and no frame is shorter than %zu", size,
                        op->frame_size, sizeof(tn_frame));
    memcpy(whole, op->layout->defaults, op->frame_size);
    memcpy(whole, frame, size);
    ((tn_frame *)whole)->size = op->frame_size;
    (void)keys; /* of what the caller could see of a short frame; today's are read from the whole */
    tn_status status = tn_op_call_at(op, whole, file, line);
    memcpy((char *)frame + sizeof(tn_frame), whole + sizeof(tn_frame), size - sizeof(tn_frame));
    return status;
}

/* adapt.c - frames of different ages. A schema may gain arguments with defaults; callers and
 * kernels compiled before that go on working: their frame is copied field by field, by name, to or
 * from today's. A new argument that does not hold its default cannot be passed to an older kernel,
 * and that is an error which says so. */
#include <string.h>

#include "core/dispatch/registry.h"

static const tn_field *find_field(const tn__layout *l, const char *name, bool result, int index)
{
    if (result)
        return index < l->n_results ? &l->fields[index] : NULL;
    for (int i = 0; i < l->n_args; i++)
        if (strcmp(l->fields[l->n_results + i].name, name) == 0)
            return &l->fields[l->n_results + i];
    return NULL;
}

static tn_status refuse(const tn_op *op, const tn__layout *older, const char *what,
                        const char *name)
{
    return tn__fail(NULL, TN_ERR_PLUGIN,
                    "a kernel compiled against '%s' cannot serve '%s': %s '%s'",
                    older->schema->text, op->schema, what, name);
}

tn_status tn__adapt_check(const tn_op *op, const tn__layout *older)
{
    const tn__layout *now = op->layout;
    if (older->n_results != now->n_results)
        return refuse(op, older, "the number of results differs in", op->name);
    for (int i = 0; i < older->n_results + older->n_args; i++) {
        const tn_field *f = &older->fields[i];
        const tn_field *today = find_field(now, f->name, i < older->n_results, i);
        if (!today)
            return refuse(op, older, "there is no more an argument", f->name);
        bool may_be_absent = today->flags & ~f->flags &
                             TN_FIELD_OPTIONAL; /* which the kernel does not look for */
        if (today->kind != f->kind ||
            (today->flags & TN_FIELD_WRITTEN) != (f->flags & TN_FIELD_WRITTEN) || may_be_absent)
            return refuse(op, older, "the type changed of", f->name);
    }
    for (int i = 0; i < now->n_args; i++) {
        const tn_field *f = &now->fields[now->n_results + i];
        if (!find_field(older, f->name, false, 0) && !(f->flags & TN_FIELD_DEFAULTED))
            return refuse(op, older, "it does not know the required argument", f->name);
    }
    return TN_OK;
}

/* A caller's frame is read where it stands, so its fields must stand where today's do. */
tn_status tn__adapt_check_caller(const tn_op *op, const tn__layout *older, const char *caller)
{
    const tn__layout *now = op->layout;
    int n = older->n_results + older->n_args, n_now = now->n_results + now->n_args;
    bool fits = older->n_results == now->n_results && n <= n_now;
    for (int i = 0; i < n && fits; i++) {
        const tn_field *f = &older->fields[i], *today = &now->fields[i];
        fits = f->kind == today->kind && f->offset == today->offset &&
               ((f->flags ^ today->flags) & TN_FIELD_WRITTEN) == 0 &&
               (i < now->n_results || strcmp(f->name, today->name) == 0);
    }
    for (int i = n; i < n_now && fits; i++)
        fits = now->fields[i].flags & TN_FIELD_DEFAULTED;
    if (fits)
        return TN_OK;
    return tn__fail(
        NULL, TN_ERR_PLUGIN,
        "%s calls '%s', but the operator is '%s' now, whose frame does not begin like that one; "
        "rebuild the plugin",
        caller, older->schema->text, op->schema);
}

static void copy_fields(const tn__layout *from, const void *src, const tn__layout *to, void *dst,
                        bool results)
{
    int first = results ? 0 : to->n_results,
        last = results ? to->n_results : to->n_results + to->n_args;
    for (int i = first; i < last; i++) {
        const tn_field *d = &to->fields[i], *s = find_field(from, d->name, results, i);
        if (s)
            memcpy((char *)dst + d->offset, (const char *)src + s->offset, d->size);
    }
}

static bool same_list(const void *a, const void *b, size_t item)
{
    const tn_ints *x = a, *y = b; /* every list is a pointer and a length */
    return x->len == y->len &&
           (x->len <= 0 || memcmp(x->data, y->data, (size_t)x->len * item) == 0);
}

static bool same_number(const tn_scalar *a, const tn_scalar *b)
{
    if (a->kind != b->kind)
        return false;
    size_t used = a->kind == TN_SCALAR_NONE      ? 0
                  : a->kind == TN_SCALAR_COMPLEX ? sizeof a->v.c
                                                 : sizeof a->v.i;
    return memcmp(&a->v, &b->v, used) == 0;
}

/* Whether two fields hold one value: what they point to counts, and padding does not. */
static bool same_value(const tn_field *f, const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    switch (f->kind) {
    case TN_FIELD_STR:
        return *x && *y ? strcmp(*x, *y) == 0 : *x == *y;
    case TN_FIELD_INTS:
        return same_list(a, b, sizeof(int64_t));
    case TN_FIELD_FLOATS:
        return same_list(a, b, sizeof(double));
    case TN_FIELD_BOOLS:
        return same_list(a, b, sizeof(bool));
    case TN_FIELD_TENSORS:
        return same_list(a, b, sizeof(tn_tensor *));
    case TN_FIELD_SCALAR:
        return same_number(a, b);
    case TN_FIELD_OPT_INT: {
        const tn_opt_int *p = a, *q = b;
        return p->has == q->has && (!p->has || p->value == q->value);
    }
    case TN_FIELD_OPT_FLOAT: {
        const tn_opt_float *p = a, *q = b;
        return p->has == q->has && (!p->has || memcmp(&p->value, &q->value, sizeof p->value) == 0);
    }
    default:
        return memcmp(a, b, f->size) == 0;
    }
}

static tn_status check_defaults(tn_call *call, const tn__layout *older, const void *frame)
{
    const tn__layout *now = call->op->layout;
    for (int i = 0; i < now->n_args; i++) {
        const tn_field *f = &now->fields[now->n_results + i];
        bool prepared = f->flags & TN_FIELD_OUT &&
                        call->op->structure; /* the kernel finds it among its results */
        if (prepared || find_field(older, f->name, false, 0))
            continue;
        if (!same_value(f, (const char *)frame + f->offset, now->defaults + f->offset))
            return tn__fail(
                call, TN_ERR_UNSUPPORTED,
                "this kernel was compiled against '%s', which has no '%s'; leave it at its "
                "default, or rebuild the plugin",
                older->schema->text, f->name);
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
        return tn__fail(call, TN_ERR_UNSUPPORTED, "the frame of '%s' is too long to adapt",
                        older->schema->text);
    memcpy(old_frame, older->defaults, older->size);
    copy_fields(now, frame, older, old_frame, false);
    copy_fields(now, frame, older, old_frame,
                true); /* a structured kernel finds its results there */
    call->kernel = outer->inner;
    call->data = outer->inner->data;
    tn_status status = outer->inner->fn(call, old_frame);
    copy_fields(older, old_frame, now, frame, true);
    return status;
}

/* The way back: an older kernel goes on to one of today, or of another age, which reads today's frame.
 * What the older frame has not holds its default: it was looked at before the older kernel ran. */
tn_status tn__call_from_older(tn_call *call, const tn__layout *older, void *old_frame,
                              tn_status (*fn)(tn_call *call, void *frame))
{
    const tn__layout *now = call->op->layout;
    _Alignas(16) unsigned char whole[4096];
    if (now->size > sizeof whole)
        return tn__fail(call, TN_ERR_UNSUPPORTED, "the frame of '%s' is too long to adapt",
                        call->op->schema);
    memcpy(whole, now->defaults, now->size);
    copy_fields(older, old_frame, now, whole, false);
    copy_fields(older, old_frame, now, whole, true);
    tn_status status = fn(call, whole);
    copy_fields(now, whole, older, old_frame, true);
    return status;
}

/* An older frame ends behind one of today's fields, padding included, and has all the results. */
static bool ends_behind_field(const tn__layout *now, uint32_t size)
{
    for (int i = now->n_results ? now->n_results - 1 : 0; i < now->n_results + now->n_args; i++) {
        uint32_t end = now->fields[i].offset + now->fields[i].size;
        if (size == (end + 7) / 8 * 8)
            return true;
    }
    return now->n_results == 0 && size == sizeof(tn_frame);
}

/* A caller compiled against an older header: its frame ends early, what it has stands where today's
 * stands. */
tn_status tn__call_with_older_frame(const tn_op *op, void *frame, uint64_t keys, const char *file,
                                    int line)
{
    uint32_t size = ((tn_frame *)frame)->size;
    tn_call call = {.op = op, .file = file, .line = line};
    _Alignas(16) unsigned char whole[4096];
    if (!ends_behind_field(op->layout, size) || op->frame_size > sizeof whole)
        return tn__fail(
            &call, TN_ERR_ARGUMENT,
            "the frame's size is %u; today's is %u, and an older one ends behind one of its "
            "fields",
            size, op->frame_size);
    memcpy(whole, op->layout->defaults, op->frame_size);
    memcpy(whole, frame, size);
    ((tn_frame *)whole)->size = op->frame_size;
    /* A kernel that goes on below itself says which keys are left; a plain call's are read from the
     * whole frame. */
    tn_status status = keys ? tn__dispatch(op, whole, keys, file, line)
                            : tn_op_call_at(op, whole, file, line);
    memcpy((char *)frame + sizeof(tn_frame), whole + sizeof(tn_frame), size - sizeof(tn_frame));
    return status;
}

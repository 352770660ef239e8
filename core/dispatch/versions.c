/* versions.c - plain kernels and the versions of what they write. One that writes an argument, such
 * as copy_: the core counts the write, so that no kernel can forget it; one that gives it other
 * memory, set_, counts itself. One that is made of other
 * calls, such as zeros: what those wrote into the new result was seen by nobody and does not count.
 * Structured kernels are counted where their results are prepared. */
#include "core/dispatch/pointwise.h"

/* The tensors, one after the other, that a call is about to write. What set_ gives other memory is
 * not among those that were written. */
static int note_moves(const tn__layout *l, void *frame, uint16_t *moves)
{
    int n = 0;
    for (int i = l->n_results; i < l->n_results + l->n_args && n < TN_MAX_OPERANDS; i++) {
        const tn_field *f = &l->fields[i];
        const tn_tensor *t = *(tn_tensor **)((char *)frame + f->offset);
        if (f->flags & TN_FIELD_WRITTEN && f->kind == TN_FIELD_TENSOR)
            moves[n++] = t ? tn__impl(t)->moves : 0;
    }
    return n;
}

tn_status tn__written_call(tn_call *call, void *frame)
{
    const tn__kernel *outer = call->kernel, *inner = outer->inner;
    const tn__layout *l = call->op->layout;
    uint16_t moves[TN_MAX_OPERANDS];
    int n = note_moves(l, frame, moves), at = 0;
    call->kernel = inner;
    call->data = inner->data;
    tn_status status = inner->fn(call, frame);
    if (TN__UNLIKELY(status != TN_OK))
        return status;
    for (int i = l->n_results; i < l->n_results + l->n_args; i++) {
        const tn_field *f = &l->fields[i];
        if (!(f->flags & TN_FIELD_WRITTEN))
            continue;
        tn_tensor **t = (tn_tensor **)((char *)frame + f->offset);
        if (f->kind == TN_FIELD_TENSOR) {
            bool moved = *t && at < n && moves[at] != tn__impl(*t)->moves;
            at++;
            if (*t && !moved)
                tn__mark_written(*t, call->file, call->line);
        }
        if (f->kind == TN_FIELD_TENSORS)
            for (int64_t j = 0; j < ((tn_tensors *)t)->len; j++)
                tn__mark_written(((tn_tensors *)t)->data[j], call->file, call->line);
    }
    return TN_OK;
}

tn_status tn__fresh_call(tn_call *call, void *frame)
{
    const tn__kernel *outer = call->kernel, *inner = outer->inner;
    const tn__layout *l = call->op->layout;
    call->kernel = inner;
    call->data = inner->data;
    tn_status status = inner->fn(call, frame);
    for (int i = 0; i < l->n_results && status == TN_OK; i++) {
        if (l->fields[i].kind != TN_FIELD_TENSOR)
            continue;
        tn_tensor *t = *(tn_tensor **)((char *)frame + l->fields[i].offset);
        if (t && atomic_load_explicit(&tn__impl(t)->refs, memory_order_relaxed) == 1 &&
            atomic_load_explicit(&tn__impl(t)->storage->refs, memory_order_relaxed) == 1)
            atomic_store_explicit(&tn__impl(t)->storage->version, 0, memory_order_relaxed);
    }
    return status;
}

/* grad_call.c - what a derivative function works with: operators to call, and a place for what they
 * return. */
#include <string.h>

#include "core/autograd/autograd_impl.h"

void tn__held_release(tn__held *held)
{
    for (int32_t i = 0; i < held->n; i++)
        tn__tensor_release(held->tensors[i]);
    if (held->tensors != held->first)
        tn__free(held->tensors);
    while (held->lists) {
        tn__held_list *l = held->lists;
        held->lists = l->next;
        tn__tensors_release(&l->list);
        tn__free(l);
    }
}

static bool grow(tn__held *held)
{
    size_t bytes = 2 * (size_t)held->capacity * sizeof *held->tensors;
    bool moved = held->tensors != held->first;
    tn_tensor **grown = tn__realloc(moved ? held->tensors : NULL, bytes);
    if (!grown)
        return false;
    if (!moved)
        memcpy(grown, held->first, sizeof held->first);
    held->tensors = grown;
    held->capacity *= 2;
    return true;
}

static TN_COLD tn_tensor *not_held(tn_grad_call *g, tn_tensor *t)
{
    const tn__held *held = g->held;
    tn__tensor_release(t);
    if (g->status == TN_OK)
        g->status = tn__fail_memory(NULL, 2 * (size_t)held->capacity * sizeof *held->tensors);
    return NULL;
}

static inline tn_tensor *hold(tn_grad_call *g, tn_tensor *t)
{
    tn__held *held = g->held;
    if (TN__UNLIKELY(held->n == held->capacity && !grow(held)))
        return not_held(g, t);
    held->tensors[held->n++] = t;
    return t;
}

tn_tensor *tn__grad_hold(tn_grad_call *g, tn_tensor *t)
{
    return t ? hold(g, t) : NULL;
}

/* The array is held as a list of its own: lists are rare, so it is a chain. */
tn_tensors tn__grad_hold_list(tn_grad_call *g, tn_tensors list)
{
    tn__held *held = g->held;
    tn__held_list *l = list.data ? tn__alloc(sizeof *l) : NULL;
    if (!list.data)
        return list;
    if (!l) {
        tn__tensors_release(&list);
        if (g->status == TN_OK)
            g->status = tn__fail_memory(NULL, sizeof *l);
        return (tn_tensors){NULL, 0};
    }
    *l = (tn__held_list){list, held->lists};
    held->lists = l;
    return list;
}

tn_tensor *tn__grad_call_op(tn_grad_call *g, const tn_op *op, void *frame, tn_tensor **result)
{
    if (g->status != TN_OK)
        return NULL;
    g->status = g->file ? tn_op_call_at(op, frame, g->file, g->line) : tn_op_call(op, frame);
    return g->status == TN_OK && *result ? hold(g, *result) : NULL;
}

/* op_node.h - the node of a recorded operator call, as op_node.c makes it and op_run.c runs it. */
#ifndef TN_CORE_AUTOGRAD_OP_NODE_H
#define TN_CORE_AUTOGRAD_OP_NODE_H

#include "core/autograd/derivative.h"

typedef struct tn__op_saved {
    tn__saved saved;
    tn_tensor **field; /* where it stands in the frame */
} tn__op_saved;

typedef struct tn__op_node {
    tn__node node;
    const tn__derivative *d;
    uint64_t wants;
    size_t bytes; /* of the block */
    char *frame;
    tn__op_saved *kept; /* what was saved, in the order of the arguments, then of the results */
    uint32_t n_saved;
    int class; /* of a small block */
} tn__op_node;

/* The storage of tensors without data. */
extern tn__storage tn__nowhere;
static inline bool tn__is_shell(const tn_tensor *t)
{
    return tn__impl(t)->storage == &tn__nowhere;
}

/* op_run.c: the node class's functions. */
tn_status tn__op_run(tn__node *n, const tn__pass *pass, tn_tensor *const *grads, const bool *wants,
                     tn_tensor **out);
void tn__op_drop(tn__node *n);

#endif

/* op_node.h - the node of a recorded operator call, as op_node.c makes it and op_run.c runs it. */
#ifndef TN_CORE_AUTOGRAD_OP_NODE_H
#define TN_CORE_AUTOGRAD_OP_NODE_H

#include <string.h>

#include "core/autograd/derivative.h"

typedef struct tn__site { /* of a call, and the keys that dispatch found it to have */
    uint64_t keys;
    const char *file;
    int line;
} tn__site;

typedef struct tn__op_saved {
    tn__saved saved;
    tn_tensor **field; /* where it stands in the frame */
} tn__op_saved;

typedef struct tn__op_node {
    tn__node node;
    const tn__derivative *d;
    uint64_t wants;
    uint32_t n_saved;
    uint32_t words; /* of 8 bytes, of the block; of a plain derivative: not set */
    char frame[];   /* then the edges, then what was saved */
} tn__op_node;
_Static_assert(offsetof(tn__op_node, frame) % 8 == 0, "a frame is aligned");

/* What was saved, in the order of the arguments, then of the results. Where it stands is known once
 * the node has its edges. */
static inline tn__op_saved *tn__op_kept(const tn__op_node *o)
{
    return (tn__op_saved *)(o->node.edges + o->node.n_edges);
}

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

/* constant.c: in a pass that creates a graph. grads[first[i]] .. are argument i's, of those in mask;
 * what the formula recorded is younger than since. A gradient that depends on the values that its
 * formula read, but has no history that says so, gets one that gives them zeros. */
tn_status tn__op_tie(const tn__op_node *o, uint64_t mask, const int32_t *first, uint64_t since,
                     tn_tensor **grads);

/* ---- making one ------------------------------------------------------------------------------ */
extern const tn__node_class tn__op_class;

/* The road of the few: edges from argument i on, whatever they lead to. */
tn_status tn__op_edges_from(tn__op_node *o, const void *frame, uint32_t i);
/* What the gradients asked for need of the arguments; arrays: room for the lists of tensors. */
tn_status tn__op_node_save(tn__op_node *o, const void *frame, char *arrays);

static inline void tn__op_node_init(tn__op_node *o, const tn__derivative *d, size_t n_edges,
                                    const tn__site *at)
{
    tn__node_init(&o->node, &tn__op_class, d->decl.name);
    o->node.n_edges = (uint32_t)n_edges;
    o->node.file = at->file;
    o->node.line = at->line;
    o->node.op = d->op;
    o->node.edges = (tn__edge *)((char *)o + d->edges_at);
    o->d = d;
    o->n_saved = 0;
}

/* Without its tensors, most of which stand at its beginning. What follows is nothing, or one number,
 * most of the time. */
static inline void tn__op_frame_copy(const tn__derivative *d, char *to, const char *frame)
{
    uint32_t begin = d->leading_end, rest = d->frame_size - begin;
    memcpy(to, frame, sizeof(tn_frame));
    memset(to + sizeof(tn_frame), 0, TN__LEADING * sizeof(tn_tensor *));
    if (rest == sizeof(tn_scalar))
        memcpy(to + begin, frame + begin, sizeof(tn_scalar));
    else if (rest)
        memcpy(to + begin, frame + begin, rest);
    for (int i = d->n_leading; i < d->n_tensors; i++)
        *(tn_tensor **)(to + d->tensors[i].offset) = NULL;
}

/* The edge to the node that made a tensor of this record, or to a leaf's, which is held through its
 * tensor. False: the road of the few. */
static inline bool tn__op_edge_hold(tn__edge *e, const tn_tensor *t, const tn__record *r)
{
    if (TN__UNLIKELY(!r || tn__impl(t)->base))
        return false;
    if (r->grad_fn) {
        *e = (tn__edge){r->grad_fn, r->nr};
        atomic_fetch_add_explicit(&r->grad_fn->refs, 1, memory_order_relaxed);
        return true;
    }
    tn__leaf *leaf = __atomic_load_n(&r->leaf, __ATOMIC_ACQUIRE);
    if (TN__UNLIKELY(!leaf || !r->requires_grad))
        return false;
    e->node = &leaf->node;
    atomic_fetch_add_explicit(&tn__impl(t)->refs, 1, memory_order_relaxed);
    return true;
}

/* Of arguments that are no lists. */
static inline tn_status tn__op_edges_set(tn__op_node *o, const tn__derivative *d, const void *frame)
{
    uint64_t wants = 0;
    uint32_t n = (uint32_t)d->n_args;
    tn__edge *e = o->node.edges;
    for (uint32_t i = 0; i < n; i++, e++) {
        const tn_tensor *t = tn__tensor_at(frame, d->args[i].offset);
        *e = (tn__edge){NULL, 0};
        if (!t || !(t->keys & TN__KEY_AUTOGRAD))
            continue;
        if (TN__UNLIKELY(!tn__op_edge_hold(e, t, tn__record_of(t)))) {
            o->wants = wants;
            return tn__op_edges_from(o, frame, i);
        }
        wants |= UINT64_C(1) << i;
    }
    o->wants = wants;
    return TN_OK;
}

/* A node of a plain derivative with edges and saved arguments, before the call has run. */
static inline __attribute__((always_inline)) tn_status tn__op_node_plain(const tn__derivative *d,
                                                                         const void *frame,
                                                                         const tn__site *at,
                                                                         tn__op_node **out)
{
    tn__op_node *o = *out = tn__class_alloc(d->node_class, d->node_bytes);
    if (TN__UNLIKELY(!o))
        return tn__fail_memory(NULL, d->node_bytes);
    tn__op_node_init(o, d, (size_t)d->n_args, at);
    tn__op_frame_copy(d, o->frame, frame);
    tn_status status = tn__op_edges_set(o, d, frame);
    if (status == TN_OK && d->n_kept)
        status = tn__op_node_save(o, frame, NULL);
    if (TN__UNLIKELY(status != TN_OK))
        tn__node_release(&o->node);
    return status;
}

/* The same of any. */
tn_status tn__op_node_new(const tn__derivative *d, const void *frame, const tn__site *at,
                          tn__op_node **out);
/* Saves what is needed of the results, after the call. */
tn_status tn__op_node_save_results(tn__node *n, const void *frame);

#endif

/* autograd_impl.h - the graph: nodes, edges, and a tensor's place in it.
 *
 * A node is one recorded call. Its edges say where the gradients of its inputs go: to output `nr`
 * of the node that made the input, or to a leaf. References run from results to inputs alone - a
 * tensor holds the node that made it, a node holds those below it - so nothing is ever circular.
 * The one trick: a leaf's node lives inside the leaf's record, and holding the node holds the
 * tensor. */
#ifndef TN_CORE_AUTOGRAD_IMPL_H
#define TN_CORE_AUTOGRAD_IMPL_H

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/autograd/autograd.h"
#include "core/base/block_cache.h"

typedef struct tn_node tn__node;

typedef struct tn__edge {
    tn__node *node; /* NULL: no gradient goes there */
    uint32_t nr;    /* which of the node's outputs */
} tn__edge;

/* What an output of a node looked like, to check and bring home its gradient. Begins as a tensor's
 * kind does: TN__KIND_BYTES. */
typedef struct tn__outlook {
    tn_device device;
    uint8_t dtype, ndim;
    bool differentiable;
    int64_t sizes[TN__INLINE_DIMS];
    int64_t *more; /* all sizes, of more than TN__INLINE_DIMS dimensions; else NULL */
} tn__outlook;
_Static_assert(offsetof(tn__outlook, dtype) ==
                       offsetof(tn_tensor, dtype) - offsetof(tn_tensor, device) &&
                   offsetof(tn__outlook, ndim) ==
                       offsetof(tn_tensor, ndim) - offsetof(tn_tensor, device) &&
                   offsetof(tn__outlook, sizes) == TN__KIND_BYTES,
               "an outlook begins as a tensor's kind");

static inline const int64_t *tn__outlook_sizes(const tn__outlook *o)
{
    return o->more ? o->more : o->sizes;
}

/* A pass is one walk over a graph (engine.c). */
typedef struct tn__pass {
    bool keep_graph, create_graph;
} tn__pass;

/* What kinds of node differ in. */
typedef struct tn__node_class {
    /* From the gradients of the outputs (borrowed, NULL: undefined; at least one is defined) to
     * those of the edges: out[n_edges], NULL at entry, references of their own. Entries whose edge
     * goes nowhere may be left. On failure out is all NULL. `wants[i]`: edge i is asked for; NULL:
     * all are (tn__wanted). */
    tn_status (*run)(tn__node *n, const tn__pass *pass, tn_tensor *const *grads, const bool *wants,
                     tn_tensor **out);
    /* Drops what was saved for run: after a pass that does not keep the graph. Running it again is
     * an error if anything was. May be called more than once. */
    void (*drop)(tn__node *n);
    /* Lets go of saved tensors of this storage, which has been written: an alias without history is
     * kept for the message. Adds to *found how many there were. NULL: the class saves none. */
    tn_status (*spend)(tn__node *n, const tn__storage *storage, uint32_t *found);
    /* Frees the node's memory, and drops what is left; edges, outlooks and hooks are gone by then. */
    void (*free)(tn__node *n);
} tn__node_class;

typedef struct tn__hooks tn__hooks; /* hooks.c */

struct tn_node {
    atomic_int refs; /* of a leaf's node unused: its tensor counts */
    uint32_t n_edges, n_outputs;
    int32_t line;      /* call site in the forward pass */
    uint64_t sequence; /* grows along a thread's recording: greater is later */
    const tn__node_class *class;
    const char *name; /* "MulBackward" */
    const tn_op *op;  /* NULL: not an operator's */
    union {
        const char *file;    /* call site */
        tn__node *next_dead; /* while a graph is freed */
    };
    tn__edge *edges;        /* [n_edges] */
    tn__outlook *outlooks;  /* [n_outputs]; one_output, or tn__alloc'd */
    tn__hooks *hooks;       /* NULL: none */
    tn__outlook one_output; /* outlooks of a node with one output */
    atomic_bool busy;       /* a thread is in run or drop: tn__node_lock */
    bool dropped;           /* drop was called, and there was something to drop */
};

/* Of what run is given: whether the gradient of edge i is asked for. */
static inline bool tn__wanted(const tn__node *n, const bool *wants, uint32_t i)
{
    return wants ? wants[i] : n->edges[i].node != NULL;
}

extern const tn__node_class tn__leaf_class;
static inline bool tn__is_leaf_node(const tn__node *n)
{
    return n->class == &tn__leaf_class;
}

/* ---- a tensor's record: tn__tensor.autograd -------------------------------------------------- */
enum tn__view_kind { TN__VIEW_PLAIN, TN__VIEW_ONE_OF_MANY, TN__VIEW_OF_FUNCTION };

typedef struct tn__leaf { /* the node of a leaf */
    tn__node node;
    tn_tensor *tensor; /* the leaf; not held */
} tn__leaf;

typedef struct tn__record {
    tn__node *grad_fn;  /* held; NULL of a leaf */
    uint32_t nr;        /* which output of it */
    bool requires_grad; /* of a leaf */
    bool retains_grad;
    uint8_t view_kind;
    uint32_t epoch; /* of a base: recorded in-place calls so far; of a view: its base's, when
                       grad_fn was set */
    tn_tensor *grad;
    tn_tensor *tangent;     /* of forward mode */
    uint64_t tangent_level; /* when it was made: forward.h */
    tn__leaf *leaf;         /* made when first needed; lives as long as the tensor */
    tn__hooks *hooks;       /* of the tensor */
} tn__record;

static inline tn__record *tn__record_of(const tn_tensor *t)
{
    return tn__impl(t)->autograd;
}

/* A view and its base, until one of them is given other memory. */
static inline bool tn__shares_memory(const tn_tensor *a, const tn_tensor *b)
{
    return tn__impl(a)->storage == tn__impl(b)->storage;
}

/* ---- record.c: records ----------------------------------------------------------------------- */
tn_status tn__record_need(tn_tensor *t, tn__record **out); /* makes it when absent */
/* Whether a gradient would flow to t; looks at a view's base when that was written since. */
bool tn__view_requires_grad(const tn_tensor *t);
static inline bool tn__requires_grad(const tn_tensor *t)
{
    if (!(t->keys & TN__KEY_AUTOGRAD))
        return false;
    if (TN__UNLIKELY(tn__impl(t)->base != NULL))
        return tn__view_requires_grad(t);
    const tn__record *r = tn__record_of(t);
    return r && (r->grad_fn || r->requires_grad);
}
/* Where t's gradient goes; {NULL, 0} when nowhere. Borrowed: t holds it. Makes the node of a leaf,
 * and a new one for a view whose base was written since. */
tn_status tn__edge_look_up(tn_tensor *t, tn__edge *out);
static inline tn_status tn__edge_of(tn_tensor *t, tn__edge *out)
{
    const tn__record *r = tn__record_of(t);
    if (TN__UNLIKELY(!r || !r->grad_fn || tn__impl(t)->base))
        return tn__edge_look_up(t, out);
    *out = (tn__edge){r->grad_fn, r->nr};
    return TN_OK;
}
/* t becomes output nr of n (held from here on). */
tn_status tn__set_history(tn_tensor *t, tn__node *n, uint32_t nr);
/* The same for the only output of n, a tensor that nobody has yet: takes over the caller's reference
 * to n. An argument of n has a record already, so tn__autograd_drop is set. */
static inline tn_status tn__begin_history(tn_tensor *t, tn__node *n)
{
    tn__record *r = tn__small_alloc(sizeof *r);
    if (TN__UNLIKELY(!r))
        return tn__fail_memory(NULL, sizeof *r);
    *r = (tn__record){.grad_fn = n};
    tn__impl(t)->autograd = r;
    t->keys |= TN__KEY_AUTOGRAD;
    return TN_OK;
}

/* replace.c: whether t may be given the memory of `of` and this shape. */
tn_status tn__may_replace(tn_call *call, const tn_tensor *t, const tn_tensor *of, tn_ints sizes);

/* ---- node.c ---------------------------------------------------------------------------------- */
/* The common part of a node without edges and outputs; one reference, the caller's. one_output is
 * set before n_outputs counts it. */
extern _Thread_local uint64_t tn__sequence_tls __attribute__((tls_model("initial-exec")));
static inline void tn__node_init(tn__node *n, const tn__node_class *class, const char *name)
{
    atomic_init(&n->refs, 1);
    n->n_edges = 0;
    n->n_outputs = 0;
    n->sequence = ++tn__sequence_tls;
    n->class = class;
    n->name = name;
    n->op = NULL;
    n->file = NULL;
    n->line = 0;
    atomic_init(&n->busy, false);
    n->dropped = false;
    n->edges = NULL;
    n->outlooks = &n->one_output;
    n->one_output.more = NULL;
    n->hooks = NULL;
}
void tn__node_retain(tn__node *n);
void tn__node_release(tn__node *n); /* frees a graph of any depth without recursion */
/* The two steps of that, for a node that is no leaf's: whether the caller's reference was the last
 * one, and what follows then. */
static inline bool tn__node_lose(tn__node *n)
{
    return atomic_load_explicit(&n->refs, memory_order_acquire) == 1 ||
           atomic_fetch_sub_explicit(&n->refs, 1, memory_order_acq_rel) == 1;
}
void tn__node_free(tn__node *n);
tn_status tn__outlook_set_more(tn__outlook *o, const tn_tensor *t); /* of many dimensions */
/* Of an outlook that has no `more`. */
static inline tn_status tn__outlook_set(tn__outlook *o, const tn_tensor *t)
{
    memcpy(o, &t->device, TN__KIND_BYTES);
    o->differentiable = true;
    if (TN__UNLIKELY(t->ndim > TN__INLINE_DIMS))
        return tn__outlook_set_more(o, t);
    for (int d = 0; d < t->ndim; d++)
        o->sizes[d] = t->sizes[d];
    return TN_OK;
}
/* One thread at a time runs or drops a node. */
void tn__node_lock(tn__node *n);
void tn__node_unlock(tn__node *n);
/* The error for a node whose saved tensors are gone. */
tn_status tn__node_was_dropped(const tn__node *n);

/* ---- saved.c: a tensor kept for backward ----------------------------------------------------- */
typedef struct tn__saved {
    tn_tensor *t;     /* the tensor, or of an output or a written tensor an alias without history */
    uint32_t version; /* of its storage when it was saved */
    bool is_output;
    bool counted;   /* in its storage's savers */
    uint16_t moves; /* tn__tensor.moves, when it was saved */
    uint32_t nr;    /* which output, when is_output */
} tn__saved;
/* Retains an input. */
tn_status tn__save_input(tn__saved *s, tn_tensor *t);
/* Output nr of the node under construction; what is kept does not hold the node. */
tn_status tn__save_output(tn__saved *s, tn_tensor *t, uint32_t nr);
void tn__saved_drop(tn__saved *s);
/* As tn__node_class.spend, for one of them. */
tn_status tn__saved_spend(tn__saved *s, const tn__storage *storage, uint32_t *found);
/* For use in run: *out borrowed from s, or, of an output in a pass that creates a graph, a fresh
 * alias with n as its history in *owned (the caller releases it). An error when the tensor was
 * modified in place since: it names operator, shape, versions and both call sites. */
tn_status tn__saved_get(const tn__saved *s, tn__node *n, const tn__pass *pass, tn_tensor **out,
                        tn_tensor **owned);

/* ---- grad_call.c: what run gives a derivative function --------------------------------------- */
typedef struct tn__held_list {
    tn_tensors list;
    struct tn__held_list *next;
} tn__held_list;
typedef struct tn__held { /* tensors that live until the function returns */
    tn_tensor **tensors;
    int32_t n, capacity;
    tn__held_list *lists;
    tn_tensor *first[12];
} tn__held;
void tn__held_release(tn__held *held);
static inline tn__held *tn__held_begin(tn__held *held)
{
    held->tensors = held->first;
    held->n = 0;
    held->capacity = sizeof held->first / sizeof *held->first;
    held->lists = NULL;
    return held;
}
static inline void tn__grad_call_begin(tn_grad_call *g, tn__held *held) /* zeroes both */
{
    *g = (tn_grad_call){.size = sizeof *g, .held = tn__held_begin(held)};
}
static inline void tn__grad_call_end(tn_grad_call *g)
{
    tn__held *held = g->held;
    if (held->n || held->lists)
        tn__held_release(held);
}

/* "at FILE:LINE", of a node's call in the forward pass; buf of TN__SITE_CHARS suffices. */
enum { TN__SITE_CHARS = 300 };
static inline const char *tn__site_text(char *buf, const char *file, int line)
{
    if (file)
        snprintf(buf, TN__SITE_CHARS, "at %.250s:%d", file, line);
    else
        snprintf(buf, TN__SITE_CHARS, "at an unknown place");
    return buf;
}

/* ---- mode.c ---------------------------------------------------------------------------------- */
/* Sets the thread's mode and returns the old one, for tn__mode_restore. */
tn_grad_mode tn__mode_set(tn_grad_mode_kind kind);
void tn__mode_restore(tn_grad_mode m);
static inline bool tn__recording(void)
{
    return tn__mode_tls.view_keys != 0;
}
extern atomic_bool tn__anomaly;

/* ---- hooks.c --------------------------------------------------------------------------------- */
void tn__hooks_free(tn__hooks **list);
/* Hooks of output nr of n, which stand in *list: each may replace *grad (an owned reference). Then
 * keeps it in the grad of tensors that retain it. */
tn_status tn__hooks_run_tensor(tn__hooks *const *list, const tn__node *n, uint32_t nr,
                               tn_tensor **grad);
tn_status tn__hooks_run_before(tn__node *n, tn_tensor **grads);
tn_status tn__hooks_run_after(tn__node *n, tn_tensor **input_grads, tn_tensor **output_grads);
tn_status tn__hooks_run_leaf(tn__hooks *const *list, tn_tensor *leaf);
/* retain.c, for a record with retains_grad: before its tensor goes, and before output nr of n
 * becomes its history. */
void tn__retain_forget(tn_tensor *t);
void tn__retain_move(tn_tensor *t, tn__node *n, uint32_t nr);
tn_status tn__retain_run(tn__hooks *const *list, uint32_t nr, tn_tensor *grad);

/* ---- leaf.c ---------------------------------------------------------------------------------- */
/* Adds to the leaf's grad; grad is the caller's reference, which may be taken over (set NULL). */
tn_status tn__leaf_accumulate(tn_tensor *leaf, const tn__pass *pass, tn_tensor **grad);

/* ---- operators that the engine calls (ops.c): results are the caller's ----------------------- */
tn_status tn__op_add(tn_tensor *a, tn_tensor *b, tn_tensor **out);
tn_status tn__op_add_into(tn_tensor *self, tn_tensor *other); /* add_ */
tn_status tn__op_clone(tn_tensor *t, tn_tensor **out);
tn_status tn__op_alias(tn_tensor *t, tn_tensor **out); /* a view of all of it */
tn_status tn__op_view_as_real(tn_tensor *t, tn_tensor **out);
tn_status tn__op_view_as_complex(tn_tensor *t, tn_tensor **out);
tn_status tn__op_expand(tn_tensor *t, tn_ints sizes, tn_tensor **out);
tn_status tn__op_sum_to(tn_tensor *t, int64_t ndim, const int64_t *sizes, tn_tensor **out);
tn_status tn__op_to_dtype(tn_tensor *t, tn_dtype dtype, tn_tensor **out); /* complex -> real: Re */
tn_status tn__op_ones_like(tn_tensor *t, tn_tensor **out);
tn_status tn__op_conj(tn_tensor *t, tn_tensor **out); /* a real tensor: itself */
tn_status tn__op_any_nan(tn_tensor *t, bool *out);
tn_status tn__op_new_strided(const tn_tensor *like, tn_ints sizes, tn_ints strides,
                             tn_tensor **out); /* zeroed */
tn_status tn__op_as_strided(tn_tensor *t, tn_ints sizes, tn_ints strides, int64_t offset,
                            tn_tensor **out); /* offset from the storage's begin */
tn_status tn__op_copy_into(tn_tensor *self, tn_tensor *src);
tn_status tn__op_zero(tn_tensor *self); /* zero_ */
tn_status tn__op_as_strided_backward(tn_tensor *grad, tn_ints base_size, tn_ints size,
                                     tn_ints stride, int64_t offset, tn_tensor **out);

#endif

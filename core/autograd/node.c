/* node.c - nodes of the graph: what all kinds share, and how a graph goes.
 *
 * Releasing a node releases those below it. A chain may be millions long, so nothing here recurses:
 * a node whose last reference goes while another is being freed waits in a list of the thread. */
#include <sched.h>
#include <string.h>

#include "core/autograd/autograd_impl.h"

_Thread_local uint64_t tn__sequence_tls __attribute__((tls_model("initial-exec")));

void tn__node_retain(tn__node *n)
{
    if (tn__is_leaf_node(n))
        tn__tensor_retain(((tn__leaf *)n)->tensor);
    else
        atomic_fetch_add_explicit(&n->refs, 1, memory_order_relaxed);
}

/* ---- outlooks -------------------------------------------------------------------------------- */
tn_status tn__outlook_set_more(tn__outlook *o, const tn_tensor *t)
{
    o->more = tn__alloc(t->ndim * sizeof *o->more);
    if (!o->more)
        return tn__fail_memory(NULL, t->ndim * sizeof *o->more);
    memcpy(o->more, t->sizes, t->ndim * sizeof *o->more);
    return TN_OK;
}

/* ---- the end of a graph ---------------------------------------------------------------------- */
typedef struct mortuary { /* nodes of this thread that wait to be freed */
    tn__node *dead;
    bool open;
} mortuary;
static _Thread_local mortuary here __attribute__((tls_model("initial-exec")));

/* Whether the caller's reference was the last one. */
static inline bool lose(tn__node *n)
{
    return atomic_load_explicit(&n->refs, memory_order_acquire) == 1 ||
           atomic_fetch_sub_explicit(&n->refs, 1, memory_order_acq_rel) == 1;
}

static inline void wait_to_be_freed(tn__node *n)
{
    n->next_dead = here.dead;
    here.dead = n;
}

static inline void take_apart(tn__node *n)
{
    tn__edge *edges_end = n->edges + n->n_edges;
    tn__outlook *outlooks_end = n->outlooks + n->n_outputs;
    for (tn__edge *e = n->edges; e < edges_end; e++) {
        tn__node *below = e->node;
        if (!below)
            continue;
        if (tn__is_leaf_node(below))
            tn__tensor_release(((tn__leaf *)below)->tensor);
        else if (lose(below))
            wait_to_be_freed(below);
    }
    for (tn__outlook *o = n->outlooks; o < outlooks_end; o++)
        if (TN__UNLIKELY(o->more != NULL))
            tn__free(o->more);
    if (TN__UNLIKELY(n->hooks != NULL))
        tn__hooks_free(&n->hooks);
    n->class->free(n);
}

void tn__node_release(tn__node *n)
{
    if (tn__is_leaf_node(n)) {
        tn__tensor_release(((tn__leaf *)n)->tensor);
        return;
    }
    if (!lose(n))
        return;
    if (here.open) {
        wait_to_be_freed(n);
        return;
    }
    here.open = true;
    for (tn__node *next = n; next;) {
        take_apart(next);
        next = here.dead;
        if (next)
            here.dead = next->next_dead;
    }
    here.open = false;
}

/* ---- one thread at a time -------------------------------------------------------------------- */
/* Two passes seldom meet in a node, and a node runs shortly: waiting is giving way. */
void tn__node_lock(tn__node *n)
{
    bool free = false;
    while (!atomic_compare_exchange_weak_explicit(&n->busy, &free, true, memory_order_acquire,
                                                  memory_order_relaxed)) {
        free = false;
        sched_yield();
    }
}

void tn__node_unlock(tn__node *n)
{
    atomic_store_explicit(&n->busy, false, memory_order_release);
}

tn_status tn__node_was_dropped(const tn__node *n)
{
    return tn__fail(&(tn_call){.op = n->op, .file = n->file, .line = n->line}, TN_ERR_AUTOGRAD,
                    "%s: the graph was already freed by an earlier backward pass, and with it what "
                    "this node had saved; pass keep_graph to the first pass to walk it again",
                    n->name);
}

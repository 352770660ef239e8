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

static inline void wait_to_be_freed(tn__node *n)
{
    n->next_dead = here.dead;
    here.dead = n;
}

static __attribute__((noinline)) void free_outlooks(tn__node *n)
{
    for (uint32_t i = 0; i < n->n_outputs; i++)
        tn__free(n->outlooks[i].more);
    if (n->outlooks != &n->one_output)
        tn__free(n->outlooks);
}

static inline void take_apart(tn__node *n)
{
    for (tn__edge *e = n->edges, *end = e + n->n_edges; e < end; e++) {
        tn__node *below = e->node;
        if (!below)
            continue;
        if (tn__is_leaf_node(below))
            tn__tensor_release(((tn__leaf *)below)->tensor);
        else if (tn__node_lose(below))
            wait_to_be_freed(below);
    }
    if (TN__UNLIKELY(n->outlooks != &n->one_output || n->one_output.more))
        free_outlooks(n);
    if (TN__UNLIKELY(n->hooks != NULL))
        tn__hooks_free(&n->hooks);
    n->class->free(n);
}

void tn__node_release(tn__node *n)
{
    if (tn__is_leaf_node(n))
        tn__tensor_release(((tn__leaf *)n)->tensor);
    else if (tn__node_lose(n))
        tn__node_free(n);
}

void tn__node_free(tn__node *n)
{
    if (here.open) {
        wait_to_be_freed(n);
        return;
    }
    here.open = true;
    do {
        take_apart(n);
        n = here.dead;
        if (n)
            here.dead = n->next_dead;
    } while (n);
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

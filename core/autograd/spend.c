/* spend.c - why a graph is never circular, although tensors are saved as they are.
 *
 * A node that saves an input holds a tensor that is older than the node. When a recorded call writes
 * that tensor, its history becomes a younger one, and if that leads to the node, the two would hold
 * each other for ever. What the node has saved is lost anyway: its version has moved on. So the
 * nodes below the new history are asked to let go of what shares the written storage. A storage
 * counts who holds its tensors so, which is nobody in most cases, and then nothing is walked. */
#include <string.h>

#include "core/autograd/slices.h"

typedef struct walk {
    tn__node **seen; /* open addressing, at most half full */
    tn__node **stack;
    size_t mask, n_seen, n_stack, cap_stack;
} walk;

static size_t place_of(const walk *w, const tn__node *n)
{
    size_t i = ((uintptr_t)n >> 6) * UINT64_C(0x9e3779b97f4a7c15) >> 20 & w->mask;
    while (w->seen[i] && w->seen[i] != n)
        i = (i + 1) & w->mask;
    return i;
}

static bool grow_seen(walk *w)
{
    tn__node **old = w->seen;
    size_t n = old ? w->mask + 1 : 0, wanted = n ? 2 * n : 256;
    tn__node **grown = tn__zalloc(wanted * sizeof *grown);
    if (!grown)
        return false;
    w->seen = grown;
    w->mask = wanted - 1;
    for (size_t i = 0; i < n; i++)
        if (old[i])
            w->seen[place_of(w, old[i])] = old[i];
    tn__free(old);
    return true;
}

static bool grow_stack(walk *w)
{
    size_t wanted = w->cap_stack ? 2 * w->cap_stack : 256;
    tn__node **grown = tn__realloc(w->stack, wanted * sizeof *grown);
    if (!grown)
        return false;
    w->stack = grown;
    w->cap_stack = wanted;
    return true;
}

static tn_status visit(walk *w, tn__node *n)
{
    if (!n || tn__is_leaf_node(n))
        return TN_OK;
    if (!w->seen || 2 * w->n_seen > w->mask)
        if (!grow_seen(w))
            return tn__fail_memory(NULL, 2 * (w->mask + 1) * sizeof *w->seen);
    size_t at = place_of(w, n);
    if (w->seen[at])
        return TN_OK;
    if (w->n_stack == w->cap_stack && !grow_stack(w))
        return tn__fail_memory(NULL, 2 * w->cap_stack * sizeof *w->stack);
    w->seen[at] = n;
    w->n_seen++;
    w->stack[w->n_stack++] = n;
    return TN_OK;
}

static tn_status spend(tn__node *n, const tn__storage *storage, uint32_t *found)
{
    if (!n->class->spend)
        return TN_OK;
    tn__node_lock(n);
    tn_status status = n->class->spend(n, storage, found);
    tn__node_unlock(n);
    return status;
}

/* Of a tensor that was given other memory, the former one has counted. */
tn_status tn__spend_savers(tn__node *from, const tn_tensor *written)
{
    const tn__storage *storage = tn__impl(written)->storage;
    uint32_t holders = atomic_load_explicit(&storage->savers, memory_order_relaxed), found = 0;
    walk w = {0};
    if (TN__UNLIKELY(tn__impl(written)->moves))
        holders = UINT32_MAX;
    if (TN__LIKELY(holders == 0))
        return TN_OK;
    tn_status status = visit(&w, from);
    while (status == TN_OK && w.n_stack && found < holders) {
        tn__node *n = w.stack[--w.n_stack];
        status = spend(n, storage, &found);
        for (uint32_t i = 0; i < n->n_edges && status == TN_OK; i++)
            status = visit(&w, n->edges[i].node);
    }
    tn__free(w.seen);
    tn__free(w.stack);
    return status;
}

/* record.c - a tensor's place in the graph: whether it requires a gradient, and where that goes.
 *
 * A view's history follows its base: when a recorded in-place call has written the base, or another
 * view of it, the base's epoch has moved on, and the view gets a new node that takes its elements
 * out of the base (slices.c). So writes are seen through every alias, and cost nothing until one is
 * read. */
#include "core/autograd/autograd_impl.h"
#include "core/autograd/slices.h"

/* ---- records --------------------------------------------------------------------------------- */
static void drop_leaf(tn__leaf *leaf)
{
    if (leaf->node.hooks)
        tn__hooks_free(&leaf->node.hooks);
    tn__free(leaf->node.one_output.more);
    tn__small_free(leaf, sizeof *leaf);
}

/* What the result of a call seldom has. */
static TN_COLD void drop_more(tn__tensor *t, tn__record *r)
{
    if (r->retains_grad)
        tn__retain_forget(&t->pub);
    if (r->grad)
        tn__tensor_release(r->grad);
    if (r->tangent)
        tn__tensor_release(r->tangent);
    if (r->hooks)
        tn__hooks_free(&r->hooks);
    if (r->leaf)
        drop_leaf(r->leaf);
}

static void drop_record(tn__tensor *t)
{
    tn__record *r = t->autograd;
    tn__node *n = r->grad_fn;
    if (TN__UNLIKELY(r->retains_grad || r->grad || r->tangent || r->hooks || r->leaf))
        drop_more(t, r);
    t->autograd = NULL;
    tn__small_free(r, sizeof *r);
    if (n && tn__node_lose(n))
        tn__node_free(n);
}

/* NULL: out of memory, recorded. */
static inline tn__record *need(tn_tensor *t)
{
    tn__record *r = tn__record_of(t);
    if (TN__UNLIKELY(r != NULL))
        return r;
    r = tn__small_alloc(sizeof *r);
    if (TN__UNLIKELY(!r)) {
        tn__fail_memory(NULL, sizeof *r);
        return NULL;
    }
    *r = (tn__record){0};
    atomic_store_explicit(&tn__autograd_drop, drop_record, memory_order_release);
    atomic_store_explicit(&tn__autograd_replace, tn__may_replace, memory_order_release);
    tn__impl(t)->autograd = r;
    return r;
}

tn_status tn__record_need(tn_tensor *t, tn__record **out)
{
    *out = need(t);
    return *out ? TN_OK : TN_ERR_MEMORY;
}

/* ---- what a tensor requires ------------------------------------------------------------------ */
static inline const tn__record *record_of_base(const tn_tensor *t)
{
    const tn_tensor *base = tn__impl(t)->base;
    return base ? tn__record_of(base) : NULL;
}

/* Whether the base was written by a recorded call since the view's history was made. A base that
 * was given other memory since says nothing about the view's. */
static inline bool is_stale(const tn_tensor *t, const tn__record *r)
{
    const tn__record *base = record_of_base(t);
    return base && base->epoch != (r ? r->epoch : 0) && t->keys & TN__KEY_AUTOGRAD &&
           !(t->flags & TN__TENSOR_UNFOLLOWED) && tn__shares_memory(t, tn__impl(t)->base);
}

bool tn__view_requires_grad(const tn_tensor *t)
{
    const tn__record *r = tn__record_of(t);
    if (TN__UNLIKELY(is_stale(t, r)))
        return tn__requires_grad(tn__impl(t)->base);
    return r && (r->grad_fn || r->requires_grad);
}

/* Two threads may use a leaf for the first time at once: the loser frees what it made. */
static tn_status leaf_node(tn_tensor *t, tn__record *r, tn__node **out)
{
    tn__leaf *none = NULL, *seen = __atomic_load_n(&r->leaf, __ATOMIC_ACQUIRE);
    if (TN__LIKELY(seen != NULL)) {
        *out = &seen->node;
        return TN_OK;
    }
    tn__leaf *made = tn__small_alloc(sizeof *made);
    if (!made)
        return tn__fail_memory(NULL, sizeof *made);
    *made = (tn__leaf){.tensor = t};
    tn__node_init(&made->node, &tn__leaf_class, "Leaf");
    made->node.sequence = UINT64_MAX; /* ready leaves first: they free their gradient */
    made->node.n_outputs = 1;
    tn_status status = tn__outlook_set(&made->node.one_output, t);
    if (status == TN_OK && __atomic_compare_exchange_n(&r->leaf, &none, made, false,
                                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        *out = &made->node;
        return TN_OK;
    }
    tn__free(made->node.one_output.more);
    tn__small_free(made, sizeof *made);
    *out = status == TN_OK ? &none->node : NULL;
    return status;
}

tn_status tn__edge_look_up(tn_tensor *t, tn__edge *out)
{
    *out = (tn__edge){NULL, 0};
    if (!(t->keys & TN__KEY_AUTOGRAD))
        return TN_OK;
    tn__record *r = tn__record_of(t);
    if (TN__UNLIKELY(is_stale(t, r))) {
        TN__TRY(tn__view_renew(t));
        r = tn__record_of(t);
    }
    if (!r)
        return TN_OK;
    if (TN__LIKELY(r->grad_fn != NULL))
        *out = (tn__edge){r->grad_fn, r->nr};
    else if (r->requires_grad)
        TN__TRY(leaf_node(t, r, &out->node));
    return TN_OK;
}

tn_status tn__set_history(tn_tensor *t, tn__node *n, uint32_t nr)
{
    tn__record *r = need(t);
    if (!r)
        return TN_ERR_MEMORY;
    const tn__record *base = record_of_base(t);
    tn__node_retain(n);
    if (TN__UNLIKELY(r->retains_grad))
        tn__retain_move(t, n, nr);
    if (r->grad_fn)
        tn__node_release(r->grad_fn);
    r->grad_fn = n;
    r->nr = nr;
    r->epoch = base ? base->epoch : r->epoch;
    t->keys |= TN__KEY_AUTOGRAD;
    return TN_OK;
}

/* engine.c - the walk itself: run what is ready, hand its gradients on, until nothing is left.
 *
 * A step is ready when all who give to it have run; the latest recorded goes first, and a leaf at
 * once. Its gradients are released before those of its inputs are handed on, and what its node had
 * saved goes with them, so that a pass over a deep graph holds the gradients of one level. */
#include <string.h>

#include "core/autograd/pass.h"

tn_status tn__bench_set_up(tn__walk *w, tn__bench *b)
{
    b->out = b->first_out;
    b->wants = b->first_wants;
    if (w->most_edges > TN__EDGES_INLINE) {
        b->out = tn__walk_alloc(w, w->most_edges * (sizeof *b->out + sizeof *b->wants));
        if (!b->out)
            return TN_ERR_MEMORY;
        b->wants = (bool *)(b->out + w->most_edges);
    }
    memset(b->out, 0, w->most_edges * sizeof *b->out);
    return TN_OK;
}

/* ---- what programs see of a gradient --------------------------------------------------------- */
static inline tn__hooks **tensor_hooks(tn__node *n)
{
    return tn__is_leaf_node(n) ? &tn__record_of(((tn__leaf *)n)->tensor)->hooks : &n->hooks;
}

static inline bool has_hooks(tn__hooks *const *list)
{
    return __atomic_load_n(list, __ATOMIC_ACQUIRE) != NULL;
}

/* Hooks of the tensor first; what they make of the gradient is what is kept and captured. */
static tn_status show_gradients(tn__walk *w, tn__step *s)
{
    tn__hooks **hooks = tensor_hooks(s->node);
    for (uint32_t i = 0; has_hooks(hooks) && i < s->node->n_outputs; i++)
        if (s->grads[i])
            TN__TRY(tn__hooks_run_tensor(hooks, s->node, i, &s->grads[i]));
    for (int32_t at = s->capture; at >= 0; at = w->captures[at].next) {
        tn__capture *c = &w->captures[at];
        c->grad = s->grads[c->nr];
        if (c->grad)
            tn__tensor_retain(c->grad);
    }
    return TN_OK;
}

/* ---- errors of a node ------------------------------------------------------------------------ */
/* Puts the node before what went wrong in it, unless that names it already. */
static TN_COLD tn_status explain(const tn__walk *w, const tn__node *n, tn_status status)
{
    const char *message = tn_error_last()->message, *op = n->op ? n->op->name : NULL;
    if (w->error_kept || strstr(message, n->name) || (op && strstr(message, op)))
        return status;
    if (n->file)
        tn__error_prefix("%s%s%s, recorded at %s:%d: ", n->name, op ? " of " : "", op ? op : "",
                         n->file, n->line);
    else
        tn__error_prefix("%s%s%s: ", n->name, op ? " of " : "", op ? op : "");
    return status;
}

static TN_COLD tn_status check_numbers(const tn__node *n, tn_tensor *const *out)
{
    for (uint32_t i = 0; i < n->n_edges; i++) {
        bool nan = false;
        if (out[i])
            TN__TRY(tn__op_any_nan(out[i], &nan));
        if (nan)
            return tn__fail(&(tn_call){.op = n->op, .file = n->file, .line = n->line},
                            TN_ERR_AUTOGRAD,
                            "%s, recorded at %s:%d, gave a gradient with NaN for its input %u",
                            n->name, n->file ? n->file : "an unknown place", n->line, i);
    }
    return TN_OK;
}

/* ---- running --------------------------------------------------------------------------------- */
static bool runs_already(const tn__node *n)
{
    for (const tn__running *r = tn__running_tls; r; r = r->outer)
        if (r->node == n)
            return true;
    return false;
}

static TN_COLD tn_status wait_for_node(tn__node *n)
{
    if (runs_already(n))
        return tn__fail(NULL, TN_ERR_AUTOGRAD,
                        "%s is running: its backward function cannot walk a graph that leads "
                        "through itself",
                        n->name);
    tn__node_lock(n);
    return TN_OK;
}

static inline tn_status lock_node(tn__node *n)
{
    bool free = false;
    return TN__LIKELY(atomic_compare_exchange_strong_explicit(
               &n->busy, &free, true, memory_order_acquire, memory_order_relaxed))
               ? TN_OK
               : wait_for_node(n);
}

static inline tn_status call_node(tn__walk *w, tn__step *s, tn__bench *b, const bool *wants)
{
    tn__node *n = s->node;
    tn__running running = {n, tn__running_tls};
    TN__TRY(lock_node(n));
    tn__running_tls = &running;
    tn_status status = n->class->run(n, &w->options, s->grads, wants, b->out);
    if (status == TN_OK && !w->options.keep_graph)
        n->class->drop(n);
    tn__running_tls = running.outer;
    atomic_store_explicit(&n->busy, false, memory_order_release);
    return TN__LIKELY(status == TN_OK) ? TN_OK : explain(w, n, status);
}

/* Where some gradients alone are asked for, the step knows which edges lead to them. */
static tn_status call_for_some(tn__walk *w, tn__step *s, tn__bench *b)
{
    for (uint32_t i = 0, n = s->node->n_edges; i < n; i++)
        b->wants[i] = s->next[i] != NULL;
    return call_node(w, s, b, b->wants);
}

static inline tn_status run_node(tn__walk *w, tn__step *s, tn__bench *b)
{
    return TN__LIKELY(w->n_captures < 0) ? call_node(w, s, b, NULL) : call_for_some(w, s, b);
}

static tn_status run_watched(tn__walk *w, tn__step *s, tn__bench *b)
{
    tn__node *n = s->node;
    TN__TRY(tn__hooks_run_before(n, s->grads));
    tn_status status = run_node(w, s, b);
    if (status == TN_OK && w->anomaly)
        status = check_numbers(n, b->out);
    return status == TN_OK ? tn__hooks_run_after(n, b->out, s->grads) : status;
}

static tn_status add_to_leaf(tn__walk *w, tn__step *s)
{
    tn__node *n = s->node;
    tn_tensor *leaf = ((tn__leaf *)n)->tensor;
    bool watched = has_hooks(&n->hooks);
    if (TN__UNLIKELY(watched))
        TN__TRY(tn__hooks_run_before(n, s->grads));
    TN__TRY(tn__leaf_accumulate(leaf, &w->options, &s->grads[0]));
    if (TN__UNLIKELY(watched))
        TN__TRY(tn__hooks_run_after(n, NULL, s->grads));
    if (TN__UNLIKELY(has_hooks(tensor_hooks(n))))
        return tn__hooks_run_leaf(tensor_hooks(n), leaf);
    return TN_OK;
}

static inline bool has_gradient(const tn__step *s)
{
    for (uint32_t i = 0; i < s->node->n_outputs; i++)
        if (s->grads[i])
            return true;
    return false;
}

static void release_all(tn_tensor **tensors, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        tn__tensor_release(tensors[i]);
        tensors[i] = NULL;
    }
}

static inline void release_grads(tn__step *s)
{
    if (TN__UNLIKELY(s->node->n_outputs != 1)) {
        release_all(s->grads, s->node->n_outputs);
        return;
    }
    tn__tensor_release(s->grads[0]);
    s->grads[0] = NULL;
}

/* A leaf, or a node that somebody looks at. */
static __attribute__((noinline)) tn_status run_with_care(tn__walk *w, tn__step *s, tn__bench *b)
{
    tn__node *n = s->node;
    if (!s->needed) /* a root above nothing that is asked for */
        return TN_OK;
    if (s->capture >= 0 || has_hooks(tensor_hooks(n)))
        TN__TRY(show_gradients(w, s));
    if (!s->runs)
        return TN_OK;
    if (tn__is_leaf_node(n))
        return add_to_leaf(w, s);
    return has_hooks(&n->hooks) || w->anomaly ? run_watched(w, s, b) : run_node(w, s, b);
}

static inline __attribute__((always_inline)) tn_status run_step(tn__walk *w, tn__step *s,
                                                                tn__bench *b)
{
    tn__node *n = s->node;
    if (TN__UNLIKELY(!s->grads[0] && !has_gradient(s)))
        return TN_OK;
    bool plain = s->runs && s->capture < 0 && !tn__is_leaf_node(n) && !has_hooks(&n->hooks) &&
                 !w->anomaly;
    tn_status status = TN__LIKELY(plain) ? run_node(w, s, b) : run_with_care(w, s, b);
    if (TN__UNLIKELY(status != TN_OK))
        release_all(b->out, n->n_edges);
    release_grads(s);
    return status;
}

tn_status tn__step_run(tn__walk *w, tn__step *s, tn__bench *b)
{
    return run_step(w, s, b);
}

/* ---- handing on ------------------------------------------------------------------------------ */
static inline tn_status become_ready(tn__walk *w, tn__step *s, tn__bench *b)
{
    if (TN__UNLIKELY(w->workers != NULL))
        return tn__workers_push(w, s);
    if (tn__is_leaf_node(s->node))
        return tn__step_run(w, s, b); /* without edges: b stays as it is */
    return tn__queue_push(&w->queue, s);
}

static inline tn_status give(tn__walk *w, const tn__node *giver, tn__step *to, uint32_t nr,
                             tn_tensor *grad)
{
    tn_status status = tn__bring_home(giver, to->node, nr, &grad);
    if (TN__LIKELY(status == TN_OK))
        return tn__buffer_add(w, to, nr, grad);
    tn__tensor_release(grad);
    return status;
}

static inline __attribute__((always_inline)) tn_status deliver(tn__walk *w, tn__step *s,
                                                               tn__bench *b)
{
    const tn__node *n = s->node;
    for (uint32_t i = 0; i < n->n_edges; i++) {
        tn__step *to = s->next[i];
        tn_tensor *grad = b->out[i];
        tn_status status = TN_OK;
        if (TN__LIKELY(to && grad)) {
            b->out[i] = NULL;
            status = give(w, n, to, n->edges[i].nr, grad);
        } else if (TN__UNLIKELY(grad != NULL)) { /* that nobody has asked for */
            b->out[i] = NULL;
            tn__tensor_release(grad);
        }
        if (to && TN__LIKELY(status == TN_OK) && --to->dependencies == 0)
            status = become_ready(w, to, b);
        if (TN__UNLIKELY(status != TN_OK)) {
            release_all(b->out, n->n_edges);
            return status;
        }
    }
    return TN_OK;
}

tn_status tn__step_deliver(tn__walk *w, tn__step *s, tn__bench *b)
{
    return deliver(w, s, b);
}

tn_status tn__walk_run(tn__walk *w, tn__step *const *roots, size_t n_roots)
{
    if (TN__UNLIKELY(w->devices))
        return tn__workers_run(w, roots, n_roots);
    tn__bench b;
    TN__TRY(tn__bench_set_up(w, &b));
    for (size_t i = 0; i < n_roots; i++) {
        if (roots[i]->queued || roots[i]->dependencies)
            continue;
        roots[i]->queued = true;
        TN__TRY(become_ready(w, roots[i], &b));
    }
    for (tn__step *s; (s = tn__queue_pop(&w->queue)) != NULL;) {
        TN__TRY(run_step(w, s, &b));
        TN__TRY(deliver(w, s, &b));
    }
    return TN_OK;
}

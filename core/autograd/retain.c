/* retain.c - gradients of tensors that are no leaves, kept in their grad.
 *
 * A hook of the node that made the tensor, run after all others. It knows the tensor without holding
 * it: a tensor that goes takes its hook along (tn__retain_forget), under the lock under which a pass
 * writes the grad. */
#include "core/autograd/hooks.h"
#include "core/autograd/pass.h"

tn_status tn_retain_grad(tn_tensor *t)
{
    tn__edge e;
    if (!t)
        return tn__fail(NULL, TN_ERR_ARGUMENT, "retain_grad: the tensor is missing");
    TN__TRY(tn__edge_of(t, &e));
    if (!e.node) {
        char shape[TN__SHAPE_CHARS];
        return tn__fail(NULL, TN_ERR_AUTOGRAD,
                        "retain_grad: a tensor of shape %s requires no gradient",
                        tn__shape_text(shape, t->ndim, t->sizes));
    }
    if (tn__is_leaf_node(e.node) || tn__record_of(t)->retains_grad)
        return TN_OK;
    tn_hook *made = tn__zalloc(sizeof *made);
    if (!made)
        return tn__fail_memory(NULL, sizeof *made);
    made->hook =
        (tn__hooks){.kind = TN__HOOK_RETAIN, .nr = e.nr, .uses = 1, .refs = 1, .keeper = t};
    tn__hook_append(&e.node->hooks, &made->hook);
    tn__record_of(t)->retains_grad = true;
    return TN_OK;
}

/* Under the lock: the hook that keeps t's gradient. */
static tn__hooks *find(tn__node *n, const tn_tensor *t)
{
    for (tn__hooks *h = n->hooks; h; h = h->next)
        if (h->kind == TN__HOOK_RETAIN && h->keeper == t)
            return h;
    return NULL;
}

static tn__hooks *take_out(tn__node *n, const tn_tensor *t)
{
    pthread_mutex_lock(&tn__hooks_lock);
    tn__hooks *h = n ? find(n, t) : NULL;
    if (h) {
        tn__hook_unlink(h);
        h->keeper = NULL;
    }
    pthread_mutex_unlock(&tn__hooks_lock);
    return h;
}

void tn__retain_forget(tn_tensor *t)
{
    tn__hooks *h = take_out(tn__record_of(t)->grad_fn, t);
    if (h)
        tn__hook_release_use(h);
}

void tn__retain_move(tn_tensor *t, tn__node *n, uint32_t nr)
{
    tn__hooks *h = take_out(tn__record_of(t)->grad_fn, t);
    if (!h)
        return;
    h->nr = nr;
    h->keeper = t;
    tn__hook_append(&n->hooks, h);
}

/* Several tensors can be the same output: views whose history was renewed. */
static tn__hooks *next_keeper(tn__hooks *const *list, uint32_t nr, int skip, tn_tensor **held)
{
    tn__hooks *h = *list;
    while (h && (h->kind != TN__HOOK_RETAIN || h->nr != nr || skip-- > 0))
        h = h->next;
    if (!h)
        return NULL;
    h->uses++;
    *held = tn__record_of(h->keeper)->grad;
    if (*held)
        tn__tensor_retain(*held);
    return h;
}

/* The sum is made outside of the lock, so what is there is looked up again. */
static void store(tn__hooks *h, tn_tensor *grad)
{
    pthread_mutex_lock(&tn__hooks_lock);
    if (h->keeper) {
        tn_tensor *before = tn__record_of(h->keeper)->grad;
        tn__record_of(h->keeper)->grad = grad;
        grad = before;
    }
    pthread_mutex_unlock(&tn__hooks_lock);
    tn__tensor_release(grad);
    tn__hook_release_use(h);
}

tn_status tn__retain_run(tn__hooks *const *list, uint32_t nr, tn_tensor *grad)
{
    for (int i = 0;; i++) {
        tn_tensor *held = NULL, *now = NULL;
        pthread_mutex_lock(&tn__hooks_lock);
        tn__hooks *h = next_keeper(list, nr, i, &held);
        pthread_mutex_unlock(&tn__hooks_lock);
        if (!h)
            return TN_OK;
        tn_status status = held ? tn__op_add(held, grad, &now) : tn__op_clone(grad, &now);
        tn__tensor_release(held);
        if (status != TN_OK) {
            tn__hook_release_use(h);
            return status;
        }
        store(h, now);
    }
}

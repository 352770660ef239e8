/* hooks.c - functions of a program's own that a pass calls.
 *
 * Hooks of a leaf stand in its record. Those of any other tensor stand in the node that made it,
 * with the output's number, so that they outlive the tensor; they are few, so a list is searched. A
 * pass takes hold of a list's hooks before it calls them, so that a hook may remove or add any. One
 * lock for all lists: it is taken only where hooks are, and never while a hook runs. */
#include "core/autograd/hooks.h"
#include "core/autograd/pass.h"

pthread_mutex_t tn__hooks_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- lists ----------------------------------------------------------------------------------- */
void tn__hook_append(tn__hooks **list, tn__hooks *h)
{
    pthread_mutex_lock(&tn__hooks_lock);
    h->list = list;
    while (*list)
        list = &(*list)->next;
    __atomic_store_n(list, h, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&tn__hooks_lock);
}

bool tn__hook_unlink(tn__hooks *h)
{
    if (!h->list)
        return false;
    tn__hooks **at = h->list;
    while (*at != h)
        at = &(*at)->next;
    __atomic_store_n(at, h->next, __ATOMIC_RELEASE);
    h->list = NULL;
    h->next = NULL;
    return true;
}

static void release_ref(tn__hooks *h)
{
    pthread_mutex_lock(&tn__hooks_lock);
    bool last = --h->refs == 0;
    pthread_mutex_unlock(&tn__hooks_lock);
    if (last)
        tn__free(h);
}

void tn__hook_release_use(tn__hooks *h)
{
    pthread_mutex_lock(&tn__hooks_lock);
    bool last = --h->uses == 0;
    pthread_mutex_unlock(&tn__hooks_lock);
    if (!last)
        return;
    if (h->release)
        h->release(h->data);
    release_ref(h);
}

void tn__hooks_free(tn__hooks **list)
{
    for (;;) {
        pthread_mutex_lock(&tn__hooks_lock);
        tn__hooks *h = *list;
        if (h)
            tn__hook_unlink(h);
        pthread_mutex_unlock(&tn__hooks_lock);
        if (!h)
            return;
        tn__hook_release_use(h);
    }
}

void tn_hook_remove(tn_hook *handle)
{
    if (!handle)
        return;
    pthread_mutex_lock(&tn__hooks_lock);
    bool linked = tn__hook_unlink(&handle->hook);
    pthread_mutex_unlock(&tn__hooks_lock);
    if (linked)
        tn__hook_release_use(&handle->hook);
    release_ref(&handle->hook);
}

/* ---- adding ---------------------------------------------------------------------------------- */
static tn_status add(tn__hooks **list, tn__hooks like, void *data, void (*release)(void *data),
                     tn_hook **out)
{
    if (out)
        *out = NULL;
    tn_hook *made = tn__alloc(sizeof *made);
    if (!made)
        return tn__fail_memory(NULL, sizeof *made);
    made->hook = like;
    made->hook.data = data;
    made->hook.release = release;
    made->hook.uses = 1;
    made->hook.refs = out ? 2 : 1;
    tn__hook_append(list, &made->hook);
    if (out)
        *out = made;
    return TN_OK;
}

static TN_COLD tn_status missing(const char *function, const char *what)
{
    return tn__fail(NULL, TN_ERR_ARGUMENT, "%s: the %s is missing", function, what);
}

static TN_COLD tn_status no_gradient(const char *function, const tn_tensor *t, const char *what)
{
    char shape[TN__SHAPE_CHARS];
    return tn__fail(NULL, TN_ERR_AUTOGRAD,
                    "%s: a tensor of shape %s %s, so the hook would never be called", function,
                    tn__shape_text(shape, t->ndim, t->sizes), what);
}

tn_status tn_tensor_hook(tn_tensor *t, tn_grad_hook hook, void *data, void (*release)(void *data),
                         tn_hook **out)
{
    tn__edge e;
    if (!t || !hook)
        return missing("tensor_hook", t ? "hook" : "tensor");
    TN__TRY(tn__edge_of(t, &e));
    if (!e.node)
        return no_gradient("tensor_hook", t, "requires no gradient");
    tn__hooks **list = tn__is_leaf_node(e.node) ? &tn__record_of(t)->hooks : &e.node->hooks;
    return add(list, (tn__hooks){.kind = TN__HOOK_TENSOR, .nr = e.nr, .call.tensor = hook}, data,
               release, out);
}

tn_status tn_node_hook_before(tn_node *n, tn_node_hook hook, void *data,
                              void (*release)(void *data), tn_hook **out)
{
    if (!n || !hook)
        return missing("node_hook_before", n ? "hook" : "node");
    return add(&n->hooks, (tn__hooks){.kind = TN__HOOK_BEFORE, .call.node = hook}, data, release,
               out);
}

tn_status tn_node_hook_after(tn_node *n, tn_node_hook hook, void *data, void (*release)(void *data),
                             tn_hook **out)
{
    if (!n || !hook)
        return missing("node_hook_after", n ? "hook" : "node");
    return add(&n->hooks, (tn__hooks){.kind = TN__HOOK_AFTER, .call.node = hook}, data, release,
               out);
}

tn_status tn_leaf_hook_after(tn_tensor *leaf, tn_leaf_hook hook, void *data,
                             void (*release)(void *data), tn_hook **out)
{
    tn__edge e;
    if (!leaf || !hook)
        return missing("leaf_hook_after", leaf ? "hook" : "tensor");
    TN__TRY(tn__edge_of(leaf, &e));
    if (!e.node || !tn__is_leaf_node(e.node))
        return no_gradient("leaf_hook_after", leaf, "is no leaf that requires a gradient");
    return add(&tn__record_of(leaf)->hooks, (tn__hooks){.kind = TN__HOOK_LEAF, .call.leaf = hook},
               data, release, out);
}

/* ---- calling --------------------------------------------------------------------------------- */
enum { FEW = 8 };
typedef struct taken { /* hooks that are about to be called */
    tn__hooks *first[FEW], **hooks;
    size_t n;
} taken;

static bool matches(const tn__hooks *h, tn__hook_kind kind, uint32_t nr)
{
    return h->kind == kind && h->nr == nr;
}

static tn_status take(tn__hooks *const *list, tn__hook_kind kind, uint32_t nr, taken *out)
{
    size_t n = 0;
    *out = (taken){.hooks = out->first};
    pthread_mutex_lock(&tn__hooks_lock);
    for (tn__hooks *h = *list; h; h = h->next)
        n += matches(h, kind, nr);
    if (n > FEW && !(out->hooks = tn__alloc(n * sizeof *out->hooks)))
        out->hooks = out->first;
    else
        for (tn__hooks *h = *list; h; h = h->next)
            if (matches(h, kind, nr)) {
                h->uses++;
                out->hooks[out->n++] = h;
            }
    pthread_mutex_unlock(&tn__hooks_lock);
    return out->n == n ? TN_OK : tn__fail_memory(NULL, n * sizeof *out->hooks);
}

static void give_back(taken *t)
{
    for (size_t i = 0; i < t->n; i++)
        tn__hook_release_use(t->hooks[i]);
    if (t->hooks != t->first)
        tn__free(t->hooks);
}

/* One that an earlier hook has removed is not called. */
static bool is_removed(tn__hooks *h)
{
    pthread_mutex_lock(&tn__hooks_lock);
    bool removed = !h->list;
    pthread_mutex_unlock(&tn__hooks_lock);
    return removed;
}

static tn_status call_tensor_hook(tn__hooks *h, const tn__node *n, uint32_t nr, tn_tensor **grad)
{
    tn_tensor *replacement = NULL;
    tn_status status = h->call.tensor(h->data, *grad, &replacement);
    if (status != TN_OK || !replacement) {
        tn__tensor_release(replacement);
        return status;
    }
    status = tn__bring_home(n, n, nr, &replacement);
    if (status != TN_OK) {
        tn__tensor_release(replacement);
        tn__error_prefix("a hook's replacement: ");
        return status;
    }
    tn__tensor_release(*grad);
    *grad = replacement;
    return TN_OK;
}

tn_status tn__hooks_run_tensor(tn__hooks *const *list, const tn__node *n, uint32_t nr,
                               tn_tensor **grad)
{
    taken t;
    TN__TRY(take(list, TN__HOOK_TENSOR, nr, &t));
    tn_status status = TN_OK;
    for (size_t i = 0; i < t.n && status == TN_OK; i++)
        if (!is_removed(t.hooks[i]))
            status = call_tensor_hook(t.hooks[i], n, nr, grad);
    give_back(&t);
    return status == TN_OK ? tn__retain_run(list, nr, *grad) : status;
}

static tn_status run_node_hooks(tn__node *n, tn__hook_kind kind, tn_tensors inputs,
                                tn_tensors outputs)
{
    taken t;
    TN__TRY(take(&n->hooks, kind, 0, &t));
    tn_status status = TN_OK;
    for (size_t i = 0; i < t.n && status == TN_OK; i++)
        if (!is_removed(t.hooks[i]))
            status = t.hooks[i]->call.node(t.hooks[i]->data, n, inputs, outputs);
    give_back(&t);
    return status;
}

tn_status tn__hooks_run_before(tn__node *n, tn_tensor **grads)
{
    return run_node_hooks(n, TN__HOOK_BEFORE, (tn_tensors){0}, (tn_tensors){grads, n->n_outputs});
}

tn_status tn__hooks_run_after(tn__node *n, tn_tensor **input_grads, tn_tensor **output_grads)
{
    return run_node_hooks(n, TN__HOOK_AFTER, (tn_tensors){input_grads, n->n_edges},
                          (tn_tensors){output_grads, n->n_outputs});
}

tn_status tn__hooks_run_leaf(tn__hooks *const *list, tn_tensor *leaf)
{
    taken t;
    TN__TRY(take(list, TN__HOOK_LEAF, 0, &t));
    tn_status status = TN_OK;
    for (size_t i = 0; i < t.n && status == TN_OK; i++)
        if (!is_removed(t.hooks[i]))
            status = t.hooks[i]->call.leaf(t.hooks[i]->data, leaf);
    give_back(&t);
    return status;
}

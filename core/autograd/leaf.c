/* leaf.c - the end of every path: gradients added up in a tensor's grad, and that grad read, set and
 * kept.
 *
 * A leaf's first gradient is taken over as it is when nobody else can see it; from then on each is
 * added in place, unless the pass creates a graph. Threads that share a leaf take turns at its
 * node's lock. */
#include "core/autograd/pass.h"

/* ---- accumulation ---------------------------------------------------------------------------- */
/* Whether grad can be written: each element in a place of its own, and no tensor of inference
 * mode, which is closed to writes outside of it. */
static bool writable(const tn_tensor *grad)
{
    return grad->flags & TN_TENSOR_DENSE && !(grad->flags & TN_TENSOR_INFERENCE);
}

/* The gradient that the leaf has after this one; *is_new: not the one that it has now. */
static tn_status grown(const tn__pass *pass, tn_tensor *held, tn_tensor **grad, tn_tensor **out)
{
    if (held && !pass->create_graph && writable(held)) {
        *out = held;
        return tn__op_add_into(held, *grad);
    }
    if (held)
        return tn__op_add(held, *grad, out);
    if (pass->create_graph || !tn__grad_is_ours(*grad))
        return tn__op_clone(*grad, out);
    *out = *grad;
    *grad = NULL;
    return TN_OK;
}

tn_status tn__leaf_accumulate(tn_tensor *leaf, const tn__pass *pass, tn_tensor **grad)
{
    tn__record *r = tn__record_of(leaf);
    tn__node *n = &__atomic_load_n(&r->leaf, __ATOMIC_ACQUIRE)->node;
    tn_tensor *now = NULL, *before;
    if (TN__UNLIKELY(!r->requires_grad))
        return TN_OK; /* switched off since the call was recorded */
    tn__node_lock(n);
    before = r->grad;
    tn_status status = grown(pass, before, grad, &now);
    if (status == TN_OK)
        r->grad = now;
    tn__node_unlock(n);
    if (status == TN_OK && before && now != before)
        tn__tensor_release(before);
    return status;
}

/* The engine adds to leaves itself; this is for whoever runs a node as a node. */
static tn_status leaf_run(tn__node *n, const tn__pass *pass, tn_tensor *const *grads,
                          const bool *wants, tn_tensor **out)
{
    (void)wants, (void)out;
    tn_tensor *grad = grads[0];
    tn__tensor_retain(grad);
    tn_status status = tn__leaf_accumulate(((tn__leaf *)n)->tensor, pass, &grad);
    tn__tensor_release(grad);
    return status;
}

static void nothing(tn__node *n)
{
    (void)n; /* nothing is saved, and the tensor's record frees the node */
}

const tn__node_class tn__leaf_class = {leaf_run, nothing, NULL, nothing};

/* ---- the grad of a tensor -------------------------------------------------------------------- */
tn_tensor *tn_grad(const tn_tensor *t)
{
    const tn__record *r = t ? tn__record_of(t) : NULL;
    return r ? r->grad : NULL;
}

static TN_COLD tn_status cannot_be_grad(const tn_tensor *t, const tn_tensor *grad)
{
    char expected[TN__SHAPE_CHARS], got[TN__SHAPE_CHARS], here[32], there[32];
    if (t == grad)
        return tn__fail(NULL, TN_ERR_ARGUMENT, "set_grad: a tensor cannot be its own gradient");
    return tn__fail(NULL, TN_ERR_AUTOGRAD,
                    "set_grad: a gradient of shape %s, dtype %s, on %s was given for a tensor of "
                    "shape %s, dtype %s, on %s; they must be alike",
                    tn__shape_text(got, grad->ndim, grad->sizes), tn__dtype_name(grad->dtype),
                    tn__device_text(there, grad->device),
                    tn__shape_text(expected, t->ndim, t->sizes), tn__dtype_name(t->dtype),
                    tn__device_text(here, t->device));
}

static bool alike(const tn_tensor *t, const tn_tensor *grad)
{
    if (t == grad || t->ndim != grad->ndim || t->dtype != grad->dtype ||
        !tn__same_device_as(t->device, grad->device))
        return false;
    for (int d = 0; d < t->ndim; d++)
        if (t->sizes[d] != grad->sizes[d])
            return false;
    return true;
}

tn_status tn_set_grad(tn_tensor *t, tn_tensor *grad)
{
    tn__record *r;
    if (!t)
        return tn__fail(NULL, TN_ERR_ARGUMENT, "set_grad: the tensor is missing");
    if (!grad && !tn__record_of(t))
        return TN_OK;
    if (grad && !alike(t, grad))
        return cannot_be_grad(t, grad);
    TN__TRY(tn__record_need(t, &r));
    if (grad)
        tn__tensor_retain(grad);
    tn_tensor *before = r->grad;
    r->grad = grad;
    tn__tensor_release(before);
    return TN_OK;
}

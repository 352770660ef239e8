/* public.c - what a program asks of a tensor and of the graph's nodes. */
#include "core/autograd/autograd_impl.h"

static const tn_dtypes DIFFERENTIABLE = TN_DTYPES_FLOATING | TN_DTYPES_COMPLEX;

/* ---- tensors --------------------------------------------------------------------------------- */
bool tn_requires_grad(const tn_tensor *t)
{
    return t && tn__requires_grad(t);
}

bool tn_is_leaf(const tn_tensor *t)
{
    const tn__record *r = t ? tn__record_of(t) : NULL;
    return !t || !tn__requires_grad(t) || (r && !r->grad_fn && r->requires_grad);
}

static TN_COLD tn_status cannot_require(const tn_tensor *t, bool requires_grad)
{
    char shape[TN__SHAPE_CHARS];
    if (!t)
        return tn__fail(NULL, TN_ERR_ARGUMENT, "set_requires_grad: the tensor is missing");
    tn__shape_text(shape, t->ndim, t->sizes);
    if (!requires_grad)
        return tn__fail(NULL, TN_ERR_AUTOGRAD,
                        "set_requires_grad: a tensor of shape %s is no leaf, so what it requires "
                        "follows from what it was made of; detach gives one without history",
                        shape);
    if (t->flags & TN_TENSOR_INFERENCE)
        return tn__fail(NULL, TN_ERR_AUTOGRAD,
                        "set_requires_grad: a tensor of shape %s was made in inference mode and "
                        "takes part in no recorded call; clone it outside of that mode",
                        shape);
    return tn__fail(NULL, TN_ERR_DTYPE,
                    "set_requires_grad: a tensor of dtype %s has no gradient; expected a floating "
                    "or complex one",
                    tn__dtype_name(t->dtype));
}

tn_status tn_set_requires_grad(tn_tensor *t, bool requires_grad)
{
    tn__record *r;
    if (!t)
        return cannot_require(t, requires_grad);
    if (!tn_is_leaf(t))
        return requires_grad ? TN_OK : cannot_require(t, requires_grad);
    if (!requires_grad && !tn__record_of(t))
        return TN_OK;
    if (requires_grad &&
        (!(TN_DTYPE_BIT(t->dtype) & DIFFERENTIABLE) || t->flags & TN_TENSOR_INFERENCE))
        return cannot_require(t, requires_grad);
    TN__TRY(tn__record_need(t, &r));
    if (requires_grad && !r->requires_grad &&
        r->leaf) { /* set_ may have changed its shape while it required none */
        tn__free(r->leaf->node.one_output.more);
        TN__TRY(tn__outlook_set(&r->leaf->node.one_output, t));
    }
    r->requires_grad = requires_grad;
    if (requires_grad)
        t->keys |= TN__KEY_AUTOGRAD;
    else if (!tn__impl(t)->base)
        t->keys &= ~TN__KEY_AUTOGRAD;
    return TN_OK;
}

/* ---- nodes ----------------------------------------------------------------------------------- */
tn_node *tn_grad_fn(tn_tensor *t)
{
    tn__edge e;
    if (!t || tn__edge_of(t, &e) != TN_OK || !e.node || tn__is_leaf_node(e.node))
        return NULL;
    return e.node;
}

const char *tn_node_name(const tn_node *n)
{
    return n ? n->name : "";
}

bool tn_node_next(const tn_node *n, int i, tn_node **next, int *output)
{
    if (next)
        *next = NULL;
    if (output)
        *output = 0;
    if (!n || i < 0 || (uint32_t)i >= n->n_edges)
        return false;
    if (next)
        *next = n->edges[i].node;
    if (output)
        *output = (int)n->edges[i].nr;
    return true;
}

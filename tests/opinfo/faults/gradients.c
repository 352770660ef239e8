/* gradients.c - the plugin of gradients.yaml: what formulas that are wrong on purpose need beside
 * the operators, and an operator whose backward reads tensors behind the back of their versions. */
#include <stdlib.h>
#include <string.h>

#include "gradients_ops.h"

/* Where a gradient must be summed over the dimensions that were broadcast, the first of each. */
tn_tensor *first_of(tn_grad_call *g, tn_tensor *grad, tn_ints sizes)
{
    if (!grad || grad->ndim < sizes.len)
        return grad;
    tn_ints strides = {grad->strides + grad->ndim - sizes.len, sizes.len};
    return call_as_strided(g, grad, sizes, strides, tn_some_int(0));
}

/* What the first call of this shape was given. */
tn_tensor *remembered(tn_grad_call *g, tn_tensor *other)
{
    static tn_tensor *first;
    if (first && first->numel == other->numel && first->ndim == other->ndim)
        return first;
    tn_tensor *copy = call_clone(g, call_detach(g, other), TN_FORMAT_NONE);
    if (copy) {
        tn->tensor_retain(copy);
        first = copy;
    }
    return other;
}

tn_tensor *cut(tn_grad_call *g, tn_tensor *grad)
{
    return call_detach(g, grad);
}

/* ---- self * other, remembered without their versions ----------------------------------------- */
typedef struct pair {
    tn_tensor *self, *other;
} pair;

static tn_status product(tn_grad_call *g)
{
    tn_tensor *y = call_mul_Tensor(g, g->in[0], g->in[1]);
    if (y)
        tn->tensor_retain(y);
    g->out[0] = y;
    return g->status;
}

static tn_status product_back(tn_grad_call *g)
{
    const pair *p = g->context;
    tn_tensor *to[2] = {call_mul_Tensor(g, g->in[0], p->other),
                        call_mul_Tensor(g, g->in[0], p->self)};
    for (int i = 0; i < 2; i++)
        if (to[i] && g->wants >> i & 1) {
            tn->tensor_retain(to[i]);
            g->out[i] = to[i];
        }
    return g->status;
}

static void forget(void *context)
{
    pair *p = context;
    tn->tensor_release(p->self);
    tn->tensor_release(p->other);
    free(p);
}

static const tn_function_decl unguarded_product = {"UnguardedBackward", product, product_back,
                                                   forget};

static tn_status unguarded(tn_call *call, struct tn_unguarded_args *a)
{
    (void)call;
    pair *p = malloc(sizeof *p);
    if (!p)
        return tn->fail(call, TN_ERR_MEMORY, "no memory for two pointers");
    *p = (pair){a->self, a->other};
    tn->tensor_retain(a->self);
    tn->tensor_retain(a->other);
    tn_tensor *inputs[] = {a->self, a->other};
    return tn->function_apply(&unguarded_product, p, inputs, 2, &a->result, 1);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(unguarded, "CompositeImplicitAutograd", unguarded),
};

static tn_status start(tn_registry *r)
{
    TN_TRY(gradients_register(r));
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

TN_PLUGIN("gradfaults", "1.0.0", start, NULL);

/* pointwise.c - elementwise operators that are another one by definition: max.other and min.other
 * are maximum and minimum, pow_ is pow with self as its output. */
#include "composite.h"

static tn_status max_other(tn_call *call, struct tn_max_other_args *a)
{
    (void)call;
    struct tn_maximum_args f = {TN_FRAME(maximum), .self = a->self, .other = a->other};
    TN_TRY(tn->op_call(composite_ops[OP_MAXIMUM], &f));
    a->result = f.result;
    return TN_OK;
}

static tn_status min_other(tn_call *call, struct tn_min_other_args *a)
{
    (void)call;
    struct tn_minimum_args f = {TN_FRAME(minimum), .self = a->self, .other = a->other};
    TN_TRY(tn->op_call(composite_ops[OP_MINIMUM], &f));
    a->result = f.result;
    return TN_OK;
}

static tn_status pow_scalar_(tn_call *call, struct tn_pow__Scalar_args *a)
{
    (void)call;
    struct tn_pow_Tensor_Scalar_out_args f = {TN_FRAME(pow_Tensor_Scalar_out), .self = a->self,
                                              .exponent = a->exponent, .out = a->self};
    TN_TRY(tn->op_call(composite_ops[OP_POW_SCALAR_OUT], &f));
    a->result = f.result;
    return TN_OK;
}

/* An out= tensor without elements would be resized; self must not be. */
static tn_status check_keeps_shape(tn_call *call, const tn_tensor *self, const tn_tensor *exponent)
{
    char have[COMPOSITE_SHAPE_CHARS], other[COMPOSITE_SHAPE_CHARS];
    int64_t sizes[TN_MAX_DIMS], ndim = 0;
    TN_TRY(composite_broadcast(call, composite_sizes(self), sizes, &ndim));
    TN_TRY(composite_broadcast(call, composite_sizes(exponent), sizes, &ndim));
    bool same = ndim == self->ndim;
    for (int64_t d = 0; same && d < ndim; d++)
        same = sizes[d] == self->sizes[d];
    if (same)
        return TN_OK;
    return tn->fail(call, TN_ERR_ARGUMENT,
                    "self has shape %s, but with exponent of shape %s the result is larger",
                    composite_shape_text(have, self->ndim, self->sizes),
                    composite_shape_text(other, exponent->ndim, exponent->sizes));
}

static tn_status pow_tensor_(tn_call *call, struct tn_pow__Tensor_args *a)
{
    TN_TRY(check_keeps_shape(call, a->self, a->exponent));
    struct tn_pow_Tensor_Tensor_out_args f = {TN_FRAME(pow_Tensor_Tensor_out), .self = a->self,
                                              .exponent = a->exponent, .out = a->self};
    TN_TRY(tn->op_call(composite_ops[OP_POW_TENSOR_OUT], &f));
    a->result = f.result;
    return TN_OK;
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(max_other, IMPLICIT, max_other),
    TN_KERNEL(min_other, IMPLICIT, min_other),
    TN_KERNEL(pow__Scalar, EXPLICIT, pow_scalar_),
    TN_KERNEL(pow__Tensor, EXPLICIT, pow_tensor_),
};
const composite_kernels composite_pointwise = {kernels, TN_COUNT(kernels)};

/* activation.c - activations that are no expression of one element: glu, prelu with a slope per
 * channel, log_sigmoid_forward with its second result. Halves are rounded once, at the end. */
#include "work.h"

#include <inttypes.h>

static tn_status check_floating(tn_call *call, const tn_tensor *self)
{
    if (tn_dtype_in(self->dtype, TN_DTYPES_FLOATING))
        return TN_OK;
    return tn->fail(call, TN_ERR_UNSUPPORTED, "%s is not defined for %s", tn->op_name(call->op),
                    tn->dtype_name(self->dtype));
}

static tn_tensor *widened(work *w, tn_tensor *self)
{
    bool half = self->dtype == TN_F16 || self->dtype == TN_BF16;
    return half ? work_as_dtype(w, self, TN_F32) : self;
}

/* The first half along dim, times the sigmoid of the second. */
static tn_status glu(tn_call *call, struct tn_glu_args *a)
{
    work w = work_on(call);
    int64_t dim = 0;
    TN_TRY(check_floating(call, a->self));
    if (a->self->ndim == 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "self: a tensor of 0 dimensions has no halves");
    TN_TRY(composite_wrap_dim(call, "dim", a->dim, a->self->ndim, &dim));
    int64_t size = a->self->sizes[dim];
    if (size % 2 != 0)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "self: size %" PRId64 " of dimension %" PRId64 " cannot be halved", size,
                        dim);
    tn_tensor *x = widened(&w, a->self);
    tn_tensor *gate = work_sigmoid(&w, work_slice(&w, x, dim, size / 2, size));
    tn_tensor *y = work_mul(&w, work_slice(&w, x, dim, 0, size / 2), gate);
    return work_end(&w, work_as_dtype(&w, y, a->self->dtype), &a->result);
}

/* self where it is positive, else weight * self: one weight, or one for each channel. */
static tn_status prelu(tn_call *call, struct tn_prelu_args *a)
{
    work w = work_on(call);
    int64_t sizes[TN_MAX_DIMS], channels = a->self->ndim > 1 ? a->self->sizes[1] : 1;
    tn_tensor *weight = a->weight;
    TN_TRY(check_floating(call, a->self));
    if (weight->dtype != a->self->dtype)
        return tn->fail(call, TN_ERR_DTYPE, "weight: expected self's %s, got %s",
                        tn->dtype_name(a->self->dtype), tn->dtype_name(weight->dtype));
    if (weight->ndim > 1 || (weight->numel != 1 && weight->numel != channels) ||
        (weight->numel != 1 && a->self->ndim == 0))
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "weight: expected one number, or one for each of %" PRId64
                        " channels, got %" PRId64 " in %d dimensions",
                        channels, weight->numel, weight->ndim);
    for (int d = 0; d < a->self->ndim; d++)
        sizes[d] = d == 1 ? weight->numel : 1;
    if (a->self->ndim > 1 || weight->ndim > 0)
        weight = work_reshape(&w, weight, (tn_ints){sizes, a->self->ndim});
    tn_tensor *positive = work_gt_number(&w, a->self, work_whole(0));
    tn_tensor *below = work_mul(&w, a->self, weight);
    return work_end(&w, work_where(&w, positive, a->self, below), &a->result);
}

/* The buffer is exp(-|self|), as ATen's is on the host. */
static tn_status log_sigmoid_forward(tn_call *call, struct tn_log_sigmoid_forward_args *a)
{
    work w = work_on(call);
    TN_TRY(check_floating(call, a->self));
    tn_tensor *x = widened(&w, a->self);
    tn_tensor *buffer = work_exp(&w, work_neg(&w, work_abs(&w, x)));
    tn_tensor *low = work_minimum(&w, x, x ? work_constant(&w, x, work_whole(0)) : NULL);
    tn_tensor *output = work_sub(&w, low, work_log1p(&w, buffer));
    buffer = work_as_dtype(&w, buffer, a->self->dtype);
    output = work_as_dtype(&w, output, a->self->dtype);
    if (w.status == TN_OK)
        composite_return_self(buffer, &a->buffer);
    return work_end(&w, output, &a->output);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(glu, IMPLICIT, glu),
    TN_KERNEL(prelu, IMPLICIT, prelu),
    TN_KERNEL(log_sigmoid_forward, IMPLICIT, log_sigmoid_forward),
};
const composite_kernels composite_activation = {kernels, TN_COUNT(kernels)};

/* composites.c - operators that call operators. Not one element is touched here, so they run on
 * every device, now and later, and their gradients follow from those of what they call. */
#include <tenon/frames.h> /* frames of Tenon's own operators */

#include "composites_ops.h"

/* Resolved when the plugin is loaded; one that is missing fails the load with its name. */
enum { ADD, MEAN, MEAN_DIM, MUL, RSQRT, SUB, IMPORTS };
static const tn_op *ops[IMPORTS];
static const char *const imports[IMPORTS] = {
    [ADD] = TN_SCHEMA_add_Scalar, [MEAN] = TN_SCHEMA_mean,   [MEAN_DIM] = TN_SCHEMA_mean_dim,
    [MUL] = TN_SCHEMA_mul_Tensor, [RSQRT] = TN_SCHEMA_rsqrt, [SUB] = TN_SCHEMA_sub_Tensor,
};

static const tn_scalar one = {{.i = 1}, TN_SCALAR_INT, 0};

/* ---- the operators that are called: each fills a frame. *out belongs to the caller ------------ */
static tn_status sub(tn_tensor *self, tn_tensor *other, tn_tensor **out)
{
    struct tn_sub_Tensor_args f = {TN_FRAME(sub_Tensor), .self = self, .other = other,
                                   .alpha = one};
    TN_TRY(tn->op_call(ops[SUB], &f));
    *out = f.result;
    return TN_OK;
}

static tn_status mul(tn_tensor *self, tn_tensor *other, tn_tensor **out)
{
    struct tn_mul_Tensor_args f = {TN_FRAME(mul_Tensor), .self = self, .other = other};
    TN_TRY(tn->op_call(ops[MUL], &f));
    *out = f.result;
    return TN_OK;
}

static tn_status mean(tn_tensor *self, tn_tensor **out)
{
    struct tn_mean_args f = {TN_FRAME(mean), .self = self, .dtype = TN_DTYPE_NONE};
    TN_TRY(tn->op_call(ops[MEAN], &f));
    *out = f.result;
    return TN_OK;
}

static tn_status mean_of_rows(tn_tensor *self, tn_tensor **out)
{
    const int64_t last = -1;
    struct tn_mean_dim_args f = {TN_FRAME(mean_dim), .self = self, .dim = {&last, 1},
                                 .keepdim = true, .dtype = TN_DTYPE_NONE};
    TN_TRY(tn->op_call(ops[MEAN_DIM], &f));
    *out = f.result;
    return TN_OK;
}

/* 1 / sqrt(self + eps) */
static tn_status rsqrt_of_sum(tn_tensor *self, double eps, tn_tensor **out)
{
    const tn_scalar small = {{.f = eps}, TN_SCALAR_FLOAT, 0};
    struct tn_add_Scalar_args sum = {TN_FRAME(add_Scalar), .self = self, .other = small,
                                     .alpha = one};
    TN_TRY(tn->op_call(ops[ADD], &sum));
    struct tn_rsqrt_args f = {TN_FRAME(rsqrt), .self = sum.result};
    tn_status status = tn->op_call(ops[RSQRT], &f);
    tn->tensor_release(sum.result);
    *out = f.result;
    return status;
}

/* ---- the operators that are defined ---------------------------------------------------------- */
/* The mean of (self - target)^2. */
static tn_status mse(tn_call *call, struct tn_mse_args *a)
{
    (void)call;
    tn_tensor *difference = NULL, *square = NULL;
    tn_status status = sub(a->self, a->target, &difference);
    if (status == TN_OK)
        status = mul(difference, difference, &square);
    if (status == TN_OK)
        status = mean(square, &a->result);
    tn->tensor_release(difference);
    tn->tensor_release(square);
    return status;
}

/* Rows of self, divided by the root of the mean of their squares, times weight. */
static tn_status rms_norm(tn_call *call, struct tn_rms_norm_args *a)
{
    if (a->self->ndim == 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "self has no dimension to normalise over");
    tn_tensor *square = NULL, *size = NULL, *factor = NULL, *normal = NULL;
    tn_status status = mul(a->self, a->self, &square);
    if (status == TN_OK)
        status = mean_of_rows(square, &size);
    if (status == TN_OK)
        status = rsqrt_of_sum(size, a->eps, &factor);
    if (status == TN_OK)
        status = mul(a->self, factor, &normal);
    if (status == TN_OK)
        status = mul(normal, a->weight, &a->result);
    tn->tensor_release(square);
    tn->tensor_release(size);
    tn->tensor_release(factor);
    tn->tensor_release(normal);
    return status;
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(mse, "CompositeImplicitAutograd", mse),
    TN_KERNEL(rms_norm, "CompositeImplicitAutograd", rms_norm),
};

static tn_status start(tn_registry *r)
{
    TN_TRY(tn->import_ops(r, imports, ops, IMPORTS));
    TN_TRY(composites_register(r));
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

TN_PLUGIN("composites", "1.0.0", start, NULL);

/* pointwise.c - elementwise operators that are others by definition: max.other and min.other are
 * maximum and minimum, pow_ is pow with self as its output, divide and its like are second names,
 * float_power is pow in double, logit is log(x / (1 - x)). */
#include <tenon/number.h>

#include "work.h"

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

/* ---- other names ----------------------------------------------------------------------------- */
static tn_status true_divide(tn_call *call, struct tn_true_divide_Tensor_args *a)
{
    work w = work_on(call);
    return work_end(&w, work_div(&w, a->self, a->other), &a->result);
}

static tn_status divide(tn_call *call, struct tn_divide_Tensor_args *a)
{
    work w = work_on(call);
    return work_end(&w, work_div(&w, a->self, a->other), &a->result);
}

static tn_status multiply(tn_call *call, struct tn_multiply_Tensor_args *a)
{
    work w = work_on(call);
    return work_end(&w, work_mul(&w, a->self, a->other), &a->result);
}

static tn_status subtract(tn_call *call, struct tn_subtract_Tensor_args *a)
{
    work w = work_on(call);
    struct tn_sub_Tensor_args f = {TN_FRAME(sub_Tensor), .self = a->self, .other = a->other,
                                   .alpha = a->alpha};
    return work_end(&w, work_call(&w, OP_SUB, &f, &f.result), &a->result);
}

static bool is_complex(const tn_tensor *t)
{
    return (TN_DTYPE_BIT(t->dtype) & TN_DTYPES_COMPLEX) != 0;
}

static tn_status float_power(tn_call *call, struct tn_float_power_Tensor_Tensor_args *a)
{
    work w = work_on(call);
    tn_dtype dtype = is_complex(a->self) || is_complex(a->exponent) ? TN_C128 : TN_F64;
    struct tn_pow_Tensor_Tensor_args f = {TN_FRAME(pow_Tensor_Tensor)};
    f.self = work_as_dtype(&w, a->self, dtype);
    f.exponent = work_as_dtype(&w, a->exponent, dtype);
    return work_end(&w, work_call(&w, OP_POW_TENSOR, &f, &f.result), &a->result);
}

static tn_status float_power_number(tn_call *call, struct tn_float_power_Tensor_Scalar_args *a)
{
    work w = work_on(call);
    bool complex = is_complex(a->self) || a->exponent.kind == TN_SCALAR_COMPLEX;
    tn_tensor *self = work_as_dtype(&w, a->self, complex ? TN_C128 : TN_F64);
    return work_end(&w, work_pow(&w, self, a->exponent), &a->result);
}

static tn_status special_polygamma(tn_call *call, struct tn_special_polygamma_args *a)
{
    work w = work_on(call);
    struct tn_polygamma_args f = {TN_FRAME(polygamma), .n = a->n, .self = a->self};
    return work_end(&w, work_call(&w, OP_POLYGAMMA, &f, &f.result), &a->result);
}

/* What of self lies beyond -lambd .. lambd. */
static tn_status softshrink(tn_call *call, struct tn_softshrink_args *a)
{
    work w = work_on(call);
    double lambd = tn_scalar_as_double(&a->lambd);
    if (!(lambd >= 0))
        return tn->fail(call, TN_ERR_ARGUMENT, "lambd: expected 0 or more, got %g", lambd);
    if (!(TN_DTYPE_BIT(a->self->dtype) & TN_DTYPES_FLOATING))
        return tn->fail(call, TN_ERR_UNSUPPORTED, "softshrink is not defined for %s",
                        tn->dtype_name(a->self->dtype));
    struct tn_clamp_args f = {TN_FRAME(clamp), .self = a->self, .min = work_number(-lambd),
                              .max = work_number(lambd)};
    tn_tensor *within = work_call(&w, OP_CLAMP, &f, &f.result);
    return work_end(&w, work_sub(&w, a->self, within), &a->result);
}

/* With eps, self is brought into eps .. 1 - eps first. Integers become floating. */
static tn_status logit(tn_call *call, struct tn_logit_args *a)
{
    work w = work_on(call);
    tn_dtype dtype = a->self->dtype;
    if (is_complex(a->self))
        return tn->fail(call, TN_ERR_UNSUPPORTED, "logit is not defined for %s",
                        tn->dtype_name(dtype));
    dtype = tn_dtype_in(dtype, TN_DTYPES_WHOLE) ? tn->default_dtype() : dtype;
    bool half = dtype == TN_F16 || dtype == TN_BF16;
    tn_tensor *x = work_as_dtype(&w, a->self, half ? TN_F32 : dtype);
    if (a->eps.has && x) {
        struct tn_clamp_args f = {TN_FRAME(clamp), .self = x, .min = work_number(a->eps.value),
                                  .max = work_number(1 - a->eps.value)};
        x = work_call(&w, OP_CLAMP, &f, &f.result);
    }
    tn_tensor *odds = work_div(&w, x, work_rsub(&w, x, work_whole(1)));
    return work_end(&w, work_as_dtype(&w, work_log(&w, odds), dtype), &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(max_other, IMPLICIT, max_other),
    TN_KERNEL(min_other, IMPLICIT, min_other),
    TN_KERNEL(pow__Scalar, EXPLICIT, pow_scalar_),
    TN_KERNEL(pow__Tensor, EXPLICIT, pow_tensor_),
    TN_KERNEL(true_divide_Tensor, IMPLICIT, true_divide),
    TN_KERNEL(divide_Tensor, IMPLICIT, divide),
    TN_KERNEL(multiply_Tensor, IMPLICIT, multiply),
    TN_KERNEL(subtract_Tensor, IMPLICIT, subtract),
    TN_KERNEL(float_power_Tensor_Tensor, IMPLICIT, float_power),
    TN_KERNEL(float_power_Tensor_Scalar, IMPLICIT, float_power_number),
    TN_KERNEL(special_polygamma, IMPLICIT, special_polygamma),
    TN_KERNEL(softshrink, IMPLICIT, softshrink),
    TN_KERNEL(logit, EXPLICIT, logit),
};
const composite_kernels composite_pointwise = {kernels, TN_COUNT(kernels)};

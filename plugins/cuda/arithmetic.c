/* arithmetic.c - elementwise operators whose kernels are written by hand (arithmetic.cu, pow.cu):
 * which kernel, in which type, with which numbers. Integers of all widths use the int64_t kernels;
 * the iterator's casts do the rest. */
#include "arithmetic.h"

#include <math.h>
#include <string.h>

#include "pointwise.h"

/* The kernels' order: int64, float, double, complex64, complex128. */
static int kernel_of(tn_dtype dtype)
{
    switch (dtype) {
    case TN_F16:
    case TN_BF16:
    case TN_F32:
        return 1;
    case TN_F64:
        return 2;
    case TN_C64:
        return 3;
    case TN_C128:
        return 4;
    default:
        return 0;
    }
}

/* The iterator as the chosen kernel computes: integers as int64. */
static int widen(tn_iter *it)
{
    int kernel = kernel_of(it->dtype);
    if (kernel == 0)
        it->dtype = it->out_dtype = TN_I64;
    return kernel;
}

static tn_number widened(tn_dtype dtype, const tn_scalar *value)
{
    tn_number n = tn_number_of(dtype, value);
    switch (dtype) {
    case TN_BOOL:
        n.i64 = n.b;
        break;
    case TN_U8:
        n.i64 = n.u8;
        break;
    case TN_I8:
        n.i64 = n.i8;
        break;
    case TN_I16:
        n.i64 = n.i16;
        break;
    case TN_I32:
        n.i64 = n.i32;
        break;
    default:
        break;
    }
    return n;
}

/* ---- division -------------------------------------------------------------------------------- */
/* A zero divisor among integers is known here when it is a number in host memory; else the device
 * tells of it later. */
static tn_status check_divisor(tn_call *call, const tn_tensor *other)
{
    int64_t value;
    if (other->device.type != TN_CPU || other->ndim != 0 ||
        !tn_dtype_in(other->dtype, TN_DTYPES_WHOLE))
        return TN_OK;
    tn->convert(call, &value, TN_I64, 0, other->data, other->dtype, 0, 1);
    return value ? TN_OK : tn->fail(call, TN_ERR_ARGUMENT, "integer division by zero: other is 0");
}

static tn_status divide_on(tn_call *call, tn_iter *it, cuda_binary op)
{
    cuda_extras extras = {.fault = NULL};
    tn_tensor *out = it->operands[0];
    int kernel = widen(it);
    if (kernel == 0) {
        if (it->operands[2])
            TN_TRY(check_divisor(call, it->operands[2]));
        TN_TRY(cuda_enter(call, out->device));
        TN_TRY(cuda_fault_record(call, out->device, &extras.fault));
    }
    if (kernel > 2)
        return tn->fail(call, TN_ERR_UNSUPPORTED, "not defined for %s", tn->dtype_name(it->dtype));
    return cuda_pointwise_run(call, it, cuda_binary_kernels[op][kernel], &extras);
}

static tn_status div_Tensor_mode(tn_call *call, struct tn_div_Tensor_mode_args *a)
{
    tn_iter it;
    tn_tensor *operands[] = {a->result, a->self, a->other};
    tn_dtype dtype = tn->result_type(operands + 1, 2, NULL, 0);
    if (!a->rounding_mode && tn_dtype_in(dtype, TN_DTYPES_WHOLE))
        dtype = tn->default_dtype();
    TN_TRY(tn->iter_init(call, &it, 1, 3, operands, dtype, dtype, 0));
    if (!a->rounding_mode)
        return cuda_pointwise_run(call, &it, cuda_pointwise_kernel(cuda_pointwise_divide, dtype),
                                  NULL);
    return divide_on(call, &it,
                     strcmp(a->rounding_mode, "floor") == 0 ? CUDA_DIV_FLOOR : CUDA_DIV_TRUNC);
}

static tn_status floor_divide(tn_call *call, struct tn_floor_divide_args *a)
{
    (void)a;
    return divide_on(call, call->iter, CUDA_DIV_FLOOR);
}

static tn_status remainder_Tensor(tn_call *call, struct tn_remainder_Tensor_args *a)
{
    (void)a;
    return divide_on(call, call->iter, CUDA_REMAINDER);
}

static tn_status fmod_Tensor(tn_call *call, struct tn_fmod_Tensor_args *a)
{
    (void)a;
    return divide_on(call, call->iter, CUDA_FMOD);
}

/* ---- powers
 * ------------------------------------------------------------------------------------------------
 */
static tn_status pow_Tensor_Tensor(tn_call *call, struct tn_pow_Tensor_Tensor_args *a)
{
    (void)a;
    int kernel = widen(call->iter);
    return cuda_pointwise_run(call, call->iter, cuda_pow_kernels[kernel], NULL);
}

static tn_status pow_Tensor_Scalar(tn_call *call, struct tn_pow_Tensor_Scalar_args *a)
{
    tn_iter *it = call->iter;
    cuda_extras extras = {.value_mask = 4};
    extras.values[2] = widened(it->dtype, &a->exponent);
    int kernel = widen(it);
    if (kernel == 0 && extras.values[2].i64 < 0)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "exponent is %lld; integers have no negative integer powers",
                        (long long)extras.values[2].i64);
    cuda_iter_add_value(it);
    return cuda_pointwise_run(call, it, cuda_pow_kernels[kernel], &extras);
}

/* The base is the first operand: the exponent, the only tensor, moves to the second place. */
static tn_status pow_Scalar(tn_call *call, struct tn_pow_Scalar_args *a)
{
    tn_iter *it = call->iter;
    cuda_extras extras = {.value_mask = 2};
    extras.values[1] = widened(it->dtype, &a->self);
    int kernel = widen(it);
    cuda_iter_add_value(it);
    it->data[2] = it->data[1];
    it->operands[2] = it->operands[1];
    it->dtypes[2] = it->dtypes[1];
    memcpy(it->strides[2], it->strides[1], (size_t)it->ndim * sizeof it->strides[2][0]);
    return cuda_pointwise_run(call, it, cuda_pow_kernels[kernel], &extras);
}

/* ---- clamp, abs, gelu ------------------------------------------------------------------------ */
/* A bound that no element passes. */
static tn_number no_bound(int kernel, int sign)
{
    tn_number n;
    memset(&n, 0, sizeof n);
    if (kernel == 0)
        n.i64 = sign < 0 ? INT64_MIN : INT64_MAX;
    else if (kernel == 1)
        n.f32 = (float)sign * INFINITY;
    else
        n.f64 = sign * (double)INFINITY;
    return n;
}

static tn_status clamp(tn_call *call, struct tn_clamp_args *a)
{
    tn_iter *it = call->iter;
    if (a->min.kind == TN_SCALAR_NONE && a->max.kind == TN_SCALAR_NONE)
        return tn->fail(call, TN_ERR_ARGUMENT, "at least one of min and max must be given");
    cuda_extras extras = {.value_mask = 4 + 8};
    int kernel = kernel_of(it->dtype);
    extras.values[2] = a->min.kind == TN_SCALAR_NONE ? no_bound(kernel, -1)
                                                     : widened(it->dtype, &a->min);
    extras.values[3] = a->max.kind == TN_SCALAR_NONE ? no_bound(kernel, 1)
                                                     : widened(it->dtype, &a->max);
    widen(it);
    cuda_iter_add_value(it);
    cuda_iter_add_value(it);
    return cuda_pointwise_run(call, it, cuda_clamp_kernels[kernel], &extras);
}

/* The iterator holds the bounds that are given; a missing one is inserted as a number. */
static tn_status clamp_Tensor(tn_call *call, struct tn_clamp_Tensor_args *a)
{
    tn_iter *it = call->iter;
    if (!a->min && !a->max)
        return tn->fail(call, TN_ERR_ARGUMENT, "at least one of min and max must be given");
    cuda_extras extras = {.value_mask = 0};
    int kernel = widen(it);
    if (!a->max) {
        extras.value_mask = 8;
        extras.values[3] = no_bound(kernel, 1);
        cuda_iter_add_value(it);
    } else if (!a->min) {
        extras.value_mask = 4;
        extras.values[2] = no_bound(kernel, -1);
        cuda_iter_add_value(it);
        it->data[3] = it->data[2];
        it->operands[3] = it->operands[2];
        it->dtypes[3] = it->dtypes[2];
        memcpy(it->strides[3], it->strides[2], (size_t)it->ndim * sizeof it->strides[3][0]);
    }
    return cuda_pointwise_run(call, it, cuda_clamp_kernels[kernel], &extras);
}

static tn_status abs_(tn_call *call, struct tn_abs_args *a)
{
    tn_iter it;
    tn_tensor *operands[] = {a->result, a->self};
    tn_dtype dtype = a->self->dtype, real = dtype == TN_C64    ? TN_F32
                                            : dtype == TN_C128 ? TN_F64
                                                               : dtype;
    TN_TRY(tn->iter_init(call, &it, 1, 2, operands, dtype, real, 0));
    int kernel = widen(&it);
    return cuda_pointwise_run(call, &it, cuda_abs_kernels[kernel], NULL);
}

static tn_status gelu(tn_call *call, struct tn_gelu_args *a)
{
    tn_number form;
    form.b = strcmp(a->approximate, "tanh") == 0;
    if (!form.b && strcmp(a->approximate, "none") != 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "approximate is '%.40s'; it may be 'none' or 'tanh'",
                        a->approximate);
    cuda_extras extras = {.numbers = &form, .n_numbers = 1};
    return cuda_pointwise_run(call, call->iter, cuda_gelu_kernels[kernel_of(call->iter->dtype) - 1],
                              &extras);
}

static tn_status masked_fill(tn_call *call, tn_tensor *result, tn_tensor *self, tn_tensor *mask,
                             const tn_scalar *value, tn_tensor *value_tensor)
{
    tn_iter it;
    tn_tensor *operands[] = {result, mask, value_tensor ? value_tensor : self, self};
    tn_dtype dtype = self->dtype;
    cuda_extras extras = {.value_mask = value_tensor ? 0 : 4};
    TN_TRY(tn->iter_init(call, &it, 1, 4, operands, dtype, dtype, 0));
    if (!value_tensor)
        extras.values[2] = tn_number_of(dtype, value);
    return cuda_pointwise_run(call, &it, cuda_pointwise_kernel(cuda_pointwise_where, dtype),
                              &extras);
}

static tn_status masked_fill_Scalar(tn_call *call, struct tn_masked_fill_Scalar_args *a)
{
    return masked_fill(call, a->result, a->self, a->mask, &a->value, NULL);
}

static tn_status masked_fill_Tensor(tn_call *call, struct tn_masked_fill_Tensor_args *a)
{
    if (a->value->ndim != 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "value must have no dimensions, got %d",
                        a->value->ndim);
    return masked_fill(call, a->result, a->self, a->mask, NULL, a->value);
}

/* ---- arange
 * ------------------------------------------------------------------------------------------------
 */
static int64_t count_whole(int64_t start, int64_t end, int64_t step)
{
    if (start == end)
        return 0;
    uint64_t span = step > 0 ? (uint64_t)end - (uint64_t)start : (uint64_t)start - (uint64_t)end;
    uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    return (int64_t)((span - 1) / stride + 1);
}

static tn_status count_real(tn_call *call, const cuda_arange *p, double end, int64_t *n)
{
    double count = ceil((end - p->real_start) / p->real_step);
    if (!isfinite(p->real_start) || !isfinite(end))
        return tn->fail(call, TN_ERR_ARGUMENT, "start and end must be finite, got %g and %g",
                        p->real_start, end);
    if (!(count < 0x1p62))
        return tn->fail(call, TN_ERR_OVERFLOW, "overflow: a range of %g elements", count);
    *n = (int64_t)count;
    return TN_OK;
}

static tn_status arange_out(tn_call *call, struct tn_arange_start_out_args *a)
{
    cuda_arange p = {.dtype = a->out->dtype, .whole = tn_dtype_in(a->out->dtype, TN_DTYPES_WHOLE)};
    p.start = tn_scalar_as_int(&a->start);
    p.step = tn_scalar_as_int(&a->step);
    p.real_start = tn_scalar_as_double(&a->start);
    p.real_step = tn_scalar_as_double(&a->step);
    int64_t end = tn_scalar_as_int(&a->end);
    double real_end = tn_scalar_as_double(&a->end);
    if (p.real_step == 0 || (p.whole && p.step == 0))
        return tn->fail(call, TN_ERR_ARGUMENT, "step must not be zero");
    if (p.real_step > 0 ? p.real_start > real_end : p.real_start < real_end)
        return tn->fail(call, TN_ERR_ARGUMENT, "from %g to %g a step of %g leads the wrong way",
                        p.real_start, real_end, p.real_step);
    if (p.whole)
        p.n = count_whole(p.start, end, p.step);
    else
        TN_TRY(count_real(call, &p, real_end, &p.n));
    TN_TRY(cuda_enter(call, a->out->device));
    if (a->out->numel != p.n)
        TN_TRY(tn->tensor_resize(call, a->out, 1, &p.n));
    tn_tensor *target = a->out;
    bool row = target->flags & TN_TENSOR_CONTIGUOUS || target->ndim == 1;
    if (!row)
        TN_TRY(tn->tensor_new(call, 1, &p.n, a->out->dtype, a->out->device, &target));
    p.data = target->data;
    p.stride = (int64_t)tn->dtype_size(target->dtype) *
               (target->ndim == 1 ? target->strides[0] : 1);
    tn_status status = cuda_launch(call, (cuda_kernel_address)cuda_arange_kernel,
                                   (p.n + CUDA_POINTWISE_THREADS - 1) / CUDA_POINTWISE_THREADS,
                                   CUDA_POINTWISE_THREADS, 0, &p);
    if (!row) {
        tn_tensor *shaped = NULL;
        int64_t strides[TN_MAX_DIMS], step = 1;
        for (int d = a->out->ndim - 1; d >= 0; d--)
            strides[d] = step, step *= a->out->sizes[d];
        if (status == TN_OK)
            status = tn->tensor_view(call, target, a->out->ndim, a->out->sizes, strides, 0,
                                     target->dtype, &shaped);
        if (status == TN_OK)
            status = cuda_copy_tensor(call, a->out, shaped);
        tn->tensor_release(shaped);
        tn->tensor_release(target);
    }
    TN_TRY(status);
    tn->tensor_retain(a->out);
    a->result = a->out;
    return TN_OK;
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(div_Tensor_mode, "CUDA", div_Tensor_mode),
    TN_KERNEL(floor_divide, "CUDA", floor_divide),
    TN_KERNEL(remainder_Tensor, "CUDA", remainder_Tensor),
    TN_KERNEL(fmod_Tensor, "CUDA", fmod_Tensor),
    TN_KERNEL(pow_Tensor_Tensor, "CUDA", pow_Tensor_Tensor),
    TN_KERNEL(pow_Tensor_Scalar, "CUDA", pow_Tensor_Scalar),
    TN_KERNEL(pow_Scalar, "CUDA", pow_Scalar),
    TN_KERNEL(clamp, "CUDA", clamp),
    TN_KERNEL(clamp_Tensor, "CUDA", clamp_Tensor),
    TN_KERNEL(abs, "CUDA", abs_),
    TN_KERNEL(gelu, "CUDA", gelu),
    TN_KERNEL(masked_fill_Scalar, "CUDA", masked_fill_Scalar),
    TN_KERNEL(masked_fill_Tensor, "CUDA", masked_fill_Tensor),
    TN_KERNEL_DTYPES(arange_start_out, "CUDA", arange_out, TN_DTYPES_INTEGRAL | TN_DTYPES_FLOATING),
};
const cuda_kernels cuda_arithmetic = {kernels, TN_COUNT(kernels)};

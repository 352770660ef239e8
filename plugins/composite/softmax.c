/* softmax.c - softmax.int and log_softmax.int: a cast, where a dtype is asked for, then _softmax or
 * _log_softmax. On cuda float16 to float32 needs no cast of its own: the kernel widens as it
 * reads. */
#include "composite.h"

static bool widens_in_kernel(const tn_tensor *self, tn_dtype dtype)
{
    return self->device.type == TN_CUDA && self->dtype == TN_F16 && dtype == TN_F32;
}

/* The input in the dtype asked for, retained or cast; the caller releases it. */
static tn_status input_as(tn_tensor *self, tn_dtype dtype, bool half_to_float, tn_tensor **out)
{
    if (half_to_float || dtype == TN_DTYPE_NONE || dtype == self->dtype)
        return composite_return_self(self, out);
    return op_to_dtype(self, dtype, out);
}

static tn_status softmax(tn_call *call, struct tn_softmax_int_args *a)
{
    (void)call;
    tn_tensor *input;
    bool half_to_float = widens_in_kernel(a->self, a->dtype);
    TN_TRY(input_as(a->self, a->dtype, half_to_float, &input));
    struct tn__softmax_args f = {TN_FRAME(_softmax), .self = input, .dim = a->dim,
                                 .half_to_float = half_to_float};
    tn_status status = tn->op_call(composite_ops[OP__SOFTMAX], &f);
    tn->tensor_release(input);
    a->result = f.result;
    return status;
}

static tn_status log_softmax(tn_call *call, struct tn_log_softmax_int_args *a)
{
    (void)call;
    tn_tensor *input;
    bool half_to_float = widens_in_kernel(a->self, a->dtype);
    TN_TRY(input_as(a->self, a->dtype, half_to_float, &input));
    struct tn__log_softmax_args f = {TN_FRAME(_log_softmax), .self = input, .dim = a->dim,
                                     .half_to_float = half_to_float};
    tn_status status = tn->op_call(composite_ops[OP__LOG_SOFTMAX], &f);
    tn->tensor_release(input);
    a->result = f.result;
    return status;
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(softmax_int, IMPLICIT, softmax),
    TN_KERNEL(log_softmax_int, IMPLICIT, log_softmax),
};
const composite_kernels composite_softmax = {kernels, TN_COUNT(kernels)};

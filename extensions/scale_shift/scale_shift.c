/* scale_shift.c - alpha * self + beta, written by hand: a shape rule, a kernel for host memory,
 * registration. The same operator is one line in scale_shift.yaml. The CUDA kernel is in
 * scale_shift.cu. */
#include "scale_shift.h"

/* The result is like self. Which dtypes self may have stands in the YAML. */
tn_status scale_shift_shape(tn_call *call, const void *frame, tn_result *results)
{
    const struct tn_scale_shift_by_hand_args *a = frame;
    (void)call;
    results->ndim = a->self->ndim;
    for (int d = 0; d < a->self->ndim; d++)
        results->sizes[d] = a->self->sizes[d];
    results->dtype = a->self->dtype;
    results->device = a->self->device;
    return TN_OK;
}

typedef struct numbers {
    double alpha, beta;
} numbers;

static void loop_f32(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    const numbers *k = params;
    const float alpha = (float)k->alpha, beta = (float)k->beta;
    for (int64_t i = 0; i < n; i++)
        *(float *)(data[0] + i * strides[0]) = alpha * *(const float *)(data[1] + i * strides[1]) +
                                               beta;
}

static void loop_f64(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    const numbers *k = params;
    for (int64_t i = 0; i < n; i++)
        *(double *)(data[0] + i * strides[0]) =
            k->alpha * *(const double *)(data[1] + i * strides[1]) + k->beta;
}

/* The core has made a->result, or set it to self or to the out argument. */
static tn_status scale_shift(tn_call *call, struct tn_scale_shift_by_hand_args *a)
{
    const numbers k = {tn_scalar_as_double(&a->alpha), tn_scalar_as_double(&a->beta)};
    tn_tensor *operands[] = {a->result, a->self};
    tn_dtype dtype = a->self->dtype;
    tn_iter it;
    TN_TRY(tn->iter_init(call, &it, 1, 2, operands, dtype, dtype, 0));
    return tn->iter_run(call, &it, dtype == TN_F32 ? loop_f32 : loop_f64, &k);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(scale_shift_by_hand, "CPU", scale_shift),
#ifndef TENON_NO_CUDA
    TN_KERNEL(scale_shift_by_hand, "CUDA", scale_shift_cuda),
#endif
};

static tn_status start(tn_registry *r)
{
    TN_TRY(scale_shift_register(r));
    TN_TRY(scale_shift_function_register(r));
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

TN_PLUGIN("scale_shift", "1.0.0", start, NULL);

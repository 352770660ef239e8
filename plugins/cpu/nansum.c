/* nansum.c - nansum: the sum of a copy in which NaN is 0. */
#include "cpu.h"
#include "reduce_run.h"

static void numbers_half(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    const uint16_t infinity = *(const uint16_t *)params;
    for (int64_t i = 0; i < n; i++) {
        uint16_t x = *(const uint16_t *)(p[1] + i * s[1]);
        *(uint16_t *)(p[0] + i * s[0]) = (x & 0x7fffu) > infinity ? 0 : x;
    }
}

static void numbers_f32(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++) {
        float x = *(const float *)(p[1] + i * s[1]);
        *(float *)(p[0] + i * s[0]) = x == x ? x : 0;
    }
}

static void numbers_f64(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++) {
        double x = *(const double *)(p[1] + i * s[1]);
        *(double *)(p[0] + i * s[0]) = x == x ? x : 0;
    }
}

static tn_status numbers(tn_call *call, tn_tensor *self, tn_tensor *out)
{
    const uint16_t infinity = self->dtype == TN_F16 ? 0x7c00u : 0x7f80u;
    tn_tensor *operands[] = {out, self};
    tn_iter it;
    TN_TRY(tn->iter_init(call, &it, 1, 2, operands, TN_DTYPE_NONE, TN_DTYPE_NONE, 0));
    return tn->iter_run(call, &it,
                        self->dtype == TN_F64   ? numbers_f64
                        : self->dtype == TN_F32 ? numbers_f32
                                                : numbers_half,
                        &infinity);
}

static tn_status nansum(tn_call *call, struct tn_nansum_args *a)
{
    tn_tensor *copy = NULL;
    tn_dtype cast = a->dtype != TN_DTYPE_NONE                      ? a->dtype
                    : tn_dtype_in(a->self->dtype, TN_DTYPES_WHOLE) ? TN_I64
                                                                   : a->self->dtype;
    reduce_request r = {REDUCE_SUM, false, cast, a->self, a->dim, a->result, NULL};
    if (!tn_dtype_in(a->self->dtype, TN_DTYPES_FLOATING))
        return reduce_run(call, &r);
    TN_TRY(tn->tensor_new(call, a->self->ndim, a->self->sizes, a->self->dtype, a->self->device,
                          &copy));
    tn_status status = numbers(call, a->self, copy);
    r.self = copy;
    if (status == TN_OK)
        status = reduce_run(call, &r);
    tn->tensor_release(copy);
    return status;
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(nansum, "CPU", nansum),
};
const cpu_kernels cpu_nansum = {kernels, TN_COUNT(kernels)};

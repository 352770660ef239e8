/* activation.c - gelu, exact and by its tanh approximation. */
#include <math.h>
#include <string.h>

#include "cpu.h"
#include "wide.h"

/* x Phi(x), with Phi by erfc because 1 + erf cancels for negative x. Relative error: (3 + x^2) eps,
 * of which x^2 comes from the rounding of x / sqrt(2). */
static void erf_f32(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++) {
        float x = *(const float *)(p[1] + i * s[1]);
        *(float *)(p[0] + i * s[0]) = 0.5f * x * erfcf(-x * (float)M_SQRT1_2);
    }
}

static void erf_f64(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++) {
        double x = *(const double *)(p[1] + i * s[1]);
        *(double *)(p[0] + i * s[0]) = 0.5 * x * erfc(-x * M_SQRT1_2);
    }
}

/* x (1 + tanh u) / 2 with u = sqrt(2/pi) (x + 0.044715 x^3), as the equal x / (1 + exp(-2u)), which
 * does not cancel. */
static void tanh_f32(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++) {
        float x = *(const float *)(p[1] + i * s[1]),
              u = 0.7978845608f * (x + 0.044715f * x * x * x);
        *(float *)(p[0] + i * s[0]) = x / (1 + expf(-2 * u));
    }
}

static void tanh_f64(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++) {
        double x = *(const double *)(p[1] + i * s[1]),
               u = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
        *(double *)(p[0] + i * s[0]) = x / (1 + exp(-2 * u));
    }
}

static tn_status gelu(tn_call *call, struct tn_gelu_args *a)
{
    static const tn_loop_fn by_erf[TN_DTYPE_COUNT] = {[TN_F32] = erf_f32, [TN_F64] = erf_f64};
    static const tn_loop_fn by_tanh[TN_DTYPE_COUNT] = {[TN_F32] = tanh_f32, [TN_F64] = tanh_f64};
    if (strcmp(a->approximate, "none") == 0)
        return cpu_iter_run_wide(call, call->iter, by_erf, NULL);
    if (strcmp(a->approximate, "tanh") == 0)
        return cpu_iter_run_wide(call, call->iter, by_tanh, NULL);
    return tn->fail(call, TN_ERR_ARGUMENT, "approximate is '%.40s'; it may be 'none' or 'tanh'",
                    a->approximate);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(gelu, "CPU", gelu),
};
const cpu_kernels cpu_activation = {kernels, TN_COUNT(kernels)};

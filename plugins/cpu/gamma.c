/* gamma.c - digamma and polygamma: the derivatives of lgamma. Both are computed in double.
 *
 * Both step up to where the asymptotic series converges, and go to the positive side by their
 * reflection first. Absolute error of digamma about 1e-15, relative error of polygamma about 1e-14
 * (n up to 20). */
#include <math.h>

#include "cpu.h"
#include "wide.h"

enum { FAR = 12 }; /* beyond it the series below are good to the last place */

/* Bernoulli numbers B2, B4, .. B14. */
static const double bernoulli[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                   5.0 / 66, -691.0 / 2730, 7.0 / 6};
enum { TERMS = sizeof bernoulli / sizeof *bernoulli };

/* log x - 1/(2x) - sum B2k / (2k x^2k) */
static double digamma_far(double x)
{
    double inverse = 1 / (x * x), power = 1, sum = log(x) - 0.5 / x;
    for (int k = 0; k < TERMS; k++) {
        power *= inverse;
        sum -= bernoulli[k] * power / (2 * (k + 1));
    }
    return sum;
}

static double digamma_of(double x)
{
    double shift = 0;
    if (x == 0)
        return copysign(INFINITY, -x);
    if (x < 0) {
        double part = x - nearbyint(x); /* exact, and small near a pole */
        if (!(part != 0))
            return NAN; /* a pole, with both signs around it */
        shift = -M_PI / tan(M_PI * part);
        x = 1 - x;
    }
    for (; x < FAR; x += 1)
        shift -= 1 / x;
    return shift + digamma_far(x);
}

/* sum over k >= 0 of (x + k)^-s, s an integer: some terms, then the integral and Euler's
 * corrections. */
static double zeta_of(double s, double x)
{
    double sum = 0;
    for (; x < FAR; x += 1)
        sum += pow(x, -s);
    double power = pow(x, -s), rise = s / x, factorial = 2;
    sum += power * x / (s - 1) + power / 2;
    for (int k = 0; k < TERMS; k++) {
        sum += bernoulli[k] / factorial * rise * power;
        rise *= (s + 2 * k + 1) * (s + 2 * k + 2) / (x * x);
        factorial *= (2 * k + 3) * (2 * k + 4);
    }
    return sum;
}

/* Far to the left: the sum over all integers depends on the fraction of x alone, and what x has
 * more of it than 1 - x is the rest. */
static double hurwitz(double s, double x)
{
    if (x <= 0 && x == floor(x))
        return INFINITY;
    if (isinf(x))
        return 0;
    if (!(x < -FAR))
        return zeta_of(s, x);
    double part = x - floor(x), sign = fmod(s, 2) == 0 ? 1 : -1;
    return zeta_of(s, part) + sign * (zeta_of(s, 1 - part) - zeta_of(s, 1 - x));
}

static double polygamma_of(int64_t n, double x)
{
    if (n == 0)
        return digamma_of(x);
    double factor = tgamma((double)n + 1);
    return (n % 2 ? factor : -factor) * hurwitz((double)n + 1, x);
}

static void digamma_f32(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++)
        *(float *)(p[0] + i * s[0]) = (float)digamma_of((double)*(const float *)(p[1] + i * s[1]));
}

static void digamma_f64(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++)
        *(double *)(p[0] + i * s[0]) = digamma_of(*(const double *)(p[1] + i * s[1]));
}

static void polygamma_f32(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    const int64_t order = *(const int64_t *)params;
    for (int64_t i = 0; i < n; i++)
        *(float *)(p[0] + i * s[0]) =
            (float)polygamma_of(order, (double)*(const float *)(p[1] + i * s[1]));
}

static void polygamma_f64(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    const int64_t order = *(const int64_t *)params;
    for (int64_t i = 0; i < n; i++)
        *(double *)(p[0] + i * s[0]) = polygamma_of(order, *(const double *)(p[1] + i * s[1]));
}

static tn_status digamma(tn_call *call, struct tn_digamma_args *a)
{
    static const tn_loop_fn loops[TN_DTYPE_COUNT] = {
        [TN_F32] = digamma_f32, [TN_F64] = digamma_f64};
    (void)a;
    return cpu_iter_run_wide(call, call->iter, loops, NULL);
}

static tn_status polygamma(tn_call *call, struct tn_polygamma_args *a)
{
    static const tn_loop_fn loops[TN_DTYPE_COUNT] = {
        [TN_F32] = polygamma_f32, [TN_F64] = polygamma_f64};
    if (a->n < 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "n: expected 0 or more, got %lld", (long long)a->n);
    return cpu_iter_run_wide(call, call->iter, loops, &a->n);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(digamma, "CPU", digamma),
    TN_KERNEL(polygamma, "CPU", polygamma),
};
const cpu_kernels cpu_gamma = {kernels, TN_COUNT(kernels)};

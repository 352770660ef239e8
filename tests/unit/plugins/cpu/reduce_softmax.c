/* reduce_softmax.c - softmax on CPU: its exponential against libm, every dtype and layout against
 * long double. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/half.h>
#include <tenon/ops.h>
#include <tenon/runtime.h>
#include <tenon/threads.h>

static void setup(void)
{
    cr_assert_eq(tn_plugins_load_default(), TN_OK);
    srand(1);
}

TestSuite(cpu_softmax, .init = setup);

static tn_tensor *over(void *data, tn_dtype dtype, int64_t ndim, const int64_t *sizes,
                       const int64_t *strides)
{
    tn_tensor *t;
    cr_assert_eq(tn_tensor_from_memory(data, dtype, ndim, sizes, strides, NULL, NULL, &t), TN_OK,
                 "%s", tn_error_last()->message);
    return t;
}

/* ---- e^x ------------------------------------------------------------------------------------- */
/* Beside a 0, a small enough x leaves the sum 1, and its softmax is e^x alone. */
enum { POINTS = 200000 };

static double ulp_of(double value, int digits, int least)
{
    int exponent;
    frexp(value, &exponent);
    return ldexp(1, (exponent - digits < least ? least : exponent - digits));
}

Test(cpu_softmax, exp_f32_is_within_1_5_ulp)
{
    static float x[2 * POINTS];
    const int64_t sizes[] = {2, POINTS}, strides[] = {POINTS, 1};
    double worst = 0;
    for (int i = 0; i < POINTS; i++)
        x[POINTS + i] = -18 - 88 * (float)rand() / (float)RAND_MAX;
    tn_tensor *t = over(x, TN_F32, 2, sizes, strides), *y;
    cr_assert_eq(tn_call__softmax(t, 0, false, &y), TN_OK);
    for (int i = 0; i < POINTS; i++) {
        double want = exp((double)x[POINTS + i]), got = (double)((float *)y->data)[POINTS + i];
        double error = fabs(got - want) / ulp_of(want, 24, -149);
        worst = error > worst ? error : worst;
        cr_assert_eq(((float *)y->data)[i], 1);
    }
    cr_assert_leq(worst, 1.5);
    cr_assert_gt(worst, 0.25);
    tn_release(t);
    tn_release(y);
}

Test(cpu_softmax, exp_f64_is_within_1_5_ulp)
{
    static double x[2 * POINTS];
    const int64_t sizes[] = {2, POINTS}, strides[] = {POINTS, 1};
    long double worst = 0;
    for (int i = 0; i < POINTS; i++)
        x[POINTS + i] = -40 - 710 * (double)rand() / (double)RAND_MAX;
    tn_tensor *t = over(x, TN_F64, 2, sizes, strides), *y;
    cr_assert_eq(tn_call__softmax(t, 0, false, &y), TN_OK);
    for (int i = 0; i < POINTS; i++) {
        long double want = expl((long double)x[POINTS + i]);
        long double got = (long double)((double *)y->data)[POINTS + i];
        long double error = fabsl(got - want) / (long double)ulp_of((double)want, 53, -1074);
        worst = error > worst ? error : worst;
    }
    cr_assert_leq(worst, 1.5L);
    cr_assert_gt(worst, 0.25L);
    tn_release(t);
    tn_release(y);
}

/* ---- every dtype and layout ------------------------------------------------------------------ */
enum { MOST = 9 * 70 * 40 };
static char memory[MOST * 8];

static double load(const void *base, tn_dtype dtype, int64_t i)
{
    switch (dtype) {
    case TN_F16:
        return tn_f32_from_f16(((const uint16_t *)base)[i]);
    case TN_BF16:
        return tn_f32_from_bf16(((const uint16_t *)base)[i]);
    case TN_F32:
        return ((const float *)base)[i];
    default:
        return ((const double *)base)[i];
    }
}

static void fill(tn_dtype dtype)
{
    for (int64_t i = 0; i < MOST; i++) {
        double v = 20 * (double)rand() / (double)RAND_MAX - 10;
        if (dtype == TN_F64)
            ((double *)(void *)memory)[i] = v;
        else if (dtype == TN_F32)
            ((float *)(void *)memory)[i] = (float)v;
        else
            ((uint16_t *)(void *)memory)[i] = dtype == TN_F16 ? tn_f16_from_f32((float)v)
                                                              : tn_bf16_from_f32((float)v);
    }
}

/* One row: n elements from `at` on, `stride` apart in x; from `to` on, `step` apart in y.
 *
 * The bound, in roundings u of the computation: v = x - max is rounded, which moves e^v by |v| u,
 * and e^v is within 1.5 ULP, 3 u at most; the sum moves by the mean of that, weighted by the terms,
 * and by n / 16 + 5 roundings of f64, the way it is added up. To it come 1 / sum and the product
 * (2 u), or log sum and the difference, and the rounding to the result's dtype. */
static void check_row(const tn_tensor *x, const tn_tensor *y, int64_t n, int64_t at, int64_t stride,
                      int64_t to, int64_t step, bool log_wanted)
{
    static const double precision[] = {
        [TN_F16] = 0x1p-11, [TN_BF16] = 0x1p-8, [TN_F32] = 0x1p-24, [TN_F64] = 0x1p-53};
    const long double u = x->dtype == TN_F64 ? 0x1p-53L : 0x1p-24L,
                      last = (long double)precision[y->dtype];
    long double sum = 0, most = -INFINITY, moved = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmaxl(most, (long double)load(x->data, x->dtype, at + i * stride));
    for (int64_t i = 0; i < n; i++) {
        long double v = (long double)load(x->data, x->dtype, at + i * stride) - most;
        sum += expl(v);
        moved += expl(v) * (fabsl(v) + 3);
    }
    moved = moved / sum + (long double)(n / 16 + 5) * 0x1p-53L / u;
    for (int64_t i = 0; i < n; i++) {
        long double v = (long double)load(x->data, x->dtype, at + i * stride) - most;
        long double want = log_wanted ? v - logl(sum) : expl(v) / sum;
        long double bound = log_wanted ? u * (fabsl(v) + moved + logl(sum) + fabsl(want))
                                       : u * fabsl(want) * (fabsl(v) + 3 + moved + 2);
        bound = 1.001L * bound + last * fabsl(want) + (y->dtype == TN_F16 ? 0x1p-25L : 0);
        long double got = (long double)load(y->data, y->dtype, to + i * step);
        cr_assert_leq(fabsl(got - want), bound, "dtype %d, log %d, v %Lg: %.20Lg, expected %.20Lg",
                      y->dtype, log_wanted, v, got, want);
    }
}

static void check_layout(tn_dtype dtype, const int64_t *sizes, const int64_t *strides, int dim,
                         bool log_wanted)
{
    tn_tensor *x = over(memory, dtype, 3, sizes, strides), *y;
    cr_assert_eq(log_wanted ? tn_call__log_softmax(x, dim, false, &y)
                            : tn_call__softmax(x, dim - 3, false, &y),
                 TN_OK);
    int a = dim == 0 ? 1 : 0, b = dim == 2 ? 1 : 2;
    for (int64_t i = 0; i < sizes[a]; i++)
        for (int64_t k = 0; k < sizes[b]; k++)
            check_row(x, y, sizes[dim], i * strides[a] + k * strides[b], strides[dim],
                      i * y->strides[a] + k * y->strides[b], y->strides[dim], log_wanted);
    tn_release(x);
    tn_release(y);
}

Test(cpu_softmax, every_dtype_and_layout)
{
    const int64_t sizes[] = {9, 70, 40}, small[] = {3, 35, 40};
    const int64_t layouts[][3] = {{2800, 40, 1}, {1, 9, 630}, {40, 360, 1}, {2800, 1, 70}};
    const int64_t loose[][3] = {{2800, 80, 2}, {0, 40, 1}, {2, 240, 6}};
    for (tn_dtype dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
        if (!tn_dtype_in(dtype, TN_DTYPES_FLOATING))
            continue;
        fill(dtype);
        for (int dim = 0; dim < 3; dim++) {
            for (int k = 0; k < 8; k++)
                check_layout(dtype, sizes, layouts[k / 2], dim, k % 2);
            for (int k = 0; k < 6; k++)
                check_layout(dtype, small, loose[k / 2], dim, k % 2);
        }
    }
}

Test(cpu_softmax, half_to_float_keeps_the_digits)
{
    const int64_t sizes[] = {9, 70, 40}, strides[] = {2800, 40, 1};
    fill(TN_BF16);
    tn_tensor *x = over(memory, TN_BF16, 3, sizes, strides), *y;
    cr_assert_eq(tn_call__softmax(x, 2, true, &y), TN_OK);
    cr_assert_eq(y->dtype, TN_F32);
    for (int64_t i = 0; i < 630; i++)
        check_row(x, y, 40, i * 40, 1, i * 40, 1, false);
    tn_release(x);
    tn_release(y);
}

/* In place, several rows at once, any threads: all the same bits as row by row. */
Test(cpu_softmax, same_bits_in_every_way)
{
    enum { ROWS = 300, N = 90 };
    static float a[ROWS * N], b[ROWS * N];
    const int64_t sizes[] = {ROWS, N}, by_row[] = {N, 1}, by_column[] = {1, ROWS};
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < N; i++)
            a[r * N + i] = b[i * ROWS + r] = (float)(rand() % 1000) / 100;
    tn_tensor *x = over(a, TN_F32, 2, sizes, by_row), *xt = over(b, TN_F32, 2, sizes, by_column),
              *y[3];
    for (int threads = 1; threads <= 4; threads += 3) {
        cr_assert_eq(tn_set_num_threads(threads), TN_OK);
        cr_assert_eq(tn_call__softmax(x, 1, false, &y[0]), TN_OK);
        cr_assert_eq(tn_call__softmax(xt, 1, false, &y[1]), TN_OK);
        cr_assert_eq(memcmp(y[0]->data, y[1]->data, sizeof a), 0);
        tn_release(y[0]);
        tn_release(y[1]);
    }
    cr_assert_eq(tn_call__softmax(x, 1, false, &y[0]), TN_OK);
    cr_assert_eq(tn_call__softmax_out(x, 1, false, x, &y[1]), TN_OK);
    cr_assert_eq(tn_call__softmax_out(xt, 1, false, xt, &y[2]), TN_OK);
    cr_assert_eq(memcmp(y[0]->data, a, sizeof a), 0);
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < N; i++)
            cr_assert_eq(a[r * N + i], b[i * ROWS + r]);
    for (int k = 0; k < 3; k++)
        tn_release(y[k]);
    tn_release(x);
    tn_release(xt);
}

Test(cpu_softmax, of_a_number_and_of_nothing)
{
    const int64_t sizes[] = {0, 3};
    float seven = 7;
    tn_tensor *one = over(&seven, TN_F32, 0, sizes, sizes), *none, *y;
    cr_assert_eq(tn_tensor_from_data("", TN_F32, 2, sizes, &none), TN_OK);
    cr_assert_eq(tn_call__softmax(one, 0, false, &y), TN_OK);
    cr_assert_eq(*(float *)y->data, 1);
    tn_release(y);
    cr_assert_eq(tn_call__log_softmax(none, 0, false, &y), TN_OK);
    cr_assert_eq(y->numel, 0);
    tn_release(y);
    tn_release(one);
    tn_release(none);
}

/* transcendental.c - functions with vector forms: every element alike wherever it stands, and right
 * beyond the magnitude up to which SLEEF is. */
#include <math.h>
#include <string.h>

#include "cpu_test.h"

enum { N = 53 }; /* three whole blocks, and a part of one */

typedef tn_tensor *function(tn_tensor *x);

TestSuite(cpu_transcendental, .init = begin, .fini = end);

static tn_tensor *exp_of(tn_tensor *x)
{
    return tn_exp(x);
}

static tn_tensor *gelu_of(tn_tensor *x)
{
    return tn_gelu(x);
}

static tn_tensor *power_of(tn_tensor *x)
{
    return tn_pow(x, 2.5);
}

static tn_tensor *sigmoid_of(tn_tensor *x)
{
    return tn_sigmoid(x);
}

static function *const functions[] = {exp_of, gelu_of, power_of, sigmoid_of};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* One value N times: row-major, every other element, alone, as the first of a part. */
Test(cpu_transcendental, no_element_depends_on_its_place)
{
    for (int f = 0; f < FUNCTIONS; f++) {
        for (tn_dtype dtype = TN_F32; dtype <= TN_F64; dtype++) {
            for (int v = 0; v < 200; v++) {
                tn_scope inner;
                tn_scope_enter(&inner);
                double value = 0.37 + 0.0193 * v, copies[2 * N];
                for (int i = 0; i < 2 * N; i++)
                    copies[i] = value;
                tn_tensor *x = numbers(dtype, 2 * N, copies);
                const double *wide = values_of(functions[f](x));
                const double *strided = values_of(functions[f](tn_slice(x, 0, .step = 2)));
                const double *alone = values_of(functions[f](numbers(dtype, 1, copies)));
                for (int i = 0; i < 2 * N; i++)
                    cr_assert_eq(wide[i], *alone, "function %d, element %d of %a", f, i, value);
                for (int i = 0; i < N; i++)
                    cr_assert_eq(strided[i], *alone, "function %d, strided %d of %a", f, i, value);
                tn_scope_leave(&inner);
            }
        }
    }
}

/* Relative to eps of the dtype. */
static void is_near(tn_tensor *got, const double *expected, int64_t n, double eps, const char *what)
{
    const double *values = values_of(got);
    for (int64_t i = 0; i < n; i++)
        cr_assert(values[i] == expected[i] ||
                      fabs(values[i] - expected[i]) <= 2 * eps * fabs(expected[i]),
                  "%s %d: %.17g, not %.17g", what, (int)i, values[i], expected[i]);
}

Test(cpu_transcendental, large_magnitudes)
{
    const double x[] = {3e38, 1e38, 2e37, 1e30, 0.5}, angle[] = {89.2, -89.2, 88.5, 1, 0};
    double log1p_[5], asinh_[5], sinh_[5], cosh_[5];
    for (int i = 0; i < 5; i++) {
        double a = (float)x[i], b = (float)angle[i];
        log1p_[i] = log1p(a), asinh_[i] = asinh(a), sinh_[i] = sinh(b), cosh_[i] = cosh(b);
    }
    is_near(tn_log1p(numbers(TN_F32, 5, x)), log1p_, 5, 0x1p-23, "log1p");
    is_near(tn_asinh(numbers(TN_F32, 5, x)), asinh_, 5, 0x1p-23, "asinh");
    is_near(tn_acosh(numbers(TN_F32, 4, x)), asinh_, 4, 0x1p-23, "acosh");
    is_near(tn_sinh(numbers(TN_F32, 5, angle)), sinh_, 5, 0x1p-23, "sinh");
    is_near(tn_cosh(numbers(TN_F32, 5, angle)), cosh_, 5, 0x1p-23, "cosh");

    const double big[] = {1.7e308, 1e307, 1e300}, steep[] = {710.2, -710.2, 709.5};
    for (int i = 0; i < 3; i++) {
        log1p_[i] = log1p(big[i]), asinh_[i] = asinh(big[i]);
        sinh_[i] = sinh(steep[i]), cosh_[i] = cosh(steep[i]);
    }
    is_near(tn_log1p(numbers(TN_F64, 3, big)), log1p_, 3, 0x1p-52, "log1p");
    is_near(tn_asinh(numbers(TN_F64, 3, big)), asinh_, 3, 0x1p-52, "asinh");
    is_near(tn_sinh(numbers(TN_F64, 3, steep)), sinh_, 3, 0x1p-52, "sinh");
    is_near(tn_cosh(numbers(TN_F64, 3, steep)), cosh_, 3, 0x1p-52, "cosh");
}

/* gelu's tail keeps its relative accuracy to where floats end: (4 + x^2) eps. */
Test(cpu_transcendental, gelu_of_negative_numbers)
{
    enum { M = 1300 };
    double x[M];
    for (int i = 0; i < M; i++)
        x[i] = (float)(-13 + 0.0137 * i);
    const double *got = values_of(tn_gelu(numbers(TN_F32, M, x)));
    for (int i = 0; i < M; i++) {
        double want = 0.5 * x[i] * erfc(-x[i] * M_SQRT1_2);
        cr_assert_leq(fabs(got[i] - want), (4 + x[i] * x[i]) * 0x1p-23 * fabs(want) + 0x1p-149,
                      "gelu(%a): %a, not %a", x[i], got[i], want);
    }
}

/* arith.c - quotients, remainders, powers, clamp, abs and gelu on CPU, against their definitions in
 * double and int64. */
#include <math.h>
#include <string.h>

#include "cpu_test.h"

TestSuite(cpu_arith, .init = begin, .fini = end);

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

/* The floor of the exact quotient, by whole steps of b from 0; NaN where Python has none. */
static double floor_by_definition(double a, double b)
{
    if (b == 0)
        return a / b;
    if (isinf(a) || isnan(a) || isnan(b))
        return NAN;
    if (isinf(b))
        return a == 0 ? copysign(0, a / b) : (a < 0) != (b < 0) ? -1 : copysign(0, a / b);
    double q = floor((double)((long double)a / b));
    return q == 0 ? copysign(0, a / b) : q;
}

static const double reals[] = {0.0, -0.0, 1, -1, 0.5,  -0.5,     2.25,      -2.25,
                               3,   -3,   7, -7, 1e30, INFINITY, -INFINITY, NAN};
enum { REALS = sizeof reals / sizeof *reals };

/* Every pair, in f32 and f64; 1e30 over small numbers is beyond what a loop could step through but
 * exact in double. */
Test(cpu_arith, floating_quotients)
{
    for (tn_dtype dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
        if (!tn_dtype_in(dtype, TN_DTYPE_BIT(TN_F32) | TN_DTYPE_BIT(TN_F64)))
            continue;
        for (int j = 0; j < REALS; j++) {
            double divisor[REALS];
            for (int i = 0; i < REALS; i++)
                divisor[i] = reals[j];
            tn_tensor *a = numbers(dtype, REALS, reals), *b = numbers(dtype, REALS, divisor);
            const double *x = values_of(a), *y = values_of(b);
            const double *whole = values_of(tn_floor_divide(a, b)),
                         *mode = values_of(tn_div_Tensor_mode(a, b, "floor"));
            const double *cut = values_of(tn_div_Tensor_mode(a, b, "trunc")),
                         *rest = values_of(tn_fmod(a, b));
            const double *mod = values_of(tn_remainder(a, b)),
                         *exact = values_of(tn_div_Tensor_mode(a, b, NULL));
            for (int i = 0; i < REALS; i++) {
                double quotient = dtype == TN_F32 ? (float)((float)x[i] / (float)y[i])
                                                  : x[i] / y[i];
                double want_rest = fmod(x[i], y[i]), want_mod = want_rest;
                if (want_rest != 0 && (want_rest < 0) != (y[i] < 0))
                    want_mod += y[i];
                if (dtype == TN_F32)
                    want_mod = (float)want_mod;
                cr_assert(same(exact[i], quotient), "%g / %g = %g", x[i], y[i], exact[i]);
                cr_assert(same(cut[i], trunc(quotient)), "trunc(%g / %g) = %g", x[i], y[i], cut[i]);
                cr_assert(same(rest[i], want_rest), "fmod(%g, %g) = %g", x[i], y[i], rest[i]);
                cr_assert(same(mod[i], want_mod), "remainder(%g, %g) = %g", x[i], y[i], mod[i]);
                cr_assert(same(whole[i], mode[i]));
                if (fabs(x[i]) == 1e30 || fabs(x[i]) == (double)1e30f)
                    continue;
                cr_assert(same(whole[i], floor_by_definition(x[i], y[i])), "%g // %g = %g", x[i],
                          y[i], whole[i]);
            }
        }
    }
}

/* 1 // 0.1 is 9: the double 0.1 is a little more than a tenth, and ten of it do not fit. */
Test(cpu_arith, floor_of_the_exact_quotient)
{
    const double one[] = {1, 6}, tenth[] = {0.1, 0.1};
    const double *got =
        values_of(tn_floor_divide(numbers(TN_F64, 2, one), numbers(TN_F64, 2, tenth)));
    cr_assert(got[0] == 9 && got[1] == 59, "%g %g", got[0], got[1]);
}

static const double wholes[] = {-128, -127, -7, -2, -1, 0, 1, 2, 7, 100, 127};
enum { WHOLES = sizeof wholes / sizeof *wholes };

Test(cpu_arith, integer_quotients_in_i8)
{
    for (int j = 0; j < WHOLES; j++) {
        if (wholes[j] == 0)
            continue;
        tn_tensor *a = numbers(TN_I8, WHOLES, wholes), *b = numbers(TN_I8, 1, &wholes[j]);
        const double *whole = values_of(tn_floor_divide(a, b)),
                     *cut = values_of(tn_div_Tensor_mode(a, b, "trunc"));
        const double *mod = values_of(tn_remainder(a, b)), *rest = values_of(tn_fmod(a, b));
        for (int i = 0; i < WHOLES; i++) {
            int x = (int)wholes[i], y = (int)wholes[j], floor_ = (int)floor((double)x / y);
            cr_assert_eq(whole[i], (int8_t)floor_, "%d // %d = %g", x, y, whole[i]);
            cr_assert_eq(cut[i], (int8_t)(x / y), "trunc(%d / %d) = %g", x, y, cut[i]);
            cr_assert_eq(mod[i], (int8_t)(x - floor_ * y), "%d mod %d = %g", x, y, mod[i]);
            cr_assert_eq(rest[i], (int8_t)(x % y), "fmod(%d, %d) = %g", x, y, rest[i]);
        }
    }
}

/* The lowest integer of every width over -1 wraps around and does not trap. */
Test(cpu_arith, lowest_over_minus_one)
{
    const tn_dtype dtypes[] = {TN_I8, TN_I16, TN_I32, TN_I64};
    const double lowest[] = {-0x1p7, -0x1p15, -0x1p31, -0x1p63}, minus_one = -1;
    for (int i = 0; i < 4; i++) {
        tn_tensor *a = numbers(dtypes[i], 1, &lowest[i]), *b = numbers(dtypes[i], 1, &minus_one);
        cr_assert_eq(values_of(tn_floor_divide(a, b))[0], lowest[i]);
        cr_assert_eq(values_of(tn_div_Tensor_mode(a, b, "trunc"))[0], lowest[i]);
        cr_assert_eq(values_of(tn_remainder(a, b))[0], 0);
        cr_assert_eq(values_of(tn_fmod(a, b))[0], 0);
        cr_assert_eq(values_of(tn_abs(a))[0], lowest[i]);
    }
}

Test(cpu_arith, integer_powers)
{
    const double base[] = {3, 2, -2, 1, -1, -1, 0, 5, 0, 7},
                 exponent[] = {4, 8, 7, -3, -3, -4, -1, -2, 0, 0};
    const double want[] = {81, 0, -128, 1, -1, 1, 0, 0, 1, 1};
    const double *got =
        values_of(tn_pow_Tensor_Tensor(numbers(TN_I8, 10, base), numbers(TN_I8, 10, exponent)));
    for (int i = 0; i < 10; i++)
        cr_assert_eq(got[i], want[i], "%g ** %g = %g", base[i], exponent[i], got[i]);
    tn_tensor *x = numbers(TN_I32, 10, base);
    cr_assert_null(tn_pow_Tensor_Scalar(x, -2));
    cr_assert_not_null(
        strstr(tn_error_last()->message, "Integers to negative integer powers are not allowed"));
    tn_error_clear();
    cr_assert_eq(must(tn_pow_Tensor_Scalar(x, -2.0))->dtype, TN_F32);
    cr_assert_eq(values_of(tn_pow_Tensor_Scalar(x, 3))[0], 27);
    cr_assert_eq(values_of(tn_pow_Scalar(2, numbers(TN_I32, 10, exponent)))[1], 256);
}

/* Exponents with a way of their own agree with libm's pow to 2 ulp. */
Test(cpu_arith, floating_powers)
{
    const double base[] = {0.3, 1, 2, 10, 1e-10, 12345.678},
                 exponents[] = {2, 3, 0.5, -0.5, -1, -2, 1, 0, 2.5, -3.7};
    for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
        const double *got = values_of(tn_pow_Tensor_Scalar(numbers(TN_F64, 6, base), exponents[e]));
        for (int i = 0; i < 6; i++) {
            double want = pow(base[i], exponents[e]);
            cr_assert(fabs(got[i] - want) <= 4.5e-16 * want, "%g ** %g = %.17g, not %.17g", base[i],
                      exponents[e], got[i], want);
        }
    }
    tn_tensor *zero = must(tn_zeros(TN_INTS(1), .dtype = TN_C64));
    const double complex_zero[] = {0};
    tn_tensor *z = must(tn_pow_Tensor_Scalar(zero, tn_scalar_complex(0, 0)));
    cr_assert_eq(((const float *)z->data)[0], 1);
    z = must(tn_pow_Tensor_Tensor(zero, numbers(TN_C64, 1, complex_zero)));
    cr_assert_eq(((const float *)z->data)[0], 1);
}

Test(cpu_arith, clamp)
{
    const double x[] = {-5, 0, 5, NAN}, low[] = {-1, -1, 7, 0}, high[] = {1, NAN, 6, 1};
    for (tn_dtype dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
        if (!tn_dtype_in(dtype, TN_DTYPES_FLOATING))
            continue;
        tn_tensor *t = numbers(dtype, 4, x);
        const double *both =
            values_of(tn_clamp(t, .min = tn_scalar_int(-1), .max = tn_scalar_int(2)));
        cr_assert(both[0] == -1 && both[1] == 0 && both[2] == 2 && isnan(both[3]));
        const double *crossed =
            values_of(tn_clamp(t, .min = tn_scalar_int(3), .max = tn_scalar_int(2)));
        cr_assert(crossed[0] == 2 && crossed[1] == 2 && crossed[2] == 2 && isnan(crossed[3]));
        const double *one = values_of(tn_clamp(t, .max = tn_scalar_int(2)));
        cr_assert(one[0] == -5 && one[2] == 2 && isnan(one[3]));
        const double *tensors = values_of(
            tn_clamp_Tensor(t, .min = numbers(dtype, 4, low), .max = numbers(dtype, 4, high)));
        cr_assert(tensors[0] == -1 && isnan(tensors[1]) && tensors[2] == 6 && isnan(tensors[3]));
    }
    cr_assert_null(tn_clamp(numbers(TN_F32, 4, x)));
    cr_assert_not_null(strstr(tn_error_last()->message, "None"), "%s", tn_error_last()->message);
}

Test(cpu_arith, magnitude)
{
    const float parts[] = {3, 4, 3e30f, 4e30f, -0.0f, 0, INFINITY, NAN};
    const int64_t n = 4;
    tn_tensor *z;
    cr_assert_eq(tn_tensor_from_data(parts, TN_C64, 1, &n, &z), TN_OK);
    tn_tensor *got = must(tn_abs(z));
    const float *m = got->data;
    cr_assert_eq(got->dtype, TN_F32);
    cr_assert(m[0] == 5 && m[1] == 5e30f && m[2] == 0 && !signbit(m[2]) && isinf(m[3]));
    cr_assert_null(tn_abs_(z));
    cr_assert_eq(tn_error_last()->status, TN_ERR_DTYPE);
    tn_release(z);
}

Test(cpu_arith, gelu)
{
    const double x[] = {-8, -3, -1, -0.125, 0, 0.5, 2, 10};
    const double *erf_ = values_of(tn_gelu(numbers(TN_F64, 8, x))),
                 *f32 = values_of(tn_gelu(numbers(TN_F32, 8, x)));
    const double *tanh_ = values_of(tn_gelu(numbers(TN_F64, 8, x), .approximate = "tanh"));
    for (int i = 0; i < 8; i++) {
        double want = 0.5 * x[i] * erfc(-x[i] / sqrt(2)),
               u = sqrt(2 / M_PI) * (x[i] + 0.044715 * pow(x[i], 3));
        double bound = (3 + x[i] * x[i]) * fabs(want); /* of each side; see activation.c */
        cr_assert(fabs(erf_[i] - want) <= 2 * bound * 0x1p-53, "gelu(%g) = %.17g", x[i], erf_[i]);
        cr_assert(fabs(f32[i] - want) <= bound * 0x1p-23, "f32 gelu(%g) = %.9g, not %.9g", x[i],
                  f32[i], want);
        cr_assert(fabs(tanh_[i] - 0.5 * x[i] * (1 + tanh(u))) <= 1e-14, "tanh gelu(%g) = %.17g",
                  x[i], tanh_[i]);
    }
    cr_assert_null(tn_gelu(numbers(TN_F32, 8, x), .approximate = "sigmoid"));
    cr_assert_not_null(strstr(tn_error_last()->message, "sigmoid"));
}

/* log 0 has an infinite real part, which must not make NaN of the imaginary one. */
Test(cpu_arith, complex_logarithms_of_zero)
{
    const double zero[] = {0.0, -0.0};
    for (tn_dtype dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
        if (!tn_dtype_in(dtype, TN_DTYPES_COMPLEX))
            continue;
        tn_tensor *z = numbers(dtype, 2, zero);
        tn_tensor *results[] = {tn_log2(z), tn_log10(z)};
        for (int r = 0; r < 2; r++) {
            must(results[r]);
            for (int i = 0; i < 2; i++) {
                double re, im;
                if (dtype == TN_C64) {
                    const float *p = results[r]->data;
                    re = (double)p[2 * i], im = (double)p[2 * i + 1];
                } else {
                    const double *p = results[r]->data;
                    re = p[2 * i], im = p[2 * i + 1];
                }
                cr_assert_eq(re, -INFINITY);
                cr_assert_not(isnan(im));
            }
        }
    }
}

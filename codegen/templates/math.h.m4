m4_dnl math.h.m4 - the functions of the expression language, one per dtype. Rows of codegen/expr_words.c are bodies here.
m4_dnl cg_fn(name, suffix, type, parameters, body)
m4_define(@{cg_fn1@}, @{
TN_FN $3 tnm_$1_$2($3 a)
{
    return $4;
}
@})
m4_define(@{cg_fn2@}, @{
TN_FN $3 tnm_$1_$2($3 a, $3 b)
{
    return $4;
}
@})
m4_define(@{cg_test1@}, @{
TN_FN bool tnm_$1_$2($3 a)
{
    return $4;
}
@})
m4_define(@{cg_test2@}, @{
TN_FN bool tnm_$1_$2($3 a, $3 b)
{
    return $4;
}
@})
m4_dnl What is written alike for every ordered type.
m4_define(@{cg_ordered@}, @{m4_dnl
cg_test2(eq, $1, $2, @{a == b@})m4_dnl
cg_test2(ne, $1, $2, @{a != b@})m4_dnl
cg_test2(lt, $1, $2, @{a < b@})m4_dnl
cg_test2(le, $1, $2, @{a <= b@})m4_dnl
cg_test2(gt, $1, $2, @{a > b@})m4_dnl
cg_test2(ge, $1, $2, @{a >= b@})m4_dnl
cg_test1(truth, $1, $2, @{a != 0@})m4_dnl
@})
m4_dnl floating(suffix, type, libm suffix)
m4_define(@{cg_floating@}, @{
/* ---- $1 ---- */
TN_FN $2 tnm_number_$1(double v)
{
    return ($2)v;
}
cg_ordered($1, $2)m4_dnl
cg_fn2(add, $1, $2, @{a + b@})m4_dnl
cg_fn2(sub, $1, $2, @{a - b@})m4_dnl
cg_fn2(mul, $1, $2, @{a * b@})m4_dnl
cg_fn2(div, $1, $2, @{a / b@})m4_dnl
cg_fn1(neg, $1, $2, @{-a@})m4_dnl
cg_fn1(positive, $1, $2, @{a@})m4_dnl
cg_fn1(abs, $1, $2, @{fabs$3(a)@})m4_dnl
cg_fn1(square, $1, $2, @{a * a@})m4_dnl
cg_fn2(maximum, $1, $2, @{a > b || a != a ? a : b@})m4_dnl
cg_fn2(minimum, $1, $2, @{a < b || a != a ? a : b@})m4_dnl
cg_fn2(fmax, $1, $2, @{a >= b || b != b ? a : b@})m4_dnl
cg_fn2(fmin, $1, $2, @{a <= b || b != b ? a : b@})m4_dnl
cg_fn1(sign, $1, $2, @{($2)((a > 0) - (a < 0))@})m4_dnl
cg_fn1(reciprocal, $1, $2, @{1 / a@})m4_dnl
cg_fn1(sqrt, $1, $2, @{sqrt$3(a)@})m4_dnl
cg_fn1(rsqrt, $1, $2, @{1 / sqrt$3(a)@})m4_dnl
cg_fn1(sigmoid, $1, $2, @{1 / (1 + exp$3(-a))@})m4_dnl
cg_fn1(round, $1, $2, @{rint$3(a)@})m4_dnl
cg_fn2(atan2, $1, $2, @{atan2$3(a, b)@})m4_dnl
cg_fn2(hypot, $1, $2, @{hypot$3(a, b)@})m4_dnl
cg_fn2(copysign, $1, $2, @{copysign$3(a, b)@})m4_dnl
cg_fn2(nextafter, $1, $2, @{nextafter$3(a, b)@})m4_dnl
cg_test1(isnan, $1, $2, @{a != a@})m4_dnl
cg_test1(isinf, $1, $2, @{fabs$3(a) > $4@})m4_dnl
cg_test1(isfinite, $1, $2, @{fabs$3(a) <= $4@})m4_dnl
cg_test1(signbit, $1, $2, @{copysign$3(($2)1, a) < 0@})m4_dnl
m4_dnl names that are libm's own
cg_libm(@{exp@}, $@)cg_libm(@{exp2@}, $@)cg_libm(@{expm1@}, $@)cg_libm(@{log@}, $@)cg_libm(@{log2@}, $@)m4_dnl
cg_libm(@{log10@}, $@)cg_libm(@{log1p@}, $@)cg_libm(@{sin@}, $@)cg_libm(@{cos@}, $@)cg_libm(@{tan@}, $@)m4_dnl
cg_libm(@{asin@}, $@)cg_libm(@{acos@}, $@)cg_libm(@{atan@}, $@)cg_libm(@{sinh@}, $@)cg_libm(@{cosh@}, $@)m4_dnl
cg_libm(@{tanh@}, $@)cg_libm(@{asinh@}, $@)cg_libm(@{acosh@}, $@)cg_libm(@{atanh@}, $@)cg_libm(@{erf@}, $@)m4_dnl
cg_libm(@{erfc@}, $@)cg_libm(@{lgamma@}, $@)cg_libm(@{floor@}, $@)cg_libm(@{ceil@}, $@)cg_libm(@{trunc@}, $@)m4_dnl
@})
m4_define(@{cg_libm@}, @{cg_fn1(@{$1@}, @{$2@}, @{$3@}, @{$1$4(a)@})@})
m4_dnl integral(suffix, type, unsigned type of the arithmetic, bits, is signed)
m4_define(@{cg_integral@}, @{
/* ---- $1: arithmetic wraps around, in the type itself ---- */
TN_FN $2 tnm_number_$1(int64_t v)
{
    return ($2)v;
}
cg_ordered($1, $2)m4_dnl
cg_fn2(add, $1, $2, @{($2)(($3)a + ($3)b)@})m4_dnl
cg_fn2(sub, $1, $2, @{($2)(($3)a - ($3)b)@})m4_dnl
cg_fn2(mul, $1, $2, @{($2)(($3)a * ($3)b)@})m4_dnl
cg_fn1(neg, $1, $2, @{($2)(0 - ($3)a)@})m4_dnl
cg_fn1(positive, $1, $2, @{a@})m4_dnl
cg_fn1(abs, $1, $2, m4_ifelse($5, 1, @{a < 0 ? ($2)(0 - ($3)a) : a@}, @{a@}))m4_dnl
cg_fn1(square, $1, $2, @{($2)(($3)a * ($3)a)@})m4_dnl
cg_fn2(maximum, $1, $2, @{a > b ? a : b@})m4_dnl
cg_fn2(minimum, $1, $2, @{a < b ? a : b@})m4_dnl
cg_fn2(fmax, $1, $2, @{a > b ? a : b@})m4_dnl
cg_fn2(fmin, $1, $2, @{a < b ? a : b@})m4_dnl
cg_fn1(sign, $1, $2, m4_ifelse($5, 1, @{($2)((a > 0) - (a < 0))@}, @{($2)(a > 0)@}))m4_dnl
cg_fn1(floor, $1, $2, @{a@})m4_dnl
cg_fn1(ceil, $1, $2, @{a@})m4_dnl
cg_fn1(trunc, $1, $2, @{a@})m4_dnl
cg_fn1(round, $1, $2, @{a@})m4_dnl
cg_fn2(bitwise_and, $1, $2, @{($2)(a & b)@})m4_dnl
cg_fn2(bitwise_or, $1, $2, @{($2)(a | b)@})m4_dnl
cg_fn2(bitwise_xor, $1, $2, @{($2)(a ^ b)@})m4_dnl
cg_fn1(bitwise_not, $1, $2, @{($2)~a@})m4_dnl

/* A shift by less than zero, or by the width or more, moves every bit out. */m4_dnl
cg_fn2(lshift, $1, $2, @{m4_ifelse($5, 1, @{b < 0 || b >= $4@}, @{b >= $4@}) ? ($2)0 : ($2)(($3)a << b)@})m4_dnl
cg_fn2(rshift, $1, $2, @{m4_ifelse($5, 1, @{b < 0 || b >= $4 ? ($2)(a < 0 ? -1 : 0)@}, @{b >= $4 ? ($2)0@}) : ($2)(a >> b)@})m4_dnl
cg_test1(signbit, $1, $2, m4_ifelse($5, 1, @{a < 0@}, @{@{(void)a, false@}@}))m4_dnl
cg_never($1, $2)m4_dnl
@})
m4_define(@{cg_never@}, @{cg_test1(isnan, $1, $2, @{(void)a, false@})m4_dnl
cg_test1(isinf, $1, $2, @{(void)a, false@})m4_dnl
cg_test1(isfinite, $1, $2, @{(void)a, true@})m4_dnl
@})
m4_dnl complex(suffix, type, real type, libm suffix, limit)
m4_define(@{cg_complex@}, @{
/* ---- $1 ---- */
TN_FN $2 tnm_make_$1($3 re, $3 im)
{
    $2 z;
    z.re = re;
    z.im = im;
    return z;
}

TN_FN $2 tnm_number_$1(double v)
{
    return tnm_make_$1(($3)v, 0);
}
cg_test2(eq, $1, $2, @{a.re == b.re && a.im == b.im@})m4_dnl
cg_test2(ne, $1, $2, @{a.re != b.re || a.im != b.im@})m4_dnl
cg_test1(truth, $1, $2, @{a.re != 0 || a.im != 0@})m4_dnl
cg_test1(isnan, $1, $2, @{a.re != a.re || a.im != a.im@})m4_dnl
cg_test1(isinf, $1, $2, @{fabs$4(a.re) > $5 || fabs$4(a.im) > $5@})m4_dnl
cg_test1(isfinite, $1, $2, @{fabs$4(a.re) <= $5 && fabs$4(a.im) <= $5@})m4_dnl
cg_fn2(add, $1, $2, @{tnm_make_$1(a.re + b.re, a.im + b.im)@})m4_dnl
cg_fn2(sub, $1, $2, @{tnm_make_$1(a.re - b.re, a.im - b.im)@})m4_dnl
cg_fn2(mul, $1, $2, @{tnm_make_$1(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)@})m4_dnl
cg_fn1(neg, $1, $2, @{tnm_make_$1(-a.re, -a.im)@})m4_dnl
cg_fn1(positive, $1, $2, @{a@})m4_dnl
cg_fn1(square, $1, $2, @{tnm_mul_$1(a, a)@})m4_dnl

/* Smith's division: scaled by the larger part of b, so that nothing overflows on the way. */
TN_FN $2 tnm_div_$1($2 a, $2 b)
{
    if (fabs$4(b.re) >= fabs$4(b.im)) {
        if (b.re == 0 && b.im == 0)
            return tnm_make_$1(a.re / fabs$4(b.re), a.im / fabs$4(b.im));
        $3 r = b.im / b.re, d = b.re + b.im * r;
        return tnm_make_$1((a.re + a.im * r) / d, (a.im - a.re * r) / d);
    }
    $3 r = b.re / b.im, d = b.re * r + b.im;
    return tnm_make_$1((a.re * r + a.im) / d, (a.im * r - a.re) / d);
}
cg_fn1(reciprocal, $1, $2, @{tnm_div_$1(tnm_number_$1(1), a)@})m4_dnl
cg_clib(@{exp@}, $@)cg_clib(@{log@}, $@)cg_clib(@{sqrt@}, $@)cg_clib(@{sin@}, $@)cg_clib(@{cos@}, $@)cg_clib(@{tan@}, $@)m4_dnl
cg_clib(@{asin@}, $@)cg_clib(@{acos@}, $@)cg_clib(@{atan@}, $@)cg_clib(@{sinh@}, $@)cg_clib(@{cosh@}, $@)cg_clib(@{tanh@}, $@)m4_dnl
cg_clib(@{asinh@}, $@)cg_clib(@{acosh@}, $@)cg_clib(@{atanh@}, $@)m4_dnl

/* By a real factor: a product with 0i would make NaN of an infinite part. */
TN_FN $2 tnm_scale_$1($2 a, $3 factor)
{
    return tnm_make_$1(a.re * factor, a.im * factor);
}
cg_fn1(log2, $1, $2, @{tnm_scale_$1(tnm_log_$1(a), ($3)1.4426950408889634)@})m4_dnl
cg_fn1(log10, $1, $2, @{tnm_scale_$1(tnm_log_$1(a), ($3)0.4342944819032518)@})m4_dnl
cg_fn1(rsqrt, $1, $2, @{tnm_reciprocal_$1(tnm_sqrt_$1(a))@})m4_dnl
cg_fn1(sigmoid, $1, $2, @{tnm_reciprocal_$1(tnm_add_$1(tnm_number_$1(1), tnm_exp_$1(tnm_neg_$1(a))))@})m4_dnl
@})
m4_define(@{cg_clib@}, @{
TN_FN $3 tnm_$1_$2($3 a)
{
    return tnm_from_$2(TN_COMPLEX_FN($1, $5)(tnm_to_$2(a)));
}
@})
m4_divert(0)m4_dnl
/* math.h - scalar functions per dtype, for pointwise kernels: C, C++ and CUDA device code.
 *
 * Generated by tenon-gen from codegen/templates/math.h.m4: do not edit.
 * tnm_NAME_DTYPE(..). f16 and bf16 have none: they are computed in f32 and rounded once, on store.
 * maximum and minimum pass NaN on, fmax and fmin prefer a number; round goes to even; integers wrap
 * around. */
#ifndef TENON_MATH_H
#define TENON_MATH_H

#include <tenon/border.h>
#include <tenon/half.h>
#include <tenon/number.h>

#include <float.h>
#include <math.h>

/* The platform's complex functions: <complex.h> in C, cuda::std in CUDA, std in other C++. */
#if defined(__CUDACC__)
#include <cuda/std/complex>
#define TN_COMPLEX_FN(name, f) cuda::std::name
TN_FN cuda::std::complex<float> tnm_to_c64(tn_c64 a) { return {a.re, a.im}; }
TN_FN cuda::std::complex<double> tnm_to_c128(tn_c128 a) { return {a.re, a.im}; }
TN_FN tn_c64 tnm_from_c64(cuda::std::complex<float> z) { return {z.real(), z.imag()}; }
TN_FN tn_c128 tnm_from_c128(cuda::std::complex<double> z) { return {z.real(), z.imag()}; }
#elif defined(__cplusplus)
#include <complex>
#define TN_COMPLEX_FN(name, f) std::name
TN_FN std::complex<float> tnm_to_c64(tn_c64 a) { return {a.re, a.im}; }
TN_FN std::complex<double> tnm_to_c128(tn_c128 a) { return {a.re, a.im}; }
TN_FN tn_c64 tnm_from_c64(std::complex<float> z) { return {z.real(), z.imag()}; }
TN_FN tn_c128 tnm_from_c128(std::complex<double> z) { return {z.real(), z.imag()}; }
#else
#include <complex.h>
#undef I
#define TN_COMPLEX_FN(name, f) c##name##f
TN_FN float complex tnm_to_c64(tn_c64 a)
{
    union {
        tn_c64 parts;
        float complex z;
    } u;
    u.parts = a;
    return u.z;
}

TN_FN double complex tnm_to_c128(tn_c128 a)
{
    union {
        tn_c128 parts;
        double complex z;
    } u;
    u.parts = a;
    return u.z;
}

TN_FN tn_c64 tnm_from_c64(float complex z)
{
    tn_c64 a = {crealf(z), cimagf(z)};
    return a;
}

TN_FN tn_c128 tnm_from_c128(double complex z)
{
    tn_c128 a = {creal(z), cimag(z)};
    return a;
}
#endif

TN_FN bool tnm_logical_and(bool a, bool b)
{
    return a && b;
}

TN_FN bool tnm_logical_or(bool a, bool b)
{
    return a || b;
}

TN_FN bool tnm_logical_xor(bool a, bool b)
{
    return a != b;
}

TN_FN bool tnm_logical_not(bool a)
{
    return !a;
}
cg_floating(f32, float, f, FLT_MAX)m4_dnl
cg_floating(f64, double, , DBL_MAX)m4_dnl
cg_complex(c64, tn_c64, float, f, FLT_MAX)m4_dnl
cg_complex(c128, tn_c128, double, , DBL_MAX)m4_dnl
cg_integral(u8, uint8_t, uint32_t, 8, 0)m4_dnl
cg_integral(i8, int8_t, uint32_t, 8, 1)m4_dnl
cg_integral(i16, int16_t, uint32_t, 16, 1)m4_dnl
cg_integral(i32, int32_t, uint32_t, 32, 1)m4_dnl
cg_integral(i64, int64_t, uint64_t, 64, 1)m4_dnl

/* ---- bool: addition is or, multiplication is and ---- */
TN_FN bool tnm_number_bool(double v)
{
    return v != 0;
}
cg_ordered(bool, bool)m4_dnl
cg_never(bool, bool)m4_dnl
cg_fn2(add, bool, bool, @{a || b@})m4_dnl
cg_fn2(mul, bool, bool, @{a && b@})m4_dnl
cg_fn1(abs, bool, bool, @{a@})m4_dnl
cg_fn1(square, bool, bool, @{a@})m4_dnl
cg_fn1(sign, bool, bool, @{a@})m4_dnl
cg_fn2(maximum, bool, bool, @{a || b@})m4_dnl
cg_fn2(minimum, bool, bool, @{a && b@})m4_dnl
cg_fn2(fmax, bool, bool, @{a || b@})m4_dnl
cg_fn2(fmin, bool, bool, @{a && b@})m4_dnl
cg_fn2(bitwise_and, bool, bool, @{a && b@})m4_dnl
cg_fn2(bitwise_or, bool, bool, @{a || b@})m4_dnl
cg_fn2(bitwise_xor, bool, bool, @{a != b@})m4_dnl
cg_fn1(bitwise_not, bool, bool, @{!a@})m4_dnl
cg_test1(signbit, bool, bool, @{(void)a, false@})m4_dnl

#endif

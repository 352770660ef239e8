/* rows_unary.c - elementwise operators of one tensor. Most are a function of <math.h> in long
 * double, and one of <complex.h>; the others have a body below. */
#include "rows_impl.h"

#include <complex.h>
#include <math.h>

typedef _Complex long double complex_t;

static complex_t complex_of(oi_num v)
{
    return oi_complex_of(v.re, v.im);
}

static oi_num from_complex(complex_t z)
{
    return oi_complex(creall(z), cimagl(z));
}

static oi_num by_function(const oi_row *row, const oi_sample *s, tn_dtype d, const oi_num *in,
                          oi_real *mag)
{
    (void)s, (void)mag;
    return oi_is_complex(d) ? from_complex(row->cplx(complex_of(in[0])))
                            : oi_float(row->real(in[0].re));
}

/* ---- functions that the library lacks -------------------------------------------------------- */
static oi_real rsqrt_(oi_real x)
{
    return 1 / sqrtl(x);
}
static oi_real reciprocal_(oi_real x)
{
    return 1 / x;
}
static oi_real sigmoid_(oi_real x)
{
    return 1 / (1 + expl(-x));
}
static oi_real silu_(oi_real x)
{
    return x / (1 + expl(-x));
}
static complex_t crsqrt_(complex_t z)
{
    return 1 / csqrtl(z);
}
static complex_t creciprocal_(complex_t z)
{
    return 1 / z;
}
static complex_t csigmoid_(complex_t z)
{
    return 1 / (1 + cexpl(-z));
}
static complex_t csilu_(complex_t z)
{
    return z / (1 + cexpl(-z));
}
static complex_t clog2_(complex_t z)
{
    return clogl(z) / logl(2);
}
static complex_t clog10_(complex_t z)
{
    return clogl(z) / logl(10);
}

/* ---- those that are not functions of a real or complex number alone -------------------------- */
enum {
    NEG,
    POSITIVE,
    SQUARE,
    SIGN,
    FLOOR,
    CEIL,
    TRUNC,
    ROUND,
    RELU,
    NOT,
    BITNOT,
    SIGNBIT,
    ISNAN,
    ISINF,
    ISFINITE
};

static oi_num integer_element(const oi_row *row, tn_dtype d, oi_num x)
{
    uint64_t u = (uint64_t)x.i;
    switch (row->kind) {
    case NEG:
        return oi_int((int64_t)(0 - u));
    case SQUARE:
        return oi_int((int64_t)(u * u));
    case SIGN:
        return oi_int((x.i > 0) - (x.i < 0));
    case RELU:
        return oi_int(x.i > 0 ? x.i : 0);
    case BITNOT:
        return oi_int(d == TN_BOOL ? !x.i : (int64_t)~u);
    default:
        return x; /* positive; floor and its kin leave integers as they are */
    }
}

static oi_num floating_element(const oi_row *row, oi_num x)
{
    switch (row->kind) {
    case NEG:
        return oi_complex(-x.re, -x.im);
    case SQUARE:
        return oi_complex(x.re * x.re - x.im * x.im, 2 * x.re * x.im);
    case SIGN:
        return oi_float((x.re > 0) - (x.re < 0));
    case FLOOR:
        return oi_float(floorl(x.re));
    case CEIL:
        return oi_float(ceill(x.re));
    case TRUNC:
        return oi_float(truncl(x.re));
    case ROUND:
        return oi_float(rintl(x.re));
    case RELU:
        return oi_float(x.re < 0 ? 0 : x.re); /* NaN stays */
    default:
        return x;
    }
}

static oi_num by_kind(const oi_row *row, const oi_sample *s, tn_dtype d, const oi_num *in,
                      oi_real *mag)
{
    (void)s;
    if (oi_is_integral(d))
        return integer_element(row, d, in[0]);
    if (row->kind == SQUARE)
        *mag = in[0].re * in[0].re + in[0].im * in[0].im;
    return floating_element(row, in[0]);
}

static oi_num test(const oi_row *row, const oi_sample *s, tn_dtype d, const oi_num *in,
                   oi_real *mag)
{
    (void)s, (void)mag;
    oi_num x = in[0];
    switch (row->kind) {
    case NOT:
        return oi_int(!oi_truth(x));
    case SIGNBIT:
        return oi_int(oi_is_integral(d) ? x.i < 0 : signbit(x.re) != 0);
    case ISNAN:
        return oi_int(isnan(x.re) || isnan(x.im));
    case ISINF:
        return oi_int(isinf(x.re) || isinf(x.im));
    default:
        return oi_int(isfinite(x.re) && isfinite(x.im));
    }
}

static oi_num gelu(const oi_row *row, const oi_sample *s, tn_dtype d, const oi_num *in,
                   oi_real *mag)
{
    (void)row, (void)d;
    const oi_arg *approximate = oi_find(s, "approximate");
    oi_real x = in[0].re;
    *mag = fabsl(x) / 2;
    if (approximate && approximate->text[0] == 't')
        return oi_float(x / 2 * (1 + tanhl(sqrtl(2 / acosl(-1)) * (x + 0.044715L * x * x * x))));
    return oi_float(x / 2 * (1 + erfl(x / sqrtl(2))));
}

static void gelu_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    oi_elementwise_samples(row, out, d, seed);
    int n = out->n;
    for (int k = 0; k < n; k++) {
        if (out->list[k].error || out->list[k].number % 3)
            continue;
        oi_sample *s = oi_sample_new(out, "tanh");
        int number = s->number;
        *s = out->list[k];
        s->number = number;
        s->what = "approximate=tanh";
        oi_arg_text(s, "approximate", "tanh");
    }
    oi_sample *bad = oi_sample_new(out, "approximate=sinh");
    oi_rng r = oi_rng_make(seed, row->op, d, bad->number);
    oi_arg_tensor(bad, "self", oi_values(row, &r, d, OI_SIZES(3)), OI_ROW);
    oi_arg_text(bad, "approximate", "sinh");
    bad->error = true;
}

/* The result of abs is real. */
static int abs_reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    (void)row;
    const oi_array *x = oi_input(s, "self");
    results[0] = oi_array_new(oi_real_of(x->dtype), x->ndim, x->sizes);
    for (int64_t i = 0; i < x->numel; i++) {
        oi_num v = x->v[i];
        if (oi_is_integral(x->dtype))
            results[0].v[i] =
                oi_cast(oi_int(v.i < 0 ? (int64_t)(0 - (uint64_t)v.i) : v.i), TN_I64, x->dtype);
        else
            results[0].v[i] = oi_float(oi_is_complex(x->dtype) ? hypotl(v.re, v.im) : fabsl(v.re));
    }
    return 1;
}

#define SHARED                                                                                     \
    .samples = oi_elementwise_samples, .reference = oi_elementwise_reference, .operands = "self"
#define FUNCTION(name, dtypes_, family, f, g, lo_, hi_)                                            \
    {                                                                                              \
        .op = name, .dtypes = dtypes_, .flags = OI_TO_FLOAT, .tolerance = family,                  \
        .element = by_function, .real = f, .cplx = g, .lo = lo_, .hi = hi_, SHARED                 \
    }
#define KIND(name, dtypes_, family, which)                                                         \
    {                                                                                              \
        .op = name, .dtypes = dtypes_, .tolerance = family, .element = by_kind, .kind = which,     \
        .lo = -9, .hi = 9, SHARED                                                                  \
    }
#define TEST(name, dtypes_, which)                                                                 \
    {                                                                                              \
        .op = name, .dtypes = dtypes_, .flags = OI_TO_BOOL, .tolerance = "exact", .element = test, \
        .kind = which, SHARED                                                                      \
    }

static const oi_row rows[] = {
    FUNCTION("exp", ALL, "function", expl, cexpl, 0, 0),
    FUNCTION("exp2", REAL, "function", exp2l, NULL, 0, 0),
    FUNCTION("expm1", REAL, "function", expm1l, NULL, 0, 0),
    FUNCTION("log", ALL, "function", logl, clogl, 0, 9),
    FUNCTION("log2", ALL, "function", log2l, clog2_, 0, 9),
    FUNCTION("log10", ALL, "function", log10l, clog10_, 0, 9),
    FUNCTION("log1p", REAL, "function", log1pl, NULL, 0, 9),
    FUNCTION("sqrt", ALL, "function", sqrtl, csqrtl, 0, 9),
    FUNCTION("rsqrt", ALL, "composed", rsqrt_, crsqrt_, 0, 9),
    FUNCTION("reciprocal", ALL, "function", reciprocal_, creciprocal_, 0, 0),
    FUNCTION("sin", ALL, "function", sinl, csinl, 0, 0),
    FUNCTION("cos", ALL, "function", cosl, ccosl, 0, 0),
    FUNCTION("tan", ALL, "function", tanl, ctanl, 0, 0),
    FUNCTION("asin", ALL, "function", asinl, casinl, -1, 1),
    FUNCTION("acos", ALL, "function", acosl, cacosl, -1, 1),
    FUNCTION("atan", ALL, "function", atanl, catanl, 0, 0),
    FUNCTION("sinh", ALL, "function", sinhl, csinhl, 0, 0),
    FUNCTION("cosh", ALL, "function", coshl, ccoshl, 0, 0),
    FUNCTION("tanh", ALL, "function", tanhl, ctanhl, 0, 0),
    FUNCTION("asinh", ALL, "function", asinhl, casinhl, 0, 0),
    FUNCTION("acosh", ALL, "function", acoshl, cacoshl, 1, 9),
    FUNCTION("atanh", ALL, "function", atanhl, catanhl, -1, 1),
    FUNCTION("sigmoid", ALL, "composed", sigmoid_, csigmoid_, 0, 0),
    FUNCTION("erf", REAL, "function", erfl, NULL, 0, 0),
    FUNCTION("erfc", REAL, "function", erfcl, NULL, 0, 0),
    FUNCTION("lgamma", REAL, "hard", lgammal, NULL, 0, 9),
    {.op = "silu",
     .dtypes = FLOAT | COMPLEX,
     .tolerance = "composed",
     .element = by_function,
     .real = silu_,
     .cplx = csilu_,
     SHARED},
    {.op = "gelu",
     .dtypes = FLOAT,
     .tolerance = "composed",
     .element = gelu,
     .samples = gelu_samples,
     .reference = oi_elementwise_reference,
     .operands = "self"},
    {.op = "abs",
     .dtypes = ALL,
     .flags = OI_REAL_RESULT,
     .tolerance = "arithmetic",
     .reference = abs_reference,
     .samples = oi_elementwise_samples,
     .operands = "self",
     .lo = -9,
     .hi = 9},
    KIND("neg", INT | FLOAT | COMPLEX, "exact", NEG),
    KIND("positive", INT | FLOAT | COMPLEX, "exact", POSITIVE),
    KIND("square", INT | FLOAT | COMPLEX, "arithmetic", SQUARE),
    KIND("sign", REAL, "exact", SIGN),
    KIND("floor", INT | FLOAT, "exact", FLOOR),
    KIND("ceil", INT | FLOAT, "exact", CEIL),
    KIND("trunc", INT | FLOAT, "exact", TRUNC),
    KIND("round", INT | FLOAT, "exact", ROUND),
    KIND("relu", INT | FLOAT, "exact", RELU),
    KIND("bitwise_not", INT | BOOL, "exact", BITNOT),
    TEST("logical_not", ALL, NOT),
    TEST("signbit", REAL, SIGNBIT),
    TEST("isnan", ALL, ISNAN),
    TEST("isinf", ALL, ISINF),
    TEST("isfinite", ALL, ISFINITE),
};
const oi_rows oi_rows_unary = ROWS(rows);

/* rows_activation.c - activations and further elementwise functions. Their numbers have defaults:
 * every second sample gives others. */
#include "rows_impl.h"

#include <complex.h>
#include <math.h>
#include <string.h>

typedef _Complex long double complex_t;

enum {
    LEAKY_RELU,
    ELU,
    SELU,
    CELU,
    SOFTPLUS,
    LOG_SIGMOID,
    MISH,
    HARDTANH,
    RELU6,
    HARDSIGMOID,
    HARDSWISH,
    HARDSHRINK,
    SOFTSHRINK,
    LOGADDEXP,
    LOGADDEXP2,
    XLOGY,
    XLOG1PY,
    ENTR,
    SINC,
    FRAC,
    DEG2RAD,
    RAD2DEG,
    LERP,
    DIGAMMA,
    POLYGAMMA,
    LOGIT,
};

/* A number of the sample, or its default. */
static oi_real number(const oi_sample *s, const char *name, oi_real or_else)
{
    const oi_arg *a = oi_find(s, name);
    return a ? (oi_real)(a->scalar.kind == TN_SCALAR_FLOAT ? a->scalar.v.f : (double)a->scalar.v.i)
             : or_else;
}

/* ---- gamma ----------------------------------------------------------------------------------- */
/* Up to 40 by the recurrence, where six terms of the series are exact to long double. */
static oi_real digamma(oi_real x)
{
    static const oi_real b[] = {1 / 6.0L,   -1 / 30.0L, 1 / 42.0L,
                                -1 / 30.0L, 5 / 66.0L,  -691 / 2730.0L};
    oi_real sum = 0;
    if (x == 0)
        return copysignl(INFINITY, -x);
    if (x < 0 && x == floorl(x))
        return NAN;
    if (x < -100)
        return digamma(1 - x) - acosl(-1) / tanl(acosl(-1) * (x - floorl(x)));
    for (; x < 40; x += 1)
        sum -= 1 / x;
    sum += logl(x) - 0.5L / x;
    oi_real power = 1;
    for (int k = 0; k < 6; k++) {
        power /= x * x;
        sum -= b[k] * power / (2 * (k + 1));
    }
    return sum;
}

static oi_real polygamma(int64_t n, oi_real x)
{
    oi_real s = (oi_real)n + 1, sum = 0, factor = (n % 2 ? 1 : -1) * tgammal(s);
    if (n == 0)
        return digamma(x);
    if (isinf(x) && x > 0)
        return factor * 0;
    if (x <= 0 && x == floorl(x))
        return factor * INFINITY;
    for (; x < 60; x += 1)
        sum += powl(x, -s);
    oi_real p = powl(x, -s);
    sum += p * x / (s - 1) + p / 2 + p * s / (12 * x);
    sum -= p * s * (s + 1) * (s + 2) / (720 * x * x * x);
    sum += p * s * (s + 1) * (s + 2) * (s + 3) * (s + 4) / (30240 * powl(x, 5));
    sum -= p * s * (s + 1) * (s + 2) * (s + 3) * (s + 4) * (s + 5) * (s + 6) /
           (1209600 * powl(x, 7));
    return factor * sum;
}

/* ---- one element ----------------------------------------------------------------------------- */
static oi_real elu(oi_real x, oi_real alpha, oi_real scale, oi_real input_scale)
{
    return x > 0 ? x * scale : alpha * scale * expm1l(x * input_scale);
}

static oi_real clamped(oi_real x, oi_real lo, oi_real hi)
{
    oi_real low = x < lo ? lo : x;
    return low > hi ? hi : low;
}

static oi_real log_sum(oi_real a, oi_real b, bool base2, oi_real *mag)
{
    oi_real top = a > b ? a : b, apart = fabsl(a - b);
    if (isnan(a) || isnan(b))
        return NAN;
    if (isinf(a) && a == b)
        return a;
    oi_real more = base2 ? log1pl(exp2l(-apart)) / logl(2) : log1pl(expl(-apart));
    *mag = isfinite(top) ? fabsl(top) + more : 0;
    return top + more;
}

static oi_real entr(oi_real x)
{
    return isnan(x) ? x : x > 0 ? -x * logl(x) : x == 0 ? 0 : -INFINITY;
}

static oi_real lerp(oi_real a, oi_real b, oi_real w, oi_real *mag)
{
    *mag = fabsl(a) + fabsl(w) * (fabsl(a) + fabsl(b)) + fabsl(b);
    *mag = isfinite(*mag) ? *mag : 0;
    return fabsl(w) < 0.5L ? a + w * (b - a) : b - (b - a) * (1 - w);
}

static oi_real one_number(const oi_row *row, const oi_sample *s, oi_real x, oi_real *mag)
{
    oi_real bent = x * number(s, "beta", 1);
    switch (row->kind) {
    case LEAKY_RELU:
        return x > 0 ? x : x * number(s, "negative_slope", 0.01L);
    case ELU:
        return elu(x, number(s, "alpha", 1), number(s, "scale", 1), number(s, "input_scale", 1));
    case SELU:
        return elu(x, 1.67326324235437728481L, 1.05070098735548049342L, 1);
    case CELU:
        return elu(x, number(s, "alpha", 1), 1, 1 / number(s, "alpha", 1));
    case SOFTPLUS:
        return bent > number(s, "threshold", 20) ? x : log1pl(expl(bent)) / number(s, "beta", 1);
    case LOG_SIGMOID:
        return (x < 0 ? x : isnan(x) ? x : 0) - log1pl(expl(-fabsl(x)));
    case MISH:
        return x * tanhl(log1pl(expl(x)));
    case HARDTANH:
        return clamped(x, number(s, "min_val", -1), number(s, "max_val", 1));
    case RELU6:
        return clamped(x, 0, 6);
    case HARDSIGMOID:
        *mag = 1;
        return clamped(x + 3, 0, 6) / 6;
    case HARDSWISH:
        *mag = isfinite(x) ? fabsl(x) : 0;
        return x * clamped(x + 3, 0, 6) / 6;
    case HARDSHRINK:
        return fabsl(x) <= number(s, "lambd", 0.5L) ? 0 : x;
    case SOFTSHRINK:
        return isnan(x) ? x : copysignl(fmaxl(fabsl(x) - number(s, "lambd", 0.5L), 0), x);
    case ENTR:
        return entr(x);
    case FRAC:
        return x - truncl(x);
    case DEG2RAD:
        return x * (acosl(-1) / 180);
    case RAD2DEG:
        return x * (180 / acosl(-1));
    default:
        return NAN;
    }
}

static oi_num real_element(const oi_row *row, const oi_sample *s, tn_dtype d, const oi_num *in,
                           oi_real *mag)
{
    oi_real r = one_number(row, s, in[0].re, mag);
    if (oi_is_complex(d)) /* deg2rad, rad2deg: part by part */
        return oi_complex(r, one_number(row, s, in[0].im, mag));
    return oi_is_integral(d) ? oi_int((int64_t)r) : oi_float(r);
}

static oi_num binary_element(const oi_row *row, const oi_sample *s, tn_dtype d, const oi_num *in,
                             oi_real *mag)
{
    (void)s, (void)d;
    oi_real x = in[0].re, y = in[1].re;
    switch (row->kind) {
    case LOGADDEXP:
    case LOGADDEXP2:
        return oi_float(log_sum(x, y, row->kind == LOGADDEXP2, mag));
    case XLOGY:
        return oi_float(isnan(y) ? y : x == 0 ? 0 : x * logl(y));
    case XLOG1PY:
        return oi_float(isnan(y) ? y : x == 0 ? 0 : x * log1pl(y));
    default:
        return oi_float(lerp(x, y, in[2].re, mag));
    }
}

/* The rounding of pi x counts where the sine is small. */
static oi_num sinc(const oi_row *row, const oi_sample *s, tn_dtype d, const oi_num *in,
                   oi_real *mag)
{
    (void)row, (void)s, (void)d;
    complex_t z = oi_complex_of(in[0].re, in[0].im) * acosl(-1);
    if (in[0].re == 0 && in[0].im == 0)
        return oi_float(1);
    *mag = in[0].im == 0 ? 1 : cabsl(ccosl(z)) + cabsl(csinl(z) / z);
    if (in[0].im == 0)
        return oi_float(sinl(creall(z)) / creall(z));
    complex_t r = csinl(z) / z;
    return oi_complex(creall(r), cimagl(r));
}

static oi_num gamma_element(const oi_row *row, const oi_sample *s, tn_dtype d, const oi_num *in,
                            oi_real *mag)
{
    (void)d;
    oi_real r = row->kind == DIGAMMA ? digamma(in[0].re)
                                     : polygamma(oi_get_int(s, "n", 0), in[0].re);
    *mag = isfinite(r) ? fabsl(r) + 4 : 0;
    return oi_float(r);
}

static oi_num logit(const oi_row *row, const oi_sample *s, tn_dtype d, const oi_num *in,
                    oi_real *mag)
{
    (void)row, (void)d;
    const oi_arg *eps = oi_find(s, "eps");
    oi_real x = in[0].re;
    if (eps)
        x = isnan(x) ? x : clamped(x, eps->scalar.v.f, 1 - eps->scalar.v.f);
    *mag = 2;
    return oi_float(x < 0 || x > 1 ? NAN : logl(x) - log1pl(-x));
}

/* ---- samples --------------------------------------------------------------------------------- */
/* Every second sample has the numbers that row->data names, "alpha scale". */
static void samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const double values[] = {0.75, 1.5, 1.25};
    char names[3][32];
    int n = row->data ? sscanf(row->data, "%31s %31s %31s", names[0], names[1], names[2]) : 0;
    oi_elementwise_samples(row, out, d, seed);
    for (int k = 0; k < out->n; k++) {
        oi_sample *s = &out->list[k];
        for (int i = 0; i < n && s->number % 2; i++) {
            char *name = oi_alloc(sizeof names[i]);
            memcpy(name, names[i], sizeof names[i]);
            double v = strcmp(name, "min_val") == 0 ? -0.5 : values[i];
            oi_arg_scalar(s, name,
                          oi_is_integral(d) ? tn_scalar_int(v < 0 ? -1 : 2) : tn_scalar_float(v));
        }
    }
}

static void polygamma_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    oi_elementwise_samples(row, out, d, seed);
    for (int k = 0; k < out->n; k++) {
        oi_sample *s = &out->list[k];
        oi_arg_int(s, "n", TN_FIELD_INT, k % 4);
        oi_arg first = s->args[0]; /* in the order of the schema */
        s->args[0] = s->args[1];
        s->args[1] = first;
    }
    oi_sample *bad = oi_sample_new(out, "n below 0");
    oi_arg_int(bad, "n", TN_FIELD_INT, -1);
    oi_arg_tensor(bad, "self", oi_array_new(d, OI_SIZES(3)), OI_ROW);
    bad->error = true;
}

static void logit_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    oi_elementwise_samples(row, out, d, seed);
}

static void softshrink_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    samples(row, out, d, seed);
    oi_sample *bad = oi_sample_new(out, "lambd below 0");
    oi_arg_tensor(bad, "self", oi_array_new(d, OI_SIZES(3)), OI_ROW);
    oi_arg_scalar(bad, "lambd", tn_scalar_float(-0.5));
    bad->error = true;
}

#define ACTIVATION(name, dtypes_, family, which, numbers)                                          \
    {                                                                                              \
        .op = name, .dtypes = dtypes_, .tolerance = family, .element = real_element,               \
        .kind = which, .data = numbers, .samples = samples, .operands = "self",                    \
        .reference = oi_elementwise_reference                                                      \
    }
#define TO_FLOAT(name, dtypes_, family, which, lo_, hi_)                                           \
    {                                                                                              \
        .lo = lo_, .hi = hi_, .op = name, .dtypes = dtypes_, .flags = OI_TO_FLOAT,                 \
        .tolerance = family, .element = real_element, .kind = which, .samples = samples,           \
        .operands = "self", .reference = oi_elementwise_reference                                  \
    }
#define BINARY(name, operands_, dtypes_, flags_, family, which, lo_, hi_)                          \
    {                                                                                              \
        .op = name, .dtypes = dtypes_, .flags = flags_, .tolerance = family,                       \
        .element = binary_element, .kind = which, .operands = operands_, .lo = lo_, .hi = hi_,     \
        .samples = oi_elementwise_samples, .reference = oi_elementwise_reference                   \
    }
#define OWN(name, dtypes_, family, body, which, samples_, lo_, hi_)                                \
    {                                                                                              \
        .op = name, .dtypes = dtypes_, .flags = OI_TO_FLOAT, .tolerance = family, .element = body, \
        .kind = which, .operands = "self", .samples = samples_, .lo = lo_, .hi = hi_,              \
        .reference = oi_elementwise_reference                                                      \
    }

static const oi_row rows[] = {
    ACTIVATION("leaky_relu", FLOAT, "arithmetic", LEAKY_RELU, "negative_slope"),
    ACTIVATION("elu", FLOAT, "composed", ELU, "alpha scale input_scale"),
    ACTIVATION("selu", FLOAT, "composed", SELU, NULL),
    ACTIVATION("celu", FLOAT, "composed", CELU, "alpha"),
    ACTIVATION("softplus", FLOAT, "composed", SOFTPLUS, "beta threshold"),
    ACTIVATION("log_sigmoid", FLOAT, "composed", LOG_SIGMOID, NULL),
    ACTIVATION("mish", FLOAT, "composed", MISH, NULL),
    ACTIVATION("hardtanh", (INT & ~TN_DTYPE_BIT(TN_U8)) | FLOAT, "exact", HARDTANH,
               "min_val max_val"),
    ACTIVATION("relu6", INT | FLOAT, "exact", RELU6, NULL),
    ACTIVATION("hardsigmoid", FLOAT, "arithmetic", HARDSIGMOID, NULL),
    ACTIVATION("hardswish", FLOAT, "composed", HARDSWISH, NULL),
    ACTIVATION("hardshrink", FLOAT, "exact", HARDSHRINK, "lambd"),
    ACTIVATION("frac", FLOAT, "exact", FRAC, NULL),
    {.op = "softshrink",
     .dtypes = FLOAT,
     .tolerance = "rounded",
     .element = real_element,
     .kind = SOFTSHRINK,
     .data = "lambd",
     .samples = softshrink_samples,
     .operands = "self",
     .reference = oi_elementwise_reference},
    TO_FLOAT("special_entr", REAL, "composed", ENTR, 0.1, 6),
    TO_FLOAT("deg2rad", ALL, "arithmetic", DEG2RAD, 0, 0),
    TO_FLOAT("rad2deg", ALL, "arithmetic", RAD2DEG, 0, 0),
    BINARY("logaddexp", "self other", FLOAT, 0, "composed", LOGADDEXP, -6, 6),
    BINARY("logaddexp2", "self other", FLOAT, 0, "composed", LOGADDEXP2, -6, 6),
    BINARY("xlogy.Tensor", "self other", REAL, OI_TO_FLOAT, "composed", XLOGY, 0, 6),
    BINARY("xlogy.Scalar_Self", "self other", REAL, OI_TO_FLOAT, "composed", XLOGY, 0, 6),
    BINARY("xlogy.Scalar_Other", "self other", REAL, OI_TO_FLOAT, "composed", XLOGY, 0, 6),
    BINARY("special_xlog1py", "self other", REAL, OI_TO_FLOAT, "composed", XLOG1PY, 0, 6),
    BINARY("lerp.Tensor", "self end weight", FLOAT, 0, "composed", LERP, -2, 2),
    BINARY("lerp.Scalar", "self end weight", FLOAT, 0, "composed", LERP, -2, 2),
    OWN("sinc", ALL, "composed", sinc, SINC, oi_elementwise_samples, -3, 3),
    OWN("digamma", REAL, "hard", gamma_element, DIGAMMA, oi_elementwise_samples, -6, 9),
    OWN("polygamma", REAL, "hard", gamma_element, POLYGAMMA, polygamma_samples, 0.5, 9),
    OWN("special_polygamma", REAL, "hard", gamma_element, POLYGAMMA, polygamma_samples, 0.5, 9),
    OWN("logit", REAL, "composed", logit, LOGIT, logit_samples, 0.05, 0.95),
};
const oi_rows oi_rows_activation = ROWS(rows);

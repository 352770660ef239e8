/* rows_binary.c - elementwise operators of two operands: arithmetic, powers, extremes,
 * comparisons, logic and bits. The Scalar overloads are rows of the same bodies: a number is an
 * operand like a tensor. */
#include "rows_impl.h"

#include <complex.h>
#include <math.h>
#include <string.h>

typedef _Complex long double complex_t;

enum {
    ADD,
    SUB,
    RSUB,
    MUL,
    DIV,
    MAXIMUM,
    MINIMUM,
    FMAX,
    FMIN,
    FLOOR_DIVIDE,
    REMAINDER,
    FMOD,
    POW,
    ATAN2,
    HYPOT,
    COPYSIGN,
    NEXTAFTER,
    EQ,
    NE,
    LT,
    LE,
    GT,
    GE,
    LAND,
    LOR,
    LXOR,
    AND,
    OR,
    XOR,
    SHL,
    SHR,
};

/* ---- integers -------------------------------------------------------------------------------- */
static int64_t floor_quotient(int64_t a, int64_t b)
{
    if (b == -1)
        return (int64_t)(0 - (uint64_t)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static uint64_t integer_power(uint64_t a, int64_t n)
{
    if (n < 0)
        return a == 1 ? 1 : a == UINT64_MAX ? (n % 2 ? a : 1) : 0;
    uint64_t r = 1;
    for (; n > 0; n >>= 1, a *= a)
        r *= n & 1 ? a : 1;
    return r;
}

static int64_t shifted(int64_t a, int64_t b, tn_dtype d, bool left)
{
    bool out = b < 0 || b >= 8 * oi_size_of(d);
    if (left)
        return out ? 0 : (int64_t)((uint64_t)a << b);
    return out ? (a < 0 ? -1 : 0) : a >> b;
}

static int64_t on_integers(int64_t kind, tn_dtype d, int64_t a, int64_t b, int64_t alpha)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b, k = (uint64_t)alpha;
    switch (kind) {
    case ADD:
        return d == TN_BOOL ? a || (b && alpha) : (int64_t)(x + k * y);
    case SUB:
        return (int64_t)(x - k * y);
    case RSUB:
        return (int64_t)(y - k * x);
    case MUL:
        return (int64_t)(x * y);
    case MAXIMUM:
    case FMAX:
        return a > b ? a : b;
    case MINIMUM:
    case FMIN:
        return a < b ? a : b;
    case FLOOR_DIVIDE:
        return floor_quotient(a, b);
    case REMAINDER:
        return (int64_t)(x - (uint64_t)floor_quotient(a, b) * y);
    case FMOD:
        return b == -1 ? 0 : a % b;
    case POW:
        return (int64_t)integer_power(x, b);
    case AND:
        return a & b;
    case OR:
        return a | b;
    case XOR:
        return a ^ b;
    default:
        return shifted(a, b, d, kind == SHL);
    }
}

/* ---- real and complex ------------------------------------------------------------------------ */
static oi_real floor_real(oi_real a, oi_real b)
{
    if (b == 0)
        return a / b;
    oi_real m = fmodl(a, b), q = (a - m) / b;
    return rintl(q) - (m != 0 && (b < 0) != (m < 0));
}

static oi_real remainder_real(oi_real a, oi_real b)
{
    oi_real m = fmodl(a, b);
    return m != 0 && (b < 0) != (m < 0) ? m + b : m;
}

static oi_real next(oi_real a, oi_real b, tn_dtype d)
{
    return d == TN_F64 ? (oi_real)nextafter((double)a, (double)b)
                       : (oi_real)nextafterf((float)a, (float)b);
}

static oi_real on_reals(int64_t kind, tn_dtype d, oi_real a, oi_real b)
{
    switch (kind) {
    case MUL:
        return a * b;
    case DIV:
        return a / b;
    case MAXIMUM:
        return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
    case MINIMUM:
        return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
    case FMAX:
        return isnan(a) ? b : isnan(b) ? a : a > b ? a : b;
    case FMIN:
        return isnan(a) ? b : isnan(b) ? a : a < b ? a : b;
    case FLOOR_DIVIDE:
        return floor_real(a, b);
    case REMAINDER:
        return remainder_real(a, b);
    case FMOD:
        return fmodl(a, b);
    case POW:
        return powl(a, b);
    case ATAN2:
        return atan2l(a, b);
    case HYPOT:
        return hypotl(a, b);
    case COPYSIGN:
        return copysignl(a, b);
    default:
        return next(a, b, d);
    }
}

static oi_num on_complex(int64_t kind, oi_num a, oi_num b, oi_real *mag)
{
    complex_t x = oi_complex_of(a.re, a.im), y = oi_complex_of(b.re, b.im), z;
    switch (kind) {
    case MUL:
        z = x * y;
        break;
    case DIV:
        z = x / y;
        break;
    default:
        z = cpowl(x, y);
        break;
    }
    *mag = kind == MUL ? cabsl(x) * cabsl(y) : cabsl(z);
    if (kind == POW) /* how an error of y log x grows */
        *mag *= 1 + cabsl(y) * cabsl(clogl(x));
    if (!isfinite(*mag))
        *mag = 0;
    return oi_complex(creall(z), cimagl(z));
}

/* a + alpha * b and its kin, real or complex; the terms' sizes say how much may cancel. */
static oi_num linear(oi_num a, oi_num b, oi_num alpha, int sign, bool real, oi_real *mag)
{
    oi_num t = {alpha.re * b.re - (real ? 0 : alpha.im * b.im),
                real ? 0 : alpha.re * b.im + alpha.im * b.re, 0};
    *mag = hypotl(a.re, a.im) + hypotl(alpha.re, alpha.im) * hypotl(b.re, b.im);
    return oi_complex(a.re + sign * t.re, a.im + sign * t.im);
}

static oi_num arithmetic(const oi_row *row, const oi_sample *s, tn_dtype d, const oi_num *in,
                         oi_real *mag)
{
    (void)s;
    bool has_alpha = row->kind <= RSUB;
    if (oi_is_integral(d))
        return oi_int(on_integers(row->kind, d, in[0].i, in[1].i, has_alpha ? in[2].i : 1));
    if (row->kind == RSUB)
        return linear(in[1], in[0], in[2], -1, !oi_is_complex(d), mag);
    if (has_alpha)
        return linear(in[0], in[1], in[2], row->kind == ADD ? 1 : -1, !oi_is_complex(d), mag);
    if (oi_is_complex(d))
        return on_complex(row->kind, in[0], in[1], mag);
    return oi_float(on_reals(row->kind, d, in[0].re, in[1].re));
}

static oi_num comparison(const oi_row *row, const oi_sample *s, tn_dtype d, const oi_num *in,
                         oi_real *mag)
{
    (void)s, (void)mag;
    bool whole = oi_is_integral(d);
    oi_real a = in[0].re, b = in[1].re;
    bool equal = whole ? in[0].i == in[1].i : a == b && in[0].im == in[1].im;
    bool less = whole ? in[0].i < in[1].i : a < b, more = whole ? in[0].i > in[1].i : a > b;
    switch (row->kind) {
    case EQ:
        return oi_int(equal);
    case NE:
        return oi_int(!equal);
    case LT:
        return oi_int(less);
    case LE:
        return oi_int(less || equal);
    case GT:
        return oi_int(more);
    case GE:
        return oi_int(more || equal);
    case LAND:
        return oi_int(oi_truth(in[0]) && oi_truth(in[1]));
    case LOR:
        return oi_int(oi_truth(in[0]) || oi_truth(in[1]));
    default:
        return oi_int(oi_truth(in[0]) != oi_truth(in[1]));
    }
}

/* ---- div with a rounding mode ---------------------------------------------------------------- */
static oi_num quotient(const oi_row *row, const oi_sample *s, tn_dtype d, const oi_num *in,
                       oi_real *mag)
{
    (void)row;
    const char *mode = oi_find(s, "rounding_mode")->text;
    if (!mode)
        return oi_is_complex(d) ? on_complex(DIV, in[0], in[1], mag)
                                : oi_float(in[0].re / in[1].re);
    if (oi_is_integral(d))
        return oi_int(*mode == 'f'    ? floor_quotient(in[0].i, in[1].i)
                      : in[1].i == -1 ? (int64_t)(0 - (uint64_t)in[0].i)
                                      : in[0].i / in[1].i);
    return oi_float(*mode == 'f' ? floor_real(in[0].re, in[1].re) : truncl(in[0].re / in[1].re));
}

static int quotient_reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    oi_row of = *row;
    of.flags = oi_find(s, "rounding_mode")->text ? 0 : OI_TO_FLOAT;
    return oi_elementwise_reference(&of, s, results);
}

static void quotient_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const char *const modes[] = {"floor", "trunc", NULL};
    int modes_n = oi_is_complex(d) || d == TN_BOOL ? 1 : 3; /* the others round */
    oi_elementwise_samples(row, out, d, seed);
    int n = out->n;
    for (int k = 0; k < n; k++)
        oi_arg_text(&out->list[k], "rounding_mode", modes_n == 1 ? NULL : modes[k % modes_n]);
    oi_sample *bad = oi_sample_new(out, "rounding_mode=up");
    oi_rng r = oi_rng_make(seed, row->op, d, bad->number);
    oi_arg_tensor(bad, "self", oi_values(row, &r, d, OI_SIZES(3)), OI_ROW);
    oi_arg_tensor(bad, "other", oi_values(row, &r, d, OI_SIZES(3)), OI_ROW);
    oi_arg_text(bad, "rounding_mode", "up");
    bad->error = true;
}

/* Integers divided by zero: an error, not a signal. */
static void division_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    bool quotients = row->element == quotient;
    if (quotients)
        quotient_samples(row, out, d, seed);
    else
        oi_elementwise_samples(row, out, d, seed);
    for (int k = 0; k < out->n && oi_is_integral(d); k++) {
        oi_arg *other = (oi_arg *)oi_find(&out->list[k], "other");
        oi_array *a = other && other->kind == TN_FIELD_TENSOR ? &other->tensors->a : NULL;
        for (int64_t i = 0; a && i < a->numel; i++)
            a->v[i] = a->v[i].i ? a->v[i] : oi_int(1);
    }
    if (!oi_is_integral(d) || d == TN_BOOL)
        return;
    oi_sample *s = oi_sample_new(out, "division by zero");
    oi_rng r = oi_rng_make(seed, row->op, d, s->number);
    oi_arg_tensor(s, "self", oi_values(row, &r, d, OI_SIZES(3)), OI_ROW);
    oi_arg_tensor(s, "other", oi_array_new(d, OI_SIZES(3)), OI_ROW);
    if (quotients)
        oi_arg_text(s, "rounding_mode", "floor");
    s->error = s->by_value = true;
}

/* ---- powers ---------------------------------------------------------------------------------- */
/* Integers: small, exponents not negative, which integers cannot hold. */
static void power_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    oi_elementwise_samples(row, out, d, seed);
    for (int k = 0; k < out->n; k++) {
        oi_arg *e = (oi_arg *)oi_find(&out->list[k], "exponent");
        if (e->kind == TN_FIELD_SCALAR && e->scalar.kind == TN_SCALAR_INT)
            e->scalar.v.i = e->scalar.v.i < 0 ? -e->scalar.v.i : e->scalar.v.i;
        for (int64_t i = 0; e->kind == TN_FIELD_TENSOR && oi_is_integral(e->tensors->a.dtype) &&
                            i < e->tensors->a.numel;
             i++)
            if (e->tensors->a.v[i].i < 0)
                e->tensors->a.v[i] = oi_int(-e->tensors->a.v[i].i);
    }
}

#define TENSOR(name, operands_, dtypes_, flags_, family, body, which)                              \
    {                                                                                              \
        .op = name, .operands = operands_, .dtypes = dtypes_, .flags = flags_,                     \
        .tolerance = family, .element = body, .kind = which, .lo = -6, .hi = 6,                    \
        .samples = oi_elementwise_samples, .reference = oi_elementwise_reference                   \
    }
#define BOTH(name, dtypes_, flags_, family, body, which)                                           \
    TENSOR(name ".Tensor", "self other", dtypes_, flags_, family, body, which),                    \
        TENSOR(name ".Scalar", "self other", dtypes_, flags_, family, body, which)
#define DIVISION(name, dtypes_, body, reference_, which)                                           \
    {                                                                                              \
        .op = name, .operands = "self other", .dtypes = dtypes_, .flags = OI_NO_ZERO,              \
        .tolerance = "arithmetic", .element = body, .kind = which, .lo = -9, .hi = 9,              \
        .samples = division_samples, .reference = reference_                                       \
    }
#define POWER(name, operands_)                                                                     \
    {                                                                                              \
        .op = name, .operands = operands_, .dtypes = INT | FLOAT | COMPLEX,                        \
        .flags = OI_NO_SPECIAL_INT, .tolerance = "hard", .element = arithmetic, .kind = POW,       \
        .lo = -3, .hi = 3, .samples = power_samples, .reference = oi_elementwise_reference         \
    }

static const oi_row rows[] = {
    TENSOR("add.Tensor", "self other alpha", ALL, 0, "arithmetic", arithmetic, ADD),
    TENSOR("add.Scalar", "self other alpha", ALL, 0, "arithmetic", arithmetic, ADD),
    TENSOR("sub.Tensor", "self other alpha", ALL & ~BOOL, 0, "arithmetic", arithmetic, SUB),
    TENSOR("sub.Scalar", "self other alpha", ALL & ~BOOL, 0, "arithmetic", arithmetic, SUB),
    TENSOR("rsub.Tensor", "self other alpha", ALL & ~BOOL, 0, "arithmetic", arithmetic, RSUB),
    TENSOR("rsub.Scalar", "self other alpha", ALL & ~BOOL, 0, "arithmetic", arithmetic, RSUB),
    BOTH("mul", ALL, 0, "rounded", arithmetic, MUL),
    BOTH("div", ALL, OI_TO_FLOAT, "rounded", arithmetic, DIV),
    TENSOR("true_divide.Tensor", "self other", ALL, OI_TO_FLOAT, "rounded", arithmetic, DIV),
    TENSOR("divide.Tensor", "self other", ALL, OI_TO_FLOAT, "rounded", arithmetic, DIV),
    TENSOR("multiply.Tensor", "self other", ALL, 0, "rounded", arithmetic, MUL),
    TENSOR("subtract.Tensor", "self other alpha", ALL & ~BOOL, 0, "arithmetic", arithmetic, SUB),
    DIVISION("div.Tensor_mode", ALL, quotient, quotient_reference, 0),
    DIVISION("floor_divide", INT | FLOAT, arithmetic, oi_elementwise_reference, FLOOR_DIVIDE),
    DIVISION("remainder.Tensor", INT | FLOAT, arithmetic, oi_elementwise_reference, REMAINDER),
    DIVISION("fmod.Tensor", INT | FLOAT, arithmetic, oi_elementwise_reference, FMOD),
    POWER("pow.Tensor_Tensor", "self exponent"),
    POWER("pow.Tensor_Scalar", "self exponent"),
    POWER("pow.Scalar", "self exponent"),
    TENSOR("maximum", "self other", REAL, 0, "exact", arithmetic, MAXIMUM),
    TENSOR("minimum", "self other", REAL, 0, "exact", arithmetic, MINIMUM),
    TENSOR("fmax", "self other", REAL, 0, "exact", arithmetic, FMAX),
    TENSOR("fmin", "self other", REAL, 0, "exact", arithmetic, FMIN),
    TENSOR("max.other", "self other", REAL, 0, "exact", arithmetic, MAXIMUM),
    TENSOR("min.other", "self other", REAL, 0, "exact", arithmetic, MINIMUM),
    TENSOR("clamp_min", "self min", INT | FLOAT, 0, "exact", arithmetic, MAXIMUM),
    TENSOR("clamp_min.Tensor", "self min", REAL, 0, "exact", arithmetic, MAXIMUM),
    TENSOR("clamp_max", "self max", INT | FLOAT, 0, "exact", arithmetic, MINIMUM),
    TENSOR("clamp_max.Tensor", "self max", REAL, 0, "exact", arithmetic, MINIMUM),
    TENSOR("atan2", "self other", REAL, OI_TO_FLOAT, "function", arithmetic, ATAN2),
    TENSOR("hypot", "self other", FLOAT, 0, "function", arithmetic, HYPOT),
    TENSOR("copysign.Tensor", "self other", REAL, OI_TO_FLOAT, "exact", arithmetic, COPYSIGN),
    TENSOR("nextafter", "self other", TN_DTYPE_BIT(TN_F32) | TN_DTYPE_BIT(TN_F64), 0, "exact",
           arithmetic, NEXTAFTER),
    BOTH("eq", ALL, OI_TO_BOOL, "exact", comparison, EQ),
    BOTH("ne", ALL, OI_TO_BOOL, "exact", comparison, NE),
    BOTH("lt", REAL, OI_TO_BOOL, "exact", comparison, LT),
    BOTH("le", REAL, OI_TO_BOOL, "exact", comparison, LE),
    BOTH("gt", REAL, OI_TO_BOOL, "exact", comparison, GT),
    BOTH("ge", REAL, OI_TO_BOOL, "exact", comparison, GE),
    TENSOR("logical_and", "self other", ALL, OI_TO_BOOL, "exact", comparison, LAND),
    TENSOR("logical_or", "self other", ALL, OI_TO_BOOL, "exact", comparison, LOR),
    TENSOR("logical_xor", "self other", ALL, OI_TO_BOOL, "exact", comparison, LXOR),
    BOTH("bitwise_and", INT | BOOL, 0, "exact", arithmetic, AND),
    BOTH("bitwise_or", INT | BOOL, 0, "exact", arithmetic, OR),
    BOTH("bitwise_xor", INT | BOOL, 0, "exact", arithmetic, XOR),
    TENSOR("bitwise_left_shift.Tensor", "self other", INT, 0, "exact", arithmetic, SHL),
    TENSOR("bitwise_right_shift.Tensor", "self other", INT, 0, "exact", arithmetic, SHR),
};
const oi_rows oi_rows_binary = ROWS(rows);

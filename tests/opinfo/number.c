/* number.c - the reference's numbers: dtypes, rounding, promotion and bytes, written from the
 * formats' definitions.
 *
 * A value is held in long double (integers in int64), and rounding to a dtype is done by
 * arithmetic on its precision, so that not a line is shared with the converters under test. */
#include "opinfo.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name, *brief;
    int size, bits; /* bits: of an integer; digits of a float */
    int least;      /* exponent of a float's smallest subnormal */
    oi_real max;
} kinds[TN_DTYPE_COUNT] = {
    [TN_BOOL] = {"bool", "bool", 1, 1, 0, 0},
    [TN_U8] = {"uint8", "u8", 1, 8, 0, 0},
    [TN_I8] = {"int8", "i8", 1, 8, 0, 0},
    [TN_I16] = {"int16", "i16", 2, 16, 0, 0},
    [TN_I32] = {"int32", "i32", 4, 32, 0, 0},
    [TN_I64] = {"int64", "i64", 8, 64, 0, 0},
    [TN_F16] = {"float16", "f16", 2, 11, -24, 65504},
    [TN_BF16] = {"bfloat16", "bf16", 2, 8, -133, 0x1.fep127L},
    [TN_F32] = {"float32", "f32", 4, 24, -149, 0x1.fffffep127L},
    [TN_F64] = {"float64", "f64", 8, 53, -1074, 0x1.fffffffffffffp1023L},
    [TN_C64] = {"complex64", "c64", 8, 24, -149, 0x1.fffffep127L},
    [TN_C128] = {"complex128", "c128", 16, 53, -1074, 0x1.fffffffffffffp1023L},
};

bool oi_is_integral(tn_dtype d)
{
    return tn_dtype_in(d, TN_DTYPES_WHOLE);
}

bool oi_is_floating(tn_dtype d)
{
    return tn_dtype_in(d, TN_DTYPES_FLOATING);
}

bool oi_is_complex(tn_dtype d)
{
    return tn_dtype_in(d, TN_DTYPES_COMPLEX);
}

tn_dtype oi_real_of(tn_dtype d)
{
    return d == TN_C64 ? TN_F32 : d == TN_C128 ? TN_F64 : d;
}

int oi_size_of(tn_dtype d)
{
    return kinds[d].size;
}

const char *oi_dtype_name(tn_dtype d)
{
    return d >= 0 && d < TN_DTYPE_COUNT ? kinds[d].name : "none";
}

tn_dtype oi_dtype_parse(const char *name)
{
    for (tn_dtype d = 0; d < TN_DTYPE_COUNT; d++)
        if (strcmp(kinds[d].name, name) == 0 || strcmp(kinds[d].brief, name) == 0)
            return d;
    return TN_DTYPE_NONE;
}

static int category(tn_dtype d)
{
    return d == TN_BOOL ? 0 : oi_is_integral(d) ? 1 : oi_is_floating(d) ? 2 : 3;
}

/* The smallest dtype that holds both, by category; an integer adds nothing to a float. */
tn_dtype oi_promote(tn_dtype a, tn_dtype b)
{
    if (category(a) < category(b)) {
        tn_dtype swap = a;
        a = b;
        b = swap;
    }
    if (a == b || (category(a) > category(b) && (category(a) < 3 || category(b) < 2)))
        return a;
    if (category(a) == 3)
        return a == TN_C128 || b == TN_C128 || b == TN_F64 ? TN_C128 : TN_C64;
    if (category(a) == 2)
        return a == TN_F64 || b == TN_F64 ? TN_F64 : TN_F32; /* f16 with bf16 needs f32 */
    if (a == TN_U8 || b == TN_U8) {
        tn_dtype other = a == TN_U8 ? b : a;
        return other == TN_I8 ? TN_I16 : other;
    }
    return a > b ? a : b;
}

oi_num oi_int(int64_t i)
{
    return (oi_num){(oi_real)i, 0, i};
}

oi_num oi_float(oi_real re)
{
    return (oi_num){re, 0, 0};
}

oi_num oi_complex(oi_real re, oi_real im)
{
    return (oi_num){re, im, 0};
}

static int last_place(oi_real x, tn_dtype d)
{
    int e;
    frexpl(x, &e);
    return e - kinds[d].bits < kinds[d].least ? kinds[d].least : e - kinds[d].bits;
}

oi_real oi_round(oi_real x, tn_dtype d)
{
    if (x == 0 || !isfinite(x))
        return x;
    int place = last_place(x, d);
    oi_real r = ldexpl(rintl(ldexpl(x, -place)), place);
    return fabsl(r) > kinds[d].max ? copysignl(INFINITY, r) : r;
}

oi_real oi_ulp(oi_real magnitude, tn_dtype d)
{
    if (magnitude == 0 || !isfinite(magnitude))
        return ldexpl(1, kinds[d].least);
    return ldexpl(1, last_place(magnitude > kinds[d].max ? kinds[d].max : magnitude, d));
}

static int64_t wrap(int64_t i, tn_dtype d)
{
    switch (d) {
    case TN_BOOL:
        return i != 0;
    case TN_U8:
        return (int64_t)((uint64_t)i & 0xff);
    case TN_I64:
        return i;
    default: {
        int shift = 64 - kinds[d].bits;
        return (int64_t)((uint64_t)i << shift) >> shift;
    }
    }
}

bool oi_truth(oi_num v)
{
    return v.re != 0 || v.im != 0 || isnan(v.re) || isnan(v.im);
}

oi_num oi_cast(oi_num v, tn_dtype from, tn_dtype to)
{
    if (to == TN_BOOL)
        return oi_int(oi_truth(v));
    if (oi_is_integral(to)) {
        bool fits = v.re > -0x1p63L - 1 && v.re < 0x1p63L;
        return oi_int(wrap(oi_is_integral(from) ? v.i : fits ? (int64_t)v.re : INT64_MIN, to));
    }
    oi_num r = {oi_round(v.re, to), 0, 0};
    if (oi_is_complex(to))
        r.im = oi_round(v.im, to);
    return r;
}

tn_dtype oi_scalar_dtype(const tn_scalar *s)
{
    return s->kind == TN_SCALAR_FLOAT  ? TN_F32
           : s->kind == TN_SCALAR_INT  ? TN_I64
           : s->kind == TN_SCALAR_BOOL ? TN_BOOL
                                       : TN_C64;
}

oi_num oi_from_scalar(const tn_scalar *s, tn_dtype d)
{
    if (s->kind == TN_SCALAR_INT || s->kind == TN_SCALAR_BOOL)
        return oi_cast(oi_int(s->v.i), TN_I64, d);
    if (s->kind == TN_SCALAR_COMPLEX)
        return oi_cast(oi_complex(s->v.c[0], s->v.c[1]), TN_C128, d);
    return oi_cast(oi_float(s->v.f), TN_F64, d);
}

/* ---- bytes ----------------------------------------------------------------------------------- */
static oi_real load_f16(uint16_t bits)
{
    int e = bits >> 10 & 31, m = bits & 1023;
    oi_real x = e == 31 ? (m ? NAN : INFINITY) : e ? ldexpl(1024 + m, e - 25) : ldexpl(m, -24);
    return bits & 0x8000 ? -x : x;
}

static oi_real load_bf16(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float f;
    memcpy(&f, &wide, sizeof f);
    return f;
}

static uint16_t store_f16(oi_real x)
{
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    oi_real a = fabsl(oi_round(x, TN_F16));
    if (isnan(x))
        return 0x7e00;
    if (isinf(a))
        return sign | 0x7c00;
    if (a < 0x1p-14L)
        return sign | (uint16_t)ldexpl(a, 24);
    int e = ilogbl(a);
    return sign | (uint16_t)((e + 15) << 10) | (uint16_t)(ldexpl(a, 10 - e) - 1024);
}

static uint16_t store_bf16(oi_real x)
{
    if (isnan(x))
        return 0x7fc0;
    float f = (float)oi_round(x, TN_BF16);
    uint32_t wide;
    memcpy(&wide, &f, sizeof wide);
    return (uint16_t)(wide >> 16);
}

static oi_real load_real(const void *from, tn_dtype d)
{
    uint16_t half;
    float f;
    double g;
    switch (d) {
    case TN_F16:
        memcpy(&half, from, 2);
        return load_f16(half);
    case TN_BF16:
        memcpy(&half, from, 2);
        return load_bf16(half);
    case TN_F32:
        memcpy(&f, from, 4);
        return f;
    default:
        memcpy(&g, from, 8);
        return g;
    }
}

static void store_real(void *to, tn_dtype d, oi_real x)
{
    uint16_t half = d == TN_F16 ? store_f16(x) : d == TN_BF16 ? store_bf16(x) : 0;
    float f = (float)oi_round(x, TN_F32);
    double g = (double)x;
    memcpy(to,
           d == TN_F32   ? (void *)&f
           : d == TN_F64 ? (void *)&g
                         : (void *)&half,
           (size_t)oi_size_of(d));
}

oi_num oi_load(const void *from, tn_dtype d)
{
    if (oi_is_complex(d)) {
        tn_dtype part = oi_real_of(d);
        return oi_complex(load_real(from, part),
                          load_real((const char *)from + oi_size_of(part), part));
    }
    if (!oi_is_integral(d))
        return oi_float(load_real(from, d));
    uint64_t bits = 0;
    for (int k = 0; k < oi_size_of(d); k++)
        bits |= (uint64_t)((const unsigned char *)from)[k] << 8 * k;
    return oi_int(d == TN_BOOL ? (int64_t)bits : wrap((int64_t)bits, d));
}

void oi_store(void *to, tn_dtype d, oi_num v)
{
    if (oi_is_complex(d)) {
        tn_dtype part = oi_real_of(d);
        store_real(to, part, v.re);
        store_real((char *)to + oi_size_of(part), part, v.im);
    } else if (!oi_is_integral(d)) {
        store_real(to, d, v.re);
    } else {
        for (int k = 0; k < oi_size_of(d); k++)
            ((unsigned char *)to)[k] = (unsigned char)((uint64_t)v.i >> 8 * k);
    }
}

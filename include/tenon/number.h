/* number.h - the numbers (Scalars) of a call: made of C's, read, and as a kernel computes with them,
 * converted once to the computation's dtype. */
#ifndef TENON_NUMBER_H
#define TENON_NUMBER_H

#include <tenon/border.h>

typedef struct tn_c64 {
    float re, im;
} tn_c64;
typedef struct tn_c128 {
    double re, im;
} tn_c128;

typedef union tn_number {
    bool b;
    uint8_t u8;
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    float f32; /* of f16 and bf16 too: they are computed in f32 */
    double f64;
    tn_c64 c64;
    tn_c128 c128;
} tn_number;

/* ---- made ------------------------------------------------------------------------------------ */
static inline tn_scalar tn_scalar_int(int64_t i)
{
    tn_scalar s = {{0}, TN_SCALAR_INT, 0};
    s.v.i = i;
    return s;
}
static inline tn_scalar tn_scalar_float(double f)
{
    tn_scalar s = {{0}, TN_SCALAR_FLOAT, 0};
    s.v.f = f;
    return s;
}
static inline tn_scalar tn_scalar_bool(bool b)
{
    tn_scalar s = {{0}, TN_SCALAR_BOOL, 0};
    s.v.i = b;
    return s;
}
static inline tn_scalar tn_scalar_complex(double re, double im)
{
    tn_scalar s = {{0}, TN_SCALAR_COMPLEX, 0};
    s.v.c[0] = re;
    s.v.c[1] = im;
    return s;
}
static inline tn_scalar tn_scalar_none(void)
{
    tn_scalar s = {{0}, TN_SCALAR_NONE, 0};
    return s;
}

/* ---- read ------------------------------------------------------------------------------------ */
static inline int64_t tn_scalar_as_int(const tn_scalar *s)
{
    double f = s->v.f; /* the real part of a complex number */
    if (s->kind == TN_SCALAR_INT || s->kind == TN_SCALAR_BOOL)
        return s->v.i;
    return f >= -9223372036854775808.0 && f < 9223372036854775808.0 ? (int64_t)f : 0;
}

static inline double tn_scalar_as_double(const tn_scalar *s)
{
    return s->kind == TN_SCALAR_INT || s->kind == TN_SCALAR_BOOL ? (double)s->v.i : s->v.f;
}

static inline double tn_scalar_imaginary(const tn_scalar *s)
{
    return s->kind == TN_SCALAR_COMPLEX ? s->v.c[1] : 0;
}

/* Integers wrap around; an imaginary part is dropped only where promotion has made sure that there
 * is none. */
static inline tn_number tn_number_of(tn_dtype dtype, const tn_scalar *s)
{
    tn_number n;
    if (dtype == TN_F32 || dtype == TN_F16 || dtype == TN_BF16) {
        n.f32 = (float)tn_scalar_as_double(s);
        return n;
    }
    switch (dtype) {
    case TN_BOOL:
        n.b = tn_scalar_as_double(s) != 0 || tn_scalar_imaginary(s) != 0;
        break;
    case TN_U8:
        n.u8 = (uint8_t)tn_scalar_as_int(s);
        break;
    case TN_I8:
        n.i8 = (int8_t)tn_scalar_as_int(s);
        break;
    case TN_I16:
        n.i16 = (int16_t)tn_scalar_as_int(s);
        break;
    case TN_I32:
        n.i32 = (int32_t)tn_scalar_as_int(s);
        break;
    case TN_I64:
        n.i64 = tn_scalar_as_int(s);
        break;
    case TN_C64:
        n.c64.re = (float)tn_scalar_as_double(s);
        n.c64.im = (float)tn_scalar_imaginary(s);
        break;
    case TN_C128:
        n.c128.re = tn_scalar_as_double(s);
        n.c128.im = tn_scalar_imaginary(s);
        break;
    default:
        n.f64 = tn_scalar_as_double(s);
        break;
    }
    return n;
}

#endif

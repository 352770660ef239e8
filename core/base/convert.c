/* convert.c - elements from any dtype to any other: 144 strided loops behind tn__converter.
 *
 * One body, convert(), is written for all of them; each converter inlines it with constant dtypes,
 * so the switches fold away and what remains is a plain loop, vectorised where both sides are
 * contiguous. Elements are read and written with memcpy: any alignment is fine, and no type is
 * punned.
 *
 * What a value becomes (PyTorch's answers on x86-64, none of it undefined behaviour):
 *   float -> i32, i64      truncated; NaN and what does not fit give the type's minimum
 *   float -> i8, i16       the low bits of the i32 answer
 *   float -> u8            the low bits of the i64 answer
 *   int -> narrower int    the low bits
 *   x -> bool              x != 0, so NaN is true
 *   f64, i64 -> f16, bf16  by way of f32 (two roundings)
 *   complex -> real        the real part; to bool: either part */
#include <string.h>

#include <tenon/half.h>

#include "core/base/base.h"

#define INLINE static inline __attribute__((always_inline))

/* As tn__dtype_sizes, but a constant where dtype is one. */
INLINE size_t size_of(tn_dtype dtype)
{
    switch (dtype) {
    case TN_I16:
    case TN_F16:
    case TN_BF16:
        return 2;
    case TN_I32:
    case TN_F32:
        return 4;
    case TN_I64:
    case TN_F64:
    case TN_C64:
        return 8;
    case TN_C128:
        return 16;
    default:
        return 1;
    }
}

/* ---- one value ------------------------------------------------------------------------------ */
INLINE int64_t load_int(const char *p, tn_dtype from)
{
    union {
        uint8_t u8;
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
    } v;
    memcpy(&v, p, size_of(from));
    switch (from) {
    case TN_BOOL:
        return v.u8 != 0;
    case TN_U8:
        return v.u8;
    case TN_I8:
        return v.i8;
    case TN_I16:
        return v.i16;
    case TN_I32:
        return v.i32;
    default:
        return v.i64;
    }
}

INLINE float load_f32(const char *p, tn_dtype from)
{
    float value;
    uint16_t half;
    if (from == TN_F32) {
        memcpy(&value, p, sizeof value);
        return value;
    }
    memcpy(&half, p, sizeof half);
    return from == TN_F16 ? tn_f32_from_f16(half) : tn_f32_from_bf16(half);
}

INLINE void store_int(char *p, tn_dtype to, int64_t value)
{
    uint8_t byte = (uint8_t)value;
    int16_t i16 = (int16_t)value;
    int32_t i32 = (int32_t)value;
    switch (to) {
    case TN_BOOL:
        byte = value != 0;
        *p = (char)byte;
        return;
    case TN_I16:
        memcpy(p, &i16, sizeof i16);
        return;
    case TN_I32:
        memcpy(p, &i32, sizeof i32);
        return;
    case TN_I64:
        memcpy(p, &value, sizeof value);
        return;
    default:
        memcpy(p, &byte, 1);
        return;
    }
}

INLINE void store_f32(char *p, tn_dtype to, float value)
{
    uint16_t half = to == TN_F16 ? tn_f16_from_f32(value) : tn_bf16_from_f32(value);
    float pair[2] = {value, 0};
    if (to == TN_F16 || to == TN_BF16)
        memcpy(p, &half, sizeof half);
    else
        memcpy(p, pair, size_of(to)); /* f32, c64 */
}

INLINE void store_f64(char *p, tn_dtype to, double value)
{
    double pair[2] = {value, 0};
    memcpy(p, pair, size_of(to)); /* f64, c128 */
}

/* Selecting before converting keeps the conversion in range on every path. */
INLINE int32_t to_i32(float value)
{
    bool fits = (value >= -0x1p31f) & (value < 0x1p31f);
    return (int32_t)(fits ? value : -0x1p31f);
}

INLINE int32_t wide_to_i32(double value)
{
    bool fits = (value > -0x1p31 - 1) & (value < 0x1p31);
    return (int32_t)(fits ? value : -0x1p31);
}

INLINE int64_t wide_to_i64(double value)
{
    bool fits = (value >= -0x1p63) & (value < 0x1p63);
    return (int64_t)(fits ? value : -0x1p63);
}

/* ---- one element, by the kind of value it holds --------------------------------------------- */
/* `wide` says that value may need more than 32 bits; the others take the processor's faster i32
 * conversions. */
INLINE void from_int(char *dst, tn_dtype to, int64_t value, bool wide)
{
    switch (to) {
    case TN_F64:
    case TN_C128:
        store_f64(dst, to, wide ? (double)value : (double)(int32_t)value);
        return;
    case TN_F16:
    case TN_BF16:
    case TN_F32:
    case TN_C64:
        store_f32(dst, to, wide ? (float)value : (float)(int32_t)value);
        return;
    default:
        store_int(dst, to, value);
        return;
    }
}

/* u8 may go through i32 here: from 2^31 on an f32 is a multiple of 256, and the low byte is 0
 * either way. */
INLINE void from_f32(char *dst, tn_dtype to, float value)
{
    switch (to) {
    case TN_BOOL:
        store_int(dst, to, value != 0);
        return;
    case TN_U8:
    case TN_I8:
    case TN_I16:
    case TN_I32:
        store_int(dst, to, to_i32(value));
        return;
    case TN_I64:
        store_int(dst, to, wide_to_i64((double)value));
        return;
    case TN_F64:
    case TN_C128:
        store_f64(dst, to, (double)value);
        return;
    default:
        store_f32(dst, to, value);
        return;
    }
}

INLINE void from_f64(char *dst, tn_dtype to, double value)
{
    switch (to) {
    case TN_BOOL:
        store_int(dst, to, value != 0);
        return;
    case TN_I8:
    case TN_I16:
    case TN_I32:
        store_int(dst, to, wide_to_i32(value));
        return;
    case TN_U8:
    case TN_I64:
        store_int(dst, to, wide_to_i64(value));
        return;
    case TN_F64:
    case TN_C128:
        store_f64(dst, to, value);
        return;
    default:
        store_f32(dst, to, (float)value);
        return;
    }
}

INLINE void from_c64(char *dst, tn_dtype to, const char *src)
{
    float v[2];
    memcpy(v, src, sizeof v);
    double wide[2] = {(double)v[0], (double)v[1]};
    if (to == TN_C128)
        memcpy(dst, wide, sizeof wide);
    else if (to == TN_BOOL)
        store_int(dst, to, (v[0] != 0) | (v[1] != 0));
    else
        from_f32(dst, to, v[0]);
}

INLINE void from_c128(char *dst, tn_dtype to, const char *src)
{
    double v[2];
    memcpy(v, src, sizeof v);
    float narrow[2] = {(float)v[0], (float)v[1]};
    if (to == TN_C64)
        memcpy(dst, narrow, sizeof narrow);
    else if (to == TN_BOOL)
        store_int(dst, to, (v[0] != 0) | (v[1] != 0));
    else
        from_f64(dst, to, v[0]);
}

INLINE void element(char *dst, tn_dtype to, const char *src, tn_dtype from)
{
    double f64;
    if (to == from) {
        memcpy(dst, src, size_of(to));
        return;
    }
    switch (from) {
    case TN_F16:
    case TN_BF16:
    case TN_F32:
        from_f32(dst, to, load_f32(src, from));
        return;
    case TN_F64:
        memcpy(&f64, src, sizeof f64);
        from_f64(dst, to, f64);
        return;
    case TN_C64:
        from_c64(dst, to, src);
        return;
    case TN_C128:
        from_c128(dst, to, src);
        return;
    default:
        from_int(dst, to, load_int(src, from), from == TN_I64);
        return;
    }
}

/* ---- n elements ----------------------------------------------------------------------------- */
/* dst and src do not overlap, or are the same elements of one dtype. */
INLINE void convert(char *dst, int64_t ds, tn_dtype to, const char *src, int64_t ss, tn_dtype from,
                    int64_t n)
{
    const int64_t to_size = (int64_t)size_of(to), from_size = (int64_t)size_of(from);
    if (ds == to_size && ss == from_size) {
        if (to == from) {
            memmove(dst, src, (size_t)(n * to_size));
            return;
        }
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            element(dst + i * to_size, to, src + i * from_size, from);
        return;
    }
    for (int64_t i = 0; i < n;
         i++) /* a stride may be huge where there is one element: no step past the last */
        element(dst + i * ds, to, src + i * ss, from);
}

#define FROM TN_BOOL
#define NAME(to) to##_from_bool
#include "core/base/convert_row.inc"
#define FROM TN_U8
#define NAME(to) to##_from_u8
#include "core/base/convert_row.inc"
#define FROM TN_I8
#define NAME(to) to##_from_i8
#include "core/base/convert_row.inc"
#define FROM TN_I16
#define NAME(to) to##_from_i16
#include "core/base/convert_row.inc"
#define FROM TN_I32
#define NAME(to) to##_from_i32
#include "core/base/convert_row.inc"
#define FROM TN_I64
#define NAME(to) to##_from_i64
#include "core/base/convert_row.inc"
#define FROM TN_F16
#define NAME(to) to##_from_f16
#include "core/base/convert_row.inc"
#define FROM TN_BF16
#define NAME(to) to##_from_bf16
#include "core/base/convert_row.inc"
#define FROM TN_F32
#define NAME(to) to##_from_f32
#include "core/base/convert_row.inc"
#define FROM TN_F64
#define NAME(to) to##_from_f64
#include "core/base/convert_row.inc"
#define FROM TN_C64
#define NAME(to) to##_from_c64
#include "core/base/convert_row.inc"
#define FROM TN_C128
#define NAME(to) to##_from_c128
#include "core/base/convert_row.inc"

#define ROW(from)                                                                                  \
    {                                                                                              \
        bool_from_##from, u8_from_##from, i8_from_##from, i16_from_##from, i32_from_##from,        \
            i64_from_##from, f16_from_##from, bf16_from_##from, f32_from_##from, f64_from_##from,  \
            c64_from_##from, c128_from_##from                                                      \
    }

static const tn__convert_fn converters[TN_DTYPE_COUNT][TN_DTYPE_COUNT] = {
    /* [from][to] */
    ROW(bool), ROW(u8),   ROW(i8),  ROW(i16), ROW(i32), ROW(i64),
    ROW(f16),  ROW(bf16), ROW(f32), ROW(f64), ROW(c64), ROW(c128),
};

tn__convert_fn tn__converter(tn_dtype to, tn_dtype from)
{
    return converters[from][to];
}

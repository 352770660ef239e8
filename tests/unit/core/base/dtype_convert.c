/* Element conversions: every pair against plain C arithmetic in the widest type, strides, the edges
 * that C leaves undefined, and the half formats against their definitions for all 65,536 patterns.
 */
#include <criterion/criterion.h>
#include <fenv.h>
#include <math.h>
#include <string.h>

#include <tenon/half.h>

#include "core/base/base.h"

TestSuite(dtype_convert);

static double read_real(const void *p, tn_dtype dtype)
{
    uint16_t half;
    switch (dtype) {
    case TN_BOOL:
    case TN_U8:
        return *(const uint8_t *)p;
    case TN_I8:
        return *(const int8_t *)p;
    case TN_I16:
        return *(const int16_t *)p;
    case TN_I32:
        return *(const int32_t *)p;
    case TN_I64:
        return (double)*(const int64_t *)p;
    case TN_F16:
        memcpy(&half, p, 2);
        return (double)tn_f32_from_f16(half);
    case TN_BF16:
        memcpy(&half, p, 2);
        return (double)tn_f32_from_bf16(half);
    case TN_F32:
    case TN_C64:
        return (double)*(const float *)p;
    default:
        return *(const double *)p;
    }
}

static void one(void *dst, tn_dtype to, const void *src, tn_dtype from)
{
    tn__converter(to, from)(dst, tn__dtype_sizes[to], src, tn__dtype_sizes[from], 1);
}

/* Small integers are the same number in every dtype but bool (and negative ones in u8). */
Test(dtype_convert, all_pairs_contiguous_and_strided)
{
    enum { N = 67 };
    for (tn_dtype from = 0; from < TN_DTYPE_COUNT; from++) {
        for (tn_dtype to = 0; to < TN_DTYPE_COUNT; to++) {
            _Alignas(16) char src[16 * N], dst[16 * N], sparse[48 * N];
            int64_t from_size = tn__dtype_sizes[from], to_size = tn__dtype_sizes[to];
            for (int i = 0; i < N; i++) {
                int64_t value = i % 5 ? i : 0;
                one(src + i * from_size, from, &value, TN_I64);
            }
            memset(sparse, 0x55, sizeof sparse);
            tn__converter(to, from)(dst, to_size, src, from_size, N);
            tn__converter(to, from)(sparse, 48, src, from_size, N);
            for (int i = 0; i < N; i++) {
                double value = i % 5 ? i : 0,
                       expected = to == TN_BOOL || from == TN_BOOL ? value != 0 : value;
                cr_assert_eq(read_real(dst + i * to_size, to), expected, "%d <- %d at %d", to, from,
                             i);
                cr_assert(!memcmp(dst + i * to_size, sparse + 48 * i, (size_t)to_size),
                          "%d <- %d at %d", to, from, i);
                cr_assert_eq(sparse[48 * i + to_size], 0x55, "%d <- %d wrote past its element", to,
                             from);
            }
        }
    }
}

Test(dtype_convert, broadcast_source)
{
    int16_t value = -3;
    double out[9];
    tn__converter(TN_F64, TN_I16)((char *)out, 8, (const char *)&value, 0, 9);
    for (int i = 0; i < 9; i++)
        cr_assert_eq(out[i], -3.0);
}

static int64_t int_from_f64(tn_dtype to, double value)
{
    int64_t raw = 0, out = 0;
    one(&raw, to, &value, TN_F64);
    one(&out, TN_I64, &raw, to);
    float narrow = (float)value;
    if ((double)narrow == value || isnan(value)) {
        int64_t again = 0;
        one(&again, to, &narrow, TN_F32);
        cr_assert_eq(memcmp(&raw, &again, sizeof raw), 0, "f32 and f64 disagree on %g to %d", value,
                     to);
    }
    return out;
}

Test(dtype_convert, float_to_int_edges)
{
    cr_assert_eq(int_from_f64(TN_I32, -2.9), -2);
    cr_assert_eq(int_from_f64(TN_I32, 2147483647.0), INT32_MAX);
    cr_assert_eq(int_from_f64(TN_I32, -2147483648.9), INT32_MIN);
    cr_assert_eq(int_from_f64(TN_I32, 3e9), INT32_MIN);
    cr_assert_eq(int_from_f64(TN_I32, (double)NAN), INT32_MIN);
    cr_assert_eq(int_from_f64(TN_I64, 0x1p63), INT64_MIN);
    cr_assert_eq(int_from_f64(TN_I64, -0x1p63), INT64_MIN);
    cr_assert_eq(int_from_f64(TN_I64, (double)-INFINITY), INT64_MIN);
    cr_assert_eq(int_from_f64(TN_I64, 9007199254740993.0), 9007199254740992);
    cr_assert_eq(int_from_f64(TN_U8, -1.0), 255);
    cr_assert_eq(int_from_f64(TN_U8, 300.5), 44);
    cr_assert_eq(int_from_f64(TN_U8, 0x1p32 + 7), 7);
    cr_assert_eq(int_from_f64(TN_U8, (double)NAN), 0);
    cr_assert_eq(int_from_f64(TN_I8, 200.0), -56);
    cr_assert_eq(int_from_f64(TN_I8, (double)INFINITY), 0);
    cr_assert_eq(int_from_f64(TN_I16, 70000.0), 4464);
    cr_assert_eq(int_from_f64(TN_I16, 3e9), 0);
    cr_assert_eq(int_from_f64(TN_BOOL, (double)NAN), 1);
    cr_assert_eq(int_from_f64(TN_BOOL, -0.0), 0);
    cr_assert_eq(int_from_f64(TN_BOOL, 1e-300), 1);
}

Test(dtype_convert, narrowing_ints_and_bytes_as_bool)
{
    int64_t big = INT64_MIN + 0x1ff;
    uint8_t u8;
    int16_t i16;
    float f32;
    one(&u8, TN_U8, &big, TN_I64);
    cr_assert_eq(u8, 0xff);
    one(&i16, TN_I16, &big, TN_I64);
    cr_assert_eq(i16, 0x1ff);
    one(&f32, TN_F32, &big, TN_I64);
    cr_assert_eq(f32, -0x1p63f);
    u8 = 7; /* a byte that no store here makes */
    one(&f32, TN_F32, &u8, TN_BOOL);
    cr_assert_eq(f32, 1.0f);
}

Test(dtype_convert, complex)
{
    const float c64[2] = {0.0f, 2.0f};
    double c128[2], real;
    uint8_t b;
    one(c128, TN_C128, c64, TN_C64);
    cr_assert(c128[0] == 0.0 && c128[1] == 2.0);
    one(&b, TN_BOOL, c64, TN_C64);
    cr_assert_eq(b, 1);
    one(&b, TN_BOOL, c128, TN_C128);
    cr_assert_eq(b, 1);
    one(&real, TN_F64, c128, TN_C128);
    cr_assert_eq(real, 0.0);
    int32_t i = -4;
    one(c128, TN_C128, &i, TN_I32);
    cr_assert(c128[0] == -4.0 && c128[1] == 0.0);
}

/* The value of a float format's bits by its definition. */
static double defined_value(uint32_t bits, int exponent_bits, int fraction_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    double fraction = (double)(bits & ((1u << fraction_bits) - 1)) / (double)(1u << fraction_bits);
    double sign = bits >> (exponent_bits + fraction_bits) ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1)
        return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * (exponent ? ldexp(1 + fraction, exponent - bias) : ldexp(fraction, 1 - bias));
}

static void check_half(int exponent_bits, int fraction_bits, float (*widen)(uint16_t),
                       uint16_t (*narrow)(float))
{
    uint16_t infinity = (uint16_t)(((1u << exponent_bits) - 1) << fraction_bits);
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        double value = defined_value(bits, exponent_bits, fraction_bits);
        float wide = widen((uint16_t)bits);
        if (isnan(value)) {
            cr_assert(isnan(wide), "%x", bits);
            cr_assert((narrow(wide) & 0x7fff) > infinity, "%x", bits);
            continue;
        }
        cr_assert(memcmp(&value, &(double){(double)wide}, sizeof value) == 0, "%x is %g, not %g",
                  bits, value, (double)wide);
        cr_assert_eq(narrow(wide), bits, "%x", bits);
        if ((bits & 0x7fff) == infinity)
            continue;
        /* Half way to the next value away from zero: to the even one; a hair on either side: to the
         * nearer. */
        double next = defined_value(bits + 1, exponent_bits, fraction_bits);
        if (isinf(next))
            next = value + (value - defined_value(bits - 1, exponent_bits, fraction_bits));
        float tie = (float)((value + next) / 2);
        cr_assert_eq(narrow(tie), bits + (bits & 1), "tie above %x", bits);
        cr_assert_eq(narrow(nextafterf(tie, 0)), bits, "below tie above %x", bits);
        cr_assert_eq(narrow(nextafterf(tie, tie * INFINITY)), bits + 1, "above tie above %x", bits);
    }
}

static float widen_f16(uint16_t bits)
{
    return tn_f32_from_f16(bits);
}

static uint16_t narrow_f16(float value)
{
    return tn_f16_from_f32(value);
}

static float widen_bf16(uint16_t bits)
{
    return tn_f32_from_bf16(bits);
}

static uint16_t narrow_bf16(float value)
{
    return tn_bf16_from_f32(value);
}

Test(dtype_convert, f16_all_patterns)
{
    check_half(5, 10, widen_f16, narrow_f16);
    cr_assert_eq(tn_f16_from_f32(1e6f), 0x7c00);
    cr_assert_eq(tn_f16_from_f32(-1e-30f), 0x8000);
}

Test(dtype_convert, bf16_all_patterns)
{
    check_half(8, 7, widen_bf16, narrow_bf16);
}

/* The vector body and its scalar rest must agree: all patterns at once, and one by one. */
Test(dtype_convert, half_arrays_equal_single_elements)
{
    static uint16_t bits[0x10000], back[0x10000];
    static float wide[0x10000];
    const tn_dtype halves[2] = {TN_F16, TN_BF16};
    for (int which = 0; which < 2; which++) {
        for (uint32_t i = 0; i < 0x10000; i++)
            bits[i] = (uint16_t)i;
        tn__converter(TN_F32, halves[which])((char *)wide, 4, (const char *)bits, 2, 0x10000);
        tn__converter(halves[which], TN_F32)((char *)back, 2, (const char *)wide, 4, 0x10000);
        for (uint32_t i = 0; i < 0x10000; i++) {
            float f;
            uint16_t h;
            one(&f, TN_F32, &bits[i], halves[which]);
            cr_assert_eq(memcmp(&f, &wide[i], 4), 0, "%x", i);
            one(&h, halves[which], &wide[i], TN_F32);
            cr_assert_eq(h, back[i], "%x", i);
        }
    }
}

/* half.h - float16 and bfloat16 as bits: the conversions that the core, kernels and device code
 * share.
 *
 * Elements of both types are uint16_t in memory; arithmetic is done in f32. Narrowing rounds to
 * nearest, ties to even, overflow gives infinity, every NaN becomes the quiet NaN with its sign.
 * Widening is exact. The functions are free of branches (selects only), so loops over them
 * vectorise, and they give the same bits with denormals flushed to zero. C11, C++ and CUDA (host
 * and device). */
#ifndef TENON_HALF_H
#define TENON_HALF_H

#include <stdint.h>
#include <string.h>

/* A small function usable on the host and, under nvcc, on the device. */
#ifdef __CUDACC__
#define TN_FN static __host__ __device__ inline
#else
#define TN_FN static inline
#endif

TN_FN float tn_f32_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

TN_FN uint32_t tn_f32_to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* a where `which` holds, else b: masks, because a branch around an f32 operation would stop
 * vectorisers. */
TN_FN uint32_t tn_bits_select(int which, uint32_t a, uint32_t b)
{
    uint32_t mask = 0u - (uint32_t)which;
    return (a & mask) | (b & ~mask);
}

/* The exponent moves from bias 15 to 127: 112 apart. Infinity and NaN need the same step once more.
 * A subnormal is a count of 2^-24, which f32 holds as a normal number. */
TN_FN float tn_f32_from_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t magnitude = half & 0x7fffu;
    uint32_t step = magnitude >= 0x7c00u ? 224u << 23 : 112u << 23;
    uint32_t normal = (magnitude << 13) + step;
    uint32_t subnormal = tn_f32_to_bits((float)(int32_t)magnitude * 5.9604644775390625e-8f);
    return tn_f32_from_bits(sign | tn_bits_select(magnitude < 0x0400u, subnormal, normal));
}

/* Normal results: integer rounding on the 13 bits that go. Subnormal ones: adding 0.5, whose last
 * place is 2^-24, lets the adder round. */
TN_FN uint16_t tn_f16_from_f32(float value)
{
    uint32_t bits = tn_f32_to_bits(value);
    uint32_t sign = (bits >> 16) & 0x8000u;
    uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13;
    uint32_t subnormal = tn_f32_to_bits(tn_f32_from_bits(magnitude) + 0.5f) - 0x3f000000u;
    uint32_t finite = tn_bits_select(magnitude < 0x38800000u, subnormal, normal);
    uint32_t special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    return (uint16_t)(sign | tn_bits_select(magnitude >= 0x47800000u, special, finite));
}

TN_FN float tn_f32_from_bf16(uint16_t brain)
{
    return tn_f32_from_bits((uint32_t)brain << 16);
}

TN_FN uint16_t tn_bf16_from_f32(float value)
{
    uint32_t bits = tn_f32_to_bits(value);
    uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    uint32_t quiet = ((bits >> 16) & 0x8000u) | 0x7fc0u;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

#endif

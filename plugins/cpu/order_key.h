/* order_key.h - the order of elements as unsigned integers: the one place where it is defined.
 *
 * a before b exactly when key(a) < key(b). NaN ranks above every number and beside every other NaN;
 * -0.0 is beside 0.0. Keys of the floating dtypes leave room above the one of infinity, so that
 * NaN has all bits set and key + 1 puts NaN first. The functions are free of branches. */
#ifndef CPU_ORDER_KEY_H
#define CPU_ORDER_KEY_H

#include <stdint.h>

static inline uint32_t order_key_u8(uint8_t x)
{
    return x;
}

static inline uint32_t order_key_i8(uint8_t x)
{
    return x ^ 0x80u;
}

static inline uint32_t order_key_i16(uint16_t x)
{
    return x ^ 0x8000u;
}

static inline uint32_t order_key_i32(uint32_t x)
{
    return x ^ 0x80000000u;
}

static inline uint64_t order_key_i64(uint64_t x)
{
    return x ^ UINT64_C(0x8000000000000000);
}

/* Both halves: `infinity` is the bits of theirs. */
static inline uint32_t order_key_half(uint32_t x, uint32_t infinity)
{
    uint32_t size = x & 0x7fffu, nan = 0u - (size > infinity);
    x &= 0u - (size != 0); /* -0.0 is 0.0 */
    uint32_t sign = 0u - (x >> 15);
    return ((x ^ (sign | 0x8000u)) | nan) & 0xffffu; /* negative ones turned round and below */
}

static inline uint32_t order_key_f16(uint16_t x)
{
    return order_key_half(x, 0x7c00u);
}

static inline uint32_t order_key_bf16(uint16_t x)
{
    return order_key_half(x, 0x7f80u);
}

static inline uint32_t order_key_f32(uint32_t x)
{
    uint32_t size = x & 0x7fffffffu, nan = 0u - (size > 0x7f800000u);
    x &= 0u - (size != 0);
    uint32_t sign = (uint32_t)((int32_t)x >> 31);
    return (x ^ (sign | 0x80000000u)) | nan;
}

static inline uint64_t order_key_f64(uint64_t x)
{
    uint64_t size = x & INT64_MAX, nan = UINT64_C(0) - (size > UINT64_C(0x7ff0000000000000));
    x &= UINT64_C(0) - (size != 0);
    uint64_t sign = (uint64_t)((int64_t)x >> 63);
    return (x ^ (sign | UINT64_C(0x8000000000000000))) | nan;
}

#endif

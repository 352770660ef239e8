/* order_items.c - rows of elements turned into items that compare as integers, and the filter that
 * topk runs over a row: for every dtype that has an order, compiled once per instruction set. */
#include "order_items.h"

#include "order_key.h"
#include "per_isa.h"

#define ONES(bits) (~UINT64_C(0) >> (64 - (bits)))
#define WORD_(bits) uint##bits##_t
#define WORD(bits) WORD_(bits)
#define DIGIT_SHIFT(bits) ((bits) > ORDER_DIGIT ? (bits)-ORDER_DIGIT : 0)
#define ORDER_LOOPS "kernels/order_items.inc"
#include "order_each.inc"

#define NARROW(dtype, bits)                                                                        \
    {                                                                                              \
        bits, narrow_##dtype, wide_##dtype, range_##dtype, tally_##dtype, narrow_of_digit_##dtype, \
            wide_of_digit_##dtype, narrow_below_##dtype, wide_below_##dtype                        \
    }
#define WIDE(dtype)                                                                                \
    {                                                                                              \
        64, narrow_##dtype, wide_##dtype, range_##dtype, tally_##dtype, NULL,                      \
            wide_of_digit_##dtype, NULL, wide_below_##dtype                                        \
    }

const order_table CPU_TABLE(order_loops) = {{
    [TN_BOOL] = NARROW(u8, 8),
    [TN_U8] = NARROW(u8, 8),
    [TN_I8] = NARROW(i8, 8),
    [TN_I16] = NARROW(i16, 16),
    [TN_I32] = NARROW(i32, 32),
    [TN_I64] = WIDE(i64),
    [TN_F16] = NARROW(f16, 16),
    [TN_BF16] = NARROW(bf16, 16),
    [TN_F32] = NARROW(f32, 32),
    [TN_F64] = WIDE(f64),
}};

/* reduce_kernels.c - the loops of reductions for every dtype, compiled once per instruction set.
 *
 * reduce_arith.inc and reduce_extreme.inc are the loops, included once per operation and dtype;
 * below stands the table of what that makes. Sums of f32 are kept in f64 (and complex64 in
 * complex128): 2^29 equal terms lose nothing, and the order of terms hardly matters. */
#include "reduce_kernels.h"

#include <math.h>

#include <tenon/half.h>

#include "per_isa.h"

#define JOIN_(op, part, suffix) op##_##part##_##suffix
#define JOIN(op, part, suffix) JOIN_(op, part, suffix)
#define FN(part) JOIN(OP, part, SUFFIX)

/* ---- sum and prod ---------------------------------------------------------------------------- */
#define OP sum
#define SUFFIX i64
#define IN uint64_t
#define ACC uint64_t
#define UNIT 0
#define COMBINE(a, b) ((a) + (b))
#include "reduce_arith.inc"

#define OP sum
#define SUFFIX f32
#define IN float
#define ACC double
#define UNIT 0
#define COMBINE(a, b) ((a) + (b))
#include "reduce_arith.inc"

#define OP sum
#define SUFFIX f64
#define IN double
#define ACC double
#define UNIT 0
#define COMBINE(a, b) ((a) + (b))
#include "reduce_arith.inc"

#define OP sum
#define SUFFIX c64
#define IN float _Complex
#define ACC double _Complex
#define UNIT 0
#define COMBINE(a, b) ((a) + (b))
#include "reduce_arith.inc"

#define OP sum
#define SUFFIX c128
#define IN double _Complex
#define ACC double _Complex
#define UNIT 0
#define COMBINE(a, b) ((a) + (b))
#include "reduce_arith.inc"

#define OP prod
#define SUFFIX i64
#define IN uint64_t
#define ACC uint64_t
#define UNIT 1
#define COMBINE(a, b) ((a) * (b))
#include "reduce_arith.inc"

#define OP prod
#define SUFFIX f32
#define IN float
#define ACC double
#define UNIT 1
#define COMBINE(a, b) ((a) * (b))
#include "reduce_arith.inc"

#define OP prod
#define SUFFIX f64
#define IN double
#define ACC double
#define UNIT 1
#define COMBINE(a, b) ((a) * (b))
#include "reduce_arith.inc"

#define OP prod
#define SUFFIX c64
#define IN float _Complex
#define ACC double _Complex
#define UNIT 1
#define COMBINE(a, b) ((a) * (b))
#include "reduce_arith.inc"

#define OP prod
#define SUFFIX c128
#define IN double _Complex
#define ACC double _Complex
#define UNIT 1
#define COMBINE(a, b) ((a) * (b))
#include "reduce_arith.inc"

/* ---- max and min ----------------------------------------------------------------------------- */
#define OP max
#define SUFFIX u8
#define T uint8_t
#define LOWEST 0
#define BEATS(a, b) ((a) > (b))
#define IS_NAN(a) false
#include "reduce_extreme.inc"

#define OP max
#define SUFFIX i8
#define T int8_t
#define LOWEST INT8_MIN
#define BEATS(a, b) ((a) > (b))
#define IS_NAN(a) false
#include "reduce_extreme.inc"

#define OP max
#define SUFFIX i16
#define T int16_t
#define LOWEST INT16_MIN
#define BEATS(a, b) ((a) > (b))
#define IS_NAN(a) false
#include "reduce_extreme.inc"

#define OP max
#define SUFFIX i32
#define T int32_t
#define LOWEST INT32_MIN
#define BEATS(a, b) ((a) > (b))
#define IS_NAN(a) false
#include "reduce_extreme.inc"

#define OP max
#define SUFFIX i64
#define T int64_t
#define LOWEST INT64_MIN
#define BEATS(a, b) ((a) > (b))
#define IS_NAN(a) false
#include "reduce_extreme.inc"

#define OP max
#define SUFFIX f32
#define T float
#define LOWEST -INFINITY
#define BEATS(a, b) ((a) > (b))
#define IS_NAN(a) isnan(a)
#include "reduce_extreme.inc"

#define OP max
#define SUFFIX f64
#define T double
#define LOWEST -INFINITY
#define BEATS(a, b) ((a) > (b))
#define IS_NAN(a) isnan(a)
#include "reduce_extreme.inc"

#define OP min
#define SUFFIX u8
#define T uint8_t
#define LOWEST UINT8_MAX
#define BEATS(a, b) ((a) < (b))
#define IS_NAN(a) false
#include "reduce_extreme.inc"

#define OP min
#define SUFFIX i8
#define T int8_t
#define LOWEST INT8_MAX
#define BEATS(a, b) ((a) < (b))
#define IS_NAN(a) false
#include "reduce_extreme.inc"

#define OP min
#define SUFFIX i16
#define T int16_t
#define LOWEST INT16_MAX
#define BEATS(a, b) ((a) < (b))
#define IS_NAN(a) false
#include "reduce_extreme.inc"

#define OP min
#define SUFFIX i32
#define T int32_t
#define LOWEST INT32_MAX
#define BEATS(a, b) ((a) < (b))
#define IS_NAN(a) false
#include "reduce_extreme.inc"

#define OP min
#define SUFFIX i64
#define T int64_t
#define LOWEST INT64_MAX
#define BEATS(a, b) ((a) < (b))
#define IS_NAN(a) false
#include "reduce_extreme.inc"

#define OP min
#define SUFFIX f32
#define T float
#define LOWEST INFINITY
#define BEATS(a, b) ((a) < (b))
#define IS_NAN(a) isnan(a)
#include "reduce_extreme.inc"

#define OP min
#define SUFFIX f64
#define T double
#define LOWEST INFINITY
#define BEATS(a, b) ((a) < (b))
#define IS_NAN(a) isnan(a)
#include "reduce_extreme.inc"

/* ---- the table ------------------------------------------------------------------------------- */
static void from_f16(float *restrict out, const uint16_t *restrict in, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = tn_f32_from_f16(in[i]);
}

static void from_bf16(float *restrict out, const uint16_t *restrict in, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = tn_f32_from_bf16(in[i]);
}

/* `all` is the min of truth values; of none it is true, which is 1. */
static const uint8_t truth = 1;

#define PLAIN(op, suffix, acc)                                                                     \
    {                                                                                              \
        acc, &op##_unit_##suffix, op##_row_##suffix, op##_columns_##suffix, op##_merge_##suffix    \
    }
#define INDEX(op, suffix, acc)                                                                     \
    {                                                                                              \
        acc, &op##_unit_##suffix, op##_index_row_##suffix, op##_index_columns_##suffix,            \
            op##_index_merge_##suffix                                                              \
    }

extern const reduce_kernels CPU_TABLE(reduce_loops);
const reduce_kernels CPU_TABLE(reduce_loops) =
    {
        .kernels =
            {
                [REDUCE_SUM] =
                    {
                        [TN_I64] = PLAIN(sum, i64, TN_I64),
                        [TN_F32] = PLAIN(sum, f32, TN_F64),
                        [TN_F64] = PLAIN(sum, f64, TN_F64),
                        [TN_C64] = PLAIN(sum, c64, TN_C128),
                        [TN_C128] = PLAIN(sum, c128, TN_C128),
                    },
                [REDUCE_PROD] =
                    {
                        [TN_I64] = PLAIN(prod, i64, TN_I64),
                        [TN_F32] = PLAIN(prod, f32, TN_F64),
                        [TN_F64] = PLAIN(prod, f64, TN_F64),
                        [TN_C64] = PLAIN(prod, c64, TN_C128),
                        [TN_C128] = PLAIN(prod, c128, TN_C128),
                    },
                [REDUCE_MAX] =
                    {
                        [TN_BOOL] = PLAIN(max, u8, TN_BOOL),
                        [TN_U8] = PLAIN(max, u8, TN_U8),
                        [TN_I8] = PLAIN(max, i8, TN_I8),
                        [TN_I16] = PLAIN(max, i16, TN_I16),
                        [TN_I32] = PLAIN(max, i32, TN_I32),
                        [TN_I64] = PLAIN(max, i64, TN_I64),
                        [TN_F32] = PLAIN(max, f32, TN_F32),
                        [TN_F64] = PLAIN(max, f64, TN_F64),
                    },
                [REDUCE_MIN] =
                    {
                        [TN_BOOL] = {TN_BOOL, &truth, min_row_u8, min_columns_u8, min_merge_u8},
                        [TN_U8] = PLAIN(min, u8, TN_U8),
                        [TN_I8] = PLAIN(min, i8, TN_I8),
                        [TN_I16] = PLAIN(min, i16, TN_I16),
                        [TN_I32] = PLAIN(min, i32, TN_I32),
                        [TN_I64] = PLAIN(min, i64, TN_I64),
                        [TN_F32] = PLAIN(min, f32, TN_F32),
                        [TN_F64] = PLAIN(min, f64, TN_F64),
                    },
                [REDUCE_ARGMAX] =
                    {
                        [TN_BOOL] = INDEX(max, u8, TN_BOOL),
                        [TN_U8] = INDEX(max, u8, TN_U8),
                        [TN_I8] = INDEX(max, i8, TN_I8),
                        [TN_I16] = INDEX(max, i16, TN_I16),
                        [TN_I32] = INDEX(max, i32, TN_I32),
                        [TN_I64] = INDEX(max, i64, TN_I64),
                        [TN_F32] = INDEX(max, f32, TN_F32),
                        [TN_F64] = INDEX(max, f64, TN_F64),
                    },
                [REDUCE_ARGMIN] =
                    {
                        [TN_BOOL] = INDEX(min, u8, TN_BOOL),
                        [TN_U8] = INDEX(min, u8, TN_U8),
                        [TN_I8] = INDEX(min, i8, TN_I8),
                        [TN_I16] = INDEX(min, i16, TN_I16),
                        [TN_I32] = INDEX(min, i32, TN_I32),
                        [TN_I64] = INDEX(min, i64, TN_I64),
                        [TN_F32] = INDEX(min, f32, TN_F32),
                        [TN_F64] = INDEX(min, f64, TN_F64),
                    },
            },
        .from_f16 = from_f16,
        .from_bf16 = from_bf16,
};

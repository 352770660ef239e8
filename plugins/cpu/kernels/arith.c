/* arith.c - division with its rounding modes, remainders, clamp and abs: what the expression
 * language does not say.
 *
 * Divisors of integers are not zero here (plugins/cpu/arith.c has looked), and the lowest integer
 * over -1 wraps around. Each file included below holds the loops of one class of dtypes; a loop is
 * an operation inlined into a walk, once with dense strides so that it vectorises. */
#include "arith.h"
#include "pointwise_loops.h"

#define INLINE static inline __attribute__((always_inline))

#define TYPE bool
#define OF(name) name##_bool
#define MEMBER b
#include "order.inc"
#define TYPE uint8_t
#define OF(name) name##_u8
#define MEMBER u8
#include "integer.inc"
#include "order.inc"
#define TYPE int8_t
#define OF(name) name##_i8
#define MEMBER i8
#include "integer.inc"
#include "order.inc"
#define TYPE int16_t
#define OF(name) name##_i16
#define MEMBER i16
#include "integer.inc"
#include "order.inc"
#define TYPE int32_t
#define OF(name) name##_i32
#define MEMBER i32
#include "integer.inc"
#include "order.inc"
#define TYPE int64_t
#define OF(name) name##_i64
#define MEMBER i64
#include "integer.inc"
#include "order.inc"
#define TYPE float
#define OF(name) name##_f32
#define MEMBER f32
#define LIBM(name) name##f
#include "floating.inc"
#include "order.inc"
#undef LIBM
#define TYPE double
#define OF(name) name##_f64
#define MEMBER f64
#define LIBM(name) name
#include "floating.inc"
#include "order.inc"
#undef LIBM
#define TYPE tn_c64
#define REAL float
#define OF(name) name##_c64
#define LIBM(name) name##f
#include "complex.inc"
#undef LIBM
#define TYPE tn_c128
#define REAL double
#define OF(name) name##_c128
#define LIBM(name) name
#include "complex.inc"

#define FLOATING(loop) [TN_F32] = loop##_f32, [TN_F64] = loop##_f64
#define INTEGERS(loop)                                                                             \
    [TN_U8] = loop##_u8, [TN_I8] = loop##_i8, [TN_I16] = loop##_i16, [TN_I32] = loop##_i32,        \
    [TN_I64] = loop##_i64
#define REALS(loop)                                                                                \
    {                                                                                              \
        [TN_BOOL] = loop##_bool, INTEGERS(loop), FLOATING(loop)                                    \
    }
#define NUMBERS(loop)                                                                              \
    {                                                                                              \
        INTEGERS(loop), FLOATING(loop)                                                             \
    }

const cpu_arith_loops CPU_TABLE(arith) = {
    .divide = {FLOATING(divide_loop), [TN_C64] = divide_loop_c64, [TN_C128] = divide_loop_c128},
    .floor_divide = NUMBERS(floor_divide_loop),
    .trunc_divide = NUMBERS(trunc_divide_loop),
    .remainder = NUMBERS(remainder_loop),
    .fmod = NUMBERS(fmod_loop),
    .has_zero = {INTEGERS(has_zero_loop)},
    .clamp = REALS(clamp_loop),
    .clamp_low = REALS(clamp_low_loop),
    .clamp_high = REALS(clamp_high_loop),
    .clamp_both = REALS(clamp_both_loop),
    .abs = {[TN_BOOL] = abs_loop_bool,
            INTEGERS(abs_loop),
            FLOATING(abs_loop),
            [TN_C64] = abs_loop_c64,
            [TN_C128] = abs_loop_c128},
};

/* pow.c - pow of tensors and numbers. Integers wrap around; exponents that have an operator of
 * their own use its loop. */
#include <math.h>

#include "cpu.h"
#include "isa.h"
#include "kernels/transcendental.h"
#include "per_isa.h"
#include "pointwise_loops.h"
#include "wide.h"

#define INLINE static inline __attribute__((always_inline))

#define TYPE uint8_t
#define OF(name) name##_u8
#define MEMBER u8
#include "integer_power.inc"
#include "pow.inc"
#define TYPE int8_t
#define OF(name) name##_i8
#define MEMBER i8
#include "integer_power.inc"
#include "pow.inc"
#define TYPE int16_t
#define OF(name) name##_i16
#define MEMBER i16
#include "integer_power.inc"
#include "pow.inc"
#define TYPE int32_t
#define OF(name) name##_i32
#define MEMBER i32
#include "integer_power.inc"
#include "pow.inc"
#define TYPE int64_t
#define OF(name) name##_i64
#define MEMBER i64
#include "integer_power.inc"
#include "pow.inc"

/* exp(y log x); the powers of zero, where there is no logarithm, by themselves. */
INLINE tn_c128 power_c128(tn_c128 x, tn_c128 y)
{
    if (y.re == 0 && y.im == 0)
        return tnm_number_c128(1);
    if (x.re == 0 && x.im == 0 && y.re > 0)
        return tnm_number_c128(0);
    return tnm_from_c128(cpow(tnm_to_c128(x), tnm_to_c128(y)));
}
#define TYPE tn_c128
#define OF(name) name##_c128
#define MEMBER c128
#include "pow.inc"

/* In double precision: the logarithm's error is multiplied by y. */
INLINE tn_c64 power_c64(tn_c64 x, tn_c64 y)
{
    tn_c128 z = power_c128(tnm_make_c128(x.re, x.im), tnm_make_c128(y.re, y.im));
    return tnm_make_c64((float)z.re, (float)z.im);
}
#define TYPE tn_c64
#define OF(name) name##_c64
#define MEMBER c64
#include "pow.inc"

#define LOOPS(name)                                                                                \
    {                                                                                              \
        [TN_U8] = name##_u8, [TN_I8] = name##_i8, [TN_I16] = name##_i16, [TN_I32] = name##_i32,    \
        [TN_I64] = name##_i64, [TN_C64] = name##_c64, [TN_C128] = name##_c128                      \
    }
static const tn_loop_fn tensor_tensor[TN_DTYPE_COUNT] = LOOPS(tensor_tensor);
static const tn_loop_fn tensor_number[TN_DTYPE_COUNT] = LOOPS(tensor_number);
static const tn_loop_fn number_tensor[TN_DTYPE_COUNT] = LOOPS(number_tensor);
static const tn_loop_fn cube[TN_DTYPE_COUNT] = LOOPS(cube);

CPU_PER_ISA(transcendental_loops, transcendental)

static tn_status run(tn_call *call, const tn_loop_fn *exact, const tn_loop_fn *floating,
                     const tn_number *number)
{
    bool is_floating = tn_dtype_in(call->iter->dtype, TN_DTYPES_FLOATING);
    return cpu_iter_run_wide(call, call->iter, is_floating ? floating : exact, number);
}

static tn_status pow_tensor_tensor(tn_call *call, struct tn_pow_Tensor_Tensor_args *a)
{
    (void)a;
    return run(call, tensor_tensor, transcendental_table()->pow, NULL);
}

/* The loop of an operator that is x to this power, or LOOP_COUNT. */
static int loop_for(double exponent)
{
    if (exponent == 2)
        return LOOP_square;
    if (exponent == 0.5)
        return LOOP_sqrt;
    if (exponent == -0.5)
        return LOOP_rsqrt;
    if (exponent == -1)
        return LOOP_reciprocal;
    return LOOP_COUNT;
}

static tn_status pow_tensor_number(tn_call *call, struct tn_pow_Tensor_Scalar_args *a)
{
    tn_dtype dtype = call->iter->dtype;
    const tn_scalar *x = &a->exponent;
    double exponent = x->kind == TN_SCALAR_COMPLEX ? (x->v.c[1] == 0 ? x->v.c[0] : NAN)
                      : x->kind == TN_SCALAR_FLOAT ? x->v.f
                                                   : (double)x->v.i;
    if (tn_dtype_in(dtype, TN_DTYPES_WHOLE) && exponent < 0)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "Integers to negative integer powers are not allowed: exponent is %g",
                        exponent);
    int loop = loop_for(exponent);
    tn_loop_fn fn = loop < LOOP_COUNT ? cpu_loops[loop][dtype] : NULL;
    if (fn && dtype != TN_BOOL)
        return tn->iter_run(call, call->iter, fn, NULL);
    const transcendental_loops *loops = transcendental_table();
    tn_number number = tn_number_of(dtype, x);
    return exponent == 3 ? run(call, cube, loops->cube, NULL)
                         : run(call, tensor_number, loops->pow_number, &number);
}

static tn_status pow_number_tensor(tn_call *call, struct tn_pow_Scalar_args *a)
{
    tn_number number = tn_number_of(call->iter->dtype, &a->self);
    return run(call, number_tensor, transcendental_table()->number_pow, &number);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(pow_Tensor_Tensor, "CPU", pow_tensor_tensor),
    TN_KERNEL(pow_Tensor_Scalar, "CPU", pow_tensor_number),
    TN_KERNEL(pow_Scalar, "CPU", pow_number_tensor),
};
const cpu_kernels cpu_pow = {kernels, TN_COUNT(kernels)};

/* arith.h - the loops of kernels/arith.c, per dtype of the computation; NULL where there is none.
 * Halves have none: the iterator widens them (cpu_iter_run_wide). */
#ifndef CPU_KERNELS_ARITH_H
#define CPU_KERNELS_ARITH_H

#include <tenon/math.h>

#include "per_isa.h"

typedef struct cpu_arith_loops {
    /* result, self, other */
    tn_loop_fn divide[TN_DTYPE_COUNT], floor_divide[TN_DTYPE_COUNT], trunc_divide[TN_DTYPE_COUNT];
    tn_loop_fn remainder[TN_DTYPE_COUNT], fmod[TN_DTYPE_COUNT];
    /* one operand, of integers; params: a bool *, set when an element is zero */
    tn_loop_fn has_zero[TN_DTYPE_COUNT];
    /* result, self; params: tn_number[2], the bounds */
    tn_loop_fn clamp[TN_DTYPE_COUNT];
    /* result, self, bound; and result, self, lower, upper */
    tn_loop_fn clamp_low[TN_DTYPE_COUNT], clamp_high[TN_DTYPE_COUNT], clamp_both[TN_DTYPE_COUNT];
    /* result, self; the result is real */
    tn_loop_fn abs[TN_DTYPE_COUNT];
} cpu_arith_loops;

#endif

/* transcendental.h - loops of functions with vector forms that no expression gives: tables by dtype,
 * with f32 and f64. */
#ifndef CPU_TRANSCENDENTAL_H
#define CPU_TRANSCENDENTAL_H

#include <tenon/border.h>

typedef struct transcendental_loops {
    tn_loop_fn gelu_erf[TN_DTYPE_COUNT], gelu_tanh[TN_DTYPE_COUNT];
    tn_loop_fn pow[TN_DTYPE_COUNT];                                    /* of two tensors */
    tn_loop_fn pow_number[TN_DTYPE_COUNT], number_pow[TN_DTYPE_COUNT]; /* params: the number */
    tn_loop_fn cube[TN_DTYPE_COUNT];
} transcendental_loops;

#endif

/* gemm.h - one matrix product on one thread: what kernels/gemm_*.c compute and what gemm.c hands
 * them.
 *
 * c = alpha * a b + beta * c for matrices in one dtype; beta = 0 overwrites c, NaN or not. */
#ifndef CPU_KERNELS_GEMM_H
#define CPU_KERNELS_GEMM_H

#include <tenon/math.h>

#include "per_isa.h"

typedef struct cpu_matrix {
    char *data;
    int64_t row, col, batch; /* strides, elements */
} cpu_matrix;

typedef struct cpu_product {
    int64_t m, n, k;    /* c is m x n, a is m x k, b is k x n */
    cpu_matrix a, b, c; /* c.col is 1 where a kernel runs */
    tn_number alpha, beta;
} cpu_product;

typedef void (*cpu_product_fn)(const cpu_product *p);

/* Any shape and strides; fast where the matrices are small. By dtype; NULL for bool, f16 and bf16.
 */
typedef struct cpu_gemm_fns {
    cpu_product_fn of[TN_DTYPE_COUNT];
} cpu_gemm_fns;

void CPU_TABLE(gemm_f32)(const cpu_product *p); /* gemm_small.c */
void CPU_TABLE(gemm_f64)(const cpu_product *p);

#endif

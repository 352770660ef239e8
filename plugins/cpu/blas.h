/* blas.h - the libraries that multiply large matrices. They are opened at the first product that
 * needs one: loaded at start they would cost every process 2 to 20 ms and 5 MB. */
#ifndef CPU_BLAS_H
#define CPU_BLAS_H

#include "kernels/gemm.h"

/* A function that computes p on the calling thread alone, where c.col is 1 and a and b are dense
 * along rows or columns (one of their strides is 1, the other at least the length of that line, at
 * most 2^31 - 1). NULL: no library does this dtype here. Any thread may ask. */
cpu_product_fn cpu_blas(tn_dtype dtype);

#endif

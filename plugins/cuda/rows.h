/* rows.h - kernels of softmax, indexing and integer matrix products. C and CUDA. */
#ifndef ROWS_H
#define ROWS_H

#include "launch.h"

TN_BEGIN_DECLS

enum { CUDA_ROW_DIMS = 24, CUDA_ROW_THREADS = 128, CUDA_TILE = 16 };

/* A dimension of the result with its strides (bytes) in up to three tensors. */
typedef struct cuda_row_dim {
    cuda_divider size;
    int64_t strides[3];
} cuda_row_dim;

/* n elements per row, `step` bytes apart; rows over dims, strides[0] in the output, strides[1] in
 * the input. */
typedef struct cuda_softmax_rows {
    char *out;
    const char *in;
    int64_t out_step, in_step;
    uint32_t n, rows;
    int32_t out_dtype, in_dtype, log, n_dims;
    cuda_row_dim dims[CUDA_ROW_DIMS];
} cuda_softmax_rows;
typedef void (*cuda_softmax_fn)(const cuda_softmax_rows);
extern const cuda_softmax_fn cuda_softmax_kernels[2]; /* float, double */

/* out[i] = in[place of i, moved by index[i] * step]: strides[0] out, [1] in, [2] index. */
typedef struct cuda_take {
    char *out;
    const char *in, *index;
    uint32_t n;
    int32_t index_is_64, n_dims, kind; /* kind: a CUDA_FAULT_* */
    int64_t step, size;
    cuda_fault *fault;
    cuda_row_dim dims[CUDA_ROW_DIMS];
} cuda_take;
typedef void (*cuda_take_fn)(const cuda_take);
extern const cuda_take_fn cuda_take_kernels[5]; /* elements of 1, 2, 4, 8, 16 bytes */

/* c = alpha a b + beta c for whole numbers, batch by batch; strides in bytes: batch, row, column.
 */
typedef struct cuda_whole_product {
    char *c;
    const char *a, *b;
    int64_t c_strides[3], a_strides[3], b_strides[3];
    int64_t m, n, k, alpha, beta;
    int32_t dtype, reserved;
} cuda_whole_product;
typedef void (*cuda_whole_product_fn)(const cuda_whole_product);
extern const cuda_whole_product_fn cuda_whole_product_kernel;

TN_END_DECLS

#endif

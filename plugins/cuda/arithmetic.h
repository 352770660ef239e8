/* arithmetic.h - the elementwise kernels written by hand, by the type that they compute in. C and
 * CUDA. */
#ifndef ARITHMETIC_H
#define ARITHMETIC_H

#include "launch.h"

TN_BEGIN_DECLS

/* Integers of every width are divided, raised, clamped in int64_t: the low bits of the answer are
 * the same. */
typedef enum cuda_binary {
    CUDA_DIV_FLOOR,
    CUDA_DIV_TRUNC,
    CUDA_REMAINDER,
    CUDA_FMOD,
    CUDA_BINARY_COUNT
} cuda_binary;

/* [op][0: int64, 1: float, 2: double] */
extern const cuda_pointwise_fn cuda_binary_kernels[CUDA_BINARY_COUNT][3];
extern const cuda_pointwise_fn cuda_clamp_kernels[3]; /* x, low, high */
extern const cuda_pointwise_fn cuda_pow_kernels[5];   /* and tn_c64, tn_c128 */
extern const cuda_pointwise_fn cuda_abs_kernels[5];
extern const cuda_pointwise_fn
    cuda_gelu_kernels[2]; /* float, double; numbers[0] is not 0: the tanh form */
extern const cuda_pointwise_fn cuda_identity_kernels[TN_DTYPE_COUNT];

/* out[i] = start + i * step, computed in whole numbers or in double. */
typedef struct cuda_arange {
    char *data;
    int64_t n, stride; /* bytes */
    int32_t dtype, whole;
    int64_t start, step;
    double real_start, real_step;
} cuda_arange;
typedef void (*cuda_arange_fn)(const cuda_arange);
extern const cuda_arange_fn cuda_arange_kernel;

TN_END_DECLS

#endif

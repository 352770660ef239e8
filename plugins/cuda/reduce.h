/* reduce.h - the kernels of reductions. C and CUDA. */
#ifndef REDUCE_H
#define REDUCE_H

#include "launch.h"

TN_BEGIN_DECLS

enum { CUDA_REDUCE_DIMS = 24, CUDA_REDUCE_THREADS = 256, CUDA_PARTIAL_BYTES = 16 };

/* One dimension of the input, kept or reduced; strides in bytes. */
typedef struct cuda_reduce_dim {
    cuda_divider size;
    int64_t in, values, indices;
} cuda_reduce_dim;

/* Element i of result o stands at in + (o over the kept dims) + (i over the reduced ones), the
 * innermost dims first. With `splits` above 1 a block reduces one part of a row into `partial`,
 * and a second launch (from_partials) the parts. */
typedef struct cuda_reduce {
    const char *in;
    char *values, *indices, *partial; /* values, indices: NULL where not wanted */
    int32_t in_dtype, values_dtype, n_kept, n_reduced;
    uint32_t n_out, n_in, splits, part;
    uint32_t count; /* what a mean is divided by */
    int32_t from_partials, mean, by_thread;
    cuda_reduce_dim kept[CUDA_REDUCE_DIMS], reduced[CUDA_REDUCE_DIMS];
} cuda_reduce;
typedef void (*cuda_reduce_fn)(const cuda_reduce);

typedef enum cuda_reduction {
    CUDA_SUM,
    CUDA_PROD,
    CUDA_MAX,
    CUDA_MIN,
    CUDA_ANY,
    CUDA_ALL,
    CUDA_REDUCTION_COUNT
} cuda_reduction;
/* [op][0: int64, 1: float, 2: double, 3: complex64, 4: complex128]; any and all have [0] only. */
extern const cuda_reduce_fn cuda_reduce_kernels[CUDA_REDUCTION_COUNT][5];

TN_END_DECLS

#endif

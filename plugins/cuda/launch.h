/* launch.h - what host and kernels agree on: the one parameter of each kind of kernel. C and CUDA.
 *
 * Index arithmetic on the device is 32 bits wide; the host cuts larger work into pieces
 * (pointwise.c, plan.c). A division by a size is a multiplication by `magic` and a shift. */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <tenon/math.h>

#include "faults.h"

enum { CUDA_DIMS = 16, CUDA_OPERANDS = 4, CUDA_NUMBERS = 4, CUDA_POINTWISE_THREADS = 128 };

/* n / size for n below 2^31: (high word of n * magic, plus n) >> shift. */
typedef struct cuda_divider {
    uint32_t size, magic, shift;
} cuda_divider;

/* Elements of one operand set in several dimensions, the innermost first; strides in bytes. */
typedef struct cuda_pointwise {
    uint32_t n;
    int32_t ndim;
    uint32_t vector;  /* bit k: operand k is dense, aligned, and of the computation's width class */
    uint32_t present; /* bit k: operand k is memory; else its value stands in values[k] */
    char *data[CUDA_OPERANDS];
    uint8_t dtypes[CUDA_OPERANDS]; /* in memory; [0] is the output */
    tn_number values[CUDA_OPERANDS];
    tn_number numbers[CUDA_NUMBERS];
    cuda_fault *fault; /* where a kernel tells of a bad element; NULL where none can */
    cuda_divider dims[CUDA_DIMS];
    uint32_t strides[CUDA_OPERANDS][CUDA_DIMS];
} cuda_pointwise;

typedef void (*cuda_pointwise_fn)(const cuda_pointwise);

/* How many neighbouring elements a thread computes, by the computation's dtype: 16 bytes at most.
 */
#ifdef __cplusplus
#define CUDA_CONSTANT static constexpr int
#else
#define CUDA_CONSTANT static const int __attribute__((unused))
#endif
CUDA_CONSTANT cuda_lanes[TN_DTYPE_COUNT] = {4, 4, 4, 4, 4, 2, 4, 4, 4, 2, 1, 1};

#endif

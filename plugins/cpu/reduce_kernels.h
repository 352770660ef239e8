/* reduce_kernels.h - the loops over elements that reductions are made of; kernels/reduce_kernels.c
 * has them, once per instruction set.
 *
 * An accumulator is a value and, for argmax and argmin, the index it came from; values and indices
 * stand in two arrays. Elements ("lanes") are contiguous and of the kernel's dtype: reduce_run.c
 * gathers and converts what is not. */
#ifndef CPU_REDUCE_KERNELS_H
#define CPU_REDUCE_KERNELS_H

#include <tenon/border.h>

typedef enum reduce_op {
    REDUCE_SUM,
    REDUCE_PROD,
    REDUCE_MAX,
    REDUCE_MIN,
    REDUCE_ARGMAX, /* values and indices; the first of equals, and the first NaN before all */
    REDUCE_ARGMIN,
    REDUCE_OPS,
} reduce_op;

typedef struct reduce_kernel {
    tn_dtype acc;         /* of the accumulator's value */
    const void *identity; /* the value to begin with */
    /* One accumulator takes n elements; the first one has the index `first`. */
    void (*row)(const void *in, int64_t n, int64_t first, void *value, int64_t *index);
    /* n accumulators take an element each; all have the index `at`. */
    void (*columns)(const void *in, int64_t n, int64_t at, void *value, int64_t *index);
    /* n accumulators take n others. */
    void (*merge)(void *value, int64_t *index, const void *other, const int64_t *other_index,
                  int64_t n);
} reduce_kernel;

/* What an instruction set has; `kernels` is empty (row NULL) for dtypes that are no lanes: f16 and
 * bf16 become f32, the integers of a sum i64. */
typedef struct reduce_kernels {
    reduce_kernel kernels[REDUCE_OPS][TN_DTYPE_COUNT];
    void (*from_f16)(float *out, const uint16_t *in, int64_t n);
    void (*from_bf16)(float *out, const uint16_t *in, int64_t n);
} reduce_kernels;

const reduce_kernels *reduce_kernels_chosen(void);

#endif

/* pointwise.h - elementwise work on the device, from an iterator to launches of one kernel. */
#ifndef POINTWISE_H
#define POINTWISE_H

#include "cuda.h"
#include "launch.h"

/* What a kernel is told beside the iterator. */
typedef struct cuda_extras {
    const tn_number *numbers; /* the operator's own, at most CUDA_NUMBERS */
    int n_numbers;
    uint32_t value_mask; /* bit k: operand k is no memory but values[k], in the iterator's dtype */
    tn_number values[CUDA_OPERANDS];
    cuda_fault *fault; /* where a kernel tells of a bad element; NULL where none can */
} cuda_extras;

/* Runs `fn` over the iterator: casts, broadcasts, cuts what exceeds 32-bit index arithmetic into
 * pieces. Operands on the host (0-dim) become numbers. extras may be NULL. */
tn_status cuda_pointwise_run(tn_call *call, const tn_iter *it, cuda_pointwise_fn fn,
                             const cuda_extras *extras);
/* The generated operator of this number on call->iter. */
tn_status cuda_pointwise_call(tn_call *call, int op, const tn_number *numbers, int n_numbers);
/* Its kernel for a dtype, or NULL. */
cuda_pointwise_fn cuda_pointwise_kernel(int op, tn_dtype dtype);
extern const int cuda_pointwise_where,
    cuda_pointwise_divide; /* generated: where.self, div.Tensor */

/* Adds one more operand to an iterator: it has no memory, extras give its value. */
void cuda_iter_add_value(tn_iter *it);

/* Division by a size, see cuda_divider; size is below 2^31. */
cuda_divider cuda_divider_of(int64_t size);

#endif

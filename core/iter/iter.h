/* iter.h - elementwise and reduction iteration: one description of operands, sizes, strides. */
#ifndef TN_CORE_ITER_H
#define TN_CORE_ITER_H

#include "core/tensor/tensor_impl.h"

/* See tn_api.iter_init in tenon/border.h. Operands 0..n_out-1 are written; the inputs must
 * broadcast to their shape (the caller has resized them). */
tn_status tn__iter_init(tn_call *call, tn_iter *it, int32_t n_out, int32_t n_operands,
                        tn_tensor *const *operands, tn_dtype dtype, tn_dtype out_dtype, int reduce);
/* Second half of tn__iter_init (dimensions.c): strides, order and merging, once operands and numel
 * are set. */
tn_status tn__iter_set_dimensions(tn_call *call, tn_iter *it, int64_t ndim, const int64_t *sizes);
/* See tn_api.iter_run. it->cast is a set: bit k says that operand k converts. */
tn_status tn__iter_run(tn_call *call, tn_iter *it, tn_loop_fn loop, const void *params);

/* The broadcast of n shapes (absent tensors, NULL, are skipped): numpy's rules. An error names both
 * shapes and the dimension. sizes has room for TN_MAX_DIMS. */
tn_status tn__broadcast(tn_call *call, tn_tensor *const *tensors, int64_t n, int64_t *ndim,
                        int64_t *sizes);

/* PyTorch's promotion over tensors (dimensioned, 0-dim, wrapped numbers) and scalars: three classes
 * of priority, a lower one counts only when its category (bool < integral < floating < complex) is
 * higher. */
tn_dtype tn__result_type(tn_tensor *const *tensors, int64_t n, const tn_scalar *scalars, int64_t m);

#endif

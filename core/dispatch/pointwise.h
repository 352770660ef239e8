/* pointwise.h - preparing a pointwise call: dtypes, shape, result, iterator. */
#ifndef TN_CORE_POINTWISE_H
#define TN_CORE_POINTWISE_H

#include "core/dispatch/dispatch.h"
#include "core/iter/iter.h"

/* *result: NULL to be allocated (functional), else the tensor given by the caller, named `name` in messages. On success
 * *result carries a reference of its own. */
tn_status tn__pointwise_prepare(tn_call *call, void *frame, const char *name, tn_tensor **result, tn_iter *it);

/* structured.c: an in-place or out= tensor against what the operator computes; resizes an out of no elements. */
tn_status tn__check_given(tn_call *call, const char *name, tn_tensor *t, int64_t ndim, const int64_t *sizes,
                          tn_dtype dtype, tn_device device);
void tn__mark_written(tn_tensor *t);

#endif

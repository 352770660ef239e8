/* work.h - for kernels that are a chain of operators: a formula reads as one.
 *
 *     work w = work_on(call);
 *     tn_tensor *apart = work_sub(&w, a->self, a->target);
 *     return work_end(&w, work_mul(&w, apart, apart), &a->result);
 *
 * composite_work.h, generated from calls.yaml, has the operators and says how a chain behaves; here are
 * the links that need a decision, and numbers. */
#ifndef COMPOSITE_WORK_H
#define COMPOSITE_WORK_H

#include "composite.h"

static inline tn_scalar work_whole(int64_t value)
{
    return (tn_scalar){.v.i = value, .kind = TN_SCALAR_INT};
}
static inline tn_scalar work_number(double value)
{
    return (tn_scalar){.v.f = value, .kind = TN_SCALAR_FLOAT};
}
static const tn_ints work_all_dims = {NULL, 0};

static inline tn_tensor *work_slice(work *w, tn_tensor *self, int64_t dim, int64_t start,
                                    int64_t end)
{
    return work_part(w, self, dim, (tn_opt_int){start, 1}, (tn_opt_int){end, 1});
}

/* start, start + step, .., n of them, int64 */
tn_tensor *work_arange(work *w, int64_t start, int64_t step, int64_t n, tn_device device);
tn_tensor *work_as_dtype(work *w, tn_tensor *self, tn_dtype dtype);
tn_tensor *work_conj(work *w, tn_tensor *self); /* a real tensor is its own */
/* A number in the place of a tensor: 0-dim, of like's dtype and device. */
tn_tensor *work_constant(work *w, const tn_tensor *like, tn_scalar value);
tn_tensor *work_zeros(work *w, tn_ints size, tn_dtype dtype, tn_device device);
/* self where the condition holds, else 0. */
tn_tensor *work_only_where(work *w, tn_tensor *condition, tn_tensor *self);

#endif

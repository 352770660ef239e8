/* work.h - for kernels that are a chain of operators: a formula reads as one.
 *
 *     work w = work_on(call);
 *     tn_tensor *apart = work_sub(&w, a->self, a->target);
 *     return work_end(&w, work_mul(&w, apart, apart), &a->result);
 *
 * Every function passes NULL on and does nothing after a failure, so only the end is checked. What
 * operators return is held by the work and released at its end. */
#ifndef COMPOSITE_WORK_H
#define COMPOSITE_WORK_H

#include "composite.h"

enum { WORK_HELD = 96 };
typedef struct work {
    tn_call *call;
    tn_status status;
    int n;
    tn_tensor *held[WORK_HELD];
} work;

static inline work work_on(tn_call *call)
{
    work w;
    w.call = call;
    w.status = TN_OK;
    w.n = 0;
    return w;
}

/* Takes over a reference. */
tn_tensor *work_hold(work *w, tn_tensor *t);
/* Calls composite_ops[op] and holds *result, a field of the frame. */
tn_tensor *work_call(work *w, int op, void *frame, tn_tensor **result);
/* Releases everything but `result`, of which *out gets a reference. */
tn_status work_end(work *w, tn_tensor *result, tn_tensor **out);
tn_status work_fail(work *w, tn_status status);

static inline tn_scalar work_whole(int64_t value)
{
    return (tn_scalar){.v.i = value, .kind = TN_SCALAR_INT};
}
static inline tn_scalar work_number(double value)
{
    return (tn_scalar){.v.f = value, .kind = TN_SCALAR_FLOAT};
}
static const tn_ints work_all_dims = {NULL, 0};

/* ---- operators (work.c) ---------------------------------------------------------------------- */
tn_tensor *work_abs(work *w, tn_tensor *self);
tn_tensor *work_add(work *w, tn_tensor *self, tn_tensor *other);
tn_tensor *work_add_scaled(work *w, tn_tensor *self, tn_tensor *other, tn_scalar alpha);
tn_tensor *work_add_number(work *w, tn_tensor *self, tn_scalar other);
tn_tensor *work_amax(work *w, tn_tensor *self, tn_ints dim, bool keepdim);
tn_tensor *work_amin(work *w, tn_tensor *self, tn_ints dim, bool keepdim);
/* start, start + step, .., n of them, int64 */
tn_tensor *work_arange(work *w, int64_t start, int64_t step, int64_t n, tn_device device);
tn_tensor *work_as_dtype(work *w, tn_tensor *self, tn_dtype dtype);
tn_tensor *work_bmm(work *w, tn_tensor *self, tn_tensor *mat2);
tn_tensor *work_cat(work *w, tn_tensors tensors, int64_t dim);
tn_tensor *work_clamp_min(work *w, tn_tensor *self, tn_scalar min);
tn_tensor *work_clone(work *w, tn_tensor *self);
tn_tensor *work_conj(work *w, tn_tensor *self); /* a real tensor is its own */
tn_tensor *work_contiguous(work *w, tn_tensor *self);
tn_tensor *work_copy_(work *w, tn_tensor *self, tn_tensor *src);
tn_tensor *work_detach(work *w, tn_tensor *self);
tn_tensor *work_diagonal(work *w, tn_tensor *self, int64_t offset, int64_t dim1, int64_t dim2);
tn_tensor *work_div(work *w, tn_tensor *self, tn_tensor *other);
tn_tensor *work_div_number(work *w, tn_tensor *self, tn_scalar other);
tn_tensor *work_eq(work *w, tn_tensor *self, tn_scalar other);
tn_tensor *work_exp(work *w, tn_tensor *self);
tn_tensor *work_expand(work *w, tn_tensor *self, tn_ints size);
tn_tensor *work_gather(work *w, tn_tensor *self, int64_t dim, tn_tensor *index);
tn_tensor *work_index_select(work *w, tn_tensor *self, int64_t dim, tn_tensor *index);
tn_tensor *work_le(work *w, tn_tensor *self, tn_tensor *other);
tn_tensor *work_log(work *w, tn_tensor *self);
tn_tensor *work_log1p(work *w, tn_tensor *self);
tn_tensor *work_lt_number(work *w, tn_tensor *self, tn_scalar other);
tn_tensor *work_matmul(work *w, tn_tensor *self, tn_tensor *other);
tn_tensor *work_mean(work *w, tn_tensor *self, tn_ints dim, bool keepdim);
tn_tensor *work_mm(work *w, tn_tensor *self, tn_tensor *mat2);
tn_tensor *work_mul(work *w, tn_tensor *self, tn_tensor *other);
tn_tensor *work_mul_number(work *w, tn_tensor *self, tn_scalar other);
tn_tensor *work_ne(work *w, tn_tensor *self, tn_scalar other);
tn_tensor *work_neg(work *w, tn_tensor *self);
tn_tensor *work_permute(work *w, tn_tensor *self, tn_ints dims);
tn_tensor *work_pow(work *w, tn_tensor *self, tn_scalar exponent);
tn_tensor *work_reshape(work *w, tn_tensor *self, tn_ints shape);
tn_tensor *work_rsub(work *w, tn_tensor *self, tn_scalar other); /* other - self */
tn_tensor *work_select(work *w, tn_tensor *self, int64_t dim, int64_t index);
tn_tensor *work_slice(work *w, tn_tensor *self, int64_t dim, int64_t start, int64_t end);
tn_tensor *work_sqrt(work *w, tn_tensor *self);
tn_tensor *work_squeeze(work *w, tn_tensor *self, int64_t dim);
tn_tensor *work_sub(work *w, tn_tensor *self, tn_tensor *other);
tn_tensor *work_sum(work *w, tn_tensor *self, tn_ints dim, bool keepdim);
tn_tensor *work_transpose(work *w, tn_tensor *self, int64_t dim0, int64_t dim1);
tn_tensor *work_unsqueeze(work *w, tn_tensor *self, int64_t dim);
tn_tensor *work_where(work *w, tn_tensor *condition, tn_tensor *self, tn_tensor *other);
/* A number in the place of a tensor: 0-dim, of like's dtype and device. */
tn_tensor *work_constant(work *w, const tn_tensor *like, tn_scalar value);
tn_tensor *work_zeros(work *w, tn_ints size, tn_dtype dtype, tn_device device);
/* self where the condition holds, else 0. */
tn_tensor *work_only_where(work *w, tn_tensor *condition, tn_tensor *self);

#endif

/* pointwise.h - preparing a pointwise call: dtypes, shape, result, iterator. */
#ifndef TN_CORE_POINTWISE_H
#define TN_CORE_POINTWISE_H

#include <string.h>

#include "core/dispatch/dispatch.h"
#include "core/iter/iter.h"

/* *result: NULL to be allocated (functional), else the tensor given by the caller. On success
 * *result carries a reference of its own. */
tn_status tn__pointwise_prepare(tn_call *call, void *frame, tn_tensor **result, tn_iter *it);

/* ---- numbers: bool < integer < floating < complex -------------------------------------------- */
enum { TN__CATEGORY_BOOL, TN__CATEGORY_INT, TN__CATEGORY_FLOAT, TN__CATEGORY_COMPLEX };

static inline int tn__dtype_category(tn_dtype d)
{
    if (d == TN_BOOL)
        return TN__CATEGORY_BOOL;
    if (tn_dtype_in(d, TN_DTYPES_INTEGRAL))
        return TN__CATEGORY_INT;
    return tn_dtype_in(d, TN_DTYPES_FLOATING) ? TN__CATEGORY_FLOAT : TN__CATEGORY_COMPLEX;
}

static inline int tn__number_category(const tn_scalar *s)
{
    static const int8_t categories[] = {TN__CATEGORY_FLOAT, TN__CATEGORY_INT, TN__CATEGORY_BOOL,
                                        TN__CATEGORY_COMPLEX};
    return s->kind == TN_SCALAR_NONE ? TN__CATEGORY_BOOL : categories[s->kind];
}

/* Whether a number that does not take part in promotion (alpha) holds in the dtype. A whole
 * floating-point number passes as an integer, so that `.alpha = 2` may be written without saying
 * which. */
static inline bool tn__number_holds(const tn_scalar *x, tn_dtype dtype)
{
    if (x->kind == TN_SCALAR_INT || tn__number_category(x) <= tn__dtype_category(dtype))
        return true;
    return x->kind == TN_SCALAR_FLOAT && x->v.f >= -0x1p63 && x->v.f < 0x1p63 &&
           x->v.f == (double)(int64_t)x->v.f;
}

/* structured.c: an in-place or out= tensor against what the operator computes; changes nothing. An
 * out of no elements passes with any shape, and is then brought to the result's by
 * tn__resize_given, which leaves it alone when it fails. */
tn_status tn__check_given(tn_call *call, const char *name, tn_tensor *t, int64_t ndim,
                          const int64_t *sizes, tn_dtype dtype, tn_device device);
tn_status tn__resize_given(tn_call *call, const void *frame, tn_tensor *t, int64_t ndim,
                           const int64_t *sizes);
static inline bool tn__has_sizes(const tn_tensor *t, int64_t ndim, const int64_t *sizes)
{
    return t->ndim == ndim &&
           (ndim == 0 || memcmp(t->sizes, sizes, (size_t)ndim * sizeof *sizes) == 0);
}
/* The error that names the dtypes an operator is defined for. */
tn_status tn__refuse_dtype(tn_call *call, tn_dtype dtype) TN_COLD;
const char *tn__given_name(const tn_op *op,
                           int i); /* of the argument that receives result i: "self", "out" */

/* Counts a write, for whoever saved the tensor before it, and keeps its call site for the message.
 * A plain load and store: two threads that write one tensor at a time are in error anyway, and then
 * one count may be lost. */
static inline void tn__mark_written(tn_tensor *t, const char *file, int line)
{
    tn__storage *s = tn__impl(t)->storage;
    s->written_file = file;
    s->written_line = line;
    unsigned version = atomic_load_explicit(&s->version, memory_order_relaxed);
    atomic_store_explicit(&s->version, version + 1, memory_order_relaxed);
}

#endif

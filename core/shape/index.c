/* index.c - rules of joining and indexing. */
#include <string.h>

#include "core/shape/shape.h"

/* A 1-dim tensor of no elements joins anything, as it always has in ATen. */
static bool is_legacy_empty(const tn_tensor *t)
{
    return t->ndim == 1 && t->numel == 0;
}

static tn_status check_joins(tn_call *call, const tn_tensor *first, const tn_tensor *t, int64_t at,
                             int64_t dim)
{
    char x[TN__SHAPE_CHARS], y[TN__SHAPE_CHARS];
    if (first->ndim != t->ndim)
        return tn__fail(
            call, TN_ERR_ARGUMENT,
            "tensors[%lld] has shape %s, which does not join shape %s: the number of dimensions "
            "differs",
            (long long)at, tn__shape_text(x, t->ndim, t->sizes),
            tn__shape_text(y, first->ndim, first->sizes));
    for (int d = 0; d < t->ndim; d++)
        if (d != dim && t->sizes[d] != first->sizes[d])
            return tn__fail(call, TN_ERR_ARGUMENT,
                            "tensors[%lld] has size %lld in dim %d, expected %lld: all dims but "
                            "%lld must agree",
                            (long long)at, (long long)t->sizes[d], d, (long long)first->sizes[d],
                            (long long)dim);
    return tn__same_device(call, first, t, "a tensor of the list");
}

tn_status tn__shape_cat(tn_call *call, tn_tensors tensors, int64_t dim, tn_result *r)
{
    if (tensors.len <= 0)
        return tn__fail(call, TN_ERR_ARGUMENT, "tensors is empty; a non-empty list is expected");
    const tn_tensor *first = NULL;
    for (int64_t i = 0; i < tensors.len; i++) {
        const tn_tensor *t = tensors.data[i];
        if (t->ndim == 0)
            return tn__fail(call, TN_ERR_ARGUMENT,
                            "tensors[%lld] has no dimensions and cannot be joined", (long long)i);
        if (!first && !is_legacy_empty(t))
            first = t;
    }
    const tn_tensor *like = first ? first : tensors.data[0];
    TN__TRY(tn__wrap_dim(call, dim, like->ndim, &dim));
    int64_t joined = 0;
    for (int64_t i = 0; i < tensors.len; i++) {
        const tn_tensor *t = tensors.data[i];
        if (is_legacy_empty(t))
            continue;
        TN__TRY(check_joins(call, like, t, i, dim));
        if (__builtin_add_overflow(joined, t->sizes[dim], &joined))
            return tn__fail(call, TN_ERR_OVERFLOW,
                            "overflow: the joined size of dim %lld does not fit", (long long)dim);
    }
    tn__result_like(like, tn__result_type(tensors.data, tensors.len, NULL, 0), r);
    r->sizes[dim] = joined;
    return TN_OK;
}

static tn_status check_index(tn_call *call, const tn_tensor *self, const tn_tensor *index,
                             const char *name)
{
    if (index->dtype != TN_I64 && index->dtype != TN_I32)
        return tn__fail(call, TN_ERR_DTYPE, "%s must be int64 or int32, got %s", name,
                        tn__dtype_name(index->dtype));
    return tn__same_device(call, self, index, name);
}

tn_status tn__shape_index_select(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                                 tn_result *r)
{
    char shape[TN__SHAPE_CHARS];
    TN__TRY(tn__wrap_dim(call, dim, self->ndim, &dim));
    TN__TRY(check_index(call, self, index, "index"));
    if (index->ndim > 1)
        return tn__fail(call, TN_ERR_INDEX, "index must have one dimension, got shape %s",
                        tn__shape_text(shape, index->ndim, index->sizes));
    if (self->ndim == 0 && index->numel != 1)
        return tn__fail(call, TN_ERR_INDEX,
                        "index must have one element to select from a 0-dim tensor, got %lld",
                        (long long)index->numel);
    tn__result_like(self, self->dtype, r);
    if (self->ndim > 0)
        r->sizes[dim] = index->numel;
    return TN_OK;
}

tn_status tn__shape_gather(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                           tn_result *r)
{
    char x[TN__SHAPE_CHARS], y[TN__SHAPE_CHARS];
    TN__TRY(tn__wrap_dim(call, dim, self->ndim, &dim));
    if (index->dtype != TN_I64 && index->numel)
        return tn__fail(call, TN_ERR_DTYPE, "index must be int64, got %s",
                        tn__dtype_name(index->dtype));
    TN__TRY(tn__same_device(call, self, index, "index"));
    tn__result_like(index, self->dtype, r);
    if (index->numel == 0)
        return TN_OK;
    int64_t ndim = self->ndim ? self->ndim : 1, index_ndim = index->ndim ? index->ndim : 1;
    bool fits = ndim == index_ndim;
    for (int d = 0; d < self->ndim && d < index->ndim && fits; d++)
        fits = d == dim || index->sizes[d] <= self->sizes[d];
    if (!fits)
        return tn__fail(
            call, TN_ERR_ARGUMENT,
            "index of shape %s must have as many dimensions as self of shape %s, and no larger "
            "size except in dim %lld",
            tn__shape_text(x, index->ndim, index->sizes),
            tn__shape_text(y, self->ndim, self->sizes), (long long)dim);
    return TN_OK;
}

tn_status tn__shape_embedding(tn_call *call, tn_tensor *weight, tn_tensor *indices, tn_result *r)
{
    char shape[TN__SHAPE_CHARS];
    if (weight->ndim != 2)
        return tn__fail(call, TN_ERR_ARGUMENT, "weight must have 2 dimensions, got shape %s",
                        tn__shape_text(shape, weight->ndim, weight->sizes));
    TN__TRY(check_index(call, weight, indices, "indices"));
    if (indices->ndim == TN_MAX_DIMS)
        return tn__fail(call, TN_ERR_ARGUMENT,
                        "indices has %d dimensions; the result would have one more", TN_MAX_DIMS);
    tn__result_like(indices, weight->dtype, r);
    r->sizes[r->ndim++] = weight->sizes[1];
    return TN_OK;
}

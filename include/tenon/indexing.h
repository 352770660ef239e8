/* indexing.h - what a list of indices names: one answer for every backend's index and index_put.
 *
 * x[i, :, mask] is index(x, {i, NULL, mask}). A tensor of integers takes one dimension of self; a
 * mask (bool, or u8 as in PyTorch) takes as many as it has, and stands for the coordinates of its
 * true elements; NULL leaves a dimension whole. The tensors are broadcast together to the joint
 * shape, which stands where they stood, or first when a whole dimension stands between two of them.
 *
 * No data is read: how many elements of a mask are true is told by the caller, or not known. */
#ifndef TENON_INDEXING_H
#define TENON_INDEXING_H

#include <stdio.h>
#include <string.h>

#include <tenon/border.h>

enum { TN_INDEXING_TEXT = 480 };

typedef struct tn_indexing {
    int64_t n; /* tensors in the list */
    const tn_tensor *index[TN_MAX_DIMS];
    int64_t entry[TN_MAX_DIMS]; /* where tensor k stands in the list */
    int64_t dim[TN_MAX_DIMS];   /* the first of self's dimensions that tensor k takes */
    int64_t count[TN_MAX_DIMS]; /* of a mask: true elements, -1 when not known */
    uint64_t taken;             /* self's dimensions that are taken, as bits */
    int64_t at;                 /* where the joint dimensions begin in the result */
    int64_t joint_ndim, joint[TN_MAX_DIMS];
    int64_t ndim, sizes[TN_MAX_DIMS]; /* of the result */
    int32_t unknown;                  /* a mask's count is not known: joint and sizes do not hold */
    char text[TN_INDEXING_TEXT];      /* what is wrong */
} tn_indexing;

static inline bool tn_indexing_is_mask(const tn_tensor *t)
{
    return t->dtype == TN_BOOL || t->dtype == TN_U8;
}

/* "[2, 3]"; a long one ends in dots. */
static inline const char *tn_indexing_shape(char buf[80], int64_t ndim, const int64_t *sizes)
{
    int used = snprintf(buf, 80, "[");
    for (int64_t d = 0; d < ndim && used < 56; d++)
        used +=
            snprintf(buf + used, (size_t)(80 - used), d ? ", %lld" : "%lld", (long long)sizes[d]);
    snprintf(buf + used, (size_t)(80 - used), used < 56 ? "]" : " ..]");
    return buf;
}

/* A dtype that is no index's. */
static inline const char *tn_indexing_other(tn_dtype dtype)
{
    static const char *const names[] = {"int8",      "int16",     "",        "",
                                        "float16",   "bfloat16",  "float32", "float64",
                                        "complex64", "complex128"};
    return dtype >= TN_I8 && dtype < TN_DTYPE_COUNT ? names[dtype - TN_I8] : "another dtype";
}

/* ---- one entry ------------------------------------------------------------------------------- */
static inline tn_status tn_indexing_check_mask(tn_indexing *x, const tn_tensor *self, int64_t i,
                                               const tn_tensor *mask, int64_t dim)
{
    char a[80], b[80];
    for (int64_t d = 0; d < mask->ndim; d++) {
        if (mask->sizes[d] == self->sizes[dim + d])
            continue;
        snprintf(x->text, sizeof x->text,
                 "indices[%lld] is a mask of shape %s, which does not fit self of shape %s: mask "
                 "size %lld, but size %lld in dim %lld",
                 (long long)i, tn_indexing_shape(a, mask->ndim, mask->sizes),
                 tn_indexing_shape(b, self->ndim, self->sizes), (long long)mask->sizes[d],
                 (long long)self->sizes[dim + d], (long long)(dim + d));
        return TN_ERR_INDEX;
    }
    return TN_OK;
}

static inline tn_status tn_indexing_add(tn_indexing *x, const tn_tensor *self, int64_t i,
                                        const tn_tensor *t, int64_t dim)
{
    bool mask = tn_indexing_is_mask(t);
    int64_t takes = mask ? t->ndim : 1;
    if (!mask && t->dtype != TN_I64 && t->dtype != TN_I32) {
        snprintf(x->text, sizeof x->text,
                 "indices[%lld] must be int64 or int32, or a mask: bool or uint8, got %s",
                 (long long)i, tn_indexing_other(t->dtype));
        return TN_ERR_DTYPE;
    }
    if (t->device.type != self->device.type || t->device.index != self->device.index) {
        snprintf(x->text, sizeof x->text,
                 "indices[%lld] is on another device than self; move it there with to()",
                 (long long)i);
        return TN_ERR_DEVICE;
    }
    if (dim + takes > self->ndim) {
        snprintf(x->text, sizeof x->text,
                 "too many indices: with indices[%lld] they take %lld dimensions, and self has %d",
                 (long long)i, (long long)(dim + takes), self->ndim);
        return TN_ERR_INDEX;
    }
    for (int64_t d = dim; d < dim + takes; d++)
        x->taken |= UINT64_C(1) << d;
    x->index[x->n] = t;
    x->entry[x->n] = i;
    x->dim[x->n++] = dim;
    return mask ? tn_indexing_check_mask(x, self, i, t, dim) : TN_OK;
}

/* ---- the list -------------------------------------------------------------------------------- */
/* Fills index, dim, taken and at. */
static inline tn_status tn_indexing_walk(tn_indexing *x, const tn_tensor *self, tn_tensors indices)
{
    int64_t dim = 0, last = -1;
    bool apart = false;
    if (indices.len > TN_MAX_DIMS) {
        snprintf(x->text, sizeof x->text, "indices has %lld entries; it may have %d",
                 (long long)indices.len, TN_MAX_DIMS);
        return TN_ERR_INDEX;
    }
    for (int64_t i = 0; i < indices.len; i++) {
        const tn_tensor *t = indices.data[i];
        if (t) {
            tn_status status = tn_indexing_add(x, self, i, t, dim);
            if (status != TN_OK)
                return status;
            apart |= x->n > 1 && i != last + 1;
            last = i;
        } else if (dim >= self->ndim) {
            snprintf(x->text, sizeof x->text,
                     "too many indices: indices[%lld] leaves a dimension whole, and self has %d",
                     (long long)i, self->ndim);
            return TN_ERR_INDEX;
        }
        dim += !t ? 1 : tn_indexing_is_mask(t) ? t->ndim : 1;
    }
    x->at = x->n && !apart ? x->dim[0] : 0;
    return TN_OK;
}

/* Joins the shape of tensor k into the joint one. */
static inline tn_status tn_indexing_join(tn_indexing *x, int64_t k)
{
    const tn_tensor *t = x->index[k];
    char a[80], b[80];
    bool mask = tn_indexing_is_mask(t);
    int64_t ndim = mask ? 1 : t->ndim, shift;
    const int64_t *sizes = mask ? &x->count[k] : t->sizes;
    if (ndim > x->joint_ndim) {
        shift = ndim - x->joint_ndim;
        memmove(x->joint + shift, x->joint, (size_t)x->joint_ndim * sizeof *x->joint);
        for (int64_t d = 0; d < shift; d++)
            x->joint[d] = 1;
        x->joint_ndim = ndim;
    }
    shift = x->joint_ndim - ndim;
    for (int64_t d = 0; d < ndim; d++) {
        int64_t *have = &x->joint[shift + d];
        if (*have == 1)
            *have = sizes[d];
        if (sizes[d] == 1 || sizes[d] == *have)
            continue;
        snprintf(
            x->text, sizeof x->text,
            "the indices do not broadcast: indices[%lld]%s has shape %s, those before it have %s",
            (long long)x->entry[k], mask ? ", the true elements of a mask," : "",
            tn_indexing_shape(a, ndim, sizes), tn_indexing_shape(b, x->joint_ndim, x->joint));
        return TN_ERR_INDEX;
    }
    return TN_OK;
}

/* The geometry of self at `indices`. counts: of each tensor of the list in turn, how many elements
 * are true (read only of masks); NULL when that is not known. On failure x->text says what is
 * wrong. */
static inline tn_status tn_indexing_of(tn_indexing *x, const tn_tensor *self, tn_tensors indices,
                                       const int64_t *counts)
{
    x->n = x->joint_ndim = x->ndim = 0;
    x->taken = 0;
    x->unknown = 0;
    tn_status status = tn_indexing_walk(x, self, indices);
    for (int64_t k = 0; k < x->n && status == TN_OK; k++) {
        bool mask = tn_indexing_is_mask(x->index[k]);
        x->count[k] = mask && counts ? counts[k] : -1;
        if (mask && !counts)
            x->unknown = 1;
        else
            status = tn_indexing_join(x, k);
    }
    int64_t whole = self->ndim - __builtin_popcountll(x->taken);
    if (status == TN_OK && whole + x->joint_ndim > TN_MAX_DIMS) {
        snprintf(x->text, sizeof x->text, "the result would have %lld dimensions; it may have %d",
                 (long long)(whole + x->joint_ndim), TN_MAX_DIMS);
        status = TN_ERR_INDEX;
    }
    for (int64_t d = 0, left = 0; d <= self->ndim && status == TN_OK; d++) {
        if (left == x->at && x->ndim == left)
            for (int64_t j = 0; j < x->joint_ndim; j++)
                x->sizes[x->ndim++] = x->joint[j];
        if (d < self->ndim && !(x->taken >> d & 1)) {
            x->sizes[x->ndim++] = self->sizes[d];
            left++;
        }
    }
    return status;
}

/* Do values broadcast to what the indices name? */
static inline tn_status tn_indexing_check_values(tn_indexing *x, const tn_tensor *values)
{
    char a[80], b[80];
    bool fits = values->ndim <= x->ndim;
    for (int64_t d = 0; d < values->ndim && fits; d++)
        fits = values->sizes[d] == 1 || values->sizes[d] == x->sizes[x->ndim - values->ndim + d];
    if (fits || x->unknown)
        return TN_OK;
    snprintf(x->text, sizeof x->text,
             "values of shape %s cannot be broadcast to %s, the shape of what the indices name",
             tn_indexing_shape(a, values->ndim, values->sizes),
             tn_indexing_shape(b, x->ndim, x->sizes));
    return TN_ERR_ARGUMENT;
}

#endif

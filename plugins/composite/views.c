/* views.c - views that reorder, add, drop or repeat dimensions. They share self's memory and copy
 * nothing.
 *
 * Each builds the new geometry in arrays on the stack and makes one call of tn->tensor_view.
 * transpose is on the way of every matrix product: it hands the order of dimensions to
 * tn->tensor_permuted, which has nothing to check. */
#include "composite.h"

#include <inttypes.h>

static tn_status alias(tn_call *call, struct tn_alias_args *a)
{
    return composite_alias(call, a->self, &a->result);
}

static tn_status detach(tn_call *call, struct tn_detach_args *a)
{
    return tn->tensor_detached(call, a->self, &a->result);
}

/* ---- order of dimensions --------------------------------------------------------------------- */
static __attribute__((noinline)) tn_status swapped(tn_call *call, tn_tensor *self, int64_t dim0,
                                                   int64_t dim1, tn_tensor **out)
{
    int64_t d0, d1, ndim = self->ndim;
    uint8_t dims[TN_MAX_DIMS];
    TN_TRY(composite_wrap_dim(call, "dim0", dim0, ndim, &d0));
    TN_TRY(composite_wrap_dim(call, "dim1", dim1, ndim, &d1));
    for (int64_t d = 0; d < ndim; d++)
        dims[d] = (uint8_t)d;
    dims[d0] = (uint8_t)d1;
    dims[d1] = (uint8_t)d0;
    return tn->tensor_permuted(call, self, dims, out);
}

/* A matrix, the usual case, goes first: of two dimensions the parity of a dim says which it is. */
static inline tn_status transposed(tn_call *call, tn_tensor *self, int64_t dim0, int64_t dim1,
                                   tn_tensor **out)
{
    static const uint8_t orders[2][2] = {{0, 1}, {1, 0}};
    if (self->ndim != 2 || (((uint64_t)dim0 + 2) | ((uint64_t)dim1 + 2)) > 3)
        return swapped(call, self, dim0, dim1, out);
    return tn->tensor_permuted(call, self, orders[(dim0 ^ dim1) & 1], out);
}

static tn_status transpose(tn_call *call, struct tn_transpose_int_args *a)
{
    return transposed(call, a->self, a->dim0, a->dim1, &a->result);
}

static tn_status t(tn_call *call, struct tn_t_args *a)
{
    if (a->self->ndim > 2)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "self: t() expects at most 2 dimensions, got %d; transpose() takes more",
                        a->self->ndim);
    if (a->self->ndim < 2)
        return composite_alias(call, a->self, &a->result);
    return transposed(call, a->self, 0, 1, &a->result);
}

/* dims[i] (already in [0, ndim)) is where result dimension i comes from. */
static tn_status permuted(tn_call *call, tn_tensor *self, const int64_t *dims, tn_tensor **out)
{
    composite_geometry g;
    g.ndim = self->ndim;
    g.offset = tn->tensor_offset(self);
    for (int i = 0; i < self->ndim; i++) {
        g.sizes[i] = self->sizes[dims[i]];
        g.strides[i] = self->strides[dims[i]];
    }
    return composite_view_of(call, self, &g, out);
}

/* Wraps every entry of a list of dims and refuses one that comes twice. */
static tn_status distinct_dims(tn_call *call, const char *name, tn_ints dims, int64_t ndim,
                               int64_t *out)
{
    uint64_t seen = 0;
    TN_TRY(composite_check_rank(call, dims.len));
    for (int64_t i = 0; i < dims.len; i++) {
        TN_TRY(composite_wrap_dim(call, name, dims.data[i], ndim, &out[i]));
        if (seen >> out[i] & 1)
            return tn->fail(call, TN_ERR_ARGUMENT, "%s: dimension %" PRId64 " appears twice", name,
                            out[i]);
        seen |= UINT64_C(1) << out[i];
    }
    return TN_OK;
}

static tn_status permute(tn_call *call, struct tn_permute_args *a)
{
    int64_t dims[TN_MAX_DIMS];
    if (a->dims.len != a->self->ndim)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "dims: expected one entry for each of the %d dimensions, got %" PRId64,
                        a->self->ndim, a->dims.len);
    TN_TRY(distinct_dims(call, "dims", a->dims, a->self->ndim, dims));
    return permuted(call, a->self, dims, &a->result);
}

static tn_status call_permute(tn_tensor *self, const int64_t *dims, tn_tensor **out)
{
    struct tn_permute_args f = {TN_FRAME(permute), .self = self, .dims = {dims, self->ndim}};
    TN_TRY(tn->op_call(composite_ops[OP_PERMUTE], &f));
    *out = f.result;
    return TN_OK;
}

static tn_status moved(tn_call *call, tn_tensor *self, tn_ints source, tn_ints destination,
                       tn_tensor **out)
{
    int64_t from[TN_MAX_DIMS], to[TN_MAX_DIMS], dims[TN_MAX_DIMS];
    if (source.len != destination.len)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "source has %" PRId64 " dimensions, destination %" PRId64
                        "; they must be equally many",
                        source.len, destination.len);
    TN_TRY(distinct_dims(call, "source", source, self->ndim, from));
    TN_TRY(distinct_dims(call, "destination", destination, self->ndim, to));
    if (self->ndim == 0)
        return call_permute(self, dims, out);
    uint64_t taken = 0, placed = 0;
    for (int64_t i = 0; i < source.len; i++) {
        dims[to[i]] = from[i];
        taken |= UINT64_C(1) << from[i];
        placed |= UINT64_C(1) << to[i];
    }
    for (int next = 0, d = 0; d < self->ndim; d++) {
        if (placed >> d & 1)
            continue;
        while (taken >> next & 1)
            next++;
        dims[d] = next++;
    }
    return call_permute(self, dims, out);
}

static tn_status movedim_list(tn_call *call, struct tn_movedim_intlist_args *a)
{
    return moved(call, a->self, a->source, a->destination, &a->result);
}

static tn_status movedim(tn_call *call, struct tn_movedim_int_args *a)
{
    return moved(call, a->self, (tn_ints){&a->source, 1}, (tn_ints){&a->destination, 1},
                 &a->result);
}

static tn_status numpy_T(tn_call *call, struct tn_numpy_T_args *a)
{
    (void)call;
    int64_t dims[TN_MAX_DIMS];
    for (int d = 0; d < a->self->ndim; d++)
        dims[d] = a->self->ndim - 1 - d;
    return call_permute(a->self, dims, &a->result);
}

static tn_status mT(tn_call *call, struct tn_mT_args *a)
{
    if (a->self->ndim == 0) /* allowed, as in ATen */
        return composite_return_self(a->self, &a->result);
    if (a->self->ndim == 1)
        return tn->fail(call, TN_ERR_ARGUMENT, "self: expected 2 dimensions or more, got 1");
    return op_transpose(a->self, -2, -1, &a->result);
}

/* ---- repeated dimensions --------------------------------------------------------------------- */
static TN_COLD tn_status bad_expand(tn_call *call, const tn_tensor *self, tn_ints size, int64_t d)
{
    char want[COMPOSITE_SHAPE_CHARS], got[COMPOSITE_SHAPE_CHARS];
    composite_shape_text(want, size.len < 0 ? 0 : size.len, size.data);
    composite_shape_text(got, self->ndim, self->sizes);
    if (size.len < self->ndim)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "size %s has fewer dimensions than the tensor of shape %s", want, got);
    if (d < size.len - self->ndim)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "size %s: %" PRId64 " at dimension %" PRId64
                        ", which the tensor of shape %s does not have, is not a size",
                        want, size.data[d], d, got);
    return tn->fail(call, TN_ERR_ARGUMENT,
                    "size %s: dimension %" PRId64 " of shape %s has %" PRId64
                    " elements and only a dimension of 1 can grow",
                    want, d, got, self->sizes[d - (size.len - self->ndim)]);
}

static tn_status expand(tn_call *call, struct tn_expand_args *a)
{
    const tn_tensor *self = a->self;
    composite_geometry g;
    TN_TRY(composite_check_rank(call, a->size.len));
    if (a->size.len < self->ndim)
        return bad_expand(call, self, a->size, 0);
    g.ndim = a->size.len;
    g.offset = tn->tensor_offset(self);
    int64_t fresh = g.ndim - self->ndim;
    for (int64_t d = 0; d < g.ndim; d++) {
        int64_t asked = a->size.data[d], have = d < fresh ? 1 : self->sizes[d - fresh];
        if (asked == -1 && d >= fresh)
            asked = have;
        if (asked < 0 || (asked != have && have != 1))
            return bad_expand(call, self, a->size, d);
        g.sizes[d] = asked;
        g.strides[d] = d >= fresh && asked == have ? self->strides[d - fresh] : 0;
    }
    return composite_view_of(call, a->self, &g, &a->result);
}

static tn_status expand_as(tn_call *call, struct tn_expand_as_args *a)
{
    (void)call;
    return op_expand(a->self, composite_sizes(a->other), &a->result);
}

static tn_status broadcast_to(tn_call *call, struct tn_broadcast_to_args *a)
{
    (void)call;
    return op_expand(a->self, a->size, &a->result);
}

/* ---- dimensions of extent 1 ------------------------------------------------------------------ */
static tn_status squeezed(tn_call *call, tn_tensor *self, uint64_t drop, tn_tensor **out)
{
    composite_geometry g;
    composite_geometry_squeeze(self, drop, &g);
    return composite_view_of(call, self, &g, out);
}

static tn_status squeeze(tn_call *call, struct tn_squeeze_args *a)
{
    return squeezed(call, a->self, ~UINT64_C(0), &a->result);
}

static tn_status squeeze_dim(tn_call *call, struct tn_squeeze_dim_args *a)
{
    int64_t d;
    TN_TRY(composite_wrap_dim(call, "dim", a->dim, a->self->ndim, &d));
    return squeezed(call, a->self, UINT64_C(1) << d, &a->result);
}

static tn_status unsqueeze(tn_call *call, struct tn_unsqueeze_args *a)
{
    const tn_tensor *self = a->self;
    int64_t at;
    composite_geometry g;
    TN_TRY(composite_check_rank(call, self->ndim + 1));
    TN_TRY(composite_wrap_dim(call, "dim", a->dim, self->ndim + 1, &at));
    composite_geometry_insert(self, at, &g);
    return composite_view_of(call, a->self, &g, &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_LEAF_KERNEL(alias, EXPLICIT, alias),
    TN_LEAF_KERNEL(detach, EXPLICIT, detach),
    TN_LEAF_KERNEL(transpose_int, EXPLICIT, transpose),
    TN_LEAF_KERNEL(t, EXPLICIT, t),
    TN_LEAF_KERNEL(permute, EXPLICIT, permute),
    TN_KERNEL(movedim_intlist, IMPLICIT, movedim_list),
    TN_KERNEL(movedim_int, IMPLICIT, movedim),
    TN_KERNEL(numpy_T, IMPLICIT, numpy_T),
    TN_KERNEL(mT, IMPLICIT, mT),
    TN_LEAF_KERNEL(expand, EXPLICIT, expand),
    TN_KERNEL(expand_as, IMPLICIT, expand_as),
    TN_KERNEL(broadcast_to, IMPLICIT, broadcast_to),
    TN_LEAF_KERNEL(squeeze, EXPLICIT, squeeze),
    TN_LEAF_KERNEL(squeeze_dim, EXPLICIT, squeeze_dim),
    TN_LEAF_KERNEL(unsqueeze, EXPLICIT, unsqueeze),
};
const composite_kernels composite_views = {kernels, TN_COUNT(kernels)};

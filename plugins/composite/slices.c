/* slices.c - views of a part: slice, select, narrow, as_strided, diagonal, unfold.
 *
 * A dimension of extent 1, or any of a tensor without elements, may have any stride, so products
 * with strides are checked: where one overflows, no element is ever reached through it and its
 * value does not matter. */
#include "composite.h"

#include <inttypes.h>

static int64_t times(int64_t a, int64_t b, int64_t otherwise)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? otherwise : product;
}

/* Moves the begin by n elements of dimension d. */
static void advance(const tn_tensor *self, int64_t d, int64_t n, composite_geometry *g)
{
    if (self->numel > 0)
        g->offset += n * self->strides[d];
}

static tn_status needs_dims(tn_call *call)
{
    return tn->fail(call, TN_ERR_INDEX,
                    "self: a tensor of 0 dimensions has none to take a part of");
}

/* ---- slice ----------------------------------------------------------------------------------- */
static int64_t clamp_bound(tn_opt_int bound, int64_t otherwise, int64_t size)
{
    int64_t b = bound.has ? bound.value : otherwise;
    if (b < 0)
        b += size;
    return b < 0 ? 0 : b > size ? size : b;
}

static tn_status slice(tn_call *call, struct tn_slice_Tensor_args *a)
{
    const tn_tensor *self = a->self;
    composite_geometry g;
    int64_t d;
    if (self->ndim == 0)
        return needs_dims(call);
    TN_TRY(composite_wrap_dim(call, "dim", a->dim, self->ndim, &d));
    if (a->step <= 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "step: expected a positive number, got %" PRId64,
                        a->step);
    int64_t size = self->sizes[d], start = clamp_bound(a->start, 0, size);
    int64_t end = clamp_bound(a->end, size, size);
    composite_geometry_of(self, &g);
    g.sizes[d] = end > start ? (end - start - 1) / a->step + 1 : 0;
    g.strides[d] = times(self->strides[d], a->step, self->strides[d]);
    advance(self, d, start, &g);
    return composite_view_of(call, a->self, &g, &a->result);
}

/* ---- select ---------------------------------------------------------------------------------- */
static tn_status select_index(tn_call *call, struct tn_select_int_args *a)
{
    const tn_tensor *self = a->self;
    composite_geometry g;
    int64_t d;
    if (self->ndim == 0)
        return needs_dims(call);
    TN_TRY(composite_wrap_dim(call, "dim", a->dim, self->ndim, &d));
    int64_t size = self->sizes[d], index = a->index;
    if (size == 0)
        return tn->fail(call, TN_ERR_INDEX,
                        "index %" PRId64 " is out of range: dimension %" PRId64 " has no elements",
                        index, d);
    if (index < -size || index >= size)
        return tn->fail(call, TN_ERR_INDEX,
                        "index %" PRId64 " is out of range [%" PRId64 ", %" PRId64
                        "] for dimension %" PRId64 " of size %" PRId64,
                        index, -size, size - 1, d, size);
    g.offset = tn->tensor_offset(self);
    g.ndim = self->ndim - 1;
    for (int64_t i = 0; i < g.ndim; i++) {
        g.sizes[i] = self->sizes[i + (i >= d)];
        g.strides[i] = self->strides[i + (i >= d)];
    }
    advance(self, d, index < 0 ? index + size : index, &g);
    return composite_view_of(call, a->self, &g, &a->result);
}

/* ---- narrow ---------------------------------------------------------------------------------- */
static tn_status narrowed(tn_call *call, tn_tensor *self, int64_t dim, int64_t start,
                          int64_t length, tn_tensor **out)
{
    int64_t d;
    if (self->ndim == 0)
        return needs_dims(call);
    TN_TRY(composite_wrap_dim(call, "dim", dim, self->ndim, &d));
    int64_t size = self->sizes[d];
    if (length < 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "length: expected 0 or more, got %" PRId64, length);
    if (start < -size || start > size)
        return tn->fail(call, TN_ERR_INDEX,
                        "start %" PRId64 " is out of range [%" PRId64 ", %" PRId64
                        "] for dimension %" PRId64,
                        start, -size, size, d);
    int64_t begin = start < 0 ? start + size : start;
    if (length > size - begin)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "start %" PRId64 " and length %" PRId64 " exceed dimension %" PRId64
                        " of size %" PRId64,
                        begin, length, d, size);
    struct tn_slice_Tensor_args f = {
        TN_FRAME(slice_Tensor),     .self = self, .dim = d, .start = {begin, 1},
        .end = {begin + length, 1}, .step = 1};
    TN_TRY(tn->op_call(composite_ops[OP_SLICE], &f));
    *out = f.result;
    return TN_OK;
}

static tn_status narrow(tn_call *call, struct tn_narrow_args *a)
{
    return narrowed(call, a->self, a->dim, a->start, a->length, &a->result);
}

/* The number in `start`, which has to be read here: it decides a shape. */
static tn_status read_start(tn_call *call, const tn_tensor *start, int64_t *out)
{
    if (start->ndim != 0 || !tn_dtype_in(start->dtype, TN_DTYPES_INTEGRAL))
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "start: expected an integer tensor of 0 dimensions, got %s of %d",
                        tn->dtype_name(start->dtype), start->ndim);
    if (start->device.type != TN_CPU || !start->data)
        return tn->fail(call, TN_ERR_DEVICE,
                        "start: its value is read on the host; move it to cpu with to() first");
    return tn->convert(call, out, TN_I64, 8, start->data, start->dtype, 8, 1);
}

static tn_status narrow_tensor(tn_call *call, struct tn_narrow_Tensor_args *a)
{
    int64_t start;
    TN_TRY(read_start(call, a->start, &start));
    return narrowed(call, a->self, a->dim, start, a->length, &a->result);
}

/* ---- free geometry --------------------------------------------------------------------------- */
static tn_status as_strided(tn_call *call, struct tn_as_strided_args *a)
{
    int64_t offset = a->storage_offset.has ? a->storage_offset.value : tn->tensor_offset(a->self);
    if (a->size.len != a->stride.len)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "size has %" PRId64 " dimensions, stride %" PRId64
                        "; they must be equally many",
                        a->size.len, a->stride.len);
    return tn->tensor_view(call, a->self, a->size.len, a->size.data, a->stride.data, offset,
                           a->self->dtype, &a->result);
}

static tn_status diagonal(tn_call *call, struct tn_diagonal_args *a)
{
    const tn_tensor *self = a->self;
    int64_t d1, d2;
    if (self->ndim < 2)
        return tn->fail(call, TN_ERR_ARGUMENT, "self: expected 2 dimensions or more, got %d",
                        self->ndim);
    TN_TRY(composite_wrap_dim(call, "dim1", a->dim1, self->ndim, &d1));
    TN_TRY(composite_wrap_dim(call, "dim2", a->dim2, self->ndim, &d2));
    if (d1 == d2)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "dim1 and dim2 must differ, both are dimension %" PRId64, d1);
    int64_t rows = self->sizes[d1], columns = self->sizes[d2];
    if (a->offset >= 0)
        columns = columns > a->offset ? columns - a->offset : 0;
    else
        rows = rows > -(a->offset + 1) ? rows + a->offset : 0;
    int64_t length = rows < columns ? rows : columns;
    composite_geometry g = {.ndim = 0, .offset = tn->tensor_offset(self)};
    for (int d = 0; d < self->ndim; d++) {
        if (d == d1 || d == d2)
            continue;
        g.sizes[g.ndim] = self->sizes[d];
        g.strides[g.ndim++] = self->strides[d];
    }
    g.sizes[g.ndim] = length;
    if (__builtin_add_overflow(self->strides[d1], self->strides[d2], &g.strides[g.ndim]))
        g.strides[g.ndim] = 0;
    g.ndim++;
    if (length > 0)
        advance(self, a->offset >= 0 ? d2 : d1, a->offset >= 0 ? a->offset : -a->offset, &g);
    return composite_view_of(call, a->self, &g, &a->result);
}

static tn_status unfold(tn_call *call, struct tn_unfold_args *a)
{
    const tn_tensor *self = a->self;
    composite_geometry g;
    int64_t d;
    TN_TRY(composite_check_rank(call, self->ndim + 1));
    TN_TRY(composite_wrap_dim(call, "dimension", a->dimension, self->ndim, &d));
    int64_t have = self->ndim ? self->sizes[d] : 1, stride = self->ndim ? self->strides[d] : 1;
    if (a->size < 0 || a->size > have)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "size: expected 0 to %" PRId64 ", the size of dimension %" PRId64
                        ", got %" PRId64,
                        have, d, a->size);
    if (a->step <= 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "step: expected a positive number, got %" PRId64,
                        a->step);
    composite_geometry_of(self, &g);
    if (self->ndim > 0) {
        g.sizes[d] = (have - a->size) / a->step + 1;
        g.strides[d] = times(stride, a->step, stride);
    }
    g.sizes[g.ndim] = a->size;
    g.strides[g.ndim++] = stride;
    return composite_view_of(call, a->self, &g, &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_LEAF_KERNEL(slice_Tensor, EXPLICIT, slice),
    TN_LEAF_KERNEL(select_int, EXPLICIT, select_index),
    TN_KERNEL(narrow, IMPLICIT, narrow),
    TN_KERNEL(narrow_Tensor, IMPLICIT, narrow_tensor),
    TN_LEAF_KERNEL(as_strided, EXPLICIT, as_strided),
    TN_LEAF_KERNEL(diagonal, EXPLICIT, diagonal),
    TN_LEAF_KERNEL(unfold, EXPLICIT, unfold),
};
const composite_kernels composite_slices = {kernels, TN_COUNT(kernels)};

/* reshaping.c - the same elements in another shape, or read as another dtype: view, view.dtype,
 * reshape, flatten, ravel, atleast_*d. view refuses what the strides do not allow; reshape copies
 * then. */
#include "composite.h"

#include <inttypes.h>

/* ---- view ------------------------------------------------------------------------------------ */
static tn_status viewed(tn_call *call, tn_tensor *self, tn_ints size, tn_tensor **out)
{
    char want[COMPOSITE_SHAPE_CHARS], got[COMPOSITE_SHAPE_CHARS], step[COMPOSITE_SHAPE_CHARS];
    composite_geometry g;
    TN_TRY(composite_infer_size(call, size, self, g.sizes));
    g.ndim = size.len;
    g.offset = tn->tensor_offset(self);
    if (!composite_view_strides(self, (tn_ints){g.sizes, g.ndim}, g.strides))
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "shape %s is no view of shape %s with strides %s: its elements are not in "
                        "one piece; use reshape(), which copies where it must",
                        composite_shape_text(want, size.len, size.data),
                        composite_shape_text(got, self->ndim, self->sizes),
                        composite_shape_text(step, self->ndim, self->strides));
    return composite_view_of(call, self, &g, out);
}

static tn_status view(tn_call *call, struct tn_view_args *a)
{
    return viewed(call, a->self, a->size, &a->result);
}

static tn_status unsafe_view(tn_call *call, struct tn__unsafe_view_args *a)
{
    return viewed(call, a->self, a->size, &a->result);
}

static tn_status view_as(tn_call *call, struct tn_view_as_args *a)
{
    (void)call;
    return op_view(a->self, composite_sizes(a->other), &a->result);
}

static tn_status reshape_alias(tn_call *call, struct tn__reshape_alias_args *a)
{
    if (a->size.len != a->stride.len)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "size has %" PRId64 " dimensions, stride %" PRId64
                        "; they must be equally many",
                        a->size.len, a->stride.len);
    return tn->tensor_view(call, a->self, a->size.len, a->size.data, a->stride.data,
                           tn->tensor_offset(a->self), a->self->dtype, &a->result);
}

/* ---- view as another dtype ------------------------------------------------------------------- */
/* The strides are given in the elements of the new dtype; the last dimension takes up the change of
 * element size. */
static tn_status to_smaller(tn_call *call, const tn_tensor *self, int64_t ratio,
                            composite_geometry *g)
{
    int64_t last = self->ndim - 1;
    if (self->sizes[last] != 1 && self->strides[last] != 1)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "dim -1 has stride %" PRId64 "; to view its elements as smaller ones it "
                        "must be 1: call contiguous() first",
                        self->strides[last]);
    for (int64_t d = 0; d < last; d++)
        if (__builtin_mul_overflow(self->strides[d], ratio, &g->strides[d]))
            g->strides[d] = 0;
    g->strides[last] = 1;
    g->offset *= ratio;
    if (__builtin_mul_overflow(self->sizes[last], ratio, &g->sizes[last]))
        return tn->fail(call, TN_ERR_OVERFLOW,
                        "overflow: dim -1 of size %" PRId64
                        " has too many elements as smaller ones",
                        self->sizes[last]);
    return TN_OK;
}

static tn_status to_larger(tn_call *call, const tn_tensor *self, int64_t ratio,
                           composite_geometry *g)
{
    int64_t last = self->ndim - 1;
    if (self->sizes[last] != 1 && self->strides[last] != 1)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "dim -1 has stride %" PRId64 "; to join its elements it must be 1: call "
                        "contiguous() first",
                        self->strides[last]);
    if (self->sizes[last] % ratio != 0 || g->offset % ratio != 0)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "dim -1 of size %" PRId64 " and the storage offset %" PRId64
                        " must be multiples of %" PRId64 " to be viewed as larger elements",
                        self->sizes[last], g->offset, ratio);
    for (int64_t d = 0; d < last; d++) {
        if (self->sizes[d] > 1 && self->numel > 0 && self->strides[d] % ratio != 0)
            return tn->fail(call, TN_ERR_ARGUMENT,
                            "dim %" PRId64 " has stride %" PRId64 ", which must be a multiple of "
                            "%" PRId64 " to be viewed as larger elements",
                            d, self->strides[d], ratio);
        g->strides[d] = self->strides[d] / ratio;
    }
    g->strides[last] = 1;
    g->offset /= ratio;
    g->sizes[last] = self->sizes[last] / ratio;
    return TN_OK;
}

static tn_status view_dtype(tn_call *call, struct tn_view_dtype_args *a)
{
    tn_tensor *self = a->self;
    composite_geometry g;
    int64_t from = (int64_t)tn->dtype_size(self->dtype), to = (int64_t)tn->dtype_size(a->dtype);
    if (to == 0)
        return tn->fail(call, TN_ERR_DTYPE, "dtype %d does not exist", a->dtype);
    if (self->ndim == 0 && from != to)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "self: a tensor of 0 dimensions cannot be viewed from %s as %s, whose "
                        "elements have another size",
                        tn->dtype_name(self->dtype), tn->dtype_name(a->dtype));
    composite_geometry_of(self, &g);
    if (to < from)
        TN_TRY(to_smaller(call, self, from / to, &g));
    else if (to > from)
        TN_TRY(to_larger(call, self, to / from, &g));
    uintptr_t align = a->dtype == TN_C64 ? 4 : a->dtype == TN_C128 ? 8 : (uintptr_t)to;
    if ((uintptr_t)self->data % align != 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "the data is not aligned for %s: clone() it first",
                        tn->dtype_name(a->dtype));
    tn_tensor *view; /* bits read as another number: no gradient flows through, nor do histories */
    TN_TRY(tn->tensor_view(call, self, g.ndim, g.sizes, g.strides, g.offset, a->dtype, &view));
    tn_status status = tn->tensor_detached(call, view, &a->result);
    tn->tensor_release(view);
    return status;
}

/* ---- reshape --------------------------------------------------------------------------------- */
static tn_status copied(tn_tensor *self, tn_ints size, tn_tensor **out)
{
    tn_tensor *copy;
    TN_TRY(op_clone(self, TN_CONTIGUOUS, &copy));
    struct tn__unsafe_view_args f = {TN_FRAME(_unsafe_view), .self = copy, .size = size};
    tn_status status = tn->op_call(composite_ops[OP__UNSAFE_VIEW], &f);
    tn->tensor_release(copy);
    *out = f.result;
    return status;
}

tn_status composite_reshape(tn_call *call, tn_tensor *self, tn_ints size, tn_tensor **out)
{
    int64_t sizes[TN_MAX_DIMS], strides[TN_MAX_DIMS];
    TN_TRY(composite_infer_size(call, size, self, sizes));
    tn_ints known = {sizes, size.len};
    return composite_view_strides(self, known, strides) ? op_view(self, known, out)
                                                        : copied(self, known, out);
}

static tn_status reshape(tn_call *call, struct tn_reshape_args *a)
{
    return composite_reshape(call, a->self, a->shape, &a->result);
}

static tn_status reshape_as(tn_call *call, struct tn_reshape_as_args *a)
{
    return composite_reshape(call, a->self, composite_sizes(a->other), &a->result);
}

static tn_status ravel(tn_call *call, struct tn_ravel_args *a)
{
    return composite_reshape(call, a->self, (tn_ints){&a->self->numel, 1}, &a->result);
}

static tn_status flatten(tn_call *call, struct tn_flatten_using_ints_args *a)
{
    tn_tensor *self = a->self;
    int64_t start = 0, end = 0, sizes[TN_MAX_DIMS], n = 0;
    TN_TRY(composite_wrap_dim(call, "start_dim", a->start_dim, self->ndim, &start));
    TN_TRY(composite_wrap_dim(call, "end_dim", a->end_dim, self->ndim, &end));
    if (start > end)
        return tn->fail(call, TN_ERR_ARGUMENT, "start_dim %" PRId64 " comes after end_dim %" PRId64,
                        start, end);
    if (self->ndim == 0)
        return composite_reshape(call, self, (tn_ints){&self->numel, 1}, &a->result);
    if (start == end)
        return composite_return_self(self, &a->result);
    for (int64_t d = 0; d < self->ndim; d++) {
        bool joins = d > start && d <= end;
        if (!joins)
            sizes[n++] = self->sizes[d];
        else if (__builtin_mul_overflow(sizes[n - 1], self->sizes[d], &sizes[n - 1]))
            return tn->fail(call, TN_ERR_OVERFLOW,
                            "overflow: the joined dimension has more than 2^63 elements");
    }
    return composite_reshape(call, self, (tn_ints){sizes, n}, &a->result);
}

/* ---- at least n dimensions ------------------------------------------------------------------- */
static const int64_t ones[3] = {1, 1, 1};

static tn_status atleast_1d(tn_call *call, struct tn_atleast_1d_args *a)
{
    return a->self->ndim == 0 ? composite_reshape(call, a->self, (tn_ints){ones, 1}, &a->result)
                              : composite_return_self(a->self, &a->result);
}

static tn_status atleast_2d(tn_call *call, struct tn_atleast_2d_args *a)
{
    switch (a->self->ndim) {
    case 0:
        return composite_reshape(call, a->self, (tn_ints){ones, 2}, &a->result);
    case 1:
        return op_unsqueeze(a->self, 0, &a->result);
    default:
        return composite_return_self(a->self, &a->result);
    }
}

/* A vector becomes [1, n, 1], a matrix [n, m, 1]. */
static tn_status atleast_3d(tn_call *call, struct tn_atleast_3d_args *a)
{
    tn_tensor *row;
    tn_status status;
    switch (a->self->ndim) {
    case 0:
        return composite_reshape(call, a->self, (tn_ints){ones, 3}, &a->result);
    case 1:
        TN_TRY(op_unsqueeze(a->self, 0, &row));
        status = op_unsqueeze(row, -1, &a->result);
        tn->tensor_release(row);
        return status;
    case 2:
        return op_unsqueeze(a->self, -1, &a->result);
    default:
        return composite_return_self(a->self, &a->result);
    }
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(view, EXPLICIT, view),
    TN_KERNEL(view_dtype, EXPLICIT, view_dtype),
    TN_KERNEL(view_as, IMPLICIT, view_as),
    TN_KERNEL(_reshape_alias, EXPLICIT, reshape_alias),
    TN_KERNEL(_unsafe_view, EXPLICIT, unsafe_view),
    TN_KERNEL(reshape, IMPLICIT, reshape),
    TN_KERNEL(reshape_as, IMPLICIT, reshape_as),
    TN_KERNEL(ravel, IMPLICIT, ravel),
    TN_KERNEL(flatten_using_ints, IMPLICIT, flatten),
    TN_KERNEL(atleast_1d, IMPLICIT, atleast_1d),
    TN_KERNEL(atleast_2d, IMPLICIT, atleast_2d),
    TN_KERNEL(atleast_3d, IMPLICIT, atleast_3d),
};
const composite_kernels composite_reshaping = {kernels, TN_COUNT(kernels)};

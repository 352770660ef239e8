/* split.c - lists of views: unbind, split, split_with_sizes, chunk, broadcast_tensors.
 *
 * The list is made whole or not at all: the first failure releases what it holds. */
#include "composite.h"

#include <inttypes.h>

static tn_status finish(tn_status status, tn_tensors *list, tn_tensors *out)
{
    if (status == TN_OK)
        *out = *list;
    else
        tn->tensors_release(list);
    return status;
}

/* A dimension to take apart: there must be one. */
static tn_status find_dim(tn_call *call, const tn_tensor *self, int64_t dim, int64_t *out)
{
    if (self->ndim == 0)
        return tn->fail(call, TN_ERR_INDEX,
                        "self: a tensor of 0 dimensions has none to take apart");
    return composite_wrap_dim(call, "dim", dim, self->ndim, out);
}

/* Elements begin .. begin + length - 1 of dimension d. */
static tn_status part(tn_call *call, tn_tensor *self, int64_t d, int64_t begin, int64_t length,
                      tn_tensor **out)
{
    composite_geometry g;
    composite_geometry_of(self, &g);
    g.sizes[d] = length;
    if (self->numel > 0)
        g.offset += begin * self->strides[d];
    return composite_view_of(call, self, &g, out);
}

static tn_status unbind(tn_call *call, struct tn_unbind_int_args *a)
{
    tn_tensor *self = a->self;
    tn_tensors list;
    composite_geometry g;
    int64_t d = 0;
    TN_TRY(find_dim(call, self, a->dim, &d));
    TN_TRY(tn->tensors_new(call, self->sizes[d], &list));
    g.ndim = self->ndim - 1;
    g.offset = tn->tensor_offset(self);
    for (int64_t i = 0; i < g.ndim; i++) {
        g.sizes[i] = self->sizes[i + (i >= d)];
        g.strides[i] = self->strides[i + (i >= d)];
    }
    tn_status status = TN_OK;
    for (int64_t i = 0; i < list.len && status == TN_OK; i++) {
        status = composite_view_of(call, self, &g, &list.data[i]);
        if (self->numel > 0)
            g.offset += self->strides[d];
    }
    return finish(status, &list, &a->result);
}

static tn_status split(tn_call *call, struct tn_split_Tensor_args *a)
{
    tn_tensor *self = a->self;
    tn_tensors list;
    int64_t d = 0, piece = a->split_size;
    TN_TRY(find_dim(call, self, a->dim, &d));
    int64_t size = self->sizes[d];
    if (piece < 0 || (piece == 0 && size != 0))
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "split_size: expected a positive number for dimension %" PRId64
                        " of size %" PRId64 ", got %" PRId64,
                        d, size, piece);
    int64_t pieces = size == 0 ? 1 : (size - 1) / piece + 1;
    TN_TRY(tn->tensors_new(call, pieces, &list));
    tn_status status = TN_OK;
    for (int64_t i = 0; i < pieces && status == TN_OK; i++) {
        int64_t begin = i * piece, length = size - begin < piece ? size - begin : piece;
        status = part(call, self, d, begin, length, &list.data[i]);
    }
    return finish(status, &list, &a->result);
}

static tn_status check_split_sizes(tn_call *call, tn_ints sizes, int64_t d, int64_t size)
{
    char text[COMPOSITE_SHAPE_CHARS];
    int64_t sum = 0;
    bool wrong = sizes.len < 0;
    for (int64_t i = 0; i < sizes.len; i++)
        wrong |= sizes.data[i] < 0 || __builtin_add_overflow(sum, sizes.data[i], &sum);
    if (!wrong && sum == size)
        return TN_OK;
    return tn->fail(call, TN_ERR_ARGUMENT,
                    "split_sizes %s must not be negative and add up to %" PRId64
                    ", the size of dimension %" PRId64,
                    composite_shape_text(text, sizes.len, sizes.data), size, d);
}

static tn_status split_with_sizes(tn_call *call, struct tn_split_with_sizes_args *a)
{
    tn_tensor *self = a->self;
    tn_tensors list;
    int64_t d = 0, begin = 0;
    TN_TRY(find_dim(call, self, a->dim, &d));
    TN_TRY(check_split_sizes(call, a->split_sizes, d, self->sizes[d]));
    TN_TRY(tn->tensors_new(call, a->split_sizes.len, &list));
    tn_status status = TN_OK;
    for (int64_t i = 0; i < list.len && status == TN_OK; i++) {
        status = part(call, self, d, begin, a->split_sizes.data[i], &list.data[i]);
        begin += a->split_sizes.data[i];
    }
    return finish(status, &list, &a->result);
}

/* ---- chunk ----------------------------------------------------------------------------------- */
/* A dimension of size 0 gives as many empty chunks as were asked for. */
static tn_status empty_chunks(tn_call *call, tn_tensor *self, int64_t chunks, int64_t d,
                              tn_tensors *out)
{
    if (chunks > INT64_MAX / 8)
        return tn->fail(call, TN_ERR_OVERFLOW, "overflow: %" PRId64 " chunks cannot be listed",
                        chunks);
    int64_t *sizes = tn->scratch(call, (size_t)chunks * sizeof *sizes);
    if (!sizes)
        return TN_ERR_MEMORY;
    for (int64_t i = 0; i < chunks; i++)
        sizes[i] = 0;
    struct tn_split_with_sizes_args f = {TN_FRAME(split_with_sizes), .self = self,
                                         .split_sizes = {sizes, chunks}, .dim = d};
    TN_TRY(tn->op_call(composite_ops[OP_SPLIT_WITH_SIZES], &f));
    *out = f.result;
    return TN_OK;
}

static tn_status chunk(tn_call *call, struct tn_chunk_args *a)
{
    int64_t d = 0;
    TN_TRY(find_dim(call, a->self, a->dim, &d));
    if (a->chunks <= 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "chunks: expected a positive number, got %" PRId64,
                        a->chunks);
    int64_t size = a->self->sizes[d];
    if (size == 0)
        return empty_chunks(call, a->self, a->chunks, d, &a->result);
    struct tn_split_Tensor_args f = {TN_FRAME(split_Tensor), .self = a->self,
                                     .split_size = (size - 1) / a->chunks + 1, .dim = d};
    TN_TRY(tn->op_call(composite_ops[OP_SPLIT], &f));
    a->result = f.result;
    return TN_OK;
}

/* ---- broadcast_tensors ----------------------------------------------------------------------- */
static tn_status broadcast_tensors(tn_call *call, struct tn_broadcast_tensors_args *a)
{
    int64_t sizes[TN_MAX_DIMS], ndim = 0;
    tn_tensors list;
    TN_TRY(composite_check_list(call, "tensors", a->tensors));
    for (int64_t i = 0; i < a->tensors.len; i++)
        TN_TRY(composite_broadcast(call, composite_sizes(a->tensors.data[i]), sizes, &ndim));
    TN_TRY(tn->tensors_new(call, a->tensors.len > 0 ? a->tensors.len : 0, &list));
    tn_status status = TN_OK;
    for (int64_t i = 0; i < list.len && status == TN_OK; i++)
        status = op_expand(a->tensors.data[i], (tn_ints){sizes, ndim}, &list.data[i]);
    return finish(status, &list, &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(unbind_int, EXPLICIT, unbind),
    TN_KERNEL(split_Tensor, EXPLICIT, split),
    TN_KERNEL(split_with_sizes, EXPLICIT, split_with_sizes),
    TN_KERNEL(chunk, IMPLICIT, chunk),
    TN_KERNEL(broadcast_tensors, IMPLICIT, broadcast_tensors),
};
const composite_kernels composite_split = {kernels, TN_COUNT(kernels)};

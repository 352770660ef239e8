/* shape.c - arithmetic on dims, sizes and strides that the families share. Nothing here overflows,
 * whatever the numbers: strides of dimensions of extent 1 and of tensors without elements may hold
 * anything. */
#include "composite.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *composite_shape_text(char buf[COMPOSITE_SHAPE_CHARS], int64_t ndim,
                                 const int64_t *sizes)
{
    enum { LONGEST_ITEM = 22, ROOM_FOR_DOTS = 8 };
    int at = snprintf(buf, COMPOSITE_SHAPE_CHARS, "[");
    for (int64_t i = 0; i < ndim; i++) {
        size_t left = (size_t)(COMPOSITE_SHAPE_CHARS - at);
        if (left < LONGEST_ITEM + ROOM_FOR_DOTS) {
            at += snprintf(buf + at, left, ", ...");
            break;
        }
        at += snprintf(buf + at, left, "%s%" PRId64, i ? ", " : "", sizes[i]);
    }
    snprintf(buf + at, (size_t)(COMPOSITE_SHAPE_CHARS - at), "]");
    return buf;
}

void composite_geometry_of(const tn_tensor *self, composite_geometry *g)
{
    g->ndim = self->ndim;
    g->offset = tn->tensor_offset(self);
    for (int d = 0; d < self->ndim; d++) {
        g->sizes[d] = self->sizes[d];
        g->strides[d] = self->strides[d];
    }
}

void composite_geometry_squeeze(const tn_tensor *self, uint64_t drop, composite_geometry *g)
{
    g->ndim = 0;
    g->offset = tn->tensor_offset(self);
    for (int d = 0; d < self->ndim; d++) {
        if (self->sizes[d] == 1 && drop >> d & 1)
            continue;
        g->sizes[g->ndim] = self->sizes[d];
        g->strides[g->ndim++] = self->strides[d];
    }
}

/* The new dimension's stride is that of a row-major neighbour, so that a contiguous tensor's view
 * looks like one. */
void composite_geometry_insert(const tn_tensor *self, int64_t at, composite_geometry *g)
{
    g->ndim = self->ndim + 1;
    g->offset = tn->tensor_offset(self);
    for (int64_t d = 0; d < at; d++) {
        g->sizes[d] = self->sizes[d];
        g->strides[d] = self->strides[d];
    }
    g->sizes[at] = 1;
    if (at == self->ndim ||
        __builtin_mul_overflow(self->sizes[at], self->strides[at], &g->strides[at]))
        g->strides[at] = 1;
    for (int64_t d = at; d < self->ndim; d++) {
        g->sizes[d + 1] = self->sizes[d];
        g->strides[d + 1] = self->strides[d];
    }
}

tn_status composite_bad_dim(tn_call *call, const char *name, int64_t dim, int64_t ndim)
{
    int64_t n = ndim ? ndim : 1;
    return tn->fail(call, TN_ERR_INDEX,
                    "%s %" PRId64 " is out of range [%" PRId64 ", %" PRId64 "] for %" PRId64
                    " dimensions",
                    name, dim, -n, n - 1, ndim);
}

tn_status composite_check_rank(tn_call *call, int64_t len)
{
    if (len >= 0 && len <= TN_MAX_DIMS)
        return TN_OK;
    return tn->fail(call, TN_ERR_ARGUMENT, "a tensor has at most %d dimensions, got %" PRId64,
                    TN_MAX_DIMS, len);
}

tn_status composite_check_list(tn_call *call, const char *name, tn_tensors list)
{
    for (int64_t i = 0; i < list.len; i++) {
        if (!list.data[i])
            return tn->fail(call, TN_ERR_ARGUMENT,
                            "%s[%" PRId64 "] is missing: a tensor is required", name, i);
    }
    return TN_OK;
}

tn_status composite_row_major(tn_call *call, tn_ints size, int64_t *strides, int64_t *numel)
{
    char text[COMPOSITE_SHAPE_CHARS];
    int64_t running = 1;
    bool empty = false;
    for (int64_t d = size.len - 1; d >= 0; d--) {
        int64_t n = size.data[d];
        if (n < 0)
            return tn->fail(call, TN_ERR_ARGUMENT,
                            "size %" PRId64 " of dimension %" PRId64 " is negative in shape %s", n,
                            d, composite_shape_text(text, size.len, size.data));
        strides[d] = running;
        empty |= n == 0;
        if (__builtin_mul_overflow(running, n ? n : 1, &running))
            return tn->fail(call, TN_ERR_OVERFLOW,
                            "overflow: the elements or strides of shape %s do not fit in 63 bits",
                            composite_shape_text(text, size.len, size.data));
    }
    *numel = empty ? 0 : running;
    return TN_OK;
}

/* ---- view and reshape ------------------------------------------------------------------------ */
static TN_COLD tn_status bad_count(tn_call *call, tn_ints size, const tn_tensor *self)
{
    char want[COMPOSITE_SHAPE_CHARS], got[COMPOSITE_SHAPE_CHARS];
    return tn->fail(call, TN_ERR_ARGUMENT,
                    "shape %s does not hold the %" PRId64 " elements of a tensor of shape %s",
                    composite_shape_text(want, size.len, size.data), self->numel,
                    composite_shape_text(got, self->ndim, self->sizes));
}

/* Where the -1 stands, or -1; *others is the product of the other sizes. */
static tn_status find_unknown(tn_call *call, tn_ints size, int64_t *unknown, int64_t *others)
{
    char text[COMPOSITE_SHAPE_CHARS];
    int64_t at = -1, product = 1;
    bool empty = false, overflow = false;
    *unknown = at;
    *others = product;
    for (int64_t d = 0; d < size.len; d++) {
        int64_t n = size.data[d];
        if (n < -1 || (n == -1 && at >= 0))
            return tn->fail(call, TN_ERR_ARGUMENT,
                            "shape %s may hold one -1, and no other negative size",
                            composite_shape_text(text, size.len, size.data));
        empty |= n == 0;
        if (n == -1)
            at = d;
        else
            overflow |= __builtin_mul_overflow(product, n ? n : 1, &product);
    }
    if (overflow)
        return tn->fail(call, TN_ERR_OVERFLOW,
                        "overflow: the elements or strides of shape %s do not fit in 63 bits",
                        composite_shape_text(text, size.len, size.data));
    *unknown = at;
    *others = empty ? 0 : product;
    return TN_OK;
}

tn_status composite_infer_size(tn_call *call, tn_ints size, const tn_tensor *self, int64_t *out)
{
    char text[COMPOSITE_SHAPE_CHARS];
    int64_t unknown, others;
    TN_TRY(composite_check_rank(call, size.len));
    TN_TRY(find_unknown(call, size, &unknown, &others));
    for (int64_t d = 0; d < size.len; d++)
        out[d] = size.data[d];
    if (unknown < 0)
        return others == self->numel ? TN_OK : bad_count(call, size, self);
    if (others == 0 && self->numel == 0)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "-1 is ambiguous in shape %s: another size is 0, so any value would do",
                        composite_shape_text(text, size.len, size.data));
    if (others == 0 || self->numel % others != 0)
        return bad_count(call, size, self);
    out[unknown] = self->numel / others;
    return TN_OK;
}

/* Neighbouring dimensions of self that are one piece of memory must be cut into whole new ones. */
static bool strides_by_pieces(const tn_tensor *self, tn_ints size, int64_t *strides)
{
    int64_t base = self->strides[self->ndim - 1], old_count = 1, new_count = 1, v = size.len - 1;
    for (int64_t d = self->ndim - 1; d >= 0; d--) {
        old_count *= self->sizes[d];
        bool ends = d == 0 || (self->sizes[d - 1] != 1 && self->strides[d - 1] != old_count * base);
        if (!ends)
            continue;
        for (; v >= 0 && (new_count < old_count || size.data[v] == 1); v--) {
            strides[v] = new_count * base;
            new_count *= size.data[v];
        }
        if (new_count != old_count)
            return false;
        if (d > 0)
            base = self->strides[d - 1];
        old_count = new_count = 1;
    }
    return v < 0;
}

bool composite_view_strides(const tn_tensor *self, tn_ints size, int64_t *strides)
{
    if (!(self->flags & TN_TENSOR_CONTIGUOUS) && self->ndim > 0)
        return strides_by_pieces(self, size, strides);
    int64_t running = 1;
    for (int64_t d = size.len - 1; d >= 0; d--) {
        strides[d] = running;
        (void)__builtin_mul_overflow(running, size.data[d] ? size.data[d] : 1, &running);
    }
    return true;
}

/* ---- broadcasting ---------------------------------------------------------------------------- */
tn_status composite_broadcast(tn_call *call, tn_ints shape, int64_t *sizes, int64_t *ndim)
{
    char a[COMPOSITE_SHAPE_CHARS], b[COMPOSITE_SHAPE_CHARS];
    int64_t before = *ndim;
    if (shape.len > before) {
        memmove(sizes + (shape.len - before), sizes, (size_t)before * sizeof *sizes);
        for (int64_t d = 0; d < shape.len - before; d++)
            sizes[d] = 1;
        *ndim = shape.len;
    }
    int64_t skip = *ndim - shape.len;
    for (int64_t d = 0; d < shape.len; d++) {
        int64_t *n = &sizes[skip + d];
        if (*n == 1)
            *n = shape.data[d];
        else if (shape.data[d] != 1 && shape.data[d] != *n)
            return tn->fail(call, TN_ERR_ARGUMENT,
                            "shapes %s and %s do not broadcast: %" PRId64 " and %" PRId64
                            " differ and neither is 1",
                            composite_shape_text(a, *ndim, sizes),
                            composite_shape_text(b, shape.len, shape.data), *n, shape.data[d]);
    }
    return TN_OK;
}

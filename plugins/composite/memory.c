/* memory.c - set_, resize_, resize_as_: other memory or another shape for a tensor that is there.
 *
 * Memory never grows under the tensors that share it, whose pointers would dangle: a tensor that
 * outgrows its memory moves to a new one, with the old elements at its begin, and is an alias of
 * nobody any more. What lies beyond the old elements is undefined. */
#include "composite.h"

#include <inttypes.h>

static tn_status replace(tn_call *call, tn_tensor *self, tn_tensor *of, const composite_geometry *g)
{
    return tn->tensor_set_memory(call, self, of, g->ndim, g->sizes, g->strides, g->offset);
}

/* ---- set_ ------------------------------------------------------------------------------------ */
static tn_status set_tensor(tn_call *call, struct tn_set__source_Tensor_args *a)
{
    composite_geometry g;
    composite_geometry_of(a->source, &g);
    TN_TRY(replace(call, a->self, a->source, &g));
    return composite_return_self(a->self, &a->result);
}

static tn_status set_part(tn_call *call, struct tn_set__source_Tensor_storage_offset_args *a)
{
    composite_geometry g = {.ndim = a->size.len, .offset = a->storage_offset};
    int64_t numel;
    TN_TRY(composite_check_rank(call, a->size.len));
    if (a->stride.len && a->stride.len != a->size.len)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "size has %" PRId64 " dimensions, stride %" PRId64
                        "; they must be equally many, or stride empty",
                        a->size.len, a->stride.len);
    TN_TRY(composite_row_major(call, a->size, g.strides, &numel));
    for (int64_t d = 0; d < g.ndim; d++) {
        g.sizes[d] = a->size.data[d];
        if (a->stride.len)
            g.strides[d] = a->stride.data[d];
    }
    TN_TRY(replace(call, a->self, a->source, &g));
    return composite_return_self(a->self, &a->result);
}

static tn_status set_nothing(tn_call *call, struct tn_set__args *a)
{
    static const int64_t none = 0, one = 1;
    tn_tensor *empty;
    TN_TRY(tn->tensor_new(call, 1, &none, a->self->dtype, a->self->device, &empty));
    tn_status status = tn->tensor_set_memory(call, a->self, empty, 1, &none, &one, 0);
    tn->tensor_release(empty);
    return status == TN_OK ? composite_return_self(a->self, &a->result) : status;
}

/* ---- resize_ --------------------------------------------------------------------------------- */
/* The strides that a new tensor of that format has. */
static tn_status strides_of(tn_call *call, tn_ints size, tn_memory_format format, tn_dtype dtype,
                            composite_geometry *g)
{
    tn_tensor *shape;
    TN_TRY(composite_new(call, size, format == TN_FORMAT_NONE ? TN_CONTIGUOUS : format, NULL, dtype,
                         (tn_device){TN_META, 0}, &shape));
    int64_t offset = g->offset;
    composite_geometry_of(shape, g);
    g->offset = offset;
    tn->tensor_release(shape);
    return TN_OK;
}

/* Elements from the memory's begin to the last one; sizes were checked for overflow. */
static int64_t reach_of(const composite_geometry *g)
{
    int64_t last = g->offset;
    for (int64_t d = 0; d < g->ndim; d++) {
        if (g->sizes[d] == 0)
            return 0;
        last += (g->sizes[d] - 1) * g->strides[d];
    }
    return last + 1;
}

static tn_status copy_elements(tn_call *call, tn_tensor *into, tn_tensor *from, int64_t n)
{
    static const int64_t one = 1;
    tn_tensor *old, *begin = NULL;
    if (n == 0)
        return TN_OK;
    TN_TRY(tn->tensor_view(call, from, 1, &n, &one, 0, from->dtype, &old));
    tn_status status = tn->tensor_view(call, into, 1, &n, &one, 0, into->dtype, &begin);
    if (status == TN_OK)
        status = op_copy_(begin, old, false, NULL);
    tn->tensor_release(begin);
    tn->tensor_release(old);
    return status;
}

static tn_status move_to_larger(tn_call *call, tn_tensor *self, int64_t held, int64_t needed,
                                const composite_geometry *g)
{
    tn_tensor *larger;
    TN_TRY(tn->tensor_new(call, 1, &needed, self->dtype, self->device, &larger));
    tn_status status = copy_elements(call, larger, self, held);
    if (status == TN_OK)
        status = replace(call, self, larger, g);
    tn->tensor_release(larger);
    return status;
}

static bool has_sizes(const tn_tensor *t, tn_ints size)
{
    bool same = t->ndim == size.len;
    for (int64_t d = 0; same && d < size.len; d++)
        same = t->sizes[d] == size.data[d];
    return same;
}

/* A tensor that has the size keeps its strides, unless a format is asked for. */
static tn_status resize(tn_call *call, tn_tensor *self, tn_ints size, tn_memory_format format,
                        tn_tensor **out)
{
    composite_geometry g;
    composite_geometry_of(self, &g);
    TN_TRY(replace(call, self, self, &g)); /* what must not be resized is refused here */
    if (format != TN_FORMAT_NONE || !has_sizes(self, size)) {
        TN_TRY(strides_of(call, size, format, self->dtype, &g));
        int64_t needed = reach_of(&g), bytes = (int64_t)tn->dtype_size(self->dtype);
        int64_t held = tn->tensor_storage_bytes(self) / bytes;
        TN_TRY(needed > held ? move_to_larger(call, self, held, needed, &g)
                             : replace(call, self, self, &g));
    }
    return composite_return_self(self, out);
}

static tn_status resize_(tn_call *call, struct tn_resize__args *a)
{
    return resize(call, a->self, a->size, a->memory_format, &a->result);
}

static tn_status resize_as_(tn_call *call, struct tn_resize_as__args *a)
{
    tn_memory_format format = a->memory_format;
    if (format == TN_PRESERVE) {
        bool row_major = composite_has_format(a->the_template, TN_CONTIGUOUS);
        format = row_major                                                    ? TN_CONTIGUOUS
                 : composite_has_format(a->the_template, TN_CHANNELS_LAST)    ? TN_CHANNELS_LAST
                 : composite_has_format(a->the_template, TN_CHANNELS_LAST_3D) ? TN_CHANNELS_LAST_3D
                                                                              : TN_CONTIGUOUS;
    }
    return resize(call, a->self, composite_sizes(a->the_template), format, &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(set__source_Tensor, EXPLICIT, set_tensor),
    TN_KERNEL(set__source_Tensor_storage_offset, EXPLICIT, set_part),
    TN_KERNEL(set_, EXPLICIT, set_nothing),
    TN_KERNEL(resize_, EXPLICIT, resize_),
    TN_KERNEL(resize_as_, EXPLICIT, resize_as_),
};
const composite_kernels composite_memory = {kernels, TN_COUNT(kernels)};

/* format.c - memory formats, and the options that every factory takes: what a new tensor's strides,
 * dtype and device are. */
#include "composite.h"

#include <inttypes.h>

/* ---- channels last --------------------------------------------------------------------------- */
/* The dimensions from the innermost to the outermost: channels, then space from its last, batch. */
static const uint8_t order_2d[] = {1, 3, 2, 0}, order_3d[] = {1, 4, 3, 2, 0};

static const uint8_t *channels_last_order(tn_memory_format format, int64_t ndim)
{
    if (format == TN_CHANNELS_LAST && ndim == 4)
        return order_2d;
    if (format == TN_CHANNELS_LAST_3D && ndim == 5)
        return order_3d;
    return NULL;
}

bool composite_has_format(const tn_tensor *self, tn_memory_format format)
{
    if (format == TN_CONTIGUOUS)
        return self->flags & TN_TENSOR_CONTIGUOUS;
    const uint8_t *order = channels_last_order(format, self->ndim);
    if (!order)
        return false;
    int64_t expected = 1;
    for (int i = 0; i < self->ndim && self->numel; i++) {
        int64_t n = self->sizes[order[i]];
        if (n == 1)
            continue;
        if (self->strides[order[i]] != expected)
            return false;
        expected *= n;
    }
    return true;
}

static TN_COLD tn_status bad_format(tn_call *call, tn_memory_format format, int64_t ndim)
{
    if (format == TN_CHANNELS_LAST || format == TN_CHANNELS_LAST_3D)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "memory_format %s needs a tensor of %d dimensions, got %" PRId64,
                        format == TN_CHANNELS_LAST ? "channels_last" : "channels_last_3d",
                        format == TN_CHANNELS_LAST ? 4 : 5, ndim);
    if (format == TN_PRESERVE)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "memory_format preserve_format needs a tensor to take the order from");
    return tn->fail(call, TN_ERR_ARGUMENT, "memory_format %d does not exist", format);
}

/* ---- strides of a new tensor ----------------------------------------------------------------- */
static tn_status new_in_order(tn_call *call, tn_ints size, const uint8_t *order, tn_dtype dtype,
                              tn_device device, tn_tensor **out)
{
    int64_t strides[TN_MAX_DIMS], numel, running = 1;
    TN_TRY(composite_row_major(call, size, strides, &numel));
    for (int64_t i = 0; i < size.len; i++) {
        int64_t n = size.data[order[i]];
        strides[order[i]] = running;
        running *= n ? n : 1;
    }
    return tn->tensor_new_strided(call, size.len, size.data, strides, dtype, device, out);
}

/* The order of like's dimensions by stride, smallest first. A stride of 0 (a broadcast dimension)
 * says nothing about order, so such a dimension stays beside its neighbours; equal strides are
 * ordered by size. */
static void order_of(const tn_tensor *like, uint8_t *order)
{
    int n = like->ndim;
    for (int i = 0; i < n; i++) {
        int d = n - 1 - i, at = i;
        for (int j = i - 1; j >= 0; j--) {
            int64_t a = like->strides[order[j]], b = like->strides[d];
            if (a == 0 || b == 0)
                continue;
            bool inner = b < a || (b == a && like->sizes[d] < like->sizes[order[j]]);
            if (!inner)
                break;
            at = j;
        }
        for (int j = i; j > at; j--)
            order[j] = order[j - 1];
        order[at] = (uint8_t)d;
    }
}

static tn_status new_like(tn_call *call, const tn_tensor *like, tn_dtype dtype, tn_device device,
                          tn_tensor **out)
{
    if (like->flags & TN_TENSOR_CONTIGUOUS)
        return tn->tensor_new(call, like->ndim, like->sizes, dtype, device, out);
    if (like->flags & TN_TENSOR_DENSE)
        return tn->tensor_new_strided(call, like->ndim, like->sizes, like->strides, dtype, device,
                                      out);
    uint8_t order[TN_MAX_DIMS];
    order_of(like, order);
    return new_in_order(call, composite_sizes(like), order, dtype, device, out);
}

tn_status composite_new(tn_call *call, tn_ints size, tn_memory_format format, const tn_tensor *like,
                        tn_dtype dtype, tn_device device, tn_tensor **out)
{
    if (format == TN_CONTIGUOUS || format == TN_FORMAT_NONE)
        return tn->tensor_new(call, size.len, size.data, dtype, device, out);
    if (format == TN_PRESERVE && like)
        return new_like(call, like, dtype, device, out);
    const uint8_t *order = channels_last_order(format, size.len);
    if (!order)
        return bad_format(call, format, size.len);
    return new_in_order(call, size, order, dtype, device, out);
}

/* ---- options --------------------------------------------------------------------------------- */
tn_status composite_check_options(tn_call *call, tn_layout layout, tn_opt_bool pin_memory)
{
    if (layout != TN_LAYOUT_NONE && layout != TN_STRIDED)
        return tn->fail(call, TN_ERR_UNSUPPORTED,
                        "layout %d is not supported: every tensor is strided (layout 0)", layout);
    if (pin_memory == 1)
        return tn->fail(call, TN_ERR_UNSUPPORTED,
                        "pin_memory=true is not supported: no loaded plugin provides pinned host "
                        "memory; leave pin_memory out");
    return TN_OK;
}

tn_dtype composite_dtype_of_number(const tn_scalar *s)
{
    switch (s->kind) {
    case TN_SCALAR_BOOL:
        return TN_BOOL;
    case TN_SCALAR_INT:
        return TN_I64;
    case TN_SCALAR_COMPLEX:
        return tn->default_dtype() == TN_F64 ? TN_C128 : TN_C64;
    default:
        return tn->default_dtype();
    }
}

tn_status composite_filled(tn_call *call, tn_tensor *fresh, const tn_scalar *value, tn_tensor **out)
{
    tn_status status;
    bool complex = value->kind == TN_SCALAR_COMPLEX && value->v.c[1] != 0;
    if (complex && !(TN_DTYPES_COMPLEX & TN_DTYPE_BIT(fresh->dtype)))
        status = tn->fail(call, TN_ERR_DTYPE,
                          "a complex fill value does not fit in %s; give dtype=complex64, say",
                          tn->dtype_name(fresh->dtype));
    else
        status = op_fill_(fresh, *value, NULL);
    if (status != TN_OK) {
        tn->tensor_release(fresh);
        fresh = NULL;
    }
    *out = fresh;
    return status;
}

/* likes.c - new tensors after an existing one: empty_like and its kin take its shape, new_empty and
 * its kin a shape of their own; both take dtype and device from it unless told otherwise. The
 * memory order of *_like is kept by default. */
#include "composite.h"

#include <inttypes.h>

static const tn_scalar zero = {.v.i = 0, .kind = TN_SCALAR_INT};
static const tn_scalar one = {.v.i = 1, .kind = TN_SCALAR_INT};

typedef struct options {
    tn_dtype dtype;
    tn_layout layout;
    tn_device device;
    tn_opt_bool pin_memory;
    tn_memory_format format;
} options;

/* `value` NULL: uninitialised. */
static tn_status make(tn_call *call, tn_ints size, const tn_tensor *self, const options *o,
                      const tn_scalar *value, tn_tensor **out)
{
    tn_tensor *fresh;
    TN_TRY(composite_check_options(call, o->layout, o->pin_memory));
    TN_TRY(composite_new(call, size, o->format, self,
                         o->dtype != TN_DTYPE_NONE ? o->dtype : self->dtype,
                         composite_device_or(o->device, self->device), &fresh));
    if (value)
        return composite_filled(call, fresh, value, out);
    *out = fresh;
    return TN_OK;
}

/* ---- of self's shape ------------------------------------------------------------------------- */
static tn_status make_like(tn_call *call, const tn_tensor *self, options o, const tn_scalar *value,
                           tn_tensor **out)
{
    if (o.format == TN_FORMAT_NONE)
        o.format = TN_PRESERVE;
    return make(call, composite_sizes(self), self, &o, value, out);
}

static tn_status empty_like(tn_call *call, struct tn_empty_like_args *a)
{
    options o = {a->dtype, a->layout, a->device, a->pin_memory, a->memory_format};
    return make_like(call, a->self, o, NULL, &a->result);
}

static tn_status zeros_like(tn_call *call, struct tn_zeros_like_args *a)
{
    options o = {a->dtype, a->layout, a->device, a->pin_memory, a->memory_format};
    return make_like(call, a->self, o, &zero, &a->result);
}

static tn_status ones_like(tn_call *call, struct tn_ones_like_args *a)
{
    options o = {a->dtype, a->layout, a->device, a->pin_memory, a->memory_format};
    return make_like(call, a->self, o, &one, &a->result);
}

static tn_status full_like(tn_call *call, struct tn_full_like_args *a)
{
    options o = {a->dtype, a->layout, a->device, a->pin_memory, a->memory_format};
    return make_like(call, a->self, o, &a->fill_value, &a->result);
}

/* ---- of another shape ------------------------------------------------------------------------ */
static tn_status new_empty(tn_call *call, struct tn_new_empty_args *a)
{
    options o = {a->dtype, a->layout, a->device, a->pin_memory, TN_CONTIGUOUS};
    return make(call, a->size, a->self, &o, NULL, &a->result);
}

static tn_status new_zeros(tn_call *call, struct tn_new_zeros_args *a)
{
    options o = {a->dtype, a->layout, a->device, a->pin_memory, TN_CONTIGUOUS};
    return make(call, a->size, a->self, &o, &zero, &a->result);
}

static tn_status new_ones(tn_call *call, struct tn_new_ones_args *a)
{
    options o = {a->dtype, a->layout, a->device, a->pin_memory, TN_CONTIGUOUS};
    return make(call, a->size, a->self, &o, &one, &a->result);
}

static tn_status new_full(tn_call *call, struct tn_new_full_args *a)
{
    options o = {a->dtype, a->layout, a->device, a->pin_memory, TN_CONTIGUOUS};
    return make(call, a->size, a->self, &o, &a->fill_value, &a->result);
}

static tn_status new_empty_strided(tn_call *call, struct tn_new_empty_strided_args *a)
{
    TN_TRY(composite_check_options(call, a->layout, a->pin_memory));
    if (a->size.len != a->stride.len)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "size has %" PRId64 " dimensions, stride %" PRId64
                        "; they must be equally many",
                        a->size.len, a->stride.len);
    return tn->tensor_new_strided(call, a->size.len, a->size.data, a->stride.data,
                                  a->dtype != TN_DTYPE_NONE ? a->dtype : a->self->dtype,
                                  composite_device_or(a->device, a->self->device), &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(empty_like, EXPLICIT, empty_like),
    TN_KERNEL(zeros_like, EXPLICIT, zeros_like),
    TN_KERNEL(ones_like, EXPLICIT, ones_like),
    TN_KERNEL(full_like, EXPLICIT, full_like),
    TN_KERNEL(new_empty, EXPLICIT, new_empty),
    TN_KERNEL(new_zeros, EXPLICIT, new_zeros),
    TN_KERNEL(new_ones, EXPLICIT, new_ones),
    TN_KERNEL(new_full, EXPLICIT, new_full),
    TN_KERNEL(new_empty_strided, EXPLICIT, new_empty_strided),
};
const composite_kernels composite_likes = {kernels, TN_COUNT(kernels)};

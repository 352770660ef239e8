/* casts.c - copies in another dtype, device or memory order: clone, _to_copy, the to overloads,
 * contiguous, fill_.Tensor.
 *
 * Allocation is here, the copy itself is copy_, which the dispatcher sends to the right backend.
 * to() and contiguous() that have nothing to change give self itself back, not a view. */
#include "composite.h"

/* Copies self into `fresh`, which is released when that fails. */
static tn_status copied_into(tn_tensor *fresh, tn_tensor *self, bool non_blocking, tn_tensor **out)
{
    tn_status status = op_copy_(fresh, self, non_blocking, NULL);
    if (status != TN_OK) {
        tn->tensor_release(fresh);
        return status;
    }
    *out = fresh;
    return TN_OK;
}

static tn_status clone(tn_call *call, struct tn_clone_args *a)
{
    tn_tensor *self = a->self, *fresh;
    tn_memory_format format = a->memory_format == TN_FORMAT_NONE ? TN_PRESERVE : a->memory_format;
    TN_TRY(composite_new(call, composite_sizes(self), format, self, self->dtype, self->device,
                         &fresh));
    return copied_into(fresh, self, false, &a->result);
}

static tn_status to_copy(tn_call *call, struct tn__to_copy_args *a)
{
    tn_tensor *self = a->self, *fresh;
    tn_memory_format format = a->memory_format == TN_FORMAT_NONE ? TN_PRESERVE : a->memory_format;
    tn_device device = composite_device_or(a->device, self->device);
    TN_TRY(composite_check_options(call, a->layout, a->pin_memory));
    if (self->device.type == TN_META && device.type != TN_META)
        return tn->fail(call, TN_ERR_DEVICE,
                        "self is on meta and has no data to copy; use empty_like() there");
    TN_TRY(composite_new(call, composite_sizes(self), format, self,
                         a->dtype != TN_DTYPE_NONE ? a->dtype : self->dtype, device, &fresh));
    if (device.type == TN_META) {
        a->result = fresh;
        return TN_OK;
    }
    return copied_into(fresh, self, a->non_blocking, &a->result);
}

/* ---- to -------------------------------------------------------------------------------------- */
/* What the overloads of to() come down to. */
typedef struct target {
    tn_dtype dtype;
    tn_layout layout;
    tn_device device;
    tn_opt_bool pin_memory;
    bool non_blocking, copy;
    tn_memory_format format;
} target;

static bool same_device(tn_device have, tn_device asked)
{
    if (asked.type == TN_DEVICE_NONE)
        return true;
    bool has_index = have.type != TN_CPU && have.type != TN_META;
    return have.type == asked.type &&
           (!has_index || asked.index < 0 || have.index < 0 || have.index == asked.index);
}

static tn_status move_to(tn_call *call, tn_tensor *self, const target *t, tn_tensor **out)
{
    bool keeps_format = t->format == TN_FORMAT_NONE || t->format == TN_PRESERVE ||
                        composite_has_format(self, t->format);
    TN_TRY(composite_check_options(call, t->layout, t->pin_memory));
    if (!t->copy && keeps_format && (t->dtype == TN_DTYPE_NONE || t->dtype == self->dtype) &&
        same_device(self->device, t->device))
        return composite_return_self(self, out);
    struct tn__to_copy_args f = {TN_FRAME(_to_copy),
                                 .self = self,
                                 .dtype = t->dtype,
                                 .layout = t->layout,
                                 .device = t->device,
                                 .pin_memory = t->pin_memory,
                                 .non_blocking = t->non_blocking,
                                 .memory_format = t->format};
    TN_TRY(tn->op_call(composite_ops[OP__TO_COPY], &f));
    *out = f.result;
    return TN_OK;
}

static tn_status to_layout(tn_call *call, struct tn_to_dtype_layout_args *a)
{
    target t = {a->dtype,        a->layout, a->device,       a->pin_memory,
                a->non_blocking, a->copy,   a->memory_format};
    return move_to(call, a->self, &t, &a->result);
}

static tn_status to_device(tn_call *call, struct tn_to_device_args *a)
{
    target t = {a->dtype,        TN_LAYOUT_NONE, a->device,       -1,
                a->non_blocking, a->copy,        a->memory_format};
    return move_to(call, a->self, &t, &a->result);
}

static tn_status to_dtype(tn_call *call, struct tn_to_dtype_args *a)
{
    target t = {a->dtype,        TN_LAYOUT_NONE, {TN_DEVICE_NONE, -1}, -1,
                a->non_blocking, a->copy,        a->memory_format};
    return move_to(call, a->self, &t, &a->result);
}

static tn_status to_other(tn_call *call, struct tn_to_other_args *a)
{
    target t = {a->other->dtype, TN_LAYOUT_NONE, a->other->device, -1,
                a->non_blocking, a->copy,        a->memory_format};
    return move_to(call, a->self, &t, &a->result);
}

/* ---- contiguous, fill_ ----------------------------------------------------------------------- */
static tn_status contiguous(tn_call *call, struct tn_contiguous_args *a)
{
    if (a->memory_format == TN_PRESERVE)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "memory_format: expected the order to make, contiguous_format or a "
                        "channels_last one, got preserve_format");
    if (composite_has_format(a->self, a->memory_format))
        return composite_return_self(a->self, &a->result);
    return op_clone(a->self, a->memory_format, &a->result);
}

/* The value may be an element of self: then it is read out before self is written. */
static tn_status fill_tensor_(tn_call *call, struct tn_fill__Tensor_args *a)
{
    tn_tensor *value = a->value, *held = NULL;
    if (value->ndim != 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "value: expected a tensor of 0 dimensions, got %d",
                        value->ndim);
    if (tn->tensor_same_storage(a->self, value)) {
        TN_TRY(op_clone(value, TN_CONTIGUOUS, &held));
        value = held;
    }
    tn_status status = op_copy_(a->self, value, false, NULL);
    tn->tensor_release(held);
    return status == TN_OK ? composite_return_self(a->self, &a->result) : status;
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(clone, EXPLICIT, clone),
    TN_KERNEL(_to_copy, EXPLICIT, to_copy),
    TN_KERNEL(to_dtype_layout, IMPLICIT, to_layout),
    TN_KERNEL(to_device, IMPLICIT, to_device),
    TN_KERNEL(to_dtype, IMPLICIT, to_dtype),
    TN_KERNEL(to_other, IMPLICIT, to_other),
    TN_KERNEL(contiguous, IMPLICIT, contiguous),
    TN_KERNEL(fill__Tensor, EXPLICIT, fill_tensor_),
};
const composite_kernels composite_casts = {kernels, TN_COUNT(kernels)};

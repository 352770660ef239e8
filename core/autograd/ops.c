/* ops.c - the operators that the engine itself calls: sums, copies, broadcasting undone.
 *
 * They are ordinary calls, so that a pass that creates a graph records them, and every device has
 * them. Operators that this libtenon was generated without are looked up by name. */
#include <tenon/op.h>
#include <tenon/ops.h>

#include "core/autograd/autograd_impl.h"

static tn_scalar one(void)
{
    return tn_scalar_int(1);
}

tn_status tn__op_add(tn_tensor *a, tn_tensor *b, tn_tensor **out)
{
    return tn_call_add_Tensor(a, b, one(), out);
}

/* What a call in place returns is self. */
static tn_status done(tn_status status, tn_tensor *self)
{
    if (status == TN_OK)
        tn__tensor_release(self);
    return status;
}

tn_status tn__op_add_into(tn_tensor *self, tn_tensor *other)
{
    tn_tensor *same;
    return done(tn_call_add__Tensor(self, other, one(), &same), self);
}

tn_status tn__op_copy_into(tn_tensor *self, tn_tensor *src)
{
    tn_tensor *same;
    return done(tn_call_copy_(self, src, false, &same), self);
}

tn_status tn__op_zero(tn_tensor *self)
{
    tn_tensor *same;
    return done(tn_call_zero_(self, &same), self);
}

tn_status tn__op_clone(tn_tensor *t, tn_tensor **out)
{
    return tn_call_clone(t, TN_FORMAT_NONE, out);
}

tn_status tn__op_alias(tn_tensor *t, tn_tensor **out)
{
    return tn_call_alias(t, out);
}

tn_status tn__op_expand(tn_tensor *t, tn_ints sizes, tn_tensor **out)
{
    return tn_call_expand(t, sizes, false, out);
}

tn_status tn__op_view_as_real(tn_tensor *t, tn_tensor **out)
{
    return tn_call_view_as_real(t, out);
}

tn_status tn__op_view_as_complex(tn_tensor *t, tn_tensor **out)
{
    return tn_call_view_as_complex(t, out);
}

tn_status tn__op_to_dtype(tn_tensor *t, tn_dtype dtype, tn_tensor **out)
{
    return tn_call__to_copy(t, dtype, TN_LAYOUT_NONE, (tn_device){TN_DEVICE_NONE, -1}, -1, false,
                            TN_FORMAT_NONE, out);
}

tn_status tn__op_ones_like(tn_tensor *t, tn_tensor **out)
{
    return tn_call_ones_like(t, TN_DTYPE_NONE, TN_LAYOUT_NONE, (tn_device){TN_DEVICE_NONE, -1}, -1,
                             TN_FORMAT_NONE, out);
}

/* The dimensions that broadcasting added are gone in the result, those that it widened are 1. */
tn_status tn__op_sum_to(tn_tensor *t, int64_t ndim, const int64_t *sizes, tn_tensor **out)
{
    int64_t dims[TN_MAX_DIMS], n = 0, extra = t->ndim - ndim;
    for (int64_t d = 0; d < t->ndim; d++)
        if (d < extra || sizes[d - extra] != t->sizes[d])
            dims[n++] = d;
    bool keepdim = n > extra;
    TN__TRY(tn_call_sum_dim_IntList(t, (tn_ints){dims, n}, keepdim, TN_DTYPE_NONE, out));
    if (!keepdim || extra == 0)
        return TN_OK;
    tn_tensor *kept = *out;
    tn_status status = tn_call_view(kept, (tn_ints){sizes, ndim}, out);
    tn__tensor_release(kept);
    return status;
}

tn_status tn__op_any_nan(tn_tensor *t, bool *out)
{
    tn_tensor *nan = NULL, *any = NULL, *here = NULL;
    *out = false;
    if (t->device.type == TN_META)
        return TN_OK;
    tn_status status = tn_call_isnan(t, &nan);
    if (status == TN_OK)
        status = tn_call_any(nan, &any);
    if (status == TN_OK && any->device.type != TN_CPU)
        status = tn_call__to_copy(any, TN_DTYPE_NONE, TN_LAYOUT_NONE, (tn_device){TN_CPU, 0}, -1,
                                  false, TN_FORMAT_NONE, &here);
    tn_scalar value = tn_scalar_bool(false);
    if (status == TN_OK)
        status = tn_tensor_item(here ? here : any, &value);
    *out = value.v.i != 0;
    tn__tensor_release(nan);
    tn__tensor_release(any);
    tn__tensor_release(here);
    return status;
}

tn_status tn__op_new_strided(const tn_tensor *like, tn_ints sizes, tn_ints strides, tn_tensor **out)
{
    TN__TRY(
        tn_call_empty_strided(sizes, strides, like->dtype, TN_LAYOUT_NONE, like->device, -1, out));
    tn_status status = tn__op_zero(*out);
    if (status != TN_OK) {
        tn__tensor_release(*out);
        *out = NULL;
    }
    return status;
}

tn_status tn__op_as_strided(tn_tensor *t, tn_ints sizes, tn_ints strides, int64_t offset,
                            tn_tensor **out)
{
    return tn_call_as_strided(t, sizes, strides, (tn_opt_int){offset, 1}, out);
}

tn_status tn__op_as_strided_backward(tn_tensor *grad, tn_ints base_size, tn_ints size,
                                     tn_ints stride, int64_t offset, tn_tensor **out)
{
    return tn_call__as_strided_backward(grad, base_size, size, stride, offset, out);
}

tn_status tn__op_conj(tn_tensor *t, tn_tensor **out)
{
    struct {
        tn_frame frame;
        tn_tensor *result, *self;
    } a = {{sizeof a, 0}, NULL, t};
    *out = NULL;
    if (!(TN_DTYPE_BIT(t->dtype) & TN_DTYPES_COMPLEX)) {
        tn__tensor_retain(t);
        *out = t;
        return TN_OK;
    }
    const tn_op *op = tn_op_find("aten::conj");
    if (!op)
        return tn__fail(NULL, TN_ERR_NO_KERNEL,
                        "the gradient of a complex tensor needs the operator aten::conj, which no "
                        "loaded plugin has");
    tn_status status = tn_op_call(op, &a);
    *out = a.result;
    return status;
}

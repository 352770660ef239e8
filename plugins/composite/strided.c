/* strided.c - _as_strided_backward: the gradient of a strided view, as a gradient of its base.
 *
 * Zeros of the base's shape, into which grad is written through the very view that it belongs to.
 * Where elements of the view share memory their gradients add up: along dimensions of stride 0 by
 * sum, else by index_add with the view of 0, 1, 2, .. as the index. */
#include "composite.h"

#include <inttypes.h>

/* Each dimension, from small strides to large, steps over all that the ones before it reach. */
static bool overlaps(tn_ints size, tn_ints stride)
{
    int order[TN_MAX_DIMS], n = 0;
    for (int d = 0; d < (int)size.len; d++) {
        if (size.data[d] == 0)
            return false;
        if (size.data[d] == 1)
            continue;
        int at = n++;
        for (; at > 0 && stride.data[order[at - 1]] > stride.data[d]; at--)
            order[at] = order[at - 1];
        order[at] = d;
    }
    int64_t reach = 0;
    for (int i = 0; i < n; i++) {
        int d = order[i];
        if (stride.data[d] <= reach)
            return true;
        reach += (size.data[d] - 1) * stride.data[d];
    }
    return false;
}

static tn_status zeros(tn_call *call, tn_ints size, const tn_tensor *like, tn_tensor **out)
{
    tn_tensor *fresh;
    static const tn_scalar zero = {.v.i = 0, .kind = TN_SCALAR_INT};
    TN_TRY(composite_new(call, size, TN_CONTIGUOUS, NULL, like->dtype, like->device, &fresh));
    return composite_filled(call, fresh, &zero, out);
}

/* t's elements in a row; t is contiguous. */
static tn_status in_a_row(tn_call *call, tn_tensor *t, tn_tensor **out)
{
    static const int64_t one = 1;
    return tn->tensor_view(call, t, 1, &t->numel, &one, tn->tensor_offset(t), t->dtype, out);
}

static tn_status copied_in_a_row(tn_call *call, tn_tensor *t, tn_tensor **out)
{
    tn_tensor *copy;
    TN_TRY(op_clone(t, TN_CONTIGUOUS, &copy));
    tn_status status = in_a_row(call, copy, out);
    tn->tensor_release(copy);
    return status;
}

/* Where in the base each element of the view lies, in a row. */
static tn_status positions(tn_call *call, const tn_tensor *base, tn_ints size, tn_ints stride,
                           int64_t offset, tn_tensor **out)
{
    tn_tensor *all, *view;
    static const tn_scalar zero = {.v.i = 0, .kind = TN_SCALAR_INT},
                           one = {.v.i = 1, .kind = TN_SCALAR_INT};
    TN_TRY(tn->tensor_new(call, 1, &base->numel, TN_I64, base->device, &all));
    struct tn_arange_start_out_args f = {TN_FRAME(arange_start_out), .start = zero, .step = one,
                                         .end = {.v.i = base->numel, .kind = TN_SCALAR_INT},
                                         .out = all};
    tn_status status = tn->op_call(composite_ops[OP_ARANGE_OUT], &f);
    if (status == TN_OK) {
        tn->tensor_release(f.result);
        status =
            tn->tensor_view(call, all, size.len, size.data, stride.data, offset, TN_I64, &view);
    }
    tn->tensor_release(all);
    TN_TRY(status);
    status = copied_in_a_row(call, view, out);
    tn->tensor_release(view);
    return status;
}

static tn_status index_add_(tn_tensor *self, tn_tensor *index, tn_tensor *source)
{
    struct tn_index_add__args f = {
        TN_FRAME(index_add_), .self = self,     .dim = 0,
        .index = index,       .source = source, .alpha = {.v.i = 1, .kind = TN_SCALAR_INT}};
    TN_TRY(tn->op_call(composite_ops[OP_INDEX_ADD_], &f));
    tn->tensor_release(f.result);
    return TN_OK;
}

static tn_status add_by_index(tn_call *call, tn_tensor *base, tn_tensor *grad, tn_ints stride,
                              int64_t offset)
{
    tn_tensor *index = NULL, *source = NULL, *target = NULL;
    tn_status status = positions(call, base, composite_sizes(grad), stride, offset, &index);
    if (status == TN_OK)
        status = copied_in_a_row(call, grad, &source);
    if (status == TN_OK)
        status = in_a_row(call, base, &target);
    if (status == TN_OK)
        status = index_add_(target, index, source);
    tn->tensor_release(index);
    tn->tensor_release(source);
    tn->tensor_release(target);
    return status;
}

/* The sum along dimensions that share one element; they stay, with size 1. */
static tn_status without_repeats(tn_tensor *grad, tn_ints stride, tn_tensor **out)
{
    int64_t dims[TN_MAX_DIMS];
    int64_t n = 0;
    for (int64_t d = 0; d < grad->ndim; d++)
        if (stride.data[d] == 0 && grad->sizes[d] != 1)
            dims[n++] = d;
    if (n == 0)
        return composite_return_self(grad, out);
    struct tn_sum_dim_IntList_args f = {TN_FRAME(sum_dim_IntList), .self = grad, .dim = {dims, n},
                                        .keepdim = true, .dtype = grad->dtype};
    TN_TRY(tn->op_call(composite_ops[OP_SUM], &f));
    *out = f.result;
    return TN_OK;
}

/* The view is made first: it shows that everything lies within the base. */
static tn_status add_through_view(tn_call *call, tn_tensor *base, tn_tensor *grad, tn_ints stride,
                                  int64_t offset)
{
    tn_tensor *view;
    TN_TRY(tn->tensor_view(call, base, grad->ndim, grad->sizes, stride.data, offset, grad->dtype,
                           &view));
    tn_status status = overlaps(composite_sizes(grad), stride)
                           ? add_by_index(call, base, grad, stride, offset)
                           : op_copy_(view, grad, false, NULL);
    tn->tensor_release(view);
    return status;
}

static tn_status check(tn_call *call, const struct tn__as_strided_backward_args *a)
{
    char want[COMPOSITE_SHAPE_CHARS], got[COMPOSITE_SHAPE_CHARS];
    bool same = a->size.len == a->grad->ndim;
    if (a->size.len != a->stride.len)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "size has %" PRId64 " dimensions, stride %" PRId64
                        "; they must be equally many",
                        a->size.len, a->stride.len);
    for (int64_t d = 0; same && d < a->size.len; d++)
        same = a->size.data[d] == a->grad->sizes[d];
    if (same)
        return TN_OK;
    return tn->fail(call, TN_ERR_ARGUMENT, "grad: expected the view's shape %s, got %s",
                    composite_shape_text(want, a->size.len < 0 ? 0 : a->size.len, a->size.data),
                    composite_shape_text(got, a->grad->ndim, a->grad->sizes));
}

static tn_status as_strided_backward(tn_call *call, struct tn__as_strided_backward_args *a)
{
    tn_tensor *base, *grad = NULL;
    TN_TRY(check(call, a));
    TN_TRY(zeros(call, a->base_size, a->grad, &base));
    tn_status status = without_repeats(a->grad, a->stride, &grad);
    if (status == TN_OK)
        status = add_through_view(call, base, grad, a->stride, a->offset);
    tn->tensor_release(grad);
    if (status == TN_OK)
        a->result = base;
    else
        tn->tensor_release(base);
    return status;
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(_as_strided_backward, EXPLICIT, as_strided_backward),
};
const composite_kernels composite_strided = {kernels, TN_COUNT(kernels)};

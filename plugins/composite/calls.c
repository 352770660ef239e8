/* calls.c - the operators that several families call, as functions: each fills a frame and hands it
 * to the dispatcher. */
#include "composite.h"

tn_status composite_clone(tn_tensor *self, tn_memory_format format, tn_tensor **out)
{
    struct tn_clone_args f = {TN_FRAME(clone), .self = self, .memory_format = format};
    TN_TRY(tn->op_call(composite_ops[OP_CLONE], &f));
    *out = f.result;
    return TN_OK;
}

tn_status composite_copy_(tn_tensor *self, tn_tensor *src, bool non_blocking)
{
    struct tn_copy__args f = {TN_FRAME(copy_), .self = self, .src = src,
                              .non_blocking = non_blocking};
    TN_TRY(tn->op_call(composite_ops[OP_COPY_], &f));
    tn->tensor_release(f.result);
    return TN_OK;
}

tn_status composite_expand(tn_tensor *self, tn_ints size, tn_tensor **out)
{
    struct tn_expand_args f = {TN_FRAME(expand), .self = self, .size = size, .implicit = false};
    TN_TRY(tn->op_call(composite_ops[OP_EXPAND], &f));
    *out = f.result;
    return TN_OK;
}

tn_status composite_fill_(tn_tensor *self, const tn_scalar *value)
{
    struct tn_fill__Scalar_args f = {TN_FRAME(fill__Scalar), .self = self, .value = *value};
    TN_TRY(tn->op_call(composite_ops[OP_FILL_], &f));
    tn->tensor_release(f.result);
    return TN_OK;
}

tn_status composite_to_dtype(tn_tensor *self, tn_dtype dtype, tn_tensor **out)
{
    struct tn__to_copy_args f = {TN_FRAME(_to_copy),
                                 .self = self,
                                 .dtype = dtype,
                                 .layout = TN_LAYOUT_NONE,
                                 .device = {TN_DEVICE_NONE, -1},
                                 .pin_memory = -1,
                                 .non_blocking = false,
                                 .memory_format = TN_FORMAT_NONE};
    TN_TRY(tn->op_call(composite_ops[OP__TO_COPY], &f));
    *out = f.result;
    return TN_OK;
}

tn_status composite_transpose(tn_tensor *self, int64_t dim0, int64_t dim1, tn_tensor **out)
{
    struct tn_transpose_int_args f = {TN_FRAME(transpose_int), .self = self, .dim0 = dim0,
                                      .dim1 = dim1};
    TN_TRY(tn->op_call(composite_ops[OP_TRANSPOSE], &f));
    *out = f.result;
    return TN_OK;
}

tn_status composite_unsqueeze(tn_tensor *self, int64_t dim, tn_tensor **out)
{
    struct tn_unsqueeze_args f = {TN_FRAME(unsqueeze), .self = self, .dim = dim};
    TN_TRY(tn->op_call(composite_ops[OP_UNSQUEEZE], &f));
    *out = f.result;
    return TN_OK;
}

tn_status composite_view(tn_tensor *self, tn_ints size, tn_tensor **out)
{
    struct tn_view_args f = {TN_FRAME(view), .self = self, .size = size};
    TN_TRY(tn->op_call(composite_ops[OP_VIEW], &f));
    *out = f.result;
    return TN_OK;
}

/* stack.c - stack: tensors of one shape, joined along a new dimension. It is cat of their
 * unsqueezed views. */
#include "composite.h"

#include <inttypes.h>

static bool same_shape(const tn_tensor *a, const tn_tensor *b)
{
    if (a->ndim != b->ndim)
        return false;
    for (int d = 0; d < a->ndim; d++)
        if (a->sizes[d] != b->sizes[d])
            return false;
    return true;
}

static tn_status check(tn_call *call, tn_tensors tensors, int64_t dim, int64_t *d)
{
    char want[COMPOSITE_SHAPE_CHARS], got[COMPOSITE_SHAPE_CHARS];
    if (tensors.len <= 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "tensors: expected one tensor or more, got none");
    const tn_tensor *first = tensors.data[0];
    TN_TRY(composite_check_list(call, "tensors", tensors));
    TN_TRY(composite_wrap_dim(call, "dim", dim, first->ndim + 1, d));
    for (int64_t i = 1; i < tensors.len; i++) {
        const tn_tensor *t = tensors.data[i];
        if (!same_shape(first, t))
            return tn->fail(call, TN_ERR_ARGUMENT,
                            "tensors: all must have one shape; the first has %s, number %" PRId64
                            " has %s",
                            composite_shape_text(want, first->ndim, first->sizes), i,
                            composite_shape_text(got, t->ndim, t->sizes));
    }
    return TN_OK;
}

static tn_status join(tn_tensors parts, int64_t dim, tn_tensor **out)
{
    struct tn_cat_args f = {TN_FRAME(cat), .tensors = parts, .dim = dim};
    TN_TRY(tn->op_call(composite_ops[OP_CAT], &f));
    *out = f.result;
    return TN_OK;
}

static tn_status stack(tn_call *call, struct tn_stack_args *a)
{
    tn_tensors parts;
    int64_t d = 0;
    TN_TRY(check(call, a->tensors, a->dim, &d));
    TN_TRY(tn->tensors_new(call, a->tensors.len, &parts));
    tn_status status = TN_OK;
    for (int64_t i = 0; i < parts.len && status == TN_OK; i++)
        status = op_unsqueeze(a->tensors.data[i], d, &parts.data[i]);
    if (status == TN_OK)
        status = join(parts, d, &a->result);
    tn->tensors_release(&parts);
    return status;
}

static const tn_kernel_decl kernels[] = {TN_KERNEL(stack, IMPLICIT, stack)};
const composite_kernels composite_stack = {kernels, TN_COUNT(kernels)};

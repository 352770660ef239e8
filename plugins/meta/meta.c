/* meta.c - the meta backend: shapes and dtypes without data.
 *
 * Structured operators need nothing of it but an empty kernel. Written here are the operators that write into a given
 * tensor, whose meta kernels are their checks alone. */
#include "meta.h"

#include <tenon/frames.h>
#include <tenon/plugin.h>

static tn_status copy_(tn_call *call, struct tn_copy__args *a)
{
    tn_iter it;
    tn_tensor *operands[] = {a->self, a->src};
    TN_TRY(tn->iter_init(call, &it, 1, 2, operands, a->self->dtype, TN_DTYPE_NONE, 0));
    tn->tensor_retain(a->self);
    a->result = a->self;
    return TN_OK;
}

static tn_status fill_(tn_call *call, struct tn_fill__Scalar_args *a)
{
    TN_TRY(tn->check_no_internal_overlap(call, a->self));
    tn->tensor_retain(a->self);
    a->result = a->self;
    return TN_OK;
}

static tn_status zero_(tn_call *call, struct tn_zero__args *a)
{
    TN_TRY(tn->check_no_internal_overlap(call, a->self));
    tn->tensor_retain(a->self);
    a->result = a->self;
    return TN_OK;
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(copy_, "Meta", copy_),
    TN_KERNEL(fill__Scalar, "Meta", fill_),
    TN_KERNEL(zero_, "Meta", zero_),
};

static tn_status start(tn_registry *r)
{
    TN_TRY(tn->register_kernels(r, meta_structured, meta_structured_count));
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

TN_PLUGIN("meta", "0.1.0", start, NULL);

/* caller.c - a plugin that calls another one's operator through a handle: plgtest_caller::scale is
 * plgtest::scale, twice. CALLS is the schema that it was compiled against. */
#define NS "plgtest_caller"
#include "scale.h"

#ifndef CALLS
#define CALLS "plgtest::scale(Tensor x, float s) -> Tensor"
#endif

static const char *const calls[] = {CALLS};
static const tn_op *handles[TN_COUNT(calls)];

static tn_status twice(tn_call *call, struct tn_scale_args *a)
{
    struct tn_scale_args inner = {{sizeof inner, 0}, NULL, a->x, a->s};
    (void)call;
    TN_TRY(tn->op_call(handles[0], &inner));
    struct tn_scale_args outer = {{sizeof outer, 0}, NULL, inner.result, a->s};
    tn_status status = tn->op_call(handles[0], &outer);
    tn->tensor_release(inner.result);
    a->result = outer.result;
    return status;
}

static tn_status start(tn_registry *r)
{
    static const tn_kernel_decl kernels[] = {TN_KERNEL(scale, "CPU", twice)};
    (void)scale_kernels;
    TN_TRY(tn->import_ops(r, calls, handles, TN_COUNT(calls)));
    TN_TRY(tn->register_ops(r, scale_ops, TN_COUNT(scale_ops)));
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

TN_PLUGIN("caller", "1.0.0", start, NULL);

/* clamp.c - clamp between numbers or tensors; either bound may be absent. */
#include <float.h>
#include <math.h>

#include "cpu.h"
#include "kernels/arith.h"
#include "wide.h"

CPU_PER_ISA(cpu_arith_loops, arith)

static tn_status check_bounds(tn_call *call, bool any)
{
    if (any)
        return TN_OK;
    return tn->fail(call, TN_ERR_ARGUMENT,
                    "both min and max are None; at least one bound is expected");
}

/* A bound that is absent: one that nothing lies beyond. */
static tn_number unbounded(tn_dtype dtype, bool low)
{
    const int64_t lowest[] = {0, 0, INT8_MIN, INT16_MIN, INT32_MIN, INT64_MIN};
    const int64_t highest[] = {1, UINT8_MAX, INT8_MAX, INT16_MAX, INT32_MAX, INT64_MAX};
    tn_scalar x = {{.f = low ? -INFINITY : INFINITY}, TN_SCALAR_FLOAT, 0};
    if (tn_dtype_in(dtype, TN_DTYPES_WHOLE))
        x = (tn_scalar){{.i = low ? lowest[dtype] : highest[dtype]}, TN_SCALAR_INT, 0};
    return tn_number_of(dtype, &x);
}

static tn_status clamp(tn_call *call, struct tn_clamp_args *a)
{
    tn_dtype dtype = call->iter->dtype;
    bool has_min = a->min.kind != TN_SCALAR_NONE, has_max = a->max.kind != TN_SCALAR_NONE;
    TN_TRY(check_bounds(call, has_min || has_max));
    const tn_number bounds[] = {has_min ? tn_number_of(dtype, &a->min) : unbounded(dtype, true),
                                has_max ? tn_number_of(dtype, &a->max) : unbounded(dtype, false)};
    return cpu_iter_run_wide(call, call->iter, arith_table()->clamp, bounds);
}

static tn_status clamp_tensor(tn_call *call, struct tn_clamp_Tensor_args *a)
{
    const cpu_arith_loops *t = arith_table();
    TN_TRY(check_bounds(call, a->min || a->max));
    return cpu_iter_run_wide(call, call->iter,
                             !a->max   ? t->clamp_low
                             : !a->min ? t->clamp_high
                                       : t->clamp_both,
                             NULL);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(clamp, "CPU", clamp),
    TN_KERNEL(clamp_Tensor, "CPU", clamp_tensor),
};
const cpu_kernels cpu_clamp = {kernels, TN_COUNT(kernels)};

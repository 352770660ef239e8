/* arith.c - div with a rounding mode, floor_divide, remainder, fmod.
 *
 * An integer divided by zero has no result and no element may be half done, so divisors are looked
 * at before anything is written, in the dtype that they are divided in. */
#include <string.h>

#include "cpu.h"
#include "kernels/arith.h"
#include "wide.h"

CPU_PER_ISA(cpu_arith_loops, arith)

/* ---- zero divisors --------------------------------------------------------------------------- */
/* The divisor as the computation's dtype sees it: 256 is zero in u8. */
static tn_status check_divisor(tn_call *call, const tn_iter *it)
{
    if (it->numel == 0)
        return TN_OK;
    tn_tensor *divisor = it->operands[2];
    tn_iter check;
    bool found = false, *flag = &found;
    TN_TRY(tn->iter_init(call, &check, 0, 1, &divisor, it->dtype, it->dtype, 0));
    TN_TRY(tn->iter_run(call, &check, arith_table()->has_zero[it->dtype], &flag));
    return found ? tn->fail(call, TN_ERR_ARGUMENT, "integer division by zero: other holds a zero")
                 : TN_OK;
}

static tn_status run(tn_call *call, tn_iter *it, const tn_loop_fn *loops)
{
    if (tn_dtype_in(it->dtype, TN_DTYPES_WHOLE) && loops[it->dtype])
        TN_TRY(check_divisor(call, it));
    return cpu_iter_run_wide(call, it, loops, NULL);
}

/* ---- operators ------------------------------------------------------------------------------- */
static tn_status div_mode(tn_call *call, struct tn_div_Tensor_mode_args *a)
{
    const cpu_arith_loops *t = arith_table();
    tn_tensor *operands[] = {a->result, a->self, a->other};
    tn_dtype dtype = tn->result_type(operands + 1, 2, NULL, 0);
    const tn_loop_fn *loops = t->divide;
    if (a->rounding_mode)
        loops = strcmp(a->rounding_mode, "floor") == 0 ? t->floor_divide : t->trunc_divide;
    else if (tn_dtype_in(dtype, TN_DTYPES_WHOLE))
        dtype = tn->default_dtype();
    tn_iter it;
    TN_TRY(tn->iter_init(call, &it, 1, 3, operands, dtype, dtype, 0));
    return run(call, &it, loops);
}

static tn_status floor_divide(tn_call *call, struct tn_floor_divide_args *a)
{
    (void)a;
    return run(call, call->iter, arith_table()->floor_divide);
}

static tn_status remainder_(tn_call *call, struct tn_remainder_Tensor_args *a)
{
    (void)a;
    return run(call, call->iter, arith_table()->remainder);
}

static tn_status fmod_(tn_call *call, struct tn_fmod_Tensor_args *a)
{
    (void)a;
    return run(call, call->iter, arith_table()->fmod);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(div_Tensor_mode, "CPU", div_mode),
    TN_KERNEL(floor_divide, "CPU", floor_divide),
    TN_KERNEL(remainder_Tensor, "CPU", remainder_),
    TN_KERNEL(fmod_Tensor, "CPU", fmod_),
};
const cpu_kernels cpu_arith = {kernels, TN_COUNT(kernels)};

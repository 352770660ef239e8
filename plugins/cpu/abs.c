/* abs.c - abs: the magnitude, real for complex numbers. The lowest integer wraps around to itself.
 */
#include "cpu.h"
#include "kernels/arith.h"
#include "wide.h"

CPU_PER_ISA(cpu_arith_loops, arith)

static tn_status absolute(tn_call *call, struct tn_abs_args *a)
{
    tn_tensor *operands[] = {a->result, a->self};
    tn_dtype dtype = a->self->dtype, real = dtype == TN_C64    ? TN_F32
                                            : dtype == TN_C128 ? TN_F64
                                                               : dtype;
    if (a->result == a->self && real != dtype)
        return tn->fail(
            call, TN_ERR_DTYPE,
            "self of dtype %s cannot hold its own magnitude; abs(self) gives a real tensor",
            tn->dtype_name(dtype));
    tn_iter it;
    TN_TRY(tn->iter_init(call, &it, 1, 2, operands, dtype, real, 0));
    return cpu_iter_run_wide(call, &it, arith_table()->abs, NULL);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(abs, "CPU", absolute),
};
const cpu_kernels cpu_abs = {kernels, TN_COUNT(kernels)};

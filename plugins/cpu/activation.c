/* activation.c - gelu, exact and by its tanh approximation. */
#include <string.h>

#include "cpu.h"
#include "kernels/transcendental.h"
#include "per_isa.h"
#include "wide.h"

CPU_PER_ISA(transcendental_loops, transcendental)

static tn_status gelu(tn_call *call, struct tn_gelu_args *a)
{
    const transcendental_loops *loops = transcendental_table();
    if (strcmp(a->approximate, "none") == 0)
        return cpu_iter_run_wide(call, call->iter, loops->gelu_erf, NULL);
    if (strcmp(a->approximate, "tanh") == 0)
        return cpu_iter_run_wide(call, call->iter, loops->gelu_tanh, NULL);
    return tn->fail(call, TN_ERR_ARGUMENT, "approximate is '%.40s'; it may be 'none' or 'tanh'",
                    a->approximate);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(gelu, "CPU", gelu),
};
const cpu_kernels cpu_activation = {kernels, TN_COUNT(kernels)};

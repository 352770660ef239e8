/* wide.h - running a prepared iterator whose loops know no halves: f16 and bf16 are computed in f32
 * and rounded once. */
#ifndef CPU_WIDE_H
#define CPU_WIDE_H

#include <tenon/plugin.h>

static inline tn_dtype cpu_wide(tn_dtype dtype)
{
    return dtype == TN_F16 || dtype == TN_BF16 ? TN_F32 : dtype;
}

/* loops is a table by dtype; no loop for the computation's dtype is an error. */
static inline tn_status cpu_iter_run_wide(tn_call *call, tn_iter *it, const tn_loop_fn *loops,
                                          const void *params)
{
    tn_loop_fn loop = loops[cpu_wide(it->dtype)];
    if (!loop)
        return tn->fail(call, TN_ERR_UNSUPPORTED, "not defined for %s", tn->dtype_name(it->dtype));
    if (cpu_wide(it->dtype) != it->dtype) {
        it->dtype = TN_F32;
        it->out_dtype = TN_F32;
        it->cast = (1 << it->n_operands) - 1;
    }
    return tn->iter_run(call, it, loop, params);
}

#endif

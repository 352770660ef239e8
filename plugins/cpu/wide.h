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
tn_status cpu_iter_run_wide(tn_call *call, tn_iter *it, const tn_loop_fn *loops,
                            const void *params);

#endif

/* noop.h - the frame of bench::noop, for the plugin that defines it and the benchmark that calls
 * it. */
#ifndef TENON_TOOLS_BENCH_NOOP_H
#define TENON_TOOLS_BENCH_NOOP_H

#include <tenon/op.h>

#define BENCH_NOOP_SCHEMA "bench::noop(Tensor self) -> Tensor"
struct bench_noop_args {
    tn_frame frame;
    tn_tensor *result;
    tn_tensor *self;
};

/* The typed call, as tenon-gen would write it for the plugin's users. */
static inline tn_status bench_noop(const tn_op *op, tn_tensor *self, tn_tensor **result_out)
{
    struct bench_noop_args a;
    a.frame = (tn_frame){sizeof a, 0};
    a.self = self;
    tn_status status = tn_op_call(op, &a);
    *result_out = a.result;
    return status;
}

#endif

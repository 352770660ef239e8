/* noop.h - the frame of bench::noop, for the plugin that defines it and the benchmark that calls
 * it. */
#ifndef TENON_TOOLS_BENCH_NOOP_H
#define TENON_TOOLS_BENCH_NOOP_H

#include <tenon/border.h>

#define BENCH_NOOP_SCHEMA "bench::noop(Tensor self) -> Tensor"
struct bench_noop_args {
    tn_frame frame;
    tn_tensor *result;
    tn_tensor *self;
};

#endif

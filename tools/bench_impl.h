/* bench_impl.h - what the files of `tenon bench` share.
 *
 *     bench.c           the command and its output
 *     bench_dispatch.c  the suite `dispatch`: what one small call costs, made as a user makes it
 *     bench_autograd.c  its rows with gradients: recording, and forward and backward of a chain
 *     bench_limits.c    the same work in plain C without a framework: the floor
 *     bench_op.c        one operator, by the number of elements
 *     bench_measure.c   time and instructions of a case */
#ifndef TENON_TOOLS_BENCH_IMPL_H
#define TENON_TOOLS_BENCH_IMPL_H

#include <tenon/tensor.h>

#include "tool.h"

/* `tenon bench op`: argv[0] is "op". Returns the exit status. */
int bench_op(int argc, char **argv);

/* One case: run(n) makes n calls in a loop of its own; the first failure ends it. */
typedef struct bench_case {
    const char *name;
    tn_status (*run)(int64_t n);
    int goal; /* instructions per call; 0: none is set */
    /* measured */
    double ns;           /* per call; negative: not measured */
    double instructions; /* per call; negative: not measured */
} bench_case;

/* The suite: n cases, ready to run. NULL after a complaint. */
bench_case *bench_dispatch_suite(size_t *n);
/* Appended to the suite: a call is a node. */
extern const bench_case bench_autograd[];
extern const size_t bench_autograd_count;
/* Appended to every suite: cases "limit_NAME". */
extern const bench_case bench_limits[];
extern const size_t bench_limits_count;

/* Time per call, in ns: the least of many short batches, taken in turn over all cases so that a
 * noisy second hits them alike. */
void bench_time(bench_case *cases, size_t n);

/* Instructions per call. By callgrind: this program runs itself under valgrind, with BENCH_INNER
 * set. Where there is no valgrind, by the processor's own counter. Returns NULL, or why there are
 * none. */
#define BENCH_INNER "TENON_BENCH_CALLS"
const char *bench_count(bench_case *cases, size_t n, const char *suite);
/* The inner run: marks each case for callgrind. */
int bench_count_inner(bench_case *cases, size_t n, int64_t calls);

#endif

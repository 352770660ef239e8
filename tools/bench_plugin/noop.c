/* noop.c - a plugin with one operator that does nothing: what a call of it costs is what dispatch
 * costs. */
#include <tenon/plugin.h>

#include "noop.h"

static tn_status noop(tn_call *call, void *frame)
{
    struct bench_noop_args *a = frame;
    (void)call;
    a->result = a->self;
    tn->tensor_retain(a->self);
    return TN_OK;
}

static const tn_op_decl ops[] = {{.schema = BENCH_NOOP_SCHEMA}};
static const tn_kernel_decl kernels[] = {{.schema = BENCH_NOOP_SCHEMA,
                                          .key = "CPU",
                                          .fn = noop,
                                          .frame_size = sizeof(struct bench_noop_args),
                                          .flags = TN_KERNEL_LEAF}};

static tn_status start(tn_registry *r)
{
    TN_TRY(tn->register_ops(r, ops, TN_COUNT(ops)));
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

TN_PLUGIN("bench", "0.1.0", start, NULL);

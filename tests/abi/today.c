/* today.c - not a reference: the operator that reference/older.c has a kernel for, as it is today. It
 * is built when the test runs. */
#include <tenon/plugin.h>

static const tn_op_decl ops[] = {{.schema = "abiref::grown(Tensor x, float s=2.0) -> Tensor"}};

static tn_status start(tn_registry *r)
{
    return tn->register_ops(r, ops, TN_COUNT(ops));
}

TN_PLUGIN("abiref_today", "1.0.0", start, NULL);

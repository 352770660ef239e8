/* calls.h - what the calls of a plugin's operators are made of: the header NAME_calls.h, which
 * tenon-gen writes for programs that use the plugin NAME, includes this and nothing else of Tenon.
 *
 * An operator is looked for at its first call. What is found stays, as an operator's handle does: it
 * serves over every reload of the plugin. It is looked for again only after a call that failed
 * because the operator is gone, so that a new one of another schema is found, too. */
#ifndef TENON_CALLS_H
#define TENON_CALLS_H

#include <string.h>

#include <tenon/op.h>
#include <tenon/tensor.h>

TN_BEGIN_DECLS

/* An operator as its caller was compiled against it. Static; any thread. */
typedef struct tn_op_ref {
    const char *schema; /* with its namespace */
    const char *plugin; /* which brings it: for the error while it is not loaded */
    const tn_op *op;    /* the library's: NULL until it was found */
} tn_op_ref;

/* tn_op_call. An error, too: no plugin has brought the operator; its schema is not the caller's, and
 * frames of that one do not begin like today's. */
TN_API tn_status tn_op_ref_call(tn_op_ref *ref, void *frame);
/* The same as an expression: the one result, a tensor, goes to the innermost scope. NULL: it failed,
 * and the error is kept. */
TN_API tn_tensor *tn_op_ref_expr(tn_op_ref *ref, void *frame, const char *file, int line);
/* Of an expression whose required operand `arg` is NULL: an error, unless an earlier one, which made
 * it NULL, is kept. */
TN_API TN_COLD tn_tensor *tn_op_ref_missing(tn_op_ref *ref, const char *arg, const char *file,
                                            int line);

/* ---- options that were left out: TN_ABSENT and TN_ABSENT_INT become absent values ------------- */
static inline bool tn_is_absent(double x)
{
    const double absent = TN_ABSENT;
    return memcmp(&x, &absent, sizeof x) == 0;
}
static inline void tn_absent_number(tn_scalar *s)
{
    if (s->kind == TN_SCALAR_FLOAT && tn_is_absent(s->v.f))
        s->kind = TN_SCALAR_NONE;
}
static inline void tn_absent_float(tn_opt_float *x)
{
    if (x->has && tn_is_absent(x->value))
        x->has = 0;
}
static inline void tn_absent_int(tn_opt_int *i)
{
    if (i->has && i->value == TN_ABSENT_INT)
        i->value = i->has = 0;
}

TN_END_DECLS
#endif

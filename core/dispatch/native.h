/* native.h - what the generated calls (calls.c) are made of. */
#ifndef TN_CORE_NATIVE_H
#define TN_CORE_NATIVE_H

#include <string.h>
#include <tenon/tensor.h>

#include "core/dispatch/registry.h"

tn_op *tn__native_late(
    int index) TN_COLD; /* the first call of all: registers the native operators */

/* The operator of a generated call; NULL when registering them failed, which the record tells. */
static inline const tn_op *tn__native(int index)
{
    tn_op *op = tn__native_ops[index];
    return TN__LIKELY(op != NULL) ? op : tn__native_late(index);
}

/* Implemented above, by autograd: what serves an operator that nobody registered a derivative
 * for. */
tn_status tn__autograd_unknown(tn_call *call, void *frame);

tn_status tn__native_failed(void) TN_COLD;
tn_status tn__missing(const tn_op *op, const char *arg, const char *file, int line) TN_COLD;
/* Of an expression call: keeps the error, unless an earlier one is what made the operand NULL. */
tn_tensor *tn__expr_missing(const tn_op *op, const char *arg, const char *file, int line) TN_COLD;
tn_tensor *tn__expr(const tn_op *op, void *frame, tn_tensor **result, const char *file, int line);

/* Turn the TN_ABSENT and TN_ABSENT_INT of an expression macro into absent values. */
static inline bool tn__is_absent(double x)
{
    const double absent = __builtin_nan("0x7e11abe");
    return memcmp(&x, &absent, sizeof x) == 0;
}
static inline void tn__absent_number(tn_scalar *s)
{
    if (s->kind == TN_SCALAR_FLOAT && tn__is_absent(s->v.f))
        s->kind = TN_SCALAR_NONE;
}
static inline void tn__absent_float(tn_opt_float *x)
{
    if (x->has && tn__is_absent(x->value))
        *x = (tn_opt_float){0, 0};
}
static inline void tn__absent_int(tn_opt_int *i)
{
    if (i->has && i->value == TN_ABSENT_INT)
        *i = (tn_opt_int){0, 0};
}

#endif

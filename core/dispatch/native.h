/* native.h - what the generated calls (calls.c) are made of. */
#ifndef TN_CORE_NATIVE_H
#define TN_CORE_NATIVE_H

#include "core/dispatch/registry.h"

tn_op *tn__native_late(
    int index) TN_COLD; /* the first call of all: registers the native operators */

/* The operator of a generated call; NULL when registering them failed, which the record tells. */
static inline const tn_op *tn__native(int index)
{
    tn_op *op = tn__native_ops[index];
    return TN__LIKELY(op != NULL) ? op : tn__native_late(index);
}

tn_status tn__native_failed(void) TN_COLD;
tn_status tn__missing(const tn_op *op, const char *arg, const char *file, int line) TN_COLD;
/* Of an expression call: keeps the error, unless an earlier one is what made the operand NULL. */
tn_tensor *tn__expr_missing(const tn_op *op, const char *arg, const char *file, int line) TN_COLD;
tn_tensor *tn__expr(const tn_op *op, void *frame, tn_tensor **result, const char *file, int line);

/* Turns the TN_ABSENT of an expression macro into an absent number. */
static inline void tn__absent_number(tn_scalar *s)
{
    const union {
        double f;
        int64_t bits;
    } absent = {__builtin_nan("0x7e11abe")};
    if (s->kind == TN_SCALAR_FLOAT && s->v.i == absent.bits)
        s->kind = TN_SCALAR_NONE;
}

#endif

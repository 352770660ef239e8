/* native.h - what the generated calls (calls.c) are made of. */
#ifndef TN_CORE_NATIVE_H
#define TN_CORE_NATIVE_H

#include <tenon/calls.h>

#include "core/dispatch/registry.h"

/* Stands in the table for every operator until the first call of all has registered them: a call of
 * it comes back with TN__UNBORN, so that no other call has to look. */
extern tn_op tn__unborn __attribute__((visibility("hidden")));
enum { TN__UNBORN = -1 };                 /* no status */
const tn_op *tn__born(int index) TN_COLD; /* NULL, recorded, when they could not be registered */

/* What a typed call begins its frame with: both fields in one store. */
static inline void tn__frame_begin(tn_frame *f, uint64_t size)
{
    _Static_assert(sizeof *f == sizeof size && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
                   "a size and a zero are one word");
    memcpy(f, &size, sizeof *f);
}

/* Implemented above, by autograd: what serves an operator that nobody registered a derivative
 * for. */
tn_status tn__autograd_unknown(tn_call *call, void *frame);

/* Of a typed call that failed: the status, or an error where a kernel returned none. */
tn_status tn__call_failed(int index, tn_status status) TN_COLD;
tn_status tn__missing(int index, const char *arg) TN_COLD;
/* Of an expression call: keeps the error, unless an earlier one is what made the operand NULL. */
tn_tensor *tn__expr_missing(int index, const char *arg, const char *file, int line) TN_COLD;
tn_tensor *tn__expr(const tn_op *op, void *frame, tn_tensor **result, const char *file, int line);

#endif

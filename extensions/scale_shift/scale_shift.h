/* scale_shift.h - what the sources of this plugin share. */
#ifndef SCALE_SHIFT_H
#define SCALE_SHIFT_H

#include <tenon/number.h>

#include "scale_shift_ops.h" /* generated from scale_shift.yaml */

TN_BEGIN_DECLS
tn_status scale_shift_cuda(tn_call *call,
                           struct tn_scale_shift_by_hand_args *a); /* scale_shift.cu */
tn_status scale_shift_function_register(tn_registry *r);           /* scale_shift_function.c */
TN_END_DECLS

#endif

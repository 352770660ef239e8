/* forward.h - tangents: forward-mode derivatives, beside the recording of backward ones. */
#ifndef TN_CORE_AUTOGRAD_FORWARD_H
#define TN_CORE_AUTOGRAD_FORWARD_H

#include "core/autograd/derivative.h"

/* The thread's level, another number each time it is entered; 0: none. A tangent of another level
 * is as good as none. */
extern _Thread_local uint64_t tn__forward_active __attribute__((tls_model("initial-exec")));

/* Whether an argument carries a tangent. */
bool tn__forward_any(const tn__derivative *d, const void *frame);

/* The call, by `below` or, when it is to be recorded, by `record`; then the tangents of its
 * results. */
tn_status tn__forward_call(tn_call *call, const tn__derivative *d, void *frame, const tn__survey *s,
                           tn_status (*below)(const tn_call *call, void *frame),
                           tn_status (*record)(tn_call *call, const tn__derivative *d,
                                               void *frame));

#endif

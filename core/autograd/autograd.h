/* autograd.h - what the rest of the core may know of autograd: how the registry installs
 * derivatives, and the functions behind the plugins' table. */
#ifndef TN_CORE_AUTOGRAD_H
#define TN_CORE_AUTOGRAD_H

#include <tenon/autograd.h>

#include "core/dispatch/dispatch.h"

/* derivative.c: registers the boxed kernels of Autograd through a transaction. */
tn_status tn__registry_derivatives(tn_registry *r, const tn_derivative_decl *decls, size_t n);

/* grad_call.c: what a derivative's functions call. */
tn_tensor *tn__grad_hold(tn_grad_call *g, tn_tensor *t);
tn_tensors tn__grad_hold_list(tn_grad_call *g, tn_tensors list);
tn_tensor *tn__grad_call_op(tn_grad_call *g, const tn_op *op, void *frame, tn_tensor **result);

/* saved.c: the same tensor to look at, without history and with no part in a view's. */
tn_status tn__tensor_detached(tn_call *call, tn_tensor *t, tn_tensor **out);

#endif

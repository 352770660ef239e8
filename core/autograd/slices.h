/* slices.h - in-place calls on views, and views of what was written in place. */
#ifndef TN_CORE_AUTOGRAD_SLICES_H
#define TN_CORE_AUTOGRAD_SLICES_H

#include "core/autograd/autograd_impl.h"

/* A view whose base has a newer history gets the node that takes it out of the base. */
tn_status tn__view_renew(tn_tensor *view);

/* The view's part of `whole`, which has the geometry of its base: a view of that. */
tn_status tn__view_part(const tn_tensor *base, const tn_tensor *view, tn_tensor *whole,
                        tn_tensor **out);
/* Whether histories lead from a base to a view: of the same dtype, or complex numbers and their
 * parts. */
bool tn__view_is_followed(const tn_tensor *base, const tn_tensor *view);

/* Whether a recorded call may write t in place: an error for a leaf that requires a gradient, for a
 * view of one, and for views whose history cannot be rewritten. */
tn_status tn__check_writable(tn_call *call, const char *name, tn_tensor *t);

/* t was written by the call that n stands for; n's edge `self` is where t's former gradient goes.
 * From here on t, its base and all views of it have the new history. */
tn_status tn__rebase(tn_tensor *t, tn__node *n, uint32_t self);

/* spend.c: a recorded call has written the tensor's storage, and `from` is in its history now. Of the
 * nodes below it, those that hold a tensor of the storage would be held by it in turn: they let go. */
tn_status tn__spend_savers(tn__node *from, const tn_tensor *written);

#endif

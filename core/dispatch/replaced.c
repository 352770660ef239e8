/* replaced.c - the way from a kernel that serves by its rank to the one that it has replaced.
 *
 * A kernel in a list may be an outer one, which prepares the call: results, versions, an older frame.
 * Two of one list prepare alike, because that depends on the operator and the key alone; so the inner
 * one of the replaced is run on what the caller's outer one has prepared. Only the adapter of an older
 * schema belongs to a kernel itself, and is kept. */
#include "core/dispatch/registry.h"

static bool prepares(const tn__kernel *k)
{
    return k->fn == tn__structured_call || k->fn == tn__written_call || k->fn == tn__fresh_call;
}

/* The member of the operator's list through which `k` was reached. */
static tn__kernel *member_of(const tn__kernel *k, tn__form form)
{
    tn__kernel *member = (tn__kernel *)k;
    while (member->outer[form])
        member = member->outer[form];
    return member;
}

static TN_COLD tn_status nothing_replaced(tn_call *call)
{
    char name[64];
    snprintf(name, sizeof name, "%s", tn__key_name((int)tn__slot_of(call->keys)));
    return tn__fail(call, TN_ERR_NO_KERNEL,
                    "call_replaced: this kernel has replaced none, %s has no other one of a lower "
                    "rank for %s",
                    call->op->name, name);
}

/* The schema that `k` was compiled against, when it reads frames of its own time. */
static const tn__layout *older_of(const tn__kernel *k, tn__form form)
{
    const tn__kernel *outer = k->outer[form];
    return outer && outer->fn == tn__adapted_call ? outer->layout : NULL;
}

static tn_status run(tn_call *call, const tn__kernel *here, const tn__kernel *next, void *frame)
{
    const tn__kernel *k = prepares(next) ? next->inner : next;
    const tn__layout *older = older_of(here, call->op->form);
    tn_kernel_fn fn = k->fn ? k->fn : tn__kernel_fall_through;
    const void *data = call->data;
    call->kernel = k;
    call->data = k->data;
    tn_status status = older ? tn__call_from_older(call, older, frame, fn) : fn(call, frame);
    call->kernel = here;
    call->data = data;
    if (status == TN_OK)
        return TN_OK;
    /* Results that the core has made stay the call's; of others nothing is left. */
    return next->fn == tn__structured_call ? tn__status_of_kernel(call->op, status)
                                           : tn__kernel_failed(call->op, frame, status);
}

tn_status tn__kernel_call_replaced(tn_call *call, void *frame)
{
    const tn__kernel *here = call->kernel, *next = NULL;
    if (call->flags & TN__CALL_LEAF)
        return tn__fail(call, TN_ERR_PLUGIN,
                        "call_replaced: the kernel promised TN_KERNEL_LEAF, and so calls no other");
    if (here)
        next =
            atomic_load_explicit(&member_of(here, call->op->form)->replaced, memory_order_acquire);
    return next ? run(call, here, next, frame) : nothing_replaced(call);
}

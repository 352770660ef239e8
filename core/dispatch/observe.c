/* observe.c - what may stand between the dispatcher and the kernels: an observer, which sees every
 * call, and a guard, through which a checked host enters a plugin's kernels. While there is one of
 * them, a slot of a backend holds a record that enters the kernel as dispatch would have.
 *
 * Nothing of this is on a call's way otherwise: tables are computed anew when that changes. */
#include "core/dispatch/registry.h"

static const tn_observer *_Atomic observer;
static tn__guard_fn _Atomic guard;

tn_status tn__kernel_enter(const tn_call *call, tn__kernel *k, void *frame)
{
    return k->enter(call->op, k, frame, call->keys, call->file, call->line);
}

static tn_status observed_call(tn_call *call, void *frame)
{
    const tn__kernel *outer = call->kernel;
    const tn_observer *o = atomic_load_explicit(&observer, memory_order_acquire);
    if (o)
        o->before(call->op, frame);
    tn__guard_fn g = atomic_load_explicit(&guard, memory_order_acquire);
    tn_status status = g ? g(call, outer->inner, frame)
                         : tn__kernel_enter(call, outer->inner, frame);
    if (o)
        o->after(call->op, frame, status);
    return status;
}

tn__kernel *tn__observed(tn__kernel *k)
{
    if (!atomic_load_explicit(&observer, memory_order_relaxed) &&
        !atomic_load_explicit(&guard, memory_order_relaxed))
        return k;
    if (!k->observed) {
        tn__kernel *outer = tn__zalloc(sizeof *outer);
        if (!outer)
            return k; /* the call works, unseen */
        *outer = (tn__kernel){.enter = tn__kernel_call,
                              .fn = observed_call,
                              .data = k->data,
                              .plugin = k->plugin,
                              .inner = k,
                              .rank = k->rank,
                              .dtypes = k->dtypes};
        k->observed = outer;
    }
    return k->observed;
}

void tn__observe(const tn_observer *o)
{
    atomic_store_explicit(&observer, o, memory_order_release);
    tn__registry_recompute();
}

void tn__guard(tn__guard_fn g)
{
    if (atomic_exchange(&guard, g) != g)
        tn__registry_recompute();
}

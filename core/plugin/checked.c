/* checked.c - a checked host (TENON_PLUGIN_CHECK=1): every kernel of a plugin is entered through a
 * guard that stops exceptions, puts the floating-point mode back and counts the calls in flight,
 * which then hold the plugin. It costs some hundred instructions a call; a host that is not checked
 * has no guard at all. */
#include <stdatomic.h>

#include "core/dispatch/dispatch.h"
#include "core/plugin/foreign.h"
#include "core/plugin/plugin_impl.h"

typedef struct guarded {
    const tn_call *call;
    tn__kernel *kernel;
    void *frame;
    tn_status status;
} guarded;

static void enter(void *arg)
{
    guarded *g = arg;
    g->status = tn__kernel_enter(g->call, g->kernel, g->frame);
}

static tn_status guard(const tn_call *call, tn__kernel *k, void *frame)
{
    tn__plugin *p = k->plugin;
    if (!p)
        return tn__kernel_enter(call, k, frame);
    guarded g = {call, k, frame, TN_OK};
    atomic_fetch_add(&p->calls, 1);
    tn__foreign seen = tn__foreign_run(enter, &g, TN__FOREIGN_STOP);
    atomic_fetch_sub(&p->calls, 1);
    if (seen.fp_mode && !atomic_exchange(&p->told_of_mode, true))
        tn__plugin_remark_late(p,
                               "its kernel of %s changes the floating-point mode, which was "
                               "restored",
                               call->op->name);
    if (seen.threw)
        return tn__fail((tn_call *)call, TN_ERR_PLUGIN,
                        "the kernel threw a C++ exception; a kernel returns a status");
    return g.status;
}

void tn__plugin_check_calls(void)
{
    tn__guard(tn__foreign_checked() ? guard : NULL);
}

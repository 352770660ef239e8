/* nested.c - passes inside of passes, and threads that work for another one.
 *
 * A derivative or a hook may run a backward of its own, and so on. Every so many levels the next
 * pass goes on on a fresh thread, whose stack is empty, while this one waits: no depth overflows a
 * stack. Such a helper behaves as the thread that it works for: same modes, same keys, its errors
 * become that thread's. */
#include <tenon/tensor.h>

#include "core/autograd/forward.h"
#include "core/autograd/pass.h"

enum { LEVELS_PER_THREAD = 32, STACK_BYTES = 8 << 20 };

_Thread_local const tn__running *tn__running_tls __attribute__((tls_model("initial-exec")));
static _Thread_local int level;

static void *help(void *arg)
{
    tn__helper *h = arg;
    tn_scope scope;
    tn__mode_tls = h->mode;
    tn__keys_tls = h->keys;
    tn__running_tls = h->running;
    tn__forward_active = h->forward;
    tn__stream_scopes = h->streams;
    tn_scope_enter(&scope);
    h->status = h->body(h->arg);
    tn_scope_leave(&scope);
    tn__error_copy(&h->error);
    return NULL;
}

tn_status tn__helper_start(tn__helper *h, tn_status (*body)(void *arg), void *arg)
{
    pthread_attr_t attributes;
    h->body = body;
    h->arg = arg;
    h->mode = tn__mode_tls;
    h->keys = tn__keys_tls;
    h->running = tn__running_tls;
    h->forward = tn__forward_active;
    h->streams = tn__stream_scopes;
    h->status = TN_OK;
    if (pthread_attr_init(&attributes) != 0)
        return tn__fail(NULL, TN_ERR_MEMORY, "out of memory for the attributes of a thread");
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int error = pthread_create(&h->thread, &attributes, help, h);
    pthread_attr_destroy(&attributes);
    return error ? tn__fail(NULL, TN_ERR_MEMORY,
                            "no thread could be started for a backward pass (error %d)", error)
                 : TN_OK;
}

tn_status tn__helper_join(tn__helper *h)
{
    pthread_join(h->thread, NULL);
    if (h->status != TN_OK || h->error.kept)
        tn__error_adopt(&h->error);
    return h->status;
}

static TN_COLD tn_status on_fresh_thread(tn_status (*body)(void *arg), void *arg)
{
    tn__helper *h = tn__alloc(sizeof *h);
    if (!h)
        return tn__fail_memory(NULL, sizeof *h);
    tn_status status = tn__helper_start(h, body, arg);
    if (status == TN_OK)
        status = tn__helper_join(h);
    tn__free(h);
    return status;
}

tn_status tn__nested(tn_status (*body)(void *arg), void *arg)
{
    if (TN__UNLIKELY(level == LEVELS_PER_THREAD))
        return on_fresh_thread(body, arg);
    level++;
    tn_status status = body(arg);
    level--;
    return status;
}

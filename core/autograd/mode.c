/* mode.c - whether this thread records: three words that every call and every new tensor reads.
 *
 * Not recording is two things: the Autograd key is excluded from calls, unless tangents are to pass
 * through it, and views are made without it. Nothing here is looked at by the dispatcher as a
 * mode. */
#include "core/autograd/forward.h"

atomic_bool tn__anomaly;

tn_grad_mode tn__mode_set(tn_grad_mode_kind kind)
{
    tn__tensor_mode *mode = &tn__mode_tls;
    tn_grad_mode was = {{mode->view_keys, mode->flags, tn__keys_tls.exclude & TN__KEY_AUTOGRAD}};
    if (kind == TN_GRAD_ENABLED) {
        *mode = (tn__tensor_mode){TN__KEY_AUTOGRAD, 0};
        tn__keys_tls.exclude &= ~TN__KEY_AUTOGRAD;
        return was;
    }
    mode->view_keys = 0;
    if (kind == TN_GRAD_INFERENCE)
        mode->flags = TN_TENSOR_INFERENCE;
    if (!tn__forward_active)
        tn__keys_tls.exclude |= TN__KEY_AUTOGRAD;
    return was;
}

void tn__mode_restore(tn_grad_mode m)
{
    tn__mode_tls = (tn__tensor_mode){m.held[0], (uint16_t)m.held[1]};
    tn__keys_tls.exclude = (tn__keys_tls.exclude & ~TN__KEY_AUTOGRAD) | m.held[2];
}

void tn_grad_mode_enter(tn_grad_mode *m, tn_grad_mode_kind kind)
{
    *m = tn__mode_set(kind);
}

void tn_grad_mode_leave(tn_grad_mode *m)
{
    tn__mode_restore(*m);
}

bool tn_grad_enabled(void)
{
    return tn__recording();
}

void tn_set_anomaly_mode(bool on)
{
    atomic_store_explicit(&tn__anomaly, on, memory_order_relaxed);
}

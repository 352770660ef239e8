/* release.c - references to tensors, and what happens when the last one goes: a host tensor that goes
 * with its storage is kept as a pair, a view gives its base and its storage back, and a recorded one
 * drops its place in the graph first. The ways that most calls end in are inline and short. */
#include <tenon/tensor.h>

#include "core/tensor/pairs.h"
#include "core/tensor/tensor_impl.h"

_Thread_local tn__tensor_mode tn__mode_tls
    __attribute__((tls_model("initial-exec"))) = {TN__KEY_AUTOGRAD, 0};
void (*_Atomic tn__autograd_drop)(tn__tensor *t);
tn_status (*_Atomic tn__autograd_replace)(tn_call *call, const tn_tensor *t, const tn_tensor *of,
                                          tn_ints sizes);

static inline void drop_autograd(tn__tensor *t)
{
    atomic_load_explicit(&tn__autograd_drop, memory_order_acquire)(t);
}

void tn__tensor_retain(tn_tensor *t)
{
    atomic_fetch_add_explicit(&tn__impl(t)->refs, 1, memory_order_relaxed);
}

/* The last reference has gone, and no short way fits. */
static __attribute__((noinline)) void let_go(tn__tensor *t)
{
    tn__storage *s = t->storage;
    tn_tensor *base = t->base;
    atomic_store_explicit(&t->refs, 1, memory_order_relaxed);
    if (TN__UNLIKELY(t->autograd != NULL))
        drop_autograd(t);
    if (!base && atomic_load_explicit(&s->refs, memory_order_acquire) == 1 && tn__pair_keep(t, s))
        return;
    tn__storage_release(s);
    tn__struct_keep(t);
    if (base)
        tn__tensor_release(base); /* no view itself: it goes no deeper */
}

static __attribute__((noinline)) void last_of_storage(tn__storage *s, tn_tensor *base)
{
    tn__storage_free(s);
    tn__tensor_release(base);
}

/* A view, most of the time, is neither the last of its storage nor of its base. */
static inline void let_go_view(tn__tensor *t)
{
    tn__storage *s = t->storage;
    tn__tensor *base = tn__impl(t->base);
    if (TN__UNLIKELY(!tn__struct_push(t))) {
        let_go(t);
        return;
    }
    if (TN__UNLIKELY(atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) == 1)) {
        last_of_storage(s, &base->pub);
        return;
    }
    if (TN__UNLIKELY(atomic_fetch_sub_explicit(&base->refs, 1, memory_order_acq_rel) == 1))
        let_go(base);
}

static __attribute__((noinline)) void release_shared(tn__tensor *t)
{
    if (atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) == 1)
        let_go(t);
}

/* The last reference of a tensor without record has gone. One that goes with its storage is kept as
 * a pair. */
static inline void release_last(tn__tensor *t)
{
    if (t->base) {
        let_go_view(t);
        return;
    }
    tn__storage *s = t->storage;
    if (atomic_load_explicit(&s->refs, memory_order_acquire) == 1 && tn__pair_keep(t, s))
        return;
    let_go(t);
}

static __attribute__((noinline)) void release_recorded(tn__tensor *t)
{
    drop_autograd(t);
    release_last(t);
}

/* Ends in tail calls, so that it saves no register. */
static inline void release(tn__tensor *t)
{
    if (!t)
        return;
    if (atomic_load_explicit(&t->refs, memory_order_acquire) != 1)
        release_shared(t);
    else if (TN__UNLIKELY(t->autograd != NULL))
        release_recorded(t);
    else
        release_last(t);
}

void tn__tensor_release(tn_tensor *t)
{
    release(tn__impl(t));
}

void tn_release(tn_tensor *t)
{
    release(tn__impl(t));
}

/* ---- lists ----------------------------------------------------------------------------------- */
tn_status tn__tensors_new(tn_call *call, int64_t len, tn_tensors *out)
{
    *out = (tn_tensors){0};
    size_t bytes = (size_t)(len > 0 ? len : 1);
    if (__builtin_mul_overflow(bytes, sizeof *out->data, &bytes))
        bytes = SIZE_MAX;
    tn_tensor **data = bytes < SIZE_MAX ? tn__zalloc(bytes) : NULL;
    if (!data)
        return tn__fail_memory(call, bytes);
    *out = (tn_tensors){data, len};
    return TN_OK;
}

void tn__tensors_release(tn_tensors *list)
{
    if (!list->data)
        return;
    for (int64_t i = 0; i < list->len; i++)
        tn__tensor_release(list->data[i]);
    tn__free(list->data);
    *list = (tn_tensors){0};
}

/* call.c - the way of every call: key set, slot, kernel. Errors, older frames and scratch memory
 * are off to the side. */
#include <string.h>

#include "core/dispatch/dispatch.h"
#include "core/dispatch/registry.h"

uint64_t tn__frame_keys(const tn_op *op, const void *frame)
{
    const char *f = frame;
    uint64_t keys = 0;
    for (int i = 0; i < op->n_tensor_args; i++) {
        const tn_tensor *t = *(tn_tensor *const *)(f + op->tensor_offsets[i]);
        if (t)
            keys |= t->keys;
    }
    for (int i = 0; i < op->n_list_args; i++) {
        const tn_tensors *list = (const tn_tensors *)(f + op->list_offsets[i]);
        for (int64_t j = 0; j < list->len; j++)
            if (list->data[j])
                keys |= list->data[j]->keys;
    }
    if (keys)
        return keys;
    return tn__factory_keys(op->device_offset ? *(const tn_device *)(f + op->device_offset)
                                              : (tn_device){TN_CPU, 0});
}

/* Results of a failed call are never left in the frame. */
tn_status tn__kernel_failed(const tn_op *op, void *frame, tn_status status)
{
    for (int i = 0; i < op->layout->n_results; i++) {
        const tn_field *f = &op->layout->fields[i];
        memset((char *)frame + f->offset, 0, f->size);
    }
    return tn__status_of_kernel(op, status);
}

tn_status tn__status_of_kernel(const tn_op *op, tn_status status)
{
    if (status > 0 && status <= TN_ERR_LAST)
        return status;
    return tn__fail(&(tn_call){.op = op}, TN_ERR_PLUGIN,
                    "a kernel of %s returned %d, which is not a status", op->name, status);
}

_Thread_local tn__call_site tn__call_site_tls __attribute__((tls_model("initial-exec")));

/* What the kernel calls through the border is called from the same place. */
static __attribute__((noinline)) tn_status run_at_site(const tn__kernel *k, tn_call *call,
                                                       void *frame)
{
    const tn__call_site outer = tn__call_site_tls;
    tn__call_site_tls = (tn__call_site){call->file, call->line};
    tn_status status = k->fn(call, frame);
    tn__call_site_tls = outer;
    return status;
}

static inline __attribute__((always_inline)) tn_status run(void *stream, const tn_op *op,
                                                           tn__kernel *k, void *frame,
                                                           uint64_t keys, const char *file,
                                                           int line)
{
    tn_call call;
    call.size = sizeof call;
    call.flags = 0;
    call.op = op;
    call.keys = keys;
    call.data = k->data;
    call.iter = NULL;
    call.stream = stream;
    call.file = file;
    call.line = line;
    call.threads = 0;
    call.scratch = NULL;
    call.kernel = k;
    tn_status status = file ? run_at_site(k, &call, frame) : k->fn(&call, frame);
    if (TN__UNLIKELY(call.scratch != NULL))
        tn__scratch_free(&call);
    if (TN__UNLIKELY(status != TN_OK))
        return tn__kernel_failed(op, frame, status);
    return TN_OK;
}

tn_status tn__kernel_call(const tn_op *op, tn__kernel *k, void *frame, uint64_t keys,
                          const char *file, int line)
{
    return run(NULL, op, k, frame, keys, file, line);
}

tn_status tn__kernel_call_on(void *stream, const tn_op *op, tn__kernel *k, void *frame,
                             uint64_t keys, const char *file, int line)
{
    return run(stream, op, k, frame, keys, file, line);
}

/* Of a call whose site is known: the record says it afterwards. */
static TN_COLD tn_status leaf_failed(const tn_op *op, void *frame, tn_status status,
                                     const char *file, int line)
{
    status = tn__kernel_failed(op, frame, status);
    if (file)
        tn__error_set_site(file, line);
    return status;
}

/* A leaf calls no operator and keeps nothing, so all calls, of all threads, share one record that
 * nobody writes. */
tn_status tn__leaf_call(const tn_op *op, tn__kernel *k, void *frame, uint64_t keys,
                        const char *file, int line)
{
    (void)keys;
    tn_status status = k->fn((tn_call *)k->leaf, frame);
    return TN__LIKELY(status == TN_OK) ? TN_OK : leaf_failed(op, frame, status, file, line);
}

tn_status tn__enter_any(const tn_op *op, void *frame, uint64_t keys)
{
    const uint64_t recorded = TN__KEYS_HOST | TN__KEY(TN__BIT_AUTOGRAD);
    keys = tn__keys_in_force(op, keys);
    size_t slot = keys == recorded ? TN__SLOT_AUTOGRAD + TN_CPU : tn__slot_of(keys);
    tn__kernel *k = tn__kernel_in(op, slot);
    return k->enter(op, k, frame, keys, NULL, 0);
}

/* Ends in tail calls, so that it saves no register itself. */
tn_status tn__dispatch(const tn_op *op, void *frame, uint64_t keys, const char *file, int line)
{
    if (TN__UNLIKELY(((tn_frame *)frame)->size < op->frame_size))
        return tn__call_with_older_frame(op, frame, keys, file, line);
    keys = tn__keys_in_force(op, keys);
    tn__kernel *k = tn__kernel_in(op, tn__slot_of(keys));
    return k->enter(op, k, frame, keys, file, line);
}

/* To the next key of this call's set: the thread's guards were applied when the set was made. Below
 * the backends there is nothing left to fall to. */
tn_status tn__kernel_fall_through(tn_call *call, void *frame)
{
    if (call->keys >> TN__BIT_DENSE == 0)
        return tn__kernel_missing(call, frame);
    const tn_op *op = call->op;
    uint64_t keys = call->keys & ~TN__KEY(63 - __builtin_clzll(call->keys));
    if (keys >> TN__BIT_DENSE == 0)
        return tn__kernel_missing(call, frame);
    tn__kernel *k = tn__kernel_in(op, tn__slot_of(keys));
    return k->enter(op, k, frame, keys, call->file, call->line);
}

/* ---- the error of an empty slot -------------------------------------------------------------- */
tn_status tn__kernel_missing(tn_call *call, void *frame)
{
    (void)frame;
    const tn_op *op = call->op;
    char servers[512];
    if (!tn__registry_servers(op, servers, sizeof servers))
        return tn__fail(call, TN_ERR_NO_KERNEL,
                        "%s is not registered: the plugin that defined it was unloaded", op->name);
    const char *key = tn__key_name((int)tn__slot_of(call->keys));
    if (!*key)
        key = "an unknown device type";
    if (!*servers)
        return tn__fail(call, TN_ERR_NO_KERNEL,
                        "%s has no kernel for %s, nor for any other key; load a plugin that "
                        "provides it",
                        op->name, key);
    return tn__fail(call, TN_ERR_NO_KERNEL, "%s has no kernel for %s; kernels exist for %s",
                    op->name, key, servers);
}

/* ---- provenance for the error record --------------------------------------------------------- */
const char *tn__call_op_name(const tn_call *call)
{
    return call->op->name;
}

const char *tn__call_plugin_text(const tn_call *call)
{
    const tn__kernel *k = call->kernel;
    return k && k->plugin ? tn__plugin_text(k->plugin) : "";
}

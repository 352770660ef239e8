/* stream.c - calls of kernels on devices with streams: which stream the call goes to, and what it uses
 * there.
 *
 * The stream is the one that the thread's innermost scope for the device has chosen
 * (core/base/streams.c). Memory that was allocated for another stream is marked, because its owner
 * may let go of it while this stream still works with it. Where no stream was ever made, nothing of
 * this happens; kernels of the host do not come here at all. */
#include "core/base/streams.h"
#include "core/dispatch/dispatch.h"

/* Calls fn for every tensor argument; true when it ended the walk by returning true. */
typedef bool (*tensor_fn)(void *arg, const tn_tensor *t);
static bool each_tensor(const tn_op *op, const void *frame, tensor_fn fn, void *arg)
{
    const char *f = frame;
    for (int i = 0; i < op->n_tensor_args; i++) {
        const tn_tensor *t = *(tn_tensor *const *)(f + op->tensor_offsets[i]);
        if (t && fn(arg, t))
            return true;
    }
    for (int i = 0; i < op->n_list_args; i++) {
        const tn_tensors *list = (const tn_tensors *)(f + op->list_offsets[i]);
        for (int64_t j = 0; j < list->len; j++)
            if (list->data[j] && fn(arg, list->data[j]))
                return true;
    }
    return false;
}

static bool is_there(void *arg, const tn_tensor *t)
{
    tn_device *device = arg;
    if (t->device.type != device->type)
        return false;
    *device = t->device;
    return true;
}

typedef struct use {
    tn_device device;
    tn_stream *stream;
} use;

static bool note(void *arg, const tn_tensor *t)
{
    const use *u = arg;
    if (t->device.type == u->device.type)
        tn__storage_used_on(tn__impl(t)->storage, u->device, u->stream);
    return false;
}

/* A call goes where its first tensor of the type is; one without such a tensor where its device
 * argument says. */
tn_status tn__device_call(const tn_op *op, tn__kernel *k, void *frame, uint64_t keys,
                          const char *file, int line)
{
    int type = 63 ^ __builtin_clzll((keys & TN__KEY_BACKENDS) | 1);
    if (TN__LIKELY(!tn__has_streams(type)))
        return tn__kernel_call(op, k, frame, keys, file, line);
    use u = {.device = {(int16_t)type, 0}};
    if (!each_tensor(op, frame, is_there, &u.device) && op->device_offset) {
        const tn_device *asked = (const tn_device *)((const char *)frame + op->device_offset);
        if (asked->type == type)
            u.device = *asked;
    }
    u.stream = tn__stream_of_thread(u.device);
    each_tensor(op, frame, note, &u);
    return tn__kernel_call_on(tn__stream_native(u.stream), op, k, frame, keys, file, line);
}

/* storage.c - tensor memory. A host storage is one block: this header, padded to 64 bytes, then the
 * data. Memory of other devices comes from the device's own allocator; a meta storage counts bytes
 * and has none. */
#include "core/base/devices.h"
#include "core/tensor/pairs.h"
#include "core/tensor/tensor_impl.h"

enum { HEADER = TN__STORAGE_HEADER, SMALL = TN__STORAGE_SMALL };
_Static_assert(sizeof(tn__storage) <= HEADER, "the header fits before 64-byte aligned data");

static void init(tn__storage *s, size_t bytes, tn_device device, void *data)
{
    atomic_init(&s->refs, 1);
    atomic_init(&s->version, 0);
    atomic_init(&s->savers, 0);
    s->pair_class = 0;
    s->device = device;
    s->data = data;
    s->bytes = bytes;
    s->release = NULL;
    s->owner = NULL;
}

static void release_device(void *owner, void *data, size_t bytes)
{
    tn__storage *s = owner;
    const tn_device_decl *d = tn__device_of(s->device.type);
    if (d && d->free && data)
        d->free(s->device, data, bytes);
}

static TN_COLD tn_status unknown_device(tn_call *call, tn_device device)
{
    const char *name = tn__device_type_name(device.type);
    if (name)
        return tn__fail(call, TN_ERR_DEVICE,
                        "there is no %s device: no loaded plugin provides its memory", name);
    return tn__fail(
        call, TN_ERR_DEVICE,
        "device type %d is not registered; a plugin that brings it must be loaded first",
        device.type);
}

static tn_status new_device(tn_call *call, size_t bytes, tn_device device, tn__storage **out)
{
    const tn_device_decl *d = tn__device_of(device.type);
    if (!d)
        return unknown_device(call, device);
    tn__storage *s = tn__block_alloc(HEADER);
    if (!s)
        return tn__fail_memory(call, HEADER);
    void *data = NULL;
    tn_status status = bytes ? d->alloc(device, bytes, &data) : TN_OK;
    if (status != TN_OK) {
        tn__block_free(s, HEADER);
        return status;
    }
    init(s, bytes, device, data);
    s->release = release_device;
    s->owner = s;
    *out = s;
    return TN_OK;
}

tn_status tn__storage_new(tn_call *call, size_t bytes, tn_device device, tn__storage **out)
{
    if (TN__UNLIKELY(device.type != TN_CPU && device.type != TN_META))
        return new_device(call, bytes, device, out);
    size_t data_bytes = device.type == TN_CPU ? bytes : 0;
    if (TN__UNLIKELY(data_bytes > (size_t)INT64_MAX - HEADER))
        return tn__fail_memory(call, bytes);
    unsigned pair_class = data_bytes - 1 < SMALL ? tn__pair_class(data_bytes) : 0;
    tn__storage *s = data_bytes <= SMALL
                         ? tn__small_alloc(HEADER + (pair_class ? tn__pair_bytes(pair_class) : 0))
                         : tn__block_alloc(HEADER + data_bytes);
    if (TN__UNLIKELY(!s))
        return tn__fail_memory(call, data_bytes);
    init(s, bytes, device, data_bytes ? (char *)s + HEADER : NULL);
    s->pair_class = pair_class;
    *out = s;
    return TN_OK;
}

tn_status tn__storage_from_memory(tn_call *call, void *data, size_t bytes, tn_device device,
                                  void (*release)(void *, void *, size_t), void *owner,
                                  tn__storage **out)
{
    tn__storage *s = tn__block_alloc(HEADER);
    if (!s)
        return tn__fail_memory(call, HEADER);
    init(s, bytes, device, data);
    s->release = release ? release : tn__storage_keep_memory;
    s->owner = owner;
    *out = s;
    return TN_OK;
}

void tn__storage_keep_memory(void *owner, void *data, size_t bytes)
{
    (void)owner, (void)data, (void)bytes;
}

void tn__storage_release(tn__storage *s)
{
    if (atomic_load_explicit(&s->refs, memory_order_acquire) != 1 &&
        atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    tn__storage_free(s);
}

void tn__storage_free(tn__storage *s)
{
    size_t inline_bytes = 0;
    if (s->release)
        s->release(s->owner, s->data, s->bytes);
    else if (s->pair_class)
        inline_bytes = tn__pair_bytes(s->pair_class);
    else if (s->data)
        inline_bytes = s->bytes;
    if (TN__LIKELY(inline_bytes <= SMALL))
        tn__small_free(s, HEADER + inline_bytes);
    else
        tn__block_free(s, HEADER + inline_bytes);
}

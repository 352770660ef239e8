/* storage.c - tensor memory. A host storage is one block: this header, padded to 64 bytes, then the
 * data. Memory of other devices comes from the device's own allocator; a meta storage counts bytes
 * and has none. */
#include "core/base/guarded.h"
#include "core/base/streams.h"
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

/* ---- memory of other devices ----------------------------------------------------------------- */
/* A storage that knows where its memory goes back to. */
typedef struct device_storage {
    tn__storage s; /* first */
    tn__provider *provider;
    tn_stream *stream;  /* that it was allocated for; a reference */
    atomic_bool shared; /* a call on another stream has taken it */
} device_storage;
_Static_assert(sizeof(device_storage) <= 1 << TN__BLOCK_SMALLEST_LOG2,
               "a block of HEADER bytes has room for it");

static void release_device(void *owner, void *data, size_t bytes)
{
    const device_storage *d = owner;
    if (data)
        tn__provider_free(d->provider, d->s.device, tn__stream_native(d->stream), d->shared, data,
                          bytes);
    tn_stream_free(d->stream);
}

static tn_status new_device(tn_call *call, size_t bytes, tn_device device, tn__storage **out)
{
    tn__provider *p = tn__device_provider(device.type);
    if (!p)
        return tn__device_missing(call, device);
    device_storage *d = tn__block_alloc(sizeof *d);
    if (!d)
        return tn__fail_memory(call, sizeof *d);
    void *data = NULL;
    tn_stream *stream = tn__stream_of_thread(device);
    tn_status status =
        bytes ? tn__provider_alloc(p, device, tn__stream_native(stream), bytes, &data) : TN_OK;
    if (status != TN_OK) {
        tn__block_free(d, sizeof *d);
        return status;
    }
    init(&d->s, bytes, device, data);
    d->s.release = release_device;
    d->s.owner = d;
    d->provider = p;
    d->stream = tn__stream_retain(stream);
    atomic_init(&d->shared, false);
    *out = &d->s;
    return TN_OK;
}

void tn__storage_used_on(tn__storage *s, tn_device device, const tn_stream *stream)
{
    if (s->release != release_device)
        return;
    device_storage *d = s->owner;
    if (d->stream != stream || !tn__same_device_as(s->device, device))
        atomic_store_explicit(&d->shared, true, memory_order_relaxed);
}

/* ---- all ------------------------------------------------------------------------------------- */
tn_status tn__storage_new(tn_call *call, size_t bytes, tn_device device, tn__storage **out)
{
    if (TN__UNLIKELY(device.type != TN_CPU && device.type != TN_META))
        return new_device(call, bytes, device, out);
    size_t data_bytes = device.type == TN_CPU ? bytes : 0;
    if (TN__UNLIKELY(data_bytes > (size_t)INT64_MAX - HEADER))
        return tn__fail_memory(call, bytes);
    /* Guarded, it is as long as was asked for: a sentinel stands right behind the last byte. */
    unsigned pair_class = data_bytes - 1 < SMALL && !tn__guarded() ? tn__pair_class(data_bytes) : 0;
    tn__storage *s =
        data_bytes <= SMALL
            ? tn__small_alloc(HEADER + (pair_class ? tn__pair_bytes(pair_class) : data_bytes))
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
    size_t inline_bytes = 0; /* a device's storage is a block of the same class as HEADER alone */
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

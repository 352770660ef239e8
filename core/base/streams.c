/* streams.c - the streams of tenon/runtime.h: queues of work that a program makes, orders, and lets
 * its calls go to.
 *
 * A scope stands on the thread's stack and is a link of the thread's chain; a call looks there for
 * its device. A stream lives as long as the program, a scope or memory that was allocated for it holds
 * it, and holds its plugin. */
#include "core/base/streams.h"

struct tn_stream {
    tn__provider *provider;
    tn_device device; /* its index is given */
    void *native;
    _Atomic int32_t references;
};

_Thread_local tn_stream_scope *tn__stream_scopes __attribute__((tls_model("initial-exec")));
_Atomic uint32_t tn__stream_types;

static tn_device with_index(tn_device device)
{
    return (tn_device){device.type, device.index < 0 ? 0 : device.index};
}

/* ---- life ------------------------------------------------------------------------------------ */
/* The provider of a device that has streams; NULL, with the error recorded, when there is none. */
static tn__provider *provider_of(tn_device device)
{
    char text[32];
    tn__provider *p = tn__device_provider(device.type);
    if (p && p->decl.stream_new)
        return p;
    if (p)
        tn__fail(NULL, TN_ERR_UNSUPPORTED, "%s has one queue and no streams",
                 tn__device_text(text, device));
    else if (device.type == TN_CPU || device.type == TN_META)
        tn__fail(NULL, TN_ERR_UNSUPPORTED,
                 "%s has no streams: a call there has ended when it returns",
                 tn__device_text(text, device));
    else
        tn__device_missing(NULL, device);
    return NULL;
}

tn_status tn_stream_new(tn_device device, tn_stream **out)
{
    *out = NULL;
    tn__provider *p = provider_of(device);
    if (!p)
        return tn_error_last()->status;
    tn_stream *s = tn__alloc(sizeof *s);
    if (!s)
        return tn__fail_memory(NULL, sizeof *s);
    *s = (tn_stream){.provider = p, .device = with_index(device), .references = 1};
    tn_status status =
        tn__provider_status(p, "stream_new", p->decl.stream_new(s->device, &s->native));
    if (status == TN_OK && !s->native)
        status = tn__fail(NULL, TN_ERR_PLUGIN,
                          "the device type '%s' was asked for a stream, and gave none",
                          p->decl.name);
    if (status != TN_OK) {
        tn__free(s);
        return status;
    }
    atomic_fetch_add(&p->streams, 1);
    atomic_fetch_or(&tn__stream_types, 1u << device.type);
    *out = s;
    return TN_OK;
}

tn_stream *tn__stream_retain(tn_stream *s)
{
    if (s)
        atomic_fetch_add(&s->references, 1);
    return s;
}

void tn_stream_free(tn_stream *s)
{
    if (!s || atomic_fetch_sub(&s->references, 1) != 1)
        return;
    s->provider->decl.stream_free(s->device, s->native);
    atomic_fetch_sub(&s->provider->streams, 1);
    tn__free(s);
}

tn_device tn_stream_device(const tn_stream *s)
{
    return s->device;
}

void *tn_stream_native(const tn_stream *s)
{
    return s->native;
}

/* ---- order ----------------------------------------------------------------------------------- */
tn_status tn_stream_synchronize(tn_stream *s)
{
    return tn__provider_status(s->provider, "stream_synchronize",
                               s->provider->decl.stream_synchronize(s->device, s->native));
}

tn_status tn_stream_wait(tn_stream *s, tn_stream *other)
{
    char a[32], b[32];
    if (!s && !other)
        return tn__fail(NULL, TN_ERR_ARGUMENT,
                        "tn_stream_wait: expected a stream on one side at least, got NULL twice");
    const tn__provider *p = s ? s->provider : other->provider;
    tn_device device = s ? s->device : other->device, of = other ? other->device : s->device;
    if (other && other->provider != p)
        return tn__fail(NULL, TN_ERR_DEVICE,
                        "a stream of %s cannot wait for one of %s: their devices are of two types",
                        tn__device_text(a, device), tn__device_text(b, of));
    return tn__provider_status(
        p, "stream_wait",
        p->decl.stream_wait(device, s ? s->native : NULL, of, other ? other->native : NULL));
}

tn_status tn_stream_query(tn_stream *s, bool *busy)
{
    int32_t answer = 0;
    *busy = false;
    if (!s->provider->decl.stream_query)
        return tn__fail(NULL, TN_ERR_UNSUPPORTED,
                        "streams of the device type '%s' cannot be asked whether they are busy",
                        s->provider->decl.name);
    TN__TRY(tn__provider_status(s->provider, "stream_query",
                                s->provider->decl.stream_query(s->device, s->native, &answer)));
    *busy = answer != 0;
    return TN_OK;
}

tn_status tn_device_synchronize(tn_device device)
{
    const tn__provider *p = tn__device_provider(device.type);
    if (device.type == TN_CPU || device.type == TN_META)
        return TN_OK;
    if (!p)
        return tn__device_missing(NULL, device);
    if (!p->decl.synchronize)
        return tn__fail(NULL, TN_ERR_UNSUPPORTED, "the device type '%s' cannot be waited for",
                        p->decl.name);
    return tn__provider_status(p, "synchronize", p->decl.synchronize(with_index(device)));
}

/* ---- which one a thread uses ----------------------------------------------------------------- */
static void enter(tn_stream_scope *scope, tn_device device, tn_stream *s)
{
    *scope = (tn_stream_scope){tn__stream_scopes, tn__stream_retain(s), with_index(device)};
    tn__stream_scopes = scope;
}

void tn_stream_enter(tn_stream_scope *scope, tn_stream *s)
{
    enter(scope, s ? s->device : (tn_device){TN_DEVICE_NONE, 0}, s);
}

void tn_stream_enter_default(tn_stream_scope *scope, tn_device device)
{
    enter(scope, device, NULL);
}

/* Wherever it stands in the chain: bindings may leave out of order. */
void tn_stream_leave(tn_stream_scope *scope)
{
    for (tn_stream_scope **at = &tn__stream_scopes; *at; at = &(*at)->outer)
        if (*at == scope) {
            *at = scope->outer;
            tn_stream_free(scope->stream);
            return;
        }
}

tn_stream *tn__stream_of_thread(tn_device device)
{
    for (const tn_stream_scope *s = tn__stream_scopes; s; s = s->outer)
        if (tn__same_device_as(s->device, device))
            return s->stream;
    return NULL;
}

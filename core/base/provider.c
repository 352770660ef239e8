/* provider.c - what a plugin's device type is asked for: memory that is counted, so that it holds its
 * plugin, and goes back to the build of it that it came from. */
#include <stdio.h>

#include "core/base/devices_impl.h"

tn_status tn__provider_status(const tn__provider *p, const char *function, tn_status status)
{
    if (status >= TN_OK && status <= TN_ERR_LAST)
        return status;
    return tn__fail(NULL, TN_ERR_PLUGIN,
                    "%s of the device type '%s' returned %d, which is no status", function,
                    p->decl.name, status);
}

/* ---- memory ---------------------------------------------------------------------------------- */
tn_status tn__provider_alloc(tn__provider *p, tn_device device, void *stream, size_t bytes,
                             void **out)
{
    const tn_device_decl *d = &p->decl;
    *out = NULL;
    TN__TRY(tn__provider_status(p, "alloc",
                                d->alloc_on ? d->alloc_on(device, stream, bytes, out)
                                            : d->alloc(device, bytes, out)));
    if (!*out)
        return tn__fail(NULL, TN_ERR_PLUGIN,
                        "the device type '%s' was asked for %zu bytes, and gave none", d->name,
                        bytes);
    atomic_fetch_add_explicit(&p->blocks, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&p->bytes, (int64_t)bytes, memory_order_relaxed);
    return TN_OK;
}

/* A build that was replaced knows nothing of the queues of the one that took over, which may be at
 * work on its memory. */
static void wait_for_successor(const tn__provider *p, tn_device device)
{
    const tn__provider *now = tn__device_provider(device.type);
    if (now && now != p && now->decl.synchronize)
        now->decl.synchronize(device);
}

void tn__provider_free(tn__provider *p, tn_device device, void *stream, bool shared, void *data,
                       size_t bytes)
{
    const tn_device_decl *d = &p->decl;
    wait_for_successor(p, device);
    if (d->free_on)
        d->free_on(device, stream, shared, data, bytes);
    else if (d->free)
        d->free(device, data, bytes);
    atomic_fetch_sub_explicit(&p->bytes, (int64_t)bytes, memory_order_relaxed);
    atomic_fetch_sub_explicit(&p->blocks, 1, memory_order_release);
}

static void drain(const tn__provider *p)
{
    int32_t n = 0;
    if (!p->decl.synchronize || !p->decl.count || p->decl.count(&n) != TN_OK)
        return;
    for (int32_t i = 0; i < n && i <= INT16_MAX; i++)
        p->decl.synchronize((tn_device){p->type, (int16_t)i});
}

void tn__device_drain(const tn__plugin *plugin)
{
    for (int type = 0; type < TN_DEVICE_TYPES; type++)
        for (const tn__provider *p = tn__device_types[type].all; p; p = p->older)
            if (p->plugin == plugin)
                drain(p);
}

/* ---- what is alive --------------------------------------------------------------------------- */
typedef struct living {
    const char *name; /* of the type; NULL: nothing lives */
    int64_t blocks, bytes, streams;
} living;

/* Of the first type that the plugin provides and that has something. */
static living alive_of(const tn__plugin *plugin)
{
    for (int type = 0; plugin && type < TN_DEVICE_TYPES; type++) {
        const tn__provider *now = tn__device_provider(type);
        living l = {0};
        if (!now || now->plugin != plugin)
            continue;
        for (const tn__provider *p = tn__device_types[type].all; p; p = p->older) {
            l.blocks += atomic_load(&p->blocks);
            l.bytes += atomic_load(&p->bytes);
            l.streams += atomic_load(&p->streams);
        }
        l.name = l.blocks || l.streams ? tn__device_type_name(type) : NULL;
        if (l.name)
            return l;
    }
    return (living){0};
}

static void say_streams(const living *l, char *why, size_t n)
{
    snprintf(why, n, "%lld stream%s of its device type '%s' %s still alive", (long long)l->streams,
             l->streams == 1 ? "" : "s", l->name, l->streams == 1 ? "is" : "are");
}

static void say_blocks(const living *l, char *why, size_t n)
{
    snprintf(why, n, "%lld tensor storage%s of its device type '%s' (%lld bytes) %s still alive",
             (long long)l->blocks, l->blocks == 1 ? "" : "s", l->name, (long long)l->bytes,
             l->blocks == 1 ? "is" : "are");
}

bool tn__device_held(const tn__plugin *plugin, char *why, size_t n)
{
    living l = alive_of(plugin);
    if (l.blocks)
        say_blocks(&l, why, n);
    else if (l.streams)
        say_streams(&l, why, n);
    return l.name != NULL;
}

/* Memory is looked at when the new build has said what it promises. */
bool tn__device_blocks_reload(const tn__plugin *plugin, char *why, size_t n)
{
    living l = alive_of(plugin);
    if (l.streams)
        say_streams(&l, why, n);
    return l.streams != 0;
}

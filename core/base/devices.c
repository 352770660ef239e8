/* devices.c - the table of device types. Types 0..2 are ATen's own and always known by name, so
 * that "no CUDA device" is an ordinary answer; a type can be used once its memory has a provider:
 * the core for cpu and meta, a plugin for the others. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/devices.h"

typedef struct device_type {
    const char *_Atomic name, *_Atomic key;
    const tn_device_decl *_Atomic decl; /* NULL: no memory; else &counted */
    tn__plugin *plugin;
    const tn_device_decl *given;   /* the plugin's own */
    tn_device_decl counted;        /* the same, with alloc and free that count */
    _Atomic int64_t blocks, bytes; /* alive */
} device_type;

static device_type types[TN_DEVICE_TYPES] = {
    [TN_CPU] = {.name = "cpu", .key = "CPU"},
    [TN_CUDA] = {.name = "cuda", .key = "CUDA"},
    [TN_META] = {.name = "meta", .key = "Meta"},
};

static bool valid(int type)
{
    return type >= 0 && type < TN_DEVICE_TYPES;
}

const tn_device_decl *tn__device_of(int type)
{
    return valid(type) ? atomic_load_explicit(&types[type].decl, memory_order_acquire) : NULL;
}

const char *tn__device_type_name(int type)
{
    return valid(type) ? types[type].name : NULL;
}

const char *tn__device_key(int type)
{
    return valid(type) ? types[type].key : NULL;
}

const char *tn__device_text(char buf[32], tn_device d)
{
    const char *name = tn__device_type_name(d.type);
    if (d.index >= 0 && d.type != TN_CPU && d.type != TN_META)
        snprintf(buf, 32, "%s:%d", name ? name : "?", d.index);
    else
        snprintf(buf, 32, "%s", name ? name : d.type == TN_DEVICE_NONE ? "none" : "?");
    return buf;
}

tn_status tn__device_parse(const char *text, tn_device *out)
{
    const char *colon = strchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : strlen(text);
    for (int type = 0; type < TN_DEVICE_TYPES; type++) {
        const char *name = types[type].name;
        if (!name || strlen(name) != n || memcmp(name, text, n) != 0)
            continue;
        char *end = NULL;
        long index = colon ? strtol(colon + 1, &end, 10) : -1;
        if (colon && (end == colon + 1 || *end || index < 0 || index > INT16_MAX))
            break;
        *out = (tn_device){(int16_t)type, (int16_t)index};
        return TN_OK;
    }
    return tn__fail(NULL, TN_ERR_DEVICE,
                    "device '%s' is not known; write a registered type such as 'cpu' or 'meta', "
                    "and an index as in 'cuda:0'",
                    text);
}

/* ---- memory that is counted: what keeps its plugin from being unloaded ------------------------ */
static tn_status counted_alloc(tn_device device, size_t bytes, void **out)
{
    device_type *t = &types[device.type];
    tn_status status = t->given->alloc(device, bytes, out);
    if (status == TN_OK) {
        atomic_fetch_add_explicit(&t->blocks, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&t->bytes, (int64_t)bytes, memory_order_relaxed);
    }
    return status;
}

static void counted_free(tn_device device, void *data, size_t bytes)
{
    device_type *t = &types[device.type];
    t->given->free(device, data, bytes);
    atomic_fetch_sub_explicit(&t->blocks, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&t->bytes, (int64_t)bytes, memory_order_relaxed);
}

static const tn_device_decl *counting(device_type *t, const tn_device_decl *d)
{
    t->given = d;
    t->counted = *d;
    t->counted.alloc = counted_alloc;
    if (d->free)
        t->counted.free = counted_free;
    return &t->counted;
}

bool tn__device_held(const tn__plugin *plugin, char *why, size_t n)
{
    for (int type = 0; type < TN_DEVICE_TYPES; type++) {
        const device_type *t = &types[type];
        long long blocks = atomic_load(&t->blocks), bytes = atomic_load(&t->bytes);
        if (!plugin || t->plugin != plugin || blocks <= 0)
            continue;
        snprintf(why, n,
                 "%lld tensor storage%s of its device type '%s' (%lld bytes) %s still alive",
                 blocks, blocks == 1 ? "" : "s", t->name, bytes, blocks == 1 ? "is" : "are");
        return true;
    }
    return false;
}

const char *tn__device_name_of(const tn__plugin *plugin)
{
    for (int type = 0; type < TN_DEVICE_TYPES; type++)
        if (plugin && types[type].plugin == plugin)
            return types[type].name;
    return NULL;
}

/* ---- registration ---------------------------------------------------------------------------- */
/* Finds the type for a declaration: its own if the name is known and free, else the first unused
 * one; -1 if taken or if no type is left. */
static int type_for(const tn_device_decl *d)
{
    int unused = -1;
    for (int type = 0; type < TN_DEVICE_TYPES; type++) {
        if (!types[type].name) {
            if (unused < 0)
                unused = type;
        } else if (strcmp(types[type].name, d->name) == 0) {
            bool taken = type == TN_CPU || type == TN_META || tn__device_of(type);
            return taken ? -1 : type;
        }
    }
    return unused;
}

tn_status tn__device_add(tn__plugin *plugin, const tn_device_decl *d, int16_t *type_out,
                         bool *is_new)
{
    if (!d->name || !*d->name || strchr(d->name, ':') || !d->key || !*d->key || !d->alloc)
        return tn__fail(
            NULL, TN_ERR_PLUGIN,
            "a device type needs a name without ':', a dispatch key and a function that allocates");
    int type = type_for(d);
    if (type < 0)
        return tn__fail(
            NULL, TN_ERR_PLUGIN,
            "device type '%s' cannot be registered: the name is taken, or all %d types are",
            d->name, TN_DEVICE_TYPES);
    *is_new = !types[type].name;
    if (*is_new) {
        types[type].key = d->key;
        types[type].name = d->name;
    }
    types[type].plugin = plugin;
    atomic_store_explicit(&types[type].decl, counting(&types[type], d), memory_order_release);
    *type_out = (int16_t)type;
    return TN_OK;
}

void tn__device_withdraw(int type, bool is_new)
{
    types[type].plugin = NULL;
    atomic_store_explicit(&types[type].decl, NULL, memory_order_release);
    if (!is_new)
        return;
    types[type].name = NULL;
    types[type].key = NULL;
}

void tn__device_remove(tn__plugin *plugin)
{
    for (int type = 0; type < TN_DEVICE_TYPES; type++) {
        if (plugin && types[type].plugin == plugin)
            tn__device_withdraw(type, false);
    }
}

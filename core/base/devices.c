/* devices.c - the table of device types. Types 0..2 are ATen's own and always known by name, so
 * that "no CUDA device" is an ordinary answer; a type can be used once its memory has a provider:
 * the core for cpu and meta, a plugin for the others.
 *
 * Readers take no lock: a name once given stays, and a provider is never freed. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/devices_impl.h"

tn__device_type tn__device_types[TN_DEVICE_TYPES] = {
    [TN_CPU] = {.name = "cpu", .key = "CPU"},
    [TN_CUDA] = {.name = "cuda", .key = "CUDA"},
    [TN_META] = {.name = "meta", .key = "Meta"},
};
static tn__device_type *const types = tn__device_types;

static bool valid(int type)
{
    return type >= 0 && type < TN_DEVICE_TYPES;
}

tn__provider *tn__device_provider(int type)
{
    return valid(type) ? atomic_load_explicit(&types[type].provider, memory_order_acquire) : NULL;
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

tn_status tn__device_missing(tn_call *call, tn_device device)
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

/* ---- registration ---------------------------------------------------------------------------- */
static bool is_word(const char *s)
{
    size_t n = 0;
    for (; s && s[n]; n++)
        if (n + 1 == TN__DEVICE_NAME ||
            !(isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '-'))
            return false;
    return n > 0;
}

static tn_status check_decl(const tn_device_decl *d)
{
    bool some = d->stream_new || d->stream_free || d->stream_synchronize || d->stream_wait,
         all = d->stream_new && d->stream_free && d->stream_synchronize && d->stream_wait;
    const char *name = d->name ? d->name : "";
    if (!is_word(d->name) || !is_word(d->key))
        return tn__fail(NULL, TN_ERR_PLUGIN,
                        "device type '%.40s': its name and its dispatch key need 1 to %d letters, "
                        "digits, '_' or '-' each; the key is '%.40s'",
                        name, TN__DEVICE_NAME - 1, d->key ? d->key : "");
    if (!d->alloc || !(d->free || d->free_on))
        return tn__fail(NULL, TN_ERR_PLUGIN, "device type '%s' has no function that %s", name,
                        d->alloc ? "frees" : "allocates");
    if (some && !all)
        return tn__fail(NULL, TN_ERR_PLUGIN,
                        "device type '%s' has some of stream_new, stream_free, stream_synchronize "
                        "and stream_wait; give all four, or none",
                        name);
    if (!d->alloc_on != !d->free_on)
        return tn__fail(NULL, TN_ERR_PLUGIN,
                        "device type '%s' has one of alloc_on and free_on; give both, or none",
                        name);
    if (d->flags & ~(uint32_t)TN_DEVICE_RELOADS)
        return tn__fail(NULL, TN_ERR_PLUGIN, "device type '%s' has flags that mean nothing: 0x%x",
                        name, d->flags);
    return TN_OK;
}

/* The provider that was `plugin` before, when nothing of it is alive, or a new one. */
static tn__provider *provider_for(int type, tn__plugin *plugin, const tn_device_decl *d)
{
    tn__device_type *t = &types[type];
    tn__provider *p = t->all;
    while (p && (p->plugin != plugin || atomic_load(&p->blocks) || atomic_load(&p->streams)))
        p = p->older;
    if (!p) {
        p = tn__zalloc(sizeof *p);
        if (!p)
            return NULL;
        p->older = t->all;
        t->all = p;
    }
    p->decl = *d;
    p->decl.name = t->name_text; /* the plugin's may be gone when init returns */
    p->decl.key = t->key_text;
    p->plugin = plugin;
    p->type = (int16_t)type;
    return p;
}

/* Finds the type for a declaration: its own if the name is known and free, or free for a successor,
 * else the first unused one; -1 if taken or if no type is left. */
static int type_for(const tn_device_decl *d, const tn__plugin *replaced)
{
    int unused = -1;
    for (int type = 0; type < TN_DEVICE_TYPES; type++) {
        if (!types[type].name) {
            if (unused < 0)
                unused = type;
        } else if (strcmp(types[type].name, d->name) == 0) {
            const tn__provider *now = tn__device_provider(type);
            bool taken = type == TN_CPU || type == TN_META || types[type].successor ||
                         (now && (!replaced || now->plugin != replaced));
            return taken ? -1 : type;
        }
    }
    return unused;
}

tn_status tn__device_add(tn__plugin *plugin, const tn__plugin *replaced, const tn_device_decl *d,
                         int16_t *type_out, bool *is_new)
{
    TN__TRY(check_decl(d));
    int type = type_for(d, replaced);
    if (type < 0)
        return tn__fail(
            NULL, TN_ERR_PLUGIN,
            "device type '%s' cannot be registered: the name is taken, or all %d types are",
            d->name, TN_DEVICE_TYPES);
    tn__device_type *t = &types[type];
    if (t->key && strcmp(t->key, d->key) != 0)
        return tn__fail(NULL, TN_ERR_PLUGIN,
                        "device type '%s' has the dispatch key '%s', and cannot be registered "
                        "with '%s'",
                        d->name, t->key, d->key);
    tn__provider *p = provider_for(type, plugin, d);
    if (!p)
        return tn__fail_memory(NULL, sizeof *p);
    *is_new = !t->name;
    if (*is_new) {
        t->key = strcpy(t->key_text, d->key);
        t->name = strcpy(t->name_text, d->name);
    }
    if (replaced && tn__device_provider(type))
        t->successor = p;
    else
        atomic_store_explicit(&t->provider, p, memory_order_release);
    *type_out = (int16_t)type;
    return TN_OK;
}

void tn__device_withdraw(int type, bool is_new)
{
    if (types[type].successor) {
        types[type].successor = NULL;
        return;
    }
    atomic_store_explicit(&types[type].provider, NULL, memory_order_release);
    if (!is_new)
        return;
    types[type].name = NULL;
    types[type].key = NULL;
}

void tn__device_remove(tn__plugin *plugin)
{
    for (int type = 0; type < TN_DEVICE_TYPES; type++) {
        const tn__provider *p = tn__device_provider(type);
        if (plugin && p && p->plugin == plugin)
            tn__device_withdraw(type, false);
    }
}

/* ---- a generation takes over ----------------------------------------------------------------- */
tn_status tn__device_check_successor(const tn__plugin *replaced, uint32_t set)
{
    for (int type = 0; replaced && type < TN_DEVICE_TYPES; type++) {
        const tn__device_type *t = &types[type];
        const tn__provider *now = tn__device_provider(type);
        if (!now || now->plugin != replaced || atomic_load(&now->blocks) == 0)
            continue;
        if (!(set >> type & 1))
            return tn__fail(NULL, TN_ERR_PLUGIN,
                            "it does not bring the device type '%s', of which memory is alive",
                            t->name);
        if (!(now->decl.flags & t->successor->decl.flags & TN_DEVICE_RELOADS))
            return tn__fail(NULL, TN_ERR_PLUGIN,
                            "memory of the device type '%s' is alive, and not both builds promise "
                            "TN_DEVICE_RELOADS",
                            t->name);
    }
    return TN_OK;
}

void tn__device_succeed(const tn__plugin *replaced, uint32_t set)
{
    for (int type = 0; replaced && type < TN_DEVICE_TYPES; type++) {
        const tn__provider *now = tn__device_provider(type);
        tn__provider *next = types[type].successor;
        if (!now || now->plugin != replaced)
            continue;
        types[type].successor = NULL;
        atomic_store_explicit(&types[type].provider, set >> type & 1 ? next : NULL,
                              memory_order_release);
    }
}

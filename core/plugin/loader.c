/* loader.c - loads, counts, reloads, reports and unloads plugins.
 *
 * The way of a file: resolve (places.c) - its record (record.c) - start.c. Why a file is not loaded
 * is kept in its record. Code that was mapped once stays mapped: a kernel, a deleter or a thread may
 * still be inside.
 *
 * Threads: one lock around everything that loads or unloads; a plugin's init runs under it, and so
 * cannot load another one. */
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/dispatch/registry.h"
#include "core/plugin/plugin_impl.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- load ------------------------------------------------------------------------------------ */
/* Loads the file at `path` (absolute), or finds it loaded. *out is NULL only when out of memory. */
static bool load_file(const char *path, const tn__file_id *id, bool count, tn__plugin **out,
                      tn__finding *f)
{
    tn__plugin *p = tn__plugin_of_file(id);
    if (!p)
        p = tn__plugin_of_path(path);
    *out = p;
    if (!p)
        return tn__refuse(f, "free some memory", "out of memory");
    if (p->references > 0 && tn__file_same(&p->id, id)) {
        p->references += count;
        return true;
    }
    if (p->references > 0)
        return tn__refuse(f, "unload it first, or load the new one under another file name",
                          "another file was loaded under this name and is still in use");
    if (!tn__plugin_bring_up(p, id, f)) {
        p->finding = *f;
        return false;
    }
    p->references = 1;
    return true;
}

/* A path that leads to no file: still tried, still reported. */
static void remember(const char *path, const tn__finding *f)
{
    tn__plugin *p = tn__plugin_of_path(path);
    if (p && p->references == 0)
        p->finding = *f;
}

static bool load(const char *name, bool count, tn__plugin **out, tn__finding *f)
{
    char path[PATH_MAX];
    tn__file_id id;
    *out = NULL;
    tn__runtime_init(); /* the operators whose kernels a plugin brings */
    tn__plugin_check_calls();
    if (tn__plugin_resolve(name, path, &id, f))
        return load_file(path, &id, count, out, f);
    remember(name, f);
    return false;
}

static tn_status inside_init(const char *function)
{
    return tn__fail(NULL, TN_ERR_PLUGIN, "%s: a plugin's init cannot load or unload plugins",
                    function);
}

tn_status tn_plugin_load(const char *path, tn_plugin_handle **out)
{
    if (out)
        *out = NULL;
    if (tn__registry_open)
        return inside_init("tn_plugin_load");
    if (!path)
        return tn__fail(NULL, TN_ERR_ARGUMENT, "tn_plugin_load: expected a path, got NULL");
    tn__finding f = {.state = ""};
    tn__plugin *p;
    pthread_mutex_lock(&lock);
    bool ok = load(path, true, &p, &f);
    pthread_mutex_unlock(&lock);
    if (ok && out)
        *out = (tn_plugin_handle *)p;
    if (ok)
        return TN_OK;
    char shown[260];
    snprintf(shown, sizeof shown, "%.256s%s", path, strlen(path) > 256 ? "..." : "");
    tn__plugin_one_line(shown);
    return tn__fail(NULL, TN_ERR_PLUGIN, "cannot load the plugin '%s': %s; %s", shown, f.reason,
                    f.cure);
}

/* ---- unload ---------------------------------------------------------------------------------- */
static void take_down(tn__plugin *p)
{
    tn__registry_remove(p);
    tn__plugin_exit(p);
    p->finding.state = "unloaded";
    snprintf(p->finding.reason, sizeof p->finding.reason, "the program unloaded it");
    snprintf(p->finding.cure, sizeof p->finding.cure, "load it again");
}

static tn_status no_handle(const char *function, const tn_plugin_handle *handle)
{
    return tn__fail(NULL, TN_ERR_ARGUMENT, "%s: expected the handle of a loaded plugin, got %p",
                    function, (const void *)handle);
}

/* What would be left without its code's care; false: nothing. */
static bool held(const tn__plugin *p, char *why, size_t n)
{
    long long calls = atomic_load(&p->calls);
    if (tn__device_held(p, why, n))
        return true;
    if (calls > 0)
        snprintf(why, n, "%lld call%s of its kernels %s not returned", calls, calls == 1 ? "" : "s",
                 calls == 1 ? "has" : "have");
    return calls > 0;
}

tn_status tn_plugin_unload(tn_plugin_handle *handle)
{
    char why[160];
    if (tn__registry_open)
        return inside_init("tn_plugin_unload");
    pthread_mutex_lock(&lock);
    tn__plugin *p = tn__plugin_of_handle(handle);
    bool stays = p && p->references == 1 && held(p, why, sizeof why);
    if (p && !stays && --p->references == 0)
        take_down(p);
    pthread_mutex_unlock(&lock);
    if (!p)
        return no_handle("tn_plugin_unload", handle);
    return !stays ? TN_OK
                  : tn__fail(NULL, TN_ERR_PLUGIN, "cannot unload the plugin %s: %s", p->text, why);
}

/* ---- reload ---------------------------------------------------------------------------------- */
tn_status tn_plugin_reload(tn_plugin_handle *handle)
{
    tn__finding f = {.state = ""};
    if (tn__registry_open)
        return inside_init("tn_plugin_reload");
    pthread_mutex_lock(&lock);
    tn__plugin *p = tn__plugin_of_handle(handle);
    bool ok = p && tn__plugin_reload(p, &f);
    pthread_mutex_unlock(&lock);
    if (!p)
        return no_handle("tn_plugin_reload", handle);
    return ok ? TN_OK
              : tn__fail(NULL, TN_ERR_PLUGIN,
                         "cannot reload the plugin %s, whose old code serves on: %s; %s", p->text,
                         f.reason, f.cure);
}

/* ---- the configured directories -------------------------------------------------------------- */
static void load_place(void *arg, const char *path, const tn__finding *problem)
{
    tn__finding f;
    tn__plugin *p;
    (void)arg;
    if (problem)
        remember(path, problem);
    else
        load(path, false, &p, &f);
}

tn_status tn_plugins_load_default(void)
{
    pthread_mutex_lock(&lock);
    tn__plugin_each(load_place, NULL);
    pthread_mutex_unlock(&lock);
    tn__record_from_environment();
    if (!tn__error_kept())
        tn_error_clear(); /* a refused plugin is in the report, it is not our failure */
    return TN_OK;
}

void tn__plugin_remark_late(tn__plugin *p, const char *fmt, ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    tn__plugin_remark(p, "%s", text);
    pthread_mutex_unlock(&lock);
}

bool tn_plugin_report(size_t i, tn_plugin_info *out)
{
    pthread_mutex_lock(&lock);
    tn__plugin *p = tn__plugins;
    while (p && i--)
        p = p->next;
    if (p)
        *out = (tn_plugin_info){.path = p->path,
                                .name = p->name,
                                .version = p->version,
                                .state = p->references > 0 ? "loaded" : p->finding.state,
                                .reason = p->finding.reason,
                                .cure = p->references > 0 ? "" : p->finding.cure};
    pthread_mutex_unlock(&lock);
    return p != NULL;
}

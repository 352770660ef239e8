/* loader.c - loads, counts, reports and unloads plugins.
 *
 * The way of a file: resolve (trust.c) - note (note.c) - dlopen - its table - init inside a
 * transaction - commit. Each step refuses with one reason and one cure, kept in the file's record;
 * whatever fails, nothing of the plugin is registered. Code that was mapped once stays mapped: a
 * kernel, a deleter or a thread may still be inside.
 *
 * Threads: one lock around everything that loads or unloads; a plugin's init runs under it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fenv.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/dispatch/registry.h"
#include "core/plugin/plugin_impl.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
_Thread_local tn_registry *tn__registry_open;

/* Of border revision 1: what the oldest plugin brings. */
static const size_t least_entry = offsetof(tn_plugin, exit) + sizeof(void (*)(void));

static const char cure_header[] = "rebuild the plugin against this Tenon's headers";

/* ---- mapping --------------------------------------------------------------------------------- */
/* The plugin's own code must not change how this thread computes: one that was linked with
 * -ffast-math switches denormals off in its constructor, and threads started later would inherit
 * that. */
static void *map(const char *path)
{
    fenv_t before;
    fegetenv(&before);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    fesetenv(&before);
    return handle;
}

static bool find_entry(tn__plugin *p, tn__finding *f)
{
    static const char cure[] =
        "write TN_PLUGIN(..) in one of its sources and export tenon_plugin alone";
    const tn_plugin *entry = dlsym(p->handle, "tenon_plugin");
    Dl_info info;
    const Elf64_Sym *symbol = NULL;
    if (!entry)
        return tn__refuse(f, cure, "it does not export the symbol tenon_plugin");
    if (dladdr1(entry, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
        (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_size < least_entry))
        return tn__refuse(f, cure, "its symbol tenon_plugin is not a tn_plugin of %zu bytes",
                          least_entry);
    p->entry = entry;
    return true;
}

/* The table must say what the note said: they come from the same macro. */
static bool check_entry(const tn_plugin *entry, const tn_note *note, tn__finding *f)
{
    if (entry->size < least_entry)
        return tn__refuse(f, cure_header, "its table tenon_plugin says %u bytes, %zu are the least",
                          entry->size, least_entry);
    if (entry->abi != note->abi || entry->fingerprint != tn__note_u64(note->fingerprint))
        return tn__refuse(
            f, cure_header,
            "its table tenon_plugin (border revision %u, fingerprint %016llx) and its note "
            "(revision %u, fingerprint %016llx) do not agree",
            entry->abi, (unsigned long long)entry->fingerprint, note->abi,
            (unsigned long long)tn__note_u64(note->fingerprint));
    if (!entry->name || !entry->version || strcmp(entry->name, note->name) != 0 ||
        strcmp(entry->version, note->version) != 0)
        return tn__refuse(
            f, cure_header,
            "its table tenon_plugin has another name or version than its note (%s %s)", note->name,
            note->version);
    if (!entry->init)
        return tn__refuse(f, cure_header, "its table tenon_plugin has no init function");
    return true;
}

/* ---- init ------------------------------------------------------------------------------------ */
/* What the thread's record says of the failure just met; a record that an expression keeps is about
 * something else. */
static const char *failure_message(void)
{
    const tn_error *e = tn_error_last();
    return tn__error_kept() || e->status == TN_OK || !*e->message ? "it does not say why"
                                                                  : e->message;
}

static bool check_init(tn_status status, const tn_registry *r, tn__finding *f)
{
    static const char cure[] = "correct what the message names";
    if (status < TN_OK || status > TN_ERR_INTERNAL)
        return tn__refuse(f, "return TN_OK or the status of the call that failed",
                          "its init returned %d, which is not a status", status);
    if (status == TN_OK)
        status = r->status; /* a registration failed, and init did not pass it on */
    if (status == TN_OK)
        return true;
    return tn__refuse(f, cure, "its init failed (%s): %s", tn_status_name(status),
                      failure_message());
}

static void call_exit(const tn_plugin *entry)
{
    if (!entry->exit)
        return;
    fenv_t before;
    fegetenv(&before);
    entry->exit();
    fesetenv(&before);
}

/* Runs init inside a transaction: all that it registers appears, or none. */
static bool start(tn__plugin *p, tn__finding *f)
{
    tn_registry registry;
    fenv_t before;
    if (!tn__error_kept())
        tn_error_clear();
    p->finding.reason[0] = '\0'; /* remarks of the registry come here */
    tn__registry_begin(&registry, p);
    fegetenv(&before);
    tn__registry_open = &registry;
    tn_status status = p->entry->init(&tn__api, &registry);
    tn__registry_open = NULL;
    fesetenv(&before);
    if (!check_init(status, &registry, f)) {
        tn__registry_rollback(&registry);
        return false;
    }
    if (tn__registry_commit(&registry) == TN_OK)
        return true;
    tn__refuse(f, "unload the other one, or rename what clashes", "%s", failure_message());
    call_exit(p->entry);
    return false;
}

/* ---- load ------------------------------------------------------------------------------------ */
/* The steps from a trusted file to a loaded plugin. */
static bool bring_up(tn__plugin *p, const tn__file_id *id, tn__finding *f)
{
    tn_note note;
    if (!tn__plugin_trusted(p->path, f) || !tn__note_read(p->path, &note, f))
        return false;
    if (!tn__plugin_describe(p, &note))
        return tn__refuse(f, "free some memory", "out of memory");
    if (!tn__note_check(&note, f))
        return false;
    if (p->handle && !tn__file_unchanged(&p->id, id))
        return tn__refuse(
            f, "load the new one under another file name, or start the process again",
            "the file changed after its code was mapped, and the old code cannot be replaced");
    if (!p->handle) {
        p->handle = map(p->path);
        if (!p->handle)
            return tn__refuse(f, "see `ldd` of the file", "the dynamic linker refuses it: %s",
                              dlerror());
        p->id = *id;
    }
    return find_entry(p, f) && check_entry(p->entry, &note, f) && start(p, f);
}

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
    if (!bring_up(p, id, f)) {
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
    if (tn__plugin_resolve(name, path, &id, f))
        return load_file(path, &id, count, out, f);
    remember(name, f);
    return false;
}

tn_status tn_plugin_load(const char *path, tn_plugin_handle **out)
{
    if (out)
        *out = NULL;
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
    return tn__fail(NULL, TN_ERR_PLUGIN, "cannot load the plugin '%.256s%s': %s; %s", path,
                    strlen(path) > 256 ? "..." : "", f.reason, f.cure);
}

/* ---- unload ---------------------------------------------------------------------------------- */
static void take_down(tn__plugin *p)
{
    tn__registry_remove(p);
    call_exit(p->entry);
    p->finding.state = "unloaded";
    snprintf(p->finding.reason, sizeof p->finding.reason, "the program unloaded it");
    snprintf(p->finding.cure, sizeof p->finding.cure, "load it again");
}

tn_status tn_plugin_unload(tn_plugin_handle *handle)
{
    pthread_mutex_lock(&lock);
    tn__plugin *p = tn__plugin_of_handle(handle);
    if (p && --p->references == 0)
        take_down(p);
    pthread_mutex_unlock(&lock);
    if (p)
        return TN_OK;
    return tn__fail(NULL, TN_ERR_ARGUMENT,
                    "tn_plugin_unload: expected the handle of a loaded plugin, got %p",
                    (void *)handle);
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
    if (!tn__error_kept())
        tn_error_clear(); /* a refused plugin is in the report, it is not our failure */
    return TN_OK;
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

/* start.c - from a file that may be loaded to a plugin whose operators are registered: note, dlopen,
 * its table, init inside a transaction, commit.
 *
 * Each step refuses with one reason and one cure; whatever fails, nothing of the plugin is
 * registered. All of the plugin's code that runs here runs through foreign.c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "core/dispatch/registry.h"
#include "core/plugin/foreign.h"
#include "core/plugin/plugin_impl.h"
#include "core/plugin/probe.h"
#include "core/plugin/quarantine.h"

_Thread_local tn_registry *tn__registry_open;

/* Of border revision 1: what the oldest plugin brings. */
static const size_t least_entry = offsetof(tn_plugin, exit) + sizeof(void (*)(void));

static const char cure_header[] = "rebuild the plugin against this Tenon's headers";

/* What its code left out of order, where a person can see it. */
static void remark(tn__plugin *p, const tn__foreign *seen, const char *when)
{
    if (seen->fp_mode)
        tn__plugin_remark(p, "%s changes the floating-point mode, which was restored", when);
    if (seen->threads)
        tn__plugin_remark(p, "%s leaves %d thread%s running", when, seen->threads,
                          seen->threads == 1 ? "" : "s");
}

/* ---- mapping --------------------------------------------------------------------------------- */
typedef struct mapping {
    const char *path;
    void *handle;
} mapping;

static void call_dlopen(void *arg)
{
    mapping *m = arg;
    m->handle = dlopen(m->path, RTLD_NOW | RTLD_LOCAL);
}

/* A plugin that was linked with -ffast-math switches denormals off in its constructor. An exception of
 * a static object's constructor passes through dlopen, which then never gives its locks back: only a
 * probe, whose process ends, stops it and says so. Elsewhere it ends this process. */
static bool map(tn__plugin *p, const char *file, tn__finding *f)
{
    mapping m = {.path = file};
    unsigned stop = tn__probe_inside() ? TN__FOREIGN_STOP : 0;
    tn__foreign seen = tn__foreign_run(call_dlopen, &m, TN__FOREIGN_THREADS | stop);
    if (seen.threw) {
        tn__refuse(f, "move what can fail from static objects into the init that TN_PLUGIN names",
                   "a constructor of it threw a C++ exception, which would end the process");
        f->state = tn__probe_deadly;
        return false;
    }
    remark(p, &seen, "a constructor of it");
    if (!m.handle)
        return tn__refuse(f, "see `ldd` of the file", "the dynamic linker refuses it: %s",
                          dlerror());
    p->handle = m.handle;
    return true;
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
    /* What dlsym gave is that symbol itself, and not what a function has answered. */
    bool is_it = dladdr1(entry, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
                 info.dli_sname && strcmp(info.dli_sname, "tenon_plugin") == 0 &&
                 info.dli_saddr == entry;
    if (!is_it || ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_size < least_entry)
        return tn__refuse(f, cure, "its symbol tenon_plugin is not a tn_plugin of %zu bytes",
                          least_entry);
    if ((uintptr_t)entry % _Alignof(tn_plugin) != 0)
        return tn__refuse(f, cure_header, "its table tenon_plugin is misaligned: it stands at %p",
                          (const void *)entry);
    if (symbol->st_size < entry->size)
        return tn__refuse(f, cure_header,
                          "its table tenon_plugin says %u bytes, and its symbol has %zu",
                          entry->size, (size_t)symbol->st_size);
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

/* ---- init and exit --------------------------------------------------------------------------- */
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
    if (status < TN_OK || status > TN_ERR_LAST)
        return tn__refuse(f, "return TN_OK or the status of the call that failed",
                          "its init returned %d, which is not a status", status);
    if (status == TN_OK)
        status = r->status; /* a registration failed, and init did not pass it on */
    if (status == TN_OK)
        return true;
    return tn__refuse(f, cure, "its init failed (%s): %s", tn_status_name(status),
                      failure_message());
}

typedef struct init_call {
    const tn_plugin *entry;
    tn_registry *registry;
    tn_status status;
} init_call;

static void call_init(void *arg)
{
    init_call *c = arg;
    c->status = c->entry->init(&tn__api, c->registry);
}

/* What the note said of the operators, before any code ran; most notes say nothing. */
static bool check_schemas(const tn__plugin *p, const tn_registry *r, tn__finding *f)
{
    if (p->schemas == 0 || p->schemas == r->schemas)
        return true;
    return tn__refuse(f, "build all of its sources again",
                      "its note has %016llx as the hash of its operators' schemas, and those that "
                      "it registers have %016llx",
                      (unsigned long long)p->schemas, (unsigned long long)r->schemas);
}

static bool run_init(tn__plugin *p, tn_registry *r, tn__finding *f)
{
    init_call c = {p->entry, r, TN_OK};
    tn__registry_open = r;
    tn__foreign seen = tn__foreign_run(call_init, &c, TN__FOREIGN_STOP | TN__FOREIGN_THREADS);
    tn__registry_open = NULL;
    remark(p, &seen, "its init");
    if (seen.threw)
        return tn__refuse(f, "catch exceptions inside the plugin, and return a status",
                          "its init threw a C++ exception");
    return check_init(c.status, r, f) && check_schemas(p, r, f);
}

static void run_exit(void *arg)
{
    const tn_plugin *entry = arg;
    entry->exit();
}

void tn__plugin_exit(tn__plugin *p)
{
    if (p->entry->exit)
        tn__foreign_run(run_exit, (void *)p->entry, TN__FOREIGN_STOP);
}

/* Runs init inside a transaction: all that it registers appears, or none. */
static bool start(tn__plugin *p, tn__plugin *replaced, tn__finding *f)
{
    tn_registry registry;
    if (!tn__error_kept())
        tn_error_clear();
    tn__registry_begin(&registry, p);
    registry.replaced = replaced;
    if (!run_init(p, &registry, f)) {
        tn__registry_rollback(&registry);
        return false;
    }
    if (tn__registry_commit(&registry) == TN_OK)
        return true;
    tn__refuse(f,
               replaced ? "correct what the message names, or start the process again"
                        : "unload the other one, or rename what clashes",
               "%s", failure_message());
    tn__plugin_exit(p);
    return false;
}

/* ---- the trial ------------------------------------------------------------------------------- */
typedef struct trial {
    tn__plugin *plugin;
    const tn_note *note;
} trial;

static bool run_trial(void *arg, tn__finding *f)
{
    trial *t = arg;
    tn__plugin *p = t->plugin;
    return map(p, p->path, f) && find_entry(p, f) && check_entry(p->entry, t->note, f) &&
           start(p, NULL, f);
}

/* Of a plugin from outside the built-in directory: not in quarantine, and, where the environment
 * asks for it, loaded in a child first. */
static bool passes(tn__plugin *p, const tn__file_id *id, const tn_note *note, tn__finding *f)
{
    if (tn__plugin_built_in(p->path))
        return true;
    if (!tn__quarantine_passes(p->path, id, f))
        return false;
    if (!tn__probe_wanted())
        return true;
    trial t = {p, note};
    tn__probe_end end = tn__probe(run_trial, &t, f);
    if (end == TN__PROBE_DIED)
        tn__quarantine_add(p->path, id, f);
    return end == TN__PROBE_LOADS;
}

/* ---- all of it ------------------------------------------------------------------------------- */
/* The file is what the note was read from, and what is mapped. */
static bool check_file(tn__plugin *p, const char *file, tn_note *note, tn__finding *f)
{
    if (!tn__plugin_trusted(p->path, f) || !tn__note_read(file, note, f))
        return false;
    if (!tn__plugin_describe(p, note))
        return tn__refuse(f, "free some memory", "out of memory");
    return tn__note_check(note, f);
}

bool tn__plugin_bring_up(tn__plugin *p, const tn__file_id *id, tn__finding *f)
{
    tn_note note;
    p->finding.reason[0] = '\0'; /* remarks come here */
    if (!check_file(p, p->path, &note, f))
        return false;
    if (p->handle && !tn__file_unchanged(&p->id, id))
        return tn__refuse(
            f, "load the new one under another file name, or start the process again",
            "the file changed after its code was mapped, and the old code cannot be replaced");
    if (!p->handle) {
        if (!passes(p, id, &note, f) || !map(p, p->path, f))
            return false;
        p->id = *id;
    }
    return find_entry(p, f) && check_entry(p->entry, &note, f) && start(p, NULL, f);
}

bool tn__plugin_take_over(tn__plugin *p, tn__plugin *old, const char *copy, tn__finding *f)
{
    tn_note note;
    if (!check_file(p, copy, &note, f))
        return false;
    if (strcmp(p->name, old->name) != 0)
        return tn__refuse(f, "load it under another file name",
                          "the file now holds the plugin '%s', and not '%s'", p->name, old->name);
    return map(p, copy, f) && find_entry(p, f) && check_entry(p->entry, &note, f) &&
           start(p, old, f);
}

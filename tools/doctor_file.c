/* doctor_file.c - examines one plugin: its file first, by plain reads, then a load in a child
 * process, because a plugin may crash or never return: then that is the finding, and the doctor
 * lives.
 *
 * What dies there goes into quarantine until its file changes, and is not run again unasked. */
#define _GNU_SOURCE
#include "doctor_impl.h"

#include <stdlib.h>
#include <string.h>

#include <tenon/runtime.h>

#include "core/plugin/probe.h"
#include "core/plugin/quarantine.h"

/* ---- the file -------------------------------------------------------------------------------- */
static bool check_file(doctor_row *row)
{
    plugin_file file;
    if (!tn__plugin_trusted(row->path, &row->finding) ||
        !plugin_file_open(&file, row->path, &row->finding))
        return false;
    row->note = file.note;
    row->has_note = true;
    bool ok = true;
    for (const plugin_check *c = plugin_checks; c->name && ok; c++)
        ok = c->passes(&file, &row->finding);
    plugin_file_close(&file);
    return ok;
}

/* ---- the trial ------------------------------------------------------------------------------- */
typedef struct trial {
    const char *path;
    const char *const *before;
    int n_before;
} trial;

/* In the child: loads the others, then the plugin, and says what its report says. */
static bool load(void *arg, tn__finding *f)
{
    const trial *t = arg;
    tn_plugin_info info;
    setenv("TENON_PLUGIN_CHECK", "1", 1);
    for (int i = 0; i < t->n_before; i++)
        tn_plugin_load(t->before[i], NULL);
    bool ok = tn_plugin_load(t->path, NULL) == TN_OK;
    if (!ok)
        tn__refuse(f, "try again", "%s", tn_error_last()->message);
    for (size_t i = 0; tn_plugin_report(i, &info); i++) {
        if (strcmp(info.path, t->path) != 0)
            continue;
        f->state = info.state;
        snprintf(f->reason, sizeof f->reason, "%s", info.reason);
        snprintf(f->cure, sizeof f->cure, "%s", info.cure);
    }
    return ok;
}

static bool try_load(doctor_row *row, const tn__file_id *id, const char *const *before, int n,
                     bool retry)
{
    trial t = {row->path, before, n};
    if (retry)
        tn__quarantine_forget(row->path);
    else if (!tn__quarantine_passes(row->path, id, &row->finding))
        return false;
    tn__probe_end end = tn__probe(load, &t, &row->finding);
    if (end == TN__PROBE_DIED && !tn__plugin_built_in(row->path))
        tn__quarantine_add(row->path, id, &row->finding);
    return end == TN__PROBE_LOADS;
}

/* ---- who could change it --------------------------------------------------------------------- */
static void audit(void *arg, const char *path, const char *owner, unsigned mode, const char *others)
{
    doctor_row *row = arg;
    size_t used = strlen(row->finding.reason);
    (void)owner, (void)mode;
    if (strcmp(others, "nobody") != 0)
        snprintf(row->finding.reason + used, sizeof row->finding.reason - used,
                 "%s%.200s can be changed by %s", used ? "; " : "", path, others);
}

void doctor_examine(doctor_row *row, const char *path, const char *const *before, int n, bool retry)
{
    tn__file_id id;
    memset(row, 0, sizeof *row);
    row->finding.state = "";
    if (!tn__plugin_resolve(path, row->path, &id, &row->finding)) {
        snprintf(row->path, sizeof row->path, "%s", path);
        return;
    }
    row->ok = check_file(row) && try_load(row, &id, before, n, retry);
    if (!row->ok)
        return;
    row->finding.state = "loaded";
    tn__plugin_audit(row->path, audit, row);
}

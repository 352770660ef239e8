/* doctor.c - `tenon doctor`: why each plugin does or does not load, and what is covered by those
 * that do.
 *
 * One line per plugin, with one reason and one cure where it does not load. Every file is tried in
 * a child process first; only what loads there is loaded here, for the table of coverage. */
#include "doctor_impl.h"

#include <stdlib.h>
#include <string.h>

#include <tenon/runtime.h>

static const char usage[] =
    "usage: tenon doctor [PLUGIN ...] [--coverage] [--retry] [--format text|json]\n"
    "\n"
    "Examines the plugins of the configured directories (TENON_PLUGIN_PATH, else those beside\n"
    "libtenon.so), or the files that are named: may their code run here, do they fit this Tenon,\n"
    "do they export one symbol, do they load. For each that does not: one reason, one cure. Then,\n"
    "of all that load: operators by device and dtype. A plugin that crashes or hangs goes into\n"
    "quarantine ($XDG_CACHE_HOME/tenon/quarantine): it is not loaded again until its file "
    "changes.\n"
    "\n"
    "  --coverage   every operator: which devices serve it, how, and for which dtypes\n"
    "  --retry      try plugins that are in quarantine, too\n"
    "  --json       --format json: a row per plugin, with its border, its needs, and who can "
    "change\n"
    "               its file and the directories above it\n"
    "\n"
    "Exit status: 0 all is well (a plugin may be skipped for what this machine lacks, unless it\n"
    "was named); 1 one does not load; 2 wrong use, or there is no plugin.\n";

typedef struct doctor {
    tool_format format;
    const char **configured; /* the candidates of the configured places */
    int n_configured, cap;
    bool show_configured, retry, coverage, no_memory;
    int loaded, skipped, refused;
} doctor;

/* ---- candidates --------------------------------------------------------------------------------
 */
static void put_row(doctor *d, const doctor_row *row);

static void add_candidate(void *arg, const char *path, const tn__finding *problem)
{
    doctor *d = arg;
    if (problem) {
        doctor_row row = {.finding = *problem};
        snprintf(row.path, sizeof row.path, "%s", path);
        if (d->show_configured)
            put_row(d, &row);
        return;
    }
    if (d->n_configured == d->cap) {
        int cap = d->cap ? d->cap * 2 : 16;
        const char **more = realloc(d->configured, (size_t)cap * sizeof *more);
        if (!more) {
            d->no_memory = true;
            return;
        }
        d->configured = more;
        d->cap = cap;
    }
    char *copy = strdup(path);
    d->no_memory = d->no_memory || !copy;
    if (copy)
        d->configured[d->n_configured++] = copy;
}

/* ---- output ------------------------------------------------------------------------------------
 */
static void put_text(const doctor_row *row)
{
    char who[TN_NOTE_NAME + TN_NOTE_TEXT];
    snprintf(who, sizeof who, "%s%s%s", row->has_note ? row->note.name : "?",
             row->has_note ? " " : "", row->note.version);
    printf("%-20s %-8s %s\n", who, row->finding.state, row->path);
    if (!row->ok)
        printf("    reason: %s\n    cure:   %s\n", row->finding.reason, row->finding.cure);
    else if (*row->finding.reason)
        printf("    remark: %s\n", row->finding.reason);
}

static void add_place(void *arg, const char *path, const char *owner, unsigned mode,
                      const char *others)
{
    char octal[8];
    snprintf(octal, sizeof octal, "%04o", mode & 07777);
    json_array_append_new(arg, json_pack("{s:o, s:s, s:s, s:s}", "path", tool_json_text(path),
                                         "owner", owner, "mode", octal, "others", others));
}

static void put_json(const doctor_row *row)
{
    json_t *object = json_object(), *places = json_array();
    json_object_set_new(object, "kind", json_string("plugin"));
    json_object_set_new(object, "path", tool_json_text(row->path));
    json_object_set_new(object, "name", tool_json_text(row->note.name));
    json_object_set_new(object, "version", tool_json_text(row->note.version));
    json_object_set_new(object, "state", json_string(row->finding.state));
    json_object_set_new(object, "reason", tool_json_text(row->finding.reason));
    json_object_set_new(object, "cure", tool_json_text(row->ok ? "" : row->finding.cure));
    if (row->has_note) {
        json_object_set_new(object, "border", json_integer(row->note.abi));
        json_object_set_new(object, "built_with", json_integer(row->note.abi_built));
        json_object_set_new(object, "cpu", tool_json_text(row->note.cpu));
        json_object_set_new(object, "driver", tool_json_text(row->note.driver));
    }
    tn__plugin_audit(row->path, add_place, places);
    json_object_set_new(object, "places", places);
    tool_json_row(object);
}

static void put_row(doctor *d, const doctor_row *row)
{
    d->loaded += row->ok;
    d->skipped += !row->ok && strcmp(row->finding.state, "skipped") == 0;
    d->refused += !row->ok && strcmp(row->finding.state, "skipped") != 0;
    if (d->format == TOOL_TEXT)
        put_text(row);
    else
        put_json(row);
}

static void put_summary(const doctor *d)
{
    if (d->format == TOOL_TEXT)
        printf("\n%d loaded, %d skipped, %d refused\n", d->loaded, d->skipped, d->refused);
    else
        tool_json_row(json_pack("{s:s, s:i, s:i, s:i}", "kind", "summary", "loaded", d->loaded,
                                "skipped", d->skipped, "refused", d->refused));
}

/* ---- the command -------------------------------------------------------------------------------
 */
/* Examines one file; what loads in the trial is loaded here too. */
static bool examine(doctor *d, const char *path, int n_before, bool show)
{
    doctor_row *row = malloc(sizeof *row);
    if (!row) {
        d->no_memory = true;
        return false;
    }
    doctor_examine(row, path, d->configured, n_before, d->retry);
    if (show)
        put_row(d, row);
    bool ok = row->ok;
    if (ok && tn_plugin_load(path, NULL) != TN_OK)
        tool_fail("%s", tn_error_last()->message);
    free(row);
    return ok;
}

/* Examines the configured plugins in their order, and keeps those that load. */
static void examine_configured(doctor *d)
{
    int kept = 0;
    for (int i = 0; i < d->n_configured; i++) {
        const char *path = d->configured[i];
        bool ok = examine(d, path, kept, d->show_configured);
        if (ok)
            d->configured[kept++] = path;
        else
            free((char *)path);
    }
    d->n_configured = kept;
}

static int run(doctor *d, int n, char **names)
{
    d->show_configured = n == 0;
    tn__plugin_each(add_candidate, d);
    examine_configured(d);
    for (int i = 1; i <= n; i++)
        examine(d, names[i], d->n_configured, true);
    if (d->no_memory)
        return tool_fail("out of memory");
    if (d->loaded)
        doctor_coverage(d->format, d->coverage);
    put_summary(d);
    if (d->loaded + d->skipped + d->refused == 0)
        return tool_fail(
            "no plugin in the configured directories; set TENON_PLUGIN_PATH, or name a file");
    return d->refused || (n && d->skipped) ? TOOL_FAILED : TOOL_OK;
}

int tenon_cmd_doctor(int argc, char **argv)
{
    const char *format = "text";
    bool coverage = false, retry = false, json = false;
    const tool_option options[] = {{"--format", &format, NULL},
                                   {"--coverage", NULL, &coverage},
                                   {"--retry", NULL, &retry},
                                   {"--json", NULL, &json},
                                   {0}};
    int n = tool_options(argc, argv, options, usage);
    if (n < 0)
        return tool_status(n);
    doctor d = {.format = tool_format_parse(json ? "json" : format, "text|json"),
                .coverage = coverage,
                .retry = retry};
    if (d.format == TOOL_FORMAT_BAD)
        return TOOL_USAGE;
    int status = run(&d, n, argv);
    for (int i = 0; i < d.n_configured; i++)
        free((char *)d.configured[i]);
    free(d.configured);
    return status;
}

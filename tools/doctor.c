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
    "usage: tenon doctor [PLUGIN ...] [--format text|json]\n"
    "\n"
    "Examines the plugins of the configured directories (TENON_PLUGIN_PATH, else those beside\n"
    "libtenon.so), or the files that are named: may their code run here, do they fit this Tenon,\n"
    "do they export one symbol, do they load. For each that does not: one reason, one cure. Then,\n"
    "of all that load: operators by device and dtype.\n"
    "\n"
    "Exit status: 0 all is well (a plugin may be skipped for what this machine lacks, unless it\n"
    "was named); 1 one does not load; 2 wrong use, or there is no plugin.\n";

typedef struct doctor {
    tool_format format;
    const char **configured; /* the candidates of the configured places */
    int n_configured, cap;
    bool show_configured, no_memory;
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
    snprintf(who, sizeof who, "%s%s%s", *row->name ? row->name : "?", *row->version ? " " : "",
             row->version);
    printf("%-20s %-8s %s\n", who, row->finding.state, row->path);
    if (!row->ok)
        printf("    reason: %s\n    cure:   %s\n", row->finding.reason, row->finding.cure);
    else if (*row->finding.reason)
        printf("    remark: %s\n", row->finding.reason);
}

static void put_json(const doctor_row *row)
{
    json_t *object = json_object();
    json_object_set_new(object, "kind", json_string("plugin"));
    json_object_set_new(object, "path", tool_json_text(row->path));
    json_object_set_new(object, "name", tool_json_text(row->name));
    json_object_set_new(object, "version", tool_json_text(row->version));
    json_object_set_new(object, "state", json_string(row->finding.state));
    json_object_set_new(object, "reason", tool_json_text(row->finding.reason));
    json_object_set_new(object, "cure", tool_json_text(row->ok ? "" : row->finding.cure));
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
    doctor_examine(row, path, d->configured, n_before);
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
        doctor_coverage(d->format);
    put_summary(d);
    if (d->loaded + d->skipped + d->refused == 0)
        return tool_fail(
            "no plugin in the configured directories; set TENON_PLUGIN_PATH, or name a file");
    return d->refused || (n && d->skipped) ? TOOL_FAILED : TOOL_OK;
}

int tenon_cmd_doctor(int argc, char **argv)
{
    const char *format = "text";
    const tool_option options[] = {{"--format", &format, NULL}, {0}};
    int n = tool_options(argc, argv, options, usage);
    if (n < 0)
        return tool_status(n);
    doctor d = {.format = tool_format_parse(format, "text|json")};
    if (d.format == TOOL_FORMAT_BAD)
        return TOOL_USAGE;
    int status = run(&d, n, argv);
    for (int i = 0; i < d.n_configured; i++)
        free((char *)d.configured[i]);
    free(d.configured);
    return status;
}

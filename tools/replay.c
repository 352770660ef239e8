/* replay.c - `tenon replay`: runs recorded operator calls on a backend and compares the results.
 *
 * Cases whose operator is not here are told at once; the others run in a child per file. The
 * format is described in docs/replay.md. */
#include "replay_shrink.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <tenon/runtime.h>

static const char usage[] =
    "usage: tenon replay FILE|DIRECTORY ... [--ops RE] [--case N] [--device cpu] [--seconds S]\n"
    "                    [--plugin P.so] [--verbose] [--format text|json|junit]\n"
    "       tenon replay --minimize FILE [--out FILE] [--case N] [--seconds S] [--plugin P.so]\n"
    "\n"
    "Runs the recorded calls of replay files (*.safetensors) and compares dtypes, shapes and "
    "values\n"
    "with what was recorded; then the same calls on meta, for dtypes and shapes. Prints failures,\n"
    "a line per operator and the totals.\n"
    "\n"
    "  --ops RE      only operators whose name matches this extended regular expression\n"
    "  --case N      only the case of this number\n"
    "  --seconds S   a case that takes longer is a failure (10)\n"
    "  --plugin P.so loads a plugin besides those that are found\n"
    "  --verbose     every case, not only failures\n"
    "  --minimize    shrink the first call that fails (by a crash, an error, a wrong value), or "
    "case\n"
    "                N: smaller shapes, fewer elements, simpler values, while it fails in the "
    "same\n"
    "                way; written to --out (minimized.safetensors)\n"
    "\n"
    "Exit status: 0 every supported case passes; 1 one fails; 2 wrong use, a broken file, or no "
    "case\n"
    "matched.\n";

typedef struct options {
    regex_t ops;
    bool any_op;
    int number; /* -1: every case */
    int seconds;
} options;

typedef struct sink_arg {
    replay_report *report;
    const replay_file *file;
} sink_arg;

static void add(void *arg, const replay_outcome *o)
{
    sink_arg *a = arg;
    replay_report_add(a->report, a->file, o);
}

static bool matches(const options *o, const replay_file *f, size_t i)
{
    char name[REPLAY_NAME];
    if (o->number >= 0 && replay_case_number(f, i) != o->number)
        return false;
    replay_case_name(f, i, name);
    return o->any_op || regexec(&o->ops, name, 0, NULL, 0) == 0;
}

static void replay_one(replay_report *report, const options *o, const char *path)
{
    replay_file f;
    char why[REPLAY_MESSAGE];
    if (!replay_open(&f, path, why, sizeof why)) {
        replay_report_broken(report, path, why);
        return;
    }
    bool *wanted = calloc(f.n + 1, sizeof *wanted);
    for (size_t i = 0; wanted && i < f.n; i++) {
        if (!matches(o, &f, i))
            continue;
        replay_outcome outcome = {.index = (int32_t)i};
        wanted[i] = replay_prepared(&f, i, &outcome);
        if (!wanted[i])
            replay_report_add(report, &f, &outcome);
    }
    sink_arg arg = {report, &f};
    const char *wrong = wanted ? replay_run_file(&f, wanted, o->seconds, add, &arg)
                               : "cannot be run: out of memory";
    if (wrong)
        replay_report_broken(report, path, wrong);
    free(wanted);
    replay_close(&f);
}

/* ---- directories ---------------------------------------------------------------------------- */
static int is_replay(const struct dirent *e)
{
    static const char end[] = ".safetensors";
    size_t n = strlen(e->d_name);
    return n > sizeof end - 1 && strcmp(e->d_name + n - (sizeof end - 1), end) == 0;
}

static void replay_directory(replay_report *report, const options *o, const char *path)
{
    struct dirent **entries;
    int n = scandir(path, &entries, is_replay, alphasort);
    if (n < 0) {
        replay_report_broken(report, path, "cannot be read");
        return;
    }
    for (int i = 0; i < n; i++) {
        char *full = malloc(strlen(path) + strlen(entries[i]->d_name) + 2);
        if (full) {
            sprintf(full, "%s/%s", path, entries[i]->d_name);
            replay_one(report, o, full);
        } else {
            replay_report_broken(report, entries[i]->d_name, "cannot be run: out of memory");
        }
        free(full);
        free(entries[i]);
    }
    free(entries);
}

static void replay_path(replay_report *report, const options *o, const char *path)
{
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        replay_directory(report, o, path);
    else
        replay_one(report, o, path);
}

/* ---- the command ---------------------------------------------------------------------------- */
static bool number_of(const char *option, const char *text, int least, int *out)
{
    char *end;
    long v = strtol(text, &end, 10);
    if (*text && !*end && v >= least && v <= 1000000000) {
        *out = (int)v;
        return true;
    }
    tool_fail("%s needs a whole number of at least %d, got '%s'", option, least, text);
    return false;
}

static bool read_options(options *o, const char *ops, const char *number, const char *seconds,
                         const char *device)
{
    o->number = -1;
    o->any_op = ops == NULL;
    if (strcmp(device, "cpu") != 0) {
        tool_fail("calls can be replayed on cpu (and always on meta), not on '%s'", device);
        return false;
    }
    if ((number && !number_of("--case", number, 0, &o->number)) ||
        !number_of("--seconds", seconds, 1, &o->seconds))
        return false;
    int status = ops ? regcomp(&o->ops, ops, REG_EXTENDED | REG_NOSUB) : 0;
    if (status == 0)
        return true;
    char why[200];
    regerror(status, &o->ops, why, sizeof why);
    tool_fail("--ops: '%s' is no regular expression: %s", ops, why);
    return false;
}

/* A plugin that did not load would turn its operators' cases into unsupported ones: say so. */
static void warn_of_refused(void)
{
    tn_plugin_info p;
    for (size_t i = 0; tn_plugin_report(i, &p); i++)
        if (strcmp(p.state, "refused") == 0)
            tool_fail("plugin %s was refused: %s", p.path, p.reason);
}

int tenon_cmd_replay(int argc, char **argv)
{
    const char *format_name = "text", *ops = NULL, *number = NULL, *seconds = "10", *device = "cpu";
    const char *out = "minimized.safetensors", *plugin = NULL;
    bool verbose = false, minimize = false;
    const tool_option table[] = {{"--format", &format_name, NULL},
                                 {"--ops", &ops, NULL},
                                 {"--case", &number, NULL},
                                 {"--seconds", &seconds, NULL},
                                 {"--device", &device, NULL},
                                 {"--plugin", &plugin, NULL},
                                 {"--verbose", NULL, &verbose},
                                 {"--minimize", NULL, &minimize},
                                 {"--out", &out, NULL},
                                 {0}};
    int n = tool_options(argc, argv, table, usage);
    if (n < 0)
        return tool_status(n);
    tool_format format = tool_format_parse(format_name, "text|json|junit");
    options o;
    if (format == TOOL_FORMAT_BAD)
        return TOOL_USAGE;
    if (n == 0)
        return tool_fail("replay needs a file or a directory; --help says more");
    if (minimize && n > 1)
        return tool_fail("--minimize takes one file, got %d", n);
    if (!read_options(&o, ops, number, seconds, device))
        return TOOL_USAGE;
    int status = TOOL_USAGE;
    replay_report *report = minimize ? NULL : replay_report_new(format, verbose);
    if (tn_plugins_load_default() != TN_OK || (plugin && tn_plugin_load(plugin, NULL) != TN_OK))
        tool_fail("%s", tn_error_last()->message);
    else if (minimize)
        status = (warn_of_refused(), replay_minimize(argv[1], out, o.number, o.seconds));
    else if (report)
        for (int i = (warn_of_refused(), 1); i <= n; i++)
            replay_path(report, &o, argv[i]);
    if (report)
        status = replay_report_end(report);
    if (!o.any_op)
        regfree(&o.ops);
    return status;
}

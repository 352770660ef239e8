/* opinfo.c - `tenon opinfo`: choose what runs (devices, dtypes, operators, a plugin), run it,
 * report it. The harness itself is in tests/opinfo. */
#include "opinfo.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <tenon/runtime.h>

#include "generic.h"
#include "report.h"
#include "tool.h"

static const char usage[] =
    "usage: tenon opinfo [--device D[,D]] [--dtype T[,T]] [--ops REGEX] [--column C] [--plugin "
    "P.so [--schema F.yaml]]\n"
    "                    [--case OP/DEVICE/DTYPE/COLUMN[/SAMPLE]] [--seed N] [--jobs N] [--timeout "
    "SECONDS]\n"
    "                    [--slow] [--format text|json|junit|html] [--output FILE]\n"
    "                    [--save DIR | --no-save] [--list]\n\n"
    "Runs every operator's OpInfo row on every device and dtype: values against an independent "
    "reference, dtype claims,\n"
    "in-place and out= forms, meta, aliasing, errors, repeats, threads and gradients. Devices: cpu "
    "and meta "
    "unless told otherwise.\n"
    "With --plugin, the operators that the plugin defines, or whose kernels it brings. --schema "
    "gives the plugin's YAML:\n"
    "its operators are tried on the samples that stand there, and compared with an evaluation of "
    "their expressions or\n"
    "references.\n"
    "--slow compares every element of a gradient with differences, not projections of it.\n"
    "Each failing case that is one call is written as a file for `tenon replay`: "
    "DIR/OP_DEVICE_DTYPE_COLUMN.safetensors,\n"
    "in ./opinfo-failures unless told otherwise.\n"
    "Exit status: 0 all green; 1 something is not; 2 wrong use, nothing matched or nothing ran.\n";

typedef struct options {
    const char *device, *dtype, *ops, *column, *plugin, *schema, *chosen, *seed, *jobs, *timeout,
        *format, *output, *save;
    bool list, slow, no_save;
} options;

typedef struct setup {
    oi_run run;
    oi_target targets[TN_DEVICE_TYPES];
    char names[TN_DEVICE_TYPES][32];
    char pattern[200];
    regex_t ops;
    bool has_ops;
} setup;

/* ---- devices and dtypes ---------------------------------------------------------------------- */
static const struct {
    const char *name, *key;
    int16_t type;
} devices[] = {{"cpu", "CPU", TN_CPU}, {"meta", "Meta", TN_META}, {"cuda", "CUDA", TN_CUDA}};

static bool add_device(setup *s, const char *name, size_t n)
{
    for (size_t k = 0; k < sizeof devices / sizeof *devices; k++) {
        if (strlen(devices[k].name) != n || memcmp(devices[k].name, name, n) != 0)
            continue;
        s->targets[s->run.n_targets++] =
            (oi_target){devices[k].name, devices[k].key, {devices[k].type, -1}};
        return true;
    }
    tool_fail("unknown device '%.*s'; there are cpu, meta and cuda", (int)n, name);
    return false;
}

static bool add_dtype(setup *s, const char *name, size_t n)
{
    char text[32];
    snprintf(text, sizeof text, "%.*s", (int)n, name);
    tn_dtype d = oi_dtype_parse(text);
    if (d != TN_DTYPE_NONE)
        s->run.dtypes |= TN_DTYPE_BIT(d);
    else
        tool_fail("unknown dtype '%s'; write float32 or f32, say", text);
    return d != TN_DTYPE_NONE;
}

static bool each(setup *s, const char *list, bool (*add)(setup *, const char *, size_t))
{
    for (;;) {
        size_t n = strcspn(list, ",");
        if (!add(s, list, n))
            return false;
        if (!list[n])
            return true;
        list += n + 1;
    }
}

/* ---- one case -------------------------------------------------------------------------------- */
/* "add.Tensor/cpu/float32/values/3": the same as four options. */
static bool take_case(setup *s, options *o)
{
    static char text[256];
    char *parts[5] = {NULL}, *rest = text;
    int n = 0;
    snprintf(text, sizeof text, "%s", o->chosen);
    for (; rest && n < 5; n++)
        parts[n] = strsep(&rest, "/");
    if (n < 4 || rest || strlen(o->chosen) >= sizeof text) {
        tool_fail("a case is OP/DEVICE/DTYPE/COLUMN[/SAMPLE], got '%s'", o->chosen);
        return false;
    }
    o->ops = parts[0];
    o->device = parts[1];
    o->dtype = parts[2];
    o->column = parts[3];
    s->run.sample = parts[4] ? atoi(parts[4]) : -1;
    return true;
}

static bool matches(const setup *s, const options *o, const char *name)
{
    const char *bare = strncmp(name, "aten::", 6) == 0 ? name + 6 : name;
    if (o->chosen)
        return strcmp(o->ops, bare) == 0 || strcmp(o->ops, name) == 0;
    return !s->has_ops || regexec(&s->ops, bare, 0, NULL, 0) == 0;
}

/* ---- operators ------------------------------------------------------------------------------- */
static void add_row(setup *s, const oi_row *row, const tn_op *op)
{
    size_t n = s->run.n_rows;
    if (n % 64 == 0) {
        s->run.rows = realloc(s->run.rows, (n + 64) * sizeof *s->run.rows);
        s->run.ops = realloc(s->run.ops, (n + 64) * sizeof *s->run.ops);
        if (!s->run.rows || !s->run.ops) {
            tool_fail("out of memory");
            exit(TOOL_USAGE);
        }
    }
    s->run.rows[n] = row;
    s->run.ops[n] = op;
    s->run.n_rows++;
}

/* Served by this plugin on one of the devices? */
static bool is_served_by(const setup *s, const tn_op *op, const char *plugin)
{
    for (int t = 0; t < s->run.n_targets; t++)
        if (strcmp(tn_op_server(op, s->targets[t].key, NULL), plugin) == 0)
            return true;
    return false;
}

static void add_uncovered(setup *s, const char *name)
{
    s->run.uncovered =
        realloc(s->run.uncovered, (s->run.n_uncovered + 1) * sizeof *s->run.uncovered);
    if (s->run.uncovered)
        s->run.uncovered[s->run.n_uncovered++] = name;
}

/* Is it a form of an operator that has a row, and so covered by it? */
static bool is_form(const tn_op *op)
{
    const oi_row *row;
    for (size_t i = 0; (row = oi_row_at(i)); i++) {
        const tn_op *of = tn_op_find(row->op);
        if (of && (oi_form_inplace(of) == op || oi_form_out(of) == op))
            return true;
    }
    return false;
}

static void choose_native(setup *s, const options *o, const char *plugin)
{
    const oi_row *row;
    const tn_op *op;
    for (size_t i = 0; (row = oi_row_at(i)); i++) {
        op = tn_op_find(row->op);
        if (matches(s, o, row->op) && op && (!plugin || is_served_by(s, op, plugin)))
            add_row(s, row, op);
        else if (matches(s, o, row->op) && !op && !plugin)
            add_uncovered(s, row->op);
    }
    for (size_t i = 0; !plugin && (op = tn_op_at(i)); i++)
        if (strncmp(tn_op_name(op), "aten::", 6) == 0 && matches(s, o, tn_op_name(op)) &&
            !oi_row_find(tn_op_name(op)) && !is_form(op))
            add_uncovered(s, tn_op_name(op));
}

static size_t count_operators(void)
{
    size_t n = 0;
    while (tn_op_at(n))
        n++;
    return n;
}

static bool was_there(const tn_op *const *before, size_t n, const tn_op *op)
{
    for (size_t i = 0; i < n; i++)
        if (before[i] == op)
            return true;
    return false;
}

/* The plugin's own operators get rows made from their schemas; kernels it brings for others, those
 * others' rows. */
static bool choose_of_plugin(setup *s, const options *o)
{
    bool ok = true;
    size_t n = count_operators();
    const tn_op **before = malloc((n + 1) * sizeof *before), *op;
    tn_plugin_info info = {0}, last = {0};
    for (size_t i = 0; before && i < n; i++)
        before[i] = tn_op_at(i);
    if (!before || tn_plugin_load(o->plugin, NULL) != TN_OK) {
        tool_fail("%s", before ? tn_error_last()->message : "out of memory");
        free(before);
        return false;
    }
    for (size_t i = 0; tn_plugin_report(i, &info); i++)
        if (strcmp(info.state, "loaded") == 0)
            last = info;
    for (size_t i = 0; (op = tn_op_at(i)); i++)
        if (!was_there(before, n, op) && matches(s, o, tn_op_name(op)) && !oi_generic_is_form(op)) {
            const oi_row *row = oi_generic_row(op, o->schema, &ok);
            if (row)
                add_row(s, row, op);
            else
                add_uncovered(s, tn_op_name(op));
        }
    free(before);
    if (!ok)
        tool_fail("%s has mistakes", o->schema);
    else if (s->run.n_rows == 0 && last.name)
        choose_native(s, o, last.name);
    return ok;
}

/* ---- the whole ------------------------------------------------------------------------------- */
static bool number(const char *text, const char *what, int64_t least, int64_t *out)
{
    char *end;
    if (!text)
        return true;
    *out = strtoll(text, &end, 10);
    if (*text && !*end && *out >= least)
        return true;
    tool_fail("%s must be a number of at least %lld, got '%s'", what, (long long)least, text);
    return false;
}

static bool prepare(setup *s, options *o)
{
    int64_t seed = 1, jobs = sysconf(_SC_NPROCESSORS_ONLN), timeout = 20;
    s->run = (oi_run){.targets = s->targets,
                      .column = -1,
                      .sample = -1,
                      .slow = o->slow,
                      .plugin = o->plugin,
                      .schema = o->schema,
                      .save = o->no_save ? NULL : o->save};
    if (o->chosen && !take_case(s, o))
        return false;
    if (!each(s, o->device ? o->device : "cpu,meta", add_device))
        return false;
    if (o->dtype ? !each(s, o->dtype, add_dtype) : false)
        return false;
    if (!o->dtype)
        s->run.dtypes = TN_DTYPES_ALL;
    if (o->column && (s->run.column = oi_column_parse(o->column)) < 0) {
        tool_fail("unknown column '%s'; there are dtypes, values, inplace, out, meta, alias, "
                  "errors, repeat, threads, grad, gradgrad, jvp",
                  o->column);
        return false;
    }
    if (!number(o->seed, "--seed", 0, &seed) || !number(o->jobs, "--jobs", 1, &jobs) ||
        !number(o->timeout, "--timeout", 1, &timeout))
        return false;
    s->run.seed = (uint64_t)seed;
    s->run.jobs = (int)(jobs < 64 ? jobs : 64);
    s->run.timeout_s = (int)(timeout < 86400 ? timeout : 86400);
    if (o->ops && !o->chosen) {
        if (regcomp(&s->ops, o->ops, REG_EXTENDED | REG_NOSUB) != 0) {
            tool_fail("--ops is not a regular expression: '%s'", o->ops);
            return false;
        }
        s->has_ops = true;
    }
    return true;
}

static int report(setup *s, const options *o)
{
    FILE *to = o->output ? fopen(o->output, "w") : stdout;
    char today[16];
    time_t now = time(NULL);
    if (!to)
        return tool_fail("cannot write %s", o->output);
    strftime(today, sizeof today, "%Y-%m-%d", gmtime(&now));
    oi_apply_excuses(&s->run, oi_excuses, oi_excuses_n, today);
    switch (*o->format) {
    case 'j':
        if (strcmp(o->format, "json") == 0)
            oi_report_json(&s->run);
        else
            oi_report_junit(&s->run, to);
        break;
    case 'h':
        oi_report_html(&s->run, to);
        break;
    default:
        oi_report_text(&s->run, to);
    }
    if (to != stdout)
        fclose(to);
    oi_totals t = oi_count(&s->run);
    int status = oi_exit_status(&t, &s->run);
    return status == TOOL_USAGE ? tool_fail("nothing passed and nothing failed: nothing ran")
                                : status;
}

static int run_chosen(setup *s, options *o)
{
    setenv("TENON_GUARD", "1", 0); /* sentinels around what the core allocates, from here on */
    /* The environment may name plugins that do not load; they are in the plugin report, and their
     * operators show. */
    if (tn_plugins_load_default() != TN_OK)
        return tool_fail("%s", tn_error_last()->message);
    if (o->plugin ? !choose_of_plugin(s, o) : (choose_native(s, o, NULL), false))
        return TOOL_USAGE;
    if (s->run.n_rows == 0 && s->run.n_uncovered == 0)
        return tool_fail("no operator matched%s%s", o->ops ? " " : "", o->ops ? o->ops : "");
    if (o->list) {
        for (size_t k = 0; k < s->run.n_rows; k++)
            printf("%s\n", tn_op_schema(s->run.ops[k]));
        return TOOL_OK;
    }
    if (!oi_run_all(&s->run))
        return tool_fail("a child process could not be started");
    if (!oi_run_save(&s->run)) /* what failed is told all the same */
        tool_fail("cannot make the folder %s: %s", o->save, strerror(errno));
    return report(s, o);
}

int tenon_cmd_opinfo(int argc, char **argv)
{
    static setup s;
    options o = {.format = "text", .save = "opinfo-failures"};
    const tool_option table[] = {{"--device", &o.device, NULL},
                                 {"--dtype", &o.dtype, NULL},
                                 {"--ops", &o.ops, NULL},
                                 {"--column", &o.column, NULL},
                                 {"--plugin", &o.plugin, NULL},
                                 {"--schema", &o.schema, NULL},
                                 {"--case", &o.chosen, NULL},
                                 {"--seed", &o.seed, NULL},
                                 {"--jobs", &o.jobs, NULL},
                                 {"--timeout", &o.timeout, NULL},
                                 {"--format", &o.format, NULL},
                                 {"--output", &o.output, NULL},
                                 {"--save", &o.save, NULL},
                                 {"--list", NULL, &o.list},
                                 {"--slow", NULL, &o.slow},
                                 {"--no-save", NULL, &o.no_save},
                                 {NULL, NULL, NULL}};
    int n = tool_options(argc, argv, table, usage);
    if (n < 0)
        return tool_status(n);
    if (n > 0)
        return tool_fail("unexpected argument '%s'", argv[1]);
    if (strcmp(o.format, "text") != 0 && strcmp(o.format, "json") != 0 &&
        strcmp(o.format, "junit") != 0 && strcmp(o.format, "html") != 0)
        return tool_fail("--format is text, json, junit or html, got '%s'", o.format);
    if (!prepare(&s, &o))
        return TOOL_USAGE;
    return run_chosen(&s, &o);
}

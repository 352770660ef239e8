/* main.c - tenon-gen: from native_functions.yaml to everything that is derived from it.
 *
 *     read --> validate --> operators, derivatives --> facts --m4 templates--> files under --out
 *
 * The outputs are the tables of outputs.c. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "outputs.h"
#include "stamp.h"

typedef struct options {
    const char *schema, *out, *templates, *plugin, *derivatives, *operators, *calls;
    int jobs;
    bool check, dump_facts;
} options;

static const char help[] =
    "tenon-gen - everything that is derived from an operator schema\n"
    "\n"
    "  tenon-gen --schema FILE --out DIR [--derivatives FILE] [--templates DIR] [--check] [--jobs "
    "N]\n"
    "  tenon-gen --schema FILE --plugin NAME --out DIR   for a third party's operators\n"
    "  tenon-gen --schema FILE --dump-facts              what the templates are told\n"
    "\n"
    "  --schema FILE      operators, in the format of native_functions.yaml\n"
    "  --out DIR          where to write; files whose content would not change are left alone\n"
    "  --templates DIR    the m4 templates (default: the installed ones)\n"
    "  --plugin NAME      write NAME_ops.h and NAME_ops.c, frames, kernels and registration, and\n"
    "                     NAME_calls.h, the calls for programs\n"
    "  --derivatives FILE how operators differentiate, in the format of derivatives.yaml\n"
    "  --calls FILE       with --plugin: write NAME_work.h and NAME_work.c, the operators that "
    "its\n"
    "                     kernels call; then --schema may be left out\n"
    "  --operators FILE   with --plugin: the built-in operators, which formulas may call (default: "
    "the\n"
    "                     installed ones)\n"
    "  --check            write nothing; fail when a file is not what would be written\n"
    "  --jobs N           m4 processes at a time (default: one per CPU, 4 at most)\n"
    "  --dump-facts       print the facts on standard output, write nothing\n"
    "\n"
    "Exit status: 0 all well; 1 the schema has errors, or --check found a difference; 2 wrong\n"
    "use.\n";

static int usage(const char *what)
{
    fprintf(stderr, "tenon-gen: %s; see 'tenon-gen --help'\n", what);
    return 2;
}

/* Beside the program, as installed: PREFIX/bin/tenon-gen, PREFIX/share/tenon/NAME. */
static const char *installed(const char *name, char *path, size_t cap)
{
    char *self = realpath("/proc/self/exe", NULL);
    if (!self)
        return name;
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    snprintf(path, cap, "%s/../share/tenon/%s", self, name);
    free(self);
    return path;
}

/* ---- a run ----------------------------------------------------------------------------------- */
/* One schema file as operators. `f` is the caller's. */
static bool read_operators(cg_diag *d, tn__arena *a, const char *path, cg_file **f, cg_ops *ops)
{
    *f = cg_file_read(d, path);
    if (*f)
        cg_validate(d, *f);
    return *f && !cg_diag_failed(d) && cg_ops_make(d, a, *f, ops);
}

/* What the outputs are made of. */
typedef struct model {
    cg_file *file, *built_in_file;
    cg_ops ops, built_in;
    cg_derivatives derivatives;
    cg_kernel_calls calls;
} model;

static bool read_model(cg_diag *d, tn__arena *a, const options *o, model *m)
{
    cg_derivatives_source source = {.path = o->derivatives, .ops = &m->ops};
    memset(m, 0, sizeof *m);
    if (o->schema && !read_operators(d, a, o->schema, &m->file, &m->ops))
        return false;
    if (!o->plugin && !o->derivatives)
        return true;
    if (o->plugin) {
        if (!read_operators(d, a, o->operators, &m->built_in_file, &m->built_in))
            return false;
        if (!cg_names_check_plugin(d, o->plugin, &m->ops, &m->built_in))
            return false;
        source.built_in = &m->built_in;
    }
    bool ok = !o->schema || cg_derivatives_make(d, a, &source, &m->derivatives);
    if (o->calls)
        ok = cg_kernel_calls_read(d, a, o->calls, &m->ops, &m->built_in, &m->calls) && ok;
    return ok;
}

static bool write_outputs(cg_diag *d, const options *o, const model *m, cg_out *out)
{
    const cg_outputs outputs = {.schema = o->schema ? o->schema : o->calls,
                                .plugin = o->plugin,
                                .ops = o->schema ? &m->ops : NULL,
                                .derivatives = &m->derivatives,
                                .calls = o->calls ? &m->calls : NULL};
    return o->dump_facts ? cg_outputs_dump(d, &outputs, stdout) : cg_outputs_make(d, out, &outputs);
}

static uint64_t hash_inputs(const options *o)
{
    const char *files[] = {o->schema, o->derivatives, o->plugin ? o->operators : NULL, o->calls};
    return cg_stamp_inputs(files, 4, o->templates, o->plugin ? o->plugin : "");
}

static int run(const options *o)
{
    bool stamped = !o->check && !o->dump_facts;
    uint64_t inputs = stamped ? hash_inputs(o) : 0;
    if (stamped && cg_stamp_holds(o->out, inputs))
        return 0;
    cg_diag d = {0};
    tn__arena arena = {0};
    cg_out out = {.outdir = o->out,
                  .template_dir = o->templates,
                  .check = o->check,
                  .jobs = o->jobs,
                  .arena = &arena};
    model m;
    bool ok = read_model(&d, &arena, o, &m) && write_outputs(&d, o, &m, &out);
    cg_diag_print(&d, stderr, CG_DIAG_TEXT);
    ok = ok && !cg_diag_failed(&d);
    if (ok && stamped && d.n_items == 0)
        cg_stamp_leave(&out, inputs);
    cg_file_free(m.file);
    cg_file_free(m.built_in_file);
    tn__arena_free(&arena);
    cg_diag_free(&d);
    return ok ? 0 : 1;
}

static int jobs_of(const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);
    return *end || n < 1 || n > 1000 ? -1 : (int)n;
}

/* A plugin's name becomes part of names in C and of file names. */
static bool is_identifier(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return n > 0 && n <= 64 && name[n] == '\0' && !(*name >= '0' && *name <= '9');
}

int main(int argc, char **argv)
{
    enum {
        SCHEMA = 256,
        OUT,
        TEMPLATES,
        PLUGIN,
        DERIVATIVES,
        OPERATORS,
        CALLS,
        JOBS,
        CHECK,
        DUMP,
        HELP
    };
    static const struct option longs[] = {
        {"schema", required_argument, NULL, SCHEMA},
        {"out", required_argument, NULL, OUT},
        {"templates", required_argument, NULL, TEMPLATES},
        {"plugin", required_argument, NULL, PLUGIN},
        {"derivatives", required_argument, NULL, DERIVATIVES},
        {"operators", required_argument, NULL, OPERATORS},
        {"calls", required_argument, NULL, CALLS},
        {"jobs", required_argument, NULL, JOBS},
        {"check", no_argument, NULL, CHECK},
        {"dump-facts", no_argument, NULL, DUMP},
        {"help", no_argument, NULL, HELP},
        {NULL, 0, NULL, 0},
    };
    char templates[4096], operators[4096];
    options o = {
        .templates = installed("templates", templates, sizeof templates),
        .operators = installed("native_functions.yaml", operators, sizeof operators),
    };
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "h", longs, NULL)) != -1;) {
        switch (c) {
        case SCHEMA:
            o.schema = optarg;
            break;
        case OUT:
            o.out = optarg;
            break;
        case TEMPLATES:
            o.templates = optarg;
            break;
        case PLUGIN:
            o.plugin = optarg;
            break;
        case DERIVATIVES:
            o.derivatives = optarg;
            break;
        case OPERATORS:
            o.operators = optarg;
            break;
        case CALLS:
            o.calls = optarg;
            break;
        case JOBS:
            o.jobs = jobs_of(optarg);
            break;
        case CHECK:
            o.check = true;
            break;
        case DUMP:
            o.dump_facts = true;
            break;
        case 'h':
        case HELP:
            fputs(help, stdout);
            return 0;
        default:
            return usage("unknown option, or an option without its value");
        }
    }
    if (optind < argc)
        return usage("arguments are given with options only");
    if (o.jobs < 0)
        return usage("--jobs takes a number from 1 to 1000");
    if (o.plugin && !is_identifier(o.plugin))
        return usage("--plugin takes a name of at most 64 letters, digits and '_', not beginning "
                     "with a digit");
    if (o.calls && !o.plugin)
        return usage("--calls is for the kernels of a plugin; add --plugin NAME");
    if (!o.schema && !o.calls)
        return usage("--schema is missing");
    if (!o.schema && o.derivatives)
        return usage("--derivatives are those of operators; add --schema FILE");
    if (!o.out && !o.dump_facts)
        return usage("--out is missing");
    return run(&o);
}

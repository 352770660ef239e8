/* main.c - tenon-gen: from native_functions.yaml to everything that is derived from it.
 *
 *     read --> validate --> operators --> facts --m4 templates--> files under --out
 *
 * The outputs are a table below: one line is one generated file. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "ops.h"
#include "stamp.h"

typedef struct output {
    const char *template, *path; /* a path that ends in '/': a folder of pages */
} output;

static const output outputs[] = {
    {"calls.c.m4", "core/calls.c"}, /* the longest first, so that no CPU waits at the end */
    {"frames.h.m4", "include/tenon/frames.h"},
    {"ops.h.m4", "include/tenon/ops.h"},
    {"pages.md.m4", "docs/ops/"},
    {"math.h.m4", "include/tenon/math.h"},
    {"ops.c.m4", "core/ops.c"},
    {"shapes.c.m4", "core/shapes.c"},
    {"rules.h.m4", "core/shape/rules.h"},
    {"pointwise.c.m4", "cpu/pointwise.c"},
    {"pointwise_loops.h.m4", "cpu/pointwise_loops.h"},
    {"structured.c.m4", "meta/structured.c"},
    {"pointwise_cuda.c.m4", "cuda/pointwise.c"},
};

/* One file of loops or kernels per dtype, so that they are compiled side by side. */
typedef struct dtype_output {
    const char *template, *path_format;
    tn_dtypes dtypes;
} dtype_output;

static const dtype_output dtype_outputs[] = {
    {"loops.c.m4", "cpu/loops_%s.c", TN_DTYPES_ALL},
    {"pointwise.cu.m4", "cuda/pointwise_%s.cu",
     TN_DTYPES_ALL & ~(TN_DTYPE_BIT(TN_F16) | TN_DTYPE_BIT(TN_BF16))}, /* f32's serve these two */
};

typedef struct options {
    const char *schema, *out, *templates, *plugin;
    int jobs;
    bool check, dump_facts;
} options;

static const char help[] =
    "tenon-gen - everything that is derived from an operator schema\n"
    "\n"
    "  tenon-gen --schema FILE --out DIR [--templates DIR] [--check] [--jobs N]\n"
    "  tenon-gen --schema FILE --plugin NAME --out DIR   for a third party's operators\n"
    "  tenon-gen --schema FILE --dump-facts              what the templates are told\n"
    "\n"
    "  --schema FILE      operators, in the format of native_functions.yaml\n"
    "  --out DIR          where to write; files whose content would not change are left alone\n"
    "  --templates DIR    the m4 templates (default: the installed ones)\n"
    "  --plugin NAME      write NAME_ops.h and NAME_ops.c: frames, kernels and registration\n"
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

/* Beside the program, as installed: PREFIX/bin/tenon-gen, PREFIX/share/tenon/templates. */
static const char *default_templates(void)
{
    static char path[4096];
    char *self = realpath("/proc/self/exe", NULL);
    if (!self)
        return "templates";
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    snprintf(path, sizeof path, "%s/../share/tenon/templates", self);
    free(self);
    return path;
}

/* ---- facts ----------------------------------------------------------------------------------- */
typedef struct facts {
    char *s;
    size_t n;
} facts;

/* Everything, but the loops only of these dtypes. */
static bool make_facts(const cg_ops *ops, const char *ns, tn_dtypes loops, facts *out)
{
    *out = (facts){NULL, 0};
    FILE *to = open_memstream(&out->s, &out->n);
    if (!to)
        return false;
    bool ok = cg_facts_write(ops, ns, loops, to);
    return fclose(to) == 0 && ok;
}

/* What the loops of one dtype are made of. */
static bool make_loops(const cg_ops *ops, tn_dtype dtype, facts *out)
{
    *out = (facts){NULL, 0};
    FILE *to = open_memstream(&out->s, &out->n);
    if (!to)
        return false;
    bool ok = cg_facts_write_loops(ops, "aten", dtype, to);
    return fclose(to) == 0 && ok;
}

/* ---- outputs --------------------------------------------------------------------------------- */
static bool emit_plugin(cg_diag *d, cg_out *out, const char *name, const facts *all)
{
    char header[512], source[512];
    snprintf(header, sizeof header, "%s_ops.h", name);
    snprintf(source, sizeof source, "%s_ops.c", name);
    const cg_job jobs[] = {{"plugin_ops.h.m4", all->s, all->n, header},
                           {"plugin_ops.c.m4", all->s, all->n, source}};
    return cg_emit_all(d, out, jobs, 2);
}

enum {
    N_OUTPUTS = sizeof outputs / sizeof *outputs,
    N_DTYPE_OUTPUTS = sizeof dtype_outputs / sizeof *dtype_outputs,
};

typedef struct plan {
    cg_job jobs[N_OUTPUTS + N_DTYPE_OUTPUTS * TN_DTYPE_COUNT];
    char paths[N_DTYPE_OUTPUTS * TN_DTYPE_COUNT][64];
    int n, n_paths;
} plan;

static void plan_dtype(plan *p, tn_dtype dtype, const facts *loops)
{
    for (int i = 0; i < N_DTYPE_OUTPUTS; i++) {
        if (!(dtype_outputs[i].dtypes & TN_DTYPE_BIT(dtype)))
            continue;
        char *path = p->paths[p->n_paths++];
        snprintf(path, sizeof p->paths[0], dtype_outputs[i].path_format, cg_suffix(dtype));
        p->jobs[p->n++] = (cg_job){dtype_outputs[i].template, loops->s, loops->n, path};
    }
}

static bool emit_core(cg_diag *d, cg_out *out, const cg_ops *ops, const facts *all)
{
    plan p = {.n = 0};
    facts loops[TN_DTYPE_COUNT] = {{NULL, 0}};
    bool ok = true;
    for (int i = 0; i < N_OUTPUTS; i++)
        p.jobs[p.n++] = (cg_job){outputs[i].template, all->s, all->n, outputs[i].path};
    for (tn_dtype dtype = 0; ok && dtype < TN_DTYPE_COUNT; dtype++) {
        ok = make_loops(ops, dtype, &loops[dtype]);
        if (ok)
            plan_dtype(&p, dtype, &loops[dtype]);
    }
    ok = ok && cg_emit_all(d, out, p.jobs, p.n);
    for (tn_dtype dtype = 0; dtype < TN_DTYPE_COUNT; dtype++)
        free(loops[dtype].s);
    return ok;
}

static bool write_outputs(cg_diag *d, const options *o, const cg_ops *ops, cg_out *out)
{
    facts all;
    tn_dtypes loops = o->plugin || o->dump_facts ? TN_DTYPES_ALL : 0;
    bool ok = make_facts(ops, o->plugin ? o->plugin : "aten", loops, &all);
    if (!ok)
        cg_error(d, o->schema, (cg_pos){0, 0}, "the facts cannot be written: out of memory");
    else if (o->dump_facts)
        ok = fwrite(all.s, 1, all.n, stdout) == all.n;
    else
        ok = o->plugin ? emit_plugin(d, out, o->plugin, &all) : emit_core(d, out, ops, &all);
    free(all.s);
    return ok;
}

static int run(const options *o)
{
    char what[256];
    snprintf(what, sizeof what, "%s", o->plugin ? o->plugin : "");
    bool stamped = !o->check && !o->dump_facts;
    uint64_t inputs = stamped ? cg_stamp_inputs(o->schema, o->templates, what) : 0;
    if (stamped && cg_stamp_holds(o->out, inputs))
        return 0;
    cg_diag d = {0};
    tn__arena arena = {0};
    cg_out out = {.outdir = o->out,
                  .template_dir = o->templates,
                  .check = o->check,
                  .jobs = o->jobs,
                  .arena = &arena};
    cg_ops ops;
    cg_file *f = cg_file_read(&d, o->schema);
    if (f)
        cg_validate(&d, f);
    bool ok = f && !cg_diag_failed(&d) && cg_ops_make(&d, &arena, f, &ops) &&
              write_outputs(&d, o, &ops, &out);
    cg_diag_print(&d, stderr, CG_DIAG_TEXT);
    ok = ok && !cg_diag_failed(&d);
    if (ok && stamped && d.n_items == 0)
        cg_stamp_leave(&out, inputs);
    if (f)
        cg_file_free(f);
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
    enum { SCHEMA = 256, OUT, TEMPLATES, PLUGIN, JOBS, CHECK, DUMP, HELP };
    static const struct option longs[] = {
        {"schema", required_argument, NULL, SCHEMA},
        {"out", required_argument, NULL, OUT},
        {"templates", required_argument, NULL, TEMPLATES},
        {"plugin", required_argument, NULL, PLUGIN},
        {"jobs", required_argument, NULL, JOBS},
        {"check", no_argument, NULL, CHECK},
        {"dump-facts", no_argument, NULL, DUMP},
        {"help", no_argument, NULL, HELP},
        {NULL, 0, NULL, 0},
    };
    options o = {.templates = default_templates()};
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
    if (!o.schema)
        return usage("--schema is missing");
    if (!o.out && !o.dump_facts)
        return usage("--out is missing");
    return run(&o);
}

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

typedef struct output {
    const char *template, *path;
} output;

static const output outputs[] = {
    {"frames.h.m4", "include/tenon/frames.h"},
    {"ops.h.m4", "include/tenon/ops.h"},
    {"math.h.m4", "include/tenon/math.h"},
    {"ops.c.m4", "core/ops.c"},
    {"calls.c.m4", "core/calls.c"},
    {"shapes.c.m4", "core/shapes.c"},
    {"rules.h.m4", "core/shape/rules.h"},
    {"pointwise.c.m4", "cpu/pointwise.c"},
    {"pointwise_loops.h.m4", "cpu/pointwise_loops.h"},
    {"structured.c.m4", "meta/structured.c"},
    {"pointwise_cuda.c.m4", "cuda/pointwise.c"},
};

typedef struct options {
    const char *schema, *out, *templates, *plugin;
    bool check, dump_facts;
} options;

static const char help[] =
    "tenon-gen - everything that is derived from an operator schema\n"
    "\n"
    "  tenon-gen --schema FILE --out DIR [--templates DIR] [--check]\n"
    "  tenon-gen --schema FILE --plugin NAME --out DIR      for a third party's operators\n"
    "  tenon-gen --schema FILE --dump-facts                 what the templates are told, on standard output\n"
    "\n"
    "  --schema FILE      operators, in the format of native_functions.yaml\n"
    "  --out DIR          where to write; files whose content would not change are left alone\n"
    "  --templates DIR    the m4 templates (default: the installed ones)\n"
    "  --plugin NAME      write NAME_ops.h and NAME_ops.c: frames, kernels and registration of a plugin\n"
    "  --check            write nothing; fail when a file is not what would be written\n"
    "\n"
    "Exit status: 0 all well; 1 the schema has errors, or --check found a difference; 2 wrong use.\n";

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
    if (!self) return "templates";
    char *slash = strrchr(self, '/');
    if (slash) *slash = '\0';
    snprintf(path, sizeof path, "%s/../share/tenon/templates", self);
    free(self);
    return path;
}

static bool emit_plugin(cg_diag *d, cg_out *out, const char *name, const char *facts, size_t n)
{
    char header[512], source[512];
    snprintf(header, sizeof header, "%s_ops.h", name);
    snprintf(source, sizeof source, "%s_ops.c", name);
    bool ok = cg_emit(d, out, "plugin_ops.h.m4", facts, n, header);
    return cg_emit(d, out, "plugin_ops.c.m4", facts, n, source) && ok;
}

/* One file of loops or kernels per dtype, so that they are compiled side by side: the template is told which. */
static bool emit_per_dtype(cg_diag *d, cg_out *out, const char *facts, size_t n, const char *template_name, const char *path_format,
                           const char *const *dtypes)
{
    char *told = malloc(n + 128);
    bool ok = told != NULL;
    for (; told && *dtypes; dtypes++) {
        char path[64];
        int head = sprintf(told, "m4_define(@{cg_which_dtype@}, %s)m4_define(@{cg_dtype@}, %s)\n", *dtypes, *dtypes);
        memcpy(told + head, facts, n);
        snprintf(path, sizeof path, path_format, *dtypes);
        ok = cg_emit(d, out, template_name, told, (size_t)head + n, path) && ok;
    }
    free(told);
    return ok;
}

static bool emit_loops(cg_diag *d, cg_out *out, const char *facts, size_t n)
{
    static const char *const all[] = {"bool", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128", NULL};
    static const char *const computed[] = {"bool", "u8", "i8", "i16", "i32", "i64", "f32", "f64", "c64", "c128", NULL};
    bool ok = emit_per_dtype(d, out, facts, n, "loops.c.m4", "cpu/loops_%s.c", all);
    return emit_per_dtype(d, out, facts, n, "pointwise.cu.m4", "cuda/pointwise_%s.cu", computed) && ok;
}

static bool emit_all(cg_diag *d, cg_out *out, const char *facts, size_t n)
{
    bool ok = true;
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        ok = cg_emit(d, out, outputs[i].template, facts, n, outputs[i].path) && ok;
    return emit_loops(d, out, facts, n) && ok;
}

static bool write_outputs(cg_diag *d, const options *o, const cg_ops *ops)
{
    char *facts = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&facts, &n);
    if (!to) return false;
    bool ok = cg_facts_write(ops, o->plugin ? o->plugin : "aten", to);
    ok = fclose(to) == 0 && ok;
    cg_out out = {.outdir = o->out, .template_dir = o->templates, .check = o->check};
    if (ok && o->dump_facts)
        fwrite(facts, 1, n, stdout);
    else if (ok)
        ok = o->plugin ? emit_plugin(d, &out, o->plugin, facts, n) : emit_all(d, &out, facts, n);
    free(facts);
    return ok;
}

static int run(const options *o)
{
    cg_diag d = {0};
    tn__arena arena = {0};
    cg_ops ops;
    cg_file *f = cg_file_read(&d, o->schema);
    if (f) cg_validate(&d, f);
    bool ok = f && !cg_diag_failed(&d) && cg_ops_make(&d, &arena, f, &ops) && write_outputs(&d, o, &ops);
    cg_diag_print(&d, stderr, CG_DIAG_TEXT);
    ok = ok && !cg_diag_failed(&d);
    if (f) cg_file_free(f);
    tn__arena_free(&arena);
    cg_diag_free(&d);
    return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    enum { SCHEMA = 256, OUT, TEMPLATES, PLUGIN, CHECK, DUMP, HELP };
    static const struct option longs[] = {
        {"schema", required_argument, NULL, SCHEMA},       {"out", required_argument, NULL, OUT},
        {"templates", required_argument, NULL, TEMPLATES}, {"plugin", required_argument, NULL, PLUGIN},
        {"check", no_argument, NULL, CHECK},               {"dump-facts", no_argument, NULL, DUMP},
        {"help", no_argument, NULL, HELP},                 {NULL, 0, NULL, 0},
    };
    options o = {.templates = default_templates()};
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "h", longs, NULL)) != -1;) {
        switch (c) {
        case SCHEMA: o.schema = optarg; break;
        case OUT: o.out = optarg; break;
        case TEMPLATES: o.templates = optarg; break;
        case PLUGIN: o.plugin = optarg; break;
        case CHECK: o.check = true; break;
        case DUMP: o.dump_facts = true; break;
        case 'h':
        case HELP: fputs(help, stdout); return 0;
        default: return usage("unknown option, or an option without its value");
        }
    }
    if (optind < argc) return usage("arguments are given with options only");
    if (!o.schema) return usage("--schema is missing");
    if (!o.out && !o.dump_facts) return usage("--out is missing");
    return run(&o);
}

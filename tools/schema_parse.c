/* schema_parse.c - `tenon schema parse FILE ..`: are these files right? Every error of each, then
 * counts by kind. */
#include "schema_impl.h"

#include <string.h>

static const char usage[] =
    "usage: tenon schema parse FILE .. [--lines] [--strict]\n"
    "                          [--format text|json|junit|github]\n"
    "\n"
    "Validates schema files, ours or PyTorch's: YAML as native_functions.yaml, or\n"
    "with --lines one schema per line (JIT types included; '#' lines are comments).\n"
    "Errors are reported as file:line:column: what is wrong; what to write instead.\n"
    "\n"
    "  --lines    the files hold one schema per line, not YAML\n"
    "  --strict   hold every schema to the rules of a new one: defaults that fit\n"
    "             their types, no required argument behind a defaulted positional\n"
    "             one, every name once\n"
    "\n"
    "Exit status 1: there were errors. 2: wrong use, or there was nothing to read.\n";

typedef struct totals {
    int files, functions, errors;
    int kinds[4]; /* by tn__schema_kind */
} totals;

static void count(totals *t, const schema_ops *ops)
{
    for (int i = 0; i < ops->n; i++)
        t->kinds[tn__schema_kind_of(ops->items[i].schema)]++;
    t->functions += ops->n;
    t->files++;
}

static void print_junit(const char *file, const schema_ops *ops, cg_diag *d)
{
    cg_diag_sort(d);
    fputs("  <testsuite name=\"", stdout);
    tool_put_xml(stdout, file);
    printf("\" tests=\"%d\" failures=\"%d\">\n", ops->n + d->n_items, d->n_items);
    for (int i = 0; i < ops->n; i++) {
        fputs("    <testcase classname=\"schema\" name=\"", stdout);
        tool_put_xml(stdout, ops->items[i].key);
        puts("\"/>");
    }
    for (int i = 0; i < d->n_items; i++) {
        const cg_diag_item *e = &d->items[i];
        printf("    <testcase classname=\"schema\" name=\"%d:%d\"><failure message=\"", e->pos.line,
               e->pos.column);
        tool_put_xml(stdout, e->message);
        puts("\"/></testcase>");
    }
    puts("  </testsuite>");
}

static void print_errors(const char *file, const schema_ops *ops, cg_diag *d, tool_format format)
{
    if (format == TOOL_JUNIT)
        print_junit(file, ops, d);
    else if (format == TOOL_JSON)
        cg_diag_print(d, stdout, CG_DIAG_JSON);
    else if (format == TOOL_GITHUB)
        cg_diag_print(d, stdout, CG_DIAG_GITHUB);
    else
        cg_diag_print(d, stderr, CG_DIAG_TEXT);
}

/* Returns false when the file could not be read at all. */
static bool parse_file(const char *path, bool lines, bool strict, tool_format format, totals *t)
{
    cg_diag d = {0};
    schema_ops ops;
    bool readable = schema_ops_read(&ops, &d, path, !lines, strict);
    count(t, &ops);
    t->errors += d.n_items + (d.no_memory && !d.n_items);
    print_errors(path, &ops, &d, format);
    if (readable && format == TOOL_TEXT)
        printf("%s: %d function%s, %d error%s\n", path, ops.n, ops.n == 1 ? "" : "s", d.n_items,
               d.n_items == 1 ? "" : "s");
    schema_ops_free(&ops);
    cg_diag_free(&d);
    return readable;
}

static void summarize(const totals *t, tool_format format)
{
    const int *k = t->kinds;
    if (format == TOOL_JSON)
        tool_json_row(json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "kind", "summary",
                                "files", t->files, "functions", t->functions, "errors", t->errors,
                                "functional", k[TN__SCHEMA_FUNCTIONAL], "inplace",
                                k[TN__SCHEMA_INPLACE], "out", k[TN__SCHEMA_OUT], "mutable",
                                k[TN__SCHEMA_MUTABLE]));
    else if (format == TOOL_TEXT)
        printf("%d functions: %d functional, %d inplace, %d out, %d mutable; %d errors\n",
               t->functions, k[TN__SCHEMA_FUNCTIONAL], k[TN__SCHEMA_INPLACE], k[TN__SCHEMA_OUT],
               k[TN__SCHEMA_MUTABLE], t->errors);
}

int schema_cmd_parse(int argc, char **argv)
{
    const char *format_name = "text";
    bool lines = false, strict = false, readable = true;
    const tool_option options[] = {{"--format", &format_name, NULL},
                                   {"--lines", NULL, &lines},
                                   {"--strict", NULL, &strict},
                                   {0}};
    int n = tool_options(argc, argv, options, usage);
    if (n < 0)
        return tool_status(n);
    tool_format format = tool_format_parse(format_name, "text|json|junit|github");
    if (format == TOOL_FORMAT_BAD)
        return TOOL_USAGE;
    if (n == 0)
        return tool_fail("schema parse needs a file; --help says more");
    totals t = {0};
    if (format == TOOL_JUNIT)
        puts("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>");
    for (int i = 1; i <= n; i++)
        readable = parse_file(argv[i], lines, strict, format, &t) && readable;
    if (format == TOOL_JUNIT)
        puts("</testsuites>");
    summarize(&t, format);
    if (!readable)
        return TOOL_USAGE;
    if (t.functions + t.errors == 0)
        return tool_fail("no schema was found in %s%s", argv[1],
                         n > 1 ? " and the other files" : "");
    return t.errors ? TOOL_FAILED : TOOL_OK;
}

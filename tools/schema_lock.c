/* schema_lock.c - `tenon schema lock` and `check`: the schemas that were published, kept in one
 * file.
 *
 * schema.lock has one schema per line in order of name. A line fixes the operator's call frame too:
 * its fields are the returns and then the arguments, in the line's order. The file is committed, so
 * that a review shows each change. */
#include "schema_impl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char lock_usage[] =
    "usage: tenon schema lock [--schema FILE] [--derivatives FILE] [--lock FILE]\n"
    "\n"
    "Writes every schema of FILE (default native_functions.yaml), and of the forms\n"
    "that follow from it, to schema.lock, or to --lock (\"-\": standard output; --out\n"
    "is the same). The file is left alone when nothing changed.\n"
    "\n"
    "Arguments that have a gradient are listed, too: those of expressions, and those of\n"
    "--derivatives (default: derivatives.yaml for native_functions.yaml, else\n"
    "NAME_derivatives.yaml beside NAME.yaml, where there is one).\n";

static const char check_usage[] =
    "usage: tenon schema check [--schema FILE] [--derivatives FILE] [--lock FILE]\n"
    "                          [--allow FILE] [--fresh] [--rules tenon|pytorch]\n"
    "                          [--today DATE]\n"
    "                          [--format text|json|junit|github]\n"
    "\n"
    "Compares the schema file (default native_functions.yaml) with what was published\n"
    "(default schema.lock); a gradient that is gone is a break, too. Breaks that are\n"
    "wanted stand in the allow-list (default\n"
    "schema.allow, if there is one); `tenon schema diff --help` describes it.\n"
    "\n"
    "  --fresh        fail, too, when the lock does not list exactly today's schemas\n"
    "                 (`tenon schema lock` renews it)\n"
    "  --rules R      tenon (default) or pytorch\n"
    "  --today DATE   judge expiry as of this day instead of today (UTC)\n"
    "\n"
    "Exit status 1: a break or removal that no entry in force covers, or an entry\n"
    "that is expired or unused. 2: wrong use, or a file that cannot be read.\n";

static const char banner[] =
    "# Published schemas, by `tenon schema lock`. A line fixes its operator's frame: returns, "
    "then arguments, in this order.\n";

/* ---- gradients ------------------------------------------------------------------------------- */
/* The file of formulas: the one that was named, else the one beside the schema; NULL: there is none. */
static const char *derivatives_of(const char *schema, const char *given, char *buf, size_t n)
{
    if (given)
        return given;
    const char *name = strrchr(schema, '/'), *dot = strrchr(schema, '.');
    name = name ? name + 1 : schema;
    if (strcmp(name, "native_functions.yaml") == 0)
        snprintf(buf, n, "%.*sderivatives.yaml", (int)(name - schema), schema);
    else
        snprintf(buf, n, "%.*s_derivatives.yaml", (int)(dot ? dot - schema : (int)strlen(schema)),
                 schema);
    return access(buf, R_OK) == 0 ? buf : NULL;
}

static bool has_expressions(const schema_ops *ops)
{
    for (int i = 0; ops->yaml && i < ops->yaml->n_entries; i++)
        if (ops->yaml->entries[i].pointwise.text)
            return true;
    return false;
}

/* The operators of a schema file, with their gradients where it has any. */
static bool load(schema_ops *ops, const char *schema, const char *derivatives)
{
    char buf[4200];
    if (!schema_ops_load(ops, schema))
        return false;
    const char *path = derivatives_of(schema, derivatives, buf, sizeof buf);
    return (!path && !has_expressions(ops)) || schema_gradients_load(ops, path);
}

/* ---- the lock -------------------------------------------------------------------------------- */
static char *gradients_text(const schema_ops *ops, size_t *n)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, n);
    if (!to)
        return NULL;
    schema_gradients_print(ops, to);
    return fclose(to) == 0 ? text : NULL;
}

/* The lock's text for sorted operators; the caller frees it. */
static char *lock_text(const schema_ops *ops, size_t *length)
{
    size_t gradients_n = 0;
    char *gradients = gradients_text(ops, &gradients_n);
    size_t need = sizeof banner + gradients_n;
    for (int i = 0; i < ops->n; i++)
        need += tn__schema_print(ops->items[i].schema, NULL, 0) + strlen(ops->items[i].schema->ns) +
                3;
    char *text = gradients ? malloc(need) : NULL;
    if (!text) {
        free(gradients);
        return NULL;
    }
    size_t at = sizeof banner - 1;
    memcpy(text, banner, at);
    for (int i = 0; i < ops->n; i++) {
        tn__schema s = *ops->items[i].schema;
        s.ns_written = true;
        at += tn__schema_print(&s, text + at, need - at);
        text[at++] = '\n';
    }
    memcpy(text + at, gradients, gradients_n);
    free(gradients);
    *length = at + gradients_n;
    return text;
}

static int write_lock(const schema_ops *ops, const char *out)
{
    size_t n = 0;
    char *text = lock_text(ops, &n);
    int status = TOOL_OK;
    if (!text)
        status = tool_fail("out of memory");
    else if (strcmp(out, "-") == 0)
        fwrite(text, 1, n, stdout);
    else if (tool_write_file(out, text, n) != 0)
        status = TOOL_USAGE;
    free(text);
    return status;
}

static int lock(const char *schema, const char *derivatives, const char *out, int *count)
{
    schema_ops ops = {0};
    int status = load(&ops, schema, derivatives) ? write_lock(&ops, out) : TOOL_USAGE;
    *count = ops.n;
    schema_ops_free(&ops);
    return status;
}

int schema_lock_write(const char *schema, const char *out, int *count)
{
    return lock(schema, NULL, out, count);
}

int schema_cmd_lock(int argc, char **argv)
{
    const char *schema = "native_functions.yaml", *out = "schema.lock", *derivatives = NULL;
    const tool_option options[] = {{"--schema", &schema, NULL},
                                   {"--derivatives", &derivatives, NULL},
                                   {"--lock", &out, NULL},
                                   {"--out", &out, NULL},
                                   {0}};
    int n = tool_options(argc, argv, options, lock_usage);
    if (n < 0)
        return tool_status(n);
    if (n > 0)
        return tool_fail("unexpected argument '%s'; write --schema %s", argv[1], argv[1]);
    int count = 0, status = lock(schema, derivatives, out, &count);
    if (status == TOOL_OK && strcmp(out, "-") != 0)
        printf("%s: %d schemas\n", out, count);
    return status;
}

/* Does the lock read exactly as it would be written now? */
static bool is_fresh(const schema_ops *now, const char *lock)
{
    size_t n = 0, have = 0;
    char *text = lock_text(now, &n), *old = tool_read_file(lock, &have);
    bool fresh = text && old && n == have && memcmp(text, old, n) == 0;
    free(text);
    free(old);
    return fresh;
}

static int check(const char *schema, const char *derivatives, const char *lock, schema_allow *allow,
                 tn__compat_rules rules, bool fresh, tool_format format)
{
    schema_ops old = {0}, now = {0};
    int status = TOOL_USAGE;
    if (schema_ops_load(&old, lock) && load(&now, schema, derivatives)) {
        status = schema_changes(&old, &now, rules, allow, format);
        if (!is_fresh(&now, lock)) {
            fprintf(stderr, "%s is not up to date with %s; `tenon schema lock` renews it\n", lock,
                    schema);
            if (fresh && status == TOOL_OK)
                status = TOOL_FAILED;
        }
    }
    schema_ops_free(&old);
    schema_ops_free(&now);
    return status;
}

int schema_cmd_check(int argc, char **argv)
{
    const char *schema = "native_functions.yaml", *lock = "schema.lock", *allow_path = NULL,
               *rules_name = "tenon", *format_name = "text", *today = NULL, *derivatives = NULL;
    bool fresh = false;
    const tool_option options[] = {{"--derivatives", &derivatives, NULL},
                                   {"--schema", &schema, NULL},
                                   {"--lock", &lock, NULL},
                                   {"--allow", &allow_path, NULL},
                                   {"--rules", &rules_name, NULL},
                                   {"--format", &format_name, NULL},
                                   {"--today", &today, NULL},
                                   {"--fresh", NULL, &fresh},
                                   {0}};
    tn__compat_rules rules;
    int n = tool_options(argc, argv, options, check_usage);
    if (n < 0)
        return tool_status(n);
    tool_format format = tool_format_parse(format_name, "text|json|junit|github");
    if (format == TOOL_FORMAT_BAD || !schema_rules_parse(rules_name, &rules))
        return TOOL_USAGE;
    if (n > 0)
        return tool_fail("unexpected argument '%s'; write --schema %s", argv[1], argv[1]);
    if (!allow_path && access("schema.allow", F_OK) == 0)
        allow_path = "schema.allow";
    schema_allow allow = {0};
    int status = TOOL_USAGE;
    if (!allow_path || schema_allow_read(&allow, allow_path, today))
        status = check(schema, derivatives, lock, &allow, rules, fresh, format);
    schema_allow_free(&allow);
    return status;
}

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
    "usage: tenon schema lock [--schema FILE] [--out FILE]\n"
    "\n"
    "Writes every schema of FILE (default native_functions.yaml), and of the forms\n"
    "that follow from it, to schema.lock, or to --out (\"-\": standard output). The\n"
    "file is left alone when nothing changed.\n";

static const char check_usage[] =
    "usage: tenon schema check [--schema FILE] [--lock FILE] [--allow FILE] [--fresh]\n"
    "                          [--rules tenon|pytorch] [--today DATE]\n"
    "                          [--format text|json|junit|github]\n"
    "\n"
    "Compares the schema file (default native_functions.yaml) with what was published\n"
    "(default schema.lock). Breaks that are wanted stand in the allow-list (default\n"
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

/* The lock's text for sorted operators; the caller frees it. */
static char *lock_text(const schema_ops *ops, size_t *length)
{
    size_t need = sizeof banner;
    for (int i = 0; i < ops->n; i++)
        need += tn__schema_print(ops->items[i].schema, NULL, 0) + strlen(ops->items[i].schema->ns) +
                3;
    char *text = malloc(need);
    if (!text)
        return NULL;
    size_t at = sizeof banner - 1;
    memcpy(text, banner, at);
    for (int i = 0; i < ops->n; i++) {
        tn__schema s = *ops->items[i].schema;
        s.ns_written = true;
        at += tn__schema_print(&s, text + at, need - at);
        text[at++] = '\n';
    }
    *length = at;
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

int schema_cmd_lock(int argc, char **argv)
{
    const char *schema = "native_functions.yaml", *out = "schema.lock";
    const tool_option options[] = {{"--schema", &schema, NULL}, {"--out", &out, NULL}, {0}};
    int n = tool_options(argc, argv, options, lock_usage);
    if (n < 0)
        return tool_status(n);
    if (n > 0)
        return tool_fail("unexpected argument '%s'; write --schema %s", argv[1], argv[1]);
    schema_ops ops = {0};
    int status = schema_ops_load(&ops, schema) ? write_lock(&ops, out) : TOOL_USAGE;
    if (status == TOOL_OK && strcmp(out, "-") != 0)
        printf("%s: %d schemas\n", out, ops.n);
    schema_ops_free(&ops);
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

static int check(const char *schema, const char *lock, schema_allow *allow, tn__compat_rules rules,
                 bool fresh, tool_format format)
{
    schema_ops old = {0}, now = {0};
    int status = TOOL_USAGE;
    if (schema_ops_load(&old, lock) && schema_ops_load(&now, schema)) {
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
               *rules_name = "tenon", *format_name = "text", *today = NULL;
    bool fresh = false;
    const tool_option options[] = {{"--schema", &schema, NULL},      {"--lock", &lock, NULL},
                                   {"--allow", &allow_path, NULL},   {"--rules", &rules_name, NULL},
                                   {"--format", &format_name, NULL}, {"--today", &today, NULL},
                                   {"--fresh", NULL, &fresh},        {0}};
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
        status = check(schema, lock, &allow, rules, fresh, format);
    schema_allow_free(&allow);
    return status;
}

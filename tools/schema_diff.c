/* schema_diff.c - `tenon schema diff OLD NEW`: what changed between two schema files. */
#include "schema_impl.h"

static const char usage[] =
    "usage: tenon schema diff OLD NEW [--allow FILE] [--rules tenon|pytorch]\n"
    "                         [--today DATE] [--format text|json|junit|github]\n"
    "\n"
    "OLD and NEW are YAML files (*.yaml, *.yml) or have one schema per line. Every\n"
    "operator that was added, removed or changed is listed, a change as compatible or\n"
    "as a break, with the changed arguments in brackets.\n"
    "\n"
    "  --allow FILE   breaks that are wanted, a line each:\n"
    "                     ns::name[.overload]  YYYY-MM-DD  reason\n"
    "                 ns::name covers the default overload only, ns::name.* all\n"
    "  --rules R      tenon (default): what would break a caller or a stored program;\n"
    "                 pytorch: PyTorch's verdicts, holes included\n"
    "  --today DATE   judge expiry as of this day instead of today (UTC)\n"
    "\n"
    "Exit status 1: a break or removal that no entry in force covers, or an entry\n"
    "that is expired or unused. 2: wrong use, or a file that cannot be read.\n";

static int diff(const char *old_path, const char *new_path, tn__compat_rules rules,
                const char *allow_path, const char *today, tool_format format)
{
    schema_ops old = {0}, now = {0};
    schema_allow allow = {0};
    int status = TOOL_USAGE;
    if ((!allow_path || schema_allow_read(&allow, allow_path, today)) &&
        schema_ops_load(&old, old_path) && schema_ops_load(&now, new_path))
        status = schema_changes(&old, &now, rules, &allow, format);
    schema_ops_free(&old);
    schema_ops_free(&now);
    schema_allow_free(&allow);
    return status;
}

int schema_cmd_diff(int argc, char **argv)
{
    const char *allow = NULL, *rules_name = "tenon", *format_name = "text", *today = NULL;
    const tool_option options[] = {{"--allow", &allow, NULL},
                                   {"--rules", &rules_name, NULL},
                                   {"--format", &format_name, NULL},
                                   {"--today", &today, NULL},
                                   {0}};
    tn__compat_rules rules;
    int n = tool_options(argc, argv, options, usage);
    if (n < 0)
        return tool_status(n);
    tool_format format = tool_format_parse(format_name, "text|json|junit|github");
    if (format == TOOL_FORMAT_BAD || !schema_rules_parse(rules_name, &rules))
        return TOOL_USAGE;
    if (n != 2)
        return tool_fail("schema diff needs two files, OLD and NEW, got %d; --help says more", n);
    return diff(argv[1], argv[2], rules, allow, today, format);
}

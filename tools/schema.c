/* schema.c - `tenon schema`: a table of subcommands. */
#include "schema_impl.h"

#include <string.h>

int tenon_cmd_schema(int argc, char **argv);

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} commands[] = {
    {"parse", schema_cmd_parse, "validate schema files: YAML, or one schema per line"},
    {"compat", schema_cmd_compat, "may OLD become NEW? Two schemas, or a table of pairs"},
    {"diff", schema_cmd_diff, "what changed between two schema files, operator by operator"},
    {"lock", schema_cmd_lock, "write every published schema to schema.lock"},
    {"check", schema_cmd_check, "compare the schema file with schema.lock; fails on a break"},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void help(FILE *to)
{
    fputs("usage: tenon schema COMMAND [ARGUMENT ...]\n\n", to);
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].what);
    fputs("\n`tenon schema COMMAND --help` says more.\n", to);
}

bool schema_rules_parse(const char *name, tn__compat_rules *rules)
{
    if (strcmp(name, "tenon") == 0)
        *rules = TN__COMPAT_TENON;
    else if (strcmp(name, "pytorch") == 0)
        *rules = TN__COMPAT_PYTORCH;
    else
        return tool_fail("unknown rules '%s'; write --rules pytorch or --rules tenon", name) ==
               TOOL_OK;
    return true;
}

int tenon_cmd_schema(int argc, char **argv)
{
    if (argc < 2) {
        help(stderr);
        return TOOL_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        help(stdout);
        return TOOL_OK;
    }
    for (int i = 0; i < N_COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return tool_fail("unknown command 'schema %s'; `tenon schema --help` lists the commands",
                     argv[1]);
}

/* abi.c - `tenon abi`: a table of subcommands. */
#include "abi_impl.h"

#include <string.h>

int tenon_cmd_abi(int argc, char **argv);

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} commands[] = {
    {"check", abi_cmd_check,
     "what a plugin's file says: does it keep the rules, which hosts run it"},
    {"diff", abi_cmd_diff,
     "two descriptions, plugins or builds of libtenon: may the new one follow"},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void help(FILE *to)
{
    fputs("usage: tenon abi COMMAND [ARGUMENT ...]\n\n", to);
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(to, "  %-6s %s\n", commands[i].name, commands[i].what);
    fputs("\n`tenon abi COMMAND --help` says more.\n", to);
}

int tenon_cmd_abi(int argc, char **argv)
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
    return tool_fail("unknown command 'abi %s'; `tenon abi --help` lists the commands", argv[1]);
}

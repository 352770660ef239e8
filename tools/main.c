/* main.c - the command `tenon`: one table of subcommands, and nothing else.
 *
 * To add a subcommand, write tools/NAME.c with tenon_cmd_NAME and add its line below (and to
 * README.md). */
#include "tool.h"

#include <string.h>

int tenon_cmd_abi(int argc, char **argv);
int tenon_cmd_bench(int argc, char **argv);
int tenon_cmd_doctor(int argc, char **argv);
int tenon_cmd_new(int argc, char **argv);
int tenon_cmd_ops(int argc, char **argv);
int tenon_cmd_record(int argc, char **argv);
int tenon_cmd_replay(int argc, char **argv);
int tenon_cmd_schema(int argc, char **argv);
int tenon_cmd_opinfo(int argc, char **argv);

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} commands[] = {
    {"abi", tenon_cmd_abi, "what plugins and libraries promise each other, read from their files"},
    {"bench", tenon_cmd_bench, "measure what calls cost"},
    {"doctor", tenon_cmd_doctor, "why a plugin does or does not load; what is covered"},
    {"new", tenon_cmd_new, "write the repository of a plugin"},
    {"ops", tenon_cmd_ops, "list operators, their schemas, and who serves each key"},
    {"record", tenon_cmd_record, "run a command and write its operator calls to a replay file"},
    {"replay", tenon_cmd_replay, "run recorded operator calls and compare the results"},
    {"schema", tenon_cmd_schema, "validate, compare and lock operator schemas"},
    {"opinfo", tenon_cmd_opinfo, "the test matrix: operator x device x dtype"},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void help(FILE *to)
{
    fputs("usage: tenon COMMAND [ARGUMENT ...]\n\n", to);
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].what);
    fputs("\n`tenon COMMAND --help` says more.\n"
          "Exit status: 0 all well; 1 the check failed; 2 wrong use, or nothing matched.\n",
          to);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        help(stderr);
        return TOOL_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        help(stdout);
        return TOOL_OK;
    }
    for (int i = 0; i < N_COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return tool_fail("unknown command '%s'; `tenon --help` lists the commands", argv[1]);
}

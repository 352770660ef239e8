/* record.c - `tenon record`: runs a command whose operator calls are written to a replay file. The
 * command needs no change: where it loads the default plugins, libtenon reads the environment
 * variables that are set here. */
#include "replay_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int tenon_cmd_record(int argc, char **argv);

static const char usage[] =
    "usage: tenon record [--out FILE] [--only failing|last] [--limit N] -- COMMAND [ARGUMENT ...]\n"
    "\n"
    "Runs COMMAND and writes the operator calls that it makes, of every thread, to FILE\n"
    "(default record.safetensors), which `tenon replay` runs again. Calls that kernels make\n"
    "are not written, nor are calls on memory that is not the host's.\n"
    "\n"
    "  --only failing   the calls that fail\n"
    "  --only last      the last call, written before it is made: what a crash leaves\n"
    "  --limit N        at most so many calls (10000)\n"
    "\n"
    "COMMAND must load the default plugins (tn_plugins_load_default). The same is had with\n"
    "TENON_RECORD=FILE TENON_RECORD_ONLY=.. in its environment, or tn_record_start in its code.\n"
    "\n"
    "Exit status: COMMAND's; 2 when it cannot be run, or made no call that is to be written.\n";

static int run(char **command)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        execvp(command[0], command);
        tool_fail("cannot run '%s': %s", command[0], strerror(errno));
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (pid < 0)
        return tool_fail("no process for '%s': %s", command[0], strerror(errno));
    if (WIFSIGNALED(status)) {
        tool_fail("'%s' was ended by signal %d (%s)", command[0], WTERMSIG(status),
                  strsignal(WTERMSIG(status)));
        return 128 + WTERMSIG(status);
    }
    return WEXITSTATUS(status) == 127 ? TOOL_USAGE : WEXITSTATUS(status);
}

/* How many calls the file holds; complains when it holds none. */
static bool report(const char *out)
{
    replay_file f;
    char why[REPLAY_MESSAGE];
    if (!replay_open(&f, out, why, sizeof why)) {
        tool_fail("%s: nothing was recorded: it %s", out, why);
        return false;
    }
    size_t n = f.n;
    int dropped = (int)json_integer_value(json_object_get(f.root, "dropped"));
    replay_close(&f);
    if (n == 0)
        tool_fail("%s: no call was recorded%s", out,
                  dropped ? "; those that were made are too large, or not in host memory"
                          : "; does the command load the default plugins?");
    else
        fprintf(stderr, "%s: %zu call%s%s\n", out, n, n == 1 ? "" : "s",
                dropped ? ", others were left out (too many, too large, or not in host memory)"
                        : "");
    return n > 0;
}

int tenon_cmd_record(int argc, char **argv)
{
    const char *out = "record.safetensors", *only = "all", *limit = NULL;
    const tool_option options[] = {
        {"--out", &out, NULL}, {"--only", &only, NULL}, {"--limit", &limit, NULL}, {0}};
    int end = 1; /* of our own arguments */
    while (end < argc && strcmp(argv[end], "--") != 0)
        end++;
    int n = tool_options(end, argv, options, usage);
    if (n < 0)
        return tool_status(n);
    if (n > 0 || end + 1 >= argc)
        return tool_fail("record needs a command behind --; --help says more");
    if (strcmp(only, "all") != 0 && strcmp(only, "failing") != 0 && strcmp(only, "last") != 0)
        return tool_fail("--only is '%s'; write failing or last", only);
    char path[4096];
    bool absolute = out[0] == '/';
    if (!absolute && !getcwd(path, sizeof path - strlen(out) - 2))
        return tool_fail("the current directory cannot be found out: %s", strerror(errno));
    if (!absolute)
        strcat(strcat(path, "/"), out);
    remove(out);
    setenv("TENON_RECORD", absolute ? out : path, 1);
    setenv("TENON_RECORD_ONLY", only, 1);
    if (limit)
        setenv("TENON_RECORD_LIMIT", limit, 1);
    int status = run(argv + end + 1);
    return report(out) || status ? status : TOOL_USAGE;
}

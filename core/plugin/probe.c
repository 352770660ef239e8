/* probe.c - tries something that may crash or hang, in a child process, and brings back what it
 * found.
 *
 * The child is a fork: it has what this process has loaded, and inherits the locks of this thread.
 * Depends on libc only; the loader and `tenon doctor` share it. */
#define _GNU_SOURCE
#include "core/plugin/probe.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_SECONDS = 20, MAX_SECONDS = 3600 };

/* What the child sends. */
typedef struct answer {
    bool loads, skipped, deadly;
    char reason[sizeof((tn__finding *)0)->reason], cure[sizeof((tn__finding *)0)->cure];
} answer;

bool tn__probe_wanted(void)
{
    const char *probe = secure_getenv("TENON_PLUGIN_PROBE");
    return probe && strcmp(probe, "1") == 0;
}

const char tn__probe_deadly[] = "deadly";

bool tn__probe_inside(void)
{
    return secure_getenv("TENON_PLUGIN_PROBED") != NULL;
}

static int seconds(void)
{
    const char *text = secure_getenv("TENON_PLUGIN_PROBE_SECONDS");
    int n = text ? atoi(text) : 0;
    return n >= 1 && n <= MAX_SECONDS ? n : DEFAULT_SECONDS;
}

/* ---- the child ------------------------------------------------------------------------------- */
static void put_all(int fd, const void *bytes, size_t n)
{
    for (const char *at = bytes; n;) {
        ssize_t put = write(fd, at, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return;
        at += put;
        n -= (size_t)put;
    }
}

static _Noreturn void child(int fd, tn__probe_fn fn, void *arg)
{
    static answer a;
    tn__finding f = {.state = ""};
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    dup2(STDERR_FILENO, STDOUT_FILENO);
    setenv("TENON_PLUGIN_PROBED", "1", 1);
    a.loads = fn(arg, &f);
    a.skipped = strcmp(f.state, "skipped") == 0;
    a.deadly = strcmp(f.state, tn__probe_deadly) == 0;
    memcpy(a.reason, f.reason, sizeof a.reason);
    memcpy(a.cure, f.cure, sizeof a.cure);
    put_all(fd, &a, sizeof a);
    _exit(0);
}

/* ---- the parent ------------------------------------------------------------------------------ */
static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The whole answer; false when the child ended, or fell silent, before it had one. */
static bool receive(int fd, int limit, answer *a, bool *silent)
{
    int64_t end = now_ms() + (int64_t)limit * 1000;
    size_t n = 0;
    while (n < sizeof *a) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left = end - now_ms();
        int ready = left > 0 ? poll(&p, 1, (int)left) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        *silent = ready == 0;
        ssize_t got = ready > 0 ? read(fd, (char *)a + n, sizeof *a - n) : 0;
        if (got <= 0)
            return false;
        n += (size_t)got;
    }
    return true;
}

static tn__probe_end judge(const answer *a, tn__finding *f)
{
    if (a->loads)
        snprintf(f->reason, sizeof f->reason, "%s", a->reason); /* a remark */
    else if (a->skipped)
        tn__skip(f, a->cure, "%s", a->reason);
    else
        tn__refuse(f, *a->cure ? a->cure : "try again", "%s", a->reason);
    return a->loads ? TN__PROBE_LOADS : a->deadly ? TN__PROBE_DIED : TN__PROBE_REFUSED;
}

static tn__probe_end bury(int status, bool silent, int limit, tn__finding *f)
{
    static const char cure[] = "run `tenon doctor --retry` on it under a debugger, and rebuild it";
    if (silent)
        tn__refuse(f, cure, "its load does not return: stopped after %d second%s", limit,
                   limit == 1 ? "" : "s");
    else if (WIFSIGNALED(status))
        tn__refuse(f, cure, "it crashes while it is loaded: signal %d (%s)", WTERMSIG(status),
                   strsignal(WTERMSIG(status)));
    else
        tn__refuse(f, cure, "it ends the process while it is loaded, with exit status %d",
                   WEXITSTATUS(status));
    return TN__PROBE_DIED;
}

static tn__probe_end no_child(tn__finding *f)
{
    tn__refuse(f, "try again", "there is no child process to try it in: %s", strerror(errno));
    return TN__PROBE_REFUSED;
}

tn__probe_end tn__probe(tn__probe_fn fn, void *arg, tn__finding *f)
{
    int ends[2], status = 0, limit = seconds();
    bool silent = false;
    answer a;
    if (pipe(ends) != 0)
        return no_child(f);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        child(ends[1], fn, arg);
    }
    close(ends[1]);
    bool received = pid > 0 && receive(ends[0], limit, &a, &silent);
    close(ends[0]);
    if (pid < 0)
        return no_child(f);
    if (silent)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return received ? judge(&a, f) : bury(status, silent, limit, f);
}

/* replay_child.c - cases run in a child process, one outcome after the other through a pipe.
 *
 * The parent waits for each outcome for so many seconds. A child that dies or hangs took down the
 * case after the last one it reported: that case is a failure, and a new child goes on behind it.
 * The child is forked before any kernel ran here, so no thread pool is ever inherited. */
#include "replay_impl.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

_Static_assert(sizeof(replay_outcome) <= PIPE_BUF, "an outcome is one atomic write");

static bool send_outcome(int to, const replay_outcome *o)
{
    const char *at = (const char *)o;
    for (size_t left = sizeof *o; left;) {
        ssize_t wrote = write(to, at, left);
        if (wrote < 0 && errno != EINTR)
            return false;
        if (wrote > 0) {
            at += wrote;
            left -= (size_t)wrote;
        }
    }
    return true;
}

static _Noreturn void child(const replay_file *f, const bool *wanted, size_t from, int to)
{
    for (size_t i = from; i < f->n; i++) {
        if (!wanted[i])
            continue;
        replay_outcome o = {.index = (int32_t)i};
        replay_run_case(f, i, &o);
        if (!send_outcome(to, &o))
            _exit(1);
    }
    exit(0); /* not _exit: a leak checker looks now */
}

typedef enum wait_result { CAME, ENDED, LATE } wait_result;

static wait_result receive(int from, int seconds, replay_outcome *o)
{
    char *at = (char *)o;
    for (size_t left = sizeof *o; left;) {
        struct pollfd p = {.fd = from, .events = POLLIN};
        int ready = poll(&p, 1, seconds * 1000);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready == 0)
            return LATE;
        ssize_t got = read(from, at, left);
        if (got == 0 || (got < 0 && errno != EINTR))
            return ENDED;
        if (got > 0) {
            at += got;
            left -= (size_t)got;
        }
    }
    return CAME;
}

static void say_end(replay_outcome *o, wait_result why, int status, int seconds)
{
    if (why == LATE)
        replay_set(o, REPLAY_FAILED, "", "TIMEOUT: no result after %d s", seconds);
    else if (WIFSIGNALED(status))
        replay_set(o, REPLAY_FAILED, "", "CRASH: signal %d (%s)", WTERMSIG(status),
                   strsignal(WTERMSIG(status)));
    else
        replay_set(o, REPLAY_FAILED, "", "CRASH: the process ended with status %d",
                   WEXITSTATUS(status));
}

static size_t next_wanted(const replay_file *f, const bool *wanted, size_t i)
{
    while (i < f->n && !wanted[i])
        i++;
    return i;
}

enum { NO_CHILD = -1, BAD_END = -2 };

/* One child, from case *at on, which is then the case at which the next child starts: n at the end.
 * Returns 0, NO_CHILD, or BAD_END when it failed after its last case. */
static int run_child(const replay_file *f, const bool *wanted, size_t *at, int seconds,
                     replay_sink sink, void *arg)
{
    size_t from = *at;
    int ends[2];
    if (pipe(ends) != 0)
        return NO_CHILD;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        child(f, wanted, from, ends[1]);
    }
    close(ends[1]);
    replay_outcome o;
    wait_result result = ENDED;
    while (pid > 0 && from < f->n && (result = receive(ends[0], seconds, &o)) == CAME) {
        sink(arg, &o);
        from = next_wanted(f, wanted, from + 1);
    }
    close(ends[0]);
    if (pid < 0)
        return NO_CHILD;
    if (result == LATE)
        kill(pid, SIGKILL);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    *at = from;
    if (from >= f->n)
        return status == 0 ? 0 : BAD_END;
    o = (replay_outcome){.index = (int32_t)from};
    say_end(&o, result, status, seconds);
    sink(arg, &o);
    *at = next_wanted(f, wanted, from + 1);
    return 0;
}

const char *replay_run_file(const replay_file *f, const bool *wanted, int seconds, replay_sink sink,
                            void *arg)
{
    int status = 0;
    size_t at = next_wanted(f, wanted, 0);
    while (at < f->n && status == 0)
        status = run_child(f, wanted, &at, seconds, sink, arg);
    return status == NO_CHILD  ? "cannot be run: no child process could be made"
           : status == BAD_END ? "ran, but its process failed at its end (a leak?)"
                               : NULL;
}

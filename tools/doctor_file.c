/* doctor_file.c - examines one plugin: first its file, by plain reads, then a load in a child
 * process.
 *
 * The child is there because a plugin may crash or never return: then that is the finding, and the
 * doctor lives. */
#define _GNU_SOURCE
#include "doctor_impl.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tenon/runtime.h>

enum { LOAD_SECONDS = 20 };

/* ---- the file ----------------------------------------------------------------------------------
 */
static bool is_foreign(void *arg, const char *name)
{
    char *found = arg;
    if (strcmp(name, "tenon_plugin") == 0)
        return true;
    snprintf(found, NAME_MAX, "%s", name);
    return false;
}

static bool is_tenon(void *arg, const char *name)
{
    char *found = arg;
    const char *slash =
        strrchr(name, '/'); /* a library without a soname is asked for by its path */
    if (strncmp(slash ? slash + 1 : name, "libtenon", 8) != 0)
        return true;
    snprintf(found, NAME_MAX, "%s", name);
    return false;
}

static bool check_tables(const tn__elf *e, tn__finding *f)
{
    char found[NAME_MAX] = "";
    if (!tn__elf_exports(e, is_foreign, found, f))
        return false;
    if (*found)
        return tn__refuse(
            f,
            "compile with -fvisibility=hidden and link with the export map "
            "share/tenon/tenon_plugin.map",
            "it exports the symbol '%.128s'; a plugin exports tenon_plugin and nothing else",
            found);
    if (!tn__elf_needed(e, is_tenon, found, f))
        return false;
    if (*found)
        return tn__refuse(
            f, "do not link libtenon: the core hands its functions to the plugin at load",
            "it is linked against %.128s", found);
    return true;
}

static bool check_file(doctor_row *row)
{
    tn__elf e;
    tn_note note;
    if (!tn__plugin_trusted(row->path, &row->finding) ||
        !tn__elf_open(&e, row->path, &row->finding))
        return false;
    bool ok = tn__note_find(&e, &note, &row->finding);
    if (ok) {
        memcpy(row->name, note.name, sizeof row->name);
        memcpy(row->version, note.version, sizeof row->version);
    }
    ok = ok && tn__note_check(&note, &row->finding) && check_tables(&e, &row->finding);
    tn__elf_close(&e);
    return ok;
}

/* ---- the trial ---------------------------------------------------------------------------------
 */
/* What the child sends. */
typedef struct trial {
    bool ok, skipped;
    char reason[sizeof((tn__finding *)0)->reason], cure[sizeof((tn__finding *)0)->cure];
} trial;

static void copy_report(trial *t, const char *path)
{
    tn_plugin_info info;
    for (size_t i = 0; tn_plugin_report(i, &info); i++) {
        if (strcmp(info.path, path) != 0)
            continue;
        t->skipped = strcmp(info.state, "skipped") == 0;
        snprintf(t->reason, sizeof t->reason, "%s", info.reason);
        snprintf(t->cure, sizeof t->cure, "%s", info.cure);
    }
}

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

static _Noreturn void child(int fd, const char *path, const char *const *before, int n)
{
    static trial t;
    for (int i = 0; i < n; i++)
        tn_plugin_load(before[i], NULL);
    t.ok = tn_plugin_load(path, NULL) == TN_OK;
    if (!t.ok)
        snprintf(t.reason, sizeof t.reason, "%s", tn_error_last()->message);
    copy_report(&t, path);
    put_all(fd, &t, sizeof t);
    _exit(0);
}

/* Reads what the child found; false when it ended or fell silent before it had anything to say. */
static bool receive(int fd, trial *t, bool *silent)
{
    size_t n = 0;
    while (n < sizeof *t) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = poll(&p, 1, LOAD_SECONDS * 1000);
        if (ready < 0 && errno == EINTR)
            continue;
        *silent = ready == 0;
        ssize_t got = ready > 0 ? read(fd, (char *)t + n, sizeof *t - n) : 0;
        if (got <= 0)
            return false;
        n += (size_t)got;
    }
    return true;
}

static bool judge(tn__finding *f, const trial *t, bool received, bool silent, int status)
{
    static const char cure[] = "run `tenon doctor` on it under a debugger";
    if (silent)
        return tn__refuse(f, cure, "its load does not return: stopped after %d seconds",
                          LOAD_SECONDS);
    if (received && t->ok) {
        snprintf(f->reason, sizeof f->reason, "%s", t->reason); /* a remark */
        return true;
    }
    if (received && t->skipped)
        return tn__skip(f, t->cure, "%s", t->reason);
    if (received)
        return tn__refuse(f, *t->cure ? t->cure : "try again", "%s", t->reason);
    if (WIFSIGNALED(status))
        return tn__refuse(f, cure, "it crashes while it is loaded: signal %d (%s)",
                          WTERMSIG(status), strsignal(WTERMSIG(status)));
    return tn__refuse(f, cure, "it ends the process while it is loaded, with exit status %d",
                      WEXITSTATUS(status));
}

static bool try_load(doctor_row *row, const char *const *before, int n)
{
    int ends[2], status = 0;
    bool silent = false;
    trial t;
    if (pipe(ends) != 0)
        return tn__refuse(&row->finding, "try again", "no pipe to a child: %s", strerror(errno));
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        child(ends[1], row->path, before, n);
    }
    close(ends[1]);
    bool received = pid > 0 && receive(ends[0], &t, &silent);
    close(ends[0]);
    if (pid < 0)
        return tn__refuse(&row->finding, "try again", "no child process: %s", strerror(errno));
    if (silent)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return judge(&row->finding, &t, received, silent, status);
}

void doctor_examine(doctor_row *row, const char *path, const char *const *before, int n)
{
    tn__file_id id;
    memset(row, 0, sizeof *row);
    row->finding.state = "";
    if (!tn__plugin_resolve(path, row->path, &id, &row->finding)) {
        snprintf(row->path, sizeof row->path, "%s", path);
        return;
    }
    row->ok = check_file(row) && try_load(row, before, n);
    if (row->ok)
        row->finding.state = "loaded";
}

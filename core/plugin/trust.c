/* trust.c - whether a file's code may run in this process: a plugin has all our rights, so one that
 * somebody else could have replaced is refused. Depends on libc only; shared with `tenon doctor`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/plugin/plugin_impl.h"

static const char cure_path[] = "check the path and its permissions";
static const char cure_writable[] =
    "chmod go-w it, or set TENON_ALLOW_WRITABLE=1 where nobody else uses the machine";

/* Whether `path` is writable by others than its owner. */
static bool check_mode(const char *path, const char *what, tn__finding *f)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return tn__refuse(f, cure_path, "%s cannot be read: %s", what, strerror(errno));
    if (!(st.st_mode & (S_IWGRP | S_IWOTH)))
        return true;
    return tn__refuse(f, cure_writable, "%s can be written by %s (mode %04o)", what,
                      st.st_mode & S_IWOTH ? "everybody" : "its group",
                      (unsigned)(st.st_mode & 07777));
}

/* ---- the audit ------------------------------------------------------------------------------- */
static const char *owner_of(const struct stat *st, char buf[32])
{
    if (st->st_uid == 0)
        return "root";
    if (st->st_uid == geteuid())
        return "you";
    snprintf(buf, 32, "user %u", (unsigned)st->st_uid);
    return buf;
}

/* In a sticky directory, such as /tmp, only an entry's owner can replace it. */
static const char *others_of(const struct stat *st)
{
    if (S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX)
        return "nobody";
    return st->st_mode & S_IWOTH ? "everybody" : st->st_mode & S_IWGRP ? "its group" : "nobody";
}

void tn__plugin_audit(const char *path, tn__audit_fn fn, void *arg)
{
    char at[PATH_MAX], buf[32];
    struct stat st;
    snprintf(at, sizeof at, "%s", path);
    for (;;) {
        if (stat(at, &st) == 0)
            fn(arg, at, owner_of(&st, buf), (unsigned)(st.st_mode & 07777), others_of(&st));
        char *slash = strrchr(at, '/');
        if (!slash || !slash[1])
            return;
        slash[slash == at] = '\0';
    }
}

bool tn__plugin_trusted(const char *path, tn__finding *f)
{
    const char *allow = secure_getenv("TENON_ALLOW_WRITABLE");
    if (allow && strcmp(allow, "1") == 0)
        return true;
    if (!check_mode(path, "the file", f))
        return false;
    char directory[PATH_MAX];
    snprintf(directory, sizeof directory, "%s", path);
    char *slash = strrchr(directory, '/');
    if (!slash)
        return true;
    slash[slash == directory] = '\0';
    return check_mode(directory, "its directory", f);
}

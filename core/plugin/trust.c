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

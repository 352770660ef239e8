/* quarantine.c - the list of quarantined plugins: read at every load from outside the built-in
 * directory, written by probes alone.
 *
 * A change reads the whole list, writes a new file beside it and renames it into place; of two
 * writers at one moment the later one wins, and the other's plugin is probed once more. Depends on
 * libc only. */
#define _GNU_SOURCE
#include "core/plugin/quarantine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_BYTES = 1 << 20, LINE_CHARS = PATH_MAX + 512 };

/* The list's path, PATH_MAX bytes; makes its directories where `make` is set. */
static bool list_path(char *out, bool make)
{
    const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    char base[PATH_MAX - 32];
    int n = cache && *cache == '/' ? snprintf(base, sizeof base, "%s", cache)
            : home && *home == '/' ? snprintf(base, sizeof base, "%s/.cache", home)
                                   : PATH_MAX;
    if (n >= (int)sizeof base)
        return false;
    if (make)
        mkdir(base, 0700);
    snprintf(out, PATH_MAX, "%s/tenon", base);
    if (make && mkdir(out, 0700) != 0 && errno != EEXIST)
        return false;
    strcat(out, "/quarantine");
    return true;
}

/* The whole list, NUL behind it; NULL when there is none. The caller frees it. */
static char *read_list(const char *path)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return NULL;
    char *text = malloc(MAX_BYTES + 1);
    size_t n = text ? fread(text, 1, MAX_BYTES, f) : 0;
    fclose(f);
    if (text)
        text[n] = '\0';
    return text;
}

/* What stands before the path on a file's line. */
static int key_of(char *buf, size_t cap, const tn__file_id *id)
{
    return snprintf(buf, cap, "%jd %jd.%09ld", (intmax_t)id->size, (intmax_t)id->changed.tv_sec,
                    id->changed.tv_nsec);
}

/* The path in a line of n bytes (its begin, its length), and the reason behind it; false for a line
 * that is none of ours. */
static bool split(const char *line, size_t n, const char **path, size_t *path_n,
                  const char **reason)
{
    const char *first = memchr(line, ' ', n);
    const char *second = first ? memchr(first + 1, ' ', n - (size_t)(first + 1 - line)) : NULL;
    const char *tab = second ? memchr(second, '\t', n - (size_t)(second - line)) : NULL;
    if (!tab)
        return false;
    *path = second + 1;
    *path_n = (size_t)(tab - *path);
    *reason = tab + 1;
    return true;
}

static bool is_of(const char *line, size_t n, const char *path)
{
    const char *at, *reason;
    size_t path_n;
    return split(line, n, &at, &path_n, &reason) && path_n == strlen(path) &&
           memcmp(at, path, path_n) == 0;
}

bool tn__quarantine_passes(const char *path, const tn__file_id *id, tn__finding *f)
{
    char list[PATH_MAX], key[96];
    char *text = list_path(list, false) ? read_list(list) : NULL;
    size_t key_n = (size_t)key_of(key, sizeof key, id);
    bool passes = true;
    for (const char *line = text; line && *line && passes;) {
        size_t n = strcspn(line, "\n");
        const char *at, *reason;
        size_t path_n;
        if (is_of(line, n, path) && split(line, n, &at, &path_n, &reason) &&
            (size_t)(at - 1 - line) == key_n && memcmp(line, key, key_n) == 0)
            passes = tn__refuse(f, "rebuild it; `tenon doctor --retry` tries it as it is",
                                "it is in quarantine until its file changes: %.*s",
                                (int)(n - (size_t)(reason - line)), reason);
        line += n + (line[n] == '\n');
    }
    free(text);
    return passes;
}

/* The list anew: without the path's line, with `more` at its end. */
static void rewrite(const char *path, const char *more)
{
    char list[PATH_MAX], next[PATH_MAX + 8];
    if (!list_path(list, true))
        return;
    char *text = read_list(list);
    if (!text && !*more)
        return;
    snprintf(next, sizeof next, "%s.XXXXXX", list);
    int fd = mkostemp(next, O_CLOEXEC);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    for (const char *line = text; out && line && *line;) {
        size_t n = strcspn(line, "\n");
        if (!is_of(line, n, path))
            fprintf(out, "%.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    if (out)
        fputs(more, out);
    bool ok = out && !ferror(out);
    if (out && fclose(out) != 0)
        ok = false;
    if (!ok || rename(next, list) != 0)
        unlink(next);
    free(text);
}

void tn__quarantine_add(const char *path, const tn__file_id *id, const tn__finding *f)
{
    char line[LINE_CHARS], key[96];
    if (strpbrk(path, "\n\t"))
        return; /* no path that a line can hold */
    key_of(key, sizeof key, id);
    snprintf(line, sizeof line, "%s %s\t%.300s\n", key, path, f->reason);
    rewrite(path, line);
}

void tn__quarantine_forget(const char *path)
{
    rewrite(path, "");
}

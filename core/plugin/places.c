/* places.c - where plugins are looked for, and which file a name means.
 *
 * A name never means a file of the current directory, and the environment counts only where
 * privileges were not raised. Directories are read in sorted order, so that every run loads in the
 * same order. Depends on libc only; shared with `tenon doctor`. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/plugin/plugin_impl.h"

static const char cure_path[] = "check the path and its permissions";

/* A path below the directory of the library. The command `tenon` has this file linked in, so the
 * library is asked for by name first. */
static bool beside_library(char *out, const char *what)
{
    static const char here;
    Dl_info info;
    char library[PATH_MAX];
    const void *inside = dlsym(RTLD_DEFAULT, "tn_plugin_load");
    if (!dladdr(inside ? inside : &here, &info) || !info.dli_fname ||
        !realpath(info.dli_fname, library))
        return false;
    char *slash = strrchr(library, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return snprintf(out, PATH_MAX, "%s/tenon/%s", library, what) < PATH_MAX;
}

bool tn__plugin_beside(char *out, const char *file)
{
    return beside_library(out, file);
}

bool tn__plugin_place(size_t i, char *out)
{
    const char *list = secure_getenv("TENON_PLUGIN_PATH");
    if (!list)
        return i == 0 && beside_library(out, "plugins");
    for (;;) {
        size_t n = strcspn(list, ":");
        if (n && n < PATH_MAX && i-- == 0) {
            memcpy(out, list, n);
            out[n] = '\0';
            return true;
        }
        if (!list[n])
            return false;
        list += n + 1;
    }
}

bool tn__plugin_built_in(const char *path)
{
    char place[PATH_MAX];
    if (!beside_library(place, "plugins"))
        return false;
    size_t n = strlen(place);
    return strncmp(path, place, n) == 0 && path[n] == '/' && !strchr(path + n + 1, '/');
}

/* ---- a name ---------------------------------------------------------------------------------- */
/* A bare name: NAME or NAME.so in one of the places. */
static bool search(const char *name, char *path)
{
    static const char *const endings[] = {"", ".so"};
    char place[PATH_MAX], candidate[2 * PATH_MAX];
    for (size_t i = 0; tn__plugin_place(i, place); i++)
        for (size_t k = 0; k < 2 && place[0] == '/'; k++) {
            snprintf(candidate, sizeof candidate, "%s/%s%s", place, name, endings[k]);
            if (realpath(candidate, path))
                return true;
        }
    return false;
}

static bool identify(const char *path, tn__file_id *out)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    *out = (tn__file_id){st.st_dev, st.st_ino, st.st_size, st.st_mtim};
    return true;
}

bool tn__plugin_resolve(const char *name, char *path, tn__file_id *id, tn__finding *f)
{
    size_t n = strnlen(name, PATH_MAX);
    if (n == 0)
        return tn__refuse(f, cure_path, "the path is empty");
    if (n >= PATH_MAX)
        return tn__refuse(f, cure_path, "the path has %d bytes or more", PATH_MAX);
    if (strchr(name, '/') == NULL) {
        if (!search(name, path))
            return tn__refuse(
                f, "write ./NAME for a file here, or put its directory into TENON_PLUGIN_PATH",
                "no plugin of that name is in the configured directories");
    } else if (!realpath(name, path)) {
        return tn__refuse(f, cure_path, "it cannot be opened: %s", strerror(errno));
    }
    if (!identify(path, id))
        return tn__refuse(f, cure_path, "it cannot be read: %s", strerror(errno));
    return true;
}

/* ---- all of them ----------------------------------------------------------------------------- */
static int is_plugin(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return entry->d_name[0] != '.' && n > 3 && strcmp(entry->d_name + n - 3, ".so") == 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void walk(const char *place, tn__place_fn fn, void *arg)
{
    tn__finding f = {.state = ""};
    struct dirent **entries;
    struct stat st;
    if (place[0] != '/') {
        tn__skip(&f, "write an absolute path",
                 "in TENON_PLUGIN_PATH a relative path is not followed");
        fn(arg, place, &f);
        return;
    }
    if (stat(place, &st) != 0 || !S_ISDIR(st.st_mode)) {
        fn(arg, place,
           NULL); /* a single plugin; what is wrong with it comes out when it is loaded */
        return;
    }
    int n = scandir(place, &entries, is_plugin, by_bytes);
    if (n < 0) {
        tn__skip(&f, cure_path, "the directory cannot be read: %s", strerror(errno));
        fn(arg, place, &f);
        return;
    }
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX + 256];
        snprintf(path, sizeof path, "%s/%s", place, entries[i]->d_name);
        fn(arg, path, NULL);
        free(entries[i]);
    }
    free(entries);
}

void tn__plugin_each(tn__place_fn fn, void *arg)
{
    char place[PATH_MAX];
    for (size_t i = 0; tn__plugin_place(i, place); i++)
        walk(place, fn, arg);
}

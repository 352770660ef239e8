/* new.c - `tenon new plugin NAME`: a repository with a plugin that builds, tests and installs at
 * once.
 *
 *     share/tenon/plugin-template --folders and lines that apply, @NAME@ filled in--> a folder
 *     beside the target --schema.lock--> renamed to the target
 *
 * The template's README says how its folders and lines are marked. Because the last step is one
 * rename, a failure leaves nothing behind. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "schema_impl.h"

static const char usage[] =
    "usage: tenon new plugin NAME [--lang c|c++] [--cuda] [--makefile] [--dir DIR]\n"
    "\n"
    "Writes a repository for a plugin NAME into the folder NAME, or DIR: operators in YAML,\n"
    "kernels, gradients, tests, a build that finds the installed Tenon, a CI workflow. It builds,\n"
    "tests and installs as it is; its README says how to go on.\n"
    "\n"
    "  --lang L     c (default) or c++\n"
    "  --cuda       with a CUDA kernel; where there is no nvcc it is left out\n"
    "  --makefile   make and pkg-config instead of CMake (no CUDA)\n"
    "  --dir DIR    the folder to make; it must not exist, or be empty\n"
    "\n"
    "Exit status: 0 written; 2 wrong use, or the folder cannot be made.\n";

/* What the template's marks stand for. */
typedef struct choice {
    const char *name;
    bool c, cxx, cuda, cmake, make;
} choice;

static const struct mark {
    const char *word; /* a folder of the template, and @word@ before a line, in capitals */
    size_t at;        /* of the flag in a choice */
} marks[] = {
    {"c", offsetof(choice, c)},       {"c++", offsetof(choice, cxx)},
    {"cuda", offsetof(choice, cuda)}, {"cmake", offsetof(choice, cmake)},
    {"make", offsetof(choice, make)},
};

static bool is_chosen(const choice *w, const struct mark *m)
{
    return *(const bool *)((const char *)w + m->at);
}

/* ---- one file -------------------------------------------------------------------------------- */
/* Steps over the marks before a line; false when one of them does not apply. */
static bool line_applies(const choice *w, const char **line)
{
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t n = strlen(marks[i].word);
        const char *at = *line;
        if (at[0] != '@' || strncasecmp(at + 1, marks[i].word, n) != 0 || at[n + 1] != '@')
            continue;
        if (!is_chosen(w, &marks[i]))
            return false;
        *line = at + n + 2;
        return line_applies(w, line);
    }
    return true;
}

/* Writes n bytes with @NAME@, @YEAR@ and @DOT@ replaced. */
static void put_filled(FILE *to, const choice *w, const char *text, size_t n)
{
    char year[16];
    time_t now = time(NULL);
    strftime(year, sizeof year, "%Y", gmtime(&now));
    const char *const words[][2] = {{"@NAME@", w->name}, {"@YEAR@", year}, {"@DOT@", "."}};
    while (n) {
        size_t used = 0;
        for (size_t i = 0; i < 3 && !used; i++) {
            size_t k = strlen(words[i][0]);
            if (n >= k && memcmp(text, words[i][0], k) == 0) {
                fputs(words[i][1], to);
                used = k;
            }
        }
        if (!used) {
            fputc(*text, to);
            used = 1;
        }
        text += used;
        n -= used;
    }
}

static char *filled(const choice *w, const char *text, size_t length, size_t *n)
{
    char *out = NULL;
    FILE *to = open_memstream(&out, n);
    if (!to)
        return NULL;
    const char *end = text + length;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *next = newline ? newline + 1 : end;
        if (line_applies(w, &text))
            put_filled(to, w, text, (size_t)(next - text));
        text = next;
    }
    return fclose(to) == 0 ? out : NULL;
}

/* The file's mode goes along: scripts stay scripts. 0, or -1 and said so. */
static int write_file(const choice *w, const char *from, const char *to)
{
    size_t length, n = 0;
    struct stat st;
    char *text = tool_read_file(from, &length), *out = text ? filled(w, text, length, &n) : NULL;
    int bad = -1;
    if (text && !out)
        tool_fail("out of memory");
    else if (out)
        bad = tool_write_file(to, out, n);
    if (!bad && stat(from, &st) == 0 && chmod(to, st.st_mode & 0755) != 0)
        bad = -1;
    free(text);
    free(out);
    return bad;
}

/* ---- folders --------------------------------------------------------------------------------- */
static int make_folder(const char *path)
{
    if (mkdir(path, 0755) == 0 || errno == EEXIST)
        return 0;
    tool_fail("cannot make the folder '%s': %s", path, strerror(errno));
    return -1;
}

static int write_folder(const choice *w, const char *from, const char *to);

/* An entry of the template: a folder, or a file whose name ends in ".in". */
static int write_entry(const choice *w, const char *from, const char *to, const char *entry)
{
    char source[PATH_MAX], name[2 * NAME_MAX], target[PATH_MAX];
    struct stat st;
    FILE *out = fmemopen(name, sizeof name, "w");
    if (!out)
        return -1;
    size_t n = strlen(entry);
    bool file = n > 3 && strcmp(entry + n - 3, ".in") == 0;
    put_filled(out, w, entry, file ? n - 3 : n);
    fclose(out);
    if (snprintf(source, sizeof source, "%s/%s", from, entry) >= PATH_MAX ||
        snprintf(target, sizeof target, "%s/%s", to, name) >= PATH_MAX) {
        tool_fail("the path '%s' is too long", to);
        return -1;
    }
    if (file)
        return write_file(w, source, target);
    return stat(source, &st) == 0 && S_ISDIR(st.st_mode) ? write_folder(w, source, target) : 0;
}

static int write_folder(const choice *w, const char *from, const char *to)
{
    struct dirent **entries;
    int n = scandir(from, &entries, NULL, alphasort), bad = 0;
    if (n < 0) {
        tool_fail("the template '%s' cannot be read: %s", from, strerror(errno));
        return -1;
    }
    bad = make_folder(to);
    for (int i = 0; i < n; i++) {
        if (!bad && entries[i]->d_name[0] != '.')
            bad = write_entry(w, from, to, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return bad;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

/* ---- the repository -------------------------------------------------------------------------- */
/* Beside the program, as installed: PREFIX/bin/tenon, PREFIX/share/tenon/plugin-template. */
static int find_template(char *path)
{
    char *self = realpath("/proc/self/exe", NULL);
    char *slash = self ? strrchr(self, '/') : NULL;
    if (slash)
        *slash = '\0';
    int n = snprintf(path, PATH_MAX, "%s/../share/tenon/plugin-template", slash ? self : ".");
    free(self);
    if (n < PATH_MAX && access(path, R_OK | X_OK) == 0)
        return 0;
    tool_fail("the template '%s' is not there; install Tenon again", path);
    return -1;
}

static int write_lock(const choice *w, const char *folder)
{
    char schema[PATH_MAX], lock[PATH_MAX];
    int count;
    if (snprintf(schema, sizeof schema, "%s/%s.yaml", folder, w->name) >= PATH_MAX ||
        snprintf(lock, sizeof lock, "%s/schema.lock", folder) >= PATH_MAX)
        return -1;
    return schema_lock_write(schema, lock, &count) == TOOL_OK ? 0 : -1;
}

static int write_repository(const choice *w, const char *folder)
{
    char template[PATH_MAX], part[PATH_MAX + NAME_MAX];
    if (find_template(template) != 0)
        return -1;
    snprintf(part, sizeof part, "%s/common", template);
    int bad = write_folder(w, part, folder);
    for (size_t i = 0; i < sizeof marks / sizeof *marks && !bad; i++) {
        snprintf(part, sizeof part, "%s/%s", template, marks[i].word);
        if (is_chosen(w, &marks[i]))
            bad = write_folder(w, part, folder);
    }
    return bad ? bad : write_lock(w, folder);
}

/* Made under another name and renamed, which an empty folder gives way to. */
static int make_repository(const choice *w, const char *folder)
{
    char work[PATH_MAX];
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/')
        n--;
    if (snprintf(work, sizeof work, "%.*s.XXXXXX", (int)n, folder) >= PATH_MAX)
        return tool_fail("the path '%s' is too long", folder);
    if (!mkdtemp(work))
        return tool_fail("cannot make the folder '%s': %s", folder, strerror(errno));
    int bad = write_repository(w, work);
    if (!bad && chmod(work, 0755) == 0 && rename(work, folder) == 0)
        return TOOL_OK;
    if (!bad)
        tool_fail("cannot make the folder '%s': %s", folder, strerror(errno));
    nftw(work, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return TOOL_USAGE;
}

/* ---- what is refused ------------------------------------------------------------------------- */
/* Names that belong to somebody: operators of Tenon, its own plugins, targets of every build. */
static const char *const taken[][2] = {
    {"aten", "it is the namespace of Tenon's own operators"},
    {"tenon", "it is Tenon's own"},
    {"tn", "it is the prefix of Tenon's own functions"},
    {"prims", "it is a namespace of PyTorch's own operators"},
    {"autograd", "it is a plugin of Tenon's own"},
    {"composite", "it is a plugin of Tenon's own"},
    {"cpu", "it is a plugin of Tenon's own"},
    {"cuda", "it is a plugin of Tenon's own"},
    {"meta", "it is a plugin of Tenon's own"},
    {"all", "every build has a target of that name"},
    {"clean", "every build has a target of that name"},
    {"help", "every build has a target of that name"},
    {"install", "every build has a target of that name"},
    {"package", "every build has a target of that name"},
    {"test", "every build has a target of that name"},
};

static int check_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (!*name || name[n] || !strchr(letters, *name))
        return tool_fail("'%.80s' is no name for a plugin: write letters, digits and '_', "
                         "beginning with a letter",
                         name);
    if (n > 47)
        return tool_fail("the name '%.80s' has %zu letters; a plugin's has 47 at most", name, n);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcasecmp(name, taken[i][0]) == 0)
            return tool_fail("the name '%s' is taken: %s; choose another", name, taken[i][1]);
    if (strncasecmp(name, "tenon_", 6) == 0 || strncasecmp(name, "tn_", 3) == 0)
        return tool_fail("names that begin with tenon_ or tn_ are Tenon's own; choose another "
                         "than '%s'",
                         name);
    return TOOL_OK;
}

/* The folder does not exist, or nothing is in it. */
static int check_folder(const char *folder)
{
    int found = 0;
    DIR *d = opendir(folder);
    if (!d && errno == ENOENT)
        return TOOL_OK;
    if (!d)
        return tool_fail("'%s' cannot become the plugin's folder: %s", folder, strerror(errno));
    for (const struct dirent *e; (e = readdir(d));)
        found += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    if (found)
        return tool_fail("the folder '%s' is not empty; name another with --dir", folder);
    return TOOL_OK;
}

static int choose_language(const char *lang, choice *w)
{
    w->c = strcmp(lang, "c") == 0;
    w->cxx = strcmp(lang, "c++") == 0;
    if (w->c || w->cxx)
        return TOOL_OK;
    return tool_fail("unknown language '%.80s'; write --lang c or --lang c++", lang);
}

int tenon_cmd_new(int argc, char **argv)
{
    const char *lang = "c", *folder = NULL;
    choice w = {0};
    const tool_option options[] = {{"--lang", &lang, NULL},
                                   {"--cuda", NULL, &w.cuda},
                                   {"--makefile", NULL, &w.make},
                                   {"--dir", &folder, NULL},
                                   {0}};
    int n = tool_options(argc, argv, options, usage);
    if (n < 0)
        return tool_status(n);
    if (n != 2 || strcmp(argv[1], "plugin") != 0)
        return tool_fail("write `tenon new plugin NAME`; `tenon new --help` says more");
    w.name = argv[2];
    w.cmake = !w.make;
    folder = folder ? folder : w.name;
    if (w.make && w.cuda)
        return tool_fail("--cuda needs CMake: leave out --makefile");
    if (choose_language(lang, &w) || check_name(w.name) || check_folder(folder) ||
        make_repository(&w, folder))
        return TOOL_USAGE;
    printf("wrote %s; next: cd %s && %s\n", folder, folder, w.make ? "make test" : "ci/check");
    return TOOL_OK;
}

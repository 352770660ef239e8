/* m4.c - runs m4 as a child process and checks what comes out.
 *
 * m4 reads and writes unnamed temporary files rather than pipes, so neither side can block the
 * other, whatever the sizes. Its sync lines (-s) tell which template line a leftover placeholder
 * comes from; they are taken out again, because generated code is read and stepped through as
 * itself. */
#define _GNU_SOURCE
#include "m4.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool fail(cg_diag *d, const char *file, const char *what, const char *why)
{
    cg_error(d, file, (cg_pos){0, 0}, "%s: %s", what, why);
    return false;
}

/* The whole of an open file, from its begin. */
static char *slurp(FILE *f, size_t *n)
{
    if (fseek(f, 0, SEEK_END) != 0)
        return NULL;
    long size = ftell(f);
    if (size < 0 || fseek(f, 0, SEEK_SET) != 0)
        return NULL;
    char *s = malloc((size_t)size + 1);
    if (!s)
        return NULL;
    *n = fread(s, 1, (size_t)size, f);
    s[*n] = '\0';
    return s;
}

/* ---- start ----------------------------------------------------------------------------------- */
/* The environment without what changes m4's files or words: a search path, the user's language. */
static char **child_environment(void)
{
    static const char *const dropped[] = {"M4PATH=", "LC_", "LANG", "POSIXLY_CORRECT"};
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **out = calloc(n + 2, sizeof *out);
    for (size_t i = 0; out && i < n; i++) {
        bool drop = false;
        for (size_t k = 0; k < sizeof dropped / sizeof *dropped; k++)
            drop = drop || strncmp(environ[i], dropped[k], strlen(dropped[k])) == 0;
        if (!drop)
            out[kept++] = environ[i];
    }
    if (out)
        out[kept] = (char *)"LC_ALL=C";
    return out;
}

static bool spawn(cg_diag *d, cg_m4 *m)
{
    char where[CG_PATH_CHARS + 16];
    snprintf(where, sizeof where, "-Dcg_templates=%s", m->dir);
    char *argv[] = {"m4",   "-P",       "-s", "-E",        where, "-I",
                    m->dir, m->prelude, "-",  m->template, NULL};
    posix_spawn_file_actions_t actions;
    char **env = child_environment();
    if (!env || posix_spawn_file_actions_init(&actions) != 0) {
        free(env);
        return fail(d, m->template, "cannot run m4", "out of memory");
    }
    posix_spawn_file_actions_adddup2(&actions, fileno(m->in), 0);
    posix_spawn_file_actions_adddup2(&actions, fileno(m->out), 1);
    posix_spawn_file_actions_adddup2(&actions, fileno(m->err), 2);
    int failed = posix_spawnp(&m->child, "m4", &actions, NULL, argv, env);
    posix_spawn_file_actions_destroy(&actions);
    free(env);
    return !failed || fail(d, m->template, "cannot run m4; install it", strerror(failed));
}

static bool feed(cg_diag *d, cg_m4 *m, const char *facts, size_t n)
{
    if (!m->in || !m->out || !m->err)
        return fail(d, m->template, "cannot make a temporary file", strerror(errno));
    if (fwrite(facts, 1, n, m->in) != n || fflush(m->in) != 0 || fseek(m->in, 0, SEEK_SET) != 0)
        return fail(d, m->template, "cannot pass the facts to m4", strerror(errno));
    lseek(fileno(m->in), 0, SEEK_SET); /* the child reads the descriptor, not the stream */
    return true;
}

static void close_files(cg_m4 *m)
{
    FILE *const files[] = {m->in, m->out, m->err};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i])
            fclose(files[i]);
}

bool cg_m4_start(cg_diag *d, cg_m4 *m, const char *template_dir, const char *template_name,
                 const char *facts, size_t n)
{
    int dir = snprintf(m->dir, sizeof m->dir, "%s", template_dir);
    int prelude = snprintf(m->prelude, sizeof m->prelude, "%s/prelude.m4", template_dir);
    int name = snprintf(m->template, sizeof m->template, "%s/%s", template_dir, template_name);
    if (dir >= CG_PATH_CHARS || prelude >= CG_PATH_CHARS || name >= CG_PATH_CHARS)
        return fail(d, template_name, "the template's path is too long",
                    "choose a shorter directory");
    m->in = tmpfile();
    m->out = tmpfile();
    m->err = tmpfile();
    if (feed(d, m, facts, n) && spawn(d, m))
        return true;
    close_files(m);
    return false;
}

/* ---- finish ---------------------------------------------------------------------------------- */
/* m4's complaints: "m4:FILE:LINE: what". Each one becomes an error at its place. */
static void report(cg_diag *d, const cg_m4 *m, char *complaints)
{
    for (char *line = strtok(complaints, "\n"); line; line = strtok(NULL, "\n")) {
        char file[CG_PATH_CHARS];
        int number = 0, used = 0;
        if (sscanf(line, "m4:%4095[^:]:%d: %n", file, &number, &used) == 2 && used)
            cg_error(d, strcmp(file, "stdin") == 0 ? "facts" : file, (cg_pos){number, 1}, "%s",
                     line + used);
        else
            cg_error(d, m->template, (cg_pos){0, 0}, "%s", line);
    }
}

/* What m4 wrote, when it succeeded without a word; NULL after an error. */
static char *result(cg_diag *d, cg_m4 *m, size_t *n)
{
    int status = 0;
    size_t n_complaints = 0;
    char *complaints, *text = NULL;
    while (waitpid(m->child, &status, 0) < 0)
        if (errno != EINTR) {
            fail(d, m->template, "cannot wait for m4", strerror(errno));
            return NULL;
        }
    complaints = slurp(m->err, &n_complaints);
    if (!complaints)
        fail(d, m->template, "cannot read what m4 wrote", strerror(errno));
    else if (n_complaints)
        report(d, m, complaints);
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail(d, m->template, "m4 failed", "it says no more");
    else if (!(text = slurp(m->out, n)))
        fail(d, m->template, "cannot read what m4 wrote", strerror(errno));
    free(complaints);
    return text;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The first placeholder that nothing filled in; NULL when there is none. */
static const char *leftover(const char *line, const char *end)
{
    static const char *const marks[] = {"m4_dnl", "m4_", "cg_", "@{", "@}"};
    for (const char *at = line; at < end; at++) {
        if (*at != 'm' && *at != 'c' && *at != '@')
            continue;
        for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
            size_t n = strlen(marks[k]);
            bool begins = k == 0 || marks[k][0] == '@' || at == line || !is_word(at[-1]);
            if (begins && (size_t)(end - at) >= n && memcmp(at, marks[k], n) == 0)
                return at;
        }
    }
    return NULL;
}

/* "#line 3 "FILE"" or "#line 3". The line is cut off while it is read: sscanf measures its whole text
 * first. */
static bool is_sync_line(char *line, char *stop, int *number, char *file)
{
    if (strncmp(line, "#line ", 6) != 0)
        return false;
    if (stop)
        *stop = '\0';
    int got = sscanf(line, "#line %d \"%4095[^\"]\"", number, file);
    if (stop)
        *stop = '\n';
    return got > 0;
}

/* Takes the sync lines out, in place, and looks for placeholders. */
static bool clean(cg_diag *d, const cg_m4 *m, char *s, size_t *n)
{
    char file[CG_PATH_CHARS] = "";
    int number = 1, complained = 0; /* one complaint per line of the template */
    size_t kept = 0;
    bool ok = true;
    for (char *line = s, *end = s + *n; line < end;) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        char *next = stop ? stop + 1 : end;
        if (!is_sync_line(line, stop, &number, file)) {
            const char *mark = leftover(line, next);
            if (mark && number != complained)
                cg_error(
                    d, *file ? file : m->template, (cg_pos){number, 1},
                    "'%.40s' is left in the output; define the macro, or quote the text with @{ @}",
                    strndupa(mark, strcspn(mark, "\n")));
            complained = mark ? number : complained;
            ok = ok && !mark;
            memmove(s + kept, line, (size_t)(next - line));
            kept += (size_t)(next - line);
            number++;
        }
        line = next;
    }
    *n = kept;
    s[kept] = '\0';
    return ok;
}

bool cg_m4_finish(cg_diag *d, cg_m4 *m, char **text, size_t *n)
{
    *text = result(d, m, n);
    close_files(m);
    if (*text && !clean(d, m, *text, n)) {
        free(*text);
        *text = NULL;
    }
    return *text != NULL;
}

/* m4.c - runs m4 as a child process and checks what comes out.
 *
 * m4 reads and writes unnamed temporary files rather than pipes, so neither side can block the
 * other, whatever the sizes. Its sync lines (-s) tell which template line a leftover placeholder
 * comes from; they are taken out again, because generated code is read and stepped through as
 * itself. Lines too long for it are broken here, as m4 counts columns slowly. */
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
    static char table[] = "1009"; /* the usual one costs a millisecond to clear */
    char where[CG_PATH_CHARS + 16];
    snprintf(where, sizeof where, "-Dcg_templates=%s", m->dir);
    char *argv[] = {"m4", "-P",   "-s",       "-E", "-H",        table, where,
                    "-I", m->dir, m->prelude, "-",  m->template, NULL};
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

/* ---- lists that break ------------------------------------------------------------------------ */
/* "@<head@|item@|item tail@>": items stand behind commas, and a line breaks before the one that
 * would not fit (templates/README.md). m4 can count columns, too, with a dozen macros an item. */
typedef struct list {
    int indent;      /* of a line that follows a break */
    int first, rest; /* columns: of the line with the head, of another one behind its indent */
    bool in_macro;   /* lines end in '\' */
} list;

enum { LONGEST_BREAK = 4 + 99 }; /* ", \", newline, two digits of blanks */

/* "@<", "@8<" or "@\8<": the text behind it; NULL when `at` is no begin. */
static const char *begin_list(const char *at, list *l)
{
    *l = (list){.indent = 4, .in_macro = at[1] == '\\'};
    at += l->in_macro ? 2 : 1;
    for (int digits = 0; digits < 2 && *at >= '0' && *at <= '9'; digits++)
        l->indent = digits * 10 * l->indent + *at++ - '0';
    l->first = l->in_macro ? 94 : 100;
    l->rest = l->in_macro ? 90 : 100 - l->indent;
    return *at == '<' ? at + 1 : NULL;
}

static char *put_break(char *to, const list *l)
{
    to = stpcpy(to, l->in_macro ? " \\\n" : "\n");
    memset(to, ' ', (size_t)l->indent);
    return to + l->indent;
}

static char *put_list(char *to, const char *at, const char *end, const list *l)
{
    int used = 0, room = l->first;
    for (int i = 0; at < end; i++) {
        const char *mark = memmem(at, (size_t)(end - at), "@|", 2), *stop = mark ? mark : end;
        bool is_head = i == 0, comma = mark && !is_head;
        int n = (int)(stop - at) + comma;
        if (!is_head && used + 1 + n > room) {
            to = put_break(to, l);
            used = n;
            room = l->rest;
        } else {
            if (i > 1)
                *to++ = ' ';
            used += n + !is_head;
        }
        to = mempcpy(to, at, (size_t)(stop - at));
        if (comma)
            *to++ = ',';
        at = mark ? mark + 2 : end;
    }
    return to;
}

/* A line with its lists laid out. */
static char *put_line(char *to, const char *line, const char *end)
{
    for (const char *at; (at = memchr(line, '@', (size_t)(end - line)));) {
        list l;
        const char *head = begin_list(at, &l);
        const char *close = head ? memmem(head, (size_t)(end - head), "@>", 2) : NULL;
        to = mempcpy(to, line, (size_t)(at - line) + !close);
        if (close)
            to = put_list(to, head, close, &l);
        line = close ? close + 2 : at + 1;
    }
    return mempcpy(to, line, (size_t)(end - line));
}

static size_t count_items(const char *s)
{
    size_t n = 0;
    for (; (s = strstr(s, "@|")); s += 2)
        n++;
    return n;
}

/* ---- the text -------------------------------------------------------------------------------- */
static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_mark(const char *at, bool begins_word)
{
    if (*at == '@')
        return at[1] && strchr("{}<|>", at[1]);
    return (begins_word && (strncmp(at, "m4_", 3) == 0 || strncmp(at, "cg_", 3) == 0)) ||
           strncmp(at, "m4_dnl", 6) == 0;
}

const char *cg_m4_word(const char *text)
{
    for (const char *at = text; *at; at++)
        if ((*at == 'm' || *at == 'c' || *at == '@') && is_mark(at, at == text || !is_word(at[-1])))
            return at;
    return NULL;
}

/* "#line 3 "FILE"" or "#line 3". */
static bool is_sync_line(const char *line, const char *end, int *number, char *file)
{
    char *at;
    if (strncmp(line, "#line ", 6) != 0)
        return false;
    *number = (int)strtol(line + 6, &at, 10);
    const char *close = memrchr(at, '"', (size_t)(end - at));
    if (strncmp(at, " \"", 2) == 0 && close - at >= 2 && close - at < CG_PATH_CHARS)
        *(char *)mempcpy(file, at + 2, (size_t)(close - at) - 2) = '\0';
    return true;
}

static void complain(cg_diag *d, const char *file, int line, const char *mark, const char *end)
{
    int n = (int)(end - mark) < 40 ? (int)(end - mark) : 40;
    cg_error(d, file, (cg_pos){line, 1},
             "'%.*s' is left in the output; define the macro, or quote the text with @{ @}",
             n - (mark[n - 1] == '\n'), mark);
}

/* What m4 wrote, without sync lines and with its lists laid out, in `out`. False: something that no
 * macro replaced is left, which is complained of once per line of the template. */
static bool clean(cg_diag *d, const cg_m4 *m, const char *s, size_t n, char *out, size_t *n_out)
{
    char file[CG_PATH_CHARS] = "", *to = out;
    int number = 1, complained = 0;
    bool ok = true;
    for (const char *line = s, *end = s + n, *next; line < end; line = next) {
        const char *stop = memchr(line, '\n', (size_t)(end - line)), *begin = to;
        next = stop ? stop + 1 : end;
        if (is_sync_line(line, next, &number, file))
            continue;
        to = put_line(to, line, next);
        *to = '\0';
        const char *mark = cg_m4_word(begin); /* that nothing filled in */
        if (mark && number != complained)
            complain(d, *file ? file : m->template, number, mark, to);
        complained = mark ? number : complained;
        ok = ok && !mark;
        number++;
    }
    *n_out = (size_t)(to - out);
    *to = '\0'; /* of no lines, too */
    return ok;
}

bool cg_m4_finish(cg_diag *d, cg_m4 *m, char **text, size_t *n)
{
    size_t n_raw = 0;
    char *raw = result(d, m, &n_raw);
    close_files(m);
    *text = raw ? malloc(n_raw + count_items(raw) * LONGEST_BREAK + 1) : NULL;
    if (raw && !*text)
        fail(d, m->template, "cannot read what m4 wrote", "out of memory");
    if (*text && !clean(d, m, raw, n_raw, *text, n)) {
        free(*text);
        *text = NULL;
    }
    free(raw);
    return *text != NULL;
}

/* emit.c - runs m4 on facts and a template, checks what comes out, and writes it when it differs.
 *
 * m4 reads and writes unnamed temporary files rather than pipes, so neither side can block the
 * other, whatever the sizes. Its sync lines (-s) tell which template line a leftover placeholder
 * comes from; they are taken out again, because generated code is read and stepped through as
 * itself. */
#define _GNU_SOURCE
#include "emit.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { PATH_CHARS = 4096 };

typedef struct text {
    char *s; /* NUL-terminated */
    size_t n;
} text;

static bool fail(cg_diag *d, const char *file, const char *what, const char *why)
{
    cg_error(d, file, (cg_pos){0, 0}, "%s: %s", what, why);
    return false;
}

/* The whole of an open file, from its begin. */
static bool slurp(FILE *f, text *out)
{
    *out = (text){NULL, 0};
    if (fseek(f, 0, SEEK_END) != 0)
        return false;
    long size = ftell(f);
    if (size < 0 || fseek(f, 0, SEEK_SET) != 0)
        return false;
    out->s = malloc((size_t)size + 1);
    if (!out->s)
        return false;
    out->n = fread(out->s, 1, (size_t)size, f);
    out->s[out->n] = '\0';
    return !ferror(f);
}

/* ---- running m4 ------------------------------------------------------------------------------ */
typedef struct run {
    FILE *in, *out, *err;
    char dir[PATH_CHARS], prelude[PATH_CHARS], template[PATH_CHARS];
} run;

static bool spawn(cg_diag *d, run *r, int *status)
{
    char *argv[] = {"m4", "-P", "-s", "-E", "-I", r->dir, r->prelude, "-", r->template, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return fail(d, r->template, "cannot run m4", "out of memory");
    posix_spawn_file_actions_adddup2(&actions, fileno(r->in), 0);
    posix_spawn_file_actions_adddup2(&actions, fileno(r->out), 1);
    posix_spawn_file_actions_adddup2(&actions, fileno(r->err), 2);
    int failed = posix_spawnp(&child, "m4", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed)
        return fail(d, r->template, "cannot run m4; install it", strerror(failed));
    while (waitpid(child, status, 0) < 0)
        if (errno != EINTR)
            return fail(d, r->template, "cannot wait for m4", strerror(errno));
    return true;
}

/* m4's complaints: "m4:FILE:LINE: what". Each one becomes an error at its place. */
static void report(cg_diag *d, const run *r, char *complaints)
{
    for (char *line = strtok(complaints, "\n"); line; line = strtok(NULL, "\n")) {
        char file[PATH_CHARS];
        int number = 0, used = 0;
        if (sscanf(line, "m4:%4095[^:]:%d: %n", file, &number, &used) == 2 && used)
            cg_error(d, strcmp(file, "stdin") == 0 ? "facts" : file, (cg_pos){number, 1}, "%s",
                     line + used);
        else
            cg_error(d, r->template, (cg_pos){0, 0}, "%s", line);
    }
}

static bool expand(cg_diag *d, run *r, const char *facts, size_t n, text *out)
{
    text complaints = {NULL, 0};
    int status = 0;
    if (fwrite(facts, 1, n, r->in) != n || fflush(r->in) != 0 || fseek(r->in, 0, SEEK_SET) != 0)
        return fail(d, r->template, "cannot pass the facts to m4", strerror(errno));
    lseek(fileno(r->in), 0, SEEK_SET); /* the child reads the descriptor, not the stream */
    if (!spawn(d, r, &status))
        return false;
    bool ok = slurp(r->err, &complaints) && slurp(r->out, out);
    if (!ok)
        fail(d, r->template, "cannot read what m4 wrote", strerror(errno));
    else if (complaints.n)
        report(d, r, complaints.s);
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail(d, r->template, "m4 failed", "it says no more");
    ok = ok && complaints.n == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    free(complaints.s);
    return ok;
}

/* ---- what came out --------------------------------------------------------------------------- */
static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The first placeholder that nothing filled in; NULL when there is none. */
static const char *leftover(const char *line, const char *end)
{
    static const char *const marks[] = {"m4_", "cg_", "@{", "@}"};
    for (const char *at = line; at < end; at++)
        for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
            size_t n = strlen(marks[k]);
            bool begins = marks[k][0] == '@' || at == line || !is_word(at[-1]);
            if (begins && (size_t)(end - at) >= n && memcmp(at, marks[k], n) == 0)
                return at;
        }
    return NULL;
}

/* Takes the sync lines out, in place, and looks for placeholders. */
static bool clean(cg_diag *d, const run *r, text *t)
{
    char file[PATH_CHARS] = "";
    int number = 1;
    size_t kept = 0;
    bool ok = true;
    for (char *line = t->s, *end = t->s + t->n; line < end;) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        char *next = stop ? stop + 1 : end;
        int got = strncmp(line, "#line ", 6) == 0
                      ? sscanf(line, "#line %d \"%4095[^\"]\"", &number, file)
                      : 0;
        if (got == 0) {
            const char *mark = leftover(line, next);
            if (mark)
                cg_error(
                    d, *file ? file : r->template, (cg_pos){number, 1},
                    "'%.40s' is left in the output; define the macro, or quote the text with @{ @}",
                    strndupa(mark, strcspn(mark, "\n")));
            ok = ok && !mark;
            memmove(t->s + kept, line, (size_t)(next - line));
            kept += (size_t)(next - line);
            number++;
        }
        line = next;
    }
    t->n = kept;
    t->s[kept] = '\0';
    return ok;
}

/* ---- the file -------------------------------------------------------------------------------- */
static bool make_directories(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool ok = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!ok)
            return false;
    }
    return true;
}

static bool is_same(const char *path, const char *bytes, size_t n)
{
    text now = {NULL, 0};
    FILE *f = fopen(path, "rb");
    bool same = f && slurp(f, &now) && now.n == n && memcmp(now.s, bytes, n) == 0;
    if (f)
        fclose(f);
    free(now.s);
    return same;
}

static bool replace(const char *path, const char *bytes, size_t n)
{
    char temporary[PATH_CHARS + 32];
    snprintf(temporary, sizeof temporary, "%s.%ld.new", path, (long)getpid());
    FILE *f = fopen(temporary, "wb");
    if (!f)
        return false;
    bool ok = fwrite(bytes, 1, n, f) == n;
    ok = fclose(f) == 0 && ok && rename(temporary, path) == 0;
    if (!ok)
        unlink(temporary);
    return ok;
}

bool cg_emit_text(cg_diag *d, cg_out *out, const char *bytes, size_t n, const char *relative_path)
{
    char path[PATH_CHARS];
    if (snprintf(path, sizeof path, "%s/%s", out->outdir, relative_path) >= (int)sizeof path)
        return fail(d, relative_path, "the output path is too long", "choose a shorter directory");
    if (is_same(path, bytes, n)) {
        out->same++;
        return true;
    }
    if (out->check)
        return fail(d, path, "it is not what the generator writes today",
                    "run tenon-gen without --check");
    if (!make_directories(path) || !replace(path, bytes, n))
        return fail(d, path, "cannot be written", strerror(errno));
    out->written++;
    return true;
}

static bool emit(cg_diag *d, cg_out *out, run *r, const char *facts, size_t n,
                 const char *relative_path)
{
    text t = {NULL, 0};
    if (!r->in || !r->out || !r->err)
        return fail(d, relative_path, "cannot make a temporary file", strerror(errno));
    bool ok = expand(d, r, facts, n, &t) && clean(d, r, &t) &&
              cg_emit_text(d, out, t.s, t.n, relative_path);
    free(t.s);
    return ok;
}

bool cg_emit(cg_diag *d, cg_out *out, const char *template_name, const char *facts, size_t n,
             const char *relative_path)
{
    run r = {.in = tmpfile(), .out = tmpfile(), .err = tmpfile()};
    snprintf(r.dir, sizeof r.dir, "%s", out->template_dir);
    int prelude = snprintf(r.prelude, sizeof r.prelude, "%s/prelude.m4", out->template_dir);
    int template =
        snprintf(r.template, sizeof r.template, "%s/%s", out->template_dir, template_name);
    bool fits = prelude < (int)sizeof r.prelude && template <(int)sizeof r.template;
    bool ok = fits ? emit(d, out, &r, facts, n, relative_path)
                   : fail(d, template_name, "the template's path is too long",
                          "choose a shorter directory");
    if (r.in)
        fclose(r.in);
    if (r.out)
        fclose(r.out);
    if (r.err)
        fclose(r.err);
    return ok;
}

/* replay_minimize.c - `tenon replay --minimize FILE`: the smallest call that fails as the recorded one
 * does.
 *
 * Steps of replay_shrink.c are tried one by one, each in a child process; a step stays when the call
 * still fails in the same way: the same words of the message, numbers left out. What counts as
 * failing: a crash, a hang, an error where a result was recorded, an error that was recorded
 * (`raises`), a wrong value. A wrong value needs the recorded results, which no step on the arguments
 * may change: there only layouts are made simpler, and results and arguments are halved alike, once a
 * half that passes has shown that the operator works element by element, or row by row. */
#include "replay_shrink.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_RUNS = 4000, MAX_SECONDS = 120, KEY_CHARS = 200, KEY_WORDS = 10 };

typedef struct minimizer {
    char scratch[512];   /* the candidate's file */
    char key[KEY_CHARS]; /* how the recorded call fails */
    int seconds;         /* for one call */
    int runs;
    time_t end;
    bool by_element; /* a half has passed */
} minimizer;

/* ---- how a call fails ------------------------------------------------------------------------ */
/* The words of a message: what stays the same when sizes and values change. */
static void words_of(const char *message, char key[KEY_CHARS])
{
    size_t used = 0;
    int words = 0;
    for (const char *p = message; *p && words < KEY_WORDS;) {
        size_t n = 0;
        while (isalpha((unsigned char)p[n]) || (n && p[n] == '_'))
            n++;
        bool number = (n == 3 && (strncmp(p, "nan", 3) == 0 || strncmp(p, "inf", 3) == 0)) ||
                      n == 1;
        if (n && !number && used + n + 2 < KEY_CHARS) {
            memcpy(key + used, p, n);
            used += n;
            key[used++] = ' ';
            words++;
        }
        p += n ? n : 1;
    }
    key[used] = '\0';
}

typedef struct seen {
    replay_outcome outcome;
    bool any;
} seen;

static void keep(void *arg, const replay_outcome *o)
{
    seen *s = arg;
    s->outcome = *o;
    s->any = true;
}

/* "" when the call passes, or cannot be run. */
static void failure_of(const replay_file *f, size_t i, int seconds, char key[KEY_CHARS])
{
    seen s = {.any = false};
    bool *wanted = calloc(f->n + 1, sizeof *wanted);
    key[0] = '\0';
    if (!wanted)
        return;
    wanted[i] = true;
    replay_outcome o = {.index = (int32_t)i};
    if (replay_prepared(f, i, &o))
        replay_run_file(f, wanted, seconds, keep, &s);
    free(wanted);
    bool raises = json_is_true(json_object_get(replay_case(f, i), "raises"));
    if (s.any && (s.outcome.state == REPLAY_FAILED || (s.outcome.state == REPLAY_PASSED && raises)))
        words_of(s.outcome.message, key);
}

static bool fails_alike(minimizer *m, const shrink *candidate)
{
    replay_file f;
    char why[REPLAY_MESSAGE], key[KEY_CHARS];
    m->runs++;
    if (!shrink_save(candidate, m->scratch) || !replay_open(&f, m->scratch, why, sizeof why))
        return false;
    failure_of(&f, 0, m->seconds, key);
    replay_close(&f);
    return strcmp(key, m->key) == 0;
}

static bool in_time(const minimizer *m)
{
    return m->runs < MAX_RUNS && time(NULL) < m->end;
}

/* ---- steps ----------------------------------------------------------------------------------- */
static void replace(shrink *s, shrink *by)
{
    shrink_free(s);
    *s = *by;
}

/* One pass over all steps; true when one was taken. */
static bool pass(minimizer *m, shrink *s)
{
    bool taken = false;
    for (int step = 0; in_time(m);) {
        shrink c;
        if (!shrink_copy(&c, s) || !shrink_step(&c, step)) {
            shrink_free(&c);
            break;
        }
        if (shrink_cost(&c) < shrink_cost(s) && fails_alike(m, &c)) {
            replace(s, &c);
            taken = true;
        } else {
            shrink_free(&c);
            step++;
        }
    }
    return taken;
}

/* Does the call without that half pass? Then the operator works element by element. */
static bool other_half_passes(minimizer *m, const shrink *s, int number)
{
    shrink other;
    replay_file f;
    char why[REPLAY_MESSAGE], key[KEY_CHARS] = "?";
    if (shrink_copy(&other, s) && shrink_half(&other, number, true) &&
        shrink_save(&other, m->scratch) && replay_open(&f, m->scratch, why, sizeof why)) {
        failure_of(&f, 0, m->seconds, key);
        replay_close(&f);
    }
    shrink_free(&other);
    return key[0] == '\0';
}

static bool halve(minimizer *m, shrink *s)
{
    bool taken = false;
    for (int number = 0; in_time(m);) {
        shrink c;
        if (!shrink_copy(&c, s) || !shrink_half(&c, number, false)) {
            shrink_free(&c);
            break;
        }
        bool fails = fails_alike(m, &c), known = m->by_element && !c.by_front;
        bool shown = fails && !known && other_half_passes(m, s, number);
        m->by_element = m->by_element || (shown && !c.by_front);
        if (fails && (known || shown)) {
            replace(s, &c);
            taken = true;
        } else {
            shrink_free(&c);
            number++;
        }
    }
    return taken;
}

static void shrink_all(minimizer *m, shrink *s)
{
    bool taken = true;
    while (taken && in_time(m)) {
        taken = halve(m, s);
        taken = pass(m, s) || taken;
    }
}

/* ---- the command ----------------------------------------------------------------------------- */
/* The case to shrink: the one that was named, else the first that fails. */
static bool find_case(minimizer *m, const replay_file *f, int number, size_t *out)
{
    for (size_t i = 0; i < f->n; i++) {
        if (number >= 0 && replay_case_number(f, i) != number)
            continue;
        failure_of(f, i, m->seconds, m->key);
        if (m->key[0]) {
            *out = i;
            return true;
        }
    }
    return false;
}

static int minimize_case(minimizer *m, const replay_file *f, size_t i, const char *out)
{
    shrink s;
    char name[REPLAY_NAME];
    replay_case_name(f, i, name);
    if (!shrink_open(&s, f, i) || !fails_alike(m, &s)) {
        shrink_free(&s);
        return tool_fail("%s: case %d of %s does not fail when it is run by itself", f->path,
                         replay_case_number(f, i), name);
    }
    double before = shrink_cost(&s);
    s.keeps_results = strstr(m->key, "expected") != NULL; /* a wrong value, dtype or shape */
    shrink_all(m, &s);
    char *args = json_dumps(json_object_get(s.case_, "args"), 0);
    bool ok = args && shrink_save(&s, out);
    if (ok)
        printf("%s: %s, from %.0f to %.0f in %d runs\n    %s\n    fails: %s\n", out, name, before,
               shrink_cost(&s), m->runs, args, m->key);
    free(args);
    shrink_free(&s);
    return ok ? TOOL_OK : tool_fail("%s cannot be written", out);
}

int replay_minimize(const char *path, const char *out, int number, int seconds)
{
    minimizer m = {.seconds = seconds, .end = time(NULL) + MAX_SECONDS};
    replay_file f;
    char why[REPLAY_MESSAGE];
    size_t i = 0;
    const char *tmp = getenv("TMPDIR");
    snprintf(m.scratch, sizeof m.scratch, "%.400s/tenon-minimize-XXXXXX",
             tmp && *tmp ? tmp : "/tmp");
    int fd = mkstemp(m.scratch);
    if (fd < 0)
        return tool_fail("%s cannot be made: no place for the candidates", m.scratch);
    close(fd);
    int status = TOOL_USAGE;
    if (!replay_open(&f, path, why, sizeof why)) {
        tool_fail("%s %s", path, why);
    } else {
        status = find_case(&m, &f, number, &i)
                     ? minimize_case(&m, &f, i, out)
                     : tool_fail("%s: no case of it fails; there is nothing to shrink", path);
        replay_close(&f);
    }
    remove(m.scratch);
    return status;
}

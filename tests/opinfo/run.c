/* run.c - a run: every wanted row on every device, in child processes.
 *
 * A unit is one operator on one device; its cases (dtype x column) have numbers. A child runs a
 * range of them and says on a pipe when a case begins and how it ended, so that a crash or a hang
 * names its case. That case is run again alone; if it does no harm alone, the earlier case that
 * broke the process is found by bisection. Then the unit goes on behind it. The parent itself
 * never calls an operator: it stays whole, and its children begin with no threads of others. */
#define _GNU_SOURCE
#include "opinfo.h"

#include "core/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { UNIT_CASES = TN_DTYPE_COUNT * OI_COLUMNS, MAX_JOBS = 64 };

typedef struct message {
    int32_t begins, index; /* index -1: the range is done */
    oi_result result;
} message;

typedef struct worker {
    pid_t pid; /* 0: free */
    int fd;
    size_t unit;
    int first, end; /* the range it was given */
    int current;    /* the case that began and has not ended; -1: none */
    double since;   /* when it last said something */
    bool timed_out, finished;
    size_t had; /* bytes of a message that came in part */
    unsigned char part[sizeof(message)];
} worker;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static oi_case case_of(const oi_run *run, size_t unit, int index)
{
    size_t row = unit / (size_t)run->n_targets;
    return (oi_case){
        run->rows[row],     run->ops[row], &run->targets[unit % (size_t)run->n_targets],
        index / OI_COLUMNS, run->seed,     run->sample,
        run->slow};
}

/* ---- in the child ---------------------------------------------------------------------------- */
static bool is_wanted(const oi_run *run, const oi_case *c, int column)
{
    return run->dtypes & TN_DTYPE_BIT(c->dtype) && (run->column < 0 || run->column == column) &&
           oi_column_applies(c, column);
}

static void say(int fd, const message *m)
{
    if (write(fd, m, sizeof *m) != (ssize_t)sizeof *m)
        _exit(4);
}

static bool run_case(const oi_case *c, const oi_samples *samples, int column, int index, int fd)
{
    void *mark = oi_pool_mark();
    message m = {.begins = 0, .index = index, .result = {.column = column, .sample = -1}};
    oi_save_case(c);
    int64_t before = tn__guard_damage();
    oi_checks[column](c, samples, &m.result);
    int64_t wrong = tn__guard_damage() - before;
    if (wrong && column != OI_DTYPES) /* the next column makes the same calls, and more */
        oi_blame(&m.result, OI_FAIL, NULL,
                 "memory that the core had made for a tensor was left: %lld bytes of the sentinels "
                 "around it were written",
                 (long long)wrong);
    oi_pool_reset(mark);
    say(fd, &m);
    return m.result.state == OI_PASS;
}

/* Asked before a column that was chosen alone. */
static bool is_supported(const oi_case *c, const oi_samples *samples)
{
    oi_result r = {.column = OI_DTYPES, .sample = -1};
    oi_case any = *c;
    any.only_sample = -1;
    oi_check_dtypes(&any, samples, &r);
    return r.state == OI_PASS;
}

static void run_range(const oi_run *run, size_t unit, int first, int end, int fd)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    mallopt(M_PERTURB, 0x5a); /* fresh and freed memory holds no old results */
    oi_samples samples = {0};
    tn_dtype of = TN_DTYPE_NONE; /* the samples' dtype: they serve all its columns */
    for (int index = first; index < end; index++) {
        oi_case c = case_of(run, unit, index);
        int column = index % OI_COLUMNS;
        if (!is_wanted(run, &c, column))
            continue;
        say(fd, &(message){.begins = 1, .index = index});
        if (of != c.dtype) {
            oi_pool_reset(NULL);
            samples = (oi_samples){0};
            c.row->samples(c.row, &samples, c.dtype, c.seed);
            of = c.dtype;
        }
        if (run->column > OI_DTYPES && !is_supported(&c, &samples)) {
            say(fd, &(message){.index = index, .result.column = -1});
            continue;
        }
        if (!run_case(&c, &samples, column, index, fd) && column == OI_DTYPES)
            index += OI_COLUMNS - 1; /* not supported: the other columns have nothing to say */
    }
    say(fd, &(message){.index = -1});
    _exit(0);
}

/* ---- in the parent --------------------------------------------------------------------------- */
static bool start(const oi_run *run, worker *w, size_t unit, int first, int end)
{
    int fds[2];
    fflush(NULL);
    if (pipe2(fds, O_CLOEXEC) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        close(fds[0]);
        run_range(run, unit, first, end, fds[1]);
    }
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        return false;
    }
    *w = (worker){.pid = pid,
                  .fd = fds[0],
                  .unit = unit,
                  .first = first,
                  .end = end,
                  .current = -1,
                  .since = now()};
    return true;
}

static void record(oi_run *run, size_t unit, int index, const oi_result *r)
{
    if (r->column < 0)
        return; /* the column had nothing to say */
    if (run->n == run->cap) {
        size_t cap = run->cap * 2 + 1024;
        oi_record *bigger = realloc(run->records, cap * sizeof *bigger);
        if (!bigger)
            return;
        run->records = bigger;
        run->cap = cap;
    }
    run->records[run->n++] = (oi_record){case_of(run, unit, index), *r};
}

static void hear(oi_run *run, worker *w, const message *m)
{
    w->finished = m->index < 0;
    if (w->finished)
        return;
    w->current = m->begins ? m->index : -1;
    if (!m->begins)
        record(run, w->unit, m->index, &m->result);
}

/* Reads what is there; false at the end. */
static bool listen_to(oi_run *run, worker *w)
{
    ssize_t n = read(w->fd, w->part + w->had, sizeof w->part - w->had);
    if (n < 0 && errno == EINTR)
        return true;
    if (n <= 0)
        return false;
    w->since = now();
    w->had += (size_t)n;
    if (w->had == sizeof w->part) {
        message m;
        memcpy(&m, w->part, sizeof m);
        w->had = 0;
        hear(run, w, &m);
    }
    return true;
}

typedef struct ending {
    bool well, hung;
    int signal, code;
} ending;

static ending end_of(worker *w)
{
    int status = 0;
    close(w->fd);
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
        ;
    ending e = {WIFEXITED(status) && WEXITSTATUS(status) == 0 && w->finished, w->timed_out,
                WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                WIFEXITED(status) ? WEXITSTATUS(status) : 0};
    w->pid = 0;
    return e;
}

static bool wait_for(oi_run *run, worker *w, double timeout)
{
    struct pollfd p = {w->fd, POLLIN, 0};
    double left = w->since + timeout - now();
    if (left <= 0 || poll(&p, 1, (int)(left * 1000) + 1) == 0) {
        if (now() - w->since < timeout)
            return true;
        w->timed_out = true;
        kill(w->pid, SIGKILL);
        return false;
    }
    return listen_to(run, w);
}

/* Does [first, end) of a unit come to a bad end? Its results are thrown away, but for *last. */
static bool dies(const oi_run *run, size_t unit, int first, int end, ending *how, oi_record *last)
{
    oi_run trial = *run;
    trial.records = NULL;
    trial.n = trial.cap = 0;
    worker w;
    if (!start(&trial, &w, unit, first, end))
        return false;
    while (wait_for(&trial, &w, run->timeout_s))
        ;
    *how = end_of(&w);
    if (last && trial.n)
        *last = trial.records[trial.n - 1];
    free(trial.records);
    return !how->well;
}

static void say_how(const ending *e, oi_result *r, int timeout)
{
    r->state = e->hung ? OI_TIMEOUT : OI_CRASH;
    if (e->hung)
        snprintf(r->message, sizeof r->message, "no answer within %d s", timeout);
    else if (e->signal)
        snprintf(r->message, sizeof r->message, "the process died of signal %d (%s)", e->signal,
                 strsignal(e->signal));
    else
        snprintf(r->message, sizeof r->message, "the process ended by itself with status %d",
                 e->code);
}

/* The latest case from which on the range up to `index` still dies. */
static int find_culprit(const oi_run *run, const worker *w, int index)
{
    int bad = w->first, good = index;
    ending how;
    while (good - bad > 1) {
        int middle = bad + (good - bad) / 2;
        if (dies(run, w->unit, middle, index + 1, &how, NULL))
            bad = middle;
        else
            good = middle;
    }
    return bad;
}

static void investigate(oi_run *run, const worker *w, const ending *first_end)
{
    int index = w->current;
    ending how;
    oi_record alone = {.r = {.sample = -1, .column = index % OI_COLUMNS}};
    oi_result r = {.sample = -1, .column = index % OI_COLUMNS};
    say_how(first_end, &r, run->timeout_s);
    if (first_end->hung || dies(run, w->unit, index, index + 1, &how, &alone)) {
        record(run, w->unit, index, &r);
        return;
    }
    record(run, w->unit, index, &alone.r);
    int culprit = find_culprit(run, w, index);
    size_t used = strlen(r.message);
    snprintf(r.message + used, sizeof r.message - used,
             ", in a later case (%s of %s), which does well alone",
             oi_column_name(index % OI_COLUMNS), oi_dtype_name(index / OI_COLUMNS));
    r.column = culprit % OI_COLUMNS;
    record(run, w->unit, culprit, &r);
}

/* What is left of a unit after one of its cases killed the child. */
static bool go_on(oi_run *run, worker *w, const ending *e)
{
    if (e->well)
        return false;
    if (w->current < 0) { /* it died between two cases: nothing to name but the unit */
        oi_result r = {.sample = -1, .column = OI_DTYPES};
        say_how(e, &r, run->timeout_s);
        record(run, w->unit, w->first, &r);
        return false;
    }
    investigate(run, w, e);
    int next = w->current % OI_COLUMNS == OI_DTYPES ? (w->current / OI_COLUMNS + 1) * OI_COLUMNS
                                                    : w->current + 1;
    return next < UNIT_CASES && start(run, w, w->unit, next, UNIT_CASES);
}

static int by_case(const void *a, const void *b)
{
    const oi_record *x = a, *y = b;
    int order = strcmp(x->c.row->op, y->c.row->op);
    if (order == 0)
        order = (x->c.target > y->c.target) - (x->c.target < y->c.target);
    if (order == 0)
        order = (int)x->c.dtype - (int)y->c.dtype;
    return order ? order : x->r.column - y->r.column;
}

static void poll_all(oi_run *run, worker *workers, int n)
{
    struct pollfd p[MAX_JOBS];
    int which[MAX_JOBS], k = 0;
    for (int i = 0; i < n; i++)
        if (workers[i].pid) {
            p[k] = (struct pollfd){workers[i].fd, POLLIN, 0};
            which[k++] = i;
        }
    poll(p, (nfds_t)k, 200);
    for (int i = 0; i < k; i++) {
        worker *w = &workers[which[i]];
        bool late = now() - w->since > run->timeout_s;
        bool alive = p[i].revents ? listen_to(run, w) : !late;
        if (!p[i].revents && late) {
            w->timed_out = true;
            kill(w->pid, SIGKILL);
        }
        if (alive)
            continue;
        ending e = end_of(w);
        go_on(run, w, &e);
    }
}

bool oi_run_all(oi_run *run)
{
    worker workers[MAX_JOBS] = {{0}};
    int jobs = run->jobs < 1 ? 1 : run->jobs > MAX_JOBS ? MAX_JOBS : run->jobs;
    size_t unit = 0, units = run->n_rows * (size_t)run->n_targets;
    double began = now();
    for (;;) {
        bool busy = false;
        for (int i = 0; i < jobs; i++) {
            if (!workers[i].pid && unit < units && !start(run, &workers[i], unit++, 0, UNIT_CASES))
                return false;
            busy = busy || workers[i].pid;
        }
        if (!busy)
            break;
        poll_all(run, workers, jobs);
    }
    qsort(run->records, run->n, sizeof *run->records, by_case);
    run->seconds = now() - began;
    return true;
}

/* ---- replay files of what failed ------------------------------------------------------------- */
static size_t unit_of(const oi_run *run, const oi_case *c)
{
    size_t row = 0;
    while (run->rows[row] != c->row)
        row++;
    return row * (size_t)run->n_targets + (size_t)(c->target - run->targets);
}

/* What another call or another thread is needed for is not in one call: such a failure counts only
 * when the process dies of it. */
static bool is_one_call(const oi_result *r)
{
    bool dead = r->state == OI_CRASH || r->state == OI_TIMEOUT;
    bool wrong = r->state == OI_FAIL || r->state == OI_ERROR || r->state == OI_MISTRUSTED;
    return dead || (wrong && r->column != OI_ALIAS && r->column < OI_REPEAT);
}

const char *oi_replay_path(const oi_run *run, const oi_record *r, char *buf, size_t n)
{
    int used = snprintf(buf, n, "%s/", run->save);
    snprintf(buf + used, n - (size_t)used, "%s_%s_%s_%s.safetensors", r->c.row->op,
             r->c.target->name, oi_dtype_name(r->c.dtype), oi_column_name(r->r.column));
    for (char *at = buf + used; (at = strpbrk(at, "/:"));) /* of "ns::name" */
        *at = '_';
    return buf;
}

static void save_one(const oi_run *run, const oi_record *r)
{
    char path[4096];
    int index = (int)r->c.dtype * OI_COLUMNS + r->r.column;
    ending how;
    oi_record again = {.r = {.state = OI_PASS}};
    remove(oi_replay_path(run, r, path, sizeof path));
    oi_save_to(path);
    bool dead = dies(run, unit_of(run, &r->c), index, index + 1, &how, &again);
    oi_save_to(NULL);
    if (!dead && again.r.state == OI_PASS)
        remove(path); /* it does well alone */
}

bool oi_run_save(const oi_run *run)
{
    bool made = false;
    for (size_t i = 0; run->save && i < run->n; i++) {
        if (!is_one_call(&run->records[i].r))
            continue;
        if (!made && mkdir(run->save, 0777) != 0 && errno != EEXIST)
            return false;
        made = true;
        save_one(run, &run->records[i]);
    }
    return true;
}

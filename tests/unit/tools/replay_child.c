/* replay_child.c - cases that crash or hang in the child: each is one failure, and the others run.
 * The case's own work is replaced here by one that misbehaves by its number. */
#include <criterion/criterion.h>
#include <stdarg.h>

#include "tools/replay_child.c"

static replay_state states[8];
static char messages[8][200];
static int reports;

void replay_set(replay_outcome *o, replay_state state, const char *reason, const char *format, ...)
{
    va_list ap;
    o->state = state;
    snprintf(o->reason, sizeof o->reason, "%s", reason);
    va_start(ap, format);
    vsnprintf(o->message, sizeof o->message, format, ap);
    va_end(ap);
}

void replay_run_case(const replay_file *f, size_t i, replay_outcome *o)
{
    (void)f;
    if (i == 1) {
        signal(SIGABRT, SIG_DFL);
        abort();
    }
    if (i == 3)
        pause();
    if (i == 4)
        _exit(7);
    o->state = REPLAY_PASSED;
}

static void note(void *arg, const replay_outcome *o)
{
    (void)arg;
    reports++;
    states[o->index] = o->state;
    snprintf(messages[o->index], sizeof messages[0], "%.199s", o->message);
}

Test(replay_child, a_crash_is_one_case)
{
    replay_file f = {.n = 7};
    const bool wanted[7] = {true, true, true, true, true, false, true};
    cr_assert_null(replay_run_file(&f, wanted, 1, note, NULL));
    cr_expect_eq(reports, 6);
    cr_expect_eq(states[0], REPLAY_PASSED);
    cr_expect_eq(states[1], REPLAY_FAILED);
    cr_expect(strstr(messages[1], "CRASH: signal 6"), "%s", messages[1]);
    cr_expect_eq(states[2], REPLAY_PASSED);
    cr_expect_eq(states[3], REPLAY_FAILED);
    cr_expect(strstr(messages[3], "TIMEOUT"), "%s", messages[3]);
    cr_expect(strstr(messages[4], "status 7"), "%s", messages[4]);
    cr_expect_eq(states[6], REPLAY_PASSED);
}

Test(replay_child, nothing_wanted_runs_nothing)
{
    replay_file f = {.n = 2};
    const bool wanted[2] = {false, false};
    cr_expect_null(replay_run_file(&f, wanted, 1, note, NULL));
    cr_expect_eq(reports, 0);
}

/* parallel_for: every element once, the same chunks for any number of threads, serial when nested.
 */
#include <criterion/criterion.h>
#include <fenv.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tenon/threads.h>

#include "core/base/base.h"

TestSuite(parallel);

enum { N = 10007, GRAIN = 100, CHUNKS = (N + GRAIN - 1) / GRAIN };

typedef struct seen {
    atomic_int count[N];
    int64_t ends[CHUNKS]; /* of the chunk that begins at i * GRAIN */
} seen;

static void mark(void *arg, int64_t begin, int64_t end)
{
    seen *s = arg;
    if (begin % GRAIN == 0)
        s->ends[begin / GRAIN] = end;
    for (int64_t i = begin; i < end; i++)
        atomic_fetch_add(&s->count[i], 1);
}

Test(parallel, same_chunks_for_any_number_of_threads)
{
    static seen one, many;
    for (int threads = 1; threads <= 7; threads++) {
        memset(&many, 0, sizeof many);
        cr_assert_eq(tn_set_num_threads(threads), TN_OK);
        cr_assert_eq(tn_num_threads(), threads);
        cr_assert_eq(tn__parallel_for(NULL, N, GRAIN, mark, &many), TN_OK);
        for (int i = 0; i < N; i++)
            cr_assert_eq(many.count[i], 1, "element %d", i);
        if (threads == 1)
            one = many;
        cr_assert_eq(memcmp(one.ends, many.ends, sizeof one.ends), 0, "%d threads", threads);
    }
}

static void count_calls(void *arg, int64_t begin, int64_t end)
{
    cr_assert(begin < end);
    atomic_fetch_add((atomic_int *)arg, 1);
}

Test(parallel, edges)
{
    atomic_int calls = 0;
    cr_assert_eq(tn__parallel_for(NULL, 0, 1, count_calls, &calls), TN_OK);
    cr_assert_eq(tn__parallel_for(NULL, -5, 1, count_calls, &calls), TN_OK);
    cr_assert_eq(calls, 0);
    cr_assert_eq(tn__parallel_for(NULL, 3, 0, count_calls, &calls), TN_OK);
    cr_assert_eq(calls, 3);
    calls = 0;
    cr_assert_eq(tn__parallel_for(NULL, INT64_MAX, INT64_MAX / 2, count_calls, &calls), TN_OK);
    cr_assert_eq(calls, 3);
}

static void outer(void *arg, int64_t begin, int64_t end)
{
    (void)begin, (void)end;
    tn__parallel_for(NULL, N, GRAIN, mark, arg);
}

Test(parallel, nested_runs_serially_and_completely)
{
    static seen s;
    tn_set_num_threads(4);
    tn__parallel_for(NULL, 4, 1, outer, &s);
    for (int i = 0; i < N; i++)
        cr_assert_eq(s.count[i], 4);
}

static void note_rounding(void *arg, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        ((int *)arg)[i] = fegetround();
}

Test(parallel, workers_round_as_the_caller)
{
    int modes[8] = {0};
    tn_set_num_threads(4);
    fesetround(FE_UPWARD);
    tn__parallel_for(NULL, 8, 1, note_rounding, modes);
    fesetround(FE_TONEAREST);
    for (int i = 0; i < 8; i++)
        cr_assert_eq(modes[i], FE_UPWARD, "chunk %d", i);
    tn__parallel_for(NULL, 8, 1, note_rounding, modes);
    for (int i = 0; i < 8; i++)
        cr_assert_eq(modes[i], FE_TONEAREST, "chunk %d", i);
}

Test(parallel, works_in_a_forked_child)
{
    static seen s;
    tn_set_num_threads(4);
    tn__parallel_for(NULL, N, GRAIN, mark, &s);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        tn__parallel_for(NULL, N, GRAIN, mark, &s);
        _exit(s.count[N - 1] == 2 ? 0 : 1);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

Test(parallel, count_of_threads)
{
    setenv("TENON_NUM_THREADS", "3", 1);
    cr_assert_eq(tn_set_num_threads(0), TN_OK);
    cr_assert_eq(tn_num_threads(), 3);
    setenv("TENON_NUM_THREADS", "3x", 1);
    tn_set_num_threads(0);
    cr_assert_geq(tn_num_threads(), 1);
    cr_assert_eq(tn_set_num_threads(-1), TN_ERR_ARGUMENT);
    cr_assert_eq(tn_set_num_threads(5000), TN_ERR_ARGUMENT);
    unsetenv("TENON_NUM_THREADS");
}

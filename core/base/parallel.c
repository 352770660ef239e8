/* parallel.c - how many threads, and parallel_for: one range cut into chunks that OpenMP's threads
 * share.
 *
 * The chunks are [i * grain, (i + 1) * grain): they depend on n and grain alone, and a single
 * thread runs the same ones in order. So a caller that keeps one partial result per chunk gets the
 * same bits from any number of threads. Inside a parallel region, and in a child after fork (where
 * OpenMP's pool is gone), the calling thread does it all. Workers compute with the caller's
 * floating point environment: rounding, flushing of denormals. */
#include <fenv.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <tenon/threads.h>

#include "core/base/base.h"

enum { MAX_THREADS = 1024 };

static atomic_int threads;       /* 0: not looked up yet */
static atomic_bool forked_child; /* of a process whose pool had started */
static pthread_once_t watch_forks_once = PTHREAD_ONCE_INIT;

typedef struct range {
    int64_t n, grain, chunks;
    tn_range_fn fn;
    void *arg;
} range;

static int default_threads(void)
{
    const char *text = getenv("TENON_NUM_THREADS");
    if (text && *text) {
        char *end;
        long n = strtol(text, &end, 10);
        if (*end == '\0' && n >= 1 && n <= MAX_THREADS)
            return (int)n;
    }
    int n = omp_get_max_threads();
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : n;
}

int tn_num_threads(void)
{
    int n = atomic_load_explicit(&threads, memory_order_relaxed);
    if (TN__LIKELY(n > 0))
        return n;
    n = default_threads();
    atomic_store_explicit(&threads, n, memory_order_relaxed);
    return n;
}

tn_status tn_set_num_threads(int n)
{
    if (n < 0 || n > MAX_THREADS) {
        return tn__fail(NULL, TN_ERR_ARGUMENT,
                        "set_num_threads: n must be between 0 and %d, got %d", MAX_THREADS, n);
    }
    atomic_store_explicit(&threads, n, memory_order_relaxed);
    return TN_OK;
}

static void mark_child(void)
{
    atomic_store(&forked_child, true);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, mark_child);
}

/* A team is worth it for two chunks or more, outside any other team. */
static int team_size(const tn_call *call, int64_t chunks)
{
    int n = tn_num_threads();
    if (call && call->threads > 0 && call->threads < n)
        n = call->threads;
    if (chunks < n)
        n = (int)chunks;
    if (n > 1 && (omp_in_parallel() || atomic_load_explicit(&forked_child, memory_order_relaxed)))
        n = 1;
    return n;
}

static void run_chunks(const range *r, int64_t begin, int64_t end)
{
    for (int64_t chunk = begin; chunk < end; chunk++) {
        int64_t first = chunk * r->grain;
        r->fn(r->arg, first, r->n - first < r->grain ? r->n : first + r->grain);
    }
}

/* chunks * i / n without overflow. */
static int64_t share(int64_t chunks, int64_t i, int64_t n)
{
    return chunks / n * i + chunks % n * i / n;
}

/* Each thread takes neighbouring chunks, which keeps its memory together. */
static void run_team(const range *r, int size)
{
    fenv_t callers;
    fegetenv(&callers);
    pthread_once(&watch_forks_once, watch_forks);
#pragma omp parallel num_threads(size) default(none) shared(r, callers)
    {
        int i = omp_get_thread_num(), n = omp_get_num_threads();
        int64_t begin = share(r->chunks, i, n), end = share(r->chunks, i + 1, n);
        if (i == 0) {
            run_chunks(r, begin, end);
        } else {
            fenv_t own;
            fegetenv(&own);
            fesetenv(&callers);
            run_chunks(r, begin, end);
            fesetenv(&own);
        }
    }
}

tn_status tn__parallel_for(tn_call *call, int64_t n, int64_t grain, tn_range_fn fn, void *arg)
{
    if (n <= 0)
        return TN_OK;
    if (grain < 1)
        grain = 1;
    range r = {.n = n, .grain = grain, .chunks = (n - 1) / grain + 1, .fn = fn, .arg = arg};
    int size = team_size(call, r.chunks);
    if (size > 1)
        run_team(&r, size);
    else
        run_chunks(&r, 0, r.chunks);
    return TN_OK;
}

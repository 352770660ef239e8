/* bench_measure.c - time and instructions of the cases.
 *
 * Time: batches of about 50 us, in turn over all cases, the least per case. Instructions: this
 * program once more under callgrind, which starts counting at a mark before each case and dumps at
 * one behind it (valgrind/callgrind.h: macros that do nothing outside valgrind); or the
 * processor's own counter, where the machine lets a user read it. */
#include "bench_impl.h"

#include <dirent.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_include) && __has_include(<valgrind/callgrind.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <valgrind/callgrind.h>
#pragma GCC diagnostic pop
#define HAVE_MARKS 1
#else
#define HAVE_MARKS 0
#endif

enum { WARM = 64, ROUNDS = 200, COUNTED = 1000 };

/* ---- time ----------------------------------------------------------------------------------- */
static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double batch(const bench_case *c, int64_t n)
{
    double start = now_ns();
    if (c->run(n) != TN_OK)
        return -1;
    return now_ns() - start;
}

/* How many calls take about 50 us; 0 when the case fails. */
static int64_t batch_size(const bench_case *c)
{
    double warm = batch(c, WARM);
    for (int64_t n = WARM; warm >= 0; n *= 2) {
        double took = batch(c, n);
        if (took < 0)
            return 0;
        if (took > 25000 || n > 1000000)
            return took > 50000 && n > 1 ? (int64_t)((double)n * 50000 / took) + 1 : n;
    }
    return 0;
}

void bench_time(bench_case *cases, size_t n)
{
    int64_t *sizes = calloc(n, sizeof *sizes);
    for (size_t i = 0; i < n; i++) {
        cases[i].ns = -1;
        if (sizes)
            sizes[i] = batch_size(&cases[i]);
    }
    for (int round = 0; sizes && round < ROUNDS; round++)
        for (size_t i = 0; i < n; i++) {
            double took = sizes[i] ? batch(&cases[i], sizes[i]) : -1;
            double each = took / (double)(sizes[i] ? sizes[i] : 1);
            if (took >= 0 && (cases[i].ns < 0 || each < cases[i].ns))
                cases[i].ns = each;
        }
    free(sizes);
}

/* ---- callgrind ------------------------------------------------------------------------------ */
#if HAVE_MARKS
static void mark_start(void)
{
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
}

static void mark_end(const char *name)
{
    CALLGRIND_DUMP_STATS_AT(name);
    CALLGRIND_STOP_INSTRUMENTATION;
}
#else
static void mark_start(void)
{
}

static void mark_end(const char *name)
{
    (void)name;
}
#endif

int bench_count_inner(bench_case *cases, size_t n, int64_t calls)
{
    for (size_t i = 0; i < n; i++) {
        if (cases[i].run(WARM) != TN_OK)
            continue;
        mark_start();
        tn_status status = cases[i].run(calls);
        mark_end(status == TN_OK ? cases[i].name : "failed");
    }
    return TOOL_OK;
}

static bool in_path(const char *program)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        char full[4096];
        size_t n = strcspn(path, ":");
        if (snprintf(full, sizeof full, "%.*s/%s", (int)n, path, program) < (int)sizeof full &&
            access(full, X_OK) == 0)
            return true;
        path += n + (path[n] == ':');
    }
    return false;
}

/* The dump files of one run: "desc: Trigger: Client Request: NAME" and "totals: N". */
static void read_dump(const char *path, bench_case *cases, size_t n)
{
    static const char request[] = "Client Request: ";
    char line[4096], name[200] = "";
    double total = -1;
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        char *at = strstr(line, request);
        if (at)
            snprintf(name, sizeof name, "%.*s", (int)strcspn(at + sizeof request - 1, "\n"),
                     at + sizeof request - 1);
        if (strncmp(line, "totals: ", 8) == 0)
            total = strtod(line + 8, NULL);
    }
    if (f)
        fclose(f);
    for (size_t i = 0; i < n; i++)
        if (total >= 0 && strcmp(cases[i].name, name) == 0)
            cases[i].instructions = total / COUNTED;
}

static void read_dumps(const char *folder, bench_case *cases, size_t n)
{
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (strncmp(e->d_name, "cg.out", 6) == 0)
            read_dump(path, cases, n);
        if (e->d_name[0] != '.')
            unlink(path);
    }
    if (dir)
        closedir(dir);
}

static _Noreturn void run_valgrind(const char *folder, const char *suite)
{
    char out[200], calls[20], self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    snprintf(out, sizeof out, "--callgrind-out-file=%s/cg.out", folder);
    snprintf(calls, sizeof calls, "%d", COUNTED);
    setenv(BENCH_INNER, calls, 1);
    setenv("TENON_CPU_ISA", "avx2", 0); /* valgrind does not run AVX-512 */
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
        _exit(127);
    execlp("valgrind", "valgrind", "--tool=callgrind", "--instr-atstart=no", out, self, "bench",
           suite, (char *)NULL);
    _exit(127);
}

static const char *count_by_callgrind(bench_case *cases, size_t n, const char *suite)
{
    char folder[] = "/tmp/tenon-bench-XXXXXX";
    if (!HAVE_MARKS)
        return "this build was made without valgrind's headers";
    if (!in_path("valgrind"))
        return "valgrind is not installed";
    if (!mkdtemp(folder))
        return "no temporary folder could be made";
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        run_valgrind(folder, suite);
    int status = -1;
    if (pid > 0)
        waitpid(pid, &status, 0);
    read_dumps(folder, cases, n);
    rmdir(folder);
    return status == 0 ? NULL : "the run under valgrind failed";
}

/* ---- the processor's counter ---------------------------------------------------------------- */
static const char *count_by_processor(bench_case *cases, size_t n)
{
    struct perf_event_attr about = {.type = PERF_TYPE_HARDWARE,
                                    .size = sizeof about,
                                    .config = PERF_COUNT_HW_INSTRUCTIONS,
                                    .disabled = 1,
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1};
    int counter = (int)syscall(SYS_perf_event_open, &about, 0, -1, -1, 0);
    if (counter < 0)
        return "the machine does not let a user count instructions";
    for (size_t i = 0; i < n; i++) {
        uint64_t count = 0;
        if (cases[i].run(WARM) != TN_OK)
            continue;
        ioctl(counter, PERF_EVENT_IOC_RESET, 0);
        ioctl(counter, PERF_EVENT_IOC_ENABLE, 0);
        tn_status status = cases[i].run(COUNTED);
        ioctl(counter, PERF_EVENT_IOC_DISABLE, 0);
        if (status == TN_OK && read(counter, &count, sizeof count) == (ssize_t)sizeof count)
            cases[i].instructions = (double)count / COUNTED;
    }
    close(counter);
    return NULL;
}

const char *bench_count(bench_case *cases, size_t n, const char *suite)
{
    for (size_t i = 0; i < n; i++)
        cases[i].instructions = -1;
    const char *why = count_by_callgrind(cases, n, suite);
    return why && count_by_processor(cases, n) ? why : NULL;
}

/* threads.c - the library from many threads at once; what the thread sanitizer watches.
 *
 * A plain program, because Criterion does not start under that sanitizer. Every test is a function
 * that N_THREADS threads run after a common barrier; it returns what went wrong, or NULL. The first
 * one runs before anything else has used the library, so that its first use is a race too. Prints a
 * line per failed test, then "N passed, N failed". */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "threads.h"

#include <tenon/op.h>
#include <tenon/ops.h>
#include <tenon/runtime.h>
#include <tenon/tensor.h>

enum { SMALL = 8, LARGE = 1 << 17 };

static pthread_barrier_t barrier;
static tn_tensor *shared; /* SMALL floats: 0, 1, 2, ... */

static const char *first_use(int thread)
{
    (void)thread;
    if (tn_plugins_load_default() != TN_OK)
        return tn_error_last()->message;
    const tn_op *op = tn_op_find("aten::add.Tensor");
    if (!op)
        return "aten::add.Tensor is not there";
    return strcmp(tn_op_name(op), "aten::add.Tensor") == 0 ? NULL : tn_op_name(op);
}

/* shared * 1 + shared * alpha, where alpha is the thread's own. */
static const char *calls(int thread)
{
    for (int round = 0; round < ROUNDS; round++) {
        tn_tensor *sum = NULL;
        if (tn_call_add_Tensor(shared, shared, tn_scalar_int(thread), &sum) != TN_OK)
            return tn_error_last()->message;
        const float *got = sum->data;
        for (int i = 0; i < SMALL; i++)
            if (got[i] != (float)(i * (1 + thread)))
                return "a sum is wrong";
        tn_release(sum);
    }
    return NULL;
}

static const char *references(int thread)
{
    (void)thread;
    for (int round = 0; round < ROUNDS; round++) {
        tn_tensor *view = NULL;
        tn_retain(shared);
        if (tn_tensor_view(shared, 1, (int64_t[]){SMALL / 2}, (int64_t[]){2}, 0, &view) != TN_OK)
            return tn_error_last()->message;
        tn_release(shared);
        if (((const float *)view->data)[2] != 2)
            return "a view shows other elements";
        tn_release(view);
    }
    return NULL;
}

/* Even threads fail in one way, odd ones in another; each reads its own record. */
static const char *errors(int thread)
{
    tn_tensor *other = NULL, *sum = NULL;
    const int64_t n = SMALL + 1 + thread % 2;
    if (tn_tensor_new(1, &n, TN_F32, (tn_device){TN_CPU, 0}, &other) != TN_OK)
        return tn_error_last()->message;
    char expected[8];
    snprintf(expected, sizeof expected, "%d", (int)n);
    const char *wrong = NULL;
    for (int round = 0; round < ROUNDS && !wrong; round++) {
        if (tn_call_add_Tensor(shared, other, tn_scalar_int(1), &sum) == TN_OK)
            wrong = "shapes that do not broadcast were added";
        else if (!strstr(tn_error_last()->message, expected))
            wrong = "the record is another thread's";
    }
    tn_error_clear();
    tn_release(other);
    return wrong;
}

/* Calls that split their work over threads, from threads. */
static const char *large_calls(int thread)
{
    tn_tensor *x = NULL, *sum = NULL;
    const int64_t n = LARGE;
    if (tn_tensor_new(1, &n, TN_F32, (tn_device){TN_CPU, 0}, &x) != TN_OK)
        return tn_error_last()->message;
    float *values = x->data;
    for (int i = 0; i < LARGE; i++)
        values[i] = (float)thread;
    const char *wrong = NULL;
    for (int round = 0; round < 8 && !wrong; round++) {
        if (tn_call_add_Tensor(x, x, tn_scalar_int(1), &sum) != TN_OK)
            wrong = tn_error_last()->message;
        else if (((const float *)sum->data)[LARGE - 1 - round] != (float)(2 * thread))
            wrong = "a sum is wrong";
        tn_release(sum);
        sum = NULL;
    }
    tn_release(x);
    return wrong;
}

/* Looks through every operator and plugin while others take and drop references to a plugin. */
static const char *registry(int thread)
{
    tn_plugin_info info;
    if (!tn_plugin_report(0, &info))
        return "no plugin was tried";
    for (int round = 0; round < 20; round++) {
        tn_plugin_handle *handle = NULL;
        if (thread % 2 && tn_plugin_load(info.path, &handle) != TN_OK)
            return tn_error_last()->message;
        for (size_t i = 0; tn_op_at(i); i++)
            if (!tn_op_schema(tn_op_at(i)))
                return "an operator without a schema";
        if (handle && tn_plugin_unload(handle) != TN_OK)
            return tn_error_last()->message;
    }
    return NULL;
}

typedef struct job {
    test_fn test;
    int thread;
    char wrong[256];
} job;

static void *run_job(void *arg)
{
    job *j = arg;
    pthread_barrier_wait(&barrier);
    const char *wrong = j->test(j->thread);
    snprintf(j->wrong, sizeof j->wrong, "%s", wrong ? wrong : "");
    return NULL;
}

static bool run_test(const char *name, test_fn test, const char *(*after)(void))
{
    pthread_t threads[N_THREADS];
    job jobs[N_THREADS];
    bool ok = true;
    for (int i = 0; i < N_THREADS; i++) {
        jobs[i] = (job){test, i, ""};
        if (pthread_create(&threads[i], NULL, run_job, &jobs[i]) != 0) {
            printf("%s: no thread could be started\n", name);
            return false;
        }
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], NULL);
        if (*jobs[i].wrong)
            printf("%s, thread %d: %s\n", name, i, jobs[i].wrong);
        ok = ok && !*jobs[i].wrong;
    }
    const char *wrong = after ? after() : NULL;
    if (wrong)
        printf("%s, afterwards: %s\n", name, wrong);
    return ok && !wrong;
}

static bool make_shared(void)
{
    const float values[SMALL] = {0, 1, 2, 3, 4, 5, 6, 7};
    const int64_t n = SMALL;
    return tn_tensor_from_data(values, TN_F32, 1, &n, &shared) == TN_OK && autograd_begin();
}

int main(void)
{
    static const struct {
        const char *name;
        test_fn test;
        const char *(*after)(void); /* of all threads: what they did together */
    } tests[] = {{"first_use", first_use, NULL},
                 {"calls", calls, NULL},
                 {"references", references, NULL},
                 {"errors", errors, NULL},
                 {"large_calls", large_calls, NULL},
                 {"registry", registry, NULL},
                 {"parameters", parameters, parameters_after},
                 {"operators", operators, operators_after},
                 {"graph", graph, graph_after}};
    enum { N_TESTS = sizeof tests / sizeof *tests };
    int passed = 0;
    pthread_barrier_init(&barrier, NULL, N_THREADS);
    for (int i = 0; i < N_TESTS; i++) {
        if (i == 1 && !make_shared()) {
            printf("no tensor could be made: %s\n", tn_error_last()->message);
            break;
        }
        passed += run_test(tests[i].name, tests[i].test, tests[i].after);
    }
    autograd_end();
    tn_release(shared);
    pthread_barrier_destroy(&barrier);
    printf("%d passed, %d failed\n", passed, N_TESTS - passed);
    return passed == N_TESTS ? 0 : 1;
}

/* Streams of the cuda plugin, on the CUDA simulator (simulator.c says how). There work on a stream is
 * done as late as it may be, in an order of its own, and a read before its write is reported. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tenon/ops.h>
#include <tenon/runtime.h>
#include <tenon/tensor.h>

#include "cuda_test.h"

enum { N = 1000 };
static const tn_device cuda = {TN_CUDA, 0}, cpu = {TN_CPU, -1};

static tn_tensor *filled(float value)
{
    float values[N];
    const int64_t size = N;
    tn_tensor *host = NULL, *t = NULL;
    for (int i = 0; i < N; i++)
        values[i] = value;
    cr_assert_eq(tn_tensor_from_data(values, TN_F32, 1, &size, &host), TN_OK);
    cr_assert_eq(tn_tensor_new(1, &size, TN_F32, cuda, &t), TN_OK, "%s", tn_error_last()->message);
    tn_release(tn_keep(tn_copy_(t, host)));
    tn_release(host);
    return t;
}

/* On the stream of the scope, which is waited for. */
static void all_are(tn_tensor *t, float value)
{
    tn_tensor *host = NULL;
    cr_assert_not_null(t, "%s", tn_error_last()->message);
    cr_assert_eq(tn_tensor_new(1, t->sizes, TN_F32, cpu, &host), TN_OK);
    tn_release(tn_keep(tn_copy_(host, t)));
    for (int i = 0; i < N; i++)
        cr_assert_eq(((const float *)host->data)[i], value, "element %d", i);
    tn_release(host);
}

static tn_tensor *sum_of(tn_tensor *x, tn_tensor *y)
{
    tn_tensor *z = NULL;
    cr_assert_eq(tn_call_add_Tensor(x, y, TN_NUM(1), &z), TN_OK, "%s", tn_error_last()->message);
    return z;
}

static void in_order(tn_stream *a, tn_stream *b)
{
    tn_tensor *x = filled(1), *y = NULL, *z = NULL, *w = NULL;
    bool busy = true;
    cr_assert_eq(tn_stream_wait(a, NULL), TN_OK,
                 "what came from the host is on the device's own queue");
    TN_ON_STREAM (a) {
        y = sum_of(x, x);
        all_are(y, 2);
        tn_release(y);
        y = sum_of(x, x);
    }
    cr_assert_eq(tn_stream_wait(b, a), TN_OK, "%s", tn_error_last()->message);
    TN_ON_STREAM (b)
        z = sum_of(y, y);
    cr_assert_eq(tn_stream_wait(NULL, b), TN_OK);
    w = sum_of(z, z);
    all_are(w, 8);
    cr_assert_eq(tn_stream_synchronize(b), TN_OK);
    cr_assert_eq(tn_stream_query(b, &busy), TN_OK);
    cr_assert(!busy);
    cr_assert_eq(tn_device_synchronize(cuda), TN_OK, "%s", tn_error_last()->message);
    tn_release(x);
    tn_release(y);
    tn_release(z);
    tn_release(w);
}

/* What a made is let go of while b has still to read it; a then writes what it is given. */
static void memory_in_use(tn_stream *a, tn_stream *b)
{
    tn_tensor *one = filled(1), *x = NULL, *z = NULL, *other = NULL;
    cr_assert_eq(tn_stream_wait(a, NULL), TN_OK);
    for (int round = 0; round < 20; round++) {
        TN_ON_STREAM (a)
            x = sum_of(one, one);
        cr_assert_eq(tn_stream_wait(b, a), TN_OK);
        TN_ON_STREAM (b)
            z = sum_of(x, x);
        tn_release(x);
        TN_ON_STREAM (a) {
            other = sum_of(one, one);
            const void *was = other->data;
            tn_release(other);
            other = sum_of(one, one);
            cr_assert_eq(other->data, was, "memory of one stream alone is ready at once");
            tn_release(other);
        }
        TN_ON_STREAM (b)
            all_are(z, 4);
        tn_release(z);
    }
    tn_release(one);
}

static void a_stream_that_goes(void)
{
    tn_stream *s = NULL;
    tn_tensor *x = NULL, *y = NULL, *one = filled(1);
    for (int round = 0; round < 4; round++) {
        cr_assert_eq(tn_stream_new(cuda, &s), TN_OK, "%s", tn_error_last()->message);
        cr_assert_eq(tn_stream_wait(s, NULL), TN_OK);
        TN_ON_STREAM (s) {
            x = sum_of(one, one);
            y = sum_of(x, one);
        }
        tn_release(x);
        tn_stream_free(s);
        cr_assert_eq(tn_device_synchronize(cuda), TN_OK);
        all_are(y, 3);
        tn_release(y);
    }
    tn_release(one);
}

Test(cuda_streams, child, .timeout = 300)
{
    tn_stream *a = NULL, *b = NULL;
    if (!getenv("TENON_CUDASIM_CHILD"))
        return;
    cr_assert(cuda_test_load());
    cr_assert_eq(tn_stream_new(cuda, &a), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(tn_stream_new(cuda, &b), TN_OK, "%s", tn_error_last()->message);
    cr_assert_neq(tn_stream_native(a), tn_stream_native(b));
    in_order(a, b);
    memory_in_use(a, b);
    tn_stream_free(a);
    tn_stream_free(b);
    a_stream_that_goes();
}

Test(cuda_streams, on_the_simulator, .timeout = 600)
{
    if (getenv("TENON_CUDASIM_CHILD") || !cuda_test_load())
        return;
    if (!cuda_test_is_plain()) {
        fprintf(stderr, "skipped: the simulator needs -DTENON_CUDA_PLAIN=ON\n");
        return;
    }
    const char *directory = cuda_test_simulator();
    if (!directory)
        return;
    char command[8192], self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    cr_assert(n > 0);
    self[n] = '\0';
    snprintf(command, sizeof command,
             "env -u BXFI_MAP TENON_CUDASIM_CHILD=1 CUDASIM_STREAMS=lazy "
             "OPENBLAS_NUM_THREADS=1 LD_LIBRARY_PATH='%s':$LD_LIBRARY_PATH '%s' "
             "--filter cuda_streams/child >&2",
             directory, self);
    cr_assert_eq(system(command), 0);
}

/* test_streams.c - work on two streams of a device: beside each other, in order where one waits for
 * the other, and memory that is let go of while a stream still needs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/autograd.h>
#include <tenon/ops.h>
#include <tenon/runtime.h>
#include <tenon/tensor.h>

enum { SIDE = 160, ROUNDS = 8 }; /* of products that take a while */

static int failures;
static tn_device sim;

static void check(int ok, const char *what)
{
    printf("%s %s\n", ok ? "ok  " : "FAIL", what);
    if (!ok)
        printf("     %s\n", tn_error_last()->message);
    failures += !ok;
    tn_error_clear();
}

static int is(tn_status status)
{
    return status == TN_OK;
}

/* A row of n equal numbers; copying from the host waits. */
static tn_tensor *filled(int64_t rows, int64_t cols, float value)
{
    const int64_t sizes[] = {rows, cols};
    tn_tensor *host = NULL, *t = NULL;
    if (!is(tn_tensor_new(2, sizes, TN_F32, (tn_device){TN_CPU, 0}, &host)))
        return NULL;
    for (int64_t i = 0; i < host->numel; i++)
        ((float *)host->data)[i] = value;
    if (is(tn_tensor_new(2, sizes, TN_F32, sim, &t)))
        tn_release(tn_keep(tn_copy_(t, host)));
    tn_release(host);
    return t;
}

/* What every element is; the copy waits for the queue that the calls go to here. */
static int all(tn_tensor *t, float value)
{
    tn_tensor *host = NULL;
    if (!t || !is(tn_tensor_new(t->ndim, t->sizes, TN_F32, (tn_device){TN_CPU, 0}, &host)))
        return 0;
    tn_release(tn_keep(tn_copy_(host, t)));
    int same = 1;
    for (int64_t i = 0; i < host->numel; i++)
        same = same && ((const float *)host->data)[i] == value;
    tn_release(host);
    return same;
}

static tn_status plus(tn_tensor *x, tn_tensor *y, tn_tensor **out)
{
    return tn_call_add_Tensor(x, y, TN_NUM(1), out);
}

static tn_status times(tn_tensor *x, tn_tensor *y, tn_tensor **out)
{
    return tn_call_mul_Tensor(x, y, out);
}

static int busy(tn_stream *s)
{
    bool answer = false;
    return is(tn_stream_query(s, &answer)) && answer;
}

/* Work that takes some tenths of a second: ends in `one` all over, times SIDE. */
static tn_tensor *slow(tn_tensor *one)
{
    tn_tensor *t = NULL;
    for (int i = 0; i < ROUNDS; i++) {
        tn_release(t);
        if (!is(tn_call_mm(one, one, &t)))
            return NULL;
    }
    return t;
}

static void beside_each_other(tn_stream *a, tn_stream *b, tn_tensor *one)
{
    tn_tensor *y = NULL, *z = NULL;
    TN_ON_STREAM (a)
        y = slow(one);
    check(busy(a), "a call returns before its work is done");
    TN_ON_STREAM (b) {
        is(times(one, one, &z));
        check(all(z, 1) && busy(a), "another stream does not wait for it");
    }
    check(is(tn_stream_synchronize(a)) && !busy(a), "the program does, when it asks");
    TN_ON_STREAM (a)
        check(all(y, SIDE), "and finds what it is waiting for");
    tn_release(y);
    tn_release(z);
}

static void one_after_the_other(tn_stream *a, tn_stream *b, tn_tensor *one)
{
    tn_tensor *y = NULL, *z = NULL, *sum = NULL;
    TN_ON_STREAM (a)
        y = slow(one);
    check(is(tn_stream_wait(b, a)) && busy(a), "one stream is told to wait for another; we do not");
    TN_ON_STREAM (b) {
        is(plus(y, y, &z));
        check(all(z, 2 * SIDE), "what it is given then comes after");
    }
    TN_ON_STREAM (a)
        tn_release(slow(one));
    check(is(tn_stream_wait(NULL, a)) && is(plus(y, y, &sum)) && all(sum, 2 * SIDE) && !busy(a),
          "the device's own queue waits in the same way");
    check(is(tn_stream_wait(a, NULL)) && is(tn_stream_synchronize(a)), "and is waited for");
    check(tn_stream_wait(NULL, NULL) == TN_ERR_ARGUMENT, "somebody has to wait");
    tn_release(y);
    tn_release(z);
    tn_release(sum);
}

/* x is made on a, used on b behind slow work, and released; a then asks for memory of that size. */
static void memory_in_use(tn_stream *a, tn_stream *b, tn_tensor *one)
{
    tn_tensor *x = NULL, *z = NULL, *other[4] = {NULL};
    const void *was = NULL;
    TN_ON_STREAM (a)
        is(times(one, one, &x));
    is(tn_stream_wait(b, a));
    TN_ON_STREAM (b) {
        tn_release(slow(one));
        is(plus(x, x, &z));
    }
    was = x->data;
    tn_release(x);
    int reused = 0;
    TN_ON_STREAM (a) {
        for (int i = 0; i < 4; i++) {
            is(plus(one, one, &other[i]));
            reused |= other[i]->data == was;
        }
        is(tn_stream_synchronize(a));
    }
    check(busy(b) && !reused, "memory that another stream will read is not given out again");
    TN_ON_STREAM (b)
        check(all(z, 2), "and that one reads what it was");
    tn_release(z);
    TN_ON_STREAM (a) {
        was = other[3]->data;
        tn_release(other[3]);
        is(times(one, one, &other[3]));
        check(other[3]->data == was, "memory of one stream alone is, at once");
    }
    for (int i = 0; i < 4; i++)
        tn_release(other[i]);
}

static void scopes(tn_stream *a, tn_tensor *one)
{
    tn_tensor *y = NULL, *z = NULL;
    TN_ON_STREAM (a) {
        y = slow(one);
        tn_stream_scope own;
        tn_stream_enter_default(&own, sim);
        is(times(one, one, &z));
        check(all(z, 1) && busy(a), "a scope inside a scope goes back to the device's own queue");
        tn_stream_leave(&own);
        check(all(y, SIDE) && !busy(a), "and ends there");
    }
    tn_release(y);
    tn_release(z);
}

static void gradients(tn_stream *a, tn_tensor *one)
{
    check(is(tn_set_requires_grad(one, true)), "a gradient is asked for");
    TN_ON_STREAM (a) {
        TN_SCOPE {
            tn_tensor *y = tn_sum(tn_mul(one, one));
            check(is(tn_backward_from(y)) && all(tn_grad(one), 2),
                  "backward goes where its caller is");
        }
    }
    tn_set_requires_grad(one, false);
    tn_set_grad(one, NULL);
}

static void refusals(void)
{
    tn_stream *s = (tn_stream *)&sim;
    check(tn_stream_new((tn_device){TN_CPU, 0}, &s) == TN_ERR_UNSUPPORTED && !s &&
              strstr(tn_error_last()->message, "cpu has no streams"),
          "the cpu has no streams");
    check(tn_stream_new((tn_device){sim.type, 7}, &s) == TN_ERR_DEVICE && !s, "nor has sim:7");
}

/* A stream that the program has freed lives on with the memory that was made for it. */
static void lives(tn_plugin_handle *plugin)
{
    tn_stream *s = NULL;
    tn_tensor *t = NULL;
    check(is(tn_stream_new(sim, &s)), "one more stream");
    check(tn_plugin_unload(plugin) != TN_OK &&
              strstr(tn_error_last()->message, "1 stream of its device type 'sim' is still alive"),
          "a stream holds the plugin");
    TN_ON_STREAM (s)
        t = filled(1, 100, 1);
    tn_stream_free(s);
    check(tn_plugin_unload(plugin) != TN_OK, "and so does its memory");
    tn_release(t);
}

int main(int argc, char **argv)
{
    tn_plugin_handle *plugin = NULL;
    tn_stream *a = NULL, *b = NULL;
    check(is(tn_plugins_load_default()), "Tenon's own plugins");
    check(argc == 2 && is(tn_plugin_load(argv[1], &plugin)), "the plugin");
    check(is(tn_device_parse("sim:1", &sim)), "the device has a name");
    check(is(tn_stream_new(sim, &a)) && is(tn_stream_new(sim, &b)), "two streams of it");
    tn_tensor *one = filled(SIDE, SIDE, 1);
    if (!failures) {
        beside_each_other(a, b, one);
        one_after_the_other(a, b, one);
        memory_in_use(a, b, one);
        scopes(a, one);
        if (getenv("TENON_SIM_FALLBACK")) /* the first gradient is a fill_ */
            gradients(a, one);
        refusals();
    }
    tn_release(one);
    tn_stream_free(a);
    tn_stream_free(b);
    lives(plugin);
    check(is(tn_plugin_unload(plugin)), "then it goes");
    return failures ? 1 : 0;
}

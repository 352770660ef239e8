/* Streams: which one a call on a device comes with, what its memory is told of them, and what a device
 * type may get wrong about them. The device is one of the test's own, whose streams are numbers and
 * whose memory is the host's. */
#include "registry_test.h"

#include <stdlib.h>
#include <tenon/runtime.h>

#include "core/base/streams.h"

/* ---- a device type that writes down what it is asked ------------------------------------------ */
typedef struct seen {
    void *stream;
    int index, shared;
} seen;

static tn__plugin plugin;
static int16_t type;
static int made, freed; /* streams */
static seen last_alloc, last_free, last_call;
static int calls;
static uintptr_t waits[4]; /* index, stream, index, stream */
static tn_status answer;   /* of the next function; TN_OK: as it should be */
static bool gives_nothing;

static tn_status alloc_on(tn_device device, void *stream, size_t bytes, void **out)
{
    last_alloc = (seen){stream, device.index, 0};
    if (answer != TN_OK || gives_nothing)
        return answer;
    *out = malloc(bytes);
    return *out ? TN_OK : TN_ERR_MEMORY;
}

static tn_status alloc(tn_device device, size_t bytes, void **out)
{
    return alloc_on(device, NULL, bytes, out);
}

static void free_on(tn_device device, void *stream, int32_t shared, void *data, size_t bytes)
{
    (void)bytes;
    last_free = (seen){stream, device.index, shared};
    free(data);
}

static void release(tn_device device, void *data, size_t bytes)
{
    free_on(device, NULL, 1, data, bytes);
}

static tn_status stream_new(tn_device device, void **out)
{
    if (answer != TN_OK || gives_nothing)
        return answer;
    *out = (void *)(uintptr_t)(100 * (device.index + 1) + ++made);
    return TN_OK;
}

static void stream_free(tn_device device, void *stream)
{
    (void)device, (void)stream;
    freed++;
}

static tn_status stream_synchronize(tn_device device, void *stream)
{
    (void)device, (void)stream;
    return answer;
}

static tn_status stream_wait(tn_device device, void *stream, tn_device of, void *other)
{
    waits[0] = (uintptr_t)device.index;
    waits[1] = (uintptr_t)stream;
    waits[2] = (uintptr_t)of.index;
    waits[3] = (uintptr_t)other;
    return answer;
}

static tn_status stream_query(tn_device device, void *stream, int32_t *busy)
{
    (void)device;
    *busy = (uintptr_t)stream == 101;
    return answer;
}

static const tn_device_decl decl = {.name = "strdev",
                                    .key = "STRDEV",
                                    .alloc = alloc,
                                    .stream_new = stream_new,
                                    .stream_free = stream_free,
                                    .stream_synchronize = stream_synchronize,
                                    .stream_wait = stream_wait,
                                    .stream_query = stream_query,
                                    .alloc_on = alloc_on,
                                    .free_on = free_on};

static tn_status note_call(tn_call *call, void *frame)
{
    (void)frame;
    last_call.stream = call->stream;
    calls++;
    return TN_OK;
}

/* Passes on what comes to a functionality. */
static tn_status pass_on(tn_call *call, void *frame)
{
    return tn__api.call_next(call, frame);
}

struct two_args {
    tn_frame frame;
    tn_tensor *x, *y;
};
struct list_args {
    tn_frame frame;
    tn_tensors xs;
};
struct make_args {
    tn_frame frame;
    tn_device device;
    int32_t padding;
};

static const tn_op_decl ops[] = {{.schema = "st::two(Tensor x, Tensor? y) -> ()"},
                                 {.schema = "st::list(Tensor[] xs) -> ()"},
                                 {.schema = "st::make(*, Device? device=None) -> ()"},
                                 {.schema = "st::composite(Tensor x, Tensor? y) -> ()"},
                                 {.schema = "st::other(Tensor x, Tensor? y) -> ()"}};

static void begin(void)
{
    static const tn_kernel_decl kernels[] = {
        {.schema = "st::two(Tensor x, Tensor? y) -> ()", .key = "STRDEV", .fn = note_call},
        {.schema = "st::two(Tensor x, Tensor? y) -> ()", .key = "CPU", .fn = note_call},
        {.schema = "st::two(Tensor x, Tensor? y) -> ()", .key = "Tracer", .fn = pass_on},
        {.schema = "st::list(Tensor[] xs) -> ()", .key = "STRDEV", .fn = note_call},
        {.schema = "st::make(*, Device? device=None) -> ()", .key = "STRDEV", .fn = note_call},
        {.schema = "st::composite(Tensor x, Tensor? y) -> ()",
         .key = "CompositeImplicitAutograd",
         .fn = note_call},
        {.schema = "*", .key = "STRDEV", .fn = note_call}};
    tn_registry r;
    plugin = test_plugin("streams 1 (/streams.so)");
    tn__runtime_init();
    tn__registry_begin(&r, &plugin);
    cr_assert_eq(tn__registry_device(&r, &decl, &type), TN_OK, "%s", tn_error_last()->message);
    tn__registry_ops(&r, ops, sizeof ops / sizeof *ops);
    tn__registry_kernels(&r, kernels, sizeof kernels / sizeof *kernels);
    cr_assert_eq(tn__registry_commit(&r), TN_OK, "%s", tn_error_last()->message);
}

TestSuite(streams, .init = begin, .timeout = 60);

static tn_device at(int index)
{
    return (tn_device){type, (int16_t)index};
}

static tn_stream *stream_on(int index)
{
    tn_stream *s = NULL;
    cr_assert_eq(tn_stream_new(at(index), &s), TN_OK, "%s", tn_error_last()->message);
    return s;
}

/* The stream with which the kernel was called. */
static void *called(const char *name, tn_tensor *x, tn_tensor *y)
{
    struct two_args a = {.frame = {sizeof a, 0}, .x = x, .y = y};
    int before = calls;
    last_call.stream = (void *)-1;
    cr_assert_eq(tn_op_call(tn_op_find(name), &a), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(calls, before + 1);
    return last_call.stream;
}

/* ---- calls ------------------------------------------------------------------------------------ */
Test(streams, a_call_goes_to_the_stream_of_its_device)
{
    tn_tensor *x = test_tensor(at(0)), *other = test_tensor(at(1)),
              *host = test_tensor((tn_device){0, 0});
    cr_assert_null(called("st::two", x, NULL), "without a stream anywhere");
    tn_stream *s = stream_on(0), *t = stream_on(0);
    cr_assert_null(called("st::two", x, NULL), "outside every scope");
    TN_ON_STREAM (s) {
        cr_assert_eq(called("st::two", x, NULL), tn_stream_native(s));
        cr_assert_null(called("st::two", other, NULL), "another device's call");
        cr_assert_null(called("st::two", host, NULL), "the host's");
        cr_assert_eq(called("st::two", x, host), tn_stream_native(s));
        cr_assert_eq(called("st::two", x, other), tn_stream_native(s), "the first tensor decides");
        cr_assert_null(called("st::two", other, x));
        TN_ON_STREAM (t)
            cr_assert_eq(called("st::two", x, NULL), tn_stream_native(t), "the innermost scope");
        tn_stream_scope own;
        tn_stream_enter_default(&own, at(-1));
        cr_assert_null(called("st::two", x, NULL), "back to the device's own queue");
        tn_stream_leave(&own);
        cr_assert_eq(called("st::two", x, NULL), tn_stream_native(s));
        cr_assert_null(called("st::composite", x, NULL), "a composite kernel is no device's");
        cr_assert_eq(called("st::other", x, NULL), tn_stream_native(s), "a fallback");
    }
    cr_assert_null(called("st::two", x, NULL));
    tn_stream_free(s);
    tn_stream_free(t);
    tn_release(x);
    tn_release(other);
    tn_release(host);
}

Test(streams, layers_lists_and_devices_of_an_argument)
{
    tn_tensor *x = test_tensor(at(1));
    tn_tensor *xs[] = {x, x};
    struct list_args list = {.frame = {sizeof list, 0}, .xs = {xs, 2}};
    struct make_args make = {.frame = {sizeof make, 0}, .device = at(1)};
    tn_stream *s = stream_on(1);
    TN_ON_STREAM (s) {
        cr_assert(tn_key_include("Tracer", true));
        cr_assert_eq(called("st::two", x, NULL), tn_stream_native(s), "below another layer");
        tn_key_include("Tracer", false);
        cr_assert_eq(tn_op_call(tn_op_find("st::list"), &list), TN_OK);
        cr_assert_eq(last_call.stream, tn_stream_native(s));
        cr_assert_eq(tn_op_call(tn_op_find("st::make"), &make), TN_OK, "%s",
                     tn_error_last()->message);
        cr_assert_eq(last_call.stream, tn_stream_native(s));
        make.device = at(0);
        cr_assert_eq(tn_op_call(tn_op_find("st::make"), &make), TN_OK, "%s",
                     tn_error_last()->message);
        cr_assert_null(last_call.stream);
    }
    tn_stream_free(s);
    tn_release(x);
}

/* ---- memory ----------------------------------------------------------------------------------- */
Test(streams, memory_knows_its_stream_and_whether_another_one_took_it)
{
    tn_stream *s = stream_on(0), *t = stream_on(0);
    tn_tensor *x = NULL, *view = NULL;
    void *native = tn_stream_native(s);
    TN_ON_STREAM (s)
        x = test_tensor(at(0));
    cr_assert_eq(last_alloc.stream, native);
    TN_ON_STREAM (s)
        called("st::two", x, NULL);
    tn_release(x);
    cr_assert_eq(last_free.stream, native);
    cr_assert_eq(last_free.shared, 0, "no other stream has taken it");
    TN_ON_STREAM (s)
        x = test_tensor(at(0));
    cr_assert_eq(tn_tensor_view(x, 0, NULL, NULL, 0, &view), TN_OK);
    tn_release(x);
    TN_ON_STREAM (t)
        called("st::two", view, NULL);
    tn_release(view);
    cr_assert_eq(last_free.stream, native);
    cr_assert_eq(last_free.shared, 1, "through a view, on t");
    x = test_tensor(at(0));
    TN_ON_STREAM (t)
        called("st::two", x, NULL);
    tn_release(x);
    cr_assert(!last_free.stream && last_free.shared, "of the device's own queue");
    TN_ON_STREAM (s)
        x = test_tensor(at(0));
    called("st::two", x, NULL);
    tn_release(x);
    cr_assert(last_free.stream == native && last_free.shared, "by the device's own queue");
    tn_stream_free(s);
    tn_stream_free(t);
}

Test(streams, memory_keeps_the_stream_that_it_was_made_for)
{
    tn_stream *s = stream_on(0);
    tn_tensor *x = NULL;
    char why[160];
    TN_ON_STREAM (s)
        x = test_tensor(at(0));
    tn_stream_free(s);
    cr_assert_eq(freed, 0);
    cr_assert(tn__device_held(&plugin, why, sizeof why));
    tn_release(x);
    cr_assert_eq(freed, 1);
    cr_assert(!tn__device_held(&plugin, why, sizeof why));
    s = stream_on(0);
    tn_stream_scope scope;
    tn_stream_enter(&scope, s);
    tn_stream_free(s);
    cr_assert_eq(freed, 1, "a scope holds it, too");
    tn_stream_leave(&scope);
    cr_assert_eq(freed, 2);
    tn_stream_free(NULL);
}

Test(streams, scopes_may_be_left_out_of_order)
{
    tn_stream *s = stream_on(0), *t = stream_on(0);
    tn_stream_scope one, two;
    tn_stream_enter(&one, s);
    tn_stream_enter(&two, t);
    tn_stream_leave(&one);
    cr_assert_eq(tn__stream_of_thread(at(0)), t);
    tn_stream_leave(&one);
    tn_stream_leave(&two);
    cr_assert_null(tn__stream_of_thread(at(0)));
    tn_stream_free(s);
    tn_stream_free(t);
    cr_assert_eq(freed, 2);
}

/* ---- order ------------------------------------------------------------------------------------ */
Test(streams, who_waits_for_whom)
{
    tn_stream *s = stream_on(0), *t = stream_on(1);
    bool busy = false;
    cr_assert_eq(tn_stream_wait(s, t), TN_OK);
    cr_assert(waits[0] == 0 && waits[1] == (uintptr_t)tn_stream_native(s) && waits[2] == 1 &&
              waits[3] == (uintptr_t)tn_stream_native(t));
    cr_assert_eq(tn_stream_wait(NULL, t), TN_OK);
    cr_assert(waits[0] == 1 && waits[1] == 0 && waits[2] == 1 &&
              waits[3] == (uintptr_t)tn_stream_native(t));
    cr_assert_eq(tn_stream_wait(t, NULL), TN_OK);
    cr_assert(waits[0] == 1 && waits[3] == 0);
    cr_assert_eq(tn_stream_wait(NULL, NULL), TN_ERR_ARGUMENT);
    HAS("got NULL twice");
    cr_assert_eq(tn_stream_query(s, &busy), TN_OK);
    cr_assert(busy);
    cr_assert_eq(tn_stream_query(t, &busy), TN_OK);
    cr_assert(!busy);
    cr_assert_eq(tn_stream_synchronize(s), TN_OK);
    cr_assert_eq(tn_stream_device(t).index, 1);
    tn_stream_free(s);
    tn_stream_free(t);
}

/* ---- what goes wrong -------------------------------------------------------------------------- */
Test(streams, what_has_no_streams_says_so)
{
    tn_stream *s = (tn_stream *)&plugin;
    cr_assert_eq(tn_stream_new((tn_device){TN_CPU, 0}, &s), TN_ERR_UNSUPPORTED);
    HAS("cpu has no streams");
    cr_assert_null(s);
    cr_assert_eq(tn_stream_new((tn_device){TN_META, 0}, &s), TN_ERR_UNSUPPORTED);
    HAS("meta has no streams");
    cr_assert_eq(tn_stream_new((tn_device){TN_CUDA, 0}, &s), TN_ERR_DEVICE);
    HAS("there is no cuda device");
    cr_assert_eq(tn_stream_new((tn_device){7, 0}, &s), TN_ERR_DEVICE);
    cr_assert_eq(tn_stream_new((tn_device){-1, -1}, &s), TN_ERR_DEVICE);
    cr_assert_eq(tn_device_synchronize((tn_device){TN_CPU, 0}), TN_OK);
    cr_assert_eq(tn_device_synchronize((tn_device){TN_CUDA, 0}), TN_ERR_DEVICE);
    cr_assert_eq(tn_device_synchronize(at(0)), TN_ERR_UNSUPPORTED);
    HAS("'strdev' cannot be waited for");
}

Test(streams, what_a_device_type_may_answer)
{
    tn_stream *s = NULL;
    tn_tensor *x = NULL;
    answer = 12345;
    cr_assert_eq(tn_stream_new(at(0), &s), TN_ERR_PLUGIN);
    HAS("stream_new of the device type 'strdev' returned 12345, which is no status");
    cr_assert_eq(tn_tensor_new(0, NULL, TN_F32, at(0), &x), TN_ERR_PLUGIN);
    HAS("alloc of the device type 'strdev' returned 12345");
    answer = TN_ERR_DEVICE;
    cr_assert_eq(tn_stream_new(at(0), &s), TN_ERR_DEVICE);
    answer = TN_OK;
    gives_nothing = true;
    cr_assert_eq(tn_stream_new(at(0), &s), TN_ERR_PLUGIN);
    HAS("was asked for a stream, and gave none");
    cr_assert_eq(tn_tensor_new(0, NULL, TN_F32, at(0), &x), TN_ERR_PLUGIN);
    HAS("was asked for 4 bytes, and gave none");
    cr_assert(!s && !x && freed == 0);
    gives_nothing = false;
    s = stream_on(0);
    answer = -7;
    bool busy = true;
    cr_assert_eq(tn_stream_synchronize(s), TN_ERR_PLUGIN);
    cr_assert_eq(tn_stream_wait(s, NULL), TN_ERR_PLUGIN);
    cr_assert_eq(tn_stream_query(s, &busy), TN_ERR_PLUGIN);
    cr_assert(!busy);
    tn_stream_free(s);
    char why[160];
    cr_assert(!tn__device_held(&plugin, why, sizeof why), "%s", why);
}

Test(streams, memory_runs_out)
{
    tn__memory_stats before, after;
    tn_stream *s = stream_on(0);
    tn_stream_free(s);
    tn__memory_get(&before);
    tn__alloc_fail_at(1);
    cr_assert_eq(tn_stream_new(at(0), &s), TN_ERR_MEMORY);
    tn__alloc_fail_at(0);
    tn__memory_get(&after);
    cr_assert_eq(before.live_allocations, after.live_allocations);
    cr_assert_eq(made, freed);
}

Test(streams, a_declaration_is_whole)
{
    static const struct {
        tn_device_decl decl;
        const char *words;
    } rows[] = {
        {{.name = "x", .key = "X", .alloc = alloc, .free = release, .stream_new = stream_new},
         "give all four, or none"},
        {{.name = "x", .key = "X", .alloc = alloc, .free = release, .alloc_on = alloc_on},
         "give both, or none"},
        {{.name = "x", .key = "X", .alloc = alloc, .free = release, .flags = 0x100},
         "flags that mean nothing: 0x100"},
        {{.name = "x", .key = "X", .alloc = alloc}, "'x' has no function that frees"},
        {{.name = "a b", .key = "X", .alloc = alloc}, "'a b': its name"},
        {{.name = "../x", .key = "X", .alloc = alloc}, "letters, digits"},
        {{.name = "a_name_that_is_far_too_long", .key = "X", .alloc = alloc}, "1 to 23"},
        {{.name = "x", .key = "X"}, "'x' has no function that allocates"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tn_registry r;
        int16_t t = -1;
        tn__registry_begin(&r, &plugin);
        cr_assert_eq(tn__registry_device(&r, &rows[i].decl, &t), TN_ERR_PLUGIN, "row %zu", i);
        HAS(rows[i].words);
        tn__registry_rollback(&r);
    }
}

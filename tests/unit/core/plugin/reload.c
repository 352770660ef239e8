/* Reload: a new build takes over while calls are made, and one that does not load changes nothing. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/tensor.h>

#include "plugin_test.h"

TestSuite(reload, .init = plugin_test_begin, .fini = plugin_test_end, .timeout = 120);

/* Puts another build of a source in the place of the file at `path`. */
static void rebuild(const char *path, const char *source, const char *flags)
{
    static int n;
    char name[32];
    snprintf(name, sizeof name, "next%d", n++);
    plugin_shell("mv '%s' '%s'", plugin_build(name, source, flags), path);
}

static float scaled(const tn_op *op, double s)
{
    float y = 0;
    cr_assert_eq(plugin_scale_op(op, 1, s, &y), TN_OK, "%s", tn_error_last()->message);
    return y;
}

Test(reload, the_new_build_serves)
{
    const char *path = plugin_build("scale", "scale.c", "");
    tn_plugin_handle *handle = plugin_loaded(path);
    const tn_op *op = tn_op_find("plgtest::scale");
    for (int generation = 2; generation < 6; generation++) {
        char flags[32], text[32];
        snprintf(flags, sizeof flags, "-DFACTOR=%d", generation);
        snprintf(text, sizeof text, "generation %d", generation);
        rebuild(path, "scale.c", flags);
        cr_assert_eq(scaled(op, 1), generation == 2 ? 1 : generation - 1);
        cr_assert_eq(tn_plugin_reload(handle), TN_OK, "%s", tn_error_last()->message);
        cr_assert_eq(scaled(op, 1), generation);
        cr_assert_eq(tn_op_find("plgtest::scale"), op);
        plugin_loaded(path); /* one reference more, of the newest */
        cr_assert_eq(tn_plugin_unload(handle), TN_OK);
    }
    cr_assert_null(getenv("TENON_TEST_EXITS"), "an exit ran under the calls of its generation");
    cr_assert_eq(tn_plugin_unload(handle), TN_OK);
    cr_assert_str_eq(getenv("TENON_TEST_EXITS"), "1");
    float y;
    cr_assert_eq(plugin_scale_op(op, 1, 1, &y), TN_ERR_NO_KERNEL);
    cr_assert_eq(tn_plugin_unload(handle), TN_ERR_ARGUMENT);
}

Test(reload, the_report_names_the_generations)
{
    const char *path = plugin_build("scale", "scale.c", "");
    tn_plugin_handle *handle = plugin_loaded(path);
    tn_plugin_info old, now;
    rebuild(path, "scale.c", "-DFACTOR=2");
    cr_assert_eq(tn_plugin_reload(handle), TN_OK);
    cr_assert(tn_plugin_report(0, &old) && tn_plugin_report(1, &now));
    cr_assert_str_eq(old.state, "unloaded");
    cr_assert_str_eq(old.reason, "generation 2 of it took over");
    cr_assert_str_eq(now.state, "loaded");
    cr_assert_str_eq(now.path, old.path);
    float y;
    const tn_op *op = tn_op_find("plgtest::scale");
    tn_plugin_unload(handle);
    cr_assert_neq(plugin_scale_op(op, 1, 1, &y), TN_OK);
}

Test(reload, a_file_that_is_as_it_was)
{
    const char *path = plugin_build("scale", "scale.c", "");
    tn_plugin_handle *handle = plugin_loaded(path);
    cr_assert_eq(tn_plugin_reload(handle), TN_OK);
    tn_plugin_info info;
    cr_assert(!tn_plugin_report(1, &info), "a generation of nothing new");
    cr_assert_eq(tn_plugin_reload(NULL), TN_ERR_ARGUMENT);
}

/* What does not load leaves the old one in its place, whole. */
static void stays(tn_plugin_handle *handle, const char *words)
{
    float y = 0;
    cr_assert_eq(tn_plugin_reload(handle), TN_ERR_PLUGIN);
    const char *message = tn_error_last()->message;
    cr_assert(strstr(message, words) && strstr(message, "whose old code serves on"), "%s", message);
    cr_assert_eq(plugin_scale("plgtest", 2, 3, &y), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(y, 6);
}

Test(reload, a_new_build_that_does_not_load)
{
    const char *path = plugin_build("scale", "scale.c", "");
    tn_plugin_handle *handle = plugin_loaded(path);
    rebuild(path, "init.c", "-DFAIL_AT=2 -DNAME='\"scale\"'");
    stays(handle, "the file now holds the plugin 'init', and not 'scale'");
    rebuild(path, "broken.c", "-DFINGERPRINT");
    stays(handle, "fingerprint");
    plugin_shell("printf garbage >'%s.x' && mv '%s.x' '%s'", path, path, path);
    stays(handle, "not an ELF file");
    rebuild(path, "scale.c", "'-DSCHEMA=\"plgtest::scale(Tensr x, float s) -> Tensor\"'");
    stays(handle, "Tensr");
    plugin_shell("rm '%s'", path);
    stays(handle, "cannot be opened");
    rebuild(path, "scale.c", "-DFACTOR=3");
    cr_assert_eq(tn_plugin_reload(handle), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(scaled(tn_op_find("plgtest::scale"), 1), 3);
}

Test(reload, a_schema_that_changed)
{
    const char *path = plugin_build("scale", "scale.c", "");
    tn_plugin_handle *handle = plugin_loaded(path);
    const tn_op *old = tn_op_find("plgtest::scale");
    float y;
    rebuild(path, "scale.c", "'-DSCHEMA=\"plgtest::scale(Tensor x, float s=2.0) -> Tensor\"'");
    cr_assert_eq(tn_plugin_reload(handle), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(plugin_scale_op(old, 1, 1, &y), TN_ERR_NO_KERNEL, "a handle of the old schema");
    cr_assert(strstr(tn_error_last()->message, "unloaded"), "%s", tn_error_last()->message);
    cr_assert_eq(scaled(tn_op_find("plgtest::scale"), 2), 2);
}

Test(reload, another_ones_kernel_of_higher_rank_stays)
{
    const char *path = plugin_build("scale", "scale.c", "");
    tn_plugin_handle *handle = plugin_loaded(path);
    tn_plugin_handle *other =
        plugin_loaded(plugin_build("other", "kernel.c", "-DNAME='\"other\"' -DFACTOR=7 -DRANK=1"));
    rebuild(path, "scale.c", "-DFACTOR=3");
    cr_assert_eq(tn_plugin_reload(handle), TN_OK);
    cr_assert_eq(scaled(tn_op_find("plgtest::scale"), 1), 7);
    cr_assert_eq(tn_plugin_unload(other), TN_OK);
    cr_assert_eq(scaled(tn_op_find("plgtest::scale"), 1), 3);
}

/* ---- a device type ---------------------------------------------------------------------------- */
static tn_device plgdev(void)
{
    tn_device d;
    cr_assert_eq(tn_device_parse("plgdev:0", &d), TN_OK);
    return d;
}

static tn_tensor *on_plgdev(void)
{
    tn_tensor *t = NULL;
    cr_assert_eq(tn_tensor_new(1, (int64_t[]){8}, TN_F32, plgdev(), &t), TN_OK, "%s",
                 tn_error_last()->message);
    return t;
}

/* Which build's kernel a tensor's call finds. */
static int64_t build_of(tn_tensor *x)
{
    struct {
        tn_frame frame;
        int64_t result;
        tn_tensor *x;
    } a = {.frame = {sizeof a, 0}, .x = x};
    cr_assert_eq(tn_op_call(tn_op_find("plgdevice::which"), &a), TN_OK, "%s",
                 tn_error_last()->message);
    return a.result;
}

static const char *told(const char *name)
{
    return getenv(name) ? getenv(name) : "";
}

static tn_plugin_handle *device_begin(const char **path, const char *flags)
{
    static int n;
    char name[32];
    snprintf(name, sizeof name, "device%d", n++);
    unsetenv("TENON_TEST_FREED");
    unsetenv("TENON_TEST_WAITED");
    *path = plugin_build(name, "device.c", flags);
    return plugin_loaded(*path);
}

Test(reload, a_device_whose_memory_is_gone)
{
    const char *path;
    tn_plugin_handle *handle = device_begin(&path, "");
    tn_release(on_plgdev());
    cr_assert_str_eq(told("TENON_TEST_FREED"), "1");
    tn_device before = plgdev();
    rebuild(path, "device.c", "-DGENERATION=2");
    cr_assert_eq(tn_plugin_reload(handle), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(plgdev().type, before.type, "the type has its number still");
    tn_tensor *x = on_plgdev();
    cr_assert_eq(build_of(x), 2);
    tn_release(x);
    cr_assert_str_eq(told("TENON_TEST_FREED"), "2");
    cr_assert_eq(tn_plugin_unload(handle), TN_OK, "%s", tn_error_last()->message);
}

Test(reload, living_memory_goes_back_to_where_it_came_from)
{
    const char *path;
    tn_plugin_handle *handle = device_begin(&path, "-DRELOADS");
    tn_tensor *old = on_plgdev();
    rebuild(path, "device.c", "-DRELOADS -DGENERATION=2");
    cr_assert_eq(tn_plugin_reload(handle), TN_OK, "%s", tn_error_last()->message);
    cr_assert_str_eq(told("TENON_TEST_WAITED"), "1", "what was on the old queues is waited for");
    tn_tensor *new = on_plgdev();
    cr_assert_eq(build_of(old), 2);
    cr_assert_eq(build_of(new), 2);
    cr_assert_eq(tn_plugin_unload(handle), TN_ERR_PLUGIN);
    cr_assert(strstr(tn_error_last()->message, "2 tensor storages of its device type 'plgdev'"),
              "%s", tn_error_last()->message);
    tn_release(new);
    cr_assert_str_eq(told("TENON_TEST_FREED"), "2");
    cr_assert_eq(tn_plugin_unload(handle), TN_ERR_PLUGIN, "a former build's memory holds it, too");
    tn_release(old);
    cr_assert_str_eq(told("TENON_TEST_FREED"), "1");
    cr_assert_str_eq(told("TENON_TEST_WAITED"), "2",
                     "the new build may be at work with it, which the old one cannot know");
    cr_assert_eq(tn_plugin_unload(handle), TN_OK, "%s", tn_error_last()->message);
}

Test(reload, living_memory_that_nobody_vouches_for)
{
    static const char *const flags[][2] = {{"", ""}, {"", "-DRELOADS"}, {"-DRELOADS", ""}};
    for (int i = 0; i < 3; i++) {
        const char *path;
        char next[64];
        tn_plugin_handle *handle = device_begin(&path, flags[i][0]);
        tn_tensor *x = on_plgdev();
        snprintf(next, sizeof next, "%s -DGENERATION=2", flags[i][1]);
        rebuild(path, "device.c", next);
        cr_assert_eq(tn_plugin_reload(handle), TN_ERR_PLUGIN);
        cr_assert(strstr(tn_error_last()->message,
                         "memory of the device type 'plgdev' is alive, and "
                         "not both builds promise TN_DEVICE_RELOADS"),
                  "%s", tn_error_last()->message);
        cr_assert_eq(build_of(x), 1, "the old one serves on");
        tn_release(on_plgdev());
        cr_assert_str_eq(told("TENON_TEST_FREED"), "1");
        tn_release(x);
        cr_assert_eq(tn_plugin_reload(handle), TN_OK, "%s", tn_error_last()->message);
        cr_assert_eq(tn_plugin_unload(handle), TN_OK);
    }
}

Test(reload, a_new_build_with_another_device)
{
    const char *path;
    tn_plugin_handle *handle = device_begin(&path, "-DRELOADS");
    tn_tensor *x = on_plgdev();
    rebuild(path, "device.c", "-DRELOADS -DNO_DEVICE");
    cr_assert_eq(tn_plugin_reload(handle), TN_ERR_PLUGIN);
    cr_assert(strstr(tn_error_last()->message, "does not bring the device type 'plgdev'"), "%s",
              tn_error_last()->message);
    rebuild(path, "device.c", "-DRELOADS '-DKEY=\"OTHER\"'");
    cr_assert_eq(tn_plugin_reload(handle), TN_ERR_PLUGIN);
    cr_assert(strstr(tn_error_last()->message, "has the dispatch key 'PLGDEV'"), "%s",
              tn_error_last()->message);
    cr_assert_eq(build_of(x), 1);
    tn_release(x);
    rebuild(path, "device.c", "-DNO_DEVICE");
    cr_assert_eq(tn_plugin_reload(handle), TN_OK, "%s", tn_error_last()->message);
    tn_tensor *none = NULL;
    cr_assert_eq(tn_tensor_new(1, (int64_t[]){8}, TN_F32, plgdev(), &none), TN_ERR_DEVICE);
    cr_assert(strstr(tn_error_last()->message, "there is no plgdev device"), "%s",
              tn_error_last()->message);
}

Test(reload, streams_are_the_old_builds)
{
    const char *path;
    tn_plugin_handle *handle = device_begin(&path, "-DRELOADS -DSTREAMS");
    tn_stream *s = NULL;
    cr_assert_eq(tn_stream_new(plgdev(), &s), TN_OK, "%s", tn_error_last()->message);
    rebuild(path, "device.c", "-DRELOADS -DSTREAMS -DGENERATION=2");
    cr_assert_eq(tn_plugin_reload(handle), TN_ERR_PLUGIN);
    cr_assert(
        strstr(tn_error_last()->message, "1 stream of its device type 'plgdev' is still alive"),
        "%s", tn_error_last()->message);
    cr_assert_eq(tn_plugin_unload(handle), TN_ERR_PLUGIN);
    tn_stream_free(s);
    cr_assert_eq(tn_plugin_reload(handle), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(tn_stream_new(plgdev(), &s), TN_OK, "%s", tn_error_last()->message);
    tn_stream_free(s);
    cr_assert_eq(tn_plugin_unload(handle), TN_OK);
}

/* ---- under load ------------------------------------------------------------------------------ */
enum { THREADS = 4, GENERATIONS = 12 };

static _Atomic bool over;
static _Atomic int64_t calls, wrong;

static void *call_on(void *arg)
{
    const tn_op *op = arg;
    float y = 0, last = 1;
    while (!atomic_load(&over)) {
        tn_status status = plugin_scale_op(op, 1, 1, &y);
        atomic_fetch_add(&calls, 1);
        atomic_fetch_add(&wrong, status != TN_OK || y < last || y > GENERATIONS + 1);
        last = y;
    }
    return NULL;
}

Test(reload, four_threads_call_all_the_while)
{
    const char *path = plugin_build("scale", "scale.c", "");
    tn_plugin_handle *handle = plugin_loaded(path);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(
            pthread_create(&threads[i], NULL, call_on, (void *)tn_op_find("plgtest::scale")), 0);
    for (int generation = 2; generation < GENERATIONS + 2; generation++) {
        char flags[32];
        snprintf(flags, sizeof flags, "-DFACTOR=%d", generation);
        rebuild(path, "scale.c", flags);
        cr_assert_eq(tn_plugin_reload(handle), TN_OK, "%s", tn_error_last()->message);
    }
    atomic_store(&over, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_assert_eq(atomic_load(&wrong), 0,
                 "%lld of %lld calls failed, or an older build served after a "
                 "newer one",
                 (long long)atomic_load(&wrong), (long long)atomic_load(&calls));
    cr_assert_gt(atomic_load(&calls), 1000);
    cr_assert_eq(scaled(tn_op_find("plgtest::scale"), 1), GENERATIONS + 1);
}

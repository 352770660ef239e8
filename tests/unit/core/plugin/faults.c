/* What a plugin may do to its host, and what the host must survive: exceptions, crashes, hangs,
 * threads, the floating-point mode; memory that is alive at unload; every failing registration. */
#include <criterion/criterion.h>
#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tenon/autograd.h>
#include <tenon/tensor.h>

#include "core/base/base.h"
#include "core/base/devices.h"
#include "plugin_test.h"

TestSuite(faults, .init = plugin_test_begin, .fini = plugin_test_end, .timeout = 120);

/* ---- exceptions ------------------------------------------------------------------------------ */
Test(faults, an_exception_ends_at_the_border)
{
    const char *throws = plugin_build("throws", "throws.cpp", "");
    for (int i = 0; i < 3; i++)
        plugin_refused(throws, "refused", "its init threw a C++ exception", "return a status");
    cr_assert_not_null(getenv("TENON_TEST_DESTROYED"), "the plugin's own destructors did not run");
    cr_assert_null(tn_op_find("plgthrows::f"));
    plugin_loaded(plugin_build("scale", "scale.c", "")); /* no lock is left taken */
}

Test(faults, an_exception_of_exit_ends_there)
{
    tn_plugin_handle *handle = plugin_loaded(plugin_build("throws", "throws.cpp", "-DEXIT"));
    tn_plugin_info info;
    cr_assert_eq(tn_plugin_unload(handle), TN_OK);
    cr_assert(plugin_reported("/throws.so", &info));
    cr_assert_str_eq(info.state, "unloaded");
}

/* Of a static object, inside dlopen: a probe finds it out, and the file is not tried again. */
Test(faults, an_exception_of_a_constructor_is_found_by_a_probe)
{
    static const char words[] = "a constructor of it threw a C++ exception";
    const char *throws = plugin_build("throws", "throws.cpp", "-DCONSTRUCTOR");
    setenv("TENON_PLUGIN_PROBE", "1", 1);
    plugin_refused(throws, "refused", words, "init that TN_PLUGIN names");
    unsetenv("TENON_PLUGIN_PROBE");
    plugin_refused(throws, "refused", "it is in quarantine until its file changes", words);
    cr_assert_null(getenv("TENON_TEST_DESTROYED"), "it was run in this process");
    plugin_loaded(plugin_build("scale", "scale.c", ""));
}

/* ---- remarks --------------------------------------------------------------------------------- */
static const char *remark_of(const char *path_end)
{
    static tn_plugin_info info;
    cr_assert(plugin_reported(path_end, &info));
    cr_assert_str_eq(info.state, "loaded", "%s: %s", info.state, info.reason);
    return info.reason;
}

Test(faults, the_floating_point_mode_is_restored_and_reported)
{
    plugin_loaded(plugin_build("flushes", "init.c", "-DFLUSHES"));
    cr_assert_eq(fegetround(), FE_TONEAREST);
    cr_assert(strstr(remark_of("/flushes.so"), "its init changes the floating-point mode"), "%s",
              remark_of("/flushes.so"));
#if defined(__x86_64__) && defined(__GNUC__) && __GNUC__ < 13
    plugin_loaded(plugin_build("fast", "scale.c", "-ffast-math -DNS='\"plgfast\"'"));
    cr_assert(strstr(remark_of("/fast.so"), "a constructor of it changes the floating-point mode"),
              "%s", remark_of("/fast.so"));
#endif
}

Test(faults, threads_that_init_starts_are_reported_where_asked)
{
    setenv("TENON_PLUGIN_CHECK", "1", 1);
    plugin_loaded(plugin_build("spawns", "init.c", "-DSPAWNS"));
    cr_assert(strstr(remark_of("/spawns.so"), "its init leaves 1 thread running"), "%s",
              remark_of("/spawns.so"));
}

/* ---- probe and quarantine -------------------------------------------------------------------- */
Test(faults, a_plugin_that_crashes_is_kept_out_until_its_file_changes)
{
    const char *path = plugin_build("crash", "broken.c", "-DCRASHES");
    setenv("TENON_PLUGIN_PROBE", "1", 1);
    plugin_refused(path, "refused", "it crashes while it is loaded: signal 6", "--retry");
    unsetenv("TENON_PLUGIN_PROBE");
    for (int i = 0; i < 2; i++)
        plugin_refused(path, "refused", "it is in quarantine until its file changes", "signal 6");
    const char *sound = plugin_build("sound", "broken.c", "");
    plugin_loaded(sound); /* another file */
    plugin_shell("mv '%s' '%s'", plugin_build("next", "scale.c", ""), path);
    plugin_loaded(path);
}

Test(faults, a_plugin_that_hangs_is_given_up)
{
    const char *path = plugin_build("hang", "broken.c", "-DHANGS");
    setenv("TENON_PLUGIN_PROBE", "1", 1);
    setenv("TENON_PLUGIN_PROBE_SECONDS", "1", 1);
    plugin_refused(path, "refused", "does not return: stopped after 1 second", NULL);
    unsetenv("TENON_PLUGIN_PROBE");
    plugin_refused(path, "refused", "quarantine", "does not return");
}

Test(faults, a_probe_that_finds_nothing_changes_nothing)
{
    setenv("TENON_PLUGIN_PROBE", "1", 1);
    plugin_loaded(plugin_build("scale", "scale.c", ""));
    plugin_refused(plugin_build("fails", "init.c", "-DFAIL_AT=2"), "refused", "wrong",
                   "init failed");
    float y = 0;
    cr_assert_eq(plugin_scale("plgtest", 2, 3, &y), TN_OK);
    cr_assert_null(getenv("TENON_TEST_EXITS"));
}

Test(faults, a_cache_that_holds_anything)
{
    const char *path = plugin_build("crash", "broken.c", "-DCRASHES");
    plugin_shell("mkdir -p '%s/tenon' && head -c 100000 /dev/urandom >'%s/tenon/quarantine'",
                 plugin_test_directory(), plugin_test_directory());
    plugin_loaded(plugin_build("scale", "scale.c", ""));
    setenv("TENON_PLUGIN_PROBE", "1", 1);
    plugin_refused(path, "refused", "signal 6", NULL);
    unsetenv("TENON_PLUGIN_PROBE");
    plugin_refused(path, "refused", "quarantine", NULL);
}

Test(faults, a_cache_that_cannot_be_written)
{
    const char *path = plugin_build("crash", "broken.c", "-DCRASHES");
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    setenv("TENON_PLUGIN_PROBE", "1", 1);
    plugin_refused(path, "refused", "signal 6", NULL);
    plugin_refused(path, "refused", "signal 6", NULL);
}

/* ---- unload ---------------------------------------------------------------------------------- */
Test(faults, living_memory_of_its_device_holds_a_plugin)
{
    tn_plugin_handle *handle = plugin_loaded(plugin_build("device", "device.c", ""));
    tn_device device;
    tn_tensor *t[3];
    cr_assert_eq(tn__device_parse("plgdev:0", &device), TN_OK);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(tn_tensor_new(1, (int64_t[]){128}, TN_F32, device, &t[i]), TN_OK, "%s",
                     tn_error_last()->message);
    for (int left = 3; left > 0; left--) {
        char words[128];
        snprintf(words, sizeof words, "%d tensor storage%s of its device type 'plgdev' (%d bytes)",
                 left, left == 1 ? "" : "s", left * 512);
        cr_assert_eq(tn_plugin_unload(handle), TN_ERR_PLUGIN);
        cr_assert(strstr(tn_error_last()->message, words), "%s", tn_error_last()->message);
        cr_assert(strstr(tn_error_last()->message, "device 1.0 (/"), "%s",
                  tn_error_last()->message);
        tn_release(t[left - 1]);
    }
    cr_assert_eq(tn_plugin_unload(handle), TN_OK, "%s", tn_error_last()->message);
    cr_assert_neq(tn_tensor_new(1, (int64_t[]){128}, TN_F32, device, &t[0]), TN_OK);
    cr_assert_eq(tn_plugin_unload(handle), TN_ERR_ARGUMENT);
}

Test(faults, one_reference_of_two_is_no_unload)
{
    const char *path = plugin_build("device", "device.c", "");
    tn_plugin_handle *handle = plugin_loaded(path);
    tn_device device;
    tn_tensor *t;
    plugin_loaded(path);
    cr_assert_eq(tn__device_parse("plgdev", &device), TN_OK);
    cr_assert_eq(tn_tensor_new(1, (int64_t[]){1}, TN_F32, device, &t), TN_OK);
    cr_assert_eq(tn_plugin_unload(handle), TN_OK);
    cr_assert_eq(tn_plugin_unload(handle), TN_ERR_PLUGIN);
    tn_release(t);
    cr_assert_eq(tn_plugin_unload(handle), TN_OK);
}

/* Calls, nodes and handles of an unloaded plugin: its code is there, its operators are not. */
static void load_built_in(const char *name)
{
    char path[600];
    const char *build = getenv("TENON_BUILD");
    snprintf(path, sizeof path, "%s/lib/tenon/plugins/%s.so", build ? build : "build", name);
    plugin_loaded(path);
}

Test(faults, a_graph_outlives_its_plugin)
{
    struct {
        tn_frame frame;
        tn_tensor *result, *x;
    } a = {.frame = {sizeof a, 0}};
    const double two = 2;
    int64_t one = 1;
    load_built_in("composite");
    load_built_in("cpu");
    load_built_in("autograd");
    tn_plugin_handle *gradient =
        plugin_loaded(plugin_build("gradient", "../abi/reference/gradient.c", ""));
    cr_assert_eq(tn_tensor_from_data(&two, TN_F64, 1, &one, &a.x), TN_OK);
    cr_assert_eq(tn_set_requires_grad(a.x, true), TN_OK);
    cr_assert_eq(tn_op_call(tn_op_find("abiref::cube"), &a), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(tn_plugin_unload(gradient), TN_OK);
    cr_assert_eq(tn_backward_from(a.result), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(*(double *)tn_grad(a.x)->data, 12);
    tn_release(a.result);
    a.result = NULL;
    cr_assert_eq(tn_op_call(tn_op_find("abiref::cube"), &a), TN_ERR_NO_KERNEL);
    tn_release(a.x);
}

static _Atomic bool over;
static _Atomic int64_t called, odd;

static void *call_on(void *arg)
{
    while (!atomic_load(&over)) {
        float y = 0;
        tn_status status = plugin_scale_op(arg, 2, 3, &y);
        atomic_fetch_add(&called, 1);
        atomic_fetch_add(&odd, status != TN_ERR_NO_KERNEL && (status != TN_OK || y != 6));
    }
    return NULL;
}

Test(faults, loading_and_unloading_under_calls)
{
    const char *path = plugin_build("scale", "scale.c", "");
    tn_plugin_handle *handle = plugin_loaded(path);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        cr_assert_eq(
            pthread_create(&threads[i], NULL, call_on, (void *)tn_op_find("plgtest::scale")), 0);
    for (int i = 0; i < 200; i++) {
        usleep(500);
        cr_assert_eq(tn_plugin_unload(handle), TN_OK);
        usleep(100);
        cr_assert_eq(plugin_loaded(path), handle);
    }
    atomic_store(&over, true);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    cr_assert_eq(atomic_load(&odd), 0, "%lld of %lld calls", (long long)atomic_load(&odd),
                 (long long)atomic_load(&called));
    cr_assert_gt(atomic_load(&called), 100);
}

/* ---- a checked host -------------------------------------------------------------------------- */
Test(faults, a_checked_host_guards_every_call)
{
    setenv("TENON_PLUGIN_CHECK", "1", 1);
    tn_plugin_handle *scale = plugin_loaded(plugin_build("scale", "scale.c", ""));
    tn_plugin_handle *flushes = plugin_loaded(
        plugin_build("flushes", "kernel.c", "-DNAME='\"flushes\"' -DRANK=1 -DFLUSHES"));
    float y = 0;
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(plugin_scale("plgtest", 2, 3, &y), TN_OK, "%s", tn_error_last()->message);
        cr_assert_eq(y, 6);
        cr_assert_eq(fegetround(), FE_TONEAREST);
    }
    const char *remark = remark_of("/flushes.so");
    static const char words[] = "its kernel of plgtest::scale changes the floating-point mode";
    const char *once = strstr(remark, words);
    cr_assert(once && !strstr(once + 1, words), "%s", remark);
    cr_assert_eq(tn_plugin_unload(flushes), TN_OK);
    plugin_loaded(plugin_build("throws", "throws.cpp", "-DKERNEL"));
    cr_assert_eq(plugin_scale("plgtest", 2, 3, &y), TN_ERR_PLUGIN);
    cr_assert(strstr(tn_error_last()->message, "threw a C++ exception"), "%s",
              tn_error_last()->message);
    cr_assert(strstr(tn_error_last()->plugin, "throws 1.0 (/"), "%s", tn_error_last()->plugin);
    cr_assert_eq(tn_plugin_unload(scale), TN_OK);
}

static void *call_and_wait(void *status)
{
    float y;
    *(tn_status *)status = plugin_scale("plgtest", 2, 3, &y);
    return NULL;
}

Test(faults, calls_in_flight_hold_a_plugin_in_a_checked_host)
{
    setenv("TENON_PLUGIN_CHECK", "1", 1);
    plugin_loaded(plugin_build("scale", "scale.c", ""));
    tn_plugin_handle *waits =
        plugin_loaded(plugin_build("waits", "kernel.c", "-DNAME='\"waits\"' -DRANK=1 -DWAITS"));
    pthread_t thread;
    tn_status status = TN_OK, seen = TN_OK;
    cr_assert_eq(pthread_create(&thread, NULL, call_and_wait, &seen), 0);
    usleep(200000);
    status = tn_plugin_unload(waits);
    cr_expect_eq(status, TN_ERR_PLUGIN);
    cr_expect(strstr(tn_error_last()->message, "1 call of its kernels has not returned"), "%s",
              tn_error_last()->message);
    setenv("TENON_TEST_GO", "1", 1);
    pthread_join(thread, NULL);
    cr_assert_eq(seen, TN_OK);
    cr_assert_eq(tn_plugin_unload(waits), TN_OK, "%s", tn_error_last()->message);
}

/* ---- all or nothing -------------------------------------------------------------------------- */
static void check_nothing(size_t operators, int n)
{
    tn_device device;
    cr_assert_eq(plugin_operators(), operators, "an operator stayed after failure %d", n);
    cr_assert_null(tn_op_find("plgall::plain"));
    cr_assert_neq(tn__device_parse("plgall", &device), TN_OK, "the device stayed after failure %d",
                  n);
    const char *how = "";
    const tn_op *relu = tn_op_find("aten::relu");
    tn_op_server(relu, "Functionalize", &how);
    cr_assert_str_eq(how, "fallthrough", "the fallback stayed after failure %d", n);
}

static void check_everything(void)
{
    tn_device device;
    cr_assert_not_null(tn_op_find("plgall::plain"));
    cr_assert_not_null(tn_op_find("plgall::formed.out"));
    cr_assert_eq(tn__device_parse("plgall", &device), TN_OK);
    const char *how = "";
    cr_assert_str_eq(tn_op_server(tn_op_find("plgall::composite"), "CPU", &how), "everything");
    cr_assert_str_eq(how, "CompositeImplicitAutograd");
}

Test(faults, the_nth_registration_fails)
{
    enum { REGISTRATIONS = 11 };
    char flags[32], name[16];
    size_t operators = plugin_operators();
    for (int n = 1; n <= REGISTRATIONS; n++) {
        snprintf(flags, sizeof flags, "-DFAIL_AT=%d", n);
        snprintf(name, sizeof name, "all%d", n);
        cr_assert_eq(tn_plugin_load(plugin_build(name, "everything.c", flags), NULL), TN_ERR_PLUGIN,
                     "registration %d", n);
        check_nothing(operators, n);
    }
    plugin_loaded(plugin_build("all", "everything.c", ""));
    check_everything();
}

Test(faults, the_nth_allocation_fails)
{
    const char *path = plugin_build("all", "everything.c", "");
    size_t operators = plugin_operators();
    int64_t n = 1;
    for (;; n++) {
        tn__alloc_fail_at(n);
        tn_status status = tn_plugin_load(path, NULL);
        tn__alloc_fail_at(0);
        if (status == TN_OK)
            break;
        check_nothing(operators, (int)n);
        cr_assert_lt(n, 1000);
    }
    cr_assert_gt(n, 10, "%d allocations", (int)n);
    check_everything();
}

/* Loading, unloading and loading again leaves the memory as it was, but for what stays by design. */
Test(faults, loading_again_and_again)
{
    const char *path = plugin_build("all", "everything.c", "");
    for (int i = 0; i < 20; i++) {
        tn_plugin_handle *handle = plugin_loaded(path);
        check_everything();
        cr_assert_eq(tn_plugin_unload(handle), TN_OK);
        const char *how = "";
        cr_assert_str_eq(tn_op_server(tn_op_find("plgall::plain"), "CPU", &how), "");
    }
}

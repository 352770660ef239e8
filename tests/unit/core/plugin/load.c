/* Loading and unloading: the case bank's plugin cases, and what a plugin may do to its host. */
#include <criterion/criterion.h>
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tenon/op.h>
#include <tenon/tensor.h>

#include "core/base/base.h"
#include "plugin_test.h"

TestSuite(load, .init = plugin_test_begin, .fini = plugin_test_end, .timeout = 60);

Test(load, a_plugin_serves_its_operator)
{
    const char *path = plugin_build("scale", "scale.c", "");
    tn_plugin_info info;
    plugin_loaded(path);
    float y = 0;
    cr_assert_eq(plugin_scale("plgtest", 2, 3, &y), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(y, 6);
    cr_assert(plugin_reported("/scale.so", &info));
    cr_assert_str_eq(info.state, "loaded");
    cr_assert_str_eq(info.name, "scale");
    cr_assert_str_eq(info.version, "1.2.3");
    cr_assert_str_eq(info.reason, "");
    cr_assert_str_eq(info.cure, "");
}

Test(load, an_error_names_operator_and_plugin)
{
    plugin_loaded(plugin_build("scale", "scale.c", ""));
    const tn_op *op = tn_op_find("plgtest::scale");
    struct {
        tn_frame frame;
        tn_tensor *result, *x;
        double s;
    } a = {.frame = {sizeof a, 0}, .s = 1};
    cr_assert_eq(tn_tensor_new(2, (int64_t[]){2, 2}, TN_I32, (tn_device){TN_CPU, 0}, &a.x), TN_OK);
    cr_assert_eq(tn_op_call_at(op, &a, "caller.c", 42), TN_ERR_DTYPE);
    const tn_error *e = tn_error_last();
    cr_assert_str_eq(e->message, "x: expected float32 of 1 dimension, got int32 of 2");
    cr_assert_str_eq(e->op, "plgtest::scale");
    cr_assert(strncmp(e->plugin, "scale 1.2.3 (/", 14) == 0, "%s", e->plugin);
    cr_assert_str_eq(e->file, "caller.c");
    cr_assert_eq(e->line, 42);
    cr_assert_null(a.result);
    tn_release(a.x);
}

/* Both orders, and another schema: the first plugin keeps working, nothing of the second appears.
 */
static void clash(const char *first, const char *second, float factor)
{
    plugin_loaded(first);
    plugin_refused(second, "refused", "plgtest::scale", first);
    const char *message = tn_error_last()->message;
    cr_assert(strstr(message, second), "names not both files: %s", message);
    cr_assert(strstr(message, "plgtest::scale(Tensor x, float s) -> Tensor"), "%s", message);
    float y = 0;
    cr_assert_eq(plugin_scale("plgtest", 2, 3, &y), TN_OK);
    cr_assert_eq(y, 6 * factor);
}

Test(load, bb_plg_01_two_plugins_one_operator)
{
    const char *a = plugin_build("a", "scale.c", "-DNAME='\"a\"'");
    const char *b = plugin_build("b", "scale.c", "-DNAME='\"b\"' -DFACTOR=10");
    clash(a, b, 1);
}

Test(load, bb_plg_01_the_other_way_round)
{
    const char *a = plugin_build("a", "scale.c", "-DNAME='\"a\"'");
    const char *b = plugin_build("b", "scale.c", "-DNAME='\"b\"' -DFACTOR=10");
    clash(b, a, 10);
    cr_assert_null(getenv("TENON_TEST_EXITS"),
                   "the exit of a plugin whose init failed has nothing to undo");
}

Test(load, bb_plg_01_another_schema)
{
    const char *a = plugin_build("a", "scale.c", "-DNAME='\"a\"'");
    const char *b = plugin_build(
        "b", "scale.c", "-DNAME='\"b\"' '-DSCHEMA=\"plgtest::scale(Tensor x, int s) -> Tensor\"'");
    clash(a, b, 1);
    const char *message = tn_error_last()->message;
    cr_assert(strstr(message, "plgtest::scale(Tensor x, int s) -> Tensor"), "%s", message);
}

Test(load, bb_plg_02_one_file_many_paths)
{
    const char *p = plugin_build("P", "scale.c", "");
    const char *dir = plugin_test_directory();
    char q[600], r[600];
    snprintf(q, sizeof q, "%s/Q.so", dir);
    snprintf(r, sizeof r, "%s/R.so", dir);
    plugin_shell("cp '%s' '%s' && ln -s P.so '%s'", p, q, r);
    tn_plugin_handle *first = plugin_loaded(p);
    size_t operators = plugin_operators();
    cr_assert_eq(plugin_loaded(p), first);
    cr_assert_eq(plugin_loaded(r), first);
    plugin_refused(q, "refused", "/P.so", "/Q.so");
    cr_assert_eq(chdir(dir), 0);
    cr_assert_eq(plugin_loaded("./P.so"), first);
    cr_assert_eq(plugin_loaded("P"), first, "a bare name is looked for in TENON_PLUGIN_PATH");
    cr_assert_eq(plugin_operators(), operators);
    float y = 0;
    for (int references = 5; references > 0; references--) {
        cr_assert_eq(plugin_scale("plgtest", 2, 3, &y), TN_OK, "%s", tn_error_last()->message);
        cr_assert_eq(tn_plugin_unload(first), TN_OK);
    }
    cr_assert_eq(plugin_scale("plgtest", 2, 3, &y), TN_ERR_NO_KERNEL);
    cr_assert_eq(tn_plugin_unload(first), TN_ERR_ARGUMENT, "an unloaded handle");
    cr_assert_str_eq(getenv("TENON_TEST_EXITS"), "1", "P's exit ran once, Q's never");
}

Test(load, bb_plg_05_a_handle_outlives_its_plugin)
{
    const char *path = plugin_build("scale", "scale.c", "");
    tn_plugin_handle *handle = plugin_loaded(path);
    const tn_op *op = tn_op_find("plgtest::scale");
    float y = 0;
    cr_assert_eq(plugin_scale("plgtest", 2, 3, &y), TN_OK);
    cr_assert_eq(tn_plugin_unload(handle), TN_OK);
    cr_assert_eq(plugin_scale_op(op, 2, 3, &y), TN_ERR_NO_KERNEL);
    const char *message = tn_error_last()->message;
    cr_assert(strstr(message, "plgtest::scale") && strstr(message, "unloaded"), "%s", message);
    cr_assert_eq(plugin_scale("plgtest", 2, 3, &y), TN_ERR_NO_KERNEL, "by name");
    tn_plugin_info info;
    cr_assert(plugin_reported("/scale.so", &info));
    cr_assert_str_eq(info.state, "unloaded");
    cr_assert_eq(plugin_loaded(path), handle);
    cr_assert_eq(tn_op_find("plgtest::scale"), op, "the old handle is the new one");
    cr_assert_eq(plugin_scale_op(op, 2, 3, &y), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(y, 6);
}

Test(load, bb_plg_06_a_replaced_kernel_comes_back)
{
    plugin_loaded(plugin_build("scale", "scale.c", ""));
    const char *again = plugin_build("again", "kernel.c", "-DNAME='\"again\"' -DFACTOR=7");
    const char *other = plugin_build("other", "kernel.c", "-DNAME='\"other\"' -DFACTOR=7 -DRANK=1");
    const char *meta = plugin_build("meta", "kernel.c", "-DNAME='\"meta\"' -DKEY='\"Meta\"'");
    tn_plugin_info info;
    float y = 0;
    plugin_loaded(meta); /* another key: nothing is replaced, nothing is said */
    cr_assert(plugin_reported("/meta.so", &info));
    cr_assert_str_eq(info.reason, "");
    plugin_refused(again, "refused", "CPU", "scale 1.2.3 (/");
    cr_assert_eq(plugin_scale("plgtest", 1, 2, &y), TN_OK);
    cr_assert_eq(y, 2);
    tn_plugin_handle *handle = plugin_loaded(other);
    cr_assert_eq(plugin_scale("plgtest", 1, 2, &y), TN_OK);
    cr_assert_eq(y, 14);
    cr_assert(plugin_reported("/other.so", &info));
    cr_assert(strstr(info.reason, "plgtest::scale") && strstr(info.reason, "CPU") &&
                  strstr(info.reason, "scale 1.2.3 (/"),
              "what it replaced is not said: '%s'", info.reason);
    cr_assert_eq(tn_plugin_unload(handle), TN_OK);
    cr_assert_eq(plugin_scale("plgtest", 1, 2, &y), TN_OK);
    cr_assert_eq(y, 2, "the kernel that was replaced serves again");
}

/* ---- floating-point mode --------------------------------------------------------------------- */
static void *denormal_survives(void *out)
{
    volatile float tiny = 1e-40f;
    *(bool *)out = tiny * 1.0f != 0 && tiny > 0 && fegetround() == FE_TONEAREST;
    return NULL;
}

static void check_denormals(void)
{
    bool here = false, there = false;
    pthread_t thread;
    denormal_survives(&here);
    cr_assert_eq(pthread_create(&thread, NULL, denormal_survives, &there), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_assert(here, "denormals are gone on this thread");
    cr_assert(there, "denormals are gone on a new thread");
}

Test(load, bb_plg_07_fast_math_stays_inside)
{
    const char *path = plugin_build("fast", "scale.c", "-ffast-math");
    check_denormals();
    tn_plugin_handle *handle = plugin_loaded(path);
    check_denormals();
    float y = 0;
    cr_assert_eq(plugin_scale("plgtest", 1e-40f, 1, &y), TN_OK);
    cr_assert_gt(y, 0, "a denormal went through a kernel");
    cr_assert_eq(tn_plugin_unload(handle), TN_OK);
    check_denormals();
}

Test(load, bb_plg_07_init_and_exit_that_change_the_mode)
{
    tn_plugin_handle *handle = plugin_loaded(plugin_build("init", "init.c", "-DFLUSHES"));
    check_denormals();
    cr_assert_eq(tn_plugin_unload(handle), TN_OK);
    check_denormals();
}

/* ---- init ------------------------------------------------------------------------------------ */
Test(load, an_init_that_fails_leaves_nothing)
{
    char flags[64], name[16];
    for (int at = 1; at <= 5; at++) {
        snprintf(flags, sizeof flags, "-DFAIL_AT=%d", at);
        snprintf(name, sizeof name, "init%d", at);
        const char *path = plugin_build(name, "init.c", flags);
        plugin_refused(path, "refused", "wrong", "init failed");
        cr_assert_null(tn_op_find("plgtest::one"));
    }
    plugin_loaded(plugin_build("init", "init.c", ""));
    cr_assert_not_null(tn_op_find("plgtest::five"));
}

Test(load, an_init_that_ignores_a_failure)
{
    plugin_refused(plugin_build("init", "init.c", "-DFAIL_AT=3 -DIGNORE_FAILURE"), "refused",
                   "wrong", "init failed");
    cr_assert_null(tn_op_find("plgtest::one"));
}

Test(load, an_init_that_returns_no_status)
{
    plugin_refused(plugin_build("a", "init.c", "-DRETURNS=12345"), "refused", "12345",
                   "not a status");
    plugin_refused(plugin_build("b", "init.c", "-DRETURNS=-1"), "refused", "-1", "not a status");
    plugin_refused(plugin_build("c", "init.c", "-DRETURNS=TN_ERR_DEVICE"), "refused", "device",
                   "does not say why");
    cr_assert_null(tn_op_find("plgtest::one"));
}

Test(load, an_import_that_nobody_has)
{
    plugin_refused(plugin_build("init", "init.c", "-DIMPORTS"), "refused", "plgtest_nobody::has",
                   NULL);
}

Test(load, registering_after_init_is_an_error)
{
    plugin_loaded(plugin_build("init", "init.c", "-DLATE"));
    float y;
    cr_assert_eq(plugin_scale("plgtest", 1, 1, &y), TN_ERR_PLUGIN);
    cr_assert(strstr(tn_error_last()->message, "inside a plugin's init only"), "%s",
              tn_error_last()->message);
}

/* Whatever allocation fails, the load fails whole, and the next one works. */
Test(load, memory_runs_out)
{
    const char *path = plugin_build("scale", "scale.c", "");
    size_t operators = plugin_operators();
    int64_t n = 1;
    for (;; n++) {
        tn__alloc_fail_at(n);
        tn_status status = tn_plugin_load(path, NULL);
        tn__alloc_fail_at(0);
        if (status == TN_OK)
            break;
        cr_assert_eq(plugin_operators(), operators, "something stayed after failure %d", (int)n);
        cr_assert_lt(n, 1000);
    }
    cr_assert_gt(n, 3, "no allocation failed");
    float y = 0;
    cr_assert_eq(plugin_scale("plgtest", 2, 3, &y), TN_OK);
    cr_assert_eq(y, 6);
}

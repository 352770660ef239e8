/* Plugins of different ages, and plugins that call each other: which schema a kernel, or a caller,
 * was built against. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "plugin_test.h"

TestSuite(ages, .init = plugin_test_begin, .fini = plugin_test_end, .timeout = 60);

static const char newer[] = "'-DSCHEMA=\"plgtest::scale(Tensor x, float s=2.0) -> Tensor\"'";

Test(ages, an_older_kernel_serves_while_new_arguments_hold_their_defaults)
{
    plugin_loaded(plugin_build("scale", "scale.c", newer));
    plugin_loaded(plugin_build("older", "older.c", ""));
    float y = 0;
    cr_assert_eq(plugin_scale("plgtest", 3, 2, &y), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(y, 300);
    cr_assert_eq(plugin_scale("plgtest", 3, 5, &y), TN_ERR_UNSUPPORTED);
    const char *message = tn_error_last()->message;
    cr_assert(strstr(message, "'s'") && strstr(message, "plgtest::scale(Tensor x) -> Tensor"), "%s",
              message);
    cr_assert(strstr(tn_error_last()->plugin, "older 0.9 (/"), "%s", tn_error_last()->plugin);
}

Test(ages, an_incompatible_kernel_is_refused_with_both_schemas)
{
    static const char *const schemas[] = {
        "plgtest::scale(Tensor x, Tensor y) -> Tensor", "plgtest::scale(int x) -> Tensor",
        "plgtest::scale(Tensor x) -> (Tensor, Tensor)", "plgtest::scale(Tensor(a!) x) -> Tensor",
        "plgtest::scale(float s=2.0) -> Tensor",
    };
    char name[16], flags[256];
    plugin_loaded(plugin_build("scale", "scale.c", newer));
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        snprintf(name, sizeof name, "older%zu", i);
        snprintf(flags, sizeof flags, "'-DSCHEMA=\"%s\"'", schemas[i]);
        plugin_refused(plugin_build(name, "older.c", flags), "refused", schemas[i],
                       "plgtest::scale(Tensor x, float s=2.0) -> Tensor");
    }
    float y = 0;
    cr_assert_eq(plugin_scale("plgtest", 3, 2, &y), TN_OK);
    cr_assert_eq(y, 6);
}

Test(ages, a_kernel_for_nobodys_operator_is_refused)
{
    plugin_refused(plugin_build("kernel", "kernel.c", ""), "refused", "plgtest::scale",
                   "no such operator");
}

Test(ages, a_plugin_calls_another_ones_operator)
{
    const char *caller = plugin_build("caller", "caller.c", "");
    plugin_refused(caller, "refused", "plgtest::scale", "no loaded plugin");
    tn_plugin_handle *scale = plugin_loaded(plugin_build("scale", "scale.c", ""));
    plugin_loaded(caller);
    float y = 0;
    cr_assert_eq(plugin_scale("plgtest_caller", 2, 3, &y), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(y, 18);
    cr_assert_eq(tn_plugin_unload(scale), TN_OK);
    cr_assert_eq(plugin_scale("plgtest_caller", 2, 3, &y), TN_ERR_NO_KERNEL);
    cr_assert(strstr(tn_error_last()->message, "plgtest::scale"), "%s", tn_error_last()->message);
}

Test(ages, a_caller_of_another_schema_is_refused)
{
    plugin_loaded(plugin_build("scale", "scale.c", newer));
    plugin_refused(plugin_build("caller", "caller.c",
                                "'-DCALLS=\"plgtest::scale(Tensor x, Tensor y) -> Tensor\"'"),
                   "refused", "plgtest::scale(Tensor x, Tensor y) -> Tensor",
                   "plgtest::scale(Tensor x, float s=2.0) -> Tensor");
}

Test(ages, a_caller_of_an_operator_that_was_unloaded_is_refused)
{
    const char *caller = plugin_build("caller", "caller.c", "");
    tn_plugin_handle *scale = plugin_loaded(plugin_build("scale", "scale.c", ""));
    cr_assert_eq(tn_plugin_unload(scale), TN_OK);
    plugin_refused(caller, "refused", "plgtest::scale", NULL);
}

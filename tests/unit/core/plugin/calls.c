/* Calls through a tn_op_ref, which the generated header of a plugin is made of: before the plugin is
 * loaded, over its reloads, and after it changed its schema. */
#include <criterion/criterion.h>
#include <string.h>

#include <tenon/calls.h>

#include "plugin_test.h"

TestSuite(plugin_calls, .init = plugin_test_begin, .fini = plugin_test_end, .timeout = 120);

struct scale_frame {
    tn_frame frame;
    tn_tensor *result, *x;
    double s;
};

static tn_op_ref scale = {"plgtest::scale(Tensor x, float s) -> Tensor", "scale", NULL};

static tn_tensor *number(float value)
{
    tn_tensor *x = NULL;
    int64_t one = 1;
    cr_assert_eq(tn_tensor_from_data(&value, TN_F32, 1, &one, &x), TN_OK);
    return tn_scoped(x);
}

static tn_tensor *expression(tn_tensor *x, double s)
{
    struct scale_frame frame = {{sizeof frame, 0}, NULL, x, s};
    if (!x)
        return tn_op_ref_missing(&scale, "x", "here.c", 7);
    return tn_op_ref_expr(&scale, &frame, "here.c", 7);
}

static tn_status typed(float x, double s, float *out)
{
    tn_status status = TN_OK;
    TN_SCOPE {
        struct scale_frame frame = {{sizeof frame, 0}, NULL, number(x), s};
        status = tn_op_ref_call(&scale, &frame);
        cr_assert_eq(frame.result == NULL, status != TN_OK);
        if (status == TN_OK)
            *out = *(float *)frame.result->data;
        tn_release(frame.result);
    }
    return status;
}

static float value_of(double x, double s)
{
    float y = 0;
    cr_assert_eq(typed((float)x, s, &y), TN_OK, "%s", tn_error_last()->message);
    return y;
}

static void says(const char *words)
{
    cr_assert(strstr(tn_error_last()->message, words), "%s", tn_error_last()->message);
}

Test(plugin_calls, before_the_plugin_is_loaded)
{
    float y;
    cr_assert_eq(typed(1, 2, &y), TN_ERR_NO_KERNEL);
    says("plgtest::scale is not registered: load the plugin scale, which brings it");
    TN_SCOPE {
        cr_assert_null(expression(expression(number(1), 2), 3));
        cr_assert(strcmp(tn_error_last()->file, "here.c") == 0 && tn_error_last()->line == 7);
        tn_error_clear();
        cr_assert_null(expression(NULL, 2));
        says("load the plugin scale");
        tn_error_clear();
    }
    plugin_loaded(plugin_build("scale", "scale.c", ""));
    cr_assert_eq(value_of(3, 2), 6);
}

Test(plugin_calls, as_expressions)
{
    plugin_loaded(plugin_build("scale", "scale.c", ""));
    TN_SCOPE {
        const tn_tensor *y = expression(expression(number(3), 2), 2);
        cr_assert(y && *(const float *)y->data == 12);
        cr_assert_null(expression(expression(NULL, 1), 2));
        says("x is missing");
        cr_assert_str_eq(tn_error_last()->op, "plgtest::scale");
        cr_assert_null(expression(NULL, 3));
    }
    tn_error_clear();
}

Test(plugin_calls, over_unloading_and_reloading)
{
    const char *path = plugin_build("scale", "scale.c", "");
    tn_plugin_handle *handle = plugin_loaded(path);
    cr_assert_eq(value_of(3, 2), 6);
    const tn_op *op = scale.op;
    plugin_shell("mv '%s' '%s'", plugin_build("next", "scale.c", "-DFACTOR=2"), path);
    cr_assert_eq(tn_plugin_reload(handle), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(value_of(3, 2), 12);
    cr_assert_eq(tn_plugin_unload(handle), TN_OK);
    float y;
    cr_assert_eq(typed(1, 1, &y), TN_ERR_NO_KERNEL);
    says("unloaded");
    plugin_loaded(path);
    cr_assert_eq(value_of(3, 2), 12);
    cr_assert_eq(scale.op, op, "an operator that is as it was keeps its handle");
}

/* Another operator by the same name: found anew, and nothing has failed. */
Test(plugin_calls, over_a_schema_that_grew)
{
    const char *path = plugin_build("scale", "scale.c", "");
    tn_plugin_handle *handle = plugin_loaded(path);
    cr_assert_eq(value_of(3, 2), 6);
    plugin_shell("mv '%s' '%s'",
                 plugin_build("next", "scale.c",
                              "'-DSCHEMA=\"plgtest::scale(Tensor x, float s=2.0) -> Tensor\"'"),
                 path);
    cr_assert_eq(tn_plugin_reload(handle), TN_OK, "%s", tn_error_last()->message);
    tn_error_clear();
    const tn_op *before = scale.op;
    TN_SCOPE {
        const tn_tensor *y = expression(number(3), 2);
        cr_assert(y && *(const float *)y->data == 6, "%s", tn_error_last()->message);
    }
    cr_assert_neq(scale.op, before);
    cr_assert_eq(tn_error_last()->status, TN_OK);
    cr_assert_eq(value_of(3, 4), 12);
}

Test(plugin_calls, of_a_schema_that_does_not_fit)
{
    static tn_op_ref other = {"plgtest::scale(Tensor x, Scalar s) -> Tensor", "scale", NULL};
    struct scale_frame frame = {{sizeof frame, 0}, NULL, NULL, 0};
    plugin_loaded(plugin_build("scale", "scale.c", ""));
    cr_assert_eq(tn_op_ref_call(&other, &frame), TN_ERR_PLUGIN);
    says("the program calls 'plgtest::scale(Tensor x, Scalar s) -> Tensor', but the plugin scale "
         "has "
         "'plgtest::scale(Tensor x, float s) -> Tensor'");
    cr_assert_null(other.op);
}

/* test_scale_shift.c - loads the plugin and calls its operators on cpu and meta, as a program does:
 * through the generated scale_shift_calls.h. */
#include <stdio.h>
#include <string.h>

#include <tenon/autograd.h>
#include <tenon/runtime.h>

#include "scale_shift_calls.h"

static const float values[] = {1, 2, 3}, ones[] = {1, 1, 1};
static const int64_t size = 3;
static int failures;

static void check(int ok, const char *what)
{
    printf("%s %s\n", ok ? "ok  " : "FAIL", what);
    if (!ok)
        printf("     %s\n", tn_error_last()->message);
    failures += !ok;
}

static int holds(const tn_tensor *t, float a, float b, float c)
{
    const float expected[] = {a, b, c};
    return t && t->dtype == TN_F32 && t->numel == 3 && !memcmp(t->data, expected, sizeof expected);
}

/* Three numbers, in the scope. */
static tn_tensor *three(const float *data)
{
    tn_tensor *t = NULL;
    if (tn_tensor_from_data(data, TN_F32, 1, &size, &t) != TN_OK)
        check(0, "a tensor");
    return tn_scoped(t);
}

/* A shape without numbers. */
static tn_tensor *three_on_meta(void)
{
    tn_tensor *t = NULL;
    if (tn_tensor_new(1, &size, TN_F32, (tn_device){TN_META, -1}, &t) != TN_OK)
        check(0, "a tensor on meta");
    return tn_scoped(t);
}

static void try_expression(void)
{
    tn_tensor *x = three(values), *out = three(values);
    check(holds(myops_scale_shift(x, 2, 0.5), 2.5f, 4.5f, 6.5f), "scale_shift(x, 2, 0.5)");
    check(holds(myops_scale_shift(myops_scale_shift(x, 2, 0), 1, 1), 3, 5, 7), "of itself");
    tn_tensor *meta = myops_scale_shift(three_on_meta(), 2, 0.5);
    check(meta && meta->device.type == TN_META && meta->numel == 3 && !meta->data, "on meta");
    check(myops_scale_shift_out(x, 2, 0.5, out) == out && holds(out, 2.5f, 4.5f, 6.5f),
          "scale_shift_out(x, 2, 0.5, out)");
    check(myops_scale_shift_(x, 2, 0.5) == x && holds(x, 2.5f, 4.5f, 6.5f),
          "scale_shift_(x, 2, 0.5)");
}

static void try_by_hand(void)
{
    tn_tensor *x = three(values), *out = three(values);
    check(holds(myops_scale_shift_by_hand(x, 2, 0.5), 2.5f, 4.5f, 6.5f), "scale_shift_by_hand");
    tn_tensor *meta = myops_scale_shift_by_hand(three_on_meta(), 2, 0.5);
    check(meta && meta->numel == 3 && !meta->data, "on meta");
    check(myops_scale_shift_by_hand_out(x, 2, 0.5, out) == out && holds(out, 2.5f, 4.5f, 6.5f),
          "scale_shift_by_hand_out");
    check(myops_scale_shift_by_hand_(x, 2, 0.5) == x && holds(x, 2.5f, 4.5f, 6.5f),
          "scale_shift_by_hand_");
}

/* The gradient of the sum of all elements of y is alpha. */
static void try_gradient(const char *what, tn_tensor *x, tn_tensor *y)
{
    tn_tensor *one = three(ones), *grad = NULL;
    const tn_tensors outputs = {&y, 1}, grads = {&one, 1}, inputs = {&x, 1};
    bool made = y && tn_grad_of(outputs, &grads, inputs, NULL, &grad) == TN_OK;
    check(made && holds(tn_scoped(grad), 2, 2, 2), what);
}

static void try_gradients(void)
{
    tn_tensor *x = three(values);
    check(tn_set_requires_grad(x, true) == TN_OK, "x requires a gradient");
    try_gradient("the gradient of scale_shift", x, myops_scale_shift(x, 2, 0.5));
    try_gradient("the gradient of scale_shift_by_hand", x, myops_scale_shift_by_hand(x, 2, 0.5));
    try_gradient("the gradient of scale_shift_function", x, myops_scale_shift_function(x, 2, 0.5));
}

int main(int argc, char **argv)
{
    if (argc != 2)
        check(0, "usage: test_scale_shift PLUGIN.so");
    check(tn_plugins_load_default() == TN_OK, "built-in plugins");
    TN_SCOPE {
        check(!myops_scale_shift(three(values), 2, 0.5) &&
                  strstr(tn_error_last()->message, "load the plugin scale_shift"),
              "a call before the plugin is loaded says so");
        tn_error_clear();
    }
    check(argc == 2 && tn_plugin_load(argv[1], NULL) == TN_OK, "the plugin");
    if (!failures)
        TN_SCOPE {
            try_expression();
            try_by_hand();
            try_gradients();
        }
    printf("%s\n", failures ? "FAILED" : "PASSED");
    return failures ? 1 : 0;
}

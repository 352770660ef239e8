/* test_composites.c - the operators on cpu, and on meta, where no element exists. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tenon/autograd.h>
#include <tenon/runtime.h>

#include "composites_calls.h"

static int failures;

static void check(int ok, const char *what)
{
    printf("%s %s\n", ok ? "ok  " : "FAIL", what);
    if (!ok)
        printf("     %s\n", tn_error_last()->message);
    failures += !ok;
}

static int near(const tn_tensor *t, int64_t i, double expected)
{
    return t && i < t->numel && fabs(((const float *)t->data)[i] - expected) < 1e-5;
}

/* Nobody wrote the gradient: it follows from those of sub, mul and mean. */
static void try_mse(tn_tensor *x, tn_tensor *target)
{
    tn_tensor *grad = NULL, *y = composites_mse(x, target);
    check(near(y, 0, (0 + 4 + 4 + 9) / 4.), "mse: the mean of squares");
    check(tn_set_requires_grad(x, true) == TN_OK, "x requires a gradient");
    y = composites_mse(x, target);
    const tn_tensors outputs = {&y, 1}, inputs = {&x, 1};
    check(y && tn_grad_of(outputs, NULL, inputs, NULL, &grad) == TN_OK, "the gradient of mse");
    check(near(grad, 0, 0) && near(grad, 1, 1) && near(grad, 2, -1) && near(grad, 3, 1.5),
          "which is 2 (x - target) / n");
    tn_release(grad);
    tn_set_requires_grad(x, false);
}

static void try_rms_norm(tn_tensor *x, tn_tensor *weight)
{
    const tn_tensor *y = composites_rms_norm(x, weight, .eps = 0);
    check(near(y, 0, 3 / sqrt(12.5)) && near(y, 1, 2 * 4 / sqrt(12.5)), "rms_norm: the first row");
}

static void try_meta(void)
{
    const int64_t sizes[] = {5, 2};
    tn_tensor *x = NULL;
    tn_tensor_new(2, sizes, TN_F32, (tn_device){TN_META, -1}, &x);
    const tn_tensor *y = composites_rms_norm(x, x);
    check(y && y->numel == 10 && !y->data, "rms_norm on meta: a shape and no data");
    tn_release(x);
}

static void try_errors(tn_tensor *x)
{
    tn_tensor *number = NULL;
    tn_tensor_from_data(&(float){1}, TN_F32, 0, NULL, &number);
    check(!composites_rms_norm(number, x) && tn_error_last()->status == TN_ERR_ARGUMENT &&
              strstr(tn_error_last()->plugin, "composites"),
          "an error names the plugin");
    tn_release(number);
}

int main(int argc, char **argv)
{
    const float values[] = {3, 4, 0, 2}, others[] = {3, 2, 2, -1}, weights[] = {1, 2};
    const int64_t sizes[] = {2, 2};
    tn_tensor *x = NULL, *target = NULL, *weight = NULL;
    check(tn_plugins_load_default() == TN_OK, "Tenon's own plugins");
    check(argc == 2 && tn_plugin_load(argv[1], NULL) == TN_OK, "the plugin");
    check(tn_tensor_from_data(values, TN_F32, 2, sizes, &x) == TN_OK &&
              tn_tensor_from_data(others, TN_F32, 2, sizes, &target) == TN_OK &&
              tn_tensor_from_data(weights, TN_F32, 1, sizes, &weight) == TN_OK,
          "tensors");
    if (!failures)
        TN_SCOPE {
            try_mse(x, target);
            try_rms_norm(x, weight);
            try_meta();
            try_errors(x);
        }
    tn_release(x);
    tn_release(target);
    tn_release(weight);
    return failures ? 1 : 0;
}

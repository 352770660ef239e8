/* test_sim.c - tensors go to the device, are computed with there, and come back. What has no kernel
 * there is refused, or runs on the cpu, as TENON_SIM_FALLBACK says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/autograd.h>
#include <tenon/op.h>
#include <tenon/ops.h>
#include <tenon/runtime.h>
#include <tenon/tensor.h>

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

static tn_tensor *on_device(int64_t rows, int64_t cols, const float *values)
{
    const int64_t sizes[] = {rows, cols};
    tn_tensor *host, *t = NULL;
    if (tn_tensor_from_data(values, TN_F32, 2, sizes, &host) != TN_OK)
        return NULL;
    if (tn_tensor_new(2, sizes, TN_F32, sim, &t) == TN_OK)
        tn_release(tn_keep(tn_copy_(t, host)));
    tn_release(host);
    return t;
}

/* What is on the device, once it is copied back. */
static int holds(tn_tensor *t, int64_t n, const float *expected)
{
    const tn_device cpu = {TN_CPU, 0};
    tn_tensor *host = NULL;
    if (!t || t->device.type != sim.type || t->numel != n ||
        tn_tensor_new(t->ndim, t->sizes, TN_F32, cpu, &host) != TN_OK)
        return 0;
    tn_release(tn_keep(tn_copy_(host, t)));
    int same = memcmp(host->data, expected, (size_t)n * sizeof *expected) == 0;
    tn_release(host);
    return same;
}

static void try_kernels(tn_tensor *x, tn_tensor *y)
{
    TN_SCOPE {
        check(holds(x, 4, (float[]){1, -2, 3, -4}), "there and back");
        check(holds(tn_add(x, y, .alpha = TN_NUM(2)), 4, (float[]){21, 38, 63, 76}), "add");
        check(holds(tn_relu(tn_mul(x, y)), 4, (float[]){10, 0, 90, 0}), "mul, then relu");
        check(holds(tn_mm(x, y), 4, (float[]){-50, -60, -90, -100}), "mm");
        check(holds(tn_sum(x), 1, (float[]){-2}), "sum");
        check(holds(tn_add(tn_t(x), y), 4, (float[]){11, 23, 28, 36}), "a view needs no kernel");
        check(holds(tn_add_(tn_mul(x, y), y), 4, (float[]){20, -20, 120, -120}), "in place");
        tn_tensor *many = x;
        for (int i = 0; i < 200; i++)
            many = tn_add(many, y);
        check(holds(many, 4, (float[]){2001, 3998, 6003, 7996}), "much work, in order");
    }
}

static void try_refusals(tn_tensor *x)
{
    const int64_t size = 2;
    tn_tensor *t = NULL;
    TN_SCOPE {
        tn_tensor *host = tn_empty_memory_format(TN_INTS(2, 2), .dtype = TN_F32);
        check(!tn_add(x, host) && tn_error_last()->status == TN_ERR_DEVICE,
              "tensors of two devices do not mix");
    }
    check(tn_tensor_new(1, &size, TN_F32, (tn_device){sim.type, 7}, &t) == TN_ERR_DEVICE &&
              strstr(tn_error_last()->message, "sim:7"),
          "a device that is not there");
}

static void try_without_kernel(tn_tensor *x, int allowed)
{
    TN_SCOPE {
        tn_tensor *y = tn_exp2(x);
        if (!allowed) {
            check(!y && strstr(tn_error_last()->message, "no kernel for SIM"),
                  "an operator without a kernel is refused");
            continue;
        }
        check(holds(y, 4, (float[]){2, 0.25f, 8, 0.0625f}), "an operator without a kernel");
        check(holds(tn_neg_(y), 4, (float[]){-2, -0.25f, -8, -0.0625f}), "in place, too");
        tn_tensor *out = tn_empty_memory_format(TN_INTS(0), .dtype = TN_F32, .device = sim);
        check(tn_abs_out(x, out) == out && holds(out, 4, (float[]){1, 2, 3, 4}), "and out=");
        tn_tensor *both = tn_cat(TN_TENSORS(x, x), .dim = 1);
        check(holds(both, 8, (float[]){1, -2, 1, -2, 3, -4, 3, -4}), "and lists");
    }
}

/* d sum(x * y) / dx, with everything on the device. */
static void try_gradient(tn_tensor *x, tn_tensor *y)
{
    check(tn_set_requires_grad(x, true) == TN_OK, "x requires a gradient");
    TN_SCOPE {
        check(tn_backward_from(tn_sum(tn_mul(x, y))) == TN_OK, "backward");
        check(holds(tn_grad(x), 4, (float[]){10, 20, 30, 40}), "the gradient is y");
    }
    tn_set_requires_grad(x, false);
    tn_set_grad(x, NULL);
}

int main(int argc, char **argv)
{
    const char *fallback = getenv("TENON_SIM_FALLBACK");
    bool allowed = fallback && strcmp(fallback, "1") == 0;
    tn_plugin_handle *plugin = NULL;
    check(tn_plugins_load_default() == TN_OK, "Tenon's own plugins");
    check(argc == 2 && tn_plugin_load(argv[1], &plugin) == TN_OK, "the plugin");
    check(tn_device_parse("sim:1", &sim) == TN_OK, "the device has a name");
    tn_tensor *x = on_device(2, 2, (float[]){1, -2, 3, -4});
    tn_tensor *y = on_device(2, 2, (float[]){10, 20, 30, 40});
    check(x && y, "tensors on the device");
    if (!failures) {
        try_kernels(x, y);
        try_refusals(x);
        try_without_kernel(x, allowed);
        if (allowed)
            try_gradient(x, y);
        check(tn_plugin_unload(plugin) != TN_OK, "memory that is alive keeps the plugin");
    }
    tn_release(x);
    tn_release(y);
    check(tn_plugin_unload(plugin) == TN_OK, "then it goes");
    return failures ? 1 : 0;
}

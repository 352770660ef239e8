/* test_scale_shift.c - loads the plugin and calls its operators on cpu and meta, as a program
 * would. */
#include <stdio.h>
#include <string.h>

#include <tenon/autograd.h>
#include <tenon/op.h>
#include <tenon/runtime.h>
#include <tenon/tensor.h>

static int failures;

static void check(int ok, const char *what)
{
    printf("%s %s\n", ok ? "ok  " : "FAIL", what);
    if (!ok)
        printf("     %s\n", tn_error_last()->message);
    failures += !ok;
}

/* Sets an argument of a frame by its name; the frame is walked as data. */
static void set(const tn_op *op, void *frame, const char *name, const void *value)
{
    int results, args;
    const tn_field *f = tn_op_fields(op, &results, &args);
    for (int i = results; i < results + args; i++)
        if (strcmp(f[i].name, name) == 0)
            memcpy((char *)frame + f[i].offset, value, f[i].size);
}

static tn_tensor *call(const char *name, tn_tensor *self, double alpha, double beta, tn_tensor *out)
{
    _Alignas(16) char frame[256];
    const tn_op *op = tn_op_find(name);
    tn_scalar a = tn_scalar_float(alpha), b = tn_scalar_float(beta);
    if (!op || tn_op_frame_size(op) > sizeof frame)
        return NULL;
    tn_op_frame_init(op, frame);
    set(op, frame, "self", &self);
    set(op, frame, "alpha", &a);
    set(op, frame, "beta", &b);
    if (out)
        set(op, frame, "out", &out);
    if (tn_op_call(op, frame) != TN_OK)
        return NULL;
    return *(tn_tensor **)(frame + sizeof(tn_frame));
}

static int holds(const tn_tensor *t, const float *expected)
{
    return t && t->dtype == TN_F32 && t->numel == 3 &&
           memcmp(t->data, expected, 3 * sizeof *expected) == 0;
}

static void try_operator(const char *name, const char *inplace, const char *out_name)
{
    const float values[] = {1, 2, 3}, expected[] = {2.5f, 4.5f, 6.5f};
    const int64_t size = 3;
    tn_tensor *x, *out, *meta;
    if (tn_tensor_from_data(values, TN_F32, 1, &size, &x) ||
        tn_tensor_from_data(values, TN_F32, 1, &size, &out) ||
        tn_tensor_new(1, &size, TN_F32, (tn_device){TN_META, -1}, &meta)) {
        check(0, "tensors");
        return;
    }
    tn_tensor *y = call(name, x, 2, 0.5, NULL);
    check(holds(y, expected), name);
    tn_tensor *m = call(name, meta, 2, 0.5, NULL);
    check(m && m->device.type == TN_META && m->numel == 3 && !m->data, "the same on meta");
    tn_tensor *z = call(out_name, x, 2, 0.5, out);
    check(z == out && holds(out, expected), out_name);
    tn_tensor *w = call(inplace, x, 2, 0.5, NULL);
    check(w == x && holds(x, expected), inplace);
    tn_tensor *made[] = {y, m, z, w, x, out, meta};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        tn_release(made[i]);
}

/* The gradient of the sum of all results. */
static void try_gradient(const char *name)
{
    const float values[] = {1, 2, 3}, ones[] = {1, 1, 1}, expected[] = {2, 2, 2};
    const int64_t size = 3;
    tn_tensor *x = NULL, *one = NULL, *grad = NULL;
    if (tn_tensor_from_data(values, TN_F32, 1, &size, &x) ||
        tn_tensor_from_data(ones, TN_F32, 1, &size, &one) || tn_set_requires_grad(x, true)) {
        check(0, "tensors");
        return;
    }
    tn_tensor *y = call(name, x, 2, 0.5, NULL);
    const tn_tensors outputs = {&y, 1}, grads = {&one, 1}, inputs = {&x, 1};
    check(y && tn_grad_of(outputs, &grads, inputs, NULL, &grad) == TN_OK, "its gradient");
    check(holds(grad, expected), "which is alpha");
    tn_tensor *made[] = {grad, y, one, x};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        tn_release(made[i]);
}

int main(int argc, char **argv)
{
    tn_plugin_handle *plugin;
    check(argc == 2, "usage: test_scale_shift PLUGIN.so");
    check(tn_plugins_load_default() == TN_OK, "built-in plugins");
    check(argc == 2 && tn_plugin_load(argv[1], &plugin) == TN_OK, "the plugin");
    if (!failures) {
        try_operator("myops::scale_shift", "myops::scale_shift_", "myops::scale_shift.out");
        try_operator("myops::scale_shift_by_hand", "myops::scale_shift_by_hand_",
                     "myops::scale_shift_by_hand.out");
        try_gradient("myops::scale_shift");
        try_gradient("myops::scale_shift_by_hand");
        try_gradient("myops::scale_shift_function");
    }
    printf("%s\n", failures ? "FAILED" : "PASSED");
    return failures ? 1 : 0;
}

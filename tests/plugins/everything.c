/* everything.c - a plugin that registers one of each: operators with their forms, a structured one,
 * kernels under a device's key, a composite and an alias, a fallback, a device type, imports; and
 * counts its registrations. FAIL_AT=n makes the n-th one wrong. */
#include <tenon/plugin.h>

#include <stdlib.h>

#ifndef FAIL_AT
#define FAIL_AT 0
#endif

struct args {
    tn_frame frame;
    tn_tensor *result, *x;
};

static tn_status kernel(tn_call *call, void *frame)
{
    struct args *a = frame;
    return tn->tensor_new(call, 0, NULL, TN_F32, a->x->device, &a->result);
}

static tn_status shape(tn_call *call, const void *frame, tn_result *results)
{
    (void)call;
    const struct args *a = frame;
    results[0].ndim = 0;
    results[0].dtype = TN_F32;
    results[0].device = a->x->device;
    return TN_OK;
}

static tn_status alloc(tn_device device, size_t bytes, void **out)
{
    (void)device;
    *out = malloc(bytes);
    return *out ? TN_OK : TN_ERR_MEMORY;
}

static void release(tn_device device, void *data, size_t bytes)
{
    (void)device, (void)bytes;
    free(data);
}

static int step;

static bool wrong(void)
{
    return ++step == FAIL_AT;
}

static tn_status add_op(tn_registry *r, tn_op_decl op)
{
    if (wrong())
        op.schema = "plgall::wrong(Tensor x";
    return tn->register_ops(r, &op, 1);
}

static tn_status add_kernel(tn_registry *r, const char *schema, const char *key)
{
    tn_kernel_decl k = {.schema = schema, .key = wrong() ? "wrong" : key, .fn = kernel};
    return tn->register_kernels(r, &k, 1);
}

static tn_status add_device(tn_registry *r)
{
    static tn_device_decl device = {.name = "plgall", .key = "PLGALL", .free = release};
    int16_t type;
    device.alloc = wrong() ? NULL : alloc;
    return tn->register_device(r, &device, &type);
}

static tn_status add_import(tn_registry *r)
{
    static const tn_op *handle;
    const char *schema = wrong() ? "plgall::wrong(Tensor x) -> Tensor"
                                 : "aten::relu(Tensor self) -> Tensor";
    return tn->import_ops(r, &schema, &handle, 1);
}

static tn_status start(tn_registry *r)
{
    step = 0;
    TN_TRY(add_op(r, (tn_op_decl){.schema = "plgall::plain(Tensor x) -> Tensor"}));
    TN_TRY(add_op(r, (tn_op_decl){.schema = "plgall::formed(Tensor x) -> Tensor",
                                  .out = "plgall::formed.out(Tensor x, *, Tensor(a!) out) -> "
                                         "Tensor(a!)",
                                  .shape = shape}));
    TN_TRY(add_op(r, (tn_op_decl){.schema = "plgall::composite(Tensor x) -> Tensor"}));
    TN_TRY(add_device(r));
    TN_TRY(add_kernel(r, "plgall::plain(Tensor x) -> Tensor", "PLGALL"));
    TN_TRY(add_kernel(r, "plgall::plain(Tensor x) -> Tensor", "CPU"));
    TN_TRY(add_kernel(r, "plgall::formed(Tensor x) -> Tensor", "CPU"));
    TN_TRY(add_kernel(r, "plgall::composite(Tensor x) -> Tensor", "CompositeImplicitAutograd"));
    TN_TRY(add_kernel(r, "plgall::plain(Tensor x) -> Tensor", "Autograd"));
    TN_TRY(add_kernel(r, "*", "Functionalize"));
    return add_import(r);
}

TN_PLUGIN("everything", "1.0", start, NULL);

/* device.c - a plugin of border revision 1, reference: a device type with its memory, and a kernel
 * under its key.
 *
 *     abiref::iota(Tensor x) -> Tensor    0, 1, 2, .. on x's device, "abidev" */
#include <tenon/plugin.h>

#include <stdlib.h>
#include <string.h>

static tn_status alloc(tn_device device, size_t bytes, void **out)
{
    (void)device;
    *out = malloc(bytes);
    return *out ? TN_OK : tn->fail(NULL, TN_ERR_MEMORY, "abidev: no memory for %zu bytes", bytes);
}

static void release(tn_device device, void *data, size_t bytes)
{
    (void)device, (void)bytes;
    free(data);
}

static tn_status count(int32_t *out)
{
    *out = 2;
    return TN_OK;
}

static tn_status copy(tn_device to, void *dst, tn_device from, const void *src, size_t bytes)
{
    (void)to, (void)from;
    memcpy(dst, src, bytes);
    return TN_OK;
}

static tn_status synchronize(tn_device device)
{
    (void)device;
    return TN_OK;
}

#define TN_SCHEMA_iota "abiref::iota(Tensor x) -> Tensor"
struct tn_iota_args {
    tn_frame frame;
    tn_tensor *result, *x;
};

static tn_status iota(tn_call *call, struct tn_iota_args *a)
{
    TN_TRY(tn->tensor_new(call, a->x->ndim, a->x->sizes, TN_F64, a->x->device, &a->result));
    for (int64_t i = 0; i < a->result->numel; i++)
        ((double *)a->result->data)[i] = (double)i;
    return TN_OK;
}

static const tn_device_decl device = {.name = "abidev",
                                      .key = "ABIDEV",
                                      .alloc = alloc,
                                      .free = release,
                                      .count = count,
                                      .copy = copy,
                                      .synchronize = synchronize};
static const tn_op_decl ops[] = {{.schema = TN_SCHEMA_iota}};
static const tn_kernel_decl kernels[] = {TN_KERNEL(iota, "ABIDEV", iota)};

static tn_status start(tn_registry *r)
{
    int16_t type;
    TN_TRY(tn->register_device(r, &device, &type));
    TN_TRY(tn->register_ops(r, ops, TN_COUNT(ops)));
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

TN_PLUGIN("abiref_device", "1.0.0", start, NULL);

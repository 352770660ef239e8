/* claims.c - plugins whose declarations say what cannot be, one each: CASE is the name of a row below,
 * which is registered beside plgtest::f and one kernel for it. What each must be told is in
 * tests/unit/core/plugin/planted.c. */
#include <tenon/plugin.h>

#include <stdlib.h>
#include <string.h>

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
    const struct args *a = frame;
    (void)call;
    results[0] = (tn_result){.dtype = TN_F32, .device = a->x->device};
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

static tn_status stream_new(tn_device device, void **out)
{
    (void)device;
    *out = NULL;
    return TN_OK;
}

static tn_status alloc_on(tn_device device, void *stream, size_t bytes, void **out)
{
    (void)stream;
    return alloc(device, bytes, out);
}

static tn_status backward(tn_grad_call *g, const void *args)
{
    (void)args;
    return g->status;
}

/* ---- operators and kernels -------------------------------------------------------------------- */
#define F "plgtest::f(Tensor x) -> Tensor"
#define G "plgtest::g(Tensor x) -> Tensor"

static const struct {
    const char *name;
    tn_op_decl op;
} ops[] = {
    {"inplace_of_another_name",
     {.schema = G, .inplace = "plgtest::h_(Tensor(a!) x) -> Tensor(a!)"}},
    {"inplace_of_another_namespace",
     {.schema = G, .inplace = "other::g_(Tensor(a!) x) -> Tensor(a!)"}},
    {"inplace_that_writes_nothing",
     {.schema = G, .inplace = "plgtest::g_(Tensor x) -> Tensor", .shape = shape}},
    {"inplace_with_more",
     {.schema = G, .inplace = "plgtest::g_(Tensor(a!) x, int n) -> Tensor(a!)", .shape = shape}},
    {"out_of_another_name",
     {.schema = G, .out = "plgtest::h.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"}},
    {"out_with_other_arguments",
     {.schema = G,
      .out = "plgtest::g.out(int x, *, Tensor(a!) out) -> Tensor(a!)",
      .shape = shape}},
    {"out_without_out", {.schema = G, .out = "plgtest::g.out(Tensor x) -> Tensor", .shape = shape}},
    {"out_twice",
     {.schema = G,
      .out = "plgtest::g.out(Tensor x, *, Tensor(a!) a, Tensor(b!) b) -> Tensor(a!)",
      .shape = shape}},
    {"shape_and_pointwise", {.schema = G, .shape = shape, .pointwise = TN_POINTWISE}},
    {"unknown_pointwise", {.schema = G, .pointwise = TN_POINTWISE | 64}},
    {"unknown_op_dtypes", {.schema = G, .dtypes = 1u << 30}},
    {"core_namespace", {.schema = "aten::plgtest_g(Tensor x) -> Tensor"}},
    {"no_namespace", {.schema = "plgtest_g(Tensor x) -> Tensor"}},
};

static const struct {
    const char *name;
    tn_kernel_decl kernel;
} kernels[] = {
    {"unknown_kernel_dtypes", {.schema = F, .key = "Meta", .fn = kernel, .dtypes = 1u << 31}},
    {"unknown_kernel_flags", {.schema = F, .key = "Meta", .fn = kernel, .flags = 0x80}},
    {"kernel_of_another_namespace",
     {.schema = "other::f(Tensor x) -> Tensor", .key = "CPU", .fn = kernel}},
    {"core_kernel_twice",
     {.schema = "aten::relu(Tensor self) -> Tensor", .key = "CPU", .fn = kernel}},
    {"core_kernel_otherwise",
     {.schema = "aten::relu(Tensor self, int n) -> Tensor", .key = "CPU", .fn = kernel, .rank = 1}},
    {"fallback_that_is_taken", {.schema = "*", .key = "AutogradCPU", .fn = kernel}},
    {"empty_kernel_schema", {.schema = "", .key = "CPU", .fn = kernel}},
    {"empty_key", {.schema = F, .key = "", .fn = kernel}},
};

static const struct {
    const char *name;
    tn_device_decl device;
} devices[] = {
    {"device_without_name", {.key = "PLGNPU", .alloc = alloc, .free = release}},
    {"device_of_no_letters", {.name = "", .key = "PLGNPU", .alloc = alloc, .free = release}},
    {"device_with_path", {.name = "../npu", .key = "PLGNPU", .alloc = alloc, .free = release}},
    {"device_without_key", {.name = "plgnpu", .alloc = alloc, .free = release}},
    {"device_that_frees_nothing", {.name = "plgnpu", .key = "PLGNPU", .alloc = alloc}},
    {"device_with_flags",
     {.name = "plgnpu", .key = "PLGNPU", .alloc = alloc, .free = release, .flags = 2}},
    {"half_a_stream",
     {.name = "plgnpu",
      .key = "PLGNPU",
      .alloc = alloc,
      .free = release,
      .stream_new = stream_new}},
    {"half_an_allocator",
     {.name = "plgnpu", .key = "PLGNPU", .alloc = alloc, .free = release, .alloc_on = alloc_on}},
    {"device_with_the_cores_key",
     {.name = "plgnpu", .key = "CPU", .alloc = alloc, .free = release}},
};

/* ---- gradients, and lists that are none -------------------------------------------------------- */
#define N "plgtest::n(Tensor x, int n) -> Tensor"
#define D TN_FIELD_DIFFERENTIABLE

static tn_status derive(tn_registry *r, const tn_derivative_field fields[3])
{
    static const tn_op_decl op = {.schema = N};
    const tn_derivative_decl d = {.schema = N,
                                  .name = "NBackward",
                                  .backward = backward,
                                  .fields = fields,
                                  .n_fields = 3,
                                  .frame_size = sizeof(struct args) + 8};
    TN_TRY(tn->register_ops(r, &op, 1));
    return tn->register_derivatives(r, &d, 1);
}

static tn_status start_other(tn_registry *r, const char *name)
{
    const char *none = NULL;
    const tn_op *handle;
    int16_t type;
    if (strcmp(name, "derivative_of_a_number") == 0)
        return derive(r, (const tn_derivative_field[]){{D, 0, 0, 0}, {D, 0, 0, 0}, {D, 0, 0, 0}});
    if (strcmp(name, "derivative_that_keeps_for_nobody") == 0)
        return derive(r, (const tn_derivative_field[]){{D, 0, 0, 0}, {D, 0, 2, 0}, {0, 0, 0, 0}});
    if (strcmp(name, "derivative_that_keeps_a_number") == 0)
        return derive(r, (const tn_derivative_field[]){{D, 0, 0, 0}, {D, 0, 0, 0}, {0, 0, 1, 0}});
    if (strcmp(name, "no_ops") == 0)
        return tn->register_ops(r, NULL, 3);
    if (strcmp(name, "no_ops_and_no_word") == 0)
        return tn->register_ops(r, NULL, 3) == TN_OK ? TN_ERR_INTERNAL : TN_OK;
    if (strcmp(name, "no_kernels") == 0)
        return tn->register_kernels(r, NULL, 1);
    if (strcmp(name, "no_derivatives") == 0)
        return tn->register_derivatives(r, NULL, 1);
    if (strcmp(name, "no_import") == 0)
        return tn->import_ops(r, &none, &handle, 1);
    if (strcmp(name, "no_device") == 0)
        return tn->register_device(r, NULL, &type);
    if (strcmp(name, "no_device_number") == 0)
        return tn->register_device(r, &devices[0].device, NULL);
    return tn->fail(NULL, TN_ERR_INTERNAL, "no row '%s' in claims.c", name);
}

static tn_status start(tn_registry *r)
{
    static const tn_op_decl op = {.schema = F};
    static const tn_kernel_decl f = {
        .schema = F, .key = "CPU", .fn = kernel, .frame_size = sizeof(struct args)};
    int16_t type;
    TN_TRY(tn->register_ops(r, &op, 1));
    TN_TRY(tn->register_kernels(r, &f, 1));
    for (size_t i = 0; i < TN_COUNT(ops); i++)
        if (strcmp(ops[i].name, CASE) == 0)
            return tn->register_ops(r, &ops[i].op, 1);
    for (size_t i = 0; i < TN_COUNT(kernels); i++)
        if (strcmp(kernels[i].name, CASE) == 0)
            return tn->register_kernels(r, &kernels[i].kernel, 1);
    for (size_t i = 0; i < TN_COUNT(devices); i++)
        if (strcmp(devices[i].name, CASE) == 0)
            return tn->register_device(r, &devices[i].device, &type);
    return start_other(r, CASE);
}

TN_PLUGIN("claims", "1.0", start, NULL);

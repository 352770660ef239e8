/* declare.c - plugins that declare something wrong, one thing each. CASE is one of the names below;
 * what each must be told is in tests/unit/core/plugin/planted.c. NS is the namespace. */
#include <tenon/plugin.h>

#include <stdlib.h>

#ifndef NS
#define NS "plgtest"
#endif
#ifndef CASE
#define CASE fine
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
    (void)call, (void)frame, (void)results;
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

static tn_status count(int32_t *out)
{
    *out = 1;
    return TN_OK;
}

static const tn_op_decl op = {.schema = NS "::f(Tensor x) -> Tensor"};

/* The operator, and one kernel for it. */
static tn_status with_kernel(tn_registry *r, tn_kernel_decl k)
{
    TN_TRY(tn->register_ops(r, &op, 1));
    return tn->register_kernels(r, &k, 1);
}

static tn_status with_op(tn_registry *r, tn_op_decl o)
{
    return tn->register_ops(r, &o, 1);
}

static tn_status with_device(tn_registry *r, tn_device_decl d)
{
    int16_t type;
    return tn->register_device(r, &d, &type);
}

#define KERNEL(schema_, key_, fn_, size_)                                                          \
    ((tn_kernel_decl){schema_, key_, fn_, NULL, size_, 0, 0, 0, NULL, 0, 0})
#define F NS "::f(Tensor x) -> Tensor"
#define SIZE sizeof(struct args)
#define DEVICE(name_, key_)                                                                        \
    ((tn_device_decl){.name = name_, .key = key_, .alloc = alloc, .free = release, .count = count})

static tn_status fine(tn_registry *r)
{
    return with_kernel(r, KERNEL(F, "CPU", kernel, SIZE));
}
static tn_status frame_size(tn_registry *r)
{
    return with_kernel(r, KERNEL(F, "CPU", kernel, SIZE + 8));
}
static tn_status unknown_key(tn_registry *r)
{
    return with_kernel(r, KERNEL(F, "CPUU", kernel, SIZE));
}
static tn_status no_key(tn_registry *r)
{
    return with_kernel(r, KERNEL(F, NULL, kernel, SIZE));
}
static tn_status no_kernel_schema(tn_registry *r)
{
    return with_kernel(r, KERNEL(NULL, "CPU", kernel, SIZE));
}
static tn_status bad_kernel_schema(tn_registry *r)
{
    return with_kernel(r, KERNEL(NS "::f(Tensor x", "CPU", kernel, SIZE));
}
static tn_status other_kernel_schema(tn_registry *r)
{
    return with_kernel(r, KERNEL(NS "::f(int x) -> Tensor", "CPU", kernel, SIZE));
}
static tn_status kernel_of_nobody(tn_registry *r)
{
    return with_kernel(r, KERNEL(NS "::nobodys(Tensor x) -> Tensor", "CPU", kernel, SIZE));
}
static tn_status kernel_twice(tn_registry *r)
{
    TN_TRY(fine(r));
    tn_kernel_decl k = KERNEL(F, "CPU", kernel, SIZE);
    return tn->register_kernels(r, &k, 1);
}
static tn_status alias_falls_through(tn_registry *r)
{
    return with_kernel(r, KERNEL(F, "CompositeImplicitAutograd", NULL, SIZE));
}
static tn_status fallback_for_alias(tn_registry *r)
{
    return with_kernel(r, KERNEL("*", "CompositeImplicitAutograd", kernel, 0));
}
static tn_status op_twice(tn_registry *r)
{
    TN_TRY(fine(r));
    return with_op(r, op);
}
static tn_status op_twice_otherwise(tn_registry *r)
{
    TN_TRY(fine(r));
    return with_op(r, (tn_op_decl){.schema = NS "::f(Tensor x, int n) -> Tensor"});
}
static tn_status op_of_the_core(tn_registry *r)
{
    return with_op(r, (tn_op_decl){.schema = "aten::relu(Tensor self) -> Tensor"});
}
static tn_status op_without_schema(tn_registry *r)
{
    return with_op(r, (tn_op_decl){.since = "1.0"});
}
static tn_status bad_schema(tn_registry *r)
{
    return with_op(r, (tn_op_decl){.schema = NS "::g(Tensr x) -> Tensor"});
}
static tn_status default_then_none(tn_registry *r)
{
    return with_op(r, (tn_op_decl){.schema = NS "::g(Tensor x, int a=1, int b) -> Tensor"});
}
static tn_status long_name(tn_registry *r)
{
    static char schema[70000] = NS "::";
    for (size_t i = sizeof NS + 1; i < sizeof schema - 1; i++)
        schema[i] = 'a';
    return with_op(r, (tn_op_decl){.schema = schema});
}
static tn_status pointwise_without_tensor(tn_registry *r)
{
    return with_op(r, (tn_op_decl){.schema = NS "::g(int n) -> Tensor", .pointwise = TN_POINTWISE});
}
static tn_status five_results(tn_registry *r)
{
    return with_op(r, (tn_op_decl){.schema = NS "::g(Tensor x) -> (Tensor, Tensor, Tensor, Tensor, "
                                                "Tensor)",
                                   .shape = shape});
}
static tn_status missing_import(tn_registry *r)
{
    static const char *const schemas[] = {NS "_nobody::has(Tensor x) -> Tensor"};
    const tn_op *handle;
    TN_TRY(fine(r));
    return tn->import_ops(r, schemas, &handle, 1);
}
static tn_status other_import(tn_registry *r)
{
    static const char *const schemas[] = {"aten::relu(Tensor self, int n) -> Tensor"};
    const tn_op *handle;
    return tn->import_ops(r, schemas, &handle, 1);
}
static tn_status other_registry(tn_registry *r)
{
    (void)r;
    return tn->register_ops(NULL, &op, 1);
}
static tn_status device_twice(tn_registry *r)
{
    TN_TRY(with_device(r, DEVICE("plgnpu", "PLGNPU")));
    return with_device(r, DEVICE("plgnpu", "PLGNPU"));
}
static tn_status device_of_the_core(tn_registry *r)
{
    return with_device(r, DEVICE("cpu", "CPU"));
}
static tn_status device_with_index(tn_registry *r)
{
    return with_device(r, DEVICE("plgnpu:0", "PLGNPU"));
}
static tn_status device_without_memory(tn_registry *r)
{
    return with_device(r, (tn_device_decl){.name = "plgnpu", .key = "PLGNPU"});
}
static tn_status device_with_other_key(tn_registry *r)
{
    return with_device(r, DEVICE("plgnpu", "Meta"));
}
static tn_status too_many_devices(tn_registry *r)
{
    static char names[16][8];
    for (int i = 0; i < 16; i++) {
        names[i][0] = 'd';
        names[i][1] = (char)('a' + i);
        TN_TRY(with_device(r, DEVICE(names[i], names[i])));
    }
    return TN_OK;
}
static tn_status backward(tn_grad_call *g, const void *args)
{
    (void)args;
    return g->status;
}
static tn_status with_derivative(tn_registry *r, const char *schema, uint32_t n_fields,
                                 uint32_t size)
{
    static const tn_derivative_field fields[8] = {{.flags = TN_FIELD_DIFFERENTIABLE},
                                                  {.flags = TN_FIELD_DIFFERENTIABLE}};
    tn_derivative_decl d = {.schema = schema,
                            .name = "FBackward",
                            .backward = backward,
                            .fields = fields,
                            .n_fields = n_fields,
                            .frame_size = size};
    TN_TRY(fine(r));
    return tn->register_derivatives(r, &d, 1);
}
static tn_status with_second_derivative(tn_registry *r)
{
    static const tn_derivative_field fields[2] = {{.flags = TN_FIELD_DIFFERENTIABLE},
                                                  {.flags = TN_FIELD_DIFFERENTIABLE}};
    tn_derivative_decl d = {.schema = F,
                            .name = "G",
                            .backward = backward,
                            .fields = fields,
                            .n_fields = 2,
                            .frame_size = SIZE};
    return tn->register_derivatives(r, &d, 1);
}
static tn_status derivative_without_name(tn_registry *r)
{
    tn_derivative_decl d = {.schema = F, .n_fields = 2};
    TN_TRY(fine(r));
    return tn->register_derivatives(r, &d, 1);
}
static tn_status derivative_twice(tn_registry *r)
{
    TN_TRY(with_derivative(r, F, 2, SIZE));
    return with_second_derivative(r);
}
static tn_status derivative_of_nobody(tn_registry *r)
{
    return with_derivative(r, NS "::nobodys(Tensor x) -> Tensor", 2, SIZE);
}
static tn_status derivative_fields(tn_registry *r)
{
    return with_derivative(r, F, 3, SIZE);
}
static tn_status derivative_frame(tn_registry *r)
{
    return with_derivative(r, F, 2, SIZE + 16);
}
static tn_status derivative_schema(tn_registry *r)
{
    return with_derivative(r, NS "::f(Tensor x, int n) -> Tensor", 3, SIZE + 8);
}

/* All of them, so that none is unused. */
typedef tn_status (*case_fn)(tn_registry *r);
static const case_fn cases[] = {
    fine,
    frame_size,
    unknown_key,
    no_key,
    no_kernel_schema,
    bad_kernel_schema,
    other_kernel_schema,
    kernel_of_nobody,
    kernel_twice,
    alias_falls_through,
    fallback_for_alias,
    op_twice,
    op_twice_otherwise,
    op_of_the_core,
    op_without_schema,
    bad_schema,
    default_then_none,
    long_name,
    pointwise_without_tensor,
    five_results,
    missing_import,
    other_import,
    other_registry,
    device_twice,
    device_of_the_core,
    device_with_index,
    device_without_memory,
    device_with_other_key,
    too_many_devices,
    derivative_without_name,
    derivative_twice,
    derivative_of_nobody,
    derivative_fields,
    derivative_frame,
    derivative_schema,
};

static tn_status start(tn_registry *r)
{
    for (size_t i = 0; i < TN_COUNT(cases); i++)
        if (cases[i] == CASE)
            return CASE(r);
    return TN_ERR_INTERNAL;
}

TN_PLUGIN("declare", "1.0", start, NULL);

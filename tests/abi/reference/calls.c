/* calls.c - a plugin of border revision 1, reference: a composite operator that calls others through
 * handles, and an override by rank.
 *
 *     abiref::twice(Tensor x) -> Tensor       aten::add.Tensor(x, x)
 *     abiref::ranked(Tensor x) -> Tensor      two kernels; the one of rank 1 serves */
#include <tenon/plugin.h>

struct args {
    tn_frame frame;
    tn_tensor *result, *x;
};
#define tn_twice_args args
#define tn_ranked_args args
#define TN_SCHEMA_twice "abiref::twice(Tensor x) -> Tensor"
#define TN_SCHEMA_ranked "abiref::ranked(Tensor x) -> Tensor"

struct add_args {
    tn_frame frame;
    tn_tensor *result, *self, *other;
    tn_scalar alpha;
};

static const char *const imports[] = {
    "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"};
static const tn_op *handles[TN_COUNT(imports)];

static tn_status twice(tn_call *call, struct args *a)
{
    struct add_args inner = {.frame = {sizeof inner, 0}, .self = a->x, .other = a->x};
    (void)call;
    inner.alpha.kind = TN_SCALAR_INT;
    inner.alpha.v.i = 1;
    TN_TRY(tn->op_call(handles[0], &inner));
    a->result = inner.result;
    return TN_OK;
}

static tn_status rank(tn_call *call, struct args *a)
{
    TN_TRY(tn->tensor_new(call, 0, NULL, TN_F64, a->x->device, &a->result));
    *(double *)a->result->data = *(const double *)call->data;
    return TN_OK;
}

static const double zero = 0, one = 1;
static const tn_op_decl ops[] = {{.schema = TN_SCHEMA_twice}, {.schema = TN_SCHEMA_ranked}};

static tn_status start(tn_registry *r)
{
    tn_kernel_decl kernels[] = {TN_KERNEL(twice, "CompositeImplicitAutograd", twice),
                                TN_KERNEL_DATA(ranked, "CPU", rank, &zero),
                                TN_KERNEL_DATA(ranked, "CPU", rank, &one)};
    kernels[2].rank = 1;
    TN_TRY(tn->import_ops(r, imports, handles, TN_COUNT(imports)));
    TN_TRY(tn->register_ops(r, ops, TN_COUNT(ops)));
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

TN_PLUGIN("abiref_calls", "1.0.0", start, NULL);

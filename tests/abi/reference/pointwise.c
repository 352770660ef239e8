/* pointwise.c - a plugin of border revision 1, reference: a pointwise operator in three forms with
 * loops of its own, and one with a shape rule.
 *
 *     abiref::axpb(Tensor self, Scalar a, Scalar b) -> Tensor, axpb_, axpb.out
 *     abiref::rows(Tensor x) -> Tensor    sums of rows, the iterator by hand */
#include <tenon/plugin.h>

#define TN_SCHEMA_axpb "abiref::axpb(Tensor self, Scalar a, Scalar b) -> Tensor"
struct tn_axpb_args {
    tn_frame frame;
    tn_tensor *result, *self;
    tn_scalar a, b;
};

static double number(const tn_scalar *s)
{
    return s->kind == TN_SCALAR_FLOAT ? s->v.f : (double)s->v.i;
}

static void loop(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    const double *k = params;
    for (int64_t i = 0; i < n; i++)
        *(double *)(data[0] + i * strides[0]) = *(const double *)(data[1] + i * strides[1]) * k[0] +
                                                k[1];
}

static tn_status axpb(tn_call *call, struct tn_axpb_args *a)
{
    const double k[] = {number(&a->a), number(&a->b)};
    if (call->iter->dtype != TN_F64)
        return tn->fail(call, TN_ERR_DTYPE, "self: expected float64, got %s",
                        tn->dtype_name(call->iter->dtype));
    return tn->iter_run(call, call->iter, loop, k);
}

#define TN_SCHEMA_rows "abiref::rows(Tensor x) -> Tensor"
struct tn_rows_args {
    tn_frame frame;
    tn_tensor *result, *x;
};

static tn_status rows_shape(tn_call *call, const void *frame, tn_result *results)
{
    const struct tn_rows_args *a = frame;
    if (a->x->ndim != 2)
        return tn->fail(call, TN_ERR_ARGUMENT, "x: expected 2 dimensions, got %d", a->x->ndim);
    results->ndim = 1;
    results->sizes[0] = a->x->sizes[0];
    results->dtype = TN_F64;
    results->device = a->x->device;
    return TN_OK;
}

static void sum(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++)
        *(double *)(data[0] + i * strides[0]) += *(const double *)(data[1] + i * strides[1]);
}

static tn_status rows(tn_call *call, struct tn_rows_args *a)
{
    const int64_t sizes[] = {a->result->sizes[0], 1}, strides[] = {a->result->strides[0], 1};
    tn_tensor *column;
    tn_iter it;
    for (int64_t i = 0; i < a->result->numel; i++)
        ((double *)a->result->data)[i * a->result->strides[0]] = 0;
    TN_TRY(tn->tensor_view(call, a->result, 2, sizes, strides, tn->tensor_offset(a->result), TN_F64,
                           &column));
    tn_tensor *operands[] = {column, a->x};
    tn_status status = tn->iter_init(call, &it, 1, 2, operands, TN_F64, TN_DTYPE_NONE, 1);
    if (status == TN_OK)
        status = tn->iter_run(call, &it, sum, NULL);
    tn->tensor_release(column);
    return status;
}

static const tn_op_decl ops[] = {
    {.schema = TN_SCHEMA_axpb,
     .inplace = "abiref::axpb_(Tensor(a!) self, Scalar a, Scalar b) -> Tensor(a!)",
     .out = "abiref::axpb.out(Tensor self, Scalar a, Scalar b, *, Tensor(a!) out) -> Tensor(a!)",
     .pointwise = TN_POINTWISE | TN_POINTWISE_FLOAT},
    {.schema = TN_SCHEMA_rows, .shape = rows_shape},
};
static const tn_kernel_decl kernels[] = {TN_KERNEL(axpb, "CPU", axpb),
                                         TN_KERNEL(rows, "CPU", rows)};

static tn_status start(tn_registry *r)
{
    TN_TRY(tn->register_ops(r, ops, TN_COUNT(ops)));
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

TN_PLUGIN("abiref_pointwise", "1.0.0", start, NULL);

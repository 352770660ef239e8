/* gradient.c - a plugin of border revision 1, reference: an operator with a derivative of its own.
 *
 *     abiref::cube(Tensor x) -> Tensor    x * x * x; its gradient is called with x saved */
#include <tenon/plugin.h>

#define TN_SCHEMA_cube "abiref::cube(Tensor x) -> Tensor"
struct tn_cube_args {
    tn_frame frame;
    tn_tensor *result, *x;
};

static tn_status cube(tn_call *call, struct tn_cube_args *a)
{
    if (a->x->dtype != TN_F64 || !(a->x->flags & TN_TENSOR_CONTIGUOUS))
        return tn->fail(call, TN_ERR_DTYPE, "x: expected float64 in a row");
    TN_TRY(tn->tensor_new(call, a->x->ndim, a->x->sizes, TN_F64, a->x->device, &a->result));
    const double *x = a->x->data;
    for (int64_t i = 0; i < a->x->numel; i++)
        ((double *)a->result->data)[i] = x[i] * x[i] * x[i];
    return TN_OK;
}

/* 3 * x * x * grad, as operators so that it differentiates again: here (x * x) * (grad * 3). */
struct mul_args {
    tn_frame frame;
    tn_tensor *result, *self, *other;
};
struct scale_args {
    tn_frame frame;
    tn_tensor *result, *self;
    tn_scalar other;
};

static const char *const imports[] = {"aten::mul.Tensor(Tensor self, Tensor other) -> Tensor",
                                      "aten::mul.Scalar(Tensor self, Scalar other) -> Tensor"};
static const tn_op *handles[TN_COUNT(imports)];

static tn_status cube_backward(tn_grad_call *g, const void *args)
{
    const struct tn_cube_args *a = args;
    struct mul_args square = {.frame = {sizeof square, 0}, .self = a->x, .other = a->x};
    struct scale_args thrice = {.frame = {sizeof thrice, 0}, .self = g->in[0]};
    thrice.other.kind = TN_SCALAR_INT;
    thrice.other.v.i = 3;
    if (!(g->wants & 1) || !g->in[0])
        return g->status;
    tn->grad_call_op(g, handles[0], &square, &square.result);
    tn->grad_call_op(g, handles[1], &thrice, &thrice.result);
    struct mul_args product = {
        .frame = {sizeof product, 0}, .self = square.result, .other = thrice.result};
    if (g->status == TN_OK)
        g->status = tn->op_call(handles[0], &product);
    if (g->status == TN_OK)
        g->out[g->first[0]] = product.result;
    return g->status;
}

static const tn_derivative_field fields[] = {{.flags = TN_FIELD_DIFFERENTIABLE},
                                             {.flags = TN_FIELD_DIFFERENTIABLE, .value_for = 1}};
static const tn_derivative_decl derivatives[] = {{.schema = TN_SCHEMA_cube,
                                                  .name = "CubeBackward",
                                                  .backward = cube_backward,
                                                  .fields = fields,
                                                  .n_fields = TN_COUNT(fields),
                                                  .frame_size = sizeof(struct tn_cube_args)}};
static const tn_op_decl ops[] = {{.schema = TN_SCHEMA_cube}};
static const tn_kernel_decl kernels[] = {TN_KERNEL(cube, "CPU", cube)};

static tn_status start(tn_registry *r)
{
    TN_TRY(tn->import_ops(r, imports, handles, TN_COUNT(imports)));
    TN_TRY(tn->register_ops(r, ops, TN_COUNT(ops)));
    TN_TRY(tn->register_kernels(r, kernels, TN_COUNT(kernels)));
    return tn->register_derivatives(r, derivatives, TN_COUNT(derivatives));
}

TN_PLUGIN("abiref_gradient", "1.0.0", start, NULL);

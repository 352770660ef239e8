/* products.c - matmul and linear, which come down to mm, bmm and addmm.
 *
 * matmul: a vector becomes a matrix of one row (left) or one column (right) and loses that
 * dimension in the end. Batches times one matrix fold into the rows of one mm; otherwise both sides
 * are broadcast to one batch dimension for bmm. */
#include "composite.h"

#include <inttypes.h>

static tn_status call_mm(tn_tensor *self, tn_tensor *mat2, tn_tensor **out)
{
    struct tn_mm_args f = {TN_FRAME(mm), .self = self, .mat2 = mat2};
    TN_TRY(tn->op_call(composite_ops[OP_MM], &f));
    *out = f.result;
    return TN_OK;
}

static tn_status call_bmm(tn_tensor *self, tn_tensor *mat2, tn_tensor **out)
{
    struct tn_bmm_args f = {TN_FRAME(bmm), .self = self, .mat2 = mat2};
    TN_TRY(tn->op_call(composite_ops[OP_BMM], &f));
    *out = f.result;
    return TN_OK;
}

/* Replaces *t by `made`: a step in a chain whose links are released as it goes. */
static void step_to(tn_tensor **t, tn_tensor *made)
{
    tn->tensor_release(*t);
    *t = made;
}

/* ---- matmul ---------------------------------------------------------------------------------- */
/* The batch's sizes, and the rows and columns of the result, which are absent where a vector came
 * in. */
typedef struct product {
    tn_tensor *left, *right; /* of 2 dimensions or more, references held here */
    int64_t ndim, batch[TN_MAX_DIMS];
    bool row, column; /* the result keeps these dimensions */
} product;

static tn_status check_factors(tn_call *call, const tn_tensor *self, const tn_tensor *other)
{
    char a[COMPOSITE_SHAPE_CHARS], b[COMPOSITE_SHAPE_CHARS];
    if (self->ndim == 0 || other->ndim == 0)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "%s: expected 1 dimension or more, got a tensor of 0 dimensions",
                        self->ndim == 0 ? "self" : "other");
    int64_t k = self->sizes[self->ndim - 1];
    if (k == other->sizes[other->ndim == 1 ? 0 : other->ndim - 2])
        return TN_OK;
    return tn->fail(call, TN_ERR_ARGUMENT,
                    "shapes %s and %s do not multiply: the columns of the first, %" PRId64
                    ", must be as many as the rows of the second",
                    composite_shape_text(a, self->ndim, self->sizes),
                    composite_shape_text(b, other->ndim, other->sizes), k);
}

static tn_status open_product(tn_call *call, tn_tensor *self, tn_tensor *other, product *p)
{
    p->row = self->ndim > 1;
    p->column = other->ndim > 1;
    TN_TRY(p->row ? composite_return_self(self, &p->left) : op_unsqueeze(self, 0, &p->left));
    TN_TRY(p->column ? composite_return_self(other, &p->right) : op_unsqueeze(other, 1, &p->right));
    p->ndim = 0;
    tn_ints left = {p->left->sizes, p->left->ndim - 2},
            right = {p->right->sizes, p->right->ndim - 2};
    TN_TRY(composite_broadcast(call, left, p->batch, &p->ndim));
    return composite_broadcast(call, right, p->batch, &p->ndim);
}

/* All dimensions of the left but its last become rows. */
static tn_status by_mm(tn_call *call, product *p, tn_tensor **out)
{
    tn_tensor *made, *left = p->left;
    int64_t k = left->sizes[left->ndim - 1], rows = 1;
    for (int d = 0; d < left->ndim - 1; d++)
        if (__builtin_mul_overflow(rows, left->sizes[d], &rows))
            return tn->fail(call, TN_ERR_OVERFLOW, "overflow: self has too many rows");
    if (left->ndim > 2) {
        TN_TRY(composite_reshape(call, left, (tn_ints){(int64_t[]){rows, k}, 2}, &made));
        step_to(&p->left, made);
    }
    return call_mm(p->left, p->right, out);
}

/* [batch..., rows, columns] of one factor as [product of batch, rows, columns]. */
static tn_status to_batch(tn_call *call, const product *p, int64_t batches, tn_tensor **factor)
{
    tn_tensor *t = *factor, *made;
    int64_t full[TN_MAX_DIMS], flat[3] = {batches, t->sizes[t->ndim - 2], t->sizes[t->ndim - 1]};
    for (int64_t d = 0; d < p->ndim; d++)
        full[d] = p->batch[d];
    full[p->ndim] = flat[1];
    full[p->ndim + 1] = flat[2];
    TN_TRY(op_expand(t, (tn_ints){full, p->ndim + 2}, &made));
    step_to(factor, made);
    TN_TRY(composite_reshape(call, *factor, (tn_ints){flat, 3}, &made));
    step_to(factor, made);
    return TN_OK;
}

static tn_status by_bmm(tn_call *call, product *p, tn_tensor **out)
{
    int64_t batches = 1;
    for (int64_t d = 0; d < p->ndim; d++)
        if (__builtin_mul_overflow(batches, p->batch[d], &batches))
            return tn->fail(call, TN_ERR_OVERFLOW, "overflow: the batch has too many matrices");
    TN_TRY(to_batch(call, p, batches, &p->left));
    TN_TRY(to_batch(call, p, batches, &p->right));
    return call_bmm(p->left, p->right, out);
}

/* The product of flat matrices in the shape that matmul promises. */
static tn_status reshaped(const product *p, int64_t rows, int64_t columns, tn_tensor **result)
{
    int64_t sizes[TN_MAX_DIMS], n = p->ndim;
    tn_tensor *made;
    for (int64_t d = 0; d < n; d++)
        sizes[d] = p->batch[d];
    if (p->row)
        sizes[n++] = rows;
    if (p->column)
        sizes[n++] = columns;
    tn_status status = op_view(*result, (tn_ints){sizes, n}, &made);
    step_to(result, status == TN_OK ? made : NULL);
    return status;
}

static tn_status multiply(tn_call *call, tn_tensor *self, tn_tensor *other, product *p,
                          tn_tensor **out)
{
    TN_TRY(open_product(call, self, other, p));
    int64_t rows = p->left->sizes[p->left->ndim - 2];
    int64_t columns = p->right->sizes[p->right->ndim - 1];
    TN_TRY(p->right->ndim == 2 ? by_mm(call, p, out) : by_bmm(call, p, out));
    return reshaped(p, rows, columns, out);
}

static tn_status product_of(tn_call *call, tn_tensor *self, tn_tensor *other, tn_tensor **out)
{
    product p = {.left = NULL};
    TN_TRY(check_factors(call, self, other));
    if (self->ndim == 2 && other->ndim == 2)
        return call_mm(self, other, out);
    tn_status status = multiply(call, self, other, &p, out);
    tn->tensor_release(p.left);
    tn->tensor_release(p.right);
    return status;
}

static tn_status matmul(tn_call *call, struct tn_matmul_args *a)
{
    return product_of(call, a->self, a->other, &a->result);
}

/* ---- linear ---------------------------------------------------------------------------------- */
static tn_status add_bias(tn_tensor *product, tn_tensor *bias, tn_tensor **out)
{
    struct tn_add__Tensor_args f = {TN_FRAME(add__Tensor), .self = product, .other = bias,
                                    .alpha = {.v.i = 1, .kind = TN_SCALAR_INT}};
    tn_status status = tn->op_call(composite_ops[OP_ADD_], &f);
    tn->tensor_release(product); /* the frame's result holds it too */
    *out = f.result;
    return status;
}

static tn_status call_addmm(tn_tensor *bias, tn_tensor *input, tn_tensor *weight, tn_tensor **out)
{
    struct tn_addmm_args f = {TN_FRAME(addmm),
                              .self = bias,
                              .mat1 = input,
                              .mat2 = weight,
                              .beta = {.v.i = 1, .kind = TN_SCALAR_INT},
                              .alpha = {.v.i = 1, .kind = TN_SCALAR_INT}};
    TN_TRY(tn->op_call(composite_ops[OP_ADDMM], &f));
    *out = f.result;
    return TN_OK;
}

static tn_status multiply_add(tn_call *call, tn_tensor *input, tn_tensor *turned, tn_tensor *bias,
                              tn_tensor **out)
{
    if (input->ndim == 2 && turned->ndim == 2 && bias)
        return call_addmm(bias, input, turned, out);
    tn_tensor *product;
    TN_TRY(product_of(call, input, turned, &product));
    if (bias)
        return add_bias(product, bias, out);
    *out = product;
    return TN_OK;
}

static tn_status linear(tn_call *call, struct tn_linear_args *a)
{
    struct tn_t_args f = {TN_FRAME(t), .self = a->weight};
    TN_TRY(tn->op_call(composite_ops[OP_T], &f));
    tn_status status = multiply_add(call, a->input, f.result, a->bias, &a->result);
    tn->tensor_release(f.result);
    return status;
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(matmul, IMPLICIT, matmul),
    TN_KERNEL(linear, IMPLICIT, linear),
};
const composite_kernels composite_products = {kernels, TN_COUNT(kernels)};

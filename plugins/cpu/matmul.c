/* matmul.c - mm, bmm, addmm: the operators' rules; gemm.c multiplies.
 *
 * Operands go on with their strides, so a transposed one is never copied. */
#include "cpu.h"
#include "gemm.h"

static cpu_matrix matrix_of(const tn_tensor *t)
{
    int row = t->ndim - 2;
    return (cpu_matrix){(char *)t->data, t->strides[row], t->strides[row + 1],
                        t->ndim == 3 ? t->strides[0] : 0};
}

/* The core lets an output be the very same elements as an input, which elementwise kernels bear and
 * a product does not. */
static tn_status check_apart(tn_call *call, const tn_tensor *out, const tn_tensor *in,
                             const char *name)
{
    if (out->numel == 0 || in->numel == 0)
        return TN_OK;
    TN_TRY(tn->check_no_overlap(call, out, in));
    if (out->data != in->data)
        return TN_OK;
    return tn->fail(
        call, TN_ERR_OVERLAP,
        "the result shares its memory with %s, which the product still reads; clone() %s first",
        name, name);
}

static tn_status multiply(tn_call *call, tn_tensor *out, const tn_tensor *a, const char *a_name,
                          const tn_tensor *b, tn_number alpha, tn_number beta)
{
    TN_TRY(check_apart(call, out, a, a_name));
    TN_TRY(check_apart(call, out, b, "mat2"));
    cpu_product p = {.m = a->sizes[a->ndim - 2],
                     .n = b->sizes[b->ndim - 1],
                     .k = a->sizes[a->ndim - 1],
                     .a = matrix_of(a),
                     .b = matrix_of(b),
                     .c = matrix_of(out),
                     .alpha = alpha,
                     .beta = beta};
    return cpu_gemm(call, a->dtype, a->ndim == 3 ? a->sizes[0] : 1, &p);
}

static tn_status product(tn_call *call, tn_tensor *result, tn_tensor *a, tn_tensor *b)
{
    const tn_scalar one = {{.i = 1}, TN_SCALAR_INT, 0}, zero = {{.i = 0}, TN_SCALAR_INT, 0};
    TN_TRY(cpu_check_dtype(call, result, a->dtype));
    return multiply(call, result, a, "self", b, tn_number_of(a->dtype, &one),
                    tn_number_of(a->dtype, &zero));
}

static tn_status mm(tn_call *call, struct tn_mm_args *a)
{
    return product(call, a->result, a->self, a->mat2);
}

static tn_status bmm(tn_call *call, struct tn_bmm_args *a)
{
    return product(call, a->result, a->self, a->mat2);
}

/* Integers are scaled by what alpha and beta are when cut to integers, as in ATen. */
static tn_status check_factor(tn_call *call, const tn_scalar *x, tn_dtype dtype, const char *name)
{
    if (x->kind != TN_SCALAR_COMPLEX || tn_dtype_in(dtype, TN_DTYPES_COMPLEX))
        return TN_OK;
    return tn->fail(call, TN_ERR_DTYPE,
                    "%s is a complex number, which %s matrices cannot be scaled by", name,
                    tn->dtype_name(dtype));
}

static bool is_zero(const tn_scalar *x)
{
    if (x->kind == TN_SCALAR_COMPLEX)
        return x->v.c[0] == 0 && x->v.c[1] == 0;
    return x->kind == TN_SCALAR_FLOAT ? x->v.f == 0 : x->v.i == 0;
}

/* beta * self is read from the result, so self is copied there first, unless beta is 0: then self
 * counts for nothing. */
static tn_status addmm(tn_call *call, struct tn_addmm_args *a)
{
    tn_dtype dtype = a->mat1->dtype;
    TN_TRY(check_factor(call, &a->alpha, dtype, "alpha"));
    TN_TRY(check_factor(call, &a->beta, dtype, "beta"));
    TN_TRY(cpu_check_dtype(call, a->result, dtype));
    TN_TRY(check_apart(call, a->result, a->mat1, "mat1"));
    TN_TRY(check_apart(call, a->result, a->mat2, "mat2"));
    if (a->result != a->self && !is_zero(&a->beta))
        TN_TRY(cpu_copy_elements(call, a->result, a->self));
    return multiply(call, a->result, a->mat1, "mat1", a->mat2, tn_number_of(dtype, &a->alpha),
                    tn_number_of(dtype, &a->beta));
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(mm, "CPU", mm),
    TN_KERNEL(bmm, "CPU", bmm),
    TN_KERNEL(addmm, "CPU", addmm),
};
const cpu_kernels cpu_matmul = {kernels, TN_COUNT(kernels)};

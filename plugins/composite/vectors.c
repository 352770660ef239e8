/* vectors.c - products with vectors and with an addend: dot, vdot, mv, outer, inner, addmv, addr,
 * baddbmm, addbmm. All come down to mm, bmm and multiplication. A beta of 0 leaves the addend out,
 * NaN and all. */
#include <inttypes.h>

#include <tenon/number.h>

#include "work.h"

static tn_status check_ndim(tn_call *call, const char *name, const tn_tensor *t, int ndim)
{
    if (t->ndim == ndim)
        return TN_OK;
    return tn->fail(call, TN_ERR_ARGUMENT, "%s: expected %d dimension%s, got %d", name, ndim,
                    ndim == 1 ? "" : "s", t->ndim);
}

static bool is_zero(const tn_scalar *s)
{
    return tn_scalar_as_double(s) == 0 && tn_scalar_imaginary(s) == 0;
}

static bool is_one(const tn_scalar *s)
{
    return tn_scalar_as_double(s) == 1 && tn_scalar_imaginary(s) == 0;
}

/* A factor as the dtype has it: integers keep their dtype, so a fraction is cut off. */
static tn_scalar as_factor(tn_scalar s, tn_dtype dtype)
{
    if (dtype == TN_BOOL)
        return (tn_scalar){.v.i = !is_zero(&s), .kind = TN_SCALAR_BOOL};
    return tn_dtype_in(dtype, TN_DTYPES_WHOLE) ? work_whole(tn_scalar_as_int(&s)) : s;
}

static bool is_half(const tn_tensor *t)
{
    return t->dtype == TN_F16 || t->dtype == TN_BF16;
}

/* Halves are widened, so that the product and the sum are rounded once, in the end. */
static tn_tensor *wide(work *w, tn_tensor *t)
{
    return t && is_half(t) ? work_as_dtype(w, t, TN_F32) : t;
}

/* beta * self + alpha * product, in the product's shape and self's dtype. */
static tn_tensor *added(work *w, tn_tensor *self, tn_tensor *product, tn_scalar beta,
                        tn_scalar alpha)
{
    if (!product)
        return NULL;
    alpha = as_factor(alpha, product->dtype);
    beta = as_factor(beta, product->dtype);
    if (!is_one(&alpha))
        product = work_mul_number(w, product, alpha);
    if (is_zero(&beta))
        return product;
    tn_tensor *addend = wide(w, work_expand(w, self, composite_sizes(product)));
    if (!is_one(&beta))
        addend = work_mul_number(w, addend, beta);
    return work_add(w, product, addend);
}

static tn_status end_sum(work *w, const tn_tensor *self, tn_tensor *sum, tn_tensor **out)
{
    return work_end(w, is_half(self) ? work_as_dtype(w, sum, self->dtype) : sum, out);
}

/* ---- vectors --------------------------------------------------------------------------------- */
static tn_tensor *dot_of(work *w, tn_tensor *self, tn_tensor *other)
{
    tn_tensor *row = work_unsqueeze(w, self, 0), *column = work_unsqueeze(w, other, 1);
    return work_reshape(w, work_mm(w, row, column), (tn_ints){NULL, 0});
}

static tn_status check_dot(tn_call *call, const tn_tensor *self, const tn_tensor *other,
                           const char *name)
{
    TN_TRY(check_ndim(call, "self", self, 1));
    TN_TRY(check_ndim(call, name, other, 1));
    if (self->dtype != other->dtype)
        return tn->fail(call, TN_ERR_DTYPE, "%s has dtype %s; expected self's %s", name,
                        tn->dtype_name(other->dtype), tn->dtype_name(self->dtype));
    if (self->numel != other->numel)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "%s: expected as many elements as self, %" PRId64 ", got %" PRId64, name,
                        self->numel, other->numel);
    return TN_OK;
}

static tn_status dot(tn_call *call, struct tn_dot_args *a)
{
    work w = work_on(call);
    TN_TRY(check_dot(call, a->self, a->tensor, "tensor"));
    return work_end(&w, dot_of(&w, a->self, a->tensor), &a->result);
}

static tn_status vdot(tn_call *call, struct tn_vdot_args *a)
{
    work w = work_on(call);
    TN_TRY(check_dot(call, a->self, a->other, "other"));
    return work_end(&w, dot_of(&w, work_conj(&w, a->self), a->other), &a->result);
}

static tn_tensor *mv_of(work *w, tn_tensor *mat, tn_tensor *vec)
{
    return work_squeeze(w, work_mm(w, mat, work_unsqueeze(w, vec, 1)), 1);
}

static tn_status mv(tn_call *call, struct tn_mv_args *a)
{
    work w = work_on(call);
    TN_TRY(check_ndim(call, "self", a->self, 2));
    TN_TRY(check_ndim(call, "vec", a->vec, 1));
    return work_end(&w, mv_of(&w, a->self, a->vec), &a->result);
}

static tn_tensor *outer_of(work *w, tn_tensor *self, tn_tensor *other)
{
    return work_mul(w, work_unsqueeze(w, self, 1), other);
}

static tn_status outer(tn_call *call, struct tn_outer_args *a)
{
    work w = work_on(call);
    TN_TRY(check_ndim(call, "self", a->self, 1));
    TN_TRY(check_ndim(call, "vec2", a->vec2, 1));
    return work_end(&w, outer_of(&w, a->self, a->vec2), &a->result);
}

/* The last dimensions multiply and go; a number multiplies everything. */
static tn_status inner(tn_call *call, struct tn_inner_args *a)
{
    work w = work_on(call);
    tn_tensor *x = a->self, *y = a->other;
    int64_t sizes[TN_MAX_DIMS], n = 0;
    if (x->ndim == 0 || y->ndim == 0)
        return work_end(&w, work_mul(&w, x, y), &a->result);
    int64_t k = x->sizes[x->ndim - 1];
    if (k != y->sizes[y->ndim - 1])
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "the last dimensions must agree, got %" PRId64 " and %" PRId64, k,
                        y->sizes[y->ndim - 1]);
    TN_TRY(composite_check_rank(call, x->ndim + y->ndim - 2));
    for (int d = 0; d < x->ndim - 1; d++)
        sizes[n++] = x->sizes[d];
    for (int d = 0; d < y->ndim - 1; d++)
        sizes[n++] = y->sizes[d];
    int64_t left[] = {1, k}, right[] = {1, k};
    for (int d = 0; d < x->ndim - 1; d++)
        left[0] *= x->sizes[d];
    for (int d = 0; d < y->ndim - 1; d++)
        right[0] *= y->sizes[d];
    x = work_reshape(&w, x, (tn_ints){left, 2});
    y = work_transpose(&w, work_reshape(&w, y, (tn_ints){right, 2}), 0, 1);
    return work_end(&w, work_reshape(&w, work_mm(&w, x, y), (tn_ints){sizes, n}), &a->result);
}

/* ---- with an addend -------------------------------------------------------------------------- */
static tn_status addmv(tn_call *call, struct tn_addmv_args *a)
{
    work w = work_on(call);
    TN_TRY(check_ndim(call, "mat", a->mat, 2));
    TN_TRY(check_ndim(call, "vec", a->vec, 1));
    tn_tensor *product = mv_of(&w, wide(&w, a->mat), wide(&w, a->vec));
    return end_sum(&w, a->self, added(&w, a->self, product, a->beta, a->alpha), &a->result);
}

static tn_status addr(tn_call *call, struct tn_addr_args *a)
{
    work w = work_on(call);
    TN_TRY(check_ndim(call, "vec1", a->vec1, 1));
    TN_TRY(check_ndim(call, "vec2", a->vec2, 1));
    tn_tensor *product = outer_of(&w, wide(&w, a->vec1), wide(&w, a->vec2));
    return end_sum(&w, a->self, added(&w, a->self, product, a->beta, a->alpha), &a->result);
}

static tn_status baddbmm(tn_call *call, struct tn_baddbmm_args *a)
{
    work w = work_on(call);
    tn_tensor *product = work_bmm(&w, wide(&w, a->batch1), wide(&w, a->batch2));
    return end_sum(&w, a->self, added(&w, a->self, product, a->beta, a->alpha), &a->result);
}

static tn_status addbmm(tn_call *call, struct tn_addbmm_args *a)
{
    work w = work_on(call);
    const int64_t batch = 0;
    tn_tensor *products = work_bmm(&w, wide(&w, a->batch1), wide(&w, a->batch2));
    tn_tensor *product = work_sum(&w, products, (tn_ints){&batch, 1}, false);
    product = product ? work_as_dtype(&w, product, products->dtype) : NULL;
    return end_sum(&w, a->self, added(&w, a->self, product, a->beta, a->alpha), &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(dot, IMPLICIT, dot),       TN_KERNEL(vdot, IMPLICIT, vdot),
    TN_KERNEL(mv, IMPLICIT, mv),         TN_KERNEL(outer, IMPLICIT, outer),
    TN_KERNEL(inner, IMPLICIT, inner),   TN_KERNEL(addmv, IMPLICIT, addmv),
    TN_KERNEL(addr, IMPLICIT, addr),     TN_KERNEL(baddbmm, IMPLICIT, baddbmm),
    TN_KERNEL(addbmm, IMPLICIT, addbmm),
};
const composite_kernels composite_vectors = {kernels, TN_COUNT(kernels)};

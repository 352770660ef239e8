/* norms.c - norms and what is made of them: linalg_vector_norm, the norm overloads, dist,
 * cosine_similarity. Halves are widened to f32 and rounded once, at the end. */
#include "work.h"

#include <math.h>

static bool is_half(tn_dtype dtype)
{
    return dtype == TN_F16 || dtype == TN_BF16;
}

static bool is_complex(tn_dtype dtype)
{
    return (TN_DTYPE_BIT(dtype) & TN_DTYPES_COMPLEX) != 0;
}

static tn_dtype real_of(tn_dtype dtype)
{
    return dtype == TN_C64 ? TN_F32 : dtype == TN_C128 ? TN_F64 : dtype;
}

/* (sum |x|^p)^(1/p), and its limits. */
static tn_tensor *norm_of(work *w, tn_tensor *x, double p, tn_ints dim, bool keepdim)
{
    tn_tensor *size = work_abs(w, x);
    if (!size)
        return NULL;
    if (p == 0)
        return work_sum(w, work_as_dtype(w, work_ne(w, size, work_whole(0)), size->dtype), dim,
                        keepdim);
    if (p == 1)
        return work_sum(w, size, dim, keepdim);
    if (p == 2)
        return work_sqrt(w, work_sum(w, work_mul(w, size, size), dim, keepdim));
    if (isinf(p) && size->numel == 0 && p > 0)
        return work_sum(w, size, dim, keepdim);
    if (isinf(p))
        return p > 0 ? work_amax(w, size, dim, keepdim) : work_amin(w, size, dim, keepdim);
    tn_tensor *sum = work_sum(w, work_pow(w, size, work_number(p)), dim, keepdim);
    return work_pow(w, sum, work_number(1 / p));
}

static tn_status check_dtypes(tn_call *call, tn_dtype self, tn_dtype asked)
{
    tn_dtypes numbers = TN_DTYPES_FLOATING | TN_DTYPES_COMPLEX;
    if (!(TN_DTYPE_BIT(self) & numbers))
        return tn->fail(call, TN_ERR_DTYPE, "self: expected a floating or complex tensor, got %s",
                        tn->dtype_name(self));
    if (asked == TN_DTYPE_NONE)
        return TN_OK;
    if (!(TN_DTYPE_BIT(asked) & numbers) || is_complex(asked) != is_complex(self))
        return tn->fail(call, TN_ERR_DTYPE, "dtype: expected a %s dtype as self's, got %s",
                        is_complex(self) ? "complex" : "floating", tn->dtype_name(asked));
    if (tn->promote(self, asked) != asked)
        return tn->fail(call, TN_ERR_DTYPE, "dtype: %s is narrower than self's %s",
                        tn->dtype_name(asked), tn->dtype_name(self));
    return TN_OK;
}

static tn_status vector_norm(tn_call *call, struct tn_linalg_vector_norm_args *a)
{
    work w = work_on(call);
    TN_TRY(check_dtypes(call, a->self->dtype, a->dtype));
    if (a->ord.kind == TN_SCALAR_COMPLEX)
        return tn->fail(call, TN_ERR_ARGUMENT, "ord: expected a real number, got a complex one");
    double p = a->ord.kind == TN_SCALAR_FLOAT ? a->ord.v.f : (double)a->ord.v.i;
    tn_dtype dtype = a->dtype != TN_DTYPE_NONE ? a->dtype : a->self->dtype;
    tn_dtype inner = is_half(dtype) ? TN_F32 : dtype;
    if (a->self->numel == 0 && p < 0)
        return tn->fail(call, TN_ERR_INDEX, "self has no elements; ord %g has no value there", p);
    tn_tensor *t = norm_of(&w, work_as_dtype(&w, a->self, inner), p, a->dim, a->keepdim);
    return work_end(&w, work_as_dtype(&w, t, real_of(dtype)), &a->result);
}

/* ---- what is the same by definition ---------------------------------------------------------- */
static tn_tensor *call_norm(work *w, tn_tensor *self, tn_scalar ord, tn_ints dim, bool keepdim)
{
    if (!self)
        return NULL;
    struct tn_linalg_vector_norm_args f = {
        TN_FRAME(linalg_vector_norm), .self = self,          .ord = ord, .dim = dim,
        .keepdim = keepdim,           .dtype = TN_DTYPE_NONE};
    return work_call(w, OP_VECTOR_NORM, &f, &f.result);
}

static tn_status norm(tn_call *call, struct tn_norm_Scalar_args *a)
{
    work w = work_on(call);
    return work_end(&w, call_norm(&w, a->self, a->p, work_all_dims, false), &a->result);
}

static tn_status norm_dim(tn_call *call, struct tn_norm_ScalarOpt_dim_args *a)
{
    work w = work_on(call);
    tn_scalar p = a->p.kind == TN_SCALAR_NONE ? work_whole(2) : a->p;
    return work_end(&w, call_norm(&w, a->self, p, a->dim, a->keepdim), &a->result);
}

static tn_status dist(tn_call *call, struct tn_dist_args *a)
{
    work w = work_on(call);
    tn_tensor *apart = work_sub(&w, a->self, a->other);
    return work_end(&w, call_norm(&w, apart, a->p, work_all_dims, false), &a->result);
}

/* ---- cosine_similarity ----------------------------------------------------------------------- */
/* Of length 1, or shorter where the length is below eps. The bound does not take part in the
 * gradient: what it adds is detached. */
static tn_tensor *unit(work *w, tn_tensor *x, tn_ints dim, double eps)
{
    tn_tensor *size = call_norm(w, x, work_whole(2), dim, true);
    tn_tensor *plain = work_detach(w, size);
    tn_tensor *lift = work_sub(w, work_clamp_min(w, plain, work_number(eps)), plain);
    return work_div(w, x, work_add(w, size, lift));
}

static tn_status cosine_similarity(tn_call *call, struct tn_cosine_similarity_args *a)
{
    work w = work_on(call);
    int64_t sizes[TN_MAX_DIMS], ndim = 0;
    tn_tensor *both[] = {a->x1, a->x2};
    tn_dtype dtype = tn->result_type(both, 2, NULL, 0);
    if (!(TN_DTYPE_BIT(dtype) & TN_DTYPES_FLOATING))
        return tn->fail(call, TN_ERR_DTYPE, "x1 and x2: expected floating tensors, got %s",
                        tn->dtype_name(dtype));
    TN_TRY(composite_broadcast(call, composite_sizes(a->x1), sizes, &ndim));
    TN_TRY(composite_broadcast(call, composite_sizes(a->x2), sizes, &ndim));
    tn_ints whole = {sizes, ndim}, dim = {&a->dim, 1};
    tn_tensor *x1 = work_as_dtype(&w, work_expand(&w, a->x1, whole), dtype);
    tn_tensor *x2 = work_as_dtype(&w, work_expand(&w, a->x2, whole), dtype);
    tn_tensor *product = work_mul(&w, unit(&w, x1, dim, a->eps), unit(&w, x2, dim, a->eps));
    return work_end(&w, work_sum(&w, product, dim, false), &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(linalg_vector_norm, EXPLICIT, vector_norm),
    TN_KERNEL(norm_Scalar, IMPLICIT, norm),
    TN_KERNEL(norm_ScalarOpt_dim, IMPLICIT, norm_dim),
    TN_KERNEL(dist, IMPLICIT, dist),
    TN_KERNEL(cosine_similarity, IMPLICIT, cosine_similarity),
};
const composite_kernels composite_norms = {kernels, TN_COUNT(kernels)};

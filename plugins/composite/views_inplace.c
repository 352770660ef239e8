/* views_inplace.c - transpose_, t_, squeeze_ and unsqueeze_: they change the geometry of self
 * itself, never its memory. The new geometry is whole before the one call that applies it, so a
 * failure leaves self as it was. */
#include "composite.h"

static tn_status apply(tn_call *call, tn_tensor *self, const composite_geometry *g, tn_tensor **out)
{
    TN_TRY(tn->tensor_set_geometry(call, self, g->ndim, g->sizes, g->strides, g->offset));
    return composite_return_self(self, out);
}

static tn_status swap(tn_call *call, tn_tensor *self, int64_t d0, int64_t d1, tn_tensor **out)
{
    composite_geometry g;
    composite_geometry_of(self, &g);
    composite_geometry_swap(self, d0, d1, &g);
    return apply(call, self, &g, out);
}

static tn_status transpose_(tn_call *call, struct tn_transpose__args *a)
{
    int64_t d0, d1;
    TN_TRY(composite_wrap_dim(call, "dim0", a->dim0, a->self->ndim, &d0));
    TN_TRY(composite_wrap_dim(call, "dim1", a->dim1, a->self->ndim, &d1));
    return swap(call, a->self, d0, d1, &a->result);
}

static tn_status t_(tn_call *call, struct tn_t__args *a)
{
    int ndim = a->self->ndim;
    if (ndim > 2)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "self: t_() expects at most 2 dimensions, got %d; transpose_() takes more",
                        ndim);
    return swap(call, a->self, 0, ndim == 2, &a->result);
}

static tn_status squeeze_(tn_call *call, struct tn_squeeze__args *a)
{
    composite_geometry g;
    composite_geometry_squeeze(a->self, ~UINT64_C(0), &g);
    return apply(call, a->self, &g, &a->result);
}

static tn_status squeeze_dim_(tn_call *call, struct tn_squeeze__dim_args *a)
{
    int64_t d;
    composite_geometry g;
    TN_TRY(composite_wrap_dim(call, "dim", a->dim, a->self->ndim, &d));
    composite_geometry_squeeze(a->self, UINT64_C(1) << d, &g);
    return apply(call, a->self, &g, &a->result);
}

static tn_status unsqueeze_(tn_call *call, struct tn_unsqueeze__args *a)
{
    int64_t at;
    composite_geometry g;
    TN_TRY(composite_check_rank(call, a->self->ndim + 1));
    TN_TRY(composite_wrap_dim(call, "dim", a->dim, a->self->ndim + 1, &at));
    composite_geometry_insert(a->self, at, &g);
    return apply(call, a->self, &g, &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(transpose_, EXPLICIT, transpose_), TN_KERNEL(t_, EXPLICIT, t_),
    TN_KERNEL(squeeze_, EXPLICIT, squeeze_),     TN_KERNEL(squeeze__dim, EXPLICIT, squeeze_dim_),
    TN_KERNEL(unsqueeze_, EXPLICIT, unsqueeze_),
};
const composite_kernels composite_views_inplace = {kernels, TN_COUNT(kernels)};

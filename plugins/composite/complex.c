/* complex.c - complex numbers as pairs of real ones, and what is made of that: view_as_real,
 * view_as_complex, real, imag, the conjugates, complex, polar, sgn, angle.
 *
 * Tensors have no lazy conjugate: conj of a complex tensor is a copy, of a real one itself. */
#include "work.h"

#include <inttypes.h>
#include <math.h>

static bool is_complex(const tn_tensor *t)
{
    return (TN_DTYPE_BIT(t->dtype) & TN_DTYPES_COMPLEX) != 0;
}

/* ---- views ----------------------------------------------------------------------------------- */
static tn_status view_as_real(tn_call *call, struct tn_view_as_real_args *a)
{
    composite_geometry g;
    if (!is_complex(a->self))
        return tn->fail(call, TN_ERR_DTYPE, "self: expected a complex tensor, got %s",
                        tn->dtype_name(a->self->dtype));
    TN_TRY(composite_check_rank(call, a->self->ndim + 1));
    composite_geometry_of(a->self, &g);
    for (int64_t d = 0; d < g.ndim; d++)
        if (__builtin_mul_overflow(g.strides[d], 2, &g.strides[d]))
            g.strides[d] = 0; /* of a dimension of one element */
    g.sizes[g.ndim] = 2;
    g.strides[g.ndim++] = 1;
    return tn->tensor_view(call, a->self, g.ndim, g.sizes, g.strides, 2 * g.offset,
                           a->self->dtype == TN_C64 ? TN_F32 : TN_F64, &a->result);
}

static tn_status view_as_complex(tn_call *call, struct tn_view_as_complex_args *a)
{
    const tn_tensor *self = a->self;
    composite_geometry g;
    int64_t last = (int64_t)self->ndim - 1;
    if (self->dtype != TN_F32 && self->dtype != TN_F64)
        return tn->fail(call, TN_ERR_DTYPE, "self: expected float32 or float64, got %s",
                        tn->dtype_name(self->dtype));
    if (last < 0 || self->sizes[last] != 2 || self->strides[last] != 1)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "self: the last dimension must hold pairs, of size 2 and stride 1");
    composite_geometry_of(self, &g);
    bool fits = g.offset % 2 == 0;
    for (int64_t d = 0; d < last; d++) {
        fits = fits && (self->numel == 0 || g.sizes[d] == 1 || g.strides[d] % 2 == 0);
        g.strides[d] /= 2;
    }
    if (!fits)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "self: strides and the storage offset must be even for pairs to be "
                        "complex numbers; clone() it first");
    return tn->tensor_view(call, a->self, last, g.sizes, g.strides, g.offset / 2,
                           self->dtype == TN_F32 ? TN_C64 : TN_C128, &a->result);
}

/* Component 0 or 1 of a complex tensor, a view. */
static tn_tensor *component(work *w, tn_tensor *self, int64_t which)
{
    struct tn_view_as_real_args f = {TN_FRAME(view_as_real), .self = self};
    return work_select(w, work_call(w, OP_VIEW_AS_REAL, &f, &f.result), -1, which);
}

static tn_status real(tn_call *call, struct tn_real_args *a)
{
    work w = work_on(call);
    return work_end(&w, is_complex(a->self) ? component(&w, a->self, 0) : a->self, &a->result);
}

static tn_status imag(tn_call *call, struct tn_imag_args *a)
{
    work w = work_on(call);
    if (!is_complex(a->self))
        return tn->fail(call, TN_ERR_DTYPE, "self: expected a complex tensor, got %s",
                        tn->dtype_name(a->self->dtype));
    return work_end(&w, component(&w, a->self, 1), &a->result);
}

/* ---- conjugates ------------------------------------------------------------------------------ */
static tn_status conj_copy(tn_call *call, struct tn__conj_physical_args *a)
{
    work w = work_on(call);
    tn_tensor *copy = work_clone(&w, a->self, TN_CONTIGUOUS);
    if (copy && is_complex(copy)) {
        tn_tensor *part = component(&w, copy, 1);
        work_copy_(&w, part, work_neg(&w, part), false);
    }
    return work_end(&w, copy, &a->result);
}

static tn_status conj_physical(tn_call *call, struct tn_conj_physical_args *a)
{
    work w = work_on(call);
    return work_end(&w, work_conj(&w, a->self), &a->result);
}

static tn_status conjugate(tn_call *call, struct tn_conj_args *a)
{
    work w = work_on(call);
    return work_end(&w, work_conj(&w, a->self), &a->result);
}

static tn_status conj_view(tn_call *call, struct tn__conj_args *a)
{
    work w = work_on(call);
    return work_end(&w, work_conj(&w, a->self), &a->result);
}

static tn_status resolve_conj(tn_call *call, struct tn_resolve_conj_args *a)
{
    (void)call;
    return composite_return_self(a->self, &a->result);
}

static tn_status resolve_neg(tn_call *call, struct tn_resolve_neg_args *a)
{
    (void)call;
    return composite_return_self(a->self, &a->result);
}

/* ---- from two real tensors ------------------------------------------------------------------- */
static tn_status check_pair(tn_call *call, const char *names, const tn_tensor *a,
                            const tn_tensor *b)
{
    if (a->dtype == b->dtype && (a->dtype == TN_F32 || a->dtype == TN_F64))
        return TN_OK;
    return tn->fail(call, a->dtype == TN_F16 ? TN_ERR_UNSUPPORTED : TN_ERR_DTYPE,
                    "%s: expected both float32 or both float64, got %s and %s", names,
                    tn->dtype_name(a->dtype), tn->dtype_name(b->dtype));
}

static tn_status joined(tn_call *call, tn_tensor *re, tn_tensor *im, tn_tensor **out)
{
    int64_t sizes[TN_MAX_DIMS], ndim = 0;
    work w = work_on(call);
    TN_TRY(check_pair(call, "real and imag", re, im));
    TN_TRY(composite_broadcast(call, composite_sizes(re), sizes, &ndim));
    TN_TRY(composite_broadcast(call, composite_sizes(im), sizes, &ndim));
    tn_tensor *z =
        work_zeros(&w, (tn_ints){sizes, ndim}, re->dtype == TN_F32 ? TN_C64 : TN_C128, re->device);
    if (z) {
        work_copy_(&w, component(&w, z, 0), re, false);
        work_copy_(&w, component(&w, z, 1), im, false);
    }
    return work_end(&w, z, out);
}

static tn_status complex(tn_call *call, struct tn_complex_args *a)
{
    return joined(call, a->real, a->imag, &a->result);
}

static tn_status polar(tn_call *call, struct tn_polar_args *a)
{
    work w = work_on(call);
    TN_TRY(check_pair(call, "abs and angle", a->abs, a->angle));
    struct tn_cos_args c = {TN_FRAME(cos), .self = a->angle};
    struct tn_sin_args s = {TN_FRAME(sin), .self = a->angle};
    tn_tensor *re = work_mul(&w, a->abs, work_call(&w, OP_COS, &c, &c.result));
    tn_tensor *im = work_mul(&w, a->abs, work_call(&w, OP_SIN, &s, &s.result));
    struct tn_complex_args z = {TN_FRAME(complex), .real = re, .imag = im};
    return work_end(&w, work_call(&w, OP_COMPLEX, &z, &z.result), &a->result);
}

/* ---- direction ------------------------------------------------------------------------------- */
static tn_status sgn(tn_call *call, struct tn_sgn_args *a)
{
    work w = work_on(call);
    if (!is_complex(a->self)) {
        struct tn_sign_args f = {TN_FRAME(sign), .self = a->self};
        return work_end(&w, work_call(&w, OP_SIGN, &f, &f.result), &a->result);
    }
    tn_tensor *size = work_abs(&w, a->self);
    tn_tensor *unit = work_div(&w, a->self, size);
    return work_end(&w, work_only_where(&w, work_ne(&w, size, work_whole(0)), unit), &a->result);
}

/* 0 or pi on the real axis; NaN stays. */
static tn_tensor *real_angle(work *w, tn_tensor *self)
{
    if (!(TN_DTYPE_BIT(self->dtype) & TN_DTYPES_FLOATING))
        self = work_as_dtype(w, self, tn->default_dtype());
    if (!self)
        return NULL;
    tn_tensor *pi = work_constant(w, self, work_number(M_PI));
    struct tn_isnan_args f = {TN_FRAME(isnan), .self = self};
    tn_tensor *none = work_only_where(w, work_call(w, OP_ISNAN, &f, &f.result), self);
    return work_where(w, work_lt_number(w, self, work_whole(0)), pi, none);
}

static tn_status angle(tn_call *call, struct tn_angle_args *a)
{
    work w = work_on(call);
    if (!is_complex(a->self))
        return work_end(&w, real_angle(&w, a->self), &a->result);
    /* copies: the strides of a part would show in the result */
    struct tn_atan2_args f = {TN_FRAME(atan2),
                              .self = work_clone(&w, component(&w, a->self, 1), TN_CONTIGUOUS),
                              .other = work_clone(&w, component(&w, a->self, 0), TN_CONTIGUOUS)};
    return work_end(&w, work_call(&w, OP_ATAN2, &f, &f.result), &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_LEAF_KERNEL(view_as_real, EXPLICIT, view_as_real),
    TN_LEAF_KERNEL(view_as_complex, EXPLICIT, view_as_complex),
    TN_KERNEL(real, IMPLICIT, real),
    TN_KERNEL(imag, IMPLICIT, imag),
    TN_KERNEL(_conj_physical, EXPLICIT, conj_copy),
    TN_KERNEL(conj_physical, IMPLICIT, conj_physical),
    TN_KERNEL(conj, IMPLICIT, conjugate),
    TN_KERNEL(_conj, IMPLICIT, conj_view),
    TN_KERNEL(resolve_conj, IMPLICIT, resolve_conj),
    TN_KERNEL(resolve_neg, IMPLICIT, resolve_neg),
    TN_KERNEL(complex, EXPLICIT, complex),
    TN_KERNEL(polar, IMPLICIT, polar),
    TN_KERNEL(sgn, EXPLICIT, sgn),
    TN_KERNEL(angle, EXPLICIT, angle),
};
const composite_kernels composite_complex = {kernels, TN_COUNT(kernels)};

/* helpers_norm.c - gradients of norms, directions and angles. Where a norm is 0 it has no slope;
 * zero is the convention, and it holds for the gradient of the gradient too: what is divided by is
 * replaced by 1 there before anything is divided. */
#include <math.h>

#include "helpers.h"

static double as_double(const tn_scalar *s)
{
    return s->kind == TN_SCALAR_FLOAT || s->kind == TN_SCALAR_COMPLEX ? s->v.f : (double)s->v.i;
}

/* t with 1 where the condition holds. */
static tn_tensor *one_where(tn_grad_call *g, tn_tensor *condition, tn_tensor *t)
{
    return call_masked_fill_Scalar(g, t, condition, whole(1));
}

/* ---- norms ----------------------------------------------------------------------------------- */
/* self / norm, and 0 where the norm is: the slope for p = 2. */
static tn_tensor *share_of(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, tn_tensor *norm)
{
    tn_tensor *flat = call_eq_Scalar(g, norm, whole(0));
    tn_tensor *each = call_div_Tensor(g, grad, one_where(g, flat, norm));
    return multiply(g, self, except_where(g, flat, each));
}

/* sgn(self) (|self| / norm)^(p - 1): a ratio, so that no power overflows where the norm does not;
 * 0 where self or the norm is. */
static tn_tensor *powered_share_of(tn_grad_call *g, tn_tensor *grad, tn_tensor *self,
                                   tn_tensor *norm, double p)
{
    tn_tensor *zero = call_eq_Scalar(g, self, whole(0));
    tn_tensor *flat = call_logical_or(g, zero, call_eq_Scalar(g, norm, whole(0)));
    tn_tensor *size = one_where(g, flat, call_abs(g, self));
    tn_tensor *ratio =
        call_div_Tensor(g, size, one_where(g, call_eq_Scalar(g, norm, whole(0)), norm));
    tn_tensor *factor = multiply(g, grad, call_pow_Tensor_Scalar(g, ratio, number(p - 1)));
    return multiply(g, call_sgn(g, self), except_where(g, flat, factor));
}

tn_tensor *norm_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, tn_tensor *result,
                     tn_scalar ord, tn_ints dim, bool keepdim)
{
    double p = as_double(&ord);
    if (!grad)
        return NULL;
    if (p == 0)
        return zeros(g, self, tn_sizes_of(self));
    tn_tensor *norm = with_dims(g, result, self->ndim, dim, keepdim);
    grad = with_dims(g, grad, self->ndim, dim, keepdim);
    if (p == 1)
        return multiply(g, call_sgn(g, self), grad);
    if (isinf(p))
        return multiply(g, call_sgn(g, self),
                        extreme_back(g, grad, call_abs(g, self), norm, dim, true));
    return p == 2 ? share_of(g, grad, self, norm) : powered_share_of(g, grad, self, norm, p);
}

/* How a real result moves with self, from how it weighs self's elements (`slope`, as backward gives
 * it for a gradient of 1): the sum of the tangent so weighted. */
static tn_tensor *weighed(tn_grad_call *g, tn_tensor *tangent, tn_tensor *slope, tn_ints dim,
                          bool keepdim)
{
    tn_tensor *terms = multiply(g, tangent, conjugate(g, slope));
    if (terms && tn_is_complex(terms))
        terms = call_real(g, terms);
    return call_sum_dim_IntList(g, terms, dim, keepdim, TN_DTYPE_NONE);
}

tn_tensor *norm_forward(tn_grad_call *g, tn_tensor *tangent, tn_tensor *self, tn_tensor *result,
                        tn_scalar ord, tn_ints dim, bool keepdim)
{
    if (!tangent)
        return NULL;
    tn_tensor *one = ones(g, result, tn_sizes_of(result));
    return weighed(g, tangent, norm_back(g, one, self, result, ord, dim, keepdim), dim, keepdim);
}

tn_tensor *var_forward(tn_grad_call *g, tn_tensor *tangent, tn_tensor *self, tn_tensor *result,
                       tn_ints dim, tn_opt_int correction, bool keepdim)
{
    if (!tangent)
        return NULL;
    tn_tensor *one = ones(g, result, tn_sizes_of(result));
    return weighed(g, tangent, var_back(g, one, self, dim, correction, keepdim), dim, keepdim);
}

tn_tensor *std_forward(tn_grad_call *g, tn_tensor *tangent, tn_tensor *self, tn_tensor *result,
                       tn_ints dim, tn_opt_int correction, bool keepdim)
{
    if (!tangent)
        return NULL;
    tn_tensor *one = ones(g, result, tn_sizes_of(result));
    return weighed(g, tangent, std_back(g, one, self, result, dim, correction, keepdim), dim,
                   keepdim);
}

tn_tensor *logsumexp_forward(tn_grad_call *g, tn_tensor *tangent, tn_tensor *self,
                             tn_tensor *result, tn_ints dim, bool keepdim)
{
    if (!tangent)
        return NULL;
    tn_tensor *one = ones(g, result, tn_sizes_of(result));
    return weighed(g, tangent, logsumexp_back(g, one, self, result, dim, keepdim), dim, keepdim);
}

/* ---- directions ------------------------------------------------------------------------------ */
/* sgn is constant on the real axis; elsewhere only what turns self counts, not what lengthens it:
 * (grad - Re(grad conj(sgn)) sgn) / |self|. The same for a tangent. */
tn_tensor *sgn_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, tn_tensor *result)
{
    if (!grad)
        return NULL;
    if (!tn_is_complex(self))
        return zeros(g, grad, tn_sizes_of(grad));
    tn_tensor *size = call_abs(g, self), *flat = call_eq_Scalar(g, size, whole(0));
    tn_tensor *along = call_real(g, multiply(g, grad, conjugate(g, result)));
    tn_tensor *turn = call_sub_Tensor(g, grad, multiply(g, result, along), whole(1));
    return except_where(g, flat, call_div_Tensor(g, turn, one_where(g, flat, size)));
}

static const tn_scalar i_unit = {.v.c = {0, 1}, .kind = TN_SCALAR_COMPLEX};

/* i self / |self|^2, what self turns by; 0 at 0. */
static tn_tensor *turning(tn_grad_call *g, tn_tensor *self)
{
    tn_tensor *size = call_abs(g, self), *flat = call_eq_Scalar(g, size, whole(0));
    tn_tensor *safe = one_where(g, flat, size);
    tn_tensor *by = call_div_Tensor(g, call_mul_Scalar(g, self, i_unit), multiply(g, safe, safe));
    return except_where(g, flat, by);
}

tn_tensor *angle_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self)
{
    if (!grad)
        return NULL;
    return tn_is_complex(self) ? multiply(g, turning(g, self), grad)
                               : zeros(g, grad, tn_sizes_of(grad));
}

tn_tensor *angle_forward(tn_grad_call *g, tn_tensor *tangent, tn_tensor *self)
{
    if (!tangent)
        return NULL;
    if (!tn_is_complex(self))
        return zeros(g, tangent, tn_sizes_of(tangent));
    return call_real(g, multiply(g, tangent, conjugate(g, turning(g, self))));
}

/* helpers_elementwise.c - gradients of elementwise operators that branch on their arguments: powers
 * with their limits at zero, clamp, gelu, division with a rounding mode. */
#include <math.h>
#include <string.h>

#include "helpers.h"

/* ---- division -------------------------------------------------------------------------------- */
tn_tensor *div_mode_self(tn_grad_call *g, tn_tensor *grad, tn_tensor *other,
                         const char *rounding_mode)
{
    if (!grad)
        return NULL;
    if (rounding_mode)
        return zeros(g, grad, tn_sizes_of(grad));
    return call_div_Tensor(g, grad, conjugate(g, other));
}

tn_tensor *div_mode_other(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, tn_tensor *other,
                          const char *rounding_mode)
{
    if (!grad)
        return NULL;
    if (rounding_mode)
        return zeros(g, grad, tn_sizes_of(grad));
    tn_tensor *slope = call_div_Tensor(g, call_div_Tensor(g, self, other), other);
    return multiply(g, call_neg(g, grad), conjugate(g, slope));
}

/* ---- powers ---------------------------------------------------------------------------------- */
static bool is_number(const tn_scalar *s, double value)
{
    if (s->kind == TN_SCALAR_COMPLEX)
        return s->v.c[0] == value && s->v.c[1] == 0;
    return s->kind == TN_SCALAR_FLOAT ? s->v.f == value : (double)s->v.i == value;
}

static tn_scalar minus_one(tn_scalar s)
{
    if (s.kind == TN_SCALAR_COMPLEX)
        s.v.c[0] -= 1;
    else if (s.kind == TN_SCALAR_FLOAT)
        s.v.f -= 1;
    else
        s = whole(s.v.i - 1);
    return s;
}

/* exponent * self ^ (exponent - 1); the power 0 is constant, at 0 too. */
tn_tensor *pow_number_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, tn_scalar exponent)
{
    if (!grad)
        return NULL;
    if (is_number(&exponent, 0))
        return zeros(g, grad, tn_sizes_of(grad));
    if (is_number(&exponent, 1))
        return grad;
    tn_tensor *power =
        is_number(&exponent, 2) ? self : call_pow_Tensor_Scalar(g, self, minus_one(exponent));
    return multiply(g, grad, conjugate(g, call_mul_Scalar(g, power, exponent)));
}

/* Where the exponent is 0 another one stands in, so that neither this gradient nor its own is
 * 0 * inf there. */
tn_tensor *pow_self_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, tn_tensor *exponent)
{
    if (!grad)
        return NULL;
    tn_tensor *constant = call_eq_Scalar(g, exponent, whole(0));
    tn_tensor *safe = call_masked_fill_Scalar(g, exponent, constant, whole(1));
    tn_tensor *power =
        call_pow_Tensor_Tensor(g, self, call_sub_Scalar(g, safe, whole(1), whole(1)));
    tn_tensor *slope = multiply(g, safe, power);
    return except_where(g, constant, multiply(g, grad, conjugate(g, slope)));
}

/* Where self ^ exponent is 0 for all exponents around: self is 0 and the exponent not below 0. */
static tn_tensor *stays_zero(tn_grad_call *g, tn_tensor *self, tn_tensor *exponent)
{
    tn_tensor *zero = call_eq_Scalar(g, self, whole(0));
    if (!tn_is_complex(exponent))
        return call_logical_and(g, zero, call_ge_Scalar(g, exponent, whole(0)));
    tn_tensor *real = call_logical_and(g, call_eq_Scalar(g, call_imag(g, exponent), whole(0)),
                                       call_ge_Scalar(g, call_real(g, exponent), whole(0)));
    return call_logical_and(g, zero, real);
}

tn_tensor *pow_exponent_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, tn_tensor *exponent,
                             tn_tensor *result)
{
    if (!grad)
        return NULL;
    tn_tensor *flat = stays_zero(g, self, exponent);
    tn_tensor *safe = as_was(g, self, result->dtype, self->device);
    safe = call_masked_fill_Scalar(g, safe, flat, whole(1));
    tn_tensor *slope = multiply(g, result, call_log(g, safe));
    return except_where(g, flat, multiply(g, grad, conjugate(g, slope)));
}

/* log of a number, as ATen takes it: a negative one has none unless the power is complex. */
static tn_scalar log_of(const tn_scalar *s, bool complex)
{
    double re = s->kind == TN_SCALAR_COMPLEX ? s->v.c[0]
                : s->kind == TN_SCALAR_FLOAT ? s->v.f
                                             : (double)s->v.i;
    double im = s->kind == TN_SCALAR_COMPLEX ? s->v.c[1] : 0;
    if (!complex)
        return number(log(re));
    return (tn_scalar){.v.c = {log(hypot(re, im)), atan2(im, re)}, .kind = TN_SCALAR_COMPLEX};
}

tn_tensor *number_pow_back(tn_grad_call *g, tn_tensor *grad, tn_scalar self, tn_tensor *exponent,
                           tn_tensor *result)
{
    if (!grad)
        return NULL;
    tn_scalar slope = log_of(&self, tn_is_complex(result));
    if (!is_number(&self, 0))
        return multiply(g, grad, conjugate(g, call_mul_Scalar(g, result, slope)));
    tn_tensor *zero = zeros(g, result, (tn_ints){NULL, 0});
    tn_tensor *flat = zero ? stays_zero(g, zero, exponent) : NULL;
    tn_tensor *steep = multiply(g, grad, conjugate(g, call_mul_Scalar(g, result, slope)));
    return except_where(g, flat, steep);
}

/* ---- clamp ----------------------------------------------------------------------------------- */
static bool is_given(const tn_scalar *s)
{
    return s->kind != TN_SCALAR_NONE;
}

tn_tensor *clamp_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, tn_scalar min,
                      tn_scalar max)
{
    if (!grad)
        return NULL;
    tn_tensor *low = is_given(&min) ? call_ge_Scalar(g, self, min) : NULL;
    tn_tensor *high = is_given(&max) ? call_le_Scalar(g, self, max) : NULL;
    tn_tensor *inside = low && high ? call_logical_and(g, low, high) : low ? low : high;
    return only_where(g, inside, grad);
}

tn_tensor *clamp_tensor_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, tn_tensor *min,
                             tn_tensor *max)
{
    if (!grad)
        return NULL;
    tn_tensor *low = min ? call_ge_Tensor(g, self, min) : NULL;
    tn_tensor *high = max ? call_le_Tensor(g, self, max) : NULL;
    tn_tensor *inside = low && high ? call_logical_and(g, low, high) : low ? low : high;
    return only_where(g, inside, grad);
}

/* min gives the result where self is below it, unless max is below both. */
tn_tensor *clamp_min_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, tn_tensor *min,
                          tn_tensor *max)
{
    if (!grad || !min)
        return NULL;
    tn_tensor *below = call_lt_Tensor(g, self, min);
    if (max)
        below = call_logical_and(g, below, call_lt_Tensor(g, min, max));
    return only_where(g, below, grad);
}

tn_tensor *clamp_max_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, tn_tensor *min,
                          tn_tensor *max)
{
    if (!grad || !max)
        return NULL;
    tn_tensor *above = call_gt_Tensor(g, self, max);
    if (min)
        above = call_logical_or(g, above, call_lt_Tensor(g, max, min));
    return only_where(g, above, grad);
}

/* ---- gelu ------------------------------------------------------------------------------------ */
/* Phi(x) + x phi(x); erfc keeps the far left exact. */
static tn_tensor *gelu_slope(tn_grad_call *g, tn_tensor *x)
{
    tn_tensor *below = scaled(g, call_erfc(g, scaled(g, x, -M_SQRT1_2)), 0.5);
    tn_tensor *bell = call_exp(g, scaled(g, multiply(g, x, x), -0.5));
    return add(g, below, scaled(g, multiply(g, x, bell), M_2_SQRTPI * M_SQRT1_2 / 2));
}

/* s + x s (1 - s) u' with s = (1 + tanh u(x)) / 2 = sigmoid(2 u(x)). */
static tn_tensor *gelu_tanh_slope(tn_grad_call *g, tn_tensor *x)
{
    const double c = 2 * M_2_SQRTPI * M_SQRT1_2, k = 0.044715;
    tn_tensor *square = multiply(g, x, x);
    tn_tensor *u =
        multiply(g, x, call_add_Scalar(g, scaled(g, square, c * k), number(c), whole(1)));
    tn_tensor *du = call_add_Scalar(g, scaled(g, square, 3 * c * k), number(c), whole(1));
    tn_tensor *s = call_sigmoid(g, u);
    tn_tensor *ds = multiply(g, s, call_rsub_Scalar(g, s, whole(1), whole(1)));
    return add(g, s, multiply(g, multiply(g, x, ds), du));
}

tn_tensor *gelu_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, const char *approximate)
{
    bool by_tanh = strcmp(approximate, "tanh") == 0;
    if (!grad)
        return NULL;
    return multiply(g, grad, by_tanh ? gelu_tanh_slope(g, self) : gelu_slope(g, self));
}

/* ---- logit ----------------------------------------------------------------------------------- */
/* 1 / (x (1 - x)); beyond eps .. 1 - eps the clamp holds, beyond 0 .. 1 there is no value. */
tn_tensor *logit_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, tn_opt_float eps)
{
    if (!grad)
        return NULL;
    double low = eps.has ? eps.value : 0;
    tn_tensor *outside = call_logical_or(g, call_lt_Scalar(g, self, number(low)),
                                         call_gt_Scalar(g, self, number(1 - low)));
    tn_tensor *room = call_rsub_Scalar(g, self, whole(1), whole(1));
    tn_tensor *slope = call_div_Tensor(g, grad, multiply(g, self, room));
    tn_tensor *beyond = call_new_full(g, grad, (tn_ints){NULL, 0}, number(eps.has ? 0 : NAN),
                                      TN_DTYPE_NONE, TN_LAYOUT_NONE,
                                      (tn_device){TN_DEVICE_NONE, -1}, -1);
    return call_where_self(g, outside, beyond, slope);
}

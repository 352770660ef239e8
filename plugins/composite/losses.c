/* losses.c - losses of a prediction and a target of the same shape: element by element, then summed
 * or averaged as `reduction` says (0 none, 1 mean, 2 sum). */
#include "losses.h"

tn_tensor *loss_reduced(work *w, tn_tensor *loss, int64_t reduction)
{
    if (reduction == 0 || !loss)
        return loss;
    return reduction == 1 ? work_mean(w, loss, work_all_dims, false)
                          : work_sum(w, loss, work_all_dims, false);
}

tn_status loss_check_dtype(tn_call *call, const tn_tensor *self, tn_dtypes allowed)
{
    if (TN_DTYPE_BIT(self->dtype) & allowed)
        return TN_OK;
    return tn->fail(call, TN_ERR_UNSUPPORTED, "the loss is not defined for %s",
                    tn->dtype_name(self->dtype));
}

static tn_status mse_loss(tn_call *call, struct tn_mse_loss_args *a)
{
    work w = work_on(call);
    TN_TRY(loss_check_dtype(call, a->self, TN_DTYPES_FLOATING));
    tn_tensor *apart = work_sub(&w, a->self, a->target);
    return work_end(&w, loss_reduced(&w, work_mul(&w, apart, apart), a->reduction), &a->result);
}

static tn_status l1_loss(tn_call *call, struct tn_l1_loss_args *a)
{
    work w = work_on(call);
    TN_TRY(loss_check_dtype(call, a->self, TN_DTYPES_FLOATING | TN_DTYPES_COMPLEX));
    tn_tensor *size = work_abs(&w, work_sub(&w, a->self, a->target));
    return work_end(&w, loss_reduced(&w, size, a->reduction), &a->result);
}

/* z^2 / 2 up to delta, then a line: slope delta, which `scale` divides. Where the line holds, the
 * square is one of delta: of an infinite z its slope, 0 as it is not chosen, would be 0 * inf. NaN is
 * not beyond delta, so that it is seen in the gradient, too. */
static tn_tensor *bent(work *w, tn_tensor *self, tn_tensor *target, double delta, double scale)
{
    tn_tensor *z = work_abs(w, work_sub(w, self, target));
    tn_tensor *beyond = work_lt_number(w, work_neg(w, z), work_number(-delta));
    tn_tensor *near = z ? work_where(w, beyond, work_constant(w, z, work_number(delta)), z) : NULL;
    near = work_mul_number(w, work_mul(w, near, near), work_number(0.5 / scale));
    tn_tensor *far = work_mul_number(w, work_add_number(w, z, work_number(-0.5 * delta)),
                                     work_number(delta / scale));
    return work_where(w, beyond, far, near);
}

static tn_status smooth_l1_loss(tn_call *call, struct tn_smooth_l1_loss_args *a)
{
    work w = work_on(call);
    TN_TRY(loss_check_dtype(call, a->self, TN_DTYPES_FLOATING));
    if (a->beta < 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "beta: expected 0 or more, got %g", a->beta);
    tn_tensor *loss = a->beta == 0 ? work_abs(&w, work_sub(&w, a->self, a->target))
                                   : bent(&w, a->self, a->target, a->beta, a->beta);
    return work_end(&w, loss_reduced(&w, loss, a->reduction), &a->result);
}

static tn_status huber_loss(tn_call *call, struct tn_huber_loss_args *a)
{
    work w = work_on(call);
    TN_TRY(loss_check_dtype(call, a->self, TN_DTYPES_FLOATING));
    if (!(a->delta > 0))
        return tn->fail(call, TN_ERR_ARGUMENT, "delta: expected more than 0, got %g", a->delta);
    tn_tensor *loss = bent(&w, a->self, a->target, a->delta, 1);
    return work_end(&w, loss_reduced(&w, loss, a->reduction), &a->result);
}

/* (1 - target) x + weight log(1 + exp(-x)); weight is 1, or (pos_weight - 1) target + 1. The logarithm
 * is an operator of its own, which is smooth at x = 0, where all logits of a fresh layer may be. */
static tn_tensor *by_logits(work *w, tn_tensor *x, tn_tensor *target, tn_tensor *pos_weight)
{
    tn_tensor *soft = work_neg(w, work_log_sigmoid(w, x));
    if (pos_weight) {
        tn_tensor *more = work_add_number(w, pos_weight, work_whole(-1));
        more = work_add_number(w, work_mul(w, more, target), work_whole(1));
        soft = work_mul(w, soft, more);
    }
    return work_add(w, work_mul(w, work_rsub(w, target, work_whole(1)), x), soft);
}

static tn_status bce_with_logits(tn_call *call, struct tn_binary_cross_entropy_with_logits_args *a)
{
    work w = work_on(call);
    TN_TRY(loss_check_dtype(call, a->self, TN_DTYPES_FLOATING));
    tn_tensor *loss = by_logits(&w, a->self, a->target, a->pos_weight);
    loss = a->weight ? work_mul(&w, loss, a->weight) : loss;
    return work_end(&w, loss_reduced(&w, loss, a->reduction), &a->result);
}

/* max(log u, -100) for u from 0 to 1; NaN outside. What the bound takes over has slope 0, and its
 * argument is replaced before the logarithm, whose slope is infinite there. */
static const double least = 3.720075976020836e-44; /* exp(-100) */

static tn_tensor *bounded_log(work *w, tn_tensor *u, tn_tensor *instead)
{
    tn_tensor *low = work_lt_number(w, work_abs(w, u), work_number(least));
    tn_tensor *log = work_log(w, work_where(w, low, instead, u));
    return u ? work_where(w, low, work_constant(w, u, work_whole(-100)), log) : NULL;
}

static tn_tensor *bounded_log1m(work *w, tn_tensor *x)
{
    tn_tensor *low =
        work_lt_number(w, work_abs(w, work_rsub(w, x, work_whole(1))), work_number(least));
    tn_tensor *log =
        work_log1p(w, work_neg(w, work_where(w, low, work_mul_number(w, x, work_number(0.5)), x)));
    return x ? work_where(w, low, work_constant(w, x, work_whole(-100)), log) : NULL;
}

static bool same_shape(const tn_tensor *a, const tn_tensor *b)
{
    bool same = a->ndim == b->ndim;
    for (int d = 0; same && d < a->ndim; d++)
        same = a->sizes[d] == b->sizes[d];
    return same;
}

static tn_status check_same_shape(tn_call *call, const tn_tensor *self, const tn_tensor *target)
{
    char want[COMPOSITE_SHAPE_CHARS], got[COMPOSITE_SHAPE_CHARS];
    if (same_shape(self, target))
        return TN_OK;
    return tn->fail(call, TN_ERR_ARGUMENT, "target: expected self's shape %s, got %s",
                    composite_shape_text(want, self->ndim, self->sizes),
                    composite_shape_text(got, target->ndim, target->sizes));
}

static tn_status bce(tn_call *call, struct tn_binary_cross_entropy_args *a)
{
    work w = work_on(call);
    TN_TRY(loss_check_dtype(call, a->self, TN_DTYPES_FLOATING));
    TN_TRY(check_same_shape(call, a->self, a->target));
    tn_tensor *one = work_constant(&w, a->self, work_whole(1));
    tn_tensor *yes = work_mul(&w, a->target, bounded_log(&w, a->self, one));
    tn_tensor *no =
        work_mul(&w, work_rsub(&w, a->target, work_whole(1)), bounded_log1m(&w, a->self));
    tn_tensor *loss = work_neg(&w, work_add(&w, yes, no));
    loss = a->weight ? work_mul(&w, loss, a->weight) : loss;
    return work_end(&w, loss_reduced(&w, loss, a->reduction), &a->result);
}

/* target (log target - self), or exp(target) (target - self) when target is a logarithm itself. */
static tn_status kl_div(tn_call *call, struct tn_kl_div_args *a)
{
    work w = work_on(call);
    TN_TRY(loss_check_dtype(call, a->self, TN_DTYPES_FLOATING));
    tn_tensor *loss;
    if (a->log_target)
        loss = work_mul(&w, work_exp(&w, a->target), work_sub(&w, a->target, a->self));
    else
        loss = work_sub(&w, work_xlogy(&w, a->target, a->target), work_mul(&w, a->target, a->self));
    return work_end(&w, loss_reduced(&w, loss, a->reduction), &a->result);
}

/* log(1 + exp(-target self)), smooth at 0 as in by_logits. */
static tn_status soft_margin_loss(tn_call *call, struct tn_soft_margin_loss_args *a)
{
    work w = work_on(call);
    TN_TRY(loss_check_dtype(call, a->self, TN_DTYPES_FLOATING));
    tn_tensor *loss = work_neg(&w, work_log_sigmoid(&w, work_mul(&w, a->target, a->self)));
    return work_end(&w, loss_reduced(&w, loss, a->reduction), &a->result);
}

/* self where target is 1, max(0, margin - self) where it is -1; both where it is neither. */
static tn_status hinge_embedding_loss(tn_call *call, struct tn_hinge_embedding_loss_args *a)
{
    work w = work_on(call);
    TN_TRY(loss_check_dtype(call, a->self, TN_DTYPES_FLOATING));
    tn_tensor *apart = work_rsub(&w, a->self, work_number(a->margin));
    apart = work_clamp_min(&w, apart, work_whole(0));
    apart = work_only_where(&w, work_ne(&w, a->target, work_whole(1)), apart);
    tn_tensor *alike = work_only_where(&w, work_ne(&w, a->target, work_whole(-1)), a->self);
    return work_end(&w, loss_reduced(&w, work_add(&w, apart, alike), a->reduction), &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(mse_loss, IMPLICIT, mse_loss),
    TN_KERNEL(l1_loss, IMPLICIT, l1_loss),
    TN_KERNEL(smooth_l1_loss, IMPLICIT, smooth_l1_loss),
    TN_KERNEL(huber_loss, IMPLICIT, huber_loss),
    TN_KERNEL(binary_cross_entropy_with_logits, IMPLICIT, bce_with_logits),
    TN_KERNEL(binary_cross_entropy, IMPLICIT, bce),
    TN_KERNEL(kl_div, IMPLICIT, kl_div),
    TN_KERNEL(soft_margin_loss, IMPLICIT, soft_margin_loss),
    TN_KERNEL(hinge_embedding_loss, IMPLICIT, hinge_embedding_loss),
};
const composite_kernels composite_losses = {kernels, TN_COUNT(kernels)};

/* losses.c - losses of a prediction and a target of the same shape: element by element, then summed
 * or averaged as `reduction` says (0 none, 1 mean, 2 sum). */
#include "work.h"

static tn_tensor *reduced(work *w, tn_tensor *loss, int64_t reduction)
{
    if (reduction == 0 || !loss)
        return loss;
    return reduction == 1 ? work_mean(w, loss, work_all_dims, false)
                          : work_sum(w, loss, work_all_dims, false);
}

static tn_status check_dtype(tn_call *call, const tn_tensor *self, tn_dtypes allowed)
{
    if (TN_DTYPE_BIT(self->dtype) & allowed)
        return TN_OK;
    return tn->fail(call, TN_ERR_UNSUPPORTED, "the loss is not defined for %s",
                    tn->dtype_name(self->dtype));
}

static tn_status mse_loss(tn_call *call, struct tn_mse_loss_args *a)
{
    work w = work_on(call);
    TN_TRY(check_dtype(call, a->self, TN_DTYPES_FLOATING));
    tn_tensor *apart = work_sub(&w, a->self, a->target);
    return work_end(&w, reduced(&w, work_mul(&w, apart, apart), a->reduction), &a->result);
}

static tn_status l1_loss(tn_call *call, struct tn_l1_loss_args *a)
{
    work w = work_on(call);
    TN_TRY(check_dtype(call, a->self, TN_DTYPES_FLOATING | TN_DTYPES_COMPLEX));
    tn_tensor *size = work_abs(&w, work_sub(&w, a->self, a->target));
    return work_end(&w, reduced(&w, size, a->reduction), &a->result);
}

/* z^2 / 2 up to delta, then a line: slope delta, which `scale` divides. */
static tn_tensor *bent(work *w, tn_tensor *self, tn_tensor *target, double delta, double scale)
{
    tn_tensor *z = work_abs(w, work_sub(w, self, target));
    tn_tensor *near = work_mul_number(w, work_mul(w, z, z), work_number(0.5 / scale));
    tn_tensor *far = work_mul_number(w, work_add_number(w, z, work_number(-0.5 * delta)),
                                     work_number(delta / scale));
    return work_where(w, work_lt_number(w, z, work_number(delta)), near, far);
}

static tn_status smooth_l1_loss(tn_call *call, struct tn_smooth_l1_loss_args *a)
{
    work w = work_on(call);
    TN_TRY(check_dtype(call, a->self, TN_DTYPES_FLOATING));
    if (a->beta < 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "beta: expected 0 or more, got %g", a->beta);
    tn_tensor *loss = a->beta == 0 ? work_abs(&w, work_sub(&w, a->self, a->target))
                                   : bent(&w, a->self, a->target, a->beta, a->beta);
    return work_end(&w, reduced(&w, loss, a->reduction), &a->result);
}

static tn_status huber_loss(tn_call *call, struct tn_huber_loss_args *a)
{
    work w = work_on(call);
    TN_TRY(check_dtype(call, a->self, TN_DTYPES_FLOATING));
    if (!(a->delta > 0))
        return tn->fail(call, TN_ERR_ARGUMENT, "delta: expected more than 0, got %g", a->delta);
    tn_tensor *loss = bent(&w, a->self, a->target, a->delta, 1);
    return work_end(&w, reduced(&w, loss, a->reduction), &a->result);
}

/* (1 - target) x + weight log(1 + exp(-x)), with the exponent kept below 0; weight is 1, or
 * (pos_weight - 1) target + 1. */
static tn_tensor *by_logits(work *w, tn_tensor *x, tn_tensor *target, tn_tensor *pos_weight)
{
    tn_tensor *below = work_clamp_min(w, work_neg(w, x), work_whole(0));
    tn_tensor *tail = work_log1p(w, work_exp(w, work_neg(w, work_abs(w, x))));
    tn_tensor *soft = work_add(w, tail, below);
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
    TN_TRY(check_dtype(call, a->self, TN_DTYPES_FLOATING));
    tn_tensor *loss = by_logits(&w, a->self, a->target, a->pos_weight);
    loss = a->weight ? work_mul(&w, loss, a->weight) : loss;
    return work_end(&w, reduced(&w, loss, a->reduction), &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(mse_loss, IMPLICIT, mse_loss),
    TN_KERNEL(l1_loss, IMPLICIT, l1_loss),
    TN_KERNEL(smooth_l1_loss, IMPLICIT, smooth_l1_loss),
    TN_KERNEL(huber_loss, IMPLICIT, huber_loss),
    TN_KERNEL(binary_cross_entropy_with_logits, IMPLICIT, bce_with_logits),
};
const composite_kernels composite_losses = {kernels, TN_COUNT(kernels)};

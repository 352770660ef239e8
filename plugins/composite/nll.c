/* nll.c - losses of classes: nll_loss_forward, nll_loss_nd, cross_entropy_loss.
 *
 * Log probabilities are read by gather at the target's class. Where the target is ignore_index the
 * class 0 is read instead and the loss is an exact zero, whatever stands there. */
#include "work.h"

#include <inttypes.h>

/* The problem as [samples, classes] and [samples]. */
typedef struct classes {
    tn_tensor *rows, *target; /* target: safe to gather with */
    tn_tensor *counts;        /* bool: not ignored */
    int64_t n;                /* classes */
} classes;

static tn_status check(tn_call *call, const tn_tensor *self, const tn_tensor *target,
                       const tn_tensor *weight)
{
    char x[COMPOSITE_SHAPE_CHARS], y[COMPOSITE_SHAPE_CHARS];
    int at = self->ndim == 1 ? 0 : 1;
    if (!(TN_DTYPE_BIT(self->dtype) & TN_DTYPES_FLOATING))
        return tn->fail(call, TN_ERR_UNSUPPORTED, "the loss is not defined for %s",
                        tn->dtype_name(self->dtype));
    bool fits = self->ndim >= 1 && target->ndim == self->ndim - 1;
    for (int d = 0; fits && d < target->ndim; d++)
        fits = target->sizes[d] == self->sizes[d + (d >= at)];
    if (!fits)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "target of shape %s does not fit self of shape %s, whose classes stand in "
                        "dimension %d",
                        composite_shape_text(x, target->ndim, target->sizes),
                        composite_shape_text(y, self->ndim, self->sizes), at);
    if (target->dtype != TN_I64)
        return tn->fail(call, TN_ERR_DTYPE, "target: expected int64, got %s",
                        tn->dtype_name(target->dtype));
    if (weight && (weight->ndim != 1 || weight->sizes[0] != self->sizes[at]))
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "weight: expected one for each of the %" PRId64 " classes",
                        self->sizes[at]);
    return TN_OK;
}

/* [N, C, d..] as [N d.., C]. */
static tn_tensor *class_last(work *w, tn_tensor *self)
{
    int64_t dims[TN_MAX_DIMS], n = self->sizes[self->ndim == 1 ? 0 : 1];
    int64_t rows[] = {n ? self->numel / n : 0, n};
    if (self->ndim > 2) {
        for (int d = 0; d < self->ndim; d++)
            dims[d] = d == 0 ? 0 : d + 1 < self->ndim ? d + 1 : 1;
        self = work_permute(w, self, (tn_ints){dims, self->ndim});
    }
    return work_reshape(w, self, (tn_ints){rows, 2});
}

static classes classes_of(work *w, tn_tensor *self, tn_tensor *target, int64_t ignore_index)
{
    classes c = {.n = self->sizes[self->ndim == 1 ? 0 : 1]};
    c.rows = class_last(w, self);
    tn_tensor *flat = work_reshape(w, target, (tn_ints){&target->numel, 1});
    c.counts = work_ne(w, flat, work_whole(ignore_index));
    c.target = work_only_where(w, c.counts, flat);
    return c;
}

/* rows[i][target[i]] */
static tn_tensor *at_target(work *w, const classes *c)
{
    tn_tensor *column = work_unsqueeze(w, c->target, 1);
    return work_squeeze(w, work_gather(w, c->rows, 1, column), 1);
}

/* The weight of each sample: its class's, or 1; 0 for those that do not count. */
static tn_tensor *sample_weights(work *w, const classes *c, tn_tensor *weight)
{
    if (weight)
        return work_only_where(w, c->counts, work_index_select(w, weight, 0, c->target));
    return c->rows ? work_as_dtype(w, c->counts, c->rows->dtype) : NULL;
}

/* Sum, weighted mean, or one loss a sample in the target's shape. Several losses have no total. */
static tn_tensor *finish(work *w, tn_tensor *loss, tn_tensor *weights, tn_tensor *target,
                         int64_t reduction, tn_tensor **total)
{
    *total = reduction == 0 && target->ndim > 0 ? work_constant(w, loss, work_whole(0))
                                                : work_sum(w, weights, work_all_dims, false);
    if (reduction == 0)
        return work_reshape(w, loss, composite_sizes(target));
    tn_tensor *sum = work_sum(w, loss, work_all_dims, false);
    return reduction == 1 ? work_div(w, sum, *total) : sum;
}

static tn_tensor *nll(work *w, tn_tensor *self, tn_tensor *target, tn_tensor *weight,
                      int64_t reduction, int64_t ignore_index, tn_tensor **total)
{
    classes c = classes_of(w, self, target, ignore_index);
    tn_tensor *weights = sample_weights(w, &c, weight);
    tn_tensor *loss = work_neg(w, work_only_where(w, c.counts, at_target(w, &c)));
    if (weight)
        loss = work_mul(w, loss, weights);
    return finish(w, loss, weights, target, reduction, total);
}

static tn_status nll_loss_forward(tn_call *call, struct tn_nll_loss_forward_args *a)
{
    work w = work_on(call);
    tn_tensor *total = NULL;
    if (a->self->ndim > 2)
        return tn->fail(call, TN_ERR_ARGUMENT, "self: expected 1 or 2 dimensions, got %d",
                        a->self->ndim);
    TN_TRY(check(call, a->self, a->target, a->weight));
    tn_tensor *t = nll(&w, a->self, a->target, a->weight, a->reduction, a->ignore_index, &total);
    if (w.status == TN_OK)
        composite_return_self(total, &a->total_weight);
    return work_end(&w, t, &a->output);
}

static tn_status nll_loss_nd(tn_call *call, struct tn_nll_loss_nd_args *a)
{
    work w = work_on(call);
    tn_tensor *total = NULL;
    TN_TRY(check(call, a->self, a->target, a->weight));
    tn_tensor *t = nll(&w, a->self, a->target, a->weight, a->reduction, a->ignore_index, &total);
    return work_end(&w, t, &a->result);
}

/* ---- cross_entropy_loss ---------------------------------------------------------------------- */
static tn_tensor *log_softmax(work *w, tn_tensor *self)
{
    struct tn__log_softmax_args f = {TN_FRAME(_log_softmax), .self = self,
                                     .dim = self->ndim == 1 ? 0 : 1, .half_to_float = false};
    return work_call(w, OP__LOG_SOFTMAX, &f, &f.result);
}

/* The classes' weights, to be multiplied with rows of classes. */
static tn_tensor *weighted(work *w, tn_tensor *rows, tn_tensor *weight)
{
    return weight ? work_mul(w, rows, weight) : rows;
}

/* The part that label smoothing spreads over all classes. */
static tn_tensor *smoothed(work *w, tn_tensor *logs, tn_tensor *target, tn_tensor *weight,
                           int64_t reduction, int64_t ignore_index)
{
    tn_tensor *total = NULL;
    const int64_t last = 1;
    classes c = classes_of(w, logs, target, ignore_index);
    tn_tensor *sum = work_sum(w, weighted(w, c.rows, weight), (tn_ints){&last, 1}, false);
    tn_tensor *loss = work_neg(w, work_only_where(w, c.counts, sum));
    return finish(w, loss, sample_weights(w, &c, weight), target, reduction, &total);
}

static tn_tensor *by_index(work *w, tn_tensor *logs, const struct tn_cross_entropy_loss_args *a)
{
    tn_tensor *total = NULL;
    double smooth = a->label_smoothing;
    tn_tensor *plain = nll(w, logs, a->target, a->weight, a->reduction, a->ignore_index, &total);
    if (smooth == 0)
        return plain;
    tn_tensor *even = smoothed(w, logs, a->target, a->weight, a->reduction, a->ignore_index);
    int64_t n = logs->sizes[logs->ndim == 1 ? 0 : 1];
    plain = work_mul_number(w, plain, work_number(1 - smooth));
    return work_add(w, plain, work_mul_number(w, even, work_number(smooth / (double)n)));
}

/* The target holds a probability for each class. */
static tn_tensor *by_probability(work *w, tn_tensor *logs,
                                 const struct tn_cross_entropy_loss_args *a)
{
    const int64_t last = 1;
    int64_t at = logs->ndim == 1 ? 0 : 1, sizes[TN_MAX_DIMS], n = 0;
    double smooth = a->label_smoothing;
    tn_tensor *target = a->target, *rows = class_last(w, logs);
    if (smooth > 0) {
        target = work_mul_number(w, target, work_number(1 - smooth));
        target = work_add_number(w, target, work_number(smooth / (double)logs->sizes[at]));
    }
    if (!target || !rows)
        return NULL;
    tn_tensor *terms = work_mul(w, weighted(w, rows, a->weight), class_last(w, target));
    tn_tensor *loss = work_neg(w, work_sum(w, terms, (tn_ints){&last, 1}, false));
    if (a->reduction == 0) {
        for (int d = 0; d < logs->ndim; d++)
            if (d != at)
                sizes[n++] = logs->sizes[d];
        return work_reshape(w, loss, (tn_ints){sizes, n});
    }
    tn_tensor *sum = work_sum(w, loss, work_all_dims, false);
    return a->reduction == 1 ? work_div_number(w, sum, work_number((double)rows->sizes[0])) : sum;
}

static bool same_shape(const tn_tensor *a, const tn_tensor *b)
{
    bool same = a->ndim == b->ndim;
    for (int d = 0; same && d < a->ndim; d++)
        same = a->sizes[d] == b->sizes[d];
    return same;
}

static tn_status cross_entropy_loss(tn_call *call, struct tn_cross_entropy_loss_args *a)
{
    work w = work_on(call);
    bool probabilities = same_shape(a->self, a->target);
    if (!(a->label_smoothing >= 0 && a->label_smoothing <= 1))
        return tn->fail(call, TN_ERR_ARGUMENT, "label_smoothing: expected 0 to 1, got %g",
                        a->label_smoothing);
    if (!probabilities)
        TN_TRY(check(call, a->self, a->target, a->weight));
    else if (!(TN_DTYPE_BIT(a->target->dtype) & TN_DTYPES_FLOATING))
        return tn->fail(call, TN_ERR_DTYPE,
                        "target: expected floating probabilities in self's shape, got %s",
                        tn->dtype_name(a->target->dtype));
    tn_tensor *logs = log_softmax(&w, a->self), *loss = NULL;
    if (logs)
        loss = probabilities ? by_probability(&w, logs, a) : by_index(&w, logs, a);
    return work_end(&w, loss, &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(nll_loss_forward, IMPLICIT, nll_loss_forward),
    TN_KERNEL(nll_loss_nd, IMPLICIT, nll_loss_nd),
    TN_KERNEL(cross_entropy_loss, IMPLICIT, cross_entropy_loss),
};
const composite_kernels composite_nll = {kernels, TN_COUNT(kernels)};

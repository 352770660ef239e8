/* margin_losses.c - losses that ask for a margin between two distances or scores, and
 * pairwise_distance. Halves are widened to f32 and rounded once, at the end. */
#include "losses.h"

#include <inttypes.h>

static bool is_half(tn_dtype dtype)
{
    return dtype == TN_F16 || dtype == TN_BF16;
}

static tn_tensor *widened(work *w, tn_tensor *t)
{
    return is_half(t->dtype) ? work_as_dtype(w, t, TN_F32) : t;
}

static tn_status end(work *w, tn_tensor *loss, const tn_tensor *self, tn_tensor **out)
{
    return work_end(w, is_half(self->dtype) ? work_as_dtype(w, loss, self->dtype) : loss, out);
}

/* ---- distances ------------------------------------------------------------------------------- */
/* |x1 - x2 + eps|_p along the last dimension. */
static tn_tensor *distance(work *w, tn_tensor *x1, tn_tensor *x2, double p, double eps,
                           bool keepdim)
{
    static const int64_t last = -1;
    tn_tensor *apart = work_add_number(w, work_sub(w, x1, x2), work_number(eps));
    if (!apart)
        return NULL;
    struct tn_linalg_vector_norm_args f = {TN_FRAME(linalg_vector_norm), .self = apart,
                                           .ord = work_number(p),        .dim = {&last, 1},
                                           .keepdim = keepdim,           .dtype = TN_DTYPE_NONE};
    return work_call(w, OP_VECTOR_NORM, &f, &f.result);
}

static tn_status pairwise_distance(tn_call *call, struct tn_pairwise_distance_args *a)
{
    work w = work_on(call);
    tn_dtype dtype = tn->promote(a->x1->dtype, a->x2->dtype);
    tn_tensor *t = distance(&w, widened(&w, a->x1), widened(&w, a->x2), a->p, a->eps, a->keepdim);
    return work_end(&w, is_half(dtype) ? work_as_dtype(&w, t, dtype) : t, &a->result);
}

static tn_status triplet_margin_loss(tn_call *call, struct tn_triplet_margin_loss_args *a)
{
    work w = work_on(call);
    if (a->anchor->ndim != a->positive->ndim || a->anchor->ndim != a->negative->ndim)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "anchor, positive and negative: expected equally many dimensions, got %d, "
                        "%d and %d",
                        a->anchor->ndim, a->positive->ndim, a->negative->ndim);
    tn_tensor *anchor = widened(&w, a->anchor), *positive = widened(&w, a->positive);
    tn_tensor *negative = widened(&w, a->negative);
    tn_tensor *near = distance(&w, anchor, positive, a->p, a->eps, false);
    tn_tensor *far = distance(&w, anchor, negative, a->p, a->eps, false);
    if (a->swap)
        far = work_minimum(&w, far, distance(&w, positive, negative, a->p, a->eps, false));
    tn_tensor *gap = work_add_number(&w, work_sub(&w, near, far), work_number(a->margin));
    gap = work_clamp_min(&w, gap, work_whole(0));
    return end(&w, loss_reduced(&w, gap, a->reduction), a->anchor, &a->result);
}

/* ---- pairs ----------------------------------------------------------------------------------- */
static tn_status margin_ranking_loss(tn_call *call, struct tn_margin_ranking_loss_args *a)
{
    work w = work_on(call);
    TN_TRY(loss_check_dtype(call, a->input1, TN_DTYPES_FLOATING | TN_DTYPES_INTEGRAL));
    if (a->input1->ndim != a->input2->ndim || a->input1->ndim != a->target->ndim)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "input1, input2 and target: expected equally many dimensions, got %d, %d "
                        "and %d",
                        a->input1->ndim, a->input2->ndim, a->target->ndim);
    tn_tensor *apart = work_sub(&w, widened(&w, a->input1), widened(&w, a->input2));
    tn_tensor *gap = work_mul(&w, work_neg(&w, widened(&w, a->target)), apart);
    gap = work_clamp_min(&w, work_add_number(&w, gap, work_number(a->margin)), work_whole(0));
    return end(&w, loss_reduced(&w, gap, a->reduction), a->input1, &a->result);
}

/* x . y / sqrt((|x|^2 + 1e-12) (|y|^2 + 1e-12)) along the last dimension. */
static tn_tensor *cosine(work *w, tn_tensor *x, tn_tensor *y)
{
    static const int64_t last = -1;
    const tn_ints dim = {&last, 1};
    tn_tensor *xx = work_sum(w, work_mul(w, x, x), dim, false);
    tn_tensor *yy = work_sum(w, work_mul(w, y, y), dim, false);
    tn_tensor *xy = work_sum(w, work_mul(w, x, y), dim, false);
    xx = work_add_number(w, xx, work_number(1e-12));
    yy = work_add_number(w, yy, work_number(1e-12));
    return work_div(w, xy, work_sqrt(w, work_mul(w, xx, yy)));
}

static tn_status cosine_embedding_loss(tn_call *call, struct tn_cosine_embedding_loss_args *a)
{
    work w = work_on(call);
    TN_TRY(loss_check_dtype(call, a->input1, TN_DTYPES_FLOATING | TN_DTYPES_WHOLE));
    if (a->target->ndim > 1 || a->input1->ndim != a->target->ndim + 1 ||
        a->input2->ndim != a->target->ndim + 1)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "expected vectors and a target of 0 dimensions, or rows and a target of 1, "
                        "got inputs of %d and %d dimensions and a target of %d",
                        a->input1->ndim, a->input2->ndim, a->target->ndim);
    tn_tensor *cos = cosine(&w, widened(&w, a->input1), widened(&w, a->input2));
    tn_tensor *apart = work_add_number(&w, cos, work_number(-a->margin));
    apart = work_clamp_min(&w, apart, work_whole(0));
    apart = work_only_where(&w, work_eq(&w, a->target, work_whole(-1)), apart);
    tn_tensor *alike = work_rsub(&w, cos, work_whole(1));
    alike = work_only_where(&w, work_eq(&w, a->target, work_whole(1)), alike);
    tn_tensor *loss = loss_reduced(&w, work_add(&w, alike, apart), a->reduction);
    return end(&w, loss, a->input1, &a->result);
}

/* ---- classes --------------------------------------------------------------------------------- */
/* self as rows of classes: none or one dimension is one row. */
static tn_tensor *rows_of(work *w, tn_tensor *self)
{
    int64_t n = self->ndim == 2 ? self->sizes[0] : 1;
    const int64_t sizes[] = {n, n ? self->numel / n : 0};
    return work_reshape(w, self, (tn_ints){sizes, 2});
}

static tn_status check_rows(tn_call *call, const tn_tensor *self, const tn_tensor *target)
{
    char got[COMPOSITE_SHAPE_CHARS];
    TN_TRY(loss_check_dtype(call, self, TN_DTYPES_FLOATING));
    if (self->ndim > 2 || (self->ndim > 0 && self->sizes[self->ndim - 1] == 0))
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "self: expected a row of classes, or several, got shape %s",
                        composite_shape_text(got, self->ndim, self->sizes));
    if (target->dtype != TN_I64)
        return tn->fail(call, TN_ERR_DTYPE, "target: expected int64, got %s",
                        tn->dtype_name(target->dtype));
    return TN_OK;
}

static tn_status check_multi_margin(tn_call *call, const struct tn_multi_margin_loss_args *a,
                                    double *p)
{
    const tn_tensor *self = a->self, *target = a->target;
    TN_TRY(check_rows(call, self, target));
    int64_t n = self->ndim == 2 ? self->sizes[0] : 1;
    int64_t classes = self->ndim ? self->sizes[self->ndim - 1] : 1;
    if (target->ndim > 1 || target->numel != n)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "target: expected a class for each of %" PRId64 " rows, got %" PRId64
                        " in %d dimensions",
                        n, target->numel, target->ndim);
    if (a->weight && (a->weight->ndim != 1 || a->weight->numel != classes))
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "weight: expected one for each of the %" PRId64 " classes", classes);
    *p = a->p.kind == TN_SCALAR_FLOAT ? a->p.v.f : (double)a->p.v.i;
    if (a->p.kind == TN_SCALAR_COMPLEX || (*p != 1 && *p != 2))
        return tn->fail(call, TN_ERR_ARGUMENT, "p: expected 1 or 2, got %g", *p);
    return TN_OK;
}

static tn_scalar negated(tn_scalar s)
{
    return s.kind == TN_SCALAR_FLOAT ? work_number(-s.v.f) : work_whole(-s.v.i);
}

/* Of a row: the sum of max(0, margin - x[target] + x[j])^p weight[target] over the other classes j,
 * divided by how many classes there are. */
static tn_status multi_margin_loss(tn_call *call, struct tn_multi_margin_loss_args *a)
{
    static const int64_t last = 1;
    work w = work_on(call);
    double p = 1;
    TN_TRY(check_multi_margin(call, a, &p));
    tn_tensor *rows = rows_of(&w, widened(&w, a->self));
    tn_tensor *flat = work_reshape(&w, a->target, (tn_ints){&a->target->numel, 1});
    tn_tensor *target = work_unsqueeze(&w, flat, 1);
    tn_tensor *right = work_gather(&w, rows, 1, target);
    tn_tensor *gap = work_sub(&w, right, rows);
    gap = work_neg(&w, work_add_number(&w, gap, negated(a->margin)));
    gap = work_clamp_min(&w, gap, work_whole(0));
    gap = p == 2 ? work_mul(&w, gap, gap) : gap;
    if (a->weight && gap)
        gap = work_mul(&w, gap, work_unsqueeze(&w, work_index_select(&w, a->weight, 0, flat), 1));
    int64_t classes = rows ? rows->sizes[1] : 0;
    tn_tensor *others = work_sub(&w, work_arange(&w, 0, 1, classes, a->self->device), target);
    gap = work_only_where(&w, work_ne(&w, others, work_whole(0)), gap);
    tn_tensor *loss = work_sum(&w, gap, (tn_ints){&last, 1}, false);
    loss = work_div_number(&w, loss, work_whole(classes));
    loss = work_reshape(&w, loss, composite_sizes(a->target));
    return end(&w, loss_reduced(&w, loss, a->reduction), a->self, &a->result);
}

/* ---- several classes each -------------------------------------------------------------------- */
typedef struct labels {
    tn_tensor *valid;  /* bool: before the first negative entry of its row */
    tn_tensor *index;  /* the entries, 0 where not valid */
    tn_tensor *chosen; /* bool [rows, classes]: some valid entry names the class */
} labels;

static labels labels_of(work *w, tn_tensor *target)
{
    labels l;
    tn_tensor *stop = work_as_dtype(w, work_lt_number(w, target, work_whole(0)), TN_I64);
    tn_tensor *alive = work_cumprod(w, work_rsub(w, stop, work_whole(1)), 1);
    l.valid = work_ne(w, alive, work_whole(0));
    l.index = work_only_where(w, l.valid, target);
    tn_tensor *none = target ? work_zeros(w, composite_sizes(target), TN_I64, target->device)
                             : NULL;
    l.chosen = work_ne(w, work_scatter_add(w, none, 1, l.index, alive), work_whole(0));
    return l;
}

/* Of a row: the sum of max(0, 1 - x[t] + x[j]) over its classes t and the other classes j, divided by
 * how many classes there are. */
static tn_tensor *multilabel(work *w, tn_tensor *self, tn_tensor *target, labels *l)
{
    static const int64_t both[] = {1, 2};
    tn_tensor *rows = rows_of(w, widened(w, self));
    *l = labels_of(w, rows_of(w, target));
    tn_tensor *right = work_unsqueeze(w, work_gather(w, rows, 1, l->index), 2);
    tn_tensor *gap = work_sub(w, work_unsqueeze(w, rows, 1), right);
    gap = work_clamp_min(w, work_add_number(w, gap, work_whole(1)), work_whole(0));
    gap = work_only_where(w, work_unsqueeze(w, l->valid, 2), gap);
    tn_tensor *zero = gap ? work_constant(w, gap, work_whole(0)) : NULL;
    gap = work_where(w, work_unsqueeze(w, l->chosen, 1), zero, gap);
    tn_tensor *loss = work_sum(w, gap, (tn_ints){both, 2}, false);
    return work_div_number(w, loss, work_whole(rows ? rows->sizes[1] : 1));
}

static tn_status check_multilabel(tn_call *call, const tn_tensor *self, const tn_tensor *target)
{
    char want[COMPOSITE_SHAPE_CHARS], got[COMPOSITE_SHAPE_CHARS];
    TN_TRY(check_rows(call, self, target));
    bool same = self->ndim == target->ndim;
    for (int d = 0; same && d < self->ndim; d++)
        same = self->sizes[d] == target->sizes[d];
    return same ? TN_OK
                : tn->fail(call, TN_ERR_ARGUMENT, "target: expected self's shape %s, got %s",
                           composite_shape_text(want, self->ndim, self->sizes),
                           composite_shape_text(got, target->ndim, target->sizes));
}

static tn_tensor *reduced_rows(work *w, tn_tensor *loss, const tn_tensor *self, int64_t reduction)
{
    if (loss && reduction == 0 && self->ndim < 2)
        return work_reshape(w, loss, (tn_ints){NULL, 0});
    return loss_reduced(w, loss, reduction);
}

static tn_status multilabel_forward(tn_call *call, struct tn_multilabel_margin_loss_forward_args *a)
{
    work w = work_on(call);
    labels l;
    TN_TRY(check_multilabel(call, a->self, a->target));
    tn_tensor *loss = multilabel(&w, a->self, a->target, &l);
    tn_tensor *chosen = work_as_dtype(&w, l.chosen, a->self->dtype);
    chosen = work_reshape(&w, chosen, composite_sizes(a->target));
    loss = reduced_rows(&w, loss, a->self, a->reduction);
    loss = is_half(a->self->dtype) ? work_as_dtype(&w, loss, a->self->dtype) : loss;
    if (w.status == TN_OK)
        composite_return_self(chosen, &a->is_target);
    return work_end(&w, loss, &a->output);
}

static tn_status multilabel_margin_loss(tn_call *call, struct tn_multilabel_margin_loss_args *a)
{
    work w = work_on(call);
    labels l;
    TN_TRY(check_multilabel(call, a->self, a->target));
    tn_tensor *loss = multilabel(&w, a->self, a->target, &l);
    return end(&w, reduced_rows(&w, loss, a->self, a->reduction), a->self, &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(pairwise_distance, IMPLICIT, pairwise_distance),
    TN_KERNEL(triplet_margin_loss, IMPLICIT, triplet_margin_loss),
    TN_KERNEL(margin_ranking_loss, IMPLICIT, margin_ranking_loss),
    TN_KERNEL(cosine_embedding_loss, IMPLICIT, cosine_embedding_loss),
    TN_KERNEL(multi_margin_loss, IMPLICIT, multi_margin_loss),
    TN_KERNEL(multilabel_margin_loss_forward, IMPLICIT, multilabel_forward),
    TN_KERNEL(multilabel_margin_loss, IMPLICIT, multilabel_margin_loss),
};
const composite_kernels composite_margin_losses = {kernels, TN_COUNT(kernels)};

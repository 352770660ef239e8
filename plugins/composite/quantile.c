/* quantile.c - nanmean, quantile, nanquantile: statistics of what stands along a dimension, by sorting
 * and sums. */
#include "work.h"

#include <string.h>

static bool is_floating(tn_dtype dtype)
{
    return tn_dtype_in(dtype, TN_DTYPES_FLOATING);
}

static tn_tensor *is_nan(work *w, tn_tensor *self)
{
    if (!self)
        return NULL;
    struct tn_isnan_args f = {TN_FRAME(isnan), .self = work_detach(w, self)};
    return f.self ? work_call(w, OP_ISNAN, &f, &f.result) : NULL;
}

/* How many are not NaN, as numbers of that dtype. */
static tn_tensor *count(work *w, tn_tensor *self, tn_ints dim, bool keepdim, tn_dtype dtype)
{
    tn_tensor *here = work_eq(w, is_nan(w, self), work_whole(0));
    return work_as_dtype(w, work_sum(w, here, dim, keepdim), dtype);
}

/* ---- nanmean --------------------------------------------------------------------------------- */
/* Halves are summed and divided in float32, and rounded once. */
static tn_status nanmean(tn_call *call, struct tn_nanmean_args *a)
{
    work w = work_on(call);
    tn_dtype dtype = a->dtype != TN_DTYPE_NONE ? a->dtype : a->self->dtype;
    tn_dtype inner = dtype == TN_F64 ? TN_F64 : TN_F32;
    if (!is_floating(a->self->dtype) || !is_floating(dtype))
        return tn->fail(call, TN_ERR_DTYPE, "a mean without NaN needs a floating dtype, got %s",
                        tn->dtype_name(is_floating(dtype) ? a->self->dtype : dtype));
    tn_tensor *x = work_as_dtype(&w, a->self, dtype);
    struct tn_nansum_args f = {TN_FRAME(nansum), .self = x, .dim = a->dim, .keepdim = a->keepdim,
                               .dtype = inner};
    tn_tensor *sum = x ? work_call(&w, OP_NANSUM, &f, &f.result) : NULL;
    tn_tensor *mean = work_div(&w, sum, count(&w, x, a->dim, a->keepdim, inner));
    return work_end(&w, work_as_dtype(&w, mean, dtype), &a->result);
}

/* ---- quantiles ------------------------------------------------------------------------------- */
static tn_tensor *sorted(work *w, tn_tensor *self)
{
    if (!self)
        return NULL;
    struct tn_sort_args f = {TN_FRAME(sort), .self = self, .dim = -1};
    tn_tensor *values = work_call(w, OP_SORT, &f, &f.values);
    return values && work_hold(w, f.indices) ? values : NULL;
}

static tn_tensor *floor_of(work *w, tn_tensor *self)
{
    if (!self)
        return NULL;
    struct tn_floor_args f = {TN_FRAME(floor), .self = self};
    return work_call(w, OP_FLOOR, &f, &f.result);
}

static tn_tensor *nearest(work *w, tn_tensor *self)
{
    if (!self)
        return NULL;
    struct tn_round_args f = {TN_FRAME(round), .self = self};
    return work_call(w, OP_ROUND, &f, &f.result);
}

static tn_tensor *at_rank(work *w, tn_tensor *row, tn_tensor *rank)
{
    return work_gather(w, row, -1, work_as_dtype(w, rank, TN_I64));
}

/* Between two neighbours; of two equal infinities, which have no difference, the one. */
static tn_tensor *between(work *w, tn_tensor *low, tn_tensor *high, tn_tensor *weight)
{
    if (!low || !high || !weight)
        return NULL;
    struct tn_lerp_Tensor_args f = {TN_FRAME(lerp_Tensor), .self = low, .end = high,
                                    .weight = weight};
    tn_tensor *mixed = work_call(w, OP_LERP, &f, &f.result);
    return work_where(w, is_nan(w, work_sub(w, high, low)), low, mixed);
}

static tn_tensor *interpolated(work *w, tn_tensor *row, tn_tensor *rank, const char *how)
{
    tn_tensor *below = floor_of(w, rank), *above = work_neg(w, floor_of(w, work_neg(w, rank)));
    if (strcmp(how, "lower") == 0)
        return at_rank(w, row, below);
    if (strcmp(how, "higher") == 0)
        return at_rank(w, row, above);
    if (strcmp(how, "nearest") == 0)
        return at_rank(w, row, nearest(w, rank));
    tn_tensor *weight = work_as_dtype(w, work_sub(w, rank, below), row ? row->dtype : TN_F64);
    if (weight && strcmp(how, "midpoint") == 0)
        weight = work_constant(w, weight, work_number(0.5));
    return between(w, at_rank(w, row, below), at_rank(w, row, above), weight);
}

/* q, float64 of shape [k], of rows along the last dimension: [.., k]. Ranks are computed in float64
 * whatever the dtype. Where there is a NaN, it is the answer, or it does not count. */
static tn_tensor *of_rows(work *w, tn_tensor *rows, tn_tensor *q, const char *how, bool ignore_nan)
{
    const int64_t last = -1;
    int64_t n = rows ? rows->sizes[rows->ndim - 1] : 0;
    tn_tensor *numbers = count(w, rows, (tn_ints){&last, 1}, true, TN_F64);
    tn_tensor *highest = work_add_number(w, numbers, work_whole(-1));
    tn_tensor *rank = work_mul(w, work_clamp_min(w, highest, work_whole(0)), q);
    if (!ignore_nan)
        rank = work_where(w, work_lt_number(w, numbers, work_whole(n)),
                          work_constant(w, numbers, work_whole(n - 1)), rank);
    return interpolated(w, sorted(w, rows), rank, how);
}

typedef struct asked {
    tn_tensor *self;
    tn_opt_int dim;
    bool keepdim, ignore_nan;
    const char *interpolation;
} asked;

static tn_status check(tn_call *call, const asked *a)
{
    static const char *const ways[] = {"linear", "lower", "higher", "midpoint", "nearest"};
    bool known = false;
    for (size_t i = 0; i < TN_COUNT(ways); i++)
        known = known || strcmp(a->interpolation, ways[i]) == 0;
    if (!known)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "interpolation is '%.40s'; it may be 'linear', 'lower', 'higher', "
                        "'midpoint' or 'nearest'",
                        a->interpolation);
    if (a->self->dtype != TN_F32 && a->self->dtype != TN_F64)
        return tn->fail(call, TN_ERR_DTYPE, "self must be float32 or float64, got %s",
                        tn->dtype_name(a->self->dtype));
    if (a->self->numel == 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "self has no elements, so it has no quantile");
    return TN_OK;
}

/* [1 at d, .., k] -> [k, ..] or, for a q without dimensions, [..]. */
static tn_tensor *arranged(work *w, tn_tensor *r, const asked *a, int64_t d, bool listed)
{
    if (listed)
        r = work_transpose(w, work_unsqueeze(w, r, 0), 0, -1);
    r = work_select(w, r, -1, 0);
    if (a->dim.has)
        return a->keepdim && a->self->ndim ? r : work_squeeze(w, r, d + listed);
    int64_t sizes[TN_MAX_DIMS + 1], ndim = 0;
    if (listed)
        sizes[ndim++] = r ? r->sizes[0] : 0;
    for (int k = 0; a->keepdim && k < a->self->ndim && ndim < TN_MAX_DIMS; k++)
        sizes[ndim++] = 1;
    return work_reshape(w, r, (tn_ints){sizes, ndim});
}

static tn_status quantiles(tn_call *call, const asked *a, work *w, tn_tensor *q, bool listed,
                           tn_tensor **out)
{
    const int64_t flat = -1;
    int64_t d = 0;
    tn_status status = check(call, a);
    if (status == TN_OK && a->dim.has)
        status = composite_wrap_dim(call, "dim", a->dim.value, a->self->ndim, &d);
    if (status != TN_OK)
        return work_fail(w, status);
    tn_tensor *self = a->dim.has && a->self->ndim ? a->self
                                                  : work_reshape(w, a->self, (tn_ints){&flat, 1});
    tn_tensor *rows = work_transpose(w, work_unsqueeze(w, self, -1), d, -1);
    tn_tensor *r = of_rows(w, rows, q, a->interpolation, a->ignore_nan);
    return work_end(w, arranged(w, r, a, d, listed), out);
}

static tn_status of_number(tn_call *call, const asked *a, double q, tn_tensor **out)
{
    work w = work_on(call);
    const int64_t one = 1;
    if (!(q >= 0 && q <= 1))
        return tn->fail(call, TN_ERR_ARGUMENT, "q is %g; a quantile is between 0 and 1", q);
    tn_tensor *t = work_zeros(&w, (tn_ints){&one, 1}, TN_F64, a->self->device);
    return quantiles(call, a, &w, work_add_number(&w, t, work_number(q)), false, out);
}

/* A q outside of its range is a rank outside of the row, which gather refuses. */
static tn_status of_tensor(tn_call *call, const asked *a, tn_tensor *q, tn_tensor **out)
{
    work w = work_on(call);
    const int64_t flat = -1;
    if (q->ndim > 1)
        return tn->fail(call, TN_ERR_ARGUMENT, "q has %d dimensions; it may have one, or none",
                        (int)q->ndim);
    if (q->dtype != a->self->dtype)
        return tn->fail(call, TN_ERR_DTYPE, "q has dtype %s; expected self's %s",
                        tn->dtype_name(q->dtype), tn->dtype_name(a->self->dtype));
    tn_tensor *list = work_reshape(&w, work_as_dtype(&w, q, TN_F64), (tn_ints){&flat, 1});
    return quantiles(call, a, &w, list, q->ndim == 1, out);
}

static tn_status quantile(tn_call *call, struct tn_quantile_args *a)
{
    asked ask = {a->self, a->dim, a->keepdim, false, a->interpolation};
    return of_tensor(call, &ask, a->q, &a->result);
}

static tn_status quantile_scalar(tn_call *call, struct tn_quantile_scalar_args *a)
{
    asked ask = {a->self, a->dim, a->keepdim, false, a->interpolation};
    return of_number(call, &ask, a->q, &a->result);
}

static tn_status nanquantile(tn_call *call, struct tn_nanquantile_args *a)
{
    asked ask = {a->self, a->dim, a->keepdim, true, a->interpolation};
    return of_tensor(call, &ask, a->q, &a->result);
}

static tn_status nanquantile_scalar(tn_call *call, struct tn_nanquantile_scalar_args *a)
{
    asked ask = {a->self, a->dim, a->keepdim, true, a->interpolation};
    return of_number(call, &ask, a->q, &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(nanmean, IMPLICIT, nanmean),
    TN_KERNEL(quantile, IMPLICIT, quantile),
    TN_KERNEL(quantile_scalar, IMPLICIT, quantile_scalar),
    TN_KERNEL(nanquantile, IMPLICIT, nanquantile),
    TN_KERNEL(nanquantile_scalar, IMPLICIT, nanquantile_scalar),
};
const composite_kernels composite_quantile = {kernels, TN_COUNT(kernels)};

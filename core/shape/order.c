/* order.c - rules of what sorts, ranks and searches: sort, topk, kthvalue, medians, cummax, aminmax,
 * searchsorted. That complex numbers have no order, the operators' dtypes say. */
#include <string.h>

#include "core/shape/shape.h"

/* ---- as long as self ------------------------------------------------------------------------- */
tn_status tn__shape_order(tn_call *call, tn_tensor *self, int64_t dim, tn_result *r)
{
    TN__TRY(tn__wrap_dim(call, dim, self->ndim, &dim));
    tn__result_like(self, TN_I64, r);
    return TN_OK;
}

tn_status tn__shape_ordered(tn_call *call, tn_tensor *self, int64_t dim, tn_result *r)
{
    TN__TRY(tn__shape_order(call, self, dim, &r[1]));
    tn__result_like(self, self->dtype, &r[0]);
    return TN_OK;
}

/* ---- some of self ---------------------------------------------------------------------------- */
static tn_status check_k(tn_call *call, const tn_tensor *self, int64_t k, int64_t least,
                         int64_t dim)
{
    int64_t n = self->ndim ? self->sizes[dim] : 1;
    if (k >= least && k <= n)
        return TN_OK;
    if (n < least)
        return tn__fail(call, TN_ERR_INDEX, "k is %lld, but dim %lld has no elements", (long long)k,
                        (long long)dim);
    return tn__fail(call, TN_ERR_INDEX, "k is %lld; dim %lld of %lld elements takes %lld to %lld",
                    (long long)k, (long long)dim, (long long)n, (long long)least, (long long)n);
}

tn_status tn__shape_topk(tn_call *call, tn_tensor *self, int64_t k, int64_t dim, tn_result *r)
{
    TN__TRY(tn__shape_ordered(call, self, dim, r));
    TN__TRY(tn__wrap_dim(call, dim, self->ndim, &dim));
    TN__TRY(check_k(call, self, k, 0, dim));
    if (self->ndim)
        r[0].sizes[dim] = r[1].sizes[dim] = k;
    return TN_OK;
}

tn_status tn__shape_kthvalue(tn_call *call, tn_tensor *self, int64_t k, int64_t dim, bool keepdim,
                             tn_result *r)
{
    TN__TRY(tn__wrap_dim(call, dim, self->ndim, &dim));
    TN__TRY(check_k(call, self, k, 1, dim));
    tn__result_reduced(self, UINT64_C(1) << dim, keepdim, self->dtype, &r[0]);
    tn__result_reduced(self, UINT64_C(1) << dim, keepdim, TN_I64, &r[1]);
    return TN_OK;
}

/* The median of nothing is NaN. */
tn_status tn__shape_median(tn_call *call, tn_tensor *self, tn_result *r)
{
    (void)call;
    tn__result_reduced(self, ~UINT64_C(0), false, self->dtype, r);
    return TN_OK;
}

/* A tensor without dimensions counts as one of one here: with keepdim its results have a dimension,
 * as in ATen. */
tn_status tn__shape_both_extremes(tn_call *call, tn_tensor *self, tn_opt_int dim, bool keepdim,
                                  tn_result *r)
{
    tn_ints dims = {&dim.value, dim.has ? 1 : 0};
    for (int i = 0; i < 2; i++) {
        TN__TRY(tn__shape_extreme_dims(call, self, dims, keepdim, &r[i]));
        if (self->ndim == 0 && dim.has && keepdim)
            r[i].sizes[r[i].ndim++] = 1;
    }
    return TN_OK;
}

/* ---- searching ------------------------------------------------------------------------------- */
/* The operators' dtypes speak of the first operand alone. */
static tn_status check_ordered(tn_call *call, const tn_tensor *t, const char *name)
{
    if (!tn_dtype_in(t->dtype, TN_DTYPES_COMPLEX))
        return TN_OK;
    return tn__fail(call, TN_ERR_UNSUPPORTED, "%s is %s; complex numbers have no order", name,
                    tn__dtype_name(t->dtype));
}

static tn_status check_searched(tn_call *call, const tn_tensor *sequence, const char *name,
                                const tn_tensor *values, const char *values_name, bool out_int32)
{
    TN__TRY(check_ordered(call, sequence, name));
    TN__TRY(check_ordered(call, values, values_name));
    TN__TRY(tn__same_device(call, values, sequence, name));
    int64_t n = sequence->ndim ? sequence->sizes[sequence->ndim - 1] : 1;
    if (out_int32 && n > INT32_MAX)
        return tn__fail(
            call, TN_ERR_OVERFLOW,
            "overflow: int32 does not hold the places of %lld elements; leave out_int32",
            (long long)n);
    return TN_OK;
}

/* One sequence for all values, or one for each row of them. */
static tn_status check_sequences(tn_call *call, const tn_tensor *sequence, const tn_tensor *values)
{
    char x[TN__SHAPE_CHARS], y[TN__SHAPE_CHARS];
    if (sequence->ndim == 0)
        return tn__fail(call, TN_ERR_ARGUMENT,
                        "sorted_sequence has no dimensions; give one or more");
    bool fits = sequence->ndim == 1 || sequence->ndim == values->ndim;
    for (int d = 0; fits && d + 1 < sequence->ndim; d++)
        fits = sequence->sizes[d] == values->sizes[d];
    if (fits)
        return TN_OK;
    return tn__fail(call, TN_ERR_ARGUMENT,
                    "sorted_sequence of shape %s needs one dimension, or those of self of shape %s "
                    "but for the last",
                    tn__shape_text(x, sequence->ndim, sequence->sizes),
                    tn__shape_text(y, values->ndim, values->sizes));
}

static tn_status check_side(tn_call *call, bool right, const char *side)
{
    if (!side || strcmp(side, "right") == 0)
        return TN_OK;
    if (strcmp(side, "left") != 0)
        return tn__fail(call, TN_ERR_ARGUMENT, "side is '%.40s'; it may be 'left' or 'right'",
                        side);
    if (right)
        return tn__fail(call, TN_ERR_ARGUMENT,
                        "side is 'left', but right is true; give one of them");
    return TN_OK;
}

static tn_status check_sorter(tn_call *call, const tn_tensor *sequence, const tn_tensor *sorter)
{
    char x[TN__SHAPE_CHARS], y[TN__SHAPE_CHARS];
    if (!sorter)
        return TN_OK;
    TN__TRY(tn__same_device(call, sequence, sorter, "sorter"));
    if (sorter->dtype != TN_I64)
        return tn__fail(call, TN_ERR_DTYPE, "sorter must be int64, got %s",
                        tn__dtype_name(sorter->dtype));
    bool fits = sorter->ndim == sequence->ndim;
    for (int d = 0; fits && d < sequence->ndim; d++)
        fits = sorter->sizes[d] == sequence->sizes[d];
    if (fits)
        return TN_OK;
    return tn__fail(call, TN_ERR_ARGUMENT, "sorter has shape %s; expected sorted_sequence's %s",
                    tn__shape_text(x, sorter->ndim, sorter->sizes),
                    tn__shape_text(y, sequence->ndim, sequence->sizes));
}

tn_status tn__shape_searchsorted(tn_call *call, tn_tensor *sorted_sequence, tn_tensor *self,
                                 bool out_int32, bool right, const char *side, tn_tensor *sorter,
                                 tn_result *r)
{
    TN__TRY(check_searched(call, sorted_sequence, "sorted_sequence", self, "self", out_int32));
    TN__TRY(check_sequences(call, sorted_sequence, self));
    TN__TRY(check_side(call, right, side));
    TN__TRY(check_sorter(call, sorted_sequence, sorter));
    tn__result_like(self, out_int32 ? TN_I32 : TN_I64, r);
    return TN_OK;
}

tn_status tn__shape_isin(tn_call *call, tn_tensor *elements, tn_tensor *test_elements, tn_result *r)
{
    TN__TRY(check_searched(call, test_elements, "test_elements", elements, "elements", false));
    tn__result_like(elements, TN_BOOL, r);
    return TN_OK;
}

tn_status tn__shape_bucketize(tn_call *call, tn_tensor *self, tn_tensor *boundaries, bool out_int32,
                              tn_result *r)
{
    char shape[TN__SHAPE_CHARS];
    TN__TRY(check_searched(call, boundaries, "boundaries", self, "self", out_int32));
    if (boundaries->ndim != 1)
        return tn__fail(call, TN_ERR_ARGUMENT, "boundaries must have one dimension, got shape %s",
                        tn__shape_text(shape, boundaries->ndim, boundaries->sizes));
    tn__result_like(self, out_int32 ? TN_I32 : TN_I64, r);
    return TN_OK;
}

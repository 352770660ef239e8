/* reduce.c - rules of reductions and of softmax. The empty list of dims means all dims, for every
 * reduction alike. */
#include "core/shape/shape.h"

static tn_dtype sum_dtype(const tn_tensor *self, tn_dtype asked)
{
    if (asked != TN_DTYPE_NONE)
        return asked;
    return tn_dtype_in(self->dtype, TN_DTYPES_WHOLE) ? TN_I64 : self->dtype;
}

static tn_status mean_dtype(tn_call *call, const tn_tensor *self, tn_dtype asked, tn_dtype *out)
{
    tn_dtype dtype = asked != TN_DTYPE_NONE ? asked : self->dtype;
    if (tn_dtype_in(dtype, TN_DTYPES_WHOLE))
        return tn__fail(
            call, TN_ERR_DTYPE,
            "a mean is computed in a floating or complex dtype, got %s; give dtype=float32, say",
            tn__dtype_name(dtype));
    *out = dtype;
    return TN_OK;
}

static tn_status reduce(tn_call *call, tn_tensor *self, tn_ints dim, bool keepdim, tn_dtype dtype,
                        tn_result *r)
{
    uint64_t mask;
    TN__TRY(tn__reduced_dims(call, self, dim, &mask));
    tn__result_reduced(self, mask, keepdim, dtype, r);
    return TN_OK;
}

static const tn_ints all_dims = {NULL, 0};

tn_status tn__shape_sum_all(tn_call *call, tn_tensor *self, tn_dtype dtype, tn_result *r)
{
    return reduce(call, self, all_dims, false, sum_dtype(self, dtype), r);
}

tn_status tn__shape_sum_dims(tn_call *call, tn_tensor *self, tn_ints dim, bool keepdim,
                             tn_dtype dtype, tn_result *r)
{
    return reduce(call, self, dim, keepdim, sum_dtype(self, dtype), r);
}

tn_status tn__shape_prod_dim(tn_call *call, tn_tensor *self, int64_t dim, bool keepdim,
                             tn_dtype dtype, tn_result *r)
{
    return reduce(call, self, (tn_ints){&dim, 1}, keepdim, sum_dtype(self, dtype), r);
}

tn_status tn__shape_mean_all(tn_call *call, tn_tensor *self, tn_dtype dtype, tn_result *r)
{
    TN__TRY(mean_dtype(call, self, dtype, &dtype));
    return reduce(call, self, all_dims, false, dtype, r);
}

tn_status tn__shape_mean_dims(tn_call *call, tn_tensor *self, tn_ints dim, bool keepdim,
                              tn_dtype dtype, tn_result *r)
{
    TN__TRY(mean_dtype(call, self, dtype, &dtype));
    return reduce(call, self, dim, keepdim, dtype, r);
}

/* ---- extremes: there is none among no elements ----------------------------------------------- */
static tn_status check_ordered(tn_call *call, const tn_tensor *self)
{
    if (!tn_dtype_in(self->dtype, TN_DTYPES_COMPLEX))
        return TN_OK;
    return tn__fail(call, TN_ERR_UNSUPPORTED, "%s numbers have no order",
                    tn__dtype_name(self->dtype));
}

static tn_status check_not_empty(tn_call *call, const tn_tensor *self, uint64_t mask)
{
    char shape[TN__SHAPE_CHARS];
    for (int d = 0; d < self->ndim; d++)
        if (mask >> d & 1 && self->sizes[d] == 0)
            return tn__fail(call, TN_ERR_INDEX,
                            "dim %d of shape %s has no elements, so there is no extreme along it",
                            d, tn__shape_text(shape, self->ndim, self->sizes));
    return TN_OK;
}

static tn_status extreme(tn_call *call, tn_tensor *self, tn_ints dim, bool keepdim, tn_dtype dtype,
                         tn_result *r)
{
    uint64_t mask;
    TN__TRY(check_ordered(call, self));
    TN__TRY(tn__reduced_dims(call, self, dim, &mask));
    TN__TRY(check_not_empty(call, self, mask));
    tn__result_reduced(self, mask, keepdim, dtype, r);
    return TN_OK;
}

tn_status tn__shape_extreme_all(tn_call *call, tn_tensor *self, tn_result *r)
{
    return extreme(call, self, all_dims, false, self->dtype, r);
}

tn_status tn__shape_extreme_dims(tn_call *call, tn_tensor *self, tn_ints dim, bool keepdim,
                                 tn_result *r)
{
    return extreme(call, self, dim, keepdim, self->dtype, r);
}

tn_status tn__shape_extreme_dim(tn_call *call, tn_tensor *self, int64_t dim, bool keepdim,
                                tn_result *r)
{
    tn_ints dims = {&dim, 1};
    TN__TRY(extreme(call, self, dims, keepdim, self->dtype, &r[0]));
    return extreme(call, self, dims, keepdim, TN_I64, &r[1]);
}

tn_status tn__shape_index_dim(tn_call *call, tn_tensor *self, tn_opt_int dim, bool keepdim,
                              tn_result *r)
{
    tn_ints one = {&dim.value, 1};
    return extreme(call, self, dim.has ? one : all_dims, keepdim, TN_I64, r);
}

/* ---- any, all -------------------------------------------------------------------------------- */
static tn_dtype truth_dtype(const tn_tensor *self)
{
    return self->dtype == TN_U8 ? TN_U8 : TN_BOOL;
}

tn_status tn__shape_truth_all(tn_call *call, tn_tensor *self, tn_result *r)
{
    return reduce(call, self, all_dims, false, truth_dtype(self), r);
}

tn_status tn__shape_truth_dim(tn_call *call, tn_tensor *self, int64_t dim, bool keepdim,
                              tn_result *r)
{
    return reduce(call, self, (tn_ints){&dim, 1}, keepdim, truth_dtype(self), r);
}

/* ---- softmax --------------------------------------------------------------------------------- */
tn_status tn__shape_softmax(tn_call *call, tn_tensor *self, int64_t dim, bool half_to_float,
                            tn_result *r)
{
    int64_t d;
    TN__TRY(tn__wrap_dim(call, dim, self->ndim, &d));
    if (!(TN_DTYPES_FLOATING >> self->dtype & 1))
        return tn__fail(call, TN_ERR_UNSUPPORTED,
                        "softmax is not defined for %s; cast to a floating dtype first",
                        tn__dtype_name(self->dtype));
    if (half_to_float && self->dtype != TN_F16 && self->dtype != TN_BF16)
        return tn__fail(call, TN_ERR_DTYPE,
                        "half_to_float needs a float16 or bfloat16 input, got %s",
                        tn__dtype_name(self->dtype));
    tn__result_like(self, half_to_float ? TN_F32 : self->dtype, r);
    return TN_OK;
}

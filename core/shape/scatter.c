/* scatter.c - rules of operators whose result is self with something written or added into it by
 * index, and of those that run along a dimension. */
#include "core/shape/shape.h"

tn_status tn__shape_like(tn_call *call, tn_tensor *self, tn_result *r)
{
    (void)call;
    tn__result_like(self, self->dtype, r);
    return TN_OK;
}

tn_status tn__shape_cumulative(tn_call *call, tn_tensor *self, int64_t dim, tn_dtype dtype,
                               tn_result *r)
{
    TN__TRY(tn__wrap_dim(call, dim, self->ndim, &dim));
    if (dtype == TN_DTYPE_NONE)
        dtype = tn_dtype_in(self->dtype, TN_DTYPES_WHOLE) ? TN_I64 : self->dtype;
    tn__result_like(self, dtype, r);
    return TN_OK;
}

static tn_status check_same_dtype(tn_call *call, const tn_tensor *self, const tn_tensor *src,
                                  const char *name)
{
    if (src->dtype != self->dtype)
        return tn__fail(call, TN_ERR_DTYPE, "%s has dtype %s; expected self's %s", name,
                        tn__dtype_name(src->dtype), tn__dtype_name(self->dtype));
    return tn__same_device(call, self, src, name);
}

/* ---- index_add ------------------------------------------------------------------------------- */
/* Sizes of self and source agree but for dim, where source has one slice per index. */
static bool slices_fit(const tn_tensor *self, int64_t dim, const tn_tensor *index,
                       const tn_tensor *source)
{
    if (self->ndim == 0 || source->ndim == 0)
        return self->ndim == 0 ? source->numel == index->numel && source->ndim <= 1
                               : self->ndim == 1 && index->numel == 1;
    bool fits = self->ndim == source->ndim && source->sizes[dim] == index->numel;
    for (int d = 0; d < self->ndim && fits; d++)
        fits = d == dim || self->sizes[d] == source->sizes[d];
    return fits;
}

tn_status tn__shape_index_add(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                              tn_tensor *source, tn_result *r)
{
    char x[TN__SHAPE_CHARS], y[TN__SHAPE_CHARS];
    TN__TRY(tn__wrap_dim(call, dim, self->ndim, &dim));
    if (index->dtype != TN_I64 && index->dtype != TN_I32)
        return tn__fail(call, TN_ERR_DTYPE, "index must be int64 or int32, got %s",
                        tn__dtype_name(index->dtype));
    TN__TRY(tn__same_device(call, self, index, "index"));
    TN__TRY(check_same_dtype(call, self, source, "source"));
    if (index->ndim > 1)
        return tn__fail(call, TN_ERR_INDEX, "index must have one dimension, got shape %s",
                        tn__shape_text(x, index->ndim, index->sizes));
    if (!slices_fit(self, dim, index, source))
        return tn__fail(call, TN_ERR_ARGUMENT,
                        "source of shape %s does not fit self of shape %s: dim %lld needs one "
                        "slice for each of the %lld indices, the other sizes must agree",
                        tn__shape_text(x, source->ndim, source->sizes),
                        tn__shape_text(y, self->ndim, self->sizes), (long long)dim,
                        (long long)index->numel);
    tn__result_like(self, self->dtype, r);
    return TN_OK;
}

/* ---- scatter --------------------------------------------------------------------------------- */
/* `what` has as many dimensions as index and is nowhere smaller; self may be so along dim. */
static tn_status check_covers(tn_call *call, const tn_tensor *what, const char *name,
                              const tn_tensor *index, int64_t free_dim)
{
    char x[TN__SHAPE_CHARS], y[TN__SHAPE_CHARS];
    bool fits = (what->ndim ? what->ndim : 1) == (index->ndim ? index->ndim : 1);
    for (int d = 0; d < what->ndim && d < index->ndim && fits; d++)
        fits = d == free_dim || index->sizes[d] <= what->sizes[d];
    if (fits)
        return TN_OK;
    return tn__fail(call, TN_ERR_ARGUMENT,
                    "index of shape %s must have as many dimensions as %s of shape %s and no "
                    "larger size%s",
                    tn__shape_text(x, index->ndim, index->sizes), name,
                    tn__shape_text(y, what->ndim, what->sizes),
                    free_dim >= 0 ? " except along dim" : "");
}

tn_status tn__shape_scatter_value(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                                  tn_result *r)
{
    TN__TRY(tn__wrap_dim(call, dim, self->ndim, &dim));
    if (index->dtype != TN_I64 && index->numel)
        return tn__fail(call, TN_ERR_DTYPE, "index must be int64, got %s",
                        tn__dtype_name(index->dtype));
    TN__TRY(tn__same_device(call, self, index, "index"));
    if (index->numel)
        TN__TRY(check_covers(call, self, "self", index, dim));
    tn__result_like(self, self->dtype, r);
    return TN_OK;
}

tn_status tn__shape_scatter(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                            tn_tensor *src, tn_result *r)
{
    TN__TRY(tn__shape_scatter_value(call, self, dim, index, r));
    TN__TRY(check_same_dtype(call, self, src, "src"));
    return index->numel ? check_covers(call, src, "src", index, -1) : TN_OK;
}

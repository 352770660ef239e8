/* index_list.c - rules of writing at a list of indices, at masks, and at places counted through the
 * whole tensor: index_put, index_copy, index_fill, masked_scatter, put; of take; and of combining at
 * indices: scatter_reduce, index_reduce.
 *
 * The geometry of a list of indices is tenon/indexing.h's, which the backends read too. What only
 * values can tell (an index out of range, how many elements of a mask are true) is theirs. */
#include <string.h>

#include <tenon/indexing.h>

#include "core/shape/shape.h"

static tn_status check_index(tn_call *call, const tn_tensor *self, const tn_tensor *index)
{
    if (index->dtype != TN_I64)
        return tn__fail(call, TN_ERR_DTYPE, "index must be int64, got %s",
                        tn__dtype_name(index->dtype));
    return tn__same_device(call, self, index, "index");
}

static tn_status check_source(tn_call *call, const tn_tensor *self, const tn_tensor *source,
                              const char *name)
{
    if (source->dtype != self->dtype)
        return tn__fail(call, TN_ERR_DTYPE, "%s has dtype %s; expected self's %s", name,
                        tn__dtype_name(source->dtype), tn__dtype_name(self->dtype));
    return tn__same_device(call, self, source, name);
}

/* ---- a list of indices ----------------------------------------------------------------------- */
/* x[mask] = number: what masked_fill takes, which casts. */
static bool fills_a_mask(const tn_indexing *x, const tn_tensor *values, bool accumulate)
{
    return x->n == 1 && tn_indexing_is_mask(x->index[0]) && values->numel == 1 && !accumulate;
}

tn_status tn__shape_index_put(tn_call *call, tn_tensor *self, tn_tensors indices, tn_tensor *values,
                              bool accumulate, tn_result *r)
{
    tn_indexing x;
    tn_status status = tn_indexing_of(&x, self, indices, NULL);
    if (status == TN_OK)
        status = tn_indexing_check_values(&x, values);
    if (status != TN_OK)
        return tn__fail(call, status, "%s", x.text);
    bool casts = fills_a_mask(&x, values, accumulate) && tn__can_cast(values->dtype, self->dtype);
    if (!casts)
        TN__TRY(check_source(call, self, values, "values"));
    TN__TRY(tn__same_device(call, self, values, "values"));
    tn__result_like(self, self->dtype, r);
    return TN_OK;
}

/* ---- slices ---------------------------------------------------------------------------------- */
static tn_status check_vector(tn_call *call, const tn_tensor *index)
{
    char shape[TN__SHAPE_CHARS];
    if (index->ndim <= 1)
        return TN_OK;
    return tn__fail(call, TN_ERR_INDEX, "index must have one dimension, got shape %s",
                    tn__shape_text(shape, index->ndim, index->sizes));
}

tn_status tn__shape_index_copy(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                               tn_tensor *source, tn_result *r)
{
    TN__TRY(check_index(call, self, index));
    return tn__shape_index_add(call, self, dim, index, source, r);
}

tn_status tn__shape_index_fill(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                               tn_result *r)
{
    TN__TRY(tn__wrap_dim(call, dim, self->ndim, &dim));
    TN__TRY(check_index(call, self, index));
    TN__TRY(check_vector(call, index));
    tn__result_like(self, self->dtype, r);
    return TN_OK;
}

tn_status tn__shape_index_fill_tensor(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                                      tn_tensor *value, tn_result *r)
{
    char shape[TN__SHAPE_CHARS];
    TN__TRY(tn__shape_index_fill(call, self, dim, index, r));
    if (value->ndim != 0)
        return tn__fail(call, TN_ERR_ARGUMENT, "value must have no dimensions, got shape %s",
                        tn__shape_text(shape, value->ndim, value->sizes));
    bool is_complex = tn_dtype_in(value->dtype, TN_DTYPES_COMPLEX);
    if (is_complex && !tn_dtype_in(self->dtype, TN_DTYPES_COMPLEX))
        return tn__fail(call, TN_ERR_DTYPE, "value is complex, which does not fit in self's %s",
                        tn__dtype_name(self->dtype));
    return tn__same_device(call, self, value, "value");
}

/* ---- a mask ---------------------------------------------------------------------------------- */
tn_status tn__shape_masked_scatter(tn_call *call, tn_tensor *self, tn_tensor *mask,
                                   tn_tensor *source, tn_result *r)
{
    TN__TRY(tn__shape_masked_fill(call, self, mask, r));
    return check_source(call, self, source, "source");
}

/* ---- places counted through the whole tensor ------------------------------------------------- */
tn_status tn__shape_take(tn_call *call, tn_tensor *self, tn_tensor *index, tn_result *r)
{
    TN__TRY(check_index(call, self, index));
    tn__result_like(index, self->dtype, r);
    return TN_OK;
}

tn_status tn__shape_put(tn_call *call, tn_tensor *self, tn_tensor *index, tn_tensor *source,
                        tn_result *r)
{
    TN__TRY(check_index(call, self, index));
    TN__TRY(check_source(call, self, source, "source"));
    if (source->numel != index->numel)
        return tn__fail(call, TN_ERR_ARGUMENT,
                        "source has %lld elements and index %lld; expected as many",
                        (long long)source->numel, (long long)index->numel);
    tn__result_like(self, self->dtype, r);
    return TN_OK;
}

/* ---- combining ------------------------------------------------------------------------------- */
/* One of the names, the first of which is for scatter_reduce alone. */
static tn_status check_reduce(tn_call *call, const char *reduce, bool sums, tn_dtype dtype)
{
    static const char *const names[] = {"sum", "prod", "mean", "amax", "amin"};
    bool known = false;
    for (size_t i = !sums; i < sizeof names / sizeof *names; i++)
        known |= strcmp(reduce, names[i]) == 0;
    if (!known)
        return tn__fail(call, TN_ERR_ARGUMENT,
                        "reduce is '%.40s'; it may be %s'prod', 'mean', 'amax' or 'amin'", reduce,
                        sums ? "'sum', " : "");
    if (dtype == TN_BOOL && strcmp(reduce, "mean") == 0)
        return tn__fail(call, TN_ERR_DTYPE, "the mean of bools is not defined");
    return TN_OK;
}

tn_status tn__shape_scatter_reduce(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                                   tn_tensor *src, const char *reduce, tn_result *r)
{
    TN__TRY(check_reduce(call, reduce, true, self->dtype));
    return tn__shape_scatter(call, self, dim, index, src, r);
}

/* The older names. */
static tn_status check_older_reduce(tn_call *call, const char *reduce)
{
    if (strcmp(reduce, "add") == 0 || strcmp(reduce, "multiply") == 0)
        return TN_OK;
    return tn__fail(call, TN_ERR_ARGUMENT, "reduce is '%.40s'; it may be 'add' or 'multiply'",
                    reduce);
}

tn_status tn__shape_scatter_combine(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                                    tn_tensor *src, const char *reduce, tn_result *r)
{
    TN__TRY(check_older_reduce(call, reduce));
    return tn__shape_scatter(call, self, dim, index, src, r);
}

tn_status tn__shape_scatter_combine_value(tn_call *call, tn_tensor *self, int64_t dim,
                                          tn_tensor *index, const char *reduce, tn_result *r)
{
    TN__TRY(check_older_reduce(call, reduce));
    return tn__shape_scatter_value(call, self, dim, index, r);
}

tn_status tn__shape_index_reduce(tn_call *call, tn_tensor *self, int64_t dim, tn_tensor *index,
                                 tn_tensor *source, const char *reduce, tn_result *r)
{
    TN__TRY(check_reduce(call, reduce, false, self->dtype));
    return tn__shape_index_add(call, self, dim, index, source, r);
}

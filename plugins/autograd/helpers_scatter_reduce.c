/* helpers_scatter_reduce.c - gradients of scatter_reduce and index_reduce.
 *
 * scatter with a `reduce` is an older scatter_reduce, with names of its own; index_reduce is one with
 * an index that is expanded to source's shape. Of src only the
 * part counts that index covers. What index does not name keeps self. */
#include "helpers.h"

typedef struct reduction {
    tn_grad_call *g;
    tn_tensor *grad, *self, *index, *src, *result; /* src: the part that index covers */
    int64_t dim;
    const char *reduce;
    bool include_self;
} reduction;

static tn_tensor *at_index(const reduction *r, tn_tensor *t)
{
    return call_gather(r->g, t, r->dim, r->index, false);
}

/* 0 at the places that index names. */
static tn_tensor *elsewhere(const reduction *r, tn_tensor *t)
{
    return call_scatter_value(r->g, t, r->dim, r->index, whole(0));
}

static tn_tensor *count(const reduction *r, tn_tensor *own, tn_tensor *of_src)
{
    return call_scatter_add(r->g, own, r->dim, r->index, of_src);
}

static tn_tensor *as_number(const reduction *r, tn_tensor *condition)
{
    return condition ? only_where(r->g, condition, ones(r->g, r->grad, tn_sizes_of(condition)))
                     : NULL;
}

static void of_sum(const reduction *r, tn_tensor **out)
{
    out[0] = r->include_self ? r->grad : elsewhere(r, r->grad);
    out[1] = at_index(r, r->grad);
}

static void of_mean(const reduction *r, tn_tensor **out)
{
    tn_ints sizes = tn_sizes_of(r->self);
    tn_tensor *own = r->include_self ? ones(r->g, r->grad, sizes) : zeros(r->g, r->grad, sizes);
    tn_tensor *n = count(r, own, ones(r->g, r->grad, tn_sizes_of(r->index)));
    n = call_masked_fill_Scalar(r->g, n, call_eq_Scalar(r->g, n, whole(0)), whole(1));
    tn_tensor *share = call_div_Tensor(r->g, r->grad, n);
    out[0] = r->include_self ? share : elsewhere(r, r->grad);
    out[1] = at_index(r, share);
}

/* Equal extremes share evenly. */
static void of_extreme(const reduction *r, tn_tensor **out)
{
    tn_tensor *own = as_number(r, call_eq_Tensor(r->g, r->self, r->result));
    tn_tensor *of_src = as_number(r, call_eq_Tensor(r->g, r->src, at_index(r, r->result)));
    own = r->include_self ? own : elsewhere(r, own);
    tn_tensor *share = call_div_Tensor(r->g, r->grad, count(r, own, of_src));
    if (!share)
        return;
    out[0] = only_where(r->g, call_eq_Scalar(r->g, own, whole(1)), share);
    out[1] = only_where(r->g, call_eq_Scalar(r->g, of_src, whole(1)), at_index(r, share));
}

static tn_tensor *product(const reduction *r, tn_tensor *self, tn_tensor *src)
{
    if (r->include_self) /* takes complex numbers, too */
        return call_scatter_reduce(r->g, self, r->dim, r->index, src, "multiply");
    return call_scatter_reduce_two(r->g, self, r->dim, r->index, src, "prod", false);
}

static tn_tensor *without(const reduction *r, tn_tensor *t, tn_tensor *condition)
{
    return call_masked_fill_Scalar(r->g, t, condition, whole(1));
}

/* The product of the others: what is zero is left out of the product where it is the only one, and
 * where there are several every such product is zero. */
static void of_product(const reduction *r, tn_tensor **out)
{
    tn_tensor *self = without(r, r->self, call_eq_Scalar(r->g, r->self, whole(0)));
    tn_tensor *of_self = call_div_Tensor(r->g, product(r, self, r->src), self);
    tn_tensor *zero = call_eq_Scalar(r->g, r->src, whole(0));
    tn_tensor *n = count(r, zeros(r->g, r->grad, tn_sizes_of(r->self)), as_number(r, zero));
    tn_tensor *only = call_eq_Scalar(r->g, at_index(r, n), whole(1));
    only = only ? call_logical_and(r->g, zero, only) : NULL;
    tn_tensor *others = at_index(r, product(r, r->self, without(r, r->src, only)));
    tn_tensor *ratio = call_div_Tensor(r->g, at_index(r, r->result), without(r, r->src, zero));
    if (!others || !ratio)
        return;
    tn_tensor *of_src = conjugate(r->g, call_where_self(r->g, only, others, ratio));
    of_self = conjugate(r->g, of_self);
    out[0] = r->include_self ? multiply(r->g, r->grad, of_self) : elsewhere(r, r->grad);
    out[1] = multiply(r->g, at_index(r, r->grad), of_src);
}

/* The part of src that index covers. */
static tn_tensor *covered(tn_grad_call *g, tn_tensor *src, const tn_tensor *index)
{
    if (src->ndim != index->ndim)
        return call_reshape(g, src, tn_sizes_of(index));
    for (int64_t d = 0; src && d < index->ndim; d++)
        if (src->sizes[d] != index->sizes[d])
            src = call_slice_Tensor(g, src, d, (tn_opt_int){0, 1}, (tn_opt_int){index->sizes[d], 1},
                                    1);
    return src;
}

static bool is(const char *reduce, const char *name, const char *older)
{
    return strcmp(reduce, name) == 0 || strcmp(reduce, older) == 0;
}

void scatter_reduce_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, int64_t dim,
                         tn_tensor *index, tn_tensor *src, const char *reduce, bool include_self,
                         tn_tensor *result, tn_tensor **out)
{
    if (!grad)
        return;
    if (index->numel == 0) {
        out[0] = grad;
        out[1] = zeros(g, grad, tn_sizes_of(src));
        return;
    }
    reduction r = {g, grad, self, index, covered(g, src, index), result, dim, reduce, include_self};
    if (!r.src)
        return;
    if (is(reduce, "sum", "add"))
        of_sum(&r, out);
    else if (strcmp(reduce, "mean") == 0)
        of_mean(&r, out);
    else if (is(reduce, "prod", "multiply"))
        of_product(&r, out);
    else
        of_extreme(&r, out);
    out[1] = padded(g, out[1], tn_sizes_of(src));
}

void index_reduce_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, int64_t dim,
                       tn_tensor *index, tn_tensor *source, const char *reduce, bool include_self,
                       tn_tensor *result, tn_tensor **out)
{
    int64_t sizes[TN_MAX_DIMS], ndim = source->ndim ? source->ndim : 1;
    for (int64_t d = 0; d < ndim; d++)
        sizes[d] = 1;
    sizes[wrapped(dim, self->ndim)] = index->numel;
    tn_tensor *all = as_was(g, index, TN_I64, index->device);
    all = call_reshape(g, all, (tn_ints){sizes, ndim});
    if (source->ndim)
        all = call_expand(g, all, tn_sizes_of(source), false);
    if (all)
        scatter_reduce_back(g, grad, self, dim, all, source, reduce, include_self, result, out);
}

/* Each place was multiplied by value as often as index names it. */
tn_tensor *scatter_number_back(tn_grad_call *g, tn_tensor *grad, int64_t dim, tn_tensor *index,
                               tn_scalar value, const char *reduce)
{
    if (!grad || is(reduce, "sum", "add"))
        return grad;
    tn_tensor *factor = ones(g, grad, tn_sizes_of(grad));
    factor = call_scatter_value_reduce(g, factor, dim, index, value, reduce);
    return factor ? multiply(g, grad, conjugate(g, factor)) : NULL;
}

/* helpers_reduce.c - gradients of reductions: what went into one result gets its gradient, in
 * shares that the operator says. */
#include <math.h>

#include "helpers.h"

/* ---- shapes ---------------------------------------------------------------------------------- */
static uint64_t mask_of(tn_ints dims, int64_t ndim)
{
    uint64_t mask = 0;
    for (int64_t i = 0; i < dims.len; i++)
        mask |= UINT64_C(1) << wrapped(dims.data[i], ndim);
    return dims.len > 0 ? mask : ~UINT64_C(0);
}

tn_tensor *with_dims(tn_grad_call *g, tn_tensor *t, int64_t ndim, tn_ints dims, bool keepdim)
{
    int64_t sizes[TN_MAX_DIMS];
    uint64_t mask = mask_of(dims, ndim);
    if (!t || keepdim || ndim == 0)
        return t;
    for (int64_t d = 0, k = 0; d < ndim; d++)
        sizes[d] = mask >> d & 1 ? 1 : t->sizes[k++];
    return call_view(g, t, (tn_ints){sizes, ndim});
}

int64_t reduced_count(tn_ints sizes, tn_ints dims)
{
    uint64_t mask = mask_of(dims, sizes.len);
    int64_t n = 1;
    for (int64_t d = 0; d < sizes.len; d++)
        n *= mask >> d & 1 ? sizes.data[d] : 1;
    return n;
}

/* The inverse of with_dims for a result that was computed with all dimensions kept. */
static tn_tensor *like_result(tn_grad_call *g, tn_tensor *t, const tn_tensor *result)
{
    return t && t->ndim != result->ndim ? call_view(g, t, tn_sizes_of(result)) : t;
}

/* ---- sums and means -------------------------------------------------------------------------- */
tn_tensor *sum_back(tn_grad_call *g, tn_tensor *grad, tn_ints sizes, tn_ints dim, bool keepdim)
{
    if (grad && !(grad->flags & TN_TENSOR_CONTIGUOUS) && !keepdim)
        grad = call_contiguous(g, grad, TN_CONTIGUOUS);
    return call_expand(g, with_dims(g, grad, sizes.len, dim, keepdim), sizes, false);
}

tn_tensor *mean_back(tn_grad_call *g, tn_tensor *grad, tn_ints sizes, tn_ints dim, bool keepdim)
{
    int64_t n = reduced_count(sizes, dim);
    return sum_back(g, n > 1 ? call_div_Scalar(g, grad, whole(n)) : grad, sizes, dim, keepdim);
}

/* ---- products -------------------------------------------------------------------------------- */
/* The products of all elements before each one along dim: cumprod, one place later. */
static tn_tensor *before(tn_grad_call *g, tn_tensor *x, int64_t dim)
{
    shape s = shape_of(tn_sizes_of(x));
    int64_t n = s.sizes[dim];
    s.sizes[dim] = 1;
    tn_tensor *pair[] = {ones(g, x, sizes_of(&s)), call_slice_Tensor(g, x, dim, (tn_opt_int){0, 1},
                                                                     (tn_opt_int){n - 1, 1}, 1)};
    if (!pair[0] || !pair[1])
        return NULL;
    return call_cumprod(g, call_cat(g, (tn_tensors){pair, 2}, dim), dim, TN_DTYPE_NONE);
}

/* The product of all others along dim. There is no division, so zeros are like other numbers. */
static tn_tensor *others(tn_grad_call *g, tn_tensor *x, int64_t dim)
{
    tn_ints dims = {&dim, 1};
    if (!x || x->sizes[dim] < 2)
        return x ? ones(g, x, tn_sizes_of(x)) : NULL;
    tn_tensor *turned = call_flip(g, x, dims);
    if (!turned)
        return NULL;
    return multiply(g, before(g, x, dim), call_flip(g, before(g, turned, dim), dims));
}

/* self in the dtype that it was multiplied in, without dimensions to fail at. */
static tn_tensor *factors(tn_grad_call *g, tn_tensor *self, const tn_tensor *grad)
{
    return as_was(g, self, grad->dtype, self->device);
}

tn_tensor *prod_dim_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, int64_t dim,
                         bool keepdim)
{
    if (!grad || self->ndim == 0)
        return grad;
    int64_t d = wrapped(dim, self->ndim);
    tn_tensor *rest = others(g, factors(g, self, grad), d);
    tn_tensor *whole_grad = with_dims(g, grad, self->ndim, (tn_ints){&d, 1}, keepdim);
    return multiply(g, whole_grad, conjugate(g, rest));
}

tn_tensor *prod_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self)
{
    if (!grad || self->ndim == 0)
        return grad;
    tn_tensor *row = call_reshape(g, factors(g, self, grad), (tn_ints){&self->numel, 1});
    tn_tensor *rest = others(g, row, 0);
    return call_reshape(g, multiply(g, grad, conjugate(g, rest)), tn_sizes_of(self));
}

tn_tensor *prod_dim_forward(tn_grad_call *g, tn_tensor *tangent, tn_tensor *self, int64_t dim,
                            bool keepdim)
{
    if (!tangent || self->ndim == 0)
        return tangent;
    int64_t d = wrapped(dim, self->ndim);
    tn_tensor *terms = multiply(g, tangent, others(g, self, d));
    return call_sum_dim_IntList(g, terms, (tn_ints){&d, 1}, keepdim, TN_DTYPE_NONE);
}

tn_tensor *prod_forward(tn_grad_call *g, tn_tensor *tangent, tn_tensor *self)
{
    if (!tangent || self->ndim == 0)
        return tangent;
    tn_ints row = {&self->numel, 1};
    tn_tensor *rest = others(g, call_reshape(g, self, row), 0);
    return call_sum(g, multiply(g, call_reshape(g, tangent, row), rest), TN_DTYPE_NONE);
}

/* ---- running sums and products --------------------------------------------------------------- */
tn_tensor *cumsum_back(tn_grad_call *g, tn_tensor *grad, int64_t dim)
{
    if (!grad || grad->ndim == 0)
        return grad;
    tn_ints dims = {&dim, 1};
    tn_tensor *turned = call_cumsum(g, call_flip(g, grad, dims), dim, TN_DTYPE_NONE);
    return call_flip(g, turned, dims);
}

/* t[i + by] along dim, zeros beyond the end. */
static tn_tensor *moved_up(tn_grad_call *g, tn_tensor *t, int64_t dim, int64_t by)
{
    if (!t)
        return NULL;
    shape s = shape_of(tn_sizes_of(t));
    int64_t n = s.sizes[dim];
    s.sizes[dim] = by;
    tn_tensor *pair[] = {call_slice_Tensor(g, t, dim, (tn_opt_int){by, 1}, (tn_opt_int){n, 1}, 1),
                         zeros(g, t, sizes_of(&s))};
    return pair[0] && pair[1] ? call_cat(g, (tn_tensors){pair, 2}, dim) : NULL;
}

/* grad_i = before_i * r_i, with r_i = grad_i + x_(i+1) r_(i+1), the gradient of the products that
 * begin behind i. The recurrence is solved by doubling: after step s, r_i reaches s elements on and
 * a_i is the product of those s factors. No division: zeros are like other numbers. */
tn_tensor *cumprod_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, int64_t dim)
{
    if (!grad || self->ndim == 0)
        return grad;
    int64_t d = wrapped(dim, self->ndim), n = self->sizes[d];
    if (n < 2)
        return grad;
    tn_tensor *x = conjugate(g, factors(g, self, grad));
    tn_tensor *r = grad, *a = moved_up(g, x, d, 1);
    for (int64_t step = 1; step < n && r && a; step *= 2) {
        r = add(g, r, multiply(g, a, moved_up(g, r, d, step)));
        if (2 * step < n)
            a = multiply(g, a, moved_up(g, a, d, step));
    }
    return x ? multiply(g, before(g, x, d), r) : NULL;
}

/* The same sum the other way: t_i = t_(i-1) x_i + before_i * tangent_i, by the transposed
 * recurrence; the reverse of the reverse is forward. */
tn_tensor *cumprod_forward(tn_grad_call *g, tn_tensor *tangent, tn_tensor *self, int64_t dim)
{
    if (!tangent || self->ndim == 0)
        return tangent;
    int64_t d = wrapped(dim, self->ndim), n = self->sizes[d];
    tn_ints dims = {&d, 1};
    if (n < 2)
        return tangent;
    tn_tensor *r = call_flip(g, multiply(g, before(g, self, d), tangent), dims);
    tn_tensor *a = call_flip(g, self, dims);
    for (int64_t step = 1; step < n && r && a; step *= 2) {
        r = add(g, r, multiply(g, a, moved_up(g, r, d, step)));
        if (2 * step < n)
            a = multiply(g, a, moved_up(g, a, d, step));
    }
    return call_flip(g, r, dims);
}

/* ---- extremes -------------------------------------------------------------------------------- */
/* The elements that equal the result, NaN a NaN. */
static tn_tensor *chosen(tn_grad_call *g, tn_tensor *self, tn_tensor *result)
{
    tn_tensor *both = call_logical_and(g, call_isnan(g, self), call_isnan(g, result));
    return call_logical_or(g, call_eq_Tensor(g, self, result), both);
}

tn_tensor *extreme_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, tn_tensor *result,
                        tn_ints dim, bool keepdim)
{
    if (!grad)
        return NULL;
    tn_tensor *mask = chosen(g, self, with_dims(g, result, self->ndim, dim, keepdim));
    tn_tensor *count = call_sum_dim_IntList(g, mask, dim, true, grad->dtype);
    tn_tensor *share = call_div_Tensor(g, with_dims(g, grad, self->ndim, dim, keepdim), count);
    return only_where(g, mask, share);
}

tn_tensor *extreme_forward(tn_grad_call *g, tn_tensor *tangent, tn_tensor *self, tn_tensor *result,
                           tn_ints dim, bool keepdim)
{
    if (!tangent)
        return NULL;
    tn_tensor *mask = chosen(g, self, with_dims(g, result, self->ndim, dim, keepdim));
    tn_tensor *count = call_sum_dim_IntList(g, mask, dim, true, tangent->dtype);
    tn_tensor *total =
        call_sum_dim_IntList(g, only_where(g, mask, tangent), dim, true, TN_DTYPE_NONE);
    return like_result(g, call_div_Tensor(g, total, count), result);
}

/* max and min along a dim: the gradient goes where the index points. */
tn_tensor *chosen_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *indices, tn_ints sizes,
                       int64_t dim, bool keepdim)
{
    if (!grad || sizes.len == 0)
        return grad;
    int64_t d = wrapped(dim, sizes.len);
    if (!keepdim) {
        grad = call_unsqueeze(g, grad, d);
        indices = call_unsqueeze(g, indices, d);
    }
    return grad ? call_scatter_src(g, zeros(g, grad, sizes), d, indices, grad) : NULL;
}

tn_tensor *chosen_forward(tn_grad_call *g, tn_tensor *tangent, tn_tensor *indices, int64_t dim,
                          bool keepdim)
{
    if (!tangent || tangent->ndim == 0)
        return tangent;
    int64_t d = wrapped(dim, tangent->ndim);
    if (keepdim)
        return call_gather(g, tangent, d, indices, false);
    tn_tensor *part = call_gather(g, tangent, d, call_unsqueeze(g, indices, d), false);
    return call_squeeze_dim(g, part, d);
}

/* ---- logsumexp, var, std --------------------------------------------------------------------- */
tn_tensor *logsumexp_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, tn_tensor *result,
                          tn_ints dim, bool keepdim)
{
    if (!grad)
        return NULL;
    tn_tensor *total = with_dims(g, result, self->ndim, dim, keepdim);
    /* -inf everywhere: -inf - -inf has no value, and no element counts */
    total = except_where(g, call_eq_Scalar(g, total, number(-INFINITY)), total);
    tn_tensor *part = call_exp(g, call_sub_Tensor(g, self, total, whole(1)));
    return multiply(g, with_dims(g, grad, self->ndim, dim, keepdim), part);
}

tn_tensor *var_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, tn_ints dim,
                    tn_opt_int correction, bool keepdim)
{
    if (!grad)
        return NULL;
    int64_t n = reduced_count(tn_sizes_of(self), dim) - (correction.has ? correction.value : 1);
    tn_tensor *mean = call_mean_dim(g, self, dim, true, TN_DTYPE_NONE);
    tn_tensor *apart = call_sub_Tensor(g, self, mean, whole(1));
    tn_tensor *scale = call_mul_Scalar(g, with_dims(g, grad, self->ndim, dim, keepdim),
                                       number(2.0 / (n > 0 ? (double)n : 0.0)));
    return multiply(g, scale, apart);
}

/* Where all elements are equal the root has no slope; zero is the convention. */
tn_tensor *std_back(tn_grad_call *g, tn_tensor *grad, tn_tensor *self, tn_tensor *result,
                    tn_ints dim, tn_opt_int correction, bool keepdim)
{
    if (!grad)
        return NULL;
    tn_tensor *flat = call_eq_Scalar(g, result, whole(0));
    tn_tensor *safe = call_masked_fill_Scalar(g, result, flat, whole(1));
    tn_tensor *slope = call_div_Tensor(g, grad, scaled(g, safe, 2));
    return var_back(g, except_where(g, flat, slope), self, dim, correction, keepdim);
}

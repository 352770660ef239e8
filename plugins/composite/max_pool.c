/* max_pool.c - maxima of windows: max_pool and adaptive_max_pool, in one to three dimensions, with and
 * without the indices of what was found.
 *
 * The places are looked for without recording, one dimension after the other; what stands there is
 * then gathered, which gives the gradient. Of equal elements the first is found. */
#include "pool.h"

static tn_status check_windows(tn_call *call, const pool_axis *x)
{
    if (!x->some_empty)
        return TN_OK;
    return tn->fail(call, TN_ERR_ARGUMENT,
                    "a window lies beyond the border with all its elements: it has no maximum");
}

/* [1, .., 1, size, ..]: each element's number within the pooled dimensions. */
static tn_tensor *numbers(work *w, const tn_tensor *self, int n)
{
    int64_t sizes[TN_MAX_DIMS], total = 1;
    for (int d = 0; d < self->ndim; d++) {
        sizes[d] = d < self->ndim - n ? 1 : self->sizes[d];
        total *= sizes[d];
    }
    return work_reshape(w, work_arange(w, 0, 1, total, self->device), (tn_ints){sizes, self->ndim});
}

/* One dimension: *values and *places, of which every window keeps one. */
static void reduce(work *w, int64_t dim, const pool_axis *x, tn_tensor **values, tn_tensor **places)
{
    tn_tensor *t = pool_windows(w, *values, dim, x), *at = pool_windows(w, *places, dim, x);
    *values = *places = NULL;
    if (!t || !at)
        return;
    struct tn_max_dim_args f = {TN_FRAME(max_dim), .self = t, .dim = dim + 1, .keepdim = true};
    tn_tensor *top = work_call(w, OP_MAX_DIM, &f, &f.values);
    tn_tensor *which = top ? work_hold(w, f.indices) : NULL;
    at = work_gather(w, work_expand(w, at, composite_sizes(t)), dim + 1, which);
    *places = work_squeeze(w, at, dim + 1);
    *values = work_squeeze(w, top, dim + 1);
}

static tn_tensor *places_of(work *w, tn_tensor *self, const pooling *p)
{
    tn_tensor *values = work_detach(w, self), *places = numbers(w, self, p->n);
    for (int i = p->n - 1; i >= 0 && w->status == TN_OK; i--) {
        int64_t dim = self->ndim - p->n + i;
        pool_axis x;
        w->status = pool_axis_of(w->call, p, i, self->sizes[dim], &x);
        if (w->status == TN_OK)
            w->status = check_windows(w->call, &x);
        if (w->status == TN_OK)
            reduce(w, dim, &x, &values, &places);
    }
    return w->status == TN_OK ? places : NULL;
}

/* The pooled dimensions as one. */
static tn_tensor *as_rows(work *w, tn_tensor *t, int n)
{
    int64_t sizes[TN_MAX_DIMS], total = 1;
    if (!t)
        return NULL;
    for (int d = 0; d < t->ndim; d++) {
        sizes[d] = t->sizes[d];
        total *= d < t->ndim - n ? 1 : t->sizes[d];
    }
    sizes[t->ndim - n] = total;
    return work_reshape(w, t, (tn_ints){sizes, t->ndim - n + 1});
}

/* indices may be NULL. */
static tn_status maximum(tn_call *call, tn_tensor *self, const pooling *p, tn_tensor **out,
                         tn_tensor **indices)
{
    work w = work_on(call);
    tn_tensor *places = places_of(&w, self, p);
    tn_tensor *t = work_gather(&w, as_rows(&w, self, p->n), -1, as_rows(&w, places, p->n));
    t = t && places ? work_reshape(&w, t, composite_sizes(places)) : NULL;
    if (w.status == TN_OK && indices)
        composite_return_self(places, indices);
    return work_end(&w, t, out);
}

static tn_status max_pool(tn_call *call, tn_tensor *self, int n, tn_ints kernel, tn_ints stride,
                          tn_ints padding, tn_ints dilation, bool ceil_mode, tn_tensor **out,
                          tn_tensor **indices)
{
    pooling p = {.n = n, .ceil_mode = ceil_mode};
    TN_TRY(pool_check(call, self, n, TN_DTYPES_FLOATING));
    TN_TRY(pool_take(call, "kernel_size", kernel, &p, NULL, 1, p.kernel));
    TN_TRY(pool_take(call, "stride", stride, &p, p.kernel, 1, p.stride));
    TN_TRY(pool_take(call, "padding", padding, &p, NULL, 0, p.padding));
    TN_TRY(pool_take(call, "dilation", dilation, &p, NULL, 1, p.dilation));
    TN_TRY(pool_count_windows(call, self, &p));
    return maximum(call, self, &p, out, indices);
}

#define MAX_POOL_ARGUMENTS(a)                                                                      \
    (a)->kernel_size, (a)->stride, (a)->padding, (a)->dilation, (a)->ceil_mode

static tn_status max_pool1d(tn_call *call, struct tn_max_pool1d_args *a)
{
    return max_pool(call, a->self, 1, MAX_POOL_ARGUMENTS(a), &a->result, NULL);
}

static tn_status max_pool2d(tn_call *call, struct tn_max_pool2d_args *a)
{
    return max_pool(call, a->self, 2, MAX_POOL_ARGUMENTS(a), &a->result, NULL);
}

static tn_status max_pool3d(tn_call *call, struct tn_max_pool3d_args *a)
{
    return max_pool(call, a->self, 3, MAX_POOL_ARGUMENTS(a), &a->result, NULL);
}

static tn_status max_pool1d_with_indices(tn_call *call, struct tn_max_pool1d_with_indices_args *a)
{
    return max_pool(call, a->self, 1, MAX_POOL_ARGUMENTS(a), &a->result0, &a->result1);
}

static tn_status max_pool2d_with_indices(tn_call *call, struct tn_max_pool2d_with_indices_args *a)
{
    return max_pool(call, a->self, 2, MAX_POOL_ARGUMENTS(a), &a->result0, &a->result1);
}

static tn_status max_pool3d_with_indices(tn_call *call, struct tn_max_pool3d_with_indices_args *a)
{
    return max_pool(call, a->self, 3, MAX_POOL_ARGUMENTS(a), &a->result0, &a->result1);
}

/* ---- adaptive -------------------------------------------------------------------------------- */
static tn_status adaptive_max(tn_call *call, tn_tensor *self, int n, tn_ints output_size,
                              tn_tensor **out, tn_tensor **indices)
{
    pooling p;
    TN_TRY(pool_adaptive(call, self, n, output_size, &p));
    return maximum(call, self, &p, out, indices);
}

static tn_status adaptive_max_pool1d(tn_call *call, struct tn_adaptive_max_pool1d_args *a)
{
    return adaptive_max(call, a->self, 1, a->output_size, &a->result0, &a->result1);
}

static tn_status adaptive_max_pool2d(tn_call *call, struct tn_adaptive_max_pool2d_args *a)
{
    return adaptive_max(call, a->self, 2, a->output_size, &a->result0, &a->result1);
}

static tn_status adaptive_max_pool3d(tn_call *call, struct tn_adaptive_max_pool3d_args *a)
{
    return adaptive_max(call, a->self, 3, a->output_size, &a->result0, &a->result1);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(max_pool1d, IMPLICIT, max_pool1d),
    TN_KERNEL(max_pool2d, IMPLICIT, max_pool2d),
    TN_KERNEL(max_pool3d, IMPLICIT, max_pool3d),
    TN_KERNEL(max_pool1d_with_indices, IMPLICIT, max_pool1d_with_indices),
    TN_KERNEL(max_pool2d_with_indices, IMPLICIT, max_pool2d_with_indices),
    TN_KERNEL(max_pool3d_with_indices, IMPLICIT, max_pool3d_with_indices),
    TN_KERNEL(adaptive_max_pool1d, IMPLICIT, adaptive_max_pool1d),
    TN_KERNEL(adaptive_max_pool2d, IMPLICIT, adaptive_max_pool2d),
    TN_KERNEL(adaptive_max_pool3d, IMPLICIT, adaptive_max_pool3d),
};
const composite_kernels composite_max_pool = {kernels, TN_COUNT(kernels)};

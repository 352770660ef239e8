/* reduce.c - sum, mean, prod, extremes, any, all: which dimensions, which kernel, how many blocks.
 *
 * The dtype in memory is the kernel's to convert, so five types serve all. A mean is divided where
 * its sum is stored. */
#include <string.h>

#include "pointwise.h"
#include "reduce.h"

static int kernel_of(tn_dtype dtype)
{
    switch (dtype) {
    case TN_F16:
    case TN_BF16:
    case TN_F32:
        return 1;
    case TN_F64:
        return 2;
    case TN_C64:
        return 3;
    case TN_C128:
        return 4;
    default:
        return 0;
    }
}

/* ---- the plan -------------------------------------------------------------------------------- */
/* A dimension joins the one inside it where all its strides go on from there. */
static bool joins(const cuda_reduce_dim *inner, const cuda_reduce_dim *d)
{
    int64_t n = inner->size.size;
    return d->in == inner->in * n && d->values == inner->values * n &&
           d->indices == inner->indices * n;
}

static tn_status add_dim(tn_call *call, cuda_reduce_dim *dims, int32_t *n, cuda_reduce_dim d,
                         int64_t size)
{
    if (size == 1)
        return TN_OK;
    if (*n && joins(&dims[*n - 1], &d) && (int64_t)dims[*n - 1].size.size * size <= INT32_MAX) {
        dims[*n - 1].size = cuda_divider_of(dims[*n - 1].size.size * size);
        return TN_OK;
    }
    if (*n == CUDA_REDUCE_DIMS)
        return tn->fail(call, TN_ERR_UNSUPPORTED,
                        "a reduction on CUDA takes %d dimensions that do not merge",
                        CUDA_REDUCE_DIMS);
    d.size = cuda_divider_of(size);
    dims[(*n)++] = d;
    return TN_OK;
}

static int64_t stride_of(const tn_tensor *t, int d)
{
    return t && d >= 0 && d < t->ndim ? t->strides[d] * (int64_t)tn->dtype_size(t->dtype) : 0;
}

/* Results have the kept dimensions, and with keepdim the reduced ones as 1. */
static tn_status make_plan(tn_call *call, cuda_reduce *p, const tn_tensor *self, uint64_t mask,
                           tn_tensor *values, tn_tensor *indices)
{
    int64_t n_in = 1, n_out = 1;
    const tn_tensor *result = values ? values : indices;
    bool keepdim = result->ndim == self->ndim;
    int r = result->ndim - 1;
    memset(p, 0, sizeof *p);
    for (int d = self->ndim - 1; d >= 0; d--) {
        bool reduced = mask >> d & 1;
        int64_t size = self->sizes[d];
        *(reduced ? &n_in : &n_out) *= size;
        cuda_reduce_dim dim = {.in = stride_of(self, d)};
        if (!reduced)
            dim.values = stride_of(values, r), dim.indices = stride_of(indices, r);
        if (keepdim || !reduced)
            r--;
        if (size == 0 || size > INT32_MAX)
            continue; /* nothing to do, or refused below */
        TN_TRY(add_dim(call, reduced ? p->reduced : p->kept, reduced ? &p->n_reduced : &p->n_kept,
                       dim, size));
    }
    if (n_in > INT32_MAX || n_out > INT32_MAX)
        return tn->fail(
            call, TN_ERR_UNSUPPORTED,
            "a reduction on CUDA takes up to 2^31-1 elements for each of 2^31-1 results, got "
            "%lld for each of %lld",
            (long long)n_in, (long long)n_out);
    p->in = self->data;
    p->in_dtype = self->dtype;
    p->values = values ? values->data : NULL;
    p->values_dtype = values ? values->dtype : TN_I64;
    p->indices = indices ? indices->data : NULL;
    p->n_in = (uint32_t)n_in;
    p->n_out = (uint32_t)n_out;
    p->splits = 1;
    p->part = p->n_in;
    return TN_OK;
}

/* ---- launches -------------------------------------------------------------------------------- */
static int threads_for(uint32_t n)
{
    int threads = 32;
    while (threads < CUDA_REDUCE_THREADS && (uint32_t)threads < n)
        threads *= 2;
    return threads;
}

/* Rows that lie side by side are read together by neighbouring threads; short rows leave a block
 * idle. */
static bool suits_threads(const cuda_reduce *p)
{
    bool side_by_side = p->n_kept && p->kept[0].in == (int64_t)tn->dtype_size(p->in_dtype);
    return p->n_in < 16 || (side_by_side && p->n_out >= 4096 && p->n_in < 4096);
}

static tn_status split(tn_call *call, cuda_reduce *p, cuda_reduce_fn fn, tn_device device)
{
    enum { PART = 8 * CUDA_REDUCE_THREADS, BLOCKS = 1024 };
    uint32_t splits = (p->n_in + PART - 1) / PART, most = BLOCKS / p->n_out;
    p->splits = splits < most ? splits : most;
    p->part = (p->n_in + p->splits - 1) / p->splits;
    p->splits = (p->n_in + p->part - 1) / p->part;
    size_t bytes = (size_t)p->n_out * p->splits * CUDA_PARTIAL_BYTES;
    void *partial;
    TN_TRY(cuda_alloc_on(device, call->stream, bytes, &partial));
    p->partial = partial;
    tn_status status = cuda_launch(call, (cuda_kernel_address)fn, (int64_t)p->n_out * p->splits,
                                   CUDA_REDUCE_THREADS, 0, p);
    p->from_partials = 1;
    p->count = p->n_in;
    p->n_in = p->part = p->splits;
    p->splits = 1;
    if (status == TN_OK)
        status = cuda_launch(call, (cuda_kernel_address)fn, p->n_out, threads_for(p->n_in), 0, p);
    cuda_free_on(device, call->stream, false, partial, bytes);
    return status;
}

static tn_status reduce(tn_call *call, cuda_reduction op, int kernel, const tn_tensor *self,
                        uint64_t mask, tn_tensor *values, tn_tensor *indices, bool mean)
{
    cuda_reduce p;
    cuda_reduce_fn fn = cuda_reduce_kernels[op][kernel];
    TN_TRY(cuda_enter(call, self->device));
    TN_TRY(make_plan(call, &p, self, mask, values, indices));
    p.mean = mean;
    p.count = p.n_in;
    if (p.n_out == 0)
        return TN_OK;
    if (suits_threads(&p)) {
        p.by_thread = 1;
        return cuda_launch(call, (cuda_kernel_address)fn, ((int64_t)p.n_out + 127) / 128, 128, 0,
                           &p);
    }
    if (p.n_out <= 256 && p.n_in >= 16384)
        return split(call, &p, fn, self->device);
    return cuda_launch(call, (cuda_kernel_address)fn, p.n_out, threads_for(p.n_in), 0, &p);
}

/* ---- operators ------------------------------------------------------------------------------- */
static uint64_t every(const tn_tensor *self)
{
    return self->ndim ? UINT64_MAX >> (64 - self->ndim) : 0;
}

static uint64_t one(const tn_tensor *self, int64_t dim)
{
    return self->ndim ? (uint64_t)1 << (dim < 0 ? dim + self->ndim : dim) : 0;
}

static uint64_t listed(const tn_tensor *self, tn_ints dims)
{
    uint64_t mask = 0;
    for (int64_t i = 0; i < dims.len; i++)
        mask |= one(self, dims.data[i]);
    return dims.len > 0 ? mask : every(self);
}

/* In bool a sum is whether any is true, a product whether all are. */
static tn_status arithmetic(tn_call *call, cuda_reduction op, tn_tensor *self, uint64_t mask,
                            tn_tensor *result, bool mean)
{
    if (result->dtype == TN_BOOL)
        return reduce(call, op == CUDA_SUM ? CUDA_ANY : CUDA_ALL, 0, self, mask, result, NULL,
                      false);
    return reduce(call, op, kernel_of(result->dtype), self, mask, result, NULL, mean);
}

static tn_status extreme(tn_call *call, cuda_reduction op, tn_tensor *self, uint64_t mask,
                         tn_tensor *values, tn_tensor *indices)
{
    return reduce(call, op, kernel_of(self->dtype), self, mask, values, indices, false);
}

static tn_status sum(tn_call *call, struct tn_sum_args *a)
{
    return arithmetic(call, CUDA_SUM, a->self, every(a->self), a->result, false);
}

static tn_status sum_dim_IntList(tn_call *call, struct tn_sum_dim_IntList_args *a)
{
    return arithmetic(call, CUDA_SUM, a->self, listed(a->self, a->dim), a->result, false);
}

static tn_status prod(tn_call *call, struct tn_prod_args *a)
{
    return arithmetic(call, CUDA_PROD, a->self, every(a->self), a->result, false);
}

static tn_status prod_dim_int(tn_call *call, struct tn_prod_dim_int_args *a)
{
    return arithmetic(call, CUDA_PROD, a->self, one(a->self, a->dim), a->result, false);
}

static tn_status mean(tn_call *call, struct tn_mean_args *a)
{
    return arithmetic(call, CUDA_SUM, a->self, every(a->self), a->result, true);
}

static tn_status mean_dim(tn_call *call, struct tn_mean_dim_args *a)
{
    return arithmetic(call, CUDA_SUM, a->self, listed(a->self, a->dim), a->result, true);
}

static tn_status amax(tn_call *call, struct tn_amax_args *a)
{
    return extreme(call, CUDA_MAX, a->self, listed(a->self, a->dim), a->result, NULL);
}

static tn_status amin(tn_call *call, struct tn_amin_args *a)
{
    return extreme(call, CUDA_MIN, a->self, listed(a->self, a->dim), a->result, NULL);
}

static tn_status max(tn_call *call, struct tn_max_args *a)
{
    return extreme(call, CUDA_MAX, a->self, every(a->self), a->result, NULL);
}

static tn_status min(tn_call *call, struct tn_min_args *a)
{
    return extreme(call, CUDA_MIN, a->self, every(a->self), a->result, NULL);
}

static tn_status max_dim(tn_call *call, struct tn_max_dim_args *a)
{
    return extreme(call, CUDA_MAX, a->self, one(a->self, a->dim), a->values, a->indices);
}

static tn_status min_dim(tn_call *call, struct tn_min_dim_args *a)
{
    return extreme(call, CUDA_MIN, a->self, one(a->self, a->dim), a->values, a->indices);
}

static tn_status argmax(tn_call *call, struct tn_argmax_args *a)
{
    return extreme(call, CUDA_MAX, a->self,
                   a->dim.has ? one(a->self, a->dim.value) : every(a->self), NULL, a->result);
}

static tn_status argmin(tn_call *call, struct tn_argmin_args *a)
{
    return extreme(call, CUDA_MIN, a->self,
                   a->dim.has ? one(a->self, a->dim.value) : every(a->self), NULL, a->result);
}

static tn_status any(tn_call *call, struct tn_any_args *a)
{
    return reduce(call, CUDA_ANY, 0, a->self, every(a->self), a->result, NULL, false);
}

static tn_status any_dim(tn_call *call, struct tn_any_dim_args *a)
{
    return reduce(call, CUDA_ANY, 0, a->self, one(a->self, a->dim), a->result, NULL, false);
}

static tn_status all(tn_call *call, struct tn_all_args *a)
{
    return reduce(call, CUDA_ALL, 0, a->self, every(a->self), a->result, NULL, false);
}

static tn_status all_dim(tn_call *call, struct tn_all_dim_args *a)
{
    return reduce(call, CUDA_ALL, 0, a->self, one(a->self, a->dim), a->result, NULL, false);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(sum, "CUDA", sum),         TN_KERNEL(sum_dim_IntList, "CUDA", sum_dim_IntList),
    TN_KERNEL(prod, "CUDA", prod),       TN_KERNEL(prod_dim_int, "CUDA", prod_dim_int),
    TN_KERNEL(mean, "CUDA", mean),       TN_KERNEL(mean_dim, "CUDA", mean_dim),
    TN_KERNEL(amax, "CUDA", amax),       TN_KERNEL(amin, "CUDA", amin),
    TN_KERNEL(max, "CUDA", max),         TN_KERNEL(min, "CUDA", min),
    TN_KERNEL(max_dim, "CUDA", max_dim), TN_KERNEL(min_dim, "CUDA", min_dim),
    TN_KERNEL(argmax, "CUDA", argmax),   TN_KERNEL(argmin, "CUDA", argmin),
    TN_KERNEL(any, "CUDA", any),         TN_KERNEL(any_dim, "CUDA", any_dim),
    TN_KERNEL(all, "CUDA", all),         TN_KERNEL(all_dim, "CUDA", all_dim),
};
const cuda_kernels cuda_reductions = {kernels, TN_COUNT(kernels)};

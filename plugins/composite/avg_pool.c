/* avg_pool.c - means of windows: avg_pool, adaptive_avg_pool, in one to three dimensions. Sums are made
 * in double and rounded once; those of integers stay integers. */
#include "pool.h"

/* ---- mean ------------------------------------------------------------------------------------ */
static tn_tensor *summed(work *w, tn_tensor *t, int64_t dim, const pool_axis *x)
{
    int64_t sizes[TN_MAX_DIMS], taps = dim + 1;
    t = pool_windows(w, t, dim, x);
    if (t && !x->all_valid) {
        for (int64_t d = dim; d < t->ndim; d++)
            sizes[d - dim] = d == dim ? x->out : d == dim + 1 ? x->taps : 1;
        tn_ints shape = {sizes, t->ndim - dim};
        t = work_only_where(w, work_table(w, TN_BOOL, shape, x->valid, t->device), t);
    }
    return work_sum(w, t, (tn_ints){&taps, 1}, false);
}

/* What the sums are divided by, as a tensor of the last p->n dimensions. */
static tn_tensor *counts(work *w, const pooling *p, const pool_axis *axes, tn_device device)
{
    tn_tensor *all = NULL;
    for (int i = 0; i < p->n; i++) {
        int64_t sizes[POOL_DIMS] = {1, 1, 1};
        sizes[i] = axes[i].out;
        tn_tensor *one = work_table(w, TN_F64, (tn_ints){sizes, p->n}, axes[i].count, device);
        all = i ? work_mul(w, all, one) : one;
    }
    return all;
}

static tn_tensor *divided(work *w, tn_tensor *sum, tn_tensor *count)
{
    if (!sum || !count)
        return NULL;
    if (sum->dtype != TN_I64)
        return work_div(w, sum, count);
    struct tn_div_Tensor_mode_args f = {TN_FRAME(div_Tensor_mode), .self = sum,
                                        .other = work_as_dtype(w, count, TN_I64),
                                        .rounding_mode = "trunc"};
    return f.other ? work_call(w, OP_DIV_MODE, &f, &f.result) : NULL;
}

/* Sums in double; integers stay integers. */
static tn_status mean(tn_call *call, tn_tensor *self, const pooling *p, tn_opt_int divisor,
                      tn_tensor **out)
{
    work w = work_on(call);
    pool_axis axes[POOL_DIMS];
    tn_tensor *t = self->dtype == TN_I64 ? self : work_as_dtype(&w, self, TN_F64), *by = NULL;
    for (int i = p->n - 1; t && i >= 0; i--) {
        int64_t dim = self->ndim - p->n + i;
        if (w.status == TN_OK)
            w.status = pool_axis_of(call, p, i, self->sizes[dim], &axes[i]);
        t = w.status == TN_OK ? summed(&w, t, dim, &axes[i]) : NULL;
    }
    if (t && divisor.has) {
        double value = (double)divisor.value;
        by = work_table(&w, TN_F64, (tn_ints){NULL, 0}, &value, self->device);
    } else if (t) {
        by = counts(&w, p, axes, self->device);
    }
    return work_end(&w, work_as_dtype(&w, divided(&w, t, by), self->dtype), out);
}

static tn_status avg_pool(tn_call *call, tn_tensor *self, int n, tn_ints kernel, tn_ints stride,
                          tn_ints padding, bool ceil_mode, bool include_pad, tn_opt_int divisor,
                          tn_tensor **out)
{
    pooling p = {.n = n, .ceil_mode = ceil_mode, .include_pad = include_pad, .dilation = {1, 1, 1}};
    TN_TRY(pool_check(call, self, n, TN_DTYPES_FLOATING | TN_DTYPE_BIT(TN_I64)));
    TN_TRY(pool_take(call, "kernel_size", kernel, &p, NULL, 1, p.kernel));
    TN_TRY(pool_take(call, "stride", stride, &p, p.kernel, 1, p.stride));
    TN_TRY(pool_take(call, "padding", padding, &p, NULL, 0, p.padding));
    if (divisor.has && divisor.value == 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "divisor_override: expected another number than 0");
    TN_TRY(pool_count_windows(call, self, &p));
    return mean(call, self, &p, divisor, out);
}

static const tn_opt_int none = {0, 0};

static tn_status avg_pool1d(tn_call *call, struct tn_avg_pool1d_args *a)
{
    return avg_pool(call, a->self, 1, a->kernel_size, a->stride, a->padding, a->ceil_mode,
                    a->count_include_pad, none, &a->result);
}

static tn_status avg_pool2d(tn_call *call, struct tn_avg_pool2d_args *a)
{
    return avg_pool(call, a->self, 2, a->kernel_size, a->stride, a->padding, a->ceil_mode,
                    a->count_include_pad, a->divisor_override, &a->result);
}

static tn_status avg_pool3d(tn_call *call, struct tn_avg_pool3d_args *a)
{
    return avg_pool(call, a->self, 3, a->kernel_size, a->stride, a->padding, a->ceil_mode,
                    a->count_include_pad, a->divisor_override, &a->result);
}

/* ---- adaptive -------------------------------------------------------------------------------- */
static tn_status adaptive_avg(tn_call *call, tn_tensor *self, int n, tn_ints output_size,
                              tn_tensor **out)
{
    pooling p;
    TN_TRY(pool_adaptive(call, self, n, output_size, &p));
    return mean(call, self, &p, none, out);
}

static tn_status adaptive_avg_pool1d(tn_call *call, struct tn_adaptive_avg_pool1d_args *a)
{
    return adaptive_avg(call, a->self, 1, a->output_size, &a->result);
}

static tn_status adaptive_avg_pool2d(tn_call *call, struct tn_adaptive_avg_pool2d_args *a)
{
    return adaptive_avg(call, a->self, 2, a->output_size, &a->result);
}

static tn_status adaptive_avg_pool3d(tn_call *call, struct tn_adaptive_avg_pool3d_args *a)
{
    return adaptive_avg(call, a->self, 3, a->output_size, &a->result);
}

/* Other names: what adaptive_avg_pool calls in ATen. */
static tn_status adaptive_avg_pool2d_too(tn_call *call, struct tn__adaptive_avg_pool2d_args *a)
{
    return adaptive_avg(call, a->self, 2, a->output_size, &a->result);
}

static tn_status adaptive_avg_pool3d_too(tn_call *call, struct tn__adaptive_avg_pool3d_args *a)
{
    return adaptive_avg(call, a->self, 3, a->output_size, &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(avg_pool1d, IMPLICIT, avg_pool1d),
    TN_KERNEL(avg_pool2d, IMPLICIT, avg_pool2d),
    TN_KERNEL(avg_pool3d, IMPLICIT, avg_pool3d),
    TN_KERNEL(adaptive_avg_pool1d, IMPLICIT, adaptive_avg_pool1d),
    TN_KERNEL(adaptive_avg_pool2d, IMPLICIT, adaptive_avg_pool2d),
    TN_KERNEL(adaptive_avg_pool3d, IMPLICIT, adaptive_avg_pool3d),
    TN_KERNEL(_adaptive_avg_pool2d, IMPLICIT, adaptive_avg_pool2d_too),
    TN_KERNEL(_adaptive_avg_pool3d, IMPLICIT, adaptive_avg_pool3d_too),
};
const composite_kernels composite_avg_pool = {kernels, TN_COUNT(kernels)};

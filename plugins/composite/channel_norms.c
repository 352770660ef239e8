/* channel_norms.c - normalisation of channels (dimension 1): batch_norm over the batch, instance_norm
 * over each sample, group_norm over groups of channels.
 *
 * Everything is computed in double and rounded once, as in layers.c. Running statistics are written
 * last, when nothing else can fail any more; their schemas say that they are written, which ATen's
 * hide. */
#include "work.h"

#include <inttypes.h>

/* ---- checks ---------------------------------------------------------------------------------- */
static bool is_half(tn_dtype dtype)
{
    return dtype == TN_F16 || dtype == TN_BF16;
}

static tn_status check_input(tn_call *call, const tn_tensor *input)
{
    if (!tn_dtype_in(input->dtype, TN_DTYPES_FLOATING))
        return tn->fail(call, TN_ERR_UNSUPPORTED, "channels of %s are not normalised",
                        tn->dtype_name(input->dtype));
    if (input->ndim < 2)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "input: expected a batch and channels, 2 dimensions or more, got %d",
                        input->ndim);
    return TN_OK;
}

/* One number a channel, in the input's dtype, or in float32 beside halves. */
static tn_status check_factor(tn_call *call, const char *name, const tn_tensor *t,
                              const tn_tensor *input)
{
    char got[COMPOSITE_SHAPE_CHARS];
    if (!t)
        return TN_OK;
    if (t->ndim != 1 || t->sizes[0] != input->sizes[1])
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "%s: expected a number for each of %" PRId64 " channels, got shape %s",
                        name, input->sizes[1], composite_shape_text(got, t->ndim, t->sizes));
    if (t->dtype != input->dtype && !(is_half(input->dtype) && t->dtype == TN_F32))
        return tn->fail(call, TN_ERR_DTYPE, "%s: expected the input's %s%s, got %s", name,
                        tn->dtype_name(input->dtype), is_half(input->dtype) ? " or float32" : "",
                        tn->dtype_name(t->dtype));
    return TN_OK;
}

/* What the three have in common. */
typedef struct layer {
    tn_tensor *input, *weight, *bias, *running_mean, *running_var;
    bool training; /* with the input's own moments */
    double momentum, eps;
} layer;

static tn_status check_layer(tn_call *call, const layer *l)
{
    TN_TRY(check_input(call, l->input));
    TN_TRY(check_factor(call, "weight", l->weight, l->input));
    TN_TRY(check_factor(call, "bias", l->bias, l->input));
    TN_TRY(check_factor(call, "running_mean", l->running_mean, l->input));
    TN_TRY(check_factor(call, "running_var", l->running_var, l->input));
    if (!l->training && (!l->running_mean || !l->running_var))
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "%s is missing: without the input's own moments it is needed",
                        l->running_mean ? "running_var" : "running_mean");
    return TN_OK;
}

/* ---- moments --------------------------------------------------------------------------------- */
typedef struct moments { /* in double, with size 1 where it was normalised */
    tn_tensor *mean, *var, *rstd;
} moments;

static tn_tensor *inverse_root(work *w, tn_tensor *var, double eps)
{
    return work_rsqrt(w, work_add_number(w, var, work_number(eps)));
}

static tn_tensor *normalised(work *w, tn_tensor *x, tn_ints dims, double eps, moments *m)
{
    m->mean = work_mean(w, x, dims, true);
    tn_tensor *apart = work_sub(w, x, m->mean);
    m->var = work_mean(w, work_mul(w, apart, apart), dims, true);
    m->rstd = inverse_root(w, m->var, eps);
    return work_mul(w, apart, m->rstd);
}

/* In double, along dimension 1 of `ndim`; NULL stays NULL. */
static tn_tensor *per_channel(work *w, tn_tensor *t, int ndim)
{
    int64_t sizes[TN_MAX_DIMS];
    if (!t)
        return NULL;
    for (int d = 0; d < ndim; d++)
        sizes[d] = d == 1 ? t->sizes[0] : 1;
    return work_reshape(w, work_as_dtype(w, t, TN_F64), (tn_ints){sizes, ndim});
}

static tn_tensor *by_running(work *w, const layer *l, tn_tensor *x)
{
    tn_tensor *var = per_channel(w, l->running_var, x->ndim);
    tn_tensor *apart = work_sub(w, x, per_channel(w, l->running_mean, x->ndim));
    return work_mul(w, apart, inverse_root(w, var, l->eps));
}

static tn_tensor *finished(work *w, const layer *l, tn_tensor *y)
{
    if (!y)
        return NULL;
    y = l->weight ? work_mul(w, y, per_channel(w, l->weight, y->ndim)) : y;
    y = l->bias ? work_add(w, y, per_channel(w, l->bias, y->ndim)) : y;
    return work_as_dtype(w, y, l->input->dtype);
}

/* ---- running statistics ---------------------------------------------------------------------- */
/* (1 - momentum) running + momentum scale batch, one number a channel: the batch's are averaged over
 * dimension 0. */
static tn_tensor *moved(work *w, const layer *l, tn_tensor *running, tn_tensor *batch, double scale)
{
    static const int64_t first = 0;
    if (!running || !batch)
        return NULL;
    tn_tensor *fresh = work_mean(w, work_detach(w, batch), (tn_ints){&first, 1}, false);
    fresh = work_reshape(w, fresh, composite_sizes(running));
    tn_tensor *held =
        work_mul_number(w, work_as_dtype(w, running, TN_F64), work_number(1 - l->momentum));
    return work_add_scaled(w, held, fresh, work_number(l->momentum * scale));
}

/* n: how many elements one moment is made of; the variance is brought from n to n - 1. */
static void update_running(work *w, const layer *l, const moments *m, int64_t n)
{
    if (!l->training || l->input->numel == 0)
        return;
    double unbiased = (double)n / (double)(n - 1);
    tn_tensor *mean = moved(w, l, l->running_mean, m->mean, 1);
    tn_tensor *var = moved(w, l, l->running_var, m->var, unbiased);
    if (w->status == TN_OK && mean)
        work_copy_(w, l->running_mean, mean, false);
    if (w->status == TN_OK && var)
        work_copy_(w, l->running_var, var, false);
}

/* ---- batch_norm ------------------------------------------------------------------------------ */
/* Every dimension but the channels'. */
static tn_tensor *batch_norm_of(work *w, const layer *l, moments *m)
{
    int64_t dims[TN_MAX_DIMS];
    for (int d = 1; d < l->input->ndim; d++)
        dims[d - 1] = d == 1 ? 0 : d;
    tn_tensor *x = work_as_dtype(w, l->input, TN_F64);
    if (!x)
        return NULL;
    tn_tensor *y = l->training ? normalised(w, x, (tn_ints){dims, x->ndim - 1}, l->eps, m)
                               : by_running(w, l, x);
    return finished(w, l, y);
}

static int64_t elements_per_channel(const tn_tensor *input)
{
    return input->sizes[1] ? input->numel / input->sizes[1] : 0;
}

/* What is kept of the moments: in float32 where a factor beside halves is. */
static tn_tensor *saved(work *w, const layer *l, tn_tensor *moment)
{
    const tn_tensor *factors[] = {l->weight, l->bias, l->running_mean, l->running_var};
    static const int64_t none = 0;
    tn_dtype dtype = l->input->dtype;
    for (size_t i = 0; i < TN_COUNT(factors); i++)
        dtype = factors[i] ? factors[i]->dtype == dtype ? dtype : TN_F32 : dtype;
    if (!l->training)
        return work_zeros(w, (tn_ints){&none, 1}, dtype, l->input->device);
    return work_as_dtype(w, work_reshape(w, moment, (tn_ints){&l->input->sizes[1], 1}), dtype);
}

static tn_status native_batch_norm(tn_call *call, struct tn_native_batch_norm_args *a)
{
    const layer l = {a->input,       a->weight,   a->bias,     a->running_mean,
                     a->running_var, a->training, a->momentum, a->eps};
    work w = work_on(call);
    moments m = {NULL, NULL, NULL};
    TN_TRY(check_layer(call, &l));
    tn_tensor *y = batch_norm_of(&w, &l, &m);
    tn_tensor *mean = saved(&w, &l, m.mean), *rstd = saved(&w, &l, m.rstd);
    update_running(&w, &l, &m, elements_per_channel(a->input));
    if (w.status == TN_OK) {
        composite_return_self(mean, &a->result1);
        composite_return_self(rstd, &a->result2);
    }
    return work_end(&w, y, &a->result0);
}

static tn_status batch_norm(tn_call *call, struct tn_batch_norm_args *a)
{
    const layer l = {a->input,       a->weight,   a->bias,     a->running_mean,
                     a->running_var, a->training, a->momentum, a->eps};
    work w = work_on(call);
    moments m = {NULL, NULL, NULL};
    if (a->input->ndim == 1 && a->input->numel == 0) /* as in ATen: nothing to normalise */
        return op_clone(a->input, TN_CONTIGUOUS, &a->result);
    TN_TRY(check_layer(call, &l));
    tn_tensor *y = batch_norm_of(&w, &l, &m);
    update_running(&w, &l, &m, elements_per_channel(a->input));
    return work_end(&w, y, &a->result);
}

/* ---- instance_norm --------------------------------------------------------------------------- */
/* Every dimension behind the channels'; a dimension of size 1 where there is none. */
static tn_tensor *instance_norm_of(work *w, const layer *l, moments *m)
{
    int64_t dims[TN_MAX_DIMS];
    for (int d = 2; d < TN_MAX_DIMS; d++)
        dims[d - 2] = d;
    tn_tensor *x = work_as_dtype(w, l->input, TN_F64);
    bool flat = l->input->ndim == 2;
    x = flat ? work_unsqueeze(w, x, 2) : x;
    if (!x)
        return NULL;
    tn_tensor *y = l->training ? normalised(w, x, (tn_ints){dims, x->ndim - 2}, l->eps, m)
                               : by_running(w, l, x);
    return finished(w, l, flat ? work_squeeze(w, y, 2) : y);
}

static tn_status instance_norm(tn_call *call, struct tn_instance_norm_args *a)
{
    const layer l = {a->input,       a->weight,          a->bias,     a->running_mean,
                     a->running_var, a->use_input_stats, a->momentum, a->eps};
    work w = work_on(call);
    moments m = {NULL, NULL, NULL};
    TN_TRY(check_layer(call, &l));
    tn_tensor *y = instance_norm_of(&w, &l, &m);
    int64_t samples = a->input->sizes[0];
    update_running(&w, &l, &m, samples ? elements_per_channel(a->input) / samples : 0);
    return work_end(&w, y, &a->result);
}

/* ---- group_norm ------------------------------------------------------------------------------ */
static tn_status check_groups(tn_call *call, const layer *l, int64_t groups)
{
    TN_TRY(check_input(call, l->input));
    if (groups < 1 || l->input->sizes[1] % groups != 0)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "%" PRId64 " channels cannot be split into %" PRId64 " groups",
                        l->input->sizes[1], groups);
    TN_TRY(check_factor(call, "weight", l->weight, l->input));
    return check_factor(call, "bias", l->bias, l->input);
}

static tn_tensor *group_norm_of(work *w, const layer *l, int64_t groups, moments *m)
{
    static const int64_t last = 2;
    const tn_tensor *input = l->input;
    int64_t rows = input->sizes[0] * groups;
    const int64_t sizes[] = {input->sizes[0], groups, rows ? input->numel / rows : 0};
    tn_tensor *x = work_reshape(w, work_as_dtype(w, l->input, TN_F64), (tn_ints){sizes, 3});
    tn_tensor *y = normalised(w, x, (tn_ints){&last, 1}, l->eps, m);
    return finished(w, l, work_reshape(w, y, composite_sizes(input)));
}

static tn_status native_group_norm(tn_call *call, struct tn_native_group_norm_args *a)
{
    const layer l = {
        .input = a->input, .weight = a->weight, .bias = a->bias, .training = true, .eps = a->eps};
    work w = work_on(call);
    moments m;
    TN_TRY(check_groups(call, &l, a->group));
    if (a->input->sizes[0] != a->N || a->input->sizes[1] != a->C ||
        (a->N * a->C != 0 && a->input->numel / (a->N * a->C) != a->HxW))
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "input: expected %" PRId64 " x %" PRId64 " x %" PRId64
                        " elements, N x C x HxW, got another shape",
                        a->N, a->C, a->HxW);
    tn_tensor *y = group_norm_of(&w, &l, a->group, &m);
    const tn_ints rows = {(const int64_t[]){a->N, a->group}, 2};
    tn_dtype dtype = (a->weight ? a->weight : a->input)->dtype;
    tn_tensor *mean = work_as_dtype(&w, work_reshape(&w, m.mean, rows), dtype);
    tn_tensor *rstd = work_as_dtype(&w, work_reshape(&w, m.rstd, rows), dtype);
    if (w.status == TN_OK) {
        composite_return_self(mean, &a->result1);
        composite_return_self(rstd, &a->result2);
    }
    return work_end(&w, y, &a->result0);
}

static tn_status group_norm(tn_call *call, struct tn_group_norm_args *a)
{
    const layer l = {
        .input = a->input, .weight = a->weight, .bias = a->bias, .training = true, .eps = a->eps};
    work w = work_on(call);
    moments m;
    TN_TRY(check_groups(call, &l, a->num_groups));
    return work_end(&w, group_norm_of(&w, &l, a->num_groups, &m), &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(native_batch_norm, IMPLICIT, native_batch_norm),
    TN_KERNEL(batch_norm, IMPLICIT, batch_norm),
    TN_KERNEL(instance_norm, IMPLICIT, instance_norm),
    TN_KERNEL(native_group_norm, IMPLICIT, native_group_norm),
    TN_KERNEL(group_norm, IMPLICIT, group_norm),
};
const composite_kernels composite_channel_norms = {kernels, TN_COUNT(kernels)};

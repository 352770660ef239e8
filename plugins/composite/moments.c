/* moments.c - var, std, with their means, and logsumexp.
 *
 * The mean, then what lies apart from it, then the mean of that too: a mean that is large has
 * fewer digits than the spread needs. Halves are widened to f32 for both. A complex
 * variance is the sum of those of the two parts, and real. */
#include "work.h"

#include <inttypes.h>
#include <math.h>

static bool is_complex(const tn_tensor *t)
{
    return (TN_DTYPE_BIT(t->dtype) & TN_DTYPES_COMPLEX) != 0;
}

static bool is_half(tn_dtype dtype)
{
    return dtype == TN_F16 || dtype == TN_BF16;
}

static tn_status check_number(tn_call *call, const tn_tensor *self)
{
    if (TN_DTYPE_BIT(self->dtype) & (TN_DTYPES_FLOATING | TN_DTYPES_COMPLEX))
        return TN_OK;
    return tn->fail(call, TN_ERR_DTYPE, "self: expected a floating or complex tensor, got %s",
                    tn->dtype_name(self->dtype));
}

/* How many elements go into one result. */
static tn_status count(tn_call *call, const tn_tensor *self, tn_ints dim, int64_t *out)
{
    *out = dim.len > 0 ? 1 : self->numel;
    for (int64_t i = 0; i < dim.len; i++) {
        int64_t d = 0;
        TN_TRY(composite_wrap_dim(call, "dim", dim.data[i], self->ndim, &d));
        *out *= self->ndim ? self->sizes[d] : 1;
    }
    return TN_OK;
}

static tn_tensor *variance(work *w, tn_tensor *self, tn_ints dim, double divisor, bool keepdim)
{
    tn_tensor *x = is_half(self->dtype) ? work_as_dtype(w, self, TN_F32) : self;
    tn_tensor *apart = work_sub(w, x, work_mean(w, x, dim, true));
    apart = work_sub(w, apart, work_mean(w, apart, dim, true)); /* what rounding left of it */
    if (apart && is_complex(apart))
        apart = work_abs(w, apart);
    tn_tensor *sum = work_sum(w, work_mul(w, apart, apart), dim, keepdim);
    return work_div_number(w, sum, work_number(divisor));
}

/* std is the root of it, before halves are rounded. */
static tn_status spread(tn_call *call, tn_tensor *self, tn_ints dim, tn_opt_int correction,
                        bool keepdim, bool root, tn_tensor **out)
{
    work w = work_on(call);
    int64_t n = 0;
    TN_TRY(check_number(call, self));
    TN_TRY(count(call, self, dim, &n));
    double divisor = (double)n - (double)(correction.has ? correction.value : 1);
    tn_tensor *t = variance(&w, self, dim, divisor > 0 ? divisor : 0, keepdim);
    t = root ? work_sqrt(&w, t) : t;
    return work_end(&w, is_half(self->dtype) ? work_as_dtype(&w, t, self->dtype) : t, out);
}

static tn_status var_correction(tn_call *call, struct tn_var_correction_args *a)
{
    return spread(call, a->self, a->dim, a->correction, a->keepdim, false, &a->result);
}

static tn_status std_correction(tn_call *call, struct tn_std_correction_args *a)
{
    return spread(call, a->self, a->dim, a->correction, a->keepdim, true, &a->result);
}

/* ---- what is the same by definition ---------------------------------------------------------- */
static tn_tensor *call_var(work *w, tn_tensor *self, tn_ints dim, tn_opt_int correction,
                           bool keepdim)
{
    struct tn_var_correction_args f = {TN_FRAME(var_correction), .self = self, .dim = dim,
                                       .correction = correction, .keepdim = keepdim};
    return work_call(w, OP_VAR, &f, &f.result);
}

static tn_tensor *call_std(work *w, tn_tensor *self, tn_ints dim, tn_opt_int correction,
                           bool keepdim)
{
    struct tn_std_correction_args f = {TN_FRAME(std_correction), .self = self, .dim = dim,
                                       .correction = correction, .keepdim = keepdim};
    return work_call(w, OP_STD, &f, &f.result);
}

static const tn_ints everything = {NULL, -1};

static tn_status var(tn_call *call, struct tn_var_args *a)
{
    work w = work_on(call);
    tn_tensor *t = call_var(&w, a->self, everything, (tn_opt_int){a->unbiased, 1}, false);
    return work_end(&w, t, &a->result);
}

static tn_status var_dim(tn_call *call, struct tn_var_dim_args *a)
{
    work w = work_on(call);
    tn_tensor *t = call_var(&w, a->self, a->dim, (tn_opt_int){a->unbiased, 1}, a->keepdim);
    return work_end(&w, t, &a->result);
}

static tn_status std(tn_call *call, struct tn_std_args *a)
{
    work w = work_on(call);
    tn_tensor *t = call_std(&w, a->self, everything, (tn_opt_int){a->unbiased, 1}, false);
    return work_end(&w, t, &a->result);
}

static tn_status std_dim(tn_call *call, struct tn_std_dim_args *a)
{
    work w = work_on(call);
    tn_tensor *t = call_std(&w, a->self, a->dim, (tn_opt_int){a->unbiased, 1}, a->keepdim);
    return work_end(&w, t, &a->result);
}

static tn_status with_mean(work *w, tn_tensor *spread_, tn_tensor *self, tn_ints dim, bool keepdim,
                           tn_tensor **first, tn_tensor **second)
{
    tn_tensor *mean = work_mean(w, self, dim, keepdim);
    if (w->status == TN_OK)
        composite_return_self(mean, second);
    return work_end(w, spread_, first);
}

static tn_status var_mean(tn_call *call, struct tn_var_mean_correction_args *a)
{
    work w = work_on(call);
    tn_tensor *t = call_var(&w, a->self, a->dim, a->correction, a->keepdim);
    return with_mean(&w, t, a->self, a->dim, a->keepdim, &a->result0, &a->result1);
}

static tn_status std_mean(tn_call *call, struct tn_std_mean_correction_args *a)
{
    work w = work_on(call);
    tn_tensor *t = call_std(&w, a->self, a->dim, a->correction, a->keepdim);
    return with_mean(&w, t, a->self, a->dim, a->keepdim, &a->result0, &a->result1);
}

static tn_status var_mean_all(tn_call *call, struct tn_var_mean_args *a)
{
    work w = work_on(call);
    tn_tensor *t = call_var(&w, a->self, everything, (tn_opt_int){a->unbiased, 1}, false);
    return with_mean(&w, t, a->self, work_all_dims, false, &a->result0, &a->result1);
}

static tn_status std_mean_all(tn_call *call, struct tn_std_mean_args *a)
{
    work w = work_on(call);
    tn_tensor *t = call_std(&w, a->self, everything, (tn_opt_int){a->unbiased, 1}, false);
    return with_mean(&w, t, a->self, work_all_dims, false, &a->result0, &a->result1);
}

static tn_status var_mean_dim(tn_call *call, struct tn_var_mean_dim_args *a)
{
    work w = work_on(call);
    tn_tensor *t = call_var(&w, a->self, a->dim, (tn_opt_int){a->unbiased, 1}, a->keepdim);
    return with_mean(&w, t, a->self, a->dim, a->keepdim, &a->result0, &a->result1);
}

static tn_status std_mean_dim(tn_call *call, struct tn_std_mean_dim_args *a)
{
    work w = work_on(call);
    tn_tensor *t = call_std(&w, a->self, a->dim, (tn_opt_int){a->unbiased, 1}, a->keepdim);
    return with_mean(&w, t, a->self, a->dim, a->keepdim, &a->result0, &a->result1);
}

/* ---- logsumexp ------------------------------------------------------------------------------- */
/* The largest element goes out before exp and comes back after log; an infinite one stays in. */
static tn_tensor *log_sum_exp(work *w, tn_tensor *x, tn_ints dim, bool keepdim)
{
    if (!x)
        return NULL;
    if (x->numel == 0)
        return work_log(w, work_sum(w, work_exp(w, x), dim, keepdim));
    tn_tensor *top = work_amax(w, x, dim, true);
    tn_tensor *finite = work_ne(w, work_abs(w, top), work_number(INFINITY));
    top = work_only_where(w, finite, top);
    tn_tensor *sum = work_sum(w, work_exp(w, work_sub(w, x, top)), dim, true);
    tn_tensor *t = work_add(w, work_log(w, sum), top);
    if (!t || keepdim || t->ndim == 0)
        return t;
    return work_sum(w, t, dim, false); /* each sum is of one element: it drops the dimensions */
}

static tn_status logsumexp(tn_call *call, struct tn_logsumexp_args *a)
{
    work w = work_on(call);
    tn_dtype dtype = a->self->dtype;
    if (TN_DTYPE_BIT(dtype) & TN_DTYPES_COMPLEX)
        return tn->fail(call, TN_ERR_UNSUPPORTED, "%s numbers have no largest one",
                        tn->dtype_name(dtype));
    if (tn_dtype_in(dtype, TN_DTYPES_WHOLE))
        dtype = tn->default_dtype();
    tn_tensor *x = work_as_dtype(&w, a->self, is_half(dtype) ? TN_F32 : dtype);
    tn_tensor *t = log_sum_exp(&w, x, a->dim, a->keepdim);
    return work_end(&w, work_as_dtype(&w, t, dtype), &a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(var_correction, EXPLICIT, var_correction),
    TN_KERNEL(std_correction, EXPLICIT, std_correction),
    TN_KERNEL(var, IMPLICIT, var),
    TN_KERNEL(var_dim, IMPLICIT, var_dim),
    TN_KERNEL(std, IMPLICIT, std),
    TN_KERNEL(std_dim, IMPLICIT, std_dim),
    TN_KERNEL(var_mean_correction, IMPLICIT, var_mean),
    TN_KERNEL(std_mean_correction, IMPLICIT, std_mean),
    TN_KERNEL(var_mean, IMPLICIT, var_mean_all),
    TN_KERNEL(std_mean, IMPLICIT, std_mean_all),
    TN_KERNEL(var_mean_dim, IMPLICIT, var_mean_dim),
    TN_KERNEL(std_mean_dim, IMPLICIT, std_mean_dim),
    TN_KERNEL(logsumexp, EXPLICIT, logsumexp),
};
const composite_kernels composite_moments = {kernels, TN_COUNT(kernels)};

/* scan.c - cumsum, cumprod: one run along dim after the other, from its first element to its last.
 *
 * Input that is not of the dtype of the running total is converted into a row-major copy first; f32
 * and halves run in double, so that the error does not grow with the length. */
#include <tenon/math.h>

#include "cpu.h"
#include "reduce_plan.h"

typedef struct run {
    char *out;
    const char *in;
    int64_t n, out_stride, in_stride; /* bytes */
} run;

static const int64_t zero_i64 = 0, one_i64 = 1;
static const double zero_f64 = 0, one_f64 = 1;
static const tn_c128 zero_c128 = {0, 0}, one_c128 = {1, 0};

#define TYPE int64_t
#define OF(name) name##_i64
#include "scan.inc"
#define TYPE double
#define OF(name) name##_f64
#include "scan.inc"
#define TYPE tn_c128
#define OF(name) name##_c128
#include "scan.inc"

typedef void (*run_fn)(const run *r);

static run_fn loop_for(tn_dtype total, bool product)
{
    switch (total) {
    case TN_I64:
        return product ? prod_i64 : sum_i64;
    case TN_F64:
        return product ? prod_f64 : sum_f64;
    default:
        return product ? prod_c128 : sum_c128;
    }
}

static tn_dtype total_dtype(tn_dtype dtype)
{
    return tn_dtype_in(dtype, TN_DTYPES_WHOLE)      ? TN_I64
           : !tn_dtype_in(dtype, TN_DTYPES_COMPLEX) ? TN_F64
                                                    : TN_C128;
}

typedef struct job {
    reduce_plan plan; /* of a reduction along dim: what it keeps are the runs */
    run_fn fn;
    run along;
    char *out;
} job;

static void run_all(void *arg, int64_t begin, int64_t end)
{
    const job *j = arg;
    reduce_walk in, out;
    run r = j->along;
    reduce_walk_start(&in, j->plan.n_kept, j->plan.kept_sizes, j->plan.kept_in, j->plan.in, begin);
    reduce_walk_start(&out, j->plan.n_kept, j->plan.kept_sizes, j->plan.kept_out[0], j->out, begin);
    for (; begin < end; begin++) {
        r.in = in.p;
        r.out = (char *)out.p;
        j->fn(&r);
        reduce_walk_on(&in, 1);
        reduce_walk_on(&out, 1);
    }
}

enum { GRAIN = 16384 };

/* self and out are of the dtype of the total. */
static tn_status run_along(tn_call *call, const tn_tensor *self, tn_tensor *out, int64_t dim,
                           bool product)
{
    int64_t bytes = (int64_t)tn->dtype_size(out->dtype);
    job j = {.fn = loop_for(out->dtype, product), .along = {.n = 1}, .out = (char *)out->data};
    if (self->ndim > 0) {
        int64_t d = dim < 0 ? dim + self->ndim : dim;
        j.along = (run){.n = self->sizes[d],
                        .out_stride = out->strides[d] * bytes,
                        .in_stride = self->strides[d] * bytes};
    }
    reduce_plan_init(&j.plan, self, (tn_ints){&dim, 1}, (tn_tensor *[2]){out, NULL}, true);
    int64_t grain = GRAIN / j.along.n;
    return tn->parallel_for(call, j.plan.outputs, grain > 0 ? grain : 1, run_all, &j);
}

/* A row-major tensor of that dtype with t's values; t itself where it has that dtype. */
static tn_status as_dtype(tn_call *call, tn_tensor *t, tn_dtype dtype, tn_tensor **out)
{
    if (t->dtype == dtype) {
        tn->tensor_retain(t);
        *out = t;
        return TN_OK;
    }
    TN_TRY(tn->tensor_new(call, t->ndim, t->sizes, dtype, t->device, out));
    return cpu_copy_elements(call, *out, t);
}

static tn_status check(tn_call *call, const tn_tensor *self, tn_dtype dtype, tn_tensor *out)
{
    TN_TRY(cpu_check_dtype(call, out, dtype));
    TN_TRY(tn->check_no_internal_overlap(call, out));
    return out->data == self->data ? TN_OK : tn->check_no_overlap(call, out, self);
}

/* The dtype that the result has by the shape rule. */
static tn_dtype result_dtype(const tn_tensor *self, tn_dtype asked)
{
    return asked != TN_DTYPE_NONE                      ? asked
           : tn_dtype_in(self->dtype, TN_DTYPES_WHOLE) ? TN_I64
                                                       : self->dtype;
}

static tn_status scan(tn_call *call, tn_tensor *self, int64_t dim, tn_dtype asked, tn_tensor *out,
                      bool product)
{
    tn_dtype dtype = result_dtype(self, asked), total = total_dtype(dtype);
    tn_tensor *cast = NULL, *in = NULL, *to = NULL;
    if (out == self) /* in place: the result is cast to self's dtype */
        dtype = self->dtype;
    TN_TRY(check(call, self, dtype, out));
    if (out->numel == 0)
        return TN_OK;
    /* by way of the dtype asked for: its rounding counts */
    tn_status status = as_dtype(call, self, result_dtype(self, asked), &cast);
    if (status == TN_OK)
        status = as_dtype(call, cast, total, &in);
    if (status == TN_OK && out->dtype == total)
        tn->tensor_retain(to = out);
    else if (status == TN_OK)
        status = tn->tensor_new(call, out->ndim, out->sizes, total, out->device, &to);
    if (status == TN_OK)
        status = run_along(call, in, to, dim, product);
    if (status == TN_OK && to != out)
        status = cpu_copy_elements(call, out, to);
    tn->tensor_release(cast);
    tn->tensor_release(in);
    tn->tensor_release(to);
    return status;
}

static tn_status cumsum(tn_call *call, struct tn_cumsum_args *a)
{
    return scan(call, a->self, a->dim, a->dtype, a->result, false);
}

static tn_status cumprod(tn_call *call, struct tn_cumprod_args *a)
{
    return scan(call, a->self, a->dim, a->dtype, a->result, true);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(cumsum, "CPU", cumsum),
    TN_KERNEL(cumprod, "CPU", cumprod),
};
const cpu_kernels cpu_scan = {kernels, TN_COUNT(kernels)};

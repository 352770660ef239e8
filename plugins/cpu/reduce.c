/* reduce.c - the reductions: each operator states what it reduces, and how; reduce_run.c does it.
 *
 * The shape rules (core/shape/reduce.c) have checked dims and dtypes and made the results. A small
 * contiguous tensor that is reduced whole takes a short way: one call of a row kernel. */
#include <string.h>

#include "cpu.h"
#include "per_isa.h"
#include "reduce_run.h"

CPU_PER_ISA(reduce_kernels, reduce_loops)

const reduce_kernels *reduce_kernels_chosen(void)
{
    return reduce_loops_table();
}

enum { SMALL = 1024 }; /* one block of reduce_run.c: the bits are the same either way */
static const tn_ints everything = {NULL, 0};

/* A sum or prod of self whole, by one call of a row kernel, where nothing needs gathering or
 * converting. */
static bool arith_small(tn_call *call, reduce_op op, bool mean, tn_dtype cast,
                        const tn_tensor *self, tn_tensor *out)
{
    if (self->numel > SMALL || !(self->flags & TN_TENSOR_CONTIGUOUS) || self->dtype != cast)
        return false;
    const reduce_kernel *kernel = &reduce_kernels_chosen()->kernels[op][cast];
    if (!kernel->row)
        return false;
    union {
        double f64[2];
        int64_t i64;
    } acc;
    memcpy(&acc, kernel->identity, sizeof acc.i64);
    acc.f64[1] = 0; /* an identity is real */
    kernel->row(self->data, self->numel, 0, &acc, NULL);
    if (mean) {
        acc.f64[0] /= (double)self->numel;
        acc.f64[1] /= (double)self->numel;
    }
    if (kernel->acc == TN_F64 && out->dtype == TN_F32)
        *(float *)out->data = (float)acc.f64[0];
    else
        tn->convert(call, out->data, out->dtype, 0, &acc, kernel->acc, 0, 1);
    return true;
}

/* ---- sum, prod, mean ------------------------------------------------------------------------- */
static tn_dtype sum_dtype(const tn_tensor *self, tn_dtype asked)
{
    if (asked != TN_DTYPE_NONE)
        return asked;
    return tn_dtype_in(self->dtype, TN_DTYPES_WHOLE) ? TN_I64 : self->dtype;
}

/* dtype= and out= may not contradict each other. */
static tn_status check_out(tn_call *call, tn_dtype asked, const tn_tensor *out)
{
    if (asked == TN_DTYPE_NONE || out->dtype == asked)
        return TN_OK;
    return tn->fail(call, TN_ERR_DTYPE, "out has dtype %s, dtype=%s was asked for; make them agree",
                    tn->dtype_name(out->dtype), tn->dtype_name(asked));
}

static tn_status arith(tn_call *call, reduce_op op, bool mean, tn_tensor *self, tn_ints dims,
                       tn_dtype asked, tn_tensor *out)
{
    TN_TRY(check_out(call, asked, out));
    reduce_request r = {op, mean, sum_dtype(self, asked), self, dims, out, NULL};
    return reduce_run(call, &r);
}

static tn_status arith_all(tn_call *call, reduce_op op, bool mean, tn_tensor *self, tn_dtype asked,
                           tn_tensor *out)
{
    TN_TRY(check_out(call, asked, out));
    if (arith_small(call, op, mean, sum_dtype(self, asked), self, out))
        return TN_OK;
    return arith(call, op, mean, self, everything, asked, out);
}

static tn_status sum(tn_call *call, struct tn_sum_args *a)
{
    return arith_all(call, REDUCE_SUM, false, a->self, a->dtype, a->result);
}

static tn_status sum_dim(tn_call *call, struct tn_sum_dim_IntList_args *a)
{
    return arith(call, REDUCE_SUM, false, a->self, a->dim, a->dtype, a->result);
}

static tn_status prod(tn_call *call, struct tn_prod_args *a)
{
    return arith_all(call, REDUCE_PROD, false, a->self, a->dtype, a->result);
}

static tn_status prod_dim(tn_call *call, struct tn_prod_dim_int_args *a)
{
    return arith(call, REDUCE_PROD, false, a->self, (tn_ints){&a->dim, 1}, a->dtype, a->result);
}

static tn_status mean(tn_call *call, struct tn_mean_args *a)
{
    return arith_all(call, REDUCE_SUM, true, a->self, a->dtype, a->result);
}

static tn_status mean_dim(tn_call *call, struct tn_mean_dim_args *a)
{
    return arith(call, REDUCE_SUM, true, a->self, a->dim, a->dtype, a->result);
}

/* ---- extremes -------------------------------------------------------------------------------- */
static tn_status extreme(tn_call *call, reduce_op op, tn_tensor *self, tn_ints dims, tn_tensor *out)
{
    reduce_request r = {op, false, self->dtype, self, dims, out, NULL};
    return reduce_run(call, &r);
}

static tn_status with_index(tn_call *call, reduce_op op, tn_tensor *self, tn_ints dims,
                            tn_tensor *values, tn_tensor *indices)
{
    reduce_request r = {op, false, self->dtype, self, dims, values, indices};
    return reduce_run(call, &r);
}

static tn_status amax(tn_call *call, struct tn_amax_args *a)
{
    return extreme(call, REDUCE_MAX, a->self, a->dim, a->result);
}

static tn_status amin(tn_call *call, struct tn_amin_args *a)
{
    return extreme(call, REDUCE_MIN, a->self, a->dim, a->result);
}

static tn_status max(tn_call *call, struct tn_max_args *a)
{
    return extreme(call, REDUCE_MAX, a->self, everything, a->result);
}

static tn_status min(tn_call *call, struct tn_min_args *a)
{
    return extreme(call, REDUCE_MIN, a->self, everything, a->result);
}

static tn_status max_dim(tn_call *call, struct tn_max_dim_args *a)
{
    tn_ints dims = {&a->dim, 1};
    return with_index(call, REDUCE_ARGMAX, a->self, dims, a->values, a->indices);
}

static tn_status min_dim(tn_call *call, struct tn_min_dim_args *a)
{
    tn_ints dims = {&a->dim, 1};
    return with_index(call, REDUCE_ARGMIN, a->self, dims, a->values, a->indices);
}

static tn_status argmax(tn_call *call, struct tn_argmax_args *a)
{
    tn_ints dims = {&a->dim.value, a->dim.has ? 1 : 0};
    return with_index(call, REDUCE_ARGMAX, a->self, dims, NULL, a->result);
}

static tn_status argmin(tn_call *call, struct tn_argmin_args *a)
{
    tn_ints dims = {&a->dim.value, a->dim.has ? 1 : 0};
    return with_index(call, REDUCE_ARGMIN, a->self, dims, NULL, a->result);
}

/* ---- any, all: the max and the min of truth values ------------------------------------------- */
static tn_status truth(tn_call *call, reduce_op op, tn_tensor *self, tn_ints dims, tn_tensor *out)
{
    reduce_request r = {op, false, TN_BOOL, self, dims, out, NULL};
    return reduce_run(call, &r);
}

static tn_status any(tn_call *call, struct tn_any_args *a)
{
    return truth(call, REDUCE_MAX, a->self, everything, a->result);
}

static tn_status any_dim(tn_call *call, struct tn_any_dim_args *a)
{
    return truth(call, REDUCE_MAX, a->self, (tn_ints){&a->dim, 1}, a->result);
}

static tn_status all(tn_call *call, struct tn_all_args *a)
{
    return truth(call, REDUCE_MIN, a->self, everything, a->result);
}

static tn_status all_dim(tn_call *call, struct tn_all_dim_args *a)
{
    return truth(call, REDUCE_MIN, a->self, (tn_ints){&a->dim, 1}, a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(sum, "CPU", sum),         TN_KERNEL(sum_dim_IntList, "CPU", sum_dim),
    TN_KERNEL(prod, "CPU", prod),       TN_KERNEL(prod_dim_int, "CPU", prod_dim),
    TN_KERNEL(mean, "CPU", mean),       TN_KERNEL(mean_dim, "CPU", mean_dim),
    TN_KERNEL(amax, "CPU", amax),       TN_KERNEL(amin, "CPU", amin),
    TN_KERNEL(max, "CPU", max),         TN_KERNEL(min, "CPU", min),
    TN_KERNEL(max_dim, "CPU", max_dim), TN_KERNEL(min_dim, "CPU", min_dim),
    TN_KERNEL(argmax, "CPU", argmax),   TN_KERNEL(argmin, "CPU", argmin),
    TN_KERNEL(any, "CPU", any),         TN_KERNEL(any_dim, "CPU", any_dim),
    TN_KERNEL(all, "CPU", all),         TN_KERNEL(all_dim, "CPU", all_dim),
};
const cpu_kernels cpu_reduce = {kernels, TN_COUNT(kernels)};

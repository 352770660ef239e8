/* differences.c - diff: differences of neighbours along a dimension, n times over. */
#include "work.h"

static tn_status step(tn_call *call, tn_tensor *x, int64_t dim, tn_tensor **out)
{
    work w = work_on(call);
    int64_t n = x->sizes[dim];
    tn_tensor *high = work_slice(&w, x, dim, 1, n), *low = work_slice(&w, x, dim, 0, n - 1);
    if (!high || !low || x->dtype != TN_BOOL)
        return work_end(&w, work_sub(&w, high, low), out);
    struct tn_logical_xor_args f = {TN_FRAME(logical_xor), .self = high, .other = low};
    return work_end(&w, work_call(&w, OP_LOGICAL_XOR, &f, &f.result), out);
}

static tn_status check_end(tn_call *call, const char *name, const tn_tensor *end,
                           const tn_tensor *self)
{
    if (!end || end->ndim == self->ndim)
        return TN_OK;
    return tn->fail(call, TN_ERR_ARGUMENT, "%s has %d dimensions; expected as many as self has, %d",
                    name, (int)end->ndim, (int)self->ndim);
}

static tn_status with_ends(tn_call *call, const struct tn_diff_args *a, int64_t dim,
                           tn_tensor **out)
{
    work w = work_on(call);
    tn_tensor *parts[3];
    int64_t n = 0;
    if (a->prepend)
        parts[n++] = a->prepend;
    parts[n++] = a->self;
    if (a->append)
        parts[n++] = a->append;
    return work_end(&w, n > 1 ? work_cat(&w, (tn_tensors){parts, n}, dim) : a->self, out);
}

static tn_status check(tn_call *call, const struct tn_diff_args *a, int64_t *dim)
{
    if (a->self->ndim == 0)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "self has no dimensions, so there are no neighbours in it");
    if (a->n < 0)
        return tn->fail(call, TN_ERR_ARGUMENT, "n is %lld; differences are taken 0 times or more",
                        (long long)a->n);
    TN_TRY(composite_wrap_dim(call, "dim", a->dim, a->self->ndim, dim));
    TN_TRY(check_end(call, "prepend", a->prepend, a->self));
    return check_end(call, "append", a->append, a->self);
}

static tn_status diff(tn_call *call, struct tn_diff_args *a)
{
    int64_t dim = 0;
    tn_tensor *x;
    TN_TRY(check(call, a, &dim));
    if (a->n == 0)
        return op_clone(a->self, TN_PRESERVE, &a->result);
    TN_TRY(with_ends(call, a, dim, &x));
    if (x->sizes[dim] == 0) { /* the result is none of the arguments */
        tn_status status = op_clone(x, TN_PRESERVE, &a->result);
        tn->tensor_release(x);
        return status;
    }
    for (int64_t i = 0; i < a->n && x->sizes[dim] > 0; i++) {
        tn_tensor *before = x;
        tn_status status = step(call, before, dim, &x);
        tn->tensor_release(before);
        TN_TRY(status);
    }
    a->result = x;
    return TN_OK;
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(diff, IMPLICIT, diff),
};
const composite_kernels composite_differences = {kernels, TN_COUNT(kernels)};

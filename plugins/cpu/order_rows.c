/* order_rows.c - walks the rows of a tensor for the ordering family. Rows are independent, so each
 * thread takes neighbouring ones and has a desk of its own; how many threads there are changes
 * nothing. */
#include "order.h"

#include "reduce_plan.h"

enum { WORTH_A_THREAD = 16384, MOST_WORKERS = 256 };

typedef struct job {
    reduce_plan plan; /* of a reduction along dim: what it keeps are the rows */
    order_row along;
    order_fn fn;
    const void *arg;
    int64_t workers;
    order_desk desks[MOST_WORKERS];
} job;

int64_t order_length(const tn_tensor *self, int64_t dim)
{
    return self->ndim ? self->sizes[dim < 0 ? dim + self->ndim : dim] : 1;
}

static void run_rows(job *j, order_desk *desk, int64_t first, int64_t end)
{
    const reduce_plan *p = &j->plan;
    order_row row = j->along;
    reduce_walk in, out[2];
    reduce_walk_start(&in, p->n_kept, p->kept_sizes, p->kept_in, row.in, first);
    for (int k = 0; k < 2; k++) /* of a result that nobody asked for: strides are 0 */
        reduce_walk_start(&out[k], p->n_kept, p->kept_sizes, p->kept_out[k],
                          row.out[k] ? row.out[k] : row.in, first);
    for (int64_t i = first; i < end; i++) {
        row.in = in.p;
        for (int k = 0; k < 2; k++)
            row.out[k] = j->along.out[k] ? (char *)out[k].p : NULL;
        j->fn(j->arg, &row, desk);
        reduce_walk_on(&in, 1);
        reduce_walk_on(&out[0], 1);
        reduce_walk_on(&out[1], 1);
    }
}

/* rows * i / n without overflow. */
static int64_t share(int64_t rows, int64_t i, int64_t n)
{
    return rows / n * i + rows % n * i / n;
}

static void run_share(void *arg, int64_t begin, int64_t end)
{
    job *j = arg;
    for (int64_t w = begin; w < end; w++)
        run_rows(j, &j->desks[w], share(j->plan.outputs, w, j->workers),
                 share(j->plan.outputs, w + 1, j->workers));
}

/* Between a row's results, in bytes; 0 where the row has one. */
static int64_t result_stride(const tn_tensor *t, const tn_tensor *self, int64_t dim)
{
    if (!t || t->ndim != self->ndim || self->ndim == 0)
        return 0;
    return t->strides[dim < 0 ? dim + self->ndim : dim] * (int64_t)tn->dtype_size(t->dtype);
}

static void lay_row(job *j, const tn_tensor *self, int64_t dim, tn_tensor *const results[2])
{
    j->along = (order_row){.in = self->data, .n = order_length(self, dim)};
    if (self->ndim)
        j->along.stride = self->strides[dim < 0 ? dim + self->ndim : dim] *
                          (int64_t)tn->dtype_size(self->dtype);
    for (int k = 0; k < 2; k++) {
        j->along.out[k] = results[k] ? results[k]->data : NULL;
        j->along.out_stride[k] = result_stride(results[k], self, dim);
    }
    reduce_plan_init(&j->plan, self, (tn_ints){&dim, 1}, results, true);
}

static int64_t workers_for(const tn_call *call, const job *j)
{
    int64_t n = call->threads > 0 ? call->threads : 1;
    int64_t worth = j->along.n > WORTH_A_THREAD ? j->plan.outputs
                                                : j->plan.outputs * j->along.n / WORTH_A_THREAD;
    n = n < worth ? n : worth;
    n = n < MOST_WORKERS ? n : MOST_WORKERS;
    return n < j->plan.outputs ? (n > 1 ? n : 1) : j->plan.outputs;
}

tn_status order_run(tn_call *call, const tn_tensor *self, int64_t dim, tn_tensor *const results[2],
                    int64_t room, order_fn fn, const void *arg)
{
    const tn_tensor *any = results[0] ? results[0] : results[1];
    job j;
    if (any->numel == 0)
        return TN_OK;
    j.fn = fn;
    j.arg = arg;
    lay_row(&j, self, dim, results);
    j.workers = workers_for(call, &j);
    for (int64_t w = 0; w < j.workers; w++)
        TN_TRY(order_desk_new(call, self->dtype, j.along.n, room, &j.desks[w]));
    return tn->parallel_for(call, j.workers, 1, run_share, &j);
}

tn_status order_check(tn_call *call, const tn_tensor *self, const tn_tensor *values,
                      const tn_tensor *indices)
{
    if (values)
        TN_TRY(cpu_check_dtype(call, values, self->dtype));
    if (indices && indices->dtype != TN_I64)
        return tn->fail(call, TN_ERR_DTYPE, "indices has dtype %s; expected int64",
                        tn->dtype_name(indices->dtype));
    return TN_OK;
}

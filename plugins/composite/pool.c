/* pool.c - the windows of pooling. They are boxes, so one dimension is pooled after the other: a table
 * says which elements go into each of its windows, index_select lays them side by side, and a sum or a
 * maximum then takes one of the two dimensions away. A place beyond the border repeats an element of
 * its window, which the maximum does not mind, and is masked for the mean. */
#include "pool.h"

#include <inttypes.h>

/* ---- arguments ------------------------------------------------------------------------------- */
tn_status pool_take(tn_call *call, const char *name, tn_ints list, const pooling *p,
                    const int64_t *or_else, int64_t least, int64_t *out)
{
    bool absent = list.len == 0 && or_else;
    if (list.len != p->n && list.len != 1 && !absent)
        return tn->fail(call, TN_ERR_ARGUMENT, "%s: expected 1 or %d numbers, got %" PRId64, name,
                        p->n, list.len);
    for (int i = 0; i < p->n; i++) {
        out[i] = absent ? or_else[i] : list.data[list.len == 1 ? 0 : i];
        if (out[i] < least || out[i] > INT32_MAX)
            return tn->fail(call, TN_ERR_ARGUMENT, "%s: expected %" PRId64 " or more, got %" PRId64,
                            name, least, out[i]);
    }
    return TN_OK;
}

tn_status pool_check(tn_call *call, const tn_tensor *self, int n, tn_dtypes allowed)
{
    bool empty = false;
    for (int d = self->ndim == n + 2; d < self->ndim; d++)
        empty |= self->sizes[d] == 0;
    if ((self->ndim != n + 1 && self->ndim != n + 2) || empty)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "self: expected %d or %d dimensions, of which only the batch may be empty, "
                        "got %d%s",
                        n + 1, n + 2, self->ndim, empty ? ", one of them empty" : "");
    if (!tn_dtype_in(self->dtype, allowed))
        return tn->fail(call, TN_ERR_UNSUPPORTED, "%s is not pooled", tn->dtype_name(self->dtype));
    return TN_OK;
}

/* How many windows there are; with ceil_mode the last one may hang over, but begins inside. */
tn_status pool_count_windows(tn_call *call, const tn_tensor *self, pooling *p)
{
    for (int i = 0; i < p->n; i++) {
        int64_t size = self->sizes[self->ndim - p->n + i], k = p->kernel[i], s = p->stride[i];
        int64_t span = p->dilation[i] * (k - 1) + 1, room = size + 2 * p->padding[i] - span;
        if (p->padding[i] > span / 2)
            return tn->fail(call, TN_ERR_ARGUMENT,
                            "padding: %" PRId64 " is more than half of a window of %" PRId64,
                            p->padding[i], span);
        p->out[i] = room < 0 ? 0 : (room + (p->ceil_mode ? s - 1 : 0)) / s + 1;
        if (room < 0 && p->ceil_mode && room + s - 1 >= 0)
            p->out[i] = 1;
        if (p->ceil_mode && (p->out[i] - 1) * s >= size + p->padding[i])
            p->out[i]--;
        if (p->out[i] < 1)
            return tn->fail(call, TN_ERR_ARGUMENT,
                            "self: %" PRId64 " elements and a padding of %" PRId64
                            " are less than a window of %" PRId64,
                            size, p->padding[i], span);
    }
    return TN_OK;
}

tn_status pool_adaptive(tn_call *call, const tn_tensor *self, int n, tn_ints output_size,
                        pooling *p)
{
    *p = (pooling){.n = n, .adaptive = true};
    TN_TRY(pool_check(call, self, n, TN_DTYPES_FLOATING));
    return pool_take(call, "output_size", output_size, p, NULL, 0, p->out);
}

/* ---- one dimension --------------------------------------------------------------------------- */
static tn_status new_axis(tn_call *call, pool_axis *x)
{
    size_t n = (size_t)x->out * (size_t)x->taps;
    x->index = tn->scratch(call, n * sizeof *x->index);
    x->valid = tn->scratch(call, n * sizeof *x->valid);
    x->count = tn->scratch(call, (size_t)x->out * sizeof *x->count);
    x->all_valid = true;
    x->some_empty = false;
    return x->index && x->valid && x->count ? TN_OK : TN_ERR_MEMORY;
}

/* Window `o` takes every `step`-th element from `start` on that lies below `end` and in [0, size). */
static void fill_window(pool_axis *x, int64_t o, int64_t start, int64_t end, int64_t step,
                        int64_t size)
{
    int64_t first = start < 0 ? start + (-start + step - 1) / step * step : start, valid = 0;
    first = first < size ? first : size - 1;
    for (int64_t t = 0; t < x->taps; t++) {
        int64_t at = start + t * step, i = o * x->taps + t;
        x->valid[i] = at >= 0 && at < size && at < end;
        x->index[i] = x->valid[i] ? at : first;
        x->all_valid &= x->valid[i];
        valid += x->valid[i];
    }
    x->count[o] = (double)valid;
    x->some_empty |= valid == 0;
}

tn_status pool_axis_of(tn_call *call, const pooling *p, int i, int64_t size, pool_axis *x)
{
    int64_t k = p->kernel[i], pad = p->padding[i];
    x->out = p->out[i];
    x->taps = p->adaptive ? (x->out ? (size + x->out - 1) / x->out + 1 : 1) : k;
    TN_TRY(new_axis(call, x));
    for (int64_t o = 0; o < x->out; o++) {
        if (p->adaptive) {
            fill_window(x, o, o * size / x->out, ((o + 1) * size + x->out - 1) / x->out, 1, size);
            continue;
        }
        int64_t start = o * p->stride[i] - pad, step = p->dilation[i];
        fill_window(x, o, start, start + (k - 1) * step + 1, step, size);
        if (p->include_pad)
            x->count[o] = (double)((start + k < size + pad ? start + k : size + pad) - start);
    }
    return TN_OK;
}

tn_tensor *pool_windows(work *w, tn_tensor *t, int64_t dim, const pool_axis *x)
{
    int64_t sizes[TN_MAX_DIMS];
    t = work_picked(w, t, dim, x->index, x->out * x->taps);
    if (!t)
        return NULL;
    for (int d = 0; d <= t->ndim; d++)
        sizes[d] = d < dim        ? t->sizes[d]
                   : d == dim     ? x->out
                   : d == dim + 1 ? x->taps
                                  : t->sizes[d - 1];
    return work_reshape(w, t, (tn_ints){sizes, t->ndim + 1});
}

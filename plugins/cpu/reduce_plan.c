/* reduce_plan.c - makes the plan of a reduction.
 *
 * Each group of dimensions is sorted by stride, so that memory is walked forwards, and merged. Then
 * one question is left: rows (each result's elements, one result after another) or columns (a row
 * of neighbouring results, element after element). Rows pay off where the innermost dimension in
 * memory is reduced, and is long; everything else is columns. */
#include "reduce_plan.h"

#include <tenon/plugin.h>

enum {
    SHORT_ROW = 32, /* up to here, starting a row costs more than striding over several */
    FEW_COLUMNS = 8,
};

typedef struct dimension {
    int64_t size, in, out[2];
} dimension;

static uint64_t reduced_mask(int ndim, tn_ints dims)
{
    uint64_t mask = 0;
    for (int64_t i = 0; i < dims.len; i++) {
        int64_t d = dims.data[i] < 0 ? dims.data[i] + ndim : dims.data[i];
        if (d >= 0 && d < ndim)
            mask |= UINT64_C(1) << d;
    }
    return dims.len > 0 ? mask : ~UINT64_C(0);
}

/* Innermost first: small strides before large ones, and those of broadcast dimensions last. */
static bool is_inside(const dimension *a, const dimension *b)
{
    return a->in != 0 && (b->in == 0 || a->in < b->in);
}

static void sort(dimension *list, int n)
{
    for (int i = 1; i < n; i++) {
        for (int j = i; j > 0 && is_inside(&list[j], &list[j - 1]); j--) {
            dimension swap = list[j];
            list[j] = list[j - 1];
            list[j - 1] = swap;
        }
    }
}

static int merge(dimension *list, int n)
{
    int last = 0;
    for (int i = 1; i < n; i++) {
        dimension *a = &list[last], *b = &list[i];
        if (b->in == a->in * a->size && b->out[0] == a->out[0] * a->size &&
            b->out[1] == a->out[1] * a->size)
            a->size *= b->size;
        else
            list[++last] = *b;
    }
    if (n == 0)
        list[0] = (dimension){1, 0, {0, 0}};
    return last + 1;
}

/* A result's stride for the dimension d of self: results have all dimensions, or the kept ones. */
static int64_t out_stride(const tn_tensor *result, const tn_tensor *self, int d, int kept)
{
    if (!result)
        return 0;
    int place = result->ndim == self->ndim ? d : kept;
    return result->strides[place] * (int64_t)tn->dtype_size(result->dtype);
}

/* self's dimensions, innermost first, into the groups kept [0] and reduced [1]. */
static void part(const tn_tensor *self, tn_ints dims, tn_tensor *const results[2],
                 dimension *groups[2], int counts[2])
{
    uint64_t mask = reduced_mask(self->ndim, dims);
    int64_t bytes = (int64_t)tn->dtype_size(self->dtype);
    int place = 0; /* in a result that has only what is kept */
    for (int d = 0; d < self->ndim; d++)
        place += !(mask >> d & 1);
    counts[0] = counts[1] = 0;
    for (int d = self->ndim - 1; d >= 0; d--) {
        int goes = mask >> d & 1;
        int64_t in = self->numel ? self->strides[d] * bytes : 0; /* else there is nothing to walk */
        dimension dim = {self->sizes[d], in, {0, 0}};
        place -= !goes;
        if (dim.size == 1)
            continue;
        for (int k = 0; !goes && k < 2; k++)
            dim.out[k] = out_stride(results[k], self, d, place);
        groups[goes][counts[goes]++] = dim;
    }
}

static int64_t count(const dimension *list, int n)
{
    int64_t product = 1;
    for (int i = 0; i < n; i++)
        product *= list[i].size;
    return product;
}

void reduce_plan_init(reduce_plan *plan, const tn_tensor *self, tn_ints dims,
                      tn_tensor *const results[2], bool in_order)
{
    dimension kept[TN_MAX_DIMS], reduced[TN_MAX_DIMS];
    int counts[2];
    part(self, dims, results, (dimension *[2]){kept, reduced}, counts);
    sort(kept, counts[0]);
    if (!in_order)
        sort(reduced, counts[1]);
    plan->in = self->data;
    plan->n_kept = merge(kept, counts[0]);
    plan->n_reduced = merge(reduced, counts[1]);
    plan->outputs = count(kept, plan->n_kept);
    plan->reduced = count(reduced, plan->n_reduced);
    for (int i = 0; i < plan->n_kept; i++) {
        plan->kept_sizes[i] = kept[i].size;
        plan->kept_in[i] = kept[i].in;
        plan->kept_out[0][i] = kept[i].out[0];
        plan->kept_out[1][i] = kept[i].out[1];
    }
    for (int i = 0; i < plan->n_reduced; i++) {
        plan->reduced_sizes[i] = reduced[i].size;
        plan->reduced_in[i] = reduced[i].in;
    }
    bool rows = plan->reduced > 1 && is_inside(&reduced[0], &kept[0]);
    bool too_short = plan->reduced <= SHORT_ROW && kept[0].size >= FEW_COLUMNS;
    plan->by_columns = plan->outputs > 1 && (!rows || too_short);
}

void reduce_walk_start(reduce_walk *w, int32_t n, const int64_t *sizes, const int64_t *strides,
                       const char *origin, int64_t index)
{
    w->n = n;
    w->sizes = sizes;
    w->strides = strides;
    w->p = origin;
    for (int32_t d = 0; d < n; d++) {
        w->at[d] = d + 1 < n ? index % sizes[d] : index;
        w->p += w->at[d] * strides[d];
        index = d + 1 < n ? index / sizes[d] : 0;
    }
}

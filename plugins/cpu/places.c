/* places.c - making places: geometry, masks, checks; and reading them off in order. */
#include "places.h"

#include <string.h>

#include "truths.h"

bool cpu_is_row(int64_t ndim, const int64_t *sizes, const int64_t *strides, int64_t *step)
{
    int64_t next = 0;
    bool any = false;
    *step = 0;
    for (int64_t d = ndim - 1; d >= 0; d--) {
        if (sizes[d] == 1)
            continue;
        if (any && strides[d] != next)
            return false;
        if (!any)
            *step = strides[d];
        any = true;
        next = strides[d] * sizes[d];
    }
    return true;
}

/* ---- masks ----------------------------------------------------------------------------------- */
typedef struct mask {
    cpu_truths truths;
    int64_t count, *offsets;
} mask;

/* Every offset is written, and the place moves on behind one that counts: no branch. By way of memory
 * of its own, for what is written behind the last one is another thread's. */
static int64_t list_offsets(void *arg, const cpu_piece *p)
{
    int64_t found[CPU_TRUTHS_PIECE], n = 0;
    for (int64_t i = 0; i < p->n; i++) {
        found[n] = p->other + i * p->step;
        n += p->truth[i] != 0;
    }
    memcpy((int64_t *)arg + p->nth, found, (size_t)n * sizeof *found);
    return n;
}

/* The offsets in t of the mask's true elements. */
static tn_status find_true(tn_call *call, const tn_tensor *t, const tn_tensor *of, int64_t dim,
                           mask *m)
{
    cpu_truths_begin(&m->truths, of, of->ndim, of->sizes, of->strides, t->strides + dim,
                     (int64_t)tn->dtype_size(t->dtype));
    TN_TRY(cpu_truths_count(call, &m->truths, &m->count));
    m->offsets = tn->scratch(call, ((size_t)m->count + 1) * sizeof *m->offsets);
    if (!m->offsets)
        return TN_ERR_MEMORY;
    return cpu_truths_run(call, &m->truths, list_offsets, m->offsets);
}

/* Masks become offsets, and the geometry has their counts. */
static tn_status find_masks(tn_call *call, tn_indexing *x, const tn_tensor *t, tn_tensors indices,
                            const int64_t **offsets)
{
    int64_t counts[TN_MAX_DIMS];
    mask m;
    for (int64_t k = 0; k < x->n; k++) {
        if (!tn_indexing_is_mask(x->index[k]))
            continue;
        TN_TRY(find_true(call, t, x->index[k], x->dim[k], &m));
        offsets[k] = m.offsets;
        counts[k] = m.count;
    }
    tn_status status = tn_indexing_of(x, t, indices, counts);
    return status == TN_OK ? TN_OK : tn->fail(call, status, "%s", x->text);
}

/* ---- making ---------------------------------------------------------------------------------- */
static tn_status check_integers(tn_call *call, const tn_indexing *x, const tn_tensor *t, int64_t k)
{
    char name[32], of[48];
    int64_t limit = t->sizes[x->dim[k]];
    snprintf(name, sizeof name, "indices[%lld]", (long long)x->entry[k]);
    snprintf(of, sizeof of, "dim %lld of self", (long long)x->dim[k]);
    return cpu_check_range(call, x->index[k], name, -limit, limit, of);
}

static tn_status count_places(tn_call *call, cpu_places *p)
{
    p->count = 1;
    for (int64_t d = 0; d < p->ndim; d++)
        if (__builtin_mul_overflow(p->count, p->sizes[d], &p->count))
            return tn->fail(call, TN_ERR_OVERFLOW,
                            "overflow: the joint shape of the indices has too many elements");
    return TN_OK;
}

static void begin_index(const cpu_places *p, cpu_index_part *i, const tn_tensor *t, int64_t limit,
                        int64_t step)
{
    int64_t size = (int64_t)tn->dtype_size(t->dtype), row;
    *i = (cpu_index_part){
        .data = (const char *)t->data, .narrow = t->dtype == TN_I32, .limit = limit, .step = step};
    cpu_broadcast_strides(t, p->ndim, i->strides);
    for (int64_t d = 0; d < p->ndim; d++)
        i->strides[d] *= size;
    i->is_row = cpu_is_row(p->ndim, p->sizes, i->strides, &row);
    if (i->is_row)
        i->strides[0] = row;
}

/* The true elements of a mask are the last joint dimension, or there is one for all places. */
static void begin_offsets(const cpu_places *p, cpu_index_part *i, const int64_t *offsets,
                          int64_t count)
{
    int64_t last = p->ndim - 1, row;
    *i = (cpu_index_part){.data = (const char *)offsets, .step = 1};
    i->strides[last] = count == 1 ? 0 : (int64_t)sizeof *offsets;
    i->is_row = cpu_is_row(p->ndim, p->sizes, i->strides, &row);
    if (i->is_row)
        i->strides[0] = row;
}

static tn_status make_indices(tn_call *call, cpu_places *p, const tn_indexing *x,
                              const tn_tensor *t, const int64_t *const *offsets)
{
    int64_t size = (int64_t)tn->dtype_size(t->dtype);
    p->n = x->n;
    p->indices = tn->scratch(call, ((size_t)x->n + 1) * sizeof *p->indices);
    if (!p->indices)
        return TN_ERR_MEMORY;
    for (int64_t k = 0; k < x->n; k++) {
        if (tn_indexing_is_mask(x->index[k])) {
            begin_offsets(p, &p->indices[k], offsets[k], x->count[k]);
            continue;
        }
        TN_TRY(check_integers(call, x, t, k));
        begin_index(p, &p->indices[k], x->index[k], t->sizes[x->dim[k]],
                    t->strides[x->dim[k]] * size);
    }
    return TN_OK;
}

tn_status cpu_places_of_list(tn_call *call, cpu_places *p, tn_indexing *x, const tn_tensor *t,
                             tn_tensors indices)
{
    const int64_t *offsets[TN_MAX_DIMS];
    tn_status status = tn_indexing_of(x, t, indices, NULL);
    if (status != TN_OK)
        return tn->fail(call, status, "%s", x->text);
    if (x->unknown)
        TN_TRY(find_masks(call, x, t, indices, offsets));
    p->whole = NULL;
    p->ndim = x->joint_ndim;
    memcpy(p->sizes, x->joint, (size_t)x->joint_ndim * sizeof *p->sizes);
    TN_TRY(count_places(call, p));
    return make_indices(call, p, x, t, offsets);
}

tn_status cpu_places_in_whole(tn_call *call, cpu_places *p, const tn_tensor *t,
                              const tn_tensor *index)
{
    TN_TRY(cpu_check_range(call, index, "index", -t->numel, t->numel, "self"));
    p->whole = t->flags & TN_TENSOR_CONTIGUOUS ? NULL : t;
    p->count = index->numel;
    p->ndim = index->ndim;
    if (index->ndim)
        memcpy(p->sizes, index->sizes, (size_t)index->ndim * sizeof *p->sizes);
    p->n = 1;
    p->indices = tn->scratch(call, sizeof *p->indices);
    if (!p->indices)
        return TN_ERR_MEMORY;
    begin_index(p, p->indices, index, t->numel, (int64_t)tn->dtype_size(t->dtype));
    return TN_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */
static void add_row(const cpu_index_part *x, const char *data, int64_t stride, int64_t n,
                    int64_t *offsets)
{
    for (int64_t i = 0; i < n; i++) {
        const char *at = data + i * stride;
        int64_t v = x->narrow ? *(const int32_t *)at : *(const int64_t *)at;
        offsets[i] += (v + (v < 0 ? x->limit : 0)) * x->step;
    }
}

/* The usual case by itself: a list of int64, one behind the other. */
static void add_list(const cpu_index_part *x, const int64_t *data, int64_t n, int64_t *offsets)
{
    const int64_t limit = x->limit, step = x->step;
    for (int64_t i = 0; i < n; i++)
        offsets[i] += (data[i] + (data[i] < 0 ? limit : 0)) * step;
}

static void add_broadcast(const cpu_places *p, const cpu_index_part *x, int64_t begin, int64_t n,
                          int64_t *offsets)
{
    int64_t last = p->ndim - 1;
    while (n > 0) {
        int64_t left = begin / p->sizes[last], at = begin % p->sizes[last];
        int64_t here = p->sizes[last] - at < n ? p->sizes[last] - at : n;
        const char *data = x->data + at * x->strides[last];
        for (int64_t d = last - 1; d >= 0; d--) {
            data += left % p->sizes[d] * x->strides[d];
            left /= p->sizes[d];
        }
        add_row(x, data, x->strides[last], here, offsets);
        begin += here;
        offsets += here;
        n -= here;
    }
}

/* From bytes in a row-major tensor to bytes in this one. */
static void spread_out(const tn_tensor *t, int64_t n, int64_t *offsets)
{
    int64_t size = (int64_t)tn->dtype_size(t->dtype);
    for (int64_t i = 0; i < n; i++) {
        int64_t left = offsets[i] / size, at = 0;
        for (int64_t d = t->ndim - 1; d >= 0; d--) {
            at += left % t->sizes[d] * t->strides[d];
            left /= t->sizes[d];
        }
        offsets[i] = at * size;
    }
}

void cpu_places_get(const cpu_places *p, int64_t begin, int64_t n, int64_t *offsets)
{
    memset(offsets, 0, (size_t)n * sizeof *offsets);
    for (int64_t k = 0; k < p->n; k++) {
        const cpu_index_part *x = &p->indices[k];
        int64_t row = x->strides[0];
        if (!x->is_row)
            add_broadcast(p, x, begin, n, offsets);
        else if (row == 8 && !x->narrow)
            add_list(x, (const int64_t *)x->data + begin, n, offsets);
        else
            add_row(x, x->data + begin * row, row, n, offsets);
    }
    if (p->whole)
        spread_out(p->whole, n, offsets);
}

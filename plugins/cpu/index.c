/* index.c - index_select, gather, embedding.
 *
 * All three are one gather: result[..i..] = self[..index[..i..]..] along one dimension. self is
 * seen with that dimension's stride set to 0, so that the iterator walks result, self and index
 * alike (whatever their strides) and the loop adds index * stride itself. Rows that are dense in
 * self and result are copied whole. Every index is checked before anything is written. */
#include <stdatomic.h>
#include <string.h>

#include "cpu.h"

typedef struct gathering {
    int64_t step; /* bytes between neighbours in self along the dimension */
    int64_t size; /* bytes of an element */
} gathering;

/* ---- checking -------------------------------------------------------------------------------- */
typedef struct walk {
    int64_t at[TN_MAX_DIMS];
    const char *p;
} walk;

static void step(walk *w, const tn_tensor *t, int64_t size)
{
    for (int d = t->ndim - 1; d >= 0; d--) {
        w->p += t->strides[d] * size;
        if (++w->at[d] < t->sizes[d])
            return;
        w->p -= t->sizes[d] * t->strides[d] * size;
        w->at[d] = 0;
    }
}

static int64_t index_at(const char *p, tn_dtype dtype)
{
    return dtype == TN_I64 ? *(const int64_t *)p : *(const int32_t *)p;
}

typedef struct search { /* for an index out of range, in a row-major list */
    const char *index;
    int64_t low, limit;
    bool narrow;
    atomic_bool found;
} search;

static void search_range(void *arg, int64_t begin, int64_t end)
{
    search *s = arg;
    uint64_t span = (uint64_t)s->limit - (uint64_t)s->low, beyond = 0;
    if (s->narrow)
        for (int64_t i = begin; i < end; i++)
            beyond |= (uint64_t)((const int32_t *)s->index)[i] - (uint64_t)s->low >= span;
    else
        for (int64_t i = begin; i < end; i++)
            beyond |= (uint64_t)((const int64_t *)s->index)[i] - (uint64_t)s->low >= span;
    if (beyond)
        atomic_store_explicit(&s->found, true, memory_order_relaxed);
}

enum { SEARCH_GRAIN = 1 << 16 };

tn_status cpu_check_range(tn_call *call, const tn_tensor *index, const char *name, int64_t low,
                          int64_t limit, const char *of)
{
    int64_t size = (int64_t)tn->dtype_size(index->dtype);
    if (index->flags & TN_TENSOR_CONTIGUOUS) {
        search s = {index->data, low, limit, index->dtype == TN_I32, false};
        TN_TRY(tn->parallel_for(call, index->numel, SEARCH_GRAIN, search_range, &s));
        if (!s.found)
            return TN_OK;
    }
    walk w = {.p = (const char *)index->data};
    for (int64_t i = 0; i < index->numel; i++, step(&w, index, size)) {
        int64_t x = index_at(w.p, index->dtype);
        if (x >= low && x < limit)
            continue;
        if (limit == 0)
            return tn->fail(call, TN_ERR_INDEX,
                            "%s is %lld at position %lld, but %s is empty there", name,
                            (long long)x, (long long)i, of);
        return tn->fail(call, TN_ERR_INDEX,
                        "%s is %lld at position %lld; %s takes %lld to %lld there", name,
                        (long long)x, (long long)i, of, (long long)low, (long long)(limit - 1));
    }
    return TN_OK;
}

tn_status cpu_check_indices(tn_call *call, const tn_tensor *index, const char *name, int64_t limit,
                            const char *of)
{
    return cpu_check_range(call, index, name, 0, limit, of);
}

/* ---- the general way ------------------------------------------------------------------------- */
static void gather_i64(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    const gathering *g = params;
    for (int64_t i = 0; i < n; i++)
        memcpy(p[0] + i * s[0], p[1] + i * s[1] + *(const int64_t *)(p[2] + i * s[2]) * g->step,
               (size_t)g->size);
}

static void gather_i32(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    const gathering *g = params;
    for (int64_t i = 0; i < n; i++)
        memcpy(p[0] + i * s[0], p[1] + i * s[1] + *(const int32_t *)(p[2] + i * s[2]) * g->step,
               (size_t)g->size);
}

/* The usual width by itself, so that its copy is one move. */
static void gather_4_i64(char *const *p, const int64_t *s, int64_t n, const void *params)
{
    const gathering *g = params;
    for (int64_t i = 0; i < n; i++)
        memcpy(p[0] + i * s[0], p[1] + i * s[1] + *(const int64_t *)(p[2] + i * s[2]) * g->step, 4);
}

/* `sizes` is the result's shape; self and index are given by strides along it, self's 0 along the
 * gathered dimension. */
typedef struct plan {
    int64_t ndim, sizes[TN_MAX_DIMS], self[TN_MAX_DIMS], index[TN_MAX_DIMS];
    gathering g;
} plan;

static tn_status run_views(tn_call *call, tn_tensor *result, tn_tensor *self, tn_tensor *index,
                           const gathering *g)
{
    tn_iter it;
    tn_tensor *operands[] = {result, self, index};
    TN_TRY(tn->iter_init(call, &it, 1, 3, operands, TN_DTYPE_NONE, TN_DTYPE_NONE, 0));
    tn_loop_fn loop = index->dtype == TN_I32 ? gather_i32
                      : g->size == 4         ? gather_4_i64
                                             : gather_i64;
    return tn->iter_run(call, &it, loop, g);
}

static tn_status run(tn_call *call, tn_tensor *result, tn_tensor *self, tn_tensor *index,
                     const plan *pl)
{
    tn_tensor *self_view = NULL, *index_view = NULL;
    tn_status status = tn->tensor_view(call, self, pl->ndim, pl->sizes, pl->self,
                                       tn->tensor_offset(self), self->dtype, &self_view);
    if (status == TN_OK)
        status = tn->tensor_view(call, index, pl->ndim, pl->sizes, pl->index,
                                 tn->tensor_offset(index), index->dtype, &index_view);
    if (status == TN_OK)
        status = run_views(call, result, self_view, index_view, &pl->g);
    tn->tensor_release(index_view);
    tn->tensor_release(self_view);
    return status;
}

static void plan_result(plan *pl, const tn_tensor *result, const tn_tensor *self,
                        int64_t self_stride)
{
    pl->ndim = result->ndim;
    memcpy(pl->sizes, result->sizes, (size_t)result->ndim * sizeof *pl->sizes);
    pl->g.size = (int64_t)tn->dtype_size(self->dtype);
    pl->g.step = self_stride * pl->g.size;
}

/* ---- whole rows ------------------------------------------------------------------------------ */
typedef struct rows {
    char *out;
    const char *self, *index;
    int64_t n, limit, bytes,
        index_stride; /* indices, self's size along the dimension, a row, between indices */
    tn_dtype index_dtype;
} rows;

static void copy_rows(void *arg, int64_t begin, int64_t end)
{
    const rows *r = arg;
    for (int64_t i = begin; i < end; i++) {
        int64_t row = index_at(r->index + i % r->n * r->index_stride, r->index_dtype);
        memcpy(r->out + i * r->bytes, r->self + (i / r->n * r->limit + row) * r->bytes,
               (size_t)r->bytes);
    }
}

enum { SHORT_ROW = 16, GRAIN_BYTES = 1 << 16 };

/* True where result[o][i] = self[o][index[i]] are rows of neighbouring elements that no other
 * operand shares. */
static bool by_rows(const tn_tensor *result, const tn_tensor *self, const tn_tensor *index,
                    int64_t bytes)
{
    return bytes >= SHORT_ROW && result->flags & self->flags & TN_TENSOR_CONTIGUOUS &&
           (index->ndim <= 1 || index->flags & TN_TENSOR_CONTIGUOUS) &&
           result->data != self->data && result->data != index->data;
}

static tn_status run_rows(tn_call *call, tn_tensor *result, const tn_tensor *self,
                          const tn_tensor *index, int64_t limit, int64_t bytes)
{
    int64_t size = (int64_t)tn->dtype_size(index->dtype);
    rows r = {(char *)result->data,
              (const char *)self->data,
              (const char *)index->data,
              index->numel,
              limit,
              bytes,
              index->ndim == 1 ? index->strides[0] * size : size,
              index->dtype};
    int64_t n = result->numel * (int64_t)tn->dtype_size(result->dtype) / bytes;
    return tn->parallel_for(call, n, bytes < GRAIN_BYTES ? GRAIN_BYTES / bytes : 1, copy_rows, &r);
}

/* ---- operators ------------------------------------------------------------------------------- */
static tn_status index_select(tn_call *call, struct tn_index_select_args *a)
{
    const tn_tensor *self = a->self;
    int64_t dim = a->dim < 0 && self->ndim ? a->dim + self->ndim : self->ndim ? a->dim : 0;
    int64_t limit = self->ndim ? self->sizes[dim] : 1, inner = (int64_t)tn->dtype_size(self->dtype);
    TN_TRY(cpu_check_dtype(call, a->result, self->dtype));
    TN_TRY(cpu_check_indices(call, a->index, "index", limit, "self"));
    if (a->result->numel == 0)
        return TN_OK;
    for (int d = (int)dim + 1; d < self->ndim; d++)
        inner *= self->sizes[d];
    if (by_rows(a->result, self, a->index, inner))
        return run_rows(call, a->result, self, a->index, limit, inner);
    plan pl;
    plan_result(&pl, a->result, self, self->ndim ? self->strides[dim] : 0);
    for (int d = 0; d < self->ndim; d++) {
        pl.self[d] = d == dim ? 0 : self->strides[d];
        pl.index[d] = d == dim && a->index->ndim ? a->index->strides[0] : 0;
    }
    return run(call, a->result, a->self, a->index, &pl);
}

static tn_status gather(tn_call *call, struct tn_gather_args *a)
{
    const tn_tensor *self = a->self, *index = a->index;
    int64_t dim = a->dim < 0 && self->ndim ? a->dim + self->ndim : self->ndim ? a->dim : 0;
    TN_TRY(cpu_check_dtype(call, a->result, self->dtype));
    if (index->numel == 0)
        return TN_OK;
    TN_TRY(cpu_check_indices(call, index, "index", self->ndim ? self->sizes[dim] : 1, "self"));
    plan pl;
    plan_result(&pl, a->result, self, self->ndim ? self->strides[dim] : 0);
    for (int d = 0; d < index->ndim; d++) {
        pl.self[d] = d == dim || self->ndim == 0 ? 0 : self->strides[d];
        pl.index[d] = index->strides[d];
    }
    return run(call, a->result, a->self, a->index, &pl);
}

static tn_status embedding(tn_call *call, struct tn_embedding_args *a)
{
    const tn_tensor *weight = a->weight, *indices = a->indices;
    int64_t bytes = weight->sizes[1] * (int64_t)tn->dtype_size(weight->dtype);
    TN_TRY(cpu_check_dtype(call, a->result, weight->dtype));
    TN_TRY(cpu_check_indices(call, indices, "indices", weight->sizes[0], "weight"));
    if (a->result->numel == 0)
        return TN_OK;
    if (by_rows(a->result, weight, indices, bytes))
        return run_rows(call, a->result, weight, indices, weight->sizes[0], bytes);
    plan pl;
    plan_result(&pl, a->result, weight, weight->strides[0]);
    for (int d = 0; d < indices->ndim; d++) {
        pl.self[d] = 0;
        pl.index[d] = indices->strides[d];
    }
    pl.self[indices->ndim] = weight->strides[1];
    pl.index[indices->ndim] = 0;
    return run(call, a->result, a->weight, a->indices, &pl);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(index_select, "CPU", index_select),
    TN_KERNEL(gather, "CPU", gather),
    TN_KERNEL(embedding, "CPU", embedding),
};
const cpu_kernels cpu_index = {kernels, TN_COUNT(kernels)};

/* transfer.c - the walk behind index and index_put.
 *
 * The shape of what indices name is [outer][joint][inner]: whole dimensions before the joint ones,
 * and behind them. Reading goes over (outer, joint) rows, each a piece of `inner` in both tensors.
 * Writing must meet equal places in order, so threads share what never meets: outer dimensions, or
 * else stretches of the innermost one. */
#include "transfer.h"

#include <string.h>

#include "scatter.h"
#include "truths.h"

enum { BLOCK = 512, GRAIN_BYTES = 1 << 16, LEAST_STRETCH = 64 };

/* Dimensions with strides, in bytes, in the indexed tensor and in the other one. Neighbours that
 * are one dimension in both are merged, those of size 1 left out. */
typedef struct group {
    int64_t ndim, numel, sizes[TN_MAX_DIMS], indexed[TN_MAX_DIMS], other[TN_MAX_DIMS];
} group;

typedef struct transfer {
    cpu_transfer_kind kind;
    const cpu_places *places;
    const int64_t *offsets;  /* of all places; NULL: found block by block */
    const int64_t *joint_at; /* where the other tensor's joint elements are; NULL: in steps */
    int64_t joint_step;
    char *indexed, *other;
    group outer, inner;
    const cpu_moves *moves;
    cpu_scatter_fn add;
    tn_number one;
} transfer;

static void add_dim(group *g, int64_t size, int64_t indexed, int64_t other)
{
    int64_t last = g->ndim - 1;
    g->numel *= size;
    if (size == 1)
        return;
    if (last >= 0 && g->indexed[last] == indexed * size && g->other[last] == other * size)
        g->sizes[last] *= size;
    else
        g->sizes[last = g->ndim++] = size;
    g->indexed[last] = indexed;
    g->other[last] = other;
}

/* ---- one piece ------------------------------------------------------------------------------- */
static void move_run(const transfer *t, char *a, int64_t a_step, char *b, int64_t b_step, int64_t n)
{
    static const int64_t here = 0;
    if (t->kind == CPU_READ)
        t->moves->copy(b, b_step, a, a_step, n);
    else if (t->kind == CPU_WRITE)
        t->moves->copy(a, a_step, b, b_step, n);
    else
        t->add(&(cpu_scatter_row){.out = a,
                                  .src = b,
                                  .index = (const char *)&here,
                                  .n = n,
                                  .out_stride = a_step,
                                  .src_stride = b_step},
               &t->one);
}

static void move_places(const transfer *t, char *a, const int64_t *offsets, char *b, int64_t step,
                        int64_t n)
{
    if (t->kind == CPU_READ)
        t->moves->gather(b, step, a, offsets, n);
    else if (t->kind == CPU_WRITE)
        t->moves->scatter(a, offsets, b, step, n);
    else
        t->add(&(cpu_scatter_row){.out = a,
                                  .src = b,
                                  .index = (const char *)offsets,
                                  .n = n,
                                  .src_stride = step,
                                  .index_stride = sizeof *offsets,
                                  .step = 1},
               &t->one);
}

static void move_inner(const transfer *t, int64_t d, char *a, char *b)
{
    const group *g = &t->inner;
    if (d + 1 >= g->ndim) {
        if (g->ndim)
            move_run(t, a, g->indexed[d], b, g->other[d], g->sizes[d]);
        else
            move_run(t, a, 0, b, 0, 1);
        return;
    }
    for (int64_t i = 0; i < g->sizes[d]; i++)
        move_inner(t, d + 1, a + i * g->indexed[d], b + i * g->other[d]);
}

/* ---- the walk over [outer][joint] ------------------------------------------------------------ */
static void go_to(const group *g, int64_t at, char **a, char **b)
{
    for (int64_t d = g->ndim - 1; d >= 0; d--) {
        *a += at % g->sizes[d] * g->indexed[d];
        *b += at % g->sizes[d] * g->other[d];
        at /= g->sizes[d];
    }
}

static void move_rows(void *arg, int64_t begin, int64_t end)
{
    const transfer *t = arg;
    int64_t block[BLOCK], joint = t->places->count, n;
    for (; begin < end; begin += n) {
        int64_t at = begin % joint;
        const int64_t *offsets = t->offsets + (t->offsets ? at : 0);
        char *a = t->indexed, *b = t->other;
        n = end - begin < joint - at ? end - begin : joint - at;
        n = n < BLOCK || t->offsets ? n : BLOCK;
        if (!offsets)
            cpu_places_get(t->places, at, n, block);
        offsets = offsets ? offsets : block;
        go_to(&t->outer, begin / joint, &a, &b);
        if (t->inner.ndim == 0 && !t->joint_at) {
            move_places(t, a, offsets, b + at * t->joint_step, t->joint_step, n);
            continue;
        }
        for (int64_t i = 0; i < n; i++)
            move_inner(t, 0, a + offsets[i],
                       b + (t->joint_at ? t->joint_at[at + i] : (at + i) * t->joint_step));
    }
}

/* Outer dimensions of a writing. */
static void move_slices(void *arg, int64_t begin, int64_t end)
{
    const transfer *t = arg;
    move_rows(arg, begin * t->places->count, end * t->places->count);
}

/* A stretch of the innermost dimension, in all rows. */
static void move_stretch(void *arg, int64_t begin, int64_t end)
{
    transfer part = *(const transfer *)arg;
    int64_t last = part.inner.ndim - 1;
    part.indexed += begin * part.inner.indexed[last];
    part.other += begin * part.inner.other[last];
    part.inner.sizes[last] = end - begin;
    move_rows(&part, 0, part.outer.numel * part.places->count);
}

static tn_status run(tn_call *call, transfer *t, int64_t size)
{
    int64_t joint = t->places->count, row = t->inner.numel * size;
    int64_t rows = t->outer.numel * joint, grain = GRAIN_BYTES / row;
    if (rows == 0 || row == 0)
        return TN_OK;
    if (t->kind == CPU_READ)
        return tn->parallel_for(call, rows, grain > 0 ? grain : 1, move_rows, t);
    if (t->outer.numel > 1) {
        grain = grain / joint;
        return tn->parallel_for(call, t->outer.numel, grain > 0 ? grain : 1, move_slices, t);
    }
    int64_t length = t->inner.ndim ? t->inner.sizes[t->inner.ndim - 1] : 1;
    grain = length * grain / joint;
    grain = grain > LEAST_STRETCH ? grain : LEAST_STRETCH;
    if (length >= 2 * grain)
        return tn->parallel_for(call, length, grain, move_stretch, t);
    move_rows(t, 0, rows);
    return TN_OK;
}

/* ---- making ---------------------------------------------------------------------------------- */
/* The offsets of all places, where they are read more than once. */
static tn_status keep_offsets(tn_call *call, transfer *t)
{
    int64_t n = t->places->count;
    if (t->outer.numel <= 1 && t->kind == CPU_READ)
        return TN_OK;
    int64_t *all = n > PTRDIFF_MAX / 16 ? NULL : tn->scratch(call, (size_t)n * sizeof *all);
    if (!all)
        return n > PTRDIFF_MAX / 16 ? tn->fail(call, TN_ERR_OVERFLOW, "overflow: too many indices")
                                    : TN_ERR_MEMORY;
    cpu_places_get(t->places, 0, n, all);
    t->offsets = all;
    return TN_OK;
}

/* Where the other tensor's elements are along the joint dimensions. */
static tn_status find_joint(tn_call *call, transfer *t, const int64_t *strides)
{
    const cpu_places *p = t->places;
    if (cpu_is_row(p->ndim, p->sizes, strides, &t->joint_step))
        return TN_OK;
    int64_t *all = p->count > PTRDIFF_MAX / 16 ? NULL
                                               : tn->scratch(call, (size_t)p->count * sizeof *all);
    if (!all)
        return p->count > PTRDIFF_MAX / 16
                   ? tn->fail(call, TN_ERR_OVERFLOW, "overflow: too many indices")
                   : TN_ERR_MEMORY;
    for (int64_t i = 0; i < p->count; i++) {
        int64_t left = i;
        all[i] = 0;
        for (int64_t d = p->ndim - 1; d >= 0; d--) {
            all[i] += left % p->sizes[d] * strides[d];
            left /= p->sizes[d];
        }
    }
    t->joint_at = all;
    return TN_OK;
}

static void begin(transfer *t, cpu_transfer_kind kind, const cpu_places *p,
                  const tn_tensor *indexed, const tn_tensor *other)
{
    const tn_scalar one = {.v.i = 1, .kind = TN_SCALAR_INT};
    t->kind = kind;
    t->places = p;
    t->offsets = t->joint_at = NULL;
    t->joint_step = 0;
    t->indexed = (char *)indexed->data;
    t->other = (char *)other->data;
    t->outer.ndim = t->inner.ndim = 0;
    t->outer.numel = t->inner.numel = 1;
    t->moves = cpu_moves_of(indexed->dtype);
    t->add = cpu_adders[indexed->dtype];
    if (kind == CPU_ADD)
        t->one = tn_number_of(indexed->dtype, &one);
}

tn_status cpu_transfer(tn_call *call, cpu_transfer_kind kind, const cpu_places *p,
                       const tn_indexing *x, const tn_tensor *indexed, const tn_tensor *other)
{
    int64_t size = (int64_t)tn->dtype_size(indexed->dtype), strides[TN_MAX_DIMS];
    int64_t before = x->at, place = 0;
    transfer t;
    begin(&t, kind, p, indexed, other);
    cpu_broadcast_strides(other, x->ndim, strides);
    for (int64_t d = 0; d < x->ndim; d++)
        strides[d] *= size;
    for (int64_t d = 0; d < indexed->ndim; d++) {
        if (x->taken >> d & 1)
            continue;
        bool outer = place < before;
        add_dim(outer ? &t.outer : &t.inner, indexed->sizes[d], indexed->strides[d] * size,
                strides[outer ? place : place + x->joint_ndim]);
        place++;
    }
    if (p->count == 0 || t.outer.numel == 0 || t.inner.numel == 0)
        return TN_OK;
    TN_TRY(find_joint(call, &t, strides + before));
    TN_TRY(keep_offsets(call, &t));
    return run(call, &t, size);
}

tn_status cpu_transfer_whole(tn_call *call, cpu_transfer_kind kind, const cpu_places *p,
                             const tn_tensor *indexed, const tn_tensor *other)
{
    transfer t;
    if (p->count == 0)
        return TN_OK;
    begin(&t, kind, p, indexed, other);
    t.joint_step = (int64_t)tn->dtype_size(indexed->dtype);
    TN_TRY(keep_offsets(call, &t));
    return run(call, &t, t.joint_step);
}

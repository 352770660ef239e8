/* reduce_run.c - walks the plan of a reduction and feeds its kernels.
 *
 * The work is cut into tiles of neighbouring results, and a long reduction into chunks; a task is
 * one chunk of one tile. Where there are several chunks, each leaves partial accumulators, which
 * are then merged pairwise as a tree. Tiles, chunks and the tree follow from the shape alone, so
 * any number of threads gives the same bits.
 *
 * Lanes that are strided or of another dtype are gathered into a block first, cut at the same
 * places as contiguous ones, so they give the same bits too. A tile with few columns takes several
 * rows as one wide row (`fold` of them), whose accumulators are merged in the end. */
#include "reduce_run.h"

#include <string.h>

#include <tenon/plugin.h>

#include "reduce_plan.h"

enum {
    BLOCK = 1024,     /* elements that are gathered and converted at once; columns of a tile */
    FOLD = 512,       /* columns up to which rows are folded into a wide one */
    TILE_ROWS = 256,  /* results of a tile by rows */
    CHUNK = 32768,    /* elements of a chunk by rows */
    CHUNK_ROWS = 128, /* rows of a chunk by columns, at least */
    CHUNK_AREA = 131072,
    TASK = 32768, /* elements below which no other thread is worth waking */
    ELEMENT = 16, /* bytes of the largest one */
};

typedef struct job {
    tn_call *call;
    const reduce_request *ask;
    const reduce_kernels *kernels;
    const reduce_kernel *kernel;
    tn_dtype from, cast, lane;
    int64_t from_bytes, acc_bytes;
    int64_t width, tiles, tiles_across; /* results of a tile; across: of dimension 0, by columns */
    int64_t chunk, chunks, fold;
    char *values;     /* partial accumulators [chunks][outputs]; NULL for one chunk */
    int64_t *indices; /* likewise */
    reduce_plan plan;
} job;

/* What a task works in: on its stack. */
typedef struct desk {
    _Alignas(64) char gathered[BLOCK * ELEMENT];
    _Alignas(64) char cast[BLOCK * ELEMENT];
    _Alignas(64) char lanes[BLOCK * ELEMENT];
    _Alignas(64) char values[BLOCK * ELEMENT];
    int64_t indices[BLOCK];
} desk;

static int64_t at_least(int64_t n, int64_t least)
{
    return n > least ? n : least;
}

static int64_t at_most(int64_t n, int64_t most)
{
    return n < most ? n : most;
}

/* ---- lanes ----------------------------------------------------------------------------------- */
/* Kernels exist for these; the conversions there lose nothing. */
static tn_dtype lane_dtype(reduce_op op, tn_dtype dtype)
{
    if (dtype == TN_F16 || dtype == TN_BF16)
        return TN_F32;
    return (op == REDUCE_SUM || op == REDUCE_PROD) && tn_dtype_in(dtype, TN_DTYPES_WHOLE) ? TN_I64
                                                                                          : dtype;
}

static void copy(char *out, const char *in, int64_t stride, int64_t n, int64_t bytes)
{
    if (stride == bytes) {
        memcpy(out, in, (size_t)(n * bytes));
        return;
    }
    switch (bytes) {
    case 1:
        for (int64_t i = 0; i < n; i++)
            out[i] = in[i * stride];
        return;
    case 2:
        for (int64_t i = 0; i < n; i++)
            memcpy(out + 2 * i, in + i * stride, 2);
        return;
    case 4:
        for (int64_t i = 0; i < n; i++)
            memcpy(out + 4 * i, in + i * stride, 4);
        return;
    case 8:
        for (int64_t i = 0; i < n; i++)
            memcpy(out + 8 * i, in + i * stride, 8);
        return;
    default:
        for (int64_t i = 0; i < n; i++)
            memcpy(out + 16 * i, in + i * stride, 16);
    }
}

/* Converts a block; both dtypes exist, so it cannot fail. */
static const void *converted(const job *j, char *out, tn_dtype to, const void *in, tn_dtype from,
                             int64_t n)
{
    if (to == from)
        return in;
    if (to == TN_F32 && from == TN_F16)
        j->kernels->from_f16((float *)(void *)out, in, n);
    else if (to == TN_F32 && from == TN_BF16)
        j->kernels->from_bf16((float *)(void *)out, in, n);
    else
        tn->convert(j->call, out, to, (int64_t)tn->dtype_size(to), in, from,
                    (int64_t)tn->dtype_size(from), n);
    return out;
}

static const void *lanes(const job *j, desk *d, const void *in, int64_t n)
{
    in = converted(j, d->cast, j->cast, in, j->from, n);
    return converted(j, d->lanes, j->lane, in, j->cast, n);
}

/* The next n elements of a row. */
static const void *row_lanes(const job *j, desk *d, reduce_walk *w, int64_t n)
{
    const char *in = w->p;
    if (w->strides[0] == j->from_bytes && reduce_walk_run(w, n) == n) {
        reduce_walk_on(w, n);
        return lanes(j, d, in, n);
    }
    for (int64_t done = 0; done < n;) {
        int64_t run = reduce_walk_run(w, n - done);
        copy(d->gathered + done * j->from_bytes, w->p, w->strides[0], run, j->from_bytes);
        reduce_walk_on(w, run);
        done += run;
    }
    return lanes(j, d, d->gathered, n);
}

/* The next `rows` rows of `columns` elements, one behind the other. */
static const void *wide_lanes(const job *j, desk *d, reduce_walk *w, int64_t rows, int64_t columns)
{
    int64_t stride = j->plan.kept_in[0], bytes = columns * j->from_bytes;
    const char *in = w->p;
    bool dense = stride == j->from_bytes &&
                 (rows == 1 || (w->strides[0] == bytes && reduce_walk_run(w, rows) == rows));
    if (dense) {
        reduce_walk_on(w, rows);
        return lanes(j, d, in, rows * columns);
    }
    for (int64_t r = 0; r < rows; r++) {
        copy(d->gathered + r * bytes, w->p, stride, columns, j->from_bytes);
        reduce_walk_on(w, 1);
    }
    return lanes(j, d, d->gathered, rows * columns);
}

/* ---- accumulators ---------------------------------------------------------------------------- */
/* An index begins at the first element: where nothing beats the identity, all are equal to it. */
static void begin(const job *j, char *values, int64_t *indices, int64_t n, int64_t first)
{
    memcpy(values, j->kernel->identity, (size_t)j->acc_bytes);
    for (int64_t done = 1; done < n; done *= 2) {
        int64_t more = at_most(done, n - done);
        memcpy(values + done * j->acc_bytes, values, (size_t)(more * j->acc_bytes));
    }
    for (int64_t i = 0; i < n && j->ask->index; i++)
        indices[i] = first;
}

/* Merges `count` rows of n accumulators, pairwise as a tree, into the first. */
static void merge_tree(const job *j, char *values, int64_t *indices, int64_t count, int64_t n)
{
    for (int64_t step = 1; step < count; step *= 2) {
        for (int64_t c = 0; c + step < count; c += 2 * step) {
            int64_t a = c * n, b = (c + step) * n;
            j->kernel->merge(values + a * j->acc_bytes, indices ? indices + a : NULL,
                             values + b * j->acc_bytes, indices ? indices + b : NULL, n);
        }
    }
}

static void divide(const job *j, char *values, int64_t n)
{
    double *v = (double *)(void *)values, count = (double)j->plan.reduced;
    int64_t parts = j->kernel->acc == TN_C128 ? 2 * n : n;
    for (int64_t i = 0; i < parts; i++)
        v[i] /= count;
}

static void store(const job *j, tn_tensor *out, int k, int64_t first, int64_t n, const void *from,
                  tn_dtype dtype)
{
    const reduce_plan *plan = &j->plan;
    int64_t bytes = (int64_t)tn->dtype_size(dtype);
    reduce_walk w;
    reduce_walk_start(&w, plan->n_kept, plan->kept_sizes, plan->kept_out[k], out->data, first);
    for (int64_t done = 0; done < n;) {
        int64_t run = reduce_walk_run(&w, n - done);
        tn->convert(j->call, (char *)out->data + (w.p - (const char *)out->data), out->dtype,
                    w.strides[0], (const char *)from + done * bytes, dtype, bytes, run);
        reduce_walk_on(&w, run);
        done += run;
    }
}

static void finish(const job *j, int64_t first, int64_t n, char *values, const int64_t *indices)
{
    if (j->ask->mean)
        divide(j, values, n);
    if (j->ask->value)
        store(j, j->ask->value, 0, first, n, values, j->kernel->acc);
    if (j->ask->index)
        store(j, j->ask->index, 1, first, n, indices, TN_I64);
}

/* ---- tasks ----------------------------------------------------------------------------------- */
static void reduce_rows(const job *j, desk *d, reduce_walk *kept, int64_t first, int64_t end,
                        char *value, int64_t *index)
{
    const reduce_plan *plan = &j->plan;
    reduce_walk w;
    reduce_walk_start(&w, plan->n_reduced, plan->reduced_sizes, plan->reduced_in, kept->p, first);
    for (int64_t i = first; i < end; i += BLOCK) {
        int64_t n = at_most(end - i, BLOCK);
        j->kernel->row(row_lanes(j, d, &w, n), n, i, value, index);
    }
}

static void reduce_columns(const job *j, desk *d, reduce_walk *kept, int64_t n, int64_t first,
                           int64_t end, char *values, int64_t *indices)
{
    const reduce_plan *plan = &j->plan;
    int64_t groups = at_least(at_most(j->fold, end - first), 1);
    reduce_walk w;
    reduce_walk_start(&w, plan->n_reduced, plan->reduced_sizes, plan->reduced_in, kept->p, first);
    begin(j, d->values, d->indices, groups * n, first);
    for (int64_t r = first; r < end; r += j->fold) {
        int64_t rows = at_most(end - r, j->fold);
        const void *in = wide_lanes(j, d, &w, rows, n);
        j->kernel->columns(in, rows * n, r, d->values, d->indices);
    }
    for (int64_t i = n; i < groups * n && j->ask->index; i++)
        d->indices[i] += i / n;
    merge_tree(j, d->values, d->indices, groups, n);
    if (values != d->values)
        memcpy(values, d->values, (size_t)(n * j->acc_bytes));
    if (indices != d->indices && j->ask->index)
        memcpy(indices, d->indices, (size_t)n * sizeof *indices);
}

static void run_task(const job *j, desk *d, int64_t task)
{
    const reduce_plan *plan = &j->plan;
    int64_t tile = task / j->chunks, c = task % j->chunks;
    int64_t begin_at = c * j->chunk, end = at_most(begin_at + j->chunk, plan->reduced);
    int64_t across = plan->by_columns ? plan->kept_sizes[0] : plan->outputs;
    int64_t column = tile % j->tiles_across * j->width;
    int64_t first = tile / j->tiles_across * across + column;
    int64_t n = at_most(across - column, j->width);
    char *values = j->values ? j->values + (c * plan->outputs + first) * j->acc_bytes : d->values;
    int64_t *indices = j->indices ? j->indices + c * plan->outputs + first : d->indices;
    reduce_walk kept;
    reduce_walk_start(&kept, plan->n_kept, plan->kept_sizes, plan->kept_in, plan->in, first);
    if (plan->by_columns) {
        reduce_columns(j, d, &kept, n, begin_at, end, values, indices);
    } else {
        begin(j, values, indices, n, begin_at);
        for (int64_t i = 0; i < n; i++, reduce_walk_on(&kept, 1))
            reduce_rows(j, d, &kept, begin_at, end, values + i * j->acc_bytes, indices + i);
    }
    if (!j->values)
        finish(j, first, n, values, indices);
}

static void run_tasks(void *arg, int64_t task, int64_t end)
{
    desk d;
    for (; task < end; task++)
        run_task(arg, &d, task);
}

/* ---- cutting the work ------------------------------------------------------------------------ */
static int64_t pieces(int64_t n, int64_t size)
{
    return n / size + (n % size != 0);
}

static void cut(job *j)
{
    const reduce_plan *plan = &j->plan;
    int64_t across = plan->by_columns ? plan->kept_sizes[0] : plan->outputs;
    j->fold = 1;
    if (plan->by_columns) {
        j->width = at_most(across, BLOCK);
        j->fold = at_least(at_most(FOLD / across, plan->reduced), 1);
        j->chunk = at_least(CHUNK_AREA / j->width, CHUNK_ROWS);
        j->chunk = pieces(j->chunk, j->fold) * j->fold;
    } else {
        j->chunk = CHUNK;
        j->width = at_least(at_most(TASK / at_least(plan->reduced, 1), TILE_ROWS), 1);
    }
    j->chunks = at_least(pieces(plan->reduced, j->chunk), 1);
    j->tiles_across = pieces(across, j->width);
    j->tiles = plan->outputs / across * j->tiles_across;
}

static tn_status make_partials(job *j)
{
    int64_t outputs = j->plan.outputs;
    j->values = NULL;
    j->indices = NULL;
    if (j->chunks == 1)
        return TN_OK;
    j->values = tn->scratch(j->call, (size_t)(j->chunks * outputs * j->acc_bytes));
    if (!j->values)
        return TN_ERR_MEMORY;
    if (!j->ask->index)
        return TN_OK;
    j->indices = tn->scratch(j->call, (size_t)(j->chunks * outputs) * sizeof *j->indices);
    return j->indices ? TN_OK : TN_ERR_MEMORY;
}

static tn_status run_job(job *j)
{
    cut(j);
    TN_TRY(make_partials(j));
    int64_t each = at_least(at_most(j->plan.reduced, j->chunk) * j->width, 1);
    TN_TRY(tn->parallel_for(j->call, j->tiles * j->chunks, at_least(TASK / each, 1), run_tasks, j));
    if (j->values) {
        merge_tree(j, j->values, j->indices, j->chunks, j->plan.outputs);
        finish(j, 0, j->plan.outputs, j->values, j->indices);
    }
    return TN_OK;
}

static void set_dtypes(job *j)
{
    j->kernels = reduce_kernels_chosen();
    j->from = j->ask->self->dtype;
    j->cast = j->ask->cast;
    j->lane = lane_dtype(j->ask->op, j->cast);
    j->kernel = &j->kernels->kernels[j->ask->op][j->lane];
    j->from_bytes = (int64_t)tn->dtype_size(j->from);
    j->acc_bytes = (int64_t)tn->dtype_size(j->kernel->acc);
}

tn_status reduce_run(tn_call *call, const reduce_request *request)
{
    job j;
    j.call = call;
    j.ask = request;
    set_dtypes(&j);
    if (!j.kernel->row)
        return tn->fail(call, TN_ERR_UNSUPPORTED, "no kernel for dtype %s",
                        tn->dtype_name(request->self->dtype));
    tn_tensor *const results[2] = {request->value, request->index};
    reduce_plan_init(&j.plan, request->self, request->dims, results, request->index != NULL);
    if (j.plan.outputs == 0)
        return TN_OK;
    return run_job(&j);
}

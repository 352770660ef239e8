/* run.c - runs a 1-D loop over everything that a tn_iter describes.
 *
 * A row is one walk along dimension 0; the other dimensions say where rows begin. Rows are cut into
 * pieces of PIECE elements, always at the same places: the loop is called with the same arguments
 * whether one thread does all the work or many share it, so its results cannot depend on their
 * number. Operands of another dtype than the loop's pass through a block of CAST_BYTES on the stack
 * (a piece is a whole number of blocks); no tensor is ever converted as a whole. */
#include <stdalign.h>

#include "core/iter/iter.h"

/* CAST_FEW elements of any dtype fit a block. */
enum { PIECE = 4096, THREAD_ELEMENTS = 32768, CAST_BYTES = 4096, CAST_FEW = CAST_BYTES / 16 };

typedef struct job {
    const tn_iter *it;
    tn_loop_fn loop;
    const void *params;
    int64_t block;                    /* elements that go to the loop at a time */
    int64_t rows, group;              /* all rows; how many in sequence must stay on one thread */
    int64_t strides[TN_MAX_OPERANDS]; /* along dimension 0, bytes */
} job;

/* ---- one piece ------------------------------------------------------------------------------ */
/* A converted operand lies densely in its block; an input broadcast along the row is converted once
 * and keeps its stride of 0. The operands whose bit in it->cast is not set go to the loop as they
 * are. */
static __attribute__((noinline)) void run_cast(const tn_iter *it, tn_loop_fn loop,
                                               const void *params, char *const *data, int64_t n)
{
    alignas(64) char blocks[TN_MAX_OPERANDS][CAST_BYTES];
    char *lanes[TN_MAX_OPERANDS];
    int64_t strides[TN_MAX_OPERANDS];
    for (int32_t k = 0; k < it->n_operands; k++) {
        lanes[k] = data[k];
        strides[k] = it->strides[k][0];
    }
    for (uint32_t left = (uint32_t)it->cast; left; left &= left - 1) {
        const int k = __builtin_ctz(left);
        const int64_t stride = strides[k];
        const tn_dtype wanted = k < it->n_out ? it->out_dtype : it->dtype;
        lanes[k] = blocks[k];
        strides[k] = stride ? tn__dtype_sizes[wanted] : 0;
        if (k < it->n_out)
            continue;
        tn__converter(wanted, it->dtypes[k])(blocks[k], strides[k], data[k], stride,
                                             stride ? n : 1);
    }
    loop(lanes, strides, n, params);
    for (uint32_t left = (uint32_t)it->cast & ((1u << it->n_out) - 1); left; left &= left - 1) {
        const int k = __builtin_ctz(left);
        tn__convert_fn convert = tn__converter(it->dtypes[k], it->out_dtype);
        convert(data[k], it->strides[k][0], blocks[k], strides[k], n);
    }
}

/* Elements of the widest dtype in the loop that a block holds. */
static int64_t block_size(const tn_iter *it)
{
    if (!it->cast)
        return PIECE;
    int64_t in = it->dtype == TN_DTYPE_NONE ? 1 : tn__dtype_sizes[it->dtype];
    int64_t out = it->out_dtype == TN_DTYPE_NONE ? 1 : tn__dtype_sizes[it->out_dtype];
    return CAST_BYTES / (in > out ? in : out);
}

/* ---- rows ----------------------------------------------------------------------------------- */
typedef struct place {
    int64_t index[TN_MAX_DIMS];      /* along dimensions 1 and up */
    int64_t offset[TN_MAX_OPERANDS]; /* of the row's begin from the operand's data, bytes */
} place;

static void seek_row(const tn_iter *it, place *p, int64_t row)
{
    for (int32_t k = 0; k < it->n_operands; k++)
        p->offset[k] = 0;
    for (int32_t d = 1; d < it->ndim; d++) {
        p->index[d] = row % it->sizes[d];
        row /= it->sizes[d];
        for (int32_t k = 0; k < it->n_operands; k++)
            p->offset[k] += p->index[d] * it->strides[k][d];
    }
}

static void next_row(const tn_iter *it, place *p)
{
    for (int32_t d = 1; d < it->ndim; d++) {
        if (p->index[d] + 1 < it->sizes[d]) {
            p->index[d]++;
            for (int32_t k = 0; k < it->n_operands; k++)
                p->offset[k] += it->strides[k][d];
            return;
        }
        for (int32_t k = 0; k < it->n_operands; k++)
            p->offset[k] -= p->index[d] * it->strides[k][d];
        p->index[d] = 0;
    }
}

/* Elements [from, to) of rows [begin, end); `from` is a multiple of PIECE. */
static void run_rows(const job *j, int64_t begin, int64_t end, int64_t from, int64_t to)
{
    const tn_iter *it = j->it;
    place p;
    seek_row(it, &p, begin);
    for (int64_t row = begin; row < end; row++) {
        for (int64_t at = from; at < to; at += j->block) {
            char *data[TN_MAX_OPERANDS];
            int64_t n = to - at < j->block ? to - at : j->block;
            for (int32_t k = 0; k < it->n_operands; k++) {
                data[k] = it->data[k] + (p.offset[k] + at * j->strides[k]);
            }
            if (it->cast)
                run_cast(it, j->loop, j->params, data, n);
            else
                j->loop(data, j->strides, n, j->params);
        }
        if (row + 1 < end)
            next_row(it, &p);
    }
}

/* ---- threads -------------------------------------------------------------------------------- */
static void run_groups(void *arg, int64_t begin, int64_t end)
{
    const job *j = arg;
    run_rows(j, begin * j->group, end * j->group, 0, j->it->sizes[0]);
}

static void run_columns(void *arg, int64_t begin, int64_t end)
{
    const job *j = arg;
    int64_t to = end * PIECE < j->it->sizes[0] ? end * PIECE : j->it->sizes[0];
    run_rows(j, 0, j->rows, begin * PIECE, to);
}

/* Without outputs the loop's results are in its params: all of it stays together. */
static bool is_reduced(const tn_iter *it, int32_t dim)
{
    if (it->n_out == 0)
        return true;
    for (int32_t k = 0; k < it->n_out; k++) {
        if (it->strides[k][dim] == 0)
            return true;
    }
    return false;
}

/* Rows up to the last reduced dimension write the same outputs: they stay together, in order. */
static void plan_rows(job *j)
{
    const tn_iter *it = j->it;
    j->rows = it->numel / it->sizes[0];
    j->group = 1;
    int64_t inner = 1;
    for (int32_t d = 1; d < it->ndim; d++) {
        inner *= it->sizes[d];
        if (is_reduced(it, d))
            j->group = inner;
    }
}

static int64_t grain(int64_t elements)
{
    return elements < THREAD_ELEMENTS ? THREAD_ELEMENTS / elements : 1;
}

/* Splits along whichever has more parts: the groups of rows, or the pieces of every row. */
static tn_status run_strided(tn_call *call, job *j)
{
    int64_t size = j->it->sizes[0];
    plan_rows(j);
    int64_t groups = j->rows / j->group, pieces = is_reduced(j->it, 0) ? 1 : (size - 1) / PIECE + 1;
    if (groups >= pieces)
        return tn__parallel_for(call, groups, grain(size * j->group), run_groups, j);
    return tn__parallel_for(call, pieces, grain(PIECE * j->rows), run_columns, j);
}

static __attribute__((noinline)) tn_status run_any(tn_call *call, const tn_iter *it,
                                                   tn_loop_fn loop, const void *params)
{
    if (it->numel == 0)
        return TN_OK;
    job j = {.it = it, .loop = loop, .params = params, .block = block_size(it)};
    for (int32_t k = 0; k < it->n_operands; k++)
        j.strides[k] = it->strides[k][0];
    return run_strided(call, &j);
}

/* Most calls are one piece without casts: a handful of instructions. The first three strides are
 * copied unasked, of operands that may not exist; the loop does not look at those. */
tn_status tn__iter_run(tn_call *call, tn_iter *it, tn_loop_fn loop, const void *params)
{
    int64_t strides[TN_MAX_OPERANDS];
    if (TN__UNLIKELY(it->ndim != 1 || (uint64_t)it->numel - 1 >= (it->cast ? CAST_FEW : PIECE))) {
        return run_any(call, it, loop, params);
    }
    if (it->cast) {
        run_cast(it, loop, params, it->data, it->numel);
        return TN_OK;
    }
    for (int32_t k = 0; k < 3; k++)
        strides[k] = it->strides[k][0];
    for (int32_t k = 3; k < it->n_operands; k++)
        strides[k] = it->strides[k][0];
    loop(it->data, strides, it->numel, params);
    return TN_OK;
}

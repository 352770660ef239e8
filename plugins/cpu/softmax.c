/* softmax.c - _softmax and _log_softmax: every row along dim by the row kernels of kernels/.
 *
 * A row that is not contiguous, or of f16 or bf16, is converted into a buffer, computed there and
 * converted back: the same bits for every layout. Where neighbours in memory belong to different
 * rows, several rows are moved at once, so that a cache line is read once. The geometry is that of
 * a reduction along dim (reduce_plan.h): what it keeps are the rows. */
#include "cpu.h"
#include "per_isa.h"
#include "reduce_plan.h"
#include "softmax_rows.h"

CPU_PER_ISA(softmax_rows, softmax_loops)

enum {
    PIECES = 64,        /* of the work: each has a buffer */
    BUFFERED = 1 << 22, /* elements in all the buffers, but for rows longer than that */
    PIECE = 8192,       /* elements below which no other thread is worth waking */
    TOGETHER = 64,      /* rows in a buffer, when they are neighbours in memory; */
    TILE = 1 << 18,     /* fewer where they have more elements than this together */
    AHEAD = 8,
    PAD = 16, /* elements between them, lest they fall on the same cache lines */
};

typedef struct job {
    tn_call *call;
    softmax_row_fn row;
    const tn_tensor *self;
    tn_tensor *out;
    tn_dtype dtype; /* of the computation */
    bool direct;    /* rows are contiguous, and of that dtype */
    int64_t n, in_stride, out_stride, bytes;
    int64_t together, row_bytes, buffer_bytes, rows_each;
    char *buffers;
    reduce_plan plan;
} job;

/* Where an element is: one row further, and one element further, in bytes. */
typedef struct grid {
    char *p;
    tn_dtype dtype;
    int64_t row, element;
} grid;

/* Asks for the cache lines of an element of each row, AHEAD elements on: neighbouring elements may
 * lie on different pages, where the processor does not look ahead by itself. */
static void prefetch(const job *j, grid g, int64_t i, int64_t rows)
{
    if (i + AHEAD >= j->n)
        return;
    for (int64_t at = 0; at < rows * g.row; at += 64)
        __builtin_prefetch(g.p + (i + AHEAD) * g.element + at);
}

/* Along the rows, or across them where they are several; the dtypes exist, so it cannot fail. */
static void move(const job *j, grid to, grid from, int64_t rows)
{
    if (rows == 1) {
        tn->convert(j->call, to.p, to.dtype, to.element, from.p, from.dtype, from.element, j->n);
        return;
    }
    for (int64_t i = 0; i < j->n; i++) {
        prefetch(j, to.row < to.element ? to : from, i, rows);
        tn->convert(j->call, to.p + i * to.element, to.dtype, to.row, from.p + i * from.element,
                    from.dtype, from.row, rows);
    }
}

static void run_rows(const job *j, grid in, grid out, char *buffer, int64_t rows)
{
    grid middle = {buffer, j->dtype, j->row_bytes, j->bytes};
    if (j->direct) {
        j->row(in.p, out.p, j->n);
        return;
    }
    move(j, middle, in, rows);
    for (int64_t r = 0; r < rows; r++)
        j->row(buffer + r * j->row_bytes, buffer + r * j->row_bytes, j->n);
    move(j, out, middle, rows);
}

static void run_piece(const job *j, int64_t piece)
{
    const reduce_plan *plan = &j->plan;
    int64_t first = piece * j->rows_each, end = first + j->rows_each;
    char *buffer = j->direct ? NULL : j->buffers + piece * j->buffer_bytes;
    grid in = {j->self->data, j->self->dtype, plan->kept_in[0], j->in_stride};
    grid out = {j->out->data, j->out->dtype, plan->kept_out[0][0], j->out_stride};
    const char *in_begin = in.p, *out_begin = out.p;
    reduce_walk from, to;
    reduce_walk_start(&from, plan->n_kept, plan->kept_sizes, plan->kept_in, in_begin, first);
    reduce_walk_start(&to, plan->n_kept, plan->kept_sizes, plan->kept_out[0], out_begin, first);
    end = end < plan->outputs ? end : plan->outputs;
    for (int64_t rows; first < end; first += rows) {
        rows = reduce_walk_run(&from, end - first < j->together ? end - first : j->together);
        in.p = (char *)j->self->data + (from.p - in_begin);
        out.p = (char *)j->out->data + (to.p - out_begin);
        run_rows(j, in, out, buffer, rows);
        reduce_walk_on(&from, rows);
        reduce_walk_on(&to, rows);
    }
}

static void run_pieces(void *arg, int64_t piece, int64_t end)
{
    for (; piece < end; piece++)
        run_piece(arg, piece);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Cuts the rows into pieces: by the shape alone, though no result depends on it. */
static int64_t cut(job *j)
{
    int64_t rows = j->plan.outputs, pieces = smaller(PIECES, rows * j->n / PIECE);
    bool neighbours = j->plan.kept_in[0] < j->in_stride && j->plan.kept_sizes[0] > 1;
    j->together = j->direct || !neighbours ? 1 : smaller(TOGETHER, TILE / j->n);
    j->together = j->together < 1 ? 1 : j->together;
    j->row_bytes = (j->n + PAD) * j->bytes;
    j->buffer_bytes = j->together * j->row_bytes;
    if (!j->direct)
        pieces = smaller(pieces, BUFFERED / (j->together * j->n));
    pieces = smaller(pieces, rows);
    pieces = pieces < 1 ? 1 : pieces;
    j->rows_each = rows / pieces + (rows % pieces != 0);
    return pieces;
}

static tn_status run_job(job *j)
{
    int64_t pieces = cut(j);
    if (!j->direct) {
        j->buffers = tn->scratch(j->call, (size_t)(pieces * j->buffer_bytes));
        if (!j->buffers)
            return TN_ERR_MEMORY;
    }
    return tn->parallel_for(j->call, pieces, 1, run_pieces, j);
}

static tn_status softmax(tn_call *call, tn_tensor *self, int64_t dim, bool log, tn_tensor *out)
{
    job j = {.call = call, .self = self, .out = out, .n = 1};
    const softmax_rows *rows = softmax_loops_table();
    if (out->numel == 0)
        return TN_OK;
    j.dtype = self->dtype == TN_F64 ? TN_F64 : TN_F32;
    j.row = j.dtype == TN_F64 ? rows->f64[log] : rows->f32[log];
    j.bytes = (int64_t)tn->dtype_size(j.dtype);
    if (self->ndim > 0) {
        int64_t d = dim < 0 ? dim + self->ndim : dim;
        j.n = self->sizes[d];
        j.in_stride = self->strides[d] * (int64_t)tn->dtype_size(self->dtype);
        j.out_stride = out->strides[d] * (int64_t)tn->dtype_size(out->dtype);
    }
    j.direct = self->dtype == j.dtype && out->dtype == j.dtype &&
               (j.n == 1 || (j.in_stride == j.bytes && j.out_stride == j.bytes));
    reduce_plan_init(&j.plan, self, (tn_ints){&dim, 1}, (tn_tensor *[2]){out, NULL}, true);
    return run_job(&j);
}

static tn_status _softmax(tn_call *call, struct tn__softmax_args *a)
{
    return softmax(call, a->self, a->dim, false, a->result);
}

static tn_status _log_softmax(tn_call *call, struct tn__log_softmax_args *a)
{
    return softmax(call, a->self, a->dim, true, a->result);
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(_softmax, "CPU", _softmax),
    TN_KERNEL(_log_softmax, "CPU", _log_softmax),
};
const cpu_kernels cpu_softmax = {kernels, TN_COUNT(kernels)};

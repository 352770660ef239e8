/* gemm.c - from a product of any dtype, shape and strides to calls of a one-thread kernel.
 *
 * First the operands are made what a kernel takes: halves are widened to f32, a result that is
 * dense along columns turns the product into its transpose, and what is dense along neither is
 * copied. Then c is cut into tiles whose number depends on the shape alone, never on the threads,
 * and all tiles of all products of the batch are one parallel_for. */
#include "gemm.h"

#include "blas.h"

CPU_PER_ISA(cpu_gemm_fns, gemm)

enum { SMALL = 32, TILE = 256, MAX_TILES = 64, GRAIN = 1 << 16 };

typedef struct job {
    cpu_product p;
    cpu_product_fn fn;
    int64_t tiles_m, tiles_n;
    size_t size;
} job;

/* ---- operands -------------------------------------------------------------------------------- */
static cpu_matrix turned(cpu_matrix x)
{
    return (cpu_matrix){x.data, x.col, x.row, x.batch};
}

/* The stride of a line that is not repeated has no meaning; these satisfy every library. */
static void settle_strides(cpu_matrix *x, int64_t rows, int64_t cols)
{
    if (cols == 1)
        x->col = 1;
    if (rows == 1)
        x->row = x->col == 1 ? cols : 1;
}

static bool is_dense(const cpu_matrix *x, int64_t rows, int64_t cols)
{
    if (x->col == 1)
        return x->row >= cols && x->row <= INT32_MAX;
    return x->row == 1 && x->col >= rows && x->col <= INT32_MAX;
}

/* Copies batch matrices element by element between any strides and dtypes. */
static void convert(tn_call *call, cpu_matrix *to, tn_dtype to_dtype, const cpu_matrix *from,
                    tn_dtype from_dtype, int64_t batch, int64_t rows, int64_t cols)
{
    int64_t to_size = (int64_t)tn->dtype_size(to_dtype),
            from_size = (int64_t)tn->dtype_size(from_dtype);
    for (int64_t b = 0; b < batch; b++)
        for (int64_t i = 0; i < rows; i++)
            tn->convert(call, to->data + (b * to->batch + i * to->row) * to_size, to_dtype,
                        to->col * to_size,
                        from->data + (b * from->batch + i * from->row) * from_size, from_dtype,
                        from->col * from_size, cols);
}

/* Room in scratch memory for batch matrices, row by row. */
static tn_status make_room(tn_call *call, cpu_matrix *x, size_t size, int64_t batch, int64_t rows,
                           int64_t cols)
{
    int64_t bytes;
    *x = (cpu_matrix){NULL, cols, 1, rows * cols};
    if (__builtin_mul_overflow(batch * (int64_t)size, rows * cols, &bytes))
        return tn->fail(call, TN_ERR_OVERFLOW,
                        "overflow: a copy of an operand does not fit in memory");
    x->data = (char *)tn->scratch(call, (size_t)bytes);
    return x->data ? TN_OK : TN_ERR_MEMORY;
}

/* A copy of x in `dtype`, dense along the direction that x itself runs fastest in. */
static tn_status copy_operand(tn_call *call, cpu_matrix *x, tn_dtype own, tn_dtype dtype,
                              int64_t batch, int64_t rows, int64_t cols)
{
    cpu_matrix copy;
    bool turn = x->row < x->col;
    cpu_matrix from = turn ? turned(*x) : *x;
    int64_t lines = turn ? cols : rows, length = turn ? rows : cols;
    if (x->batch == 0)
        batch = 1;
    TN_TRY(make_room(call, &copy, tn->dtype_size(dtype), batch, lines, length));
    convert(call, &copy, dtype, &from, own, batch, lines, length);
    if (x->batch == 0)
        copy.batch = 0;
    *x = turn ? turned(copy) : copy;
    return TN_OK;
}

/* The product's transpose: c' = b' a'. */
static void transpose(cpu_product *p)
{
    cpu_matrix a = turned(p->b), b = turned(p->a);
    int64_t m = p->n;
    p->n = p->m;
    p->m = m;
    p->a = a;
    p->b = b;
    p->c = turned(p->c);
}

/* ---- tiles ----------------------------------------------------------------------------------- */
static int64_t bound(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* Tiles of about TILE x TILE, so that each packs its operands at little cost, as far as there is
 * work for them. */
static void cut(job *j)
{
    double work = (double)j->p.m * (double)j->p.n * (double)j->p.k;
    int64_t most = (int64_t)(work / (1 << 27) > MAX_TILES ? MAX_TILES : work / (1 << 27));
    most = bound(most, work > (1 << 22) ? 2 : 1, MAX_TILES);
    j->tiles_m = bound(j->p.m / TILE, 1, most);
    j->tiles_n = bound(j->p.n / TILE, 1, most / j->tiles_m);
    if (j->tiles_m * j->tiles_n > 1 || most == 1)
        return;
    if (j->p.m > j->p.n)
        j->tiles_m = 2;
    else if (j->p.n >= 2)
        j->tiles_n = 2;
}

static void run_tiles(void *arg, int64_t begin, int64_t end)
{
    const job *j = arg;
    for (int64_t t = begin; t < end; t++) {
        cpu_product p = j->p;
        int64_t column = t % j->tiles_n, row = t / j->tiles_n % j->tiles_m,
                b = t / j->tiles_n / j->tiles_m;
        int64_t i = p.m * row / j->tiles_m, k = p.n * column / j->tiles_n;
        p.m = p.m * (row + 1) / j->tiles_m - i;
        p.n = p.n * (column + 1) / j->tiles_n - k;
        p.a.data += (b * p.a.batch + i * p.a.row) * (int64_t)j->size;
        p.b.data += (b * p.b.batch + k * p.b.col) * (int64_t)j->size;
        p.c.data += (b * p.c.batch + i * p.c.row + k) * (int64_t)j->size;
        j->fn(&p);
    }
}

static bool is_small(const cpu_product *p)
{
    return p->m <= SMALL && p->n <= SMALL && p->k <= SMALL;
}

static bool fits_library(const cpu_product *p)
{
    return p->k > 0 && p->m <= INT32_MAX && p->n <= INT32_MAX && p->k <= INT32_MAX &&
           p->c.row <= INT32_MAX;
}

/* c is dense along rows. */
static tn_status run_dense(tn_call *call, tn_dtype dtype, int64_t batch, job *j)
{
    cpu_product *p = &j->p;
    j->size = tn->dtype_size(dtype);
    j->fn = gemm_table()->of[dtype];
    cpu_product_fn library = is_small(p) || !fits_library(p) ? NULL : cpu_blas(dtype);
    if (library) {
        settle_strides(&p->a, p->m, p->k);
        settle_strides(&p->b, p->k, p->n);
        if (!is_dense(&p->a, p->m, p->k))
            TN_TRY(copy_operand(call, &p->a, dtype, dtype, batch, p->m, p->k));
        if (!is_dense(&p->b, p->k, p->n))
            TN_TRY(copy_operand(call, &p->b, dtype, dtype, batch, p->k, p->n));
        j->fn = library;
    }
    cut(j);
    int64_t work = p->m * p->n / (j->tiles_m * j->tiles_n) * (p->k + 1) + 1;
    return tn->parallel_for(call, batch * j->tiles_m * j->tiles_n, work < GRAIN ? GRAIN / work : 1,
                            run_tiles, j);
}

/* ---- results that are not dense, and halves -------------------------------------------------- */
static bool writes_rows(const cpu_product *p)
{
    return p->c.col == 1 && p->c.row >= p->n;
}

/* Through a result aside in the arithmetic's dtype, which is rounded once. */
static tn_status run_aside(tn_call *call, tn_dtype own, tn_dtype dtype, int64_t batch, job *j,
                           bool reads_c)
{
    cpu_matrix c = j->p.c;
    TN_TRY(make_room(call, &j->p.c, tn->dtype_size(dtype), batch, j->p.m, j->p.n));
    if (reads_c)
        convert(call, &j->p.c, dtype, &c, own, batch, j->p.m, j->p.n);
    cpu_matrix aside = j->p.c;
    int64_t m = j->p.m, n = j->p.n;
    TN_TRY(run_dense(call, dtype, batch, j));
    convert(call, &c, own, &aside, dtype, batch, m, n);
    return TN_OK;
}

static bool is_zero(tn_dtype dtype, const tn_number *x)
{
    const char *bytes = (const char *)x;
    size_t size = tn->dtype_size(dtype);
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* A small product straight to its kernel: all else here costs more than the product. */
static bool is_plain(tn_dtype dtype, int64_t batch, const cpu_product *p)
{
    return batch == 1 && p->k > 0 && is_small(p) && writes_rows(p) && gemm_table()->of[dtype];
}

tn_status cpu_gemm(tn_call *call, tn_dtype own, int64_t batch, cpu_product *p)
{
    if (is_plain(own, batch, p)) {
        gemm_table()->of[own](p);
        return TN_OK;
    }
    if (own == TN_BOOL)
        return tn->fail(call, TN_ERR_UNSUPPORTED, "a matrix product is not defined for bool");
    if (batch == 0 || p->m == 0 || p->n == 0)
        return TN_OK;
    tn_dtype dtype = own == TN_F16 || own == TN_BF16 ? TN_F32 : own;
    job j = {.p = *p};
    if (p->k == 0)
        j.p.alpha =
            (tn_number){.c128 = {0, 0}}; /* a sum of nothing is 0, whatever it is scaled by */
    if (p->m == 1)
        j.p.c.row = p->n;
    if (p->n == 1)
        j.p.c.col = 1;
    if (!writes_rows(&j.p) && (j.p.c.row == 1 || p->m == 1)) {
        transpose(&j.p);
        if (j.p.n == 1)
            j.p.c.col = 1;
    }
    if (dtype != own) {
        TN_TRY(copy_operand(call, &j.p.a, own, dtype, batch, j.p.m, j.p.k));
        TN_TRY(copy_operand(call, &j.p.b, own, dtype, batch, j.p.k, j.p.n));
    }
    if (dtype == own && writes_rows(&j.p))
        return run_dense(call, dtype, batch, &j);
    return run_aside(call, own, dtype, batch, &j, !is_zero(dtype, &p->beta));
}

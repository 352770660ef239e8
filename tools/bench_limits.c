/* bench_limits.c - the floor under the suite `dispatch`: the same work in plain C.
 *
 * A dispatch table indexed by the highest bit of the tensors' keys, counted references, tensors and
 * storages from free lists. No broadcasting, no promotion, no error messages: what a design without
 * any framework costs, not a design. */
#include "bench_impl.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct block {
    atomic_int refs;
    int64_t bytes;
    struct block *next_free;
    float *data;
} block;

typedef struct array {
    atomic_int refs;
    int32_t dtype, ndim;
    uint64_t keys;
    int64_t numel, sizes[4], strides[4];
    block *memory;
    struct array *next_free;
} array;

typedef array *(*kernel)(array *const *in, array *out);
static kernel table[4][8]; /* operator x key */
enum { NOOP, ADD, SUM, MM };

static array *free_arrays;
static block *free_blocks;

static block *block_new(int64_t bytes)
{
    block *b = free_blocks;
    if (b && b->bytes >= bytes) {
        free_blocks = b->next_free;
    } else {
        b = aligned_alloc(64, (size_t)(64 + (bytes + 63) / 64 * 64));
        if (!b)
            return NULL;
        b->bytes = (bytes + 63) / 64 * 64;
        b->data = (float *)((char *)b + 64);
    }
    atomic_init(&b->refs, 1);
    return b;
}

static array *array_raw(void)
{
    array *a = free_arrays;
    if (a)
        free_arrays = a->next_free;
    else
        a = aligned_alloc(64, (sizeof *a + 63) / 64 * 64);
    return a;
}

static __attribute__((noinline)) array *array_new(int32_t ndim, const int64_t *sizes)
{
    array *a = array_raw();
    if (!a)
        return NULL;
    int64_t numel = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        a->sizes[i] = sizes[i];
        a->strides[i] = numel;
        numel *= sizes[i];
    }
    atomic_init(&a->refs, 1);
    a->dtype = TN_F32;
    a->ndim = ndim;
    a->keys = 1;
    a->numel = numel;
    a->memory = block_new(numel * 4);
    return a;
}

static void array_release(array *a)
{
    if (atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) != 1)
        return;
    block *b = a->memory;
    if (atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) == 1) {
        b->next_free = free_blocks;
        free_blocks = b;
    }
    a->next_free = free_arrays;
    free_arrays = a;
}

static __attribute__((noinline)) array *call(int op, array *const *in, int n, array *out)
{
    uint64_t keys = 1;
    for (int i = 0; i < n; i++)
        keys |= in[i]->keys;
    return table[op][63 - __builtin_clzll(keys)](in, out);
}

/* ---- kernels -------------------------------------------------------------------------------- */
static array *noop(array *const *in, array *out)
{
    (void)out;
    atomic_fetch_add_explicit(&in[0]->refs, 1, memory_order_relaxed);
    return in[0];
}

static array *add(array *const *in, array *out)
{
    const array *a = in[0], *b = in[1];
    if (a->dtype != b->dtype || a->ndim != b->ndim ||
        memcmp(a->sizes, b->sizes, (size_t)a->ndim * sizeof a->sizes[0]) != 0)
        return NULL;
    if (!out)
        out = array_new(a->ndim, a->sizes);
    if (!out || out->numel != a->numel)
        return NULL;
    for (int64_t i = 0; i < a->numel; i++)
        out->memory->data[i] = a->memory->data[i] + b->memory->data[i];
    return out;
}

static array *sum(array *const *in, array *out)
{
    float total = 0;
    out = array_new(0, NULL);
    for (int64_t i = 0; i < in[0]->numel; i++)
        total += in[0]->memory->data[i];
    if (out)
        out->memory->data[0] = total;
    return out;
}

/* One row of the result, summed in locals of a fixed length. */
static void row_16(const float *a, const float *b, float *out)
{
    float sums[16] = {0};
    for (int p = 0; p < 16; p++)
        for (int j = 0; j < 16; j++)
            sums[j] += a[p] * b[p * 16 + j];
    memcpy(out, sums, sizeof sums);
}

static array *mm(array *const *in, array *out)
{
    const array *a = in[0], *b = in[1];
    out = array_new(2, (int64_t[]){16, 16});
    if (!out || a->sizes[1] != 16 || b->sizes[0] != 16)
        return NULL;
    for (int i = 0; i < 16; i++)
        row_16(a->memory->data + i * 16, b->memory->data, out->memory->data + i * 16);
    return out;
}

static __attribute__((noinline)) array *transpose(array *a, int i, int j)
{
    array *t = array_raw();
    if (!t)
        return NULL;
    memcpy(t, a, sizeof *t);
    atomic_init(&t->refs, 1);
    t->sizes[i] = a->sizes[j], t->sizes[j] = a->sizes[i];
    t->strides[i] = a->strides[j], t->strides[j] = a->strides[i];
    atomic_fetch_add_explicit(&t->memory->refs, 1, memory_order_relaxed);
    return t;
}

/* ---- cases ---------------------------------------------------------------------------------- */
static array *one, *two, *out1, *square;

static bool prepare(void)
{
    if (square)
        return true;
    table[NOOP][0] = noop, table[ADD][0] = add, table[SUM][0] = sum, table[MM][0] = mm;
    one = array_new(1, (int64_t[]){1});
    two = array_new(1, (int64_t[]){1});
    out1 = array_new(1, (int64_t[]){1});
    square = array_new(2, (int64_t[]){16, 16});
    if (!one || !two || !out1 || !square)
        return false;
    one->memory->data[0] = two->memory->data[0] = 1;
    for (int i = 0; i < 256; i++)
        square->memory->data[i] = (float)i;
    return true;
}

/* n calls of one operator, each result released unless it is `out`. */
static tn_status repeat(int64_t n, int op, array **a, array **b, array **out)
{
    if (!prepare())
        return TN_ERR_MEMORY;
    array *in[2] = {*a, *b}, *into = out ? *out : NULL;
    for (int64_t i = 0; i < n; i++) {
        array *r = call(op, in, op == NOOP || op == SUM ? 1 : 2, into);
        if (!r)
            return TN_ERR_MEMORY;
        if (r != into)
            array_release(r);
    }
    return TN_OK;
}

static tn_status run_noop(int64_t n)
{
    return repeat(n, NOOP, &one, &one, NULL);
}
static tn_status run_add(int64_t n)
{
    return repeat(n, ADD, &one, &two, NULL);
}
static tn_status run_add_out(int64_t n)
{
    return repeat(n, ADD, &one, &two, &out1);
}
static tn_status run_sum(int64_t n)
{
    return repeat(n, SUM, &one, &one, NULL);
}
static tn_status run_mm(int64_t n)
{
    return repeat(n, MM, &square, &square, NULL);
}

static tn_status run_empty(int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        array *a = array_new(1, (int64_t[]){1});
        if (!a)
            return TN_ERR_MEMORY;
        array_release(a);
    }
    return TN_OK;
}

static tn_status run_transpose(int64_t n)
{
    for (int64_t i = 0; prepare() && i < n; i++) {
        array *a = transpose(square, 0, 1);
        if (!a)
            return TN_ERR_MEMORY;
        array_release(a);
    }
    return TN_OK;
}

const bench_case bench_limits[] = {
    {.name = "limit_noop", .run = run_noop},
    {.name = "limit_add", .run = run_add},
    {.name = "limit_add_out", .run = run_add_out},
    {.name = "limit_transpose", .run = run_transpose},
    {.name = "limit_empty", .run = run_empty},
    {.name = "limit_sum", .run = run_sum},
    {.name = "limit_mm16", .run = run_mm},
};
const size_t bench_limits_count = sizeof bench_limits / sizeof *bench_limits;

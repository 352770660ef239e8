/* Running: random operands against plain nested indexing, casts, threads, reductions. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/threads.h>

#include "core/iter/iter.h"
#include "tests/unit/core/iter/fake_tensor.h"

TestSuite(iter_run);

/* out = a - 2 * b, in f64, so that operands cannot be swapped unnoticed. */
static void combine_f64(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    const double factor = *(const double *)params;
    for (int64_t i = 0; i < n; i++) {
        double a = *(double *)(data[1] + i * strides[1]), b = *(double *)(data[2] + i * strides[2]);
        *(double *)(data[0] + i * strides[0]) = a - factor * b;
    }
}

static void sum_f64(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++) {
        *(double *)(data[0] + i * strides[0]) += *(double *)(data[1] + i * strides[1]);
    }
}

/* The element of t at a broadcast index. */
static char *at(const tn_tensor *t, char *memory, int ndim, const int64_t *index)
{
    int64_t offset = tn__impl(t)->offset;
    for (int d = 0; d < t->ndim; d++) {
        if (t->sizes[d] != 1)
            offset += index[ndim - t->ndim + d] * t->strides[d];
    }
    return memory + offset * tn__dtype_sizes[t->dtype];
}

static double value(const tn_tensor *t, char *memory, int ndim, const int64_t *index)
{
    double out;
    tn__converter(TN_F64, t->dtype)((char *)&out, 8, at(t, memory, ndim, index), 0, 1);
    return out;
}

enum { ELEMENTS = 4096, BYTES = 16 * ELEMENTS };
static char memory[3][BYTES], before[BYTES];
static tn__storage stores[3];

/* A random layout of the given shape: dimensions in any order, gaps; for an input also broadcast
 * dimensions. */
static tn_tensor *random_operand(fake *f, int k, int dtype, int ndim, const int64_t *sizes)
{
    int64_t own[8], strides[8], order[8], step = 1 + rand() % 2;
    int first = k && ndim ? rand() % (ndim + 1) : 0;
    for (int d = 0; d < ndim; d++)
        order[d] = d;
    for (int d = ndim - 1; d > 0; d--) {
        int other = rand() % 3 ? d : rand() % (d + 1);
        int64_t keep = order[d];
        order[d] = order[other];
        order[other] = keep;
    }
    for (int i = ndim - 1; i >= 0; i--) {
        int64_t d = order[i];
        own[d] = k && rand() % 4 == 0 ? 1 : sizes[d];
        strides[d] = k && rand() % 8 == 0 ? 0 : step;
        if (own[d] == 1)
            strides[d] = INT64_MAX;
        else if (strides[d])
            step *= own[d] + (rand() % 4 == 0);
    }
    return fake_make(f, &stores[k], memory[k], dtype, ndim - first, own + first, strides + first,
                     rand() % 3);
}

static void fill(int k, int dtype)
{
    int64_t size = tn__dtype_sizes[dtype];
    for (int64_t i = 0; i < ELEMENTS; i++) {
        int64_t v = rand() % 50;
        tn__converter(dtype, TN_I64)(memory[k] + i * size, size, (const char *)&v, 0, 1);
    }
}

static void check_random(void)
{
    fake f[3];
    int64_t sizes[5], shape[5];
    int ndim = rand() % 5, dtypes[3];
    const double factor = 2;
    int64_t total = 1;
    for (int d = 0; d < ndim; d++)
        total *= sizes[d] = 1 + rand() % (total > 60 ? 2 : 6);
    for (int k = 0; k < 3; k++) {
        dtypes[k] = rand() % 2 ? TN_F64
                               : (int[]){TN_I32, TN_F32, TN_I64, TN_C128, TN_I16}[rand() % 5];
        fill(k, dtypes[k]);
    }
    tn_tensor *a = random_operand(&f[1], 1, dtypes[1], ndim, sizes),
              *b = random_operand(&f[2], 2, dtypes[2], ndim, sizes);
    int64_t wide;
    cr_assert_eq(tn__broadcast(NULL, (tn_tensor *[]){a, b}, 2, &wide, shape), TN_OK);
    tn_tensor *out = random_operand(&f[0], 0, dtypes[0], (int)wide, shape);
    memcpy(before, memory[0], BYTES);
    tn_iter it;
    memset(&it, 0x5a, sizeof it);
    cr_assert_eq(tn__iter_init(NULL, &it, 1, 3, (tn_tensor *[]){out, a, b}, TN_F64, TN_F64, 0),
                 TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(it.numel, out->numel);
    cr_assert_eq(tn__iter_run(NULL, &it, combine_f64, &factor), TN_OK);
    for (int64_t i = 0; i < out->numel; i++) {
        int64_t index[5], rest = i;
        for (int d = (int)wide - 1; d >= 0; d--) {
            index[d] = rest % shape[d];
            rest /= shape[d];
        }
        double expected = value(a, memory[1], (int)wide, index) -
                          2 * value(b, memory[2], (int)wide, index);
        cr_assert_eq(value(out, memory[0], (int)wide, index), expected);
        memcpy(at(out, before, (int)wide, index), at(out, memory[0], (int)wide, index),
               tn__dtype_sizes[dtypes[0]]);
    }
    cr_assert_eq(memcmp(before, memory[0], BYTES), 0, "wrote outside its elements");
}

Test(iter_run, random_operands_against_indexing)
{
    srand(7);
    for (int i = 0; i < 30000; i++)
        check_random();
}

static void no_call(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    (void)data, (void)strides, (void)n, (void)params;
    cr_assert_fail("the loop ran over nothing");
}

Test(iter_run, nothing_runs_over_no_elements)
{
    fake f[2];
    tn_iter it;
    tn_tensor *out = fake_make(&f[0], &stores[0], NULL, TN_F64, 2, DIMS(0, 3), NULL, 0);
    tn_tensor *in = fake_make(&f[1], &stores[1], NULL, TN_F32, 2, DIMS(0, 3), DIMS(9, 9), 0);
    for (int cast = 0; cast < 2; cast++) {
        in->dtype = cast ? TN_F32 : TN_F64;
        cr_assert_eq(tn__iter_init(NULL, &it, 1, 2, (tn_tensor *[]){out, in}, TN_F64, TN_F64, 0),
                     TN_OK);
        cr_assert_eq(tn__iter_run(NULL, &it, no_call, NULL), TN_OK);
    }
}

/* ---- threads -------------------------------------------------------------------------------- */
/* Each element notes how its piece began and how long it was: if that is the same for every number
 * of threads, so is whatever a kernel does with its vector body and its rest. */
static void note_pieces(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++)
        *(double *)(data[0] + i * strides[0]) += (double)(n * 8192 + i);
}

static void same_pieces(int ndim, const int64_t *sizes, const int64_t *strides, int dtype)
{
    enum { MAX = 400000 };
    static double out[MAX], one[MAX];
    static char in[MAX * 8];
    fake f[2];
    tn_iter it;
    for (int threads = 1; threads <= 5; threads++) {
        memset(out, 0, sizeof out);
        tn_set_num_threads(threads);
        tn_tensor *o = fake_make(&f[0], &stores[0], out, TN_F64, ndim, sizes, strides, 0);
        tn_tensor *a = fake_make(&f[1], &stores[1], in, dtype, ndim, sizes, NULL, 0);
        cr_assert_eq(tn__iter_init(NULL, &it, 1, 2, (tn_tensor *[]){o, a}, TN_F64, TN_F64, 0),
                     TN_OK);
        cr_assert_eq(tn__iter_run(NULL, &it, note_pieces, NULL), TN_OK);
        if (threads == 1)
            memcpy(one, out, sizeof out);
        int64_t written = 0;
        for (int i = 0; i < MAX; i++)
            written += out[i] != 0;
        cr_assert_eq(written, o->numel);
        cr_assert_eq(memcmp(one, out, sizeof out), 0, "%d threads", threads);
    }
}

Test(iter_run, the_loop_is_called_alike_for_any_number_of_threads)
{
    for (int cast = 0; cast < 2; cast++) {
        int dtype = cast ? TN_F32 : TN_F64;
        same_pieces(1, DIMS(100), NULL, dtype);
        same_pieces(1, DIMS(300001), NULL, dtype);
        same_pieces(2, DIMS(3, 100000), DIMS(100003, 1), dtype);
        same_pieces(2, DIMS(1000, 300), DIMS(310, 1), dtype);
        same_pieces(2, DIMS(300, 1000), DIMS(1, 301), dtype);
        same_pieces(4, DIMS(40, 3, 50, 7), DIMS(8000, 2000, 10, 1), dtype);
    }
}

static void check_sum(int64_t rows, int64_t columns, int dim)
{
    enum { MAX = 600000 };
    static double in[MAX], out[MAX], one[MAX];
    fake f[2];
    tn_iter it;
    for (int64_t i = 0; i < rows * columns; i++)
        in[i] = 1.0 / (double)(i + 3);
    for (int threads = 1; threads <= 4; threads++) {
        memset(out, 0, sizeof out);
        tn_set_num_threads(threads);
        const int64_t *kept = dim == 0 ? DIMS(1, columns) : dim == 1 ? DIMS(rows, 1) : DIMS(1, 1);
        tn_tensor *o = fake_make(&f[0], &stores[0], out, TN_F64, 2, kept, NULL, 0);
        tn_tensor *a = fake_make(&f[1], &stores[1], in, TN_F64, 2, DIMS(rows, columns), NULL, 0);
        cr_assert_eq(tn__iter_init(NULL, &it, 1, 2, (tn_tensor *[]){o, a}, TN_F64, TN_F64, 1),
                     TN_OK);
        cr_assert_eq(tn__iter_run(NULL, &it, sum_f64, NULL), TN_OK);
        if (threads == 1)
            memcpy(one, out, sizeof out);
        cr_assert_eq(memcmp(one, out, sizeof out), 0, "%d threads", threads);
    }
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < columns; c++)
            out[dim == 0 ? c : dim == 1 ? r : 0] -= in[r * columns + c];
    }
    for (int64_t i = 0; i < rows + columns; i++)
        cr_assert_lt(out[i] < 0 ? -out[i] : out[i], 1e-9);
}

Test(iter_run, reductions_do_not_race)
{
    for (int dim = 0; dim < 3; dim++) {
        check_sum(7, 50000, dim);
        check_sum(50000, 7, dim);
        check_sum(600, 600, dim);
    }
}

/* ---- casts ---------------------------------------------------------------------------------- */
static void negate_f64(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++)
        *(double *)(data[0] + i * strides[0]) = -*(double *)(data[1] + i * strides[1]);
}

Test(iter_run, in_place_through_casts)
{
    enum { N = 10000 };
    static int16_t a[2 * N];
    fake f;
    tn_iter it;
    for (int i = 0; i < 2 * N; i++)
        a[i] = (int16_t)i;
    tn_tensor *t = fake_make(&f, &stores[0], a, TN_I16, 1, DIMS(N), DIMS(2), 1);
    cr_assert_eq(tn__iter_init(NULL, &it, 1, 2, (tn_tensor *[]){t, t}, TN_F64, TN_F64, 0), TN_OK);
    cr_assert_eq(tn__iter_run(NULL, &it, negate_f64, NULL), TN_OK);
    for (int i = 0; i < 2 * N; i++)
        cr_assert_eq(a[i], i % 2 ? -i : i, "element %d", i);
}

static void less_f64(char *const *data, const int64_t *strides, int64_t n, const void *params)
{
    (void)params;
    for (int64_t i = 0; i < n; i++) {
        *(uint8_t *)(data[0] + i * strides[0]) = *(double *)(data[1] + i * strides[1]) <
                                                 *(double *)(data[2] + i * strides[2]);
    }
}

Test(iter_run, comparisons_store_bool_into_any_dtype)
{
    enum { N = 3000 };
    static float a[N], out[N];
    static uint8_t flags[N];
    int32_t limit = 1500;
    fake f[3];
    tn_iter it;
    for (int i = 0; i < N; i++)
        a[i] = (float)i;
    for (int cast = 0; cast < 2; cast++) {
        tn_tensor *o = fake_make(&f[0], &stores[0], cast ? (void *)out : (void *)flags,
                                 cast ? TN_F32 : TN_BOOL, 1, DIMS(N), NULL, 0);
        tn_tensor *in = fake_make(&f[1], &stores[1], a, TN_F32, 1, DIMS(N), NULL, 0);
        tn_tensor *bound = fake_make(&f[2], &stores[2], &limit, TN_I32, 0, NULL, NULL, 0);
        cr_assert_eq(
            tn__iter_init(NULL, &it, 1, 3, (tn_tensor *[]){o, in, bound}, TN_F64, TN_BOOL, 0),
            TN_OK);
        cr_assert_eq(tn__iter_run(NULL, &it, less_f64, NULL), TN_OK);
    }
    for (int i = 0; i < N; i++)
        cr_assert(out[i] == (i < 1500) && flags[i] == (i < 1500), "element %d", i);
}

/* matmul.c - mm, bmm, addmm on CPU against plain nested loops: every dtype and layout, sizes on
 * both sides of every way that gemm.c knows, halves, alpha and beta, results that are not dense,
 * any number of threads.
 *
 * Elements are small integers, so that products are exact in every dtype and comparisons too; where
 * a bf16 result cannot hold the sum, the expected one is rounded once from it. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/ops.h>
#include <tenon/runtime.h>
#include <tenon/threads.h>

static tn_scope scope;

static void begin(void)
{
    cr_assert_eq(tn_plugins_load_default(), TN_OK, "%s", tn_error_last()->message);
    tn_error_clear();
    tn_scope_enter(&scope);
    srand(1);
}

static void end(void)
{
    tn_scope_leave(&scope);
    tn_set_num_threads(0);
}

TestSuite(cpu_matmul, .init = begin, .fini = end);

static tn_tensor *must(tn_tensor *t)
{
    cr_assert_not_null(t, "%s", tn_error_last()->message);
    return t;
}

/* Whole numbers from -2 to 2 as f64, batch x rows x cols. */
static tn_tensor *numbers(int64_t batch, int64_t rows, int64_t cols)
{
    tn_tensor *t = must(tn_empty_memory_format(TN_INTS(batch, rows, cols), .dtype = TN_F64));
    for (int64_t i = 0; i < t->numel; i++)
        ((double *)t->data)[i] = rand() % 5 - 2;
    return t;
}

enum { ROWS, COLUMNS, EVERY_OTHER, LAYOUTS };

/* A view of its own memory that holds the numbers of t in another layout and dtype. */
static tn_tensor *laid_out(tn_tensor *t, tn_dtype dtype, int layout)
{
    int64_t b = t->sizes[0], m = t->sizes[1], n = t->sizes[2];
    tn_tensor *out =
        layout == ROWS ? tn_empty_memory_format(TN_INTS(b, m, n), .dtype = dtype)
        : layout == COLUMNS
            ? tn_transpose_int(tn_empty_memory_format(TN_INTS(b, n, m), .dtype = dtype), 1, 2)
            : tn_slice(tn_empty_memory_format(TN_INTS(b, m, 2 * n), .dtype = dtype), .dim = 2,
                       .step = 2);
    return must(tn_copy_(must(out), t));
}

/* alpha a b + beta c in double, where c may be NULL; unsigned and small integers wrap when it is
 * cast. */
static tn_tensor *expected(const tn_tensor *a, const tn_tensor *b, const tn_tensor *c, double alpha,
                           double beta)
{
    int64_t batch = a->sizes[0], m = a->sizes[1], k = a->sizes[2], n = b->sizes[2];
    tn_tensor *out = must(tn_empty_memory_format(TN_INTS(batch, m, n), .dtype = TN_F64));
    for (int64_t i = 0; i < out->numel; i++) {
        const double *row = (const double *)a->data + i / n * k,
                     *col = (const double *)b->data + i / (m * n) * k * n + i % n;
        double sum = 0;
        for (int64_t p = 0; p < k; p++)
            sum += row[p] * col[p * n];
        ((double *)out->data)[i] = alpha * sum + (c ? beta * ((const double *)c->data)[i] : 0);
    }
    return out;
}

/* Integers first become i64, so that what does not fit wraps around. */
static tn_tensor *in_dtype(tn_tensor *t, tn_dtype dtype)
{
    if (tn_dtype_in(dtype, TN_DTYPES_WHOLE))
        t = must(tn__to_copy(t, .dtype = TN_I64));
    return must(tn__to_copy(t, .dtype = dtype));
}

static void same(tn_tensor *got, tn_tensor *want, const char *what)
{
    tn_tensor *equal =
        must(tn_all(tn_eq(must(got), tn_reshape(want, ((tn_ints){got->sizes, got->ndim})))));
    cr_assert(*(bool *)equal->data, "%s, dtype %d, %lld elements differ somewhere", what,
              got->dtype, (long long)got->numel);
}

static void check(tn_dtype dtype, int64_t batch, int64_t m, int64_t n, int64_t k, int layouts)
{
    tn_tensor *a = numbers(batch, m, k), *b = numbers(batch, k, n), *c = numbers(batch, m, n);
    tn_tensor *x = laid_out(a, dtype, layouts % 3), *y = laid_out(b, dtype, layouts / 3 % 3);
    tn_tensor *plain = in_dtype(expected(a, b, NULL, 1, 0), dtype);
    same(tn_bmm(x, y), plain, "bmm");
    tn_tensor *out = laid_out(c, dtype, layouts / 9 % 3);
    same(tn_bmm_out(x, y, out), plain, "bmm.out");
    if (batch != 1)
        return;
    x = tn_select_int(x, 0, 0);
    y = tn_select_int(y, 0, 0);
    same(tn_mm(x, y), plain, "mm");
    tn_tensor *self = tn_select_int(laid_out(c, dtype, layouts / 9 % 3), 0, 0);
    tn_tensor *scaled = in_dtype(expected(a, b, c, 3, 2), dtype);
    same(tn_addmm(self, x, y, .alpha = tn_scalar_int(3), .beta = tn_scalar_int(2)), scaled,
         "addmm");
    same(tn_addmm_(self, x, y, .alpha = tn_scalar_int(3), .beta = tn_scalar_int(2)), scaled,
         "addmm_");
}

Test(cpu_matmul, every_dtype_and_layout)
{
    const int64_t sizes[][4] = {{1, 1, 1, 1},    {1, 5, 1, 3},  {1, 1, 7, 4},    {3, 4, 8, 5},
                                {1, 16, 16, 16}, {1, 33, 3, 2}, {2, 35, 37, 34}, {1, 3, 40, 300},
                                {0, 2, 2, 2},    {1, 0, 3, 2}};
    for (tn_dtype dtype = TN_U8; dtype < TN_DTYPE_COUNT; dtype++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int layouts = 0; layouts < 27; layouts += 4)
                TN_SCOPE
                    check(dtype, sizes[s][0], sizes[s][1], sizes[s][2], sizes[s][3], layouts);
}

Test(cpu_matmul, large_enough_for_tiles)
{
    for (int layouts = 0; layouts < 27; layouts += 7) {
        TN_SCOPE
            check(TN_F32, 1, 530, 270, 300, layouts);
        TN_SCOPE
            check(TN_F64, 1, 300, 530, 60, layouts);
    }
    TN_SCOPE
        check(TN_C64, 1, 200, 190, 150, 4);
    TN_SCOPE
        check(TN_BF16, 2, 260, 150, 120, 4);
    TN_SCOPE
        check(TN_I32, 1, 300, 300, 70, 4);
}

Test(cpu_matmul, no_depth_and_repeated_rows)
{
    same(tn_mm(tn_empty_memory_format(TN_INTS(2, 0)), tn_empty_memory_format(TN_INTS(0, 3))),
         tn_zeros(TN_INTS(2, 3)), "k = 0");
    same(tn_addmm(tn_ones(TN_INTS(3)), tn_empty_memory_format(TN_INTS(2, 0)),
                  tn_empty_memory_format(TN_INTS(0, 3)), .beta = tn_scalar_int(5)),
         tn_full(TN_INTS(2, 3), 5.0), "k = 0, beta");
    tn_tensor *row = tn_expand(tn_ones(TN_INTS(1, 50)), TN_INTS(50, 50));
    same(tn_mm(row, row), tn_full(TN_INTS(50, 50), 50.0), "expanded");
}

Test(cpu_matmul, beta_zero_ignores_self)
{
    const int64_t sizes[] = {2, 20, 70};
    for (int i = 0; i < 3; i++) {
        tn_ints square = TN_INTS(sizes[i], sizes[i]);
        for (tn_dtype dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
            if (!tn_dtype_in(dtype, TN_DTYPES_FLOATING | TN_DTYPES_COMPLEX))
                continue;
            tn_tensor *self = tn_full(square, NAN, .dtype = dtype),
                      *x = tn_ones(square, .dtype = dtype);
            tn_tensor *want = tn_full(square, 2.0 * (double)sizes[i], .dtype = dtype);
            same(tn_addmm(self, x, x, .beta = tn_scalar_int(0), .alpha = tn_scalar_int(2)), want,
                 "beta = 0");
            same(tn_addmm_(self, x, x, .beta = tn_scalar_int(0), .alpha = tn_scalar_int(2)), want,
                 "beta = 0, in place");
        }
    }
}

Test(cpu_matmul, threads_do_not_change_a_bit)
{
    tn_tensor *a =
        must(tn_sin(tn_reshape(tn_arange(700 * 400, .dtype = TN_F32), TN_INTS(700, 400))));
    tn_tensor *b =
        must(tn_cos(tn_reshape(tn_arange(400 * 600, .dtype = TN_F32), TN_INTS(400, 600))));
    for (tn_dtype dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
        if (!tn_dtype_in(dtype, TN_DTYPE_BIT(TN_F32) | TN_DTYPE_BIT(TN_F64)))
            continue;
        tn_tensor *x = tn__to_copy(a, .dtype = dtype), *y = tn__to_copy(b, .dtype = dtype);
        tn_set_num_threads(1);
        tn_tensor *one = must(tn_mm(x, y));
        tn_set_num_threads(3);
        tn_tensor *three = must(tn_mm(x, y));
        cr_assert_eq(memcmp(one->data, three->data, (size_t)one->numel * (dtype == TN_F32 ? 4 : 8)),
                     0);
    }
}

static void refused(tn_tensor *t, tn_status status)
{
    cr_assert_null(t);
    cr_assert_eq(tn_error_last()->status, status, "%s", tn_error_last()->message);
    tn_error_clear();
}

Test(cpu_matmul, refusals)
{
    tn_tensor *x = tn_ones(TN_INTS(3, 3));
    refused(tn_mm_out(x, tn_ones(TN_INTS(3, 3)), x), TN_ERR_OVERLAP);
    refused(tn_addmm_(x, x, tn_ones(TN_INTS(3, 3))), TN_ERR_OVERLAP);
    refused(tn_mm_out(x, x, tn_empty_memory_format(TN_INTS(3, 3), .dtype = TN_F64)), TN_ERR_DTYPE);
    refused(tn_addmm(x, x, x, .alpha = tn_scalar_complex(0, 1)), TN_ERR_DTYPE);
    tn_tensor *truth = tn_ones(TN_INTS(2, 2), .dtype = TN_BOOL);
    refused(tn_mm(truth, truth), TN_ERR_UNSUPPORTED);
    same(x, tn_ones(TN_INTS(3, 3)), "x");
}

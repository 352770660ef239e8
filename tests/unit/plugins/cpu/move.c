/* move.c - cat, masked_fill and arange on CPU: layouts, dtypes, what is refused. Indexing stands in
 * tests/cases. */
#include <math.h>
#include <string.h>

#include "cpu_test.h"

TestSuite(cpu_move, .init = begin, .fini = end);

static void expect(tn_tensor *t, tn_dtype dtype, int64_t n, const double *want)
{
    cr_assert_eq(must(t)->dtype, dtype);
    cr_assert_eq(t->numel, n);
    const double *got = must(tn__to_copy(t, .dtype = TN_F64, .memory_format = TN_CONTIGUOUS))->data;
    for (int64_t i = 0; i < n; i++)
        cr_assert_eq(got[i], want[i], "element %lld: %g, not %g", (long long)i, got[i], want[i]);
}

static void refused(tn_tensor *t, tn_status status)
{
    cr_assert_null(t);
    cr_assert_eq(tn_error_last()->status, status, "%s", tn_error_last()->message);
    tn_error_clear();
}

static tn_tensor *counting(tn_dtype dtype, int64_t rows, int64_t cols)
{
    return must(tn_reshape(tn_arange(rows * cols, .dtype = dtype), TN_INTS(rows, cols)));
}

static tn_tensor *identity(void)
{
    const bool mask[] = {true, false, false, true};
    const int64_t sizes[] = {2, 2};
    tn_tensor *t;
    cr_assert_eq(tn_tensor_from_data(mask, TN_BOOL, 2, sizes, &t), TN_OK);
    tn_tensor *out = must(tn_clone(t));
    tn_release(t);
    return out;
}

/* The same numbers along both dims, from dense and turned inputs, and cast to the common dtype. */
Test(cpu_move, cat)
{
    tn_tensor *a = counting(TN_I32, 2, 3), *b = counting(TN_F32, 2, 3),
              *turned = tn_t(tn_contiguous(tn_t(b)));
    const double down[] = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5},
                 across[] = {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5};
    expect(tn_cat(TN_TENSORS(a, b)), TN_F32, 12, down);
    expect(tn_cat(TN_TENSORS(b, b)), TN_F32, 12, down);
    expect(tn_cat(TN_TENSORS(turned, b), .dim = 1), TN_F32, 12, across);
    expect(tn_cat(TN_TENSORS(a, a), .dim = -1), TN_I32, 12, across);
    expect(
        tn_cat_out(TN_TENSORS(a, a), tn_empty_memory_format(TN_INTS(0), .dtype = TN_F64), .dim = 1),
        TN_F64, 12, across);
    tn_tensor *whole = counting(TN_F32, 4, 3);
    refused(tn_cat_out(TN_TENSORS(tn_narrow(whole, 0, 0, 2), b), whole), TN_ERR_OVERLAP);
    refused(tn_cat_out(TN_TENSORS(a, b), tn_empty_memory_format(TN_INTS(4, 3), .dtype = TN_I32)),
            TN_ERR_DTYPE);
}

Test(cpu_move, cat_out_is_none_of_the_inputs)
{
    tn_tensor *x = must(tn_empty_memory_format(TN_INTS(0))), *b = counting(TN_F32, 2, 3);
    refused(tn_cat_out(TN_TENSORS(x, b), x), TN_ERR_OVERLAP);
    cr_assert_eq(x->numel, 0);
    cr_assert_eq(x->ndim, 1);
    const double want[] = {0, 1, 2, 3, 4, 5};
    expect(tn_cat_out(TN_TENSORS(x, b), tn_empty_memory_format(TN_INTS(0))), TN_F32, 6, want);
}

/* One number however often a tensor shows it; what overlaps otherwise is still refused. */
Test(cpu_move, fill_of_expanded_tensors)
{
    tn_tensor *row = counting(TN_F32, 1, 3), *wide = must(tn_expand(row, TN_INTS(4, 3)));
    cr_assert_eq(must(tn_fill__Scalar(wide, 2)), wide);
    const double twos[] = {2, 2, 2}, zeros[] = {0, 0, 0};
    expect(row, TN_F32, 3, twos);
    must(tn_zero_(wide));
    expect(row, TN_F32, 3, zeros);
    refused(tn_fill__Scalar(tn_as_strided(row, TN_INTS(2, 2), TN_INTS(1, 1)), 1), TN_ERR_OVERLAP);
    tn_device meta = {TN_META, -1};
    tn_tensor *none = must(tn_empty_memory_format(TN_INTS(1, 3), .device = meta));
    must(tn_zero_(tn_expand(none, TN_INTS(4, 3))));
}

Test(cpu_move, masked_fill_of_every_dtype)
{
    for (tn_dtype dtype = TN_BOOL; dtype < TN_DTYPE_COUNT; dtype++) {
        tn_tensor *x = must(tn_zeros(TN_INTS(2, 2), .dtype = dtype)), *mask = identity();
        const double want[] = {1, 0, 0, 1};
        expect(tn_masked_fill_Scalar(x, mask, 1), dtype, 4, want);
        expect(tn_masked_fill(tn_t(x), mask, tn_scalar_tensor(1, .dtype = dtype)), dtype, 4, want);
        expect(tn_masked_fill__Scalar(x, mask, 1), dtype, 4, want);
        expect(x, dtype, 4, want);
    }
}

Test(cpu_move, masked_fill_refuses_values)
{
    tn_tensor *x = must(tn_zeros(TN_INTS(2, 2), .dtype = TN_U8)), *mask = identity();
    refused(tn_masked_fill_Scalar(x, mask, 256), TN_ERR_ARGUMENT);
    refused(tn_masked_fill_Scalar(x, mask, tn_scalar_complex(0, 1)), TN_ERR_DTYPE);
    refused(tn_masked_fill(x, mask, tn_ones(TN_INTS(1), .dtype = TN_U8)), TN_ERR_ARGUMENT);
    refused(tn_masked_fill(x, mask, tn_scalar_tensor(1.5)), TN_ERR_DTYPE);
    refused(tn_masked_fill_Scalar(x, x, 1), TN_ERR_DTYPE);
}

Test(cpu_move, arange_into_a_tensor)
{
    const double odd[] = {1, 3, 5}, down[] = {2, 1.5, 1, 0.5};
    tn_tensor *view = tn_narrow(tn_zeros(TN_INTS(3, 2), .dtype = TN_I16), 1, 0, 1);
    expect(tn_arange_start_out(1, 7, view, .step = tn_scalar_int(2)), TN_I16, 3, odd);
    tn_tensor *empty = must(tn_empty_memory_format(TN_INTS(0)));
    expect(tn_arange_start_out(2, 0, empty, .step = tn_scalar_float(-0.5)), TN_F32, 4, down);
    cr_assert_eq(empty->ndim, 1);
    refused(tn_arange_start_out(0, 3, view, .step = tn_scalar_int(0)), TN_ERR_ARGUMENT);
    refused(tn_arange_start_out(0, 3, view, .step = tn_scalar_int(-1)), TN_ERR_ARGUMENT);
    refused(tn_arange_start_out(0, INFINITY, view), TN_ERR_ARGUMENT);
    refused(tn_arange_start_out(0, 9, view), TN_ERR_ARGUMENT);
    expect(view, TN_I16, 3, odd);
}

/* search.c - searchsorted, bucketize, isin, unique on CPU: NaN, promotion, sorters, what is refused. */
#include <math.h>
#include <string.h>

#include "cpu_test.h"

TestSuite(cpu_search, .init = begin, .fini = end);

#define NUMBERS(dtype, ...)                                                                        \
    numbers(dtype, sizeof((const double[]){__VA_ARGS__}) / sizeof(double),                         \
            (const double[]){__VA_ARGS__})

static void expect(tn_tensor *t, int64_t n, const int64_t *want)
{
    cr_assert_not_null(t, "%s", tn_error_last()->message);
    cr_assert_eq(t->dtype, TN_I64);
    cr_assert_eq(t->numel, n);
    for (int64_t i = 0; i < n; i++)
        cr_assert_eq(((const int64_t *)t->data)[i], want[i], "[%lld] is %lld", (long long)i,
                     (long long)((const int64_t *)t->data)[i]);
}
#define EXPECT(t, ...)                                                                             \
    expect(t, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                            \
           (const int64_t[]){__VA_ARGS__})

static void refused(tn_tensor *t, tn_status status, const char *message)
{
    cr_assert_null(t);
    cr_assert_eq(tn_error_last()->status, status, "%s", tn_error_last()->message);
    cr_assert_str_eq(tn_error_last()->message, message);
    tn_error_clear();
}

Test(cpu_search, nan_goes_behind_every_number)
{
    tn_tensor *sequence = NUMBERS(TN_F32, 1, 3, NAN), *values = NUMBERS(TN_F32, 2, NAN, 4, 1);
    EXPECT(tn_searchsorted_Tensor(sequence, values), 1, 2, 2, 0);
    EXPECT(tn_searchsorted_Tensor(sequence, values, .right = true), 1, 3, 2, 1);
}

Test(cpu_search, operands_are_promoted_and_numbers_are_weak)
{
    tn_tensor *whole = NUMBERS(TN_I64, 1, 2, 3), *halves = NUMBERS(TN_F16, 0.5, 2.5);
    EXPECT(tn_bucketize_Tensor(halves, whole), 0, 2);
    EXPECT(tn_searchsorted_Scalar(whole, tn_scalar_float(2.5)), 2);
    EXPECT(tn_searchsorted_Scalar(whole, tn_scalar_int(2), .right = true), 2);
    EXPECT(tn_bucketize_Scalar(tn_scalar_int(9), whole), 3);
}

Test(cpu_search, a_sorter_says_the_order)
{
    tn_tensor *sequence = NUMBERS(TN_F64, 30, 10, 20), *values = NUMBERS(TN_F64, 15, 30);
    EXPECT(tn_searchsorted_Tensor(sequence, values, .sorter = NUMBERS(TN_I64, 1, 2, 0)), 1, 2);
    refused(tn_searchsorted_Tensor(sequence, values, .sorter = NUMBERS(TN_I64, 1, 2, 3)),
            TN_ERR_INDEX, "sorter is 3 at position 2; sorted_sequence takes 0 to 2 there");
    refused(tn_searchsorted_Tensor(sequence, values, .sorter = NUMBERS(TN_I32, 1, 2, 0)),
            TN_ERR_DTYPE, "sorter must be int64, got int32");
    refused(tn_searchsorted_Tensor(sequence, values, .sorter = NUMBERS(TN_I64, 1, 0)),
            TN_ERR_ARGUMENT, "sorter has shape [2]; expected sorted_sequence's [3]");
}

Test(cpu_search, refusals)
{
    tn_tensor *row = NUMBERS(TN_F32, 1, 2), *rows = tn_zeros(TN_INTS(3, 2));
    refused(
        tn_searchsorted_Tensor(rows, row), TN_ERR_ARGUMENT,
        "sorted_sequence of shape [3, 2] needs one dimension, or those of self of shape [2] but "
        "for the last");
    refused(tn_searchsorted_Tensor(row, row, .right = true, .side = "left"), TN_ERR_ARGUMENT,
            "side is 'left', but right is true; give one of them");
    refused(tn_searchsorted_Tensor(row, row, .side = "middle"), TN_ERR_ARGUMENT,
            "side is 'middle'; it may be 'left' or 'right'");
    refused(tn_bucketize_Tensor(row, rows), TN_ERR_ARGUMENT,
            "boundaries must have one dimension, got shape [3, 2]");
}

Test(cpu_search, nan_is_in_nothing)
{
    tn_tensor *x = NUMBERS(TN_F32, 1, NAN, -0.0, 7), *among = NUMBERS(TN_F32, NAN, 0, 1);
    tn_tensor *found = tn_isin_Tensor_Tensor(x, among);
    cr_assert_not_null(found, "%s", tn_error_last()->message);
    cr_assert_arr_eq(found->data, ((const bool[]){true, false, true, false}), 4);
    found = tn_isin_Tensor_Scalar(x, tn_scalar_int(7), .invert = true);
    cr_assert_not_null(found, "%s", tn_error_last()->message);
    cr_assert_arr_eq(found->data, ((const bool[]){true, true, true, false}), 4);
}

Test(cpu_search, unique_counts_and_places)
{
    tn_tensor *x = NUMBERS(TN_F32, 3, NAN, 1, 3, NAN), *values, *inverse, *counts;
    cr_assert_eq(tn_call__unique2(x, true, true, true, &values, &inverse, &counts), TN_OK);
    EXPECT(inverse, 1, 2, 0, 1, 3);
    EXPECT(counts, 1, 2, 1, 1);
    cr_assert(isnan(((const float *)values->data)[3]));
    tn_release(values);
    tn_release(inverse);
    tn_release(counts);
    tn_opt_int first = {0, 1};
    tn_tensor *rows = tn_reshape(NUMBERS(TN_I32, 1, 2, 1, 2, 3, 2), TN_INTS(3, 2));
    cr_assert_eq(tn_call_unique_consecutive(rows, true, true, first, &values, &inverse, &counts),
                 TN_OK);
    cr_assert_eq(values->ndim, 2);
    cr_assert_eq(values->sizes[0], 2);
    EXPECT(inverse, 0, 0, 1);
    EXPECT(counts, 2, 1);
    tn_release(values);
    tn_release(inverse);
    tn_release(counts);
}

/* On meta nobody knows how many there are. */
Test(cpu_search, unique_without_data_is_refused)
{
    tn_tensor *x = tn_zeros(TN_INTS(3), .device = (tn_device){TN_META, -1}), *r[3] = {NULL};
    cr_assert_eq(tn_call__unique2(x, true, true, true, &r[0], &r[1], &r[2]), TN_ERR_UNSUPPORTED);
    cr_assert_not_null(strstr(tn_error_last()->message, "data-dependent"));
}

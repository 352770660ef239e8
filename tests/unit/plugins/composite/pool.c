/* pool.c - pooling and borders where the definition is delicate: NaN, equal elements, windows that hang
 * over, integers, gradients of elements that are taken several times. */
#include "cases/case_test.h"

#include <tenon/autograd.h>

TestSuite(pooling, .init = case_begin, .fini = case_end, .timeout = 60);

static tn_tensor *row(tn_dtype dtype, int64_t n, const double *values)
{
    return case_tensor(dtype, TN_INTS(1, n), values);
}
#define ROW(dtype, n, ...) row(dtype, n, CASE_VALUES(__VA_ARGS__))

static void expect_max(tn_tensor *x, tn_ints kernel, tn_ints padding, int64_t n,
                       const double *values, const double *places)
{
    tn_tensor *top, *at;
    cr_assert_eq(tn_call_max_pool1d_with_indices(x, kernel, TN_INTS(1), padding, TN_INTS(1), false,
                                                 &top, &at),
                 TN_OK, "%s", tn_error_last()->message);
    case_expect_(__LINE__, top, x->dtype, TN_INTS(1, n), values);
    case_expect_(__LINE__, at, TN_I64, TN_INTS(1, n), places);
    tn_release(top);
    tn_release(at);
}

Test(pooling, the_first_of_equal_elements_and_nan)
{
    expect_max(ROW(TN_F32, 4, 2, 2, 1, 2), TN_INTS(2), TN_INTS(0), 3, CASE_VALUES(2, 2, 2),
               CASE_VALUES(0, 1, 3));
    expect_max(ROW(TN_F64, 3, 1, NAN, 3), TN_INTS(2), TN_INTS(0), 2, CASE_VALUES(NAN, NAN),
               CASE_VALUES(1, 1));
    expect_max(ROW(TN_F64, 2, -INFINITY, -INFINITY), TN_INTS(2), TN_INTS(1), 3,
               CASE_VALUES(-INFINITY, -INFINITY, -INFINITY), CASE_VALUES(0, 0, 1));
}

Test(pooling, gradients_add_up_where_windows_overlap)
{
    tn_tensor *x = ROW(TN_F64, 4, 1, 5, 2, 3), *y = ROW(TN_F64, 4, 1, 2, 3, 4);
    cr_assert_eq(tn_set_requires_grad(x, true), TN_OK);
    cr_assert_eq(tn_set_requires_grad(y, true), TN_OK);
    tn_tensor *top = tn_max_pool1d(x, TN_INTS(2), .stride = TN_INTS(1));
    cr_assert_eq(tn_backward_from(tn_sum(top)), TN_OK, "%s", tn_error_last()->message);
    CASE_EXPECT(tn_grad(x), TN_F64, TN_INTS(1, 4), 0, 2, 0, 1);
    tn_tensor *mean = tn_avg_pool1d(y, TN_INTS(2), .stride = TN_INTS(1));
    cr_assert_eq(tn_backward_from(tn_sum(mean)), TN_OK, "%s", tn_error_last()->message);
    CASE_EXPECT(tn_grad(y), TN_F64, TN_INTS(1, 4), 0.5, 1, 1, 0.5);
}

Test(pooling, what_a_mean_divides_by)
{
    tn_tensor *x = ROW(TN_F32, 3, 2, 4, 9);
    CASE_EXPECT(tn_avg_pool1d(x, TN_INTS(2), .padding = TN_INTS(1)), TN_F32, TN_INTS(1, 2), 1, 6.5);
    CASE_EXPECT(tn_avg_pool1d(x, TN_INTS(2), .padding = TN_INTS(1), .count_include_pad = false),
                TN_F32, TN_INTS(1, 2), 2, 6.5);
    CASE_EXPECT(tn_avg_pool1d(x, TN_INTS(2), .ceil_mode = true), TN_F32, TN_INTS(1, 2), 3, 9);
    CASE_EXPECT(tn_avg_pool1d(ROW(TN_I64, 2, -3, -4), TN_INTS(2)), TN_I64, TN_INTS(1, 1), -3);
    CASE_EXPECT(tn_adaptive_avg_pool1d(x, TN_INTS(2)), TN_F32, TN_INTS(1, 2), 3, 6.5);
}

Test(pooling, refused)
{
    tn_tensor *x = ROW(TN_F32, 3, 2, 4, 9),
              *flat = case_tensor(TN_F32, TN_INTS(2), CASE_VALUES(1, 2));
    CASE_FAILS(tn_avg_pool1d(x, TN_INTS(4)), "window of 4");
    CASE_FAILS(tn_avg_pool1d(x, TN_INTS(0)), "kernel_size");
    CASE_FAILS(tn_avg_pool1d(x, TN_INTS(2), .stride = TN_INTS(0)), "stride");
    CASE_FAILS(tn_avg_pool1d(x, TN_INTS(2), .padding = TN_INTS(2)), "half");
    CASE_FAILS(tn_avg_pool1d(x, TN_INTS(2, 2)), "kernel_size");
    CASE_FAILS(tn_max_pool1d(flat, TN_INTS(2)), "dimensions");
    CASE_FAILS(tn_max_pool1d(ROW(TN_F32, 1, 5), TN_INTS(2), .stride = TN_INTS(1),
                             .padding = TN_INTS(1), .dilation = TN_INTS(2)),
               "beyond the border");
    CASE_FAILS(tn_adaptive_avg_pool1d(x, TN_INTS(-1)), "output_size");
}

TestSuite(borders, .init = case_begin, .fini = case_end, .timeout = 60);

Test(borders, of_every_kind)
{
    tn_tensor *x = ROW(TN_F32, 3, 1, 2, 3);
    CASE_EXPECT(tn_pad(x, TN_INTS(1, 2), .value = {7, 1}), TN_F32, TN_INTS(1, 6), 7, 1, 2, 3, 7, 7);
    CASE_EXPECT(tn_pad(x, TN_INTS(2, 1), .mode = "reflect"), TN_F32, TN_INTS(1, 6), 3, 2, 1, 2, 3,
                2);
    CASE_EXPECT(tn_pad(x, TN_INTS(1, 2), .mode = "replicate"), TN_F32, TN_INTS(1, 6), 1, 1, 2, 3, 3,
                3);
    CASE_EXPECT(tn_pad(x, TN_INTS(2, 1), .mode = "circular"), TN_F32, TN_INTS(1, 6), 2, 3, 1, 2, 3,
                1);
    CASE_EXPECT(tn_pad(x, TN_INTS(-1, 1)), TN_F32, TN_INTS(1, 3), 2, 3, 0);
}

Test(borders, gradients_come_back_from_the_border)
{
    tn_tensor *x = ROW(TN_F64, 3, 1, 2, 3);
    cr_assert_eq(tn_set_requires_grad(x, true), TN_OK);
    cr_assert_eq(tn_backward_from(tn_sum(tn_replication_pad1d(x, TN_INTS(2, 1)))), TN_OK);
    CASE_EXPECT(tn_grad(x), TN_F64, TN_INTS(1, 3), 3, 1, 2);
    cr_assert_eq(tn_set_grad(x, NULL), TN_OK);
    cr_assert_eq(tn_backward_from(tn_sum(tn_constant_pad_nd(x, TN_INTS(-1, 4)))), TN_OK);
    CASE_EXPECT(tn_grad(x), TN_F64, TN_INTS(1, 3), 0, 1, 1);
}

Test(borders, refused)
{
    tn_tensor *x = ROW(TN_F32, 3, 1, 2, 3);
    CASE_FAILS(tn_pad(x, TN_INTS(3, 0), .mode = "reflect"), "too wide");
    CASE_FAILS(tn_pad(x, TN_INTS(4, 0), .mode = "circular"), "too wide");
    CASE_FAILS(tn_pad(x, TN_INTS(1, 0), .mode = "mirror"), "mirror");
    CASE_FAILS(tn_pad(x, TN_INTS(1, 0), .mode = "reflect", .value = {1, 1}), "value");
    CASE_FAILS(tn_pad(x, TN_INTS(1)), "two numbers");
    CASE_FAILS(tn_pad(x, TN_INTS(-2, -2)), "negative size");
    CASE_FAILS(tn_replication_pad1d(x, TN_INTS(-4, 9)), "nothing");
    CASE_FAILS(tn_constant_pad_nd(x, TN_INTS(INT64_MAX, 1)), "overflow");
    CASE_FAILS(tn_replication_pad1d(x, TN_INTS(INT64_MAX, INT64_MAX)), "too wide");
}

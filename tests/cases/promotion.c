/* promotion.c - the case bank's promotion area (BB-promo-*), as far as its operators exist. */
#define _GNU_SOURCE
#include "case_test.h"

TestSuite(promotion, .init = case_begin, .fini = case_end, .timeout = 30);

static const tn_ints scalar_shape = {NULL, 0};

Test(promotion, BB_promo_02)
{
    tn_tensor *f1 = case_tensor(TN_F32, TN_INTS(1), CASE_VALUES(1)),
              *f0 = case_tensor(TN_F32, scalar_shape, CASE_VALUES(1));
    CASE_EXPECT(tn_add_Scalar(f1, 1.0), TN_F32, TN_INTS(1), 2);
    CASE_EXPECT(tn_add_Scalar(f0, 1.0), TN_F32, scalar_shape, 2);
    CASE_EXPECT(tn_add_Scalar(case_tensor(TN_I64, scalar_shape, CASE_VALUES(1)), 2.5), TN_F32,
                scalar_shape, 3.5);
    CASE_EXPECT(tn_div_Scalar(case_tensor(TN_I32, TN_INTS(2), CASE_VALUES(1, 4)), 2), TN_F32,
                TN_INTS(2), 0.5, 2);
    CASE_EXPECT(tn_add_Scalar(case_tensor(TN_U8, TN_INTS(1), CASE_VALUES(200)), 100), TN_U8,
                TN_INTS(1), 44);
    CASE_EXPECT(tn_add_Scalar(case_tensor(TN_U8, TN_INTS(1), CASE_VALUES(0)), -1), TN_U8,
                TN_INTS(1), 255);
    CASE_EXPECT(tn_mul_Scalar(case_tensor(TN_F16, TN_INTS(1), CASE_VALUES(1)), 1e6), TN_F16,
                TN_INTS(1), INFINITY);
    CASE_EXPECT(tn_mul_Scalar(case_tensor(TN_BOOL, TN_INTS(1), CASE_VALUES(1)), 1.5), TN_F32,
                TN_INTS(1), 1.5);
}

Test(promotion, BB_promo_03)
{
    tn_tensor *i64 = case_tensor(TN_I64, TN_INTS(2), CASE_VALUES(1, 2));
    CASE_EXPECT(tn_clamp_min(i64, 1.5), TN_F32, TN_INTS(2), 1.5, 2);
    CASE_EXPECT(tn_maximum(i64, case_tensor(TN_F32, TN_INTS(2), CASE_VALUES(1.5, 0.5))), TN_F32,
                TN_INTS(2), 1.5, 2);
    tn_tensor *low = case_tensor(TN_F32, scalar_shape, CASE_VALUES(1.5)),
              *high = case_tensor(TN_F64, scalar_shape, CASE_VALUES(4.5));
    tn_tensor *i32 = case_tensor(TN_I32, TN_INTS(2), CASE_VALUES(1, 5));
    CASE_EXPECT(tn_clamp_Tensor(i32, .min = low, .max = high), TN_F64, TN_INTS(2), 1.5, 4.5);
}

Test(promotion, BB_promo_04)
{
    tn_tensor *empty = tn_zeros(TN_INTS(0)), *ones = tn_ones(TN_INTS(2, 3));
    CASE_EXPECT(tn_cat(TN_TENSORS(empty, tn_zeros(TN_INTS(5), .dtype = TN_I64)), .dim = 0), TN_F32,
                TN_INTS(5), 0, 0, 0, 0, 0);
    CASE_EXPECT(tn_cat(TN_TENSORS(empty, ones), .dim = 1), TN_F32, TN_INTS(2, 3), 1, 1, 1, 1, 1, 1);
    CASE_EXPECT(tn_cat(TN_TENSORS(ones, empty), .dim = 1), TN_F32, TN_INTS(2, 3), 1, 1, 1, 1, 1, 1);
    CASE_FAILS(tn_cat(TN_TENSORS(empty, empty), .dim = 999), "999");
    CASE_FAILS(tn_cat(((tn_tensors){NULL, 0})), "non-empty");
    tn_tensor *four = tn_zeros(TN_INTS(0, 4)), *joined = tn_cat(TN_TENSORS(four, ones), .dim = 0);
    cr_assert_null(joined);
    cr_assert_not_null(strstr(tn_error_last()->message, "dim 1"), "%s", tn_error_last()->message);
    cr_assert_not_null(strstr(tn_error_last()->message, "4"), "%s", tn_error_last()->message);
    CASE_FAILS(joined, "3");
}

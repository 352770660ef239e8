/* arithmetic.c - the case bank's cases of the tensor area that are about integer arithmetic
 * (BB-ten-04, BB-ten-06). */
#define _GNU_SOURCE
#include "case_test.h"

TestSuite(arithmetic, .init = case_begin, .fini = case_end, .timeout = 30);

Test(arithmetic, BB_ten_04)
{
    tn_tensor *a = case_tensor(TN_I64, TN_INTS(3), CASE_VALUES(5, -5, 0));
    tn_tensor *divisors[] = {case_tensor(TN_I64, TN_INTS(3), CASE_VALUES(0, 0, 0)),
                             tn_scalar_tensor(0, .dtype = TN_I64),
                             case_tensor(TN_I64, TN_INTS(1), CASE_VALUES(0)),
                             case_tensor(TN_I64, TN_INTS(3), CASE_VALUES(1, 1, 0))};
    for (int i = 0; i < 4; i++) {
        tn_tensor *b = divisors[i];
        CASE_FAILS(tn_floor_divide(a, b), "zero");
        CASE_FAILS(tn_remainder(a, b), "zero");
        CASE_FAILS(tn_fmod(a, b), "zero");
        CASE_FAILS(tn_div_Tensor_mode(a, b, "floor"), "zero");
        CASE_FAILS(tn_div_Tensor_mode(a, b, "trunc"), "zero");
        CASE_FAILS(tn_floor_divide_(a, b), "zero");
    }
    CASE_EXPECT(a, TN_I64, TN_INTS(3), 5, -5, 0);
    tn_tensor *f = case_tensor(TN_F32, TN_INTS(3), CASE_VALUES(5, -5, 0));
    CASE_EXPECT(tn_div(f, tn_scalar_tensor(0.0)), TN_F32, TN_INTS(3), INFINITY, -INFINITY, NAN);
    CASE_EXPECT(tn_div_Scalar(f, 0.0), TN_F32, TN_INTS(3), INFINITY, -INFINITY, NAN);
    CASE_EXPECT(tn_floor_divide(f, tn_scalar_tensor(0.0)), TN_F32, TN_INTS(3), INFINITY, -INFINITY,
                NAN);
    /* 256 is zero in the dtype that divides; where nothing is divided zero does no harm. */
    CASE_FAILS(tn_floor_divide(case_tensor(TN_U8, TN_INTS(1), CASE_VALUES(7)),
                               tn_scalar_tensor(256, .dtype = TN_I64)),
               "zero");
    tn_tensor *none = tn_zeros(TN_INTS(0), .dtype = TN_I64);
    cr_assert_not_null(tn_floor_divide(none, tn_scalar_tensor(0, .dtype = TN_I64)), "%s",
                       tn_error_last()->message);
}

Test(arithmetic, BB_ten_06)
{
    tn_tensor *a = case_tensor(TN_I8, TN_INTS(1), CASE_VALUES(100)),
              *b = case_tensor(TN_I8, TN_INTS(1), CASE_VALUES(100));
    CASE_EXPECT(
        tn_floor_divide(tn_add(a, b), case_tensor(TN_I8, CASE_SCALAR_SHAPE, CASE_VALUES(2))), TN_I8,
        TN_INTS(1), -28);
    CASE_EXPECT(tn_sub(tn_mul_Scalar(a, 6), tn_mul_Scalar(b, 5)), TN_I8, TN_INTS(1), 100);
    CASE_EXPECT(tn_add_Scalar(case_tensor(TN_U8, TN_INTS(1), CASE_VALUES(200)), 100), TN_U8,
                TN_INTS(1), 44);
    CASE_EXPECT(tn_sub_Scalar(case_tensor(TN_U8, TN_INTS(1), CASE_VALUES(5)), 6), TN_U8, TN_INTS(1),
                255);
}

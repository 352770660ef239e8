/* iterator.c - the case bank's iterator area (BB-iter-*), as far as its operators exist. */
#define _GNU_SOURCE
#include "case_test.h"

TestSuite(iterator, .init = case_begin, .fini = case_end, .timeout = 30);

static const tn_ints scalar_shape = {NULL, 0};

/* Our answer is the error: a broadcast input may not lie in the output. */
Test(iterator, BB_iter_02)
{
    tn_tensor *a = case_tensor(TN_F32, TN_INTS(2, 3), CASE_VALUES(5, 7, 9, 2, 4, 8));
    CASE_FAILS(tn_sub_(a, tn_narrow(a, 1, 0, 1)), "shares part of its memory");
    CASE_FAILS(tn_mul_(a, tn_narrow(a, 0, 0, 1)), "shares part of its memory");
    CASE_EXPECT(a, TN_F32, TN_INTS(2, 3), 5, 7, 9, 2, 4, 8);
    for (int n = 16; n <= 17; n++) {
        tn_tensor *ones = tn_ones(TN_INTS(2, n));
        CASE_FAILS(tn_sub_(ones, tn_narrow(ones, 1, 0, 1)), "shares part of its memory");
        CASE_EXPECT(tn_sum(ones), TN_F32, scalar_shape, 2 * n);
    }
}

Test(iterator, BB_iter_03)
{
    tn_tensor *b = tn_zeros(TN_INTS(3, 2)), *y = tn_narrow(b, 1, 0, 1),
              *threes = tn_full(TN_INTS(3, 1), 3.0);
    cr_assert_not_null(tn_cat_out(TN_TENSORS(threes), y, .dim = 1), "%s", tn_error_last()->message);
    CASE_EXPECT(b, TN_F32, TN_INTS(3, 2), 3, 0, 3, 0, 3, 0);
    cr_assert(y->strides[0] == 2 && y->strides[1] == 1);
    cr_assert_not_null(tn_fill__Scalar(y, 7), "%s", tn_error_last()->message);
    CASE_EXPECT(b, TN_F32, TN_INTS(3, 2), 7, 0, 7, 0, 7, 0);
}

Test(iterator, BB_iter_05)
{
    tn_tensor *base = tn_zeros(TN_INTS(1)), *e = tn_expand(base, TN_INTS(10));
    CASE_FAILS(tn_arange_start_out(0, 10, e), "clone");
    CASE_FAILS(tn_copy_(e, tn_arange(10, .dtype = TN_F32)), "clone");
    CASE_FAILS(tn_cos_out(tn_ones(TN_INTS(10)), e), "clone");
    CASE_FAILS(tn_cos_(e), "clone");
    tn_tensor *one = tn_ones(TN_INTS(1, 1));
    CASE_FAILS(tn_add__Scalar(tn_expand(one, TN_INTS(3, 4)), 1), "clone");
    CASE_EXPECT(base, TN_F32, TN_INTS(1), 0);
    CASE_EXPECT(one, TN_F32, TN_INTS(1, 1), 1);
}

Test(iterator, BB_iter_06)
{
    tn_tensor *x = case_tensor(TN_F32, TN_INTS(2, 2), CASE_VALUES(1, 2, 3, 4)),
              *wide = tn_expand(x, TN_INTS(2, 2, 2));
    tn_tensor *mask = case_tensor(TN_BOOL, TN_INTS(2, 1, 2), CASE_VALUES(1, 0, 0, 1));
    CASE_FAILS(tn_masked_fill__Scalar(wide, mask, 0), "share one memory location");
    tn_tensor *first = case_tensor(TN_I64, TN_INTS(1), CASE_VALUES(0)),
              *places = tn_zeros(TN_INTS(1, 2, 2), .dtype = TN_I64);
    CASE_FAILS(tn_index_fill__int_Scalar(wide, 0, first, 0), "share one memory location");
    CASE_FAILS(tn_scatter__value(wide, 0, places, 0), "share one memory location");
    CASE_FAILS(tn_index_put_(wide, TN_TENSORS(first), tn_zeros(TN_INTS(1, 2, 2))),
               "share one memory location");
    CASE_EXPECT(x, TN_F32, TN_INTS(2, 2), 1, 2, 3, 4);
    CASE_EXPECT(tn_masked_fill_Scalar(wide, mask, 0), TN_F32, TN_INTS(2, 2, 2), 0, 2, 0, 4, 1, 0, 3,
                0);
    cr_assert_not_null(tn_fill__Scalar(tn_select_int(wide, 0, 0), 5), "%s",
                       tn_error_last()->message);
    CASE_EXPECT(x, TN_F32, TN_INTS(2, 2), 5, 5, 5, 5);
}

Test(iterator, BB_iter_07)
{
    tn_tensor *out = case_tensor(TN_I64, TN_INTS(1), CASE_VALUES(9)),
              *out0 = case_tensor(TN_I64, scalar_shape, CASE_VALUES(9));
    CASE_EXPECT(tn_pow_Scalar_out(2, case_tensor(TN_U8, TN_INTS(1), CASE_VALUES(17)), out), TN_I64,
                TN_INTS(1), 0);
    CASE_EXPECT(tn_pow_Scalar_out(2, case_tensor(TN_U8, scalar_shape, CASE_VALUES(17)), out0),
                TN_I64, scalar_shape, 0);
    tn_tensor *f = case_tensor(TN_F32, TN_INTS(1), CASE_VALUES(1.5)),
              *g = case_tensor(TN_F32, TN_INTS(1), CASE_VALUES(1));
    CASE_FAILS(tn_add_out(f, g, out), "cast");
    tn_tensor *big = case_tensor(TN_I32, TN_INTS(1), CASE_VALUES(2147483647)),
              *one = case_tensor(TN_I32, TN_INTS(1), CASE_VALUES(1));
    CASE_EXPECT(tn_add_out(big, one, out), TN_I64, TN_INTS(1), -2147483648.0);
}

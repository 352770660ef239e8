/* indexing.c - the case bank's indexing area (BB-idx-*). x[a, :, b] is tn_index(x, TN_TENSORS(a, NULL,
 * b)) in C. */
#define _GNU_SOURCE
#include "case_test.h"

TestSuite(indexing, .init = case_begin, .fini = case_end, .timeout = 30);

Test(indexing, BB_idx_08)
{
    tn_tensor *a = tn_zeros(TN_INTS(0)), *b = tn_zeros(TN_INTS(0)),
              *square = tn_ones(TN_INTS(2, 2));
    CASE_FAILS(tn_cat(TN_TENSORS(a, b), .dim = 5), "5");
    CASE_FAILS(tn_stack(((tn_tensors){NULL, 0}), .dim = 0), "tensors");
    CASE_FAILS(tn_stack(TN_TENSORS(a, b), .dim = 3), "3");
    CASE_FAILS(tn_cat(TN_TENSORS(square, square), .dim = -3), "-3");
    CASE_FAILS(tn_squeeze_dim(tn_ones(TN_INTS(1)), 4), "4");
    CASE_FAILS(tn_cumsum(a, 9), "9");
    tn_tensors parts = {NULL, 0};
    cr_assert_neq(tn_call_split_Tensor(tn_zeros(TN_INTS(0, 2)), 1, 7, &parts), TN_OK);
    cr_assert_not_null(strstr(tn_error_last()->message, "7"), "%s", tn_error_last()->message);
    tn_tensor *values = NULL, *indices = NULL;
    cr_assert_eq(tn_call_topk(a, 1, -1, true, true, &values, &indices), TN_ERR_INDEX);
    cr_assert_str_eq(tn_error_last()->message, "k is 1; dim 0 of 0 elements takes 0 to 0");
}

/* A source that is what is written counts as it was before the call; one that shares a part of its
 * memory is refused. */
Test(indexing, BB_idx_01)
{
    const double ones[] = {1, 1, 1, 1};
    tn_tensor *all = case_tensor(TN_I64, TN_INTS(4), CASE_VALUES(1, 1, 2, 0)),
              *two = case_tensor(TN_I64, TN_INTS(2), CASE_VALUES(0, 1));
    tn_tensor *a = case_tensor(TN_F32, TN_INTS(4), ones);
    CASE_EXPECT(tn_index_add_(a, 0, all, a), TN_F32, TN_INTS(4), 2, 3, 2, 1);
    a = case_tensor(TN_F32, TN_INTS(4), ones);
    CASE_EXPECT(tn_scatter_add_(a, 0, all, a), TN_F32, TN_INTS(4), 2, 3, 2, 1);
    a = case_tensor(TN_F32, TN_INTS(4), CASE_VALUES(1, 2, 3, 4));
    CASE_FAILS(tn_index_add_(a, 0, two, tn_narrow(a, 0, 1, 2)), "memory");
    CASE_FAILS(tn_scatter_add_(a, 0, two, tn_narrow(a, 0, 1, 2)), "memory");
    CASE_EXPECT(a, TN_F32, TN_INTS(4), 1, 2, 3, 4);
}

/* What it says of CUDA is tested where there is a device. */
Test(indexing, BB_idx_04)
{
    tn_tensor *x = tn_reshape(tn_arange_start(1, 61, .dtype = TN_I64), TN_INTS(5, 4, 3));
    tn_tensor *rows = case_tensor(TN_I64, TN_INTS(2, 2), CASE_VALUES(0, 2, 1, 3)),
              *values = case_tensor(TN_I64, TN_INTS(3), CASE_VALUES(100, 200, 300));
    tn_tensor *sum = tn_index_put(x, TN_TENSORS(rows), values, .accumulate = true),
              *set = tn_index_put(x, TN_TENSORS(rows), values);
    CASE_EXPECT(tn_select_int(tn_select_int(sum, 0, 0), 0, 0), TN_I64, TN_INTS(3), 101, 202, 303);
    CASE_EXPECT(tn_select_int(tn_select_int(sum, 0, 1), 0, 0), TN_I64, TN_INTS(3), 113, 214, 315);
    CASE_EXPECT(tn_select_int(tn_select_int(sum, 0, 2), 0, 0), TN_I64, TN_INTS(3), 125, 226, 327);
    CASE_EXPECT(tn_select_int(tn_select_int(sum, 0, 3), 0, 0), TN_I64, TN_INTS(3), 137, 238, 339);
    CASE_EXPECT(tn_select_int(tn_select_int(sum, 0, 4), 0, 0), TN_I64, TN_INTS(3), 49, 50, 51);
    tn_tensor *wide = tn_expand(values, TN_INTS(4, 4, 3));
    CASE_EXPECT(
        tn_sum(tn_ne(tn_sub(sum, x), tn_index_put(tn_zeros_like(x), TN_TENSORS(rows), values))),
        TN_I64, CASE_SCALAR_SHAPE, 0);
    CASE_EXPECT(tn_sum(tn_ne(tn_narrow(set, 0, 0, 4), wide)), TN_I64, CASE_SCALAR_SHAPE, 0);
    CASE_EXPECT(tn_select_int(tn_select_int(set, 0, 4), 0, 3), TN_I64, TN_INTS(3), 58, 59, 60);
}

Test(indexing, BB_idx_09)
{
    tn_tensor *x = tn_reshape(tn_arange(6), TN_INTS(2, 3)), *three = tn_arange(3);
    tn_tensor *odd = case_tensor(TN_BOOL, TN_INTS(3), CASE_VALUES(1, 0, 1)),
              *second = case_tensor(TN_BOOL, TN_INTS(2), CASE_VALUES(0, 1)),
              *none = case_tensor(TN_BOOL, TN_INTS(3), CASE_VALUES(0, 0, 0)),
              *yes = case_tensor(TN_BOOL, CASE_SCALAR_SHAPE, CASE_VALUES(1)),
              *no = case_tensor(TN_BOOL, CASE_SCALAR_SHAPE, CASE_VALUES(0));
    CASE_FAILS(tn_index(x, TN_TENSORS(odd)), "mask size 3, but size 2 in dim 0");
    CASE_EXPECT(tn_index(x, TN_TENSORS(second)), TN_I64, TN_INTS(1, 3), 3, 4, 5);
    CASE_EXPECT(tn_index(x, TN_TENSORS(NULL, none)), TN_I64, TN_INTS(2, 0), 0);
    CASE_EXPECT(tn_index(three, TN_TENSORS(yes)), TN_I64, TN_INTS(1, 3), 0, 1, 2);
    CASE_EXPECT(tn_index(three, TN_TENSORS(no)), TN_I64, TN_INTS(0, 3), 0);

    tn_tensor *mask = case_tensor(TN_BOOL, TN_INTS(2, 3), CASE_VALUES(1, 0, 1, 0, 1, 0));
    CASE_EXPECT(tn_masked_fill_Scalar(x, mask, 9), TN_I64, TN_INTS(2, 3), 9, 1, 9, 3, 9, 5);
    CASE_EXPECT(tn_index_put(x, TN_TENSORS(mask), tn_scalar_tensor(9, .dtype = TN_I32)), TN_I64,
                TN_INTS(2, 3), 9, 1, 9, 3, 9, 5);
    CASE_EXPECT(tn_index_put(x, TN_TENSORS(mask), tn_add(three, tn_ones_like(three))), TN_I64,
                TN_INTS(2, 3), 1, 1, 2, 3, 3, 5);
    tn_tensor *two = case_tensor(TN_I64, TN_INTS(2), CASE_VALUES(7, 8));
    CASE_FAILS(tn_index_put_(x, TN_TENSORS(mask), two), "[2] cannot be broadcast to [3]");
    CASE_EXPECT(tn_index(x, TN_TENSORS(mask)), TN_I64, TN_INTS(3), 0, 2, 4);
    CASE_EXPECT(tn_masked_select(x, odd), TN_I64, TN_INTS(4), 0, 2, 3, 5);

    /* docs/indexing.md: in a list u8 is a mask; masked_select takes bool alone. */
    tn_tensor *bytes = case_tensor(TN_U8, TN_INTS(2), CASE_VALUES(0, 1));
    CASE_EXPECT(tn_index(x, TN_TENSORS(bytes)), TN_I64, TN_INTS(1, 3), 3, 4, 5);
    CASE_FAILS(tn_masked_select(x, case_tensor(TN_U8, TN_INTS(3), CASE_VALUES(1, 0, 1))), "uint8");
    tn_tensor *meta = tn_zeros(TN_INTS(2, 3), .dtype = TN_BOOL, .device = {TN_META, -1});
    CASE_FAILS(tn_index(x, TN_TENSORS(meta)), "device");
    CASE_FAILS(tn_index_put(x, TN_TENSORS(meta), two), "device");
    CASE_FAILS(tn_masked_select(x, meta), "device");
    CASE_FAILS(tn_masked_scatter_(x, mask, two), "2 elements, but 3");
    CASE_EXPECT(x, TN_I64, TN_INTS(2, 3), 0, 1, 2, 3, 4, 5);
    CASE_EXPECT(tn_masked_scatter(x, mask, tn_arange_start(10, 14)), TN_I64, TN_INTS(2, 3), 10, 1,
                11, 3, 12, 5);
}

/* Not of the bank: an index out of range is found before anything is written, and named with its
 * position. */
Test(indexing, checked_before_writing)
{
    tn_tensor *x = tn_reshape(tn_arange(6, .dtype = TN_F32), TN_INTS(3, 2)),
              *out = tn_full(TN_INTS(2, 2), 9.0);
    tn_tensor *bad = case_tensor(TN_I64, TN_INTS(2), CASE_VALUES(0, -1)),
              *far = case_tensor(TN_I32, TN_INTS(2), CASE_VALUES(0, 3));
    CASE_FAILS(tn_index_select_out(x, 0, bad, out), "-1 at position 1");
    CASE_FAILS(tn_index_select_out(x, 0, far, out), "3 at position 1");
    CASE_FAILS(tn_embedding_out(x, bad, out), "0 to 2");
    CASE_FAILS(
        tn_gather_out(x, 0, case_tensor(TN_I64, TN_INTS(2, 2), CASE_VALUES(0, 1, 2, 3)), out),
        "3 at position 3");
    CASE_EXPECT(out, TN_F32, TN_INTS(2, 2), 9, 9, 9, 9);
    tn_tensor *t = tn_t(x), *index = case_tensor(TN_I32, TN_INTS(2), CASE_VALUES(2, 0));
    CASE_EXPECT(tn_index_select(x, 0, index), TN_F32, TN_INTS(2, 2), 4, 5, 0, 1);
    CASE_EXPECT(tn_index_select(t, 1, index), TN_F32, TN_INTS(2, 2), 4, 0, 5, 1);
    CASE_EXPECT(tn_embedding(x, index), TN_F32, TN_INTS(2, 2), 4, 5, 0, 1);
    CASE_EXPECT(tn_embedding(tn_t(tn_contiguous(t)), index), TN_F32, TN_INTS(2, 2), 4, 5, 0, 1);
    CASE_EXPECT(tn_gather(t, 1, case_tensor(TN_I64, TN_INTS(2, 1), CASE_VALUES(2, 1))), TN_F32,
                TN_INTS(2, 1), 4, 3);
}

Test(indexing, BB_idx_06)
{
    CASE_EXPECT(tn_linspace(0, 100, 8, .dtype = TN_I64), TN_I64, TN_INTS(8), 0, 14, 28, 42, 57, 71,
                85, 100);
    CASE_EXPECT(tn_linspace(10, -10, 6, .dtype = TN_I32), TN_I32, TN_INTS(6), 10, 6, 2, -2, -6,
                -10);
    const float *tenths = tn_linspace(0, 0.9, 11, .dtype = TN_F32)->data;
    cr_assert_eq(tenths[10], 0.9F);
    const float *steps = tn_linspace(-1, 0.3, 14, .dtype = TN_F32)->data;
    cr_assert_eq(steps[0], -1.0F);
    cr_assert_eq(steps[13], 0.3F);
    CASE_EXPECT(tn_linspace(5, 9, 1, .dtype = TN_F32), TN_F32, TN_INTS(1), 5);
    tn_tensor *none = tn_linspace(0, 1, 0);
    cr_assert_eq(none->ndim, 1);
    cr_assert_eq(none->numel, 0);
}

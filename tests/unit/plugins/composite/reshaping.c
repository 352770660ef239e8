/* view, view.dtype, reshape and what is made of them. */
#include "composite_test.h"

TestSuite(reshaping, .init = composite_begin, .fini = composite_end, .timeout = 30);

Test(reshaping, view_joins_and_splits_dimensions)
{
    tn_tensor *x = counting(TN_INTS(2, 6));
    expect_elements(tn_view(x, TN_INTS(3, -1)), TN_INTS(3, 4),
                    LIST(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
    tn_tensor *columns = tn_transpose_int(x, 0, 1);
    expect_strides(tn_view(columns, TN_INTS(2, 3, 2)), TN_INTS(3, 1, 6));
    expect_strides(tn_view(columns, TN_INTS(1, 6, 1, 2, 1)), TN_INTS(6, 1, 12, 6, 6));
    expect_shape(tn_view_as(x, counting(TN_INTS(12))), TN_INTS(12));
}

Test(reshaping, a_view_that_needs_a_copy_suggests_reshape)
{
    tn_tensor *columns = tn_transpose_int(counting(TN_INTS(2, 3)), 0, 1);
    expect_error(tn_view(columns, TN_INTS(6)), TN_ERR_ARGUMENT, "reshape()");
    expect_elements(tn_reshape(columns, TN_INTS(6)), TN_INTS(6), LIST(0, 3, 1, 4, 2, 5));
}

Test(reshaping, wrong_sizes_are_refused)
{
    tn_tensor *x = counting(TN_INTS(2, 3)), *none = counting(TN_INTS(0, 4));
    expect_error(tn_view(x, TN_INTS(4)), TN_ERR_ARGUMENT, "6 elements of a tensor of shape [2, 3]");
    expect_error(tn_view(x, TN_INTS(4, -1)), TN_ERR_ARGUMENT, "[4, -1]");
    expect_error(tn_view(x, TN_INTS(-1, -1)), TN_ERR_ARGUMENT, "one -1");
    expect_error(tn_view(x, TN_INTS(-2, -3)), TN_ERR_ARGUMENT, "negative");
    expect_error(tn_reshape(none, TN_INTS(0, -1)), TN_ERR_ARGUMENT, "ambiguous");
    expect_error(tn_reshape(x, TN_INTS(0, -1)), TN_ERR_ARGUMENT, "[0, -1]");
    expect_error(tn_view(x, TN_INTS(INT64_MAX, 3)), TN_ERR_OVERFLOW, "overflow");
    expect_error(tn_view(none, TN_INTS(0, INT64_MAX, 3)), TN_ERR_OVERFLOW, "overflow");
    expect_shape(tn_reshape(none, TN_INTS(2, -1)), TN_INTS(2, 0));
}

Test(reshaping, reshape_shares_memory_where_it_can)
{
    tn_tensor *x = counting(TN_INTS(2, 3));
    cr_assert(tn_tensor_same_storage(x, tn_reshape(x, TN_INTS(3, 2))));
    cr_assert(tn_tensor_same_storage(x, tn_flatten_using_ints(x)));
    cr_assert(!tn_tensor_same_storage(x, tn_ravel(tn_t(x))));
}

Test(reshaping, flatten)
{
    tn_tensor *x = counting(TN_INTS(2, 3, 4));
    expect_shape(tn_flatten_using_ints(x), TN_INTS(24));
    expect_shape(tn_flatten_using_ints(x, .start_dim = 1), TN_INTS(2, 12));
    expect_shape(tn_flatten_using_ints(x, .end_dim = -2), TN_INTS(6, 4));
    expect_shape(tn_flatten_using_ints(tn_scalar_tensor(1)), TN_INTS(1));
    cr_assert_eq(tn_flatten_using_ints(x, .start_dim = 1, .end_dim = 1), x);
    expect_error(tn_flatten_using_ints(x, .start_dim = 2, .end_dim = 0), TN_ERR_ARGUMENT, "after");
    expect_error(tn_flatten_using_ints(x, .start_dim = 3), TN_ERR_INDEX, "start_dim 3");
}

Test(reshaping, at_least_n_dimensions)
{
    tn_tensor *s = tn_scalar_tensor(7, .dtype = TN_I64), *v = counting(TN_INTS(2)),
              *m = counting(TN_INTS(2, 3));
    expect_elements(tn_atleast_1d(s), TN_INTS(1), LIST(7));
    expect_shape(tn_atleast_2d(s), TN_INTS(1, 1));
    expect_shape(tn_atleast_2d(v), TN_INTS(1, 2));
    expect_shape(tn_atleast_3d(s), TN_INTS(1, 1, 1));
    expect_shape(tn_atleast_3d(v), TN_INTS(1, 2, 1));
    expect_shape(tn_atleast_3d(m), TN_INTS(2, 3, 1));
    cr_assert_eq(tn_atleast_2d(m), m);
}

/* ---- view.dtype ------------------------------------------------------------------------------ */
Test(reshaping, view_as_a_dtype_of_the_same_size)
{
    tn_tensor *x = tn_full(TN_INTS(2, 2), 1.0);
    tn_tensor *y = tn_view_dtype(x, TN_I32);
    cr_assert_eq(y->dtype, TN_I32);
    expect_numbers(y, TN_INTS(2, 2), LIST(0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000));
    expect_error(tn_view_dtype(x, 99), TN_ERR_DTYPE, "dtype 99");
}

Test(reshaping, view_as_smaller_and_larger_elements)
{
    tn_tensor *x = counting(TN_INTS(2, 2));
    tn_tensor *parts = tn_view_dtype(x, TN_I32);
    expect_numbers(parts, TN_INTS(2, 4), LIST(0, 0, 1, 0, 2, 0, 3, 0));
    expect_elements(tn_view_dtype(parts, TN_I64), TN_INTS(2, 2), LIST(0, 1, 2, 3));
    tn_tensor *odd = tn_slice(parts, .dim = 1, .start = {1, 1}, .end = {3, 1});
    expect_error(tn_view_dtype(odd, TN_I64), TN_ERR_ARGUMENT, "storage offset 1");
    tn_tensor *narrow = tn_slice(parts, .dim = 1, .end = {3, 1});
    expect_error(tn_view_dtype(narrow, TN_I64), TN_ERR_ARGUMENT, "dim -1 of size 3");
    expect_error(tn_view_dtype(tn_t(x), TN_I32), TN_ERR_ARGUMENT, "dim -1 has stride 2");
    expect_error(tn_view_dtype(tn_scalar_tensor(1, .dtype = TN_I64), TN_I32), TN_ERR_ARGUMENT,
                 "0 dimensions");
}

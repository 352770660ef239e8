/* Views that reorder, add, drop or repeat dimensions, and their in-place twins. */
#include "composite_test.h"

TestSuite(views, .init = composite_begin, .fini = composite_end, .timeout = 30);

Test(views, transpose_swaps_two_dimensions)
{
    tn_tensor *x = counting(TN_INTS(2, 3));
    tn_tensor *y = tn_transpose_int(x, 0, -1);
    expect_elements(y, TN_INTS(3, 2), LIST(0, 3, 1, 4, 2, 5));
    expect_strides(y, TN_INTS(1, 3));
    cr_assert(tn_tensor_same_storage(x, y));
    expect_elements(tn_transpose_int(x, 1, 1), TN_INTS(2, 3), LIST(0, 1, 2, 3, 4, 5));
    expect_shape(tn_transpose_int(counting(TN_INTS(2, 3, 4)), 0, 2), TN_INTS(4, 3, 2));
}

Test(views, a_wrong_dim_is_named_with_its_range)
{
    tn_tensor *x = counting(TN_INTS(2, 3));
    expect_error(tn_transpose_int(x, 0, 2), TN_ERR_INDEX, "dim1 2 is out of range [-2, 1]");
    expect_error(tn_transpose_int(x, -3, 0), TN_ERR_INDEX, "dim0 -3 is out of range [-2, 1]");
    expect_error(tn_squeeze_dim(x, INT64_MIN), TN_ERR_INDEX, "[-2, 1]");
    expect_error(tn_unsqueeze(x, 3), TN_ERR_INDEX, "dim 3 is out of range [-3, 2]");
    expect_error(tn_permute(x, TN_INTS(0, INT64_MAX)), TN_ERR_INDEX, "[-2, 1]");
}

Test(views, a_tensor_of_0_dimensions_has_dims_minus_1_and_0)
{
    tn_tensor *s = tn_scalar_tensor(3, .dtype = TN_I64);
    tn_ints none = {NULL, 0};
    expect_elements(tn_transpose_int(s, 0, -1), none, LIST(3));
    expect_elements(tn_squeeze_dim(s, -1), none, LIST(3));
    expect_elements(tn_squeeze(s), none, LIST(3));
    expect_elements(tn_unsqueeze(s, 0), TN_INTS(1), LIST(3));
    expect_elements(tn_t(s), none, LIST(3));
    expect_elements(tn_permute(s, none), none, LIST(3));
    expect_elements(tn_numpy_T(s), none, LIST(3));
    expect_error(tn_transpose_int(s, 0, 1), TN_ERR_INDEX, "[-1, 0]");
}

Test(views, t_takes_a_matrix)
{
    expect_strides(tn_t(counting(TN_INTS(2, 3))), TN_INTS(1, 3));
    expect_shape(tn_t(counting(TN_INTS(4))), TN_INTS(4));
    expect_error(tn_t(counting(TN_INTS(1, 1, 1))), TN_ERR_ARGUMENT, "at most 2 dimensions");
}

Test(views, permute_and_movedim)
{
    tn_tensor *x = counting(TN_INTS(2, 3, 4));
    expect_strides(tn_permute(x, TN_INTS(2, 0, -2)), TN_INTS(1, 12, 4));
    expect_shape(tn_movedim_int(x, 0, -1), TN_INTS(3, 4, 2));
    expect_shape(tn_movedim_intlist(x, TN_INTS(2, 0), TN_INTS(0, 1)), TN_INTS(4, 2, 3));
    expect_shape(tn_numpy_T(x), TN_INTS(4, 3, 2));
    expect_shape(tn_mT(x), TN_INTS(2, 4, 3));
    expect_error(tn_permute(x, TN_INTS(0, 1)), TN_ERR_ARGUMENT, "each of the 3 dimensions");
    expect_error(tn_permute(x, TN_INTS(0, 1, -2)), TN_ERR_ARGUMENT, "dimension 1 appears twice");
    expect_error(tn_movedim_intlist(x, TN_INTS(0, 1), TN_INTS(0)), TN_ERR_ARGUMENT, "equally many");
    expect_error(tn_mT(counting(TN_INTS(3))), TN_ERR_ARGUMENT, "2 dimensions");
}

Test(views, expand_repeats_without_copying)
{
    tn_tensor *x = counting(TN_INTS(2, 1));
    tn_tensor *y = tn_expand(x, TN_INTS(3, -1, 2));
    expect_elements(y, TN_INTS(3, 2, 2), LIST(0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1));
    expect_strides(y, TN_INTS(0, 1, 0));
    expect_shape(tn_expand(x, TN_INTS(2, 0)), TN_INTS(2, 0));
    expect_shape(tn_broadcast_to(x, TN_INTS(2, 5)), TN_INTS(2, 5));
    expect_shape(tn_expand_as(x, counting(TN_INTS(2, 7))), TN_INTS(2, 7));
    expect_error(tn_expand(x, TN_INTS(2)), TN_ERR_ARGUMENT, "fewer dimensions");
    expect_error(tn_expand(x, TN_INTS(3, 1)), TN_ERR_ARGUMENT, "only a dimension of 1 can grow");
    expect_error(tn_expand(x, TN_INTS(-1, 2, 1)), TN_ERR_ARGUMENT, "is not a size");
    expect_error(tn_expand(x, TN_INTS(2, -2)), TN_ERR_ARGUMENT, "[2, -2]");
}

Test(views, squeeze_and_unsqueeze)
{
    tn_tensor *x = counting(TN_INTS(1, 3, 1));
    expect_shape(tn_squeeze(x), TN_INTS(3));
    expect_shape(tn_squeeze_dim(x, 0), TN_INTS(3, 1));
    expect_shape(tn_squeeze_dim(x, 1), TN_INTS(1, 3, 1));
    expect_shape(tn_unsqueeze(x, -1), TN_INTS(1, 3, 1, 1));
    expect_strides(tn_unsqueeze(counting(TN_INTS(2, 3)), 1), TN_INTS(3, 3, 1));
}

Test(views, no_view_has_more_than_64_dimensions)
{
    int64_t ones[TN_MAX_DIMS + 1];
    for (int d = 0; d <= TN_MAX_DIMS; d++)
        ones[d] = 1;
    tn_tensor *x = counting((tn_ints){ones, TN_MAX_DIMS});
    expect_error(tn_unsqueeze(x, 0), TN_ERR_ARGUMENT, "at most 64 dimensions");
    expect_error(tn_unsqueeze_(x, 0), TN_ERR_ARGUMENT, "at most 64 dimensions");
    expect_error(tn_unfold(x, 0, 1, 1), TN_ERR_ARGUMENT, "at most 64 dimensions");
    tn_ints many = {ones, TN_MAX_DIMS + 1};
    expect_error(tn_expand(x, many), TN_ERR_ARGUMENT, "at most 64 dimensions");
    expect_error(tn_view(x, many), TN_ERR_ARGUMENT, "at most 64 dimensions");
}

Test(views, in_place_views_change_self)
{
    tn_tensor *x = counting(TN_INTS(2, 1, 3));
    cr_assert_eq(tn_squeeze__dim(x, 1), x);
    expect_elements(x, TN_INTS(2, 3), LIST(0, 1, 2, 3, 4, 5));
    cr_assert_eq(tn_t_(x), x);
    expect_elements(x, TN_INTS(3, 2), LIST(0, 3, 1, 4, 2, 5));
    cr_assert_eq(tn_unsqueeze_(x, -1), x);
    expect_shape(x, TN_INTS(3, 2, 1));
    cr_assert_eq(tn_transpose_(x, 0, -1), x);
    expect_shape(x, TN_INTS(1, 2, 3));
    cr_assert_eq(tn_squeeze_(x), x);
    expect_elements(x, TN_INTS(2, 3), LIST(0, 1, 2, 3, 4, 5));
    expect_error(tn_transpose_(x, 0, 2), TN_ERR_INDEX, "[-2, 1]");
    expect_shape(x, TN_INTS(2, 3));
}

Test(views, a_view_needs_no_data)
{
    tn_tensor *x = tn_empty_memory_format(TN_INTS(2, 3), .device = META);
    tn_tensor *y = tn_transpose_int(x, 0, 1);
    expect_shape(y, TN_INTS(3, 2));
    cr_assert_eq(y->device.type, TN_META);
}

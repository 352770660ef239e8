/* Views of a part: slice, select, narrow, as_strided, diagonal, unfold. */
#include "composite_test.h"

TestSuite(slices, .init = composite_begin, .fini = composite_end, .timeout = 30);

Test(slices, slice_clamps_and_wraps_its_bounds)
{
    tn_tensor *x = counting(TN_INTS(6));
    expect_elements(tn_slice(x, .start = {1, 1}, .end = {5, 1}, .step = 2), TN_INTS(2), LIST(1, 3));
    expect_elements(tn_slice(x, .start = {-2, 1}), TN_INTS(2), LIST(4, 5));
    expect_elements(tn_slice(x, .end = {-4, 1}), TN_INTS(2), LIST(0, 1));
    expect_shape(tn_slice(x, .start = {INT64_MIN, 1}, .end = {INT64_MAX, 1}), TN_INTS(6));
    expect_shape(tn_slice(x, .start = {5, 1}, .end = {2, 1}), TN_INTS(0));
    expect_elements(tn_slice(x, .step = INT64_MAX), TN_INTS(1), LIST(0));
    expect_error(tn_slice(x, .step = 0), TN_ERR_ARGUMENT, "positive");
    expect_error(tn_slice(x, .dim = 1), TN_ERR_INDEX, "[-1, 0]");
    expect_error(tn_slice(tn_scalar_tensor(1)), TN_ERR_INDEX, "0 dimensions");
}

Test(slices, select)
{
    tn_tensor *x = counting(TN_INTS(2, 3));
    expect_elements(tn_select_int(x, 0, 1), TN_INTS(3), LIST(3, 4, 5));
    expect_elements(tn_select_int(x, -1, -1), TN_INTS(2), LIST(2, 5));
    expect_error(tn_select_int(x, 1, 3), TN_ERR_INDEX, "index 3 is out of range [-3, 2]");
    expect_error(tn_select_int(x, 1, INT64_MIN), TN_ERR_INDEX, "[-3, 2]");
    expect_error(tn_select_int(counting(TN_INTS(0)), 0, 0), TN_ERR_INDEX, "no elements");
    expect_error(tn_select_int(tn_scalar_tensor(1), 0, 0), TN_ERR_INDEX, "0 dimensions");
}

Test(slices, narrow)
{
    tn_tensor *x = counting(TN_INTS(5)), *start = tn_scalar_tensor(-2, .dtype = TN_I64);
    expect_elements(tn_narrow(x, 0, 1, 3), TN_INTS(3), LIST(1, 2, 3));
    expect_elements(tn_narrow(x, 0, -1, 1), TN_INTS(1), LIST(4));
    expect_shape(tn_narrow(x, 0, 5, 0), TN_INTS(0));
    expect_elements(tn_narrow_Tensor(x, 0, start, 2), TN_INTS(2), LIST(3, 4));
    expect_error(tn_narrow(x, 0, 3, 3), TN_ERR_ARGUMENT, "exceed dimension 0 of size 5");
    expect_error(tn_narrow(x, 0, 0, -1), TN_ERR_ARGUMENT, "length");
    expect_error(tn_narrow(x, 0, 1, INT64_MAX), TN_ERR_ARGUMENT, "exceed");
    expect_error(tn_narrow(x, 0, 6, 0), TN_ERR_INDEX, "[-5, 5]");
    expect_error(tn_narrow(x, 0, INT64_MIN, 0), TN_ERR_INDEX, "[-5, 5]");
    expect_error(tn_narrow_Tensor(x, 0, x, 1), TN_ERR_ARGUMENT, "0 dimensions");
    expect_error(tn_narrow_Tensor(x, 0, tn_scalar_tensor(1.0), 1), TN_ERR_ARGUMENT, "integer");
}

Test(slices, as_strided_stays_inside_the_storage)
{
    tn_tensor *x = counting(TN_INTS(6));
    expect_elements(tn_as_strided(x, TN_INTS(2, 2), TN_INTS(1, 2), .storage_offset = {1, 1}),
                    TN_INTS(2, 2), LIST(1, 3, 2, 4));
    expect_error(tn_as_strided(x, TN_INTS(2, 2), TN_INTS(4, 2)), TN_ERR_ARGUMENT, "storage");
    expect_error(tn_as_strided(x, TN_INTS(2), TN_INTS(-1)), TN_ERR_ARGUMENT, "negative");
    expect_error(tn_as_strided(x, TN_INTS(1), TN_INTS(1), .storage_offset = {-1, 1}),
                 TN_ERR_ARGUMENT, "negative");
    expect_error(tn_as_strided(x, TN_INTS(1), TN_INTS(1), .storage_offset = {6, 1}),
                 TN_ERR_ARGUMENT, "storage");
    expect_error(tn_as_strided(x, TN_INTS(2), TN_INTS(1, 1)), TN_ERR_ARGUMENT, "equally many");
    expect_error(tn_as_strided(x, TN_INTS(3), TN_INTS(INT64_MAX)), TN_ERR_OVERFLOW, "overflow");
}

Test(slices, diagonal)
{
    tn_tensor *x = counting(TN_INTS(3, 4));
    expect_elements(tn_diagonal(x), TN_INTS(3), LIST(0, 5, 10));
    expect_elements(tn_diagonal(x, .offset = 2), TN_INTS(2), LIST(2, 7));
    expect_elements(tn_diagonal(x, .offset = -1), TN_INTS(2), LIST(4, 9));
    expect_shape(tn_diagonal(x, .offset = INT64_MIN), TN_INTS(0));
    expect_shape(tn_diagonal(x, .offset = INT64_MAX), TN_INTS(0));
    expect_shape(tn_diagonal(counting(TN_INTS(2, 3, 4)), .dim1 = 0, .dim2 = -1), TN_INTS(3, 2));
    expect_error(tn_diagonal(x, .dim1 = 1, .dim2 = -1), TN_ERR_ARGUMENT, "must differ");
    expect_error(tn_diagonal(counting(TN_INTS(3))), TN_ERR_ARGUMENT, "2 dimensions");
}

Test(slices, unfold)
{
    tn_tensor *x = counting(TN_INTS(5));
    expect_elements(tn_unfold(x, 0, 3, 2), TN_INTS(2, 3), LIST(0, 1, 2, 2, 3, 4));
    expect_shape(tn_unfold(x, 0, 0, 1), TN_INTS(6, 0));
    expect_shape(tn_unfold(tn_scalar_tensor(1), 0, 1, 1), TN_INTS(1));
    expect_error(tn_unfold(x, 0, 6, 1), TN_ERR_ARGUMENT, "size: expected 0 to 5");
    expect_error(tn_unfold(x, 0, 1, 0), TN_ERR_ARGUMENT, "step");
}

/* No multiplication with the stride of a dimension of extent 1, or of an empty tensor, may overflow
 * (UBSan looks). */
Test(slices, strides_that_are_never_stepped_may_be_huge)
{
    int64_t huge = INT64_C(1) << 62;
    tn_tensor *one = tn_as_strided(counting(TN_INTS(8)), TN_INTS(1), TN_INTS(huge));
    tn_tensor *none = tn_as_strided(counting(TN_INTS(8)), TN_INTS(0, 9), TN_INTS(huge, huge));
    expect_shape(tn_unfold(one, 0, 1, 4), TN_INTS(1, 1));
    expect_shape(tn_unsqueeze(none, 1), TN_INTS(0, 1, 9));
    expect_shape(tn_select_int(none, 1, 8), TN_INTS(0));
    expect_shape(tn_slice(none, .dim = 1, .start = {4, 1}, .step = 4), TN_INTS(0, 2));
    expect_shape(tn_diagonal(none), TN_INTS(0));
    expect_shape(tn_view_dtype(tn_as_strided(one, TN_INTS(1, 1), TN_INTS(huge, huge)), TN_I8),
                 TN_INTS(1, 8));
}

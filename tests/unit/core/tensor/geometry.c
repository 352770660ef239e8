/* Sizes and strides: contiguity, density, span, and counts that must not wrap (BB-view-01,
 * BB-view-04, BB-ten-01/02). */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/unit/core/iter/fake_tensor.h"

TestSuite(geometry);

static bool contiguous(int ndim, const int64_t *sizes, const int64_t *strides)
{
    return tn__is_contiguous(ndim, sizes, strides);
}

Test(geometry, bb_view_01_contiguity)
{
    cr_assert(contiguous(4, DIMS(3, 1, 5, 1), DIMS(5, 77, 1, 9)));
    cr_assert(contiguous(2, DIMS(1, 4), DIMS(100, 1)));
    cr_assert(!contiguous(2, DIMS(2, 4), DIMS(4, 2)));
    cr_assert(contiguous(2, DIMS(0, 3), DIMS(9, 9)));
    cr_assert(contiguous(2, DIMS(3, 0), DIMS(9, 9)));
    cr_assert(contiguous(2, DIMS(1, 1), DIMS(7, 7)));
    cr_assert(contiguous(3, DIMS(2, 1, 3), DIMS(3, 1, 1)));
    cr_assert(!contiguous(2, DIMS(2, 3), DIMS(1, 2)));
    cr_assert(contiguous(0, NULL, NULL));
}

Test(geometry, dense)
{
    cr_assert(tn__is_dense(2, DIMS(2, 3), DIMS(1, 2)));
    cr_assert(tn__is_dense(4, DIMS(2, 3, 4, 5), DIMS(60, 1, 15, 3))); /* channels last */
    cr_assert(tn__is_dense(3, DIMS(2, 1, 3), DIMS(1, INT64_MIN, 2)));
    cr_assert(!tn__is_dense(2, DIMS(2, 3), DIMS(4, 1)));
    cr_assert(!tn__is_dense(2, DIMS(2, 3), DIMS(0, 1)));
    cr_assert(!tn__is_dense(2, DIMS(3, 3), DIMS(1, 1)));
    cr_assert(!tn__is_dense(1, DIMS(3), DIMS(-1)));
}

Test(geometry, span)
{
    cr_assert_eq(tn__span(0, NULL, NULL), 1);
    cr_assert_eq(tn__span(2, DIMS(2, 3), DIMS(10, 2)), 15);
    cr_assert_eq(tn__span(2, DIMS(0, 3), DIMS(INT64_MAX, 2)), 0);
    cr_assert_eq(tn__span(2, DIMS(1, 3), DIMS(INT64_MIN, 2)), 5);
    cr_assert_eq(tn__span(1, DIMS(3), DIMS(-2)), 5);
    cr_assert_eq(tn__span(1, DIMS(2), DIMS(INT64_MIN)), -1);
    cr_assert_eq(tn__span(1, DIMS(3), DIMS((int64_t)1 << 62)), -1);
    cr_assert_eq(tn__span(2, DIMS(2, 2), DIMS(INT64_MAX, INT64_MAX)), -1);
}

Test(geometry, bb_view_04_huge_strides_of_single_elements)
{
    cr_assert(tn__is_contiguous(1, DIMS(1), DIMS((int64_t)1 << 62)));
    cr_assert(tn__is_dense(1, DIMS(1), DIMS((int64_t)1 << 62)));
    cr_assert_eq(tn__span(1, DIMS(1), DIMS((int64_t)1 << 62)), 1);
}

static void expect_overflow(int ndim, const int64_t *sizes, const char *shape)
{
    int64_t n = -7;
    cr_assert_eq(tn__numel(NULL, ndim, sizes, &n), TN_ERR_OVERFLOW);
    cr_assert(strstr(tn_error_last()->message, "overflow"), "%s", tn_error_last()->message);
    cr_assert(strstr(tn_error_last()->message, shape), "%s", tn_error_last()->message);
    cr_assert_eq(n, -7);
}

Test(geometry, bb_ten_01_02_counts_that_overflow)
{
    expect_overflow(3, DIMS(0, (int64_t)1 << 20, (int64_t)1 << 43), "[0, 1048576, 8796093022208]");
    expect_overflow(2, DIMS((int64_t)1 << 32, (int64_t)1 << 32), "[4294967296, 4294967296]");
    expect_overflow(3, DIMS(2, (int64_t)1 << 62, 1), "[2, 4611686018427387904, 1]");
}

Test(geometry, numel)
{
    int64_t n;
    cr_assert_eq(tn__numel(NULL, 0, NULL, &n), TN_OK);
    cr_assert_eq(n, 1);
    cr_assert_eq(tn__numel(NULL, 3, DIMS(2, 3, 4), &n), TN_OK);
    cr_assert_eq(n, 24);
    cr_assert_eq(tn__numel(NULL, 2, DIMS(INT64_MAX, 0), &n), TN_OK);
    cr_assert_eq(n, 0);
    cr_assert_eq(tn__numel(NULL, 1, DIMS(INT64_MAX), &n), TN_OK);
    cr_assert_eq(n, INT64_MAX);
    cr_assert_eq(tn__numel(NULL, 2, DIMS(2, -1), &n), TN_ERR_ARGUMENT);
    cr_assert_eq(tn__numel(NULL, 1, DIMS(INT64_MIN), &n), TN_ERR_ARGUMENT);
    cr_assert_eq(tn__numel(NULL, 65, NULL, &n), TN_ERR_ARGUMENT);
}

Test(geometry, contiguous_strides)
{
    int64_t strides[3];
    tn__contiguous_strides(3, DIMS(2, 0, 4), strides);
    cr_assert(strides[0] == 4 && strides[1] == 4 && strides[2] == 1);
}

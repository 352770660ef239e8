/* What tn__iter_init makes of its operands: dimensions, strides, the cast flag; and what it
 * refuses. */
#include <criterion/criterion.h>
#include <string.h>

#include "core/iter/iter.h"
#include "tests/unit/core/iter/fake_tensor.h"

TestSuite(iter_init);

static tn__storage stores[4];
static fake f[4];
static tn_iter it;

static tn_tensor *make(int k, int dtype, int ndim, const int64_t *sizes, const int64_t *strides)
{
    return fake_make(&f[k], &stores[k], NULL, dtype, ndim, sizes, strides, 0);
}

static tn_status init3(tn_tensor *out, tn_tensor *a, tn_tensor *b, tn_dtype dtype,
                       tn_dtype out_dtype)
{
    memset(&it, 0x5a, sizeof it); /* nothing may rely on zeros */
    return tn__iter_init(NULL, &it, 1, 3, (tn_tensor *[]){out, a, b}, dtype, out_dtype, 0);
}

static tn_status init2(tn_tensor *out, tn_tensor *in, int reduce)
{
    memset(&it, 0x5a, sizeof it);
    return tn__iter_init(NULL, &it, 1, 2, (tn_tensor *[]){out, in}, TN_DTYPE_NONE, TN_DTYPE_NONE,
                         reduce);
}

static void expect_error(tn_status got, tn_status status, const char *word)
{
    cr_assert_eq(got, status, "%d instead of %d", got, status);
    cr_assert(strstr(tn_error_last()->message, word), "%s", tn_error_last()->message);
}

Test(iter_init, contiguous_is_one_dimension)
{
    tn_tensor *o = make(0, TN_F32, 3, DIMS(2, 3, 4), NULL),
              *a = make(1, TN_F32, 3, DIMS(2, 3, 4), NULL);
    cr_assert_eq(init3(o, a, make(2, TN_F32, 3, DIMS(2, 3, 4), NULL), TN_F32, TN_F32), TN_OK);
    cr_assert(it.ndim == 1 && it.numel == 24 && it.sizes[0] == 24 && !it.cast &&
              it.n_operands == 3 && it.n_out == 1);
    for (int k = 0; k < 3; k++)
        cr_assert(it.strides[k][0] == 4 && it.dtypes[k] == TN_F32);
    cr_assert_eq(init3(o, o, a, TN_F32, TN_F32), TN_OK, "in place");
}

Test(iter_init, same_count_but_other_shape_is_not_the_short_way)
{
    tn_tensor *o = make(0, TN_F32, 2, DIMS(2, 3), NULL), *a = make(1, TN_F32, 2, DIMS(3, 2), NULL);
    expect_error(init3(o, a, a, TN_F32, TN_F32), TN_ERR_ARGUMENT, "[2, 3]");
    a = make(1, TN_I32, 2, DIMS(3, 2), NULL);
    expect_error(init3(o, a, a, TN_F32, TN_F32), TN_ERR_ARGUMENT, "[3, 2]");
    a = make(1, TN_F32, 1, DIMS(6), NULL);
    expect_error(init3(o, a, a, TN_F32, TN_F32), TN_ERR_ARGUMENT, "[6]");
}

Test(iter_init, cast_flag)
{
    tn_tensor *o = make(0, TN_F32, 1, DIMS(5), NULL), *a = make(1, TN_I32, 1, DIMS(5), NULL);
    tn_tensor *b = make(2, TN_F32, 1, DIMS(5), NULL);
    cr_assert(init3(o, a, b, TN_F32, TN_F32) == TN_OK && it.cast && it.strides[1][0] == 4);
    cr_assert(init3(o, b, b, TN_F32, TN_F32) == TN_OK && !it.cast);
    cr_assert(init3(o, b, b, TN_F64, TN_F64) == TN_OK && it.cast);
    cr_assert(init3(o, b, b, TN_F32, TN_BOOL) == TN_OK && it.cast);
    cr_assert(init3(o, a, b, TN_DTYPE_NONE, TN_DTYPE_NONE) == TN_OK && !it.cast);
    cr_assert(init3(make(0, TN_BOOL, 1, DIMS(5), NULL), b, b, TN_F32, TN_BOOL) == TN_OK &&
              !it.cast);
    expect_error(init3(o, b, b, TN_DTYPE_COUNT, TN_F32), TN_ERR_DTYPE, "dtype 12");
    expect_error(init3(o, b, b, TN_F32, -2), TN_ERR_DTYPE, "dtype -2");
}

Test(iter_init, numbers_are_broadcast)
{
    tn_tensor *o = make(0, TN_F32, 2, DIMS(4, 5), NULL), *a = make(1, TN_F32, 2, DIMS(4, 5), NULL);
    cr_assert_eq(init3(o, a, make(2, TN_F64, 0, NULL, NULL), TN_F32, TN_F32), TN_OK);
    cr_assert(it.ndim == 1 && it.numel == 20 && it.strides[2][0] == 0 && it.cast);
    expect_error(init3(o, a, make(2, TN_F32, 3, DIMS(1, 1, 1), NULL), TN_F32, TN_F32),
                 TN_ERR_ARGUMENT, "[1, 4, 5]");
}

Test(iter_init, order_follows_the_output)
{
    tn_tensor *o = make(0, TN_F32, 2, DIMS(3, 4), DIMS(1, 3)),
              *a = make(1, TN_F64, 2, DIMS(3, 4), NULL);
    cr_assert_eq(init2(o, a, 0), TN_OK);
    cr_assert(it.ndim == 2 && it.sizes[0] == 3 && it.sizes[1] == 4);
    cr_assert(it.strides[0][0] == 4 && it.strides[0][1] == 12 && it.strides[1][0] == 32 &&
              it.strides[1][1] == 8);
    cr_assert_eq(init2(o, make(1, TN_F64, 2, DIMS(3, 4), DIMS(1, 3)), 0), TN_OK);
    cr_assert(it.ndim == 1 && it.sizes[0] == 12);
}

Test(iter_init, size_one_dimensions_and_their_strides_vanish)
{
    const int64_t huge = (int64_t)1 << 62;
    tn_tensor *o = make(0, TN_F32, 3, DIMS(2, 1, 3), DIMS(8, huge, 1));
    tn_tensor *a = make(1, TN_F32, 3, DIMS(2, 1, 3), DIMS(3, INT64_MIN, 1));
    cr_assert_eq(init2(o, a, 0), TN_OK);
    cr_assert(it.ndim == 2 && it.sizes[0] == 3 && it.sizes[1] == 2 && it.strides[0][1] == 32);
    o = make(0, TN_F32, 1, DIMS(1), DIMS(huge));
    cr_assert_eq(init2(o, make(1, TN_F32, 2, DIMS(1, 1), DIMS(huge, INT64_MIN)), 0),
                 TN_ERR_ARGUMENT);
    cr_assert_eq(init2(o, make(1, TN_F32, 0, NULL, NULL), 0), TN_OK, "%s",
                 tn_error_last()->message);
    cr_assert(it.ndim == 1 && it.numel == 1 && it.strides[0][0] == 4);
    o = make(0, TN_F32, 1, DIMS(2), DIMS(huge));
    expect_error(init2(o, make(1, TN_F32, 1, DIMS(2), NULL), 0), TN_ERR_OVERLAP, "share");
    o = make(0, TN_F32, 1, DIMS(2), NULL);
    expect_error(init2(o, make(1, TN_F32, 1, DIMS(2), DIMS(huge)), 0), TN_ERR_OVERFLOW, "overflow");
}

Test(iter_init, empty)
{
    tn_tensor *o = make(0, TN_F32, 2, DIMS(0, 3), NULL), *a = make(1, TN_F32, 2, DIMS(1, 3), NULL);
    cr_assert_eq(init3(o, a, make(2, TN_F32, 2, DIMS(0, 1), NULL), TN_F32, TN_F32), TN_OK);
    cr_assert(it.numel == 0 && it.ndim == 1);
}

Test(iter_init, reduce_gives_the_output_a_stride_of_0)
{
    tn_tensor *in = make(1, TN_F32, 3, DIMS(2, 3, 4), NULL);
    cr_assert_eq(init2(make(0, TN_F32, 3, DIMS(2, 1, 4), NULL), in, 1), TN_OK);
    cr_assert(it.ndim == 3 && it.sizes[0] == 4 && it.sizes[1] == 3 && it.sizes[2] == 2);
    cr_assert(it.strides[0][0] == 4 && it.strides[0][1] == 0 && it.strides[0][2] == 16);
    cr_assert_eq(init2(make(0, TN_F32, 0, NULL, NULL), in, 1), TN_OK);
    cr_assert(it.ndim == 1 && it.sizes[0] == 24 && it.strides[0][0] == 0);
    expect_error(init2(make(0, TN_F32, 3, DIMS(2, 2, 4), NULL), in, 1), TN_ERR_ARGUMENT,
                 "[2, 2, 4]");
    expect_error(init2(make(0, TN_F32, 3, DIMS(2, 1, 4), NULL), in, 0), TN_ERR_ARGUMENT,
                 "[2, 1, 4]");
    tn_tensor *narrow = make(0, TN_F16, 3, DIMS(2, 1, 4), NULL);
    expect_error(tn__iter_init(NULL, &it, 1, 2, (tn_tensor *[]){narrow, in}, TN_F32, TN_F32, 1),
                 TN_ERR_DTYPE, "float16");
}

Test(iter_init, order_looks_past_dimensions_without_an_opinion)
{
    tn_tensor *in = make(1, TN_F32, 3, DIMS(2, 3, 4), DIMS(1, 0, 2));
    cr_assert_eq(init2(make(0, TN_F32, 3, DIMS(2, 1, 4), DIMS(1, 1, 2)), in, 1), TN_OK);
    cr_assert(it.sizes[0] == 2 && it.strides[1][0] == 4 && it.strides[0][0] == 4);
}

Test(iter_init, outputs_alone)
{
    tn_tensor *o = make(0, TN_F32, 2, DIMS(3, 4), NULL);
    cr_assert_eq(tn__iter_init(NULL, &it, 1, 1, &o, TN_F32, TN_F32, 0), TN_OK);
    cr_assert(it.ndim == 1 && it.numel == 12);
    o = make(0, TN_F32, 2, DIMS(3, 4), DIMS(8, 2));
    cr_assert_eq(tn__iter_init(NULL, &it, 1, 1, &o, TN_F32, TN_F32, 0), TN_OK);
    cr_assert(it.ndim == 1 && it.sizes[0] == 12 && it.strides[0][0] == 8);
}

Test(iter_init, bb_iter_02_05_06_overlap)
{
    tn_tensor *a = make(0, TN_F32, 2, DIMS(2, 3), NULL);
    tn_tensor *column = fake_make(&f[1], &stores[0], NULL, TN_F32, 2, DIMS(2, 1), DIMS(3, 1), 0);
    expect_error(init3(a, a, column, TN_F32, TN_F32), TN_ERR_OVERLAP, "clone()");
    tn_tensor *row = fake_make(&f[2], &stores[0], NULL, TN_F32, 2, DIMS(1, 3), DIMS(3, 1), 0);
    expect_error(init3(a, a, row, TN_F32, TN_F32), TN_ERR_OVERLAP, "clone()");
    tn_tensor *number = fake_make(&f[2], &stores[0], NULL, TN_F32, 0, NULL, NULL, 4);
    expect_error(init3(a, a, number, TN_F32, TN_F32), TN_ERR_OVERLAP, "clone()");
    tn_tensor *shifted = fake_make(&f[2], &stores[0], NULL, TN_F32, 2, DIMS(2, 3), NULL, 1);
    expect_error(init3(a, a, shifted, TN_F32, TN_F32), TN_ERR_OVERLAP, "clone()");
    tn_tensor *bits = fake_make(&f[2], &stores[0], NULL, TN_I32, 2, DIMS(2, 3), NULL, 0);
    cr_assert_eq(init3(a, a, bits, TN_F32, TN_F32), TN_OK, "the same elements as another dtype");
    tn_tensor *halves = fake_make(&f[2], &stores[0], NULL, TN_I16, 2, DIMS(2, 3), NULL, 0);
    expect_error(init3(a, a, halves, TN_F32, TN_F32), TN_ERR_OVERLAP, "clone()");
    expect_error(init2(a, halves, 0), TN_ERR_OVERLAP, "clone()");
    expect_error(
        init2(make(0, TN_F32, 1, DIMS(10), DIMS(0)), make(1, TN_F32, 1, DIMS(10), NULL), 0),
        TN_ERR_OVERLAP, "several elements");
    tn_tensor *expanded = make(0, TN_F32, 3, DIMS(2, 2, 2), DIMS(0, 2, 1));
    tn_tensor *mask = make(1, TN_BOOL, 3, DIMS(2, 1, 2), NULL);
    expect_error(init3(expanded, expanded, mask, TN_DTYPE_NONE, TN_DTYPE_NONE), TN_ERR_OVERLAP,
                 "several elements");
}

Test(iter_init, two_outputs_must_be_separate)
{
    tn_tensor *o = make(0, TN_F32, 1, DIMS(4), NULL), *in = make(1, TN_F32, 1, DIMS(4), NULL);
    expect_error(tn__iter_init(NULL, &it, 2, 3, (tn_tensor *[]){o, o, in}, TN_F32, TN_F32, 0),
                 TN_ERR_OVERLAP, "outputs 0 and 1");
    tn_tensor *second = make(2, TN_F32, 1, DIMS(4), NULL);
    cr_assert_eq(tn__iter_init(NULL, &it, 2, 3, (tn_tensor *[]){o, second, in}, TN_F32, TN_F32, 0),
                 TN_OK);
}

Test(iter_init, bad_arguments)
{
    tn_tensor *o = make(0, TN_F32, 1, DIMS(4), NULL), *meta = make(1, TN_F32, 1, DIMS(4), NULL);
    expect_error(init2(o, NULL, 0), TN_ERR_ARGUMENT, "absent");
    expect_error(init2(NULL, o, 0), TN_ERR_ARGUMENT, "absent");
    meta->device.type = TN_META;
    expect_error(init2(o, meta, 0), TN_ERR_DEVICE, "device");
    expect_error(tn__iter_init(NULL, &it, 1, 0, NULL, TN_F32, TN_F32, 0), TN_ERR_ARGUMENT,
                 "operands");
    expect_error(tn__iter_init(NULL, &it, 1, 9, NULL, TN_F32, TN_F32, 0), TN_ERR_ARGUMENT,
                 "operands");
    expect_error(tn__iter_init(NULL, &it, 3, 2, NULL, TN_F32, TN_F32, 0), TN_ERR_ARGUMENT,
                 "operands");
}

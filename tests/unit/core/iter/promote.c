/* The three classes of type promotion (BB-promo-02, BB-promo-03) and its algebra over all pairs. */
#include <criterion/criterion.h>

#include "core/iter/iter.h"
#include "tests/unit/core/iter/fake_tensor.h"

TestSuite(promote);

enum { ZERO_DIM, DIMENSIONED, WRAPPED };

static tn_tensor *make(fake *f, tn_dtype dtype, int class)
{
    fake_make(f, NULL, NULL, dtype, class == DIMENSIONED, DIMS(2), NULL, 0);
    if (class == WRAPPED)
        f->t.pub.flags |= TN_TENSOR_WRAPPED_NUMBER;
    return &f->t.pub;
}

static tn_dtype with_scalar(tn_dtype dtype, int class, int kind)
{
    fake f;
    tn_scalar s = {.kind = kind};
    return tn__result_type((tn_tensor *[]){make(&f, dtype, class)}, 1, &s, 1);
}

static tn_dtype pair(tn_dtype a, int class_a, tn_dtype b, int class_b)
{
    fake fa, fb;
    return tn__result_type((tn_tensor *[]){make(&fa, a, class_a), make(&fb, b, class_b)}, 2, NULL,
                           0);
}

Test(promote, bb_promo_02_scalars_bring_a_category_only)
{
    cr_assert_eq(with_scalar(TN_F32, DIMENSIONED, TN_SCALAR_FLOAT), TN_F32);
    cr_assert_eq(with_scalar(TN_F32, ZERO_DIM, TN_SCALAR_FLOAT), TN_F32);
    cr_assert_eq(with_scalar(TN_I64, ZERO_DIM, TN_SCALAR_FLOAT), TN_F32);
    cr_assert_eq(with_scalar(TN_U8, DIMENSIONED, TN_SCALAR_INT), TN_U8);
    cr_assert_eq(with_scalar(TN_U8, ZERO_DIM, TN_SCALAR_INT), TN_U8);
    cr_assert_eq(with_scalar(TN_F16, DIMENSIONED, TN_SCALAR_FLOAT), TN_F16);
    cr_assert_eq(with_scalar(TN_BOOL, DIMENSIONED, TN_SCALAR_FLOAT), TN_F32);
    cr_assert_eq(with_scalar(TN_BOOL, DIMENSIONED, TN_SCALAR_INT), TN_I64);
    cr_assert_eq(with_scalar(TN_BOOL, DIMENSIONED, TN_SCALAR_BOOL), TN_BOOL);
    cr_assert_eq(with_scalar(TN_I8, DIMENSIONED, TN_SCALAR_BOOL), TN_I8);
    cr_assert_eq(with_scalar(TN_I16, DIMENSIONED, TN_SCALAR_NONE), TN_I16);
}

Test(promote, complex_scalars)
{
    cr_assert_eq(with_scalar(TN_I64, DIMENSIONED, TN_SCALAR_COMPLEX), TN_C64);
    cr_assert_eq(with_scalar(TN_F16, DIMENSIONED, TN_SCALAR_COMPLEX), TN_C64);
    cr_assert_eq(with_scalar(TN_F32, DIMENSIONED, TN_SCALAR_COMPLEX), TN_C64);
    cr_assert_eq(with_scalar(TN_F64, DIMENSIONED, TN_SCALAR_COMPLEX), TN_C128);
    cr_assert_eq(with_scalar(TN_C64, DIMENSIONED, TN_SCALAR_COMPLEX), TN_C64);
    cr_assert_eq(with_scalar(TN_C64, DIMENSIONED, TN_SCALAR_FLOAT), TN_C64);
}

Test(promote, bb_promo_03_zero_dim_tensors)
{
    fake f[3];
    tn_tensor *clamp[3] = {make(&f[0], TN_I32, DIMENSIONED), make(&f[1], TN_F32, ZERO_DIM),
                           make(&f[2], TN_F64, ZERO_DIM)};
    cr_assert_eq(tn__result_type(clamp, 3, NULL, 0), TN_F64);
    cr_assert_eq(pair(TN_I64, DIMENSIONED, TN_F32, DIMENSIONED), TN_F32);
    cr_assert_eq(pair(TN_I32, DIMENSIONED, TN_I64, ZERO_DIM), TN_I32);
    cr_assert_eq(pair(TN_F32, DIMENSIONED, TN_F64, ZERO_DIM), TN_F32);
    cr_assert_eq(pair(TN_I64, DIMENSIONED, TN_F16, ZERO_DIM), TN_F16);
    cr_assert_eq(pair(TN_F32, DIMENSIONED, TN_C128, ZERO_DIM), TN_C64, "only the category");
    cr_assert_eq(pair(TN_BF16, DIMENSIONED, TN_C128, ZERO_DIM), TN_C64);
    cr_assert_eq(pair(TN_F64, DIMENSIONED, TN_C64, ZERO_DIM), TN_C128);
    cr_assert_eq(pair(TN_I64, DIMENSIONED, TN_C128, ZERO_DIM), TN_C128);
    cr_assert_eq(pair(TN_BOOL, DIMENSIONED, TN_U8, ZERO_DIM), TN_U8);
    cr_assert_eq(pair(TN_U8, ZERO_DIM, TN_I8, ZERO_DIM), TN_I16);
}

Test(promote, wrapped_numbers_are_the_lowest_class)
{
    cr_assert_eq(pair(TN_I64, DIMENSIONED, TN_F64, WRAPPED), TN_F32);
    cr_assert_eq(pair(TN_I16, ZERO_DIM, TN_I64, WRAPPED), TN_I16);
    cr_assert_eq(pair(TN_F64, ZERO_DIM, TN_C128, WRAPPED), TN_C128);
    cr_assert_eq(pair(TN_F16, ZERO_DIM, TN_C128, WRAPPED), TN_C64);
    cr_assert_eq(pair(TN_I64, WRAPPED, TN_F64, WRAPPED), TN_F32);
}

Test(promote, every_pair_of_one_class_follows_the_table)
{
    for (tn_dtype a = 0; a < TN_DTYPE_COUNT; a++) {
        for (tn_dtype b = 0; b < TN_DTYPE_COUNT; b++) {
            cr_assert_eq(pair(a, DIMENSIONED, b, DIMENSIONED), tn__promote(a, b));
            cr_assert_eq(pair(a, ZERO_DIM, b, ZERO_DIM), tn__promote(a, b));
            cr_assert_eq(pair(a, DIMENSIONED, b, ZERO_DIM), pair(b, ZERO_DIM, a, DIMENSIONED));
        }
    }
}

Test(promote, nothing_given)
{
    cr_assert_eq(tn__result_type(NULL, 0, NULL, 0), TN_DTYPE_NONE);
    cr_assert_eq(
        tn__result_type((tn_tensor *[]){NULL}, 1, &(tn_scalar){.kind = TN_SCALAR_FLOAT}, 1),
        TN_F32);
}

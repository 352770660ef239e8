/* Facts about dtypes: sizes, names, the promotion table, allowed casts. */
#include <criterion/criterion.h>

#include "core/base/base.h"

TestSuite(dtype);

Test(dtype, sizes)
{
    const uint8_t expected[TN_DTYPE_COUNT] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
    for (int i = 0; i < TN_DTYPE_COUNT; i++)
        cr_assert_eq(tn__dtype_sizes[i], expected[i], "dtype %d", i);
}

Test(dtype, names_parse_back)
{
    for (tn_dtype i = 0; i < TN_DTYPE_COUNT; i++)
        cr_assert_eq(tn__dtype_parse(tn__dtype_name(i)), i);
    cr_assert_str_eq(tn__dtype_name(TN_F32), "float32");
    cr_assert_str_eq(tn__dtype_name(TN_DTYPE_NONE), "none");
    cr_assert_str_eq(tn__dtype_name(TN_DTYPE_COUNT), "invalid");
    cr_assert_str_eq(tn__dtype_name(-7), "invalid");
    cr_assert_eq(tn__dtype_parse("bf16"), TN_BF16);
    cr_assert_eq(tn__dtype_parse("c128"), TN_C128);
    cr_assert_eq(tn__dtype_parse("float"), TN_DTYPE_NONE);
    cr_assert_eq(tn__dtype_parse(""), TN_DTYPE_NONE);
    cr_assert_eq(tn__dtype_parse(NULL), TN_DTYPE_NONE);
}

Test(dtype, promotion_is_a_symmetric_idempotent_join)
{
    for (tn_dtype a = 0; a < TN_DTYPE_COUNT; a++) {
        cr_assert_eq(tn__promote(a, a), a);
        cr_assert_eq(tn__promote(TN_BOOL, a), a);
        cr_assert_eq(tn__promote(TN_DTYPE_NONE, a), a);
        for (tn_dtype b = 0; b < TN_DTYPE_COUNT; b++) {
            tn_dtype ab = tn__promote(a, b);
            cr_assert_eq(ab, tn__promote(b, a));
            cr_assert_eq(tn__promote(ab, a), ab, "%d %d", a, b);
            cr_assert(tn__can_cast(a, ab));
        }
    }
}

Test(dtype, promotion_examples)
{
    const struct {
        tn_dtype a, b, result;
    } rows[] = {
        {TN_U8, TN_I8, TN_I16},     {TN_U8, TN_I16, TN_I16},    {TN_U8, TN_I64, TN_I64},
        {TN_I64, TN_F16, TN_F16},   {TN_F16, TN_BF16, TN_F32},  {TN_I64, TN_BF16, TN_BF16},
        {TN_BF16, TN_F32, TN_F32},  {TN_F32, TN_F64, TN_F64},   {TN_C64, TN_F64, TN_C128},
        {TN_C64, TN_F16, TN_C64},   {TN_C64, TN_C128, TN_C128}, {TN_I64, TN_C64, TN_C64},
        {TN_F64, TN_C128, TN_C128}, {TN_BOOL, TN_U8, TN_U8},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_assert_eq(tn__promote(rows[i].a, rows[i].b), rows[i].result, "row %zu", i);
    }
    cr_assert_eq(tn__promote(TN_DTYPE_COUNT, TN_F32), TN_DTYPE_NONE);
    cr_assert_eq(tn__promote(TN_DTYPE_NONE, TN_DTYPE_NONE), TN_DTYPE_NONE);
}

Test(dtype, can_cast)
{
    cr_assert(!tn__can_cast(TN_F32, TN_I64));
    cr_assert(!tn__can_cast(TN_C64, TN_F64));
    cr_assert(!tn__can_cast(TN_U8, TN_BOOL));
    cr_assert(!tn__can_cast(TN_F32, TN_BOOL));
    cr_assert(tn__can_cast(TN_BOOL, TN_BOOL));
    cr_assert(tn__can_cast(TN_BOOL, TN_U8));
    cr_assert(tn__can_cast(TN_I64, TN_U8));
    cr_assert(tn__can_cast(TN_I64, TN_F16));
    cr_assert(tn__can_cast(TN_F64, TN_F16));
    cr_assert(tn__can_cast(TN_F64, TN_C64));
    cr_assert(!tn__can_cast(TN_DTYPE_NONE, TN_F32));
    cr_assert(!tn__can_cast(TN_F32, TN_DTYPE_COUNT));
}

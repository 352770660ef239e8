/* What makes expression calls read well: numbers for tensors, plain words, options without braces,
 * tensors that are given to a scope. */
#include <criterion/criterion.h>
#include <math.h>

#include <tenon/ops.h>
#include <tenon/runtime.h>

static tn_scope scope;

static void begin(void)
{
    cr_assert_eq(tn_plugins_load_default(), TN_OK);
    tn_error_clear();
    tn_scope_enter(&scope);
}

static void end(void)
{
    tn_scope_leave(&scope);
}

TestSuite(expressions, .init = begin, .fini = end, .timeout = 60);

static double at(tn_tensor *t, int64_t i)
{
    cr_assert_not_null(t, "%s", tn_error_last()->message);
    return tn_as_double(tn_select(tn_flatten(t), 0, i));
}

Test(expressions, a_number_takes_the_place_of_a_tensor)
{
    tn_tensor *x = tn_arange(4, .dtype = TN_F32);
    cr_expect_eq(at(tn_add(x, 1), 3), 4);
    cr_expect_eq(at(tn_add(x, 1, .alpha = 2), 3), 5);
    cr_expect_eq(at(tn_add(x, x, .alpha = 2), 3), 9);
    cr_expect_eq(at(tn_pow(tn_sub(tn_mul(x, 0.5f), true), 2), 3), 0.25);
    cr_expect_eq(at(tn_pow(x, x), 3), 27);
    cr_expect_eq(at(tn_rsub(x, 1), 3), -2);
    cr_expect_eq(tn_mul_(x, 2), x);
    cr_expect_eq(at(tn_masked_fill(x, tn_gt(x, 3), -1), 3), -1);
    cr_expect_eq(at(tn_fill_(x, tn_scalar_tensor(8)), 0), 8);
}

/* The kind of the C number is the kind of the operand. */
Test(expressions, numbers_promote_as_numbers)
{
    tn_tensor *i = tn_arange(4);
    cr_expect_eq(tn_mul(i, 2)->dtype, TN_I64);
    cr_expect_eq(tn_mul(i, 2.5)->dtype, TN_F32);
    cr_expect_eq(tn_mul(i, tn_scalar_complex(0, 1))->dtype, TN_C64);
    cr_expect_eq(tn_mul(tn_gt(i, 1), 2)->dtype, TN_I64);
    cr_expect_eq(tn_mul(tn_to_dtype(i, TN_F16), 2.5)->dtype, TN_F16);
}

static int calls;
static tn_tensor *counted(tn_tensor *t)
{
    calls++;
    return t;
}

Test(expressions, operands_are_evaluated_once)
{
    int64_t n = 1;
    tn_tensor *x = tn_ones(TN_INTS(2));
    tn_tensor *y = tn_add(counted(tn_add(counted(tn_add(counted(x), n++)), n++)), n++);
    cr_expect_eq(at(y, 0), 7);
    cr_expect_eq(calls, 3);
    cr_expect_null(tn_add(x, NULL));
    cr_expect(strstr(tn_error_last()->message, "other"), "%s", tn_error_last()->message);
    tn_error_clear();
}

Test(expressions, plain_words)
{
    tn_tensor *x = tn_reshape(tn_arange(6, .dtype = TN_F32), TN_INTS(2, 3));
    cr_expect_eq(tn_transpose(x, 0, 1)->sizes[0], 3);
    cr_expect_eq(at(tn_where(tn_ge(x, 3), x, tn_neg(x)), 2), -2);
    cr_expect_eq(at(tn_sum_dim_IntList(tn_softmax(x, -1), TN_INTS(1)), 1), 1);
    cr_expect_eq(tn_empty(TN_INTS(2, 5), .dtype = TN_I8)->numel, 10);
}

/* `.dim = 1` of an int? sets a member alone; the other one must say that it is there. */
Test(expressions, options_of_optional_types_need_no_braces)
{
    tn_tensor *x = tn_reshape(tn_arange(6), TN_INTS(2, 3));
    cr_expect_eq(tn_argmax(x, .dim = 1)->numel, 2);
    cr_expect_eq(tn_argmax(x, .dim = {0, 1})->numel, 3);
    cr_expect_eq(tn_argmax(x, .dim = {0, 0})->numel, 1);
    cr_expect_eq(tn_argmax(x)->numel, 1);
    cr_expect_eq(tn_slice(x, .dim = 1, .start = 1)->numel, 4);
    cr_expect_eq(tn_slice(x, .dim = 1, .end = -1)->numel, 4);
    cr_expect_eq(tn_slice(x, .dim = 1, .start = 0, .end = 1)->numel, 2);
}

Test(expressions, scoped_is_the_other_way_of_keep)
{
    tn_tensor *kept = NULL;
    TN_SCOPE {
        tn_tensor *made = NULL;
        cr_assert_eq(tn_tensor_from_data(&(double){3}, TN_F64, 0, NULL, &made), TN_OK);
        cr_expect_eq(tn_scoped(made), made);
        kept = tn_keep(tn_mul(made, 2));
    }
    cr_expect_null(tn_scoped(NULL));
    cr_expect_eq(tn_as_double(tn_scoped(kept)), 6);
}

Test(expressions, as_double)
{
    cr_expect_eq(tn_as_double(tn_scalar_tensor(7, .dtype = TN_U8)), 7);
    cr_expect_eq(tn_as_double(tn_scalar_tensor(true, .dtype = TN_BOOL)), 1);
    cr_expect_eq(tn_as_double(tn_scalar_tensor(tn_scalar_complex(2, 3), .dtype = TN_C64)), 2);
    cr_expect(isnan(tn_as_double(NULL)));
    cr_expect_eq(tn_error_last()->status, TN_OK);
    cr_expect(isnan(tn_as_double(tn_arange(3))));
    cr_expect_neq(tn_error_last()->status, TN_OK);
}

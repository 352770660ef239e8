/* The case bank's inplace-version area; a test is named by its case. There are no operators set_ and
 * resize_: BB_ver_05 tells what stands for them. */
#include "case_test.h"

#include <tenon/autograd.h>
#include <tenon/op.h>

TestSuite(inplace_version, .init = case_begin, .fini = case_end, .timeout = 60);

static tn_tensor *leaf(tn_ints sizes, const double *values)
{
    tn_tensor *t = case_tensor(TN_F64, sizes, values);
    cr_assert_eq(tn_set_requires_grad(t, true), TN_OK);
    return t;
}

static tn_tensor *x12(void)
{
    return leaf(CASE_SHAPE(2), CASE_VALUES(1, 2));
}

/* Backward fails, and its message has all of these words. */
static void expect_modified(int line, tn_tensor *loss, const char *const *words)
{
    cr_assert_not_null(loss, "line %d: %s", line, tn_error_last()->message);
    cr_assert_neq(tn_backward_from(loss), TN_OK, "line %d: the write was not noticed", line);
    for (; *words; words++)
        cr_assert(strstr(tn_error_last()->message, *words), "line %d: '%s' is not in: %s", line,
                  *words, tn_error_last()->message);
    tn_error_clear();
}
#define MODIFIED(loss, ...)                                                                        \
    expect_modified(                                                                               \
        __LINE__, loss,                                                                            \
        (const char *const[]){"modified by an inplace operation", ##__VA_ARGS__, NULL})

Test(inplace_version, BB_ver_02)
{
    tn_tensor *x = x12(), *c = tn_clone(x), *v = tn_view(c, TN_INTS(-1)); /* P */
    tn_tensor *o = tn_mul(v, 2.0);
    TN_NO_GRAD {
        cr_assert_not_null(tn_add_(c, 1));
    }
    cr_assert_eq(tn_backward_from(tn_sum(o)), TN_OK, "%s", tn_error_last()->message);
    CASE_EXPECT(tn_grad(x), TN_F64, CASE_SHAPE(2), 2, 2);

    x = x12(), c = tn_clone(x), o = tn_mul(c, c); /* Q */
    cr_assert_not_null(tn_add_(tn_detach(c), 1));
    MODIFIED(tn_sum(o), "[2]", "Clone", "Mul", "version 1", "version 0");

    x = x12(), c = tn_clone(x), o = tn_exp(c); /* R */
    cr_assert_not_null(tn_add_(o, 1));
    MODIFIED(tn_sum(o), "[2]", "Exp", "version 1", "version 0");

    x = x12(), c = tn_clone(x), o = tn_relu(c); /* S */
    cr_assert_not_null(tn_mul_(o, 1));
    MODIFIED(tn_sum(o), "Relu", "version 1", "version 0");
}

static tn_tensor *linear_of_three_dimensions(void)
{
    double values[24], weights[20];
    for (int i = 0; i < 24; i++)
        values[i] = i;
    for (int i = 0; i < 20; i++)
        weights[i] = i - 10;
    tn_tensor *x = leaf(CASE_SHAPE(2, 3, 4), values), *w = leaf(CASE_SHAPE(4, 5), weights);
    return tn_linear(x, tn_t(w));
}

Test(inplace_version, BB_ver_03)
{
    for (int which = 0; which < 3; which++) {
        tn_tensor *y = linear_of_three_dimensions(), *z = tn_mul(y, y);
        cr_assert_not_null(z, "%s", tn_error_last()->message);
        tn_tensor *targets[] = {y, tn_view(y, TN_INTS(6, 5)), tn_view(y, TN_INTS(-1))};
        TN_NO_GRAD {
            cr_assert_not_null(tn_add_(targets[which], 1));
        }
        MODIFIED(tn_sum(z), "[2, 3, 5]");
    }
    for (int which = 0; which < 3; which++) { /* recorded writes are noticed, too */
        tn_tensor *y = linear_of_three_dimensions(), *z = tn_mul(y, y);
        tn_tensor *targets[] = {y, tn_view(y, TN_INTS(6, 5)), tn_view(y, TN_INTS(-1))};
        cr_assert_not_null(tn_add_(targets[which], 1), "%s", tn_error_last()->message);
        MODIFIED(tn_sum(z), "[2, 3, 5]");
    }
}

/* What can replace a tensor's contents or geometry here is an out= argument. One that history knows
 * is refused; the others' versions move. */
Test(inplace_version, BB_ver_05)
{
    cr_assert_null(tn_op_find("aten::set_.source_Tensor"));
    cr_assert_null(tn_op_find("aten::resize_"));

    tn_tensor *x = leaf(CASE_SHAPE(2), CASE_VALUES(2, 3)), *c = tn_clone(x), *out = tn_pow(c, 2);
    tn_tensor *one = case_tensor(TN_F64, CASE_SHAPE(2), CASE_VALUES(1, 1));
    tn_tensor *d = tn_detach(c);
    CASE_FAILS(tn_add_out(one, one, c), "out");
    cr_assert_not_null(tn_add_out(one, one, d), "%s", tn_error_last()->message);
    MODIFIED(tn_sum(out), "version 1", "version 0");

    /* an alias without history takes another shape: c keeps its own, its values and its history;
     * the alias's write counts as any other */
    c = tn_clone(x), out = tn_pow(c, 2), d = tn_detach(c);
    tn_tensor *longer = case_tensor(TN_F64, CASE_SHAPE(3), CASE_VALUES(7, 8, 9));
    CASE_FAILS(tn_add_out(longer, longer, d), "[3]");
    cr_assert_eq(tn_backward((tn_tensors){(tn_tensor *[]){tn_sum(out)}, 1}, NULL,
                             &(tn_backward_options){.keep_graph = true}),
                 TN_OK, "%s", tn_error_last()->message);
    CASE_EXPECT(tn_grad(x), TN_F64, CASE_SHAPE(2), 4, 6);
    cr_assert_not_null(tn_unsqueeze_(d, 0), "%s", tn_error_last()->message);
    cr_assert_eq(d->ndim, 2);
    CASE_EXPECT(c, TN_F64, CASE_SHAPE(2), 2, 3);
    cr_assert_not_null(tn_grad_fn(c));
    MODIFIED(tn_sum(out), "version 1", "version 0");
}

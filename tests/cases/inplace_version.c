/* The case bank's inplace-version area; a test is named by its case. */
#include "case_test.h"

#include <tenon/autograd.h>

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

static tn_tensor *two(void)
{
    return leaf(CASE_SCALAR_SHAPE, CASE_VALUES(2));
}

static tn_tensor *scalar(double value)
{
    return case_tensor(TN_F64, CASE_SCALAR_SHAPE, &value);
}

/* Of the tensor that has the history, set_ and resize_ are refused; in TN_NO_GRAD set_ may swap the
 * elements, which backward notices. */
Test(inplace_version, BB_ver_05)
{
    tn_tensor *x = two(), *c = tn_clone(x), *out = tn_pow(c, 2);
    CASE_FAILS(tn_set__source_Tensor(c, scalar(1)), "modified in place");
    CASE_FAILS(tn_resize_(c, TN_INTS(1)), "modified in place");
    CASE_FAILS(tn_set_(c), "modified in place");
    CASE_EXPECT(c, TN_F64, CASE_SCALAR_SHAPE, 2);
    uint32_t version = tn_tensor_version(c);
    TN_NO_GRAD {
        CASE_FAILS(tn_resize_(c, TN_INTS(1)), "modified in place");
        CASE_FAILS(tn_set__source_Tensor(c, x12()), "shape");
        cr_assert_not_null(tn_set__source_Tensor(c, scalar(1)), "%s", tn_error_last()->message);
    }
    CASE_EXPECT(c, TN_F64, CASE_SCALAR_SHAPE, 1);
    cr_assert_gt(tn_tensor_version(c), version);
    MODIFIED(out, "[]", "Clone", "Pow", "set_");
}

Test(inplace_version, BB_ver_05_an_alias_is_set)
{
    tn_tensor *x = two(), *c = tn_clone(x), *out = tn_pow(c, 2), *d = tn_detach(c);
    tn_tensor *other = case_tensor(TN_F64, CASE_SHAPE(3), CASE_VALUES(7, 8, 9));
    const tn_node *history = tn_grad_fn(c);
    cr_assert_not_null(tn_set__source_Tensor(d, other), "%s", tn_error_last()->message);
    CASE_EXPECT(d, TN_F64, CASE_SHAPE(3), 7, 8, 9);
    cr_assert_not_null(tn_mul_(d, 2)); /* writes other, not c */
    CASE_EXPECT(other, TN_F64, CASE_SHAPE(3), 14, 16, 18);
    cr_assert_not_null(tn_resize_(tn_detach(c), TN_INTS(5)), "%s", tn_error_last()->message);
    CASE_EXPECT(c, TN_F64, CASE_SCALAR_SHAPE, 2);
    cr_assert_eq(tn_grad_fn(c), history);
    cr_assert_eq(tn_backward_from(out), TN_OK, "%s", tn_error_last()->message);
    CASE_EXPECT(tn_grad(x), TN_F64, CASE_SCALAR_SHAPE, 4);
}

/* A saved tensor without history of its own: smaller, larger, set, emptied; in place of it and of an
 * alias, whose resizing to less writes nothing. */
Test(inplace_version, BB_ver_05_a_saved_tensor_is_resized)
{
    for (int which = 0; which < 5; which++) {
        tn_tensor *x = x12(), *w = case_tensor(TN_F64, CASE_SHAPE(2), CASE_VALUES(3, 4));
        tn_tensor *out = tn_mul(x, w);
        tn_tensor *done = which == 0   ? tn_resize_(w, TN_INTS(1))
                          : which == 1 ? tn_resize_(w, TN_INTS(7))
                          : which == 2 ? tn_set__source_Tensor(w, tn_clone(w))
                          : which == 3
                              ? tn_set_(w)
                              : tn_resize_as_(w, case_tensor(TN_F64, CASE_SHAPE(2, 3),
                                                             CASE_VALUES(1, 2, 3, 4, 5, 6)));
        cr_assert_not_null(done, "%s", tn_error_last()->message);
        MODIFIED(tn_sum(out), "Mul");
    }
    tn_tensor *x = x12(), *w = case_tensor(TN_F64, CASE_SHAPE(2), CASE_VALUES(3, 4));
    tn_tensor *out = tn_mul(x, w), *larger = tn_resize_(tn_detach(w), TN_INTS(9));
    cr_assert_not_null(tn_fill_(larger, 0));
    cr_assert_eq(tn_backward_from(tn_sum(out)), TN_OK, "%s", tn_error_last()->message);
    CASE_EXPECT(tn_grad(x), TN_F64, CASE_SHAPE(2), 3, 4);
}

/* A leaf that requires a gradient: its data is swapped as an optimiser would. */
Test(inplace_version, BB_ver_05_data_is_swapped)
{
    tn_tensor *x = x12(), *fresh = case_tensor(TN_F64, CASE_SHAPE(2), CASE_VALUES(5, 6));
    tn_tensor *out = tn_sum(tn_mul(x, x));
    CASE_FAILS(tn_set__source_Tensor(x, fresh), "leaf");
    TN_NO_GRAD {
        cr_assert_not_null(tn_set__source_Tensor(x, fresh), "%s", tn_error_last()->message);
    }
    cr_assert(tn_requires_grad(x) && tn_is_leaf(x));
    MODIFIED(out, "a leaf");
    cr_assert_eq(tn_backward_from(tn_sum(tn_mul(x, x))), TN_OK, "%s", tn_error_last()->message);
    CASE_EXPECT(tn_grad(x), TN_F64, CASE_SHAPE(2), 10, 12);
    tn_tensor *source = x12(), *plain = tn_clone(fresh), *saved = tn_mul(source, source);
    CASE_FAILS(tn_set__source_Tensor(plain, source), "requires a gradient");
    TN_NO_GRAD {
        cr_assert_not_null(tn_set__source_Tensor(plain, source), "%s", tn_error_last()->message);
    }
    cr_assert_eq(tn_backward_from(tn_sum(saved)), TN_OK, "source was not written");
}

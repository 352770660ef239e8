/* Gradients at infinities, at NaN and at kinks, where PyTorch's or the limit's value is expected. */
#include "cases/case_test.h"

#include <tenon/autograd.h>

TestSuite(gradient_edges, .init = case_begin, .fini = case_end, .timeout = 60);

static tn_tensor *leaf(tn_ints sizes, const double *values)
{
    tn_tensor *t = case_tensor(TN_F64, sizes, values);
    cr_assert_eq(tn_set_requires_grad(t, true), TN_OK);
    return t;
}
#define LEAF(n, ...) leaf(CASE_SHAPE(n), CASE_VALUES(__VA_ARGS__))
#define CONSTANT(n, ...) case_tensor(TN_F64, CASE_SHAPE(n), CASE_VALUES(__VA_ARGS__))

static void backward(int line, tn_tensor *result)
{
    cr_assert_not_null(result, "line %d: %s", line, tn_error_last()->message);
    cr_assert_eq(tn_backward_from(tn_sum(result)), TN_OK, "line %d: %s", line,
                 tn_error_last()->message);
}
#define BACKWARD(result) backward(__LINE__, result)
#define EXPECT_GRAD(t, n, ...) CASE_EXPECT(tn_grad(t), TN_F64, CASE_SHAPE(n), __VA_ARGS__)

/* The quadratic part of an infinite difference is not chosen, and says nothing. */
Test(gradient_edges, losses_of_infinite_differences)
{
    tn_tensor *target = CONSTANT(4, 0, 0, 0, 0), *x = LEAF(4, INFINITY, -INFINITY, 0.5, -3);
    BACKWARD(tn_smooth_l1_loss(x, target, .reduction = 0));
    EXPECT_GRAD(x, 4, 1, -1, 0.5, -1);
    tn_tensor *y = LEAF(4, INFINITY, -INFINITY, 0.5, NAN);
    BACKWARD(tn_huber_loss(y, target, .reduction = 0, .delta = 2));
    EXPECT_GRAD(y, 4, 2, -2, 0.5, NAN);
}

/* At 0, where its formula by parts has two kinks, a logit's gradient is sigmoid(0) - target. */
Test(gradient_edges, losses_of_logits_that_are_zero)
{
    tn_tensor *x = LEAF(3, 0, -0.0, 0), *target = CONSTANT(3, 0, 1, 0.5);
    BACKWARD(tn_binary_cross_entropy_with_logits(x, target, .reduction = 0));
    EXPECT_GRAD(x, 3, 0.5, -0.5, 0);
    tn_tensor *y = LEAF(2, 0, 0), *signs = CONSTANT(2, 1, -1);
    BACKWARD(tn_soft_margin_loss(y, signs, .reduction = 0));
    EXPECT_GRAD(y, 2, -0.5, 0.5);
}

/* NaN is beyond no bound: its gradient is not the zero of what was cut off. */
Test(gradient_edges, nan_is_not_cut_off)
{
    tn_tensor *x = LEAF(3, NAN, -1, 1);
    BACKWARD(tn_hardtanh(x));
    EXPECT_GRAD(x, 3, 1, 0, 0);
    x = LEAF(3, NAN, 0, 6);
    BACKWARD(tn_relu6(x));
    EXPECT_GRAD(x, 3, 1, 0, 0);
    x = LEAF(3, NAN, -3, 3);
    BACKWARD(tn_hardsigmoid(x));
    EXPECT_GRAD(x, 3, 1.0 / 6, 0, 0);
    x = LEAF(3, NAN, 0, 1);
    BACKWARD(tn_logit(x, .eps = {0.125, 1}));
    EXPECT_GRAD(x, 3, NAN, 0, 0);
}

/* A power of |x| / norm, not a quotient of powers. */
Test(gradient_edges, norms_of_large_numbers)
{
    tn_tensor *x = LEAF(2, 1e300, 0x1p900), *n = tn_linalg_vector_norm(x, .ord = 0.5);
    BACKWARD(n);
    const double *slope = tn_grad(x)->data, norm = *(const double *)n->data;
    cr_assert_float_eq(slope[0], sqrt(norm / 1e300), 1e-12);
    cr_assert_float_eq(slope[1] / sqrt(norm / 0x1p900), 1, 1e-12);
    x = LEAF(3, INFINITY, 1, 2);
    BACKWARD(tn_linalg_vector_norm(x, .ord = -1)); /* 1 / (1 / inf + 1 / 1 + 1 / 2) */
    cr_assert_eq(((const double *)tn_grad(x)->data)[0], 0);
    cr_assert_float_eq(((const double *)tn_grad(x)->data)[1], 4.0 / 9, 1e-15);
}

/* losses.c - losses at the ends of what they take: probabilities of 0 and 1, targets of 0, and no NaN
 * in their gradients. tests/opinfo has everything in between. */
#include "cases/case_test.h"

#include <tenon/autograd.h>

TestSuite(losses, .init = case_begin, .fini = case_end, .timeout = 60);

static tn_tensor *leaf(int64_t n, const double *values)
{
    tn_tensor *t = case_tensor(TN_F64, TN_INTS(n), values);
    cr_assert_eq(tn_set_requires_grad(t, true), TN_OK);
    return t;
}
#define LEAF(n, ...) leaf(n, CASE_VALUES(__VA_ARGS__))
#define BACKWARD(loss)                                                                             \
    cr_assert_eq(tn_backward_from(tn_sum(loss)), TN_OK, "%s", tn_error_last()->message)

Test(losses, binary_cross_entropy_is_bounded)
{
    tn_tensor *x = LEAF(4, 0, 1, 0, 1);
    tn_tensor *y = case_tensor(TN_F64, TN_INTS(4), CASE_VALUES(0, 1, 1, 0));
    tn_tensor *loss = tn_binary_cross_entropy(x, y, .reduction = 0);
    CASE_EXPECT(loss, TN_F64, TN_INTS(4), 0, 0, 100, 100);
    BACKWARD(loss);
    CASE_EXPECT(tn_grad(x), TN_F64, TN_INTS(4), 1, -1, 0, 0);
    tn_tensor *outside = case_tensor(TN_F32, TN_INTS(2), CASE_VALUES(-0.5, 1.5));
    tn_tensor *half = case_tensor(TN_F32, TN_INTS(2), CASE_VALUES(0.5, 0.5));
    CASE_EXPECT(tn_binary_cross_entropy(outside, half, .reduction = 0), TN_F32, TN_INTS(2), NAN,
                NAN);
    CASE_FAILS(tn_binary_cross_entropy(half, y), "shape");
}

Test(losses, kl_div_without_a_target)
{
    tn_tensor *x = LEAF(2, -3, -1), *y = case_tensor(TN_F64, TN_INTS(2), CASE_VALUES(0, 1));
    tn_tensor *loss = tn_kl_div(x, y, .reduction = 0);
    CASE_EXPECT(loss, TN_F64, TN_INTS(2), 0, 1);
    BACKWARD(loss);
    CASE_EXPECT(tn_grad(x), TN_F64, TN_INTS(2), 0, -1);
}

Test(losses, soft_margins_do_not_overflow)
{
    tn_tensor *x = LEAF(3, -1000, 1000, 0),
              *y = case_tensor(TN_F64, TN_INTS(3), CASE_VALUES(1, 1, 1));
    tn_tensor *loss = tn_soft_margin_loss(x, y, .reduction = 0);
    CASE_EXPECT(loss, TN_F64, TN_INTS(3), 1000, 0, log(2));
    BACKWARD(loss);
    cr_assert_eq(((double *)tn_grad(x)->data)[0], -1);
    cr_assert_eq(((double *)tn_grad(x)->data)[1], 0);
    cr_assert_eq(((double *)tn_grad(x)->data)[2], -0.5);
}

Test(losses, log_sigmoid_forward_has_a_slope_at_0)
{
    tn_tensor *x = LEAF(1, 0), *y, *buffer;
    cr_assert_eq(tn_call_log_sigmoid_forward(x, &y, &buffer), TN_OK);
    BACKWARD(y);
    CASE_EXPECT(tn_grad(x), TN_F64, TN_INTS(1), 0.5);
    tn_release(y);
    tn_release(buffer);
}

Test(losses, multilabel_targets_end_at_the_first_negative)
{
    tn_tensor *x = case_tensor(TN_F64, TN_INTS(4), CASE_VALUES(0.1, 0.2, 0.4, 0.8));
    tn_tensor *y = case_tensor(TN_I64, TN_INTS(4), CASE_VALUES(3, 0, -1, 1)), *loss, *chosen;
    cr_assert_eq(tn_call_multilabel_margin_loss_forward(x, y, 1, &loss, &chosen), TN_OK);
    cr_assert_float_eq(*(double *)loss->data, 0.85, 1e-12);
    CASE_EXPECT(chosen, TN_F64, TN_INTS(4), 1, 0, 0, 1);
    tn_release(loss);
    tn_release(chosen);
    tn_tensor *far = case_tensor(TN_I64, TN_INTS(4), CASE_VALUES(4, -1, -1, -1));
    cr_assert_null(tn_multilabel_margin_loss(x, far));
    tn_error_clear();
}

Test(losses, distances_of_equal_points_have_a_gradient)
{
    tn_tensor *x = LEAF(2, 1, 2), *y = case_tensor(TN_F64, TN_INTS(2), CASE_VALUES(1, 2));
    BACKWARD(tn_pairwise_distance(x, y, .eps = 0));
    CASE_EXPECT(tn_grad(x), TN_F64, TN_INTS(2), 0, 0);
}

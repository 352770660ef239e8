/* values.c - gradients at places where a formula could divide zero by zero, multiply zero by
 * infinity, or count an element twice. tests/opinfo compares gradients everywhere else. */
#include "cases/case_test.h"

#include <tenon/autograd.h>

TestSuite(gradient_values, .init = case_begin, .fini = case_end, .timeout = 60);

static tn_tensor *leaf(tn_ints sizes, const double *values)
{
    tn_tensor *t = case_tensor(TN_F64, sizes, values);
    cr_assert_eq(tn_set_requires_grad(t, true), TN_OK);
    return t;
}
#define LEAF(n, ...) leaf(CASE_SHAPE(n), CASE_VALUES(__VA_ARGS__))

static void backward(int line, tn_tensor *loss)
{
    cr_assert_eq(tn_backward_from(loss), TN_OK, "line %d: %s", line, tn_error_last()->message);
}
#define BACKWARD(loss) backward(__LINE__, loss)
#define EXPECT_GRAD(t, n, ...) CASE_EXPECT(tn_grad(t), TN_F64, CASE_SHAPE(n), __VA_ARGS__)

Test(gradient_values, prod_has_no_division)
{
    tn_tensor *one = LEAF(3, 2, 0, 5), *two = LEAF(3, 0, 0, 5), *none = LEAF(3, 2, 3, 5);
    BACKWARD(tn_prod(one));
    EXPECT_GRAD(one, 3, 0, 10, 0);
    BACKWARD(tn_prod(two));
    EXPECT_GRAD(two, 3, 0, 0, 0);
    BACKWARD(tn_prod(none));
    EXPECT_GRAD(none, 3, 15, 10, 6);
}

Test(gradient_values, equals_share_evenly)
{
    tn_tensor *x = LEAF(4, 3, 1, 3, 3), *y = LEAF(3, 1, NAN, NAN);
    BACKWARD(tn_mul(tn_amax(x), 3));
    EXPECT_GRAD(x, 4, 1, 0, 1, 1);
    BACKWARD(tn_amax(y));
    EXPECT_GRAD(y, 3, 0, 0.5, 0.5);
    tn_tensor *a = LEAF(3, 1, 2, 3), *b = LEAF(3, 2, 2, 2);
    BACKWARD(tn_sum(tn_maximum(a, b)));
    EXPECT_GRAD(a, 3, 0, 0.5, 1);
    EXPECT_GRAD(b, 3, 1, 0.5, 0);
}

Test(gradient_values, std_of_equal_elements_is_flat)
{
    tn_tensor *x = LEAF(3, 2, 2, 2);
    BACKWARD(tn_std(x));
    EXPECT_GRAD(x, 3, 0, 0, 0);
}

Test(gradient_values, logsumexp_of_nothing_is_flat)
{
    tn_tensor *x = LEAF(2, -INFINITY, -INFINITY), *y = LEAF(2, -INFINITY, 1);
    BACKWARD(tn_logsumexp(x, TN_INTS(0)));
    EXPECT_GRAD(x, 2, 0, 0);
    BACKWARD(tn_logsumexp(y, TN_INTS(0)));
    EXPECT_GRAD(y, 2, 0, 1);
}

Test(gradient_values, what_is_not_selected_is_zero)
{
    tn_tensor *x = LEAF(3, 1000, -1000, 1);
    BACKWARD(tn_sum(tn_elu(x)));
    CASE_EXPECT(tn_narrow(tn_grad(x), 0, 0, 2), TN_F64, CASE_SHAPE(2), 1, 0);
    tn_tensor *y = LEAF(3, 1000, -1000, 0);
    BACKWARD(tn_sum(tn_softplus(y)));
    EXPECT_GRAD(y, 3, 1, 0, 0.5);
}

/* Windows that overlap give their shared elements more; a base that is expanded shares. */
Test(gradient_values, as_strided)
{
    tn_tensor *x = LEAF(5, 1, 2, 3, 4, 5);
    BACKWARD(tn_sum(tn_unfold(x, 0, 3, 1)));
    EXPECT_GRAD(x, 5, 1, 2, 3, 2, 1);
    tn_tensor *y = LEAF(6, 1, 2, 3, 4, 5, 6);
    BACKWARD(tn_sum(tn_as_strided(y, TN_INTS(2, 2), TN_INTS(1, 1), .storage_offset = 1)));
    EXPECT_GRAD(y, 6, 0, 1, 2, 1, 0, 0);
    tn_tensor *z = LEAF(6, 1, 2, 3, 4, 5, 6);
    tn_tensor *part = tn_narrow(z, 0, 2, 3);
    BACKWARD(tn_sum(tn_as_strided(part, TN_INTS(2), TN_INTS(2))));
    EXPECT_GRAD(z, 6, 0, 0, 1, 0, 1, 0);
}

Test(gradient_values, a_larger_src_is_padded)
{
    tn_tensor *self = leaf(CASE_SHAPE(1, 3), CASE_VALUES(1, 2, 3));
    tn_tensor *src = leaf(CASE_SHAPE(2, 3), CASE_VALUES(1, 2, 3, 4, 5, 6));
    tn_tensor *index = case_tensor(TN_I64, CASE_SHAPE(1, 2), CASE_VALUES(0, 0));
    BACKWARD(tn_sum(tn_scatter_add(self, 0, index, src)));
    CASE_EXPECT(tn_grad(src), TN_F64, CASE_SHAPE(2, 3), 1, 1, 0, 0, 0, 0);
}

Test(gradient_values, embedding_leaves_padding_out)
{
    tn_tensor *weight = leaf(CASE_SHAPE(3, 2), CASE_VALUES(1, 2, 3, 4, 5, 6));
    tn_tensor *index = case_tensor(TN_I64, CASE_SHAPE(4), CASE_VALUES(0, 2, 2, 1));
    BACKWARD(tn_sum(tn_embedding(weight, index, .padding_idx = 1)));
    CASE_EXPECT(tn_grad(weight), TN_F64, CASE_SHAPE(3, 2), 1, 1, 0, 0, 2, 2);
    tn_tensor *even = leaf(CASE_SHAPE(3, 2), CASE_VALUES(1, 2, 3, 4, 5, 6));
    BACKWARD(tn_sum(tn_embedding(even, index, .scale_grad_by_freq = true)));
    CASE_EXPECT(tn_grad(even), TN_F64, CASE_SHAPE(3, 2), 1, 1, 1, 1, 1, 1);
}

/* An ignored sample has no gradient, whatever stands in its row. */
Test(gradient_values, cross_entropy_ignores)
{
    tn_tensor *x = leaf(CASE_SHAPE(2, 2), CASE_VALUES(0, 0, NAN, 1));
    tn_tensor *target = case_tensor(TN_I64, CASE_SHAPE(2), CASE_VALUES(1, -100));
    tn_tensor *loss = tn_cross_entropy_loss(tn_narrow(x, 0, 0, 1), tn_narrow(target, 0, 0, 1));
    BACKWARD(loss);
    CASE_EXPECT(tn_grad(x), TN_F64, CASE_SHAPE(2, 2), 0.5, -0.5, 0, 0);
    tn_tensor *log_p = leaf(CASE_SHAPE(2, 2), CASE_VALUES(-1, -2, NAN, -INFINITY));
    BACKWARD(tn_nll_loss_nd(log_p, target));
    CASE_EXPECT(tn_grad(log_p), TN_F64, CASE_SHAPE(2, 2), 0, -1, 0, 0);
}

Test(gradient_values, lists_of_views_with_parts_unused)
{
    tn_tensor *x = leaf(CASE_SHAPE(3, 2), CASE_VALUES(1, 2, 3, 4, 5, 6));
    tn_tensors rows = {NULL, 0};
    cr_assert_eq(tn_call_unbind_int(x, 0, &rows), TN_OK);
    BACKWARD(tn_sum(rows.data[1]));
    CASE_EXPECT(tn_grad(x), TN_F64, CASE_SHAPE(3, 2), 0, 0, 1, 1, 0, 0);
    tn_tensors_release(&rows);
}

/* indexing.c - gradients of indexing where an element is named twice, not at all, or by its end. */
#include "cases/case_test.h"

#include <tenon/autograd.h>

TestSuite(gradient_indexing, .init = case_begin, .fini = case_end, .timeout = 60);

static tn_tensor *leaf(tn_ints sizes, const double *values)
{
    tn_tensor *t = case_tensor(TN_F64, sizes, values);
    cr_assert_eq(tn_set_requires_grad(t, true), TN_OK);
    return t;
}
#define LEAF(n, ...) leaf(CASE_SHAPE(n), CASE_VALUES(__VA_ARGS__))
#define INDEX(n, ...) case_tensor(TN_I64, CASE_SHAPE(n), CASE_VALUES(__VA_ARGS__))
#define MASK(n, ...) case_tensor(TN_BOOL, CASE_SHAPE(n), CASE_VALUES(__VA_ARGS__))

static void backward(int line, tn_tensor *result, const double *weights)
{
    tn_tensor *w = case_tensor(TN_F64, (tn_ints){result->sizes, result->ndim}, weights);
    cr_assert_eq(tn_backward_from(tn_sum(tn_mul(result, w))), TN_OK, "line %d: %s", line,
                 tn_error_last()->message);
}
#define BACKWARD(result, ...) backward(__LINE__, result, CASE_VALUES(__VA_ARGS__))
#define EXPECT_GRAD(t, n, ...) CASE_EXPECT(tn_grad(t), TN_F64, CASE_SHAPE(n), __VA_ARGS__)

Test(gradient_indexing, what_is_read_twice_gets_both)
{
    tn_tensor *x = LEAF(3, 5, 6, 7), *y = LEAF(3, 5, 6, 7), *z = LEAF(3, 5, 6, 7);
    BACKWARD(tn_index(x, TN_TENSORS(INDEX(4, 2, -1, 0, 2))), 1, 2, 4, 8);
    EXPECT_GRAD(x, 3, 4, 0, 11);
    BACKWARD(tn_take(y, INDEX(4, 2, -1, 0, 2)), 1, 2, 4, 8);
    EXPECT_GRAD(y, 3, 4, 0, 11);
    BACKWARD(tn_index(z, TN_TENSORS(MASK(3, 1, 0, 1))), 3, 4);
    EXPECT_GRAD(z, 3, 3, 0, 4);
}

Test(gradient_indexing, what_is_overwritten_gets_nothing)
{
    tn_tensor *x = LEAF(3, 5, 6, 7), *v = LEAF(2, 1, 2);
    BACKWARD(tn_index_put(x, TN_TENSORS(INDEX(2, 0, -1)), v), 1, 2, 4);
    EXPECT_GRAD(x, 3, 0, 2, 0);
    EXPECT_GRAD(v, 2, 1, 4);
    tn_tensor *one = LEAF(1, 3);
    BACKWARD(tn_index_put(x, TN_TENSORS(INDEX(2, 0, -1)), one, .accumulate = true), 1, 2, 4);
    EXPECT_GRAD(one, 1, 5);
    EXPECT_GRAD(x, 3, 1, 4, 4);
}

/* One slice named twice is filled once. */
Test(gradient_indexing, a_fill_counts_once)
{
    tn_tensor *x = LEAF(3, 5, 6, 7), *v = leaf(CASE_SCALAR_SHAPE, CASE_VALUES(9));
    BACKWARD(tn_index_fill_int_Tensor(x, 0, INDEX(3, 2, -1, 0), v), 1, 2, 4);
    EXPECT_GRAD(x, 3, 0, 2, 0);
    CASE_EXPECT(tn_grad(v), TN_F64, CASE_SCALAR_SHAPE, 5);
}

/* source's beginning was taken; the mask is of columns, so self's gradient is summed. */
Test(gradient_indexing, a_mask_takes_the_beginning_of_source)
{
    tn_tensor *x = LEAF(3, 5, 6, 7), *source = LEAF(4, 1, 2, 3, 4);
    tn_tensor *mask = case_tensor(TN_BOOL, TN_INTS(2, 3), CASE_VALUES(1, 0, 0, 0, 1, 0));
    BACKWARD(tn_masked_scatter(x, mask, source), 1, 2, 4, 8, 16, 32);
    EXPECT_GRAD(x, 3, 8, 2, 36);
    EXPECT_GRAD(source, 4, 1, 16, 0, 0);
    tn_tensor *y = LEAF(3, 5, 6, 7);
    BACKWARD(tn_masked_select(y, mask), 3, 4);
    EXPECT_GRAD(y, 3, 3, 4, 0);
}

/* An infinite gradient where the mask took another number is no NaN. */
Test(gradient_indexing, what_is_not_chosen_has_gradient_zero)
{
    tn_tensor *y = LEAF(2, 0, 1), *mask = MASK(2, 0, 1);
    BACKWARD(tn_masked_scatter(y, mask, LEAF(1, 3)), INFINITY, INFINITY);
    EXPECT_GRAD(y, 2, INFINITY, 0);
}

/* A product's gradient is the product of the others, also where one or two of them are zero. */
Test(gradient_indexing, products_at_zero)
{
    tn_tensor *x = LEAF(2, 3, 0), *src = LEAF(4, 0, 5, 0, 2), *one = LEAF(3, 0, 5, 2);
    BACKWARD(tn_scatter_reduce_two(x, 0, INDEX(4, 0, 0, 1, 1), src, "prod"), 1, 1);
    EXPECT_GRAD(x, 2, 0, 0);
    EXPECT_GRAD(src, 4, 15, 0, 0, 0);
    tn_tensor *y = LEAF(1, 3);
    BACKWARD(tn_scatter_reduce(y, 0, INDEX(3, 0, 0, 0), one, "multiply"), 1);
    EXPECT_GRAD(y, 1, 0);
    EXPECT_GRAD(one, 3, 30, 0, 0);
}

Test(gradient_indexing, equal_extremes_share)
{
    tn_tensor *x = LEAF(2, 4, 1), *src = LEAF(3, 4, 4, 9);
    BACKWARD(tn_scatter_reduce_two(x, 0, INDEX(3, 0, 0, 1), src, "amax"), 6, 1);
    EXPECT_GRAD(x, 2, 2, 0);
    EXPECT_GRAD(src, 3, 2, 2, 1);
    tn_tensor *y = LEAF(2, 4, 1), *s = LEAF(3, 4, 4, 9);
    BACKWARD(tn_scatter_reduce_two(y, 0, INDEX(3, 0, 0, 0), s, "amin", .include_self = false), 6,
             1);
    EXPECT_GRAD(y, 2, 0, 1);
    EXPECT_GRAD(s, 3, 3, 3, 0);
}

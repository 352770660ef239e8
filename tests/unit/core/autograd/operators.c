/* The engine over recorded operators: depth, gradients of gradients, writes, and failing
 * allocations. What each operator's gradient is, tests/opinfo says. */
#include "autograd_test.h"

TestSuite(operators, .init = load_plugins, .timeout = 300);

/* y = f(.. f(x)), with f one of mul by b, add b, exp of zero's neighbourhood. */
static tn_tensor *operator_chain(tn_tensor *x, tn_tensor *b, int64_t n)
{
    tn_tensor *y = x, *z = NULL;
    tn_retain(x);
    for (int64_t i = 0; i < n; i++) {
        if (i % 3 == 0)
            OK(tn_call_mul_Tensor(y, b, &z));
        else if (i % 3 == 1)
            OK(tn_call_add_Tensor(y, b, tn_scalar_int(1), &z));
        else
            OK(tn_call_sub_Tensor(y, b, tn_scalar_int(1), &z));
        tn_release(y);
        y = z;
    }
    return y;
}

Test(operators, a_million_calls)
{
    tn_tensor *x = LEAF(2), *b = VECTOR(1), *y = operator_chain(x, b, 1000000);
    OK(tn_backward_from(y));
    EXPECT(tn_grad(x), 1);
    tn_release(y);
    y = operator_chain(x, b, 1000000); /* and one that is never walked */
    tn_release(y);
    tn_release(b);
    tn_release(x);
}

static tn_tensor *cube_of(tn_tensor *x)
{
    tn_tensor *square = NULL, *cube = NULL;
    OK(tn_call_mul_Tensor(x, x, &square));
    OK(tn_call_mul_Tensor(square, x, &cube));
    tn_release(square);
    return cube;
}

Test(operators, third_derivative_of_a_cube)
{
    tn_backward_options create = {.create_graph = true};
    tn_tensor *x = LEAF(2), *y = cube_of(x), *d[3] = {NULL};
    OK(grad_with(y, NULL, x, &create, &d[0]));
    OK(grad_with(d[0], NULL, x, &create, &d[1]));
    OK(grad_with(d[1], NULL, x, &create, &d[2]));
    EXPECT(d[0], 12);
    EXPECT(d[1], 12);
    EXPECT(d[2], 6);
    for (int i = 0; i < 3; i++)
        tn_release(d[i]);
    tn_release(y);
    tn_release(x);
}

Test(operators, a_leaf_s_grad_can_have_history)
{
    tn_backward_options create = {.create_graph = true};
    tn_tensor *x = LEAF(2), *y = cube_of(x);
    OK(backward_with(y, NULL, &create));
    cr_assert(tn_requires_grad(tn_grad(x)));
    tn_tensor *first = tn_grad(x), *second = NULL;
    tn_retain(first);
    OK(backward_with(y, NULL, &create));
    EXPECT(tn_grad(x), 24);
    EXPECT(first, 12); /* not added to in place */
    OK(grad_with(tn_grad(x), NULL, x, NULL, &second));
    EXPECT(second, 24);
    OK(tn_set_grad(x, NULL)); /* which held the graph that holds x */
    tn_release(second);
    tn_release(first);
    tn_release(y);
    tn_release(x);
}

Test(operators, without_create_graph_nothing_has_history)
{
    tn_tensor *x = LEAF(2), *g = LEAF(1), *y = cube_of(x), *out = NULL;
    OK(grad_with(y, g, x, &(tn_backward_options){.keep_graph = true}, &out));
    cr_assert(!tn_requires_grad(out));
    tn_release(out);
    OK(grad_with(x, g, x, NULL, &out)); /* the given gradient itself */
    cr_assert(!tn_requires_grad(out));
    tn_release(out);
    OK(grad_with(y, g, x, &(tn_backward_options){.create_graph = true}, &out));
    tn_tensor *of_g = NULL;
    OK(grad_with(out, NULL, g, NULL, &of_g));
    EXPECT(of_g, 12);
    tn_release(of_g);
    tn_release(out);
    tn_release(y);
    tn_release(g);
    tn_release(x);
}

Test(operators, a_retained_gradient_follows_a_write_in_place)
{
    tn_tensor *x = LEAF(2), *b = VECTOR(5), *m = NULL, *y = NULL, *same = NULL;
    OK(tn_call_add_Tensor(x, b, tn_scalar_int(1), &m));
    OK(tn_retain_grad(m));
    OK(tn_call_mul__Tensor(m, b, &same));
    tn_release(same);
    OK(tn_call_mul_Scalar(m, tn_scalar_int(3), &y));
    OK(tn_backward_from(y));
    EXPECT(tn_grad(m), 3); /* of what m is now, not of what it was */
    EXPECT(tn_grad(x), 15);
    tn_release(y);
    tn_release(m);
    tn_release(b);
    tn_release(x);
}

Test(operators, a_graph_goes_without_its_tensors)
{
    tn__memory_stats before, after;
    tn__memory_get(&before);
    for (int i = 0; i < 2; i++) {
        tn_tensor *x = LEAF(2), *b = LEAF(3), *y = operator_chain(x, b, 30);
        if (i)
            OK(backward_with(y, NULL, &(tn_backward_options){.keep_graph = true}));
        tn_release(x);
        tn_release(b);
        tn_release(y);
    }
    tn__memory_get(&after);
    cr_assert_eq(after.live_blocks, before.live_blocks);
    cr_assert_eq(after.live_allocations, before.live_allocations);
}

/* loss = sum((w x + b)^2), twice, then its second derivative along w. */
static tn_status whole_run(void)
{
    double values[] = {1, 2, 3, 4};
    int64_t n = 4;
    tn_tensor *t[8] = {NULL}, *grad = NULL;
    tn_tensor **w = &t[0], **x = &t[1], **b = &t[2], **loss = &t[7];
    tn_status status = TN_OK;
#define STEP(call) status = status == TN_OK ? (call) : status
    for (int i = 0; i < 3; i++)
        STEP(tn_tensor_from_data(values, TN_F64, 1, &n, &t[i]));
    STEP(tn_set_requires_grad(*w, true));
    STEP(tn_set_requires_grad(*b, true));
    STEP(tn_call_mul_Tensor(*w, *x, &t[3]));
    STEP(tn_call_add_Tensor(t[3], *b, tn_scalar_int(1), &t[4]));
    STEP(tn_call_mul_Tensor(t[4], t[4], &t[5]));
    STEP(tn_call_mul__Scalar(t[5], tn_scalar_int(1), &t[6]));
    STEP(tn_call_sum(t[5], TN_DTYPE_NONE, loss));
    STEP(backward_with(*loss, NULL, &(tn_backward_options){.keep_graph = true}));
    STEP(grad_with(*loss, NULL, *w, &(tn_backward_options){.create_graph = true}, &grad));
    STEP(tn_backward((tn_tensors){&grad, 1}, &(tn_tensors){x, 1}, NULL));
    if (status == TN_OK)
        EXPECT(grad, 2 * 1 * 2, 2 * 2 * 6, 2 * 3 * 12, 2 * 4 * 20);
#undef STEP
    tn_release(grad);
    for (int i = 0; i < 8; i++)
        tn_release(t[i]);
    return status;
}

Test(operators, every_allocation_may_fail)
{
    every_failure(whole_run, 60);
}

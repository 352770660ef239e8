/* Hooks of tensors, nodes and leaves: when they are called, what they may do, and how they go. */
#include "autograd_test.h"

TestSuite(hooks, .init = load_plugins, .timeout = 60);

typedef struct journal {
    int calls, released;
    double last;      /* first element of the gradient last seen */
    double factor;    /* of the replacement; 0: none */
    tn_hook *removes; /* when called */
    tn_status fails;
} journal;

static tn_status on_grad(void *data, tn_tensor *grad, tn_tensor **replacement)
{
    journal *l = data;
    l->calls++;
    l->last = *(double *)grad->data;
    if (l->removes)
        tn_hook_remove(l->removes);
    l->removes = NULL;
    if (l->factor != 0)
        return tn_call_mul_Scalar(grad, tn_scalar_float(l->factor), replacement);
    return l->fails ? tn__fail(NULL, l->fails, "the hook says no") : TN_OK;
}

static void on_release(void *data)
{
    ((journal *)data)->released++;
}

Test(hooks, of_a_leaf)
{
    journal l = {.factor = 2}, second = {0};
    tn_tensor *x = LEAF(1), *y = apply1(&TRIPLE, NULL, x);
    tn_hook *h = NULL;
    OK(tn_tensor_hook(x, on_grad, &l, on_release, &h));
    OK(tn_tensor_hook(x, on_grad, &second, NULL, NULL));
    OK(tn_backward_from(y));
    EXPECT(tn_grad(x), 6);
    cr_assert_eq(l.last, 3);
    cr_assert_eq(second.last, 6);
    tn_hook_remove(h);
    cr_assert_eq(l.released, 1);
    OK(tn_backward_from(y));
    EXPECT(tn_grad(x), 9);
    cr_assert_eq(l.calls, 1);
    cr_assert_eq(second.calls, 2);
    tn_release(y);
    tn_release(x);
}

Test(hooks, see_the_sum_of_all_paths)
{
    journal l = {0};
    tn_tensor *x = LEAF(1), *y = apply2(&PLUS, x, x);
    OK(tn_tensor_hook(x, on_grad, &l, NULL, NULL));
    OK(tn_backward_from(y));
    cr_assert_eq(l.calls, 1);
    cr_assert_eq(l.last, 2);
    tn_release(y);
    tn_release(x);
}

Test(hooks, of_a_tensor_that_is_gone)
{
    journal l = {.factor = 10};
    tn_hook *h = NULL;
    tn_tensor *x = LEAF(1), *m = apply1(&TRIPLE, NULL, x);
    OK(tn_tensor_hook(m, on_grad, &l, on_release, &h));
    tn_tensor *y = apply1(&TRIPLE, NULL, m);
    tn_release(m);
    OK(tn_backward_from(y));
    EXPECT(tn_grad(x), 90);
    cr_assert_eq(l.calls, 1);
    cr_assert_eq(l.last, 3);
    tn_release(y);
    cr_assert_eq(l.released, 1, "the node took its hook along");
    tn_hook_remove(h);
    cr_assert_eq(l.released, 1);
    tn_release(x);
}

Test(hooks, of_one_of_two_outputs)
{
    journal l = {0};
    tn_tensor *x = LEAF(1), *y[2] = {NULL};
    OK(tn_function_apply(&FORK, NULL, &x, 1, y, 2));
    OK(tn_tensor_hook(y[1], on_grad, &l, NULL, NULL));
    OK(tn_backward_from(y[0]));
    cr_assert_eq(l.calls, 0);
    OK(tn_backward_from(y[1]));
    cr_assert_eq(l.calls, 1);
    tn_release(y[0]);
    tn_release(y[1]);
    tn_release(x);
}

Test(hooks, before_a_capture)
{
    journal l = {.factor = 5};
    tn_tensor *x = LEAF(1), *y = apply1(&TRIPLE, NULL, x), *out = NULL;
    OK(tn_tensor_hook(x, on_grad, &l, NULL, NULL));
    OK(grad_with(y, NULL, x, NULL, &out));
    EXPECT(out, 15);
    cr_assert_null(tn_grad(x));
    tn_release(out);
    tn_release(y);
    tn_release(x);
}

Test(hooks, a_hook_may_remove_itself_and_the_next_one)
{
    journal first = {0}, second = {0};
    tn_hook *h1 = NULL, *h2 = NULL;
    tn_tensor *x = LEAF(1), *y = apply1(&TRIPLE, NULL, x);
    OK(tn_tensor_hook(x, on_grad, &first, on_release, &h1));
    OK(tn_tensor_hook(x, on_grad, &second, on_release, &h2));
    first.removes = h2;
    OK(tn_backward_from(y));
    cr_assert_eq(second.calls, 0);
    cr_assert_eq(second.released, 1);
    first.removes = h1;
    OK(tn_backward_from(y));
    cr_assert_eq(first.calls, 2);
    cr_assert_eq(first.released, 1);
    OK(tn_backward_from(y));
    cr_assert_eq(first.calls, 2);
    tn_release(y);
    tn_release(x);
}

Test(hooks, a_failing_hook_ends_the_pass)
{
    journal l = {.fails = TN_ERR_ARGUMENT};
    tn_tensor *x = LEAF(1), *m = apply1(&TRIPLE, NULL, x), *y = apply1(&TRIPLE, NULL, m);
    OK(tn_tensor_hook(m, on_grad, &l, NULL, NULL));
    FAILS(tn_backward_from(y), "the hook says no");
    cr_assert_null(tn_grad(x));
    tn_release(y);
    tn_release(m);
    tn_release(x);
}

static tn_status wrong_size(void *data, tn_tensor *grad, tn_tensor **replacement)
{
    (void)data, (void)grad;
    *replacement = VECTOR(1, 2, 3);
    return TN_OK;
}

Test(hooks, a_replacement_must_fit)
{
    tn_tensor *x = LEAF(1, 2), *y = apply1(&TRIPLE, NULL, x), *g = VECTOR(1, 1);
    OK(tn_tensor_hook(x, wrong_size, NULL, NULL, NULL));
    FAILS(backward_with(y, g, NULL), "a hook's replacement: ");
    tn_release(g);
    tn_release(y);
    tn_release(x);
}

typedef struct node_log {
    int calls, released;
    double inputs, outputs; /* first elements; -1: undefined or not given */
} node_log;

static tn_status on_node(void *data, tn_node *node, tn_tensors inputs, tn_tensors outputs)
{
    node_log *l = data;
    cr_assert_str_eq(tn_node_name(node), "Triple");
    l->calls++;
    l->inputs = inputs.len && inputs.data[0] ? *(double *)inputs.data[0]->data : -1;
    l->outputs = outputs.len && outputs.data[0] ? *(double *)outputs.data[0]->data : -1;
    return TN_OK;
}

static void node_released(void *data)
{
    ((node_log *)data)->released++;
}

Test(hooks, of_nodes)
{
    node_log before = {0}, after = {0};
    tn_tensor *x = LEAF(1), *m = apply1(&TRIPLE, NULL, x), *y = apply1(&SAME, NULL, m);
    tn_hook *h = NULL;
    OK(tn_node_hook_before(tn_grad_fn(m), on_node, &before, node_released, NULL));
    OK(tn_node_hook_after(tn_grad_fn(m), on_node, &after, node_released, &h));
    OK(tn_backward_from(y));
    cr_assert_eq(before.calls, 1);
    cr_assert_eq(before.inputs, -1);
    cr_assert_eq(before.outputs, 1);
    cr_assert_eq(after.calls, 1);
    cr_assert_eq(after.inputs, 3);
    cr_assert_eq(after.outputs, 1);
    tn_hook_remove(h);
    cr_assert_eq(after.released, 1);
    OK(tn_backward_from(y));
    cr_assert_eq(before.calls, 2);
    cr_assert_eq(after.calls, 1);
    tn_release(y);
    tn_release(m);
    tn_release(x);
    cr_assert_eq(before.released, 1);
}

static tn_status on_leaf(void *data, tn_tensor *leaf)
{
    journal *l = data;
    l->calls++;
    l->last = *(double *)tn_grad(leaf)->data;
    return tn_set_grad(leaf, NULL); /* as an optimiser in the backward pass does */
}

Test(hooks, after_a_leaf_was_added_to)
{
    journal l = {0};
    tn_tensor *x = LEAF(1), *y = apply1(&TRIPLE, NULL, x);
    OK(tn_leaf_hook_after(x, on_leaf, &l, on_release, NULL));
    OK(tn_backward_from(y));
    OK(tn_backward_from(y));
    cr_assert_eq(l.calls, 2);
    cr_assert_eq(l.last, 3);
    cr_assert_null(tn_grad(x));
    tn_release(y);
    tn_release(x);
    cr_assert_eq(l.released, 1);
}

Test(hooks, only_where_they_can_be_called)
{
    journal l = {0};
    tn_hook *h = (tn_hook *)&l;
    tn_tensor *plain = VECTOR(1), *x = LEAF(1), *y = apply1(&TRIPLE, NULL, x);
    FAILS(tn_tensor_hook(plain, on_grad, &l, on_release, &h), "requires no gradient");
    FAILS(tn_leaf_hook_after(y, on_leaf, &l, on_release, NULL), "no leaf");
    FAILS(tn_tensor_hook(NULL, on_grad, &l, NULL, NULL), "tensor is missing");
    FAILS(tn_tensor_hook(x, NULL, &l, NULL, NULL), "hook is missing");
    FAILS(tn_node_hook_before(NULL, on_node, &l, NULL, NULL), "node is missing");
    cr_assert_eq(l.released, 0, "what was not taken stays the caller's");
    tn_hook_remove(NULL);
    tn_release(y);
    tn_release(x);
    tn_release(plain);
}

/* ---- retain_grad ----------------------------------------------------------------------------- */
Test(hooks, a_retained_gradient)
{
    journal l = {.factor = 2};
    tn_tensor *x = LEAF(1), *m = apply1(&TRIPLE, NULL, x), *y = apply1(&TRIPLE, NULL, m);
    OK(tn_retain_grad(m));
    OK(tn_retain_grad(m));
    OK(tn_retain_grad(x));
    OK(tn_tensor_hook(m, on_grad, &l, NULL, NULL));
    OK(tn_backward_from(y));
    EXPECT(tn_grad(m), 6);
    EXPECT(tn_grad(x), 18);
    OK(tn_backward_from(y));
    EXPECT(tn_grad(m), 12);
    tn_tensor *plain = VECTOR(1);
    FAILS(tn_retain_grad(plain), "requires no gradient");
    tn_release(plain);
    tn_release(y);
    tn_release(m);
    tn_release(x);
}

Test(hooks, a_retaining_tensor_may_go_before_the_pass)
{
    tn_tensor *x = LEAF(1), *m = apply1(&TRIPLE, NULL, x), *y = apply1(&TRIPLE, NULL, m);
    OK(tn_retain_grad(m));
    tn_release(m);
    OK(tn_backward_from(y));
    EXPECT(tn_grad(x), 9);
    tn_release(y);
    tn_release(x);
}

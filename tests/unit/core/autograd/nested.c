/* Passes inside of passes: derivatives and hooks that call backward, at any depth. */
#include "autograd_test.h"

TestSuite(nested, .init = load_plugins, .timeout = 120);

typedef struct nest {
    int levels, reached;
    tn_status fails;
} nest;

static tn_status nest_backward(tn_grad_call *g);
static const tn_function_decl NEST = {"Nest", same_forward, nest_backward, NULL};

/* Its gradient is found by building a graph of its own and walking that. */
static tn_status nest_backward(tn_grad_call *g)
{
    nest *n = g->context;
    tn_tensor *x = LEAF(1), *y = NULL, *out = NULL;
    tn_status status = TN_OK;
    if (++n->reached == n->levels) {
        tn_release(x);
        return n->fails ? tn__fail(NULL, n->fails, "too deep") : same_backward(g);
    }
    TN_ENABLE_GRAD {
        y = apply1(&NEST, n, x);
    }
    status = grad_with(y, NULL, x, NULL, &out);
    g->out[0] = out;
    tn_release(y);
    tn_release(x);
    return status;
}

Test(nested, ten_thousand_levels)
{
    nest n = {.levels = 10000};
    tn_tensor *x = LEAF(1), *y = apply1(&NEST, &n, x);
    OK(tn_backward_from(y));
    EXPECT(tn_grad(x), 1);
    cr_assert_eq(n.reached, 10000);
    tn_release(y);
    tn_release(x);
}

Test(nested, an_error_comes_up_from_other_threads)
{
    nest n = {.levels = 100, .fails = TN_ERR_ARGUMENT};
    tn_tensor *x = LEAF(1), *y = apply1(&NEST, &n, x);
    FAILS(tn_backward_from(y), "too deep");
    cr_assert_null(tn_grad(x));
    cr_assert(tn_grad_enabled());
    tn_release(y);
    tn_release(x);
}

static tn_status self_backward(tn_grad_call *g)
{
    tn_status status = tn_backward_from(*(tn_tensor **)g->context);
    return status == TN_OK ? same_backward(g) : status;
}

Test(nested, a_node_cannot_walk_through_itself)
{
    static const tn_function_decl SELF = {"Self", same_forward, self_backward, NULL};
    tn_tensor *x = LEAF(1), *y = NULL;
    y = apply1(&SELF, &y, x);
    FAILS(tn_backward_from(y), "Self is running");
    tn_release(y);
    tn_release(x);
}

static tn_status walks_again(void *data, tn_tensor *grad, tn_tensor **replacement)
{
    (void)grad, (void)replacement;
    return tn_backward_from(data);
}

Test(nested, a_hook_may_walk_another_graph_to_the_same_leaf)
{
    tn_tensor *x = LEAF(1), *y = apply1(&TRIPLE, NULL, x), *m = apply1(&SAME, NULL, x);
    tn_tensor *z = apply1(&SAME, NULL, m);
    OK(tn_tensor_hook(m, walks_again, y, NULL, NULL));
    OK(tn_backward_from(z));
    EXPECT(tn_grad(x), 4);
    tn_release(z);
    tn_release(m);
    tn_release(y);
    tn_release(x);
}

/* Hooks and retained gradients of tensors that are written in place, and of passes that do not reach
 * them. Where PyTorch 1.13 keeps the gradient of what a base was before a view of it was written,
 * Tenon keeps that of what it is. */
#include "autograd_test.h"

TestSuite(hooks_inplace, .init = load_plugins, .timeout = 60);

static tn_status doubles(void *data, tn_tensor *grad, tn_tensor **replacement)
{
    ++*(int *)data;
    return tn_call_mul_Scalar(grad, tn_scalar_int(2), replacement);
}

static tn_status counts(void *data, tn_tensor *leaf)
{
    (void)leaf;
    ++*(int *)data;
    return TN_OK;
}

static tn_tensor *first_of(tn_tensor *t)
{
    return tn_slice(t, .end = {1, 1});
}

/* The hook is of the tensor as it was: it sees the gradient below the write. */
Test(hooks_inplace, a_hook_from_before_a_write)
{
    for (int after = 0; after < 2; after++)
        TN_SCOPE {
            int calls = 0;
            tn_tensor *x = tn_scoped(LEAF(1, 2)), *y = tn_mul(x, 3);
            if (!after)
                OK(tn_tensor_hook(y, doubles, &calls, NULL, NULL));
            cr_assert_not_null(tn_mul_(y, 5));
            if (after)
                OK(tn_tensor_hook(y, doubles, &calls, NULL, NULL));
            OK(tn_backward_from(tn_sum(y)));
            cr_assert_eq(calls, 1);
            EXPECT(tn_grad(x), 30, 30);
        }
}

Test(hooks_inplace, a_hook_of_a_view_or_of_its_base)
{
    TN_SCOPE {
        int calls = 0;
        tn_tensor *x = tn_scoped(LEAF(1, 2)), *y = tn_mul(x, 3), *view = first_of(y);
        OK(tn_tensor_hook(view, doubles, &calls, NULL, NULL));
        cr_assert_not_null(tn_mul_(y, 5)); /* the view is another tensor's part now */
        OK(tn_backward_from(tn_sum(view)));
        cr_assert_eq(calls, 0);
        EXPECT(tn_grad(x), 15, 0);
        tn_tensor *z = tn_mul(x, 3), *part = first_of(z);
        OK(tn_set_grad(x, NULL));
        OK(tn_tensor_hook(z, doubles, &calls, NULL, NULL));
        cr_assert_not_null(tn_mul_(part, 5));
        OK(tn_backward_from(tn_sum(z)));
        cr_assert_eq(calls, 1);
        EXPECT(tn_grad(x), 30, 6);
    }
}

Test(hooks_inplace, retained_gradients_are_of_what_the_tensor_is)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(1, 2)), *y = tn_mul(x, 3), *view = first_of(y);
        OK(tn_retain_grad(y));
        OK(tn_retain_grad(view));
        cr_assert_not_null(tn_mul_(view, 5));
        OK(tn_backward_from(tn_sum(tn_mul(y, y))));
        EXPECT(tn_grad(y), 30, 12);
        cr_assert_null(tn_grad(view)); /* y alone was used */
        EXPECT(tn_grad(x), 450, 36);
        tn_tensor *z = tn_mul(x, 3);
        cr_assert_not_null(tn_mul_(z, 5));
        OK(tn_retain_grad(z));
        cr_assert_not_null(tn_mul_(z, 2));
        OK(tn_backward_from(tn_sum(z)));
        EXPECT(tn_grad(z), 1, 1);
    }
}

/* Once a pass, whatever the fan-in; a pass for other gradients is none of the leaf's. */
Test(hooks_inplace, a_leaf_s_hook_in_several_passes)
{
    TN_SCOPE {
        int calls = 0;
        tn_tensor *x = tn_scoped(LEAF(1, 2)), *square = tn_sum(tn_mul(x, x)), *out = NULL;
        OK(tn_leaf_hook_after(x, counts, &calls, NULL, NULL));
        for (int i = 0; i < 2; i++)
            OK(tn_backward(TN_TENSORS(square), NULL, &(tn_backward_options){.keep_graph = true}));
        cr_assert_eq(calls, 2);
        OK(tn_backward_from(tn_add(tn_sum(tn_mul(x, 2)), tn_sum(tn_mul(x, 3)))));
        cr_assert_eq(calls, 3);
        EXPECT(tn_grad(x), 9, 13);
        OK(grad_with(square, NULL, x, NULL, &out));
        tn_release(out);
        cr_assert_eq(calls, 3);
    }
}

/* No gradient that is asked for is below the root: nobody is told of its gradient. */
Test(hooks_inplace, a_root_that_does_not_matter)
{
    TN_SCOPE {
        int calls = 0;
        tn_tensor *x = tn_scoped(LEAF(1, 2)), *other = tn_scoped(LEAF(3)), *out = NULL;
        tn_tensor *y = tn_sum(tn_mul(x, x));
        OK(tn_tensor_hook(y, doubles, &calls, NULL, NULL));
        OK(tn_retain_grad(y));
        OK(grad_with(y, NULL, other, &(tn_backward_options){.allow_unused = true}, &out));
        cr_assert_null(out);
        cr_assert_null(tn_grad(y));
        cr_assert_eq(calls, 0);
        OK(tn_backward_from(y));
        cr_assert_eq(calls, 1);
        EXPECT(tn_grad(y), 2);
    }
}

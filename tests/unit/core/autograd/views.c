/* In-place calls and views: whose history changes, and what is refused. */
#include "autograd_test.h"

TestSuite(views, .init = load_plugins, .timeout = 60);

static tn_tensor *filled(int64_t n, double value)
{
    double values[16];
    for (int64_t i = 0; i < n; i++)
        values[i] = value;
    return vector(n, values);
}

/* base = ones(4); base[1:3] *= x; the gradient of what `read` is, back to x. */
Test(views, a_write_through_a_view_is_seen_by_base_and_siblings)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(2, 3)), *base = tn_scoped(filled(4, 1));
        tn_tensor *sibling = tn_slice(base, .end = {2, 1});
        tn_tensor *view = tn_slice(base, .start = {1, 1}, .end = {3, 1});
        cr_assert_not(tn_requires_grad(sibling));
        cr_assert_not_null(tn_mul_(view, x), "%s", tn_error_last()->message);
        cr_assert(tn_requires_grad(base));
        cr_assert(tn_requires_grad(sibling));
        OK(tn_backward_from(tn_sum(tn_mul(sibling, sibling)))); /* 1 + x0^2 */
        EXPECT(tn_grad(x), 4, 0);
    }
}

Test(views, a_write_of_the_base_is_seen_by_an_older_view)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(2, 3)), *base = tn_scoped(filled(2, 5));
        tn_tensor *view = tn_slice(base, .start = {1, 1});
        cr_assert_not_null(tn_mul_(base, x), "%s", tn_error_last()->message);
        OK(tn_backward_from(tn_sum(view)));
        EXPECT(tn_grad(x), 0, 5);
    }
}

/* What a recorded write would have to tell a view that nobody follows, it is refused. */
Test(views, no_grad_views_are_not_written_while_recording)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(2, 3)), *base = tn_scoped(filled(2, 1)), *view = NULL;
        TN_NO_GRAD {
            view = tn_slice(base);
        }
        tn_tensor *inner = tn_slice(view);
        cr_assert_null(tn_mul_(view, x));
        cr_assert(strstr(tn_error_last()->message, "TN_NO_GRAD"));
        tn_error_clear();
        cr_assert_null(tn_mul_(inner, x));
        cr_assert(strstr(tn_error_last()->message, "TN_NO_GRAD"));
        tn_error_clear();
    }
}

Test(views, a_leaf_that_no_longer_requires_a_gradient_gets_none)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(2)), *y = tn_mul(x, x);
        OK(tn_set_requires_grad(x, false));
        OK(tn_backward_from(y));
        cr_assert_null(tn_grad(x));
    }
}

Test(views, leaves_and_views_of_them_are_not_written)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(2, 3)), *view = tn_slice(x, .end = {1, 1});
        cr_assert_null(tn_mul_(x, x));
        cr_assert(strstr(tn_error_last()->message, "leaf"));
        tn_error_clear();
        cr_assert_null(tn_mul_(view, view));
        cr_assert(strstr(tn_error_last()->message, "view of a leaf"));
        tn_error_clear();
        TN_NO_GRAD {
            cr_assert_not_null(tn_mul_(view, view), "%s", tn_error_last()->message);
        }
        EXPECT(x, 4, 3);
    }
}

/* transpose_ moves no element: the tensor is another view, and its base is left alone. */
Test(views, a_new_geometry_in_place_is_no_write)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(1, 2, 3, 4)), *y = tn_mul(x, x);
        tn_tensor *view = tn_view(y, TN_INTS(2, 2));
        cr_assert_not_null(tn_transpose_(view, 0, 1), "%s", tn_error_last()->message);
        tn_tensor *row = tn_select_int(view, 0, 1); /* the second column: 4, 16 */
        OK(tn_backward_from(tn_sum(row)));
        EXPECT(tn_grad(x), 0, 4, 0, 8);
    }
}

/* What a node has saved is written by a later recorded call that the node is below: neither may hold
 * the other when the graph is given up. */
static void write_what_is_saved(tn_tensor *x, int which)
{
    TN_SCOPE {
        tn_tensor *a = which == 2 ? tn_scoped(filled(2, 3)) : tn_mul(x, 2);
        tn_tensor *b = tn_mul(a, which == 2 ? x : a);
        tn_tensor *into = which == 1 ? tn_slice(a) : a;
        cr_assert_not_null(which == 1 ? tn_mul_(into, a) : tn_add_(into, b), "%s",
                           tn_error_last()->message);
        FAILS(tn_backward_from(tn_sum(tn_add(a, b))), "inplace");
    }
}

Test(views, an_abandoned_graph_is_freed_whatever_was_written)
{
    tn_tensor *x = LEAF(2, 3);
    for (int which = 0; which < 3; which++) {
        tn__memory_stats before, after;
        write_what_is_saved(x, which);
        tn__memory_get(&before);
        write_what_is_saved(x, which);
        tn__memory_get(&after);
        cr_expect_eq(after.live_blocks, before.live_blocks, "%d: %lld blocks, %lld before", which,
                     (long long)after.live_blocks, (long long)before.live_blocks);
        cr_expect_eq(after.live_allocations, before.live_allocations, "%d", which);
    }
    tn_release(x);
}

/* No strides lead from a complex base to a real view of it. */
Test(views, a_view_of_another_dtype_is_not_written_and_not_followed)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(1, 2, 3, 4)), *pairs = tn_view(x, TN_INTS(2, 2));
        tn_tensor *z = tn_clone(tn_view_as_complex(pairs)), *view = tn_view_as_real(z);
        cr_assert_null(tn_mul_(view, 2));
        cr_assert(strstr(tn_error_last()->message, "another dtype"), "%s",
                  tn_error_last()->message);
        tn_error_clear();
        cr_assert_not_null(tn_mul_(z, 2), "%s", tn_error_last()->message);
        FAILS(tn_backward_from(tn_sum(view)), "take the view again");
        OK(tn_backward_from(tn_sum(tn_view_as_real(z))));
        EXPECT(tn_grad(x), 2, 2, 2, 2);
    }
}

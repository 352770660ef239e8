/* In-place calls and views: whose history changes, and what is refused. */
#include "autograd_test.h"

#include <tenon/gradcheck.h>

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

/* ---- complex numbers and their parts --------------------------------------------------------- */
static tn_tensor *complex_of(tn_tensor *x) /* x: pairs, flat */
{
    return tn_view_as_complex(tn_view(x, TN_INTS(-1, 2)));
}

Test(views, a_complex_base_sees_writes_of_its_parts)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(1, 2, 3, 4)), *z = tn_clone(complex_of(x));
        tn_tensor *parts = tn_view_as_real(z), *later = tn_view_as_real(z);
        cr_assert_not_null(tn_mul_(parts, 2), "%s", tn_error_last()->message);
        cr_assert_not_null(tn_mul_(tn_imag(z), 5), "%s", tn_error_last()->message);
        OK(tn_backward_from(tn_sum(later)));
        EXPECT(tn_grad(x), 2, 10, 2, 10);
    }
}

Test(views, a_real_base_sees_writes_of_its_complex_view)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(1, 2, 3, 4)), *y = tn_clone(x), *z = complex_of(y);
        tn_tensor *first = tn_select_int(z, 0, 0);
        cr_assert_not_null(tn_mul_(first, tn_clone(first)), "%s", tn_error_last()->message);
        EXPECT(y, -3, 4, 3, 4);
        OK(tn_backward_from(tn_sum(y))); /* (a + bi)^2: 2a + 2b and 2a - 2b */
        EXPECT(tn_grad(x), 6, -2, 1, 1);
    }
}

Test(views, parts_follow_a_write_of_their_base)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(1, 2, 3, 4)), *z = tn_clone(complex_of(x));
        tn_tensor *parts = tn_view_as_real(z), *y = tn_clone(x), *pairs = complex_of(y);
        cr_assert_not_null(tn_mul_(z, 2));
        OK(tn_backward_from(tn_sum(parts)));
        EXPECT(tn_grad(x), 2, 2, 2, 2);
        cr_assert_not_null(tn_mul_(y, 3));
        OK(tn_backward_from(tn_sum(tn_view_as_real(pairs))));
        EXPECT(tn_grad(x), 5, 5, 5, 5);
    }
}

/* Where the parts lie: a transposed base, one element of it, the imaginary numbers of a column. */
static tn_status write_parts(void *data, tn_tensors in, tn_tensors out)
{
    (void)data;
    TN_SCOPE {
        tn_tensor *z = tn_t(tn_mul(in.data[0], in.data[1]));
        tn_tensor *column = tn_imag(tn_select_int(z, 1, 1)), *some = tn_view_as_real(z);
        tn_mul_(column, tn_exp(column));
        tn_sin_(tn_select_int(tn_select_int(some, 0, 1), 0, 0));
        tn_square_(z);
        out.data[0] = tn_keep(tn_mul(z, z));
    }
    return out.data[0] ? TN_OK : tn_error_last()->status;
}

static tn_status write_complex(void *data, tn_tensors in, tn_tensors out)
{
    (void)data;
    TN_SCOPE {
        tn_tensor *y = tn_clone(tn_view_as_real(in.data[0])), *z = tn_view_as_complex(y);
        tn_tensor *row = tn_select_int(z, 0, 1);
        tn_mul_(row, tn_select_int(in.data[1], 0, 0));
        tn_copy_(tn_select_int(z, 1, 0), tn_select_int(tn_exp(z), 1, 1));
        out.data[0] = tn_keep(tn_mul(y, y));
    }
    return out.data[0] ? TN_OK : tn_error_last()->status;
}

static tn_tensor *complex_leaf(const double *values)
{
    tn_tensor *z = NULL;
    OK(tn_tensor_from_data(values, TN_C128, 2, (int64_t[]){2, 2}, &z));
    return leaf_of(z);
}

Test(views, writes_of_parts_have_the_right_gradients)
{
    const tn_gradcheck_options slow = {.slow = true, .forward = true};
    tn_tensor *a = complex_leaf((double[]){0.5, 0.25, -1, 0.75, 0.3, -0.6, 1, 0.2});
    tn_tensor *b = complex_leaf((double[]){1, -0.5, 0.25, 2, 0.7, 0.1, -0.4, 0.9});
    for (int i = 0; i < 2; i++) {
        tn_gradcheck_fn f = i ? write_parts : write_complex;
        OK(tn_gradcheck(f, NULL, (tn_tensors){(tn_tensor *[]){a, b}, 2}, 1, &slow, NULL));
        OK(tn_gradgradcheck(f, NULL, (tn_tensors){(tn_tensor *[]){a, b}, 2}, 1, NULL, NULL));
    }
    tn_release(a);
    tn_release(b);
}

/* Bits read as another number: no history leads there, but a write is counted. */
Test(views, view_dtype_is_no_view_to_gradients)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(1, 2)), *y = tn_mul(x, x), *z = tn_mul(y, y);
        tn_tensor *bits = tn_view_dtype(y, TN_I64), *halves = tn_view_dtype(y, TN_F32);
        cr_assert_not(tn_requires_grad(bits) || tn_requires_grad(halves));
        cr_assert_not_null(tn_zero_(halves), "%s", tn_error_last()->message);
        EXPECT(y, 0, 0);
        FAILS(tn_backward_from(tn_sum(z)), "inplace");
        tn_tensor *w = tn_mul(x, 2), *seen = tn_view_dtype(w, TN_F32);
        cr_assert_not_null(tn_mul_(w, x));
        cr_assert_not(tn_requires_grad(seen));
    }
}

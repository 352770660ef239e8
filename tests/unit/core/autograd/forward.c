/* Forward mode: tangents of views and of what is written in place share memory as their tensors do.
 * Each operator's rule is compared with differences in tests/opinfo. */
#include "autograd_test.h"

TestSuite(forward, .init = load_plugins, .timeout = 60);

static tn_tensor *dual(tn_tensor *t, tn_tensor *tangent)
{
    tn_tensor *out = NULL;
    OK(tn_make_dual(t, tangent, &out));
    return tn_scoped(out);
}
#define SCOPED(...) tn_scoped(VECTOR(__VA_ARGS__))

static void enter(void)
{
    load_plugins();
    OK(tn_forward_enter());
}

static void leave(void)
{
    tn_forward_leave();
}

TestSuite(tangents, .init = enter, .fini = leave, .timeout = 60);

Test(tangents, a_view_older_than_its_base_s_tangent_sees_it)
{
    TN_SCOPE {
        tn_tensor *y = SCOPED(1, 2, 3), *view = tn_slice(y, .start = {1, 1}), *copy;
        cr_assert_null(tn_tangent_of(view));
        cr_assert_not_null(tn_mul_(y, dual(SCOPED(2, 2, 2), SCOPED(1, 10, 100))));
        EXPECT(tn_tangent_of(y), 1, 20, 300);
        copy = tn_mul(view, view); /* 2 * 4 * 20, 2 * 6 * 300 */
        EXPECT(tn_tangent_of(copy), 160, 3600);
        EXPECT(tn_tangent_of(view), 20, 300);
    }
}

Test(tangents, siblings_see_a_write)
{
    TN_SCOPE {
        tn_tensor *y = SCOPED(1, 2, 3), *left = tn_slice(y, .end = {2, 1});
        tn_tensor *right = tn_slice(y, .start = {1, 1});
        cr_assert_not_null(tn_mul_(left, dual(SCOPED(5, 5), SCOPED(1, 2))));
        EXPECT(tn_tangent_of(right), 4, 0);
        cr_assert_not_null(tn_zero_(tn_select_int(right, 0, 0)));
        EXPECT(tn_tangent_of(y), 1, 0, 0);
    }
}

Test(tangents, a_tensor_is_multiplied_by_itself_in_place)
{
    TN_SCOPE {
        tn_tensor *x = dual(SCOPED(3, 4), SCOPED(1, 10)), *y = tn_clone(x);
        cr_assert_not_null(tn_mul_(y, y));
        EXPECT(tn_tangent_of(y), 6, 80);
    }
}

/* The tangent lies as its tensor does, whatever it was given as. */
Test(tangents, of_another_geometry)
{
    TN_SCOPE {
        tn_tensor *x = tn_t(tn_view(SCOPED(1, 2, 3, 4), TN_INTS(2, 2)));
        tn_tensor *d = dual(x, tn_view(SCOPED(1, 2, 3, 4), TN_INTS(2, 2))), *y = tn_clone(d);
        cr_assert_not_null(tn_mul_(tn_select_int(y, 0, 0), 10));
        tn_tensor *flat = tn_reshape(tn_tangent_of(y), TN_INTS(4));
        EXPECT(flat, 10, 20, 3, 4);
    }
}

Test(tangents, complex_parts)
{
    TN_SCOPE {
        tn_tensor *pairs = tn_view(SCOPED(1, 2, 3, 4), TN_INTS(2, 2));
        tn_tensor *z = tn_view_as_complex(pairs), *real = tn_real(z);
        cr_assert_not_null(tn_mul_(real, dual(SCOPED(1, 1), SCOPED(1, 10))));
        EXPECT(tn_view(tn_tangent_of(pairs), TN_INTS(4)), 1, 0, 30, 0);
        EXPECT(tn_view(tn_view_as_real(tn_tangent_of(z)), TN_INTS(4)), 1, 0, 30, 0);
    }
}

Test(forward, levels)
{
    TN_SCOPE {
        tn_tensor *x = SCOPED(1), *out = NULL;
        FAILS(tn_make_dual(x, x, &out), "tn_forward_enter");
        OK(tn_forward_enter());
        FAILS(tn_forward_enter(), "already");
        FAILS(tn_make_dual(x, SCOPED(1, 2), &out), "shape");
        tn_tensor *d = dual(x, SCOPED(5));
        EXPECT(tn_tangent_of(d), 5);
        tn_forward_leave();
        cr_assert_null(tn_tangent_of(d));
        OK(tn_forward_enter()); /* the former level's tangents are no more */
        cr_assert_null(tn_tangent_of(tn_mul(d, 2)));
        tn_forward_leave();
    }
}

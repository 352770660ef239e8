/* What is written between a call and its backward: noticed where the gradient needs the old value,
 * and only there. */
#include "autograd_test.h"

TestSuite(writes, .init = load_plugins, .timeout = 60);

/* A graph over x = [1, 2] and what is written afterwards. */
typedef struct scene {
    tn_tensor *x, *y, *written;
} scene;

static tn_tensor *indices(void)
{
    return tn__to_copy(tn_scoped(VECTOR(0, 0)), .dtype = TN_I64);
}

static scene of_index(tn_tensor *x)
{
    tn_tensor *index = indices();
    return (scene){x, tn_gather(x, 0, index), index};
}
static scene of_mask(tn_tensor *x)
{
    tn_tensor *mask = tn_gt(x, 1);
    return (scene){x, tn_masked_fill(x, mask, 7), mask};
}
static scene of_condition(tn_tensor *x)
{
    tn_tensor *condition = tn_gt(x, 1);
    return (scene){x, tn_where(condition, x, tn_neg(x)), condition};
}
static scene of_indices_found(tn_tensor *x)
{
    tn_tensor *values = NULL, *found = NULL;
    OK(tn_call_max_dim(x, 0, false, &values, &found));
    return (scene){x, tn_scoped(values), tn_scoped(found)};
}
static scene of_other(tn_tensor *x)
{
    tn_tensor *w = tn_scoped(VECTOR(3, 4));
    return (scene){x, tn_mul(x, w), w};
}
static scene of_leaf(tn_tensor *x)
{
    return (scene){x, tn_pow(x, 2), x};
}
static scene of_result(tn_tensor *x)
{
    tn_tensor *y = tn_softmax(x, 0);
    return (scene){x, y, y};
}
static scene of_norm(tn_tensor *x)
{
    tn_tensor *y = tn_linalg_vector_norm(x);
    return (scene){x, y, y};
}
static scene of_disjoint_view(tn_tensor *x) /* versions are the memory's, not the elements' */
{
    tn_tensor *c = tn_clone(x), *first = tn_slice(c, .end = {1, 1});
    return (scene){x, tn_mul(first, first), tn_slice(c, .start = {1, 1})};
}
static scene of_sum(tn_tensor *x)
{
    tn_tensor *c = tn_clone(x);
    return (scene){x, tn_sum(c), c};
}
static scene of_softmax_s_input(tn_tensor *x)
{
    tn_tensor *c = tn_clone(x);
    return (scene){x, tn_softmax(c, 0), c};
}
static scene of_cat(tn_tensor *x)
{
    return (scene){x, tn_cat(TN_TENSORS(x, x)), x};
}
static scene of_clamp_s_result(tn_tensor *x)
{
    tn_tensor *y = tn_clamp_min(x, 1.5);
    return (scene){x, y, y};
}
static scene of_the_unneeded_factor(tn_tensor *x)
{
    tn_tensor *w = tn_scoped(VECTOR(3, 4)), *c = tn_clone(w);
    tn_tensor *y = tn_mul(x, c);
    return (scene){x, tn_add(y, w), w};
}

typedef scene (*maker)(tn_tensor *x);
static const maker needed[] = {of_index, of_mask,   of_condition, of_indices_found, of_other,
                               of_leaf,  of_result, of_norm,      of_disjoint_view};
static const maker unneeded[] = {of_sum, of_softmax_s_input, of_cat, of_clamp_s_result,
                                 of_the_unneeded_factor};
enum { NEEDED = sizeof needed / sizeof *needed, UNNEEDED = sizeof unneeded / sizeof *unneeded };

static void write(int which, tn_tensor *t)
{
    TN_NO_GRAD {
        tn_tensor *done = which == 0   ? tn_zero_(t)
                          : which == 1 ? tn_copy_(t, tn_clone(t)) /* no value changes */
                                       : tn_zero_(tn_detach(t));
        cr_assert_not_null(done, "%s", tn_error_last()->message);
    }
}

Test(writes, what_a_gradient_needs_is_guarded)
{
    for (size_t i = 0; i < NEEDED; i++)
        for (int which = 0; which < 3; which++)
            TN_SCOPE {
                scene s = needed[i](tn_scoped(LEAF(1, 2)));
                cr_assert_not_null(s.y, "%zu: %s", i, tn_error_last()->message);
                write(which, s.written);
                FAILS(tn_backward_from(tn_sum(s.y)), "modified by an inplace operation");
                cr_assert_null(tn_grad(s.x), "%zu", i);
            }
}

Test(writes, what_it_needs_not_is_not)
{
    for (size_t i = 0; i < UNNEEDED; i++)
        for (int which = 0; which < 3; which++)
            TN_SCOPE {
                scene s = unneeded[i](tn_scoped(LEAF(1, 2)));
                write(which, s.written);
                OK(tn_backward_from(tn_sum(s.y)));
                cr_assert_not_null(tn_grad(s.x), "%zu", i);
            }
}

/* The error has the sites of the call and of the write, also of an operator made of others. */
Test(writes, both_sites_are_named)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(1, 2)), *y = tn_softmax(x, 0);
        cr_assert_not_null(tn_add_(y, 1));
        FAILS(tn_backward_from(tn_sum(y)), "inplace");
        y = tn_softmax(x, 0);
        cr_assert_not_null(tn_add_(y, 1));
        cr_assert_neq(tn_backward_from(tn_sum(y)), TN_OK);
        cr_assert_null(strstr(tn_error_last()->message, "unknown place"), "%s",
                       tn_error_last()->message);
        cr_assert_not_null(strstr(tn_error_last()->message, "writes.c"));
        tn_error_clear();
    }
}

/* A call that failed has written nothing. */
Test(writes, a_refused_write_does_not_count)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(1, 2)), *w = tn_scoped(VECTOR(3, 4)), *y = tn_mul(x, w);
        cr_assert_null(tn_add_(w, tn_scoped(VECTOR(1, 2, 3))));
        tn_error_clear();
        cr_assert_eq(tn_tensor_version(w), 0);
        OK(tn_backward_from(tn_sum(y)));
        EXPECT(tn_grad(x), 3, 4);
    }
}

/* A view that was made in no-grad mode is nobody's in the history: what is written through it while
 * recording would be lost, whether or not another argument requires a gradient. */
Test(writes, a_no_grad_view_of_what_has_history)
{
    for (int which = 0; which < 4; which++)
        TN_SCOPE {
            tn_tensor *x = tn_scoped(LEAF(1, 2)), *y = tn_mul(x, 2), *view = NULL;
            TN_NO_GRAD {
                view = tn_view(y, TN_INTS(1, 2));
                view = which == 1 ? tn_t(view) : which == 2 ? tn_slice(view, .dim = 1) : view;
            }
            view = which == 3 ? tn_t(view) : view;
            cr_assert_null(tn_mul_(view, 3), "%d", which);
            cr_assert(strstr(tn_error_last()->message, "TN_NO_GRAD"), "%s",
                      tn_error_last()->message);
            tn_error_clear();
            TN_NO_GRAD {
                cr_assert_not_null(tn_mul_(view, 3), "%s", tn_error_last()->message);
            }
            EXPECT(y, 6, 12);
            cr_assert_not_null(tn_mul(view, x), "%s", tn_error_last()->message); /* read: fine */
            OK(tn_backward_from(tn_sum(y)));
            EXPECT(tn_grad(x), 2, 2);
        }
}

/* ---- other memory ---------------------------------------------------------------------------- */
/* w is moved to larger memory and set to y's; z, of complex numbers, is written by its parts. */
static tn_status moves_and_writes(void)
{
    enum { X, W, LARGER, Y, ALIAS, SET, PAIRS, Z, PART, WRITTEN, SEEN, LOSS, N };
    const double values[] = {1, 2};
    int64_t n = 2;
    tn_tensor *t[N] = {NULL};
    tn_status status = TN_OK;
#define STEP(call) status = status == TN_OK ? (call) : status
    STEP(tn_tensor_from_data(values, TN_F64, 1, &n, &t[X]));
    STEP(tn_tensor_from_data(values, TN_F64, 1, &n, &t[W]));
    STEP(tn_set_requires_grad(t[X], true));
    STEP(tn_call_resize_(t[W], TN_INTS(3, 5), TN_FORMAT_NONE, &t[LARGER]));
    STEP(tn_call_mul_Scalar(t[X], tn_scalar_int(2), &t[Y]));
    STEP(tn_call_detach(t[Y], &t[ALIAS]));
    STEP(tn_call_set__source_Tensor(t[W], t[ALIAS], &t[SET]));
    STEP(tn_call_clone(t[Y], TN_FORMAT_NONE, &t[PAIRS]));
    STEP(tn_call_view_as_complex(t[PAIRS], &t[Z]));
    STEP(tn_call_imag(t[Z], &t[PART]));
    STEP(tn_call_mul__Scalar(t[PART], tn_scalar_int(3), &t[WRITTEN]));
    STEP(tn_call_view_as_real(t[Z], &t[SEEN]));
    STEP(tn_call_sum(t[SEEN], TN_DTYPE_NONE, &t[LOSS]));
    STEP(tn_backward_from(t[LOSS]));
    if (status == TN_OK)
        EXPECT(tn_grad(t[X]), 2, 6);
#undef STEP
    for (int i = 0; i < N; i++)
        tn_release(t[i]);
    return status;
}

Test(writes, every_allocation_may_fail)
{
    cr_assert_eq(moves_and_writes(), TN_OK);
    every_failure(moves_and_writes, 40);
}

/* w is saved, moved, and then written with what depends on whoever saved it. */
static void abandon(bool moved)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(1, 2)), *w = tn_scoped(VECTOR(3, 4)), *y = tn_mul(x, w);
        if (moved)
            cr_assert_not_null(tn_set__source_Tensor(w, tn_clone(w)));
        cr_assert_not_null(tn_mul_(w, y), "%s", tn_error_last()->message);
        FAILS(tn_backward_from(tn_sum(w)), "inplace");
    }
}

Test(writes, a_moved_tensor_s_graph_is_freed)
{
    for (int moved = 0; moved < 2; moved++) {
        tn__memory_stats before, after;
        abandon(moved);
        tn__memory_get(&before);
        abandon(moved);
        tn__memory_get(&after);
        cr_expect_eq(after.live_blocks, before.live_blocks, "%d", moved);
        cr_expect_eq(after.live_allocations, before.live_allocations, "%d", moved);
    }
}

/* Views of a tensor that was given other memory keep the old one, and their history. */
Test(writes, views_of_what_was_moved)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(1, 2)), *base = tn_scoped(VECTOR(3, 4));
        tn_tensor *view = tn_slice(base, .start = {1, 1});
        cr_assert_not_null(tn_set__source_Tensor(base, tn_scoped(VECTOR(5, 6))));
        cr_assert_not_null(tn_mul_(base, x));
        cr_assert_not(tn_requires_grad(view));
        EXPECT(view, 4);
        cr_assert_null(tn_mul_(view, tn_slice(x, .end = {1, 1})));
        cr_assert(strstr(tn_error_last()->message, "other memory"), "%s", tn_error_last()->message);
        tn_error_clear();
        cr_assert_not_null(tn_mul_(view, 2));
        EXPECT(view, 8);
        EXPECT(base, 5, 12);
        OK(tn_backward_from(tn_sum(base)));
        EXPECT(tn_grad(x), 5, 6);
    }
}

/* Functions of one's own: context, saved tensors, outputs that somebody else has, errors. */
#include "autograd_test.h"

TestSuite(function, .init = load_plugins, .timeout = 60);

static void count_free(void *context)
{
    ++*(int *)context;
}

static tn_status fail_forward(tn_grad_call *g)
{
    (void)g;
    return tn__fail(NULL, TN_ERR_ARGUMENT, "no forward today");
}

static tn_status empty_forward(tn_grad_call *g)
{
    (void)g;
    return TN_OK;
}

static const tn_function_decl COUNTED = {"Counted", same_forward, same_backward, count_free};

Test(function, frees_its_context_once)
{
    static const tn_function_decl FAILS_ = {"Fails", fail_forward, same_backward, count_free},
                                  EMPTY = {"Empty", empty_forward, same_backward, count_free};
    int freed = 0;
    tn_tensor *x = LEAF(1), *plain = VECTOR(1), *y = apply1(&COUNTED, &freed, x), *none = y;
    cr_assert_eq(freed, 0);
    OK(tn_backward_from(y));
    OK(tn_backward_from(y));
    cr_assert_eq(freed, 0, "the graph may be walked again");
    tn_release(y);
    cr_assert_eq(freed, 1);
    y = apply1(&COUNTED, &freed, plain);
    cr_assert_eq(freed, 2, "nothing is recorded");
    cr_assert(!tn_requires_grad(y));
    tn_release(y);
    FAILS(tn_function_apply(&FAILS_, &freed, &x, 1, &none, 1), "no forward today");
    cr_assert_eq(freed, 3);
    cr_assert_null(none);
    FAILS(tn_function_apply(&EMPTY, &freed, &x, 1, &none, 1), "no output 0");
    cr_assert_eq(freed, 4);
    FAILS(tn_function_apply(&COUNTED, &freed, &x, 1, NULL, 0), "at least one output");
    cr_assert_eq(freed, 5);
    tn_tensor *many[65];
    for (int i = 0; i < 65; i++)
        many[i] = plain;
    FAILS(tn_function_apply(&COUNTED, &freed, many, 65, &none, 1), "at most 64 inputs");
    cr_assert_eq(freed, 6);
    tn_release(plain);
    tn_release(x);
}

static tn_status looks_forward(tn_grad_call *g)
{
    cr_assert(!tn_grad_enabled());
    tn_tensor *sum = NULL;
    OK(tn_call_add_Tensor(g->in[0], g->in[0], tn_scalar_int(1), &sum));
    cr_assert(!tn_requires_grad(sum));
    g->out[0] = sum;
    return TN_OK;
}

Test(function, forward_is_not_recorded)
{
    static const tn_function_decl LOOKS = {"Looks", looks_forward, same_backward, NULL};
    tn_tensor *x = LEAF(1), *y = apply1(&LOOKS, NULL, x);
    cr_assert(tn_grad_enabled());
    cr_assert(tn_requires_grad(y));
    tn_release(y);
    TN_NO_GRAD {
        y = apply1(&LOOKS, NULL, x);
    }
    cr_assert(!tn_requires_grad(y));
    tn_release(y);
    tn_release(x);
}

/* ---- saved tensors --------------------------------------------------------------------------- */
Test(function, a_saved_input_that_is_written_is_an_error)
{
    tn_tensor *a = LEAF(2), *b = VECTOR(5), *y = apply2(&TIMES, a, b), *same = NULL;
    OK(tn_call_add__Scalar(b, tn_scalar_int(1), tn_scalar_int(1), &same));
    tn_release(same);
    FAILS(tn_backward_from(y), "modified by an inplace operation");
    FAILS(tn_backward_from(y), "Times");
    FAILS(tn_backward_from(y), "version 1, expected version 0");
    cr_assert_null(tn_grad(a));
    tn_release(y);
    tn_release(b);
    tn_release(a);
}

/* out = x + x, saved; backward: g * out */
static tn_status saves_forward(tn_grad_call *g)
{
    tn_status status = tn_call_add_Tensor(g->in[0], g->in[0], tn_scalar_int(1), &g->out[0]);
    return status == TN_OK ? tn_function_save(g, g->out, 1) : status;
}

static tn_status saves_backward(tn_grad_call *g)
{
    tn_tensor *out = tn_function_saved(g, 0);
    return out ? tn_call_mul_Tensor(g->in[0], out, &g->out[0]) : g->status;
}
static const tn_function_decl SAVES = {"Saves", saves_forward, saves_backward, NULL};

Test(function, a_saved_output_holds_no_cycle)
{
    tn__memory_stats before, after;
    tn__memory_get(&before);
    tn_tensor *x = LEAF(3), *y = apply1(&SAVES, NULL, x);
    OK(tn_backward_from(y));
    EXPECT(tn_grad(x), 6);
    tn_release(y);
    y = apply1(&SAVES, NULL, x); /* never walked */
    tn_release(y);
    tn_release(x);
    tn__memory_get(&after);
    cr_assert_eq(after.live_allocations, before.live_allocations);
    cr_assert_eq(after.live_blocks, before.live_blocks);
}

Test(function, a_saved_output_that_is_written_is_an_error)
{
    tn_tensor *x = LEAF(3), *y = apply1(&SAVES, NULL, x), *same = NULL;
    TN_NO_GRAD {
        OK(tn_call_add__Scalar(y, tn_scalar_int(1), tn_scalar_int(1), &same));
    }
    tn_release(same);
    FAILS(tn_backward_from(y), "modified by an inplace operation");
    tn_release(y);
    tn_release(x);
}

static tn_status twice_forward(tn_grad_call *g)
{
    tn_function_save(g, g->in, 1);
    tn_function_save(g, g->in, 1);
    return same_forward(g);
}

static tn_status asks_backward(tn_grad_call *g)
{
    cr_assert_null(tn_function_saved(g, 1));
    cr_assert_neq(g->status, TN_OK);
    return TN_OK;
}

static tn_status once_forward(tn_grad_call *g)
{
    tn_function_save(g, g->in, 1);
    return same_forward(g);
}

Test(function, wrong_saving)
{
    static const tn_function_decl TWICE = {"Twice", twice_forward, same_backward, NULL},
                                  ASKS = {"Asks", once_forward, asks_backward, NULL};
    tn_tensor *x = LEAF(3), *y = NULL;
    FAILS(tn_function_apply(&TWICE, NULL, &x, 1, &y, 1), "once");
    cr_assert_null(y);
    y = apply1(&ASKS, NULL, x);
    FAILS(tn_backward_from(y), "saved tensor 1");
    FAILS(tn_function_save(NULL, &x, 1), "forward only");
    cr_assert_null(tn_function_saved(NULL, 0));
    tn_release(y);
    tn_release(x);
}

/* ---- outputs --------------------------------------------------------------------------------- */
static tn_status through_forward(tn_grad_call *g)
{
    for (int i = 0; i < 2; i++) {
        tn_retain(g->in[0]);
        g->out[i] = g->in[0];
    }
    return TN_OK;
}

static tn_status through_backward(tn_grad_call *g)
{
    for (int i = 0; i < 2 && !g->out[0]; i++)
        if (g->in[i]) {
            tn_retain(g->in[i]);
            g->out[0] = g->in[i];
        }
    return TN_OK;
}

Test(function, outputs_that_are_inputs_become_aliases)
{
    static const tn_function_decl THROUGH = {"Through", through_forward, through_backward, NULL};
    tn_tensor *x = LEAF(3), *y[2] = {NULL};
    OK(tn_function_apply(&THROUGH, NULL, &x, 1, y, 2));
    cr_assert_neq(y[0], x);
    cr_assert_neq(y[1], y[0]);
    cr_assert(tn_is_leaf(x));
    cr_assert_str_eq(tn_node_name(tn_grad_fn(y[0])), "Through");
    OK(tn_backward_from(y[1]));
    EXPECT(tn_grad(x), 1);
    cr_assert_eq(tn__record_of(y[0])->view_kind, TN__VIEW_OF_FUNCTION);
    tn_release(y[0]);
    tn_release(y[1]);
    tn_release(x);
}

static tn_status count_forward(tn_grad_call *g)
{
    tn_status status =
        tn_call__to_copy(g->in[0], TN_I64, -1, (tn_device){-1, -1}, -1, false, -1, &g->out[0]);
    return status == TN_OK ? tn_call_clone(g->in[0], -1, &g->out[1]) : status;
}

static tn_status second_backward(tn_grad_call *g)
{
    tn_retain(g->in[1]);
    g->out[0] = g->in[1];
    return TN_OK;
}

Test(function, an_integer_output_has_no_history)
{
    static const tn_function_decl COUNT = {"Count", count_forward, second_backward, NULL};
    tn_tensor *x = LEAF(3), *y[2] = {NULL};
    OK(tn_function_apply(&COUNT, NULL, &x, 1, y, 2));
    cr_assert(!tn_requires_grad(y[0]));
    cr_assert(tn_requires_grad(y[1]));
    OK(tn_backward_from(y[1]));
    EXPECT(tn_grad(x), 1);
    tn_release(y[0]);
    tn_release(y[1]);
    tn_release(x);
}

Test(function, an_input_may_be_absent)
{
    tn_tensor *x = LEAF(3), *y = NULL;
    OK(tn_function_apply(&SAME, NULL, (tn_tensor *[]){x, NULL}, 2, &y, 1));
    OK(tn_backward_from(y));
    EXPECT(tn_grad(x), 1);
    tn_release(y);
    tn_release(x);
}

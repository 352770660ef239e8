/* backward and grad_of over functions with known gradients: paths, fan-in, what is asked for, what
 * is wrong. */
#include "autograd_test.h"

TestSuite(engine, .init = load_plugins, .timeout = 60);

Test(engine, a_gradient_reaches_the_leaf)
{
    tn_tensor *x = LEAF(5), *y = apply1(&TRIPLE, NULL, x);
    cr_assert(tn_requires_grad(y));
    cr_assert(!tn_is_leaf(y));
    cr_assert_null(tn_grad(x));
    OK(tn_backward_from(y));
    EXPECT(tn_grad(x), 3);
    cr_assert_null(tn_grad(y));
    tn_release(y);
    tn_release(x);
}

Test(engine, a_given_gradient_is_used_and_not_changed)
{
    tn_tensor *x = LEAF(1, 2), *y = apply1(&TRIPLE, NULL, x), *g = VECTOR(1, 10);
    OK(backward_with(y, g, NULL));
    EXPECT(tn_grad(x), 3, 30);
    EXPECT(g, 1, 10);
    tn_release(g);
    tn_release(y);
    tn_release(x);
}

Test(engine, accumulation_adds_to_the_same_tensor)
{
    tn_tensor *x = LEAF(1, 2), *g = VECTOR(1, 1);
    for (int i = 1; i <= 3; i++) {
        tn_tensor *y = apply1(&SAME, NULL, x), *before = tn_grad(x);
        OK(backward_with(y, g, NULL));
        EXPECT(tn_grad(x), i, i);
        cr_assert(i == 1 || tn_grad(x) == before);
        tn_release(y);
    }
    EXPECT(g, 1, 1); /* Same hands the caller's own tensor to the leaf */
    cr_assert_neq(tn_grad(x), g);
    tn_release(g);
    tn_release(x);
}

/* w feeds k consumers that all hand on one and the same gradient tensor (BB-ag-08). */
Test(engine, many_consumers)
{
    static const int counts[] = {1, 2, 7, 8, 9, 16, 24, 25, 100};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int k = counts[i];
        tn_tensor *w = LEAF(2), *given = VECTOR(10), *y = apply1(&SAME, NULL, w);
        OK(tn_set_grad(w, given));
        for (int j = 1; j < k; j++) {
            tn_tensor *term = apply1(&SAME, NULL, w), *sum = apply2(&PLUS, y, term);
            tn_release(term);
            tn_release(y);
            y = sum;
        }
        tn_tensor *g = VECTOR(1);
        OK(backward_with(y, g, NULL));
        EXPECT(tn_grad(w), 10 + k);
        EXPECT(g, 1);
        tn_release(g);
        tn_release(y);
        tn_release(given);
        tn_release(w);
    }
}

Test(engine, fan_in_at_a_node_in_the_middle)
{
    tn_tensor *x = LEAF(1, 2), *m = apply1(&TRIPLE, NULL, x), *g = VECTOR(1, 1);
    tn_tensor *a = apply2(&PLUS, m, m), *b = apply2(&PLUS, a, m), *c = apply2(&PLUS, b, a);
    OK(backward_with(c, g, NULL));
    EXPECT(tn_grad(x), 15, 15);
    EXPECT(g, 1, 1);
    tn_release(c);
    tn_release(b);
    tn_release(a);
    tn_release(m);
    tn_release(g);
    tn_release(x);
}

Test(engine, saved_tensors_go_with_the_pass)
{
    tn_tensor *a = LEAF(2), *b = LEAF(5), *y = apply2(&TIMES, a, b);
    tn_backward_options keep = {.keep_graph = true};
    OK(backward_with(y, NULL, &keep));
    OK(backward_with(y, NULL, NULL));
    EXPECT(tn_grad(a), 10);
    EXPECT(tn_grad(b), 4);
    FAILS(backward_with(y, NULL, NULL), "already freed");
    FAILS(backward_with(y, NULL, NULL), "keep_graph");
    FAILS(backward_with(y, NULL, NULL), "Times");
    EXPECT(tn_grad(a), 10);
    tn_release(y);
    tn_release(b);
    tn_release(a);
}

Test(engine, a_graph_that_saves_nothing_can_be_walked_again)
{
    tn_tensor *x = LEAF(2), *y = apply1(&TRIPLE, NULL, x);
    OK(tn_backward_from(y));
    OK(tn_backward_from(y));
    EXPECT(tn_grad(x), 6);
    tn_release(y);
    tn_release(x);
}

Test(engine, undefined_gradients_stay_undefined)
{
    tn_tensor *x = LEAF(2), *y[2] = {NULL};
    OK(tn_function_apply(&FORK, NULL, &x, 1, y, 2));
    OK(tn_backward_from(y[1]));
    EXPECT(tn_grad(x), 10);
    OK(tn_backward_from(y[0]));
    EXPECT(tn_grad(x), 11);
    OK(tn_backward((tn_tensors){y, 2}, NULL, NULL));
    EXPECT(tn_grad(x), 22);
    tn_release(y[0]);
    tn_release(y[1]);
    tn_release(x);
}

static tn_status nothing_backward(tn_grad_call *g)
{
    ++*(int *)g->context;
    return TN_OK;
}

Test(engine, a_node_without_gradients_is_not_run)
{
    static const tn_function_decl NOTHING = {"Nothing", same_forward, nothing_backward, NULL};
    int above = 0, below = 0;
    tn_tensor *x = LEAF(2), *y = apply1(&NOTHING, &below, x), *z = apply1(&NOTHING, &above, y);
    OK(tn_backward_from(z));
    cr_assert_eq(above, 1);
    cr_assert_eq(below, 0);
    cr_assert_null(tn_grad(x));
    tn_release(z);
    tn_release(y);
    tn_release(x);
}

/* ---- bringing home --------------------------------------------------------------------------- */
static void expect_home(tn_ints sizes, double expected0, double expected1)
{
    widening w = {sizes, TN_F64};
    tn_tensor *x = LEAF(1, 2), *y = apply1(&WIDEN, &w, x), *g = NULL;
    OK(tn_call_ones_like(y, -1, -1, (tn_device){-1, -1}, -1, TN_FORMAT_NONE, &g));
    OK(backward_with(y, g, NULL));
    cr_assert_eq(tn_grad(x)->ndim, 1);
    EXPECT(tn_grad(x), expected0, expected1);
    tn_release(g);
    tn_release(y);
    tn_release(x);
}

Test(engine, a_broadcast_sums_back)
{
    expect_home(TN_INTS(4, 2), 4, 4);
    expect_home(TN_INTS(3, 4, 2), 12, 12);
    expect_home(TN_INTS(1, 2), 1, 1);
    expect_home(TN_INTS(0, 2), 0, 0);
}

Test(engine, a_broadcast_of_inner_and_outer_dimensions_sums_back)
{
    widening w = {TN_INTS(3, 2, 4), TN_F64};
    double values[2] = {1, 2};
    tn_tensor *x = NULL, *g = NULL;
    OK(tn_tensor_from_data(values, TN_F64, 2, (int64_t[]){2, 1}, &x));
    leaf_of(x);
    tn_tensor *y = apply1(&WIDEN, &w, x);
    OK(tn_call_ones_like(y, -1, -1, (tn_device){-1, -1}, -1, TN_FORMAT_NONE, &g));
    OK(backward_with(y, g, NULL));
    cr_assert_eq(tn_grad(x)->ndim, 2);
    cr_assert_eq(tn_grad(x)->sizes[0], 2);
    cr_assert_eq(tn_grad(x)->sizes[1], 1);
    cr_assert_eq(((double *)tn_grad(x)->data)[1], 12);
    tn_release(g);
    tn_release(y);
    tn_release(x);
}

Test(engine, a_gradient_is_cast_to_its_tensor)
{
    static const tn_dtype dtypes[] = {TN_F32, TN_F16, TN_BF16, TN_C128, TN_C64};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        widening w = {TN_INTS(2), dtypes[i]};
        tn_tensor *x = LEAF(1, 2), *y = apply1(&WIDEN, &w, x), *g = NULL;
        OK(tn_call_ones_like(y, -1, -1, (tn_device){-1, -1}, -1, TN_FORMAT_NONE, &g));
        if (dtypes[i] == TN_C128)
            ((double *)g->data)[1] = 7; /* the imaginary part of the first */
        OK(backward_with(y, g, NULL));
        EXPECT(tn_grad(x), 1, 1);
        tn_release(g);
        tn_release(y);
        tn_release(x);
    }
}

static tn_status longer_backward(tn_grad_call *g)
{
    return tn_tensor_new(1, &(int64_t){3}, TN_F64, (tn_device){TN_CPU, 0}, &g->out[0]);
}

static tn_status elsewhere_backward(tn_grad_call *g)
{
    return tn_tensor_new(1, &(int64_t){2}, TN_F64, (tn_device){TN_META, 0}, &g->out[0]);
}

Test(engine, a_gradient_that_does_not_fit_is_named)
{
    static const tn_function_decl LONGER = {"Longer", same_forward, longer_backward, NULL},
                                  ELSEWHERE = {"Elsewhere", same_forward, elsewhere_backward, NULL};
    tn_tensor *x = LEAF(1, 2), *y = apply1(&LONGER, NULL, x), *z = apply1(&ELSEWHERE, NULL, x);
    tn_tensor *g = VECTOR(1, 1);
    FAILS(backward_with(y, g, NULL), "Longer gave a gradient of shape [3]");
    FAILS(backward_with(y, g, NULL), "[2]");
    FAILS(backward_with(z, g, NULL), "Elsewhere gave a gradient on device meta");
    cr_assert_null(tn_grad(x));
    tn_release(g);
    tn_release(z);
    tn_release(y);
    tn_release(x);
}

/* ---- grad_of --------------------------------------------------------------------------------- */
Test(engine, grad_of_gives_gradients_and_touches_no_leaf)
{
    tn_tensor *a = LEAF(2), *b = LEAF(5), *y = apply2(&TIMES, a, b), *out[3] = {NULL};
    OK(tn_grad_of((tn_tensors){&y, 1}, NULL, TN_TENSORS(a, b, a), NULL, out));
    EXPECT(out[0], 5);
    EXPECT(out[1], 2);
    EXPECT(out[2], 5);
    cr_assert_null(tn_grad(a));
    cr_assert_null(tn_grad(b));
    for (int i = 0; i < 3; i++)
        tn_release(out[i]);
    tn_release(y);
    tn_release(b);
    tn_release(a);
}

Test(engine, grad_of_runs_only_what_leads_to_an_input)
{
    static const tn_function_decl NOTHING = {"Nothing", same_forward, nothing_backward, NULL};
    int runs = 0;
    tn_tensor *a = LEAF(2), *b = LEAF(5), *n = apply1(&NOTHING, &runs, b);
    tn_tensor *m = apply1(&TRIPLE, NULL, a), *y = apply2(&PLUS, m, n), *out = NULL;
    OK(grad_with(y, NULL, m, NULL, &out));
    EXPECT(out, 1);
    cr_assert_eq(runs, 0);
    tn_release(out);
    OK(grad_with(y, NULL, a, NULL, &out));
    EXPECT(out, 3);
    cr_assert_eq(runs, 0);
    tn_release(out);
    OK(grad_with(y, NULL, b, &(tn_backward_options){.allow_unused = true}, &out));
    cr_assert_null(out);
    cr_assert_eq(runs, 1);
    tn_release(n);
    tn_release(m);
    tn_release(y);
    tn_release(b);
    tn_release(a);
}

Test(engine, grad_of_an_input_above_another)
{
    tn_tensor *x = LEAF(2), *m = apply1(&TRIPLE, NULL, x), *y = apply1(&TRIPLE, NULL, m);
    tn_tensor *out[3] = {NULL};
    OK(tn_grad_of((tn_tensors){&y, 1}, NULL, TN_TENSORS(x, m, y), NULL, out));
    EXPECT(out[0], 9);
    EXPECT(out[1], 3);
    EXPECT(out[2], 1);
    for (int i = 0; i < 3; i++)
        tn_release(out[i]);
    tn_release(y);
    tn_release(m);
    tn_release(x);
}

Test(engine, grad_of_what_is_not_used)
{
    tn_tensor *a = LEAF(2), *b = LEAF(5), *y = apply1(&TRIPLE, NULL, a), *out[2] = {NULL};
    FAILS(tn_grad_of((tn_tensors){&y, 1}, NULL, TN_TENSORS(a, b), NULL, out), "input 1");
    cr_assert_null(out[0]);
    FAILS(tn_grad_of((tn_tensors){&y, 1}, NULL, TN_TENSORS(a, b), NULL, out), "allow_unused");
    OK(tn_grad_of((tn_tensors){&y, 1}, NULL, TN_TENSORS(a, b),
                  &(tn_backward_options){.allow_unused = true}, out));
    EXPECT(out[0], 3);
    cr_assert_null(out[1]);
    tn_release(out[0]);
    tn_release(y);
    tn_release(b);
    tn_release(a);
}

Test(engine, outputs_may_repeat_and_depend_on_each_other)
{
    tn_tensor *x = LEAF(2), *m = apply1(&TRIPLE, NULL, x), *y = apply1(&TRIPLE, NULL, m);
    OK(tn_backward(TN_TENSORS(y, m, y, x), NULL, NULL));
    EXPECT(tn_grad(x), 9 + 3 + 9 + 1);
    tn_release(y);
    tn_release(m);
    tn_release(x);
}

/* ---- what is wrong --------------------------------------------------------------------------- */
Test(engine, wrong_outputs_and_gradients)
{
    tn_tensor *x = LEAF(1, 2), *plain = VECTOR(1), *y = apply1(&SAME, NULL, x), *out = NULL;
    tn_tensor *longer = VECTOR(1, 2, 3), *ints = NULL, *complex = NULL, *good = VECTOR(1, 1);
    OK(tn_call__to_copy(good, TN_I64, -1, (tn_device){-1, -1}, -1, false, -1, &ints));
    OK(tn_call__to_copy(good, TN_C128, -1, (tn_device){-1, -1}, -1, false, -1, &complex));
    FAILS(tn_backward_from(plain), "does not require a gradient");
    FAILS(tn_backward_from(y), "one real element");
    FAILS(tn_backward_from(NULL), "missing");
    FAILS(tn_backward((tn_tensors){(tn_tensor *[]){NULL}, 1}, NULL, NULL), "output 0 is missing");
    FAILS(backward_with(y, longer, NULL), "[3]");
    FAILS(backward_with(y, ints, NULL), "int64");
    FAILS(backward_with(y, complex, NULL), "complex128");
    FAILS(tn_backward((tn_tensors){&y, 1}, &(tn_tensors){NULL, 0}, NULL), "0 gradients");
    FAILS(grad_with(y, good, plain, NULL, &out), "input 0");
    FAILS(tn_backward((tn_tensors){NULL, 1}, NULL, NULL), "missing");
    OK(tn_backward((tn_tensors){NULL, 0}, NULL, NULL));
    cr_assert_null(tn_grad(x));
    OK(backward_with(y, good, NULL));
    EXPECT(tn_grad(x), 1, 1);
    tn_release(good);
    tn_release(complex);
    tn_release(ints);
    tn_release(longer);
    tn_release(y);
    tn_release(plain);
    tn_release(x);
}

static tn_status failing_backward(tn_grad_call *g)
{
    tn_tensor *sum = NULL, *wrong = VECTOR(1, 2, 3);
    tn_status status = tn_call_add_Tensor(g->in[0], wrong, tn_scalar_int(1), &sum);
    tn_release(wrong);
    return status;
}

Test(engine, a_failing_node_is_named_before_the_reason)
{
    static const tn_function_decl FAILING = {"Failing", same_forward, failing_backward, NULL};
    tn_tensor *x = LEAF(1, 2), *y = apply1(&FAILING, NULL, x), *z = apply2(&PLUS, y, x);
    tn_tensor *g = VECTOR(1, 1);
    cr_assert_neq(backward_with(z, g, NULL), TN_OK);
    cr_assert_eq(strncmp(tn_error_last()->message, "Failing: ", 9), 0, "%s",
                 tn_error_last()->message);
    cr_assert(strstr(tn_error_last()->message, "[3]"), "%s", tn_error_last()->message);
    cr_assert_str_eq(tn_error_last()->op, "aten::add.Tensor");
    tn_release(g);
    tn_release(z);
    tn_release(y);
    tn_release(x);
}

Test(engine, a_complex_output_implies_no_gradient)
{
    widening w = {TN_INTS(1), TN_C128};
    tn_tensor *x = LEAF(1), *y = apply1(&WIDEN, &w, x);
    FAILS(tn_backward_from(y), "complex128");
    tn_release(y);
    tn_release(x);
}

/* ---- depth ----------------------------------------------------------------------------------- */
Test(engine, a_million_nodes, .timeout = 120)
{
    tn_tensor *x = LEAF(1);
    tn_retain(x);
    tn_tensor *y = chain(&SAME, x, 1000000);
    OK(tn_backward_from(y));
    EXPECT(tn_grad(x), 1);
    tn_release(y);
    tn_release(x);
}

Test(engine, nodes_can_be_walked_by_hand)
{
    tn_tensor *a = LEAF(2), *b = VECTOR(5), *m = apply1(&TRIPLE, NULL, a),
              *y = apply2(&TIMES, m, b);
    tn_node *n = tn_grad_fn(y), *next = NULL;
    int output = -1;
    cr_assert_str_eq(tn_node_name(n), "Times");
    cr_assert(tn_node_next(n, 0, &next, &output));
    cr_assert_eq(next, tn_grad_fn(m));
    cr_assert_eq(output, 0);
    cr_assert(tn_node_next(n, 1, &next, &output));
    cr_assert_null(next);
    cr_assert(!tn_node_next(n, 2, &next, &output));
    cr_assert_null(tn_grad_fn(a));
    tn_release(y);
    tn_release(m);
    tn_release(b);
    tn_release(a);
}

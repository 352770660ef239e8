/* gradcheck: right derivatives pass in every mode, wrong ones are named by input, output and
 * element; kinks, NaN and what cannot be checked are said and not passed. */
#include "autograd_test.h"

#include <tenon/gradcheck.h>

TestSuite(gradcheck, .init = load_plugins, .timeout = 120);

static const tn_gradcheck_options fast = {.forward = true}, slow = {.slow = true, .forward = true},
                                  backward_only = {.slow = true},
                                  steps = {.complex_step = true, .slow = true};

/* ---- functions ------------------------------------------------------------------------------- */
static tn_status product(void *data, tn_tensors in, tn_tensors out)
{
    (void)data;
    return tn_call_mul_Tensor(in.data[0], in.data[1], &out.data[0]);
}

static tn_status sine(void *data, tn_tensors in, tn_tensors out)
{
    (void)data;
    return tn_call_sin(in.data[0], &out.data[0]);
}

static tn_status magnitude(void *data, tn_tensors in, tn_tensors out)
{
    (void)data;
    return tn_call_abs(in.data[0], &out.data[0]);
}

static tn_status root(void *data, tn_tensors in, tn_tensors out)
{
    (void)data;
    return tn_call_sqrt(in.data[0], &out.data[0]);
}

/* sin x and cos x, so that each is pulled back with the other undefined. */
static tn_status both(void *data, tn_tensors in, tn_tensors out)
{
    (void)data;
    tn_status status = tn_call_sin(in.data[0], &out.data[0]);
    return status == TN_OK ? tn_call_cos(in.data[0], &out.data[1]) : status;
}

/* x * 3 whose gradient is off by a factor in the elements from the third on. */
static tn_status wrong_backward(tn_grad_call *g)
{
    tn_status status = tn_call_mul_Scalar(g->in[0], tn_scalar_float(3), &g->out[0]);
    for (int64_t i = 2; status == TN_OK && i < g->out[0]->numel; i++)
        ((double *)g->out[0]->data)[i] *= 1.0001;
    return status;
}
static const tn_function_decl WRONG = {"Wrong", triple_forward, wrong_backward, NULL};

static tn_status nan_backward(tn_grad_call *g)
{
    return tn_call_mul_Scalar(g->in[0], tn_scalar_float(NAN), &g->out[0]);
}
static const tn_function_decl NANS = {"Nans", triple_forward, nan_backward, NULL};

static tn_status applied(void *data, tn_tensors in, tn_tensors out)
{
    return tn_function_apply(data, NULL, in.data, 1, out.data, 1);
}

/* ---- inputs ---------------------------------------------------------------------------------- */
static tn_tensor *strided(int64_t ndim, const int64_t *sizes, const int64_t *strides, int64_t n)
{
    double values[64];
    tn_tensor *base = NULL, *t = NULL;
    for (int i = 0; i < 64; i++)
        values[i] = 0.3 + 0.17 * i;
    OK(tn_tensor_from_data(values, TN_F64, 1, &n, &base));
    OK(tn_tensor_view(base, ndim, sizes, strides, 0, &t));
    tn_release(base);
    return leaf_of(t);
}

static tn_tensor *complex_leaf(void)
{
    static const double values[] = {0.5, -1, 2, 0.25, -0.75, 1.5};
    tn_tensor *t = NULL;
    OK(tn_tensor_from_data(values, TN_C128, 1, &(int64_t){3}, &t));
    return leaf_of(t);
}

static void expect_all(tn_gradcheck_fn f, tn_tensors in, int64_t n_outputs)
{
    tn_gradcheck_report r;
    OK(tn_gradcheck(f, NULL, in, n_outputs, &fast, &r));
    cr_expect(r.nearest <= 1);
    OK(tn_gradcheck(f, NULL, in, n_outputs, &slow, &r));
    OK(tn_gradgradcheck(f, NULL, in, n_outputs, NULL, &r));
    OK(tn_gradgradcheck(f, NULL, in, n_outputs, &backward_only, &r));
}

Test(gradcheck, right_gradients_pass)
{
    tn_tensor *x = LEAF(0.5, -1, 2), *y = LEAF(3, 0.25, -2), *z = complex_leaf();
    expect_all(product, TN_TENSORS(x, y), 1);
    expect_all(product, TN_TENSORS(x, z), 1); /* a real input of a complex result */
    expect_all(sine, TN_TENSORS(z), 1);
    expect_all(magnitude, TN_TENSORS(z), 1); /* not holomorphic */
    expect_all(both, TN_TENSORS(x), 2);
    tn_release(x);
    tn_release(y);
    tn_release(z);
}

Test(gradcheck, strides_of_any_kind)
{
    const int64_t two[] = {3, 4};
    tn_tensor *gaps = strided(2, two, (const int64_t[]){10, 2}, 40),
              *turned = strided(2, two, (const int64_t[]){1, 3}, 12),
              *broadcast = strided(2, two, (const int64_t[]){0, 1}, 4),
              *row = strided(1, two + 1, (const int64_t[]){1}, 4),
              *nothing = strided(2, (const int64_t[]){3, 0}, (const int64_t[]){1, 1}, 0);
    expect_all(product, TN_TENSORS(gaps, turned), 1);
    expect_all(product, TN_TENSORS(broadcast, gaps), 1);
    expect_all(product, TN_TENSORS(row, turned), 1); /* summed back */
    expect_all(sine, TN_TENSORS(nothing), 1);
    tn_tensor *all[] = {gaps, turned, broadcast, row, nothing};
    for (int i = 0; i < 5; i++)
        tn_release(all[i]);
}

Test(gradcheck, complex_steps_are_nearly_exact)
{
    tn_gradcheck_report by_steps, by_differences;
    tn_tensor *x = LEAF(0.5, 1.25, 2), *z = LEAF(1.5, -2, 3);
    OK(tn_gradcheck(sine, NULL, TN_TENSORS(x), 1, &steps, &by_steps));
    OK(tn_gradcheck(sine, NULL, TN_TENSORS(x), 1, &backward_only, &by_differences));
    cr_expect(by_steps.error < 1e-14 && by_differences.error > 1e-14, "%g, %g", by_steps.error,
              by_differences.error);
    /* abs is not analytic: the differences contradict the step, and stay. */
    OK(tn_gradcheck(magnitude, NULL, TN_TENSORS(z), 1, &steps, NULL));
    tn_release(x);
    tn_release(z);
}

Test(gradcheck, the_wrong_element_is_named)
{
    tn_gradcheck_report r;
    tn_tensor *x = LEAF(1, 2, 3, 4);
    for (int mode = 0; mode < 2; mode++) {
        tn_gradcheck_options o = {.slow = mode == 1};
        FAILS(tn_gradcheck(applied, (void *)&WRONG, TN_TENSORS(x), 1, &o, &r),
              "element 2 of input");
        cr_expect_eq(r.input, 0);
        cr_expect_eq(r.output, 0);
        cr_expect_eq(r.input_element, 2);
        cr_expect_eq(r.output_element, 2);
        cr_expect(fabs(r.analytic - 3.0003) < 1e-12 && fabs(r.numeric - 3) < 1e-9);
        cr_expect(r.error > 0 && r.error < 1e-9);
    }
    tn_release(x);
}

Test(gradcheck, nan_and_kinks_do_not_pass)
{
    tn_gradcheck_report r;
    tn_tensor *x = LEAF(1, 2), *kink = LEAF(1, 0), *outside = LEAF(-1, 4), *pole = LEAF(0, 4);
    FAILS(tn_gradcheck(applied, (void *)&NANS, TN_TENSORS(x), 1, NULL, &r), "nan");
    FAILS(tn_gradcheck(root, NULL, TN_TENSORS(outside), 1, NULL, &r), "nan");
    FAILS(tn_gradcheck(root, NULL, TN_TENSORS(pole), 1, NULL, &r), "inf");
    OK(tn_gradcheck(magnitude, NULL, TN_TENSORS(kink), 1, NULL, &r)); /* 0 from both sides' mean */
    tn_tensor *near = LEAF(1, 1e-6); /* the step shrinks until it is on one side */
    OK(tn_gradcheck(magnitude, NULL, TN_TENSORS(near), 1, NULL, &r));
    tn_tensor *all[] = {x, kink, outside, pole, near};
    for (int i = 0; i < 5; i++)
        tn_release(all[i]);
}

static tn_status cut(void *data, tn_tensors in, tn_tensors out)
{
    (void)data;
    return tn_call_detach(in.data[0], &out.data[0]);
}

Test(gradcheck, an_output_without_history_must_not_depend)
{
    tn_gradcheck_report r;
    tn_tensor *x = LEAF(1, 2);
    FAILS(tn_gradcheck(cut, NULL, TN_TENSORS(x), 1, NULL, &r), "is 0 by backward, 1");
    tn_release(x);
}

Test(gradcheck, what_cannot_be_checked_is_said)
{
    tn_tensor *x = VECTOR(1, 2), *y = VECTOR(1, 2, 3), *single = NULL;
    FAILS(tn_gradcheck(sine, NULL, TN_TENSORS(x), 1, NULL, NULL), "no input requires");
    OK(tn_tensor_from_data((float[]){1, 2}, TN_F32, 1, &(int64_t){2}, &single));
    leaf_of(single);
    FAILS(tn_gradcheck(sine, NULL, TN_TENSORS(single), 1, NULL, NULL), "float64 or complex128");
    leaf_of(x);
    FAILS(tn_gradcheck(product, NULL, TN_TENSORS(x, y), 1, NULL, NULL), "3");
    tn_release(x);
    tn_release(y);
    tn_release(single);
}

Test(gradcheck, every_failing_allocation_is_an_error)
{
    tn_tensor *x = LEAF(0.5, 2), *y = LEAF(3, 1);
    int64_t n = 1;
    for (tn_status status = TN_ERR_MEMORY; status != TN_OK; n++) {
        cr_assert_lt(n, 100000);
        tn__alloc_fail_at(n);
        status = tn_gradgradcheck(product, NULL, TN_TENSORS(x, y), 1, NULL, NULL);
        tn__alloc_fail_at(0);
        cr_assert(status == TN_OK || *tn_error_last()->message, "allocation %lld", (long long)n);
    }
    tn_release(x);
    tn_release(y);
}

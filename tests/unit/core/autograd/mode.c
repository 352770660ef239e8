/* Grad modes: what they change, that they nest, and anomaly mode. */
#include "autograd_test.h"

TestSuite(mode, .init = load_plugins, .timeout = 60);

static bool excluded(void)
{
    return tn__keys_tls.exclude & TN__KEY_AUTOGRAD;
}

Test(mode, modes_nest_and_restore)
{
    cr_assert(tn_grad_enabled() && !excluded());
    TN_NO_GRAD {
        cr_assert(!tn_grad_enabled() && excluded());
        TN_ENABLE_GRAD {
            cr_assert(tn_grad_enabled() && !excluded());
            TN_INFERENCE_MODE {
                cr_assert(!tn_grad_enabled() && excluded());
                cr_assert_eq(tn__mode_tls.flags, TN_TENSOR_INFERENCE);
                TN_NO_GRAD {
                    cr_assert_eq(tn__mode_tls.flags, TN_TENSOR_INFERENCE);
                }
                TN_ENABLE_GRAD {
                    cr_assert_eq(tn__mode_tls.flags, 0);
                    cr_assert(tn_grad_enabled() && !excluded());
                }
                cr_assert_eq(tn__mode_tls.flags, TN_TENSOR_INFERENCE);
                cr_assert(!tn_grad_enabled());
            }
            cr_assert_eq(tn__mode_tls.flags, 0);
        }
        cr_assert(!tn_grad_enabled() && excluded());
    }
    cr_assert(tn_grad_enabled() && !excluded());
}

Test(mode, leaving_touches_no_other_key)
{
    tn__keys_tls.exclude |= TN__KEY(TN__BIT_TRACER);
    TN_NO_GRAD {
        tn__keys_tls.exclude &= ~TN__KEY(TN__BIT_TRACER);
    }
    cr_assert_eq(tn__keys_tls.exclude, 0);
}

Test(mode, inference_tensors_take_no_part)
{
    tn_tensor *t = NULL, *view = NULL;
    TN_INFERENCE_MODE {
        t = VECTOR(1, 2);
    }
    cr_assert(t->flags & TN_TENSOR_INFERENCE);
    FAILS(tn_set_requires_grad(t, true), "inference mode");
    OK(tn_tensor_view(t, 1, (int64_t[]){1}, (int64_t[]){1}, 0, &view));
    cr_assert_null(tn__impl(view)->base);
    tn_release(view);
    tn_release(t);
}

Test(mode, backward_may_be_called_anywhere)
{
    tn_tensor *x = LEAF(1), *y = apply1(&TRIPLE, NULL, x);
    TN_INFERENCE_MODE {
        OK(tn_backward_from(y));
        cr_assert_eq(tn__mode_tls.flags, TN_TENSOR_INFERENCE);
    }
    cr_assert(!(tn_grad(x)->flags & TN_TENSOR_INFERENCE));
    TN_NO_GRAD {
        OK(tn_backward_from(y));
    }
    EXPECT(tn_grad(x), 6);
    tn_release(y);
    tn_release(x);
}

static tn_status mode_backward(tn_grad_call *g)
{
    *(int *)g->context = tn_grad_enabled();
    return same_backward(g);
}

Test(mode, a_pass_records_only_when_asked)
{
    static const tn_function_decl MODE = {"Mode", same_forward, mode_backward, NULL};
    int enabled = -1;
    tn_tensor *x = LEAF(1), *y = apply1(&MODE, &enabled, x), *out = NULL;
    OK(tn_backward_from(y));
    cr_assert_eq(enabled, 0);
    TN_NO_GRAD {
        OK(grad_with(y, NULL, x, &(tn_backward_options){.create_graph = true}, &out));
        cr_assert(!tn_grad_enabled());
    }
    cr_assert_eq(enabled, 1);
    tn_release(out);
    tn_release(y);
    tn_release(x);
}

Test(mode, what_can_require_a_gradient)
{
    tn_tensor *ints = NULL, *x = VECTOR(1), *y = NULL;
    OK(tn_tensor_new(0, NULL, TN_I64, (tn_device){TN_CPU, 0}, &ints));
    FAILS(tn_set_requires_grad(ints, true), "int64");
    OK(tn_set_requires_grad(ints, false));
    OK(tn_set_requires_grad(x, true));
    cr_assert(tn_requires_grad(x) && tn_is_leaf(x));
    y = apply1(&SAME, NULL, x);
    FAILS(tn_set_requires_grad(y, false), "no leaf");
    OK(tn_set_requires_grad(y, true));
    OK(tn_set_requires_grad(x, false));
    cr_assert(!tn_requires_grad(x) && tn_is_leaf(x));
    FAILS(tn_set_requires_grad(NULL, true), "missing");
    tn_release(y);
    tn_release(x);
    tn_release(ints);
}

Test(mode, the_grad_of_a_leaf)
{
    tn_tensor *x = LEAF(1, 2), *g = VECTOR(3, 4), *other = VECTOR(3);
    FAILS(tn_set_grad(x, other), "[1]");
    FAILS(tn_set_grad(x, x), "its own");
    FAILS(tn_set_grad(NULL, x), "missing");
    OK(tn_set_grad(x, g));
    cr_assert_eq(tn_grad(x), g);
    OK(tn_set_grad(x, g));
    OK(tn_set_grad(x, NULL));
    cr_assert_null(tn_grad(x));
    cr_assert_null(tn_grad(NULL));
    OK(tn_set_grad(other, NULL));
    tn_release(other);
    tn_release(g);
    tn_release(x);
}

/* ---- anomaly mode ---------------------------------------------------------------------------- */
static tn_status nan_backward(tn_grad_call *g)
{
    return tn_call_mul_Scalar(g->in[0], tn_scalar_float(NAN), &g->out[0]);
}

Test(mode, anomaly_mode_names_the_node)
{
    static const tn_function_decl BAD = {"Bad", same_forward, nan_backward, NULL};
    tn_tensor *x = LEAF(1), *m = apply1(&BAD, NULL, x), *y = apply1(&TRIPLE, NULL, m);
    tn_set_anomaly_mode(true);
    FAILS(tn_backward_from(y), "Bad");
    FAILS(tn_backward_from(y), "NaN");
    cr_assert_null(tn_grad(x));
    tn_set_anomaly_mode(false);
    OK(tn_backward_from(y));
    tn_release(y);
    tn_release(m);
    tn_release(x);
}

/* What is refused is refused in one sentence that says what, where, expected and got. */
#include "autograd_test.h"

TestSuite(refusals, .init = load_plugins, .timeout = 60);

/* The call fails with one line that has all of these words. */
static void refused(int line, tn_status status, const char *const *words)
{
    const char *message = tn_error_last()->message;
    cr_assert_neq(status, TN_OK, "line %d: it succeeded", line);
    cr_assert_null(strchr(message, '\n'), "line %d: %s", line, message);
    for (; *words; words++)
        cr_assert(strstr(message, *words), "line %d: '%s' is not in: %s", line, *words, message);
    tn_error_clear();
}
#define REFUSED(call, ...) refused(__LINE__, call, (const char *const[]){__VA_ARGS__, NULL})
#define NOT_WRITTEN(t, ...)                                                                        \
    refused(__LINE__, (t) ? TN_OK : tn_error_last()->status,                                       \
            (const char *const[]){__VA_ARGS__, NULL})

static tn_tensor *ones(tn_ints sizes, tn_dtype dtype, tn_device device)
{
    return tn_ones(sizes, .dtype = dtype, .device = device);
}
static const tn_device host = {TN_CPU, 0}, meta = {TN_META, -1};

Test(refusals, a_gradient_that_does_not_fit)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(1, 2)), *y = tn_mul(x, x);
        tn_tensor *z = tn_view_as_complex(tn_clone(x));
        REFUSED(tn_backward_from(y), "output 0", "[2]", "one real element");
        REFUSED(tn_backward_from(z), "complex128", "one real element");
        REFUSED(backward_with(y, ones(TN_INTS(3), TN_F64, host), NULL), "output 0", "[3]", "[2]");
        REFUSED(backward_with(y, ones(TN_INTS(1), TN_F64, host), NULL), "[1]", "[2]");
        REFUSED(backward_with(y, ones(TN_INTS(2), TN_I64, host), NULL), "int64", "floating");
        REFUSED(backward_with(y, ones(TN_INTS(2), TN_C128, host), NULL), "complex128", "floating");
        REFUSED(backward_with(z, ones((tn_ints){NULL, 0}, TN_F64, host), NULL), "float64",
                "complex");
        REFUSED(backward_with(y, ones(TN_INTS(2), TN_F64, meta), NULL), "meta", "cpu");
        REFUSED(tn_backward((tn_tensors){&y, 1}, &(tn_tensors){0}, NULL), "0 gradients",
                "1 outputs");
        OK(backward_with(y, ones(TN_INTS(2), TN_F32, host), NULL)); /* floating: it is cast */
        EXPECT(tn_grad(x), 2, 4);
        REFUSED(tn_set_grad(x, ones(TN_INTS(3), TN_F64, host)), "[3]", "[2]");
        REFUSED(tn_set_grad(x, ones(TN_INTS(2), TN_F32, host)), "float32", "float64");
        REFUSED(tn_set_grad(x, ones(TN_INTS(2), TN_F64, meta)), "meta", "cpu");
        REFUSED(tn_set_grad(x, x), "its own gradient");
    }
}

Test(refusals, what_has_no_gradient)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(1, 2)), *whole = ones(TN_INTS(2), TN_I64, host), *out = NULL;
        tn_tensor *truth = tn_gt(x, 1), *unseen = NULL, *loss = tn_sum(tn_mul(x, x));
        TN_NO_GRAD {
            unseen = tn_sum(tn_mul(x, x));
        }
        REFUSED(tn_set_requires_grad(whole, true), "int64", "floating or complex");
        REFUSED(tn_set_requires_grad(truth, true), "bool");
        OK(tn_set_requires_grad(whole, false));
        REFUSED(tn_set_requires_grad(loss, false), "no leaf", "detach");
        REFUSED(tn_retain_grad(whole), "requires no gradient");
        REFUSED(tn_backward_from(tn_sum(whole)), "int64", "does not require a gradient");
        REFUSED(tn_backward_from(unseen), "does not require a gradient", "while recording");
        REFUSED(grad_with(loss, NULL, unseen, NULL, &out), "input 0", "does not require");
        REFUSED(grad_with(loss, NULL, tn_scoped(LEAF(1)), NULL, &out), "input 0", "allow_unused");
    }
}

/* One of several views that one call made; a view of it is a view of the base as any other. */
Test(refusals, one_of_several_views)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(1, 2, 3, 4)), *y = tn_mul(x, 2);
        tn_tensors lists[3] = {{0}};
        OK(tn_call_unbind_int(y, 0, &lists[0]));
        OK(tn_call_split_Tensor(y, 2, 0, &lists[1]));
        OK(tn_call_chunk(y, 2, 0, &lists[2]));
        for (int i = 0; i < 3; i++) {
            NOT_WRITTEN(tn_mul_(lists[i].data[0], 2), "several views", "narrow or select");
            TN_NO_GRAD {
                cr_assert_not_null(tn_mul_(lists[i].data[1], 1), "%s", tn_error_last()->message);
            }
        }
        cr_assert_not_null(tn_mul_(tn_slice(lists[1].data[0]), 5), "%s", tn_error_last()->message);
        OK(tn_backward_from(tn_sum(tn_add(lists[1].data[0], lists[2].data[1]))));
        EXPECT(tn_grad(x), 10, 10, 2, 2);
        for (int i = 0; i < 3; i++)
            tn_tensors_release(&lists[i]);
    }
}

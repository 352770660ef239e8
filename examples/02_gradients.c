/* 02_gradients.c - a gradient, a gradient of a gradient, and a check that both are right. */
#include <stdio.h>

#include <tenon/autograd.h>
#include <tenon/gradcheck.h>
#include <tenon/ops.h>
#include <tenon/runtime.h>

/* Rosenbrock's banana: 100 (y - x^2)^2 + (1 - x)^2. Its minimum, 0, is at (1, 1). */
static tn_tensor *banana(tn_tensor *x, tn_tensor *y)
{
    tn_tensor *valley = tn_square(tn_sub(y, tn_square(x)));
    tn_tensor *slope = tn_square(tn_sub(x, 1));
    return tn_add(slope, valley, .alpha = 100);
}

static tn_status check_banana(void *data, tn_tensors in, tn_tensors out)
{
    (void)data;
    TN_SCOPE {
        out.data[0] = tn_keep(banana(in.data[0], in.data[1]));
    }
    return out.data[0] ? TN_OK : tn_error_last()->status;
}

static tn_tensor *variable(double value)
{
    tn_tensor *t = tn_scalar_tensor(value, .dtype = TN_F64);
    if (t)
        tn_set_requires_grad(t, true);
    return t;
}

int main(void)
{
    if (tn_plugins_load_default() != TN_OK)
        return 1;
    TN_SCOPE {
        tn_tensor *x = variable(-1), *y = variable(2);

        /* backward adds d banana / d leaf to the grad of every leaf */
        tn_backward_from(banana(x, y));
        printf("gradient at (-1, 2): %g, %g\n", tn_as_double(tn_grad(x)), tn_as_double(tn_grad(y)));

        /* tn_grad_of gives the gradients instead; create_graph makes them differentiable */
        tn_tensor *dx = NULL, *dxx[2] = {NULL};
        tn_backward_options again = {.create_graph = true};
        tn_grad_of(TN_TENSORS(banana(x, y)), NULL, TN_TENSORS(x), &again, &dx);
        tn_grad_of(TN_TENSORS(dx), NULL, TN_TENSORS(x, y), NULL, dxx);
        printf("its derivatives:     %g, %g\n", tn_as_double(dxx[0]), tn_as_double(dxx[1]));

        tn_tensors at = TN_TENSORS(x, y);
        bool right = tn_gradcheck(check_banana, NULL, at, 1, NULL, NULL) == TN_OK &&
                     tn_gradgradcheck(check_banana, NULL, at, 1, NULL, NULL) == TN_OK;
        printf("against differences: %s\n", right ? "right" : tn_error_last()->message);
        tn_release(dx);
        tn_release(dxx[0]);
        tn_release(dxx[1]);
    }
    return tn_error_last()->status;
}

/* Gradients of gradients where the first derivative moves in steps: zero, not an error. What
 * PyTorch says so too of: relu, abs, leaky_relu, hardtanh, hardshrink, copysign; of the others it
 * has an error. A linear operator's gradient depends on nothing: that stays an error. */
#include "autograd_test.h"

TestSuite(constant, .init = load_plugins, .timeout = 60);

static const tn_backward_options create = {.create_graph = true};

static tn_tensor *zeros_like(tn_tensor *x)
{
    tn_tensor *zeros = NULL;
    TN_NO_GRAD {
        zeros = tn_mul(x, 0);
    }
    return zeros;
}

static tn_tensor *maximum(tn_tensor *x)
{
    return tn_maximum(x, zeros_like(x));
}
static tn_tensor *minimum(tn_tensor *x)
{
    return tn_minimum(x, zeros_like(x));
}
static tn_tensor *fmax_(tn_tensor *x)
{
    return tn_fmax(x, zeros_like(x));
}
static tn_tensor *both_sides(tn_tensor *x)
{
    return tn_maximum(x, tn_neg(x));
}
static tn_tensor *clamped(tn_tensor *x)
{
    return tn_clamp(x, .min = tn_scalar_float(-1), .max = tn_scalar_float(1));
}
static tn_tensor *clamped_below(tn_tensor *x)
{
    return tn_clamp_min(x, 0);
}
static tn_tensor *greatest(tn_tensor *x)
{
    return tn_max(x);
}
static tn_tensor *greatest_along(tn_tensor *x)
{
    tn_tensor *values = NULL, *indices = NULL;
    OK(tn_call_max_dim(x, 0, false, &values, &indices));
    tn_release(indices);
    return tn_scoped(values);
}
static tn_tensor *greatest_of(tn_tensor *x)
{
    return tn_amax(x);
}
static tn_tensor *first_power(tn_tensor *x)
{
    return tn_pow(x, 1);
}
static tn_tensor *copysigned(tn_tensor *x)
{
    return tn_copysign(x, zeros_like(x));
}
static tn_tensor *sum_of_magnitudes(tn_tensor *x)
{
    return tn_linalg_vector_norm(x, .ord = 1);
}
static tn_tensor *relu(tn_tensor *x)
{
    return tn_relu(x);
}
static tn_tensor *magnitude(tn_tensor *x)
{
    return tn_abs(x);
}
static tn_tensor *leaky(tn_tensor *x)
{
    return tn_leaky_relu(x);
}
static tn_tensor *hardtanh(tn_tensor *x)
{
    return tn_hardtanh(x);
}
static tn_tensor *hardshrink(tn_tensor *x)
{
    return tn_hardshrink(x);
}
static tn_tensor *double_(tn_tensor *x)
{
    return tn_mul(x, 2);
}
static tn_tensor *negated(tn_tensor *x)
{
    return tn_neg(x);
}
static tn_tensor *floor_(tn_tensor *x)
{
    return tn_floor(x);
}

typedef tn_tensor *(*function)(tn_tensor *x);
static const function in_steps[] = {
    relu,    maximum,       minimum,    fmax_,          both_sides,        magnitude,
    clamped, clamped_below, greatest,   greatest_along, greatest_of,       first_power,
    leaky,   hardtanh,      hardshrink, copysigned,     sum_of_magnitudes,
};
static const function linear[] = {double_, negated, floor_};
enum { IN_STEPS = sizeof in_steps / sizeof *in_steps, LINEAR = sizeof linear / sizeof *linear };

static tn_tensor *gradient(tn_tensor *y, tn_tensor *grad, tn_tensor *x)
{
    tn_tensor *out = NULL;
    OK(grad_with(y, grad, x, &create, &out));
    return tn_scoped(out);
}

Test(constant, a_second_derivative_is_zero)
{
    for (size_t i = 0; i < IN_STEPS; i++)
        TN_SCOPE {
            tn_tensor *x = tn_scoped(LEAF(-1.5, -0.25, 0.5, 2));
            tn_tensor *first = gradient(tn_sum(in_steps[i](x)), NULL, x);
            cr_expect(tn_requires_grad(first), "%zu", i);
            EXPECT(gradient(tn_sum(first), NULL, x), 0, 0, 0, 0);
        }
}

Test(constant, so_it_is_where_the_gradient_has_a_history)
{
    for (size_t i = 0; i < IN_STEPS; i++)
        TN_SCOPE {
            tn_tensor *x = tn_scoped(LEAF(-1.5, -0.25, 0.5, 2)), *w = tn_scoped(LEAF(3));
            tn_tensor *y = tn_sum(tn_mul(in_steps[i](x), w));
            tn_tensor *sum = tn_sum(gradient(y, NULL, x));
            EXPECT(gradient(sum, NULL, x), 0, 0, 0, 0);
            tn_tensor *of_w = gradient(tn_sum(in_steps[i](x)), NULL, x);
            EXPECT(gradient(sum, NULL, w), *(double *)tn_sum(of_w)->data);
        }
}

Test(constant, what_is_linear_stays_without_history)
{
    for (size_t i = 0; i < LINEAR; i++)
        TN_SCOPE {
            tn_tensor *x = tn_scoped(LEAF(-1.5, 2)), *out = NULL;
            tn_tensor *first = gradient(tn_sum(linear[i](x)), NULL, x);
            cr_expect_not(tn_requires_grad(first), "%zu", i);
            FAILS(grad_with(tn_sum(first), NULL, x, NULL, &out), "does not require a gradient");
        }
}

/* x^3 as a product beside relu: the zeros are added to what there is. */
Test(constant, zeros_join_what_other_paths_give)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(-1, 2)), *cube = tn_mul(tn_mul(x, x), x);
        tn_tensor *first = gradient(tn_sum(tn_add(cube, tn_relu(x))), NULL, x);
        EXPECT(first, 3, 13);
        tn_tensor *second = gradient(tn_sum(first), NULL, x);
        EXPECT(second, -6, 12);
        EXPECT(gradient(tn_sum(second), NULL, x), 6, 6);
    }
}

/* In place: what is read is a copy of the old value, or the result. */
Test(constant, in_place_and_through_a_view)
{
    TN_SCOPE {
        tn_tensor *x = tn_scoped(LEAF(-1, 2)), *y = tn_mul(x, 3), *z = tn_mul(x, 3);
        cr_assert_not_null(tn_relu_(y));
        EXPECT(gradient(tn_sum(gradient(tn_sum(y), NULL, x)), NULL, x), 0, 0);
        cr_assert_not_null(tn_clamp_min_(tn_slice(z, .start = {1, 1}), 0));
        EXPECT(gradient(tn_sum(gradient(tn_sum(z), NULL, x)), NULL, x), 0, 0);
    }
}

static tn_status second_of_relu(void)
{
    double values[] = {-1, 2};
    int64_t n = 2;
    tn_tensor *x = NULL, *y = NULL, *loss = NULL, *first = NULL, *sum = NULL, *second = NULL;
    tn_status status = tn_tensor_from_data(values, TN_F64, 1, &n, &x);
    status = status ? status : tn_set_requires_grad(x, true);
    status = status ? status : tn_call_relu(x, &y);
    status = status ? status : tn_call_sum(y, TN_DTYPE_NONE, &loss);
    status = status ? status : grad_with(loss, NULL, x, &create, &first);
    status = status ? status : tn_call_sum(first, TN_DTYPE_NONE, &sum);
    status = status ? status : grad_with(sum, NULL, x, NULL, &second);
    if (status == TN_OK)
        EXPECT(second, 0, 0);
    tn_tensor *all[] = {x, y, loss, first, sum, second};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tn_release(all[i]);
    return status;
}

Test(constant, every_allocation_may_fail)
{
    every_failure(second_of_relu, 20);
}

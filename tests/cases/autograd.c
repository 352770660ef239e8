/* The case bank's autograd area; a test is named by its case. Where a case allows several answers,
 * the comment says which one is Tenon's. */
#include "case_test.h"

#include <tenon/autograd.h>

TestSuite(autograd, .init = case_begin, .fini = case_end, .timeout = 60);

static tn_tensor *leaf(tn_ints sizes, const double *values)
{
    tn_tensor *t = case_tensor(TN_F64, sizes, values);
    cr_assert_eq(tn_set_requires_grad(t, true), TN_OK);
    return t;
}
#define LEAF(n, ...) leaf(CASE_SHAPE(n), CASE_VALUES(__VA_ARGS__))

static void backward(int line, tn_tensor *loss)
{
    cr_assert_eq(tn_backward_from(loss), TN_OK, "line %d: %s", line, tn_error_last()->message);
}
#define BACKWARD(loss) backward(__LINE__, loss)
#define EXPECT_GRAD(t, n, ...) CASE_EXPECT(tn_grad(t), TN_F64, CASE_SHAPE(n), __VA_ARGS__)

/* The gradient of one output with respect to one input, in the test's scope. */
static tn_tensor *grad_of(int line, tn_tensor *y, tn_tensor *x, bool create_graph)
{
    tn_tensor *out = NULL;
    tn_backward_options options = {.create_graph = create_graph};
    cr_assert_eq(tn_grad_of((tn_tensors){&y, 1}, NULL, (tn_tensors){&x, 1}, &options, &out), TN_OK,
                 "line %d: %s", line, tn_error_last()->message);
    tn_tensor *kept = tn_alias(out);
    tn_release(out);
    return kept;
}
#define GRAD_OF(y, x) grad_of(__LINE__, y, x, false)
#define GRAD_TO_DIFFERENTIATE(y, x) grad_of(__LINE__, y, x, true)

static tn_tensor *bools(bool a, bool b)
{
    return case_tensor(TN_BOOL, CASE_SHAPE(2), CASE_VALUES(a, b));
}

/* B: sqrt of the negative numbers that are not selected is NaN, and so is its derivative: the exact
 * zero that where hands it becomes 0 / NaN in sqrt's own chain. C is the cure. */
Test(autograd, BB_ag_01)
{
    tn_tensor *a = LEAF(2, 1, NAN), *b = LEAF(2, INFINITY, 3);
    BACKWARD(tn_sum(tn_where(bools(true, false), a, b)));
    EXPECT_GRAD(a, 2, 1, 0);
    EXPECT_GRAD(b, 2, 0, 1);

    tn_tensor *x = LEAF(3, -1, -4, 9);
    BACKWARD(tn_sum(tn_where(tn_gt(x, 0), tn_sqrt(x), x)));
    EXPECT_GRAD(x, 3, NAN, NAN, 1.0 / 6);

    tn_tensor *y = LEAF(3, -1, -4, 9), *positive = tn_gt(y, 0);
    tn_tensor *safe = tn_where(positive, y, tn_ones_like(y));
    BACKWARD(tn_sum(tn_where(positive, tn_sqrt(safe), y)));
    EXPECT_GRAD(y, 3, 1, 1, 1.0 / 6);
}

Test(autograd, BB_ag_02)
{
    tn_tensor *a = LEAF(4, 0, 0, 2, -3), *b = LEAF(4, 1, 0, 3, 2);
    BACKWARD(tn_sum(tn_pow(a, b)));
    EXPECT_GRAD(a, 4, 1, 0, 12, -6);
    EXPECT_GRAD(b, 4, 0, 0, 8 * log(2), NAN);

    tn_tensor *c = LEAF(2, 0, 2), *d = LEAF(2, -3, 0), *e = LEAF(1, 0);
    BACKWARD(tn_sum(tn_pow(c, 0)));
    EXPECT_GRAD(c, 2, 0, 0);
    BACKWARD(tn_sum(tn_pow(d, 2)));
    EXPECT_GRAD(d, 2, -6, 0);
    BACKWARD(tn_sum(tn_pow(e, 0.5)));
    EXPECT_GRAD(e, 1, INFINITY);

    tn_tensor *exponent = LEAF(1, -1);
    BACKWARD(tn_sum(tn_pow(case_tensor(TN_F64, CASE_SHAPE(1), CASE_VALUES(0)), exponent)));
    EXPECT_GRAD(exponent, 1, -INFINITY);

    tn_tensor *x = LEAF(1, 0), *first = GRAD_TO_DIFFERENTIATE(tn_sum(tn_pow(x, 3)), x);
    CASE_EXPECT(GRAD_OF(tn_sum(first), x), TN_F64, CASE_SHAPE(1), 0);
}

static void expect_zero_gradient(int line, double p)
{
    tn_tensor *x = LEAF(2, 0, 0);
    backward(line, tn_linalg_vector_norm(x, .ord = p));
    case_expect_(line, tn_grad(x), TN_F64, CASE_SHAPE(2), CASE_VALUES(0, 0));
}

static bool all_finite(const tn_tensor *t)
{
    for (int64_t i = 0; t && i < t->numel; i++)
        if (!isfinite(((const double *)t->data)[i]))
            return false;
    return t != NULL;
}

Test(autograd, BB_ag_03)
{
    expect_zero_gradient(__LINE__, 2);
    expect_zero_gradient(__LINE__, 1);
    expect_zero_gradient(__LINE__, 3);
    expect_zero_gradient(__LINE__, INFINITY);

    tn_tensor *rows = leaf(CASE_SHAPE(2, 2), CASE_VALUES(0, 0, 3, 4));
    BACKWARD(tn_sum(tn_linalg_vector_norm(rows, .dim = TN_INTS(1))));
    const double *slopes = tn_grad(rows)->data;
    cr_assert(slopes[0] == 0 && slopes[1] == 0);
    cr_assert_float_eq(slopes[2], 0.6, 1e-15);
    cr_assert_float_eq(slopes[3], 0.8, 1e-15);

    tn_tensor *x = LEAF(2, 0, 0);
    tn_tensor *first = GRAD_TO_DIFFERENTIATE(tn_linalg_vector_norm(x), x);
    cr_assert(all_finite(GRAD_OF(tn_sum(first), x)));

    tn_tensor *empty = leaf(CASE_SHAPE(0), CASE_VALUES(0));
    BACKWARD(tn_linalg_vector_norm(empty));
    cr_assert_eq(tn_grad(empty)->ndim, 1);
    cr_assert_eq(tn_grad(empty)->sizes[0], 0);

    tn_tensor *zero = leaf(CASE_SHAPE(1, 2), CASE_VALUES(0, 0));
    tn_tensor *other = leaf(CASE_SHAPE(1, 2), CASE_VALUES(3, 4));
    BACKWARD(tn_sum(tn_cosine_similarity(zero, other)));
    cr_assert(all_finite(tn_grad(zero)));
    cr_assert(all_finite(tn_grad(other)));

    tn_tensor *row = leaf(CASE_SHAPE(1, 2), CASE_VALUES(0, 0));
    tn_tensor *norm = tn_linalg_vector_norm(row, .dim = TN_INTS(1), .keepdim = true);
    BACKWARD(tn_sum(tn_div(row, tn_clamp_min(norm, 1e-12))));
    cr_assert(all_finite(tn_grad(row)));
}

/* ---- cumprod --------------------------------------------------------------------------------- */
/* grad_i = sum over j >= i of gy_j times the product of x_k, k <= j, k != i. */
static void by_definition(const double *x, const double *gy, int n, int step, double *grad)
{
    for (int i = 0; i < n; i++) {
        grad[i * step] = 0;
        for (int j = i; j < n; j++) {
            double product = gy[j * step];
            for (int k = 0; k <= j; k++)
                product *= k == i ? 1 : x[k * step];
            grad[i * step] += product;
        }
    }
}

static double close_to(const double *got, const double *expected, int n)
{
    double worst = 0;
    for (int i = 0; i < n; i++)
        worst = fmax(worst, fabs(got[i] - expected[i]));
    return worst;
}

Test(autograd, BB_ag_07)
{
    tn_tensor *a = LEAF(3, 5, 0, 2), *b = LEAF(4, 2, 0, 0, 3), *c = LEAF(3, 0, 2, 3);
    BACKWARD(tn_sum(tn_cumprod(a, 0)));
    EXPECT_GRAD(a, 3, 1, 15, 0);
    BACKWARD(tn_sum(tn_cumprod(b, 0)));
    EXPECT_GRAD(b, 4, 1, 2, 0, 0);
    BACKWARD(tn_sum(tn_cumprod(c, 0)));
    EXPECT_GRAD(c, 3, 9, 0, 0);

    enum { N = 3 };
    const double values[N * N] = {1, 0, 2, 0, 3, 0.5, 2, -1, 0},
                            gy[N * N] = {1, -2, 3, 0.5, 4, -1, 2, 7, 1};
    for (int dim = -1; dim <= 0; dim++) {
        tn_tensor *x = leaf(CASE_SHAPE(N, N), values);
        tn_tensor *weight = case_tensor(TN_F64, CASE_SHAPE(N, N), gy);
        BACKWARD(tn_sum(tn_mul(tn_cumprod(x, dim), weight)));
        double expected[N * N];
        for (int i = 0; i < N; i++) {
            int begin = dim ? i * N : i;
            by_definition(values + begin, gy + begin, N, dim ? 1 : N, expected + begin);
        }
        cr_assert_leq(close_to(tn_grad(x)->data, expected, N * N), 1e-12);
    }
}

/* The second derivative of sum(cumprod(x)) along v, against central differences of the first one. */
Test(autograd, BB_ag_07_double_backward)
{
    enum { N = 4 };
    const double values[N] = {2, 0, 0, 3}, v[N] = {1, -2, 0.5, 3}, h = 1e-4;
    tn_tensor *x = leaf(CASE_SHAPE(N), values);
    tn_tensor *along = case_tensor(TN_F64, CASE_SHAPE(N), v);
    tn_tensor *first = GRAD_TO_DIFFERENTIATE(tn_sum(tn_cumprod(x, 0)), x);
    tn_tensor *second = GRAD_OF(tn_sum(tn_mul(first, along)), x);
    double ones[N] = {1, 1, 1, 1}, up[N], down[N], left[N], right[N], expected[N];
    for (int i = 0; i < N; i++) {
        up[i] = values[i] + h * v[i];
        down[i] = values[i] - h * v[i];
    }
    by_definition(up, ones, N, 1, right);
    by_definition(down, ones, N, 1, left);
    for (int i = 0; i < N; i++)
        expected[i] = (right[i] - left[i]) / (2 * h);
    cr_assert_leq(close_to(second->data, expected, N), 1e-6);
}

/* ---- accumulation ---------------------------------------------------------------------------- */
static const int fan_in[] = {1, 2, 7, 8, 9, 16, 24, 25, 100};
enum { FAN_INS = sizeof fan_in / sizeof *fan_in };

static tn_tensor *with_gradient_of_ten(void)
{
    tn_tensor *w = LEAF(1, 2);
    cr_assert_eq(tn_set_grad(w, case_tensor(TN_F64, CASE_SHAPE(1), CASE_VALUES(10))), TN_OK);
    return w;
}

Test(autograd, BB_ag_08)
{
    for (int i = 0; i < FAN_INS; i++) {
        int k = fan_in[i];
        tn_tensor *w = with_gradient_of_ten(), *terms[100];
        for (int j = 0; j < k; j++)
            terms[j] = tn_mul(w, 1.0);
        BACKWARD(tn_sum(tn_cat(((tn_tensors){terms, k}))));
        EXPECT_GRAD(w, 1, 10 + k);

        w = with_gradient_of_ten(); /* the terms as a chain of sums */
        tn_tensor *y = tn_mul(w, 1.0);
        for (int j = 1; j < k; j++)
            y = tn_add(y, tn_mul(w, 1.0));
        BACKWARD(y);
        EXPECT_GRAD(w, 1, 10 + k);

        w = with_gradient_of_ten(); /* through one shared view */
        tn_tensor *view = tn_view(w, TN_INTS(1, 1));
        y = tn_mul(view, 1.0);
        for (int j = 1; j < k; j++)
            y = tn_add(y, tn_mul(view, 1.0));
        BACKWARD(y);
        EXPECT_GRAD(w, 1, 10 + k);
    }
}

/* A graph that saves nothing can be walked again: the gradients of the sum add up. */
Test(autograd, BB_ag_10)
{
    tn_tensor *x = LEAF(2, 1, 2), *s = tn_sum(x);
    BACKWARD(s);
    BACKWARD(s);
    EXPECT_GRAD(x, 2, 2, 2);

    tn_tensor *y = LEAF(2, 1, 2), *p = tn_sum(tn_mul(y, y));
    BACKWARD(p);
    cr_assert_neq(tn_backward_from(p), TN_OK);
    cr_assert(strstr(tn_error_last()->message, "already freed"), "%s", tn_error_last()->message);
    cr_assert(strstr(tn_error_last()->message, "keep_graph"), "%s", tn_error_last()->message);

    tn_tensor *z = LEAF(2, 1, 2), *loss = tn_sum(tn_mul(z, z));
    tn_backward_options keep = {.keep_graph = true};
    for (int i = 0; i < 2; i++)
        cr_assert_eq(tn_backward((tn_tensors){&loss, 1}, NULL, &keep), TN_OK);
    EXPECT_GRAD(z, 2, 4, 8);
}

/* ---- a function's view ----------------------------------------------------------------------- */
static tn_status view_forward(tn_grad_call *g)
{
    tn_tensor *triple = NULL;
    tn_status status = tn_call_mul_Scalar(g->in[0], tn_scalar_float(3), &triple);
    if (status == TN_OK)
        status = tn_call_view(triple, TN_INTS(-1), &g->out[0]);
    tn_release(triple);
    return status;
}

static tn_status view_backward(tn_grad_call *g)
{
    *(bool *)g->context = true;
    return tn_call_mul_Scalar(g->in[0], tn_scalar_float(3), &g->out[0]);
}

/* Not recorded, the write leaves the history: the flag is set. Recorded, it is an error. */
Test(autograd, BB_ag_11)
{
    static const tn_function_decl F = {"F", view_forward, view_backward, NULL};
    bool called = false;
    tn_tensor *x = LEAF(4, 1, 2, 3, 4), *out = NULL;
    cr_assert_eq(tn_function_apply(&F, &called, &x, 1, &out, 1), TN_OK);
    TN_NO_GRAD {
        cr_assert_not_null(tn_fill_(out, 1));
    }
    BACKWARD(tn_sum(out));
    cr_assert(called);
    EXPECT_GRAD(x, 4, 3, 3, 3, 3);
    CASE_FAILS(tn_fill_(out, 1), "view");
    CASE_FAILS(tn_mul_(out, 2.0), "F");
    tn_release(out);
}

/* ---- edges of the domain --------------------------------------------------------------------- */
static void expect_slope(int line, tn_tensor *x, tn_tensor *y, double expected)
{
    backward(line, tn_sum(y));
    case_expect_(line, tn_grad(x), TN_F64, CASE_SHAPE(1), &expected);
}
#define EXPECT_SLOPE(f, at, expected)                                                              \
    do {                                                                                           \
        tn_tensor *x = LEAF(1, at);                                                                \
        expect_slope(__LINE__, x, f, expected);                                                    \
    } while (0)

/* Tenon's answers where the case allows two: atan2 and hypot at the origin NaN (0 / 0 as it is);
 * xlogy(0, 0) 0 for x and NaN for y, x / y. */
Test(autograd, BB_ag_12)
{
    EXPECT_SLOPE(tn_sqrt(x), 0, INFINITY);
    EXPECT_SLOPE(tn_sqrt(x), -1, NAN);
    EXPECT_SLOPE(tn_log(x), 0, INFINITY);
    EXPECT_SLOPE(tn_rsqrt(x), 0, -INFINITY);
    EXPECT_SLOPE(tn_acos(x), 1, -INFINITY);
    EXPECT_SLOPE(tn_asin(x), -1, INFINITY);
    EXPECT_SLOPE(tn_pow(tn_abs(x), 1.5), 0, 0);
    EXPECT_SLOPE(tn_reciprocal(x), 0, -INFINITY);
    EXPECT_SLOPE(tn_logit(x), 0, INFINITY);
    EXPECT_SLOPE(tn_logit(x), 1, INFINITY);

    tn_tensor *a = LEAF(1, 0), *b = LEAF(1, 0);
    BACKWARD(tn_sum(tn_atan2(a, b)));
    EXPECT_GRAD(a, 1, NAN);
    EXPECT_GRAD(b, 1, NAN);
    a = LEAF(1, 0), b = LEAF(1, 0);
    BACKWARD(tn_sum(tn_hypot(a, b)));
    EXPECT_GRAD(a, 1, NAN);
    EXPECT_GRAD(b, 1, NAN);
    a = LEAF(1, 0), b = LEAF(1, 0);
    BACKWARD(tn_sum(tn_xlogy(a, b)));
    EXPECT_GRAD(a, 1, 0);
    EXPECT_GRAD(b, 1, NAN);
}

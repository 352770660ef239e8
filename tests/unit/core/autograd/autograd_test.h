/* autograd_test.h - what the engine's tests share: leaves, a few functions with known gradients, and
 * expectations. The functions are tn_function_decls, so these tests need no registered derivative.
 */
#ifndef TN_TESTS_AUTOGRAD_TEST_H
#define TN_TESTS_AUTOGRAD_TEST_H

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/ops.h>
#include <tenon/runtime.h>

#include "core/autograd/autograd_impl.h"

#define OK(call)                                                                                   \
    do {                                                                                           \
        tn_status ok_ = (call);                                                                    \
        cr_assert_eq(ok_, TN_OK, "%s", tn_error_last()->message);                                  \
    } while (0)
/* The call fails, and says so with this word. */
#define FAILS(call, word)                                                                          \
    do {                                                                                           \
        cr_assert_neq((call), TN_OK, "it succeeded; an error with '%s' was expected", word);       \
        cr_assert(strstr(tn_error_last()->message, word), "'%s' is not in: %s", word,              \
                  tn_error_last()->message);                                                       \
        tn_error_clear();                                                                          \
    } while (0)

static inline void load_plugins(void)
{
    OK(tn_plugins_load_default());
    tn_error_clear();
}

static inline tn_tensor *vector(int64_t n, const double *values)
{
    tn_tensor *t = NULL;
    OK(tn_tensor_from_data(values, TN_F64, 1, &n, &t));
    return t;
}
#define VECTOR(...)                                                                                \
    vector(sizeof((double[]){__VA_ARGS__}) / sizeof(double), (const double[]){__VA_ARGS__})

static inline tn_tensor *leaf_of(tn_tensor *t)
{
    OK(tn_set_requires_grad(t, true));
    return t;
}
#define LEAF(...) leaf_of(VECTOR(__VA_ARGS__))

static inline void expect_values(int line, const tn_tensor *t, int64_t n, const double *values)
{
    cr_assert_not_null(t, "line %d: no tensor: %s", line, tn_error_last()->message);
    cr_assert_eq(t->dtype, TN_F64, "line %d: dtype %d", line, t->dtype);
    cr_assert_eq(t->numel, n, "line %d: %lld elements", line, (long long)t->numel);
    for (int64_t i = 0; i < n; i++) {
        double got = ((const double *)t->data)[t->ndim ? i * t->strides[t->ndim - 1] : 0];
        cr_assert_eq(got, values[i], "line %d: element %lld is %g, expected %g", line, (long long)i,
                     got, values[i]);
    }
}
#define EXPECT(t, ...)                                                                             \
    expect_values(__LINE__, t, sizeof((double[]){__VA_ARGS__}) / sizeof(double),                   \
                  (const double[]){__VA_ARGS__})

/* ---- functions ------------------------------------------------------------------------------- */
/* out = x, a new tensor; its gradient is the one that is given, the same tensor. */
static inline tn_status same_forward(tn_grad_call *g)
{
    return tn_call_clone(g->in[0], TN_FORMAT_NONE, &g->out[0]);
}
static inline tn_status same_backward(tn_grad_call *g)
{
    if (g->wants & 1) {
        tn_retain(g->in[0]);
        g->out[0] = g->in[0];
    }
    return TN_OK;
}
static const tn_function_decl SAME = {"Same", same_forward, same_backward, NULL};

/* out = 3 x */
static inline tn_status triple_forward(tn_grad_call *g)
{
    return tn_call_mul_Scalar(g->in[0], tn_scalar_float(3), &g->out[0]);
}
static inline tn_status triple_backward(tn_grad_call *g)
{
    return tn_call_mul_Scalar(g->in[0], tn_scalar_float(3), &g->out[0]);
}
static const tn_function_decl TRIPLE = {"Triple", triple_forward, triple_backward, NULL};

/* out = a b; both are saved. */
static inline tn_status times_forward(tn_grad_call *g)
{
    tn_status status = tn_function_save(g, g->in, 2);
    return status == TN_OK ? tn_call_mul_Tensor(g->in[0], g->in[1], &g->out[0]) : status;
}
static inline tn_status times_backward(tn_grad_call *g)
{
    for (size_t i = 0; i < 2; i++) {
        tn_tensor *other = tn_function_saved(g, 1 - i);
        if (!other)
            return g->status;
        if (g->wants >> i & 1 && tn_call_mul_Tensor(g->in[0], other, &g->out[i]) != TN_OK)
            return tn_error_last()->status;
    }
    return TN_OK;
}
static const tn_function_decl TIMES = {"Times", times_forward, times_backward, NULL};

/* out = a + b, of one shape; both get the same gradient tensor. */
static inline tn_status plus_forward(tn_grad_call *g)
{
    return tn_call_add_Tensor(g->in[0], g->in[1], tn_scalar_int(1), &g->out[0]);
}
static inline tn_status plus_backward(tn_grad_call *g)
{
    for (size_t i = 0; i < 2; i++)
        if (g->wants >> i & 1) {
            tn_retain(g->in[0]);
            g->out[i] = g->in[0];
        }
    return TN_OK;
}
static const tn_function_decl PLUS = {"Plus", plus_forward, plus_backward, NULL};

/* two outputs: x and 10 x; an undefined gradient stays out of the sum */
static inline tn_status fork_forward(tn_grad_call *g)
{
    tn_status status = tn_call_clone(g->in[0], TN_FORMAT_NONE, &g->out[0]);
    return status == TN_OK ? tn_call_mul_Scalar(g->in[0], tn_scalar_float(10), &g->out[1]) : status;
}
static inline tn_status fork_backward(tn_grad_call *g)
{
    tn_tensor *tens = NULL;
    if (g->in[1] && tn_call_mul_Scalar(g->in[1], tn_scalar_float(10), &tens) != TN_OK)
        return tn_error_last()->status;
    if (!g->in[0] || !tens) {
        g->out[0] = tens ? tens : g->in[0];
        if (!tens)
            tn_retain(g->in[0]);
        return TN_OK;
    }
    tn_status status = tn_call_add_Tensor(g->in[0], tens, tn_scalar_int(1), &g->out[0]);
    tn_release(tens);
    return status;
}
static const tn_function_decl FORK = {"Fork", fork_forward, fork_backward, NULL};

/* Passes the gradient on as if it were its input's, whatever that is: for sums and casts. */
static inline tn_status widen_forward(tn_grad_call *g)
{
    struct widening {
        tn_ints sizes;
        tn_dtype dtype;
    } *w = g->context;
    tn_tensor *wide = NULL;
    tn_status status = tn_call_expand(g->in[0], w->sizes, false, &wide);
    if (status == TN_OK)
        status = tn_call__to_copy(wide, w->dtype, -1, (tn_device){-1, -1}, -1, false, TN_CONTIGUOUS,
                                  &g->out[0]);
    tn_release(wide);
    return status;
}
static const tn_function_decl WIDEN = {"Widen", widen_forward, same_backward, NULL};
typedef struct widening {
    tn_ints sizes;
    tn_dtype dtype;
} widening;

static inline tn_tensor *apply1(const tn_function_decl *f, void *context, tn_tensor *x)
{
    tn_tensor *y = NULL;
    OK(tn_function_apply(f, context, &x, 1, &y, 1));
    return y;
}

static inline tn_tensor *apply2(const tn_function_decl *f, tn_tensor *a, tn_tensor *b)
{
    tn_tensor *y = NULL;
    OK(tn_function_apply(f, NULL, (tn_tensor *[]){a, b}, 2, &y, 1));
    return y;
}

/* y = f(f(... x)), n times; x is released. */
static inline tn_tensor *chain(const tn_function_decl *f, tn_tensor *x, int n)
{
    for (int i = 0; i < n; i++) {
        tn_tensor *y = apply1(f, NULL, x);
        tn_release(x);
        x = y;
    }
    return x;
}

/* Backward from outputs with given gradients, one each. */
static inline tn_status backward_with(tn_tensor *y, tn_tensor *grad,
                                      const tn_backward_options *options)
{
    return tn_backward((tn_tensors){&y, 1}, &(tn_tensors){&grad, 1}, options);
}

static inline tn_status grad_with(tn_tensor *y, tn_tensor *grad, tn_tensor *x,
                                  const tn_backward_options *options, tn_tensor **out)
{
    return tn_grad_of((tn_tensors){&y, 1}, grad ? &(tn_tensors){&grad, 1} : NULL,
                      (tn_tensors){&x, 1}, options, out);
}

/* Whether the run succeeds when the n-th allocation fails, or (minus) all from the n-th on; either
 * way nothing is left over. */
static inline bool run_with_failure(tn_status (*run)(void), int64_t nth)
{
    tn__memory_stats before, after;
    tn__alloc_fail_at(0);
    tn__memory_get(&before);
    tn__alloc_fail_at(nth);
    tn_status status = run();
    tn__alloc_fail_at(0);
    tn__memory_get(&after);
    cr_assert_eq(after.live_allocations, before.live_allocations, "%lld", (long long)nth);
    cr_assert_eq(after.live_blocks, before.live_blocks, "%lld", (long long)nth);
    cr_assert(tn_grad_enabled());
    cr_assert(status == TN_OK || status == TN_ERR_MEMORY, "%lld: %s", (long long)nth,
              tn_error_last()->message);
    return status == TN_OK;
}

/* The run with every one of its allocations failing; it makes more than `least`. */
static inline void every_failure(tn_status (*run)(void), int64_t least)
{
    int64_t n = 1;
    OK(run());
    while (!run_with_failure(run, -n))
        n++;
    cr_assert_gt(n, least, "only %lld allocations", (long long)n);
    for (int64_t i = 1; i < n; i++)
        run_with_failure(run, i);
}

#endif

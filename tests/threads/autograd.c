/* autograd.c - threads that record and walk graphs at once: on shared parameters, and one shared
 * graph walked by all. Sums are of small whole numbers, so that no order of them rounds. */
#include <string.h>

#include "threads.h"

#include <tenon/autograd.h>
#include <tenon/ops.h>

enum { WALKS = 100 };

static tn_tensor *weight, *bias; /* [4], they require gradients */
static tn_tensor *leaf, *root;   /* of the graph that all walk */

static tn_tensor *vector(double a, double b, double c, double d)
{
    tn_tensor *t = NULL;
    double values[] = {a, b, c, d};
    int64_t n = 4;
    return tn_tensor_from_data(values, TN_F64, 1, &n, &t) == TN_OK ? t : NULL;
}

/* ---- functions: a b + c, and its parts ------------------------------------------------------- */
static tn_status fma_forward(tn_grad_call *g)
{
    tn_tensor *product = NULL;
    tn_status status = tn_function_save(g, g->in, 2);
    if (status == TN_OK)
        status = tn_call_mul_Tensor(g->in[0], g->in[1], &product);
    if (status == TN_OK)
        status = tn_call_add_Tensor(product, g->in[2], tn_scalar_int(1), &g->out[0]);
    tn_release(product);
    return status;
}

static tn_status fma_backward(tn_grad_call *g)
{
    tn_status status = TN_OK;
    for (size_t i = 0; i < 2 && status == TN_OK; i++) {
        tn_tensor *other = tn_function_saved(g, 1 - i);
        if (!other)
            return g->status;
        if (g->wants >> i & 1)
            status = tn_call_mul_Tensor(g->in[0], other, &g->out[i]);
    }
    if (g->wants & 4) {
        tn_retain(g->in[0]);
        g->out[2] = g->in[0];
    }
    return status;
}

static const tn_function_decl FMA = {"Fma", fma_forward, fma_backward, NULL};

static tn_tensor *fma_of(tn_tensor *a, tn_tensor *b, tn_tensor *c)
{
    tn_tensor *y = NULL;
    return tn_function_apply(&FMA, NULL, (tn_tensor *[]){a, b, c}, 3, &y, 1) == TN_OK ? y : NULL;
}

bool autograd_begin(void)
{
    weight = vector(1, 2, 3, 4);
    bias = vector(0, 0, 0, 0);
    leaf = vector(1, 1, 2, 2);
    if (!weight || !bias || !leaf || tn_set_requires_grad(weight, true) != TN_OK ||
        tn_set_requires_grad(bias, true) != TN_OK || tn_set_requires_grad(leaf, true) != TN_OK)
        return false;
    tn_tensor *square = fma_of(leaf, leaf, leaf);
    root = square ? fma_of(square, leaf, leaf) : NULL;
    tn_release(square);
    return root != NULL;
}

void autograd_end(void)
{
    tn_release(root);
    tn_release(leaf);
    tn_release(bias);
    tn_release(weight);
}

static const char *expect(tn_tensor *t, double a, double b, double c, double d)
{
    const double *got = t ? t->data : NULL;
    if (!got)
        return "there is no gradient";
    return got[0] == a && got[1] == b && got[2] == c && got[3] == d ? NULL : "a gradient is wrong";
}

/* ---- the tests ------------------------------------------------------------------------------- */
/* y = (w x + b) x + b, of its own x; d/dw = x^2, d/db = x + 1. */
static const char *walk_once(tn_tensor *x, tn_tensor *ones)
{
    const char *wrong = NULL;
    tn_tensor *inner = fma_of(weight, x, bias), *y = inner ? fma_of(inner, x, bias) : NULL;
    if (!y || tn_backward((tn_tensors){&y, 1}, &(tn_tensors){&ones, 1}, NULL) != TN_OK)
        wrong = tn_error_last()->message;
    tn_release(inner);
    tn_release(y);
    return wrong;
}

const char *parameters(int thread)
{
    tn_tensor *x = vector(1, 2, thread, 0), *ones = vector(1, 1, 1, 1);
    const char *wrong = x && ones ? NULL : tn_error_last()->message;
    for (int i = 0; i < WALKS && !wrong; i++)
        wrong = walk_once(x, ones);
    tn_release(x);
    tn_release(ones);
    return wrong;
}

const char *parameters_after(void)
{
    double n = N_THREADS * WALKS, sum = 0, squares = 0;
    for (int i = 0; i < N_THREADS; i++) {
        sum += WALKS * (i + 1);
        squares += WALKS * i * i;
    }
    const char *wrong = expect(tn_grad(weight), n, 4 * n, squares, 0);
    if (!wrong)
        wrong = expect(tn_grad(bias), 2 * n, 3 * n, sum, n);
    tn_set_grad(weight, NULL);
    tn_set_grad(bias, NULL);
    return wrong;
}

/* The same with operators: sum((w x + b) x + b). */
const char *operators(int thread)
{
    const char *wrong = NULL;
    tn_tensor *x = vector(1, 2, thread, 0);
    for (int i = 0; i < WALKS && !wrong; i++)
        TN_SCOPE {
            tn_tensor *inner = tn_add_Tensor(tn_mul_Tensor(weight, x), bias);
            tn_tensor *y = tn_sum(tn_add_Tensor(tn_mul_Tensor(inner, x), bias));
            if (tn_backward_from(y) != TN_OK)
                wrong = tn_error_last()->message;
        }
    tn_release(x);
    return wrong;
}

const char *operators_after(void)
{
    return parameters_after();
}

/* All walk one graph, which saves tensors and is kept. */
const char *graph(int thread)
{
    (void)thread;
    tn_tensor *ones = vector(1, 1, 1, 1), *grad = NULL;
    const char *wrong = ones ? NULL : tn_error_last()->message;
    tn_backward_options keep = {.keep_graph = true};
    for (int i = 0; i < WALKS && !wrong; i++) {
        if (tn_backward((tn_tensors){&root, 1}, &(tn_tensors){&ones, 1}, &keep) != TN_OK ||
            tn_grad_of((tn_tensors){&root, 1}, &(tn_tensors){&ones, 1}, (tn_tensors){&leaf, 1},
                       &keep, &grad) != TN_OK)
            wrong = tn_error_last()->message;
        else
            wrong = expect(grad, 6, 6, 17, 17); /* 3 x^2 + 2 x + 1 */
        tn_release(grad);
        grad = NULL;
    }
    tn_release(ones);
    return wrong;
}

const char *graph_after(void)
{
    double n = N_THREADS * WALKS;
    return expect(tn_grad(leaf), 6 * n, 6 * n, 17 * n, 17 * n);
}

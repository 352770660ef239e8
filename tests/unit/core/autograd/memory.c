/* What a pass holds, and what is left when an allocation fails. */
#include "autograd_test.h"

TestSuite(memory, .init = load_plugins, .timeout = 300);

static tn_status look(void *data, tn_tensor *grad, tn_tensor **replacement)
{
    tn__memory_stats now;
    (void)grad, (void)replacement;
    tn__memory_get(&now);
    *(int64_t *)data = now.live_blocks;
    return TN_OK;
}

/* Each node saves its input, of which nothing else knows; at the end of the walk all are gone, while
 * the graph still stands. */
Test(memory, a_pass_frees_what_it_leaves_behind)
{
    enum { NODES = 200 };
    int64_t n = 1 << 14, at_leaf = 0;
    tn_tensor *x = NULL, *b = LEAF(1), *g = NULL;
    tn__memory_stats begin, before, after;
    OK(tn_tensor_new(1, &n, TN_F64, (tn_device){TN_CPU, 0}, &x));
    memset(x->data, 0, (size_t)n * 8);
    leaf_of(x);
    OK(tn_tensor_hook(x, look, &at_leaf, NULL, NULL));
    tn__memory_get(&begin);
    tn_tensor *y = x;
    for (int i = 0; i < NODES; i++) {
        tn_tensor *next = apply2(&TIMES, y, b);
        if (y != x)
            tn_release(y);
        y = next;
    }
    OK(tn_call_ones_like(y, -1, -1, (tn_device){-1, -1}, -1, TN_FORMAT_NONE, &g));
    tn__memory_get(&before);
    cr_assert_geq(before.live_blocks - begin.live_blocks, NODES);
    OK(backward_with(y, g, NULL));
    cr_assert_leq(at_leaf - begin.live_blocks, before.live_blocks - begin.live_blocks - NODES + 8,
                  "%lld blocks at the end of the pass, %lld before it", (long long)at_leaf,
                  (long long)before.live_blocks);
    tn_release(g);
    tn_release(y);
    tn__memory_get(&after);
    cr_assert_leq(after.live_blocks, begin.live_blocks + 8);
    tn_release(b);
    tn_release(x);
}

static tn_status keep(void *data, tn_tensor *grad, tn_tensor **replacement)
{
    (void)data;
    return tn_call_mul_Scalar(grad, tn_scalar_float(1), replacement);
}

/* Forward and backward over everything the engine does: fan-in, saved inputs and outputs, broadcast,
 * hooks, retained gradients, captures. Returns the first failure; releases all it made. */
static tn_status whole_run(void)
{
    tn_tensor *x = NULL, *b = NULL, *y = NULL, *z = NULL, *wide = NULL, *g = NULL;
    tn_tensor *fork[2] = {NULL}, *out[2] = {NULL};
    double two[2] = {1, 2};
    int64_t n = 2;
    widening w = {TN_INTS(3, 2), TN_F32};
    tn_status status = tn_tensor_from_data(two, TN_F64, 1, &n, &x);
#define STEP(call) status = status == TN_OK ? (call) : status
    STEP(tn_tensor_from_data(two, TN_F64, 1, &n, &b));
    STEP(tn_set_requires_grad(x, true));
    STEP(tn_set_requires_grad(b, true));
    STEP(tn_function_apply(&TIMES, NULL, (tn_tensor *[]){x, b}, 2, &y, 1));
    STEP(tn_retain_grad(y));
    STEP(tn_tensor_hook(y, keep, NULL, NULL, NULL));
    STEP(tn_function_apply(&FORK, NULL, &y, 1, fork, 2));
    STEP(tn_function_apply(&PLUS, NULL, (tn_tensor *[]){fork[0], fork[1]}, 2, &z, 1));
    STEP(tn_function_apply(&WIDEN, &w, &z, 1, &wide, 1));
    STEP(tn_call_ones_like(wide, -1, -1, (tn_device){-1, -1}, -1, TN_FORMAT_NONE, &g));
    STEP(backward_with(wide, g, &(tn_backward_options){.keep_graph = true}));
    STEP(tn_grad_of((tn_tensors){&wide, 1}, &(tn_tensors){&g, 1}, TN_TENSORS(x, y), NULL, out));
    if (status == TN_OK) {
        EXPECT(tn_grad(x), 33, 66);
        EXPECT(tn_grad(y), 66, 66);
        EXPECT(out[0], 33, 66);
    }
#undef STEP
    tn_tensor *all[] = {out[0], out[1], g, wide, z, fork[0], fork[1], y, b, x};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tn_release(all[i]);
    return status;
}

Test(memory, every_allocation_may_fail)
{
    every_failure(whole_run, 30);
}

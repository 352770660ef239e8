/* bench_autograd.c - rows of the suite `dispatch`: what recording a call costs, and what a node of a
 * chain costs forward and backward together.
 *
 * A chain is a thousand one-element calls, each on the result of the one before, then one backward
 * pass; n counts nodes. */
#include "bench_impl.h"

#include <tenon/autograd.h>
#include <tenon/ops.h>

enum { CHAIN = 1000 };

static tn_tensor *leaf, *other; /* f32 [1]; the first requires a gradient */

static tn_status call_add(tn_tensor *t, tn_tensor **out)
{
    return tn_call_add_Tensor(t, other, tn_scalar_int(1), out);
}

static tn_status call_mul(tn_tensor *t, tn_tensor **out)
{
    return tn_call_mul_Tensor(t, other, out);
}

static tn_status chain(int64_t nodes, tn_status (*call)(tn_tensor *t, tn_tensor **out))
{
    tn_tensor *t = leaf, *next;
    tn_status status = TN_OK;
    tn_retain(t);
    for (int64_t i = 0; i < nodes && status == TN_OK; i++) {
        status = call(t, &next);
        tn_release(t);
        t = next;
    }
    if (status == TN_OK)
        status = tn_backward_from(t);
    tn_release(t);
    return status == TN_OK ? tn_set_grad(leaf, NULL) : status;
}

static tn_status prepare(void)
{
    const float one = 1;
    if (leaf)
        return TN_OK;
    tn_status status = tn_tensor_from_data(&one, TN_F32, 1, (int64_t[]){1}, &other);
    if (status == TN_OK)
        status = tn_tensor_from_data(&one, TN_F32, 1, (int64_t[]){1}, &leaf);
    if (status == TN_OK)
        status = tn_set_requires_grad(leaf, true);
    if (status == TN_OK)
        status = chain(CHAIN, call_add); /* its memory is then at hand */
    return status == TN_OK ? chain(CHAIN, call_mul) : status;
}

static tn_status add_record(int64_t n)
{
    tn_tensor *r;
    tn_status status = prepare();
    for (int64_t i = 0; i < n && status == TN_OK; i++) {
        status = call_add(leaf, &r);
        tn_release(r);
    }
    return status;
}

static tn_status chains(int64_t n, tn_status (*call)(tn_tensor *t, tn_tensor **out))
{
    tn_status status = prepare();
    for (; n > 0 && status == TN_OK; n -= CHAIN)
        status = chain(n < CHAIN ? n : CHAIN, call);
    return status;
}

static tn_status chain_add(int64_t n)
{
    return chains(n, call_add);
}

static tn_status chain_mul(int64_t n)
{
    return chains(n, call_mul);
}

const bench_case bench_autograd[] = {
    {.name = "add_record", .run = add_record, .goal = 700},
    {.name = "chain_add", .run = chain_add, .goal = 1200},
    {.name = "chain_mul", .run = chain_mul, .goal = 1800},
};
const size_t bench_autograd_count = sizeof bench_autograd / sizeof *bench_autograd;

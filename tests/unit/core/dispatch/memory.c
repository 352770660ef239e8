/* Every allocation of a call made to fail in turn: the answer is "out of memory", nothing leaks, no
 * argument changes. */
#include <criterion/criterion.h>
#include <string.h>

#include <tenon/op.h>
#include <tenon/ops.h>
#include <tenon/runtime.h>
#include <tenon/tensor.h>

#include "core/base/base.h"
#include "core/tensor/tensor_impl.h"

#ifdef __clang__
#pragma clang diagnostic ignored "-Wmissing-field-initializers" /* `.alpha = 2` names no kind */
#endif

static tn_tensor *x, *y, *strided, *ints, *index_, *mask, *big, *out, *six;

static tn_tensor *numbers(tn_dtype dtype, int64_t rows, int64_t columns)
{
    tn_tensor *t = tn_arange((double)(rows * columns), .dtype = TN_F32);
    t = tn_keep(tn__to_copy(tn_reshape(t, TN_INTS(rows, columns)), .dtype = dtype));
    cr_assert_not_null(t, "%s", tn_error_last()->message);
    return t;
}

static void begin(void)
{
    cr_assert_eq(tn_plugins_load_default(), TN_OK);
    tn_error_clear();
    TN_SCOPE {
        x = numbers(TN_F32, 4, 6);
        y = numbers(TN_F32, 6, 4);
        tn_tensor *base = numbers(TN_F32, 6, 4);
        strided = tn_keep(tn_t(base));
        tn_release(base);
        ints = numbers(TN_I32, 4, 6);
        index_ = tn_keep(tn_full(TN_INTS(3), 1, .dtype = TN_I64));
        mask = numbers(TN_BOOL, 4, 6);
        big = numbers(TN_F32, 300, 400);
        out = tn_keep(tn_empty_memory_format(TN_INTS(0), .dtype = TN_F32));
        six = tn_keep(tn_zeros(TN_INTS(2, 1, 2, 1, 2, 2)));
    }
    cr_assert(strided && index_ && out && six, "%s", tn_error_last()->message);
}

TestSuite(memory_of_calls, .init = begin, .timeout = 120);

/* ---- what is called -------------------------------------------------------------------------- */
typedef tn_tensor *(*call_fn)(void);

#define CALL(name, expression)                                                                     \
    static tn_tensor *name(void)                                                                   \
    {                                                                                              \
        return expression;                                                                         \
    }
CALL(empty, tn_empty_memory_format(TN_INTS(3, 4)))
CALL(empty_large, tn_empty_memory_format(TN_INTS(300, 400)))
CALL(empty_many_dims, tn_empty_memory_format(TN_INTS(1, 2, 1, 2, 1, 2, 3)))
CALL(zeros_, tn_zeros(TN_INTS(3, 4)))
CALL(full_, tn_full(TN_INTS(3, 4), 2.5))
CALL(arange_, tn_arange(10))
CALL(add_, tn_add(x, x))
CALL(add_broadcast, tn_add(x, tn_select_int(x, 0, 1)))
CALL(add_promote, tn_add(ints, x))
CALL(add_strided, tn_add(x, strided))
CALL(add_large, tn_add(big, big))
CALL(add_number, tn_add_Scalar(x, 3))
CALL(add_into, tn_add_out(x, x, out))
CALL(exp_of_ints, tn_exp(ints))
CALL(chain, tn_relu(tn_add(tn_mm(x, y), tn_mm(x, y), .alpha = 2)))
CALL(six_dims, tn_add(six, six))
CALL(six_dims_permuted, tn_add(tn_permute(six, TN_INTS(5, 4, 3, 2, 1, 0)), six_dims()))
CALL(div_floor, tn_div_Tensor_mode(x, tn_add_Scalar(x, 1), "floor"))
CALL(compare, tn_lt(x, strided))
CALL(where_, tn_where_self(mask, x, x))
CALL(clamp_, tn_clamp(x, .min = 1, .max = 5))
CALL(sum_, tn_sum(x))
CALL(sum_dim, tn_sum_dim_IntList(strided, TN_INTS(1)))
CALL(mean_dim, tn_mean_dim(x, TN_INTS(0), .keepdim = true))
CALL(prod_, tn_prod(x))
CALL(amax_, tn_amax(x, .dim = TN_INTS(0)))
CALL(argmax_, tn_argmax(x))
CALL(any_, tn_any(mask))
CALL(mm_, tn_mm(x, y))
CALL(mm_strided, tn_mm(strided, y))
CALL(bmm_, tn_bmm(tn_unsqueeze(x, 0), tn_unsqueeze(y, 0)))
CALL(matmul_, tn_matmul(x, y))
CALL(linear_, tn_linear(x, strided))
CALL(cat_, tn_cat(TN_TENSORS(x, strided, x), .dim = 1))
CALL(stack_, tn_stack(TN_TENSORS(x, x)))
CALL(softmax_, tn__softmax(strided, 0, false))
CALL(log_softmax_, tn__log_softmax(x, 1, false))
CALL(masked_fill_, tn_masked_fill_Scalar(x, mask, 1))
CALL(index_select_, tn_index_select(x, 0, index_))
CALL(gather_, tn_gather(x, 1, tn_reshape(index_, TN_INTS(3, 1))))
CALL(embedding_, tn_embedding(y, index_))
CALL(copy, tn_clone(strided))
CALL(contiguous_, tn_contiguous(strided))
CALL(cast, tn__to_copy(x, .dtype = TN_F64))
CALL(view_, tn_view(x, TN_INTS(2, 12)))
CALL(reshape_, tn_reshape(strided, TN_INTS(24)))
CALL(flatten_, tn_flatten_using_ints(strided))
CALL(transpose_, tn_transpose_int(x, 0, 1))
CALL(permute_, tn_permute(six, TN_INTS(5, 4, 3, 2, 1, 0)))
CALL(expand_, tn_expand(tn_unsqueeze(x, 0), TN_INTS(3, 4, 6)))
CALL(slice_, tn_slice(x, .dim = 1, .start = {1, 1}, .step = 2))
CALL(as_strided_, tn_as_strided(x, TN_INTS(2, 2), TN_INTS(1, 3)))
CALL(like, tn_zeros_like(strided))

typedef struct named_call {
    const char *name;
    call_fn fn;
} named_call;
#define NAMED(fn)                                                                                  \
    {                                                                                              \
#fn, fn                                                                                    \
    }
static const named_call calls[] = {
    NAMED(empty),
    NAMED(empty_large),
    NAMED(empty_many_dims),
    NAMED(zeros_),
    NAMED(full_),
    NAMED(arange_),
    NAMED(add_),
    NAMED(add_broadcast),
    NAMED(add_promote),
    NAMED(add_strided),
    NAMED(add_large),
    NAMED(add_number),
    NAMED(add_into),
    NAMED(exp_of_ints),
    NAMED(chain),
    NAMED(six_dims),
    NAMED(six_dims_permuted),
    NAMED(div_floor),
    NAMED(compare),
    NAMED(where_),
    NAMED(clamp_),
    NAMED(sum_),
    NAMED(sum_dim),
    NAMED(mean_dim),
    NAMED(prod_),
    NAMED(amax_),
    NAMED(argmax_),
    NAMED(any_),
    NAMED(mm_),
    NAMED(mm_strided),
    NAMED(bmm_),
    NAMED(matmul_),
    NAMED(linear_),
    NAMED(cat_),
    NAMED(stack_),
    NAMED(softmax_),
    NAMED(log_softmax_),
    NAMED(masked_fill_),
    NAMED(index_select_),
    NAMED(gather_),
    NAMED(embedding_),
    NAMED(copy),
    NAMED(contiguous_),
    NAMED(cast),
    NAMED(view_),
    NAMED(reshape_),
    NAMED(flatten_),
    NAMED(transpose_),
    NAMED(permute_),
    NAMED(expand_),
    NAMED(slice_),
    NAMED(as_strided_),
    NAMED(like),
};

/* ---- the arguments, before and after --------------------------------------------------------- */
static uint64_t fingerprint(void)
{
    const tn_tensor *all[] = {x, y, strided, ints, index_, mask, six};
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const unsigned char *bytes = tn_tensor_storage_data(all[i]);
        for (int64_t j = 0; j < tn_tensor_storage_bytes(all[i]); j++)
            h = (h ^ bytes[j]) * 1099511628211u;
        h = (h ^ tn_tensor_version(all[i])) * 1099511628211u;
    }
    return h;
}

static tn__memory_stats stats(void)
{
    tn__memory_stats s;
    tn__memory_get(&s);
    return s;
}

/* One call in a scope of its own; whether it succeeded. */
static bool succeeds(const named_call *c)
{
    bool ok = false;
    TN_SCOPE {
        ok = c->fn() != NULL;
    }
    return ok;
}

Test(memory_of_calls, running_out_anywhere_is_an_error_and_no_leak)
{
    size_t leaks = 0, refusals = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const named_call *c = &calls[i];
        cr_assert(succeeds(c), "%s: %s", c->name, tn_error_last()->message);
        uint64_t arguments = fingerprint();
        tn__memory_stats before = stats();
        for (int n = -1, in_a_row = 0; in_a_row < 6;
             n = n < 0 ? -n : -n - 1) { /* -1, 1, -2, 2, ... */
            cr_assert_lt(n, 100, "%s never succeeds", c->name);
            int64_t out_size = out->numel;
            tn__alloc_fail_at(n);
            bool ok = succeeds(c);
            tn__alloc_fail_at(0);
            tn__memory_stats after = stats();
            if (after.live_blocks != before.live_blocks ||
                after.live_allocations != before.live_allocations) {
                cr_expect_fail("%s leaks %lld blocks, %lld allocations at allocation %d", c->name,
                               (long long)(after.live_blocks - before.live_blocks),
                               (long long)(after.live_allocations - before.live_allocations), n);
                leaks++;
                before = after;
            }
            cr_expect_eq(fingerprint(), arguments, "%s changes an argument at allocation %d",
                         c->name, n);
            in_a_row = ok ? in_a_row + 1 : 0; /* one failure may be made good on another way */
            if (ok)
                continue;
            cr_expect_eq(tn_error_last()->status, TN_ERR_MEMORY, "%s at allocation %d: %s: %s",
                         c->name, n, tn_status_name(tn_error_last()->status),
                         tn_error_last()->message);
            cr_expect_eq(out->numel, out_size, "%s", c->name);
            tn_error_clear();
            refusals++;
        }
    }
    cr_assert_eq(leaks, 0);
    cr_assert_gt(refusals, 2 * sizeof calls / sizeof *calls, "only %zu allocations failed a call",
                 refusals);
}

/* The typed calls hand out their results themselves; several, and lists of them. */
Test(memory_of_calls, calls_of_several_results)
{
    tn_tensor *values = NULL, *indices = NULL;
    tn_tensors parts = {0};
    cr_assert_eq(tn_call_max_dim(x, 1, false, &values, &indices), TN_OK, "%s",
                 tn_error_last()->message);
    tn_release(values);
    tn_release(indices);
    tn__memory_stats before = stats();
    int succeeded = 0;
    for (int n = -1; succeeded < 3; n--) {
        cr_assert_gt(n, -200);
        succeeded = 0;
        values = indices = NULL;
        parts = (tn_tensors){0};
        tn__alloc_fail_at(n);
        tn_status status = tn_call_max_dim(x, 1, false, &values, &indices);
        tn__alloc_fail_at(0);
        cr_assert(status == TN_OK || (status == TN_ERR_MEMORY && !values && !indices), "%d", n);
        succeeded += status == TN_OK;
        tn_release(values);
        tn_release(indices);
        tn__alloc_fail_at(n);
        status = tn_call_unbind_int(x, 0, &parts);
        tn__alloc_fail_at(0);
        cr_assert(status == TN_OK || (status == TN_ERR_MEMORY && !parts.data), "%d", n);
        succeeded += status == TN_OK;
        tn__tensors_release(&parts);
        tn__alloc_fail_at(n);
        status = tn_call_split_Tensor(x, 1, 1, &parts);
        tn__alloc_fail_at(0);
        cr_assert(status == TN_OK || (status == TN_ERR_MEMORY && !parts.data), "%d", n);
        succeeded += status == TN_OK;
        tn__tensors_release(&parts);
        cr_assert_eq(stats().live_blocks, before.live_blocks, "%d", n);
        cr_assert_eq(stats().live_allocations, before.live_allocations, "%d", n);
    }
}

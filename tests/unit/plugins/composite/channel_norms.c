/* channel_norms.c - running statistics of batch_norm and instance_norm: what they become, in which
 * dtype, and that a call that fails leaves them. tests/opinfo has the results and the gradients. */
#include "cases/case_test.h"

#include <tenon/autograd.h>

TestSuite(channel_norms, .init = case_begin, .fini = case_end, .timeout = 60);

static tn_tensor *zeros(tn_dtype dtype)
{
    return tn_zeros(TN_INTS(2), .dtype = dtype);
}

static tn_tensor *ones(tn_dtype dtype)
{
    return tn_ones(TN_INTS(2), .dtype = dtype);
}

/* Channel 0: 1, 3, 5, 7: mean 4, variance 5, or 20 / 3 as an estimate; channel 1: all 8. */
static tn_tensor *input(tn_dtype dtype)
{
    return case_tensor(dtype, TN_INTS(2, 2, 2), CASE_VALUES(1, 3, 8, 8, 5, 7, 8, 8));
}

Test(channel_norms, batch_norm_moves_running_statistics)
{
    tn_tensor *mean = zeros(TN_F64), *var = ones(TN_F64), *x = input(TN_F64);
    cr_assert_not_null(tn_batch_norm(x, NULL, NULL, mean, var, true, 0.75, 1e-5, false), "%s",
                       tn_error_last()->message);
    CASE_EXPECT(mean, TN_F64, TN_INTS(2), 3, 6);
    CASE_EXPECT(var, TN_F64, TN_INTS(2), 0.25 + 0.75 * (5 * (4.0 / 3)), 0.25);
    cr_assert_eq(tn_tensor_version(mean), 1);
    tn_tensor *y = tn_batch_norm(x, NULL, NULL, mean, ones(TN_F64), false, 0.75, 0, false);
    CASE_EXPECT(y, TN_F64, TN_INTS(2, 2, 2), -2, 0, 2, 2, 2, 4, 2, 2);
    CASE_EXPECT(mean, TN_F64, TN_INTS(2), 3, 6);
}

Test(channel_norms, statistics_keep_their_dtype)
{
    tn_tensor *mean = zeros(TN_F32), *var = ones(TN_BF16), *x = input(TN_BF16);
    tn_tensor *y, *save_mean, *save_rstd;
    cr_assert_eq(tn_call_native_batch_norm(x, NULL, NULL, mean, var, true, 0.5, 1e-5, &y,
                                           &save_mean, &save_rstd),
                 TN_OK, "%s", tn_error_last()->message);
    CASE_EXPECT(mean, TN_F32, TN_INTS(2), 2, 4);
    CASE_EXPECT(save_mean, TN_F32, TN_INTS(2), 4, 8);
    cr_assert_eq(var->dtype, TN_BF16);
    cr_assert_eq(y->dtype, TN_BF16);
    tn_release(y);
    tn_release(save_mean);
    tn_release(save_rstd);
}

/* Each sample's mean and variance, averaged over the samples. */
Test(channel_norms, instance_norm_averages_samples)
{
    tn_tensor *mean = zeros(TN_F64), *var = ones(TN_F64);
    cr_assert_not_null(
        tn_instance_norm(input(TN_F64), NULL, NULL, mean, var, true, 0.5, 1e-5, false), "%s",
        tn_error_last()->message);
    CASE_EXPECT(mean, TN_F64, TN_INTS(2), 2, 4);
    CASE_EXPECT(var, TN_F64, TN_INTS(2), 0.5 + 0.5 * 2, 0.5);
}

/* Nothing was seen. */
Test(channel_norms, an_empty_batch_leaves_statistics)
{
    tn_tensor *mean = zeros(TN_F32), *var = ones(TN_F32), *x = tn_zeros(TN_INTS(0, 2, 3));
    tn_tensor *y = tn_batch_norm(x, NULL, NULL, mean, var, true, 0.5, 1e-5, false);
    cr_assert(y && y->numel == 0);
    CASE_EXPECT(mean, TN_F32, TN_INTS(2), 0, 0);
    CASE_EXPECT(var, TN_F32, TN_INTS(2), 1, 1);
}

Test(channel_norms, refused_calls_leave_statistics)
{
    tn_tensor *mean = zeros(TN_F32), *var = ones(TN_F32), *x = input(TN_F32);
    CASE_FAILS(tn_batch_norm(x, zeros(TN_F64), NULL, mean, var, true, 0.5, 1e-5, false), "weight");
    CASE_FAILS(tn_batch_norm(x, NULL, NULL, mean, tn_ones(TN_INTS(3)), true, 0.5, 1e-5, false),
               "running_var");
    CASE_FAILS(tn_batch_norm(x, NULL, NULL, mean, NULL, false, 0.5, 1e-5, false), "running_var");
    CASE_FAILS(tn_batch_norm(input(TN_I64), NULL, NULL, mean, var, true, 0.5, 1e-5, false),
               "int64");
    CASE_FAILS(tn_group_norm(x, 3), "3 groups");
    CASE_EXPECT(mean, TN_F32, TN_INTS(2), 0, 0);
    CASE_EXPECT(var, TN_F32, TN_INTS(2), 1, 1);
}

/* Statistics are no part of the graph: the next call may write them before backward. */
Test(channel_norms, statistics_do_not_hold_up_backward)
{
    tn_tensor *mean = zeros(TN_F64), *var = ones(TN_F64), *w = ones(TN_F64);
    cr_assert_eq(tn_set_requires_grad(w, true), TN_OK);
    tn_tensor *first = tn_batch_norm(input(TN_F64), w, NULL, mean, var, true, 0.5, 1e-5, false);
    cr_assert_not_null(tn_batch_norm(first, w, NULL, mean, var, true, 0.5, 1e-5, false));
    cr_assert(!tn_requires_grad(mean) && !tn_requires_grad(var));
    cr_assert_eq(tn_backward_from(tn_sum(first)), TN_OK, "%s", tn_error_last()->message);
    cr_assert_not_null(tn_grad(w));
}

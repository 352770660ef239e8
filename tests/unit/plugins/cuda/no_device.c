/* Without a CUDA device the plugin loads, and every use of one is an ordinary error that says why.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include <tenon/ops.h>
#include <tenon/runtime.h>
#include <tenon/tensor.h>

#include "cuda_test.h"

static const tn_device any_cuda = {TN_CUDA, -1};

/* False, visibly, where there is nothing to test: no plugin, or a device. */
static bool begin(void)
{
    if (!cuda_test_load())
        return false;
    tn_tensor *t = NULL;
    if (tn_tensor_new(1, (int64_t[]){4}, TN_F32, any_cuda, &t) != TN_OK)
        return true;
    tn_release(t);
    fprintf(stderr, "skipped: this machine has a CUDA device\n");
    return false;
}

static void expect_no_device(tn_status status)
{
    cr_expect_eq(status, TN_ERR_DEVICE);
    cr_expect(strstr(tn_error_last()->message, "no CUDA device: "), "%s", tn_error_last()->message);
}

Test(cuda_no_device, the_plugin_loads_and_reports_so)
{
    tn_plugin_info info;
    bool found = false;
    if (!cuda_test_load())
        return;
    for (size_t i = 0; tn_plugin_report(i, &info); i++)
        if (strcmp(info.name, "cuda") == 0)
            found = strcmp(info.state, "loaded") == 0;
    cr_assert(found);
}

Test(cuda_no_device, a_new_tensor_is_refused)
{
    tn_tensor *t = NULL;
    if (!begin())
        return;
    expect_no_device(tn_tensor_new(1, (int64_t[]){4}, TN_F32, any_cuda, &t));
    cr_expect_null(t);
}

Test(cuda_no_device, so_is_one_with_an_index)
{
    tn_tensor *t = NULL;
    if (!begin())
        return;
    expect_no_device(tn_tensor_new(2, (int64_t[]){2, 3}, TN_C128, (tn_device){TN_CUDA, 3}, &t));
    cr_expect_null(t);
}

Test(cuda_no_device, operators_say_it_too)
{
    if (!begin())
        return;
    TN_SCOPE {
        tn_tensor *x = tn_full(TN_INTS(3), 1.5);
        cr_assert_not_null(x);
        tn_error_clear();
        cr_expect_null(tn_zeros(TN_INTS(2), .device = any_cuda));
        expect_no_device(tn_error_last()->status);
        tn_error_clear();
        cr_expect_null(tn__to_copy(x, .device = any_cuda));
        expect_no_device(tn_error_last()->status);
    }
}

/* A tensor of no elements needs no memory and so exists; what works on it enters the device. */
Test(cuda_no_device, a_kernel_is_not_reached_without_a_device)
{
    tn_tensor *t = NULL;
    if (!begin())
        return;
    if (tn_tensor_new(1, (int64_t[]){0}, TN_F32, any_cuda, &t) != TN_OK)
        return;
    TN_SCOPE {
        tn_error_clear();
        cr_expect_null(tn_exp(t));
        expect_no_device(tn_error_last()->status);
    }
    tn_release(t);
}

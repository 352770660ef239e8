/* New tensors: dtypes from numbers, options, memory formats, ranges. */
#include <math.h>

#include "composite_test.h"

TestSuite(factories, .init = composite_begin, .fini = composite_end, .timeout = 30);

Test(factories, the_dtype_comes_from_the_number)
{
    tn_ints two = TN_INTS(2);
    cr_assert_eq(tn_full(two, 1)->dtype, TN_I64);
    cr_assert_eq(tn_full(two, 1.5)->dtype, TN_F32);
    cr_assert_eq(tn_full(two, (bool)true)->dtype, TN_BOOL);
    cr_assert_eq(tn_full(two, tn_scalar_complex(1, 2))->dtype, TN_C64);
    cr_assert_eq(tn_scalar_tensor(2)->dtype, TN_F32, "the default one, unlike full's");
    expect_error(tn_scalar_tensor(tn_scalar_complex(1, 2)), TN_ERR_DTYPE, "complex");
    cr_assert_eq(tn_arange(3)->dtype, TN_I64);
    cr_assert_eq(tn_arange(3.0)->dtype, TN_F32);
    cr_assert_eq(tn_zeros(two)->dtype, TN_F32);
    cr_assert_eq(tn_full(two, 1, .dtype = TN_F16)->dtype, TN_F16);
    expect_error(tn_full(two, tn_scalar_complex(1, 2), .dtype = TN_F32), TN_ERR_DTYPE, "complex");
}

Test(factories, values)
{
    expect_numbers(tn_zeros(TN_INTS(2, 1)), TN_INTS(2, 1), LIST(0, 0));
    expect_numbers(tn_ones(TN_INTS(3), .dtype = TN_BOOL), TN_INTS(3), LIST(1, 1, 1));
    expect_numbers(tn_full(TN_INTS(2), -3.0), TN_INTS(2), LIST(-3, -3));
    expect_numbers(tn_scalar_tensor(9, .dtype = TN_C128), (tn_ints){NULL, 0}, LIST(9));
    expect_shape(tn_zeros(TN_INTS(0, 3)), TN_INTS(0, 3));
}

Test(factories, options_that_are_not_there_are_refused)
{
    tn_ints two = TN_INTS(2);
    expect_error(tn_empty_memory_format(two, .layout = 3), TN_ERR_UNSUPPORTED, "layout 3");
    expect_error(tn_zeros(two, .pin_memory = 1), TN_ERR_UNSUPPORTED, "pin_memory");
    expect_error(tn_empty_memory_format(two, .dtype = 40), TN_ERR_DTYPE, "40");
    expect_error(tn_empty_memory_format(TN_INTS(2, -1)), TN_ERR_ARGUMENT, "negative");
    expect_error(tn_empty_memory_format(two, .memory_format = TN_CHANNELS_LAST), TN_ERR_ARGUMENT,
                 "4 dimensions, got 1");
    expect_error(tn_empty_memory_format(two, .memory_format = TN_PRESERVE), TN_ERR_ARGUMENT,
                 "preserve_format");
    expect_error(tn_empty_strided(two, TN_INTS(1, 1)), TN_ERR_ARGUMENT, "equally many");
    expect_error(tn_empty_strided(two, TN_INTS(-1)), TN_ERR_ARGUMENT, "negative");
}

/* ---- arange ---------------------------------------------------------------------------------- */
Test(factories, ranges)
{
    expect_elements(tn_arange_start(2, 5), TN_INTS(3), LIST(2, 3, 4));
    expect_elements(tn_arange_start_step(5, 0, .step = tn_scalar_int(-2)), TN_INTS(3),
                    LIST(5, 3, 1));
    expect_shape(tn_arange_start(3, 3), TN_INTS(0));
    expect_numbers(tn_arange_start_step(0.0, 2.0, .step = tn_scalar_float(0.5)), TN_INTS(4),
                   LIST(0, 0, 1, 1));
    expect_elements(tn_arange_start(0.9, 3.9, .dtype = TN_I64), TN_INTS(3), LIST(0, 1, 2));
}

Test(factories, ranges_that_lead_nowhere)
{
    expect_error(tn_arange(-1), TN_ERR_ARGUMENT, "other sign");
    expect_error(tn_arange_start_step(0, 3, .step = tn_scalar_int(0)), TN_ERR_ARGUMENT, "not be 0");
    expect_error(tn_arange((double)NAN), TN_ERR_ARGUMENT, "finite");
    expect_error(tn_arange((double)INFINITY), TN_ERR_ARGUMENT, "finite");
    expect_error(tn_arange_start(INT64_MIN, INT64_MAX), TN_ERR_OVERFLOW, "overflow");
    expect_error(tn_arange(1e300), TN_ERR_OVERFLOW, "overflow");
    expect_error(tn_arange(tn_scalar_complex(3, 0)), TN_ERR_DTYPE, "real numbers");
}

/* ---- like ------------------------------------------------------------------------------------ */
Test(factories, like_keeps_shape_dtype_and_memory_order)
{
    tn_tensor *x = tn_t(tn_ones(TN_INTS(2, 3), .dtype = TN_I16));
    tn_tensor *y = tn_zeros_like(x);
    expect_numbers(y, TN_INTS(3, 2), LIST(0, 0, 0, 0, 0, 0));
    expect_strides(y, TN_INTS(1, 3));
    cr_assert_eq(y->dtype, TN_I16);
    expect_strides(tn_empty_like(x, .memory_format = TN_CONTIGUOUS), TN_INTS(2, 1));
    expect_strides(tn_empty_like(tn_slice(x, .step = 2)), TN_INTS(1, 2));
    cr_assert_eq(tn_full_like(x, 2.5)->dtype, TN_I16);
    cr_assert_eq(tn_ones_like(x, .dtype = TN_F64)->dtype, TN_F64);
    cr_assert_eq(tn_empty_like(x, .device = META)->device.type, TN_META);
}

Test(factories, like_a_broadcast_tensor_has_memory_of_its_own)
{
    tn_tensor *x = tn_expand(counting(TN_INTS(2, 1)), TN_INTS(2, 3));
    tn_tensor *y = tn_empty_like(x);
    expect_strides(y, TN_INTS(3, 1));
    cr_assert_eq(tn_tensor_storage_bytes(y), 48);
}

Test(factories, channels_last)
{
    tn_tensor *x = tn_empty_memory_format(TN_INTS(2, 3, 4, 5), .memory_format = TN_CHANNELS_LAST);
    expect_strides(x, TN_INTS(60, 1, 15, 3));
    expect_strides(tn_empty_like(x), TN_INTS(60, 1, 15, 3));
    tn_tensor *y =
        tn_zeros_like(counting(TN_INTS(1, 2, 3, 4, 5)), .memory_format = TN_CHANNELS_LAST_3D);
    expect_strides(y, TN_INTS(120, 1, 40, 10, 2));
}

Test(factories, new_takes_dtype_and_device_of_self)
{
    tn_tensor *x = tn_ones(TN_INTS(1), .dtype = TN_BF16);
    cr_assert_eq(tn_new_empty(x, TN_INTS(2, 2))->dtype, TN_BF16);
    expect_numbers(tn_new_zeros(x, TN_INTS(2)), TN_INTS(2), LIST(0, 0));
    expect_numbers(tn_new_ones(x, TN_INTS(2), .dtype = TN_U8), TN_INTS(2), LIST(1, 1));
    expect_numbers(tn_new_full(x, TN_INTS(2), 4), TN_INTS(2), LIST(4, 4));
    expect_strides(tn_new_empty_strided(x, TN_INTS(2, 2), TN_INTS(1, 2)), TN_INTS(1, 2));
    expect_error(tn_new_empty(x, TN_INTS(-4)), TN_ERR_ARGUMENT, "negative");
}

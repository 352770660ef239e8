/* clone, to, contiguous, fill_.Tensor: what is copied, and what is self itself. */
#include "composite_test.h"

TestSuite(casts, .init = composite_begin, .fini = composite_end, .timeout = 30);

Test(casts, clone_copies_in_the_same_order)
{
    tn_tensor *x = tn_t(counting(TN_INTS(2, 3)));
    tn_tensor *y = tn_clone(x);
    expect_elements(y, TN_INTS(3, 2), LIST(0, 3, 1, 4, 2, 5));
    expect_strides(y, TN_INTS(1, 3));
    cr_assert(!tn_tensor_same_storage(x, y));
    expect_strides(tn_clone(x, .memory_format = TN_CONTIGUOUS), TN_INTS(2, 1));
    expect_error(tn_clone(x, .memory_format = TN_CHANNELS_LAST), TN_ERR_ARGUMENT, "channels_last");
}

Test(casts, to_without_change_is_self)
{
    tn_tensor *x = tn_t(counting(TN_INTS(2, 3)));
    cr_assert_eq(tn_to_dtype(x, TN_I64), x);
    cr_assert_eq(tn_to_dtype_layout(x), x);
    cr_assert_eq(tn_to_other(x, counting(TN_INTS(1))), x);
    cr_assert_eq(tn_to_device(x, ((tn_device){TN_CPU, 0}), TN_I64), x);
    cr_assert_neq(tn_to_dtype(x, TN_I64, .copy = true), x);
    cr_assert_neq(tn_to_dtype(x, TN_I64, .memory_format = TN_CONTIGUOUS), x);
}

Test(casts, to_changes_dtype_and_device)
{
    tn_tensor *x = counting(TN_INTS(3));
    cr_assert_eq(tn_to_dtype(x, TN_F32)->dtype, TN_F32);
    expect_numbers(tn_to_dtype(x, TN_BOOL), TN_INTS(3), LIST(0, 1, 1));
    expect_numbers(tn_to_other(x, tn_zeros(TN_INTS(1))), TN_INTS(3), LIST(0, 1, 2));
    tn_tensor *m = tn_to_device(x, META, TN_F16);
    cr_assert_eq(m->device.type, TN_META);
    expect_shape(m, TN_INTS(3));
    expect_error(tn_to_device(m, ((tn_device){TN_CPU, -1}), TN_F16), TN_ERR_DEVICE, "no data");
    expect_error(tn_to_dtype(x, 77), TN_ERR_DTYPE, "77");
    expect_error(tn_to_dtype_layout(x, .layout = 1), TN_ERR_UNSUPPORTED, "layout 1");
    expect_error(tn_to_dtype_layout(x, .pin_memory = 1), TN_ERR_UNSUPPORTED, "pin_memory");
}

Test(casts, contiguous_on_contiguous_is_self)
{
    tn_tensor *x = counting(TN_INTS(2, 3));
    cr_assert_eq(tn_contiguous(x), x);
    expect_strides(tn_contiguous(tn_t(x)), TN_INTS(2, 1));
    tn_tensor *image = counting(TN_INTS(1, 2, 2, 2));
    tn_tensor *last = tn_contiguous(image, .memory_format = TN_CHANNELS_LAST);
    expect_elements(last, TN_INTS(1, 2, 2, 2), LIST(0, 1, 2, 3, 4, 5, 6, 7));
    expect_strides(last, TN_INTS(8, 1, 4, 2));
    cr_assert_eq(tn_contiguous(last, .memory_format = TN_CHANNELS_LAST), last);
    expect_error(tn_contiguous(x, .memory_format = TN_PRESERVE), TN_ERR_ARGUMENT, "preserve");
}

Test(casts, fill_with_a_tensor)
{
    tn_tensor *x = counting(TN_INTS(3));
    cr_assert_eq(tn_fill_(x, tn_scalar_tensor(4.7)), x);
    expect_elements(x, TN_INTS(3), LIST(4, 4, 4));
    tn_tensor *y = counting(TN_INTS(3));
    tn_fill_(y, tn_select_int(y, 0, 2));
    expect_elements(y, TN_INTS(3), LIST(2, 2, 2));
    expect_error(tn_fill_(y, counting(TN_INTS(1))), TN_ERR_ARGUMENT, "0 dimensions");
}

/* set_, resize_ and resize_as_: what the tensor is afterwards, who shares its memory, and that a
 * refused call changes nothing. */
#include "composite_test.h"

TestSuite(memory, .init = composite_begin, .fini = composite_end, .timeout = 60);

Test(memory, resize_keeps_the_elements_in_their_order)
{
    const tn_ints nothing = {NULL, 0};
    tn_tensor *t = counting(TN_INTS(2, 3)), *view = tn_view(t, TN_INTS(6));
    cr_assert_eq(tn_resize_(t, TN_INTS(4)), t);
    expect_elements(t, TN_INTS(4), LIST(0, 1, 2, 3));
    cr_assert(tn_tensor_same_storage(t, view));
    cr_assert_not_null(tn_resize_(t, TN_INTS(3, 2)));
    expect_elements(t, TN_INTS(3, 2), LIST(0, 1, 2, 3, 4, 5));
    cr_assert_not_null(tn_resize_(t, TN_INTS(0, 7)));
    expect_shape(t, TN_INTS(0, 7));
    cr_assert_not_null(tn_resize_(t, nothing));
    expect_elements(t, nothing, LIST(0));
}

/* More than there is room for: new memory, the old elements at its begin, and an alias of nobody. */
Test(memory, resize_beyond_the_memory_moves)
{
    tn_tensor *t = counting(TN_INTS(6)), *part = tn_slice(t, .start = {2, 1}, .end = {4, 1});
    cr_assert_not_null(tn_resize_(part, TN_INTS(2, 2))); /* still within the memory */
    expect_elements(part, TN_INTS(2, 2), LIST(2, 3, 4, 5));
    cr_assert(tn_tensor_same_storage(part, t));
    cr_assert_not_null(tn_resize_(part, TN_INTS(3, 3)));
    cr_assert_not(tn_tensor_same_storage(part, t));
    cr_assert_eq(tn_tensor_offset(part), 2);
    expect_elements(tn_slice(part, .end = {1, 1}), TN_INTS(1, 3), LIST(2, 3, 4));
    cr_assert_not_null(tn_fill_(part, 9));
    expect_elements(t, TN_INTS(6), LIST(0, 1, 2, 3, 4, 5));
    tn_tensor *seven = counting(TN_INTS(1, 1, 1, 1, 1, 2));
    cr_assert_not_null(tn_resize_(seven, TN_INTS(1, 1, 3, 1, 1, 1, 2)));
    expect_shape(seven, TN_INTS(1, 1, 3, 1, 1, 1, 2));
}

Test(memory, resize_takes_a_format)
{
    tn_tensor *t = counting(TN_INTS(1, 2, 2, 2)), *turned = tn_t(counting(TN_INTS(2, 3)));
    cr_assert_not_null(tn_resize_(t, TN_INTS(1, 2, 2, 2), .memory_format = TN_CHANNELS_LAST));
    expect_strides(t, TN_INTS(8, 1, 4, 2));
    cr_assert_not_null(tn_resize_(t, TN_INTS(1, 2, 2, 2)));
    expect_strides(t, TN_INTS(8, 1, 4, 2)); /* it has the size: it stays as it is */
    expect_error(tn_resize_(t, TN_INTS(2), .memory_format = TN_PRESERVE), TN_ERR_ARGUMENT,
                 "preserve_format");
    tn_tensor *other = counting(TN_INTS(3));
    cr_assert_not_null(tn_resize_as_(other, t, .memory_format = TN_PRESERVE));
    expect_strides(other, TN_INTS(8, 1, 4, 2));
    cr_assert_not_null(tn_resize_as_(other, turned));
    expect_strides(other, TN_INTS(2, 1));
}

Test(memory, set_shares_the_source)
{
    tn_tensor *t = counting(TN_INTS(2)), *source = counting(TN_INTS(2, 3)),
              *view = tn_view(t, TN_INTS(2));
    cr_assert_eq(tn_set__source_Tensor(t, tn_t(source)), t);
    expect_elements(t, TN_INTS(3, 2), LIST(0, 3, 1, 4, 2, 5));
    cr_assert_not_null(tn_fill_(t, 7));
    expect_elements(source, TN_INTS(2, 3), LIST(7, 7, 7, 7, 7, 7));
    expect_elements(view, TN_INTS(2), LIST(0, 1));
    cr_assert_eq(tn_set_(t), t);
    expect_shape(t, TN_INTS(0));
    cr_assert_eq(t->dtype, TN_I64);
}

Test(memory, set_to_a_part)
{
    tn_tensor *t = counting(TN_INTS(1)), *source = counting(TN_INTS(8));
    cr_assert_not_null(tn_set__source_Tensor_storage_offset(t, source, 1, TN_INTS(2, 3)));
    expect_elements(t, TN_INTS(2, 3), LIST(1, 2, 3, 4, 5, 6));
    cr_assert_not_null(
        tn_set__source_Tensor_storage_offset(t, source, 0, TN_INTS(2, 2), .stride = TN_INTS(5, 2)));
    expect_elements(t, TN_INTS(2, 2), LIST(0, 2, 5, 7));
    cr_assert_not_null(tn_set__source_Tensor_storage_offset(t, t, 4, TN_INTS(2)));
    expect_elements(t, TN_INTS(2), LIST(4, 5));
}

Test(memory, what_is_refused_changes_nothing)
{
    tn_tensor *t = counting(TN_INTS(2, 3)), *source = counting(TN_INTS(4));
    uint32_t version = tn_tensor_version(t);
    expect_error(tn_set__source_Tensor_storage_offset(t, source, 2, TN_INTS(3)), TN_ERR_ARGUMENT,
                 "storage of 40 bytes");
    expect_error(tn_set__source_Tensor_storage_offset(t, source, -1, TN_INTS(1)), TN_ERR_ARGUMENT,
                 "negative");
    expect_error(
        tn_set__source_Tensor_storage_offset(t, source, 0, TN_INTS(2, 2), .stride = TN_INTS(1)),
        TN_ERR_ARGUMENT, "equally many");
    expect_error(tn_set__source_Tensor(t, tn_to_dtype(source, TN_F64)), TN_ERR_DTYPE, "alike");
    expect_error(tn_set__source_Tensor(t, tn_zeros(TN_INTS(2), .dtype = TN_I64, .device = META)),
                 TN_ERR_DEVICE, "alike");
    expect_error(tn_resize_(t, TN_INTS(-1)), TN_ERR_ARGUMENT, "negative");
    expect_error(tn_resize_(t, TN_INTS(INT64_MAX, 4)), TN_ERR_OVERFLOW, "overflow");
    expect_elements(t, TN_INTS(2, 3), LIST(0, 1, 2, 3, 4, 5));
    cr_assert_eq(tn_tensor_version(t), version);
}

/* Shapes without data go the same ways. */
Test(memory, meta)
{
    tn_tensor *t = tn_zeros(TN_INTS(2), .device = META),
              *source = tn_zeros(TN_INTS(3, 4), .device = META);
    cr_assert_not_null(tn_resize_(t, TN_INTS(5, 5)), "%s", tn_error_last()->message);
    expect_shape(t, TN_INTS(5, 5));
    cr_assert_not_null(tn_set__source_Tensor(t, source), "%s", tn_error_last()->message);
    expect_shape(t, TN_INTS(3, 4));
}

/* matmul, linear, stack, softmax, max.other, pow_: operators made of others. */
#include "composite_test.h"

TestSuite(products, .init = composite_begin, .fini = composite_end, .timeout = 30);

static tn_tensor *reals(tn_ints sizes)
{
    return tn_to_dtype(counting(sizes), TN_F64);
}

Test(products, matmul_of_vectors_and_matrices)
{
    tn_tensor *v = reals(TN_INTS(3)), *m = reals(TN_INTS(2, 3));
    expect_numbers(tn_matmul(v, v), (tn_ints){NULL, 0}, LIST(5));
    expect_numbers(tn_matmul(m, v), TN_INTS(2), LIST(5, 14));
    expect_numbers(tn_matmul(v, tn_t(m)), TN_INTS(2), LIST(5, 14));
    expect_numbers(tn_matmul(m, tn_t(m)), TN_INTS(2, 2), LIST(5, 14, 14, 50));
}

Test(products, matmul_of_batches)
{
    tn_tensor *b = reals(TN_INTS(2, 1, 2, 2)), *m = reals(TN_INTS(2, 2));
    expect_numbers(tn_matmul(b, m), TN_INTS(2, 1, 2, 2), LIST(2, 3, 6, 11, 10, 19, 14, 27));
    expect_numbers(tn_matmul(m, b), TN_INTS(2, 1, 2, 2), LIST(2, 3, 6, 11, 6, 7, 26, 31));
    expect_numbers(tn_matmul(b, reals(TN_INTS(2))), TN_INTS(2, 1, 2), LIST(1, 3, 5, 7));
    expect_shape(tn_matmul(b, reals(TN_INTS(3, 2, 5))), TN_INTS(2, 3, 2, 5));
    expect_shape(tn_matmul(reals(TN_INTS(2)), b), TN_INTS(2, 1, 2));
    expect_shape(tn_matmul(reals(TN_INTS(4, 0, 3)), reals(TN_INTS(3, 2))), TN_INTS(4, 0, 2));
    expect_numbers(tn_matmul(reals(TN_INTS(1, 2, 0)), reals(TN_INTS(1, 0, 2))), TN_INTS(1, 2, 2),
                   LIST(0, 0, 0, 0));
}

Test(products, matmul_refuses)
{
    tn_tensor *m = reals(TN_INTS(2, 3));
    expect_error(tn_matmul(m, m), TN_ERR_ARGUMENT, "[2, 3]");
    expect_error(tn_matmul(tn_scalar_tensor(1.0), m), TN_ERR_ARGUMENT, "self");
    expect_error(tn_matmul(m, tn_scalar_tensor(1.0)), TN_ERR_ARGUMENT, "other");
    expect_error(tn_matmul(reals(TN_INTS(2, 2, 3)), reals(TN_INTS(3, 3, 2))), TN_ERR_ARGUMENT,
                 "broadcast");
}

Test(products, linear)
{
    tn_tensor *w = reals(TN_INTS(2, 3)), *b = tn_full(TN_INTS(2), 10.0, .dtype = TN_F64);
    expect_numbers(tn_linear(reals(TN_INTS(1, 3)), w, .bias = b), TN_INTS(1, 2), LIST(15, 24));
    expect_numbers(tn_linear(reals(TN_INTS(3)), w, .bias = b), TN_INTS(2), LIST(15, 24));
    expect_numbers(tn_linear(reals(TN_INTS(1, 1, 3)), w, .bias = b), TN_INTS(1, 1, 2),
                   LIST(15, 24));
    expect_numbers(tn_linear(reals(TN_INTS(1, 3)), w), TN_INTS(1, 2), LIST(5, 14));
}

Test(products, stack)
{
    tn_tensor *v = counting(TN_INTS(2));
    expect_elements(tn_stack(TN_TENSORS(v, v)), TN_INTS(2, 2), LIST(0, 1, 0, 1));
    expect_elements(tn_stack(TN_TENSORS(v, v), .dim = -1), TN_INTS(2, 2), LIST(0, 0, 1, 1));
    expect_error(tn_stack(TN_TENSORS(v, counting(TN_INTS(3)))), TN_ERR_ARGUMENT,
                 "number 1 has [3]");
    expect_error(tn_stack(TN_TENSORS(v, NULL)), TN_ERR_ARGUMENT, "tensors[1] is missing");
    expect_error(tn_stack(((tn_tensors){NULL, 0})), TN_ERR_ARGUMENT, "got none");
    expect_error(tn_stack(TN_TENSORS(v, v), .dim = 3), TN_ERR_INDEX,
                 "dim 3 is out of range [-2, 1]");
}

Test(products, softmax_casts_its_input)
{
    tn_tensor *x = tn_zeros(TN_INTS(2), .dtype = TN_F16);
    cr_assert_eq(tn_softmax_int(x, 0)->dtype, TN_F16);
    tn_tensor *y = tn_softmax_int(x, -1, .dtype = TN_F32);
    cr_assert_eq(y->dtype, TN_F32);
    cr_assert_float_eq(((float *)y->data)[0], 0.5f, 1e-6f);
    tn_tensor *z = tn_log_softmax_int(tn_scalar_tensor(3), 0, .dtype = TN_F64);
    cr_assert_eq(*(double *)z->data, 0);
    expect_error(tn_softmax_int(x, 1), TN_ERR_INDEX, "[-1, 0]");
}

Test(products, max_min_and_pow_in_place)
{
    tn_tensor *x = counting(TN_INTS(3)), *two = tn_scalar_tensor(2, .dtype = TN_I64);
    expect_elements(tn_max_other(x, tn_full(TN_INTS(3), 1)), TN_INTS(3), LIST(1, 1, 2));
    expect_elements(tn_min_other(x, tn_full(TN_INTS(3), 1)), TN_INTS(3), LIST(0, 1, 1));
    cr_assert_eq(tn_pow__Scalar(x, 2), x);
    expect_elements(x, TN_INTS(3), LIST(0, 1, 4));
    cr_assert_eq(tn_pow_(x, two), x);
    expect_elements(x, TN_INTS(3), LIST(0, 1, 16));
    tn_tensor *none = counting(TN_INTS(0));
    expect_error(tn_pow_(none, counting(TN_INTS(2, 1))), TN_ERR_ARGUMENT, "larger");
    expect_shape(none, TN_INTS(0));
}

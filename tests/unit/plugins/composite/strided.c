/* The gradient of a strided view, and chains of operators that fail half-way. */
#include "composite_test.h"

TestSuite(strided, .init = composite_begin, .fini = composite_end, .timeout = 30);

static tn_tensor *back(tn_tensor *grad, tn_ints base, tn_ints size, tn_ints stride, int64_t offset)
{
    return tn__as_strided_backward(grad, base, size, stride, offset);
}

Test(strided, overlaps_add_up)
{
    tn_tensor *grad = counting(TN_INTS(2, 3)); /* windows 0 1 2, 1 2 3 */
    expect_elements(back(grad, TN_INTS(5), TN_INTS(2, 3), TN_INTS(1, 1), 0), TN_INTS(5),
                    LIST(0, 4, 6, 5, 0));
    expect_elements(back(grad, TN_INTS(2, 2), TN_INTS(2, 3), TN_INTS(2, 0), 1), TN_INTS(2, 2),
                    LIST(0, 3, 0, 12));
}

Test(strided, apart_is_copied)
{
    expect_elements(back(counting(TN_INTS(3)), TN_INTS(2, 4), TN_INTS(3), TN_INTS(2), 1),
                    TN_INTS(2, 4), LIST(0, 0, 0, 1, 0, 2, 0, 0));
}

Test(strided, refuses)
{
    tn_tensor *grad = counting(TN_INTS(3));
    expect_error(back(grad, TN_INTS(4), TN_INTS(3), TN_INTS(1, 1), 0), TN_ERR_ARGUMENT,
                 "size has 1 dimensions, stride 2");
    expect_error(back(grad, TN_INTS(4), TN_INTS(2), TN_INTS(1), 0), TN_ERR_ARGUMENT,
                 "expected the view's shape [2], got [3]");
    cr_assert_null(back(grad, TN_INTS(4), TN_INTS(3), TN_INTS(2), 0));
    tn_error_clear();
}

Test(strided, a_chain_says_what_failed)
{
    tn_tensor *x = counting(TN_INTS(2, 3));
    expect_error(tn_mv(x, counting(TN_INTS(2))), TN_ERR_ARGUMENT, "");
    expect_error(tn_dot(x, x), TN_ERR_ARGUMENT, "self: expected 1 dimension, got 2");
    expect_error(tn_flip(x, TN_INTS(0, -2)), TN_ERR_ARGUMENT, "dimension 0 appears twice");
    expect_error(tn_imag(x), TN_ERR_DTYPE, "expected a complex tensor");
}

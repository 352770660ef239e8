/* The case bank's view area; a test is named by its case. */
#include <criterion/criterion.h>
#include <string.h>

#include <tenon/ops.h>
#include <tenon/runtime.h>
#include <tenon/tensor.h>

static tn_scope scope;

static void begin(void)
{
    cr_assert_eq(tn_plugins_load_default(), TN_OK, "%s", tn_error_last()->message);
    tn_error_clear();
    tn_scope_enter(&scope);
}

static void end(void)
{
    tn_scope_leave(&scope);
}

TestSuite(view, .init = begin, .fini = end, .timeout = 30);

static bool contiguous(tn_ints sizes, tn_ints strides)
{
    tn_tensor *t = tn_empty_strided(sizes, strides);
    cr_assert_not_null(t, "%s", tn_error_last()->message);
    return t->flags & TN_TENSOR_CONTIGUOUS;
}

Test(view, BB_view_01)
{
    cr_assert(contiguous(TN_INTS(3, 1, 5, 1), TN_INTS(5, 77, 1, 9)));
    cr_assert(contiguous(TN_INTS(1, 4), TN_INTS(100, 1)));
    cr_assert(!contiguous(TN_INTS(2, 4), TN_INTS(4, 2)));
    cr_assert(contiguous(TN_INTS(0, 3), TN_INTS(9, 9)));
    cr_assert(contiguous(TN_INTS(1, 1), TN_INTS(7, 7)));
    cr_assert(contiguous(TN_INTS(2, 1, 3), TN_INTS(3, 1, 1)));
    cr_assert(!contiguous(TN_INTS(2, 3), TN_INTS(1, 2)));
}

Test(view, BB_view_02)
{
    tn_tensor *x = tn_reshape(tn_arange(6, .dtype = TN_I32), TN_INTS(1, 1, 6));
    tn_tensor *y = tn_select_int(tn_contiguous(tn_transpose_int(x, 1, 2)), 0, 0);
    tn_tensor *z = tn_view_dtype(y, TN_I8);
    cr_assert_not_null(z, "%s", tn_error_last()->message);
    cr_assert_eq(z->ndim, 2);
    cr_assert_eq(z->sizes[0], 6);
    cr_assert_eq(z->sizes[1], 4);
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 4; i++)
            cr_assert_eq(((int8_t *)z->data)[k * z->strides[0] + i * z->strides[1]], i ? 0 : k);
}

Test(view, BB_view_04)
{
    tn_tensor *base = tn_zeros(TN_INTS(8), .dtype = TN_I8);
    tn_tensor *v = tn_as_strided(base, TN_INTS(1), TN_INTS(INT64_C(1) << 62));
    tn_tensor *w = tn_slice(v, .step = 4);
    tn_tensor *first = tn_select_int(v, 0, 0);
    cr_assert_not_null(w, "%s", tn_error_last()->message);
    cr_assert_not_null(first, "%s", tn_error_last()->message);
    cr_assert_eq(w->ndim, 1);
    cr_assert_eq(w->sizes[0], 1);
    cr_assert_eq(*(int8_t *)w->data, 0);
    cr_assert_eq(*(int8_t *)first->data, 0);
}

Test(view, BB_view_06)
{
    tn_tensor *a = tn_ones(TN_INTS(3, 3)), *r = tn_select_int(a, 0, 0);
    cr_assert_null(tn_pow_Tensor_Scalar_out(tn_zeros(TN_INTS(3, 3)), 2, r));
    cr_assert(strstr(tn_error_last()->message, "[3, 3]"), "%s", tn_error_last()->message);
    cr_assert(strstr(tn_error_last()->message, "[3],"), "%s", tn_error_last()->message);
    for (int i = 0; i < 9; i++)
        cr_assert_eq(((float *)a->data)[i], 1);
}

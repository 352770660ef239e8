/* autocast.c - blocks of mixed precision: what is cast and to which dtype, what comes back as a
 * gradient, and that a block ends as it began. BB-disp-04 stands in tests/cases/dispatch.c. */
#include "cases/case_test.h"

#include <tenon/autocast.h>
#include <tenon/autograd.h>
#include <tenon/half.h>

#include "core/dispatch/dispatch.h"
#include "core/plugin/plugin.h"

TestSuite(autocast, .init = case_begin, .fini = case_end, .timeout = 60);

static tn_tensor *matrix(tn_dtype dtype)
{
    return case_tensor(dtype, TN_INTS(2, 2), CASE_VALUES(1, 2, 3, 4));
}

static bool has_dtype(tn_tensor *t, tn_dtype dtype)
{
    cr_assert_not_null(t, "%s", tn_error_last()->message);
    return t->dtype == dtype;
}
#define EXPECT_DTYPE(t, dtype_) cr_expect(has_dtype(t, dtype_))

/* ---- policies -------------------------------------------------------------------------------- */
Test(autocast, products_run_in_the_lower_precision)
{
    tn_tensor *x = matrix(TN_F32), *y = matrix(TN_BF16), *d = matrix(TN_F64), *i = matrix(TN_I64);
    tn_tensor *v = case_tensor(TN_F32, TN_INTS(2), CASE_VALUES(1, 2));
    TN_AUTOCAST (TN_CPU, TN_BF16) {
        CASE_EXPECT(tn_mm(x, x), TN_BF16, TN_INTS(2, 2), 7, 10, 15, 22);
        EXPECT_DTYPE(tn_matmul(x, y), TN_BF16);
        EXPECT_DTYPE(tn_linear(x, x, .bias = v), TN_BF16);
        EXPECT_DTYPE(tn_addmm(v, x, y), TN_BF16);
        EXPECT_DTYPE(tn_addmv(v, x, v), TN_BF16);
        EXPECT_DTYPE(tn_mm(d, d), TN_F64); /* was asked for */
        EXPECT_DTYPE(tn_mm(i, i), TN_I64);
        EXPECT_DTYPE(tn_add(x, x), TN_F32); /* not listed */
        EXPECT_DTYPE(tn_add(x, y), TN_F32);
    }
    EXPECT_DTYPE(tn_mm(x, x), TN_F32);
    TN_AUTOCAST (TN_CPU, TN_F16) {
        EXPECT_DTYPE(tn_mm(x, y), TN_F16);
    }
}

Test(autocast, functions_that_need_digits_run_in_float32)
{
    tn_tensor *x = matrix(TN_BF16), *d = matrix(TN_F64);
    TN_AUTOCAST (TN_CPU, TN_BF16) {
        EXPECT_DTYPE(tn_exp(x), TN_F32);
        EXPECT_DTYPE(tn_softmax(x, -1), TN_F32);
        EXPECT_DTYPE(tn_sum(x), TN_F32);
        EXPECT_DTYPE(tn_sum(x, .dtype = TN_BF16), TN_BF16); /* the call says which */
        EXPECT_DTYPE(tn_norm_Scalar(x), TN_F32);
        EXPECT_DTYPE(tn_layer_norm(x, TN_INTS(2)), TN_F32);
        EXPECT_DTYPE(tn_mse_loss(x, x), TN_F32);
        EXPECT_DTYPE(tn_exp(d), TN_F64);
        EXPECT_DTYPE(tn_pow(x, 2), TN_F32);
    }
}

Test(autocast, mixed_lists_take_the_widest_dtype)
{
    tn_tensor *x = matrix(TN_F32), *y = matrix(TN_BF16), *h = matrix(TN_F16);
    tn_tensor *mixed[] = {y, x}, *halves[] = {y, h}, *same[] = {y, y};
    TN_AUTOCAST (TN_CPU, TN_BF16) {
        EXPECT_DTYPE(tn_stack(((tn_tensors){mixed, 2}), 0), TN_F32);
        EXPECT_DTYPE(tn_cat(((tn_tensors){halves, 2}), 0), TN_F32);
        EXPECT_DTYPE(tn_cat(((tn_tensors){same, 2}), 0), TN_BF16);
        EXPECT_DTYPE(tn_addcmul(y, y, x), TN_F32);
        EXPECT_DTYPE(tn_addcmul(y, y, y), TN_BF16);
    }
    cr_assert(mixed[0] == y && mixed[1] == x, "the caller's list is as it was");
}

/* ---- what is written ------------------------------------------------------------------------- */
Test(autocast, written_arguments_keep_their_dtype)
{
    tn_tensor *x = matrix(TN_F32), *y = matrix(TN_BF16), *sum = tn_clone(x);
    tn_tensor *out = tn_zeros(TN_INTS(2, 2)), *low = tn_zeros(TN_INTS(2, 2), .dtype = TN_BF16);
    TN_AUTOCAST (TN_CPU, TN_BF16) {
        cr_assert_eq(tn_addmm_(sum, y, x), sum, "%s", tn_error_last()->message);
        cr_assert_eq(tn_mm_out(x, y, out), out, "%s", tn_error_last()->message);
        cr_assert_eq(tn_mm_out(x, y, low), low, "%s", tn_error_last()->message);
        cr_assert_eq(tn_exp_(y), y);
        cr_assert_eq(tn_addcmul_(x, x, low), x);
    }
    CASE_EXPECT(sum, TN_F32, TN_INTS(2, 2), 8, 12, 18, 26);
    CASE_EXPECT(out, TN_F32, TN_INTS(2, 2), 7, 10, 15, 22);
    CASE_EXPECT(low, TN_BF16, TN_INTS(2, 2), 7, 10, 15, 22);
    CASE_EXPECT(x, TN_F32, TN_INTS(2, 2), 8, 22, 48, 92);
    EXPECT_DTYPE(y, TN_BF16);
}

/* A float32 accumulator is not rounded on the way. */
Test(autocast, in_place_sums_keep_their_digits)
{
    tn_tensor *sum = case_tensor(TN_F32, TN_INTS(1, 1), CASE_VALUES(4096));
    tn_tensor *one = case_tensor(TN_F32, TN_INTS(1, 1), CASE_VALUES(1));
    TN_AUTOCAST (TN_CPU, TN_BF16) {
        for (int i = 0; i < 3; i++)
            cr_assert_eq(tn_addmm_(sum, one, one), sum, "%s", tn_error_last()->message);
    }
    CASE_EXPECT(sum, TN_F32, TN_INTS(1, 1), 4099);
}

/* ---- gradients ------------------------------------------------------------------------------- */
static tn_tensor *leaf(tn_dtype dtype)
{
    tn_tensor *t = matrix(dtype);
    cr_assert_eq(tn_set_requires_grad(t, true), TN_OK);
    return t;
}

Test(autocast, gradients_have_the_arguments_dtype)
{
    tn_tensor *w = leaf(TN_F32), *b = leaf(TN_F32), *x = matrix(TN_F32), *loss = NULL;
    TN_AUTOCAST (TN_CPU, TN_BF16) {
        tn_tensor *y = tn_addmm(b, x, w);
        EXPECT_DTYPE(y, TN_BF16);
        cr_assert(tn_requires_grad(y));
        loss = tn_sum(tn_mul(tn_exp(tn_mul(y, 0)), y));
        EXPECT_DTYPE(loss, TN_F32);
    }
    cr_assert_eq(tn_backward_from(loss), TN_OK, "%s", tn_error_last()->message);
    CASE_EXPECT(tn_grad(w), TN_F32, TN_INTS(2, 2), 4, 4, 6, 6);
    CASE_EXPECT(tn_grad(b), TN_F32, TN_INTS(2, 2), 1, 1, 1, 1);
}

Test(autocast, gradients_flow_through_cast_lists)
{
    tn_tensor *wide = leaf(TN_F32), *low = leaf(TN_BF16), *mixed[] = {low, wide}, *loss = NULL;
    TN_AUTOCAST (TN_CPU, TN_BF16) {
        tn_tensor *all = tn_cat(((tn_tensors){mixed, 2}), 1);
        EXPECT_DTYPE(all, TN_F32);
        loss = tn_sum(tn_mul(all, all));
    }
    cr_assert_eq(tn_backward_from(loss), TN_OK, "%s", tn_error_last()->message);
    CASE_EXPECT(tn_grad(wide), TN_F32, TN_INTS(2, 2), 2, 4, 6, 8);
    CASE_EXPECT(tn_grad(low), TN_BF16, TN_INTS(2, 2), 2, 4, 6, 8);
}

/* Inside of a block the same gradients, bit by bit: the pass itself is not cast. */
Test(autocast, a_backward_pass_is_not_cast)
{
    tn_tensor *w[2], *loss = NULL,
                     *x = case_tensor(TN_F32, TN_INTS(2, 2), CASE_VALUES(1.0 / 3, 0.1, 7.7, -3.3));
    for (int inside = 0; inside < 2; inside++) {
        w[inside] = leaf(TN_F32);
        TN_AUTOCAST (TN_CPU, TN_BF16) {
            tn_tensor *plain = NULL;
            TN_NO_AUTOCAST (TN_CPU) {
                plain = tn_mm(x, w[inside]);
            }
            EXPECT_DTYPE(plain, TN_F32);
            loss = tn_sum(tn_mul(plain, tn_mm(x, x)));
            if (inside)
                cr_assert_eq(tn_backward_from(loss), TN_OK, "%s", tn_error_last()->message);
        }
        if (!inside)
            cr_assert_eq(tn_backward_from(loss), TN_OK, "%s", tn_error_last()->message);
    }
    tn_tensor *out = tn_grad(w[0]), *in = tn_grad(w[1]);
    cr_assert_eq(memcmp(out->data, in->data, 4 * sizeof(float)), 0);
    cr_assert_neq(((float *)out->data)[0],
                  (float)tn_f32_from_bf16(tn_bf16_from_f32(((float *)out->data)[0])));
}

/* ---- blocks ---------------------------------------------------------------------------------- */
Test(autocast, blocks_nest_and_end)
{
    tn_tensor *x = matrix(TN_F32);
    cr_assert_eq(tn_autocast_dtype(TN_CPU), TN_DTYPE_NONE);
    TN_AUTOCAST (TN_CPU, TN_DTYPE_NONE) {
        cr_assert_eq(tn_autocast_dtype(TN_CPU), TN_BF16);
        TN_AUTOCAST (TN_CPU, TN_F16) {
            EXPECT_DTYPE(tn_mm(x, x), TN_F16);
            TN_NO_AUTOCAST (TN_CPU) {
                EXPECT_DTYPE(tn_mm(x, x), TN_F32);
                TN_AUTOCAST (TN_CPU, TN_BF16) {
                    EXPECT_DTYPE(tn_mm(x, x), TN_BF16);
                }
                EXPECT_DTYPE(tn_mm(x, x), TN_F32);
            }
            EXPECT_DTYPE(tn_mm(x, x), TN_F16);
        }
        EXPECT_DTYPE(tn_mm(x, x), TN_BF16);
        break; /* leaves the block, too */
    }
    cr_assert_eq(tn_autocast_dtype(TN_CPU), TN_DTYPE_NONE);
    cr_assert_eq(tn__keys_tls.include, 0);
    EXPECT_DTYPE(tn_mm(x, x), TN_F32);
}

Test(autocast, another_device_type_is_left_alone)
{
    tn_tensor *x = matrix(TN_F32);
    TN_AUTOCAST (TN_CUDA, TN_F16) {
        cr_assert_eq(tn_autocast_dtype(TN_CUDA), TN_F16);
        EXPECT_DTYPE(tn_mm(x, x), TN_F32);
        EXPECT_DTYPE(tn_exp(matrix(TN_BF16)), TN_BF16);
    }
}

Test(autocast, what_cannot_be_entered_is_skipped_with_a_reason)
{
    tn_autocast a;
    cr_assert_eq(tn_autocast_enter(&a, TN_CPU, TN_F32), TN_ERR_DTYPE);
    cr_assert(strstr(tn_error_last()->message, "float32"), "%s", tn_error_last()->message);
    cr_assert_eq(tn_autocast_enter(&a, 77, TN_BF16), TN_ERR_DEVICE);
    cr_assert_eq(tn_autocast_enter(&a, TN_META, TN_BF16), TN_ERR_PLUGIN);
    cr_assert(strstr(tn_error_last()->message, "meta"), "%s", tn_error_last()->message);
    bool entered = false;
    TN_AUTOCAST (TN_CPU, TN_I64) {
        entered = true;
    }
    cr_assert(!entered);
    cr_assert_eq(tn_autocast_dtype(TN_CPU), TN_DTYPE_NONE);
    cr_assert_eq(tn__keys_tls.include, 0);
    tn_error_clear();
}

/* A call that fails below leaves the frame and the thread as they were. */
Test(autocast, a_failed_call_changes_nothing)
{
    tn_tensor *x = matrix(TN_F32), *v = case_tensor(TN_F32, TN_INTS(3), CASE_VALUES(1, 2, 3));
    TN_AUTOCAST (TN_CPU, TN_BF16) {
        struct tn_mm_args f = {TN_FRAME(mm), .self = x, .mat2 = v};
        cr_assert_neq(tn_op_call(tn_op_find("aten::mm"), &f), TN_OK);
        cr_assert(f.self == x && f.mat2 == v && !f.result);
        tn_error_clear();
        EXPECT_DTYPE(tn_mm(x, x), TN_BF16);
    }
    CASE_EXPECT(x, TN_F32, TN_INTS(2, 2), 1, 2, 3, 4);
}

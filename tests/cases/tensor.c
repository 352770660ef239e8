/* The case bank's tensor area; a test is named by its case. */
#include <criterion/criterion.h>
#include <math.h>
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

TestSuite(tensor, .init = begin, .fini = end, .timeout = 30);

/* The expression failed and its message holds both words. */
static void refused(const tn_tensor *t, const char *a, const char *b)
{
    cr_assert_null(t, "expected an error with '%s'", a);
    const char *message = tn_error_last()->message;
    cr_assert(strstr(message, a), "'%s' does not hold '%s'", message, a);
    cr_assert(strstr(message, b), "'%s' does not hold '%s'", message, b);
    tn_error_clear();
}

static void has_shape(const tn_tensor *t, tn_ints sizes)
{
    cr_assert_not_null(t, "%s", tn_error_last()->message);
    cr_assert_eq(t->ndim, sizes.len);
    for (int d = 0; d < t->ndim; d++)
        cr_assert_eq(t->sizes[d], sizes.data[d]);
}

static void has_value(const tn_tensor *t, double value)
{
    tn_scalar got;
    cr_assert_not_null(t, "%s", tn_error_last()->message);
    cr_assert_eq(tn_tensor_item(t, &got), TN_OK, "%s", tn_error_last()->message);
    cr_assert_eq(got.kind == TN_SCALAR_FLOAT ? got.v.f : (double)got.v.i, value);
}

Test(tensor, BB_ten_01)
{
    int64_t sizes[] = {0, INT64_C(1) << 20, INT64_C(1) << 43};
    tn_device meta = {TN_META, -1};
    refused(tn_empty_memory_format(((tn_ints){sizes, 3})), "overflow",
            "[0, 1048576, 8796093022208]");
    refused(tn_empty_memory_format(((tn_ints){sizes, 3}), .device = meta), "overflow", "1048576");
}

Test(tensor, BB_ten_02)
{
    int64_t wide = INT64_C(1) << 32;
    refused(tn_empty_memory_format(TN_INTS(wide, wide), .dtype = TN_I8), "overflow", "4294967296");
    refused(tn_empty_memory_format(TN_INTS(INT64_C(1) << 61), .dtype = TN_F64), "overflow",
            "2305843009213693952");
    tn_tensor *one = tn_ones(TN_INTS(1, 1), .dtype = TN_F64);
    tn_tensor *many = tn_expand(one, TN_INTS(1, (INT64_C(1) << 62) + 1));
    refused(tn_contiguous(many), "overflow", "4611686018427387905");
}

static tn_tensor *three_i64(int64_t a, int64_t b, int64_t c)
{
    tn_tensor *t = tn_empty_memory_format(TN_INTS(3), .dtype = TN_I64);
    memcpy(t->data, (int64_t[]){a, b, c}, 3 * sizeof(int64_t));
    return t;
}

Test(tensor, BB_ten_04)
{
    tn_tensor *a = three_i64(5, -5, 0);
    tn_tensor *zeros[] = {three_i64(0, 0, 0), tn_scalar_tensor(0, .dtype = TN_I64)};
    for (int i = 0; i < 2; i++) {
        refused(tn_floor_divide(a, zeros[i]), "zero", "");
        refused(tn_remainder(a, zeros[i]), "zero", "");
        refused(tn_fmod(a, zeros[i]), "zero", "");
    }
    cr_assert_eq(((int64_t *)a->data)[0], 5);
    cr_assert_eq(((int64_t *)a->data)[1], -5);
    tn_tensor *r = tn_div_Scalar(tn_to_dtype(a, TN_F32), 0.0);
    cr_assert_not_null(r, "%s", tn_error_last()->message);
    const float *f = r->data;
    cr_assert_eq(f[0], INFINITY);
    cr_assert_eq(f[1], -INFINITY);
    cr_assert(isnan(f[2]));
}

Test(tensor, BB_ten_06)
{
    tn_tensor *a = tn_full(TN_INTS(1), 100, .dtype = TN_I8);
    tn_tensor *two = tn_full(TN_INTS(1), 2, .dtype = TN_I8);
    has_value(tn_floor_divide(tn_add(a, a), two), -28);
    has_value(tn_sub(tn_mul_Scalar(a, 6), tn_mul_Scalar(a, 5)), 100);
    has_value(tn_add_Scalar(tn_full(TN_INTS(1), 200, .dtype = TN_U8), 100), 44);
    has_value(tn_sub_Scalar(tn_full(TN_INTS(1), 5, .dtype = TN_U8), 6), 255);
}

Test(tensor, BB_ten_09)
{
    tn_tensor *s = tn_scalar_tensor(3.0, .dtype = TN_F32), *none = tn_zeros(TN_INTS(0, 4));
    has_value(tn_sum_dim_IntList(s, TN_INTS(0)), 3);
    has_value(tn_sum_dim_IntList(s, TN_INTS(-1)), 3);
    refused(tn_sum_dim_IntList(s, TN_INTS(1)), "out of range", "[-1, 0]");
    has_value(tn_transpose_int(s, 0, 0), 3);
    tn_tensor *both = tn_stack(TN_TENSORS(s, s));
    has_shape(both, TN_INTS(2));
    cr_assert_eq(((float *)both->data)[0], 3);
    cr_assert_eq(((float *)both->data)[1], 3);
    has_shape(tn_reshape(none, TN_INTS(2, -1)), TN_INTS(2, 0));
    refused(tn_reshape(none, TN_INTS(0, -1)), "ambiguous", "-1");
    tn_tensor *sums = tn_sum_dim_IntList(tn_zeros(TN_INTS(2, 0, 3)), TN_INTS(1), .keepdim = true);
    has_shape(sums, TN_INTS(2, 1, 3));
    for (int i = 0; i < 6; i++)
        cr_assert_eq(((float *)sums->data)[i], 0);
}

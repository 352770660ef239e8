/* indexing.c - lists of indices, masks and places on CPU: transposition, negative and repeated
 * indices, layouts, threads, what is refused and leaves self as it was. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include <tenon/ops.h>
#include <tenon/runtime.h>
#include <tenon/threads.h>

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

TestSuite(cpu_indexing, .init = begin, .fini = end);

/* Goes with the scope. */
static tn_tensor *numbers(tn_dtype dtype, tn_ints sizes, const double *values)
{
    tn_tensor *t;
    cr_assert_eq(tn_tensor_from_data(values, TN_F64, sizes.len, sizes.data, &t), TN_OK);
    tn_tensor *out = tn__to_copy(t, .dtype = dtype);
    tn_release(t);
    cr_assert_not_null(out);
    return out;
}
#define NUMBERS(dtype, ...)                                                                        \
    numbers(dtype, TN_INTS(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)),                \
            (const double[]){__VA_ARGS__})
#define NUMBER(dtype, v) numbers(dtype, (tn_ints){NULL, 0}, (const double[]){v})

static tn_tensor *counting(tn_dtype dtype, tn_ints sizes)
{
    int64_t n = 1;
    for (int64_t d = 0; d < sizes.len; d++)
        n *= sizes.data[d];
    return tn_reshape(tn_arange(n, .dtype = dtype), sizes);
}

static void expect(tn_tensor *t, tn_ints sizes, const double *want)
{
    cr_assert_not_null(t, "%s", tn_error_last()->message);
    cr_assert_eq(t->ndim, sizes.len, "%d dimensions", t->ndim);
    for (int d = 0; d < t->ndim; d++)
        cr_assert_eq(t->sizes[d], sizes.data[d], "size %lld", (long long)t->sizes[d]);
    const double *got = tn__to_copy(t, .dtype = TN_F64, .memory_format = TN_CONTIGUOUS)->data;
    for (int64_t i = 0; i < t->numel; i++)
        cr_assert_eq(got[i], want[i], "[%lld] is %g, not %g", (long long)i, got[i], want[i]);
}
#define EXPECT(t, sizes, ...) expect(t, sizes, (const double[]){__VA_ARGS__})

static void refused(tn_tensor *t, tn_status status, const char *message)
{
    cr_assert_null(t);
    cr_assert_eq(tn_error_last()->status, status, "%s", tn_error_last()->message);
    cr_assert_not_null(strstr(tn_error_last()->message, message), "%s", tn_error_last()->message);
    tn_error_clear();
}

/* ---- where the joint dimensions stand -------------------------------------------------------- */
Test(cpu_indexing, adjacent_indices_stay_and_others_go_first)
{
    tn_tensor *x = counting(TN_F32, TN_INTS(2, 3, 4)), *i = NUMBERS(TN_I64, 1, -2),
              *j = NUMBERS(TN_I64, 0, 3);
    EXPECT(tn_index(x, TN_TENSORS(NULL, i, j)), TN_INTS(2, 2), 4, 7, 16, 19);
    EXPECT(tn_index(x, TN_TENSORS(NUMBERS(TN_I64, 0, 1), NULL, j)), TN_INTS(2, 3), 0, 4, 8, 15, 19,
           23);
    EXPECT(tn_index(x, TN_TENSORS(NULL, NULL, j)), TN_INTS(2, 3, 2), 0, 3, 4, 7, 8, 11, 12, 15, 16,
           19, 20, 23);
    /* A number between whole dimensions is apart from the others, too. */
    tn_tensor *y = counting(TN_F32, TN_INTS(2, 2, 2, 2));
    EXPECT(tn_index(y, TN_TENSORS(NULL, NUMBER(TN_I64, 1), NULL, NUMBERS(TN_I64, 1, 0, 1))),
           TN_INTS(3, 2, 2), 5, 7, 13, 15, 4, 6, 12, 14, 5, 7, 13, 15);
}

Test(cpu_indexing, a_mask_is_the_coordinates_of_its_true_elements)
{
    tn_tensor *x = counting(TN_I16, TN_INTS(2, 2, 3));
    tn_tensor *mask = numbers(TN_BOOL, TN_INTS(2, 3), (const double[]){1, 0, 0, 0, 1, 1});
    EXPECT(tn_index(x, TN_TENSORS(NULL, mask)), TN_INTS(2, 3), 0, 4, 5, 6, 10, 11);
    EXPECT(tn_index(x, TN_TENSORS(NUMBERS(TN_I64, 1, 0, 1), mask)), TN_INTS(3), 6, 4, 11);
    EXPECT(tn_index(tn_transpose_int(x, 1, 2), TN_TENSORS(NULL, tn_t(mask))), TN_INTS(2, 3), 0, 4,
           5, 6, 10, 11);
    /* Bytes of a bool that are neither 0 nor 1 are true. */
    tn_tensor *odd = tn_view_dtype(NUMBERS(TN_U8, 0, 200), TN_BOOL);
    EXPECT(tn_index(x, TN_TENSORS(odd)), TN_INTS(1, 2, 3), 6, 7, 8, 9, 10, 11);
    EXPECT(tn_masked_select(tn_arange(2), odd), TN_INTS(1), 1);
    EXPECT(tn_nonzero(odd), TN_INTS(1, 1), 1);
    EXPECT(tn_masked_scatter(tn_arange(2), odd, NUMBERS(TN_I64, 5)), TN_INTS(2), 0, 5);
}

Test(cpu_indexing, a_list_without_tensors_is_a_copy)
{
    tn_tensor *x = counting(TN_F64, TN_INTS(2, 2)), *y = tn_index(x, ((tn_tensors){NULL, 0}));
    EXPECT(y, TN_INTS(2, 2), 0, 1, 2, 3);
    cr_assert_neq(y->data, x->data);
    EXPECT(tn_index_put_(x, TN_TENSORS(NULL, NULL), NUMBERS(TN_F64, 7, 8)), TN_INTS(2, 2), 7, 8, 7,
           8);
}

/* ---- writing --------------------------------------------------------------------------------- */
Test(cpu_indexing, of_equal_places_the_last_counts)
{
    tn_tensor *x = tn_zeros(TN_INTS(3, 2)), *i = NUMBERS(TN_I64, 1, -2, 1, 0);
    tn_tensor *v = counting(TN_F32, TN_INTS(4, 2));
    EXPECT(tn_index_put(x, TN_TENSORS(i), v), TN_INTS(3, 2), 6, 7, 4, 5, 0, 0);
    EXPECT(tn_index_put(x, TN_TENSORS(i), v, .accumulate = true), TN_INTS(3, 2), 6, 7, 6, 9, 0, 0);
    EXPECT(tn_put(x, i, NUMBERS(TN_F32, 1, 2, 3, 4)), TN_INTS(3, 2), 4, 3, 0, 0, 2, 0);
    EXPECT(tn_put(tn_t(x), i, NUMBERS(TN_F32, 1, 2, 3, 4), .accumulate = true), TN_INTS(2, 3), 4, 4,
           0, 0, 2, 0);
    tn_tensor *src = counting(TN_F32, TN_INTS(2, 2, 2));
    EXPECT(tn_as_strided_scatter(tn_zeros(TN_INTS(4)), src, TN_INTS(2, 2, 2), TN_INTS(1, 1, 1)),
           TN_INTS(4), 0, 4, 6, 7);
}

/* 2048 + 1 is 2048 in half precision, and 2048 + 1 + 1 is not. */
Test(cpu_indexing, halves_are_added_up_in_single_precision)
{
    tn_tensor *x = NUMBERS(TN_F16, 2048, 0), *i = NUMBERS(TN_I64, 0, 0), *v = NUMBERS(TN_F16, 1, 1);
    EXPECT(tn_index_put(x, TN_TENSORS(i), v, .accumulate = true), TN_INTS(2), 2050, 0);
    EXPECT(tn_put_(x, i, v, .accumulate = true), TN_INTS(2), 2050, 0);
}

/* What is written may be named by itself: it counts as it was before. */
Test(cpu_indexing, operands_that_are_self)
{
    tn_tensor *x = NUMBERS(TN_I64, 2, 0, 1);
    EXPECT(tn_index_put_(x, TN_TENSORS(x), x), TN_INTS(3), 0, 1, 2);
    tn_tensor *b = NUMBERS(TN_BOOL, 1, 0, 1);
    EXPECT(tn_index_put_(b, TN_TENSORS(b), NUMBER(TN_BOOL, 0)), TN_INTS(3), 0, 0, 0);
    b = NUMBERS(TN_BOOL, 0, 1, 1);
    EXPECT(tn_masked_scatter_(b, b, b), TN_INTS(3), 0, 0, 1);
    tn_tensor *y = counting(TN_F32, TN_INTS(2, 2));
    EXPECT(tn_index_put_(y, TN_TENSORS(NUMBERS(TN_I64, 1, 0)), y), TN_INTS(2, 2), 2, 3, 0, 1);
    refused(tn_put_(y, NUMBERS(TN_I64, 0, 1), tn_select_int(y, 0, 1)), TN_ERR_OVERLAP, "memory");
}

Test(cpu_indexing, fills_take_what_fits)
{
    tn_tensor *x = tn_zeros(TN_INTS(2, 3), .dtype = TN_U8), *last = NUMBERS(TN_I64, -1);
    EXPECT(tn_index_fill_int_Scalar(x, 1, last, 2.7), TN_INTS(2, 3), 0, 0, 2, 0, 0, 2);
    EXPECT(tn_index_fill_int_Tensor(x, 0, last, NUMBER(TN_F32, 3.9)), TN_INTS(2, 3), 0, 0, 0, 3, 3,
           3);
    EXPECT(tn_index_fill_int_Scalar(NUMBER(TN_F32, 1), 0, NUMBERS(TN_I64, 0, 0), 4),
           ((tn_ints){NULL, 0}), 4);
    refused(tn_index_fill_int_Scalar(x, 1, last, 300), TN_ERR_ARGUMENT, "300 does not fit");
    refused(tn_index_fill_int_Tensor(x, 1, last, NUMBERS(TN_U8, 1)), TN_ERR_ARGUMENT,
            "no dimensions");
    refused(tn_index_fill_int_Tensor(x, 1, last, NUMBER(TN_C64, 1)), TN_ERR_DTYPE, "complex");
}

/* ---- combining ------------------------------------------------------------------------------- */
Test(cpu_indexing, combined_with_self_or_without)
{
    tn_tensor *x = NUMBERS(TN_I32, -7, 100, 5), *i = NUMBERS(TN_I64, 0, 0, 1),
              *v = NUMBERS(TN_I32, 1, 4, 3);
    EXPECT(tn_scatter_reduce_two(x, 0, i, v, "mean"), TN_INTS(3), -1, 51, 5);
    EXPECT(tn_scatter_reduce_two(tn_neg(x), 0, i, tn_neg(v), "mean"), TN_INTS(3), 0, -52, -5);
    EXPECT(tn_scatter_reduce_two(x, 0, i, v, "mean", .include_self = false), TN_INTS(3), 2, 3, 5);
    EXPECT(tn_scatter_reduce_two(x, 0, i, v, "amax", .include_self = false), TN_INTS(3), 4, 3, 5);
    EXPECT(tn_index_reduce(x, 0, i, v, "amin"), TN_INTS(3), -7, 3, 5);
    EXPECT(tn_index_reduce(x, 0, i, v, "prod", .include_self = false), TN_INTS(3), 4, 3, 5);
    EXPECT(tn_scatter_value_reduce(x, 0, i, 2, "multiply"), TN_INTS(3), -28, 200, 5);
    tn_tensor *f = NUMBERS(TN_F32, 1, 2), *nan = tn_full_like(f, NAN);
    const float *most =
        tn_scatter_reduce_two(f, 0, NUMBERS(TN_I64, 0, 0),
                              tn_cat(TN_TENSORS(tn_narrow(nan, 0, 0, 1), tn_narrow(f, 0, 1, 1))),
                              "amax")
            ->data;
    cr_assert(isnan(most[0]));
    cr_assert_eq(most[1], 2);
    /* In place, with a source that is self. */
    EXPECT(tn_scatter_reduce__two(x, 0, NUMBERS(TN_I64, 1, 2, 0), x, "sum"), TN_INTS(3), -2, 93,
           105);
    refused(tn_scatter_reduce_two(NUMBERS(TN_BOOL, 1), 0, NUMBERS(TN_I64, 0), NUMBERS(TN_BOOL, 1),
                                  "mean"),
            TN_ERR_DTYPE, "mean of bools");
}

/* ---- threads --------------------------------------------------------------------------------- */
static tn_tensor *spread(int threads)
{
    tn_set_num_threads(threads);
    tn_tensor *i = tn_remainder_Tensor(tn_arange(60000), NUMBER(TN_I64, 701));
    tn_tensor *x = tn_zeros(TN_INTS(701, 150)),
              *v = tn_rsqrt(tn_arange_start(1, 60001, .dtype = TN_F32));
    tn_tensor *wide = tn_expand(tn_unsqueeze(v, 1), TN_INTS(60000, 150));
    x = tn_index_put(x, TN_TENSORS(i), wide, .accumulate = true);
    tn_tensor *y = tn_masked_select(x, tn_gt_Scalar(x, 0.3));
    tn_set_num_threads(0);
    return tn_cat(TN_TENSORS(tn_flatten_using_ints(x), y));
}

Test(cpu_indexing, threads_do_not_matter)
{
    tn_tensor *one = spread(1), *two = spread(2);
    cr_assert_not_null(one, "%s", tn_error_last()->message);
    cr_assert_eq(one->numel, two->numel);
    cr_assert_gt(one->numel, 701 * 150);
    cr_assert_eq(memcmp(one->data, two->data, (size_t)one->numel * 4), 0);
}

/* ---- what is refused ------------------------------------------------------------------------- */
Test(cpu_indexing, mistakes_are_named)
{
    tn_tensor *x = counting(TN_F32, TN_INTS(3, 4)), *i = NUMBERS(TN_I64, 0, 1);
    tn_tensor *far = NUMBERS(TN_I64, 0, 4, -5);
    refused(tn_index(x, TN_TENSORS(NULL, far)), TN_ERR_INDEX,
            "indices[1] is 4 at position 1; dim 1 of self takes -4 to 3 there");
    refused(tn_index(x, TN_TENSORS(i, i, i)), TN_ERR_INDEX,
            "too many indices: with indices[2] they take 3 dimensions, and self has 2");
    refused(tn_index(x, TN_TENSORS(i, far)), TN_ERR_INDEX,
            "indices[1] has shape [3], those before it have [2]");
    refused(tn_index(x, TN_TENSORS(NUMBERS(TN_F32, 1))), TN_ERR_DTYPE,
            "indices[0] must be int64 or int32, or a mask: bool or uint8, got float32");
    refused(tn_index(tn_zeros(TN_INTS(0, 3)), TN_TENSORS(i)), TN_ERR_INDEX, "is empty there");
    refused(tn_index_put(x, TN_TENSORS(i), NUMBER(TN_I64, 1)), TN_ERR_DTYPE,
            "values has dtype int64; expected self's float32");
    refused(tn_take(x, NUMBERS(TN_I64, 12)), TN_ERR_INDEX, "takes -12 to 11 there");
    refused(tn_take(x, NUMBERS(TN_I32, 1)), TN_ERR_DTYPE, "index must be int64, got int32");
    refused(tn_index_copy(x, 0, NUMBERS(TN_I64, -1), tn_ones(TN_INTS(1, 4))), TN_ERR_INDEX,
            "index is -1 at position 0; self takes 0 to 2 there");
    refused(tn_put(x, i, NUMBERS(TN_F32, 1)), TN_ERR_ARGUMENT, "1 elements and index 2");
    refused(tn_select_scatter(x, NUMBERS(TN_F32, 1), 0, 0), TN_ERR_ARGUMENT,
            "src has shape [1], but the part of self that it is written to has [4]");
    refused(tn_nonzero(tn_zeros(TN_INTS(2), .device = {TN_META, -1})), TN_ERR_UNSUPPORTED,
            "data-dependent");
}

Test(cpu_indexing, nothing_is_written_before_a_mistake)
{
    tn_tensor *x = counting(TN_F32, TN_INTS(3)), *far = NUMBERS(TN_I64, 0, 3);
    tn_tensor *two = NUMBERS(TN_F32, 8, 9);
    refused(tn_index_put_(x, TN_TENSORS(far), two), TN_ERR_INDEX, "is 3 at position 1");
    refused(tn_put_(x, far, two), TN_ERR_INDEX, "is 3 at position 1");
    refused(tn_index_copy_(x, 0, far, two), TN_ERR_INDEX, "is 3 at position 1");
    refused(tn_index_fill__int_Scalar(x, 0, far, 9), TN_ERR_INDEX, "is 3 at position 1");
    refused(tn_take_out(x, far, two), TN_ERR_INDEX, "is 3 at position 1");
    refused(tn_index_Tensor_out(x, TN_TENSORS(far), two), TN_ERR_INDEX, "is 3 at position 1");
    EXPECT(x, TN_INTS(3), 0, 1, 2);
    EXPECT(two, TN_INTS(2), 8, 9);
}

Test(cpu_indexing, out_of_an_operand_is_refused_and_stays)
{
    tn_tensor *x = counting(TN_F32, TN_INTS(4)), *mask = NUMBERS(TN_BOOL, 1, 0, 1, 1);
    tn_tensor *part = tn_narrow(x, 0, 1, 3), *none = tn_narrow(x, 0, 0, 0);
    refused(tn_masked_select_out(x, mask, part), TN_ERR_OVERLAP, "memory");
    refused(tn_masked_select_out(x, mask, none), TN_ERR_OVERLAP, "memory");
    cr_assert_eq(none->numel, 0);
    EXPECT(x, TN_INTS(4), 0, 1, 2, 3);
    EXPECT(tn_masked_select_out(x, mask, tn_zeros(TN_INTS(0))), TN_INTS(3), 0, 2, 3);
    refused(tn_nonzero_out(x, tn_zeros(TN_INTS(0), .dtype = TN_I32)), TN_ERR_DTYPE, "int32");
}

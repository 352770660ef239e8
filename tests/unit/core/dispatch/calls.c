/* Calls as programs make them: typed, expression and generic ones agree; errors; in-place and out=
 * semantics. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include <tenon/op.h>
#include <tenon/ops.h>
#include <tenon/runtime.h>
#include <tenon/tensor.h>

#ifdef __clang__
#pragma clang diagnostic ignored "-Wmissing-field-initializers" /* `.alpha = 2` names no kind */
#endif

static tn_scope scope;

static void begin(void)
{
    cr_assert_eq(tn_plugins_load_default(), TN_OK);
    tn_error_clear();
    tn_scope_enter(&scope);
}

static void end(void)
{
    tn_scope_leave(&scope);
}

TestSuite(calls, .init = begin, .fini = end, .timeout = 60);

#define HAS(text)                                                                                  \
    cr_assert(strstr(tn_error_last()->message, text), "'%s' is not in: %s", text,                  \
              tn_error_last()->message)

static tn_tensor *floats(int64_t n, const float *values)
{
    tn_tensor *t = tn_empty_memory_format(((tn_ints){&n, 1}), .dtype = TN_F32);
    cr_assert_not_null(t, "%s", tn_error_last()->message);
    memcpy(t->data, values, (size_t)n * sizeof *values);
    return t;
}
#define FLOATS(...) floats(sizeof((float[]){__VA_ARGS__}) / sizeof(float), (float[]){__VA_ARGS__})

static void holds(int line, const tn_tensor *t, int64_t n, const float *values)
{
    cr_assert_not_null(t, "line %d: %s", line, tn_error_last()->message);
    cr_assert_eq(t->dtype, TN_F32, "line %d", line);
    cr_assert_eq(t->numel, n, "line %d: %lld elements", line, (long long)t->numel);
    cr_assert_eq(memcmp(t->data, values, (size_t)n * sizeof *values), 0,
                 "line %d: first element %g", line, *(float *)t->data);
}
#define HOLDS(t, ...)                                                                              \
    holds(__LINE__, t, sizeof((float[]){__VA_ARGS__}) / sizeof(float), (float[]){__VA_ARGS__})

/* An expression that failed with this status and text; the record is cleared. */
static void fails(int line, const tn_tensor *t, tn_status status, const char *text)
{
    cr_assert_null(t, "line %d: it succeeded", line);
    cr_assert_eq(tn_error_last()->status, status, "line %d: %s: %s", line,
                 tn_status_name(tn_error_last()->status), tn_error_last()->message);
    cr_assert(strstr(tn_error_last()->message, text), "line %d: '%s' is not in: %s", line, text,
              tn_error_last()->message);
    tn_error_clear();
}
#define FAILS(t, status, text) fails(__LINE__, t, status, text)

/* ---- three ways to call ---------------------------------------------------------------------- */
Test(calls, typed_expression_and_generic_calls_agree)
{
    tn_tensor *a = FLOATS(1, 2, 3), *b = FLOATS(10, 20, 30), *typed = NULL;
    cr_assert_eq(tn_call_add_Tensor(a, b, tn_scalar_int(2), &typed), TN_OK);
    HOLDS(typed, 21, 42, 63);
    tn_release(typed);
    HOLDS(tn_add(a, b, .alpha = 2), 21, 42, 63);
    HOLDS(tn_add(a, b, .alpha = TN_NUM(2)), 21, 42, 63);
    HOLDS(tn_add(a, b, .alpha = tn_scalar_float(0.5)), 6, 12, 18);
    struct tn_add_Tensor_args f;
    const tn_op *op = tn_op_find("add.Tensor");
    cr_assert_eq(tn_op_frame_size(op), sizeof f);
    tn_op_frame_init(op, &f);
    cr_assert(f.alpha.kind == TN_SCALAR_INT && f.alpha.v.i == 1 && !f.self && !f.result);
    f.self = a;
    f.other = b;
    f.alpha = tn_scalar_int(2);
    cr_assert_eq(tn_op_call(op, &f), TN_OK);
    HOLDS(f.result, 21, 42, 63);
    tn_op_frame_release(op, &f);
    cr_assert_null(f.result);
}

Test(calls, numbers_of_expressions)
{
    tn_tensor *a = FLOATS(-1, 2, 5);
    HOLDS(tn_clamp(a, .min = 0), 0, 2, 5);
    HOLDS(tn_clamp(a, .max = 3), -1, 2, 3);
    HOLDS(tn_clamp(a, .min = 0, .max = 3), 0, 2, 3);
    HOLDS(tn_clamp(a, .min = tn_scalar_int(0)), 0, 2, 5);
    tn_tensor *i = tn_full(TN_INTS(2), 7, .dtype = TN_I32), *sum = tn_add(i, i, .alpha = 3);
    cr_assert_not_null(sum, "%s", tn_error_last()->message);
    cr_assert_eq(sum->dtype, TN_I32);
    cr_assert_eq(((int32_t *)sum->data)[1], 28);
    FAILS(tn_add(i, i, .alpha = 0.5), TN_ERR_DTYPE, "int32");
    HOLDS(tn_sum_dim_IntList(tn_reshape(FLOATS(1, 2, 3, 4), TN_INTS(2, 2)), TN_INTS(-1)), 3, 7);
}

/* ---- errors ---------------------------------------------------------------------------------- */
Test(calls, the_first_error_of_an_expression_stays)
{
    tn_tensor *a = FLOATS(1, 2, 3), *b = FLOATS(1, 2);
    int line = __LINE__ + 1;
    tn_tensor *r = tn_relu(tn_mul(tn_add(a, b), tn_mm(a, a)));
    cr_assert_null(r);
    const tn_error *e = tn_error_last();
    cr_assert(strcmp(e->op, "aten::add.Tensor") == 0 || strcmp(e->op, "aten::mm") == 0, "%s",
              e->op);
    cr_assert_eq(e->line, line, "%d", e->line);
    cr_assert(strstr(e->file, "calls.c"), "%s", e->file);
    char first[1024];
    snprintf(first, sizeof first, "%s", e->message);
    cr_assert_null(tn_add(NULL, a));
    cr_assert_null(tn_mm(b, b));
    cr_assert_str_eq(tn_error_last()->message, first);
    tn_error_clear();
    cr_assert_eq(tn_error_last()->status, TN_OK);
    FAILS(tn_add(NULL, a), TN_ERR_ARGUMENT, "self");
    FAILS(tn_add(a, NULL), TN_ERR_ARGUMENT, "other");
    FAILS(tn_add_out(a, a, NULL), TN_ERR_ARGUMENT, "out");
    FAILS(tn_cat(TN_TENSORS(a, NULL)), TN_ERR_ARGUMENT, "tensors[1]");
    HOLDS(a, 1, 2, 3);
}

Test(calls, the_record_says_who_and_where)
{
    tn_tensor *x = FLOATS(1, 2, 3), *result = x, *i = tn_full(TN_INTS(1), 9, .dtype = TN_I64);
    cr_assert_null(tn_index_select(x, 0, i));
    cr_assert_str_eq(tn_error_last()->op, "aten::index_select");
    cr_assert_eq(strncmp(tn_error_last()->plugin, "cpu ", 4), 0, "a kernel of cpu raised it: '%s'",
                 tn_error_last()->plugin);
    tn_error_clear();
    cr_assert_null(tn_index_select(x, 3, i));
    cr_assert_str_eq(tn_error_last()->plugin, "", "the shape rule raised it");
    HAS("dim 3");
    HAS("[-1, 0]");
    tn_error_clear();
    cr_assert_eq(tn_call_index_select(x, 1, i, &result), TN_ERR_INDEX);
    cr_assert_null(result);
    HAS("dim 1");
    cr_assert_eq(tn_call_index_select(x, 2, i, &result), TN_ERR_INDEX);
    HAS("dim 2"); /* a call with a status overwrites the record */
    const tn_op *op = tn_op_find("index_select");
    struct tn_index_select_args f;
    tn_op_frame_init(op, &f);
    cr_assert_eq(tn_op_call_at(op, &f, "somewhere.c", 77), TN_ERR_ARGUMENT);
    HAS("self");
    cr_assert_str_eq(tn_error_last()->file, "somewhere.c");
    cr_assert_eq(tn_error_last()->line, 77);
    cr_assert_str_eq(tn_error_last()->op, "aten::index_select");
}

Test(calls, devices_do_not_mix)
{
    tn_tensor *x = FLOATS(1, 2, 3),
              *m = tn_empty_memory_format(TN_INTS(3), .dtype = TN_F32, .device = {TN_META, 0});
    tn_tensor *number = tn_scalar_tensor(2.0);
    cr_assert_not_null(m, "%s", tn_error_last()->message);
    FAILS(tn_add(x, m), TN_ERR_DEVICE, "meta");
    FAILS(tn_add_(x, m), TN_ERR_DEVICE, "meta");
    FAILS(tn_add_out(x, x, m), TN_ERR_DEVICE, "meta");
    FAILS(tn_add_out(m, m, x), TN_ERR_DEVICE, "meta");
    FAILS(tn_cat(TN_TENSORS(x, m)), TN_ERR_DEVICE, "meta");
    FAILS(tn_index_select(m, 0, tn_full(TN_INTS(1), 0, .dtype = TN_I64)), TN_ERR_DEVICE, "cpu");
    FAILS(tn_empty_memory_format(TN_INTS(1), .device = {7, 0}), TN_ERR_DEVICE, "device type 7");
    FAILS(tn_empty_memory_format(TN_INTS(1), .device = {TN_CUDA, 0}), TN_ERR_DEVICE,
          tn_op_server(tn_op_find("aten::add.Tensor"), "CUDA", NULL)[0] ? "CUDA" : "cuda");
    tn_tensor *sum = tn_add(m, number); /* a 0-dim host tensor is a number */
    cr_assert_not_null(sum, "%s", tn_error_last()->message);
    cr_assert_eq(sum->device.type, TN_META);
    HOLDS(x, 1, 2, 3);
}

Test(calls, a_dtype_that_does_not_exist)
{
    tn_tensor *x = FLOATS(1, 2), *out = tn_zeros(((tn_ints){NULL, 0}), .dtype = TN_F32);
    static const int bad[] = {12, 99, -2, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        FAILS(tn_sum(x, .dtype = bad[i]), TN_ERR_DTYPE, "dtype");
        FAILS(tn_sum_out(x, out, .dtype = bad[i]), TN_ERR_DTYPE, "dtype");
        FAILS(tn_zeros(TN_INTS(1), .dtype = bad[i]), TN_ERR_DTYPE, "dtype");
        FAILS(tn__to_copy(x, .dtype = bad[i]), TN_ERR_DTYPE, "dtype");
    }
}

/* ---- in place and out= ----------------------------------------------------------------------- */
Test(calls, writes_are_counted_through_every_view)
{
    tn_tensor *x = FLOATS(1, 2, 3, 4), *view = tn_slice(x, .end = {2, 1}),
              *out = FLOATS(0, 0, 0, 0);
    cr_assert_not_null(view, "%s", tn_error_last()->message);
    uint32_t v = tn_tensor_version(x);
    cr_assert_eq(tn_add_(view, view), view);
    HOLDS(x, 2, 4, 3, 4);
    cr_assert_eq(tn_tensor_version(x), v + 1);
    cr_assert_eq(tn_tensor_version(view), v + 1);
    cr_assert_not_null(tn_add(x, x));
    cr_assert_eq(tn_tensor_version(x), v + 1, "reading does not count");
    v = tn_tensor_version(out);
    cr_assert_eq(tn_add_out(x, x, out), out);
    cr_assert_eq(tn_tensor_version(out), v + 1);
    cr_assert_not_null(tn__softmax_out(x, 0, false, out));
    cr_assert_eq(tn_tensor_version(out), v + 2);
    FAILS(tn_add_out(x, FLOATS(1, 2, 3), out), TN_ERR_ARGUMENT, "3");
    FAILS(tn_add_(out, FLOATS(1, 2, 3)), TN_ERR_ARGUMENT, "3");
    cr_assert_eq(tn_tensor_version(out), v + 2, "nothing was written");
}

static void unchanged(const tn_tensor *t, int64_t ndim, const int64_t *sizes, uint32_t version)
{
    cr_assert_eq(t->ndim, ndim);
    for (int64_t d = 0; d < ndim; d++)
        cr_assert_eq(t->sizes[d], sizes[d]);
    cr_assert_eq(tn_tensor_version(t), version);
}

Test(calls, an_out_of_no_elements_is_resized_and_any_other_is_not)
{
    tn_tensor *x = FLOATS(1, 2, 3), *empty = tn_empty_memory_format(TN_INTS(0, 5), .dtype = TN_F32);
    tn_tensor *wrong = FLOATS(7, 7);
    cr_assert_eq(tn_add_out(x, x, empty), empty);
    HOLDS(empty, 2, 4, 6);
    cr_assert_eq(empty->ndim, 1);
    FAILS(tn_add_out(x, x, wrong), TN_ERR_ARGUMENT, "[2]");
    HOLDS(wrong, 7, 7);
    tn_tensor *ints = tn_zeros(TN_INTS(3), .dtype = TN_I32),
              *none = tn_zeros(TN_INTS(0), .dtype = TN_I32);
    FAILS(tn_add_out(x, x, ints), TN_ERR_DTYPE, "int32");
    FAILS(tn_add_out(x, x, none), TN_ERR_DTYPE, "int32");
    FAILS(tn_add_(ints, x), TN_ERR_DTYPE, "int32");
    unchanged(none, 1, (int64_t[]){0}, 0);
    tn_tensor *wide = tn_zeros(TN_INTS(3), .dtype = TN_F64);
    cr_assert_eq(tn_add_out(x, x, wide), wide);
    cr_assert_eq(((double *)wide->data)[2], 6);
}

Test(calls, a_refused_out_keeps_its_shape)
{
    tn_tensor *x = FLOATS(1, 2, 3, 4), *head = tn_slice(x, .end = {0, 1});
    cr_assert_eq(head->numel, 0);
    uint32_t version = tn_tensor_version(x);
    FAILS(tn_add_out(tn_slice(x, .start = {1, 1}), tn_slice(x, .start = {1, 1}), head),
          TN_ERR_OVERLAP, "memory");
    unchanged(head, 1, (int64_t[]){0}, version);
    FAILS(tn_index_select_out(tn_slice(x, .start = {1, 1}), 0,
                              tn_full(TN_INTS(2), 0, .dtype = TN_I64), head),
          TN_ERR_OVERLAP, "memory");
    unchanged(head, 1, (int64_t[]){0}, version);
    tn_tensor *m = tn_reshape(x, TN_INTS(2, 2)), *values = tn_zeros(TN_INTS(0), .dtype = TN_F32);
    tn_tensor *indices = tn_zeros(TN_INTS(3), .dtype = TN_I64), *results[2] = {m, m};
    cr_assert_eq(tn_call_max_dim_max(m, 0, false, values, indices, &results[0], &results[1]),
                 TN_ERR_ARGUMENT);
    HAS("max_values");
    cr_assert(!results[0] && !results[1]);
    unchanged(values, 1, (int64_t[]){0}, 0);
    cr_assert_eq(tn_call_max_dim_max(m, 0, false, values, values, &results[0], &results[1]),
                 TN_ERR_OVERLAP);
    unchanged(values, 1, (int64_t[]){0}, 0);
    HOLDS(x, 1, 2, 3, 4);
}

Test(calls, written_memory_is_not_shared_with_what_is_read)
{
    tn_tensor *x = FLOATS(1, 2, 3, 4, 5), *head = tn_slice(x, .end = {4, 1}),
              *tail = tn_slice(x, .start = {1, 1});
    FAILS(tn_add_(head, tail), TN_ERR_OVERLAP, "memory");
    FAILS(tn_add_out(head, head, tail), TN_ERR_OVERLAP, "memory");
    FAILS(tn_cat_out(TN_TENSORS(tn_slice(x, .end = {2, 1}), tn_slice(x, .start = {3, 1})), head),
          TN_ERR_OVERLAP, "memory");
    FAILS(tn_add_(tn_expand(tn_slice(x, .end = {1, 1}), TN_INTS(3)), FLOATS(1, 1, 1)),
          TN_ERR_OVERLAP, "one memory location");
    HOLDS(x, 1, 2, 3, 4, 5);
    cr_assert_eq(tn_add_(x, x), x);
    HOLDS(x, 2, 4, 6, 8, 10);
    cr_assert_eq(tn_add_out(x, x, x), x);
    HOLDS(x, 4, 8, 12, 16, 20);
    tn_tensor *even = tn_slice(x, .end = {4, 1}, .step = 2),
              *odd = tn_slice(x, .start = {1, 1}, .step = 2);
    cr_assert_eq(tn_add_(even, odd), even, "%s", tn_error_last()->message);
    HOLDS(x, 12, 8, 28, 16, 20);
}

Test(calls, a_dtype_asked_for_is_the_dtype_of_out)
{
    tn_tensor *x = tn_reshape(FLOATS(1, 2, 3, 4), TN_INTS(2, 2)),
              *f32 = tn_zeros(TN_INTS(2), .dtype = TN_F32);
    tn_tensor *f64 = tn_zeros(TN_INTS(2), .dtype = TN_F64),
              *meta = tn_zeros(TN_INTS(2, 2), .device = {TN_META, 0});
    tn_tensor *meta_out =
        tn_empty_memory_format(TN_INTS(2), .dtype = TN_F32, .device = {TN_META, 0});
    FAILS(tn_sum_IntList_out(x, TN_INTS(0), f32, .dtype = TN_F64), TN_ERR_DTYPE, "float64");
    FAILS(tn_mean_out(x, TN_INTS(0), f32, .dtype = TN_F64), TN_ERR_DTYPE, "float64");
    FAILS(tn_mean_out(x, TN_INTS(0), f64, .dtype = TN_F32), TN_ERR_DTYPE, "float32");
    FAILS(tn_prod_int_out(x, 0, f64, .dtype = TN_F32), TN_ERR_DTYPE, "float32");
    FAILS(tn_sum_IntList_out(meta, TN_INTS(0), meta_out, .dtype = TN_F64), TN_ERR_DTYPE, "float64");
    cr_assert_eq(tn_sum_IntList_out(x, TN_INTS(0), f64, .dtype = TN_F64), f64, "%s",
                 tn_error_last()->message);
    cr_assert_eq(((double *)f64->data)[1], 6);
    cr_assert_eq(tn_sum_IntList_out(x, TN_INTS(0), f64), f64, "%s", tn_error_last()->message);
}

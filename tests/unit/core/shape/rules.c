/* Shape rules: what they refuse, in which words; what they give. On meta and on the CPU alike,
 * since both ask the same rule. */
#include <criterion/criterion.h>
#include <string.h>

#include <tenon/ops.h>
#include <tenon/runtime.h>
#include <tenon/tensor.h>

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

TestSuite(rules, .init = begin, .fini = end, .timeout = 60);

static const tn_ints none = {NULL, 0};
static const tn_device devices[] = {{TN_CPU, 0}, {TN_META, 0}};

static void fails(int line, const tn_tensor *t, tn_status status, const char *a, const char *b)
{
    cr_assert_null(t, "line %d: it succeeded", line);
    const tn_error *e = tn_error_last();
    cr_assert_eq(e->status, status, "line %d: %s: %s", line, tn_status_name(e->status), e->message);
    cr_assert(strstr(e->message, a), "line %d: '%s' is not in: %s", line, a, e->message);
    cr_assert(strstr(e->message, b), "line %d: '%s' is not in: %s", line, b, e->message);
    cr_assert_null(strchr(e->message, '\n'));
    cr_assert_neq(e->message[0], 0);
    tn_error_clear();
}
#define FAILS(t, status, a, b) fails(__LINE__, t, status, a, b)

static void gives(int line, const tn_tensor *t, tn_dtype dtype, tn_ints sizes)
{
    cr_assert_not_null(t, "line %d: %s", line, tn_error_last()->message);
    cr_assert_eq(t->dtype, dtype, "line %d: dtype %d", line, t->dtype);
    cr_assert_eq(t->ndim, sizes.len, "line %d: %d dimensions", line, t->ndim);
    for (int d = 0; d < t->ndim; d++)
        cr_assert_eq(t->sizes[d], sizes.data[d], "line %d: size %d", line, d);
}
#define GIVES(t, dtype, sizes) gives(__LINE__, t, dtype, sizes)

static tn_tensor *made(tn_device device, tn_dtype dtype, tn_ints sizes)
{
    tn_tensor *t = tn_zeros(sizes, .dtype = dtype, .device = device);
    cr_assert_not_null(t, "%s", tn_error_last()->message);
    return t;
}

#define FOR_DEVICES(d)                                                                             \
    for (int i_ = 0; i_ < 2; i_++)                                                                 \
        for (tn_device d = devices[i_], *once_ = &d; once_; once_ = NULL)

Test(rules, dims_out_of_range)
{
    FOR_DEVICES(d)
    {
        tn_tensor *x = made(d, TN_F32, TN_INTS(2, 3)), *scalar = made(d, TN_F32, none),
                  *i = made(d, TN_I64, TN_INTS(1));
        FAILS(tn_sum_dim_IntList(x, TN_INTS(2)), TN_ERR_INDEX, "dim 2", "[-2, 1]");
        FAILS(tn_sum_dim_IntList(x, TN_INTS(-3)), TN_ERR_INDEX, "dim -3", "[-2, 1]");
        FAILS(tn_sum_dim_IntList(x, TN_INTS(1, -1)), TN_ERR_ARGUMENT, "dim 1", "twice");
        FAILS(tn_sum_dim_IntList(scalar, TN_INTS(1)), TN_ERR_INDEX, "dim 1", "[-1, 0]");
        FAILS(tn_sum_dim_IntList(x, TN_INTS(INT64_MIN)), TN_ERR_INDEX, "-9223372036854775808",
              "[-2, 1]");
        FAILS(tn_amax(x, .dim = TN_INTS(INT64_MAX)), TN_ERR_INDEX, "9223372036854775807",
              "[-2, 1]");
        FAILS(tn_argmax(x, .dim = {5, 1}), TN_ERR_INDEX, "dim 5", "[-2, 1]");
        FAILS(tn_prod_dim_int(x, 2), TN_ERR_INDEX, "dim 2", "[-2, 1]");
        FAILS(tn_any_dim(x, 2), TN_ERR_INDEX, "dim 2", "[-2, 1]");
        FAILS(tn__softmax(x, 2, false), TN_ERR_INDEX, "dim 2", "[-2, 1]");
        FAILS(tn_cat(TN_TENSORS(x, x), .dim = 2), TN_ERR_INDEX, "dim 2", "[-2, 1]");
        FAILS(tn_index_select(x, -3, i), TN_ERR_INDEX, "dim -3", "[-2, 1]");
        FAILS(tn_gather(x, 2, i), TN_ERR_INDEX, "dim 2", "[-2, 1]");
    }
}

Test(rules, reductions)
{
    FOR_DEVICES(d)
    {
        tn_tensor *x = made(d, TN_F32, TN_INTS(2, 3, 4)), *b = made(d, TN_BOOL, TN_INTS(2, 3)),
                  *u = made(d, TN_U8, TN_INTS(2));
        tn_tensor *c = made(d, TN_C64, TN_INTS(2)), *empty = made(d, TN_F32, TN_INTS(2, 0)),
                  *scalar = made(d, TN_I32, none);
        GIVES(tn_sum_dim_IntList(x, TN_INTS(-1, 0)), TN_F32, TN_INTS(3));
        GIVES(tn_sum_dim_IntList(x, TN_INTS(1), .keepdim = true), TN_F32, TN_INTS(2, 1, 4));
        GIVES(tn_sum_dim_IntList(x, none), TN_F32, none);
        GIVES(tn_sum_dim_IntList(x, none, .keepdim = true), TN_F32, TN_INTS(1, 1, 1));
        GIVES(tn_sum(b), TN_I64, none);
        GIVES(tn_sum(u), TN_I64, none);
        GIVES(tn_sum(b, .dtype = TN_F16), TN_F16, none);
        GIVES(tn_sum_dim_IntList(scalar, TN_INTS(-1), .keepdim = true), TN_I64, none);
        GIVES(tn_prod_dim_int(x, 2), TN_F32, TN_INTS(2, 3));
        GIVES(tn_amax(x), TN_F32, none);
        GIVES(tn_argmax(x), TN_I64, none);
        GIVES(tn_argmax(x, .dim = {-1, 1}, .keepdim = true), TN_I64, TN_INTS(2, 3, 1));
        GIVES(tn_any(u), TN_U8, none);
        GIVES(tn_all_dim(x, 0), TN_BOOL, TN_INTS(3, 4));
        GIVES(tn_sum(empty), TN_F32, none);
        GIVES(tn_amax(empty, .dim = TN_INTS(0)), TN_F32, TN_INTS(0));
        FAILS(tn_amax(empty), TN_ERR_INDEX, "dim 1", "[2, 0]");
        FAILS(tn_amax(empty, .dim = TN_INTS(1)), TN_ERR_INDEX, "dim 1", "[2, 0]");
        FAILS(tn_argmin(empty), TN_ERR_INDEX, "dim 1", "[2, 0]");
        FAILS(tn_max(empty), TN_ERR_INDEX, "dim 1", "[2, 0]");
        FAILS(tn_amax(c), TN_ERR_UNSUPPORTED, "complex64", "");
        FAILS(tn_mean(u), TN_ERR_DTYPE, "uint8", "dtype=");
        FAILS(tn_mean(x, .dtype = TN_I32), TN_ERR_DTYPE, "int32", "dtype=");
        GIVES(tn_mean(u, .dtype = TN_F64), TN_F64, none);
    }
}

Test(rules, matrices)
{
    FOR_DEVICES(d)
    {
        tn_tensor *a = made(d, TN_F32, TN_INTS(2, 3)), *b = made(d, TN_F32, TN_INTS(3, 5)),
                  *v = made(d, TN_F32, TN_INTS(3));
        tn_tensor *f64 = made(d, TN_F64, TN_INTS(3, 5)), *none_ = made(d, TN_F32, TN_INTS(3, 0));
        tn_tensor *batch = made(d, TN_F32, TN_INTS(4, 2, 3)),
                  *other = made(d, TN_F32, TN_INTS(5, 3, 2));
        GIVES(tn_mm(a, b), TN_F32, TN_INTS(2, 5));
        GIVES(tn_mm(a, none_), TN_F32, TN_INTS(2, 0));
        FAILS(tn_mm(a, a), TN_ERR_ARGUMENT, "[2, 3]", "3 columns against 2 rows");
        FAILS(tn_mm(a, v), TN_ERR_ARGUMENT, "mat2", "[3]");
        FAILS(tn_mm(a, f64), TN_ERR_DTYPE, "float32", "float64");
        FAILS(tn_bmm(batch, other), TN_ERR_ARGUMENT, "5", "4");
        FAILS(tn_bmm(batch, b), TN_ERR_ARGUMENT, "mat2", "3 dimensions");
        GIVES(tn_addmm(made(d, TN_F32, TN_INTS(5)), a, b), TN_F32, TN_INTS(2, 5));
        GIVES(tn_addmm(made(d, TN_F32, TN_INTS(2, 1)), a, b), TN_F32, TN_INTS(2, 5));
        GIVES(tn_addmm(made(d, TN_F32, none), a, b), TN_F32, TN_INTS(2, 5));
        FAILS(tn_addmm(made(d, TN_F32, TN_INTS(2)), a, b), TN_ERR_ARGUMENT, "[2]", "[2, 5]");
        FAILS(tn_addmm(made(d, TN_F32, TN_INTS(1, 2, 5)), a, b), TN_ERR_ARGUMENT, "[1, 2, 5]",
              "[2, 5]");
        FAILS(tn_addmm(f64, a, b), TN_ERR_DTYPE, "self", "float64");
        FAILS(tn_addmm_(v, a, b), TN_ERR_ARGUMENT, "[3]", "[2, 5]");
    }
}

Test(rules, joining)
{
    FOR_DEVICES(d)
    {
        tn_tensor *a = made(d, TN_F32, TN_INTS(2, 3)), *b = made(d, TN_I64, TN_INTS(2, 4)),
                  *legacy = made(d, TN_F32, TN_INTS(0));
        GIVES(tn_cat(TN_TENSORS(a, b), .dim = -1), TN_F32, TN_INTS(2, 7));
        GIVES(tn_cat(TN_TENSORS(legacy, a)), TN_F32, TN_INTS(2, 3));
        GIVES(tn_cat(TN_TENSORS(legacy, legacy)), TN_F32, TN_INTS(0));
        FAILS(tn_cat(TN_TENSORS(a, b)), TN_ERR_ARGUMENT, "tensors[1] has size 4 in dim 1",
              "expected 3");
        FAILS(tn_cat(TN_TENSORS(a, made(d, TN_F32, TN_INTS(2)))), TN_ERR_ARGUMENT, "tensors[1]",
              "[2, 3]");
        FAILS(tn_cat(TN_TENSORS(a, made(d, TN_F32, none))), TN_ERR_ARGUMENT, "tensors[1]",
              "no dimensions");
        FAILS(tn_cat(((tn_tensors){NULL, 0})), TN_ERR_ARGUMENT, "tensors", "empty");
    }
}

Test(rules, indexing)
{
    FOR_DEVICES(d)
    {
        tn_tensor *x = made(d, TN_F32, TN_INTS(2, 3)), *i = made(d, TN_I64, TN_INTS(2, 2)),
                  *f = made(d, TN_F32, TN_INTS(2));
        tn_tensor *scalar = made(d, TN_F32, none);
        GIVES(tn_index_select(x, 1, made(d, TN_I32, TN_INTS(5))), TN_F32, TN_INTS(2, 5));
        GIVES(tn_index_select(x, 0, made(d, TN_I64, none)), TN_F32, TN_INTS(1, 3));
        GIVES(tn_index_select(scalar, 0, made(d, TN_I64, TN_INTS(1))), TN_F32, none);
        FAILS(tn_index_select(scalar, 0, made(d, TN_I64, TN_INTS(2))), TN_ERR_INDEX, "0-dim", "2");
        FAILS(tn_index_select(x, 0, i), TN_ERR_INDEX, "index", "[2, 2]");
        FAILS(tn_index_select(x, 0, f), TN_ERR_DTYPE, "index", "float32");
        GIVES(tn_gather(x, 0, i), TN_F32, TN_INTS(2, 2));
        GIVES(tn_gather(x, 1, made(d, TN_I64, TN_INTS(1, 9))), TN_F32, TN_INTS(1, 9));
        GIVES(tn_gather(x, 1, made(d, TN_F32, TN_INTS(0))), TN_F32, TN_INTS(0));
        FAILS(tn_gather(x, 0, made(d, TN_I64, TN_INTS(1, 9))), TN_ERR_ARGUMENT, "[1, 9]", "[2, 3]");
        FAILS(tn_gather(x, 0, made(d, TN_I64, TN_INTS(2))), TN_ERR_ARGUMENT, "[2]", "[2, 3]");
        FAILS(tn_gather(x, 0, made(d, TN_I32, TN_INTS(1, 1))), TN_ERR_DTYPE, "index", "int32");
        GIVES(tn_embedding(x, i), TN_F32, TN_INTS(2, 2, 3));
        FAILS(tn_embedding(f, i), TN_ERR_ARGUMENT, "weight", "[2]");
        FAILS(tn_embedding(x, f), TN_ERR_DTYPE, "indices", "float32");
        FAILS(tn__softmax(i, 0, false), TN_ERR_UNSUPPORTED, "int64", "");
        FAILS(tn__softmax(x, 0, true), TN_ERR_DTYPE, "half_to_float", "float32");
        FAILS(tn_masked_fill_Scalar(x, f, 1), TN_ERR_DTYPE, "mask", "float32");
        FAILS(tn_div_Tensor_mode(x, x, "round"), TN_ERR_ARGUMENT, "'round'", "'floor'");
    }
}

/* What a list of indices names is the same on every device. */
Test(rules, lists_of_indices)
{
    FOR_DEVICES(d)
    {
        tn_tensor *x = made(d, TN_F32, TN_INTS(4, 3, 2)), *i = made(d, TN_I64, TN_INTS(5)),
                  *j = made(d, TN_I32, TN_INTS(2, 1)), *m = made(d, TN_BOOL, TN_INTS(4, 3));
        tn_tensor *v = made(d, TN_F32, TN_INTS(3)), *number = made(d, TN_F32, none);
        GIVES(tn_index(x, TN_TENSORS(i)), TN_F32, TN_INTS(5, 3, 2));
        GIVES(tn_index(x, TN_TENSORS(NULL, i, j)), TN_F32, TN_INTS(4, 2, 5));
        GIVES(tn_index(x, TN_TENSORS(i, NULL, j)), TN_F32, TN_INTS(2, 5, 3));
        FAILS(tn_index(x, TN_TENSORS(NULL, m)), TN_ERR_INDEX, "[4, 3]", "mask size 4");
        FAILS(tn_index(x, TN_TENSORS(m, i, i)), TN_ERR_INDEX, "too many", "indices[2]");
        FAILS(tn_index(x, TN_TENSORS(v)), TN_ERR_DTYPE, "indices[0]", "float32");
        GIVES(tn_index_put(x, TN_TENSORS(m), number), TN_F32, TN_INTS(4, 3, 2));
        FAILS(tn_index_put(x, TN_TENSORS(i), v), TN_ERR_ARGUMENT, "[3]", "[5, 3, 2]");
        GIVES(tn_masked_scatter(x, made(d, TN_BOOL, TN_INTS(2, 1, 1, 1)), x), TN_F32,
              TN_INTS(2, 4, 3, 2));
        GIVES(tn_take(x, j = made(d, TN_I64, TN_INTS(2, 1))), TN_F32, TN_INTS(2, 1));
        FAILS(tn_put(x, j, v), TN_ERR_ARGUMENT, "3 elements", "index 2");
        FAILS(tn_index_copy(x, 0, made(d, TN_I32, TN_INTS(1)), x), TN_ERR_DTYPE, "int64", "int32");
        FAILS(tn_index_fill_int_Scalar(x, 3, i, 1), TN_ERR_INDEX, "dim 3", "[-3, 2]");
        FAILS(tn_scatter_reduce_two(v, 0, i, v, "median"), TN_ERR_ARGUMENT, "median", "'sum'");
        FAILS(tn_index_reduce(v, 0, i, v, "sum"), TN_ERR_ARGUMENT, "'sum'", "it may be 'prod'");
    }
}

Test(rules, many_dimensions)
{
    int64_t ones[64];
    for (int d = 0; d < 64; d++)
        ones[d] = 1;
    FOR_DEVICES(d)
    {
        tn_tensor *x = made(d, TN_F32, (tn_ints){ones, 64});
        GIVES(tn_sum_dim_IntList(x, TN_INTS(-64, 63)), TN_F32, ((tn_ints){ones, 62}));
        GIVES(tn_sum(x), TN_F32, none);
        GIVES(tn_add(x, x), TN_F32, ((tn_ints){ones, 64}));
        GIVES(tn_cat(TN_TENSORS(x, x), .dim = 63)->ndim == 64 ? x : NULL, TN_F32,
              ((tn_ints){ones, 64}));
        FAILS(tn_embedding(made(d, TN_F32, TN_INTS(2, 2)), made(d, TN_I64, (tn_ints){ones, 64})),
              TN_ERR_ARGUMENT, "indices", "64");
        FAILS(tn_unsqueeze(x, 0), TN_ERR_ARGUMENT, "64", "");
        FAILS(tn_stack(TN_TENSORS(x, x)), TN_ERR_ARGUMENT, "64", "");
    }
}

Test(rules, sizes_that_do_not_fit)
{
    tn_tensor *huge = tn_expand(made(devices[1], TN_U8, TN_INTS(1)), TN_INTS(INT64_C(1) << 62));
    cr_assert_not_null(huge, "%s", tn_error_last()->message);
    FAILS(tn_cat(TN_TENSORS(huge, huge)), TN_ERR_OVERFLOW, "overflow", "dim 0");
    FAILS(tn_add(tn_unsqueeze(huge, 1), made(devices[1], TN_U8, TN_INTS(1, 4))), TN_ERR_OVERFLOW,
          "overflow", "");
    FAILS(tn__to_copy(huge, .dtype = TN_F64), TN_ERR_OVERFLOW, "overflow", "");
}

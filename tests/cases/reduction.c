/* reduction.c - the case bank's reductions (BB-red-*), through the public calls. Each test holds
 * what the case expects of sum, mean, prod, amax, amin, any, all, var, softmax and log_softmax, and
 * BB-red-11 of sort, argsort, topk and kthvalue. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/autograd.h>
#include <tenon/half.h>
#include <tenon/ops.h>
#include <tenon/runtime.h>
#include <tenon/threads.h>

static void setup(void)
{
    cr_assert_eq(tn_plugins_load_default(), TN_OK);
}

TestSuite(cases_reduction, .init = setup);

static const tn_ints no_dims = {NULL, 0};

static double element(const tn_tensor *t, int64_t i)
{
    const char *p = t->data;
    switch (t->dtype) {
    case TN_BOOL:
        return ((const uint8_t *)p)[i];
    case TN_F16:
        return tn_f32_from_f16(((const uint16_t *)(const void *)p)[i]);
    case TN_BF16:
        return tn_f32_from_bf16(((const uint16_t *)(const void *)p)[i]);
    case TN_F32:
        return ((const float *)(const void *)p)[i];
    default:
        return NAN;
    }
}

/* Every element of a contiguous t. */
static void expect_all(const tn_tensor *t, double want, const char *what)
{
    cr_assert_not_null(t, "%s: %s", what, tn_error_last()->message);
    cr_assert(t->flags & TN_TENSOR_CONTIGUOUS);
    for (int64_t i = 0; i < t->numel; i++)
        cr_assert_eq(element(t, i), want, "%s [%lld]: %.9g, expected %.9g", what, (long long)i,
                     element(t, i), want);
}

/* A tensor of f32, f16 or bf16 numbers that repeat with a period. Goes with the scope. */
static tn_tensor *tensor(tn_dtype dtype, tn_ints sizes, const float *values, int64_t period)
{
    tn_tensor *t;
    tn_device cpu = {TN_CPU, 0};
    cr_assert_eq(tn_tensor_new(sizes.len, sizes.data, dtype, cpu, &t), TN_OK);
    for (int64_t i = 0; i < t->numel; i++) {
        float v = values[i % period];
        if (dtype == TN_F32)
            ((float *)t->data)[i] = v;
        else
            ((uint16_t *)t->data)[i] = dtype == TN_F16 ? tn_f16_from_f32(v) : tn_bf16_from_f32(v);
    }
    return t;
}

static tn_tensor *view(tn_tensor *base, tn_ints sizes, tn_ints strides)
{
    tn_tensor *t;
    cr_assert_eq(tn_tensor_view(base, sizes.len, sizes.data, strides.data, 0, &t), TN_OK);
    tn_release(base);
    return t;
}

static void expect_shape(const tn_tensor *t, tn_ints want, const char *what)
{
    cr_assert_not_null(t, "%s: %s", what, tn_error_last()->message);
    cr_assert_eq(t->ndim, want.len, "%s", what);
    for (int d = 0; d < t->ndim; d++)
        cr_assert_eq(t->sizes[d], want.data[d], "%s", what);
}

/* The rule is PyTorch's: an empty list reduces everything, for every operator, keepdim and out=
 * alike. */
Test(cases_reduction, BB_red_01)
{
    const float values[] = {1, 2, 3, 4};
    tn_tensor *x = tensor(TN_F32, TN_INTS(2, 2), values, 4);
    tn_tensor *out = tensor(TN_F32, no_dims, values, 4), *meta;
    tn_device device = {TN_META, 0};
    cr_assert_eq(tn_tensor_new(2, x->sizes, TN_F32, device, &meta), TN_OK);
    TN_SCOPE {
        expect_all(tn_sum_dim_IntList(x, no_dims), 10, "sum");
        expect_all(tn_mean_dim(x, no_dims), 2.5, "mean");
        expect_all(tn_amax(x, .dim = no_dims), 4, "amax");
        expect_all(tn_amin(x, .dim = no_dims), 1, "amin");
        expect_all(tn_prod(x), 24, "prod");
        expect_all(tn_any(x), 1, "any");
        expect_all(tn_all(x), 1, "all");
        tn_ints ones = TN_INTS(1, 1);
        expect_shape(tn_sum_dim_IntList(x, no_dims, .keepdim = true), ones, "sum keepdim");
        expect_shape(tn_mean_dim(x, no_dims, .keepdim = true), ones, "mean keepdim");
        expect_shape(tn_amax(x, .dim = no_dims, .keepdim = true), ones, "amax keepdim");
        expect_shape(tn_amin(x, .dim = no_dims, .keepdim = true), ones, "amin keepdim");
        expect_shape(tn_sum_dim_IntList(meta, no_dims), no_dims, "sum on meta");
        expect_shape(tn_amax(meta, .dim = no_dims, .keepdim = true), ones, "amax on meta");
        expect_all(tn_sum_IntList_out(x, no_dims, out), 10, "sum.out");
        expect_all(tn_mean_out(x, no_dims, out), 2.5, "mean.out");
        expect_all(tn_amax_out(x, out, .dim = no_dims), 4, "amax.out");
        expect_all(tn_amin_out(x, out, .dim = no_dims), 1, "amin.out");
        expect_all(tn_nansum(x, .dim = no_dims), 10, "nansum");
        expect_shape(tn_nansum(x, .dim = no_dims, .keepdim = true), ones, "nansum keepdim");
        expect_shape(tn_nansum(meta, .dim = no_dims, .keepdim = true), ones, "nansum on meta");
        expect_all(tn_nansum_out(x, out, .dim = no_dims), 10, "nansum.out");
        expect_shape(tn_var_dim(x, no_dims), no_dims, "var");
        expect_shape(tn_var_dim(x, no_dims, .keepdim = true), ones, "var keepdim");
        expect_shape(tn_logsumexp(x, no_dims), no_dims, "logsumexp");
        expect_shape(tn_logsumexp(x, no_dims, .keepdim = true), ones, "logsumexp keepdim");
        expect_shape(tn_linalg_vector_norm(x, .dim = no_dims), no_dims, "vector_norm");
        expect_shape(tn_linalg_vector_norm(x, .dim = no_dims, .keepdim = true), ones,
                     "vector_norm keepdim");
    }
    tn_release(x);
    tn_release(out);
    tn_release(meta);
}

Test(cases_reduction, BB_red_04)
{
    const float values[] = {32000, 32000, -32000, -32000};
    float along_0[4 * 35];
    for (int i = 0; i < 4 * 35; i++)
        along_0[i] = values[i / 35];
    tn_tensor *v = tensor(TN_F16, TN_INTS(4), values, 4);
    tn_tensor *wide = view(tensor(TN_F16, TN_INTS(4), values, 4), TN_INTS(4, 3), TN_INTS(1, 0));
    tn_tensor *cube = tensor(TN_F16, TN_INTS(4, 5, 7), along_0, 4 * 35);
    TN_SCOPE {
        expect_all(tn_sum(v), 0, "sum()");
        expect_all(tn_sum_dim_IntList(v, TN_INTS(0)), 0, "sum(0)");
        expect_all(tn_sum_dim_IntList(wide, TN_INTS(0)), 0, "expanded");
        expect_all(tn_sum_dim_IntList(cube, TN_INTS(0)), 0, "cube over 0");
        expect_all(tn_sum_dim_IntList(cube, TN_INTS(0, 2)), 0, "cube over 0, 2");
    }
    tn_release(v);
    tn_release(wide);
    tn_release(cube);
}

Test(cases_reduction, BB_red_05)
{
    const float one = 1, zero = 0;
    tn_tensor *tall = tensor(TN_BF16, TN_INTS(4096, 2), &one, 1);
    tn_tensor *flat = tensor(TN_BF16, TN_INTS(2, 4096), &one, 1);
    tn_tensor *row = tensor(TN_BF16, TN_INTS(1000), &one, 1);
    tn_tensor *every_other =
        view(tensor(TN_F16, TN_INTS(8192), &one, 1), TN_INTS(4096), TN_INTS(2));
    tn_tensor *zeros = tensor(TN_BF16, TN_INTS(512), &zero, 1);
    TN_SCOPE {
        expect_all(tn_sum_dim_IntList(tall, TN_INTS(0)), 4096, "tall");
        expect_all(tn_sum_dim_IntList(flat, TN_INTS(1)), 4096, "flat");
        expect_all(tn_sum(row), 1000, "row");
        expect_all(tn_sum(every_other), 4096, "strided");
        expect_all(tn__softmax(zeros, 0, false), 0x1p-9, "softmax");
    }
    tn_release(tall);
    tn_release(flat);
    tn_release(row);
    tn_release(every_other);
    tn_release(zeros);
}

static void large_sums(int threads)
{
    const float one = 1, tenth = 0.1f;
    const int64_t n = 20000000;
    cr_assert_eq(tn_set_num_threads(threads), TN_OK);
    tn_tensor *columns = tensor(TN_F32, TN_INTS(n, 3), &one, 1);
    tn_tensor *transposed =
        view(tensor(TN_F32, TN_INTS(3, n), &one, 1), TN_INTS(n, 3), TN_INTS(1, n));
    tn_tensor *tenths = tensor(TN_F32, TN_INTS(1392640), &tenth, 1);
    TN_SCOPE {
        tn_tensor *row;
        cr_assert_eq(tn_tensor_view(columns, 1, &n, &(int64_t){1}, 0, &row), TN_OK);
        expect_all(tn_sum(row), 2e7, "sum of ones");
        tn_release(row);
        expect_all(tn_sum_dim_IntList(columns, TN_INTS(0)), 2e7, "sum(0)");
        expect_all(tn_mean_dim(columns, TN_INTS(0)), 1, "mean(0)");
        expect_all(tn_sum_dim_IntList(transposed, TN_INTS(0)), 2e7, "transposed sum(0)");
        expect_all(tn_mean_dim(transposed, TN_INTS(0)), 1, "transposed mean(0)");
        double got = element(tn_sum(tenths), 0), want = 139264.0020751953;
        cr_assert_leq(fabs(got - want) / 139264, 1e-6, "sum of tenths: %.9g", got);
    }
    tn_release(columns);
    tn_release(transposed);
    tn_release(tenths);
}

Test(cases_reduction, BB_red_06)
{
    large_sums(1);
    large_sums(4);
}

static void near(const tn_tensor *t, int64_t i, double want, double within, const char *what)
{
    cr_assert_not_null(t, "%s: %s", what, tn_error_last()->message);
    double got = element(t, i);
    cr_assert(fabs(got - want) <= within, "%s [%lld]: %.9g, expected %.9g", what, (long long)i, got,
              want);
}

Test(cases_reduction, BB_red_07)
{
    const float thousands[] = {1000, 1001, 1002, 1003};
    const double norms[] = {-0.88231606, -0.63022575, -0.37813545, -0.12604515,
                            0.12604515,  0.37813545,  0.63022575,  0.88231606};
    float steps[8];
    for (int k = 0; k < 8; k++)
        steps[k] = 8192 + (float)k / 1024;
    tn_tensor *a = tensor(TN_F32, TN_INTS(4), thousands, 4);
    tn_tensor *b = tensor(TN_F32, TN_INTS(8), steps, 8);
    TN_SCOPE {
        near(tn_var(a), 0, 1.6666667, 1.6666667e-6, "var of thousands");
        near(tn_var(b), 0, 5.7220458984375e-06, 5.7e-10, "var of small steps");
        near(tn_var_dim(b, TN_INTS(0)), 0, 5.7220458984375e-06, 5.7e-10, "var over a dim");
        tn_tensor *y = tn_layer_norm(b, TN_INTS(8), .eps = 1e-5);
        for (int k = 0; k < 8; k++)
            near(y, k, norms[k], 1e-3, "normalised");
        near(tn_mean(y), 0, 0, 1e-3, "their mean");
    }
    tn_release(a);
    tn_release(b);
}

/* What it says of var and layer_norm. batch_norm and group_norm are no operators yet. */
Test(cases_reduction, BB_red_08)
{
    const float pair[] = {1e30F, -1e30F};
    tn_tensor *x = tensor(TN_F32, TN_INTS(2), pair, 2);
    TN_SCOPE {
        expect_all(tn_var(x), INFINITY, "var");
        tn_tensor *y = tn_layer_norm(x, TN_INTS(2), .eps = 1e-5);
        near(y, 0, 1, 1e-5, "normalised");
        near(y, 1, -1, 1e-5, "normalised");
    }
    tn_release(x);
}

/* The gradient of a row of -inf alone is 0 here: the choice that the case prefers. */
static void logsumexp_of(tn_tensor *x)
{
    cr_assert_eq(tn_set_requires_grad(x, true), TN_OK);
    tn_tensor *y = tn_logsumexp(x, TN_INTS(1));
    cr_assert_not_null(y, "%s", tn_error_last()->message);
    cr_assert_eq(element(y, 0), -INFINITY);
    near(y, 1, 0.6931472, 1e-6, "logsumexp");
    cr_assert_eq(tn_backward_from(tn_sum(y)), TN_OK, "%s", tn_error_last()->message);
    const double expected[] = {0, 0, 0, 0.5, 0.5, 0};
    for (int i = 0; i < 6; i++)
        near(tn_grad(x), i, expected[i], 1e-6, "the gradient of logsumexp");
    cr_assert_eq(tn_set_requires_grad(x, false), TN_OK);
}

Test(cases_reduction, BB_red_13)
{
    const float values[] = {-INFINITY, -INFINITY, -INFINITY, 0, 0, -INFINITY},
                pair[] = {0, INFINITY};
    tn_tensor *x = tensor(TN_F32, TN_INTS(2, 3), values, 6);
    tn_tensor *inf = tensor(TN_F32, TN_INTS(2), pair, 2);
    TN_SCOPE {
        tn_tensor *s = tn__softmax(x, 1, false), *l = tn__log_softmax(x, 1, false);
        for (int i = 0; i < 3; i++) {
            cr_assert(isnan(element(s, i)));
            cr_assert(isnan(element(l, i)));
        }
        cr_assert_eq(element(s, 3), 0.5);
        cr_assert_eq(element(s, 4), 0.5);
        cr_assert_eq(element(s, 5), 0);
        cr_assert_float_eq(element(l, 3), -0.6931472, 1e-6);
        cr_assert_eq(element(l, 5), -INFINITY);
        tn_tensor *y = tn__softmax(inf, 0, false);
        cr_assert(isnan(element(y, 0)) && isnan(element(y, 1)));
        tn_tensor *none = tn_select(x, 0, 0);
        expect_all(tn_logaddexp(none, none), -INFINITY, "logaddexp");
        logsumexp_of(x);
    }
    tn_release(x);
    tn_release(inf);
}

/* Row 0 has one finite entry, at `place`; row 1 has none. */
static void one_hot(int64_t width, int64_t place)
{
    const float nothing = -INFINITY;
    tn_tensor *x = tensor(TN_F32, TN_INTS(2, width), &nothing, 1);
    ((float *)x->data)[place] = 0;
    TN_SCOPE {
        tn_tensor *s = tn__softmax(x, 1, false), *l = tn__log_softmax(x, 1, false);
        for (int64_t i = 0; i < width; i++) {
            cr_assert_eq(element(s, i), i == place ? 1 : 0);
            cr_assert_eq(element(l, i), i == place ? 0 : -INFINITY);
            cr_assert(isnan(element(s, width + i)));
            cr_assert(isnan(element(l, width + i)));
        }
    }
    tn_release(x);
}

Test(cases_reduction, BB_red_14)
{
    const int64_t widths[] = {1500, 1, 3, 31, 33, 1023, 1025};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        one_hot(widths[i], 0);
        one_hot(widths[i], widths[i] - 1);
    }
}

/* ---- NaN ranks above every number ------------------------------------------------------------ */
static void expect_order(const tn_tensor *values, const tn_tensor *indices, int64_t n,
                         const double *want, const int64_t *places)
{
    for (int64_t i = 0; values && i < n; i++)
        cr_assert(element(values, i) == want[i] || (isnan(element(values, i)) && isnan(want[i])),
                  "[%lld] is %g, expected %g", (long long)i, element(values, i), want[i]);
    for (int64_t i = 0; places && i < n; i++)
        cr_assert_eq(((const int64_t *)indices->data)[i], places[i], "index [%lld]", (long long)i);
}

static void six(tn_tensor *x, bool descending, const double *want, const int64_t *places)
{
    tn_tensor *values = NULL, *indices = NULL;
    cr_assert_eq(tn_call_sort_stable(x, 1, 0, descending, &values, &indices), TN_OK);
    expect_order(values, indices, 6, want, places);
    tn_release(values);
    tn_release(indices);
    cr_assert_eq(tn_call_argsort(x, 0, descending, &indices), TN_OK);
    expect_order(NULL, indices, 6, want, places);
    tn_release(indices);
}

static void best(tn_tensor *x, int64_t k, bool largest, const double *want)
{
    tn_tensor *values = NULL, *indices = NULL;
    cr_assert_eq(tn_call_topk(x, k, 0, largest, true, &values, &indices), TN_OK);
    expect_order(values, indices, k, want, NULL);
    for (int64_t i = 0; i < k; i++) {
        double named = element(x, ((const int64_t *)indices->data)[i]);
        cr_assert(named == want[i] || (isnan(named) && isnan(want[i])));
    }
    tn_release(values);
    tn_release(indices);
}

/* Every third of a thousand is NaN: all of them end up last, the numbers in order before them. */
static void thousand(void)
{
    float numbers[1000];
    for (int i = 0; i < 1000; i++)
        numbers[i] = i % 3 == 0 ? NAN : (float)(i * 7919 % 1000 - 500);
    tn_tensor *x = tensor(TN_F32, TN_INTS(1000), numbers, 1000), *values = NULL, *indices = NULL;
    cr_assert_eq(tn_call_sort(x, 0, false, &values, &indices), TN_OK);
    for (int64_t i = 0; i < 1000; i++) {
        cr_assert_eq(isnan(element(values, i)) != 0, i >= 666, "[%lld]", (long long)i);
        if (i > 0 && i < 666)
            cr_assert_leq(element(values, i - 1), element(values, i), "[%lld]", (long long)i);
    }
    tn_release(values);
    tn_release(indices);
    best(x, 5, true, (const double[]){NAN, NAN, NAN, NAN, NAN});
    tn_release(x);
}

Test(cases_reduction, BB_red_11)
{
    const float numbers[] = {NAN, 2, NAN, 1, -INFINITY, INFINITY};
    tn_tensor *x = tensor(TN_F32, TN_INTS(6), numbers, 6), *values = NULL, *indices = NULL;
    six(x, false, (const double[]){-INFINITY, 1, 2, INFINITY, NAN, NAN},
        (const int64_t[]){4, 3, 1, 5, 0, 2});
    six(x, true, (const double[]){NAN, NAN, INFINITY, 2, 1, -INFINITY},
        (const int64_t[]){0, 2, 5, 1, 3, 4});
    best(x, 3, true, (const double[]){NAN, NAN, INFINITY});
    best(x, 2, false, (const double[]){-INFINITY, 1});
    cr_assert_eq(tn_call_kthvalue(x, 5, 0, false, &values, &indices), TN_OK);
    cr_assert(isnan(element(values, 0)));
    tn_release(values);
    tn_release(indices);
    tn_release(x);
    thousand();
}

/* order.c - the ordering family on CPU: long rows against a comparison sort, ties, -0.0, k at its
 * ends, adversarial orders for topk, 1 and 2 threads, what is refused and in which words. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
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
    srand(1);
}

static void end(void)
{
    tn_scope_leave(&scope);
}

TestSuite(cpu_order, .init = begin, .fini = end);

static tn_tensor *made(const void *data, tn_dtype dtype, int64_t n)
{
    tn_tensor *t;
    cr_assert_eq(tn_tensor_from_data(data, dtype, 1, &n, &t), TN_OK);
    return t;
}

typedef struct pair {
    tn_tensor *values, *indices;
} pair;

static void drop(pair p)
{
    tn_release(p.values);
    tn_release(p.indices);
}

static pair sorted(tn_tensor *x, bool descending)
{
    pair p = {NULL, NULL};
    cr_assert_eq(tn_call_sort(x, -1, descending, &p.values, &p.indices), TN_OK, "%s",
                 tn_error_last()->message);
    return p;
}

/* ---- against a comparison sort --------------------------------------------------------------- */
typedef struct entry {
    double value;
    int64_t place;
} entry;
static bool reversed;

static int compare(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->value != y->value && !(isnan(x->value) && isnan(y->value))) {
        bool less = isnan(y->value) || (!isnan(x->value) && x->value < y->value);
        return less != reversed ? -1 : 1;
    }
    return x->place < y->place ? -1 : 1;
}

/* How the i-th of n elements looks: random, few different ones, sorted both ways, all equal. */
enum { RANDOM, FEW, RISING, FALLING, EQUAL, SPECIAL, KINDS };

static double element(int kind, int64_t i, int64_t n)
{
    const double specials[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0};
    switch (kind) {
    case RANDOM:
        return (rand() - RAND_MAX / 2) * 1e-3;
    case FEW:
        return rand() % 5 - 2;
    case RISING:
        return (double)i;
    case FALLING:
        return (double)(n - i);
    case EQUAL:
        return 7;
    default:
        return rand() % 2 ? specials[rand() % 5] : rand() % 100 - 50;
    }
}

static void check_row(int kind, tn_dtype dtype, int64_t n, bool descending)
{
    entry *want = malloc((size_t)n * sizeof *want);
    double *numbers = malloc((size_t)n * sizeof *numbers);
    for (int64_t i = 0; i < n; i++)
        numbers[i] = element(kind, i, n);
    tn_tensor *wide = made(numbers, TN_F64, n), *x = tn__to_copy(wide, .dtype = dtype);
    tn_tensor *back = tn__to_copy(x, .dtype = TN_F64);
    for (int64_t i = 0; i < n; i++)
        want[i] = (entry){((const double *)back->data)[i], i};
    reversed = descending;
    qsort(want, (size_t)n, sizeof *want, compare);
    pair p = sorted(x, descending);
    tn_tensor *got = tn__to_copy(p.values, .dtype = TN_F64);
    for (int64_t i = 0; i < n; i++) {
        double v = ((const double *)got->data)[i];
        cr_assert(v == want[i].value || (isnan(v) && isnan(want[i].value)),
                  "kind %d dtype %d n %lld [%lld]: %g, not %g", kind, dtype, (long long)n,
                  (long long)i, v, want[i].value);
        cr_assert_eq(((const int64_t *)p.indices->data)[i], want[i].place,
                     "kind %d dtype %d n %lld [%lld]", kind, dtype, (long long)n, (long long)i);
    }
    drop(p);
    tn_release(wide);
    free(numbers);
    free(want);
}

Test(cpu_order, long_rows_are_sorted_and_stable)
{
    const tn_dtype dtypes[] = {TN_I8, TN_I16, TN_I32, TN_I64, TN_F16, TN_BF16, TN_F32, TN_F64};
    const int64_t lengths[] = {1, 2, 63, 64, 65, 300, 600, 5000};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (int kind = 0; kind < (dtypes[d] < TN_F16 ? SPECIAL : KINDS); kind++)
            for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
                check_row(kind, dtypes[d], lengths[k], (kind + k) % 2);
}

/* Keys of 64 bits that differ in their lower or upper half alone, or in both. */
Test(cpu_order, wide_integers)
{
    enum { N = 900 };
    for (int kind = 0; kind < 4; kind++) {
        int64_t x[N];
        for (int i = 0; i < N; i++)
            x[i] = kind == 0   ? rand()
                   : kind == 1 ? (int64_t)((uint64_t)rand() << 33)
                   : kind == 2 ? (int64_t)((uint64_t)(rand() % 3) << 62 | (uint64_t)rand())
                               : INT64_MIN + rand() % 7;
        tn_tensor *t = made(x, TN_I64, N);
        pair p = sorted(t, false);
        const int64_t *v = p.values->data, *at = p.indices->data;
        for (int i = 0; i < N; i++) {
            cr_assert_eq(v[i], x[at[i]]);
            cr_assert(i == 0 || v[i - 1] < v[i] || (v[i - 1] == v[i] && at[i - 1] < at[i]),
                      "kind %d [%d]", kind, i);
        }
        drop(p);
        tn_release(t);
    }
}

/* -0.0 and 0.0 are equal, and come out as they went in. */
Test(cpu_order, signed_zeros_keep_their_places_and_signs)
{
    const float zeros[] = {0.0f, -0.0f, 1, -0.0f, -1};
    tn_tensor *x = made(zeros, TN_F32, 5);
    pair p = sorted(x, false);
    const float *v = p.values->data;
    cr_assert(!signbit(v[1]) && signbit(v[2]) && signbit(v[3]));
    const int64_t want[] = {4, 0, 1, 3, 2};
    cr_assert_arr_eq(p.indices->data, want, sizeof want);
    drop(p);
    tn_release(x);
}

/* ---- topk, kthvalue -------------------------------------------------------------------------- */
static void check_best(const float *numbers, int64_t n, int64_t k, bool largest)
{
    tn_tensor *x = made(numbers, TN_F32, n);
    pair all = sorted(x, largest), p = {NULL, NULL};
    cr_assert_eq(tn_call_topk(x, k, 0, largest, true, &p.values, &p.indices), TN_OK, "%s",
                 tn_error_last()->message);
    cr_assert_eq(p.values->numel, k);
    if (k > 0) {
        cr_assert_arr_eq(p.indices->data, all.indices->data, (size_t)k * sizeof(int64_t),
                         "k %lld of %lld", (long long)k, (long long)n);
        cr_assert_arr_eq(p.values->data, all.values->data, (size_t)k * sizeof(float));
    }
    if (k > 0 && !largest) {
        pair one = {NULL, NULL};
        cr_assert_eq(tn_call_kthvalue(x, k, 0, false, &one.values, &one.indices), TN_OK);
        cr_assert_eq(*(int64_t *)one.indices->data, ((int64_t *)all.indices->data)[k - 1]);
        drop(one);
    }
    drop(p);
    drop(all);
    tn_release(x);
}

/* A rising row makes every element better than all before it, a row of equal ones none. */
Test(cpu_order, topk_is_the_beginning_of_a_stable_sort)
{
    enum { N = 7000 };
    static float numbers[N];
    const int64_t ks[] = {0, 1, 10, 255, 512, 3000, 3501, 6999, 7000};
    for (int kind = 0; kind < KINDS; kind++) {
        for (int64_t i = 0; i < N; i++)
            numbers[i] = (float)element(kind, i, N);
        for (size_t i = 0; i < sizeof ks / sizeof *ks; i++) {
            check_best(numbers, N, ks[i], true);
            check_best(numbers, N, ks[i], false);
        }
    }
}

Test(cpu_order, topk_of_every_short_row)
{
    float numbers[330];
    for (int64_t n = 1; n <= 330; n += n < 200 ? 1 : 13) {
        for (int64_t i = 0; i < n; i++)
            numbers[i] = (float)element(n % KINDS, i, n);
        for (int64_t k = 1; k <= n; k += 1 + k / 4)
            check_best(numbers, n, k, n % 2);
    }
}

Test(cpu_order, threads_change_nothing)
{
    tn_tensor *x = tn_sin(tn_reshape(tn_arange(90 * 1000, .dtype = TN_F32), TN_INTS(90, 1000)));
    for (int64_t dim = 0; dim < 2; dim++) {
        pair one = {NULL, NULL}, two = {NULL, NULL};
        cr_assert_eq(tn_set_num_threads(1), TN_OK);
        cr_assert_eq(tn_call_sort(x, dim, true, &one.values, &one.indices), TN_OK);
        cr_assert_eq(tn_set_num_threads(2), TN_OK);
        cr_assert_eq(tn_call_sort(x, dim, true, &two.values, &two.indices), TN_OK);
        cr_assert_arr_eq(one.values->data, two.values->data, 90000 * sizeof(float));
        cr_assert_arr_eq(one.indices->data, two.indices->data, 90000 * sizeof(int64_t));
        drop(one);
        drop(two);
    }
}

/* ---- medians, mode --------------------------------------------------------------------------- */
static double number_of(tn_tensor *t)
{
    tn_tensor *wide = tn__to_copy(t, .dtype = TN_F64);
    cr_assert_not_null(wide, "%s", tn_error_last()->message);
    return *(const double *)wide->data;
}

Test(cpu_order, medians_of_even_rows_of_nan_and_of_nothing)
{
    const float numbers[] = {4, NAN, 1, 3, 2, NAN}, nans[] = {NAN, NAN};
    tn_tensor *x = made(numbers, TN_F32, 6), *none = made(numbers, TN_F32, 0),
              *all = made(nans, TN_F32, 2);
    cr_assert(isnan(number_of(tn_median(x))));
    cr_assert_eq(number_of(tn_nanmedian(x)), 2); /* of two in the middle the lower */
    cr_assert(isnan(number_of(tn_nanmedian(all))));
    cr_assert(isnan(number_of(tn_median(none))));
    pair p = {NULL, NULL};
    cr_assert_eq(tn_call_median_dim(x, 0, false, &p.values, &p.indices), TN_OK);
    cr_assert_eq(number_of(p.indices), 1); /* the first NaN */
    drop(p);
    tn_release(all);
    tn_release(none);
    tn_release(x);
}

Test(cpu_order, mode_is_the_smallest_of_the_most_frequent)
{
    const int64_t numbers[] = {5, 3, 5, 3, 9};
    tn_tensor *x = made(numbers, TN_I64, 5);
    pair p = {NULL, NULL};
    cr_assert_eq(tn_call_mode(x, 0, false, &p.values, &p.indices), TN_OK);
    cr_assert_eq(number_of(p.values), 3);
    cr_assert_eq(number_of(p.indices), 3); /* the last 3 */
    drop(p);
    tn_release(x);
}

/* ---- what is refused ------------------------------------------------------------------------- */
static void says(tn_status status, pair p, tn_status want, const char *message)
{
    cr_assert_null(p.values);
    cr_assert_null(p.indices);
    cr_assert_eq(status, want, "%s", tn_error_last()->message);
    cr_assert_str_eq(tn_error_last()->message, message);
    tn_error_clear();
}

Test(cpu_order, refusals)
{
    tn_tensor *x = tn_zeros(TN_INTS(3, 4)), *none = tn_zeros(TN_INTS(3, 0));
    tn_tensor *complex = tn_zeros(TN_INTS(3), .dtype = TN_C64);
    pair p = {NULL, NULL};
    says(tn_call_sort(x, 2, false, &p.values, &p.indices), p, TN_ERR_INDEX,
         "dim 2 is out of range [-2, 1] for a tensor of 2 dimensions");
    says(tn_call_sort(complex, 0, false, &p.values, &p.indices), p, TN_ERR_UNSUPPORTED,
         "not defined for complex64; defined for bool, uint8, int8, int16, int32, int64, float16, "
         "bfloat16, float32, float64");
    says(tn_call_topk(x, 5, 1, true, true, &p.values, &p.indices), p, TN_ERR_INDEX,
         "k is 5; dim 1 of 4 elements takes 0 to 4");
    says(tn_call_kthvalue(x, 0, 0, false, &p.values, &p.indices), p, TN_ERR_INDEX,
         "k is 0; dim 0 of 3 elements takes 1 to 3");
    says(tn_call_kthvalue(none, 1, 1, false, &p.values, &p.indices), p, TN_ERR_INDEX,
         "k is 1, but dim 1 has no elements");
    says(tn_call_mode(none, 1, false, &p.values, &p.indices), p, TN_ERR_INDEX,
         "dim 1 of shape [3, 0] has no elements, so there is no extreme along it");
}

Test(cpu_order, out_tensors_of_other_dtypes_are_refused_unchanged)
{
    tn_tensor *x = tn_arange(4, .dtype = TN_F32), *r0 = NULL, *r1 = NULL;
    tn_tensor *values = tn_ones(TN_INTS(4), .dtype = TN_F64),
              *indices = tn_ones(TN_INTS(4), .dtype = TN_I64);
    cr_assert_eq(tn_call_sort_values(x, 0, true, values, indices, &r0, &r1), TN_ERR_DTYPE);
    cr_assert_str_eq(tn_error_last()->message,
                     "out has dtype float64; expected the operands' float32");
    tn_tensor *fits = tn_ones(TN_INTS(4), .dtype = TN_F32),
              *narrow = tn_ones(TN_INTS(4), .dtype = TN_F32);
    cr_assert_eq(tn_call_sort_values(x, 0, true, fits, narrow, &r0, &r1), TN_ERR_DTYPE);
    cr_assert_str_eq(tn_error_last()->message, "indices has dtype float32; expected int64");
    cr_assert_eq(*(float *)fits->data, 1);
    cr_assert_eq(*(int64_t *)indices->data, 1);
}

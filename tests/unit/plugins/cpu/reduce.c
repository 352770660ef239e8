/* reduce.c - reductions on CPU: every operator, dtype and layout against plain nested indexing;
 * large ones, so that tiles, chunks and folded rows meet; the same bits from any number of threads
 * and any layout.
 *
 * Elements are small multiples of 1/4 (factors of a product: powers of 2), so that sums are exact
 * and a result is rounded once: comparisons are exact. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/half.h>
#include <tenon/ops.h>
#include <tenon/runtime.h>
#include <tenon/threads.h>

static void setup(void)
{
    cr_assert_eq(tn_plugins_load_default(), TN_OK);
    srand(1);
}

TestSuite(cpu_reduce, .init = setup);

enum { MEMORY = 1 << 17, REPEATS = 60 };
enum kind { SUM, PROD, MEAN, MAX, MIN, ARGMAX, ARGMIN, ANY, ALL, KINDS };
static const char *const kind_names[] = {"sum",    "prod",   "mean", "max", "min",
                                         "argmax", "argmin", "any",  "all"};
static char memory[MEMORY * 16];
static const size_t dtype_bytes[] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};

/* ---- elements -------------------------------------------------------------------------------- */
static double load(const char *p, tn_dtype dtype, int part)
{
    union {
        uint8_t u8;
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint16_t half;
        float f32[2];
        double f64[2];
    } v;
    memcpy(&v, p, dtype_bytes[dtype]);
    switch (dtype) {
    case TN_BOOL:
    case TN_U8:
        return v.u8;
    case TN_I8:
        return v.i8;
    case TN_I16:
        return v.i16;
    case TN_I32:
        return v.i32;
    case TN_I64:
        return (double)v.i64;
    case TN_F16:
        return tn_f32_from_f16(v.half);
    case TN_BF16:
        return tn_f32_from_bf16(v.half);
    case TN_F32:
        return v.f32[0];
    case TN_C64:
        return v.f32[part];
    default:
        return v.f64[dtype == TN_C128 ? part : 0];
    }
}

static void save(char *p, tn_dtype dtype, double value, double imaginary)
{
    union {
        int64_t i64;
        uint16_t half;
        float f32[2];
        double f64[2];
    } v = {0};
    if (tn_dtype_in(dtype, TN_DTYPES_WHOLE))
        v.i64 = dtype == TN_BOOL ? value != 0 : (int64_t)value;
    else if (dtype == TN_F16 || dtype == TN_BF16)
        v.half = dtype == TN_F16 ? tn_f16_from_f32((float)value) : tn_bf16_from_f32((float)value);
    else if (dtype == TN_F32 || dtype == TN_C64)
        v.f32[0] = (float)value, v.f32[1] = (float)imaginary;
    else
        v.f64[0] = value, v.f64[1] = imaginary;
    memcpy(p, &v, dtype_bytes[dtype]);
}

static void randomise(tn_dtype dtype, int kind)
{
    static const double factors[] = {1, -1, 2, -2, 1, 1, 0.5, -1};
    bool real = !tn_dtype_in(dtype, TN_DTYPES_WHOLE),
         rarely_nan = real && kind != PROD && rand() % 3 == 0;
    for (int64_t i = 0; i < MEMORY; i++) {
        double v = (rand() % 64 - 32) * (real ? 0.25 : 1), w = (rand() % 64 - 32) * 0.25;
        if (dtype == TN_BOOL || dtype == TN_U8)
            v = rand() % 4;
        if (kind == PROD) {
            v = fabs(factors[rand() % 8]) < 1 && !real ? 1 : factors[rand() % 8];
            v = dtype == TN_BOOL || dtype == TN_U8 ? ceil(fabs(v))
                : real                             ? v
                : ceil(v) == 0                     ? 1
                                                   : ceil(v);
            w = 0;
        }
        if (kind == ANY || kind == ALL)
            v = (rand() % 20 == 0) == (kind == ANY), w = 0;
        if (rarely_nan && rand() % 50 == 0)
            v = NAN;
        save(memory + i * (int64_t)dtype_bytes[dtype], dtype, v, w);
    }
}

/* ---- the reference --------------------------------------------------------------------------- */
typedef struct answer {
    double re, im;
    uint64_t integer;
    int64_t index, count;
} answer;

static bool beats(int kind, double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && !isnan(b);
    return kind == MIN || kind == ARGMIN ? a < b : a > b;
}

static void take(answer *r, int kind, double re, double im)
{
    bool truth = re != 0 || im != 0;
    if (kind == SUM || kind == MEAN) {
        r->re += re;
        r->im += im;
        r->integer += isnan(re) ? 0 : (uint64_t)(int64_t)re;
    } else if (kind == PROD) {
        r->re *= re;
        r->integer *= (uint64_t)(int64_t)re;
    } else if (kind == ANY || kind == ALL) {
        r->re = kind == ANY ? r->re != 0 || truth : r->re != 0 && truth;
    } else if (r->count == 0 || beats(kind, re, r->re)) {
        r->re = re;
        r->index = r->count;
    }
    r->count++;
}

/* Over the dims of `mask`, row-major, from the element at p. */
static void walk(answer *r, int kind, const tn_tensor *t, uint64_t mask, int d, const char *p)
{
    if (d == t->ndim) {
        take(r, kind, load(p, t->dtype, 0),
             tn_dtype_in(t->dtype, TN_DTYPES_COMPLEX) ? load(p, t->dtype, 1) : 0);
        return;
    }
    int64_t n = mask >> d & 1 ? t->sizes[d] : 1;
    for (int64_t i = 0; i < n; i++)
        walk(r, kind, t, mask, d + 1, p + i * t->strides[d] * (int64_t)dtype_bytes[t->dtype]);
}

static void check(const answer *r, int kind, const char *got, tn_dtype dtype, const char *what)
{
    char want[16] = {0};
    double re = kind == MEAN ? r->re / (double)r->count : r->re;
    double im = kind == MEAN ? r->im / (double)r->count : r->im;
    if (kind == ARGMAX || kind == ARGMIN)
        memcpy(want, &r->index, sizeof r->index);
    else if (dtype == TN_I64 && (kind == SUM || kind == PROD))
        memcpy(want, &r->integer, sizeof r->integer);
    else
        save(want, dtype, re, im);
    for (int part = 0; part < (tn_dtype_in(dtype, TN_DTYPES_COMPLEX) ? 2 : 1); part++) {
        double a = load(got, dtype, part), b = load(want, dtype, part);
        cr_assert(a == b || (isnan(a) && isnan(b)), "%s of %d: got %.17g, expected %.17g", what,
                  dtype, a, b);
    }
}

/* result: contiguous, keepdim. */
static void check_all(const tn_tensor *t, const tn_tensor *result, int kind, uint64_t mask)
{
    const char *got = result->data;
    for (int64_t i = 0; i < result->numel; i++, got += dtype_bytes[result->dtype]) {
        int64_t rest = i;
        const char *p = t->data;
        for (int d = t->ndim - 1; d >= 0; d--) {
            if (mask >> d & 1)
                continue;
            p += rest % t->sizes[d] * t->strides[d] * (int64_t)dtype_bytes[t->dtype];
            rest /= t->sizes[d];
        }
        answer r = {.re = kind == PROD || kind == ALL, .integer = kind == PROD};
        walk(&r, kind, t, mask, 0, p);
        check(&r, kind, got, result->dtype, kind_names[kind]);
    }
}

/* ---- random layouts -------------------------------------------------------------------------- */
/* Dimensions in any order in memory, with gaps, some broadcast. */
static tn_tensor *random_tensor(tn_dtype dtype, int ndim)
{
    static const int64_t usual[] = {1, 2, 3, 5, 9, 13};
    int64_t sizes[4], strides[4], step = 1 + rand() % 2, extent = 1;
    int order[4] = {0, 1, 2, 3};
    for (int d = ndim - 1; d > 0; d--) {
        int e = rand() % (d + 1), swap = order[d];
        order[d] = order[e];
        order[e] = swap;
    }
    for (int i = ndim - 1; i >= 0; i--) {
        int d = order[i];
        sizes[d] = usual[rand() % 6];
        strides[d] = rand() % 8 ? step : 0;
        step *= sizes[d] + (rand() % 4 == 0);
    }
    for (int d = 0; d < ndim; d++)
        extent += (sizes[d] - 1) * strides[d];
    cr_assert_leq(extent, MEMORY);
    tn_tensor *t;
    cr_assert_eq(tn_tensor_from_memory(memory, dtype, ndim, sizes, strides, NULL, NULL, &t), TN_OK,
                 "%s", tn_error_last()->message);
    return t;
}

static tn_tensor *call(int kind, tn_tensor *t, tn_ints dims)
{
    tn_opt_int one = {dims.len ? dims.data[0] : 0, dims.len != 0};
    switch (kind) {
    case SUM:
        return tn_sum_dim_IntList(t, dims, .keepdim = true);
    case MEAN:
        return tn_mean_dim(t, dims, .keepdim = true);
    case MAX:
        return tn_amax(t, .dim = dims, .keepdim = true);
    case MIN:
        return tn_amin(t, .dim = dims, .keepdim = true);
    case PROD:
        return dims.len ? tn_prod_dim_int(t, one.value, .keepdim = true) : tn_prod(t);
    case ARGMAX:
        return tn_argmax(t, .dim = one, .keepdim = true);
    case ARGMIN:
        return tn_argmin(t, .dim = one, .keepdim = true);
    case ANY:
        return dims.len ? tn_any_dim(t, one.value, .keepdim = true) : tn_any(t);
    default:
        return dims.len ? tn_all_dim(t, one.value, .keepdim = true) : tn_all(t);
    }
}

static void reduce_randomly(int kind, tn_dtype dtype)
{
    int64_t dims[4], n = 0;
    int ndim = rand() % 5;
    bool many = kind == SUM || kind == MEAN || kind == MAX || kind == MIN;
    uint64_t mask = 0;
    tn_tensor *t = random_tensor(dtype, ndim);
    for (int d = 0; d < ndim; d++) {
        if (rand() % 2 && (many || n == 0)) {
            dims[n++] = rand() % 2 ? d : d - ndim;
            mask |= UINT64_C(1) << d;
        }
    }
    TN_SCOPE {
        tn_tensor *result = call(kind, t, (tn_ints){dims, n});
        cr_assert_not_null(result, "%s of dtype %d: %s", kind_names[kind], dtype,
                           tn_error_last()->message);
        check_all(t, result, kind, n ? mask : ~UINT64_C(0));
    }
    tn_release(t);
}

Test(cpu_reduce, every_operator_dtype_and_layout)
{
    for (int kind = 0; kind < KINDS; kind++) {
        for (tn_dtype dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
            bool ordered = kind >= MAX && kind <= ARGMIN;
            if ((kind == MEAN && tn_dtype_in(dtype, TN_DTYPES_WHOLE)) ||
                (ordered && tn_dtype_in(dtype, TN_DTYPES_COMPLEX)))
                continue;
            randomise(dtype, kind);
            for (int i = 0; i < REPEATS; i++)
                reduce_randomly(kind, dtype);
        }
    }
}

Test(cpu_reduce, max_dim_gives_values_and_indices)
{
    for (tn_dtype dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
        if (!tn_dtype_in(dtype, TN_DTYPES_WHOLE | TN_DTYPES_FLOATING))
            continue;
        randomise(dtype, MAX);
        for (int i = 0; i < REPEATS; i++) {
            tn_tensor *t = random_tensor(dtype, 3), *values[2], *indices[2];
            int64_t dim = rand() % 3;
            cr_assert_eq(tn_call_max_dim(t, dim, true, &values[0], &indices[0]), TN_OK);
            cr_assert_eq(tn_call_min_dim(t, dim, true, &values[1], &indices[1]), TN_OK);
            for (int k = 0; k < 2; k++) {
                check_all(t, values[k], k ? MIN : MAX, UINT64_C(1) << dim);
                check_all(t, indices[k], k ? ARGMIN : ARGMAX, UINT64_C(1) << dim);
                tn_release(values[k]);
                tn_release(indices[k]);
            }
            tn_release(t);
        }
    }
}

/* ---- large: chunks, tiles and folded rows ---------------------------------------------------- */
static tn_tensor *large(tn_dtype dtype, tn_ints sizes)
{
    tn_tensor *t;
    tn_device cpu = {TN_CPU, 0};
    cr_assert_eq(tn_tensor_new(sizes.len, sizes.data, dtype, cpu, &t), TN_OK);
    for (int64_t i = 0; i < t->numel; i++) {
        double v = (rand() % 2000 - 1000) * 0.25;
        save((char *)t->data + i * (int64_t)dtype_bytes[dtype], dtype, v, v);
    }
    return t;
}

static void check_large(tn_tensor *t)
{
    const int kinds[] = {SUM, MAX, ARGMAX, ARGMIN};
    for (int k = 0; k < 4; k++) {
        TN_SCOPE {
            check_all(t, call(kinds[k], t, TN_INTS(0)), kinds[k], 1);
            check_all(t, call(kinds[k], t, TN_INTS(1)), kinds[k], 2);
            tn_tensor *all = call(kinds[k], t, (tn_ints){NULL, 0});
            check_all(t, all, kinds[k], 3);
        }
    }
}

Test(cpu_reduce, large)
{
    const int64_t shapes[][2] = {{3, 300007}, {300007, 3}, {1500, 1100},
                                 {100003, 9}, {40, 70001}, {70001, 33}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int threads = 1; threads <= 3; threads += 2) {
            cr_assert_eq(tn_set_num_threads(threads), TN_OK);
            tn_tensor *t = large(i % 2 ? TN_F32 : TN_I32, (tn_ints){shapes[i], 2});
            check_large(t);
            tn_release(t);
        }
    }
}

Test(cpu_reduce, first_of_equals_across_chunks)
{
    const int64_t n = 200000;
    tn_tensor *t, *index;
    float *x = calloc((size_t)n, sizeof *x);
    cr_assert_not_null(x);
    cr_assert_eq(tn_tensor_from_memory(x, TN_F32, 1, &n, &(int64_t){1}, NULL, NULL, &t), TN_OK);
    const struct {
        int64_t a, b;
        float value;
    } cases[] = {
        {0, 0, 0}, {70000, 170000, 5}, {33000, 33001, NAN}, {199999, 199999, 1}, {5, 150000, NAN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(x, 0, (size_t)n * sizeof *x);
        x[100000] = isnan(cases[i].value) ? INFINITY : 0;
        x[cases[i].a] = x[cases[i].b] = cases[i].value;
        cr_assert_eq(tn_call_argmax(t, (tn_opt_int){0, 0}, false, &index), TN_OK);
        cr_assert_eq(*(int64_t *)index->data, cases[i].a);
        tn_release(index);
    }
    tn_release(t);
    free(x);
}

/* Numbers whose sum depends on the order: 1 thread and 4, contiguous and strided, must agree to the
 * bit. */
Test(cpu_reduce, same_bits_from_any_threads_and_strides)
{
    const int64_t shapes[][2] = {{1, 1000003}, {7, 100003}, {100003, 7}, {2000, 1300}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        int64_t n = shapes[i][0] * shapes[i][1];
        double *x = malloc((size_t)n * 3 * sizeof *x), *apart = x + n;
        tn_tensor *tensors[2];
        cr_assert_not_null(x);
        for (int64_t k = 0; k < n; k++)
            x[k] = apart[2 * k] = ldexp(rand() - RAND_MAX / 2, rand() % 40);
        const int64_t strides[2][2] = {{shapes[i][1], 1}, {2 * shapes[i][1], 2}};
        cr_assert_eq(
            tn_tensor_from_memory(x, TN_F64, 2, shapes[i], strides[0], NULL, NULL, &tensors[0]),
            TN_OK);
        cr_assert_eq(
            tn_tensor_from_memory(apart, TN_F64, 2, shapes[i], strides[1], NULL, NULL, &tensors[1]),
            TN_OK);
        for (int dim = 0; dim < 3; dim++) {
            TN_SCOPE {
                tn_ints dims = dim < 2 ? TN_INTS(dim) : (tn_ints){NULL, 0};
                tn_tensor *first = NULL;
                for (int k = 0; k < 4; k++) {
                    cr_assert_eq(tn_set_num_threads(k < 2 ? 1 : 4), TN_OK);
                    tn_tensor *r = tn_sum_dim_IntList(tensors[k % 2], dims);
                    cr_assert_not_null(r);
                    first = first ? first : r;
                    cr_assert_eq(memcmp(first->data, r->data, (size_t)r->numel * sizeof(double)), 0,
                                 "shape %zu, dim %d, run %d", i, dim, k);
                }
            }
        }
        tn_release(tensors[0]);
        tn_release(tensors[1]);
        free(x);
    }
}

/* ---- the edges ------------------------------------------------------------------------------- */
static void expect_one(tn_tensor *t, tn_dtype dtype, double want)
{
    cr_assert_not_null(t, "%s", tn_error_last()->message);
    cr_assert_eq(t->dtype, dtype);
    cr_assert_eq(t->numel, 1);
    double got = load(t->data, dtype, 0);
    cr_assert(got == want || (isnan(got) && isnan(want)), "got %g, expected %g", got, want);
}

Test(cpu_reduce, of_nothing)
{
    const int64_t none = 0, sizes[] = {0, 3};
    tn_tensor *f, *u, *wide;
    cr_assert_eq(tn_tensor_from_data("", TN_F32, 1, &none, &f), TN_OK);
    cr_assert_eq(tn_tensor_from_data("", TN_U8, 1, &none, &u), TN_OK);
    cr_assert_eq(tn_tensor_from_data("", TN_F32, 2, sizes, &wide), TN_OK);
    TN_SCOPE {
        expect_one(tn_sum(f), TN_F32, 0);
        expect_one(tn_sum(u), TN_I64, 0);
        expect_one(tn_prod(f), TN_F32, 1);
        expect_one(tn_mean(f), TN_F32, NAN);
        expect_one(tn_any(f), TN_BOOL, 0);
        expect_one(tn_all(f), TN_BOOL, 1);
        expect_one(tn_all(u), TN_U8, 1);
        tn_tensor *r = tn_sum_dim_IntList(wide, TN_INTS(0));
        cr_assert_eq(r->numel, 3);
        for (int i = 0; i < 3; i++)
            cr_assert_eq(((float *)r->data)[i], 0);
        cr_assert_eq(tn_sum_dim_IntList(wide, TN_INTS(1))->numel, 0);
        cr_assert_eq(tn_amax(wide, .dim = TN_INTS(1))->numel, 0);
        cr_assert_null(tn_amax(wide, .dim = TN_INTS(0)));
        cr_assert_not_null(strstr(tn_error_last()->message, "no elements"));
    }
    tn_error_clear();
    tn_release(f);
    tn_release(u);
    tn_release(wide);
}

Test(cpu_reduce, casts_first_and_stores_last)
{
    const float values[] = {1.75f, 2.75f, -0.5f};
    const int64_t n = 3, two = 2;
    float store[4] = {9, 9, 9, 9}, pairs[6] = {1, 2, 3, 4, 5, 6};
    const int64_t sizes[] = {3, 2};
    tn_tensor *t, *m, *out, *result;
    cr_assert_eq(tn_tensor_from_data(values, TN_F32, 1, &n, &t), TN_OK);
    cr_assert_eq(tn_tensor_from_data(pairs, TN_F32, 2, sizes, &m), TN_OK);
    cr_assert_eq(tn_tensor_from_memory(store, TN_F32, 1, &two, &two, NULL, NULL, &out), TN_OK);
    TN_SCOPE {
        expect_one(tn_sum(t, .dtype = TN_I32), TN_I32, 3);
        expect_one(tn_sum(t, .dtype = TN_BOOL), TN_BOOL, 1);
        expect_one(tn_sum(t, .dtype = TN_F64), TN_F64, 4);
        expect_one(tn_mean(t, .dtype = TN_F16), TN_F16, tn_f32_from_f16(tn_f16_from_f32(4.0f / 3)));
        expect_one(tn_prod(t, .dtype = TN_U8), TN_U8, 0);
    }
    cr_assert_eq(tn_call_sum_IntList_out(m, TN_INTS(0), false, TN_DTYPE_NONE, out, &result), TN_OK);
    cr_assert(store[0] == 9 && store[1] == 9 && store[2] == 12 && store[3] == 9);
    tn_release(result);
    cr_assert_eq(tn_call_sum_IntList_out(m, TN_INTS(0), false, TN_F64, out, &result), TN_ERR_DTYPE);
    cr_assert_not_null(strstr(tn_error_last()->message, "float64"));
    tn_release(t);
    tn_release(m);
    tn_release(out);
}

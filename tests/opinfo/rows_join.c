/* rows_join.c - joining (cat, stack) and softmax. */
#include "rows_impl.h"

#include <math.h>
#include <string.h>

/* ---- joining --------------------------------------------------------------------------------- */
static bool is_nothing(const oi_array *a)
{
    return a->ndim == 1 && a->numel == 0; /* joins anything */
}

static oi_array with_dim(const oi_array *a, int dim)
{
    oi_array r = *a;
    for (int d = r.ndim++; d > dim; d--)
        r.sizes[d] = r.sizes[d - 1];
    r.sizes[dim] = 1;
    return r;
}

static int join(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_arg *list = oi_find(s, "tensors");
    bool stack = row->kind;
    oi_array parts[OI_RESULTS];
    int n = 0, dim = (int)oi_get_int(s, "dim", 0);
    tn_dtype d = list->tensors[0].a.dtype;
    dim += dim < 0 ? list->tensors[0].a.ndim + stack : 0;
    for (int64_t k = 0; k < list->n; k++) {
        d = oi_promote(d, list->tensors[k].a.dtype);
        if (stack || !is_nothing(&list->tensors[k].a))
            parts[n++] = stack ? with_dim(&list->tensors[k].a, dim) : list->tensors[k].a;
    }
    int64_t sizes[OI_DIMS], coords[OI_DIMS], total = 0;
    memcpy(sizes, parts[0].sizes, sizeof sizes);
    for (int k = 0; k < n; k++)
        total += parts[k].sizes[dim];
    sizes[dim] = total;
    results[0] = oi_array_new(d, parts[0].ndim, sizes);
    for (int64_t i = 0; i < results[0].numel; i++) {
        int k = 0;
        oi_coords(&results[0], i, coords);
        while (coords[dim] >= parts[k].sizes[dim])
            coords[dim] -= parts[k++].sizes[dim];
        results[0].v[i] = oi_cast(parts[k].v[oi_index(&parts[k], coords)], parts[k].dtype, d);
    }
    return 1;
}

static oi_sample *joining(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed,
                          const char *what, int n, int64_t dim, const int64_t sizes[][3],
                          oi_layout layout)
{
    oi_sample *s = oi_sample_new(out, what);
    oi_rng r = oi_rng_make(seed, row->op, d, s->number);
    oi_tensor *t = oi_arg_tensors(s, "tensors", n);
    oi_arg_int(s, "dim", TN_FIELD_INT, dim);
    for (int k = 0; k < n; k++) {
        int ndim = sizes[k][2] < 0 ? (sizes[k][1] < 0 ? 1 : 2) : 3;
        t[k] = (oi_tensor){.a = oi_values(row, &r, d, ndim, sizes[k]),
                           .layout = k % 2 ? OI_ROW : layout};
    }
    return s;
}

static void join_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const int64_t alike[][3] = {{3, 4, -1}, {3, 4, -1}, {3, 4, -1}},
                         longer[][3] = {{3, 4, -1}, {1, 4, -1}, {0, 4, -1}},
                         empty[][3] = {{0, -1, -1}, {3, 4, -1}},
                         apart[][3] = {{3, 4, -1}, {3, 5, -1}},
                         large[][3] = {{211, 97, -1}, {211, 97, -1}},
                         three[][3] = {{2, 3, 4}, {2, 3, 4}};
    bool stack = row->kind;
    joining(row, out, d, seed, "alike", 3, 0, alike, OI_ROW);
    joining(row, out, d, seed, "last dim", 3, -1, alike, OI_TRANSPOSED);
    joining(row, out, d, seed, "gaps", 2, 1, three, OI_GAPPED);
    joining(row, out, d, seed, "one tensor", 1, 0, alike, OI_GAPPED);
    if (!stack) {
        joining(row, out, d, seed, "other lengths", 3, 0, longer, OI_ROW);
        joining(row, out, d, seed, "an empty vector", 2, 1, empty, OI_ROW);
        oi_sample *s = joining(row, out, d, seed, "two dtypes", 2, 0, alike, OI_ROW);
        s->args[0].tensors[1].a = oi_array_cast(&s->args[0].tensors[1].a, TN_BOOL);
    }
    joining(row, out, d, seed, "shapes that do not join", 2, 0, apart, OI_ROW)->error = true;
    joining(row, out, d, seed, "dim out of range", 2, stack ? 3 : 2, alike, OI_ROW)->error = true;
    joining(row, out, d, seed, "no tensors", 0, 0, alike, OI_ROW)->error = true;
    joining(row, out, d, seed, "large", 2, 1, large, OI_ROW)->large = true;
}

/* ---- softmax --------------------------------------------------------------------------------- */
static void softmax_row(const oi_array *x, oi_array *r, int64_t begin, int64_t step, int64_t n,
                        bool logarithm)
{
    oi_real most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++)
        most = isnan(x->v[begin + i * step].re) || x->v[begin + i * step].re > most
                   ? x->v[begin + i * step].re
                   : most;
    for (int64_t i = 0; i < n; i++)
        sum += expl(x->v[begin + i * step].re - most);
    for (int64_t i = 0; i < n; i++) {
        oi_real y = x->v[begin + i * step].re - most;
        r->v[begin + i * step] = oi_float(logarithm ? y - logl(sum) : expl(y) / sum);
        r->mag[begin + i * step] =
            logarithm ? fabsl(x->v[begin + i * step].re) + fabsl(most) + logl(sum) : 0;
    }
}

static int softmax(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *given = oi_input(s, "self");
    tn_dtype d = (tn_dtype)oi_get_int(s, "dtype", given->dtype);
    if (oi_get_int(s, "half_to_float", 0))
        d = TN_F32;
    oi_array x = oi_array_cast(given, d);
    int dim = (int)oi_get_int(s, "dim", 0);
    dim += dim < 0 ? x.ndim : 0;
    results[0] = oi_array_new(d, x.ndim, x.sizes);
    oi_array_mags(&results[0]);
    int64_t n = x.ndim ? x.sizes[dim] : 1, step = 1;
    for (int k = dim + 1; k < x.ndim; k++)
        step *= x.sizes[k];
    for (int64_t i = 0; i < x.numel; i++)
        if (i / step % n == 0)
            softmax_row(&x, &results[0], i, step, n, row->kind);
    return 1;
}

static oi_sample *softmax_sample(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed,
                                 const char *what, int ndim, const int64_t *sizes, oi_layout layout,
                                 int64_t dim)
{
    oi_sample *s = oi_sample_new(out, what);
    oi_rng r = oi_rng_make(seed, row->op, d, s->number);
    oi_arg_tensor(s, "self", oi_values(row, &r, d, ndim, sizes), layout);
    oi_arg_int(s, "dim", TN_FIELD_INT, dim);
    if (row->op[0] == '_')
        oi_arg_int(s, "half_to_float", TN_FIELD_BOOL, 0);
    return s;
}

static void softmax_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    softmax_sample(row, out, d, seed, "last dim", OI_SIZES(4, 7), OI_ROW, -1);
    softmax_sample(row, out, d, seed, "first dim", OI_SIZES(5, 3), OI_ROW, 0);
    softmax_sample(row, out, d, seed, "transposed", OI_SIZES(4, 7), OI_TRANSPOSED, 1);
    softmax_sample(row, out, d, seed, "gaps, middle dim", OI_SIZES(3, 4, 5), OI_GAPPED, 1);
    softmax_sample(row, out, d, seed, "0-dim", 0, NULL, OI_ROW, 0);
    softmax_sample(row, out, d, seed, "one element", OI_SIZES(1), OI_ROW, 0);
    softmax_sample(row, out, d, seed, "no rows", OI_SIZES(0, 3), OI_ROW, 1);
    softmax_sample(row, out, d, seed, "an odd length", OI_SIZES(3, 131), OI_SHIFTED, 1);
    softmax_sample(row, out, d, seed, "a stride over 2 GiB", OI_SIZES(2, 5), OI_HUGE, 0);
    oi_sample *s = softmax_sample(row, out, d, seed, "large numbers", OI_SIZES(2, 5), OI_ROW, 1);
    for (int64_t i = 0; i < 10 && oi_is_floating(d); i++)
        s->args[0].tensors->a.v[i] = oi_cast(oi_float(10000 - 3 * i), TN_F64, d);
    s = softmax_sample(row, out, d, seed, "NaN and infinity", OI_SIZES(3, 4), OI_ROW, 1);
    if (oi_is_floating(d)) {
        s->args[0].tensors->a.v[1] = oi_float(NAN);
        s->args[0].tensors->a.v[5] = oi_float(-INFINITY);
    }
    softmax_sample(row, out, d, seed, "dim out of range", OI_SIZES(2, 3), OI_ROW, 2)->error = true;
    softmax_sample(row, out, d, seed, "large", OI_SIZES(97, 211), OI_ROW, 1)->large = true;
    if (row->op[0] != '_') {
        s = softmax_sample(row, out, d, seed, "dtype=float64", OI_SIZES(2, 5), OI_ROW, 1);
        oi_arg_int(s, "dtype", TN_FIELD_DTYPE, TN_F64);
    }
}

#define JOINING(name, which)                                                                       \
    {                                                                                              \
        .op = name, .dtypes = ALL, .tolerance = "exact", .kind = which, .samples = join_samples,   \
        .reference = join                                                                          \
    }
#define SOFTMAX(name, which)                                                                       \
    {                                                                                              \
        .op = name, .dtypes = FLOAT, .tolerance = "softmax", .kind = which,                        \
        .samples = softmax_samples, .reference = softmax                                           \
    }

static const oi_row rows[] = {
    JOINING("cat", 0),          JOINING("stack", 1),       SOFTMAX("_softmax", 0),
    SOFTMAX("_log_softmax", 1), SOFTMAX("softmax.int", 0), SOFTMAX("log_softmax.int", 1),
};
const oi_rows oi_rows_join = ROWS(rows);

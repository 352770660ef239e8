/* rows_scatter.c - writing and adding by index: index_add, scatter, scatter_add,
 * _as_strided_backward; and running along a dimension: cumsum, cumprod. */
#include "rows_impl.h"

#include <math.h>
#include <string.h>

enum { INDEX_ADD, SCATTER, SCATTER_VALUE, SCATTER_ADD, CUMSUM, CUMPROD };

static int64_t wrapped(int64_t d, int64_t n)
{
    return d < 0 ? d + n : d;
}

static void put(oi_array *r, int64_t at, oi_num v, oi_num factor, bool adds)
{
    if (!adds) {
        r->v[at] = v;
        return;
    }
    oi_num p = {v.re * factor.re - v.im * factor.im, v.re * factor.im + v.im * factor.re,
                (int64_t)((uint64_t)v.i * (uint64_t)factor.i)};
    r->mag[at] += hypotl(p.re, p.im);
    r->v[at] = (oi_num){r->v[at].re + p.re, r->v[at].im + p.im,
                        (int64_t)((uint64_t)r->v[at].i + (uint64_t)p.i)};
    if (r->dtype == TN_BOOL)
        r->v[at] = oi_int(r->v[at].i != 0);
}

static oi_array started(const oi_array *x)
{
    oi_array r = oi_array_new(x->dtype, x->ndim, x->sizes);
    oi_array_mags(&r);
    for (int64_t i = 0; i < x->numel; i++) {
        r.v[i] = x->v[i];
        r.mag[i] = hypotl(x->v[i].re, x->v[i].im);
    }
    return r;
}

static int scattered(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self"), *index = oi_input(s, "index");
    const oi_array *src = oi_input(s, row->kind == INDEX_ADD ? "source" : "src");
    const oi_array *over = row->kind == INDEX_ADD ? src : index;
    const oi_arg *alpha = oi_find(s, "alpha"), *value = oi_find(s, "value");
    oi_num factor = alpha ? oi_from_scalar(&alpha->scalar, x->dtype)
                          : oi_cast(oi_int(1), TN_I64, x->dtype);
    int64_t coords[OI_DIMS], dim = wrapped(oi_get_int(s, "dim", 0), x->ndim);
    results[0] = started(x);
    for (int64_t i = 0; i < over->numel; i++) {
        oi_coords(over, i, coords);
        oi_num v = src ? src->v[oi_index(src, coords)] : oi_from_scalar(&value->scalar, x->dtype);
        coords[dim] = index->v[row->kind == INDEX_ADD ? coords[dim] : i].i;
        put(&results[0], oi_index(x, coords), v, factor,
            row->kind == INDEX_ADD || row->kind == SCATTER_ADD);
    }
    for (int64_t i = 0; oi_is_integral(x->dtype) && i < x->numel; i++)
        results[0].v[i] = oi_cast(oi_int(results[0].v[i].i), TN_I64, x->dtype);
    return 1;
}

typedef struct setting {
    int64_t kind;
    const char *what;
    int ndim;
    int64_t sizes[3];
    oi_layout layout;
    int index_ndim;
    int64_t index_sizes[3];
    int src_ndim;
    int64_t src_sizes[3];
    oi_layout src_layout;
    int64_t dim, most; /* the largest index */
    bool error, by_value, large;
} setting;

static const setting settings[] = {
    {INDEX_ADD, "rows", 2, {5, 4}, OI_ROW, 1, {7}, 2, {7, 4}, OI_ROW, 0, 4, 0, 0, 0},
    {INDEX_ADD, "columns", 2, {5, 4}, OI_TRANSPOSED, 1, {6}, 2, {5, 6}, OI_GAPPED, -1, 3, 0, 0, 0},
    {INDEX_ADD, "a vector", 1, {5}, OI_GAPPED, 1, {3}, 1, {3}, OI_ROW, 0, 4, 0, 0, 0},
    {INDEX_ADD, "no indices", 2, {5, 4}, OI_ROW, 1, {0}, 2, {0, 4}, OI_ROW, 0, 4, 0, 0, 0},
    {INDEX_ADD, "out of range", 2, {5, 4}, OI_ROW, 1, {3}, 2, {3, 4}, OI_ROW, 0, -5, 1, 1, 0},
    {INDEX_ADD, "too few slices", 2, {5, 4}, OI_ROW, 1, {3}, 2, {2, 4}, OI_ROW, 0, 4, 1, 0, 0},
    {INDEX_ADD, "large", 2, {67, 101}, OI_ROW, 1, {200}, 2, {200, 101}, OI_ROW, 0, 66, 0, 0, 1},
    {SCATTER_ADD, "along rows", 2, {5, 4}, OI_ROW, 2, {3, 4}, 2, {3, 4}, OI_ROW, 0, 4, 0, 0, 0},
    {SCATTER_ADD, "columns", 2, {5, 4}, OI_GAPPED, 2, {5, 6}, 2, {5, 7}, OI_ROW, 1, 3, 0, 0, 0},
    {SCATTER_ADD, "no indices", 2, {5, 4}, OI_ROW, 2, {0, 4}, 2, {3, 4}, OI_ROW, 0, 4, 0, 0, 0},
    {SCATTER_ADD, "out of range", 2, {5, 4}, OI_ROW, 2, {2, 2}, 2, {2, 2}, OI_ROW, 0, -5, 1, 1, 0},
    {SCATTER_ADD, "src too small", 2, {5, 4}, OI_ROW, 2, {3, 4}, 2, {2, 4}, OI_ROW, 0, 4, 1, 0, 0},
    {SCATTER_ADD,
     "large",
     2,
     {67, 101},
     OI_ROW,
     2,
     {60, 101},
     2,
     {60, 101},
     OI_ROW,
     0,
     66,
     0,
     0,
     1},
    {SCATTER, "a permutation", 2, {4, 3}, OI_ROW, 2, {4, 3}, 2, {4, 3}, OI_GAPPED, 0, 0, 0, 0, 0},
    {SCATTER, "columns", 2, {3, 6}, OI_TRANSPOSED, 2, {2, 5}, 2, {3, 5}, OI_ROW, 1, 0, 0, 0, 0},
    {SCATTER, "out of range", 2, {5, 4}, OI_ROW, 2, {2, 2}, 2, {2, 2}, OI_ROW, 0, -5, 1, 1, 0},
    {SCATTER, "too many columns", 2, {5, 4}, OI_ROW, 2, {2, 6}, 2, {2, 6}, OI_ROW, 0, 0, 1, 0, 0},
    {SCATTER_VALUE, "rows", 2, {5, 4}, OI_ROW, 2, {3, 4}, 0, {0}, OI_ROW, 0, 4, 0, 0, 0},
    {SCATTER_VALUE, "columns", 2, {5, 4}, OI_GAPPED, 2, {2, 3}, 0, {0}, OI_ROW, -1, 3, 0, 0, 0},
    {SCATTER_VALUE, "out of range", 2, {5, 4}, OI_ROW, 2, {2, 2}, 0, {0}, OI_ROW, 0, -5, 1, 1, 0},
};

/* most > 0: random up to it; 0: each place once, so that the order of writes does not matter;
 * < 0: too large. */
static oi_array indices(const setting *w, oi_rng *r, tn_dtype d)
{
    if (w->most != 0)
        return oi_values_in(r, d, w->index_ndim, w->index_sizes, w->most < 0 ? (double)-w->most : 0,
                            (double)(w->most < 0 ? -w->most : w->most));
    oi_array a = oi_array_new(d, w->index_ndim, w->index_sizes);
    int64_t coords[OI_DIMS], n = w->sizes[w->dim];
    for (int64_t i = 0; i < a.numel; i++) {
        oi_coords(&a, i, coords);
        a.v[i] = oi_int((coords[w->dim] * (n - 1) + coords[!w->dim]) % n);
    }
    return a;
}

static void samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        const setting *w = &settings[k];
        if (w->kind != row->kind)
            continue;
        oi_sample *s = oi_sample_new(out, w->what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        tn_dtype index = row->kind == INDEX_ADD && s->number % 2 ? TN_I32 : TN_I64;
        oi_arg_tensor(s, "self", oi_values(row, &r, d, w->ndim, w->sizes), w->layout);
        oi_arg_int(s, "dim", TN_FIELD_INT, w->dim);
        oi_arg_tensor(s, "index", indices(w, &r, index), OI_ROW);
        if (row->kind == SCATTER_VALUE)
            oi_arg_scalar(s, "value",
                          d == TN_BOOL        ? tn_scalar_bool(true)
                          : oi_is_integral(d) ? tn_scalar_int(3)
                                              : tn_scalar_float(1.5));
        else
            oi_arg_tensor(s, row->kind == INDEX_ADD ? "source" : "src",
                          oi_values(row, &r, d, w->src_ndim, w->src_sizes), w->src_layout);
        if (row->kind == INDEX_ADD && s->number % 2 && d != TN_BOOL)
            oi_arg_scalar(s, "alpha", oi_is_integral(d) ? tn_scalar_int(2) : tn_scalar_float(0.5));
        s->error = w->error;
        s->by_value = w->by_value;
        s->large = w->large;
    }
}

/* ---- the gradient of as_strided -------------------------------------------------------------- */
static int strided(const oi_row *row, const oi_sample *s, oi_array *results)
{
    (void)row;
    const oi_array *grad = oi_input(s, "grad");
    const oi_arg *base = oi_find(s, "base_size"), *stride = oi_find(s, "stride");
    int64_t coords[OI_DIMS];
    results[0] = oi_array_new(grad->dtype, (int)base->n, base->ints);
    oi_array_mags(&results[0]);
    oi_num one = oi_cast(oi_int(1), TN_I64, grad->dtype);
    for (int64_t i = 0; i < grad->numel; i++) {
        int64_t at = oi_get_int(s, "offset", 0);
        oi_coords(grad, i, coords);
        for (int d = 0; d < grad->ndim; d++)
            at += coords[d] * stride->ints[d];
        put(&results[0], at, grad->v[i], one, true);
    }
    for (int64_t i = 0; oi_is_integral(grad->dtype) && i < results[0].numel; i++)
        results[0].v[i] = oi_cast(oi_int(results[0].v[i].i), TN_I64, grad->dtype);
    return 1;
}

static void strided_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const struct {
        const char *what;
        int base_ndim, ndim;
        int64_t base[3], size[3], stride[3], offset;
        bool error;
    } cases[] = {
        {"apart", 2, 2, {4, 6}, {3, 2}, {6, 2}, 1, 0},
        {"overlapping windows", 1, 2, {9}, {4, 3}, {2, 1}, 0, 0},
        {"stride 0", 2, 2, {3, 4}, {5, 3}, {0, 4}, 2, 0},
        {"stride 0 and windows", 1, 3, {8}, {2, 3, 4}, {0, 1, 1}, 1, 0},
        {"0-dim", 2, 0, {2, 3}, {0}, {0}, 5, 0},
        {"no elements", 2, 1, {2, 3}, {0}, {1}, 0, 0},
        {"beyond the base", 2, 1, {2, 3}, {4}, {2}, 0, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        oi_sample *s = oi_sample_new(out, cases[k].what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        oi_arg_tensor(s, "grad", oi_values(row, &r, d, cases[k].ndim, cases[k].size),
                      k % 2 ? OI_TRANSPOSED : OI_ROW);
        oi_arg_ints(s, "base_size", cases[k].base_ndim, cases[k].base);
        oi_arg_ints(s, "size", cases[k].ndim, cases[k].size);
        oi_arg_ints(s, "stride", cases[k].ndim, cases[k].stride);
        oi_arg_int(s, "offset", TN_FIELD_INT, cases[k].offset);
        s->error = cases[k].error;
    }
}

/* ---- running along a dimension --------------------------------------------------------------- */
static int running(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self");
    const oi_arg *asked = oi_find(s, "dtype");
    tn_dtype dtype = asked                      ? (tn_dtype)asked->ints[0]
                     : oi_is_integral(x->dtype) ? TN_I64
                                                : x->dtype;
    int64_t coords[OI_DIMS], dim = wrapped(oi_get_int(s, "dim", 0), x->ndim);
    results[0] = oi_array_new(dtype, x->ndim, x->sizes);
    oi_array *r = &results[0];
    oi_array_mags(r);
    for (int64_t i = 0; i < x->numel; i++) {
        oi_num v = oi_cast(x->v[i], x->dtype, dtype);
        oi_coords(x, i, coords);
        r->v[i] = v;
        r->mag[i] = hypotl(v.re, v.im);
        if (x->ndim == 0 || coords[dim] == 0)
            continue;
        coords[dim]--;
        int64_t before = oi_index(x, coords);
        oi_num p = r->v[before];
        if (row->kind == CUMSUM) {
            r->v[i] = (oi_num){p.re + v.re, p.im + v.im, (int64_t)((uint64_t)p.i + (uint64_t)v.i)};
            r->mag[i] += r->mag[before];
        } else {
            r->v[i] = (oi_num){p.re * v.re - p.im * v.im, p.re * v.im + p.im * v.re,
                               (int64_t)((uint64_t)p.i * (uint64_t)v.i)};
            r->mag[i] *= r->mag[before];
        }
    }
    for (int64_t i = 0; oi_is_integral(dtype) && i < r->numel; i++)
        r->v[i] = oi_cast(oi_int(r->v[i].i), TN_I64, dtype);
    return 1;
}

static void running_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const struct {
        const char *what;
        int ndim;
        int64_t sizes[3];
        oi_layout layout;
        int64_t dim;
        bool error, large;
    } cases[] = {
        {"rows", 2, {4, 5}, OI_ROW, -1, 0, 0},
        {"columns", 2, {5, 4}, OI_ROW, 0, 0, 0},
        {"the middle", 3, {3, 4, 5}, OI_TRANSPOSED, 1, 0, 0},
        {"gaps", 2, {4, 5}, OI_GAPPED, 1, 0, 0},
        {"0-dim", 0, {0}, OI_ROW, 0, 0, 0},
        {"no elements", 2, {0, 3}, OI_ROW, 0, 0, 0},
        {"one element", 1, {1}, OI_ROW, 0, 0, 0},
        {"dim out of range", 2, {4, 5}, OI_ROW, 2, 1, 0},
        {"large", 2, {67, 301}, OI_ROW, 0, 0, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        oi_sample *s = oi_sample_new(out, cases[k].what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        oi_array a = oi_is_integral(d) ? oi_values_in(&r, d, cases[k].ndim, cases[k].sizes,
                                                      d == TN_U8 ? 0 : -2, 3)
                                       : oi_values(row, &r, d, cases[k].ndim, cases[k].sizes);
        oi_arg_tensor(s, "self", a, cases[k].layout);
        oi_arg_int(s, "dim", TN_FIELD_INT, cases[k].dim);
        if (k == 3 && oi_is_integral(d)) /* in place, self's dtype is the only one */
            oi_arg_int(s, "dtype", TN_FIELD_DTYPE, TN_F64);
        s->error = cases[k].error;
        s->large = cases[k].large;
    }
}

#define BY_INDEX(name, which, family)                                                              \
    {                                                                                              \
        .op = name, .dtypes = ALL, .tolerance = family, .kind = which, .lo = -9, .hi = 9,          \
        .samples = samples, .reference = scattered                                                 \
    }
#define RUNNING(name, which, family, lo_, hi_)                                                     \
    {                                                                                              \
        .op = name, .dtypes = ALL, .tolerance = family, .kind = which, .lo = lo_, .hi = hi_,       \
        .samples = running_samples, .reference = running                                           \
    }

static const oi_row rows[] = {
    BY_INDEX("index_add", INDEX_ADD, "matrix"),
    BY_INDEX("scatter_add", SCATTER_ADD, "sum"),
    BY_INDEX("scatter.src", SCATTER, "exact"),
    BY_INDEX("scatter.value", SCATTER_VALUE, "exact"),
    {.op = "_as_strided_backward",
     .dtypes = ALL,
     .tolerance = "sum",
     .lo = -9,
     .hi = 9,
     .samples = strided_samples,
     .reference = strided},
    RUNNING("cumsum", CUMSUM, "sum", -9, 9),
    RUNNING("cumprod", CUMPROD, "product", -2, 2),
};
const oi_rows oi_rows_scatter = ROWS(rows);

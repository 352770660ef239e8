/* rows_scatter_reduce.c - combining at places that an index decides: scatter_reduce, index_reduce, and
 * scatter with a `reduce`, which adds or multiplies. */
#include "rows_impl.h"

#include <math.h>
#include <string.h>

enum { SCATTER, INDEX, OLDER, OLDER_VALUE };

static int64_t wrapped(int64_t d, int64_t n)
{
    return d < 0 ? d + n : d;
}

static oi_num combined(const char *reduce, tn_dtype d, oi_num a, oi_num b)
{
    bool whole = oi_is_integral(d);
    if (strcmp(reduce, "prod") == 0 || strcmp(reduce, "multiply") == 0)
        return whole ? oi_cast(oi_int((int64_t)((uint64_t)a.i * (uint64_t)b.i)), TN_I64, d)
                     : oi_complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
    if (strcmp(reduce, "amax") == 0)
        return isnan(a.re) || a.re > b.re ? a : b;
    if (strcmp(reduce, "amin") == 0)
        return isnan(a.re) || a.re < b.re ? a : b;
    if (d == TN_BOOL)
        return oi_int(a.i || b.i);
    return whole ? oi_int((int64_t)((uint64_t)a.i + (uint64_t)b.i))
                 : oi_complex(a.re + b.re, a.im + b.im);
}

/* How large what is combined is, for the tolerance: a product's is itself. */
static oi_real magnitude(const char *reduce, oi_real mag, oi_num combined, oi_num v)
{
    bool multiplies = strcmp(reduce, "prod") == 0 || strcmp(reduce, "multiply") == 0;
    return multiplies ? hypotl(combined.re, combined.im) : mag + hypotl(v.re, v.im);
}

static oi_num mean_of(oi_num sum, tn_dtype d, int64_t n)
{
    sum = oi_is_integral(d) ? oi_cast(oi_int(sum.i), TN_I64, d) : sum;
    if (n < 2)
        return sum;
    return oi_is_integral(d) ? oi_int(sum.i / n - (sum.i % n < 0)) : oi_float(sum.re / (oi_real)n);
}

static int reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self"), *index = oi_input(s, "index");
    const oi_array *src = oi_input(s, row->kind == INDEX ? "source" : "src");
    const oi_array *over = row->kind == INDEX ? src : index;
    const char *reduce = oi_find(s, "reduce")->text;
    bool include = oi_get_int(s, "include_self", 1), mean = strcmp(reduce, "mean") == 0;
    int64_t coords[OI_DIMS], dim = wrapped(oi_get_int(s, "dim", 0), x->ndim ? x->ndim : 1);
    int64_t *n = oi_alloc(((size_t)x->numel + 1) * sizeof *n);
    oi_array *r = &results[0];
    *r = oi_array_cast(x, x->dtype);
    oi_array_mags(r);
    const oi_arg *value = oi_find(s, "value");
    for (int64_t i = 0; i < x->numel; i++) {
        n[i] = include;
        r->mag[i] = hypotl(x->v[i].re, x->v[i].im);
    }
    for (int64_t i = 0; i < over->numel; i++) {
        oi_coords(over, i, coords);
        oi_num v = src ? src->v[oi_index(src, coords)] : oi_from_scalar(&value->scalar, x->dtype);
        if (over->ndim)
            coords[dim] = index->v[row->kind == INDEX ? coords[dim] : i].i;
        int64_t to = oi_index(x, coords);
        r->v[to] = n[to] ? combined(reduce, x->dtype, r->v[to], v) : v;
        r->mag[to] = n[to]++ ? magnitude(reduce, r->mag[to], r->v[to], v) : hypotl(v.re, v.im);
    }
    for (int64_t i = 0; i < x->numel; i++)
        r->v[i] = mean                       ? mean_of(r->v[i], x->dtype, n[i])
                  : oi_is_integral(x->dtype) ? oi_cast(oi_int(r->v[i].i), TN_I64, x->dtype)
                                             : r->v[i];
    return 1;
}

typedef struct setting {
    int64_t kind;
    const char *what;
    int ndim;
    int64_t sizes[2];
    oi_layout layout;
    int index_ndim;
    int64_t index[2];
    int src_ndim;
    int64_t src[2], dim;
    int error; /* 1: an index out of range, 2: of the shapes, 3: of the name */
} setting;

static const setting settings[] = {
    {SCATTER, "rows", 2, {4, 3}, OI_ROW, 2, {5, 3}, 2, {5, 3}, 0, 0},
    {SCATTER, "columns", 2, {3, 5}, OI_TRANSPOSED, 2, {2, 4}, 2, {3, 6}, -1, 0},
    {SCATTER, "0-dim", 0, {0}, OI_ROW, 0, {0}, 0, {0}, 0, 0},
    {SCATTER, "no indices", 2, {4, 3}, OI_GAPPED, 2, {0, 3}, 2, {2, 3}, 0, 0},
    {SCATTER, "out of range", 1, {3}, OI_ROW, 1, {2}, 1, {2}, 0, 1},
    {SCATTER, "src too small", 2, {4, 3}, OI_ROW, 2, {3, 3}, 2, {2, 3}, 0, 2},
    {SCATTER, "no such reduction", 1, {3}, OI_ROW, 1, {2}, 1, {2}, 0, 3},
    {INDEX, "rows", 2, {4, 3}, OI_ROW, 1, {6}, 2, {6, 3}, 0, 0},
    {INDEX, "columns", 2, {3, 5}, OI_GAPPED, 1, {4}, 2, {3, 4}, -1, 0},
    {INDEX, "0-dim", 0, {0}, OI_ROW, 1, {1}, 0, {0}, 0, 0},
    {INDEX, "no indices", 2, {4, 3}, OI_TRANSPOSED, 1, {0}, 2, {0, 3}, 0, 0},
    {INDEX, "out of range", 1, {3}, OI_ROW, 1, {2}, 1, {2}, 0, 1},
    {INDEX, "too few slices", 2, {4, 3}, OI_ROW, 1, {3}, 2, {2, 3}, 0, 2},
    {INDEX, "no such reduction", 1, {3}, OI_ROW, 1, {2}, 1, {2}, 0, 3},
};

static void add_sample(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed,
                       const setting *w, const char *reduce, bool include)
{
    oi_sample *s = oi_sample_new(out, w->what);
    oi_rng r = oi_rng_make(seed, row->op, d, s->number);
    int64_t dim = wrapped(w->dim, w->ndim ? w->ndim : 1), most = w->ndim ? w->sizes[dim] - 1 : 0;
    oi_arg_tensor(s, "self", oi_values(row, &r, d, w->ndim, w->sizes), w->layout);
    oi_arg_int(s, "dim", TN_FIELD_INT, w->dim);
    oi_arg_tensor(s, "index",
                  oi_values_in(&r, TN_I64, w->index_ndim, w->index, w->error == 1 ? 3 : 0,
                               w->error == 1 ? 3 : (double)most),
                  OI_ROW)
        ->fixed = true;
    if (row->kind == OLDER_VALUE)
        oi_arg_scalar(s, "value",
                      oi_is_integral(d) ? tn_scalar_int(d == TN_BOOL ? 1 : 3)
                                        : tn_scalar_float(1.5));
    else
        oi_arg_tensor(s, row->kind == INDEX ? "source" : "src",
                      oi_values(row, &r, d, w->src_ndim, w->src),
                      s->number % 2 ? OI_GAPPED : OI_ROW);
    oi_arg_text(s, "reduce", w->error == 3 ? "median" : reduce);
    if (row->kind == SCATTER || row->kind == INDEX)
        oi_arg_int(s, "include_self", TN_FIELD_BOOL, include);
    s->error = w->error;
    s->by_value = w->error == 1;
}

static void samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const char *const names[] = {"prod", "amax", "amin", "mean", "sum"}, *const older[] = {
                                                                                    "add",
                                                                                    "multiply"};
    bool is_older = row->kind == OLDER || row->kind == OLDER_VALUE;
    int64_t kind = row->kind == INDEX ? INDEX : SCATTER;
    int n = is_older ? 2 : row->kind == INDEX ? 4 : 5;
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        for (int i = 0; i < n && settings[k].kind == kind; i++) {
            if (row->kind == OLDER_VALUE && settings[k].error == 2)
                continue;
            for (int include = is_older; include < 2; include++)
                if (d != TN_BOOL || i != 3)
                    add_sample(row, out, d, seed, &settings[k], is_older ? older[i] : names[i],
                               include);
        }
}

#define COMBINING(name, which, dtypes_)                                                            \
    {                                                                                              \
        .op = name, .dtypes = dtypes_, .tolerance = "moment", .kind = which, .lo = -3, .hi = 3,    \
        .samples = samples, .reference = reference                                                 \
    }

static const oi_row rows[] = {
    COMBINING("scatter_reduce.two", SCATTER, REAL),
    COMBINING("index_reduce", INDEX, INT | FLOAT),
    COMBINING("scatter.reduce", OLDER, ALL),
    COMBINING("scatter.value_reduce", OLDER_VALUE, ALL),
};
const oi_rows oi_rows_scatter_reduce = ROWS(rows);

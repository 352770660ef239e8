/* rows_quantile.c - quantile and nanquantile, with q as a number and as a tensor; diff. */
#include "rows_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { IGNORE_NAN = 1, TENSOR = 2 };

static int64_t wrapped(int64_t d, int64_t n)
{
    return d < 0 ? d + n : d;
}

/* ---- one row --------------------------------------------------------------------------------- */
static int by_value(const void *a, const void *b)
{
    oi_real x = *(const oi_real *)a, y = *(const oi_real *)b;
    if (isnan(x) || isnan(y))
        return !!isnan(x) - !!isnan(y);
    return x < y ? -1 : x > y;
}

static oi_num quantile_of(oi_real *row, int64_t n, oi_real q, const char *how, bool ignore,
                          oi_real *mag)
{
    int64_t numbers = 0;
    for (int64_t i = 0; i < n; i++)
        numbers += !isnan(row[i]);
    if (numbers == 0 || (numbers < n && !ignore))
        return oi_float(NAN);
    qsort(row, (size_t)n, sizeof *row, by_value);
    oi_real rank = q * (oi_real)(numbers - 1), below = floorl(rank), above = ceill(rank);
    oi_real low = row[(int64_t)below], high = row[(int64_t)above], part = rank - below;
    /* the rank is rounded, too */
    *mag = fmaxl(fabsl(low), fabsl(high)) + (isfinite(high - low) ? rank * (high - low) : 0);
    if (strcmp(how, "lower") == 0)
        return oi_float(low);
    if (strcmp(how, "higher") == 0)
        return oi_float(high);
    if (strcmp(how, "nearest") == 0)
        return oi_float(row[(int64_t)rintl(rank)]);
    if (strcmp(how, "midpoint") == 0)
        part = 0.5L;
    return oi_float(low == high ? low : low + part * (high - low));
}

static const char *how_of(const oi_sample *s)
{
    const oi_arg *how = oi_find(s, "interpolation");
    return how ? how->text : "linear";
}

/* The shape of the result behind the list of q, and how x is cut: outer x n x inner. */
typedef struct cut {
    int ndim;
    int64_t sizes[OI_DIMS], outer, n, inner;
} cut;

static cut cut_of(const oi_sample *s, const oi_array *x)
{
    const oi_arg *dim = oi_find(s, "dim");
    int64_t d = dim ? wrapped(dim->ints[0], x->ndim) : 0;
    cut c = {.outer = 1, .n = dim && x->ndim ? x->sizes[d] : x->numel, .inner = 1};
    for (int k = 0; k < x->ndim; k++) {
        bool goes = !dim || k == d;
        if (!goes || oi_get_int(s, "keepdim", 0))
            c.sizes[c.ndim++] = goes ? 1 : x->sizes[k];
        c.outer *= dim && k < d ? x->sizes[k] : 1;
        c.inner *= dim && k > d ? x->sizes[k] : 1;
    }
    return c;
}

static int reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self"), *list = oi_input(s, "q");
    cut c = cut_of(s, x);
    int64_t many = list ? list->numel : 1, one = 1;
    if (list && list->ndim) {
        memmove(c.sizes + 1, c.sizes, (size_t)c.ndim * sizeof *c.sizes);
        c.sizes[0] = many;
        c.ndim++;
    }
    results[0] = oi_array_new(x->dtype, c.ndim, c.sizes);
    oi_array_mags(&results[0]);
    oi_real *line = oi_alloc((size_t)(c.n + one) * sizeof *line);
    for (int64_t k = 0, at = 0; k < many; k++) {
        oi_real q = list ? list->v[k].re : oi_find(s, "q")->scalar.v.f;
        for (int64_t o = 0; o < c.outer; o++)
            for (int64_t i = 0; i < c.inner; i++, at++) {
                for (int64_t j = 0; j < c.n; j++)
                    line[j] = x->v[(o * c.n + j) * c.inner + i].re;
                results[0].v[at] = quantile_of(line, c.n, q, how_of(s), row->kind & IGNORE_NAN,
                                               &results[0].mag[at]);
            }
    }
    return 1;
}

typedef struct setting {
    const char *what;
    int ndim;
    int64_t sizes[3];
    oi_layout layout;
    int64_t dim; /* 9: none */
    bool keepdim;
    double q;
    const char *how;
    bool nan, error;
} setting;

static const setting settings[] = {
    {"rows", 2, {4, 5}, OI_ROW, -1, 0, 0.3, "linear", 0, 0},
    {"columns", 2, {6, 4}, OI_TRANSPOSED, 0, 1, 0.7, "linear", 0, 0},
    {"the middle", 3, {2, 5, 3}, OI_GAPPED, 1, 0, 0.25, "midpoint", 0, 0},
    {"the middle, kept", 3, {2, 5, 3}, OI_ROW, 1, 1, 0.35, "lower", 0, 0},
    {"everything", 2, {3, 4}, OI_ROW, 9, 0, 0.6, "higher", 0, 0},
    {"everything, kept", 2, {3, 4}, OI_TRANSPOSED, 9, 1, 0.8, "nearest", 0, 0},
    {"the ends", 1, {7}, OI_ROW, 0, 0, 1, "linear", 0, 0},
    {"the beginning", 1, {7}, OI_ROW, 0, 0, 0, "linear", 0, 0},
    {"0-dim", 0, {0}, OI_ROW, 0, 1, 0.5, "linear", 0, 0},
    {"one element", 1, {1}, OI_ROW, 9, 0, 0.5, "midpoint", 0, 0},
    {"NaN", 2, {4, 6}, OI_ROW, 1, 0, 0.45, "linear", 1, 0},
    {"no elements", 2, {0, 3}, OI_ROW, 0, 0, 0.5, "linear", 0, 1},
    {"no such way", 1, {3}, OI_ROW, 0, 0, 0.5, "cubic", 0, 1},
    {"dim out of range", 2, {3, 4}, OI_ROW, 2, 0, 0.5, "linear", 0, 1},
};

static oi_array elements(const oi_row *row, oi_rng *r, tn_dtype d, const setting *w)
{
    oi_array a = oi_values(row, r, d, w->ndim, w->sizes);
    for (int64_t i = 0; w->nan && i < a.numel; i++)
        if (i == 3 || (i >= 12 && i < 18)) /* one of a row, and a whole row */
            a.v[i] = oi_float(NAN);
    return a;
}

static void add_q(oi_sample *s, const oi_row *row, tn_dtype d, double q)
{
    const int64_t three = 3;
    if (!(row->kind & TENSOR)) {
        oi_arg_scalar(s, "q", tn_scalar_float(q));
        s->args[s->n_args - 1].kind = TN_FIELD_FLOAT;
        return;
    }
    oi_array list = oi_array_new(d, s->number % 3 ? 1 : 0, &three);
    for (int64_t i = 0; i < list.numel; i++)
        list.v[i] = oi_cast(oi_float(((i * 3 + (int64_t)(q * 8)) % 9 + 0.37L) / 9.5L), TN_F64, d);
    oi_arg_tensor(s, "q", list, OI_ROW);
}

static void samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        const setting *w = &settings[k];
        oi_sample *s = oi_sample_new(out, w->what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        oi_arg_tensor(s, "self", elements(row, &r, d, w), w->layout);
        add_q(s, row, d, w->q);
        if (w->dim != 9)
            oi_arg_int(s, "dim", TN_FIELD_OPT_INT, w->dim);
        oi_arg_int(s, "keepdim", TN_FIELD_BOOL, w->keepdim);
        oi_arg_text(s, "interpolation", w->how);
        s->error = w->error;
    }
}

/* ---- diff ------------------------------------------------------------------------------------ */
static oi_array joined(const oi_array *a, const oi_array *b, int64_t dim)
{
    int64_t sizes[OI_DIMS], coords[OI_DIMS];
    for (int d = 0; d < a->ndim; d++)
        sizes[d] = a->sizes[d] + (d == dim ? b->sizes[d] : 0);
    oi_array r = oi_array_new(a->dtype, a->ndim, sizes);
    for (int64_t i = 0; i < r.numel; i++) {
        oi_coords(&r, i, coords);
        bool second = coords[dim] >= a->sizes[dim];
        coords[dim] -= second ? a->sizes[dim] : 0;
        r.v[i] = second ? b->v[oi_index(b, coords)] : a->v[oi_index(a, coords)];
    }
    return r;
}

static oi_array differences(const oi_array *a, int64_t dim)
{
    int64_t sizes[OI_DIMS], coords[OI_DIMS];
    for (int d = 0; d < a->ndim; d++)
        sizes[d] = a->sizes[d] - (d == dim);
    oi_array r = oi_array_new(a->dtype, a->ndim, sizes);
    oi_array_mags(&r);
    for (int64_t i = 0; i < r.numel; i++) {
        oi_coords(&r, i, coords);
        int64_t low = oi_index(a, coords);
        coords[dim]++;
        int64_t high = oi_index(a, coords);
        oi_num x = a->v[high], y = a->v[low];
        oi_num d = {x.re - y.re, x.im - y.im, (int64_t)((uint64_t)x.i - (uint64_t)y.i)};
        r.v[i] = a->dtype == TN_BOOL ? oi_int(x.i != y.i) : d;
        if (oi_is_integral(a->dtype))
            r.v[i] = oi_cast(oi_int(r.v[i].i), TN_I64, a->dtype);
        r.mag[i] = (a->mag ? a->mag[high] : hypotl(x.re, x.im)) +
                   (a->mag ? a->mag[low] : hypotl(y.re, y.im));
    }
    return r;
}

static int diff_reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    (void)row;
    oi_array x = *oi_input(s, "self");
    const oi_array *before = oi_input(s, "prepend"), *after = oi_input(s, "append");
    int64_t dim = wrapped(oi_get_int(s, "dim", -1), x.ndim), n = oi_get_int(s, "n", 1);
    if (before && n)
        x = joined(before, &x, dim);
    if (after && n)
        x = joined(&x, after, dim);
    for (int64_t i = 0; i < n && x.sizes[dim]; i++)
        x = differences(&x, dim);
    results[0] = x;
    return 1;
}

static void diff_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const struct {
        const char *what;
        int ndim;
        int64_t sizes[3];
        oi_layout layout;
        int64_t n, dim, before, after;
        bool error;
    } cases[] = {
        {"rows", 2, {4, 5}, OI_ROW, 1, -1, 0, 0, 0},
        {"columns, twice", 2, {5, 4}, OI_TRANSPOSED, 2, 0, 0, 0, 0},
        {"the middle", 3, {2, 5, 3}, OI_GAPPED, 1, 1, 0, 0, 0},
        {"prepended", 2, {3, 4}, OI_ROW, 1, 1, 2, 0, 0},
        {"both ends", 2, {3, 4}, OI_ROW, 3, 0, 1, 2, 0},
        {"not at all", 2, {3, 4}, OI_ROW, 0, 0, 1, 0, 0},
        {"more often than there are", 1, {3}, OI_ROW, 5, 0, 0, 0, 0},
        {"no elements", 2, {0, 3}, OI_ROW, 1, 0, 0, 0, 0},
        {"0-dim", 0, {0}, OI_ROW, 1, 0, 0, 0, 1},
        {"a negative number of times", 1, {3}, OI_ROW, -1, 0, 0, 0, 1},
        {"dim out of range", 1, {3}, OI_ROW, 1, 1, 0, 0, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        oi_sample *s = oi_sample_new(out, cases[k].what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        int64_t sizes[3] = {cases[k].sizes[0], cases[k].sizes[1], cases[k].sizes[2]};
        oi_arg_tensor(s, "self", oi_values(row, &r, d, cases[k].ndim, sizes), cases[k].layout);
        oi_arg_int(s, "n", TN_FIELD_INT, cases[k].n);
        oi_arg_int(s, "dim", TN_FIELD_INT, cases[k].dim);
        for (int end = 0; end < 2; end++) {
            int64_t more = end ? cases[k].after : cases[k].before;
            if (!more)
                continue;
            sizes[wrapped(cases[k].dim, cases[k].ndim)] = more;
            oi_arg_tensor(s, end ? "append" : "prepend",
                          oi_values(row, &r, d, cases[k].ndim, sizes), OI_ROW);
        }
        s->error = cases[k].error;
    }
}

#define QUANTILE(name, which)                                                                      \
    {                                                                                              \
        .op = name, .dtypes = TN_DTYPE_BIT(TN_F32) | TN_DTYPE_BIT(TN_F64), .tolerance = "moment",  \
        .kind = which, .lo = -9, .hi = 9, .samples = samples, .reference = reference               \
    }

static const oi_row rows[] = {
    QUANTILE("quantile.scalar", 0),
    QUANTILE("nanquantile.scalar", IGNORE_NAN),
    QUANTILE("quantile", TENSOR),
    QUANTILE("nanquantile", TENSOR | IGNORE_NAN),
    {.op = "diff",
     .dtypes = ALL,
     .tolerance = "loss",
     .lo = -9,
     .hi = 9,
     .samples = diff_samples,
     .reference = diff_reference},
};
const oi_rows oi_rows_quantile = ROWS(rows);

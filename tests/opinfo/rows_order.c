/* rows_order.c - what orders a row: sort, argsort, topk, kthvalue, medians, mode, cummax, cummin,
 * aminmax, msort. The reference ranks by counting, for every element, those that come before it. */
#include "rows_impl.h"

#include <math.h>

enum { SORT, ARGSORT, MSORT, TOPK, KTH, MEDIAN, NANMEDIAN, MODE, CUMMAX, CUMMIN, BOTH, HOW = 15 };
enum { STABLE = 16 }; /* an argument `stable` */

/* ---- rows ------------------------------------------------------------------------------------ */
typedef struct line {
    oi_num *v;
    int64_t n;
    bool whole; /* integers */
} line;

/* NaN is above everything and beside NaN. */
static int compare(const line *l, int64_t i, int64_t j)
{
    oi_num a = l->v[i], b = l->v[j];
    if (l->whole)
        return a.i < b.i ? -1 : a.i > b.i;
    if (isnan(a.re) || isnan(b.re))
        return isnan(a.re) - isnan(b.re);
    return a.re < b.re ? -1 : a.re > b.re;
}

/* order[r] is the place of the element that r others come before; equal ones by place. */
static void rank(const line *l, bool descending, int64_t *order)
{
    for (int64_t i = 0; i < l->n; i++) {
        int64_t before = 0;
        for (int64_t j = 0; j < l->n; j++) {
            int c = compare(l, j, i);
            before += (descending ? c > 0 : c < 0) || (c == 0 && j < i);
        }
        order[before] = i;
    }
}

static int64_t most_frequent(const line *l, const int64_t *order)
{
    int64_t best = 0, longest = 0;
    for (int64_t i = 0, run = 0; i < l->n; i++) {
        run = i > 0 && compare(l, order[i], order[i - 1]) == 0 ? run + 1 : 1;
        if (run > longest)
            longest = run, best = order[i];
    }
    return best;
}

static int64_t middle(const line *l, const int64_t *order, bool ignore)
{
    int64_t numbers = 0;
    for (int64_t i = 0; i < l->n; i++)
        numbers += l->whole || !isnan(l->v[i].re);
    if (numbers < l->n && !ignore)
        return order[numbers];
    return order[numbers ? (numbers - 1) / 2 : 0];
}

/* Places that the operator names for this row, in order. */
static void answer(const oi_row *row, const oi_sample *s, const line *l, int64_t *order,
                   int64_t *places, int64_t n)
{
    int64_t how = row->kind & HOW;
    bool reverse = how == TOPK ? oi_get_int(s, "largest", 1) != 0
                               : oi_get_int(s, "descending", 0) != 0;
    rank(l, reverse, order);
    for (int64_t i = 0; i < n; i++)
        places[i] = how == KTH         ? order[oi_get_int(s, "k", 1) - 1]
                    : how == MEDIAN    ? middle(l, order, false)
                    : how == NANMEDIAN ? middle(l, order, true)
                    : how == MODE      ? most_frequent(l, order)
                                       : order[i];
}

static void running(const oi_row *row, const line *l, int64_t *places)
{
    for (int64_t i = 0; i < l->n; i++) {
        int64_t best = i ? places[i - 1] : 0;
        int c = compare(l, i, best);
        bool nan = !l->whole && isnan(l->v[i].re), had = !l->whole && isnan(l->v[best].re);
        bool wins = (row->kind & HOW) == CUMMAX ? c >= 0 : nan || (!had && c <= 0);
        places[i] = wins ? i : best;
    }
}

/* ---- results --------------------------------------------------------------------------------- */
static int64_t wrapped(int64_t d, int64_t n)
{
    return d < 0 ? d + n : d;
}

static int64_t dim_of(const oi_row *row, const oi_sample *s, const oi_array *x)
{
    int64_t how = row->kind & HOW, usual = how == MSORT || how == CUMMAX || how == CUMMIN ? 0 : -1;
    return wrapped(oi_get_int(s, "dim", usual), x->ndim);
}

static bool reduces(int64_t how)
{
    return how == KTH || how == MEDIAN || how == NANMEDIAN || how == MODE;
}

static void shape_of(const oi_row *row, const oi_sample *s, const oi_array *x, int64_t dim,
                     oi_array *r, tn_dtype dtype)
{
    int64_t sizes[OI_DIMS], how = row->kind & HOW;
    int ndim = 0;
    for (int d = 0; d < x->ndim; d++) {
        bool goes = reduces(how) && d == dim;
        if (goes && !oi_get_int(s, "keepdim", 0))
            continue;
        sizes[ndim++] = goes ? 1 : how == TOPK && d == dim ? oi_get_int(s, "k", 1) : x->sizes[d];
    }
    *r = oi_array_new(dtype, ndim, sizes);
}

/* One row, whose elements are `step` apart from `at` on in x, and `out` in the results. */
static void one_row(const oi_row *row, const oi_sample *s, const oi_array *x, int64_t at,
                    int64_t step, int64_t n, oi_array *results, int64_t out, int64_t m)
{
    line l = {oi_alloc((size_t)(n + 1) * sizeof *l.v), n, oi_is_integral(x->dtype)};
    int64_t *order = oi_alloc((size_t)(n + 1) * sizeof *order);
    int64_t *places = oi_alloc((size_t)(n + m + 1) * sizeof *places);
    for (int64_t i = 0; i < n; i++)
        l.v[i] = x->v[at + i * step];
    if ((row->kind & HOW) == CUMMAX || (row->kind & HOW) == CUMMIN)
        running(row, &l, places);
    else
        answer(row, s, &l, order, places, m);
    for (int64_t i = 0; i < m; i++) {
        results[0].v[out + i * step] = l.v[places[i]];
        results[1].v[out + i * step] = oi_int(places[i]);
    }
}

static int reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self");
    int64_t dim = dim_of(row, s, x), how = row->kind & HOW, outer = 1, inner = 1;
    int64_t n = x->ndim ? x->sizes[dim] : 1, m = how == TOPK ? oi_get_int(s, "k", 1) : n;
    m = reduces(how) || x->ndim == 0 ? 1 : m;
    for (int d = 0; d < x->ndim; d++) {
        outer *= d < dim ? x->sizes[d] : 1;
        inner *= d > dim ? x->sizes[d] : 1;
    }
    shape_of(row, s, x, dim, &results[0], x->dtype);
    shape_of(row, s, x, dim, &results[1], TN_I64);
    for (int64_t o = 0; results[0].numel && o < outer; o++)
        for (int64_t i = 0; i < inner; i++)
            one_row(row, s, x, o * n * inner + i, inner, n, results, o * m * inner + i, m);
    if (how == ARGSORT)
        results[0] = results[1];
    return how == ARGSORT || how == MSORT ? 1 : 2;
}

/* ---- samples --------------------------------------------------------------------------------- */
typedef struct setting {
    const char *what;
    int ndim;
    int64_t sizes[3];
    oi_layout layout;
    int64_t dim, k;
    bool flag; /* descending, smallest, keepdim */
    bool ties, special, error, large;
} setting;

static const setting settings[] = {
    {"rows", 2, {4, 5}, OI_ROW, -1, 2, 0, 0, 0, 0, 0},
    {"columns, the other way", 2, {5, 4}, OI_ROW, 0, 5, 1, 0, 0, 0, 0},
    {"the middle", 3, {3, 4, 5}, OI_TRANSPOSED, 1, 1, 0, 0, 0, 0, 0},
    {"gaps", 2, {4, 7}, OI_GAPPED, 1, 7, 1, 0, 0, 0, 0},
    {"stride 0", 2, {4, 3}, OI_EXPANDED, 1, 2, 0, 0, 0, 0, 0},
    {"a stride over 2 GiB", 2, {2, 5}, OI_HUGE, -1, 3, 0, 0, 0, 0, 0},
    {"misaligned", 2, {3, 33}, OI_SHIFTED, -1, 4, 1, 0, 0, 0, 0},
    {"0-dim", 0, {0}, OI_ROW, -1, 1, 0, 0, 0, 0, 0},
    {"one element", 1, {1}, OI_ROW, 0, 1, 1, 0, 0, 0, 0},
    {"equal elements", 2, {3, 90}, OI_ROW, -1, 50, 0, 1, 0, 0, 0},
    {"equal elements, the other way", 2, {3, 90}, OI_ROW, -1, 50, 1, 1, 0, 0, 0},
    {"a longer row", 1, {700}, OI_ROW, 0, 300, 1, 0, 0, 0, 0},
    {"NaN and infinity", 2, {4, 9}, OI_ROW, -1, 3, 0, 0, 1, 0, 0},
    {"NaN and infinity, the other way", 2, {4, 9}, OI_ROW, -1, 8, 1, 0, 1, 0, 0},
    {"no rows", 2, {0, 3}, OI_ROW, 1, 1, 0, 0, 0, 0, 0},
    {"dim out of range", 2, {3, 4}, OI_ROW, 2, 1, 0, 0, 0, 1, 0},
    {"dim far out of range", 2, {3, 4}, OI_ROW, -3, 1, 0, 0, 0, 1, 0},
    {"large rows", 2, {41, 1501}, OI_GAPPED, 1, 40, 0, 0, 0, 0, 1},
    {"large columns", 2, {501, 41}, OI_ROW, 0, 300, 1, 0, 0, 0, 1},
};

static oi_num special(int64_t i)
{
    const oi_real values[] = {NAN, INFINITY, -INFINITY, 0, -0.0L};
    return oi_float(values[i % 5]);
}

static oi_array elements(const oi_row *row, oi_rng *r, tn_dtype d, const setting *w)
{
    oi_array a = w->ties ? oi_values_in(r, d, w->ndim, w->sizes, 0, 3)
                         : oi_values(row, r, d, w->ndim, w->sizes);
    for (int64_t i = 0; w->ties && i < a.numel && !oi_is_integral(d); i++)
        a.v[i] = oi_float(rintl(a.v[i].re));
    for (int64_t i = 0; w->special && i < a.numel; i += 2)
        a.v[i] = special(i);
    int64_t first = w->layout == OI_EXPANDED ? a.numel / a.sizes[0] : a.numel;
    for (int64_t i = first; i < a.numel; i++)
        a.v[i] = a.v[i % first];
    return a;
}

static oi_sample *add(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed,
                      const setting *w)
{
    int64_t how = row->kind & HOW;
    oi_sample *s = oi_sample_new(out, w->what);
    oi_rng r = oi_rng_make(seed, row->op, d, s->number);
    oi_arg_tensor(s, "self", elements(row, &r, d, w), w->layout);
    if (row->kind & STABLE)
        oi_arg_int(s, "stable", TN_FIELD_BOOL, 1);
    if (how != MSORT)
        oi_arg_int(s, "dim", TN_FIELD_INT, w->dim);
    if (how == TOPK || how == KTH)
        oi_arg_int(s, "k", TN_FIELD_INT, w->k);
    if (how == SORT || how == ARGSORT)
        oi_arg_int(s, "descending", TN_FIELD_BOOL, w->flag);
    if (how == TOPK)
        oi_arg_int(s, "largest", TN_FIELD_BOOL, !w->flag);
    if (reduces(how))
        oi_arg_int(s, "keepdim", TN_FIELD_BOOL, w->flag);
    s->error = w->error;
    s->large = w->large;
    return s;
}

static void samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const setting empty = {"no elements", 2, {3, 0}, OI_ROW, 1, 0, 0, 0, 0, 0, 0},
                         beyond = {"k out of range", 1, {5}, OI_ROW, 0, 6, 0, 0, 0, 1, 0},
                         below = {"k below its range", 1, {5}, OI_ROW, 0, -1, 0, 0, 0, 1, 0},
                         scalar = {"k beyond 0-dim", 0, {0}, OI_ROW, 0, 2, 0, 0, 0, 1, 0};
    int64_t how = row->kind & HOW;
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        const setting *w = &settings[k];
        if ((how == MSORT && w->error) || (w->special && oi_is_integral(d)))
            continue;
        add(row, out, d, seed, w);
    }
    add(row, out, d, seed, &empty)->error = reduces(how);
    if (how == TOPK || how == KTH) {
        add(row, out, d, seed, &beyond);
        add(row, out, d, seed, &below);
        add(row, out, d, seed, &scalar);
    }
}

/* ---- whole tensors: median, nanmedian -------------------------------------------------------- */
static int whole_reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self");
    line l = {x->v, x->numel, oi_is_integral(x->dtype)};
    int64_t *order = oi_alloc((size_t)(x->numel + 1) * sizeof *order);
    results[0] = oi_array_new(x->dtype, 0, NULL);
    rank(&l, false, order);
    results[0].v[0] = x->numel ? l.v[middle(&l, order, (row->kind & HOW) == NANMEDIAN)]
                               : oi_cast(oi_float(NAN), TN_F64, x->dtype);
    return 1;
}

static void whole_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const setting none = {"no elements", 2, {0, 3}, OI_ROW, 0, 0, 0, 0, 0, 0, 0};
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        const setting *w = &settings[k];
        if (w->error || (w->special && oi_is_integral(d)) || (w->ndim > 1 && w->sizes[0] == 0))
            continue;
        oi_sample *s = oi_sample_new(out, w->what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        oi_arg_tensor(s, "self", elements(row, &r, d, w), w->layout);
        s->large = w->large;
    }
    if (oi_is_floating(d)) {
        oi_rng r = oi_rng_make(seed, row->op, d, out->n);
        oi_arg_tensor(oi_sample_new(out, none.what), "self", elements(row, &r, d, &none), OI_ROW);
    }
}

/* ---- aminmax --------------------------------------------------------------------------------- */
static int both_reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    (void)row;
    const oi_array *x = oi_input(s, "self");
    const oi_arg *arg = oi_find(s, "dim");
    int64_t sizes[OI_DIMS], coords[OI_DIMS], dim = arg ? wrapped(arg->ints[0], x->ndim) : -1;
    bool keep = oi_get_int(s, "keepdim", 0) != 0;
    int ndim = 0;
    for (int d = 0; d < x->ndim; d++) {
        bool goes = !arg || d == dim;
        if (!goes || keep)
            sizes[ndim++] = goes ? 1 : x->sizes[d];
    }
    if (x->ndim == 0 && arg && keep) /* as in ATen, for this operator alone */
        sizes[ndim++] = 1;
    line l = {x->v, x->numel, oi_is_integral(x->dtype)};
    results[0] = oi_array_new(x->dtype, ndim, sizes);
    results[1] = oi_array_new(x->dtype, ndim, sizes);
    int64_t *best[2] = {oi_alloc((size_t)(results[0].numel + 1) * sizeof **best),
                        oi_alloc((size_t)(results[0].numel + 1) * sizeof **best)};
    bool *seen = oi_alloc((size_t)(results[0].numel + 1) * sizeof *seen);
    for (int64_t i = 0; i < x->numel; i++) {
        int64_t at = 0;
        oi_coords(x, i, coords);
        for (int d = 0; d < x->ndim; d++)
            at = !arg || d == dim ? at : at * x->sizes[d] + coords[d];
        bool nan = !l.whole && isnan(l.v[i].re);
        for (int k = 0; k < 2; k++) {
            int64_t *b = &best[k][at];
            bool had = seen[at] && !l.whole && isnan(l.v[*b].re);
            if (!seen[at] || nan || (!had && (k ? compare(&l, i, *b) > 0 : compare(&l, i, *b) < 0)))
                *b = i;
        }
        seen[at] = true;
    }
    for (int64_t i = 0; i < results[0].numel && x->numel; i++)
        for (int k = 0; k < 2; k++)
            results[k].v[i] = x->v[best[k][i]];
    return 2;
}

static void both_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const setting none = {"no elements", 2, {3, 0}, OI_ROW, 1, 0, 0, 0, 0, 1, 0};
    for (size_t k = 0; k <= sizeof settings / sizeof *settings; k++) {
        const setting *w = k < sizeof settings / sizeof *settings ? &settings[k] : &none;
        if (w->special && oi_is_integral(d))
            continue;
        for (int all = 0; all < 2; all++) {
            bool empty = w->ndim == 2 && (w->sizes[0] == 0 || w->sizes[1] == 0);
            oi_sample *s = oi_sample_new(out, w->what);
            oi_rng r = oi_rng_make(seed, row->op, d, s->number);
            oi_arg_tensor(s, "self", elements(row, &r, d, w), w->layout);
            if (!all)
                oi_arg_int(s, "dim", TN_FIELD_OPT_INT, w->dim);
            oi_arg_int(s, "keepdim", TN_FIELD_BOOL, w->flag || (w->ndim == 0 && !all));
            s->error = all ? empty : w->error;
            s->large = w->large;
        }
    }
}

#define ORDER(name, which)                                                                         \
    {                                                                                              \
        .op = name, .dtypes = REAL, .tolerance = "exact", .kind = which, .lo = -90, .hi = 90,      \
        .samples = samples, .reference = reference                                                 \
    }
#define OF_ALL(name, which)                                                                        \
    {                                                                                              \
        .op = name, .dtypes = REAL, .tolerance = "exact", .kind = which, .lo = -90, .hi = 90,      \
        .samples = whole_samples, .reference = whole_reference                                     \
    }

static const oi_row rows[] = {
    ORDER("sort", SORT),
    ORDER("sort.stable", SORT | STABLE),
    ORDER("argsort", ARGSORT),
    ORDER("argsort.stable", ARGSORT | STABLE),
    ORDER("msort", MSORT),
    ORDER("topk", TOPK),
    ORDER("kthvalue", KTH),
    ORDER("median.dim", MEDIAN),
    ORDER("nanmedian.dim", NANMEDIAN),
    ORDER("mode", MODE),
    ORDER("cummax", CUMMAX),
    ORDER("cummin", CUMMIN),
    OF_ALL("median", MEDIAN),
    OF_ALL("nanmedian", NANMEDIAN),
    {.op = "aminmax",
     .dtypes = REAL,
     .tolerance = "exact",
     .lo = -90,
     .hi = 90,
     .samples = both_samples,
     .reference = both_reference},
};
const oi_rows oi_rows_order = ROWS(rows);

/* rows_reduce.c - reductions. One walk over the input in row-major order; each element is added to
 * the group that its kept coordinates name. An empty or absent list of dims means all of them. */
#include "rows_impl.h"

#include <complex.h>
#include <math.h>
#include <string.h>

enum {
    SUM,
    PROD,
    MEAN,
    AMAX,
    AMIN,
    MAX_BOTH,
    MIN_BOTH,
    ARGMAX,
    ARGMIN,
    ANY,
    EVERY,
    NANSUM,
    NANMEAN
};
enum { WHOLE = 16, ONE_DIM = 32, MANY_DIMS = 64, ONE_OR_ALL = 128, KIND = 15 };

static bool is_extreme(int64_t kind)
{
    return (kind & KIND) >= AMAX && (kind & KIND) <= ARGMIN;
}

/* ---- geometry -------------------------------------------------------------------------------- */
static unsigned reduced_dims(const oi_sample *s, int ndim)
{
    const oi_arg *dim = oi_find(s, "dim");
    unsigned mask = 0;
    for (int64_t k = 0; dim && k < dim->n; k++)
        mask |= 1u << (ndim ? (dim->ints[k] + ndim) % ndim : 0);
    return mask ? mask : ~0u;
}

typedef struct groups {
    oi_array out;   /* its shape */
    int64_t *count; /* elements seen, by group */
    unsigned mask;
} groups;

static groups groups_of(const oi_sample *s, const oi_array *x, tn_dtype dtype)
{
    groups g = {.mask = reduced_dims(s, x->ndim)};
    bool keep = oi_get_int(s, "keepdim", 0) != 0;
    int64_t sizes[OI_DIMS];
    int ndim = 0;
    for (int d = 0; d < x->ndim; d++) {
        bool reduced = g.mask >> d & 1;
        if (!reduced || keep)
            sizes[ndim++] = reduced ? 1 : x->sizes[d];
    }
    g.out = oi_array_new(dtype, ndim, sizes);
    oi_array_mags(&g.out);
    g.count = oi_alloc((size_t)(g.out.numel + 1) * sizeof *g.count);
    return g;
}

static int64_t group_at(const groups *g, const oi_array *x, const int64_t *coords)
{
    int64_t index = 0;
    for (int d = 0; d < x->ndim; d++)
        if (!(g->mask >> d & 1))
            index = index * x->sizes[d] + coords[d];
    return index;
}

/* ---- one more element ------------------------------------------------------------------------ */
static void add_to(oi_num *r, oi_real *mag, oi_num v)
{
    *r = (oi_num){r->re + v.re, r->im + v.im, (int64_t)((uint64_t)r->i + (uint64_t)v.i)};
    *mag += hypotl(v.re, v.im);
}

static void multiply(oi_num *r, oi_num v)
{
    *r = (oi_num){r->re * v.re - r->im * v.im, r->re * v.im + r->im * v.re,
                  (int64_t)((uint64_t)r->i * (uint64_t)v.i)};
}

static bool beats(int64_t kind, tn_dtype d, oi_num v, oi_num best)
{
    bool greatest = kind == AMAX || kind == MAX_BOTH || kind == ARGMAX;
    if (oi_is_integral(d))
        return greatest ? v.i > best.i : v.i < best.i;
    if (isnan(best.re))
        return false;
    return isnan(v.re) || (greatest ? v.re > best.re : v.re < best.re);
}

static void start(const groups *g, int64_t kind)
{
    for (int64_t i = 0; i < g->out.numel; i++)
        if (kind == PROD || kind == EVERY)
            g->out.v[i] = oi_int(1);
}

static tn_dtype result_dtype(const oi_row *row, const oi_sample *s, tn_dtype d)
{
    const oi_arg *asked = oi_find(s, "dtype");
    int64_t kind = row->kind & KIND;
    if (asked)
        return (tn_dtype)asked->ints[0];
    if (kind == ANY || kind == EVERY)
        return d == TN_U8 ? TN_U8 : TN_BOOL;
    return (kind == SUM || kind == PROD || kind == NANSUM) && oi_is_integral(d) ? TN_I64 : d;
}

static int reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self");
    int64_t kind = row->kind & KIND, coords[OI_DIMS];
    tn_dtype dtype = result_dtype(row, s, x->dtype);
    groups g = groups_of(s, x, dtype), where = groups_of(s, x, TN_I64);
    start(&g, kind);
    for (int64_t i = 0; i < x->numel; i++) {
        oi_coords(x, i, coords);
        int64_t at = group_at(&g, x, coords), place = g.count[at]++;
        oi_num v = kind == ANY || kind == EVERY ? oi_int(oi_truth(x->v[i]))
                                                : oi_cast(x->v[i], x->dtype, dtype),
               *r = &g.out.v[at];
        switch (kind) {
        case SUM:
        case MEAN:
            add_to(r, &g.out.mag[at], v);
            break;
        case NANSUM:
        case NANMEAN:
            if (isnan(v.re))
                g.count[at]--;
            else
                add_to(r, &g.out.mag[at], v);
            break;
        case PROD:
            multiply(r, v);
            break;
        case ANY:
            *r = oi_int(r->i || v.i);
            break;
        case EVERY:
            *r = oi_int(r->i && v.i);
            break;
        default:
            if (place == 0 || beats(kind, dtype, v, *r))
                *r = v, where.out.v[at] = oi_int(place);
        }
    }
    for (int64_t i = 0; i < g.out.numel && (kind == MEAN || kind == NANMEAN); i++) {
        oi_real n = (oi_real)g.count[i];
        g.out.v[i] = oi_complex(g.out.v[i].re / n, g.out.v[i].im / n);
        g.out.mag[i] = n ? g.out.mag[i] / n : 0;
    }
    for (int64_t i = 0; i < g.out.numel && oi_is_integral(dtype); i++)
        g.out.v[i] = oi_cast(oi_int(g.out.v[i].i), TN_I64, dtype);
    for (int64_t i = 0; i < g.out.numel; i++)
        if (!isfinite(g.out.mag[i]))
            g.out.mag[i] = 0;
    results[0] = kind == ARGMAX || kind == ARGMIN ? where.out : g.out;
    results[1] = where.out;
    return kind == MAX_BOTH || kind == MIN_BOTH ? 2 : 1;
}

/* ---- samples --------------------------------------------------------------------------------- */
typedef struct shape {
    const char *what;
    int ndim;
    int64_t sizes[4];
    oi_layout layout;
} shape;

static const shape shapes[] = {
    {"row-major", 2, {4, 5}, OI_ROW},
    {"0-dim", 0, {0}, OI_ROW},
    {"one element", 1, {1}, OI_ROW},
    {"an odd length", 1, {131}, OI_ROW},
    {"transposed", 3, {3, 4, 5}, OI_TRANSPOSED},
    {"gaps", 3, {3, 4, 5}, OI_GAPPED},
    {"stride 0", 2, {4, 3}, OI_EXPANDED},
    {"a stride over 2 GiB", 2, {2, 5}, OI_HUGE},
    {"misaligned", 2, {5, 33}, OI_SHIFTED},
    {"four dims", 4, {2, 3, 1, 4}, OI_ROW},
    {"a long row", 2, {3, 1031}, OI_ROW},
    {"a long column", 2, {1031, 3}, OI_ROW},
};

static oi_sample *add(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed,
                      const shape *sh, int n_dims, const int64_t *dims, bool keepdim)
{
    oi_sample *s = oi_sample_new(out, sh->what);
    oi_rng r = oi_rng_make(seed, row->op, d, s->number);
    bool factors = (row->kind & KIND) == PROD && oi_is_integral(d);
    oi_array a = factors ? oi_values_in(&r, d, sh->ndim, sh->sizes, -3, 3)
                         : oi_values(row, &r, d, sh->ndim, sh->sizes);
    if (sh->layout == OI_EXPANDED)
        for (int64_t i = a.numel / a.sizes[0]; i < a.numel; i++)
            a.v[i] = a.v[i % (a.numel / a.sizes[0])];
    oi_arg_tensor(s, "self", a, sh->layout);
    if ((row->kind & KIND) == MEAN &&
        oi_is_integral(d)) /* integers have no mean of their own dtype */
        oi_arg_int(s, "dtype", TN_FIELD_DTYPE, TN_F32);
    if (!(row->kind & WHOLE)) {
        oi_arg_ints(s, "dim", n_dims, dims);
        oi_arg_int(s, "keepdim", TN_FIELD_BOOL, keepdim);
    }
    return s;
}

static void add_shape(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed,
                      const shape *sh)
{
    const int64_t first = 0, last = -1, ends[] = {0, -1};
    if (row->kind & WHOLE) {
        add(row, out, d, seed, sh, 0, NULL, false);
        return;
    }
    add(row, out, d, seed, sh, 1, &last, false);
    add(row, out, d, seed, sh, 1, &first, true);
    if (row->kind & MANY_DIMS && sh->ndim > 1)
        add(row, out, d, seed, sh, 2, ends, false);
    if (row->kind & (MANY_DIMS | ONE_OR_ALL))
        add(row, out, d, seed, sh, 0, NULL, true);
    if (sh->ndim > 2)
        add(row, out, d, seed, sh, 1, &(int64_t){1}, true);
}

static void add_special(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const shape sh = {"NaN and infinity", 2, {4, 6}, OI_ROW};
    oi_sample *s = add(row, out, d, seed, &sh, 1, &(int64_t){-1}, false);
    oi_num *v = s->args[0].tensors->a.v;
    v[3] = oi_float(NAN);
    v[8] = oi_float(INFINITY);
    v[15] = oi_float(-INFINITY);
}

static void add_bad(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const shape sh = {"dim out of range", 2, {3, 4}, OI_ROW};
    if (!(row->kind & WHOLE)) {
        add(row, out, d, seed, &sh, 1, &(int64_t){2}, false)->error = true;
        add(row, out, d, seed, &sh, 1, &(int64_t){-3}, false)->error = true;
    }
    if (row->kind & MANY_DIMS)
        add(row, out, d, seed, &sh, 2, (const int64_t[]){1, -1}, false)->error = true;
}

static void samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const shape empty = {"no elements", 2, {0, 3}, OI_ROW},
                       large = {"large", 1, {20011}, OI_ROW},
                       wide = {"large rows", 2, {41, 501}, OI_GAPPED};
    int64_t kind = row->kind & KIND;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        add_shape(row, out, d, seed, &shapes[k]);
    if (oi_is_floating(d) && kind != PROD)
        add_special(row, out, d, seed);
    if ((kind == SUM || kind == PROD || (kind == MEAN && !oi_is_integral(d))) &&
        !oi_is_complex(d)) {
        oi_sample *s = add(row, out, d, seed, &shapes[0], 1, &(int64_t){0}, false);
        oi_arg_int(s, "dtype", TN_FIELD_DTYPE, TN_F64);
        s->what = "dtype=float64";
    }
    oi_sample *s = add(row, out, d, seed, &empty, 1, &(int64_t){0}, false);
    s->error = is_extreme(kind);
    if (!(row->kind & WHOLE)) /* along the dim that has elements */
        add(row, out, d, seed, &empty, 1, &(int64_t){1}, false);
    add_bad(row, out, d, seed);
    add(row, out, d, seed, &large, 1, &(int64_t){0}, false)->large = true;
    add(row, out, d, seed, &wide, 1, &(int64_t){0}, false)->large = true;
    add(row, out, d, seed, &wide, 1, &(int64_t){1}, false)->large = true;
}

#define REDUCTION(name, dtypes_, family, which, lo_, hi_)                                          \
    {                                                                                              \
        .op = name, .dtypes = dtypes_, .tolerance = family, .kind = which, .lo = lo_, .hi = hi_,   \
        .samples = samples, .reference = reference                                                 \
    }

static const oi_row rows[] = {
    REDUCTION("sum", ALL, "sum", SUM | WHOLE, -9, 9),
    REDUCTION("sum.dim_IntList", ALL, "sum", SUM | MANY_DIMS, -9, 9),
    REDUCTION("prod", ALL, "product", PROD | WHOLE, 0.9, 1.1),
    REDUCTION("prod.dim_int", ALL, "product", PROD | ONE_DIM, 0.9, 1.1),
    REDUCTION("mean", ALL, "sum", MEAN | WHOLE, -9, 9),
    REDUCTION("mean.dim", ALL, "sum", MEAN | MANY_DIMS, -9, 9),
    REDUCTION("nansum", REAL, "sum", NANSUM | MANY_DIMS, -9, 9),
    REDUCTION("nanmean", FLOAT, "sum", NANMEAN | MANY_DIMS, -9, 9),
    REDUCTION("amax", REAL, "exact", AMAX | MANY_DIMS, -90, 90),
    REDUCTION("amin", REAL, "exact", AMIN | MANY_DIMS, -90, 90),
    REDUCTION("max", REAL, "exact", AMAX | WHOLE, -90, 90),
    REDUCTION("max.dim", REAL, "exact", MAX_BOTH | ONE_DIM, -90, 90),
    REDUCTION("min", REAL, "exact", AMIN | WHOLE, -90, 90),
    REDUCTION("min.dim", REAL, "exact", MIN_BOTH | ONE_DIM, -90, 90),
    REDUCTION("argmax", REAL, "exact", ARGMAX | ONE_OR_ALL, -90, 90),
    REDUCTION("argmin", REAL, "exact", ARGMIN | ONE_OR_ALL, -90, 90),
    REDUCTION("any", ALL, "exact", ANY | WHOLE, -1, 1),
    REDUCTION("any.dim", ALL, "exact", ANY | ONE_DIM, -1, 1),
    REDUCTION("all", ALL, "exact", EVERY | WHOLE, -1, 1),
    REDUCTION("all.dim", ALL, "exact", EVERY | ONE_DIM, -1, 1),
};
const oi_rows oi_rows_reduce = ROWS(rows);

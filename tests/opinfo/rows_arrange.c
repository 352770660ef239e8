/* rows_arrange.c - operators that put the same elements elsewhere: flip, roll, repeat, triangles,
 * diagonals, unflatten, sum_to_size; and complex numbers as pairs: real, imag, conjugates, sgn,
 * angle, complex, polar. */
#include "rows_impl.h"

#include <math.h>
#include <string.h>

enum {
    FLIP,
    ROLL,
    REPEAT,
    TRIL,
    TRIU,
    TRACE,
    DIAG_EMBED,
    DIAG,
    DIAGFLAT,
    UNFLATTEN,
    SUM_TO_SIZE,
    REAL_PART,
    IMAG_PART,
    AS_REAL,
    AS_COMPLEX,
    CONJ,
    SAME,
    SGN,
    ANGLE,
    COMPLEX_,
    POLAR,
};

static int64_t wrapped(int64_t d, int64_t n)
{
    return d < 0 ? d + n : d;
}

/* ---- where each element of the result comes from --------------------------------------------- */
/* coords of the result become those of self; false: the element is zero. */
static bool source(const oi_row *row, const oi_sample *s, const oi_array *x, int64_t *c)
{
    const oi_arg *dims = oi_find(s, "dims"), *shifts = oi_find(s, "shifts");
    switch (row->kind) {
    case FLIP:
        for (int64_t k = 0; k < dims->n; k++) {
            int64_t d = wrapped(dims->ints[k], x->ndim);
            c[d] = x->sizes[d] - 1 - c[d];
        }
        return true;
    case ROLL:
        for (int64_t k = 0; dims && k < dims->n; k++) {
            int64_t d = wrapped(dims->ints[k], x->ndim), n = x->sizes[d];
            c[d] = ((c[d] - shifts->ints[k]) % n + n) % n;
        }
        return true;
    case TRIL:
        return c[x->ndim - 1] - c[x->ndim - 2] <= oi_get_int(s, "diagonal", 0);
    case TRIU:
        return c[x->ndim - 1] - c[x->ndim - 2] >= oi_get_int(s, "diagonal", 0);
    default:
        return true;
    }
}

static int moved(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self");
    int64_t coords[OI_DIMS];
    results[0] = oi_array_new(x->dtype, x->ndim, x->sizes);
    for (int64_t i = 0; i < x->numel; i++) {
        oi_coords(x, i, coords);
        if (source(row, s, x, coords))
            results[0].v[i] = x->v[oi_index(x, coords)];
    }
    if (row->kind == ROLL && !oi_find(s, "dims")) /* all elements in a row */
        for (int64_t i = 0, n = x->numel; i < n; i++)
            results[0].v[((i + oi_find(s, "shifts")->ints[0]) % n + n) % n] = x->v[i];
    return 1;
}

static int repeated(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self");
    const oi_arg *times = oi_find(s, strcmp(row->op, "tile") == 0 ? "dims" : "repeats");
    int ndim = times->n > x->ndim ? (int)times->n : x->ndim, lead = ndim - x->ndim;
    int64_t sizes[OI_DIMS], coords[OI_DIMS];
    for (int d = 0; d < ndim; d++) {
        int64_t k = d - (ndim - times->n);
        sizes[d] = (k < 0 ? 1 : times->ints[k]) * (d < lead ? 1 : x->sizes[d - lead]);
    }
    results[0] = oi_array_new(x->dtype, ndim, sizes);
    for (int64_t i = 0; i < results[0].numel; i++) {
        oi_coords(&results[0], i, coords);
        for (int d = lead; d < ndim; d++)
            coords[d - lead] = coords[d] % x->sizes[d - lead];
        results[0].v[i] = x->v[oi_index(x, coords)];
    }
    return 1;
}

/* ---- diagonals ------------------------------------------------------------------------------- */
/* The k-th element of the diagonal that `offset` names stands at row k - below, column k + above. */
static int embedded(const oi_array *x, int64_t offset, int d1, int d2, int ndim, oi_array *results)
{
    int64_t sizes[OI_DIMS], from[OI_DIMS], c[OI_DIMS];
    int64_t above = offset > 0 ? offset : 0, below = offset < 0 ? -offset : 0;
    for (int d = 0, k = 0; d < ndim; d++)
        sizes[d] = d == d1 || d == d2 ? x->sizes[x->ndim - 1] + above + below : x->sizes[k++];
    results[0] = oi_array_new(x->dtype, ndim, sizes);
    for (int64_t i = 0; i < results[0].numel; i++) {
        oi_coords(&results[0], i, c);
        int64_t at = c[d1] - below;
        int n = 0;
        if (c[d2] - above != at || at < 0 || at >= x->sizes[x->ndim - 1])
            continue;
        for (int d = 0; d < ndim; d++)
            if (d != d1 && d != d2)
                from[n++] = c[d];
        from[n] = at;
        results[0].v[i] = x->v[oi_index(x, from)];
    }
    return 1;
}

static int diagonals(const oi_row *row, const oi_sample *s, oi_array *results)
{
    oi_array x = *oi_input(s, "self");
    int64_t offset = oi_get_int(s, row->kind == DIAG ? "diagonal" : "offset", 0);
    if (row->kind == DIAG_EMBED)
        return embedded(&x, offset, (int)wrapped(oi_get_int(s, "dim1", -2), x.ndim + 1),
                        (int)wrapped(oi_get_int(s, "dim2", -1), x.ndim + 1), x.ndim + 1, results);
    if (row->kind == DIAGFLAT || x.ndim == 1) {
        x.ndim = 1;
        x.sizes[0] = x.numel;
        return embedded(&x, offset, 0, 1, 2, results);
    }
    int64_t down = offset < 0 ? -offset : 0, right = offset > 0 ? offset : 0, n = 0;
    while (n + down < x.sizes[0] && n + right < x.sizes[1])
        n++;
    results[0] = oi_array_new(x.dtype, 1, &n);
    for (int64_t i = 0; i < n; i++)
        results[0].v[i] = x.v[(i + down) * x.sizes[1] + i + right];
    return 1;
}

/* ---- shapes and sums ------------------------------------------------------------------------- */
static int unflattened(const oi_row *row, const oi_sample *s, oi_array *results)
{
    (void)row;
    const oi_array *x = oi_input(s, "self");
    const oi_arg *sizes = oi_find(s, "sizes");
    int64_t shape[OI_DIMS], dim = wrapped(oi_get_int(s, "dim", 0), x->ndim), known = 1;
    int n = 0;
    for (int64_t k = 0; k < sizes->n; k++)
        known *= sizes->ints[k] < 0 ? 1 : sizes->ints[k];
    for (int d = 0; d < x->ndim; d++) {
        if (d != dim)
            shape[n++] = x->sizes[d];
        for (int64_t k = 0; d == dim && k < sizes->n; k++)
            shape[n++] = sizes->ints[k] < 0 ? x->sizes[d] / known : sizes->ints[k];
    }
    results[0] = oi_array_new(x->dtype, n, shape);
    memcpy(results[0].v, x->v, (size_t)x->numel * sizeof *x->v);
    return 1;
}

static void add_to(oi_array *r, int64_t at, oi_num v)
{
    r->v[at] = (oi_num){r->v[at].re + v.re, r->v[at].im + v.im,
                        (int64_t)((uint64_t)r->v[at].i + (uint64_t)v.i)};
    r->mag[at] += hypotl(v.re, v.im);
}

static int summed(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self");
    const oi_arg *size = oi_find(s, "size");
    bool sums = row->kind == TRACE || size->n == 0;
    int64_t coords[OI_DIMS], lead = row->kind == TRACE ? 0 : x->ndim - size->n;
    for (int64_t d = 0; row->kind != TRACE && d < x->ndim; d++)
        sums = sums || d < lead || size->ints[d - lead] != x->sizes[d];
    tn_dtype dtype = sums && oi_is_integral(x->dtype) ? TN_I64 : x->dtype;
    results[0] = oi_array_new(dtype, row->kind == TRACE ? 0 : (int)size->n,
                              row->kind == TRACE ? NULL : size->ints);
    oi_array_mags(&results[0]);
    for (int64_t i = 0; i < x->numel; i++) {
        oi_num v = oi_cast(x->v[i], x->dtype, dtype);
        oi_coords(x, i, coords);
        if (row->kind == TRACE && coords[0] == coords[1])
            add_to(&results[0], 0, v);
        if (row->kind != TRACE)
            add_to(&results[0], oi_broadcast_index(&results[0], x->ndim, coords), v);
    }
    return 1;
}

/* ---- complex numbers ------------------------------------------------------------------------- */
static tn_dtype complex_of(tn_dtype d)
{
    return d == TN_F32 ? TN_C64 : TN_C128;
}

static int parts(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self");
    int64_t sizes[OI_DIMS];
    memcpy(sizes, x->sizes, sizeof sizes);
    if (row->kind == AS_COMPLEX) {
        results[0] = oi_array_new(complex_of(x->dtype), x->ndim - 1, sizes);
        for (int64_t i = 0; i < results[0].numel; i++)
            results[0].v[i] = oi_complex(x->v[2 * i].re, x->v[2 * i + 1].re);
        return 1;
    }
    sizes[x->ndim] = 2;
    results[0] = oi_array_new(oi_real_of(x->dtype), x->ndim + (row->kind == AS_REAL), sizes);
    for (int64_t i = 0; i < x->numel; i++) {
        oi_num re = oi_float(x->v[i].re), im = oi_float(x->v[i].im);
        if (row->kind == AS_REAL)
            results[0].v[2 * i] = re, results[0].v[2 * i + 1] = im;
        else
            results[0].v[i] = row->kind == IMAG_PART ? im : oi_is_complex(x->dtype) ? re : x->v[i];
    }
    return 1;
}

static oi_num direction(oi_num v, tn_dtype d)
{
    if (oi_is_integral(d))
        return oi_int((v.i > 0) - (v.i < 0));
    if (!oi_is_complex(d))
        return oi_float((v.re > 0) - (v.re < 0));
    oi_real size = hypotl(v.re, v.im);
    return size == 0 ? oi_complex(0, 0) : oi_complex(v.re / size, v.im / size);
}

static int by_element(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self");
    tn_dtype to = row->kind != ANGLE         ? x->dtype
                  : oi_is_integral(x->dtype) ? TN_F32
                                             : oi_real_of(x->dtype);
    results[0] = oi_array_new(to, x->ndim, x->sizes);
    for (int64_t i = 0; i < x->numel; i++) {
        oi_num v = x->v[i];
        if (row->kind == CONJ && oi_is_complex(x->dtype))
            v.im = -v.im;
        if (row->kind == SGN)
            v = direction(v, x->dtype);
        if (row->kind == ANGLE)
            v = oi_float(isnan(v.re) && !oi_is_complex(x->dtype) ? NAN
                         : oi_is_complex(x->dtype)               ? atan2l(v.im, v.re)
                         : v.re < 0                              ? acosl(-1)
                                                                 : 0);
        results[0].v[i] = v;
    }
    return 1;
}

static int joined(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *a = &s->args[0].tensors->a, *b = &s->args[1].tensors->a, *both[] = {a, b};
    int64_t sizes[OI_DIMS], coords[OI_DIMS];
    int ndim;
    if (!oi_broadcast(2, both, &ndim, sizes))
        return 0;
    results[0] = oi_array_new(complex_of(a->dtype), ndim, sizes);
    for (int64_t i = 0; i < results[0].numel; i++) {
        oi_coords(&results[0], i, coords);
        oi_real x = a->v[oi_broadcast_index(a, ndim, coords)].re,
                y = b->v[oi_broadcast_index(b, ndim, coords)].re;
        results[0].v[i] = row->kind == COMPLEX_ ? oi_complex(x, y)
                                                : oi_complex(x * cosl(y), x * sinl(y));
    }
    return 1;
}

/* ---- samples --------------------------------------------------------------------------------- */
typedef struct setting {
    const char *op;
    int ndim;
    int64_t sizes[4];
    const char *name[3];
    int n[3];
    int64_t values[3][4];
    bool error, copies; /* copies: may be a copy where self is not row-major */
} setting;
#define X(...)                                                                                     \
    (int)(sizeof((const int64_t[]){__VA_ARGS__}) / 8),                                             \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const setting settings[] = {
    {"flip", X(3, 4), {"dims"}, {1}, {{0}}, 0, 0},
    {"flip", X(2, 3, 4), {"dims"}, {2}, {{0, -1}}, 0, 0},
    {"flip", X(5), {"dims"}, {1}, {{0}}, 0, 0},
    {"flip", X(0, 3), {"dims"}, {1}, {{0}}, 0, 0},
    {"flip", X(3, 4), {"dims"}, {2}, {{0, 0}}, 1, 0},
    {"flip", X(3, 4), {"dims"}, {1}, {{2}}, 1, 0},
    {"roll", X(3, 4), {"shifts", "dims"}, {1, 1}, {{2}, {1}}, 0, 0},
    {"roll", X(2, 3, 4), {"shifts", "dims"}, {2, 2}, {{-1, 7}, {0, 2}}, 0, 0},
    {"roll", X(3, 4), {"shifts"}, {1}, {{5}}, 0, 0},
    {"roll", X(3, 4), {"shifts", "dims"}, {2, 1}, {{1, 2}, {0}}, 1, 0},
    {"roll", X(3, 4), {"shifts", "dims"}, {1, 1}, {{1}, {2}}, 1, 0},
    {"repeat", X(2, 3), {"repeats"}, {2}, {{2, 3}}, 0, 0},
    {"repeat", X(3), {"repeats"}, {3}, {{2, 1, 2}}, 0, 0},
    {"repeat", X(2, 3), {"repeats"}, {2}, {{0, 2}}, 0, 0},
    {"repeat", X(2, 3), {"repeats"}, {1}, {{2}}, 1, 0},
    {"repeat", X(2, 3), {"repeats"}, {2}, {{2, -1}}, 1, 0},
    {"tile", X(2, 3), {"dims"}, {1}, {{2}}, 0, 0},
    {"tile", X(3), {"dims"}, {2}, {{2, 2}}, 0, 0},
    {"tile", X(2, 3), {"dims"}, {1}, {{-1}}, 1, 0},
    {"tril", X(4, 5), {"diagonal"}, {1}, {{0}}, 0, 0},
    {"tril", X(2, 4, 3), {"diagonal"}, {1}, {{-1}}, 0, 0},
    {"tril", X(4), {"diagonal"}, {1}, {{0}}, 1, 0},
    {"triu", X(4, 5), {"diagonal"}, {1}, {{1}}, 0, 0},
    {"triu", X(2, 4, 3), {"diagonal"}, {1}, {{-2}}, 0, 0},
    {"triu", X(4), {"diagonal"}, {1}, {{0}}, 1, 0},
    {"trace", X(4, 5), {0}, {0}, {{0}}, 0, 0},
    {"trace", X(3, 3), {0}, {0}, {{0}}, 0, 0},
    {"trace", X(3), {0}, {0}, {{0}}, 1, 0},
    {"diag_embed", X(2, 3), {"offset", "dim1", "dim2"}, {1, 1, 1}, {{0}, {-2}, {-1}}, 0, 0},
    {"diag_embed", X(2, 3), {"offset", "dim1", "dim2"}, {1, 1, 1}, {{1}, {0}, {2}}, 0, 0},
    {"diag_embed", X(3), {"offset", "dim1", "dim2"}, {1, 1, 1}, {{-2}, {1}, {0}}, 0, 0},
    {"diag_embed", X(3), {"offset", "dim1", "dim2"}, {1, 1, 1}, {{0}, {1}, {1}}, 1, 0},
    {"diag", X(3), {"diagonal"}, {1}, {{1}}, 0, 0},
    {"diag", X(4, 5), {"diagonal"}, {1}, {{-1}}, 0, 0},
    {"diag", X(4, 5), {"diagonal"}, {1}, {{2}}, 0, 0},
    {"diag", X(2, 2, 2), {"diagonal"}, {1}, {{0}}, 1, 0},
    {"diagflat", X(2, 3), {"offset"}, {1}, {{0}}, 0, 0},
    {"diagflat", X(3), {"offset"}, {1}, {{-1}}, 0, 0},
    {"unflatten.int", X(6, 4), {"dim", "sizes"}, {1, 2}, {{0}, {2, 3}}, 0, 0},
    {"unflatten.int", X(6, 4), {"dim", "sizes"}, {1, 2}, {{-1}, {-1, 2}}, 0, 0},
    {"unflatten.int", X(6, 4), {"dim", "sizes"}, {1, 2}, {{0}, {2, 2}}, 1, 0},
    {"sum_to_size", X(2, 3, 4), {"size"}, {2}, {{3, 1}}, 0, 0},
    {"sum_to_size", X(2, 3), {"size"}, {2}, {{1, 3}}, 0, 0},
    {"sum_to_size", X(2, 3), {"size"}, {2}, {{2, 3}}, 0, 0},
    {"sum_to_size", X(2, 3), {"size"}, {1}, {{2}}, 1, 0},
    {"view_as_real", X(2, 3), {0}, {0}, {{0}}, 0, 0},
    {"view_as_complex", X(3, 2), {0}, {0}, {{0}}, 0, 0},
    {"view_as_complex", X(3, 4), {0}, {0}, {{0}}, 1, 0},
    {"imag", X(2, 3), {0}, {0}, {{0}}, 0, 0},
};

static void add_setting(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed,
                        const setting *w, oi_layout layout, const char *what)
{
    oi_sample *s = oi_sample_new(out, w->error ? "a bad argument" : what);
    oi_rng r = oi_rng_make(seed, row->op, d, s->number);
    oi_arg_tensor(s, "self", oi_values(row, &r, d, w->ndim, w->sizes), layout);
    for (int k = 0; k < 3; k++)
        if (w->name[k])
            oi_arg_ints(s, w->name[k], w->n[k], w->values[k]);
    s->error = w->error;
    s->may_copy = row->kind == SUM_TO_SIZE; /* where nothing is summed self is the result */
}

static void samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        const setting *w = &settings[k];
        if (strcmp(w->op, row->op) != 0)
            continue;
        add_setting(row, out, d, seed, w, OI_ROW, "row-major");
        if (w->error || row->kind == AS_COMPLEX)
            continue;
        if (row->kind != UNFLATTEN)
            add_setting(row, out, d, seed, w, OI_TRANSPOSED, "transposed");
        if (row->kind != UNFLATTEN)
            add_setting(row, out, d, seed, w, OI_GAPPED, "gaps");
    }
}

/* Of those that give self back where there is nothing to do. */
static void element_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    oi_elementwise_samples(row, out, d, seed);
    for (int k = 0; k < out->n; k++)
        out->list[k].may_copy = true;
}

static void joined_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    oi_elementwise_samples(row, out, d, seed);
    for (int k = 0; k < out->n; k++) {
        oi_sample *s = &out->list[k];
        if (s->args[0].tensors->a.dtype != s->args[1].tensors->a.dtype)
            s->error = true;
    }
}

#define WHERE(name, dtypes_, which, body)                                                          \
    {                                                                                              \
        .op = name, .dtypes = dtypes_, .tolerance = "exact", .kind = which, .samples = samples,    \
        .reference = body                                                                          \
    }
#define AS(name, dtypes_, flags_, which, body, samples_)                                           \
    {                                                                                              \
        .op = name, .dtypes = dtypes_, .flags = flags_, .tolerance = "exact", .kind = which,       \
        .samples = samples_, .reference = body, .operands = "self"                                 \
    }
#define F32_F64 (TN_DTYPE_BIT(TN_F32) | TN_DTYPE_BIT(TN_F64))

static const oi_row rows[] = {
    WHERE("flip", ALL, FLIP, moved),
    WHERE("roll", ALL, ROLL, moved),
    WHERE("repeat", ALL, REPEAT, repeated),
    WHERE("tile", ALL, REPEAT, repeated),
    WHERE("tril", ALL, TRIL, moved),
    WHERE("triu", ALL, TRIU, moved),
    WHERE("diag_embed", ALL, DIAG_EMBED, diagonals),
    WHERE("diag", ALL, DIAG, diagonals),
    WHERE("diagflat", ALL, DIAGFLAT, diagonals),
    {.op = "trace",
     .dtypes = ALL,
     .tolerance = "sum",
     .kind = TRACE,
     .samples = samples,
     .reference = summed},
    {.op = "sum_to_size",
     .dtypes = ALL,
     .flags = OI_SHARES,
     .tolerance = "sum",
     .kind = SUM_TO_SIZE,
     .samples = samples,
     .reference = summed},
    AS("unflatten.int", ALL, OI_VIEW, UNFLATTEN, unflattened, samples),
    AS("view_as_real", COMPLEX, OI_VIEW, AS_REAL, parts, samples),
    AS("view_as_complex", F32_F64, OI_VIEW, AS_COMPLEX, parts, samples),
    AS("imag", COMPLEX, OI_VIEW, IMAG_PART, parts, samples),
    AS("real", ALL, OI_VIEW, REAL_PART, parts, oi_elementwise_samples),
    AS("conj", ALL, OI_VIEW, CONJ, by_element, element_samples),
    AS("_conj", ALL, OI_VIEW, CONJ, by_element, element_samples),
    AS("resolve_conj", ALL, OI_VIEW, SAME, by_element, oi_elementwise_samples),
    AS("resolve_neg", ALL, OI_VIEW, SAME, by_element, oi_elementwise_samples),
    AS("conj_physical", ALL, OI_SHARES, CONJ, by_element, element_samples),
    AS("_conj_physical", ALL, 0, CONJ, by_element, oi_elementwise_samples),
    {.op = "sgn",
     .dtypes = ALL,
     .tolerance = "arithmetic",
     .kind = SGN,
     .samples = oi_elementwise_samples,
     .reference = by_element,
     .operands = "self"},
    {.op = "angle",
     .dtypes = ALL,
     .tolerance = "function",
     .kind = ANGLE,
     .samples = oi_elementwise_samples,
     .reference = by_element,
     .operands = "self"},
    {.op = "complex",
     .dtypes = F32_F64,
     .tolerance = "exact",
     .kind = COMPLEX_,
     .samples = joined_samples,
     .reference = joined,
     .operands = "real imag"},
    {.op = "polar",
     .dtypes = F32_F64,
     .tolerance = "function",
     .kind = POLAR,
     .samples = joined_samples,
     .reference = joined,
     .operands = "abs angle"},
};
const oi_rows oi_rows_arrange = ROWS(rows);

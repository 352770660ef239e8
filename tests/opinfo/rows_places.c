/* rows_places.c - places along a dimension or in the whole of a tensor: index_copy, index_fill, take,
 * put, take_along_dim; and parts of a copy: select_scatter and its kin. */
#include "rows_impl.h"

#include <math.h>
#include <string.h>

enum { COPY, FILL, FILL_TENSOR, TAKE, PUT, ALONG };

static int64_t wrapped(int64_t i, int64_t n)
{
    return i < 0 ? i + n : i;
}

/* ---- along a dimension ----------------------------------------------------------------------- */
static oi_num filling(const oi_sample *s, tn_dtype d)
{
    const oi_array *value = oi_input(s, "value");
    return value ? oi_cast(value->v[0], value->dtype, d)
                 : oi_from_scalar(&oi_find(s, "value")->scalar, d);
}

static int along(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self"), *index = oi_input(s, "index");
    const oi_array *source = oi_input(s, "source");
    int64_t coords[OI_DIMS], dim = wrapped(oi_get_int(s, "dim", 0), x->ndim ? x->ndim : 1);
    results[0] = oi_array_cast(x, x->dtype);
    for (int64_t k = 0; k < index->numel; k++)
        for (int64_t i = 0; i < x->numel; i++) {
            oi_coords(x, i, coords);
            if (x->ndim && coords[dim] != wrapped(index->v[k].i, x->sizes[dim]))
                continue;
            if (x->ndim)
                coords[dim] = k;
            results[0].v[i] = row->kind != COPY   ? filling(s, x->dtype)
                              : source->ndim == 0 ? source->v[0]
                                                  : source->v[oi_index(source, coords)];
        }
    return 1;
}

typedef struct slices {
    const char *what;
    int ndim;
    int64_t sizes[3];
    oi_layout layout;
    int index_ndim;
    int64_t index[1], dim;
    bool error, by_value, large;
} slices;

static const slices all_slices[] = {
    {"rows", 2, {5, 4}, OI_ROW, 1, {3}, 0, 0, 0, 0},
    {"columns", 2, {3, 6}, OI_TRANSPOSED, 1, {4}, -1, 0, 0, 0},
    {"the middle", 3, {2, 4, 3}, OI_GAPPED, 1, {2}, 1, 0, 0, 0},
    {"a number as index", 2, {5, 4}, OI_ROW, 0, {0}, 0, 0, 0, 0},
    {"0-dim", 0, {0}, OI_ROW, 1, {1}, 0, 0, 0, 0},
    {"a vector", 1, {5}, OI_GAPPED, 1, {2}, 0, 0, 0, 0},
    {"no indices", 2, {5, 4}, OI_ROW, 1, {0}, 0, 0, 0, 0},
    {"no elements", 2, {3, 0}, OI_ROW, 1, {2}, 0, 0, 0, 0},
    {"out of range", 2, {3, 4}, OI_ROW, 1, {4}, 0, 1, 1, 0},
    {"dim out of range", 2, {5, 4}, OI_ROW, 1, {3}, 2, 1, 0, 0},
    {"large", 2, {301, 257}, OI_ROW, 1, {200}, 0, 0, 0, 1},
    {"large, columns", 2, {257, 301}, OI_ROW, 1, {200}, 1, 0, 0, 1},
};

/* Each place once, so that the order of writes does not matter; with more than there are places, one
 * is out of range. */
static oi_array distinct(int ndim, const int64_t *sizes, int64_t n, bool from_end)
{
    oi_array a = oi_array_new(TN_I64, ndim, sizes);
    for (int64_t i = 0; i < a.numel; i++)
        a.v[i] = oi_int(a.numel > n ? i : n - 1 - i - (from_end && i % 2 ? n : 0));
    return a;
}

static void along_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    for (size_t k = 0; k < sizeof all_slices / sizeof *all_slices; k++) {
        const slices *w = &all_slices[k];
        int64_t sizes[3], dim = wrapped(w->dim, w->ndim ? w->ndim : 1);
        int64_t size = w->ndim && dim < w->ndim ? w->sizes[dim] : 1;
        oi_sample *s = oi_sample_new(out, w->what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        oi_arg_tensor(s, "self", oi_values(row, &r, d, w->ndim, w->sizes), w->layout);
        oi_arg_int(s, "dim", TN_FIELD_INT, w->dim);
        oi_arg_tensor(s, "index", distinct(w->index_ndim, w->index, size, row->kind != COPY),
                      OI_ROW)
            ->fixed = true;
        memcpy(sizes, w->sizes, sizeof sizes);
        if (dim < w->ndim)
            sizes[dim] = w->index_ndim ? w->index[0] : 1;
        if (row->kind == COPY)
            oi_arg_tensor(s, "source", oi_values(row, &r, d, w->ndim, sizes),
                          k % 2 ? OI_ROW : OI_GAPPED);
        else if (row->kind == FILL)
            oi_arg_scalar(s, "value",
                          oi_is_integral(d) ? tn_scalar_int(d != TN_BOOL ? 3 : 1)
                                            : tn_scalar_float(1.5));
        else
            oi_arg_tensor(s, "value", oi_values(row, &r, d, 0, NULL), OI_ROW);
        s->error = w->error;
        s->by_value = w->by_value;
        s->large = w->large;
    }
}

/* ---- in the whole ---------------------------------------------------------------------------- */
static int whole(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self"), *index = oi_input(s, "index");
    const oi_array *source = oi_input(s, "source");
    bool adds = oi_get_int(s, "accumulate", 0);
    oi_array *r = &results[0];
    if (row->kind == TAKE) {
        *r = oi_array_new(x->dtype, index->ndim, index->sizes);
        for (int64_t i = 0; i < r->numel; i++)
            r->v[i] = x->v[wrapped(index->v[i].i, x->numel)];
        return 1;
    }
    *r = oi_array_cast(x, x->dtype);
    oi_array_mags(r);
    for (int64_t i = 0; i < r->numel; i++)
        r->mag[i] = hypotl(r->v[i].re, r->v[i].im);
    for (int64_t i = 0; i < index->numel; i++) {
        int64_t to = wrapped(index->v[i].i, x->numel);
        oi_num v = source->v[i], old = adds ? r->v[to] : (oi_num){0, 0, 0};
        r->mag[to] += hypotl(v.re, v.im);
        r->v[to] =
            (oi_num){old.re + v.re, old.im + v.im, (int64_t)((uint64_t)old.i + (uint64_t)v.i)};
        if (oi_is_integral(x->dtype))
            r->v[to] = x->dtype == TN_BOOL ? oi_int(r->v[to].i != 0)
                                           : oi_cast(oi_int(r->v[to].i), TN_I64, x->dtype);
    }
    return 1;
}

static void whole_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const struct {
        const char *what;
        int ndim;
        int64_t sizes[2];
        oi_layout layout;
        int index_ndim;
        int64_t index[2];
        bool error, large;
    } cases[] = {
        {"a vector", 2, {4, 5}, OI_ROW, 1, {6}, 0, 0},
        {"a matrix", 2, {4, 5}, OI_TRANSPOSED, 2, {3, 4}, 0, 0},
        {"gaps", 2, {4, 5}, OI_GAPPED, 2, {2, 3}, 0, 0},
        {"0-dim index", 1, {5}, OI_ROW, 0, {0}, 0, 0},
        {"0-dim", 0, {0}, OI_ROW, 1, {1}, 0, 0},
        {"no indices", 2, {0, 5}, OI_ROW, 1, {0}, 0, 0},
        {"out of range", 2, {1, 2}, OI_ROW, 1, {3}, 1, 0},
        {"large", 2, {301, 257}, OI_ROW, 2, {200, 300}, 0, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int adds = 0; adds <= (row->kind == PUT); adds++) {
            oi_sample *s = oi_sample_new(out, cases[k].what);
            oi_rng r = oi_rng_make(seed, row->op, d, s->number);
            oi_array x = oi_values(row, &r, d, cases[k].ndim, cases[k].sizes);
            int n = cases[k].index_ndim;
            const int64_t *sizes = cases[k].index;
            bool once = cases[k].error || (row->kind == PUT && !adds);
            oi_array index =
                once ? distinct(n, sizes, x.numel, true)
                     : oi_values_in(&r, TN_I64, n, sizes, -(double)x.numel, (double)x.numel - 1);
            oi_arg_tensor(s, "self", x, cases[k].layout);
            oi_arg_tensor(s, "index", index, k % 2 ? OI_GAPPED : OI_ROW)->fixed = true;
            if (row->kind == PUT) {
                oi_arg_tensor(s, "source", oi_values(row, &r, d, n, sizes),
                              k % 2 ? OI_TRANSPOSED : OI_GAPPED);
                oi_arg_int(s, "accumulate", TN_FIELD_BOOL, adds);
            }
            s->error = s->by_value = cases[k].error;
            s->large = cases[k].large;
        }
}

/* ---- take_along_dim -------------------------------------------------------------------------- */
static int taken(const oi_row *row, const oi_sample *s, oi_array *results)
{
    (void)row;
    oi_array x = *oi_input(s, "self"), index = *oi_input(s, "indices");
    const oi_arg *asked = oi_find(s, "dim");
    int64_t sizes[OI_DIMS], coords[OI_DIMS], dim = 0;
    if (asked)
        dim = wrapped(asked->ints[0], x.ndim);
    else
        x.ndim = index.ndim = 1, x.sizes[0] = x.numel, index.sizes[0] = index.numel;
    for (int d = 0; d < x.ndim; d++)
        sizes[d] = d == dim || x.sizes[d] == 1 ? index.sizes[d] : x.sizes[d];
    results[0] = oi_array_new(x.dtype, x.ndim, sizes);
    for (int64_t i = 0; i < results[0].numel; i++) {
        oi_coords(&results[0], i, coords);
        coords[dim] = index.v[oi_broadcast_index(&index, x.ndim, coords)].i;
        int64_t at = 0;
        for (int d = 0; d < x.ndim; d++)
            at = at * x.sizes[d] + (x.sizes[d] == 1 && d != dim ? 0 : coords[d]);
        results[0].v[i] = x.v[at];
    }
    return 1;
}

static void taken_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const struct {
        const char *what;
        int ndim;
        int64_t sizes[3];
        oi_layout layout;
        int index_ndim;
        int64_t index[3], dim; /* 9: none */
        bool error, by_value;
    } cases[] = {
        {"rows", 2, {5, 4}, OI_ROW, 2, {3, 4}, 0, 0, 0},
        {"indices broadcast", 2, {4, 5}, OI_TRANSPOSED, 2, {1, 3}, -1, 0, 0},
        {"self broadcast", 3, {1, 5, 2}, OI_GAPPED, 3, {3, 4, 1}, 1, 0, 0},
        {"no dim", 2, {4, 5}, OI_TRANSPOSED, 2, {2, 3}, 9, 0, 0},
        {"no indices", 2, {4, 5}, OI_ROW, 2, {0, 5}, 0, 0, 0},
        {"out of range", 2, {2, 2}, OI_ROW, 2, {2, 2}, 0, 1, 1},
        {"dims apart", 2, {4, 5}, OI_ROW, 1, {3}, 0, 1, 0},
        {"shapes apart", 2, {4, 5}, OI_ROW, 2, {3, 4}, 0, 1, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        oi_sample *s = oi_sample_new(out, cases[k].what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        int64_t most = cases[k].dim == 9 ? 19 : cases[k].sizes[wrapped(cases[k].dim, 2)] - 1;
        oi_arg_tensor(s, "self", oi_values(row, &r, d, cases[k].ndim, cases[k].sizes),
                      cases[k].layout);
        oi_arg_tensor(s, "indices",
                      oi_values_in(&r, TN_I64, cases[k].index_ndim, cases[k].index,
                                   cases[k].by_value ? 5 : 0, cases[k].by_value ? 5 : (double)most),
                      OI_ROW)
            ->fixed = true;
        if (cases[k].dim != 9)
            oi_arg_int(s, "dim", TN_FIELD_OPT_INT, cases[k].dim);
        s->error = cases[k].error;
        s->by_value = cases[k].by_value;
    }
}

/* ---- parts of a copy ------------------------------------------------------------------------- */
typedef struct part { /* in a row-major self */
    const char *op, *what;
    int ndim;
    int64_t sizes[3];
    oi_layout layout;
    int src_ndim;
    int64_t src[3], strides[3], offset;
    const char *names[4];
    int64_t values[4];
    bool error;
} part;

static const part parts[] = {
    {"select_scatter", "a row", 2, {3, 4}, OI_ROW, 1, {4}, {1}, 4, {"dim", "index"}, {0, -2}, 0},
    {"select_scatter",
     "a column",
     2,
     {3, 4},
     OI_TRANSPOSED,
     1,
     {3},
     {4},
     1,
     {"dim", "index"},
     {-1, 1},
     0},
    {"select_scatter", "too large", 2, {3, 4}, OI_ROW, 1, {5}, {1}, 0, {"dim", "index"}, {0, 0}, 1},
    {"select_scatter", "no such", 2, {3, 4}, OI_ROW, 1, {4}, {1}, 0, {"dim", "index"}, {0, 3}, 1},
    {"slice_scatter",
     "steps",
     2,
     {6, 3},
     OI_GAPPED,
     2,
     {2, 3},
     {6, 1},
     3,
     {"dim", "start?", "end?", "step"},
     {0, 1, 5, 2},
     0},
    {"slice_scatter",
     "columns",
     2,
     {2, 5},
     OI_ROW,
     2,
     {2, 2},
     {5, 1},
     3,
     {"dim", "start?"},
     {1, -2},
     0},
    {"slice_scatter", "all", 2, {2, 3}, OI_ROW, 2, {2, 3}, {3, 1}, 0, {NULL}, {0}, 0},
    {"slice_scatter", "too small", 2, {2, 3}, OI_ROW, 2, {1, 3}, {3, 1}, 0, {NULL}, {0}, 1},
    {"diagonal_scatter", "the main one", 2, {3, 4}, OI_ROW, 1, {3}, {5}, 0, {NULL}, {0}, 0},
    {"diagonal_scatter",
     "below",
     3,
     {2, 3, 3},
     OI_TRANSPOSED,
     2,
     {2, 2},
     {9, 4},
     3,
     {"offset", "dim1", "dim2"},
     {-1, 1, 2},
     0},
    {"diagonal_scatter", "too long", 2, {3, 4}, OI_ROW, 1, {4}, {5}, 0, {NULL}, {0}, 1},
    {"as_strided_scatter",
     "a window",
     2,
     {4, 5},
     OI_ROW,
     2,
     {2, 2},
     {7, 2},
     3,
     {"storage_offset?"},
     {3},
     0},
    {"as_strided_scatter",
     "backwards dims",
     2,
     {4, 5},
     OI_ROW,
     2,
     {5, 4},
     {1, 5},
     0,
     {NULL},
     {0},
     0},
    {"as_strided_scatter", "beyond", 2, {2, 3}, OI_ROW, 2, {2, 3}, {3, 2}, 0, {NULL}, {0}, 1},
};

static int replaced(const oi_row *row, const oi_sample *s, oi_array *results)
{
    (void)row;
    const oi_array *x = oi_input(s, "self"), *src = oi_input(s, "src");
    const part *p = NULL;
    int64_t coords[OI_DIMS];
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (strcmp(parts[k].op, row->op) == 0 && strcmp(parts[k].what, s->what) == 0)
            p = &parts[k];
    results[0] = oi_array_cast(x, x->dtype);
    for (int64_t i = 0; i < src->numel; i++) {
        int64_t at = p->offset;
        oi_coords(src, i, coords);
        for (int d = 0; d < src->ndim; d++)
            at += coords[d] * p->strides[d];
        results[0].v[at] = src->v[i];
    }
    return 1;
}

static void part_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        const part *p = &parts[k];
        if (strcmp(p->op, row->op) != 0)
            continue;
        oi_sample *s = oi_sample_new(out, p->what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        oi_arg_tensor(s, "self", oi_values(row, &r, d, p->ndim, p->sizes), p->layout);
        oi_arg_tensor(s, "src", oi_values(row, &r, d, p->src_ndim, p->src),
                      k % 2 ? OI_GAPPED : OI_ROW);
        for (int i = 0; i < 4 && p->names[i]; i++) {
            size_t n = strcspn(p->names[i], "?");
            char *name = oi_alloc(n + 1);
            memcpy(name, p->names[i], n);
            oi_arg_int(s, name, p->names[i][n] ? TN_FIELD_OPT_INT : TN_FIELD_INT, p->values[i]);
        }
        if (strncmp(row->op, "as_strided", 10) == 0) {
            oi_arg_ints(s, "size", p->src_ndim, p->src);
            oi_arg_ints(s, "stride", p->src_ndim, p->strides);
        }
        s->error = p->error;
    }
}

#define PLACES(name, which, family, samples_, reference_)                                          \
    {                                                                                              \
        .op = name, .dtypes = ALL, .tolerance = family, .kind = which, .lo = -9, .hi = 9,          \
        .samples = samples_, .reference = reference_                                               \
    }

static const oi_row rows[] = {
    PLACES("index_copy", COPY, "exact", along_samples, along),
    PLACES("index_fill.int_Scalar", FILL, "exact", along_samples, along),
    PLACES("index_fill.int_Tensor", FILL_TENSOR, "exact", along_samples, along),
    PLACES("take", TAKE, "exact", whole_samples, whole),
    PLACES("put", PUT, "sum", whole_samples, whole),
    PLACES("take_along_dim", ALONG, "exact", taken_samples, taken),
    PLACES("select_scatter", 0, "exact", part_samples, replaced),
    PLACES("slice_scatter", 0, "exact", part_samples, replaced),
    PLACES("diagonal_scatter", 0, "exact", part_samples, replaced),
    PLACES("as_strided_scatter", 0, "exact", part_samples, replaced),
};
const oi_rows oi_rows_places = ROWS(rows);

/* rows_unique.c - isin, _unique2 and unique_consecutive: the reference compares every element with
 * every other one. */
#include "rows_impl.h"

#include <math.h>

enum { TENSORS, TENSOR_SCALAR, SCALAR_TENSOR, UNIQUE, CONSECUTIVE };

static bool equal(oi_num a, oi_num b, bool whole)
{
    return whole ? a.i == b.i : a.re == b.re;
}

static oi_array elements(oi_rng *r, tn_dtype d, int ndim, const int64_t *sizes, bool special)
{
    const oi_real values[] = {NAN, INFINITY, -0.0L, 0, NAN};
    oi_array a = oi_values_in(r, d, ndim, sizes, 0, 6);
    for (int64_t i = 0; i < a.numel && !oi_is_integral(d); i++)
        a.v[i] = oi_float(special && i % 3 == 1 ? values[i % 5] : rintl(a.v[i].re));
    return a;
}

/* ---- isin ------------------------------------------------------------------------------------ */
static int isin_reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, row->kind == SCALAR_TENSOR ? "element" : "elements");
    const oi_array *among =
        oi_input(s, row->kind == TENSOR_SCALAR ? "test_element" : "test_elements");
    const oi_arg *number = oi_find(s, row->kind == SCALAR_TENSOR ? "element" : "test_element");
    oi_num one = number ? oi_from_scalar(&number->scalar, oi_scalar_dtype(&number->scalar))
                        : oi_int(0);
    tn_dtype d = x ? x->dtype : among->dtype;
    bool whole = oi_is_integral(d) && (!among || oi_is_integral(among->dtype)) &&
                 (!number || number->scalar.kind == TN_SCALAR_INT);
    results[0] = oi_array_new(TN_BOOL, x ? x->ndim : 0, x ? x->sizes : NULL);
    for (int64_t i = 0; i < results[0].numel; i++) {
        bool found = false;
        for (int64_t k = 0; k < (among ? among->numel : 1); k++)
            found |= equal(x ? x->v[i] : one, among ? among->v[k] : one, whole);
        results[0].v[i] = oi_int(found != (oi_get_int(s, "invert", 0) != 0));
    }
    return 1;
}

static const struct {
    const char *what;
    int ndim, other_ndim;
    int64_t sizes[2], other_sizes[2];
    oi_layout layout, other_layout;
    bool special, invert;
} isin_cases[] = {
    {"a few", 2, 1, {3, 4}, {3}, OI_ROW, OI_ROW, 0, 0},
    {"others than a few", 2, 2, {3, 4}, {2, 2}, OI_TRANSPOSED, OI_GAPPED, 0, 1},
    {"NaN and infinity", 1, 1, {15}, {10}, OI_GAPPED, OI_ROW, 1, 0},
    {"NaN and infinity, inverted", 1, 1, {15}, {10}, OI_ROW, OI_SHIFTED, 1, 1},
    {"among many", 1, 1, {300}, {90}, OI_ROW, OI_ROW, 0, 0},
    {"among none", 1, 1, {4}, {0}, OI_ROW, OI_ROW, 0, 0},
    {"none", 2, 1, {0, 3}, {2}, OI_ROW, OI_ROW, 0, 1},
    {"0-dim", 0, 0, {0}, {0}, OI_ROW, OI_ROW, 0, 0},
};

static void isin_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    for (size_t k = 0; k < sizeof isin_cases / sizeof *isin_cases; k++) {
        oi_sample *s = oi_sample_new(out, isin_cases[k].what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        tn_scalar number = k % 2 && d != TN_BOOL ? tn_scalar_float(2.5) : tn_scalar_int(1);
        if (row->kind == SCALAR_TENSOR)
            oi_arg_scalar(s, "element", number);
        else
            oi_arg_tensor(
                s, "elements",
                elements(&r, d, isin_cases[k].ndim, isin_cases[k].sizes, isin_cases[k].special),
                isin_cases[k].layout);
        if (row->kind == TENSOR_SCALAR)
            oi_arg_scalar(s, "test_element", number);
        else
            oi_arg_tensor(s, "test_elements",
                          elements(&r, k % 3 || row->kind == SCALAR_TENSOR ? d : TN_I32,
                                   isin_cases[k].other_ndim, isin_cases[k].other_sizes,
                                   isin_cases[k].special),
                          isin_cases[k].other_layout);
        oi_arg_int(s, "invert", TN_FIELD_BOOL, isin_cases[k].invert);
    }
}

/* ---- unique ---------------------------------------------------------------------------------- */
/* Slices along dim (or elements, dim < 0): `n` of `m` elements; element k of slice i. */
typedef struct slices {
    const oi_array *x;
    int64_t dim, n, m;
} slices;

static oi_num element(const slices *s, int64_t i, int64_t k)
{
    if (s->dim < 0)
        return s->x->v[i];
    int64_t inner = 1;
    for (int d = (int)s->dim + 1; d < s->x->ndim; d++)
        inner *= s->x->sizes[d];
    return s->x->v[(k / inner * s->n + i) * inner + k % inner];
}

static bool same(const slices *s, int64_t i, int64_t j)
{
    for (int64_t k = 0; k < s->m; k++)
        if (!equal(element(s, i, k), element(s, j, k), oi_is_integral(s->x->dtype)))
            return false;
    return true;
}

static bool before(oi_num a, oi_num b, bool whole)
{
    if (whole)
        return a.i < b.i;
    return isnan(b.re) ? !isnan(a.re) : a.re < b.re;
}

/* What slice i becomes: the first slice that it is like. */
static int64_t likes(const slices *s, int64_t i, bool neighbours, const int64_t *first)
{
    if (neighbours)
        return i && same(s, i - 1, i) ? first[i - 1] : i;
    for (int64_t j = 0; j < i; j++)
        if (same(s, j, i))
            return j;
    return i;
}

/* rank[i]: which of the distinct ones slice i is; how many there are. */
static int64_t rank_all(const slices *s, bool neighbours, int64_t *rank)
{
    int64_t *first = oi_alloc((size_t)(s->n + 1) * sizeof *first), distinct = 0;
    bool whole = oi_is_integral(s->x->dtype);
    for (int64_t i = 0; i < s->n; i++)
        first[i] = likes(s, i, neighbours, first);
    for (int64_t i = 0; i < s->n; i++) {
        distinct += first[i] == i;
        rank[i] = 0;
        for (int64_t j = 0; j < s->n; j++) {
            if (first[j] != j || j == first[i])
                continue;
            oi_num a = element(s, j, 0), b = element(s, first[i], 0);
            rank[i] += neighbours ? j < first[i]
                                  : before(a, b, whole) || (!before(b, a, whole) && j < first[i]);
        }
    }
    return distinct;
}

static void shape_values(const slices *s, int64_t distinct, oi_array *r)
{
    int64_t sizes[OI_DIMS] = {distinct};
    for (int d = 0; s->dim >= 0 && d < s->x->ndim; d++)
        sizes[d] = d == s->dim ? distinct : s->x->sizes[d];
    *r = oi_array_new(s->x->dtype, s->dim < 0 ? 1 : s->x->ndim, sizes);
}

static int unique_reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self");
    const oi_arg *dim = oi_find(s, "dim");
    bool counts = oi_get_int(s, "return_counts", 0), inverse = oi_get_int(s, "return_inverse", 0);
    slices c = {x, dim ? (dim->ints[0] + x->ndim) % x->ndim : -1, x->numel, 1};
    if (dim) {
        c.n = x->sizes[c.dim];
        c.m = c.n ? x->numel / c.n : 0;
    }
    int64_t *rank = oi_alloc((size_t)(c.n + 1) * sizeof *rank), none = 0;
    int64_t distinct = rank_all(&c, row->kind == CONSECUTIVE, rank), inner = 1;
    inverse = inverse || (counts && row->kind == UNIQUE);
    shape_values(&c, distinct, &results[0]);
    results[1] = inverse ? oi_array_new(TN_I64, dim ? 1 : x->ndim, dim ? &c.n : x->sizes)
                         : oi_array_new(TN_I64, 1, &none);
    results[2] = oi_array_new(TN_I64, 1, counts ? &distinct : &none);
    for (int d = (int)c.dim + 1; dim && d < x->ndim; d++)
        inner *= x->sizes[d];
    for (int64_t i = c.n - 1; i >= 0; i--) { /* the first of equal ones is written last */
        for (int64_t k = 0; k < c.m; k++)
            results[0].v[(k / inner * distinct + rank[i]) * inner + k % inner] = element(&c, i, k);
        if (inverse)
            results[1].v[i] = oi_int(rank[i]);
        if (counts)
            results[2].v[rank[i]] = oi_int(results[2].v[rank[i]].i + 1);
    }
    return 3;
}

static void unique_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const struct {
        const char *what;
        int ndim;
        int64_t sizes[3];
        oi_layout layout;
        bool inverse, counts, special;
        int64_t dim; /* 9: none */
        bool error;
    } cases[] = {
        {"a matrix", 2, {4, 5}, OI_ROW, 1, 1, 0, 9, 0},
        {"values alone", 2, {4, 5}, OI_TRANSPOSED, 0, 0, 0, 9, 0},
        {"counts", 1, {130}, OI_GAPPED, 0, 1, 0, 9, 0},
        {"inverse", 1, {130}, OI_ROW, 1, 0, 0, 9, 0},
        {"NaN and zeros", 1, {40}, OI_ROW, 1, 1, 1, 9, 0},
        {"0-dim", 0, {0}, OI_ROW, 1, 1, 0, 9, 0},
        {"no elements", 2, {0, 3}, OI_ROW, 1, 1, 0, 9, 0},
        {"equal elements", 2, {3, 4}, OI_EXPANDED, 1, 1, 0, 0, 0},
        {"slices", 2, {6, 1}, OI_ROW, 1, 1, 0, 0, 0},
        {"slices, not the first dim", 3, {1, 9, 1}, OI_GAPPED, 1, 1, 0, -2, 0},
        {"slices with NaN", 2, {1, 12}, OI_TRANSPOSED, 1, 0, 1, 1, 0},
        {"no slices", 2, {3, 0}, OI_ROW, 1, 1, 0, 1, 0},
        {"slices of nothing", 2, {3, 0}, OI_ROW, 1, 1, 0, 0, 1},
        {"dim out of range", 2, {3, 2}, OI_ROW, 1, 1, 0, 2, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        if ((row->kind == UNIQUE && cases[k].dim != 9) || (cases[k].special && oi_is_integral(d)))
            continue;
        oi_sample *s = oi_sample_new(out, cases[k].what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        oi_array a = elements(&r, d, cases[k].ndim, cases[k].sizes, cases[k].special);
        for (int64_t i = 0; cases[k].layout == OI_EXPANDED && i < a.numel; i++)
            a.v[i] = a.v[i % a.sizes[1]];
        oi_arg_tensor(s, "self", a, cases[k].layout);
        oi_arg_int(s, "return_inverse", TN_FIELD_BOOL, cases[k].inverse);
        oi_arg_int(s, "return_counts", TN_FIELD_BOOL, cases[k].counts);
        if (cases[k].dim != 9)
            oi_arg_int(s, "dim", TN_FIELD_OPT_INT, cases[k].dim);
        s->error = cases[k].error;
    }
}

#define ISIN(name, which)                                                                          \
    {                                                                                              \
        .op = name, .dtypes = REAL, .tolerance = "exact", .kind = which, .samples = isin_samples,  \
        .reference = isin_reference                                                                \
    }
#define DISTINCT(name, which)                                                                      \
    {                                                                                              \
        .op = name, .dtypes = REAL, .tolerance = "exact", .flags = OI_NO_META, .kind = which,      \
        .samples = unique_samples, .reference = unique_reference                                   \
    }

static const oi_row rows[] = {
    ISIN("isin.Tensor_Tensor", TENSORS),         ISIN("isin.Tensor_Scalar", TENSOR_SCALAR),
    ISIN("isin.Scalar_Tensor", SCALAR_TENSOR),   DISTINCT("_unique2", UNIQUE),
    DISTINCT("unique_consecutive", CONSECUTIVE),
};
const oi_rows oi_rows_unique = ROWS(rows);

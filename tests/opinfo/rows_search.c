/* rows_search.c - searchsorted and bucketize: the reference counts the elements of the sequence that
 * come before the value; and heaviside, the step at zero. */
#include "rows_impl.h"

#include <math.h>
#include <string.h>

enum { SEARCH, BUCKET, SCALAR = 2 }; /* SCALAR: a number instead of values */

static int compare(oi_num a, oi_num b)
{
    if (isnan(a.re) || isnan(b.re))
        return isnan(a.re) - isnan(b.re);
    return a.re < b.re ? -1 : a.re > b.re;
}

static int reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    bool bucket = row->kind & BUCKET;
    const oi_array *seq = oi_input(s, bucket ? "boundaries" : "sorted_sequence");
    const oi_array *sorter = oi_input(s, "sorter"), *values = oi_input(s, "self");
    const oi_arg *side = oi_find(s, "side"), *number = oi_find(s, "self");
    bool right = oi_get_int(s, "right", 0) || (side && strcmp(side->text, "right") == 0);
    int64_t n = seq->sizes[seq->ndim - 1], many = values ? values->numel : 1;
    results[0] = oi_array_new(oi_get_int(s, "out_int32", 0) ? TN_I32 : TN_I64,
                              values ? values->ndim : 0, values ? values->sizes : NULL);
    for (int64_t i = 0; i < many; i++) {
        int64_t base = seq->ndim > 1 ? i / values->sizes[values->ndim - 1] * n : 0, at = 0;
        oi_num v = values ? values->v[i]
                          : oi_from_scalar(&number->scalar, oi_scalar_dtype(&number->scalar));
        for (int64_t k = 0; k < n; k++) {
            int64_t place = base + (sorter ? sorter->v[base + k].i : k);
            at += compare(seq->v[place], v) < (right ? 1 : 0);
        }
        results[0].v[i] = oi_int(at);
    }
    return 1;
}

typedef struct setting {
    const char *what;
    int ndim;
    int64_t sizes[2]; /* of the sequence */
    oi_layout layout;
    int value_ndim;
    int64_t value_sizes[2];
    oi_layout value_layout;
    bool right, int32, special, sorter, error;
    const char *side;
} setting;

static const setting settings[] = {
    {"one sequence", 1, {9}, OI_ROW, 2, {3, 4}, OI_ROW, 0, 0, 0, 0, 0, NULL},
    {"to the right", 1, {9}, OI_GAPPED, 2, {3, 4}, OI_TRANSPOSED, 1, 1, 0, 0, 0, NULL},
    {"0-dim values", 1, {5}, OI_ROW, 0, {0}, OI_ROW, 0, 0, 0, 0, 0, NULL},
    {"an empty sequence", 1, {0}, OI_ROW, 1, {3}, OI_ROW, 0, 0, 0, 0, 0, NULL},
    {"no values", 1, {4}, OI_ROW, 1, {0}, OI_ROW, 1, 0, 0, 0, 0, NULL},
    {"NaN and infinity", 1, {12}, OI_ROW, 1, {9}, OI_ROW, 0, 0, 1, 0, 0, NULL},
    {"NaN and infinity, right", 1, {12}, OI_SHIFTED, 1, {9}, OI_GAPPED, 1, 0, 1, 0, 0, NULL},
    {"stride 0", 1, {6}, OI_EXPANDED, 1, {6}, OI_EXPANDED, 1, 0, 0, 0, 0, NULL},
    /* of searchsorted alone */
    {"rows", 2, {3, 5}, OI_ROW, 2, {3, 4}, OI_GAPPED, 0, 0, 0, 0, 0, "left"},
    {"rows, right", 2, {3, 5}, OI_TRANSPOSED, 2, {3, 4}, OI_ROW, 0, 1, 0, 0, 0, "right"},
    {"a sorter", 2, {3, 5}, OI_ROW, 2, {3, 4}, OI_ROW, 1, 0, 0, 1, 0, NULL},
    {"rows do not fit", 2, {3, 5}, OI_ROW, 2, {4, 5}, OI_ROW, 0, 0, 0, 0, 1, NULL},
    {"opposite sides", 1, {5}, OI_ROW, 1, {2}, OI_ROW, 1, 0, 0, 0, 1, "left"},
    {"no such side", 1, {5}, OI_ROW, 1, {2}, OI_ROW, 0, 0, 0, 0, 1, "middle"},
    {"a 0-dim sequence", 0, {0}, OI_ROW, 1, {2}, OI_ROW, 0, 0, 0, 0, 1, NULL},
};

/* Each row in order; with a sorter the row is stored the other way round. */
static oi_array ascending(oi_array a, bool reversed)
{
    int64_t n = a.ndim ? a.sizes[a.ndim - 1] : 1;
    for (int64_t base = 0; n && base + n <= a.numel; base += n)
        for (int64_t i = 1; i < n; i++)
            for (int64_t k = base + i; k > base; k--) {
                int c = compare(a.v[k], a.v[k - 1]);
                if (reversed ? c <= 0 : c >= 0)
                    break;
                oi_num swap = a.v[k];
                a.v[k] = a.v[k - 1];
                a.v[k - 1] = swap;
            }
    return a;
}

static oi_array elements(const oi_row *row, oi_rng *r, tn_dtype d, int ndim, const int64_t *sizes,
                         const setting *w, oi_layout layout)
{
    const oi_real special[] = {NAN, INFINITY, -INFINITY, -0.0L, 0};
    oi_array a = oi_values(row, r, d, ndim, sizes);
    for (int64_t i = 0; i < a.numel; i++) {
        if (layout == OI_EXPANDED)
            a.v[i] = a.v[0];
        else if (w->special && i % 2)
            a.v[i] = oi_float(special[i / 2 % 5]);
    }
    return a;
}

static void add_values(const oi_row *row, oi_sample *s, oi_rng *r, tn_dtype d, const setting *w)
{
    if (row->kind & SCALAR) {
        oi_arg_scalar(s, "self", s->number % 2 ? tn_scalar_int(2) : tn_scalar_float(2.5));
        return;
    }
    oi_array a = elements(row, r, d, w->value_ndim, w->value_sizes, w, w->value_layout);
    oi_arg_tensor(s, "self", a, w->value_layout);
}

static void add(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed, const setting *w)
{
    bool bucket = row->kind & BUCKET;
    oi_sample *s = oi_sample_new(out, w->what);
    oi_rng r = oi_rng_make(seed, row->op, d, s->number);
    oi_array seq = ascending(elements(row, &r, d, w->ndim, w->sizes, w, w->layout), w->sorter);
    if (bucket)
        add_values(row, s, &r, d, w);
    oi_arg_tensor(s, bucket ? "boundaries" : "sorted_sequence", seq, w->layout);
    if (!bucket)
        add_values(row, s, &r, d, w);
    oi_arg_int(s, "right", TN_FIELD_BOOL, w->right);
    oi_arg_int(s, "out_int32", TN_FIELD_BOOL, w->int32);
    if (w->side)
        oi_arg_text(s, "side", w->side);
    if (w->sorter) {
        oi_array places = oi_array_new(TN_I64, w->ndim, w->sizes);
        for (int64_t i = 0; i < places.numel; i++)
            places.v[i] = oi_int(w->sizes[w->ndim - 1] - 1 - i % w->sizes[w->ndim - 1]);
        oi_arg_tensor(s, "sorter", places, OI_ROW);
    }
    s->error = w->error;
}

static void samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        const setting *w = &settings[k];
        bool searches = w->side || w->sorter || w->error || w->ndim == 2;
        if ((row->kind & BUCKET && searches) || (row->kind & SCALAR && w->ndim != 1) ||
            (w->special && oi_is_integral(d)))
            continue;
        add(row, out, d, seed, w);
    }
    if (row->kind & BUCKET) {
        static const setting rows = {
            "two dimensions", 2, {3, 5}, OI_ROW, 2, {3, 4}, OI_ROW, 0, 0, 0, 0, 1, NULL};
        add(row, out, d, seed, &rows);
    }
}

/* ---- the step -------------------------------------------------------------------------------- */
static oi_num step(const oi_row *row, const oi_sample *s, tn_dtype dtype, const oi_num *in,
                   oi_real *mag)
{
    (void)row, (void)s, (void)mag;
    bool zero = oi_is_integral(dtype) ? in[0].i == 0 : in[0].re == 0;
    return zero ? in[1] : oi_int(oi_is_integral(dtype) ? in[0].i > 0 : in[0].re > 0);
}

#define SEARCHING(name, which)                                                                     \
    {                                                                                              \
        .op = name, .dtypes = REAL, .tolerance = "exact", .kind = which, .lo = 0, .hi = 9,         \
        .samples = samples, .reference = reference                                                 \
    }

static const oi_row rows[] = {
    SEARCHING("searchsorted.Tensor", SEARCH),
    SEARCHING("searchsorted.Scalar", SEARCH | SCALAR),
    SEARCHING("bucketize.Tensor", BUCKET),
    SEARCHING("bucketize.Scalar", BUCKET | SCALAR),
    {.op = "heaviside",
     .operands = "self values",
     .dtypes = REAL,
     .tolerance = "exact",
     .element = step,
     .samples = oi_elementwise_samples,
     .reference = oi_elementwise_reference},
};
const oi_rows oi_rows_search = ROWS(rows);

/* rows_masks.c - what truth values choose: masked_select, masked_scatter; and where numbers are not
 * zero: nonzero, nonzero_numpy, argwhere, count_nonzero. */
#include "rows_impl.h"

#include <math.h>

enum { SELECT, SCATTER };
enum { LIST, COLUMNS, COUNT, COUNT_DIMS };

/* ---- a mask and what it chooses -------------------------------------------------------------- */
static int masked(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self"), *mask = oi_input(s, "mask");
    const oi_array *both[] = {x, mask};
    int64_t sizes[OI_DIMS], coords[OI_DIMS], count = 0;
    int ndim;
    oi_broadcast(2, both, &ndim, sizes);
    oi_array all = oi_array_new(x->dtype, ndim, sizes);
    bool *chosen = oi_alloc((size_t)all.numel + 1);
    for (int64_t i = 0; i < all.numel; i++) {
        oi_coords(&all, i, coords);
        all.v[i] = x->v[oi_broadcast_index(x, ndim, coords)];
        chosen[i] = mask->v[oi_broadcast_index(mask, ndim, coords)].i != 0;
        count += chosen[i];
    }
    results[0] = row->kind == SELECT ? oi_array_new(x->dtype, 1, &count) : all;
    const oi_array *source = oi_input(s, "source");
    for (int64_t i = 0, at = 0; i < all.numel; i++) {
        if (!chosen[i])
            continue;
        if (row->kind == SELECT)
            results[0].v[at++] = all.v[i];
        else
            results[0].v[i] = source->v[at++];
    }
    return 1;
}

typedef struct setting {
    const char *what;
    int ndim;
    int64_t sizes[3];
    oi_layout layout;
    int mask_ndim;
    int64_t mask[3];
    oi_layout mask_layout;
    int source_ndim;
    int64_t source[2];
    bool error, by_value, large;
} setting;

static const setting settings[] = {
    {"alike", 2, {4, 5}, OI_ROW, 2, {4, 5}, OI_ROW, 1, {20}, 0, 0, 0},
    {"gaps", 2, {4, 5}, OI_GAPPED, 2, {4, 5}, OI_TRANSPOSED, 2, {7, 3}, 0, 0, 0},
    {"a mask of columns", 3, {2, 3, 4}, OI_TRANSPOSED, 1, {4}, OI_GAPPED, 1, {24}, 0, 0, 0},
    {"a mask of rows", 2, {4, 3}, OI_ROW, 2, {4, 1}, OI_ROW, 2, {4, 3}, 0, 0, 0},
    {"a larger mask", 1, {3}, OI_GAPPED, 2, {4, 3}, OI_ROW, 1, {13}, 0, 0, 0},
    {"both broadcast", 2, {3, 1}, OI_ROW, 2, {1, 4}, OI_ROW, 1, {12}, 0, 0, 0},
    {"0-dim", 0, {0}, OI_ROW, 0, {0}, OI_ROW, 0, {0}, 0, 0, 0},
    {"a 0-dim mask", 2, {2, 3}, OI_ROW, 0, {0}, OI_ROW, 1, {6}, 0, 0, 0},
    {"no elements", 2, {0, 3}, OI_ROW, 1, {3}, OI_ROW, 1, {0}, 0, 0, 0},
    {"shapes apart", 2, {4, 5}, OI_ROW, 1, {4}, OI_ROW, 1, {20}, 1, 0, 0},
    {"large", 2, {301, 257}, OI_ROW, 2, {301, 257}, OI_ROW, 1, {301 * 257}, 0, 0, 1},
};

static oi_array some_true(oi_rng *r, int ndim, const int64_t *sizes)
{
    oi_array a = oi_values_in(r, TN_BOOL, ndim, sizes, 0, 1);
    if (a.numel)
        a.v[a.numel - 1] = oi_int(1);
    return a;
}

static void masked_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        const setting *w = &settings[k];
        oi_sample *s = oi_sample_new(out, w->what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        oi_arg_tensor(s, "self", oi_values(row, &r, d, w->ndim, w->sizes), w->layout);
        oi_arg_tensor(s, "mask", some_true(&r, w->mask_ndim, w->mask), w->mask_layout)->fixed =
            true;
        if (row->kind == SCATTER)
            oi_arg_tensor(s, "source", oi_values(row, &r, d, w->source_ndim, w->source),
                          k % 2 ? OI_GAPPED : OI_ROW);
        s->error = w->error;
        s->large = w->large;
    }
    for (int k = 0; k < (row->kind == SCATTER ? 2 : 1); k++) {
        oi_sample *s = oi_sample_new(out, k ? "too few" : "a mask of numbers");
        oi_array mask = oi_array_new(k ? TN_BOOL : TN_F32, OI_SIZES(3, 4));
        for (int64_t i = 0; i < mask.numel; i++)
            mask.v[i] = oi_cast(oi_int(1), TN_I64, mask.dtype);
        oi_arg_tensor(s, "self", oi_array_new(d, OI_SIZES(3, 4)), OI_ROW);
        oi_arg_tensor(s, "mask", mask, OI_ROW);
        if (row->kind == SCATTER)
            oi_arg_tensor(s, "source", oi_array_new(d, OI_SIZES(11)), OI_ROW);
        s->error = true;
        s->by_value = k;
    }
}

/* ---- what is not zero ------------------------------------------------------------------------ */
static int places(const oi_row *row, const oi_sample *s, oi_array *results)
{
    oi_array x = *oi_input(s, "self");
    if (x.ndim == 0 && row->kind == COLUMNS)
        x.sizes[x.ndim++] = 1;
    int64_t count = 0, at = 0, coords[OI_DIMS];
    for (int64_t i = 0; i < x.numel; i++)
        count += oi_truth(x.v[i]);
    results[0] = oi_array_new(TN_I64, 2, (const int64_t[]){count, x.ndim});
    for (int k = 0; row->kind == COLUMNS && k < x.ndim; k++)
        results[k] = oi_array_new(TN_I64, 1, &count);
    for (int64_t i = 0; i < x.numel; i++) {
        if (!oi_truth(x.v[i]))
            continue;
        oi_coords(&x, i, coords);
        for (int d = 0; d < x.ndim; d++)
            *(row->kind == COLUMNS ? &results[d].v[at] : &results[0].v[at * x.ndim + d]) =
                oi_int(coords[d]);
        at++;
    }
    return row->kind == COLUMNS ? x.ndim : 1;
}

static int counted(const oi_row *row, const oi_sample *s, oi_array *results)
{
    (void)row;
    const oi_array *x = oi_input(s, "self");
    const oi_arg *dim = oi_find(s, "dim");
    int64_t sizes[OI_DIMS], coords[OI_DIMS], kept[OI_DIMS];
    bool gone[OI_DIMS] = {false};
    int ndim = 0;
    for (int64_t k = 0; dim && k < dim->n; k++)
        gone[dim->ints[k] < 0 ? dim->ints[k] + (x->ndim ? x->ndim : 1) : dim->ints[k]] = true;
    for (int d = 0; d < x->ndim; d++)
        if (dim && dim->n && !gone[d])
            sizes[ndim++] = x->sizes[d];
    results[0] = oi_array_new(TN_I64, ndim, sizes);
    for (int64_t i = 0; i < x->numel; i++) {
        int n = 0;
        oi_coords(x, i, coords);
        for (int d = 0; d < x->ndim; d++)
            if (dim && dim->n && !gone[d])
                kept[n++] = coords[d];
        oi_num *to = &results[0].v[oi_index(&results[0], kept)];
        *to = oi_int(to->i + oi_truth(x->v[i]));
    }
    return 1;
}

/* Half of them zero; all rows are the first one where the layout makes them so. */
static oi_array sparse(const oi_row *row, oi_rng *r, tn_dtype d, int ndim, const int64_t *sizes,
                       oi_layout layout)
{
    oi_array a = oi_values(row, r, d, ndim, sizes);
    for (int64_t i = 0; i < a.numel; i++)
        if (oi_random(r) >> 63)
            a.v[i] = oi_cast(oi_int(0), TN_I64, d);
    if (a.numel > 1) /* true, though no number */
        a.v[1] = oi_is_integral(d) ? oi_int(1) : oi_cast(oi_float(NAN), TN_F64, d);
    for (int64_t i = 0; layout == OI_EXPANDED && i < a.numel; i++)
        a.v[i] = a.v[i % sizes[1]];
    return a;
}

static void count_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const struct {
        const char *what;
        int ndim;
        int64_t sizes[3];
        oi_layout layout;
        int n;
        int64_t dims[2];
        bool error, large;
    } cases[] = {
        {"a matrix", 2, {4, 5}, OI_ROW, 1, {0}, 0, 0},
        {"transposed", 2, {4, 5}, OI_TRANSPOSED, 1, {-1}, 0, 0},
        {"gaps", 3, {3, 2, 4}, OI_GAPPED, 1, {1}, 0, 0},
        {"all dims", 3, {3, 2, 4}, OI_ROW, 0, {0}, 0, 0},
        {"two dims", 3, {3, 2, 4}, OI_ROW, 2, {0, -1}, 0, 0},
        {"0-dim", 0, {0}, OI_ROW, 1, {0}, 0, 0},
        {"no elements", 2, {0, 3}, OI_ROW, 1, {0}, 0, 0},
        {"no elements in a row", 2, {3, 0}, OI_ROW, 1, {1}, 0, 0},
        {"expanded", 2, {3, 4}, OI_EXPANDED, 1, {0}, 0, 0},
        {"dim out of range", 2, {4, 5}, OI_ROW, 1, {2}, 1, 0},
        {"large", 2, {301, 257}, OI_ROW, 1, {0}, 0, 1},
        {"large, transposed", 2, {301, 257}, OI_TRANSPOSED, 0, {0}, 0, 1},
    };
    bool counts = row->kind == COUNT || row->kind == COUNT_DIMS;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        if ((cases[k].error && !counts) || (cases[k].n > 1 && row->kind == COUNT))
            continue;
        oi_sample *s = oi_sample_new(out, cases[k].what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        oi_arg_tensor(s, "self", sparse(row, &r, d, cases[k].ndim, cases[k].sizes, cases[k].layout),
                      cases[k].layout);
        if (row->kind == COUNT_DIMS)
            oi_arg_ints(s, "dim", cases[k].n, cases[k].dims);
        else if (row->kind == COUNT && cases[k].n)
            oi_arg_int(s, "dim", TN_FIELD_OPT_INT, cases[k].dims[0]);
        s->error = cases[k].error;
        s->large = cases[k].large;
    }
}

#define MASKED(name, which, flags_)                                                                \
    {                                                                                              \
        .op = name, .dtypes = ALL, .tolerance = "exact", .kind = which, .flags = flags_,           \
        .samples = masked_samples, .reference = masked                                             \
    }
#define NONZERO(name, which, flags_, reference_)                                                   \
    {                                                                                              \
        .op = name, .dtypes = ALL, .tolerance = "exact", .kind = which, .flags = flags_,           \
        .samples = count_samples, .reference = reference_                                          \
    }

static const oi_row rows[] = {
    MASKED("masked_select", SELECT, OI_NO_META),
    MASKED("masked_scatter", SCATTER, 0),
    NONZERO("nonzero", LIST, OI_NO_META, places),
    NONZERO("argwhere", LIST, OI_NO_META, places),
    NONZERO("nonzero_numpy", COLUMNS, OI_NO_META, places),
    NONZERO("count_nonzero", COUNT, 0, counted),
    NONZERO("count_nonzero.dim_IntList", COUNT_DIMS, 0, counted),
};
const oi_rows oi_rows_masks = ROWS(rows);

/* rows_index.c - reading by index: index_select, gather, embedding. An index out of range is an
 * error, never a read. */
#include "rows_impl.h"

enum { SELECT, GATHER, EMBEDDING };

static int64_t index_at(const oi_array *index, int64_t i, int64_t n)
{
    int64_t v = index->v[i].i;
    return v < 0 ? v + n : v;
}

static int reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = &s->args[0].tensors->a, *index = &s->args[1].tensors->a;
    int dim = (int)oi_get_int(s, "dim", 0), ndim = 0;
    int64_t sizes[OI_DIMS], coords[OI_DIMS];
    dim = dim < 0 ? dim + x->ndim : dim;
    if (row->kind == EMBEDDING) {
        for (; ndim < index->ndim; ndim++)
            sizes[ndim] = index->sizes[ndim];
        sizes[ndim++] = x->sizes[1];
    } else {
        for (; ndim < x->ndim; ndim++)
            sizes[ndim] = row->kind == GATHER ? index->sizes[ndim]
                          : ndim == dim       ? index->numel
                                              : x->sizes[ndim];
    }
    results[0] = oi_array_new(x->dtype, ndim, sizes);
    for (int64_t i = 0; i < results[0].numel; i++) {
        oi_coords(&results[0], i, coords);
        if (row->kind == EMBEDDING) {
            int64_t from[2] = {index_at(index, i / x->sizes[1], x->sizes[0]), i % x->sizes[1]};
            results[0].v[i] = x->v[oi_index(x, from)];
            continue;
        }
        coords[dim] = index_at(index, row->kind == GATHER ? i : coords[dim], x->sizes[dim]);
        results[0].v[i] = x->v[oi_index(x, coords)];
    }
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
    oi_layout index_layout;
    int64_t dim, least, most; /* of the indices */
    bool error, by_value, large;
} setting;

static const setting settings[] = {
    {SELECT, "rows", 2, {5, 4}, OI_ROW, 1, {7}, OI_ROW, 0, 0, 4, 0, 0, 0},
    {SELECT, "columns", 2, {5, 4}, OI_TRANSPOSED, 1, {3}, OI_GAPPED, -1, 0, 3, 0, 0, 0},
    {SELECT, "gaps", 3, {3, 4, 5}, OI_GAPPED, 1, {6}, OI_ROW, 1, 0, 3, 0, 0, 0},
    {SELECT, "no indices", 2, {5, 4}, OI_ROW, 1, {0}, OI_ROW, 0, 0, 4, 0, 0, 0},
    {SELECT, "out of range", 2, {5, 4}, OI_ROW, 1, {3}, OI_ROW, 0, 5, 5, 1, 1, 0},
    {SELECT, "a matrix of indices", 2, {5, 4}, OI_ROW, 2, {2, 2}, OI_ROW, 0, 0, 4, 1, 0, 0},
    {SELECT, "dim out of range", 2, {5, 4}, OI_ROW, 1, {3}, OI_ROW, 2, 0, 3, 1, 0, 0},
    {SELECT, "large", 2, {501, 67}, OI_ROW, 1, {600}, OI_ROW, 0, 0, 500, 0, 0, 1},
    {GATHER, "along rows", 2, {5, 4}, OI_ROW, 2, {3, 4}, OI_ROW, 0, 0, 4, 0, 0, 0},
    {GATHER, "along columns", 2, {5, 4}, OI_GAPPED, 2, {4, 6}, OI_TRANSPOSED, 1, 0, 3, 0, 0, 0},
    {GATHER, "three dims", 3, {3, 4, 5}, OI_TRANSPOSED, 3, {2, 3, 5}, OI_ROW, 1, 0, 3, 0, 0, 0},
    {GATHER, "no indices", 2, {5, 4}, OI_ROW, 2, {0, 4}, OI_ROW, 0, 0, 4, 0, 0, 0},
    {GATHER, "out of range", 2, {5, 4}, OI_ROW, 2, {2, 2}, OI_ROW, 0, 5, 5, 1, 1, 0},
    {GATHER, "more columns than there are", 2, {5, 4}, OI_ROW, 2, {2, 6}, OI_ROW, 0, 0, 4, 1, 0, 0},
    {GATHER, "large", 2, {101, 211}, OI_ROW, 2, {101, 211}, OI_ROW, 1, 0, 210, 0, 0, 1},
    {EMBEDDING, "a vector", 2, {9, 4}, OI_ROW, 1, {6}, OI_ROW, 0, 0, 8, 0, 0, 0},
    {EMBEDDING, "a matrix", 2, {9, 5}, OI_TRANSPOSED, 2, {3, 4}, OI_GAPPED, 0, 0, 8, 0, 0, 0},
    {EMBEDDING, "0-dim", 2, {9, 4}, OI_GAPPED, 0, {0}, OI_ROW, 0, 0, 8, 0, 0, 0},
    {EMBEDDING, "no indices", 2, {9, 4}, OI_ROW, 1, {0}, OI_ROW, 0, 0, 8, 0, 0, 0},
    {EMBEDDING, "out of range", 2, {9, 4}, OI_ROW, 1, {3}, OI_ROW, 0, 9, 9, 1, 1, 0},
    {EMBEDDING, "weights of three dims", 3, {3, 3, 3}, OI_ROW, 1, {2}, OI_ROW, 0, 0, 1, 1, 0, 0},
    {EMBEDDING, "large", 2, {301, 67}, OI_ROW, 1, {700}, OI_ROW, 0, 0, 300, 0, 0, 1},
};

static void samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    const char *const *names = row->data;
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        const setting *w = &settings[k];
        if (w->kind != row->kind)
            continue;
        oi_sample *s = oi_sample_new(out, w->what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        tn_dtype index = row->kind != GATHER && s->number % 2 ? TN_I32 : TN_I64;
        oi_arg_tensor(s, names[0], oi_values(row, &r, d, w->ndim, w->sizes), w->layout);
        oi_arg_tensor(s, names[1],
                      oi_values_in(&r, index, w->index_ndim, w->index_sizes, (double)w->least,
                                   (double)w->most),
                      w->index_layout);
        if (row->kind != EMBEDDING)
            oi_arg_int(s, "dim", TN_FIELD_INT, w->dim);
        s->error = w->error;
        s->by_value = w->by_value;
        s->large = w->large;
    }
    oi_sample *s = oi_sample_new(out, "indices that are not integers");
    oi_arg_tensor(s, names[0], oi_array_new(d, OI_SIZES(3, 4)), OI_ROW);
    oi_arg_tensor(s, names[1], oi_array_new(TN_F32, OI_SIZES(2)), OI_ROW);
    if (row->kind != EMBEDDING)
        oi_arg_int(s, "dim", TN_FIELD_INT, 0);
    s->error = true;
}

static const char *const by_index[] = {"self", "index"}, *const by_indices[] = {"weight",
                                                                                "indices"};

#define READING(name, which, names)                                                                \
    {                                                                                              \
        .op = name, .dtypes = ALL, .tolerance = "exact", .kind = which, .data = names,             \
        .samples = samples, .reference = reference                                                 \
    }

static const oi_row rows[] = {
    READING("index_select", SELECT, by_index),
    READING("gather", GATHER, by_index),
    READING("embedding", EMBEDDING, by_indices),
};
const oi_rows oi_rows_index = ROWS(rows);

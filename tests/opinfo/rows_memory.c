/* rows_memory.c - set_, resize_, resize_as_: self takes other memory, or another shape over its own.
 * What lies beyond the elements that there were is undefined, so no sample looks there. */
#include "rows_impl.h"

#include <string.h>

enum { SET, SET_PART, SET_NOTHING, RESIZE, RESIZE_AS };

static const oi_arg *sizes_of(const oi_sample *s)
{
    return oi_find(s, "size");
}

/* The elements of `from` from its offset-th on, by these strides; NULL: row-major. */
static oi_array elements(const oi_array *from, int ndim, const int64_t *sizes, int64_t offset,
                         const int64_t *strides)
{
    oi_array out = oi_array_new(from->dtype, ndim, sizes);
    int64_t coords[OI_DIMS];
    for (int64_t i = 0; i < out.numel; i++) {
        int64_t at = offset + (strides ? 0 : i);
        oi_coords(&out, i, coords);
        for (int d = 0; strides && d < ndim; d++)
            at += coords[d] * strides[d];
        out.v[i] = from->v[at];
    }
    return out;
}

static int reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    static const int64_t none = 0;
    const oi_array *self = oi_input(s, "self"), *source = oi_input(s, "source"),
                   *other = oi_input(s, "the_template");
    const oi_arg *size = sizes_of(s), *stride = oi_find(s, "stride");
    if (row->kind == SET)
        results[0] = *source;
    else if (row->kind == SET_PART)
        results[0] = elements(source, (int)size->n, size->ints, oi_get_int(s, "storage_offset", 0),
                              stride ? stride->ints : NULL);
    else if (row->kind == SET_NOTHING)
        results[0] = oi_array_new(self->dtype, 1, &none);
    else if (row->kind == RESIZE)
        results[0] = elements(self, (int)size->n, size->ints, 0, NULL);
    else
        results[0] = elements(self, other->ndim, other->sizes, 0, NULL);
    return 1;
}

/* ---- samples --------------------------------------------------------------------------------- */
static const struct {
    const char *what;
    int ndim;
    int64_t sizes[5];
} resized[] = {
    {"as it is", 2, {3, 4}},    {"turned", 2, {4, 3}}, {"more dimensions", 5, {1, 2, 3, 1, 2}},
    {"fewer elements", 1, {5}}, {"0-dim", 0, {0}},     {"no elements", 2, {0, 9}},
};

static oi_sample *add(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed,
                      const char *what, int ndim, const int64_t *sizes)
{
    oi_sample *s = oi_sample_new(out, what);
    oi_rng r = oi_rng_make(seed, row->op, d, s->number);
    oi_arg_tensor(s, "self", oi_values(row, &r, d, ndim, sizes), OI_ROW);
    return s;
}

static void add_resized(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    for (size_t k = 0; k < sizeof resized / sizeof *resized; k++) {
        oi_sample *s = add(row, out, d, seed, resized[k].what, OI_SIZES(3, 4));
        if (row->kind == RESIZE)
            oi_arg_ints(s, "size", resized[k].ndim, resized[k].sizes);
        else
            oi_arg_tensor(s, "the_template", oi_array_new(d, resized[k].ndim, resized[k].sizes),
                          OI_ROW);
    }
    if (row->kind != RESIZE)
        return;
    oi_sample *s = add(row, out, d, seed, "a negative size", OI_SIZES(3));
    oi_arg_ints(s, "size", OI_SIZES(2, -1));
    s->error = true;
    s = add(row, out, d, seed, "more elements than numbers", OI_SIZES(3));
    oi_arg_ints(s, "size", OI_SIZES(INT64_MAX, 4));
    s->error = true;
}

static oi_sample *add_set(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed,
                          const char *what, oi_layout layout)
{
    oi_sample *s = add(row, out, d, seed, what, OI_SIZES(2));
    oi_rng r = oi_rng_make(seed, row->op, d, 100 + s->number);
    oi_arg_tensor(s, "source", oi_values(row, &r, d, OI_SIZES(4, 6)), layout);
    return s;
}

static void add_sets(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    add_set(row, out, d, seed, "row-major", OI_ROW);
    add_set(row, out, d, seed, "transposed", OI_TRANSPOSED);
    add_set(row, out, d, seed, "gaps", OI_GAPPED);
    oi_sample *s = add(row, out, d, seed, "another dtype", OI_SIZES(2));
    oi_arg_tensor(s, "source", oi_array_new(d == TN_F32 ? TN_F64 : TN_F32, OI_SIZES(2)), OI_ROW);
    s->error = true;
}

static void part_of(oi_sample *s, int64_t offset, int64_t rows, int64_t columns)
{
    oi_arg_int(s, "storage_offset", TN_FIELD_INT, offset);
    oi_arg_ints(s, "size", OI_SIZES(rows, columns));
}

static void add_parts(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    part_of(add_set(row, out, d, seed, "row-major", OI_ROW), 0, 4, 6);
    oi_sample *s = add_set(row, out, d, seed, "strided", OI_ROW);
    part_of(s, 0, 3, 2);
    oi_arg_ints(s, "stride", OI_SIZES(1, 6));
    s = add_set(row, out, d, seed, "beyond its memory", OI_ROW);
    part_of(s, 0, 1 << 20, 6);
    s->error = true;
    s = add_set(row, out, d, seed, "a stride too few", OI_ROW);
    part_of(s, 0, 2, 2);
    oi_arg_ints(s, "stride", OI_SIZES(1));
    s->error = true;
}

static void samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    if (row->kind == RESIZE || row->kind == RESIZE_AS)
        add_resized(row, out, d, seed);
    else if (row->kind == SET)
        add_sets(row, out, d, seed);
    else if (row->kind == SET_PART)
        add_parts(row, out, d, seed);
    else
        add(row, out, d, seed, "row-major", OI_SIZES(3, 4));
}

#define MEMORY(name, which)                                                                        \
    {                                                                                              \
        .op = name, .dtypes = ALL, .tolerance = "exact", .kind = which, .lo = 0, .hi = 9,          \
        .samples = samples, .reference = reference                                                 \
    }

static const oi_row rows[] = {
    MEMORY("set_.source_Tensor", SET), MEMORY("set_.source_Tensor_storage_offset", SET_PART),
    MEMORY("set_", SET_NOTHING),       MEMORY("resize_", RESIZE),
    MEMORY("resize_as_", RESIZE_AS),
};
const oi_rows oi_rows_memory = ROWS(rows);

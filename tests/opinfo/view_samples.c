/* view_samples.c - samples of the operators that move no data: mostly a table, one line per way to
 * call one. Each line that is right is tried on row-major, transposed and gapped memory. */
#include "rows_impl.h"

#include <string.h>

/* The same bytes as numbers of another dtype of the same size. */
static tn_dtype partner(tn_dtype d)
{
    static const tn_dtype of[] = {TN_U8,  TN_I8,  TN_U8,  TN_F16, TN_F32, TN_F64,
                                  TN_I16, TN_F16, TN_I32, TN_C64, TN_F64, TN_C128};
    return oi_size_of(of[d]) == oi_size_of(d) ? of[d] : d;
}

typedef struct setting {
    const char *op;
    int ndim;
    int64_t sizes[5];
    const char *name[4];
    int64_t values[4][5];
    int n[4];       /* how many values; 0 with a name: one */
    int other_ndim; /* a second tensor: 1 + its dims */
    int64_t other[5];
    unsigned flags;
} setting;
enum { BAD = 1, COPY = 2, ROW_ONLY = 4 };
#define X(...) .ndim = (int)(sizeof((const int64_t[]){__VA_ARGS__}) / 8), .sizes = {__VA_ARGS__}
#define LIST(name_, k, ...)                                                                        \
    .name[k] = name_, .values[k] = {__VA_ARGS__},                                                  \
    .n[k] = (int)(sizeof((const int64_t[]){__VA_ARGS__}) / 8)
#define OTHER(...)                                                                                 \
    .other_ndim = 1 + (int)(sizeof((const int64_t[]){__VA_ARGS__}) / 8), .other = {__VA_ARGS__}

static const setting settings[] = {
    {"view", X(4, 6), LIST("size", 0, 2, 12), .flags = ROW_ONLY},
    {"view", X(4, 6), LIST("size", 0, -1), .flags = ROW_ONLY},
    {"view", X(0, 3), LIST("size", 0, 3, 0, 2), .flags = ROW_ONLY},
    {"view", X(4, 6), LIST("size", 0, 5, 5), .flags = BAD},
    {"view", X(4, 6), LIST("size", 0, -1, -1), .flags = BAD},
    {"reshape", X(4, 6), LIST("shape", 0, 3, -1), .flags = COPY},
    {"reshape", X(2, 3, 4), LIST("shape", 0, 6, 4), .flags = COPY},
    {"reshape", X(4, 6), LIST("shape", 0, 7, -1), .flags = BAD},
    {"view_as", X(4, 6), OTHER(2, 3, 4), .flags = ROW_ONLY},
    {"view_as", X(4, 6), OTHER(5), .flags = BAD},
    {"reshape_as", X(4, 6), OTHER(8, 3), .flags = COPY},
    {"reshape_as", X(4, 6), OTHER(5), .flags = BAD},
    {"_unsafe_view", X(4, 6), LIST("size", 0, 24), .flags = ROW_ONLY},
    {"_reshape_alias", X(4, 6), LIST("size", 0, 2, 12), LIST("stride", 1, 12, 1),
     .flags = ROW_ONLY},
    {"alias", X(3, 4)},
    {"detach", X(3, 4)},
    {"transpose.int", X(3, 4, 5), .name = {"dim0", "dim1"}, .values = {{0}, {2}}},
    {"transpose.int", X(3, 4, 5), .name = {"dim0", "dim1"}, .values = {{-1}, {1}}},
    {"transpose.int", X(3, 4), .name = {"dim0", "dim1"}, .values = {{0}, {2}}, .flags = BAD},
    {"t", X(3, 4)},
    {"t", X(5)},
    {"t", X(2, 3, 4), .flags = BAD},
    {"permute", X(2, 3, 4), LIST("dims", 0, 2, 0, 1)},
    {"permute", X(2, 3, 4), LIST("dims", 0, -1, 1, 0)},
    {"permute", X(2, 3, 4), LIST("dims", 0, 0, 0, 1), .flags = BAD},
    {"permute", X(2, 3, 4), LIST("dims", 0, 0, 1), .flags = BAD},
    {"movedim.intlist", X(2, 3, 4), LIST("source", 0, 0, 2), LIST("destination", 1, 1, 0)},
    {"movedim.intlist", X(2, 3, 4), LIST("source", 0, 0, 0), LIST("destination", 1, 1, 0),
     .flags = BAD},
    {"movedim.int", X(2, 3, 4), .name = {"source", "destination"}, .values = {{0}, {-1}}},
    {"movedim.int", X(2, 3, 4), .name = {"source", "destination"}, .values = {{0}, {3}},
     .flags = BAD},
    {"numpy_T", X(2, 3, 4)},
    {"mT", X(2, 3, 4)},
    {"mT", X(5), .flags = BAD},
    {"expand", X(3, 1), LIST("size", 0, 2, 3, 4)},
    {"expand", X(3, 1), LIST("size", 0, -1, 5)},
    {"expand", X(3, 1), LIST("size", 0, 4, 4), .flags = BAD},
    {"expand_as", X(3, 1), OTHER(2, 3, 4)},
    {"expand_as", X(3, 2), OTHER(3, 4), .flags = BAD},
    {"broadcast_to", X(3, 1), LIST("size", 0, 2, 3, 4)},
    {"broadcast_to", X(3, 1), LIST("size", 0, 2), .flags = BAD},
    {"squeeze", X(1, 3, 1, 2)},
    {"squeeze", X(2, 3)},
    {"squeeze.dim", X(1, 3, 1), .name = {"dim"}, .values = {{0}}},
    {"squeeze.dim", X(1, 3, 1), .name = {"dim"}, .values = {{1}}},
    {"squeeze.dim", X(1, 3, 1), .name = {"dim"}, .values = {{3}}, .flags = BAD},
    {"unsqueeze", X(3, 4), .name = {"dim"}, .values = {{1}}},
    {"unsqueeze", X(3, 4), .name = {"dim"}, .values = {{-1}}},
    {"unsqueeze", X(3, 4), .name = {"dim"}, .values = {{3}}, .flags = BAD},
    {"slice.Tensor", X(5, 4), .name = {"dim", "start", "end", "step"},
     .values = {{0}, {1}, {5}, {2}}},
    {"slice.Tensor", X(5, 4), .name = {"dim", "start", "end", "step"},
     .values = {{1}, {-3}, {100}, {1}}},
    {"slice.Tensor", X(5, 4), .name = {"dim", "start", "end", "step"},
     .values = {{0}, {4}, {2}, {1}}},
    {"slice.Tensor", X(5, 4), .name = {"dim", "start", "end", "step"},
     .values = {{0}, {0}, {2}, {0}}, .flags = BAD},
    {"slice.Tensor", X(5, 4), .name = {"dim", "start", "end", "step"},
     .values = {{2}, {0}, {2}, {1}}, .flags = BAD},
    {"select.int", X(5, 4), .name = {"dim", "index"}, .values = {{1}, {2}}},
    {"select.int", X(5, 4), .name = {"dim", "index"}, .values = {{-2}, {-1}}},
    {"select.int", X(5, 4), .name = {"dim", "index"}, .values = {{0}, {5}}, .flags = BAD},
    {"narrow", X(5, 4), .name = {"dim", "start", "length"}, .values = {{0}, {1}, {3}}},
    {"narrow", X(5, 4), .name = {"dim", "start", "length"}, .values = {{1}, {-2}, {2}}},
    {"narrow", X(5, 4), .name = {"dim", "start", "length"}, .values = {{0}, {4}, {2}},
     .flags = BAD},
    {"as_strided", X(4, 6), LIST("size", 0, 3, 2), LIST("stride", 1, 2, 7), .flags = ROW_ONLY},
    {"as_strided", X(4, 6), LIST("size", 0, 3, 3), LIST("stride", 1, 1, 0), .flags = ROW_ONLY},
    {"as_strided", X(4, 6), LIST("size", 0, 30), LIST("stride", 1, 100), .flags = BAD},
    {"as_strided", X(4, 6), LIST("size", 0, 2, 2), LIST("stride", 1, 1), .flags = BAD},
    {"diagonal", X(4, 5), .name = {"offset", "dim1", "dim2"}, .values = {{0}, {0}, {1}}},
    {"diagonal", X(3, 4, 5), .name = {"offset", "dim1", "dim2"}, .values = {{-1}, {2}, {0}}},
    {"diagonal", X(4, 5), .name = {"offset", "dim1", "dim2"}, .values = {{2}, {0}, {1}}},
    {"diagonal", X(4, 5), .name = {"offset", "dim1", "dim2"}, .values = {{0}, {1}, {1}},
     .flags = BAD},
    {"unfold", X(7, 3), .name = {"dimension", "size", "step"}, .values = {{0}, {3}, {2}}},
    {"unfold", X(7, 3), .name = {"dimension", "size", "step"}, .values = {{0}, {8}, {1}},
     .flags = BAD},
    {"unfold", X(7, 3), .name = {"dimension", "size", "step"}, .values = {{0}, {2}, {0}},
     .flags = BAD},
    {"flatten.using_ints", X(2, 3, 4), .name = {"start_dim", "end_dim"}, .values = {{1}, {2}},
     .flags = COPY},
    {"flatten.using_ints", X(2, 3, 4), .name = {"start_dim", "end_dim"}, .values = {{0}, {-1}},
     .flags = COPY},
    {"flatten.using_ints", X(2, 3, 4), .name = {"start_dim", "end_dim"}, .values = {{2}, {1}},
     .flags = BAD},
    {"ravel", X(2, 3, 4), .flags = COPY},
    {"unbind.int", X(3, 4), .name = {"dim"}, .values = {{0}}},
    {"unbind.int", X(3, 4), .name = {"dim"}, .values = {{-1}}},
    {"unbind.int", X(3, 4), .name = {"dim"}, .values = {{2}}, .flags = BAD},
    {"split.Tensor", X(7, 3), .name = {"split_size", "dim"}, .values = {{3}, {0}}},
    {"split.Tensor", X(4, 6), .name = {"split_size", "dim"}, .values = {{2}, {-1}}},
    {"split.Tensor", X(4, 6), .name = {"split_size", "dim"}, .values = {{-1}, {0}}, .flags = BAD},
    {"split_with_sizes", X(7, 3), LIST("split_sizes", 0, 2, 1, 4), .name[1] = "dim",
     .values[1] = {0}},
    {"split_with_sizes", X(7, 3), LIST("split_sizes", 0, 2, 1), .name[1] = "dim", .values[1] = {0},
     .flags = BAD},
    {"chunk", X(7, 3), .name = {"chunks", "dim"}, .values = {{3}, {0}}},
    {"chunk", X(7, 3), .name = {"chunks", "dim"}, .values = {{0}, {0}}, .flags = BAD},
    {"atleast_1d", X(3)},
    {"atleast_2d", X(3)},
    {"atleast_2d", X(3, 4)},
    {"atleast_3d", X(3)},
    {"atleast_3d", X(3, 4)},
};

static oi_sample *add(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed,
                      const char *what, int ndim, const int64_t *sizes, oi_layout layout)
{
    oi_sample *s = oi_sample_new(out, what);
    oi_rng r = oi_rng_make(seed, row->op, d, s->number);
    oi_arg_tensor(s, "self", oi_values(row, &r, d, ndim, sizes), layout);
    return s;
}

static void add_setting(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed,
                        const setting *w, const char *what, oi_layout layout)
{
    oi_sample *s =
        add(row, out, d, seed, w->flags & BAD ? "a bad argument" : what, w->ndim, w->sizes, layout);
    for (int k = 0; k < 4; k++)
        if (w->name[k])
            oi_arg_ints(s, w->name[k], w->n[k] ? w->n[k] : 1, w->values[k]);
    if (w->other_ndim)
        oi_arg_tensor(s, "other", oi_array_new(d, w->other_ndim - 1, w->other), OI_ROW);
    s->error = w->flags & BAD;
    s->may_copy = w->flags & COPY && layout != OI_ROW;
}

void oi_view_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        const setting *w = &settings[k];
        if (strcmp(w->op, row->op) != 0)
            continue;
        add_setting(row, out, d, seed, w, "row-major", OI_ROW);
        if (w->flags & (BAD | ROW_ONLY))
            continue;
        add_setting(row, out, d, seed, w, "transposed", OI_TRANSPOSED);
        add_setting(row, out, d, seed, w, "gaps", OI_GAPPED);
    }
}

void oi_narrow_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    for (int k = 0; k < 3; k++) {
        oi_sample *s =
            add(row, out, d, seed, k == 2 ? "out of range" : "row-major", OI_SIZES(5, 4), OI_ROW);
        oi_array start = oi_array_new(TN_I64, 0, NULL);
        start.v[0] = oi_int(k == 2 ? 5 : k);
        oi_arg_int(s, "dim", TN_FIELD_INT, 0);
        oi_arg_tensor(s, "start", start, OI_ROW)->host = true;
        oi_arg_int(s, "length", TN_FIELD_INT, 2);
        s->error = k == 2;
    }
}

void oi_broadcast_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    for (int k = 0; k < 2; k++) {
        oi_sample *s = oi_sample_new(out, k ? "shapes that do not broadcast" : "three shapes");
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        oi_tensor *t = oi_arg_tensors(s, "tensors", 3);
        t[0].a = oi_values(row, &r, d, OI_SIZES(3, 1));
        t[1].a = oi_values(row, &r, d, OI_SIZES(4));
        t[2].a = oi_values(row, &r, d, 1, &(int64_t){k ? 3 : 1});
        s->error = k;
    }
}

void oi_view_dtype_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    oi_sample *s = add(row, out, d, seed, "a dtype of the same size", OI_SIZES(3, 4), OI_ROW);
    oi_arg_int(s, "dtype", TN_FIELD_DTYPE, partner(d));
    s = add(row, out, d, seed, "gaps", OI_SIZES(3, 4), OI_GAPPED);
    oi_arg_int(s, "dtype", TN_FIELD_DTYPE, partner(d));
}

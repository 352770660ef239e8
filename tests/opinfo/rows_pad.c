/* rows_pad.c - borders of a constant or of other elements, and pixels made of channels: each element
 * of the result by where it comes from. */
#include "rows_impl.h"

#include <string.h>

enum { CONSTANT, REFLECT, REPLICATE, BY_MODE, SHUFFLE, UNSHUFFLE };

/* A row's kind is 8 * what + the number of padded dimensions, 0: as many as the sample has. */
static int what(const oi_row *row)
{
    return (int)(row->kind / 8);
}

/* ---- borders --------------------------------------------------------------------------------- */
static int border_of(const oi_row *row, const oi_sample *s)
{
    const oi_arg *mode = oi_find(s, "mode");
    return what(row) != BY_MODE || !mode          ? what(row)
           : strcmp(mode->text, "reflect") == 0   ? REFLECT
           : strcmp(mode->text, "replicate") == 0 ? REPLICATE
           : strcmp(mode->text, "circular") == 0  ? BY_MODE
                                                  : CONSTANT;
}

/* -1: a constant. */
static int64_t source(int border, int64_t p, int64_t n)
{
    if (p >= 0 && p < n)
        return p;
    if (border == REFLECT)
        return p < 0 ? -p : 2 * (n - 1) - p;
    if (border == REPLICATE)
        return p < 0 ? 0 : n - 1;
    return border == BY_MODE ? (p + n) % n : -1;
}

static const oi_arg *pad_of(const oi_sample *s)
{
    const oi_arg *pad = oi_find(s, "pad");
    return pad ? pad : oi_find(s, "padding");
}

static int padded(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self");
    const oi_arg *pad = pad_of(s), *value = oi_find(s, "value");
    int64_t sizes[OI_DIMS], at[OI_DIMS];
    for (int d = 0; d < x->ndim; d++) {
        int64_t i = 2 * (x->ndim - 1 - d);
        sizes[d] = x->sizes[d] + (i < pad->n ? pad->ints[i] + pad->ints[i + 1] : 0);
    }
    results[0] = oi_array_new(x->dtype, x->ndim, sizes);
    for (int64_t to = 0; to < results[0].numel; to++) {
        bool outside = false;
        oi_coords(&results[0], to, at);
        for (int d = 0; d < x->ndim; d++) {
            int64_t i = 2 * (x->ndim - 1 - d);
            at[d] = i < pad->n ? source(border_of(row, s), at[d] - pad->ints[i], x->sizes[d])
                               : at[d];
            outside |= at[d] < 0;
        }
        if (!outside)
            results[0].v[to] = x->v[oi_index(x, at)];
        else if (value)
            results[0].v[to] = oi_from_scalar(&value->scalar, x->dtype);
        else
            results[0].v[to] = oi_cast(oi_int(0), TN_I64, x->dtype);
    }
    return 1;
}

static void padded_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const struct {
        const char *name, *mode;
        int64_t pad[6];
        bool error;
    } cases[] = {
        {"before and behind", "constant", {1, 2, 2, 1, 1, 1}, false},
        {"one side", "reflect", {2, 0, 0, 1, 0, 2}, false},
        {"cut off", "replicate", {-1, 2, 1, -2, 0, 1}, false},
        {"nothing", "circular", {0, 0, 0, 0, 0, 0}, false},
        {"wide", "circular", {2, 2, 2, 2, 1, 2}, false},
        {"more than there is", "reflect", {-9, 2, 1, 1, 1, 1}, true},
    };
    static const int64_t sizes[] = {2, 3, 3, 4, 5};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        oi_sample *s = oi_sample_new(out, cases[k].name);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        int n = row->kind % 8 ? (int)(row->kind % 8) : 1 + (int)k % 3, lead = k % 2 ? 1 : 2;
        oi_array x = oi_values(row, &r, d, lead + n, sizes + 5 - lead - n);
        oi_arg_tensor(s, "self", x, k % 3 == 1 ? OI_TRANSPOSED : k % 3 == 2 ? OI_GAPPED : OI_ROW);
        oi_arg_ints(s, what(row) == REFLECT || what(row) == REPLICATE ? "padding" : "pad", 2 * n,
                    cases[k].pad);
        if (what(row) == BY_MODE)
            oi_arg_text(s, "mode", cases[k].mode);
        if (what(row) == CONSTANT && k % 2 == 0 && d != TN_BOOL)
            oi_arg_scalar(s, "value", tn_scalar_int(3));
        s->error = cases[k].error;
    }
}

/* ---- pixels ---------------------------------------------------------------------------------- */
static int pixels(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self");
    bool up = what(row) == SHUFFLE;
    int64_t r = oi_get_int(s, up ? "upscale_factor" : "downscale_factor", 1), sizes[OI_DIMS],
            at[OI_DIMS];
    int c = x->ndim - 3, y = c + 1, z = c + 2;
    memcpy(sizes, x->sizes, sizeof sizes);
    sizes[c] = up ? sizes[c] / (r * r) : sizes[c] * r * r;
    sizes[y] = up ? sizes[y] * r : sizes[y] / r;
    sizes[z] = up ? sizes[z] * r : sizes[z] / r;
    results[0] = oi_array_new(x->dtype, x->ndim, sizes);
    for (int64_t to = 0; to < results[0].numel; to++) {
        oi_coords(&results[0], to, at);
        if (up) {
            at[c] = (at[c] * r + at[y] % r) * r + at[z] % r;
            at[y] /= r;
            at[z] /= r;
        } else {
            at[y] = at[y] * r + at[c] / r % r;
            at[z] = at[z] * r + at[c] % r;
            at[c] /= r * r;
        }
        results[0].v[to] = x->v[oi_index(x, at)];
    }
    return 1;
}

static void pixel_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const struct {
        const char *name;
        int ndim;
        int64_t sizes[4], r;
        bool error;
    } cases[] = {
        {"images", 4, {2, 4, 2, 4}, 2, false},  {"one image", 3, {9, 3, 6}, 3, false},
        {"as it is", 3, {2, 3, 2}, 1, false},   {"no images", 4, {0, 4, 2, 2}, 2, false},
        {"no multiple", 3, {3, 3, 5}, 2, true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        oi_sample *s = oi_sample_new(out, cases[k].name);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        oi_array x = oi_values(row, &r, d, cases[k].ndim, cases[k].sizes);
        oi_arg_tensor(s, "self", x, k % 2 ? OI_TRANSPOSED : OI_ROW);
        oi_arg_int(s, what(row) == SHUFFLE ? "upscale_factor" : "downscale_factor", TN_FIELD_INT,
                   cases[k].r);
        s->error = cases[k].error;
    }
}

#define PAD(name, which, n, samples_, body)                                                        \
    {                                                                                              \
        .op = name, .dtypes = ALL, .tolerance = "exact", .kind = 8 * (which) + (n),                \
        .samples = samples_, .reference = body                                                     \
    }

static const oi_row rows[] = {
    PAD("constant_pad_nd", CONSTANT, 0, padded_samples, padded),
    PAD("reflection_pad1d", REFLECT, 1, padded_samples, padded),
    PAD("reflection_pad2d", REFLECT, 2, padded_samples, padded),
    PAD("reflection_pad3d", REFLECT, 3, padded_samples, padded),
    PAD("replication_pad1d", REPLICATE, 1, padded_samples, padded),
    PAD("replication_pad2d", REPLICATE, 2, padded_samples, padded),
    PAD("replication_pad3d", REPLICATE, 3, padded_samples, padded),
    PAD("pad", BY_MODE, 0, padded_samples, padded),
    PAD("pixel_shuffle", SHUFFLE, 0, pixel_samples, pixels),
    PAD("pixel_unshuffle", UNSHUFFLE, 0, pixel_samples, pixels),
};
const oi_rows oi_rows_pad = ROWS(rows);

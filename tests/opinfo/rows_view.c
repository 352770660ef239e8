/* rows_view.c - operators that move no data. The reference is a geometry over the input's elements
 * in row-major order: each operator changes sizes, steps and offset, and one loop gathers. What
 * memory the input has does not matter to it. */
#include "rows_impl.h"

#include <string.h>

enum {
    VIEW,
    RESHAPE,
    FLATTEN,
    RAVEL,
    ALIAS,
    TRANSPOSE,
    T,
    PERMUTE,
    MOVEDIM,
    NUMPY_T,
    MT,
    EXPAND,
    SQUEEZE,
    UNSQUEEZE,
    SLICE,
    SELECT,
    NARROW,
    AS_STRIDED,
    DIAGONAL,
    UNFOLD,
    UNBIND,
    SPLIT,
    SPLIT_SIZES,
    CHUNK,
    AS_OTHER,
    ATLEAST,
    BROADCAST_ALL,
    VIEW_DTYPE,
};

typedef struct geometry {
    int ndim;
    int64_t sizes[OI_DIMS], steps[OI_DIMS], offset;
} geometry;

static geometry row_major(int ndim, const int64_t *sizes)
{
    geometry g = {.ndim = ndim};
    int64_t step = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        g.sizes[d] = sizes[d];
        g.steps[d] = step;
        step *= sizes[d];
    }
    return g;
}

static void insert(geometry *g, int at, int64_t size, int64_t step)
{
    for (int d = g->ndim++; d > at; d--) {
        g->sizes[d] = g->sizes[d - 1];
        g->steps[d] = g->steps[d - 1];
    }
    g->sizes[at] = size;
    g->steps[at] = step;
}

static void remove_dim(geometry *g, int at)
{
    g->ndim--;
    for (int d = at; d < g->ndim; d++) {
        g->sizes[d] = g->sizes[d + 1];
        g->steps[d] = g->steps[d + 1];
    }
}

static void swap(geometry *g, int a, int b)
{
    int64_t size = g->sizes[a], step = g->steps[a];
    g->sizes[a] = g->sizes[b], g->steps[a] = g->steps[b];
    g->sizes[b] = size, g->steps[b] = step;
}

static int wrap(int64_t dim, int ndim)
{
    int n = ndim ? ndim : 1;
    return (int)(dim < 0 ? dim + n : dim);
}

static oi_array gather(const oi_array *x, const geometry *g)
{
    oi_array r = oi_array_new(x->dtype, g->ndim, g->sizes);
    int64_t coords[OI_DIMS];
    for (int64_t i = 0; i < r.numel; i++) {
        int64_t at = g->offset;
        oi_coords(&r, i, coords);
        for (int d = 0; d < g->ndim; d++)
            at += coords[d] * g->steps[d];
        r.v[i] = x->v[at];
    }
    return r;
}

/* ---- one operator each ----------------------------------------------------------------------- */
static geometry reshaped(const oi_array *x, const oi_arg *size)
{
    int64_t sizes[OI_DIMS], known = 1;
    int unknown = -1;
    for (int64_t d = 0; d < size->n; d++) {
        sizes[d] = size->ints[d];
        if (sizes[d] < 0)
            unknown = (int)d;
        else
            known *= sizes[d];
    }
    if (unknown >= 0)
        sizes[unknown] = known ? x->numel / known : 0;
    return row_major((int)size->n, sizes);
}

static void expand(geometry *g, int ndim, const int64_t *sizes)
{
    while (g->ndim < ndim)
        insert(g, 0, 1, 0);
    for (int d = 0; d < ndim; d++)
        if (sizes[d] >= 0 && g->sizes[d] == 1 && sizes[d] != 1)
            g->sizes[d] = sizes[d], g->steps[d] = 0;
}

static void permute(geometry *g, const int64_t *dims)
{
    geometry was = *g;
    for (int d = 0; d < g->ndim; d++) {
        g->sizes[d] = was.sizes[wrap(dims[d], g->ndim)];
        g->steps[d] = was.steps[wrap(dims[d], g->ndim)];
    }
}

static void movedim(geometry *g, const oi_arg *from, const oi_arg *to)
{
    int64_t order[OI_DIMS];
    bool taken[OI_DIMS] = {false};
    for (int d = 0; d < g->ndim; d++)
        order[d] = -1;
    for (int64_t k = 0; k < from->n; k++) {
        order[wrap(to->ints[k], g->ndim)] = wrap(from->ints[k], g->ndim);
        taken[wrap(from->ints[k], g->ndim)] = true;
    }
    for (int d = 0, next = 0; d < g->ndim; d++) {
        if (order[d] >= 0)
            continue;
        while (taken[next])
            next++;
        order[d] = next++;
    }
    permute(g, order);
}

static int64_t clip(int64_t v, int64_t n)
{
    v = v < 0 ? v + n : v;
    return v < 0 ? 0 : v > n ? n : v;
}

static void slice(geometry *g, int dim, int64_t start, int64_t end, int64_t step)
{
    int64_t n = g->sizes[dim];
    start = clip(start, n);
    end = clip(end, n);
    g->offset += start * g->steps[dim];
    g->sizes[dim] = end > start ? (end - start + step - 1) / step : 0;
    g->steps[dim] *= step;
}

static void squeeze(geometry *g, const oi_arg *dim)
{
    for (int d = g->ndim - 1; d >= 0; d--)
        if (g->sizes[d] == 1 && (!dim || wrap(dim->ints[0], g->ndim) == d))
            remove_dim(g, d);
}

static void diagonal(geometry *g, int64_t offset, int a, int b)
{
    int64_t rows = g->sizes[a] - (offset < 0 ? -offset : 0),
            cols = g->sizes[b] - (offset > 0 ? offset : 0);
    int64_t n = rows < cols ? rows : cols, step = g->steps[a] + g->steps[b];
    g->offset += n > 0 ? (offset < 0 ? -offset * g->steps[a] : offset * g->steps[b]) : 0;
    remove_dim(g, a > b ? a : b);
    remove_dim(g, a > b ? b : a);
    insert(g, g->ndim, n > 0 ? n : 0, step);
}

static void unfold(geometry *g, int dim, int64_t size, int64_t step)
{
    int64_t inner = g->ndim ? g->steps[dim] : 1;
    if (g->ndim) {
        g->sizes[dim] = (g->sizes[dim] - size) / step + 1;
        g->steps[dim] *= step;
    }
    insert(g, g->ndim, size, inner);
}

static void flatten(geometry *g, const oi_array *x, const oi_sample *s)
{
    int first = wrap(oi_get_int(s, "start_dim", 0), x->ndim),
        last = wrap(oi_get_int(s, "end_dim", -1), x->ndim);
    int64_t sizes[OI_DIMS];
    int ndim = 0;
    for (int d = 0; d < x->ndim; d++) {
        if (d > first && d <= last)
            sizes[ndim - 1] *= x->sizes[d];
        else
            sizes[ndim++] = x->sizes[d];
    }
    if (x->ndim == 0)
        sizes[ndim++] = 1;
    *g = row_major(ndim, sizes);
}

static void atleast(geometry *g, int64_t n)
{
    if (g->ndim == 0 && n >= 1)
        insert(g, 0, 1, 1);
    if (g->ndim == 1 && n >= 2)
        insert(g, 0, 1, g->sizes[0]);
    if (g->ndim == 2 && n >= 3)
        insert(g, 2, 1, 1);
}

static void change(const oi_row *row, const oi_sample *s, const oi_array *x, geometry *g)
{
    const oi_array *other = oi_input(s, "other"), *start = oi_input(s, "start");
    int dim = wrap(oi_get_int(s, "dim", 0), g->ndim);
    switch (row->kind & 63) {
    case VIEW:
        *g = reshaped(x, oi_find(s, "size"));
        break;
    case RESHAPE:
        *g = reshaped(x, oi_find(s, "shape"));
        break;
    case FLATTEN:
        flatten(g, x, s);
        break;
    case RAVEL:
        *g = row_major(1, &x->numel);
        break;
    case TRANSPOSE:
        if (g->ndim)
            swap(g, wrap(oi_get_int(s, "dim0", 0), g->ndim),
                 wrap(oi_get_int(s, "dim1", 0), g->ndim));
        break;
    case T:
        if (g->ndim == 2)
            swap(g, 0, 1);
        break;
    case PERMUTE:
        permute(g, oi_find(s, "dims")->ints);
        break;
    case MOVEDIM:
        movedim(g, oi_find(s, "source"), oi_find(s, "destination"));
        break;
    case NUMPY_T:
        for (int d = 0; d < g->ndim / 2; d++)
            swap(g, d, g->ndim - 1 - d);
        break;
    case MT:
        swap(g, g->ndim - 1, g->ndim - 2);
        break;
    case EXPAND:
        expand(g, (int)oi_find(s, "size")->n, oi_find(s, "size")->ints);
        break;
    case SQUEEZE:
        squeeze(g, oi_find(s, "dim"));
        break;
    case UNSQUEEZE:
        insert(g,
               (int)(oi_get_int(s, "dim", 0) < 0 ? oi_get_int(s, "dim", 0) + g->ndim + 1
                                                 : oi_get_int(s, "dim", 0)),
               1, 1);
        break;
    case SLICE:
        slice(g, dim, oi_get_int(s, "start", 0), oi_get_int(s, "end", INT64_MAX),
              oi_get_int(s, "step", 1));
        break;
    case SELECT:
        g->offset +=
            (oi_get_int(s, "index", 0) + (oi_get_int(s, "index", 0) < 0 ? g->sizes[dim] : 0)) *
            g->steps[dim];
        remove_dim(g, dim);
        break;
    case NARROW: {
        int64_t from = start ? start->v[0].i : oi_get_int(s, "start", 0);
        from += from < 0 ? g->sizes[dim] : 0;
        g->offset += from * g->steps[dim];
        g->sizes[dim] = oi_get_int(s, "length", 0);
        break;
    }
    case AS_STRIDED: {
        const oi_arg *size = oi_find(s, "size"), *stride = oi_find(s, "stride");
        *g = (geometry){.ndim = (int)size->n, .offset = oi_get_int(s, "storage_offset", 0)};
        memcpy(g->sizes, size->ints, sizeof g->sizes);
        memcpy(g->steps, stride->ints, sizeof g->steps);
        break;
    }
    case DIAGONAL:
        diagonal(g, oi_get_int(s, "offset", 0), wrap(oi_get_int(s, "dim1", 0), g->ndim),
                 wrap(oi_get_int(s, "dim2", 1), g->ndim));
        break;
    case UNFOLD:
        unfold(g, wrap(oi_get_int(s, "dimension", 0), g->ndim), oi_get_int(s, "size", 1),
               oi_get_int(s, "step", 1));
        break;
    case AS_OTHER:
        if (strcmp(row->op, "expand_as") == 0)
            expand(g, other->ndim, other->sizes);
        else
            *g = row_major(other->ndim, other->sizes);
        break;
    case ATLEAST:
        atleast(g, row->kind >> 6);
        break;
    default:
        break;
    }
}

static int reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self");
    geometry g = row_major(x->ndim, x->sizes);
    change(row, s, x, &g);
    results[0] = gather(x, &g);
    return 1;
}

/* ---- several results ------------------------------------------------------------------------- */
static int pieces(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self");
    int dim = wrap(oi_get_int(s, "dim", 0), x->ndim), n = 0;
    int64_t size = x->sizes[dim], step = 1;
    const oi_arg *sizes = oi_find(s, "split_sizes");
    if (row->kind == SPLIT)
        step = oi_get_int(s, "split_size", 1);
    if (row->kind == CHUNK)
        step = (size + oi_get_int(s, "chunks", 1) - 1) / oi_get_int(s, "chunks", 1);
    for (int64_t at = 0; at < size && n < OI_RESULTS; n++) {
        geometry g = row_major(x->ndim, x->sizes);
        int64_t length = sizes ? sizes->ints[n] : step < size - at ? step : size - at;
        g.offset = at * g.steps[dim];
        g.sizes[dim] = length;
        if (row->kind == UNBIND)
            remove_dim(&g, dim);
        results[n] = gather(x, &g);
        at += length;
    }
    return n;
}

static int broadcast_all(const oi_row *row, const oi_sample *s, oi_array *results)
{
    (void)row;
    const oi_arg *list = oi_find(s, "tensors");
    const oi_array *arrays[OI_RESULTS];
    int64_t sizes[OI_DIMS];
    int ndim;
    for (int64_t k = 0; k < list->n; k++)
        arrays[k] = &list->tensors[k].a;
    if (!oi_broadcast((int)list->n, arrays, &ndim, sizes))
        return 0;
    for (int64_t k = 0; k < list->n; k++) {
        geometry g = row_major(arrays[k]->ndim, arrays[k]->sizes);
        expand(&g, ndim, sizes);
        results[k] = gather(arrays[k], &g);
    }
    return (int)list->n;
}

static int as_dtype(const oi_row *row, const oi_sample *s, oi_array *results)
{
    (void)row;
    const oi_array *x = oi_input(s, "self");
    results[0] = oi_array_new((tn_dtype)oi_get_int(s, "dtype", 0), x->ndim, x->sizes);
    for (int64_t i = 0; i < x->numel; i++) {
        unsigned char bytes[16];
        oi_store(bytes, x->dtype, x->v[i]);
        results[0].v[i] = oi_load(bytes, results[0].dtype);
    }
    return 1;
}

#define PLAIN(name, which, flags_)                                                                 \
    {                                                                                              \
        .op = name, .dtypes = ALL, .flags = OI_VIEW | (flags_), .tolerance = "exact",              \
        .kind = which, .samples = oi_view_samples, .reference = reference                          \
    }
#define PIECES(name, which)                                                                        \
    {                                                                                              \
        .op = name, .dtypes = ALL, .flags = OI_VIEW, .tolerance = "exact", .kind = which,          \
        .samples = oi_view_samples, .reference = pieces                                            \
    }

static const oi_row rows[] = {
    PLAIN("view", VIEW, 0),
    PLAIN("reshape", RESHAPE, 0),
    PLAIN("view_as", AS_OTHER, 0),
    PLAIN("reshape_as", AS_OTHER, 0),
    PLAIN("_unsafe_view", VIEW, OI_SHARES),
    PLAIN("_reshape_alias", VIEW, 0),
    PLAIN("alias", ALIAS, 0),
    PLAIN("detach", ALIAS, 0),
    PLAIN("transpose.int", TRANSPOSE, 0),
    PLAIN("t", T, 0),
    PLAIN("permute", PERMUTE, 0),
    PLAIN("movedim.intlist", MOVEDIM, 0),
    PLAIN("movedim.int", MOVEDIM, 0),
    PLAIN("numpy_T", NUMPY_T, 0),
    PLAIN("mT", MT, 0),
    PLAIN("expand", EXPAND, 0),
    PLAIN("expand_as", AS_OTHER, 0),
    PLAIN("broadcast_to", EXPAND, 0),
    PLAIN("squeeze", SQUEEZE, 0),
    PLAIN("squeeze.dim", SQUEEZE, 0),
    PLAIN("unsqueeze", UNSQUEEZE, 0),
    PLAIN("slice.Tensor", SLICE, 0),
    PLAIN("select.int", SELECT, 0),
    PLAIN("narrow", NARROW, 0),
    PLAIN("as_strided", AS_STRIDED, 0),
    PLAIN("diagonal", DIAGONAL, 0),
    PLAIN("unfold", UNFOLD, 0),
    PLAIN("flatten.using_ints", FLATTEN, 0),
    PLAIN("ravel", RAVEL, 0),
    PLAIN("atleast_1d", ATLEAST | 1 << 6, OI_SHARES),
    PLAIN("atleast_2d", ATLEAST | 2 << 6, OI_SHARES),
    PLAIN("atleast_3d", ATLEAST | 3 << 6, OI_SHARES),
    PIECES("unbind.int", UNBIND),
    PIECES("split.Tensor", SPLIT),
    PIECES("split_with_sizes", SPLIT_SIZES),
    PIECES("chunk", CHUNK),
    {.op = "narrow.Tensor",
     .dtypes = ALL,
     .flags = OI_VIEW,
     .tolerance = "exact",
     .kind = NARROW,
     .samples = oi_narrow_samples,
     .reference = reference},
    {.op = "broadcast_tensors",
     .dtypes = ALL,
     .flags = OI_VIEW | OI_SHARES,
     .tolerance = "exact",
     .kind = BROADCAST_ALL,
     .samples = oi_broadcast_samples,
     .reference = broadcast_all},
    {.op = "view.dtype",
     .dtypes = ALL,
     .flags = OI_VIEW,
     .tolerance = "exact",
     .kind = VIEW_DTYPE,
     .samples = oi_view_dtype_samples,
     .reference = as_dtype},
};
const oi_rows oi_rows_view = ROWS(rows);

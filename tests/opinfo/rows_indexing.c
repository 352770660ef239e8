/* rows_indexing.c - lists of indices: index, index_put. The reference turns masks into coordinates,
 * broadcasts, and says of each place of the result which element of self it is. */
#include "rows_impl.h"

#include <math.h>
#include <string.h>

enum { INDEX, PUT };

/* ---- what a list names ----------------------------------------------------------------------- */
typedef struct column { /* integers for one dimension of self; dim -1: they only broadcast */
    int dim;
    oi_array a;
} column;

typedef struct picture {
    const oi_array *self;
    column columns[OI_DIMS];
    int n, at, joint_ndim, ndim; /* at: where the joint dims stand; ndim: of the result */
    int64_t joint[OI_DIMS], sizes[OI_DIMS];
    bool taken[OI_DIMS];
} picture;

/* The coordinates of a mask's true elements, a column for each of its dimensions. */
static void add_mask(picture *p, const oi_array *mask, int dim)
{
    int64_t count = 0, coords[OI_DIMS];
    int n = mask->ndim ? mask->ndim : 1;
    for (int64_t i = 0; i < mask->numel; i++)
        count += mask->v[i].i != 0;
    for (int k = 0; k < n; k++)
        p->columns[p->n + k] = (column){mask->ndim ? dim + k : -1, oi_array_new(TN_I64, 1, &count)};
    count = 0;
    for (int64_t i = 0; i < mask->numel; i++) {
        if (mask->v[i].i == 0)
            continue;
        oi_coords(mask, i, coords);
        for (int k = 0; k < mask->ndim; k++)
            p->columns[p->n + k].a.v[count] = oi_int(coords[k]);
        count++;
    }
    p->n += n;
}

static void add_columns(picture *p, const oi_arg *list)
{
    int dim = 0, first = -1, last = -1;
    bool apart = false;
    for (int k = 0; k < list->n; k++) {
        const oi_tensor *t = &list->tensors[k];
        bool mask = !t->absent && (t->a.dtype == TN_BOOL || t->a.dtype == TN_U8);
        if (mask)
            add_mask(p, &t->a, dim);
        else if (!t->absent)
            p->columns[p->n++] = (column){dim, t->a};
        if (!t->absent) {
            apart |= first >= 0 && last != k - 1;
            first = first < 0 ? dim : first;
            last = k;
        }
        dim += mask ? t->a.ndim : 1;
    }
    p->at = apart || first < 0 ? 0 : first;
}

static void draw(picture *p, const oi_array *self, const oi_arg *list)
{
    const oi_array *arrays[OI_DIMS];
    memset(p, 0, sizeof *p);
    p->self = self;
    add_columns(p, list);
    for (int k = 0; k < p->n; k++) {
        arrays[k] = &p->columns[k].a;
        if (p->columns[k].dim >= 0)
            p->taken[p->columns[k].dim] = true;
    }
    oi_broadcast(p->n, arrays, &p->joint_ndim, p->joint);
    for (int d = 0, whole = 0; d <= self->ndim; d++) {
        if (whole == p->at && p->ndim == whole)
            for (int j = 0; j < p->joint_ndim; j++)
                p->sizes[p->ndim++] = p->joint[j];
        if (d < self->ndim && !p->taken[d]) {
            p->sizes[p->ndim++] = self->sizes[d];
            whole++;
        }
    }
}

/* The element of self at these coordinates of the result. */
static int64_t element(const picture *p, const int64_t *coords)
{
    int64_t of_self[OI_DIMS];
    const int64_t *joint = coords + p->at;
    for (int d = 0, k = 0; d < p->self->ndim; d++) {
        if (p->taken[d])
            continue;
        if (k == p->at)
            k += p->joint_ndim;
        of_self[d] = coords[k++];
    }
    for (int k = 0; k < p->n; k++) {
        const column *c = &p->columns[k];
        if (c->dim < 0)
            continue;
        int64_t v = c->a.v[oi_broadcast_index(&c->a, p->joint_ndim, joint)].i;
        of_self[c->dim] = v < 0 ? v + p->self->sizes[c->dim] : v;
    }
    return oi_index(p->self, of_self);
}

/* ---- references ------------------------------------------------------------------------------ */
static int read(const oi_row *row, const oi_sample *s, oi_array *results)
{
    (void)row;
    picture p;
    int64_t coords[OI_DIMS];
    draw(&p, oi_input(s, "self"), oi_find(s, "indices"));
    results[0] = oi_array_new(p.self->dtype, p.ndim, p.sizes);
    for (int64_t i = 0; i < results[0].numel; i++) {
        oi_coords(&results[0], i, coords);
        results[0].v[i] = p.self->v[element(&p, coords)];
    }
    return 1;
}

static int written(const oi_row *row, const oi_sample *s, oi_array *results)
{
    (void)row;
    picture p;
    int64_t coords[OI_DIMS];
    const oi_array *x = oi_input(s, "self"), *values = oi_input(s, "values");
    bool adds = oi_get_int(s, "accumulate", 0);
    draw(&p, x, oi_find(s, "indices"));
    oi_array named = oi_array_new(x->dtype, p.ndim, p.sizes), *r = &results[0];
    *r = oi_array_cast(x, x->dtype);
    oi_array_mags(r);
    for (int64_t i = 0; i < r->numel; i++)
        r->mag[i] = hypotl(r->v[i].re, r->v[i].im);
    for (int64_t i = 0; i < named.numel; i++) {
        oi_coords(&named, i, coords);
        int64_t to = element(&p, coords);
        oi_num v = values->v[oi_broadcast_index(values, p.ndim, coords)], old = r->v[to];
        r->mag[to] += hypotl(v.re, v.im);
        r->v[to] = !adds ? v
                         : (oi_num){old.re + v.re, old.im + v.im,
                                    (int64_t)((uint64_t)old.i + (uint64_t)v.i)};
        if (adds && x->dtype == TN_BOOL)
            r->v[to] = oi_int(old.i || v.i);
    }
    for (int64_t i = 0; oi_is_integral(x->dtype) && i < r->numel; i++)
        r->v[i] = oi_cast(oi_int(r->v[i].i), TN_I64, x->dtype);
    return 1;
}

/* ---- samples --------------------------------------------------------------------------------- */
typedef enum entry_kind {
    END,
    WHOLE,
    INTS,
    NARROW,
    MASK,
    BYTES,
    NOTHING,
    BEYOND,
    FLOATS
} entry_kind;
typedef struct entry { /* WHOLE: NULL; NARROW: int32; BYTES: a mask of u8; NOTHING: all false */
    entry_kind kind;
    int ndim;
    int64_t sizes[3];
} entry;

typedef struct setting {
    const char *what;
    int ndim;
    int64_t sizes[4];
    oi_layout layout;
    entry list[4];
    bool error, by_value, large;
} setting;

static const setting settings[] = {
    {"a vector", 2, {5, 4}, OI_ROW, {{INTS, 1, {3}}}, 0, 0, 0},
    {"a matrix", 2, {6, 3}, OI_TRANSPOSED, {{INTS, 2, {2, 3}}}, 0, 0, 0},
    {"a number", 2, {5, 4}, OI_ROW, {{INTS, 0, {0}}}, 0, 0, 0},
    {"columns", 2, {3, 6}, OI_GAPPED, {{WHOLE, 0, {0}}, {INTS, 1, {4}}}, 0, 0, 0},
    {"two vectors", 3, {4, 5, 3}, OI_ROW, {{INTS, 1, {3}}, {NARROW, 1, {3}}}, 0, 0, 0},
    {"broadcast", 2, {4, 5}, OI_GAPPED, {{INTS, 2, {3, 1}}, {INTS, 1, {2}}}, 0, 0, 0},
    {"the middle", 3, {3, 4, 5}, OI_TRANSPOSED, {{WHOLE, 0, {0}}, {INTS, 2, {2, 2}}}, 0, 0, 0},
    {"apart", 3, {4, 3, 5}, OI_ROW, {{INTS, 1, {4}}, {WHOLE, 0, {0}}, {INTS, 0, {0}}}, 0, 0, 0},
    {"apart, behind a whole dim",
     4,
     {2, 4, 3, 4},
     OI_ROW,
     {{WHOLE, 0, {0}}, {INTS, 1, {2}}, {WHOLE, 0, {0}}, {INTS, 2, {2, 1}}},
     0,
     0,
     0},
    {"no indices", 2, {5, 4}, OI_ROW, {{INTS, 1, {0}}}, 0, 0, 0},
    {"an empty list", 2, {3, 2}, OI_TRANSPOSED, {{END, 0, {0}}}, 0, 0, 0},
    {"all whole", 2, {3, 2}, OI_ROW, {{WHOLE, 0, {0}}, {WHOLE, 0, {0}}}, 0, 0, 0},
    {"no elements", 3, {3, 0, 2}, OI_ROW, {{INTS, 1, {2}}}, 0, 0, 0},
    {"a mask of rows", 2, {5, 3}, OI_GAPPED, {{MASK, 1, {5}}}, 0, 0, 0},
    {"a mask of all", 2, {4, 5}, OI_TRANSPOSED, {{MASK, 2, {4, 5}}}, 0, 0, 0},
    {"a mask of columns", 2, {3, 6}, OI_ROW, {{WHOLE, 0, {0}}, {BYTES, 1, {6}}}, 0, 0, 0},
    {"a mask and a number", 3, {4, 3, 2}, OI_ROW, {{MASK, 1, {4}}, {INTS, 0, {0}}}, 0, 0, 0},
    {"a mask apart",
     4,
     {3, 2, 2, 3},
     OI_ROW,
     {{INTS, 0, {0}}, {WHOLE, 0, {0}}, {MASK, 2, {2, 3}}},
     0,
     0,
     0},
    {"nothing chosen", 2, {4, 3}, OI_ROW, {{NOTHING, 1, {4}}}, 0, 0, 0},
    {"a mask of no dims", 1, {3}, OI_ROW, {{MASK, 0, {0}}}, 0, 0, 0},
    {"a mask of no dims for a number", 0, {0}, OI_ROW, {{MASK, 0, {0}}}, 0, 0, 0},
    {"out of range", 2, {5, 4}, OI_ROW, {{WHOLE, 0, {0}}, {BEYOND, 1, {3}}}, 1, 1, 0},
    {"too many", 1, {5}, OI_ROW, {{INTS, 1, {2}}, {INTS, 1, {2}}}, 1, 0, 0},
    {"a whole dim too many", 1, {5}, OI_ROW, {{INTS, 1, {2}}, {WHOLE, 0, {0}}}, 1, 0, 0},
    {"shapes apart", 2, {5, 4}, OI_ROW, {{INTS, 1, {2}}, {INTS, 1, {3}}}, 1, 0, 0},
    {"a mask too small", 2, {5, 4}, OI_ROW, {{MASK, 1, {4}}}, 1, 0, 0},
    {"floats", 2, {5, 4}, OI_ROW, {{FLOATS, 1, {2}}}, 1, 0, 0},
    {"large", 2, {301, 67}, OI_ROW, {{INTS, 1, {700}}}, 0, 0, 1},
    {"large, elements", 2, {211, 97}, OI_ROW, {{INTS, 1, {40000}}, {INTS, 1, {40000}}}, 0, 0, 1},
    {"large, columns", 2, {301, 97}, OI_ROW, {{WHOLE, 0, {0}}, {INTS, 1, {200}}}, 0, 0, 1},
    {"large mask", 2, {301, 257}, OI_ROW, {{MASK, 2, {301, 257}}}, 0, 0, 1},
};

/* Distinct where there are no more than the dimension has, every second one from the end. */
static oi_array integers(oi_rng *r, const entry *e, int64_t size, bool distinct)
{
    tn_dtype d = e->kind == NARROW ? TN_I32 : e->kind == FLOATS ? TN_F32 : TN_I64;
    if (e->kind == BEYOND)
        return oi_values_in(r, d, e->ndim, e->sizes, (double)size, (double)size);
    if (!distinct)
        return oi_values_in(r, d, e->ndim, e->sizes, (double)-size, (double)size - 1);
    oi_array a = oi_array_new(d, e->ndim, e->sizes);
    for (int64_t i = 0; i < a.numel; i++)
        a.v[i] = oi_int((i * (size - 1) + 1) % size - (i % 2 ? size : 0));
    return a;
}

static oi_array mask_of(oi_rng *r, const entry *e)
{
    oi_array a = oi_values_in(r, e->kind == BYTES ? TN_U8 : TN_BOOL, e->ndim, e->sizes, 0, 1);
    for (int64_t i = 0; i < a.numel; i++)
        a.v[i] = oi_int(e->kind == NOTHING ? 0 : i == a.numel - 1 ? 1 : a.v[i].i);
    return a;
}

static void add_list(oi_sample *s, const setting *w, oi_rng *r, bool distinct)
{
    int n = 0, dim = 0;
    while (n < 4 && w->list[n].kind != END)
        n++;
    oi_tensor *list = oi_arg_tensors(s, "indices", n);
    for (int k = 0; k < n; k++) {
        const entry *e = &w->list[k];
        bool mask = e->kind == MASK || e->kind == BYTES || e->kind == NOTHING;
        list[k].absent = e->kind == WHOLE;
        list[k].fixed = true;
        list[k].layout = k % 2 || s->number % 3 ? OI_ROW : OI_GAPPED;
        if (mask)
            list[k].a = mask_of(r, e);
        else if (e->kind != WHOLE)
            list[k].a = integers(r, e, dim < w->ndim ? w->sizes[dim] : 1, distinct);
        s->no_meta |= mask && !w->error;
        dim += mask ? e->ndim : 1;
    }
}

/* Values of the whole shape, of one element, or of the last dimensions alone. */
static void add_values(const oi_row *row, oi_sample *s, oi_rng *r, tn_dtype d)
{
    picture p;
    oi_layout layout = s->number % 2 ? OI_ROW : OI_TRANSPOSED;
    if (s->error) {
        oi_arg_tensor(s, "values", oi_array_new(d, 0, NULL), OI_ROW);
        return;
    }
    draw(&p, oi_input(s, "self"), oi_find(s, "indices"));
    int skip = s->number % 4 == 2 ? p.ndim : s->number % 4 == 1 && p.ndim > 1 ? 1 : 0;
    if (p.ndim - skip > 1 && s->number % 5 == 3)
        p.sizes[skip] = 1;
    oi_arg_tensor(s, "values", oi_values(row, r, d, p.ndim - skip, p.sizes + skip), layout);
}

static void samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        const setting *w = &settings[k];
        for (int adds = 0; adds <= row->kind; adds++) {
            oi_sample *s = oi_sample_new(out, w->what);
            oi_rng r = oi_rng_make(seed, row->op, d, s->number);
            s->error = w->error;
            s->by_value = w->by_value;
            s->large = w->large;
            oi_arg_tensor(s, "self", oi_values(row, &r, d, w->ndim, w->sizes), w->layout);
            add_list(s, w, &r, row->kind == PUT && !adds);
            if (row->kind == PUT) {
                add_values(row, s, &r, d);
                oi_arg_int(s, "accumulate", TN_FIELD_BOOL, adds);
                s->no_meta = false;
            }
        }
    }
    if (row->kind != PUT)
        return;
    oi_sample *s = oi_sample_new(out, "values too long");
    oi_arg_tensor(s, "self", oi_array_new(d, OI_SIZES(5, 4)), OI_ROW);
    oi_arg_tensors(s, "indices", 1)[0] = (oi_tensor){.a = oi_array_new(TN_I64, OI_SIZES(2))};
    oi_arg_tensor(s, "values", oi_array_new(d, OI_SIZES(3, 4)), OI_ROW);
    s->error = true;
}

static const oi_row rows[] = {
    {.op = "index.Tensor",
     .dtypes = ALL,
     .tolerance = "exact",
     .kind = INDEX,
     .samples = samples,
     .reference = read},
    {.op = "index_put",
     .dtypes = ALL,
     .tolerance = "sum",
     .kind = PUT,
     .lo = -9,
     .hi = 9,
     .samples = samples,
     .reference = written},
};
const oi_rows oi_rows_indexing = ROWS(rows);

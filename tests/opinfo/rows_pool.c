/* rows_pool.c - pooling: every window by its definition, element by element. */
#include "rows_impl.h"

#include <math.h>
#include <stdio.h>

enum { AVG, ADAPTIVE_AVG, MAX, MAX_INDICES, ADAPTIVE_MAX };
enum { DIMS = 3 };

/* A row's kind is 8 * what + the number of pooled dimensions. */
static int what(const oi_row *row)
{
    return (int)(row->kind / 8);
}

static int dims(const oi_row *row)
{
    return (int)(row->kind % 8);
}

/* ---- windows --------------------------------------------------------------------------------- */
typedef struct window {        /* along one dimension */
    int64_t first, last, step; /* inside of the border */
    int64_t whole;             /* elements, with those beyond it that count as zeros */
} window;

static int64_t at(const oi_sample *s, const char *name, int d, int64_t or_else)
{
    const oi_arg *a = oi_find(s, name);
    return a && a->n ? a->ints[a->n == 1 ? 0 : d] : or_else;
}

static int64_t windows(const oi_row *row, const oi_sample *s, int64_t size, int d)
{
    int64_t k = at(s, "kernel_size", d, 1), step = at(s, "dilation", d, 1);
    int64_t stride = at(s, "stride", d, k), pad = at(s, "padding", d, 0), n = 0;
    bool hang = oi_get_int(s, "ceil_mode", 0);
    if (what(row) == ADAPTIVE_AVG || what(row) == ADAPTIVE_MAX)
        return at(s, "output_size", d, 1);
    for (int64_t start = -pad; hang ? start < size : start + (k - 1) * step < size + pad;
         start += stride, n++)
        if (hang && start + (k - 1) * step - stride >= size + pad - 1)
            break; /* the one before covers the rest */
    return n;
}

static window window_of(const oi_row *row, const oi_sample *s, int64_t size, int d, int64_t o)
{
    int64_t k = at(s, "kernel_size", d, 1), pad = at(s, "padding", d, 0);
    window w = {.step = at(s, "dilation", d, 1)};
    if (what(row) == ADAPTIVE_AVG || what(row) == ADAPTIVE_MAX) {
        int64_t n = at(s, "output_size", d, 1);
        w.first = o * size / n;
        w.last = ((o + 1) * size - 1) / n;
        w.whole = w.last - w.first + 1;
        return w;
    }
    int64_t start = o * at(s, "stride", d, k) - pad, end = start + (k - 1) * w.step;
    w.first = start;
    while (w.first < 0)
        w.first += w.step;
    w.last = end < size ? end : size - 1;
    w.whole = (end < size + pad - 1 ? end : size + pad - 1) - start + 1;
    if (!oi_get_int(s, "count_include_pad", 1))
        w.whole = w.last - w.first + 1;
    return w;
}

/* ---- reference ------------------------------------------------------------------------------- */
static void pool(const oi_row *row, const oi_sample *s, const oi_array *x, int64_t base,
                 const int64_t size[DIMS], const window w[DIMS], oi_array *results, int64_t to)
{
    oi_real sum = 0, total = 0, top = -INFINITY;
    int64_t whole = 0, place = -1;
    for (int64_t i = w[0].first; i <= w[0].last; i += w[0].step)
        for (int64_t j = w[1].first; j <= w[1].last; j += w[1].step)
            for (int64_t k = w[2].first; k <= w[2].last; k += w[2].step) {
                int64_t p = (i * size[1] + j) * size[2] + k;
                const oi_num *v = &x->v[base + p];
                sum += v->re;
                whole += v->i;
                total += fabsl(v->re);
                if (v->re > top || place < 0)
                    top = v->re, place = p;
            }
    int64_t by = oi_get_int(s, "divisor_override", 0);
    by = by ? by : w[0].whole * w[1].whole * w[2].whole;
    if (what(row) > ADAPTIVE_AVG) {
        results[0].v[to] = oi_float(top);
        results[1].v[to] = oi_int(place);
        return;
    }
    results[0].v[to] = x->dtype == TN_I64 ? oi_int(whole / by) : oi_float(sum / by);
    results[0].mag[to] = total / by;
}

static int reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self");
    int n = dims(row), lead = x->ndim - n;
    int64_t sizes[OI_DIMS], size[DIMS] = {1, 1, 1}, out[DIMS] = {1, 1, 1};
    for (int d = 0; d < x->ndim; d++)
        sizes[d] = d < lead ? x->sizes[d] : windows(row, s, x->sizes[d], d - lead);
    for (int d = 0; d < n; d++) {
        size[DIMS - n + d] = x->sizes[lead + d];
        out[DIMS - n + d] = sizes[lead + d];
    }
    results[0] = oi_array_new(x->dtype, x->ndim, sizes);
    oi_array_mags(&results[0]);
    results[1] = oi_array_new(TN_I64, x->ndim, sizes);
    int64_t space = size[0] * size[1] * size[2], outs = out[0] * out[1] * out[2];
    for (int64_t to = 0; to < results[0].numel; to++) {
        window w[DIMS] = {{0, 0, 1, 1}, {0, 0, 1, 1}, {0, 0, 1, 1}};
        int64_t o = to % outs;
        for (int d = DIMS - 1; d >= DIMS - n; d--) {
            w[d] = window_of(row, s, size[d], d - (DIMS - n), o % out[d]);
            o /= out[d];
        }
        pool(row, s, x, to / outs * space, size, w, results, to);
    }
    return what(row) == MAX_INDICES || what(row) == ADAPTIVE_MAX ? 2 : 1;
}

/* ---- samples --------------------------------------------------------------------------------- */
/* Of one dimension; each operator takes as many of them as it has. */
typedef struct one {
    int64_t size, kernel, stride, padding, dilation, out;
} one;

static const struct {
    const char *name;
    one d[DIMS];
    bool hang, no_stride, inner, error;
    int64_t divisor;
} cases[] = {
    {"overlapping", {{5, 3, 2, 0, 1, 2}, {4, 2, 1, 0, 1, 3}, {6, 3, 2, 0, 1, 4}}, 0, 0, 0, 0, 0},
    {"borders", {{4, 3, 2, 1, 1, 4}, {5, 2, 1, 1, 1, 2}, {4, 3, 1, 1, 1, 1}}, 0, 0, 0, 0, 0},
    {"hanging over", {{5, 2, 2, 1, 1, 3}, {4, 3, 3, 1, 1, 7}, {5, 3, 2, 0, 1, 3}}, 1, 0, 1, 0, 0},
    {"side by side", {{6, 2, 2, 0, 1, 3}, {4, 2, 2, 0, 1, 2}, {6, 3, 3, 0, 1, 2}}, 0, 1, 0, 0, 0},
    {"apart", {{7, 2, 1, 1, 3, 5}, {6, 3, 1, 0, 2, 5}, {7, 3, 2, 1, 2, 3}}, 0, 0, 1, 0, 3},
    {"a window too large",
     {{3, 5, 1, 0, 1, -1}, {4, 5, 1, 0, 1, 2}, {4, 9, 1, 0, 1, 2}},
     0,
     0,
     0,
     1,
     0},
};

static void add_ints(oi_sample *s, const char *name, int n, size_t k, size_t offset)
{
    int64_t v[DIMS];
    for (int d = 0; d < n; d++)
        v[d] = *(const int64_t *)((const char *)&cases[k].d[d] + offset);
    oi_arg_ints(s, name, n, v);
}

/* Different elements, so that a maximum stands in one place. */
static oi_array distinct(oi_rng *r, tn_dtype d, int ndim, const int64_t *sizes)
{
    oi_array a = oi_array_new(d, ndim, sizes);
    for (int64_t i = 0; i < a.numel; i++)
        a.v[i] = oi_float((oi_real)i / 4);
    for (int64_t i = a.numel - 1; i > 0; i--) {
        int64_t j = oi_uniform_int(r, 0, i);
        oi_num v = a.v[i];
        a.v[i] = a.v[j], a.v[j] = v;
    }
    return oi_array_cast(&a, d);
}

static void samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    int n = dims(row);
    bool max = what(row) > ADAPTIVE_AVG,
         adapt = what(row) == ADAPTIVE_AVG || what(row) == ADAPTIVE_MAX;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        oi_sample *s = oi_sample_new(out, cases[k].name);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        int64_t sizes[OI_DIMS] = {2, 2}, lead = k % 2 ? 1 : 2;
        for (int i = 0; i < n; i++)
            sizes[lead + i] = cases[k].d[i].size;
        oi_array x = max ? distinct(&r, d, (int)lead + n, sizes)
                         : oi_values(row, &r, d, (int)lead + n, sizes);
        oi_arg_tensor(s, "self", x, k % 3 == 1 ? OI_TRANSPOSED : k % 3 == 2 ? OI_GAPPED : OI_ROW);
        s->error = cases[k].error;
        if (adapt) {
            add_ints(s, "output_size", n, k, offsetof(one, out));
            continue;
        }
        add_ints(s, "kernel_size", n, k, offsetof(one, kernel));
        if (!cases[k].no_stride)
            add_ints(s, "stride", n, k, offsetof(one, stride));
        add_ints(s, "padding", n, k, offsetof(one, padding));
        if (max)
            add_ints(s, "dilation", n, k, offsetof(one, dilation));
        oi_arg_int(s, "ceil_mode", TN_FIELD_BOOL, cases[k].hang);
        if (!max)
            oi_arg_int(s, "count_include_pad", TN_FIELD_BOOL, !cases[k].inner);
        if (what(row) == AVG && n > 1 && cases[k].divisor)
            oi_arg_int(s, "divisor_override", TN_FIELD_OPT_INT, cases[k].divisor);
    }
}

#define POOL(name, which, n, dtypes_, family)                                                      \
    {                                                                                              \
        .op = name, .dtypes = dtypes_, .tolerance = family, .kind = 8 * (which) + (n), .lo = -4,   \
        .hi = 4, .samples = samples, .reference = reference, .flags = OI_NO_SPECIAL_INT            \
    }
#define AVERAGED (FLOAT | TN_DTYPE_BIT(TN_I64))

static const oi_row rows[] = {
    POOL("avg_pool1d", AVG, 1, AVERAGED, "sum"),
    POOL("avg_pool2d", AVG, 2, AVERAGED, "sum"),
    POOL("avg_pool3d", AVG, 3, AVERAGED, "sum"),
    POOL("adaptive_avg_pool1d", ADAPTIVE_AVG, 1, FLOAT, "sum"),
    POOL("adaptive_avg_pool2d", ADAPTIVE_AVG, 2, FLOAT, "sum"),
    POOL("adaptive_avg_pool3d", ADAPTIVE_AVG, 3, FLOAT, "sum"),
    POOL("_adaptive_avg_pool2d", ADAPTIVE_AVG, 2, FLOAT, "sum"),
    POOL("_adaptive_avg_pool3d", ADAPTIVE_AVG, 3, FLOAT, "sum"),
    POOL("max_pool1d", MAX, 1, FLOAT, "exact"),
    POOL("max_pool2d", MAX, 2, FLOAT, "exact"),
    POOL("max_pool3d", MAX, 3, FLOAT, "exact"),
    POOL("max_pool1d_with_indices", MAX_INDICES, 1, FLOAT, "exact"),
    POOL("max_pool2d_with_indices", MAX_INDICES, 2, FLOAT, "exact"),
    POOL("max_pool3d_with_indices", MAX_INDICES, 3, FLOAT, "exact"),
    POOL("adaptive_max_pool1d", ADAPTIVE_MAX, 1, FLOAT, "exact"),
    POOL("adaptive_max_pool2d", ADAPTIVE_MAX, 2, FLOAT, "exact"),
    POOL("adaptive_max_pool3d", ADAPTIVE_MAX, 3, FLOAT, "exact"),
};
const oi_rows oi_rows_pool = ROWS(rows);

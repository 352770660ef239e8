/* rows_matrix.c - products of matrices. One reference multiplies stacks of matrices with
 * broadcasting; the operators are its special cases. The error is measured against sum |a||b|. */
#include "rows_impl.h"

#include <math.h>
#include <string.h>

enum { MM, BMM, ADDMM, MATMUL, LINEAR };

typedef struct matrices { /* a vector stands as a matrix of one row or column */
    const oi_array *a;
    int ndim;
    int64_t sizes[OI_DIMS], steps[OI_DIMS];
} matrices;

static matrices matrices_of(const oi_array *a, bool second, bool transposed)
{
    matrices m = {.a = a, .ndim = a->ndim < 2 ? 2 : a->ndim};
    int64_t step = 1;
    int lead = m.ndim - a->ndim;
    for (int d = m.ndim - 1; d >= 0; d--) {
        int own = a->ndim == 1 ? (second ? d : d - lead) : d - lead;
        bool real = own >= 0 && own < a->ndim;
        m.sizes[d] = real ? a->sizes[own] : 1;
        m.steps[d] = step;
        step *= m.sizes[d];
    }
    if (transposed) {
        int64_t n = m.sizes[m.ndim - 1], s = m.steps[m.ndim - 1];
        m.sizes[m.ndim - 1] = m.sizes[m.ndim - 2], m.steps[m.ndim - 1] = m.steps[m.ndim - 2];
        m.sizes[m.ndim - 2] = n, m.steps[m.ndim - 2] = s;
    }
    return m;
}

static int64_t begin(const matrices *m, int ndim, const int64_t *coords)
{
    int64_t at = 0;
    for (int d = 0; d < m->ndim - 2; d++)
        at += m->sizes[d] == 1 ? 0 : coords[ndim - m->ndim + d] * m->steps[d];
    return at;
}

static void dot(const matrices *x, const matrices *y, int64_t at, int64_t bt, oi_num *r,
                oi_real *mag)
{
    int64_t k = x->sizes[x->ndim - 1], dx = x->steps[x->ndim - 1], dy = y->steps[y->ndim - 2];
    for (int64_t i = 0; i < k; i++) {
        oi_num a = x->a->v[at + i * dx], b = y->a->v[bt + i * dy];
        r->re += a.re * b.re - a.im * b.im;
        r->im += a.re * b.im + a.im * b.re;
        r->i = (int64_t)((uint64_t)r->i + (uint64_t)a.i * (uint64_t)b.i);
        *mag += hypotl(a.re, a.im) * hypotl(b.re, b.im);
    }
}

static oi_array product(const oi_array *a, const oi_array *b, bool transposed)
{
    matrices x = matrices_of(a, false, false), y = matrices_of(b, true, transposed);
    int ndim = x.ndim > y.ndim ? x.ndim : y.ndim;
    int64_t sizes[OI_DIMS], coords[OI_DIMS];
    for (int d = 0; d < ndim - 2; d++) {
        int dx = d - (ndim - x.ndim), dy = d - (ndim - y.ndim);
        int64_t nx = dx < 0 ? 1 : x.sizes[dx], ny = dy < 0 ? 1 : y.sizes[dy];
        sizes[d] = nx == 1 ? ny : nx;
    }
    sizes[ndim - 2] = x.sizes[x.ndim - 2];
    sizes[ndim - 1] = y.sizes[y.ndim - 1];
    oi_array r = oi_array_new(a->dtype, ndim, sizes);
    oi_array_mags(&r);
    for (int64_t i = 0; i < r.numel; i++) {
        oi_coords(&r, i, coords);
        int64_t at = begin(&x, ndim, coords) + coords[ndim - 2] * x.steps[x.ndim - 2];
        dot(&x, &y, at, begin(&y, ndim, coords) + coords[ndim - 1] * y.steps[y.ndim - 1], &r.v[i],
            &r.mag[i]);
    }
    /* A vector's dim goes again. */
    if (b->ndim == 1)
        r.ndim--;
    if (a->ndim == 1) {
        int at = r.ndim - (b->ndim == 1 ? 1 : 2);
        for (int d = at; d < r.ndim - 1; d++)
            r.sizes[d] = r.sizes[d + 1];
        r.ndim--;
    }
    return r;
}

static oi_num times(oi_num a, oi_num b)
{
    return (oi_num){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re,
                    (int64_t)((uint64_t)a.i * (uint64_t)b.i)};
}

/* r = alpha * r + beta * addend, which broadcasts. beta = 0 leaves the addend, NaN and all, out. */
static void add(oi_array *r, const oi_array *addend, oi_num alpha, oi_num beta)
{
    int64_t coords[OI_DIMS];
    bool counts = beta.re != 0 || beta.im != 0;
    for (int64_t i = 0; i < r->numel; i++) {
        oi_coords(r, i, coords);
        oi_num p = times(alpha, r->v[i]),
               q = times(beta, addend->v[oi_broadcast_index(addend, r->ndim, coords)]);
        r->mag[i] = r->mag[i] * hypotl(alpha.re, alpha.im) + (counts ? hypotl(q.re, q.im) : 0);
        r->v[i] = counts
                      ? (oi_num){p.re + q.re, p.im + q.im, (int64_t)((uint64_t)p.i + (uint64_t)q.i)}
                      : p;
    }
}

static oi_num factor(const oi_sample *s, const char *name, tn_dtype d)
{
    const oi_arg *a = oi_find(s, name);
    return a ? oi_from_scalar(&a->scalar, d) : oi_cast(oi_int(1), TN_I64, d);
}

static int reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *bias = oi_input(s, "bias");
    tn_dtype d = s->args[0].tensors->a.dtype;
    oi_num one = oi_cast(oi_int(1), TN_I64, d);
    if (row->kind == ADDMM) {
        results[0] = product(oi_input(s, "mat1"), oi_input(s, "mat2"), false);
        add(&results[0], oi_input(s, "self"), factor(s, "alpha", d), factor(s, "beta", d));
    } else {
        results[0] = product(&s->args[0].tensors->a, &s->args[1].tensors->a, row->kind == LINEAR);
        if (bias)
            add(&results[0], bias, one, one);
    }
    for (int64_t i = 0; i < results[0].numel && oi_is_integral(d); i++)
        results[0].v[i] = oi_cast(oi_int(results[0].v[i].i), TN_I64, d);
    return 1;
}

/* ---- samples --------------------------------------------------------------------------------- */
typedef struct setting {
    int64_t kind;
    const char *what;
    int n[3];
    int64_t sizes[3][4];
    oi_layout layout[3];
    bool error, large;
} setting;

static const setting settings[] = {
    {MM, "row-major", {2, 2}, {{4, 5}, {5, 3}}, {OI_ROW, OI_ROW}, 0, 0},
    {MM, "transposed", {2, 2}, {{7, 9}, {9, 8}}, {OI_TRANSPOSED, OI_TRANSPOSED}, 0, 0},
    {MM, "gaps", {2, 2}, {{5, 6}, {6, 7}}, {OI_GAPPED, OI_GAPPED}, 0, 0},
    {MM, "one element", {2, 2}, {{1, 1}, {1, 1}}, {OI_ROW, OI_ROW}, 0, 0},
    {MM, "no rows", {2, 2}, {{0, 3}, {3, 2}}, {OI_ROW, OI_ROW}, 0, 0},
    {MM, "nothing to add up", {2, 2}, {{3, 0}, {0, 2}}, {OI_ROW, OI_ROW}, 0, 0},
    {MM, "odd sizes", {2, 2}, {{33, 65}, {65, 17}}, {OI_ROW, OI_SHIFTED}, 0, 0},
    {MM, "stride 0", {2, 2}, {{3, 4}, {4, 2}}, {OI_EXPANDED, OI_ROW}, 0, 0},
    {MM, "a stride over 2 GiB", {2, 2}, {{2, 5}, {5, 3}}, {OI_HUGE, OI_ROW}, 0, 0},
    {MM, "sizes that do not agree", {2, 2}, {{4, 5}, {4, 3}}, {OI_ROW, OI_ROW}, 1, 0},
    {MM, "a vector", {1, 2}, {{5}, {5, 3}}, {OI_ROW, OI_ROW}, 1, 0},
    {MM, "large", {2, 2}, {{97, 131}, {131, 89}}, {OI_ROW, OI_ROW}, 0, 1},
    {BMM, "row-major", {3, 3}, {{2, 4, 5}, {2, 5, 3}}, {OI_ROW, OI_ROW}, 0, 0},
    {BMM, "transposed", {3, 3}, {{3, 4, 5}, {3, 5, 6}}, {OI_TRANSPOSED, OI_GAPPED}, 0, 0},
    {BMM, "no batches", {3, 3}, {{0, 4, 5}, {0, 5, 3}}, {OI_ROW, OI_ROW}, 0, 0},
    {BMM, "batches that do not agree", {3, 3}, {{2, 4, 5}, {3, 5, 3}}, {OI_ROW, OI_ROW}, 1, 0},
    {BMM, "large", {3, 3}, {{7, 33, 41}, {7, 41, 37}}, {OI_ROW, OI_ROW}, 0, 1},
    {ADDMM, "row-major", {2, 2, 2}, {{4, 3}, {4, 5}, {5, 3}}, {OI_ROW, OI_ROW, OI_ROW}, 0, 0},
    {ADDMM,
     "a row to add",
     {1, 2, 2},
     {{3}, {4, 5}, {5, 3}},
     {OI_ROW, OI_TRANSPOSED, OI_GAPPED},
     0,
     0},
    {ADDMM,
     "a column to add",
     {2, 2, 2},
     {{4, 1}, {4, 5}, {5, 3}},
     {OI_GAPPED, OI_ROW, OI_TRANSPOSED},
     0,
     0},
    {ADDMM,
     "nothing to add up",
     {2, 2, 2},
     {{3, 2}, {3, 0}, {0, 2}},
     {OI_ROW, OI_ROW, OI_ROW},
     0,
     0},
    {ADDMM,
     "an addend that does not broadcast",
     {1, 2, 2},
     {{4}, {4, 5}, {5, 3}},
     {OI_ROW, OI_ROW, OI_ROW},
     1,
     0},
    {ADDMM, "large", {2, 2, 2}, {{97, 89}, {97, 131}, {131, 89}}, {OI_ROW, OI_ROW, OI_ROW}, 0, 1},
    {MATMUL, "matrices", {2, 2}, {{4, 5}, {5, 3}}, {OI_ROW, OI_TRANSPOSED}, 0, 0},
    {MATMUL, "vectors", {1, 1}, {{7}, {7}}, {OI_GAPPED, OI_ROW}, 0, 0},
    {MATMUL, "matrix and vector", {2, 1}, {{4, 7}, {7}}, {OI_ROW, OI_ROW}, 0, 0},
    {MATMUL, "vector and matrix", {1, 2}, {{4}, {4, 7}}, {OI_ROW, OI_ROW}, 0, 0},
    {MATMUL,
     "batches that broadcast",
     {4, 3},
     {{2, 1, 3, 4}, {5, 4, 2}},
     {OI_ROW, OI_GAPPED},
     0,
     0},
    {MATMUL, "batch and matrix", {3, 2}, {{3, 4, 5}, {5, 2}}, {OI_TRANSPOSED, OI_ROW}, 0, 0},
    {MATMUL, "batch and vector", {3, 1}, {{3, 4, 5}, {5}}, {OI_ROW, OI_ROW}, 0, 0},
    {MATMUL, "no elements", {2, 2}, {{3, 0}, {0, 2}}, {OI_ROW, OI_ROW}, 0, 0},
    {MATMUL, "sizes that do not agree", {2, 2}, {{4, 5}, {4, 3}}, {OI_ROW, OI_ROW}, 1, 0},
    {MATMUL, "0-dim", {0, 1}, {{0}, {4}}, {OI_ROW, OI_ROW}, 1, 0},
    {LINEAR, "with bias", {2, 2, 1}, {{4, 5}, {3, 5}, {3}}, {OI_ROW, OI_ROW, OI_ROW}, 0, 0},
    {LINEAR,
     "three dims",
     {3, 2, 1},
     {{2, 4, 5}, {3, 5}, {3}},
     {OI_TRANSPOSED, OI_GAPPED, OI_ROW},
     0,
     0},
    {LINEAR, "a vector", {1, 2, -1}, {{5}, {3, 5}}, {OI_ROW, OI_ROW}, 0, 0},
    {LINEAR, "without bias", {2, 2, -1}, {{4, 5}, {3, 5}}, {OI_ROW, OI_ROW}, 0, 0},
    {LINEAR, "sizes that do not agree", {2, 2, -1}, {{4, 5}, {3, 4}}, {OI_ROW, OI_ROW}, 1, 0},
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
        for (int t = 0; t < 3 && names[t]; t++) {
            if (w->n[t] < 0)
                continue;
            oi_array a = oi_values(row, &r, d, w->n[t], w->sizes[t]);
            for (int64_t i = 0; w->layout[t] == OI_EXPANDED && i < a.numel; i++)
                a.v[i] = a.v[i % (a.numel / a.sizes[0])];
            oi_arg_tensor(s, names[t], a, w->layout[t]);
        }
        if (row->kind == ADDMM && s->number % 2) {
            oi_arg_scalar(s, "beta", oi_is_integral(d) ? tn_scalar_int(2) : tn_scalar_float(0.5));
            oi_arg_scalar(s, "alpha", oi_is_integral(d) ? tn_scalar_int(3) : tn_scalar_float(-1.5));
        }
        s->error = w->error;
        s->large = w->large;
    }
}

static const char *const two[] = {"self", "mat2", NULL}, *const others[] = {"self", "other", NULL};
static const char *const three[] = {"self", "mat1", "mat2"}, *const layer[] = {"input", "weight",
                                                                               "bias"};

#define PRODUCT(name, which, names)                                                                \
    {                                                                                              \
        .op = name, .dtypes = INT | FLOAT | COMPLEX, .tolerance = "matrix", .kind = which,         \
        .data = names, .samples = samples, .reference = reference                                  \
    }

static const oi_row rows[] = {
    PRODUCT("mm", MM, two),           PRODUCT("bmm", BMM, two),
    PRODUCT("addmm", ADDMM, three),   PRODUCT("matmul", MATMUL, others),
    PRODUCT("linear", LINEAR, layer),
};
const oi_rows oi_rows_matrix = ROWS(rows);

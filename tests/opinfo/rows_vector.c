/* rows_vector.c - products with vectors and with addends, as sums of products; dist and
 * cosine_similarity; float_power. */
#include "rows_impl.h"

#include <complex.h>
#include <math.h>
#include <string.h>

enum { DOT, VDOT, MV, OUTER, INNER, ADDMV, ADDR, BADDBMM, ADDBMM, DIST, COSINE };

/* ---- sums of products ------------------------------------------------------------------------ */
static void accumulate(oi_array *r, int64_t at, oi_num a, oi_num b)
{
    oi_num *t = &r->v[at];
    t->re += a.re * b.re - a.im * b.im;
    t->im += a.re * b.im + a.im * b.re;
    t->i = (int64_t)((uint64_t)t->i + (uint64_t)a.i * (uint64_t)b.i);
    r->mag[at] += hypotl(a.re, a.im) * hypotl(b.re, b.im);
}

/* r[b][i][j] += x[b][i][k] y[b][k][j]; strides in elements, 0 where a dimension is not there. */
typedef struct loops {
    int64_t n[4]; /* b i j k */
    int64_t x[4], y[4], r[4];
} loops;

static oi_array multiplied(const oi_array *x, const oi_array *y, const loops *l, int ndim,
                           const int64_t *sizes, bool conjugate)
{
    oi_array r = oi_array_new(x->dtype, ndim, sizes);
    oi_array_mags(&r);
    for (int64_t b = 0; b < l->n[0]; b++)
        for (int64_t i = 0; i < l->n[1]; i++)
            for (int64_t j = 0; j < l->n[2]; j++)
                for (int64_t k = 0; k < l->n[3]; k++) {
                    oi_num v = x->v[b * l->x[0] + i * l->x[1] + k * l->x[3]];
                    v.im = conjugate ? -v.im : v.im;
                    accumulate(&r, b * l->r[0] + i * l->r[1] + j * l->r[2], v,
                               y->v[b * l->y[0] + j * l->y[2] + k * l->y[3]]);
                }
    return r;
}

static oi_array product(const oi_row *row, const oi_array *x, const oi_array *y)
{
    const int64_t *n = x->sizes, *m = y->sizes;
    switch (row->kind) {
    case DOT:
    case VDOT: {
        loops l = {{1, 1, 1, n[0]}, {0, 0, 0, 1}, {0, 0, 0, 1}, {0}};
        return multiplied(x, y, &l, 0, NULL, row->kind == VDOT);
    }
    case MV:
    case ADDMV: {
        loops l = {{1, n[0], 1, n[1]}, {0, n[1], 0, 1}, {0, 0, 0, 1}, {0, 1, 0, 0}};
        return multiplied(x, y, &l, 1, n, false);
    }
    case OUTER:
    case ADDR: {
        int64_t sizes[] = {n[0], m[0]};
        loops l = {{1, n[0], m[0], 1}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, m[0], 1, 0}};
        return multiplied(x, y, &l, 2, sizes, false);
    }
    case INNER: {
        int64_t sizes[] = {n[0], m[0]};
        loops l = {{1, n[0], m[0], n[1]}, {0, n[1], 0, 1}, {0, 0, n[1], 1}, {0, m[0], 1, 0}};
        return multiplied(x, y, &l, 2, sizes, false);
    }
    default: { /* batches; addbmm adds them up */
        int64_t sizes[] = {n[0], n[1], m[2]}, step = row->kind == ADDBMM ? 0 : n[1] * m[2];
        loops l = {{n[0], n[1], m[2], n[2]},
                   {n[1] * n[2], n[2], 0, 1},
                   {m[1] * m[2], 0, 1, m[2]},
                   {step, m[2], 1, 0}};
        return multiplied(x, y, &l, row->kind == ADDBMM ? 2 : 3, sizes + (row->kind == ADDBMM),
                          false);
    }
    }
}

static oi_num times(oi_num a, oi_num b)
{
    return (oi_num){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re,
                    (int64_t)((uint64_t)a.i * (uint64_t)b.i)};
}

static oi_num factor(const oi_sample *s, const char *name, tn_dtype d)
{
    const oi_arg *a = oi_find(s, name);
    return a ? oi_from_scalar(&a->scalar, d) : oi_cast(oi_int(1), TN_I64, d);
}

static void add(oi_array *r, const oi_array *addend, oi_num alpha, oi_num beta)
{
    int64_t coords[OI_DIMS];
    for (int64_t i = 0; i < r->numel; i++) {
        oi_coords(r, i, coords);
        oi_num p = times(alpha, r->v[i]),
               q = times(beta, addend->v[oi_broadcast_index(addend, r->ndim, coords)]);
        r->mag[i] = r->mag[i] * hypotl(alpha.re, alpha.im) + hypotl(q.re, q.im);
        r->v[i] = (oi_num){p.re + q.re, p.im + q.im, (int64_t)((uint64_t)p.i + (uint64_t)q.i)};
    }
}

static int reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    bool addend = s->args[2].tensors != NULL && s->n_args >= 3 &&
                  s->args[2].kind == TN_FIELD_TENSOR;
    const oi_array *x = &s->args[addend].tensors->a, *y = &s->args[addend + 1].tensors->a;
    tn_dtype d = x->dtype;
    results[0] = product(row, x, y);
    if (addend)
        add(&results[0], &s->args[0].tensors->a, factor(s, "alpha", d), factor(s, "beta", d));
    for (int64_t i = 0; oi_is_integral(d) && i < results[0].numel; i++)
        results[0].v[i] = oi_cast(oi_int(results[0].v[i].i), TN_I64, d);
    return 1;
}

/* ---- distances ------------------------------------------------------------------------------- */
static int dist(const oi_row *row, const oi_sample *s, oi_array *results)
{
    (void)row;
    const oi_array *a = oi_input(s, "self"), *b = oi_input(s, "other");
    const oi_arg *p = oi_find(s, "p");
    oi_real power = p ? (oi_real)p->scalar.v.f : 2, sum = 0, scale = 0;
    for (int64_t i = 0; i < a->numel; i++) {
        oi_real apart =
            hypotl(a->v[i].re - b->v[i % b->numel].re, a->v[i].im - b->v[i % b->numel].im);
        sum += powl(apart, power);
        scale += hypotl(a->v[i].re, a->v[i].im) +
                 hypotl(b->v[i % b->numel].re, b->v[i % b->numel].im);
    }
    results[0] = oi_array_new(oi_real_of(a->dtype), 0, NULL);
    oi_array_mags(&results[0]);
    results[0].v[0] = oi_float(powl(sum, 1 / power));
    results[0].mag[0] = scale;
    return 1;
}

static int cosine(const oi_row *row, const oi_sample *s, oi_array *results)
{
    (void)row;
    const oi_array *a = oi_input(s, "x1"), *b = oi_input(s, "x2");
    int64_t n = a->sizes[0], m = a->sizes[1];
    bool rows = oi_get_int(s, "dim", 1) != 0;
    results[0] = oi_array_new(a->dtype, 1, rows ? &n : &m);
    oi_array_mags(&results[0]);
    for (int64_t i = 0; i < results[0].numel; i++) {
        oi_real xy = 0, xx = 0, yy = 0;
        for (int64_t k = 0; k < (rows ? m : n); k++) {
            int64_t at = rows ? i * m + k : k * m + i;
            oi_real x = a->v[at].re, y = b->v[at].re;
            xy += x * y, xx += x * x, yy += y * y;
        }
        results[0].v[i] = oi_float(xy / fmaxl(sqrtl(xx), 1e-8L) / fmaxl(sqrtl(yy), 1e-8L));
        results[0].mag[i] = 1;
    }
    return 1;
}

/* ---- float_power ----------------------------------------------------------------------------- */
static int float_power(const oi_row *row, const oi_sample *s, oi_array *results)
{
    (void)row;
    const oi_array *x = oi_input(s, "self"), *y = oi_input(s, "exponent");
    const oi_arg *number = oi_find(s, "exponent");
    bool pairs = oi_is_complex(x->dtype) || (y && oi_is_complex(y->dtype)) ||
                 (!y && number->scalar.kind == TN_SCALAR_COMPLEX);
    tn_dtype d = pairs ? TN_C128 : TN_F64;
    const oi_array *both[] = {x, y ? y : x};
    int64_t sizes[OI_DIMS], coords[OI_DIMS];
    int ndim;
    if (!oi_broadcast(2, both, &ndim, sizes))
        return 0;
    results[0] = oi_array_new(d, ndim, sizes);
    oi_array_mags(&results[0]);
    for (int64_t i = 0; i < results[0].numel; i++) {
        oi_coords(&results[0], i, coords);
        oi_num a = oi_cast(x->v[oi_broadcast_index(x, ndim, coords)], x->dtype, d);
        oi_num b = y ? oi_cast(y->v[oi_broadcast_index(y, ndim, coords)], y->dtype, d)
                     : oi_from_scalar(&number->scalar, d);
        _Complex long double z = pairs ? cpowl(oi_complex_of(a.re, a.im), oi_complex_of(b.re, b.im))
                                       : 0;
        results[0].mag[i] = pairs && isfinite(cabsl(z)) ? 4 * cabsl(z) : 0;
        results[0].v[i] = pairs ? oi_complex(creall(z), cimagl(z)) : oi_float(powl(a.re, b.re));
    }
    return 1;
}

/* ---- samples --------------------------------------------------------------------------------- */
typedef struct setting {
    int64_t kind;
    const char *what;
    int n[3];
    int64_t sizes[3][3];
    oi_layout layout;
    bool error;
} setting;

static const setting settings[] = {
    {DOT, "vectors", {1, 1}, {{7}, {7}}, OI_ROW, 0},
    {DOT, "gaps", {1, 1}, {{33}, {33}}, OI_GAPPED, 0},
    {DOT, "no elements", {1, 1}, {{0}, {0}}, OI_ROW, 0},
    {DOT, "lengths that differ", {1, 1}, {{3}, {4}}, OI_ROW, 1},
    {DOT, "a matrix", {2, 1}, {{3, 3}, {3}}, OI_ROW, 1},
    {MV, "row-major", {2, 1}, {{4, 5}, {5}}, OI_ROW, 0},
    {MV, "transposed", {2, 1}, {{4, 5}, {5}}, OI_TRANSPOSED, 0},
    {MV, "sizes that do not agree", {2, 1}, {{4, 5}, {4}}, OI_ROW, 1},
    {OUTER, "vectors", {1, 1}, {{4}, {5}}, OI_ROW, 0},
    {OUTER, "gaps", {1, 1}, {{4}, {3}}, OI_GAPPED, 0},
    {OUTER, "a matrix", {2, 1}, {{3, 3}, {3}}, OI_ROW, 1},
    {INNER, "matrices", {2, 2}, {{3, 5}, {4, 5}}, OI_ROW, 0},
    {INNER, "transposed", {2, 2}, {{3, 5}, {4, 5}}, OI_TRANSPOSED, 0},
    {INNER, "sizes that do not agree", {2, 2}, {{3, 5}, {5, 4}}, OI_ROW, 1},
    {ADDMV, "row-major", {1, 2, 1}, {{4}, {4, 5}, {5}}, OI_ROW, 0},
    {ADDMV, "one number to add", {1, 2, 1}, {{1}, {4, 5}, {5}}, OI_TRANSPOSED, 0},
    {ADDMV, "sizes that do not agree", {1, 2, 1}, {{4}, {4, 5}, {4}}, OI_ROW, 1},
    {ADDR, "row-major", {2, 1, 1}, {{4, 5}, {4}, {5}}, OI_ROW, 0},
    {ADDR, "a row to add", {1, 1, 1}, {{5}, {4}, {5}}, OI_GAPPED, 0},
    {ADDR, "an addend that does not broadcast", {1, 1, 1}, {{3}, {4}, {5}}, OI_ROW, 1},
    {BADDBMM, "row-major", {3, 3, 3}, {{2, 3, 4}, {2, 3, 5}, {2, 5, 4}}, OI_ROW, 0},
    {BADDBMM, "a row to add", {1, 3, 3}, {{4}, {2, 3, 5}, {2, 5, 4}}, OI_TRANSPOSED, 0},
    {BADDBMM, "batches that do not agree", {1, 3, 3}, {{4}, {2, 3, 5}, {3, 5, 4}}, OI_ROW, 1},
    {ADDBMM, "row-major", {2, 3, 3}, {{3, 4}, {2, 3, 5}, {2, 5, 4}}, OI_ROW, 0},
    {ADDBMM, "a row to add", {1, 3, 3}, {{4}, {2, 3, 5}, {2, 5, 4}}, OI_GAPPED, 0},
    {DIST, "row-major", {2, 2}, {{3, 4}, {3, 4}}, OI_ROW, 0},
    {DIST, "broadcast", {2, 1}, {{3, 4}, {4}}, OI_TRANSPOSED, 0},
    {COSINE, "rows", {2, 2}, {{3, 5}, {3, 5}}, OI_ROW, 0},
    {COSINE, "columns", {2, 2}, {{3, 5}, {3, 5}}, OI_TRANSPOSED, 0},
    {COSINE, "sizes that do not agree", {2, 2}, {{3, 5}, {3, 4}}, OI_ROW, 1},
};

static void samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    const char *const *names = row->data;
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        const setting *w = &settings[k];
        if (w->kind != (row->kind == VDOT ? DOT : row->kind))
            continue;
        oi_sample *s = oi_sample_new(out, w->what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        for (int t = 0; t < 3 && names[t]; t++)
            oi_arg_tensor(s, names[t], oi_values(row, &r, d, w->n[t], w->sizes[t]), w->layout);
        if (names[2] && s->number % 2 && d != TN_BOOL) {
            oi_arg_scalar(s, "beta", oi_is_integral(d) ? tn_scalar_int(2) : tn_scalar_float(0.5));
            oi_arg_scalar(s, "alpha", oi_is_integral(d) ? tn_scalar_int(3) : tn_scalar_float(-1.5));
        }
        if (row->kind == DIST && s->number % 2)
            oi_arg_scalar(s, "p", tn_scalar_float(3));
        if (row->kind == COSINE && s->number == 1)
            oi_arg_int(s, "dim", TN_FIELD_INT, 0);
        s->error = w->error;
    }
}

static void power_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    oi_elementwise_samples(row, out, d, seed);
}

static const char *const vectors[] = {"self", "tensor", NULL}, *const others[] = {"self", "other",
                                                                                  NULL};
static const char *const matrix[] = {"self", "vec", NULL}, *const second[] = {"self", "vec2", NULL};
static const char *const to_mv[] = {"self", "mat", "vec"}, *const to_r[] = {"self", "vec1", "vec2"};
static const char *const batches[] = {"self", "batch1", "batch2"}, *const pair[] = {"x1", "x2",
                                                                                    NULL};

#define PRODUCT(name, dtypes_, which, names, body)                                                 \
    {                                                                                              \
        .op = name, .dtypes = dtypes_, .tolerance = "matrix", .kind = which, .data = names,        \
        .samples = samples, .reference = body                                                      \
    }
#define NUMBERS (INT | FLOAT | COMPLEX)

static const oi_row rows[] = {
    PRODUCT("dot", NUMBERS, DOT, vectors, reference),
    PRODUCT("vdot", NUMBERS, VDOT, others, reference),
    PRODUCT("mv", NUMBERS, MV, matrix, reference),
    PRODUCT("outer", NUMBERS | BOOL, OUTER, second, reference),
    PRODUCT("inner", NUMBERS, INNER, others, reference),
    PRODUCT("addmv", NUMBERS, ADDMV, to_mv, reference),
    PRODUCT("addr", NUMBERS | BOOL, ADDR, to_r, reference),
    PRODUCT("baddbmm", NUMBERS, BADDBMM, batches, reference),
    PRODUCT("addbmm", NUMBERS, ADDBMM, batches, reference),
    PRODUCT("dist", FLOAT | COMPLEX, DIST, others, dist),
    PRODUCT("cosine_similarity", FLOAT, COSINE, pair, cosine),
    {.op = "float_power.Tensor_Tensor",
     .dtypes = ALL,
     .flags = OI_NO_SPECIAL_INT,
     .tolerance = "hard",
     .lo = 0,
     .hi = 3,
     .operands = "self exponent",
     .samples = power_samples,
     .reference = float_power},
    {.op = "float_power.Tensor_Scalar",
     .dtypes = ALL,
     .flags = OI_NO_SPECIAL_INT,
     .tolerance = "hard",
     .lo = 0,
     .hi = 3,
     .operands = "self exponent",
     .samples = power_samples,
     .reference = float_power},
};
const oi_rows oi_rows_vector = ROWS(rows);

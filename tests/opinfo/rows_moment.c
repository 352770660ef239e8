/* rows_moment.c - var, std and their means, logsumexp, norms: reductions that take more than one
 * look at their elements. The elements of each result are gathered first, then judged at once. */
#include "rows_impl.h"

#include <math.h>
#include <string.h>

enum { VAR = 1, STD = 2, WITH_MEAN = 4, LOGSUMEXP = 8, NORM = 16, KIND = 31 };
enum { WHOLE = 32, ONE_LIST = 64, UNBIASED = 128, CORRECTION = 256 };

/* ---- one result ------------------------------------------------------------------------------ */
typedef struct group {
    int64_t n;
    oi_num *v;
} group;

static oi_real norm(const group *g, oi_real p, oi_real *mag)
{
    oi_real r = p == -INFINITY ? INFINITY : 0;
    for (int64_t i = 0; i < g->n; i++) {
        oi_real a = hypotl(g->v[i].re, g->v[i].im);
        if (isnan(a))
            return NAN;
        if (isinf(p))
            r = (p > 0 ? a > r : a < r) ? a : r;
        else
            r += p == 0 ? a != 0 : powl(a, p);
    }
    r = isinf(p) || p == 0 ? r : powl(r, 1 / p);
    *mag = isfinite(r) ? r : 0;
    return r;
}

static oi_real logsumexp(const group *g, oi_real *mag)
{
    oi_real top = -INFINITY, sum = 0;
    for (int64_t i = 0; i < g->n; i++)
        top = isnan(g->v[i].re) || g->v[i].re > top ? g->v[i].re : top;
    if (isinf(top) || isnan(top))
        return top;
    for (int64_t i = 0; i < g->n; i++)
        sum += expl(g->v[i].re - top);
    *mag = fabsl(top) + logl(sum);
    return top + logl(sum);
}

static oi_num mean(const group *g)
{
    oi_real re = 0, im = 0;
    for (int64_t i = 0; i < g->n; i++)
        re += g->v[i].re, im += g->v[i].im;
    return oi_complex(re / g->n, im / g->n);
}

static oi_real variance(const group *g, oi_real correction)
{
    oi_num m = mean(g);
    oi_real sum = 0, divisor = (oi_real)g->n - correction;
    for (int64_t i = 0; i < g->n; i++) {
        oi_real re = g->v[i].re - m.re, im = g->v[i].im - m.im;
        sum += re * re + im * im;
    }
    return sum / (divisor > 0 ? divisor : 0);
}

/* ---- all of them ----------------------------------------------------------------------------- */
static unsigned reduced_dims(const oi_sample *s, int ndim)
{
    const oi_arg *dim = oi_find(s, "dim");
    unsigned mask = 0;
    for (int64_t k = 0; dim && k < dim->n; k++)
        mask |= 1u << (ndim ? (dim->ints[k] + ndim) % ndim : 0);
    return mask ? mask : ~0u;
}

static oi_real correction_of(const oi_sample *s)
{
    if (oi_find(s, "correction"))
        return (oi_real)oi_get_int(s, "correction", 1);
    return oi_get_int(s, "unbiased", 1) != 0;
}

static oi_real power_of(const oi_sample *s)
{
    const oi_arg *p = oi_find(s, "ord") ? oi_find(s, "ord") : oi_find(s, "p");
    return !p || p->scalar.kind == TN_SCALAR_NONE ? 2
           : p->scalar.kind == TN_SCALAR_FLOAT    ? (oi_real)p->scalar.v.f
                                                  : (oi_real)p->scalar.v.i;
}

static oi_real judged(const oi_row *row, const oi_sample *s, const group *g, oi_real *mag)
{
    switch (row->kind & KIND & ~WITH_MEAN) {
    case NORM:
        return norm(g, power_of(s), mag);
    case LOGSUMEXP:
        return logsumexp(g, mag);
    default:
        break;
    }
    oi_real v = variance(g, correction_of(s));
    return row->kind & STD ? sqrtl(v) : v;
}

static int reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self");
    tn_dtype to = oi_is_integral(x->dtype) ? TN_F32 : x->dtype;
    unsigned mask = reduced_dims(s, x->ndim);
    bool keep = oi_get_int(s, "keepdim", 0) != 0;
    int64_t sizes[OI_DIMS], coords[OI_DIMS];
    int ndim = 0;
    for (int d = 0; d < x->ndim; d++)
        if (!(mask >> d & 1) || keep)
            sizes[ndim++] = mask >> d & 1 ? 1 : x->sizes[d];
    results[0] = oi_array_new(oi_real_of(to), ndim, sizes);
    results[1] = oi_array_new(to, ndim, sizes);
    oi_array_mags(&results[0]);
    oi_array_mags(&results[1]);
    group *groups = oi_alloc((size_t)(results[0].numel + 1) * sizeof *groups);
    for (int64_t k = 0; k < results[0].numel; k++)
        groups[k].v = oi_alloc((size_t)(x->numel + 1) * sizeof *groups[k].v);
    for (int64_t i = 0; i < x->numel; i++) {
        int64_t at = 0;
        oi_coords(x, i, coords);
        for (int d = 0; d < x->ndim; d++)
            if (!(mask >> d & 1))
                at = at * x->sizes[d] + coords[d];
        groups[at].v[groups[at].n++] = oi_cast(x->v[i], x->dtype, to);
    }
    for (int64_t k = 0; k < results[0].numel; k++) {
        results[0].v[k] = oi_float(judged(row, s, &groups[k], &results[0].mag[k]));
        results[1].v[k] = mean(&groups[k]);
        for (int64_t i = 0; i < groups[k].n; i++)
            results[1].mag[k] += hypotl(groups[k].v[i].re, groups[k].v[i].im) / groups[k].n;
    }
    return row->kind & WITH_MEAN ? 2 : 1;
}

/* ---- samples --------------------------------------------------------------------------------- */
typedef struct shape {
    const char *what;
    int ndim;
    int64_t sizes[3];
    oi_layout layout;
    int n_dims;
    int64_t dims[2];
    bool keepdim;
} shape;

static const shape shapes[] = {
    {"rows", 2, {4, 5}, OI_ROW, 1, {-1}, false},
    {"columns", 2, {5, 4}, OI_ROW, 1, {0}, true},
    {"transposed", 3, {3, 4, 5}, OI_TRANSPOSED, 1, {1}, false},
    {"gaps", 3, {3, 4, 5}, OI_GAPPED, 2, {0, -1}, true},
    {"all dims", 2, {4, 6}, OI_ROW, 2, {0, 1}, false},
    {"0-dim", 0, {0}, OI_ROW, 1, {0}, false},
    {"one element", 1, {1}, OI_ROW, 1, {0}, false},
    {"no elements along the other dim", 2, {0, 3}, OI_ROW, 1, {1}, false},
    {"a long row", 2, {2, 131}, OI_ROW, 1, {1}, false},
};

static void set_options(const oi_row *row, oi_sample *s, int k)
{
    static const double powers[] = {2, 1, 3, 0, INFINITY, -INFINITY, 0.5, 2.5};
    if (row->kind & UNBIASED)
        oi_arg_int(s, "unbiased", TN_FIELD_BOOL, k % 2);
    if (row->kind & CORRECTION)
        oi_arg_int(s, "correction", TN_FIELD_INT, k % 3);
    if (row->data && !(k == 7 && (row->kind & NORM)))
        oi_arg_scalar(s, row->data, tn_scalar_float(powers[k % 8]));
}

static oi_sample *add(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed,
                      const shape *sh, int k)
{
    oi_sample *s = oi_sample_new(out, sh->what);
    oi_rng r = oi_rng_make(seed, row->op, d, s->number);
    oi_arg_tensor(s, "self", oi_values(row, &r, d, sh->ndim, sh->sizes), sh->layout);
    if (!(row->kind & WHOLE)) {
        oi_arg_ints(s, "dim", sh->n_dims, sh->dims);
        oi_arg_int(s, "keepdim", TN_FIELD_BOOL, sh->keepdim);
    }
    set_options(row, s, k);
    return s;
}

static void samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const shape bad = {"dim out of range", 2, {3, 4}, OI_ROW, 1, {2}, false};
    for (int k = 0; k < (int)(sizeof shapes / sizeof *shapes); k++) {
        bool extreme = (row->kind & NORM || row->kind & LOGSUMEXP) &&
                       oi_numel(shapes[k].ndim, shapes[k].sizes) == 0;
        if (!extreme)
            add(row, out, d, seed, &shapes[k], k);
    }
    if (!(row->kind & WHOLE))
        add(row, out, d, seed, &bad, 0)->error = true;
}

#define ROW(name, dtypes_, which, data_)                                                           \
    {                                                                                              \
        .op = name, .dtypes = dtypes_, .tolerance = "moment", .kind = which, .data = data_,        \
        .lo = -4, .hi = 4, .samples = samples, .reference = reference                              \
    }

static const oi_row rows[] = {
    ROW("var", FLOAT | COMPLEX, VAR | WHOLE | UNBIASED, NULL),
    ROW("var.dim", FLOAT | COMPLEX, VAR | UNBIASED, NULL),
    ROW("var.correction", FLOAT | COMPLEX, VAR | CORRECTION, NULL),
    ROW("std", FLOAT | COMPLEX, STD | WHOLE | UNBIASED, NULL),
    ROW("std.dim", FLOAT | COMPLEX, STD | UNBIASED, NULL),
    ROW("std.correction", FLOAT | COMPLEX, STD | CORRECTION, NULL),
    ROW("var_mean", FLOAT | COMPLEX, VAR | WITH_MEAN | WHOLE | UNBIASED, NULL),
    ROW("var_mean.dim", FLOAT | COMPLEX, VAR | WITH_MEAN | UNBIASED, NULL),
    ROW("var_mean.correction", FLOAT | COMPLEX, VAR | WITH_MEAN | CORRECTION, NULL),
    ROW("std_mean", FLOAT | COMPLEX, STD | WITH_MEAN | WHOLE | UNBIASED, NULL),
    ROW("std_mean.dim", FLOAT | COMPLEX, STD | WITH_MEAN | UNBIASED, NULL),
    ROW("std_mean.correction", FLOAT | COMPLEX, STD | WITH_MEAN | CORRECTION, NULL),
    ROW("logsumexp", REAL, LOGSUMEXP, NULL),
    ROW("linalg_vector_norm", FLOAT | COMPLEX, NORM, "ord"),
    ROW("norm.Scalar", FLOAT | COMPLEX, NORM | WHOLE, "p"),
    ROW("norm.ScalarOpt_dim", FLOAT | COMPLEX, NORM, "p"),
};
const oi_rows oi_rows_moment = ROWS(rows);

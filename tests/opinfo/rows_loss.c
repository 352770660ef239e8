/* rows_loss.c - losses: of two tensors of one shape, and of log probabilities and classes. */
#include "rows_impl.h"

#include <math.h>
#include <string.h>

enum { MSE, L1, SMOOTH_L1, HUBER, BCE_LOGITS, NLL_FORWARD, NLL, CROSS_ENTROPY };

/* ---- element by element ---------------------------------------------------------------------- */
static oi_real term(const oi_row *row, const oi_sample *s, int64_t i, oi_real x, oi_real y)
{
    const oi_array *weight = oi_input(s, "weight"), *pos = oi_input(s, "pos_weight");
    oi_real z = fabsl(x - y);
    switch (row->kind) {
    case MSE:
        return z * z;
    case L1:
        return z;
    case SMOOTH_L1:
    case HUBER:
        return z < 1 ? z * z / 2 : z - 0.5L;
    default:
        break;
    }
    oi_real p = pos ? pos->v[i % pos->numel].re : 1;
    oi_real soft = (x < 0 ? -x : 0) + log1pl(expl(-fabsl(x)));
    return ((1 - y) * x + (1 + (p - 1) * y) * soft) * (weight ? weight->v[i].re : 1);
}

static void reduce(const oi_sample *s, oi_array *all, oi_real weight, oi_array *results)
{
    int64_t reduction = oi_get_int(s, "reduction", 1);
    results[0] = *all;
    if (reduction == 0)
        return;
    oi_array r = oi_array_new(all->dtype, 0, NULL);
    oi_array_mags(&r);
    for (int64_t i = 0; i < all->numel; i++) {
        r.v[0].re += all->v[i].re, r.v[0].im += all->v[i].im;
        r.mag[0] += all->mag[i];
    }
    if (reduction == 1) {
        r.v[0] = oi_complex(r.v[0].re / weight, r.v[0].im / weight);
        r.mag[0] /= fabsl(weight);
    }
    results[0] = r;
}

static int elementwise(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self"), *y = oi_input(s, "target");
    oi_array all = oi_array_new(oi_real_of(x->dtype), x->ndim, x->sizes);
    oi_array_mags(&all);
    for (int64_t i = 0; i < x->numel; i++) {
        oi_real a = x->v[i].re, b = y->v[i].re, v = term(row, s, i, a, b);
        if (oi_is_complex(x->dtype)) /* l1_loss alone */
            v = hypotl(a - b, x->v[i].im - y->v[i].im);
        all.v[i] = oi_float(v);
        all.mag[i] = fabsl(v) + (fabsl(a) + fabsl(b)) * (row->kind == MSE ? fabsl(a - b) : 1) + 1;
    }
    reduce(s, &all, (oi_real)x->numel, results);
    return 1;
}

/* ---- classes --------------------------------------------------------------------------------- */
typedef struct classes {
    const oi_array *x;
    int64_t n, inner; /* classes; positions behind them */
} classes;

static oi_real logit_at(const classes *c, int64_t sample, int64_t k)
{
    return c->x->v[sample / c->inner * c->n * c->inner + k * c->inner + sample % c->inner].re;
}

static oi_real log_total(const classes *c, int64_t sample)
{
    oi_real top = -INFINITY, sum = 0;
    for (int64_t k = 0; k < c->n; k++)
        top = fmaxl(top, logit_at(c, sample, k));
    for (int64_t k = 0; k < c->n; k++)
        sum += expl(logit_at(c, sample, k) - top);
    return top + logl(sum);
}

static int by_class(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self"), *y = oi_input(s, "target");
    const oi_array *weight = oi_input(s, "weight");
    int64_t ignore = oi_get_int(s, "ignore_index", -100);
    classes c = {x, x->sizes[x->ndim > 1], 1};
    for (int d = 2; d < x->ndim; d++)
        c.inner *= x->sizes[d];
    oi_array all = oi_array_new(x->dtype, y->ndim, y->sizes);
    oi_array_mags(&all);
    oi_real total = 0;
    for (int64_t i = 0; i < y->numel; i++) {
        int64_t k = y->v[i].i;
        if (k == ignore)
            continue;
        oi_real w = weight ? weight->v[k].re : 1;
        oi_real log_p = logit_at(&c, i, k) - (row->kind == CROSS_ENTROPY ? log_total(&c, i) : 0);
        all.v[i] = oi_float(-w * log_p);
        all.mag[i] = fabsl(w) * (fabsl(logit_at(&c, i, k)) + fabsl(log_p) + 2);
        total += w;
    }
    reduce(s, &all, total, results);
    results[1] = oi_array_new(x->dtype, 0, NULL);
    bool none = oi_get_int(s, "reduction", 1) == 0 && y->ndim > 0;
    results[1].v[0] = oi_float(none ? 0 : total);
    return row->kind == NLL_FORWARD ? 2 : 1;
}

/* ---- samples --------------------------------------------------------------------------------- */
static void pair_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    for (int k = 0; k < 7; k++) {
        oi_sample *s = oi_sample_new(out, k == 6 ? "shapes that do not broadcast" : "two shapes");
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        oi_layout layout = k % 3 == 1 ? OI_TRANSPOSED : k % 3 == 2 ? OI_GAPPED : OI_ROW;
        oi_arg_tensor(s, "self", oi_values(row, &r, d, OI_SIZES(3, 4)), layout);
        oi_arg_tensor(s, "target",
                      k == 6                    ? oi_values(row, &r, d, OI_SIZES(5))
                      : row->kind == BCE_LOGITS ? oi_values_in(&r, d, OI_SIZES(3, 4), 0, 1)
                                                : oi_values(row, &r, d, OI_SIZES(3, 4)),
                      OI_ROW);
        oi_arg_int(s, "reduction", TN_FIELD_INT, k % 3);
        if (row->kind == BCE_LOGITS && k > 2)
            oi_arg_tensor(s, "weight", oi_values_in(&r, d, OI_SIZES(3, 4), 0.5, 2), OI_ROW);
        if (row->kind == BCE_LOGITS && k % 2)
            oi_arg_tensor(s, "pos_weight", oi_values_in(&r, d, OI_SIZES(4), 0.5, 2), OI_ROW);
        s->error = k == 6;
    }
}

static void class_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const struct {
        const char *what;
        int ndim, target_ndim;
        int64_t sizes[4], target[3];
        bool deep, error, by_value;
    } cases[] = {
        {"rows", 2, 1, {6, 4}, {6}, 0, 0, 0},
        {"one sample", 1, 0, {5}, {0}, 0, 0, 0},
        {"weights", 2, 1, {7, 3}, {7}, 0, 0, 0},
        {"images", 4, 3, {2, 3, 2, 4}, {2, 2, 4}, 1, 0, 0},
        {"ignored", 2, 1, {6, 4}, {6}, 0, 0, 0},
        {"a sum", 2, 1, {5, 4}, {5}, 0, 0, 0},
        {"each by itself", 2, 1, {5, 4}, {5}, 0, 0, 0},
        {"too few targets", 2, 1, {5, 4}, {3}, 0, 1, 0},
        {"a class that is not there", 2, 1, {5, 4}, {5}, 0, 1, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        if (cases[k].deep && row->kind == NLL_FORWARD)
            continue;
        oi_sample *s = oi_sample_new(out, cases[k].what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        int64_t n = cases[k].sizes[cases[k].ndim > 1];
        oi_arg_tensor(s, "self", oi_values(row, &r, d, cases[k].ndim, cases[k].sizes),
                      k == 2 ? OI_TRANSPOSED : OI_ROW);
        oi_array target =
            oi_values_in(&r, TN_I64, cases[k].target_ndim, cases[k].target, 0, (double)n - 1);
        if (k == 4)
            target.v[1] = target.v[4] = oi_int(-7);
        if (cases[k].by_value)
            target.v[2] = oi_int(n);
        oi_arg_tensor(s, "target", target, OI_ROW);
        if (k == 2 || k == 5)
            oi_arg_tensor(s, "weight", oi_values_in(&r, d, 1, &n, 0.5, 2), OI_ROW);
        oi_arg_int(s, "reduction", TN_FIELD_INT, k == 5 ? 2 : k == 6 ? 0 : 1);
        oi_arg_int(s, "ignore_index", TN_FIELD_INT, k == 4 ? -7 : -100);
        s->error = cases[k].error;
        s->by_value = cases[k].by_value;
    }
}

#define LOSS(name, which, samples_, body)                                                          \
    {                                                                                              \
        .op = name, .dtypes = which == L1 ? FLOAT | COMPLEX : FLOAT, .tolerance = "loss",          \
        .kind = which, .samples = samples_, .lo = -3, .hi = 3, .reference = body                   \
    }

static const oi_row rows[] = {
    LOSS("mse_loss", MSE, pair_samples, elementwise),
    LOSS("l1_loss", L1, pair_samples, elementwise),
    LOSS("smooth_l1_loss", SMOOTH_L1, pair_samples, elementwise),
    LOSS("huber_loss", HUBER, pair_samples, elementwise),
    LOSS("binary_cross_entropy_with_logits", BCE_LOGITS, pair_samples, elementwise),
    LOSS("nll_loss_forward", NLL_FORWARD, class_samples, by_class),
    LOSS("nll_loss_nd", NLL, class_samples, by_class),
    LOSS("cross_entropy_loss", CROSS_ENTROPY, class_samples, by_class),
};
const oi_rows oi_rows_loss = ROWS(rows);

/* rows_gate.c - activations with a bound, a gate or a slope of their own: threshold, glu, prelu,
 * log_sigmoid_forward. */
#include "rows_impl.h"

#include <math.h>

/* ---- threshold ------------------------------------------------------------------------------- */
static oi_num threshold(const oi_row *row, const oi_sample *s, tn_dtype d, const oi_num *in,
                        oi_real *mag)
{
    (void)row, (void)s, (void)d, (void)mag;
    return in[0].re <= in[1].re ? in[2] : in[0];
}

static oi_num threshold_backward(const oi_row *row, const oi_sample *s, tn_dtype d,
                                 const oi_num *in, oi_real *mag)
{
    (void)row, (void)s, (void)d, (void)mag;
    return in[1].re <= in[2].re ? (oi_num){0} : in[0];
}

/* ---- glu ------------------------------------------------------------------------------------- */
static int glu(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self");
    int64_t sizes[OI_DIMS], at[OI_DIMS], dim = oi_get_int(s, "dim", -1);
    (void)row;
    dim = dim < 0 ? dim + x->ndim : dim;
    for (int d = 0; d < x->ndim; d++)
        sizes[d] = d == dim ? x->sizes[d] / 2 : x->sizes[d];
    results[0] = oi_array_new(x->dtype, x->ndim, sizes);
    for (int64_t i = 0; i < results[0].numel; i++) {
        oi_coords(&results[0], i, at);
        oi_real a = x->v[oi_index(x, at)].re;
        at[dim] += sizes[dim];
        results[0].v[i] = oi_float(a / (1 + expl(-x->v[oi_index(x, at)].re)));
    }
    return 1;
}

static void glu_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const struct {
        const char *what;
        int ndim;
        int64_t sizes[3], dim;
        bool error;
    } cases[] = {
        {"rows", 2, {3, 4}, -1, false},       {"columns", 2, {6, 5}, 0, false},
        {"a vector", 1, {10}, 0, false},      {"the middle", 3, {2, 4, 3}, 1, false},
        {"no elements", 2, {0, 2}, 1, false}, {"an odd size", 2, {4, 3}, 1, true},
        {"no such dim", 2, {4, 2}, 2, true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        oi_sample *s = oi_sample_new(out, cases[k].what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        oi_layout layout = k % 3 == 1 ? OI_TRANSPOSED : k % 3 == 2 ? OI_GAPPED : OI_ROW;
        oi_arg_tensor(s, "self", oi_values(row, &r, d, cases[k].ndim, cases[k].sizes), layout);
        oi_arg_int(s, "dim", TN_FIELD_INT, cases[k].dim);
        s->error = cases[k].error;
    }
}

/* ---- prelu ----------------------------------------------------------------------------------- */
static int prelu(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self"), *w = oi_input(s, "weight");
    int64_t at[OI_DIMS];
    (void)row;
    results[0] = oi_array_new(x->dtype, x->ndim, x->sizes);
    for (int64_t i = 0; i < x->numel; i++) {
        oi_coords(x, i, at);
        oi_real slope = w->v[w->numel > 1 ? at[1] : 0].re, v = x->v[i].re;
        results[0].v[i] = oi_float(v > 0 ? v : slope * v);
    }
    return 1;
}

static void prelu_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const struct {
        const char *what;
        int ndim, weights; /* 0: one without a dimension */
        int64_t sizes[3];
        bool error;
    } cases[] = {
        {"one slope", 2, 1, {3, 4}, false},
        {"a slope per channel", 3, 4, {2, 4, 3}, false},
        {"a number", 1, 0, {7}, false},
        {"0-dim", 0, 0, {0}, false},
        {"rows of channels", 2, 5, {3, 5}, false},
        {"no elements", 3, 1, {1, 0, 3}, false},
        {"too many slopes", 2, 3, {3, 4}, true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        oi_sample *s = oi_sample_new(out, cases[k].what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        const int64_t n = cases[k].weights;
        oi_arg_tensor(s, "self", oi_values(row, &r, d, cases[k].ndim, cases[k].sizes),
                      k % 2 ? OI_TRANSPOSED : OI_ROW);
        oi_arg_tensor(s, "weight", oi_values_in(&r, d, n > 0, &n, -1, 1), OI_ROW);
        s->error = cases[k].error;
    }
}

/* ---- log_sigmoid_forward --------------------------------------------------------------------- */
static int log_sigmoid(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "self");
    (void)row;
    results[0] = oi_array_new(x->dtype, x->ndim, x->sizes);
    results[1] = oi_array_new(x->dtype, x->ndim, x->sizes);
    for (int64_t i = 0; i < x->numel; i++) {
        oi_real v = x->v[i].re, tail = expl(-fabsl(v));
        results[0].v[i] = oi_float((v < 0 || isnan(v) ? v : 0) - log1pl(tail));
        results[1].v[i] = oi_float(tail);
    }
    return 2;
}

#define GATE(name, body, samples_)                                                                 \
    {                                                                                              \
        .op = name, .dtypes = FLOAT, .tolerance = "composed", .samples = samples_,                 \
        .reference = body, .operands = "self", .lo = -6, .hi = 6                                   \
    }

static const oi_row rows[] = {
    {.op = "threshold",
     .dtypes = INT | FLOAT,
     .tolerance = "exact",
     .element = threshold,
     .operands = "self threshold value",
     .samples = oi_elementwise_samples,
     .reference = oi_elementwise_reference},
    {.op = "threshold_backward",
     .dtypes = INT | FLOAT,
     .tolerance = "exact",
     .element = threshold_backward,
     .operands = "grad_output self threshold",
     .samples = oi_elementwise_samples,
     .reference = oi_elementwise_reference},
    GATE("glu", glu, glu_samples),
    GATE("prelu", prelu, prelu_samples),
    GATE("log_sigmoid_forward", log_sigmoid, oi_elementwise_samples),
};
const oi_rows oi_rows_gate = ROWS(rows);

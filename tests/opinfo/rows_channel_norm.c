/* rows_channel_norm.c - normalisation of channels: over the batch, over a sample, over groups; by
 * the input's own moments or by running ones. That running statistics are written, and what they
 * become, is tests/unit/plugins/composite/channel_norms.c's. */
#include "rows_impl.h"

#include <math.h>

enum { BATCH, NATIVE_BATCH, INSTANCE, GROUP, NATIVE_GROUP };

/* ---- reference ------------------------------------------------------------------------------- */
/* Elements that one mean is made of: those whose key (sample and channel, channel, or sample and
 * group) is the same. */
static int64_t key_of(const oi_row *row, const oi_array *x, int64_t groups, int64_t i)
{
    int64_t inner = x->numel / (x->sizes[0] * x->sizes[1]), c = i / inner % x->sizes[1];
    int64_t n = i / inner / x->sizes[1];
    switch (row->kind) {
    case INSTANCE:
        return n * x->sizes[1] + c;
    case GROUP:
    case NATIVE_GROUP:
        return n * groups + c / (x->sizes[1] / groups);
    default:
        return c;
    }
}

typedef struct moments {
    oi_real *mean, *size, *rstd;
} moments;

static moments own_moments(const oi_row *row, const oi_array *x, int64_t groups, int64_t keys,
                           oi_real eps)
{
    size_t bytes = (size_t)(keys + 1) * sizeof(oi_real);
    moments m = {oi_alloc(bytes), oi_alloc(bytes), oi_alloc(bytes)};
    oi_real n = (oi_real)x->numel / (oi_real)keys;
    for (int64_t i = 0; i < x->numel; i++) {
        int64_t k = key_of(row, x, groups, i);
        m.mean[k] += x->v[i].re / n;
        m.size[k] += fabsl(x->v[i].re) / n;
    }
    for (int64_t i = 0; i < x->numel; i++) {
        int64_t k = key_of(row, x, groups, i);
        oi_real apart = x->v[i].re - m.mean[k];
        m.rstd[k] += apart * apart / n;
    }
    for (int64_t k = 0; k < keys; k++)
        m.rstd[k] = 1 / sqrtl(m.rstd[k] + eps);
    return m;
}

static moments running_moments(const oi_row *row, const oi_sample *s, const oi_array *x,
                               int64_t keys, oi_real eps)
{
    size_t bytes = (size_t)(keys + 1) * sizeof(oi_real);
    moments m = {oi_alloc(bytes), oi_alloc(bytes), oi_alloc(bytes)};
    for (int64_t k = 0; k < keys; k++) {
        int64_t c = row->kind == INSTANCE ? k % x->sizes[1] : k;
        m.mean[k] = oi_input(s, "running_mean")->v[c].re;
        m.size[k] = fabsl(m.mean[k]);
        m.rstd[k] = 1 / sqrtl(oi_input(s, "running_var")->v[c].re + eps);
    }
    return m;
}

static oi_array of_moments(const oi_array *x, const oi_real *v, const oi_real *size, int ndim,
                           const int64_t *sizes)
{
    oi_array a = oi_array_new(x->dtype, ndim, sizes);
    oi_array_mags(&a);
    for (int64_t k = 0; k < a.numel; k++) {
        a.v[k] = oi_float(v[k]);
        a.mag[k] = size ? size[k] : fabsl(v[k]);
    }
    return a;
}

static int reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "input"), *weight = oi_input(s, "weight");
    const oi_array *bias = oi_input(s, "bias");
    bool by_group = row->kind == GROUP || row->kind == NATIVE_GROUP;
    const char *flag = row->kind == INSTANCE ? "use_input_stats" : "training";
    const char *name = row->kind == GROUP ? "num_groups" : "group";
    int64_t own = by_group || oi_get_int(s, flag, 0), channels = x->sizes[1];
    int64_t groups = by_group ? oi_get_int(s, name, 1) : 1;
    int64_t keys = by_group                ? x->sizes[0] * groups
                   : row->kind == INSTANCE ? x->sizes[0] * channels
                                           : channels;
    oi_real eps = 1e-5L;
    moments m = own ? own_moments(row, x, groups, keys, eps)
                    : running_moments(row, s, x, keys, eps);
    results[0] = oi_array_new(x->dtype, x->ndim, x->sizes);
    oi_array_mags(&results[0]);
    for (int64_t i = 0; i < x->numel; i++) {
        int64_t k = key_of(row, x, groups, i);
        int64_t c = i / (x->numel / (x->sizes[0] * channels)) % channels;
        oi_real w = weight ? weight->v[c].re : 1, b = bias ? bias->v[c].re : 0;
        results[0].v[i] = oi_float((x->v[i].re - m.mean[k]) * m.rstd[k] * w + b);
        results[0].mag[i] = (fabsl(x->v[i].re) + m.size[k]) * m.rstd[k] * fabsl(w) + fabsl(b);
    }
    const int64_t of_batch[] = {own ? channels : 0}, of_groups[] = {x->sizes[0], groups};
    int ndim = by_group ? 2 : 1;
    const int64_t *sizes = by_group ? of_groups : of_batch;
    results[1] = of_moments(x, m.mean, m.size, ndim, sizes);
    results[2] = of_moments(x, m.rstd, NULL, ndim, sizes);
    return row->kind == NATIVE_BATCH || row->kind == NATIVE_GROUP ? 3 : 1;
}

/* ---- samples --------------------------------------------------------------------------------- */
static void add_statistics(const oi_row *row, oi_sample *s, oi_rng *r, tn_dtype d, int64_t channels,
                           bool given, bool own)
{
    oi_array mean = oi_values(row, r, d, 1, &channels);
    oi_array var = oi_values_in(r, d, 1, &channels, 0.5, 4);
    oi_arg_tensor(s, "running_mean", mean, OI_ROW)->absent = !given;
    oi_arg_tensor(s, "running_var", var, OI_ROW)->absent = !given;
    oi_arg_int(s, row->kind == INSTANCE ? "use_input_stats" : "training", TN_FIELD_BOOL, own);
    oi_arg_scalar(s, "momentum", tn_scalar_float(0.25));
    oi_arg_scalar(s, "eps", tn_scalar_float(1e-5));
    if (row->kind != NATIVE_BATCH)
        oi_arg_int(s, "cudnn_enabled", TN_FIELD_BOOL, 0);
}

static void add_groups(const oi_row *row, oi_sample *s, const oi_array *x, int64_t groups)
{
    if (row->kind == NATIVE_GROUP) {
        oi_arg_int(s, "N", TN_FIELD_INT, x->sizes[0]);
        oi_arg_int(s, "C", TN_FIELD_INT, x->sizes[1]);
        oi_arg_int(s, "HxW", TN_FIELD_INT, x->numel / (x->sizes[0] * x->sizes[1]));
    }
    oi_arg_int(s, row->kind == GROUP ? "num_groups" : "group", TN_FIELD_INT, groups);
    oi_arg_scalar(s, "eps", tn_scalar_float(1e-5));
}

static void samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const struct {
        const char *what;
        int ndim;
        int64_t sizes[4];
        bool own, given, factors;
        int64_t groups;
        bool error;
    } cases[] = {
        {"a sequence", 3, {3, 4, 5}, true, false, false, 2, false},
        {"weight and bias", 4, {2, 4, 2, 3}, true, false, true, 4, false},
        {"running statistics", 3, {4, 2, 3}, true, true, true, 1, false},
        {"by running statistics", 3, {2, 6, 3}, false, true, true, 3, false},
        {"a volume", 4, {2, 2, 3, 5}, true, true, false, 2, false},
        {"many", 3, {6, 3, 7}, true, false, true, 3, false},
        {"5 groups, or no statistics to use", 3, {2, 6, 3}, false, false, true, 5, true},
    };
    bool by_group = row->kind == GROUP || row->kind == NATIVE_GROUP;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        oi_sample *s = oi_sample_new(out, cases[k].what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        oi_array x = oi_values(row, &r, d, cases[k].ndim, cases[k].sizes);
        const int64_t channels = x.sizes[1];
        oi_array weight = oi_values(row, &r, d, 1, &channels), bias = weight;
        bias = oi_values(row, &r, d, 1, &channels);
        oi_arg_tensor(s, "input", x, k % 3 == 1 ? OI_TRANSPOSED : k % 3 == 2 ? OI_GAPPED : OI_ROW);
        oi_arg_tensor(s, "weight", weight, OI_ROW)->absent = !cases[k].factors;
        oi_arg_tensor(s, "bias", bias, OI_ROW)->absent = !cases[k].factors;
        if (by_group)
            add_groups(row, s, &x, cases[k].groups);
        else
            add_statistics(row, s, &r, d, channels, cases[k].given, cases[k].own);
        s->error = cases[k].error;
    }
}

#define NORM(name, which)                                                                          \
    {                                                                                              \
        .op = name, .dtypes = FLOAT, .tolerance = "moment", .kind = which, .lo = -4, .hi = 4,      \
        .samples = samples, .reference = reference                                                 \
    }

static const oi_row rows[] = {
    NORM("batch_norm", BATCH),
    NORM("native_batch_norm", NATIVE_BATCH),
    NORM("instance_norm", INSTANCE),
    NORM("group_norm", GROUP),
    NORM("native_group_norm", NATIVE_GROUP),
};
const oi_rows oi_rows_channel_norm = ROWS(rows);

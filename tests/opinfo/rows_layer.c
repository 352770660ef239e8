/* rows_layer.c - normalisation of layers. */
#include "rows_impl.h"

#include <math.h>

static int reference(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_array *x = oi_input(s, "input"), *weight = oi_input(s, "weight");
    const oi_array *bias = oi_input(s, "bias");
    const oi_arg *shape = oi_find(s, "normalized_shape");
    int64_t sizes[OI_DIMS], n = 1, lead = x->ndim - shape->n;
    for (int d = 0; d < x->ndim; d++) {
        n *= d < lead ? 1 : x->sizes[d];
        sizes[d] = d < lead ? x->sizes[d] : 1;
    }
    results[0] = oi_array_new(x->dtype, x->ndim, x->sizes);
    results[1] = oi_array_new(x->dtype, x->ndim, sizes);
    results[2] = oi_array_new(x->dtype, x->ndim, sizes);
    oi_array_mags(&results[0]);
    oi_array_mags(&results[1]);
    for (int64_t i = 0; i < results[1].numel; i++) {
        const oi_num *v = &x->v[i * n];
        oi_real mean = 0, var = 0, size = 0;
        for (int64_t k = 0; k < n; k++)
            mean += v[k].re / n, size += fabsl(v[k].re) / n;
        for (int64_t k = 0; k < n; k++)
            var += (v[k].re - mean) * (v[k].re - mean) / n;
        oi_real rstd = 1 / sqrtl(var + 1e-5L);
        results[1].v[i] = oi_float(mean);
        results[1].mag[i] = size;
        results[2].v[i] = oi_float(rstd);
        for (int64_t k = 0; k < n; k++) {
            oi_real w = weight ? weight->v[k].re : 1, b = bias ? bias->v[k].re : 0;
            results[0].v[i * n + k] = oi_float((v[k].re - mean) * rstd * w + b);
            results[0].mag[i * n + k] = (fabsl(v[k].re) + size) * rstd * fabsl(w) + fabsl(b);
        }
    }
    return row->kind ? 3 : 1;
}

static void samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed)
{
    static const struct {
        const char *what;
        int ndim, n;
        int64_t sizes[3], shape[2];
        bool factors, error;
    } cases[] = {
        {"rows", 2, 1, {4, 6}, {6}, false, false},
        {"weight and bias", 3, 1, {2, 3, 5}, {5}, true, false},
        {"two dims", 3, 2, {2, 3, 4}, {3, 4}, true, false},
        {"everything", 2, 2, {3, 4}, {3, 4}, false, false},
        {"a long row", 2, 1, {2, 131}, {131}, true, false},
        {"another shape", 2, 1, {4, 6}, {5}, false, true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        oi_sample *s = oi_sample_new(out, cases[k].what);
        oi_rng r = oi_rng_make(seed, row->op, d, s->number);
        oi_arg_tensor(s, "input", oi_values(row, &r, d, cases[k].ndim, cases[k].sizes),
                      k % 2 ? OI_TRANSPOSED : OI_ROW);
        oi_arg_ints(s, "normalized_shape", cases[k].n, cases[k].shape);
        if (cases[k].factors) {
            oi_arg_tensor(s, "weight", oi_values(row, &r, d, cases[k].n, cases[k].shape), OI_ROW);
            oi_arg_tensor(s, "bias", oi_values(row, &r, d, cases[k].n, cases[k].shape), OI_ROW);
        }
        oi_arg_scalar(s, "eps", tn_scalar_float(1e-5));
        s->error = cases[k].error;
    }
}

#define LAYER(name, which)                                                                         \
    {                                                                                              \
        .op = name, .dtypes = FLOAT, .tolerance = "moment", .kind = which, .lo = -4, .hi = 4,      \
        .samples = samples, .reference = reference                                                 \
    }

static const oi_row rows[] = {LAYER("layer_norm", 0), LAYER("native_layer_norm", 1)};
const oi_rows oi_rows_layer = ROWS(rows);

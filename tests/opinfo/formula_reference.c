/* formula_reference.c - a formula, or the operator itself in double precision, as a reference.
 *
 * Three kinds of runs: with the sample's own dtypes on meta, for the results' dtypes and shapes;
 * in double precision, for their values; and again with noise, for how far rounding may carry each
 * element: a limit counts in last places of that (`mag`), so that what cancels is not blamed on a
 * kernel. Layouts are for the operator alone: here everything is row-major. */
#include "generic.h"

#include <math.h>
#include <string.h>

#include "formula.h"

enum { NOISY = 4 };
static const double noise = 0x1p-30;

static char failure[OI_TEXT];

const char *oi_reference_failure(void)
{
    return failure;
}

/* ---- one run --------------------------------------------------------------------------------- */
typedef struct run {
    const oi_row *row;
    const oi_sample *sample;
    tn_device device;
    bool wide;
    double noise;
    uint64_t seed;
} run;

static int read_list(oi_formula *f, const oi_value *v, oi_array *out, int n)
{
    if (v->kind == OI_VALUE_LIST) {
        for (int64_t i = 0; i < v->n && n >= 0; i++)
            n = read_list(f, &v->items[i], out, n);
        return n;
    }
    char why[OI_TEXT];
    if (f->failed)
        return -1;
    if (v->kind != OI_VALUE_TENSOR || n == OI_RESULTS || !oi_read(v->tensor, &out[n], why)) {
        oi_formula_fail(f, 0, "the reference gives %s",
                        v->kind != OI_VALUE_TENSOR ? "something that is no Tensor"
                        : n == OI_RESULTS          ? "too many Tensors"
                                                   : why);
        return -1;
    }
    return n + 1;
}

/* How many results; -1: it failed, and `failure` says how. */
static int evaluate(const run *r, oi_array *out)
{
    const oi_generic *g = r->row->data;
    oi_call call;
    failure[0] = '\0';
    if (!oi_call_make(&call, g->op, r->sample, r->device, NULL, failure))
        return -1;
    oi_formula f = {.text = g->formula ? &g->entry->reference : NULL,
                    .file = g->formula ? g->entry->file->name : NULL,
                    .op = g->op,
                    .call = &call,
                    .device = r->device,
                    .wide = r->wide,
                    .noise = r->noise,
                    .rng = oi_rng_make(r->seed, "noise", 0, r->sample->number)};
    oi_value v = g->formula ? oi_formula_evaluate(&f, g->formula) : oi_formula_itself(&f);
    int n = read_list(&f, &v, out, 0);
    if (f.failed)
        snprintf(failure, sizeof failure, "%s", f.why);
    oi_formula_free(&f);
    oi_call_free(&call);
    return f.failed ? -1 : n;
}

/* ---- samples --------------------------------------------------------------------------------- */
/* In double precision; integers, too, where the results are floating: they are computed so. */
static oi_sample widened(const oi_sample *s, bool integers)
{
    oi_sample wide = *s;
    for (int k = 0; k < wide.n_args; k++) {
        oi_arg *a = &wide.args[k];
        if (a->kind != TN_FIELD_TENSOR && a->kind != TN_FIELD_TENSORS)
            continue;
        oi_tensor *list = oi_alloc((size_t)(a->n + 1) * sizeof *list);
        for (int64_t i = 0; i < a->n; i++) {
            oi_tensor *t = &list[i];
            *t = a->tensors[i];
            tn_dtype d = t->a.dtype;
            t->layout = OI_ROW;
            if (!t->absent && !t->fixed && (!oi_is_integral(d) || integers))
                t->a = oi_array_cast(&t->a, oi_is_complex(d) ? TN_C128 : TN_F64);
        }
        a->tensors = list;
    }
    return wide;
}

static bool any_floating(const oi_array *a, int n)
{
    for (int k = 0; k < n; k++)
        if (!oi_is_integral(a[k].dtype))
            return true;
    return false;
}

/* ---- the reference --------------------------------------------------------------------------- */
static bool is_same_shape(const oi_array *a, const oi_array *b)
{
    return a->ndim == b->ndim &&
           memcmp(a->sizes, b->sizes, (size_t)a->ndim * sizeof *a->sizes) == 0;
}

static oi_real distance(const oi_num *a, const oi_num *b)
{
    return hypotl(a->re - b->re, a->im - b->im);
}

/* The largest of a few deviations, in units of the noise, twice over. */
static void set_mags(const run *wide, oi_array *results, int n)
{
    oi_array moved[OI_RESULTS];
    for (int k = 0; k < n; k++)
        oi_array_mags(&results[k]);
    for (int i = 0; i < NOISY; i++) {
        run noisy = *wide;
        noisy.noise = noise;
        noisy.seed = (uint64_t)i;
        if (evaluate(&noisy, moved) != n)
            return;
        for (int k = 0; k < n; k++)
            for (int64_t j = 0; is_same_shape(&moved[k], &results[k]) && j < moved[k].numel; j++) {
                oi_real size = hypotl(results[k].v[j].re, results[k].v[j].im);
                oi_real mag = size + 2 * distance(&moved[k].v[j], &results[k].v[j]) / noise;
                if (isfinite(mag) && mag > results[k].mag[j])
                    results[k].mag[j] = mag;
            }
    }
}

static int refuse(const char *what)
{
    snprintf(failure, sizeof failure, "%s", what);
    return -1;
}

int oi_formula_values(const oi_row *row, const oi_sample *s, oi_array *results)
{
    const oi_generic *g = row->data;
    const tn_device host = {TN_CPU, -1}, meta = {TN_META, -1};
    oi_array own[OI_RESULTS];
    run narrow = {.row = row, .sample = s, .device = g->formula ? meta : host};
    int n = evaluate(&narrow, own);
    if (n < 0 && g->formula) { /* what has no kernel there may have one here */
        narrow.device = host;
        n = evaluate(&narrow, own);
    }
    if (n < 0)
        return -1;
    oi_sample sample = widened(s, any_floating(own, n));
    run wide = {.row = row, .sample = &sample, .device = host, .wide = true};
    if (evaluate(&wide, results) != n)
        return *failure ? -1 : refuse("the reference gives other results in double precision");
    set_mags(&wide, results, n);
    for (int k = 0; k < n; k++) {
        if (!is_same_shape(&own[k], &results[k]))
            return refuse("the reference gives another shape in double precision");
        if (oi_is_integral(own[k].dtype))
            results[k] = oi_array_cast(&results[k], own[k].dtype);
        results[k].dtype = own[k].dtype;
    }
    return n;
}

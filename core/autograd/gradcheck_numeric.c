/* gradcheck_numeric.c - derivatives from values: central differences, and complex steps.
 *
 * D(h) = (f(x + hu) - f(x - hu)) / 2h is off by a series in h^2. From D(h), D(rh), D(r^2 h) come two
 * values without its first term; the later one is the result, and the distance between them, which
 * is many times its error, is the estimate, together with what rounding does to a difference over
 * so small a step. Where the distance is large, a kink or a pole lies within h: h shrinks, and each
 * output keeps the value with the least error. r is no simple fraction, so that a staircase (floor
 * of something steep), whose D is a whole number of steps over 2h, is not taken for its slope. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/autograd/gradcheck_impl.h"

enum { LEVELS = 3, ATTEMPTS = 6 };
static const double first_step = 0x1p-9, ratio = 0.5477, shrink = 0x1p-3;

/* ---- values ---------------------------------------------------------------------------------- */
double *tn__check_reals(tn__check *c, int64_t n)
{
    double *v = tn__arena_alloc(&c->arena, (size_t)(n + 1) * sizeof *v);
    if (!v)
        tn__fail_memory(NULL, (size_t)(n + 1) * sizeof *v);
    return v;
}

static tn_status note_outputs(tn__check *c, tn_tensor *const *outputs)
{
    for (int64_t k = 0; k < c->n_outputs; k++) {
        c->parts[k] = !tn__flat_has(outputs[k]) ? 0 : outputs[k]->dtype == TN_C128 ? 2 : 1;
        c->first[k + 1] = c->first[k] + (tn__flat_has(outputs[k]) ? tn__flat_count(outputs[k]) : 0);
    }
    int64_t m = c->first[c->n_outputs];
    c->y = tn__check_reals(c, m);
    for (int i = 0; i < 5; i++)
        if (!(c->work[i] = tn__check_reals(c, i < 4 ? m : 2 * m)))
            return TN_ERR_MEMORY;
    return c->y ? TN_OK : TN_ERR_MEMORY;
}

static tn_status read_outputs(tn__check *c, tn_tensor *const *outputs, double *y)
{
    for (int64_t k = 0; k < c->n_outputs; k++) {
        int64_t n = tn__flat_has(outputs[k]) ? tn__flat_count(outputs[k]) : 0;
        if (n != c->first[k + 1] - c->first[k])
            return tn__fail(NULL, TN_ERR_ARGUMENT,
                            "%s: output %lld has another size or dtype for other values of the "
                            "inputs",
                            c->name, (long long)k);
        if (n)
            tn__flat_read(outputs[k], y + c->first[k]);
    }
    return TN_OK;
}

tn_status tn__check_evaluate(tn__check *c, tn_tensor **inputs, double *y)
{
    tn_tensor *outputs[c->n_outputs + 1];
    tn_status status = TN_OK;
    memset(outputs, 0, sizeof outputs);
    TN_NO_GRAD
        status =
            c->f(c->data, (tn_tensors){inputs, c->inputs.len}, (tn_tensors){outputs, c->n_outputs});
    if (status == TN_OK && !y)
        status = note_outputs(c, outputs);
    if (status == TN_OK)
        status = read_outputs(c, outputs, y ? y : c->y);
    for (int64_t k = 0; k < c->n_outputs; k++)
        tn_release(outputs[k]);
    return status;
}

/* ---- differences ----------------------------------------------------------------------------- */
typedef struct direction {
    int64_t i, n; /* of input i; its reals */
    const double *u;
    double size; /* of the input where u is not 0 */
} direction;

static tn_status at(tn__check *c, const direction *w, double t, double *y)
{
    double *moved = c->moved;
    for (int64_t j = 0; j < w->n; j++)
        moved[j] = c->x[w->i][j] + t * w->u[j];
    tn__flat_write(c->copies[w->i], moved);
    tn_status status = tn__check_evaluate(c, c->copies, y);
    tn__flat_write(c->copies[w->i], c->x[w->i]);
    return status;
}

static tn_status difference(tn__check *c, const direction *w, double h, double *d)
{
    int64_t m = c->first[c->n_outputs];
    double *back = c->work[3];
    TN__TRY(at(c, w, h, d));
    TN__TRY(at(c, w, -h, back));
    for (int64_t k = 0; k < m; k++)
        d[k] = (d[k] - back[k]) / (2 * h);
    return TN_OK;
}

/* The largest value of the output that real k belongs to: what its terms may have been. */
static double scale_of(const tn__check *c, int64_t output)
{
    double most = DBL_MIN;
    for (int64_t k = c->first[output]; k < c->first[output + 1]; k++)
        most = fmax(most, fabs(c->y[k]));
    return most;
}

static double without_square(double d, double nearer)
{
    return (nearer - ratio * ratio * d) / (1 - ratio * ratio);
}

/* Takes what is better than before; true: all of it is good. A real that does not move at all is
 * rounded at its own size; one that does may be a sum of terms as large as its neighbours. */
static bool keep_better(const tn__check *c, const direction *w, double h, double *const *levels,
                        double *d, double *error)
{
    bool good = true;
    for (int64_t o = 0; o < c->n_outputs; o++) {
        double scale = scale_of(c, o);
        for (int64_t k = c->first[o]; k < c->first[o + 1]; k++) {
            double coarse = without_square(levels[0][k], levels[1][k]),
                   fine = without_square(levels[1][k], levels[2][k]);
            bool still = levels[0][k] == 0 && levels[1][k] == 0 && levels[2][k] == 0;
            double noise = 16 * DBL_EPSILON / h *
                           (still ? fabs(c->y[k]) : scale + w->size * fabs(fine));
            double e = fabs(fine - coarse) + noise;
            if (e < error[k]) {
                error[k] = e;
                d[k] = fine;
            }
            good = good && error[k] <= fmax(1e-8 * fabs(d[k]), 8 * noise);
        }
    }
    return good;
}

static tn_status by_differences(tn__check *c, const direction *w, double *d, double *error)
{
    int64_t m = c->first[c->n_outputs];
    double h = (c->o.step > 0 ? c->o.step : first_step) * fmax(1, w->size);
    for (int64_t k = 0; k < m; k++) {
        d[k] = 0;
        error[k] = INFINITY;
    }
    for (int attempt = 0; attempt < ATTEMPTS; attempt++, h *= shrink) {
        for (int l = 0; l < LEVELS; l++)
            TN__TRY(difference(c, w, h * pow(ratio, l), c->work[l]));
        if (keep_better(c, w, h * ratio * ratio, c->work, d, error))
            break;
    }
    return TN_OK;
}

/* ---- complex steps --------------------------------------------------------------------------- */
/* Im f(x + i h u) / h for all outputs; false: f does not take complex numbers, or gives others. */
static bool step_of(tn__check *c, const direction *w, double h, tn_tensor **inputs, double *d)
{
    tn_tensor *outputs[c->n_outputs + 1];
    tn_status status = TN_OK;
    double *imaginary = inputs[w->i]->data;
    for (int64_t j = 0; j < w->n; j++)
        imaginary[2 * j + 1] = h * w->u[j];
    memset(outputs, 0, sizeof outputs);
    TN_NO_GRAD
        status =
            c->f(c->data, (tn_tensors){inputs, c->inputs.len}, (tn_tensors){outputs, c->n_outputs});
    bool ok = status == TN_OK;
    for (int64_t o = 0; o < c->n_outputs; o++) {
        int64_t n = c->first[o + 1] - c->first[o];
        ok = ok && (n == 0 || (tn__flat_has(outputs[o]) && outputs[o]->dtype == TN_C128 &&
                               outputs[o]->numel == n));
        double *both = c->work[4];
        if (ok && n)
            tn__flat_read(outputs[o], both);
        for (int64_t k = 0; ok && k < n; k++)
            d[c->first[o] + k] = both[2 * k + 1] / h;
        tn_release(outputs[o]);
    }
    return ok;
}

static bool make_complex(tn__check *c, tn_tensor **inputs)
{
    for (int64_t i = 0; i < c->inputs.len; i++) {
        inputs[i] = c->copies[i];
        if (!c->x[i])
            continue;
        if (c->copies[i]->dtype != TN_F64 ||
            tn__flat_complex(c->copies[i], c->x[i], NULL, &inputs[i]) != TN_OK) {
            inputs[i] = NULL;
            return false;
        }
    }
    return true;
}

/* Where two tiny steps agree, and with the difference too, they say it nearly without error. */
static void by_complex_steps(tn__check *c, const direction *w, double *d, double *error)
{
    int64_t m = c->first[c->n_outputs];
    double *one = c->work[0], *two = c->work[1];
    tn_tensor *inputs[c->inputs.len + 1];
    memset(inputs, 0, sizeof inputs);
    bool ok = make_complex(c, inputs) && step_of(c, w, 0x1p-80, inputs, one) &&
              step_of(c, w, 0x1p-90, inputs, two);
    for (int64_t k = 0; ok && k < m; k++) {
        double e = fabs(one[k] - two[k]) + 16 * DBL_EPSILON * fabs(two[k]);
        if (e < error[k] && fabs(two[k] - d[k]) <= error[k]) {
            d[k] = two[k];
            error[k] = e;
        }
    }
    for (int64_t i = 0; i < c->inputs.len; i++)
        if (inputs[i] != c->copies[i])
            tn_release(inputs[i]);
    tn_error_clear(); /* f's refusal is no failure */
}

tn_status tn__check_numeric(tn__check *c, int64_t i, const double *u, double *d, double *error)
{
    direction w = {.i = i, .n = tn__flat_count(c->copies[i]), .u = u};
    for (int64_t j = 0; j < w.n; j++)
        if (u[j] != 0)
            w.size = fmax(w.size, fabs(c->x[i][j]));
    TN__TRY(by_differences(c, &w, d, error));
    bool real = true;
    for (int64_t o = 0; o < c->n_outputs; o++)
        real = real && c->parts[o] != 2;
    if (c->o.complex_step && real)
        by_complex_steps(c, &w, d, error);
    return TN_OK;
}

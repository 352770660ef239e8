/* gradcheck_backward.c - derivatives by backward against those by differences.
 *
 * Fast mode compares two projections: with u of the inputs and v of the outputs chosen at random,
 * (v J) u by backward is v (J u) by differences. A wrong element of J shows in it whatever its
 * place; then slow mode, which compares every element, says which it is. Each output is pulled
 * back alone, so that the gradients of the others are undefined. */
#include <math.h>
#include <string.h>

#include "core/autograd/gradcheck_impl.h"

enum { MOST_SLOW = 1 << 22, MOST_SEARCHED = 1 << 18 }; /* elements of a Jacobian */

/* ---- gradients -------------------------------------------------------------------------------- */
typedef struct analytic {
    tn_tensor **outputs; /* with their graph */
    tn_tensor **inputs;  /* those checked, [n] */
    int64_t *which;      /* their places */
    int64_t n;
    double **grads; /* [n]: of the cotangent last asked for */
} analytic;

static TN_COLD tn_status wrong_form(tn__check *c, const analytic *a, int64_t i, int64_t output,
                                    const tn_tensor *grad)
{
    char got[TN__SHAPE_CHARS], want[TN__SHAPE_CHARS];
    const tn_tensor *t = a->inputs[i];
    snprintf(c->report->message, sizeof c->report->message,
             "%s: the gradient of output %lld for input %lld is %s %s, the input %s %s", c->name,
             (long long)output, (long long)a->which[i], tn__dtype_name(grad->dtype),
             tn__shape_text(got, grad->ndim, grad->sizes), tn__dtype_name(t->dtype),
             tn__shape_text(want, t->ndim, t->sizes));
    return tn__fail(NULL, TN_ERR_AUTOGRAD, "%s", c->report->message);
}

static tn_status read_grad(tn__check *c, analytic *a, int64_t i, int64_t output,
                           const tn_tensor *grad)
{
    const tn_tensor *t = a->inputs[i];
    if (!grad) {
        memset(a->grads[i], 0, (size_t)tn__flat_count(t) * sizeof(double));
        return TN_OK;
    }
    bool same = grad->ndim == t->ndim && grad->dtype == t->dtype && tn__flat_has(grad);
    for (int d = 0; same && d < t->ndim; d++)
        same = grad->sizes[d] == t->sizes[d];
    if (!same)
        return wrong_form(c, a, i, output, grad);
    tn__flat_read(grad, a->grads[i]);
    return TN_OK;
}

/* v J for output k alone: the gradients of the others are undefined. */
static tn_status pull(tn__check *c, analytic *a, int64_t k, const double *v)
{
    tn_tensor *cotangent, *grads[a->n + 1];
    static const tn_backward_options options = {.keep_graph = true, .allow_unused = true};
    tn_status status = TN_OK;
    memset(grads, 0, sizeof grads);
    if (tn_requires_grad(a->outputs[k])) {
        TN__TRY(tn_tensor_new(a->outputs[k]->ndim, a->outputs[k]->sizes, a->outputs[k]->dtype,
                              a->outputs[k]->device, &cotangent));
        tn__flat_write(cotangent, v);
        status = tn_grad_of((tn_tensors){&a->outputs[k], 1}, &(tn_tensors){&cotangent, 1},
                            (tn_tensors){a->inputs, a->n}, &options, grads);
        tn_release(cotangent);
    }
    for (int64_t i = 0; i < a->n; i++) {
        if (status == TN_OK)
            status = read_grad(c, a, i, k, grads[i]);
        tn_release(grads[i]);
    }
    return status;
}

/* ---- slow mode ------------------------------------------------------------------------------- */
/* One output's part of the Jacobian of one input, both ways. */
static tn_status search(tn__check *c, analytic *a, int64_t i, int64_t k)
{
    int64_t m = c->first[c->n_outputs], at = c->first[k], rows = c->first[k + 1] - at,
            n = tn__flat_count(a->inputs[i]);
    double *u = tn__check_reals(c, n), *d = tn__check_reals(c, n * m),
           *error = tn__check_reals(c, n * m), *v = tn__check_reals(c, rows);
    if (!u || !d || !error || !v)
        return TN_ERR_MEMORY;
    for (int64_t j = 0; j < n; j++) {
        u[j] = 1;
        TN__TRY(tn__check_numeric(c, a->which[i], u, d + j * m, error + j * m));
        u[j] = 0;
    }
    for (int64_t row = 0; row < rows; row++) {
        v[row] = 1;
        TN__TRY(pull(c, a, k, v));
        v[row] = 0;
        for (int64_t j = 0; j < n; j++) {
            tn__place_checked p = {"backward", a->which[i], k, j, row};
            TN__TRY(tn__check_judge(c, &p, a->grads[i][j], d[j * m + at + row],
                                    error[j * m + at + row],
                                    tn__check_largest(d + j * m + at, rows)));
        }
    }
    return TN_OK;
}

static tn_status backward_slow(tn__check *c, analytic *a)
{
    int64_t m = c->first[c->n_outputs];
    for (int64_t i = 0; i < a->n; i++) {
        int64_t n = tn__flat_count(a->inputs[i]);
        if (m && n > MOST_SLOW / m)
            return tn__fail(NULL, TN_ERR_ARGUMENT,
                            "%s: slow mode on %lld outputs by %lld inputs; the most is %d "
                            "elements: use fast mode",
                            c->name, (long long)m, (long long)n, MOST_SLOW);
        for (int64_t k = 0; k < c->n_outputs; k++)
            if (c->first[k + 1] > c->first[k] && n)
                TN__TRY(search(c, a, i, k));
    }
    return TN_OK;
}

/* ---- fast mode ------------------------------------------------------------------------------- */
typedef struct projection { /* of one input */
    double *u, *d, *error;
} projection;

static tn_status project(tn__check *c, const analytic *a, int64_t i, projection *p)
{
    int64_t m = c->first[c->n_outputs];
    p->u = tn__check_random_reals(c, tn__flat_count(a->inputs[i]));
    p->d = tn__check_reals(c, m);
    p->error = tn__check_reals(c, m);
    if (!p->u || !p->d || !p->error)
        return TN_ERR_MEMORY;
    return tn__check_numeric(c, a->which[i], p->u, p->d, p->error);
}

static tn_status compare_projection(tn__check *c, analytic *a, int64_t i, int64_t k,
                                    const projection *p, const double *v)
{
    int64_t at = c->first[k], rows = c->first[k + 1] - at, n = tn__flat_count(a->inputs[i]);
    double size, terms, error = 0;
    double analytic = tn__check_product(a->grads[i], p->u, n, &terms),
           numeric = tn__check_product(v, p->d + at, rows, &size);
    c->pulled[a->which[i] * c->n_outputs + k] = analytic;
    for (int64_t row = 0; row < rows; row++)
        error += fabs(v[row]) * p->error[at + row];
    tn__place_checked where = {"backward", a->which[i], k, -1, -1};
    tn_status status = tn__check_judge(c, &where, analytic, numeric, error, fmax(size, terms));
    if (status != TN_ERR_AUTOGRAD || n * c->first[c->n_outputs] > MOST_SEARCHED)
        return status;
    tn_gradcheck_report of_projection = *c->report;
    status = search(c, a, i, k);
    if (status == TN_OK) { /* each element is within its limit; what they add up to is not */
        *c->report = of_projection;
        status = tn__fail(NULL, TN_ERR_AUTOGRAD, "%s", of_projection.message);
    }
    return status;
}

static tn_status backward_fast(tn__check *c, analytic *a)
{
    projection p[a->n + 1];
    for (int64_t i = 0; i < a->n; i++)
        TN__TRY(project(c, a, i, &p[i]));
    for (int64_t k = 0; k < c->n_outputs; k++) {
        double *v = tn__check_random_reals(c, c->first[k + 1] - c->first[k]);
        if (!v)
            return TN_ERR_MEMORY;
        if (!c->parts[k])
            continue;
        TN__TRY(pull(c, a, k, v));
        for (int64_t i = 0; i < a->n; i++)
            TN__TRY(compare_projection(c, a, i, k, &p[i], v));
        c->v[k] = v;
    }
    for (int64_t i = 0; i < a->n; i++)
        c->u[a->which[i]] = p[i].u;
    return TN_OK;
}

tn_status tn__check_backward(tn__check *c)
{
    tn_tensor *outputs[c->n_outputs + 1], *inputs[c->inputs.len + 1];
    int64_t which[c->inputs.len + 1];
    double *grads[c->inputs.len + 1];
    analytic a = {outputs, inputs, which, 0, grads};
    tn_status status = TN_OK;
    memset(outputs, 0, sizeof outputs);
    for (int64_t i = 0; i < c->inputs.len; i++)
        if (c->x[i]) {
            which[a.n] = i;
            inputs[a.n] = c->inputs.data[i];
            if (!(grads[a.n++] = tn__check_reals(c, tn__flat_count(c->inputs.data[i]))))
                return TN_ERR_MEMORY;
        }
    TN_ENABLE_GRAD
        status = c->f(c->data, c->inputs, (tn_tensors){outputs, c->n_outputs});
    if (status == TN_OK)
        status = c->o.slow ? backward_slow(c, &a) : backward_fast(c, &a);
    for (int64_t k = 0; k < c->n_outputs; k++)
        tn_release(outputs[k]);
    return status;
}

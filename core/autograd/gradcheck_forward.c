/* gradcheck_forward.c - tangents by forward mode against derivatives by differences, element by
 * element: both are J u. */
#include <math.h>
#include <string.h>

#include "core/autograd/gradcheck_impl.h"

/* J u for input i, into y. */
static tn_status push(tn__check *c, int64_t i, const double *u, double *y)
{
    tn_tensor *outputs[c->n_outputs + 1], *inputs[c->inputs.len + 1], *tangent;
    tn_status status;
    memset(outputs, 0, sizeof outputs);
    memcpy(inputs, c->copies, (size_t)c->inputs.len * sizeof *inputs);
    TN__TRY(tn__flat_like(c->copies[i], u, &tangent));
    status = tn_make_dual(c->copies[i], tangent, &inputs[i]);
    tn_release(tangent);
    TN__TRY(status);
    status =
        c->f(c->data, (tn_tensors){inputs, c->inputs.len}, (tn_tensors){outputs, c->n_outputs});
    for (int64_t k = 0; k < c->n_outputs; k++) {
        const tn_tensor *t = status == TN_OK ? tn_tangent_of(outputs[k]) : NULL;
        int64_t n = c->first[k + 1] - c->first[k];
        memset(y + c->first[k], 0, (size_t)n * sizeof *y);
        if (t && n && (!tn__flat_has(t) || tn__flat_count(t) != n))
            status = tn__fail(NULL, TN_ERR_AUTOGRAD,
                              "%s: the tangent of output %lld has another shape or dtype than it",
                              c->name, (long long)k);
        else if (t && n)
            tn__flat_read(t, y + c->first[k]);
    }
    for (int64_t k = 0; k < c->n_outputs; k++)
        tn_release(outputs[k]);
    tn_release(inputs[i]);
    return status;
}

typedef struct columns { /* J u by forward mode; by differences, with its error */
    double *jvp, *d, *error;
} columns;

static tn_status compare_tangents(tn__check *c, int64_t i, int64_t from, const double *u,
                                  const columns *to)
{
    double *jvp = to->jvp, *d = to->d, *error = to->error;
    TN__TRY(tn__check_numeric(c, i, u, d, error));
    TN__TRY(tn_forward_enter());
    tn_status status = push(c, i, u, jvp);
    tn_forward_leave();
    TN__TRY(status);
    for (int64_t k = 0; k < c->n_outputs; k++)
        for (int64_t row = c->first[k]; row < c->first[k + 1]; row++) {
            tn__place_checked p = {"forward mode", i, k, from, row - c->first[k]};
            TN__TRY(
                tn__check_judge(c, &p, jvp[row], d[row], error[row],
                                tn__check_largest(d + c->first[k], c->first[k + 1] - c->first[k])));
        }
    return TN_OK;
}

/* v (J u) by forward mode is (v J) u by backward, to the last places. */
static tn_status agree(tn__check *c, int64_t i, const double *jvp)
{
    for (int64_t k = 0; k < c->n_outputs; k++) {
        double size, backward = c->pulled[i * c->n_outputs + k];
        if (!c->v[k])
            continue;
        double forward =
            tn__check_product(c->v[k], jvp + c->first[k], c->first[k + 1] - c->first[k], &size);
        double limit = 0x1p-36 * fmax(size, fabs(backward)) + c->o.atol + c->o.rtol * size;
        c->report->compared++;
        if (fabs(forward - backward) <= limit)
            continue;
        c->report->input = i;
        c->report->output = k;
        c->report->input_element = c->report->output_element = -1;
        snprintf(c->report->message, sizeof c->report->message,
                 "%s: the derivative of a projection of output %lld by a projection of input %lld "
                 "is %.15g by forward mode, %.15g by backward",
                 c->name, (long long)k, (long long)i, forward, backward);
        return tn__fail(NULL, TN_ERR_AUTOGRAD, "%s", c->report->message);
    }
    return TN_OK;
}

tn_status tn__check_forward(tn__check *c)
{
    int64_t m = c->first[c->n_outputs];
    columns to = {tn__check_reals(c, m), tn__check_reals(c, m), tn__check_reals(c, m)};
    if (!to.jvp || !to.d || !to.error)
        return TN_ERR_MEMORY;
    for (int64_t i = 0; i < c->inputs.len; i++) {
        int64_t n = c->x[i] ? tn__flat_count(c->copies[i]) : 0;
        double *u = c->u[i] ? c->u[i] : tn__check_random_reals(c, n);
        if (!u)
            return TN_ERR_MEMORY;
        if (n)
            TN__TRY(compare_tangents(c, i, -1, u, &to));
        if (n && c->u[i])
            TN__TRY(agree(c, i, to.jvp));
        if (c->o.slow)
            memset(u, 0, (size_t)n * sizeof *u);
        for (int64_t j = 0; c->o.slow && j < n; j++) {
            u[j] = 1;
            TN__TRY(compare_tangents(c, i, j, u, &to));
            u[j] = 0;
        }
    }
    return TN_OK;
}

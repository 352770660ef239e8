/* gradcheck.c - the check as a whole: its inputs, the verdict on each pair of numbers, and the
 * report of what is wrong. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/autograd/gradcheck_impl.h"

/* ---- random numbers -------------------------------------------------------------------------- */
double tn__check_random(tn__check *c)
{
    uint64_t z = (c->random += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    double size = 0.5 + ldexp((double)(z >> 11), -53);
    return z & 1 ? -size : size;
}

double *tn__check_random_reals(tn__check *c, int64_t n)
{
    double *v = tn__check_reals(c, n);
    for (int64_t j = 0; v && j < n; j++)
        v[j] = tn__check_random(c);
    return v;
}

double tn__check_product(const double *v, const double *w, int64_t n, double *size)
{
    double sum = 0;
    *size = 0;
    for (int64_t j = 0; j < n; j++) {
        sum += v[j] * w[j];
        *size += fabs(v[j] * w[j]);
    }
    return sum;
}

double tn__check_largest(const double *v, int64_t n)
{
    double most = 0;
    for (int64_t j = 0; j < n; j++)
        most = fmax(most, fabs(v[j]));
    return most;
}

/* ---- judging --------------------------------------------------------------------------------- */
static const char *name_element(const tn__check *c, bool complex, int64_t real, char buf[80])
{
    (void)c;
    if (real < 0)
        snprintf(buf, 80, "a projection of");
    else if (complex)
        snprintf(buf, 80, "the %s part of element %lld of", real % 2 ? "imaginary" : "real",
                 (long long)(real / 2));
    else
        snprintf(buf, 80, "element %lld of", (long long)real);
    return buf;
}

static void note(tn__check *c, const tn__place_checked *p, double analytic, double numeric,
                 double error, double limit)
{
    tn_gradcheck_report *r = c->report;
    int in = c->copies[p->input]->dtype == TN_C128 ? 2 : 1, out = c->parts[p->output];
    r->input = p->input;
    r->output = p->output;
    r->input_element = p->from < 0 ? -1 : p->from / in;
    r->output_element = p->to < 0 ? -1 : p->to / out;
    r->analytic = analytic;
    r->numeric = numeric;
    r->error = error;
    r->limit = limit;
}

static TN_COLD tn_status blame(tn__check *c, const tn__place_checked *p, const char *what)
{
    char to[80], from[80];
    tn_gradcheck_report *r = c->report;
    snprintf(r->message, sizeof r->message,
             "%s: %s: the derivative of %s output %lld by %s input %lld is %.15g by %s, %.15g by "
             "differences (estimated error %.2g, granted %.2g)",
             c->name, what, name_element(c, c->parts[p->output] == 2, p->to, to),
             (long long)p->output,
             name_element(c, c->copies[p->input]->dtype == TN_C128, p->from, from),
             (long long)p->input, r->analytic, p->mode, r->numeric, r->error, r->limit);
    return tn__fail(NULL, TN_ERR_AUTOGRAD, "%s", r->message);
}

tn_status tn__check_judge(tn__check *c, const tn__place_checked *p, double analytic, double numeric,
                          double error, double size)
{
    size = fmax(size, fabs(numeric));
    double limit = 2 * error + 0x1p-42 * size + c->o.atol + c->o.rtol * size;
    double share = analytic == numeric ? 0 : fabs(analytic - numeric) / limit;
    c->report->compared++;
    bool wrong = !(share <= 1);
    bool vague = !(limit <= 1e-4 * fmax(1, fmax(size, fabs(analytic))));
    if (wrong || vague || share > c->report->nearest || c->report->compared == 1) {
        note(c, p, analytic, numeric, error, limit);
        c->report->nearest = share;
    }
    if (wrong && !(vague && isfinite(analytic)))
        return blame(c, p, "wrong");
    return vague ? blame(c, p, "nothing can be said, a kink or a pole is too near") : TN_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */
static tn_status take_input(tn__check *c, int64_t i)
{
    const tn_tensor *t = c->inputs.data[i];
    c->copies[i] = c->inputs.data[i];
    if (!t || !tn_requires_grad(t))
        return TN_OK;
    if (!tn__flat_has(t))
        return tn__fail(NULL, TN_ERR_DTYPE,
                        "%s: input %lld is %s; it needs float64 or complex128 on the host", c->name,
                        (long long)i, tn__dtype_name(t->dtype));
    c->x[i] = tn__check_reals(c, tn__flat_count(t));
    if (!c->x[i])
        return TN_ERR_MEMORY;
    tn__flat_read(t, c->x[i]);
    tn_status status = tn__flat_like(t, c->x[i], &c->copies[i]);
    if (status != TN_OK)
        c->x[i] = NULL;
    return status;
}

static tn_status check_values(tn__check *c)
{
    for (int64_t k = 0; k < c->n_outputs; k++)
        for (int64_t j = c->first[k]; j < c->first[k + 1]; j++)
            if (!isfinite(c->y[j])) {
                c->report->output = k;
                c->report->output_element = (j - c->first[k]) / c->parts[k];
                snprintf(c->report->message, sizeof c->report->message,
                         "%s: element %lld of output %lld is %g: nothing can be compared with it",
                         c->name, (long long)c->report->output_element, (long long)k, c->y[j]);
                return tn__fail(NULL, TN_ERR_AUTOGRAD, "%s", c->report->message);
            }
    return TN_OK;
}

tn_status tn__check_begin(tn__check *c)
{
    size_t n = (size_t)c->inputs.len + 1, m = (size_t)c->n_outputs + 2, longest = 0;
    c->report->message[0] = '\0';
    c->random = c->o.seed * UINT64_C(0x2545f4914f6cdd1d) + 1;
    c->copies = tn__arena_alloc(&c->arena, n * sizeof *c->copies);
    c->x = tn__arena_alloc(&c->arena, n * sizeof *c->x);
    c->first = tn__arena_alloc(&c->arena, m * sizeof *c->first);
    c->parts = tn__arena_alloc(&c->arena, m);
    c->u = tn__arena_alloc(&c->arena, n * sizeof *c->u);
    c->v = tn__arena_alloc(&c->arena, m * sizeof *c->v);
    c->pulled = tn__check_reals(c, (int64_t)(n * m));
    if (!c->copies || !c->x || !c->first || !c->parts || !c->u || !c->v || !c->pulled)
        return tn__fail_memory(NULL, n * sizeof *c->copies);
    int checked = 0;
    for (int64_t i = 0; i < c->inputs.len; i++) {
        TN__TRY(take_input(c, i));
        checked += c->x[i] != NULL;
        if (c->x[i] && (size_t)tn__flat_count(c->copies[i]) > longest)
            longest = (size_t)tn__flat_count(c->copies[i]);
    }
    if (!checked)
        return tn__fail(NULL, TN_ERR_ARGUMENT, "%s: no input requires a gradient", c->name);
    c->moved = tn__check_reals(c, (int64_t)longest);
    if (!c->moved)
        return TN_ERR_MEMORY;
    TN__TRY(tn__check_evaluate(c, c->copies, NULL));
    return check_values(c);
}

tn_status tn__check_run(tn__check *c)
{
    if (!c->o.skip_backward)
        TN__TRY(tn__check_backward(c));
    return c->o.forward || c->o.skip_backward ? tn__check_forward(c) : TN_OK;
}

void tn__check_end(tn__check *c)
{
    for (int64_t i = 0; c->x && c->copies && i < c->inputs.len; i++)
        if (c->x[i])
            tn_release(c->copies[i]);
    tn__arena_free(&c->arena);
}

tn_status tn_gradcheck(tn_gradcheck_fn f, void *data, tn_tensors inputs, int64_t n_outputs,
                       const tn_gradcheck_options *options, tn_gradcheck_report *report)
{
    tn_gradcheck_report unseen;
    tn__check c = {.name = "gradcheck",
                   .f = f,
                   .data = data,
                   .inputs = inputs,
                   .n_outputs = n_outputs,
                   .report = report ? report : &unseen};
    if (options)
        c.o = *options;
    memset(c.report, 0, sizeof *c.report);
    tn_status status = tn__check_begin(&c);
    if (status == TN_OK)
        status = tn__check_run(&c);
    tn__check_end(&c);
    return status;
}

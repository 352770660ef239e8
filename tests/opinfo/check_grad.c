/* check_grad.c - gradients: backward (grad), double backward (gradgrad) and forward mode (jvp)
 * against differences of values, for the functional form, the in-place form and writes through
 * views; and the negative side, for what claims to have none.
 *
 *                          differences       backward says      state
 *     has a gradient       agree                                PASS
 *                          disagree                             FAIL
 *     requires none        all zero                             PASS
 *                          not zero                             NO-GRADIENT
 *     requires one         -                 not implemented    NO-GRADIENT
 *     hinted to have none  -                 works              UNDECLARED */
#include "grad_call.h"

#include <string.h>

enum { MOST_ELEMENTS = 600, MOST_SLOW = 70, MOST_SECOND = 160 };

typedef tn_status (*checker)(tn_gradcheck_fn f, void *data, tn_tensors inputs, int64_t n_outputs,
                             const tn_gradcheck_options *options, tn_gradcheck_report *report);

static int64_t elements(const oi_sample *s)
{
    int64_t n = 0;
    for (int k = 0; k < s->n_args; k++)
        for (int64_t i = 0;
             (s->args[k].kind == TN_FIELD_TENSOR || s->args[k].kind == TN_FIELD_TENSORS) &&
             i < s->args[k].n;
             i++)
            n += s->args[k].tensors[i].a.numel;
    return n;
}

static bool is_double(const tn_tensor *t)
{
    return t && (t->dtype == TN_F64 || t->dtype == TN_C128);
}

/* ---- one sample, one form -------------------------------------------------------------------- */
/* An operand of lower precision: formulas compute on it in that precision, as PyTorch's do. */
static bool is_mixed(const oi_sample *s)
{
    for (int k = 0; k < s->n_args; k++)
        if (s->args[k].kind == TN_FIELD_TENSOR && s->args[k].tensors->a.dtype == TN_F32)
            return true;
    return false;
}

static tn_gradcheck_options options_of(const oi_case *c, const oi_sample *s, int column)
{
    return (tn_gradcheck_options){.slow = c->slow && elements(s) <= MOST_SLOW,
                                  .seed = c->seed * 1000 + (uint64_t)s->number,
                                  .forward = column == OI_JVP,
                                  .rtol = is_mixed(s) ? 0x1p-20 : 0,
                                  .complex_step = c->dtype == TN_F64 && c->row->cplx != NULL};
}

static void judge(const oi_case *c, oi_grad_call *g, const oi_grad_outcome *o, const oi_sample *s,
                  int column, oi_result *r)
{
    tn_gradcheck_report report = {0};
    tn_gradcheck_options options = options_of(c, s, column);
    checker check = column == OI_GRADGRAD ? tn_gradgradcheck : tn_gradcheck;
    tn_error_clear();
    tn_status status = check(oi_grad_function, g, (tn_tensors){g->inputs, g->n_inputs},
                             g->n_outputs, &options, &report);
    const char *form = oi_grad_form_name(g->form), *message = tn_error_last()->message;
    if (status == TN_OK) {
        oi_take_error(r, &(oi_error){.normalised = report.nearest, .limit = 1});
    } else if (status == TN_ERR_AUTOGRAD && report.message[0]) {
        bool none = !o->requiring && column != OI_JVP;
        oi_blame(r, none ? OI_NO_GRADIENT : OI_FAIL, s, "%s: %s%.330s", form,
                 none ? "no result requires a gradient: " : "", report.message);
    } else if (oi_is_unsupported(status)) {
        oi_blame(r, column == OI_JVP ? OI_UNSUPPORTED : OI_NO_GRADIENT, column == OI_JVP ? NULL : s,
                 "%s: %.330s", form, message);
        r->expected = column == OI_JVP || c->row->flags & OI_GENERIC; /* a plugin may do without */
    } else {
        oi_blame(r, OI_ERROR, s, "%s: %s: %.310s", form, tn_status_name(status), message);
    }
}

/* Values outside the domain (NaN results) say nothing about gradients. */
static bool in_domain(const oi_grad_outcome *o)
{
    char why[OI_TEXT];
    for (int k = 0; k < o->n; k++) {
        oi_array a;
        if (!is_double(o->outputs[k]) || !oi_read(o->outputs[k], &a, why))
            continue;
        for (int64_t i = 0; i < a.numel; i++)
            if (!(a.v[i].re - a.v[i].re == 0) || !(a.v[i].im - a.v[i].im == 0))
                return false;
    }
    return true;
}

/* True: the form takes the sample, whatever comes of it. */
static bool run_form(const oi_case *c, const oi_sample *s, oi_form form, int column, oi_result *r)
{
    char why[OI_TEXT];
    oi_grad_call g;
    oi_grad_outcome o;
    if (!oi_grad_call_make(&g, c, s, form, why)) {
        if (why[0])
            oi_blame(r, OI_ERROR, s, "%s: %.330s", oi_grad_form_name(form), why);
        return false;
    }
    unsigned hint = oi_grad_hint_of(c->row).flags;
    if (hint & OI_GRAD_REFUSED) {
        r->samples += g.n_inputs > 0;
        oi_grad_expect_refusal(&g, s, r);
    } else if (oi_grad_record(&g, s, &o, r)) {
        bool none = hint & OI_GRAD_NONE;
        r->samples += in_domain(&o);
        if ((none || !o.floating) && column == OI_GRAD)
            oi_grad_expect_none(&g, &o, s, r);
        else if (!none && o.floating && in_domain(&o))
            judge(c, &g, &o, s, column, r);
        oi_grad_release(&o);
    }
    if (!oi_call_intact(&g.call, why))
        oi_blame(r, OI_FAIL, s, "%s: %.330s", oi_grad_form_name(form), why);
    oi_grad_call_free(&g);
    return true;
}

/* The same shapes with other values, as the same elements in reverse: what was kept of an earlier
 * call is stale now. */
static oi_sample reversed(const oi_sample *s)
{
    oi_sample other = *s;
    for (int k = 0; k < other.n_args; k++) {
        oi_arg *a = &other.args[k];
        if (a->kind != TN_FIELD_TENSOR || a->tensors->absent || oi_is_integral(a->tensors->a.dtype))
            continue;
        oi_tensor *t = oi_alloc(sizeof *t);
        *t = *a->tensors;
        t->a.v = oi_alloc((size_t)t->a.numel * sizeof *t->a.v);
        for (int64_t i = 0; i < t->a.numel; i++)
            t->a.v[i] = a->tensors->a.v[t->a.numel - 1 - i];
        a->tensors = t;
    }
    return other;
}

static void check_once(const oi_case *c, const oi_sample *s, oi_result *r)
{
    oi_sample other = reversed(s);
    run_form(c, &other, OI_FUNCTIONAL, OI_GRAD, r);
    if (r->state == OI_PASS)
        oi_grad_check_saved(c, s, r);
    if (r->state == OI_PASS && !(oi_grad_hint_of(c->row).flags & OI_GRAD_NONE))
        oi_grad_check_out(c, s, r);
}

static void run(const oi_case *c, const oi_samples *all, int column, oi_result *r)
{
    bool once = false, tried = false;
    for (int k = 0; k < all->n; k++) {
        oi_sample s;
        int64_t most = column == OI_GRADGRAD ? MOST_SECOND : MOST_ELEMENTS;
        void *mark = oi_pool_mark();
        if (oi_wanted(c, &all->list[k]) && oi_grad_sample(c, &all->list[k], &s) &&
            elements(&s) <= most) {
            for (oi_form f = OI_FUNCTIONAL; f < OI_FORMS; f++)
                tried |= run_form(c, &s, f, column, r);
            if (column == OI_GRAD && !once && elements(&s) > 1 && r->state == OI_PASS) {
                check_once(c, &s, r);
                once = true;
            }
        }
        oi_pool_reset(mark);
    }
    if (!r->samples && tried)
        oi_blame(r, OI_NOT_RUN, NULL,
                 "no sample has finite results: a line in grad_hints.c must say where they are");
    else if (!r->samples)
        r->column = -1; /* no floating tensor goes in */
}

void oi_check_grad(const oi_case *c, const oi_samples *all, oi_result *r)
{
    run(c, all, OI_GRAD, r);
}

void oi_check_gradgrad(const oi_case *c, const oi_samples *all, oi_result *r)
{
    run(c, all, OI_GRADGRAD, r);
}

void oi_check_jvp(const oi_case *c, const oi_samples *all, oi_result *r)
{
    run(c, all, OI_JVP, r);
}

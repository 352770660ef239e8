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

/* ---- what requires a gradient ---------------------------------------------------------------- */
typedef struct outcome {
    tn_tensor *outputs[OI_RESULTS];
    int n, floating, requiring;
} outcome;

static void release(outcome *o)
{
    for (int k = 0; k < o->n; k++)
        tn_release(o->outputs[k]);
}

/* A recorded call; a failure here is one that only recording makes. */
static bool record(oi_grad_call *g, const oi_sample *s, outcome *o, oi_result *r)
{
    memset(o, 0, sizeof *o);
    tn_status status = oi_grad_function(g, (tn_tensors){g->inputs, g->n_inputs},
                                        (tn_tensors){o->outputs, g->n_outputs});
    if (status != TN_OK) {
        oi_blame(r, OI_ERROR, s, "%s, recorded: %s: %.280s", oi_grad_form_name(g->form),
                 tn_status_name(status), tn_error_last()->message);
        return false;
    }
    o->n = g->n_outputs;
    for (int k = 0; k < o->n; k++) {
        tn_tensor *t = o->outputs[k];
        bool number = t && (oi_is_floating(t->dtype) || oi_is_complex(t->dtype));
        o->floating += number;
        o->requiring += number && tn_requires_grad(t);
        if (t && !number && tn_requires_grad(t))
            oi_blame(r, OI_FAIL, s, "%s: result %d is %s, and yet requires a gradient",
                     oi_grad_form_name(g->form), k, oi_dtype_name(t->dtype));
    }
    return true;
}

static tn_status pull(oi_grad_call *g, tn_tensor *output, tn_tensor **grads)
{
    tn_tensor *ones = NULL, *wanted[OI_ARGS * 2];
    const tn_backward_options options = {.keep_graph = true, .allow_unused = true};
    int n = 0;
    for (int i = 0; i < g->n_inputs; i++)
        if (g->wanted[i])
            wanted[n++] = g->inputs[i];
    memset(grads, 0, (size_t)n * sizeof *grads);
    tn_status status = oi_call_unary("aten::ones_like", output, &ones);
    if (status == TN_OK)
        status = tn_grad_of((tn_tensors){&output, 1}, &(tn_tensors){&ones, 1},
                            (tn_tensors){wanted, n}, &options, grads);
    tn_release(ones);
    return status;
}

static void release_all(tn_tensor **list, int n)
{
    for (int i = 0; i < n; i++)
        tn_release(list[i]);
}

/* Backward through what requires no gradient, or shall have none, is a clear refusal. */
static void expect_none(oi_grad_call *g, const outcome *o, const oi_sample *s, oi_state state,
                        oi_result *r)
{
    tn_tensor *grads[OI_ARGS * 2];
    for (int k = 0; k < o->n; k++) {
        if (!o->outputs[k])
            continue;
        tn_error_clear();
        tn_status status = pull(g, o->outputs[k], grads);
        release_all(grads, g->n_inputs);
        if (status == TN_OK)
            oi_blame(r, state, s, "%s: backward of result %d works, though it has no gradient",
                     oi_grad_form_name(g->form), k);
        else if (strlen(tn_error_last()->message) < 12 || strchr(tn_error_last()->message, '\n'))
            oi_blame(r, OI_FAIL, s, "backward is refused, but not in one clear line: '%.200s'",
                     tn_error_last()->message);
    }
}

/* ---- saved values ---------------------------------------------------------------------------- */
static bool same_bits(tn_tensor *a, tn_tensor *b)
{
    char why[OI_TEXT];
    oi_array x, y;
    if (!a || !b)
        return a == b;
    if (!oi_read(a, &x, why) || !oi_read(b, &y, why) || x.numel != y.numel)
        return false;
    for (int64_t i = 0; i < x.numel; i++)
        if (!(x.v[i].re == y.v[i].re && x.v[i].im == y.v[i].im))
            return false;
    return true;
}

/* After a tensor of the call was written, backward gives what it gave before, or refuses. */
static void expect_guarded(oi_grad_call *g, tn_tensor *output, tn_tensor *written, const char *what,
                           const oi_sample *s, oi_result *r)
{
    tn_tensor *before[OI_ARGS * 2], *after[OI_ARGS * 2], *same = NULL;
    tn_status status = pull(g, output, before);
    int n = 0;
    for (int i = 0; i < g->n_inputs; i++)
        n += g->wanted[i];
    if (status == TN_OK) {
        TN_NO_GRAD
            status = oi_call_unary("aten::neg_", written, &same);
        tn_release(same);
    }
    if (status == TN_OK && pull(g, output, after) == TN_OK) {
        for (int i = 0; i < n; i++)
            if (!same_bits(before[i], after[i]))
                oi_blame(r, OI_FAIL, s,
                         "%s was written after the call, and backward used the new values without "
                         "an error",
                         what);
        release_all(after, n);
    } else if (status == TN_OK) {
        if (tn_error_last()->status != TN_ERR_AUTOGRAD)
            oi_blame(r, OI_FAIL, s, "%s was written after the call, and backward says %.250s", what,
                     tn_error_last()->message);
        release_all(after, n);
    }
    release_all(before, n);
    tn_error_clear();
}

static void check_saved(const oi_case *c, const oi_sample *s, oi_result *r)
{
    char why[OI_TEXT];
    for (int what = 0; what < OI_ARGS * 2 + 1; what++) {
        oi_grad_call g;
        outcome o;
        if (!oi_grad_call_make(&g, c, s, OI_FUNCTIONAL, why))
            return;
        int last = g.n_inputs;
        if (what <= last && record(&g, s, &o, r)) {
            if (o.n && o.outputs[0] && tn_requires_grad(o.outputs[0]))
                expect_guarded(&g, o.outputs[0], what < last ? g.inputs[what] : o.outputs[0],
                               what < last ? "an input" : "the result", s, r);
            release(&o);
        }
        oi_grad_call_free(&g);
        if (what >= last)
            return;
    }
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
                                  .skip_backward = column == OI_JVP,
                                  .forward = column == OI_JVP,
                                  .rtol = is_mixed(s) ? 0x1p-20 : 0,
                                  .complex_step = c->dtype == TN_F64 && c->row->cplx != NULL};
}

static void judge(const oi_case *c, oi_grad_call *g, const outcome *o, const oi_sample *s,
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
        r->expected = column == OI_JVP;
    } else {
        oi_blame(r, OI_ERROR, s, "%s: %s: %.310s", form, tn_status_name(status), message);
    }
}

/* Values outside the domain (NaN results) say nothing about gradients. */
static bool in_domain(const outcome *o)
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

static void run_form(const oi_case *c, const oi_sample *s, oi_form form, int column, oi_result *r)
{
    char why[OI_TEXT];
    oi_grad_call g;
    outcome o;
    if (!oi_grad_call_make(&g, c, s, form, why)) {
        if (why[0])
            oi_blame(r, OI_ERROR, s, "%s: %.330s", oi_grad_form_name(form), why);
        return;
    }
    if (record(&g, s, &o, r)) {
        bool none = oi_grad_hint_of(c->row).flags & OI_GRAD_NONE;
        r->samples += in_domain(&o);
        if ((none || !o.floating) && column == OI_GRAD)
            expect_none(&g, &o, s, OI_UNDECLARED, r);
        else if (!none && o.floating && in_domain(&o))
            judge(c, &g, &o, s, column, r);
        release(&o);
    }
    if (!oi_call_intact(&g.call, why))
        oi_blame(r, OI_FAIL, s, "%s: %.330s", oi_grad_form_name(form), why);
    oi_grad_call_free(&g);
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
        check_saved(c, s, r);
}

static void run(const oi_case *c, const oi_samples *all, int column, oi_result *r)
{
    bool once = false;
    for (int k = 0; k < all->n; k++) {
        oi_sample s;
        int64_t most = column == OI_GRADGRAD ? MOST_SECOND : MOST_ELEMENTS;
        void *mark = oi_pool_mark();
        if (oi_wanted(c, &all->list[k]) && oi_grad_sample(c, &all->list[k], &s) &&
            elements(&s) <= most) {
            for (oi_form f = OI_FUNCTIONAL; f < OI_FORMS; f++)
                run_form(c, &s, f, column, r);
            if (column == OI_GRAD && !once && elements(&s) > 1 && r->state == OI_PASS) {
                check_once(c, &s, r);
                once = true;
            }
        }
        oi_pool_reset(mark);
    }
    if (!r->samples)
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

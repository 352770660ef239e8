/* grad_guards.c - what must be refused: backward through what has no gradient, a saved tensor that
 * was written, out= of what requires a gradient. */
#include "grad_call.h"

#include <math.h>
#include <string.h>

static bool is_number(const tn_tensor *t)
{
    return t && (oi_is_floating(t->dtype) || oi_is_complex(t->dtype));
}

static bool is_double(const tn_tensor *t)
{
    return t && (t->dtype == TN_F64 || t->dtype == TN_C128);
}

/* ---- what requires a gradient ---------------------------------------------------------------- */

void oi_grad_release(oi_grad_outcome *o)
{
    for (int k = 0; k < o->n; k++)
        tn_release(o->outputs[k]);
}

bool oi_grad_record(oi_grad_call *g, const oi_sample *s, oi_grad_outcome *o, oi_result *r)
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
        bool number = is_number(t);
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
    memset(grads, 0, (size_t)g->n_inputs * sizeof *grads);
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

void oi_grad_expect_none(oi_grad_call *g, const oi_grad_outcome *o, const oi_sample *s,
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
            oi_blame(r, OI_UNDECLARED, s,
                     "%s: backward of result %d works, though it has no gradient",
                     oi_grad_form_name(g->form), k);
        else if (strlen(tn_error_last()->message) < 12 || strchr(tn_error_last()->message, '\n'))
            oi_blame(r, OI_FAIL, s, "backward is refused, but not in one clear line: '%.200s'",
                     tn_error_last()->message);
    }
}

void oi_grad_expect_refusal(oi_grad_call *g, const oi_sample *s, oi_result *r)
{
    tn_tensor *outputs[OI_RESULTS] = {NULL};
    tn_status status = oi_grad_function(g, (tn_tensors){g->inputs, g->n_inputs},
                                        (tn_tensors){outputs, g->n_outputs});
    release_all(outputs, g->n_outputs);
    if (status == TN_OK)
        oi_blame(r, OI_UNDECLARED, s, "%s: it is recorded, though it has no gradient",
                 oi_grad_form_name(g->form));
    else if (status != TN_ERR_AUTOGRAD || strchr(tn_error_last()->message, '\n'))
        oi_blame(r, OI_FAIL, s, "it is refused, but not in one clear line: '%.200s'",
                 tn_error_last()->message);
    tn_error_clear();
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
    for (int64_t i = 0; i < x.numel; i++) {
        bool nan = isnan(x.v[i].re) || isnan(x.v[i].im);
        if (nan ? !isnan(y.v[i].re) && !isnan(y.v[i].im)
                : x.v[i].re != y.v[i].re || x.v[i].im != y.v[i].im)
            return false;
    }
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

void oi_grad_check_saved(const oi_case *c, const oi_sample *s, oi_result *r)
{
    char why[OI_TEXT];
    for (int what = 0; what < OI_ARGS * 2 + 1; what++) {
        oi_grad_call g;
        oi_grad_outcome o;
        if (!oi_grad_call_make(&g, c, s, OI_FUNCTIONAL, why))
            return;
        int last = g.n_inputs;
        if (what <= last && oi_grad_record(&g, s, &o, r)) {
            if (o.n && o.outputs[0] && tn_requires_grad(o.outputs[0]))
                expect_guarded(&g, o.outputs[0], what < last ? g.inputs[what] : o.outputs[0],
                               what < last ? "an input" : "the result", s, r);
            oi_grad_release(&o);
        }
        oi_grad_call_free(&g);
        if (what >= last)
            return;
    }
}

/* ---- out= ---------------------------------------------------------------------------------------- */
void oi_grad_check_out(const oi_case *c, const oi_sample *s, oi_result *r)
{
    char why[OI_TEXT];
    int n_results, n_args, differentiable = 0;
    const tn_op *op = oi_form_out(c->op);
    oi_call plain, with_out;
    oi_tensor outs[OI_RESULTS];
    for (int k = 0; k < OI_RESULTS; k++)
        outs[k] = (oi_tensor){.absent = true};
    if (!op || !oi_call_make(&plain, c->op, s, (tn_device){TN_CPU, -1}, NULL, why))
        return;
    oi_call_run(&plain);
    if (plain.status == TN_OK && plain.n_results && is_number(plain.results[0]) &&
        oi_call_make(&with_out, op, s, (tn_device){TN_CPU, -1}, outs, why)) {
        const tn_field *f = tn_op_fields(op, &n_results, &n_args) + n_results;
        for (int k = 0; k < n_results && k < plain.n_results; k++)
            *(tn_tensor **)((char *)with_out.frame + f[n_args - n_results + k].offset) =
                plain.results[k];
        for (int k = 0; k < with_out.n_buffers; k++)
            if (is_double(with_out.buffers[k].tensor))
                differentiable += tn_set_requires_grad(with_out.buffers[k].tensor, true) == TN_OK;
        with_out.refused = true;
        oi_call_run(&with_out);
        if (differentiable && with_out.status == TN_OK)
            oi_blame(r, OI_FAIL, s, "out= of an input that requires a gradient was accepted");
        else if (differentiable && !oi_clear_message(&with_out, why))
            oi_blame(r, OI_FAIL, s, "out= of an input that requires a gradient: %.300s", why);
        oi_call_free(&with_out);
    }
    oi_call_free(&plain);
}

/* grad_call.c - a sample's call with its tensors exchanged: the frame is made once, over guarded
 * memory, and what gradcheck hands in takes the tensors' places for the time of a call. */
#include "grad_call.h"

#include <string.h>

static const char *const forms[OI_FORMS] = {"functional", "in-place", "a written view"};

const char *oi_grad_form_name(oi_form f)
{
    return forms[f];
}

static bool is_double(const tn_tensor *t)
{
    return t && (t->dtype == TN_F64 || t->dtype == TN_C128);
}

tn_status oi_call_unary(const char *name, tn_tensor *self, tn_tensor **out)
{
    const tn_op *op = tn_op_find(name);
    uint64_t frame[64];
    int n_results, n_args;
    *out = NULL;
    if (!op || tn_op_frame_size(op) > sizeof frame)
        return TN_ERR_UNSUPPORTED;
    tn_op_frame_init(op, frame);
    const tn_field *f = tn_op_fields(op, &n_results, &n_args);
    memcpy((char *)frame + f[n_results].offset, &self, sizeof self);
    tn_status status = tn_op_call(op, frame);
    if (status == TN_OK)
        memcpy(out, (char *)frame + f[0].offset, sizeof *out);
    return status;
}

/* ---- making ---------------------------------------------------------------------------------- */
/* The tensors of the frame in the order in which oi_call_make made their buffers. */
static void find_slots(oi_grad_call *g)
{
    int n_results, n_args;
    const tn_field *f = tn_op_fields(g->op, &n_results, &n_args) + n_results;
    for (int k = 0; k < n_args && g->n_inputs < OI_ARGS * 2; k++) {
        void *at = (char *)g->call.frame + f[k].offset;
        int64_t n = f[k].kind == TN_FIELD_TENSOR    ? 1
                    : f[k].kind == TN_FIELD_TENSORS ? ((tn_tensors *)at)->len
                                                    : 0;
        tn_tensor **from = f[k].kind == TN_FIELD_TENSORS ? ((tn_tensors *)at)->data : at;
        for (int64_t i = 0; i < n && g->n_inputs < OI_ARGS * 2; i++)
            if (from[i]) {
                g->slots[g->n_inputs] = &from[i];
                g->field_of[g->n_inputs] = k;
                g->inputs[g->n_inputs++] = from[i];
            }
    }
}

static const tn_op *op_of(const oi_case *c, oi_form form)
{
    int n_results, n_args;
    bool view = c->row->flags & OI_VIEW;
    const tn_field *f = tn_op_fields(c->op, &n_results, &n_args);
    if (n_args && f[n_results].flags & TN_FIELD_WRITTEN) /* it exists in place only */
        return form == OI_INPLACE_FORM ? c->op : NULL;
    if (form == OI_FUNCTIONAL)
        return c->op;
    if (oi_grad_hint_of(c->row).flags & OI_GRAD_NONE)
        return NULL;
    if (form == OI_INPLACE_FORM)
        return view ? NULL : oi_form_inplace(c->op);
    /* One of several views cannot be written; nor is what hides that it shares memory tracked. */
    return view && f[0].kind == TN_FIELD_TENSOR && !(c->row->flags & OI_SHARES) ? c->op : NULL;
}

/* What a functional call writes (running statistics) is no leaf. */
static bool is_differentiable(const tn_field *f, const tn_tensor *t, const oi_tensor *made,
                              oi_form form)
{
    uint32_t written = form == OI_FUNCTIONAL ? TN_FIELD_OUT | TN_FIELD_WRITTEN : TN_FIELD_OUT;
    return is_double(t) && !made->host && !(f->flags & written);
}

static const oi_tensor *made_from(const oi_grad_call *g, int i)
{
    const oi_arg *a = oi_find(g->call.sample, g->call.fields[i]->name);
    int64_t at = 0;
    for (int k = 0; k < i; k++)
        at += g->call.fields[k] == g->call.fields[i];
    return &a->tensors[at < a->n ? at : 0];
}

/* Tries the call once without gradients: results of which dtypes, and does it work at all? */
static bool try_call(oi_grad_call *g, char *why)
{
    tn_tensor *outputs[OI_RESULTS] = {NULL};
    tn_status status = TN_OK;
    g->n_outputs = g->form == OI_WRITTEN_VIEW ? 2 : OI_RESULTS;
    TN_NO_GRAD
        status = oi_grad_function(g, (tn_tensors){g->inputs, g->n_inputs},
                                  (tn_tensors){outputs, g->n_outputs});
    snprintf(why, OI_TEXT, "%s", status != TN_OK ? tn_error_last()->message : "");
    g->n_outputs = 0;
    bool as_other = g->form == OI_WRITTEN_VIEW && outputs[1] &&
                    outputs[1]->dtype != outputs[0]->dtype; /* writing through it is refused */
    for (int k = 0; k < OI_RESULTS; k++) {
        if (outputs[k])
            g->n_outputs = k + 1;
        tn_release(outputs[k]);
    }
    if (status != TN_OK && (g->form != OI_FUNCTIONAL || oi_is_unsupported(status)))
        why[0] = '\0'; /* refused, as other columns have seen it */
    return status == TN_OK && !as_other;
}

bool oi_grad_call_make(oi_grad_call *g, const oi_case *c, const oi_sample *s, oi_form form,
                       char *why)
{
    memset(g, 0, sizeof *g);
    g->form = form;
    g->op = op_of(c, form);
    why[0] = '\0';
    if (!g->op || !oi_call_make(&g->call, g->op, s, (tn_device){TN_CPU, -1}, NULL, why))
        return false;
    find_slots(g);
    if (!try_call(g, why)) {
        oi_grad_call_free(g);
        return false;
    }
    int wanted = 0;
    for (int i = 0; i < g->n_inputs; i++)
        if (is_differentiable(g->call.fields[i], g->inputs[i], made_from(g, i), form)) {
            wanted += g->wanted[i] = true;
            if (tn_set_requires_grad(g->inputs[i], true) != TN_OK)
                snprintf(why, OI_TEXT, "%s", tn_error_last()->message);
        }
    if (wanted && !why[0])
        return true;
    oi_grad_call_free(g);
    return false;
}

void oi_grad_call_free(oi_grad_call *g)
{
    g->call.status = TN_ERR_ARGUMENT; /* the frame holds no results */
    oi_call_free(&g->call);
}

/* ---- calling --------------------------------------------------------------------------------- */
/* Takes the results out of the frame; those that there is no room for are released. */
static void take_results(const tn_op *op, void *frame, tn_tensors out)
{
    int n_results, n_args, at = 0;
    const tn_field *f = tn_op_fields(op, &n_results, &n_args);
    for (int k = 0; k < n_results; k++) {
        void *from = (char *)frame + f[k].offset;
        int64_t n = f[k].kind == TN_FIELD_TENSOR    ? 1
                    : f[k].kind == TN_FIELD_TENSORS ? ((tn_tensors *)from)->len
                                                    : 0;
        tn_tensor **items = f[k].kind == TN_FIELD_TENSORS ? ((tn_tensors *)from)->data : from;
        for (int64_t i = 0; i < n && at < out.len; i++) {
            if (items[i])
                tn_retain(items[i]);
            out.data[at++] = items[i];
        }
    }
    tn_op_frame_release(op, frame);
}

static tn_status call_with(oi_grad_call *g, tn_tensors inputs, tn_tensors out)
{
    for (int i = 0; i < g->n_inputs; i++)
        *g->slots[i] = inputs.data[i];
    tn_status status = tn_op_call(g->op, g->call.frame);
    if (status == TN_OK)
        take_results(g->op, g->call.frame, out);
    for (int i = 0; i < g->n_inputs; i++)
        *g->slots[i] = g->inputs[i];
    return status;
}

/* In a copy of self; or through a view of it. */
static tn_status call_on_copy(oi_grad_call *g, tn_tensors inputs, tn_tensors out)
{
    tn_tensor *copy, *list[OI_ARGS * 2], *same;
    memcpy(list, inputs.data, (size_t)inputs.len * sizeof *list);
    tn_status status = oi_call_unary("aten::clone", inputs.data[0], &copy);
    if (status != TN_OK)
        return status;
    list[0] = copy;
    bool view = g->form == OI_WRITTEN_VIEW;
    status =
        call_with(g, (tn_tensors){list, inputs.len}, view ? (tn_tensors){out.data + 1, 1} : out);
    if (!view || status != TN_OK) {
        tn_release(copy);
        return status;
    }
    out.data[0] = copy;
    status = oi_call_unary("aten::sin_", out.data[1], &same);
    tn_release(same);
    return status;
}

tn_status oi_grad_function(void *data, tn_tensors inputs, tn_tensors outputs)
{
    oi_grad_call *g = data;
    return g->form == OI_FUNCTIONAL ? call_with(g, inputs, outputs)
                                    : call_on_copy(g, inputs, outputs);
}

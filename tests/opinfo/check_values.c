/* check_values.c - the functional form against the reference (values), and without data (meta). */
#include "opinfo.h"

#include <string.h>

static void compare_result(const oi_case *c, const oi_sample *s, tn_tensor *t, const oi_array *want,
                           oi_result *r)
{
    char why[OI_TEXT];
    oi_array got;
    oi_error e;
    if (!t) {
        oi_blame(r, OI_FAIL, s, "a result is missing");
        return;
    }
    if (!oi_read(t, &got, why)) {
        oi_blame(r, OI_ERROR, s, "%.380s", why);
        return;
    }
    if (c->row->flags & OI_META_ONLY || oi_is_meta(c))
        got.v = NULL;
    oi_compare(&got, want, c->row->tolerance, &e);
    oi_take_error(r, &e);
    if (e.bad)
        oi_blame(r, e.mistrusted ? OI_MISTRUSTED : OI_FAIL, s, "%.360s", e.text);
}

static void run_one(const oi_case *c, const oi_sample *s, oi_result *r)
{
    char why[OI_TEXT];
    oi_array want[OI_RESULTS];
    oi_call call;
    int n = c->row->reference(c->row, s, want);
    if (n < 0) {
        oi_blame(r, OI_ERROR, s, "no reference: %.340s", oi_reference_failure());
        return;
    }
    if (!oi_call_make(&call, c->op, s, c->target->device, NULL, why)) {
        oi_blame(r, OI_ERROR, s, "%.380s", why);
        return;
    }
    oi_call_run(&call);
    if (call.status != TN_OK)
        oi_blame(r, OI_ERROR, s, "%s: %.340s", tn_status_name(call.status), call.message);
    else if (n && call.n_results != n)
        oi_blame(r, OI_FAIL, s, "gave %d results, expected %d", call.n_results, n);
    for (int k = 0; call.status == TN_OK && k < n && k < call.n_results; k++)
        compare_result(c, s, call.results[k], &want[k], r);
    if (!oi_call_intact(&call, why))
        oi_blame(r, OI_FAIL, s, "%.380s", why);
    oi_call_free(&call);
}

void oi_check_values(const oi_case *c, const oi_samples *all, oi_result *r)
{
    for (int k = 0; k < all->n; k++) {
        const oi_sample *s = &all->list[k];
        if (s->error || s->large || !oi_wanted(c, s))
            continue;
        r->samples++;
        run_one(c, s, r);
    }
    if (!r->samples)
        oi_blame(r, OI_NOT_RUN, NULL, "no sample");
}

/* ---- without data
 * ---------------------------------------------------------------------------------- */
/* The strides that the host gives, where the host can run the operator. */
static void compare_strides(const oi_case *c, const oi_sample *s, const oi_call *meta, oi_result *r)
{
    char why[OI_TEXT];
    oi_call here;
    if (!oi_call_make(&here, c->op, s, (tn_device){TN_CPU, -1}, NULL, why))
        return;
    oi_call_run(&here);
    for (int k = 0; here.status == TN_OK && k < here.n_results && k < meta->n_results; k++) {
        const tn_tensor *a = meta->results[k], *b = here.results[k];
        if (!a || !b)
            continue;
        if (a->dtype != b->dtype || a->ndim != b->ndim ||
            memcmp(a->sizes, b->sizes, a->ndim * sizeof *a->sizes) != 0)
            oi_blame(r, OI_FAIL, s, "meta says %s%s, the host gives %s%s", oi_dtype_name(a->dtype),
                     oi_shape_text(a->ndim, a->sizes), oi_dtype_name(b->dtype),
                     oi_shape_text(b->ndim, b->sizes));
        else if (a->numel && memcmp(a->strides, b->strides, a->ndim * sizeof *a->strides) != 0)
            oi_blame(r, OI_FAIL, s, "meta says strides %s, the host gives %s",
                     oi_shape_text(a->ndim, a->strides), oi_shape_text(b->ndim, b->strides));
    }
    oi_call_free(&here);
}

/* A shape that values decide cannot be known without them. */
static void expect_unknown(const oi_case *c, const oi_sample *s, oi_result *r)
{
    char why[OI_TEXT];
    oi_call call;
    if (!oi_call_make(&call, c->op, s, c->target->device, NULL, why)) {
        oi_blame(r, OI_ERROR, s, "%.380s", why);
        return;
    }
    oi_call_run(&call);
    if (call.status != TN_ERR_UNSUPPORTED)
        oi_blame(r, OI_FAIL, s,
                 "values decide the result's shape, and without data the call gave %s",
                 tn_status_name(call.status));
    else if (!oi_clear_message(&call, why))
        oi_blame(r, OI_FAIL, s, "%.380s", why);
    oi_call_free(&call);
}

static void run_meta(const oi_case *c, const oi_sample *s, oi_result *r)
{
    char why[OI_TEXT];
    oi_array want[OI_RESULTS];
    oi_call call;
    int n = c->row->reference(c->row, s, want);
    if (n < 0) {
        oi_blame(r, OI_ERROR, s, "no reference: %.340s", oi_reference_failure());
        return;
    }
    if (!oi_call_make(&call, c->op, s, c->target->device, NULL, why)) {
        oi_blame(r, OI_ERROR, s, "%.380s", why);
        return;
    }
    oi_call_run(&call);
    if (call.status != TN_OK) {
        oi_blame(r, OI_ERROR, s, "%s: %.340s", tn_status_name(call.status), call.message);
    } else {
        if (n && call.n_results != n)
            oi_blame(r, OI_FAIL, s, "gave %d results, expected %d", call.n_results, n);
        for (int k = 0; k < n && k < call.n_results; k++)
            compare_result(c, s, call.results[k], &want[k], r);
        for (int k = 0; k < call.n_results; k++)
            if (call.results[k] && call.results[k]->device.type != TN_META)
                oi_blame(r, OI_FAIL, s, "result %d is not on meta", k);
        compare_strides(c, s, &call, r);
    }
    oi_call_free(&call);
}

void oi_check_meta(const oi_case *c, const oi_samples *all, oi_result *r)
{
    for (int k = 0; k < all->n; k++) {
        const oi_sample *s = &all->list[k];
        if (s->error || s->large || !oi_wanted(c, s))
            continue;
        r->samples++;
        if (s->no_meta)
            expect_unknown(c, s, r);
        else
            run_meta(c, s, r);
    }
    if (!r->samples)
        oi_blame(r, OI_NOT_RUN, NULL, "no sample");
}

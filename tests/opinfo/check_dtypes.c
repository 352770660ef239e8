/* check_dtypes.c - claims in both directions. What a backend claims must work; what works must be
 * claimed; and what the operator is defined for (the row) is what either side is measured against.
 *
 *                      works        refuses
 *     claimed          PASS         FAIL (lying support)
 *     not claimed      UNDECLARED   UNSUPPORTED, with the backend's reason
 *
 * Composite kernels claim nothing of their own: what they refuse is what the operators below them
 * refuse. */
#include "generic.h"

#include <string.h>

static const oi_sample *first_full(const oi_case *c, const oi_samples *s)
{
    const oi_sample *any = NULL;
    for (int k = 0; k < s->n; k++) {
        const oi_sample *x = &s->list[k];
        if (x->error || x->large)
            continue;
        any = any ? any : x;
        if (oi_wanted(c, x))
            return x;
    }
    return any;
}

/* A plugin's samples may have numbers of a higher kind than the tensors, whose dtype alone matters
 * to a kernel by hand. */
static bool is_elementwise(const oi_row *row)
{
    const oi_generic *g = row->flags & OI_DECLARED ? row->data : NULL;
    return row->operands && (!g || g->entry->pointwise.text);
}

/* Claims speak of the computation's dtype. Where nothing but the schema is known, that is what
 * came out. */
static bool is_claimed(const oi_case *c, const oi_sample *s, const oi_call *call, bool *composite)
{
    const char *how;
    tn_op_server(c->op, c->target->key, &how);
    *composite = strncmp(how, "Composite", 9) == 0;
    tn_dtype computed = is_elementwise(c->row) ? oi_elementwise_dtype(c->row, s) : c->dtype;
    if (c->row->flags & OI_SELF_CONSISTENT && call->n_results && call->results[0] &&
        oi_is_floating(call->results[0]->dtype))
        computed = call->results[0]->dtype;
    return tn_op_dtypes(c->op, c->target->key) & TN_DTYPE_BIT(computed);
}

static void judge(const oi_case *c, const oi_sample *s, const oi_call *call, oi_result *r)
{
    bool composite, claimed = is_claimed(c, s, call, &composite);
    bool defined = c->row->dtypes & TN_DTYPE_BIT(c->dtype);
    bool without_meta = c->row->flags & OI_NO_META && oi_is_meta(c);
    const char *d = oi_dtype_name(c->dtype);
    if (call->status == TN_OK) {
        if (!claimed)
            oi_blame(r, OI_UNDECLARED, s, "works for %s, but %s does not claim it", d,
                     c->target->name);
        else if (!defined && !(c->row->flags & OI_GENERIC))
            oi_blame(r, OI_UNDECLARED, s,
                     "works for %s, for which the row says that the operator is not defined", d);
        return;
    }
    if (!oi_is_unsupported(call->status)) {
        oi_blame(r, OI_ERROR, s, "%s: %.300s", tn_status_name(call->status), call->message);
        return;
    }
    char why[OI_TEXT];
    if (!oi_clear_message(call, why)) {
        oi_blame(r, OI_FAIL, s, "refuses %s, but %.300s", d, why);
    } else if (claimed && !composite && !without_meta) {
        oi_blame(r, OI_FAIL, s, "claims %s, but refuses it: %.300s", d, call->message);
    } else {
        oi_blame(r, OI_UNSUPPORTED, NULL, "%.300s", call->message);
        r->expected = !defined || without_meta;
    }
}

void oi_check_dtypes(const oi_case *c, const oi_samples *all, oi_result *r)
{
    char why[OI_TEXT];
    const oi_sample *s = first_full(c, all);
    oi_call call;
    if (!s) {
        oi_blame(r, OI_NOT_RUN, NULL, "the row makes no sample for %s", oi_dtype_name(c->dtype));
        return;
    }
    r->samples = 1;
    if (!oi_call_make(&call, c->op, s, c->target->device, NULL, why)) {
        oi_blame(r, OI_ERROR, s, "%.380s", why);
        return;
    }
    oi_call_run(&call);
    judge(c, s, &call, r);
    if (call.status != TN_OK && !oi_call_intact(&call, why)) {
        r->state = OI_PASS;
        oi_blame(r, OI_FAIL, s, "failed, but %.300s", why);
    }
    oi_call_free(&call);
}

/* check_calls.c - columns that look at calls rather than at numbers: shared storage, refused
 * calls, the same bits again. */
#include "opinfo.h"

#include <string.h>

#include <tenon/threads.h>

static bool make(const oi_case *c, const oi_sample *s, oi_call *call, oi_result *r)
{
    char why[OI_TEXT];
    if (oi_call_make(call, c->op, s, c->target->device, NULL, why))
        return true;
    oi_blame(r, OI_ERROR, s, "%.380s", why);
    return false;
}

/* ---- alias
 * ----------------------------------------------------------------------------------------- */
static int inputs_shared(const oi_call *call, const tn_tensor *result)
{
    int n = 0;
    for (int k = 0; k < call->n_buffers; k++)
        n += tn_tensor_same_storage(result, call->buffers[k].tensor);
    return n;
}

static void judge_alias(const oi_case *c, const oi_sample *s, const oi_call *call, oi_result *r)
{
    int n_results, n_args;
    const tn_field *f = tn_op_fields(c->op, &n_results, &n_args);
    for (int k = 0; k < call->n_results; k++) {
        const tn_field *of = &f[k < n_results ? k : n_results - 1];
        bool written = of->flags & TN_FIELD_WRITTEN;
        bool marked = of->flags & TN_FIELD_ALIASED || c->row->flags & OI_SHARES;
        int shared = call->results[k] ? inputs_shared(call, call->results[k]) : 0;
        if (written && call->results[k] != call->buffers[0].tensor)
            oi_blame(r, OI_FAIL, s, "result %d is marked as written self, but is another tensor",
                     k);
        if (s->may_copy)
            continue;
        if (marked && !shared)
            oi_blame(r, OI_FAIL, s,
                     "result %d is marked as an alias, but shares no input's storage", k);
        if (!marked && shared)
            oi_blame(r, OI_FAIL, s,
                     "result %d shares an input's storage, but is not marked as an alias", k);
    }
}

void oi_check_alias(const oi_case *c, const oi_samples *all, oi_result *r)
{
    for (int k = 0; k < all->n; k++) {
        const oi_sample *s = &all->list[k];
        uint32_t versions[OI_ARGS * 2];
        oi_call call;
        if (s->error || s->large || (s->no_meta && oi_is_meta(c)) || !oi_wanted(c, s))
            continue;
        if (!make(c, s, &call, r))
            return;
        r->samples++;
        for (int i = 0; i < call.n_buffers; i++)
            versions[i] = tn_tensor_version(call.buffers[i].tensor);
        oi_call_run(&call);
        if (call.status == TN_OK)
            judge_alias(c, s, &call, r);
        else
            oi_blame(r, OI_ERROR, s, "%s: %.340s", tn_status_name(call.status), call.message);
        for (int i = 0; i < call.n_buffers; i++)
            if (!(call.fields[i]->flags & TN_FIELD_WRITTEN) &&
                tn_tensor_version(call.buffers[i].tensor) != versions[i])
                oi_blame(r, OI_FAIL, s, "%s is an input, but its version grew",
                         call.fields[i]->name);
        oi_call_free(&call);
    }
    if (!r->samples)
        oi_blame(r, OI_NOT_RUN, NULL, "no sample");
}

/* ---- errors
 * ---------------------------------------------------------------------------------------- */
static void expect_error(const oi_case *c, const oi_sample *s, const char *what, oi_result *r)
{
    char why[OI_TEXT];
    oi_call call;
    if (!make(c, s, &call, r))
        return;
    r->samples++;
    call.refused = true;
    oi_call_run(&call);
    if (call.status == TN_OK)
        oi_blame(r, OI_FAIL, s, "%s was accepted", what);
    else if (!oi_clear_message(&call, why) || !oi_call_intact(&call, why))
        oi_blame(r, OI_FAIL, s, "%s: %.300s", what, why);
    for (int k = 0; call.status != TN_OK && k < call.n_results; k++)
        if (call.results[k])
            oi_blame(r, OI_FAIL, s, "%s: a result was left in the frame of a failed call", what);
    oi_call_free(&call);
}

/* Every required tensor in turn is missing. */
static void expect_missing(const oi_case *c, const oi_sample *s, oi_result *r)
{
    int n_results, n_args;
    const tn_field *f = tn_op_fields(c->op, &n_results, &n_args) + n_results;
    for (int k = 0; k < n_args; k++) {
        oi_sample without = *s;
        if (f[k].kind != TN_FIELD_TENSOR || f[k].flags & TN_FIELD_OPTIONAL)
            continue;
        for (int a = 0; a < without.n_args; a++)
            if (strcmp(without.args[a].name, f[k].name) == 0) {
                without.args[a] = without.args[without.n_args - 1];
                without.n_args--;
                break;
            }
        expect_error(c, &without, "a call without a required tensor", r);
    }
}

void oi_check_errors(const oi_case *c, const oi_samples *all, oi_result *r)
{
    bool missing = false;
    for (int k = 0; k < all->n; k++) {
        const oi_sample *s = &all->list[k];
        if (s->large || !oi_wanted(c, s))
            continue;
        if (s->error && !(s->by_value && oi_is_meta(c)))
            expect_error(c, s, "a bad call", r);
        else if (!s->error && !missing)
            expect_missing(c, s, r), missing = true;
    }
    if (!r->samples)
        r->column =
            -1; /* nothing to refuse: the operator takes no tensors and the row has no bad calls */
}

/* ---- the same bits
 * --------------------------------------------------------------------------------- */
static uint64_t digest_bytes(uint64_t h, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
    return h;
}

static uint64_t digest(const oi_call *call)
{
    char why[OI_TEXT];
    uint64_t h = UINT64_C(0xcbf29ce484222325) + (uint64_t)call->status;
    for (int k = 0; k < call->n_results; k++) {
        const tn_tensor *t = call->results[k];
        oi_array a;
        if (t && t->device.type == TN_CPU && t->flags & TN_TENSOR_CONTIGUOUS) {
            h = digest_bytes(h, t->data, (size_t)t->numel * (size_t)oi_size_of(t->dtype));
            continue;
        }
        if (!t || !oi_read(call->results[k], &a, why) || !a.v)
            continue;
        for (int64_t i = 0; i < a.numel; i++) {
            unsigned char bytes[16];
            oi_store(bytes, a.dtype, a.v[i]);
            h = digest_bytes(h, bytes, (size_t)oi_size_of(a.dtype));
        }
    }
    return h;
}

static bool run_digest(const oi_case *c, const oi_sample *s, oi_result *r, uint64_t *out)
{
    oi_call call;
    if (!make(c, s, &call, r))
        return false;
    oi_call_run(&call);
    *out = digest(&call);
    bool ok = call.status == TN_OK;
    if (!ok)
        oi_blame(r, OI_ERROR, s, "%s: %.340s", tn_status_name(call.status), call.message);
    oi_call_free(&call);
    return ok;
}

void oi_check_repeat(const oi_case *c, const oi_samples *all, oi_result *r)
{
    if (c->row->flags & OI_META_ONLY) {
        r->column = -1;
        return;
    }
    for (int k = 0; k < all->n; k++) {
        const oi_sample *s = &all->list[k];
        uint64_t first, again;
        if (s->error || !oi_wanted(c, s) || !run_digest(c, s, r, &first))
            continue;
        r->samples++;
        for (int i = 0; i < 3 && run_digest(c, s, r, &again); i++)
            if (first != again)
                oi_blame(r, OI_FAIL, s, "the same call gave other bits the %s time",
                         i == 0   ? "second"
                         : i == 1 ? "third"
                                  : "fourth");
    }
    if (!r->samples)
        oi_blame(r, OI_NOT_RUN, NULL, "no sample");
}

void oi_check_threads(const oi_case *c, const oi_samples *all, oi_result *r)
{
    for (int k = 0; k < all->n; k++) {
        const oi_sample *s = &all->list[k];
        uint64_t one, two;
        if (!s->large || s->error || !oi_wanted(c, s))
            continue;
        r->samples++;
        tn_set_num_threads(1);
        bool ok = run_digest(c, s, r, &one);
        tn_set_num_threads(2);
        if (ok && run_digest(c, s, r, &two) && one != two)
            oi_blame(r, OI_FAIL, s, "1 and 2 threads gave different bits");
        tn_set_num_threads(0);
    }
    if (!r->samples)
        r->column = -1; /* nothing large enough to be split */
}

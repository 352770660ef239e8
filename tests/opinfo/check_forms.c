/* check_forms.c - the in-place and out= forms, found through the schemas, against the same
 * reference. Their memory is the harness's, so that here a kernel's writes are seen to the byte. */
#include "opinfo.h"

#include <string.h>

/* A result goes into a tensor of the same or a higher kind of number. */
static bool can_cast(tn_dtype from, tn_dtype to)
{
    return oi_is_complex(to) || (oi_is_floating(to) && !oi_is_complex(from)) ||
           (oi_is_integral(to) && oi_is_integral(from) && (to != TN_BOOL || from == TN_BOOL));
}

static bool same_shape(const oi_array *a, const oi_array *b)
{
    return a->ndim == b->ndim &&
           memcmp(a->sizes, b->sizes, (size_t)a->ndim * sizeof *a->sizes) == 0;
}

static void expect(const oi_case *c, const oi_sample *s, const char *what, tn_tensor *t,
                   const oi_array *want, oi_result *r)
{
    char why[OI_TEXT];
    oi_array got;
    oi_error e;
    if (!t || !oi_read(t, &got, why)) {
        oi_blame(r, OI_FAIL, s, "%s: a result is missing", what);
        return;
    }
    if (c->row->flags & OI_META_ONLY)
        got.v = NULL;
    /* A result in a wider tensor is judged as what it was before it went there. */
    oi_array expected = *want;
    if (got.dtype != want->dtype && !oi_is_integral(want->dtype) && got.v &&
        oi_promote(got.dtype, want->dtype) == got.dtype)
        got = oi_array_cast(&got, want->dtype);
    else if (got.dtype != want->dtype)
        expected = oi_array_cast(want, got.dtype);
    oi_compare(&got, &expected, c->row->tolerance, &e);
    oi_take_error(r, &e);
    if (e.bad)
        oi_blame(r, e.mistrusted ? OI_MISTRUSTED : OI_FAIL, s, "%s: %.340s", what, e.text);
}

static void expect_refusal(const oi_sample *s, const char *what, const oi_call *call, oi_result *r)
{
    char why[OI_TEXT];
    if (call->status == TN_OK)
        oi_blame(r, OI_FAIL, s, "%s was accepted", what);
    else if (!oi_clear_message(call, why) || !oi_call_intact(call, why))
        oi_blame(r, OI_FAIL, s, "%s was refused, but %.300s", what, why);
}

/* ---- in-place
 * -------------------------------------------------------------------------------------- */
static bool inplace_is_legal(const oi_row *row, const oi_sample *s, const oi_array *want)
{
    const oi_arg *self = &s->args[0];
    if (row->flags & OI_VIEW)
        return true;
    if (row->flags & OI_REAL_RESULT && oi_is_complex(self->tensors->a.dtype))
        return false;
    bool overlaps = self->tensors->layout == OI_EXPANDED && self->tensors->a.numel > 0 &&
                    self->tensors->a.sizes[0] > 1;
    return same_shape(&self->tensors->a, want) && can_cast(want->dtype, self->tensors->a.dtype) &&
           !overlaps;
}

static void run_inplace(const oi_case *c, const tn_op *op, const oi_sample *s, oi_result *r)
{
    char why[OI_TEXT];
    oi_array want[OI_RESULTS];
    oi_call call;
    if (s->args[0].kind != TN_FIELD_TENSOR || c->row->reference(c->row, s, want) != 1)
        return;
    if (!oi_call_make(&call, op, s, c->target->device, NULL, why)) {
        oi_blame(r, OI_ERROR, s, "%.380s", why);
        return;
    }
    r->samples++;
    tn_tensor *self = call.buffers[0].tensor;
    uint32_t version = tn_tensor_version(self);
    call.refused = !inplace_is_legal(c->row, s, &want[0]);
    oi_call_run(&call);
    if (call.refused) {
        expect_refusal(s, "in-place into self that cannot hold the result", &call, r);
    } else if (call.status != TN_OK) {
        oi_blame(r, OI_ERROR, s, "in-place: %s: %.320s", tn_status_name(call.status), call.message);
    } else {
        expect(c, s, "in-place", self, &want[0], r);
        if (call.results[0] != self)
            oi_blame(r, OI_FAIL, s, "in-place: the result is not self");
        if (tn_tensor_version(self) == version && self->numel && !(c->row->flags & OI_VIEW))
            oi_blame(r, OI_FAIL, s, "in-place: self's version did not grow");
        if (!oi_call_intact(&call, why))
            oi_blame(r, OI_FAIL, s, "in-place: %.340s", why);
    }
    oi_call_free(&call);
}

void oi_check_inplace(const oi_case *c, const oi_samples *all, oi_result *r)
{
    const tn_op *op = oi_form_inplace(c->op);
    for (int k = 0; k < all->n; k++) {
        const oi_sample *s = &all->list[k];
        if (!s->error && !s->large && oi_wanted(c, s))
            run_inplace(c, op, s, r);
    }
    if (!r->samples)
        oi_blame(r, OI_NOT_RUN, NULL, "no sample");
}

/* ---- out=
 * ------------------------------------------------------------------------------------------ */
/* A poisoned tensor in the place of a result: no operator gives these values. */
static oi_tensor poisoned(const oi_array *want, tn_dtype dtype, oi_layout layout)
{
    oi_tensor t = {.a = oi_array_new(dtype, want->ndim, want->sizes), .layout = layout};
    for (int64_t i = 0; i < t.a.numel; i++)
        t.a.v[i] = oi_cast(oi_int(-77 - i % 7), TN_I64, dtype);
    return t;
}

typedef struct variant {
    const char *what;
    oi_layout layout;
    int kind; /* see out_dtype */
    bool wrong_shape;
} variant;
enum { SAME, WIDER, NARROWER };

static const variant variants[] = {
    {"out= poisoned", OI_ROW, SAME, false},
    {"out= with gaps", OI_GAPPED, SAME, false},
    {"out= transposed", OI_TRANSPOSED, SAME, false},
    {"out= of another dtype", OI_ROW, WIDER, false},
    {"out= of a dtype that cannot hold the result", OI_ROW, NARROWER, false},
    {"out= of a wrong shape", OI_ROW, SAME, true},
};

static tn_dtype out_dtype(tn_dtype d, int kind)
{
    if (kind == WIDER)
        return d == TN_BOOL        ? TN_U8
               : oi_is_integral(d) ? TN_F32
               : oi_is_floating(d) ? TN_C64
                                   : TN_C128;
    if (kind == NARROWER)
        return oi_is_complex(d) ? TN_F64 : oi_is_floating(d) ? TN_I64 : TN_BOOL;
    return d;
}

static bool make_outs(const oi_case *c, const variant *v, const oi_array *want, int n,
                      oi_tensor *outs)
{
    (void)c;
    for (int k = 0; k < n; k++) {
        outs[k] = poisoned(&want[k], out_dtype(want[k].dtype, v->kind), v->layout);
        if (v->kind == NARROWER && outs[k].a.dtype == want[k].dtype)
            return false;
        if (v->wrong_shape) {
            oi_array wrong = want[k];
            if (wrong.ndim == 0)
                wrong.ndim = 1, wrong.sizes[0] = 1;
            wrong.sizes[wrong.ndim - 1] += 1;
            for (int d = 0; d < wrong.ndim; d++)
                wrong.sizes[d] += wrong.sizes[d] == 0;
            outs[k] = poisoned(&wrong, want[k].dtype, OI_ROW);
        }
    }
    return true;
}

/* The out tensors are the last ones filled, in order. */
static tn_tensor *out_at(const oi_call *call, int n, int k)
{
    return call->buffers[call->n_buffers - n + k].tensor;
}

static void judge_out(const oi_case *c, const oi_sample *s, const variant *v, oi_call *call,
                      const oi_array *want, int n, oi_result *r)
{
    char why[OI_TEXT];
    if (call->refused) {
        expect_refusal(s, v->what, call, r);
        return;
    }
    if (call->status != TN_OK) {
        if (v->kind == WIDER) /* a backend may insist on the result's own dtype, if it says so */
            expect_refusal(s, v->what, call, r);
        else
            oi_blame(r, OI_ERROR, s, "%s: %s: %.300s", v->what, tn_status_name(call->status),
                     call->message);
        return;
    }
    for (int k = 0; k < n; k++) {
        expect(c, s, v->what, out_at(call, n, k), &want[k], r);
        if (call->results[k] != out_at(call, n, k))
            oi_blame(r, OI_FAIL, s, "%s: result %d is not the out argument", v->what, k);
    }
    if (!oi_call_intact(call, why))
        oi_blame(r, OI_FAIL, s, "%s: %.340s", v->what, why);
}

static void run_out(const oi_case *c, const tn_op *op, const oi_sample *s, const variant *v,
                    const oi_array *want, int n, oi_result *r)
{
    char why[OI_TEXT];
    oi_tensor outs[OI_RESULTS];
    oi_call call;
    if (!make_outs(c, v, want, n, outs))
        return;
    if (!oi_call_make(&call, op, s, c->target->device, outs, why)) {
        oi_blame(r, OI_ERROR, s, "%.380s", why);
        return;
    }
    r->samples++;
    call.refused = v->wrong_shape || v->kind == NARROWER;
    oi_call_run(&call);
    judge_out(c, s, v, &call, want, n, r);
    oi_call_free(&call);
}

/* Tensors of the core's own in the place of the out arguments. */
typedef struct made_outs {
    oi_call call;
    tn_tensor *fresh[OI_RESULTS];
    int n;
} made_outs;

static bool make_call_with(const oi_case *c, const tn_op *op, const oi_sample *s,
                           const oi_array *want, int n, bool empty, tn_device device, made_outs *m)
{
    char why[OI_TEXT];
    oi_tensor outs[OI_RESULTS];
    const int64_t none = 0;
    int n_results, n_args;
    memset(m->fresh, 0, sizeof m->fresh);
    m->n = n;
    for (int k = 0; k < n; k++)
        outs[k] = (oi_tensor){.absent = true};
    if (!oi_call_make(&m->call, op, s, c->target->device, outs, why))
        return false;
    const tn_field *f = tn_op_fields(op, &n_results, &n_args);
    f += n_results + n_args - n;
    bool made = true;
    for (int k = 0; k < n && made; k++) {
        made = tn_tensor_new(empty ? 1 : want[k].ndim, empty ? &none : want[k].sizes, want[k].dtype,
                             device, &m->fresh[k]) == TN_OK;
        *(tn_tensor **)((char *)m->call.frame + f[k].offset) = m->fresh[k];
    }
    return made;
}

static void free_call_with(made_outs *m)
{
    oi_call_free(&m->call);
    for (int k = 0; k < m->n; k++)
        tn_release(m->fresh[k]);
}

static void run_resized(const oi_case *c, const tn_op *op, const oi_sample *s, const oi_array *want,
                        int n, oi_result *r)
{
    made_outs m;
    if (!make_call_with(c, op, s, want, n, true, c->target->device, &m))
        return;
    r->samples++;
    oi_call_run(&m.call);
    if (m.call.status != TN_OK)
        oi_blame(r, OI_ERROR, s, "out= of no elements: %.320s", m.call.message);
    for (int k = 0; k < n && m.call.status == TN_OK; k++)
        expect(c, s, "out= of no elements, to be resized", m.fresh[k], &want[k], r);
    free_call_with(&m);
}

static bool takes_tensors(const oi_sample *s)
{
    for (int k = 0; k < s->n_args; k++)
        if (s->args[k].kind == TN_FIELD_TENSOR || s->args[k].kind == TN_FIELD_TENSORS)
            return true;
    return false;
}

/* Inputs say where a result lies: nothing crosses to another device by itself. */
static void run_elsewhere(const oi_case *c, const tn_op *op, const oi_sample *s,
                          const oi_array *want, int n, oi_result *r)
{
    made_outs m;
    tn_device other = {c->target->device.type == TN_CPU ? TN_META : TN_CPU, -1};
    if (!takes_tensors(s) || !make_call_with(c, op, s, want, n, false, other, &m))
        return;
    r->samples++;
    m.call.refused = true;
    oi_call_run(&m.call);
    expect_refusal(s, "out= on another device", &m.call, r);
    free_call_with(&m);
}

/* The first input and the output lie in one storage, one element apart. */
static void run_overlapping(const oi_case *c, const tn_op *op, const oi_sample *s,
                            const oi_array *want, int n, oi_result *r)
{
    char why[OI_TEXT];
    const oi_arg *first = &s->args[0];
    if (n != 1 || first->kind != TN_FIELD_TENSOR || first->tensors->layout != OI_ROW ||
        want->numel < 2 || first->tensors->a.dtype != want->dtype ||
        !same_shape(&first->tensors->a, want))
        return;
    oi_tensor longer = {.a = oi_array_new(want->dtype, 1, &(int64_t){want->numel + 1}),
                        .layout = OI_ROW};
    for (int64_t i = 0; i < want->numel; i++)
        longer.a.v[i] = first->tensors->a.v[i];
    oi_tensor absent = {.absent = true};
    oi_buffer both;
    oi_call call;
    if (!oi_call_make(&call, op, s, c->target->device, &absent, why))
        return;
    if (!oi_buffer_make(&both, &longer, c->target->device, why)) {
        oi_call_free(&call);
        return;
    }
    int n_results, n_args;
    const tn_field *f = tn_op_fields(op, &n_results, &n_args);
    const tn_tensor *like = call.buffers[0].tensor;
    int64_t at = tn_tensor_offset(both.tensor);
    tn_tensor *in = NULL, *out = NULL;
    if (tn_tensor_view(both.tensor, like->ndim, like->sizes, like->strides, at, &in) == TN_OK &&
        tn_tensor_view(both.tensor, like->ndim, like->sizes, like->strides, at + 1, &out) ==
            TN_OK) {
        *(tn_tensor **)((char *)call.frame + f[n_results].offset) = in;
        *(tn_tensor **)((char *)call.frame + f[n_results + n_args - 1].offset) = out;
        r->samples++;
        call.refused = true;
        oi_call_run(&call);
        expect_refusal(s, "out= overlapping an input", &call, r);
        if (!oi_buffer_intact(&both, true, why))
            oi_blame(r, OI_FAIL, s, "out= overlapping an input: %.300s", why);
    }
    tn_release(in);
    tn_release(out);
    oi_call_free(&call);
    oi_buffer_free(&both);
}

void oi_check_out(const oi_case *c, const oi_samples *all, oi_result *r)
{
    const tn_op *op = oi_form_out(c->op);
    oi_array want[OI_RESULTS];
    int tried = 0;
    for (int k = 0; k < all->n; k++) {
        const oi_sample *s = &all->list[k];
        int n = s->error || s->large || !oi_wanted(c, s) ? 0 : c->row->reference(c->row, s, want);
        if (n <= 0)
            continue;
        bool full = want->numel > 1 && tried < 3;
        tried += full;
        for (size_t v = 0; v < (full ? sizeof variants / sizeof *variants : 1); v++)
            run_out(c, op, s, &variants[v], want, n, r);
        if (full && !(c->row->flags & OI_META_ONLY)) {
            run_resized(c, op, s, want, n, r);
            run_elsewhere(c, op, s, want, n, r);
            run_overlapping(c, op, s, want, n, r);
        }
    }
    if (!r->samples)
        oi_blame(r, OI_NOT_RUN, NULL, "no sample");
}

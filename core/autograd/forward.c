/* forward.c - forward mode: a call on tensors with tangents gives results with tangents.
 *
 * A linear operator maps tangents as it maps values, so it is called on them; an elementwise one
 * has a diagonal derivative, so its backward function maps tangents, conjugated before and after,
 * just as it maps gradients; the others have a formula. In-place calls write the tangent in place,
 * too, so that views and their base share tangents as they share values. */
#include "core/autograd/forward.h"

#include <string.h>

#include "core/autograd/slices.h"
#include "core/dispatch/pointwise.h"

_Thread_local uint64_t tn__forward_active __attribute__((tls_model("initial-exec")));
static atomic_ullong levels;

static tn_tensor *tangent_of(const tn_tensor *t)
{
    const tn__record *r = t ? tn__record_of(t) : NULL;
    return r && r->tangent && r->tangent_level == tn__forward_active ? r->tangent : NULL;
}

static const tn_tensor *base_of(const tn_tensor *t)
{
    const tn_tensor *base = t ? tn__impl(t)->base : NULL;
    return base && tn__shares_memory(base, t) ? base : NULL;
}

bool tn__forward_any(const tn__derivative *d, const void *frame)
{
    for (int i = 0; i < d->n_args; i++) {
        tn__items span = tn__items_at(frame, &d->args[i]);
        for (int64_t j = 0; j < span.len; j++)
            if (tangent_of(span.data[j]) || tangent_of(base_of(span.data[j])))
                return true;
    }
    return false;
}

static tn_status set_tangent(tn_tensor *t, tn_tensor *tangent)
{
    tn__record *r;
    TN__TRY(tn__record_need(t, &r));
    tn__tensor_retain(tangent);
    tn__tensor_release(r->tangent);
    r->tangent = tangent;
    r->tangent_level = tn__forward_active;
    t->keys |= TN__KEY_AUTOGRAD;
    return TN_OK;
}

/* The tangent of a view that is older than its base's: the part of that. */
static tn_status find_tangent(tn_tensor *t, tn_tensor **out)
{
    const tn_tensor *base = base_of(t);
    tn_tensor *whole = tangent_of(base);
    if ((*out = tangent_of(t)) || !whole || !tn__view_is_followed(base, t))
        return TN_OK;
    TN__TRY(tn__view_part(base, t, whole, out));
    tn_status status = set_tangent(t, *out);
    tn__tensor_release(*out);
    return status;
}

static bool lies_alike(const tn_tensor *a, const tn_tensor *b)
{
    for (int d = 0; d < a->ndim; d++)
        if (a->sizes[d] > 1 && a->strides[d] != b->strides[d])
            return false;
    return true;
}

/* The same of a tensor of its own memory: the tangent lies as it does, so that views of the one are
 * views of the other. */
static tn_status set_own_tangent(tn_tensor *t, tn_tensor *tangent)
{
    tn_tensor *laid;
    if (!(t->flags & TN_TENSOR_DENSE) || lies_alike(t, tangent))
        return set_tangent(t, tangent);
    TN__TRY(
        tn__op_new_strided(t, (tn_ints){t->sizes, t->ndim}, (tn_ints){t->strides, t->ndim}, &laid));
    tn_status status = tn__op_copy_into(laid, tangent);
    if (status == TN_OK)
        status = set_tangent(t, laid);
    tn__tensor_release(laid);
    return status;
}

/* ---- tangents as an operator's arguments ----------------------------------------------------- */
typedef struct tangents { /* of all differentiable arguments, flat as edges are */
    tn_tensor **in;
    int32_t first[TN__MOST_DIFFERENTIABLE + 1], n;
} tangents;

static tn_status gather(const tn__derivative *d, const void *frame, tangents *t)
{
    int32_t at = 0;
    for (int i = 0; i < d->n_args; i++) {
        tn__items span = tn__items_at(frame, &d->args[i]);
        t->first[i] = at;
        for (int64_t j = 0; j < span.len; j++, at++) {
            t->in[at] = NULL;
            if (span.data[j])
                TN__TRY(find_tangent(span.data[j], &t->in[at]));
        }
    }
    t->first[d->n_args] = t->n = at;
    return TN_OK;
}

static tn_status zeros_like(tn_tensor *t, tn_tensor **out)
{
    int64_t strides[TN_MAX_DIMS];
    tn__contiguous_strides(t->ndim, t->sizes, strides);
    return tn__op_new_strided(t, (tn_ints){t->sizes, t->ndim}, (tn_ints){strides, t->ndim}, out);
}

/* Where there is no tangent it is zero: what the operator combines them with must be a tensor. */
static tn_tensor *or_zero(tn_grad_call *g, tn_tensor *tangent, tn_tensor *value)
{
    tn_tensor *zero;
    if (tangent || !value || g->status != TN_OK)
        return tangent;
    g->status = zeros_like(value, &zero);
    return g->status == TN_OK ? tn__grad_hold(g, zero) : NULL;
}

/* ---- linear operators ------------------------------------------------------------------------ */
/* The functional form, whose frame begins as the in-place one's does; an operator that exists in
 * place only is called on the tangent of what it writes. */
static const tn_op *functional(const tn_op *op)
{
    return op->form == TN__FORM_INPLACE && op->forms[TN__FORM_FUNCTIONAL]
               ? op->forms[TN__FORM_FUNCTIONAL]
               : op;
}

static void put_tangents(tn_grad_call *g, const tn__derivative *d, char *frame, const tangents *t,
                         tn_tensor **lists)
{
    for (int i = 0; i < d->n_args; i++) {
        const tn__place *p = &d->args[i];
        tn__items span = tn__items_at(frame, p);
        for (int64_t j = 0; j < span.len; j++)
            lists[t->first[i] + j] = or_zero(g, t->in[t->first[i] + j], span.data[j]);
        if (p->is_list)
            *(tn_tensors *)(frame + p->offset) = (tn_tensors){lists + t->first[i], span.len};
        else
            *(tn_tensor **)(frame + p->offset) = lists[t->first[i]];
    }
}

static tn_status call_linear(tn_grad_call *g, const tn__derivative *d, const void *args,
                             const tangents *t, tn_tensors *list_out)
{
    const tn_op *op = functional(d->op);
    char frame[d->frame_size] __attribute__((aligned(16)));
    tn_tensor *lists[t->n + 1];
    memcpy(frame, args, d->frame_size);
    for (int i = 0; i < d->n_results; i++)
        memset(frame + d->results[i].offset, 0,
               d->results[i].is_list ? sizeof(tn_tensors) : sizeof(tn_tensor *));
    put_tangents(g, d, frame, t, lists);
    if (g->status != TN_OK)
        return g->status;
    ((tn_frame *)frame)->size = op->frame_size;
    TN__TRY(tn_op_call_at(op, frame, g->file, g->line));
    if (d->results[0].is_list) {
        *list_out = *tn__tensors_at(frame, d->results[0].offset);
        return TN_OK;
    }
    for (int i = 0; i < d->n_results; i++)
        g->out[i] = tn__tensor_at(frame, d->results[i].offset);
    return TN_OK;
}

/* ---- elementwise operators ------------------------------------------------------------------- */
static tn_status conjugated(tn_grad_call *g, tn_tensor *t, tn_tensor **out)
{
    *out = t;
    if (!(TN_DTYPE_BIT(t->dtype) & TN_DTYPES_COMPLEX))
        return TN_OK;
    TN__TRY(tn__op_conj(t, out));
    return tn__grad_hold(g, *out) ? TN_OK : g->status;
}

/* The part of result 0's tangent that argument i's gives. */
static tn_status part_of(tn_grad_call *outer, const tn__derivative *d, const void *args, int i,
                         const tangents *t, tn_tensor **out)
{
    tn_tensor *grads[TN_MAX_OPERANDS] = {NULL}, *results[t->n + 1];
    tn_grad_call g;
    tn__held held;
    memset(results, 0, sizeof results);
    TN__TRY(conjugated(outer, t->in[t->first[i]], &grads[0]));
    tn__grad_call_begin(&g, &held);
    g.wants = UINT64_C(1) << i;
    g.in = grads;
    g.out = results;
    g.first = t->first;
    g.op = d->op;
    g.file = outer->file;
    g.line = outer->line;
    g.n_arguments = d->n_args;
    tn_status status = d->decl.backward(&g, args);
    tn__grad_call_end(&g);
    tn_tensor *part = tn__grad_hold(outer, results[t->first[i]]);
    *out = NULL;
    return status == TN_OK && part ? conjugated(outer, part, out) : status;
}

static tn_status call_elementwise(tn_grad_call *g, const tn__derivative *d, const void *args,
                                  const tangents *t)
{
    tn_tensor *sum = NULL, *part, *next;
    for (int i = 0; i < d->n_args; i++) {
        if (!t->in[t->first[i]])
            continue;
        TN__TRY(part_of(g, d, args, i, t, &part));
        if (!part)
            continue;
        if (sum) {
            TN__TRY(tn__op_add(sum, part, &next));
            part = tn__grad_hold(g, next);
        }
        sum = part;
    }
    if (sum)
        tn__tensor_retain(sum);
    g->out[0] = sum;
    return g->status;
}

/* ---- one call -------------------------------------------------------------------------------- */
static TN_COLD tn_status no_rule(tn_call *call)
{
    return tn__fail(call, TN_ERR_UNSUPPORTED,
                    "%s has no forward-mode derivative; use backward, or detach the tangent",
                    call->op->name);
}

static tn_status apply_rule(tn_grad_call *g, tn_call *call, const tn__derivative *d,
                            const void *args, const tangents *t, tn_tensors *list)
{
    if (d->unknown || (d->decl.backward && !d->decl.forward && !d->decl.flags))
        return no_rule(call);
    if (d->decl.forward)
        return d->decl.forward(g, args);
    if (d->decl.flags & TN_FORWARD_LINEAR)
        return call_linear(g, d, args, t, list);
    return d->decl.backward ? call_elementwise(g, d, args, t) : TN_OK;
}

/* The formula sees values alone: tangents are first order. */
static tn_status differentiate(tn_grad_call *g, tn_call *call, const tn__derivative *d,
                               const void *args, const tangents *t, tn_tensors *list)
{
    uint64_t level = tn__forward_active;
    tn__forward_active = 0;
    tn_status status = apply_rule(g, call, d, args, t, list);
    tn__forward_active = level;
    return status;
}

/* A tangent has its tensor's shape and dtype: what a formula left narrower is widened. */
static tn_status fit(tn_grad_call *g, const tn_tensor *t, tn_tensor **tangent)
{
    tn_tensor *fitted = *tangent;
    if (fitted->dtype != t->dtype) {
        TN__TRY(tn__op_to_dtype(fitted, t->dtype, &fitted));
        if (!tn__grad_hold(g, fitted))
            return g->status;
    }
    if (fitted->ndim != t->ndim ||
        memcmp(fitted->sizes, t->sizes, (size_t)t->ndim * sizeof *t->sizes) != 0) {
        TN__TRY(tn__op_expand(fitted, (tn_ints){t->sizes, t->ndim}, &fitted));
        if (!tn__grad_hold(g, fitted))
            return g->status;
    }
    *tangent = fitted;
    return TN_OK;
}

/* The tangent of a tensor that is written: one that shares the base's tangent as the tensor shares
 * the base's memory. */
static tn_status written_tangent(tn_tensor *self, tn_tensor **out)
{
    tn_tensor *base = (tn_tensor *)base_of(self), *root = base ? base : self, *made;
    TN__TRY(find_tangent(self, out));
    if (*out)
        return TN_OK;
    if (base && !tn__view_is_followed(base, self))
        return tn__fail(NULL, TN_ERR_UNSUPPORTED,
                        "forward mode: a view of dtype %s is written in place whose base has dtype "
                        "%s; write the base",
                        tn__dtype_name(self->dtype), tn__dtype_name(base->dtype));
    TN__TRY(tn__op_new_strided(root, (tn_ints){root->sizes, root->ndim},
                               (tn_ints){root->strides, root->ndim}, &made));
    tn_status status = set_tangent(root, made);
    tn__tensor_release(made);
    return status == TN_OK ? find_tangent(self, out) : status;
}

static tn_status write_tangent(tn_grad_call *g, tn_tensor *self, tn_tensor *tangent)
{
    tn_tensor *into;
    if (tangent)
        TN__TRY(fit(g, self, &tangent));
    into = tangent_of(self);
    if (tangent && into && !tn__has_sizes(into, self->ndim, self->sizes))
        return set_tangent(self, tangent); /* squeeze_ and its kin write no element */
    TN__TRY(written_tangent(self, &into));
    return tangent ? tn__op_copy_into(into, tangent) : tn__op_zero(into);
}

static tn_status attach(tn_grad_call *g, const tn__derivative *d, const void *frame,
                        tn_tensors list)
{
    if (d->effect == TN__EFFECT_INPLACE)
        return write_tangent(g, tn__tensor_at(frame, d->self), g->out[0]);
    tn__items results = tn__items_at(frame, &d->results[0]);
    if (d->results[0].is_list) {
        for (int64_t j = 0; j < results.len && j < list.len; j++)
            TN__TRY(set_tangent(results.data[j], list.data[j]));
        return TN_OK;
    }
    for (int i = 0; i < d->n_results; i++) {
        tn_tensor *t = tn__tensor_at(frame, d->results[i].offset), *tangent = g->out[i];
        if (!t || !tangent || !d->results[i].differentiable)
            continue;
        TN__TRY(fit(g, t, &tangent));
        TN__TRY(d->effect == TN__EFFECT_VIEW ? set_tangent(t, tangent)
                                             : set_own_tangent(t, tangent));
    }
    return TN_OK;
}

static tn_status keep_one(tn_grad_call *g, const tn__storage *written, tn_tensor **t)
{
    tn_tensor *copy;
    if (!*t || tn__impl(*t)->storage != written)
        return TN_OK;
    TN__TRY(tn__op_clone(*t, &copy));
    *t = copy;
    return tn__grad_hold(g, copy) ? TN_OK : g->status;
}

/* What an in-place call overwrites is kept for formulas that read it, under each of its names. */
static tn_status keep_written(tn_grad_call *g, const tn__derivative *d, char *args)
{
    const tn__storage *written = tn__impl(tn__tensor_at(args, d->self))->storage;
    for (int i = 0; i < d->n_tensors; i++) {
        const tn__place *p = &d->tensors[i];
        if (!p->is_list && p->offset != d->results[0].offset)
            TN__TRY(keep_one(g, written, (tn_tensor **)(args + p->offset)));
    }
    return TN_OK;
}

static void copy_results(const tn__derivative *d, char *args, const void *frame)
{
    for (int i = 0; i < d->n_results; i++)
        memcpy(args + d->results[i].offset, (const char *)frame + d->results[i].offset,
               d->results[i].is_list ? sizeof(tn_tensors) : sizeof(tn_tensor *));
}

tn_status tn__forward_call(tn_call *call, const tn__derivative *d, void *frame, const tn__survey *s,
                           tn_status (*below)(const tn_call *call, void *frame),
                           tn_status (*record)(tn_call *call, const tn__derivative *d, void *frame))
{
    char args[d->frame_size] __attribute__((aligned(16)));
    tn_tensor *in[s->n_edges + 1], *out[TN_MAX_OPERANDS] = {NULL};
    tangents t = {.in = in};
    tn_tensors list = {NULL, 0};
    tn_grad_call g;
    tn__held held;
    tn__grad_call_begin(&g, &held);
    tn_status status = gather(d, frame, &t);
    for (int i = 0; status == TN_OK && i < t.n;
         i++) /* held: the call may write what they belong to */
        if (in[i]) {
            tn__tensor_retain(in[i]);
            tn__grad_hold(&g, in[i]);
        }
    memcpy(args, frame, d->frame_size);
    status = status == TN_OK ? g.status : status;
    if (status == TN_OK && d->effect == TN__EFFECT_INPLACE && !(d->decl.flags & TN_FORWARD_LINEAR))
        status = keep_written(&g, d, args);
    if (status == TN_OK)
        status = s->wants && tn__recording() && (d->decl.backward || d->unknown)
                     ? record(call, d, frame)
                     : below(call, frame);
    bool called = status == TN_OK;
    g.wants = ~UINT64_C(0);
    g.in = in;
    g.out = out;
    g.first = t.first;
    g.op = d->op;
    g.file = call->file;
    g.line = call->line;
    g.n_arguments = d->n_args;
    if (called) {
        copy_results(d, args, frame);
        status = differentiate(&g, call, d, args, &t, &list);
    }
    if (status == TN_OK)
        status = g.status;
    if (status == TN_OK)
        status = attach(&g, d, frame, list);
    for (int i = 0; i < TN_MAX_OPERANDS; i++)
        tn__tensor_release(out[i]);
    tn__tensors_release(&list);
    tn__grad_call_end(&g);
    if (status != TN_OK && called)
        tn_op_frame_release(call->op, frame);
    return status;
}

/* ---- tenon/autograd.h ------------------------------------------------------------------------ */
tn_status tn_forward_enter(void)
{
    if (tn__forward_active)
        return tn__fail(NULL, TN_ERR_AUTOGRAD,
                        "forward mode is entered already; there is one level, leave it first");
    tn__forward_active = atomic_fetch_add(&levels, 1) + 1;
    tn__keys_tls.exclude &= ~TN__KEY_AUTOGRAD; /* tangents pass whether or not calls are recorded */
    return TN_OK;
}

void tn_forward_leave(void)
{
    tn__forward_active = 0;
    if (!tn__recording())
        tn__keys_tls.exclude |= TN__KEY_AUTOGRAD;
}

tn_tensor *tn_tangent_of(const tn_tensor *t)
{
    tn_tensor *tangent;
    if (!tn__forward_active || !t || find_tangent((tn_tensor *)t, &tangent) != TN_OK)
        return NULL;
    return tangent;
}

static tn_status check_tangent(const tn_tensor *t, const tn_tensor *tangent)
{
    char want[TN__SHAPE_CHARS], got[TN__SHAPE_CHARS];
    if (!tn__forward_active)
        return tn__fail(NULL, TN_ERR_AUTOGRAD,
                        "a tangent needs forward mode: call tn_forward_enter first");
    if (!(TN_DTYPE_BIT(t->dtype) & (TN_DTYPES_FLOATING | TN_DTYPES_COMPLEX)))
        return tn__fail(NULL, TN_ERR_DTYPE, "a tensor of dtype %s has no tangent",
                        tn__dtype_name(t->dtype));
    if (tangent->dtype != t->dtype || tangent->ndim != t->ndim ||
        memcmp(tangent->sizes, t->sizes, (size_t)t->ndim * sizeof *t->sizes) != 0)
        return tn__fail(NULL, TN_ERR_ARGUMENT,
                        "the tangent has shape %s and dtype %s, but the tensor %s and %s",
                        tn__shape_text(got, tangent->ndim, tangent->sizes),
                        tn__dtype_name(tangent->dtype), tn__shape_text(want, t->ndim, t->sizes),
                        tn__dtype_name(t->dtype));
    return TN_OK;
}

tn_status tn_make_dual(tn_tensor *t, tn_tensor *tangent, tn_tensor **out)
{
    tn_tensor *view;
    TN__TRY(check_tangent(t, tangent));
    TN__TRY(tn__op_alias(t, &view));
    tn_status status = set_own_tangent(view, tangent);
    if (status != TN_OK) {
        tn__tensor_release(view);
        return status;
    }
    *out = view;
    return TN_OK;
}

/* recording.c - the boxed kernel of Autograd: every call of every operator that may need a gradient
 * comes through here. It looks who requires one, calls the operator below Autograd, and records a
 * node.
 *
 * Tensors without history carry no Autograd key and never get here; views made while recording do,
 * because their base may have been given a history since. */
#include "core/autograd/forward.h"
#include "core/autograd/op_node.h"
#include "core/autograd/slices.h"

/* ---- who requires a gradient ----------------------------------------------------------------- */
static bool any_in_lists(const tn__derivative *d, const void *frame)
{
    for (int i = 0; i < d->n_args; i++) {
        tn__items span = tn__items_at(frame, &d->args[i]);
        for (int64_t j = 0; j < span.len; j++)
            if (span.data[j] && tn__requires_grad(span.data[j]))
                return true;
    }
    return false;
}

static inline bool any_of_all(const tn__derivative *d, const void *frame)
{
    for (const tn__place *p = d->args, *end = p + d->n_args; p < end; p++) {
        const tn_tensor *t = tn__tensor_at(frame, p->offset);
        if (t && tn__requires_grad(t))
            return true;
    }
    return false;
}

static inline bool any_requires_grad(const tn__derivative *d, const void *frame)
{
    return d->has_lists ? any_in_lists(d, frame) : any_of_all(d, frame);
}

static inline tn__survey survey(const tn__derivative *d, const void *frame)
{
    tn__survey s = {.wants = any_requires_grad(d, frame), .n_edges = d->n_args};
    if (TN__UNLIKELY(tn__forward_active)) {
        s.n_edges = 0;
        for (int i = 0; i < d->n_args; i++)
            s.n_edges += (int32_t)tn__items_at(frame, &d->args[i]).len;
        s.tangents = tn__forward_any(d, frame);
    }
    return s;
}

static inline tn__site site_of(const tn_call *call)
{
    return (tn__site){call->keys, call->file, call->line};
}

/* The frame is one of today's size, and plain host tensors have one slot, whatever is excluded. */
static inline tn_status below_at(const tn_op *op, void *frame, const tn__site *at)
{
    uint64_t held = tn__keys_tls.exclude, keys = at->keys & (TN__KEY(TN__BIT_AUTOGRAD) - 1);
    tn_status status;
    tn__keys_tls.exclude = held | TN__KEY(TN__BIT_AUTOGRAD);
    if (TN__LIKELY((keys | tn__keys_tls.include) == TN__KEYS_HOST)) {
        tn__kernel *k = tn__kernel_in(op, TN__SLOT_DENSE + TN_CPU);
        status = k->enter(op, k, frame, TN__KEYS_HOST, at->file, at->line);
    } else {
        status = tn__dispatch(op, frame, keys, at->file, at->line);
    }
    tn__keys_tls.exclude = held;
    return status;
}

static tn_status below(const tn_call *call, void *frame)
{
    const tn__site at = site_of(call);
    return below_at(call->op, frame, &at);
}

/* What out= overwrites would keep a history that is not its own. */
static bool writes_history(const tn__derivative *d, const void *frame)
{
    for (int i = 0; i < d->n_outs; i++) {
        tn__items span = tn__items_at(frame, &d->outs[i]);
        for (int64_t j = 0; j < span.len; j++)
            if (span.data[j] && tn__requires_grad(span.data[j]))
                return true;
    }
    return false;
}

static TN_COLD tn_status refuse_out(tn_call *call)
{
    return tn__fail(call, TN_ERR_AUTOGRAD,
                    "an out= call is not recorded, and an argument or an out requires a gradient; "
                    "call the functional form, or put the call in TN_NO_GRAD");
}

/* Gradients never flow out of inference mode, so a call on such a tensor that another argument's
 * gradient would record is an error where it would have to be saved (saved.c). Writing one in place
 * while recording is one at once. */
static TN_COLD tn_status refuse_inference(tn_call *call)
{
    return tn__fail(call, TN_ERR_AUTOGRAD,
                    "a tensor made in inference mode is written in place by a call that is "
                    "recorded; clone it outside of inference mode first");
}

static tn_status check_written(tn_call *call, const tn__derivative *d, const void *frame)
{
    tn_tensor *self = tn__tensor_at(frame, d->self);
    if (self->flags & TN_TENSOR_INFERENCE)
        return refuse_inference(call);
    return tn__check_writable(call, d->decl.name, self);
}

/* ---- results --------------------------------------------------------------------------------- */
static bool can_differ(const tn_tensor *t)
{
    return t->dtype >= TN_F16; /* tensor_impl.h asserts what that means */
}

static bool is_argument(const tn__derivative *d, const void *frame, const tn_tensor *t)
{
    for (int i = 0; i < d->n_args; i++) {
        tn__items span = tn__items_at(frame, &d->args[i]);
        for (int64_t j = 0; j < span.len; j++)
            if (span.data[j] == t)
                return true;
    }
    return false;
}

/* A kernel may return an argument itself, which keeps its own history. */
static tn_status own_tensor(tn_tensor **t)
{
    tn_tensor *view;
    TN__TRY(tn__tensor_view(NULL, *t, (*t)->ndim, (*t)->sizes, (*t)->strides, tn__impl(*t)->offset,
                            (*t)->dtype, &view));
    tn__tensor_release(*t);
    *t = view;
    return TN_OK;
}

static tn_status attach(const tn__derivative *d, const void *frame, tn__node *n, tn_tensor **t,
                        uint32_t nr, bool one_of_many)
{
    if (is_argument(d, frame, *t))
        TN__TRY(own_tensor(t));
    TN__TRY(tn__outlook_set(&n->outlooks[nr], *t));
    tn__tensor *impl = tn__impl(*t);
    if (d->effect != TN__EFFECT_VIEW && impl->base) { /* shares memory, but is no view to anyone */
        tn__tensor_release(impl->base);
        impl->base = NULL;
    }
    TN__TRY(tn__set_history(*t, n, nr));
    if (one_of_many)
        tn__record_of(*t)->view_kind = TN__VIEW_ONE_OF_MANY;
    return TN_OK;
}

static tn_status need_outlooks(tn__node *n, uint32_t count)
{
    if (count > 1) {
        tn__outlook *all = tn__zalloc(count * sizeof *all);
        if (!all)
            return tn__fail_memory(NULL, count * sizeof *all);
        n->outlooks = all;
    } else {
        n->one_output = (tn__outlook){0};
    }
    n->n_outputs = count;
    return TN_OK;
}

static TN_COLD tn_status attach_all(const tn__derivative *d, void *frame, tn__node *n)
{
    uint32_t count = 0, nr = 0;
    for (int i = 0; i < d->n_results; i++)
        count += (uint32_t)tn__items_at(frame, &d->results[i]).len;
    TN__TRY(need_outlooks(n, count));
    for (int i = 0; i < d->n_results; i++) {
        const tn__place *p = &d->results[i];
        tn__items span = tn__items_at(frame, p);
        for (int64_t j = 0; j < span.len; j++, nr++) {
            tn_tensor **t = (tn_tensor **)&span.data[j];
            if (*t && p->differentiable && can_differ(*t))
                TN__TRY(attach(d, frame, n, t, nr, p->is_list && d->effect == TN__EFFECT_VIEW));
        }
    }
    return TN_OK;
}

/* Made by the call, and nobody else has it or its memory. */
static inline bool is_fresh(const tn_tensor *t)
{
    const tn__tensor *impl = tn__impl(t);
    return !impl->autograd && !impl->base &&
           atomic_load_explicit(&impl->refs, memory_order_relaxed) == 1 &&
           atomic_load_explicit(&impl->storage->refs, memory_order_relaxed) == 1;
}

/* Most calls have one fresh result, which takes over the reference to the node: *taken. */
static inline __attribute__((always_inline)) tn_status attach_results(const tn__derivative *d,
                                                                      void *frame, tn__node *n,
                                                                      bool *taken)
{
    tn_tensor *t = d->has_one_result ? tn__tensor_at(frame, d->results[0].offset) : NULL;
    if (TN__UNLIKELY(!t || !can_differ(t) || !is_fresh(t)))
        return attach_all(d, frame, n);
    n->n_outputs = 1;
    TN__TRY(tn__outlook_set(&n->one_output, t));
    atomic_store_explicit(&tn__impl(t)->storage->version, 0, memory_order_relaxed);
    TN__TRY(tn__begin_history(t, n));
    *taken = true;
    return TN_OK;
}

/* ---- in place -------------------------------------------------------------------------------- */
typedef struct
    geometry { /* of the written tensor before the call, to know transpose_ and its kin */
    int64_t ndim, offset, dims[2 * TN_MAX_DIMS];
} geometry;

static void remember(geometry *g, const tn_tensor *t)
{
    g->ndim = t->ndim;
    g->offset = tn__impl(t)->offset;
    for (int d = 0; d < t->ndim; d++) {
        g->dims[2 * d] = t->sizes[d];
        g->dims[2 * d + 1] = t->strides[d];
    }
}

static bool has_changed(const geometry *g, const tn_tensor *t)
{
    if (g->ndim != t->ndim || g->offset != tn__impl(t)->offset)
        return true;
    for (int d = 0; d < t->ndim; d++)
        if (g->dims[2 * d] != t->sizes[d] || g->dims[2 * d + 1] != t->strides[d])
            return true;
    return false;
}

/* Which edge of the node is the written tensor's; n_edges: none. */
static uint32_t written_edge(const tn__derivative *d, const void *frame, const tn__node *n)
{
    uint32_t at = 0;
    if (d->written < 0)
        return n->n_edges;
    for (int i = 0; i < d->written; i++)
        at += (uint32_t)tn__items_at(frame, &d->args[i]).len;
    return at;
}

static tn_status attach_written(const tn__derivative *d, void *frame, tn__node *n,
                                const geometry *before)
{
    tn_tensor *self = tn__tensor_at(frame, d->self);
    TN__TRY(need_outlooks(n, 1));
    TN__TRY(tn__outlook_set(&n->one_output, self));
    if (has_changed(before, self)) /* another view of the same elements: nothing was written */
        return tn__set_history(self, n, 0);
    return tn__rebase(self, n, written_edge(d, frame, n));
}

static tn_status record_in_place(tn_call *call, const tn__derivative *d, void *frame)
{
    tn__op_node *o;
    geometry before;
    TN__TRY(check_written(call, d, frame));
    const tn__site at = site_of(call);
    TN__TRY(tn__op_node_new(d, frame, &at, &o));
    tn__node *n = &o->node;
    remember(&before, tn__tensor_at(frame, d->self));
    tn_status status = below(call, frame);
    if (status == TN_OK) {
        status = attach_written(d, frame, n, &before);
        if (status == TN_OK)
            status = tn__op_node_save_results(n, frame);
        if (status != TN_OK)
            tn_op_frame_release(call->op, frame);
    }
    tn__node_release(n);
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */
static inline __attribute__((always_inline)) tn_status record_results(const tn__derivative *d,
                                                                      void *frame, tn__node *n,
                                                                      const tn__site *at)
{
    bool taken = false;
    tn_status status = below_at(d->op, frame, at);
    if (TN__LIKELY(status == TN_OK)) {
        status = attach_results(d, frame, n, &taken);
        if (status == TN_OK && d->keeps_results)
            status = tn__op_node_save_results(n, frame);
        if (TN__UNLIKELY(status != TN_OK))
            tn_op_frame_release(d->op, frame);
    }
    if (!taken)
        tn__node_release(n);
    return status;
}

static tn_status record_at(const tn__derivative *d, void *frame, const tn__site *at)
{
    tn__op_node *o;
    TN__TRY(tn__op_node_new(d, frame, at, &o));
    return record_results(d, frame, &o->node, at);
}

static tn_status record(tn_call *call, const tn__derivative *d, void *frame)
{
    const tn__site at = site_of(call);
    return d->effect == TN__EFFECT_INPLACE ? record_in_place(call, d, frame)
                                           : record_at(d, frame, &at);
}

/* Whether what is written belongs to somebody's history, through a view that history knows nothing
 * of: no argument of the call may say so. */
static bool writes_unfollowed(const tn__derivative *d, const void *frame)
{
    const tn_tensor *self = tn__tensor_at(frame, d->self), *base = tn__impl(self)->base;
    return self->flags & TN__TENSOR_UNFOLLOWED && base && tn__requires_grad(base);
}

static TN_COLD tn_status call_writing(tn_call *call, const tn__derivative *d, void *frame,
                                      const tn__survey *s)
{
    /* What is overwritten loses its gradient, even where the call itself has none. */
    bool cuts = d->effect == TN__EFFECT_INPLACE && d->written < 0 && !s->wants &&
                tn__requires_grad(tn__tensor_at(frame, d->self));
    if (d->effect == TN__EFFECT_INPLACE && tn__recording() && writes_unfollowed(d, frame))
        return check_written(call, d, frame);
    if (d->effect == TN__EFFECT_OUT && tn__recording() && (s->wants || writes_history(d, frame)))
        return refuse_out(call);
    if (s->tangents)
        return tn__forward_call(call, d, frame, s, below, record);
    if ((!s->wants && !cuts) || (!d->decl.backward && !d->unknown && !cuts) || !tn__recording())
        return below(call, frame);
    return record(call, d, frame);
}

static inline tn_status call_with(tn_call *call, const tn__derivative *d, void *frame)
{
    const tn__survey s = survey(d, frame);
    if (d->effect == TN__EFFECT_INPLACE || d->effect == TN__EFFECT_OUT)
        return call_writing(call, d, frame, &s);
    if (TN__UNLIKELY(s.tangents))
        return tn__forward_call(call, d, frame, &s, below, record);
    if (!s.wants || (!d->decl.backward && !d->unknown) || !tn__recording())
        return below(call, frame);
    return record(call, d, frame);
}

tn_status tn__autograd_call(tn_call *call, void *frame)
{
    return call_with(call, call->data, frame);
}

/* The usual call is recorded without a tn_call of its own. */
static __attribute__((noinline)) tn_status enter(const tn_op *op, tn__kernel *k, void *frame,
                                                 const tn__site *at)
{
    const tn__derivative *d = k->data;
    if (!d->is_usual || tn__forward_active)
        return tn__kernel_call(op, k, frame, at->keys, at->file, at->line);
    if (!tn__recording() || !any_requires_grad(d, frame))
        return below_at(op, frame, at);
    tn_status status = record_at(d, frame, at);
    return status == TN_OK ? TN_OK : tn__kernel_failed(op, frame, status);
}

/* And where its frame is plain too, with fewer steps. */
tn_status tn__autograd_enter(const tn_op *op, tn__kernel *k, void *frame, uint64_t keys,
                             const char *file, int line)
{
    const tn__derivative *d = k->data;
    const tn__site at = {keys, file, line};
    if (TN__UNLIKELY(!d->is_short || tn__forward_active))
        return enter(op, k, frame, &at);
    if (!tn__recording() || !any_of_all(d, frame))
        return below_at(op, frame, &at);
    tn__op_node *o;
    tn_status status = tn__op_node_plain(d, frame, &at, &o);
    if (TN__LIKELY(status == TN_OK))
        status = record_results(d, frame, &o->node, &at);
    return TN__LIKELY(status == TN_OK) ? TN_OK : tn__kernel_failed(op, frame, status);
}

tn_status tn__autograd_unknown(tn_call *call, void *frame)
{
    const tn__derivative *d = tn__derivative_unknown(call->op);
    return d ? call_with(call, d, frame) : TN_ERR_MEMORY;
}

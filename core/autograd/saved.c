/* saved.c - tensors kept for backward, and the proof that nobody has written them since.
 *
 * An input is kept as it is: its history is older than the node, until a recorded call writes it,
 * which makes its savers let go of it (spend.c). An output would hold its own node,
 * so what is kept of it is an alias without history, which gets the node back when a pass creates a
 * graph. The storage's version counts every write through any view; of an input that was given
 * other memory, the tensor itself knows (core/tensor/replace.c). */
#include "core/autograd/autograd_impl.h"

static unsigned version_of(const tn_tensor *t)
{
    return atomic_load_explicit(&tn__impl(t)->storage->version, memory_order_relaxed);
}

tn_status tn__tensor_detached(tn_call *call, tn_tensor *t, tn_tensor **out)
{
    TN__TRY(tn__tensor_view(call, t, t->ndim, t->sizes, t->strides, tn__impl(t)->offset, t->dtype,
                            out));
    tn__tensor *alias = tn__impl(*out);
    tn__tensor_release(alias->base);
    alias->base = NULL;
    alias->pub.keys &= ~TN__KEY_AUTOGRAD;
    alias->pub.flags &= (uint16_t)~TN__TENSOR_UNFOLLOWED;
    return TN_OK;
}

static inline bool has_moved(const tn__saved *s)
{
    return s->moves != tn__impl(s->t)->moves;
}

static TN_COLD tn_status of_inference(const tn_tensor *t)
{
    char shape[TN__SHAPE_CHARS];
    return tn__fail(NULL, TN_ERR_AUTOGRAD,
                    "a tensor of shape %s was made in inference mode and cannot be saved for a "
                    "gradient; clone it outside of inference mode first",
                    tn__shape_text(shape, t->ndim, t->sizes));
}

/* Its history never changes, so that it may be held for good. */
static inline bool is_wanted_leaf(const tn_tensor *t)
{
    const tn__record *r = tn__record_of(t);
    return r && r->requires_grad && !r->grad_fn;
}

tn_status tn__save_input(tn__saved *s, tn_tensor *t)
{
    if (TN__UNLIKELY(t->flags & TN_TENSOR_INFERENCE))
        return of_inference(t);
    tn__tensor_retain(t);
    *s = (tn__saved){.t = t,
                     .version = version_of(t),
                     .counted = !is_wanted_leaf(t),
                     .moves = tn__impl(t)->moves};
    if (s->counted)
        atomic_fetch_add_explicit(&tn__impl(t)->storage->savers, 1, memory_order_relaxed);
    return TN_OK;
}

tn_status tn__save_output(tn__saved *s, tn_tensor *t, uint32_t nr)
{
    tn_tensor *alias;
    TN__TRY(tn__tensor_detached(NULL, t, &alias));
    *s = (tn__saved){.t = alias,
                     .version = version_of(t),
                     .is_output = true,
                     .moves = tn__impl(alias)->moves,
                     .nr = nr};
    return TN_OK;
}

/* Who counted one that has moved since is not known any more; the count stays too high, which costs
 * time alone. */
static inline void uncount(tn__saved *s)
{
    if (s->counted && TN__LIKELY(!has_moved(s)))
        atomic_fetch_sub_explicit(&tn__impl(s->t)->storage->savers, 1, memory_order_relaxed);
    s->counted = false;
}

void tn__saved_drop(tn__saved *s)
{
    if (s->t)
        uncount(s);
    tn__tensor_release(s->t);
    s->t = NULL;
}

tn_status tn__saved_spend(tn__saved *s, const tn__storage *storage, uint32_t *found)
{
    tn_tensor *alias, *held = s->t;
    if (!s->counted || tn__impl(held)->storage != storage)
        return TN_OK;
    TN__TRY(tn__tensor_detached(NULL, held, &alias));
    bool moved = has_moved(s);
    uncount(s);
    s->t = alias;
    s->moves = (uint16_t)(tn__impl(alias)->moves + moved);
    ++*found;
    tn__tensor_release(held);
    return TN_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */
static const char *maker(const tn__saved *s, const tn__node *n, char *buf, size_t cap)
{
    const tn__record *r = tn__record_of(s->t);
    if (s->is_output)
        snprintf(buf, cap, "output %u of %s", s->nr, n->name);
    else if (r && r->grad_fn)
        snprintf(buf, cap, "output %u of %s", r->nr, r->grad_fn->name);
    else
        snprintf(buf, cap, "%s", r && r->requires_grad ? "a leaf" : "a tensor without history");
    return buf;
}

static TN_COLD tn_status was_moved(const tn__saved *s, const tn__node *n)
{
    char shape[TN__SHAPE_CHARS], made[128], saved[TN__SITE_CHARS];
    return tn__fail(&(tn_call){.op = n->op, .file = n->file, .line = n->line}, TN_ERR_AUTOGRAD,
                    "%s: a tensor that its gradient needs, now of shape %s and dtype %s, %s, has "
                    "been modified by an inplace operation: it was given other memory (set_, "
                    "resize_) after it was saved by %s %s",
                    n->name, tn__shape_text(shape, s->t->ndim, s->t->sizes),
                    tn__dtype_name(s->t->dtype), maker(s, n, made, sizeof made),
                    n->op ? n->op->name : n->name, tn__site_text(saved, n->file, n->line));
}

static TN_COLD tn_status was_modified(const tn__saved *s, const tn__node *n)
{
    char shape[TN__SHAPE_CHARS], made[128], saved[TN__SITE_CHARS], written[TN__SITE_CHARS];
    const tn__storage *storage = tn__impl(s->t)->storage;
    return tn__fail(&(tn_call){.op = n->op, .file = n->file, .line = n->line}, TN_ERR_AUTOGRAD,
                    "%s: a tensor that its gradient needs, of shape %s and dtype %s, %s, has been "
                    "modified by an inplace operation: it is at version %u, expected version %u; "
                    "it was saved by %s %s and last written %s",
                    n->name, tn__shape_text(shape, s->t->ndim, s->t->sizes),
                    tn__dtype_name(s->t->dtype), maker(s, n, made, sizeof made), version_of(s->t),
                    s->version, n->op ? n->op->name : n->name,
                    tn__site_text(saved, n->file, n->line),
                    tn__site_text(written, storage->written_file, storage->written_line));
}

tn_status tn__saved_get(const tn__saved *s, tn__node *n, const tn__pass *pass, tn_tensor **out,
                        tn_tensor **owned)
{
    *owned = NULL;
    if (TN__UNLIKELY(has_moved(s)))
        return was_moved(s, n);
    if (TN__UNLIKELY(version_of(s->t) != s->version))
        return was_modified(s, n);
    if (TN__LIKELY(!s->is_output || !pass->create_graph)) {
        *out = s->t;
        return TN_OK;
    }
    TN__TRY(tn__tensor_detached(NULL, s->t, owned));
    tn_status status = tn__set_history(*owned, n, s->nr);
    if (status != TN_OK) {
        tn__tensor_release(*owned);
        *owned = NULL;
    }
    *out = *owned;
    return status;
}

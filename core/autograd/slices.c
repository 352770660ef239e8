/* slices.c - what an in-place call does to history.
 *
 * A tensor of its own memory simply gets the call's node. A view shares its memory with a base, so
 * it is the base that gets a new history: a Slices node, whose gradient is the base's with the
 * view's part taken out, sent through the call's node, and put back. The views of the base find
 * their epoch behind the base's and take, when they are next read, a View node that embeds their
 * gradient in the base's.
 *
 * Both address the base's storage by strides: two views of a base need not agree on dimensions, nor
 * on whether they see complex numbers or pairs of real ones. Where they do not, it is the pairs that
 * are counted. */
#include "core/autograd/slices.h"

#include <string.h>

/* Sizes and strides of a tensor, and where it begins in its storage. */
typedef struct geometry {
    int64_t ndim, offset; /* elements */
    bool is_pairs;        /* of complex numbers, where the other tensor has real ones */
    int64_t sizes[TN_MAX_DIMS + 1], strides[TN_MAX_DIMS + 1];
} geometry;

typedef struct slices_node {
    tn__node node;

    tn__node *fn;  /* of the call; NULL: a View node */
    uint32_t self; /* which edge of fn is the written tensor's; fn->n_edges: none */
    size_t bytes;
    geometry base, view; /* last: cut to the dimensions that are there would save little */
} slices_node;

static bool is_complex(const tn_tensor *t)
{
    return TN_DTYPE_BIT(t->dtype) & TN_DTYPES_COMPLEX;
}

/* Of t; `other` is its base, or its view. */
static void take_geometry(geometry *g, const tn_tensor *t, const tn_tensor *other)
{
    g->ndim = t->ndim;
    g->offset = tn__impl(t)->offset;
    g->is_pairs = is_complex(t) && !is_complex(other);
    memcpy(g->sizes, t->sizes, (size_t)t->ndim * sizeof *g->sizes);
    memcpy(g->strides, t->strides, (size_t)t->ndim * sizeof *g->strides);
}

/* The same in real numbers, where these are pairs. */
static geometry in_units(const geometry *g)
{
    geometry u = *g;
    if (!g->is_pairs)
        return u;
    u.offset *= 2;
    for (int64_t d = 0; d < u.ndim; d++)
        u.strides[d] *= 2;
    u.sizes[u.ndim] = 2;
    u.strides[u.ndim++] = 1;
    return u;
}

static tn_ints sizes_of(const geometry *g)
{
    return (tn_ints){g->sizes, g->ndim};
}
static tn_ints strides_of(const geometry *g)
{
    return (tn_ints){g->strides, g->ndim};
}

static void slices_drop(tn__node *n)
{
    slices_node *s = (slices_node *)n;
    if (s->fn)
        s->fn->class->drop(s->fn);
}

static void slices_free(tn__node *n)
{
    slices_node *s = (slices_node *)n;
    if (s->fn)
        tn__node_release(s->fn);
    if (s->bytes <= 16384)
        tn__small_free(s, s->bytes);
    else
        tn__block_free(s, s->bytes);
}

/* Replaces *t, a reference, by what `op` makes of it. */
static tn_status apply(tn_status (*op)(tn_tensor *t, tn_tensor **out), tn_tensor **t)
{
    tn_tensor *made;
    TN__TRY(op(*t, &made));
    tn__tensor_release(*t);
    *t = made;
    return TN_OK;
}

/* ---- the gradient of a view, as one of its base ---------------------------------------------- */
/* As a flat run of the base's memory first, because the base's own strides are any dense ones. */
static tn_status embed_units(const slices_node *s, tn_tensor *grad, tn_tensor **out)
{
    const geometry b = in_units(&s->base), v = in_units(&s->view);
    int64_t span = tn__span(b.ndim, b.sizes, b.strides);
    tn_tensor *flat;
    TN__TRY(tn__op_as_strided_backward(grad, (tn_ints){&span, 1}, sizes_of(&v), strides_of(&v),
                                       v.offset - b.offset, &flat));
    if (b.ndim == 1 && b.strides[0] == 1) {
        *out = flat;
        return TN_OK;
    }
    tn_status status = tn__op_as_strided(flat, sizes_of(&b), strides_of(&b), 0, out);
    tn__tensor_release(flat);
    return status;
}

static tn_status embed(const slices_node *s, tn_tensor *grad, tn_tensor **out)
{
    tn_tensor *whole = NULL;
    tn__tensor_retain(grad);
    tn_status status = s->view.is_pairs ? apply(tn__op_view_as_real, &grad) : TN_OK;
    if (status == TN_OK)
        status = embed_units(s, grad, &whole);
    if (status == TN_OK && s->base.is_pairs)
        status = apply(tn__op_view_as_complex, &whole);
    tn__tensor_release(grad);
    if (status == TN_OK)
        *out = whole;
    else
        tn__tensor_release(whole);
    return status;
}

static tn_status view_run(tn__node *n, const tn__pass *pass, tn_tensor *const *grads,
                          const bool *wants, tn_tensor **out)
{
    (void)pass;
    return tn__wanted(n, wants, 0) ? embed((slices_node *)n, grads[0], &out[0]) : TN_OK;
}

/* ---- the gradient of a base that was written through a view ---------------------------------- */
/* The view's part of a tensor that has the base's strides: a view into it. */
static tn_status part_of(const geometry *base, const geometry *view, tn_tensor *whole,
                         tn_tensor **out)
{
    const geometry b = in_units(base), v = in_units(view);
    tn_tensor *part = NULL;
    tn__tensor_retain(whole);
    tn_status status = base->is_pairs ? apply(tn__op_view_as_real, &whole) : TN_OK;
    if (status == TN_OK)
        status = tn__op_as_strided(whole, sizes_of(&v), strides_of(&v),
                                   tn__impl(whole)->offset + v.offset - b.offset, &part);
    if (status == TN_OK && view->is_pairs)
        status = apply(tn__op_view_as_complex, &part);
    tn__tensor_release(whole);
    if (status == TN_OK)
        *out = part;
    else
        tn__tensor_release(part);
    return status;
}

tn_status tn__view_part(const tn_tensor *base, const tn_tensor *view, tn_tensor *whole,
                        tn_tensor **out)
{
    geometry b, v;
    take_geometry(&b, base, view);
    take_geometry(&v, view, base);
    return part_of(&b, &v, whole, out);
}

/* fn's gradients: of the written tensor in *self, the others go to out behind the base's. */
static tn_status run_call(slices_node *s, const tn__pass *pass, tn_tensor *part, const bool *wants,
                          tn_tensor **out, tn_tensor **self)
{
    tn__node *fn = s->fn;
    bool asked[fn->n_edges + 1];
    tn_tensor *results[fn->n_edges + 1];
    uint32_t to = 1;
    for (uint32_t i = 0; i < fn->n_edges; i++) {
        asked[i] = tn__wanted(&s->node, wants, i == s->self ? 0 : to++);
        results[i] = NULL;
    }
    TN__TRY(fn->class->run(fn, pass, &part, asked, results));
    *self = s->self < fn->n_edges ? results[s->self] : NULL;
    to = 1;
    for (uint32_t i = 0; i < fn->n_edges; i++)
        if (i != s->self)
            out[to++] = results[i];
    return TN_OK;
}

static tn_status put_part(tn_tensor *into, tn_tensor *self)
{
    if (self)
        return tn__op_copy_into(into, self);
    return tn__op_zero(into); /* what was there before is gone, and its gradient with it */
}

static tn_status slices_run(tn__node *n, const tn__pass *pass, tn_tensor *const *grads,
                            const bool *wants, tn_tensor **out)
{
    slices_node *s = (slices_node *)n;
    tn_tensor *whole = NULL, *part = NULL, *copy = NULL, *self = NULL;
    const bool wanted = tn__wanted(n, wants, 0);
    tn_status status =
        tn__op_new_strided(grads[0], sizes_of(&s->base), strides_of(&s->base), &whole);
    if (status == TN_OK)
        status = tn__op_copy_into(whole, grads[0]);
    if (status == TN_OK)
        status = part_of(&s->base, &s->view, whole, &part);
    if (status == TN_OK)
        status = tn__op_clone(part, &copy);
    if (status == TN_OK)
        status = run_call(s, pass, copy, wants, out, &self);
    if (status == TN_OK && wanted)
        status = put_part(part, self);
    tn__tensor_release(self);
    tn__tensor_release(copy);
    tn__tensor_release(part);
    if (status == TN_OK && wanted)
        out[0] = whole;
    else
        tn__tensor_release(whole);
    for (uint32_t i = 0; status != TN_OK && i < n->n_edges; i++) {
        tn__tensor_release(out[i]);
        out[i] = NULL;
    }
    return status;
}

static tn_status slices_spend(tn__node *n, const tn__storage *storage, uint32_t *found)
{
    tn__node *fn = ((slices_node *)n)->fn;
    return fn && fn->class->spend ? fn->class->spend(fn, storage, found) : TN_OK;
}

static const tn__node_class view_class = {view_run, slices_drop, NULL, slices_free};
static const tn__node_class slices_class = {slices_run, slices_drop, slices_spend, slices_free};

static tn_status new_node(const tn__node_class *class, const char *name, const tn_tensor *base,
                          const tn_tensor *view, uint32_t n_edges, slices_node **out)
{
    size_t bytes = sizeof(slices_node) + n_edges * sizeof(tn__edge);
    slices_node *s = bytes <= 16384 ? tn__small_alloc(bytes) : tn__block_alloc(bytes);
    if (!s)
        return tn__fail_memory(NULL, bytes);
    memset(s, 0, offsetof(slices_node, base));
    s->bytes = bytes;
    tn__node_init(&s->node, class, name);
    s->node.edges = (tn__edge *)(s + 1);
    memset(s->node.edges, 0, n_edges * sizeof(tn__edge));
    s->node.n_edges = n_edges;
    take_geometry(&s->base, base, view);
    take_geometry(&s->view, view, base);
    *out = s;
    return TN_OK;
}

/* ---- views behind their base ----------------------------------------------------------------- */
bool tn__view_is_followed(const tn_tensor *base, const tn_tensor *view)
{
    int a = base->dtype, b = view->dtype, real = a < b ? a : b, complex = a < b ? b : a;
    return a == b || (real == TN_F32 && complex == TN_C64) ||
           (real == TN_F64 && complex == TN_C128);
}

tn_status tn__view_renew(tn_tensor *view)
{
    tn_tensor *base = tn__impl(view)->base;
    slices_node *s;
    if (!tn__view_is_followed(base, view))
        return tn__fail(NULL, TN_ERR_AUTOGRAD,
                        "a view of dtype %s is used whose base, of dtype %s, has been written in "
                        "place since; take the view again",
                        tn__dtype_name(view->dtype), tn__dtype_name(base->dtype));
    TN__TRY(new_node(&view_class, "ViewBackward", base, view, 1, &s));
    tn_status status = tn__edge_of(base, &s->node.edges[0]);
    if (status == TN_OK && s->node.edges[0].node)
        tn__node_retain(s->node.edges[0].node);
    s->node.n_outputs = 1;
    if (status == TN_OK)
        status = tn__outlook_set(&s->node.one_output, view);
    if (status == TN_OK)
        status = tn__set_history(view, &s->node, 0);
    tn__node_release(&s->node);
    return status;
}

/* ---- may it be written? ---------------------------------------------------------------------- */
static bool is_wanted_leaf(const tn_tensor *t)
{
    const tn__record *r = tn__record_of(t);
    return r && r->requires_grad && !r->grad_fn;
}

static TN_COLD tn_status refuse(tn_call *call, const char *name, const tn_tensor *t,
                                const char *why)
{
    char shape[TN__SHAPE_CHARS];
    return tn__fail(call, TN_ERR_AUTOGRAD, "%s: a tensor of shape %s is written in place, but %s",
                    name, tn__shape_text(shape, t->ndim, t->sizes), why);
}

tn_status tn__check_writable(tn_call *call, const char *name, tn_tensor *t)
{
    const tn_tensor *base = tn__impl(t)->base;
    const tn__record *r = tn__record_of(t);
    if (is_wanted_leaf(t))
        return refuse(call, name, t,
                      "it is a leaf that requires a gradient; write it in TN_NO_GRAD, or a copy");
    if (!base)
        return TN_OK;
    if (!tn__shares_memory(base, t))
        return refuse(call, name, t,
                      "it is a view of a tensor that has been given other memory since (set_, "
                      "resize_); take a view of what it is now");
    if (!tn__view_is_followed(base, t))
        return refuse(
            call, name, t,
            "it is a view of another dtype, whose base would not see the write; write the "
            "base, or a copy");
    if (is_wanted_leaf(base))
        return refuse(call, name, t,
                      "it is a view of a leaf that requires a gradient; write it in TN_NO_GRAD, or "
                      "a copy");
    if (r && r->view_kind == TN__VIEW_ONE_OF_MANY)
        return refuse(call, name, t,
                      "it is one of several views that one call made (split, unbind); take it with "
                      "narrow or select");
    if (r && r->view_kind == TN__VIEW_OF_FUNCTION)
        return refuse(call, name, t,
                      "it is a view made inside a custom function, whose backward would be "
                      "bypassed; clone it first");
    if (!(t->keys & TN__KEY_AUTOGRAD) || t->flags & TN__TENSOR_UNFOLLOWED)
        return refuse(call, name, t,
                      "it is a view made in TN_NO_GRAD and the call is recorded; make the view "
                      "while recording, or write it in TN_NO_GRAD");
    return TN_OK;
}

/* ---- new histories --------------------------------------------------------------------------- */
/* The written tensor's edge leaves the call's node: the Slices node reads it from the base. */
static tn_status move_edges(slices_node *s, tn_tensor *base)
{
    tn__node *fn = s->fn;
    tn__edge *to = s->node.edges;
    TN__TRY(tn__edge_of(base, &to[0]));
    if (to[0].node)
        tn__node_retain(to[0].node);
    uint32_t at = 1;
    for (uint32_t i = 0; i < fn->n_edges; i++) {
        tn__edge e = fn->edges[i];
        if (i == s->self)
            continue;
        to[at++] = e;
        if (e.node)
            tn__node_retain(e.node);
    }
    return TN_OK;
}

static tn_status rebase_view(tn_tensor *view, tn_tensor *base, tn__node *n, uint32_t self)
{
    slices_node *s;
    uint32_t others = n->n_edges - (self < n->n_edges);
    TN__TRY(new_node(&slices_class, n->name, base, view, 1 + others, &s));
    s->fn = n;
    tn__node_retain(n);
    s->self = self;
    s->node.op = n->op;
    s->node.file = n->file;
    s->node.line = n->line;
    s->node.n_outputs = 1;
    tn_status status = move_edges(s, base);
    if (status == TN_OK)
        status = tn__outlook_set(&s->node.one_output, base);
    if (status == TN_OK)
        status = tn__set_history(base, &s->node, 0);
    if (status == TN_OK) {
        tn__record_of(base)->epoch++;
        status = tn__spend_savers(&s->node, base);
    }
    tn__node_release(&s->node);
    return status;
}

tn_status tn__rebase(tn_tensor *t, tn__node *n, uint32_t self)
{
    tn_tensor *base = tn__impl(t)->base;
    if (base)
        return rebase_view(t, base, n, self);
    TN__TRY(tn__set_history(t, n, 0));
    tn__record_of(t)->epoch++;
    return tn__spend_savers(n, t);
}

/* constant.c - gradients of gradients that are zero because a formula moves in steps.
 *
 * relu's gradient is where(result <= 0, 0, grad): it depends on x, and yet no recorded operator says
 * so, since comparisons have no gradient. Its derivative with respect to x is 0 almost everywhere,
 * which is an answer, not an error. So in a pass that creates a graph a gradient whose formula read
 * a value that requires a gradient, without a path to it in what the formula recorded, gets one: a
 * Constant node, which passes gradients on to the history there was, and zeros to the inputs of the
 * call. A formula that reads no values (of add, sum, neg) is linear, and nothing is tied.
 *
 * What the formula recorded are the nodes younger than its start; few, so the walk is bounded, and
 * one that finds no end ties: zeros too many change nothing. */
#include "core/autograd/op_node.h"

#include <tenon/ops.h>

typedef struct constant_node {
    tn__node node;
    size_t bytes;
} constant_node;

enum { SMALL_BLOCK = 16384, MOST_VISITED = 64 };

/* ---- the node -------------------------------------------------------------------------------- */
static tn_status constant_run(tn__node *n, const tn__pass *pass, tn_tensor *const *grads,
                              const bool *wants, tn_tensor **out)
{
    (void)pass;
    tn_status status = TN_OK;
    if (tn__wanted(n, wants, 0)) {
        tn__tensor_retain(grads[0]);
        out[0] = grads[0];
    }
    for (uint32_t i = 1; i < n->n_edges && status == TN_OK; i++) {
        const tn__edge *e = &n->edges[i];
        const tn__outlook *o = &e->node->outlooks[e->nr];
        if (tn__wanted(n, wants, i))
            status = tn_call_zeros((tn_ints){tn__outlook_sizes(o), o->ndim}, o->dtype,
                                   TN_LAYOUT_NONE, o->device, -1, &out[i]);
    }
    for (uint32_t i = 0; i < n->n_edges && status != TN_OK; i++) {
        tn__tensor_release(out[i]);
        out[i] = NULL;
    }
    return status;
}

static void constant_drop(tn__node *n)
{
    (void)n; /* nothing is saved */
}

static void constant_free(tn__node *n)
{
    constant_node *c = (constant_node *)n;
    if (c->bytes <= SMALL_BLOCK)
        tn__small_free(c, c->bytes);
    else
        tn__block_free(c, c->bytes);
}

static const tn__node_class constant_class = {constant_run, constant_drop, NULL, constant_free};

/* An edge to what t's history was, and one to each input of the call that requires a gradient. */
static tn_status new_node(const tn__node *of, const tn__edge *before, const tn_tensor *t,
                          tn__node **out)
{
    size_t bytes = sizeof(constant_node) + (1 + of->n_edges) * sizeof(tn__edge);
    constant_node *c = bytes <= SMALL_BLOCK ? tn__small_alloc(bytes) : tn__block_alloc(bytes);
    if (!c)
        return tn__fail_memory(NULL, bytes);
    tn__node *n = &c->node;
    c->bytes = bytes;
    tn__node_init(n, &constant_class, "ConstantBackward");
    n->edges = (tn__edge *)(c + 1);
    n->edges[n->n_edges++] = *before;
    for (uint32_t i = 0; i < of->n_edges; i++)
        if (of->edges[i].node)
            n->edges[n->n_edges++] = of->edges[i];
    for (uint32_t i = 0; i < n->n_edges; i++)
        if (n->edges[i].node)
            tn__node_retain(n->edges[i].node);
    n->n_outputs = 1;
    tn_status status = tn__outlook_set(&n->one_output, t);
    if (status == TN_OK)
        *out = n;
    else
        tn__node_release(n);
    return status;
}

/* ---- is there a path? ------------------------------------------------------------------------ */
typedef struct walk {
    const tn__node *target, *visited[MOST_VISITED];
    uint32_t nr; /* of the target; ANY: whichever */
    uint64_t since;
    int n, at;
} walk;

#define ANY UINT32_MAX

static bool is_target(const walk *w, const tn__edge *e)
{
    return e->node == w->target && (w->nr == ANY || e->nr == w->nr);
}

static void visit(walk *w, const tn__node *n)
{
    if (!n || tn__is_leaf_node(n) || n->sequence <= w->since || w->n == MOST_VISITED)
        return;
    for (int i = 0; i < w->n; i++)
        if (w->visited[i] == n)
            return;
    w->visited[w->n++] = n;
}

/* From `from` to output nr of target, along nodes younger than since. */
static bool is_reached(const tn__edge *from, const tn__node *target, uint32_t nr, uint64_t since)
{
    walk w = {.target = target, .nr = nr, .since = since};
    if (is_target(&w, from))
        return true;
    for (visit(&w, from->node); w.at < w.n; w.at++) {
        const tn__node *n = w.visited[w.at];
        for (uint32_t i = 0; i < n->n_edges; i++) {
            if (is_target(&w, &n->edges[i]))
                return true;
            visit(&w, n->edges[i].node);
        }
    }
    return false;
}

static tn_status reads_without_path(const tn__op_node *o, const tn__op_saved *saved,
                                    const tn__edge *from, uint64_t since, bool *out)
{
    const tn__saved *s = &saved->saved;
    tn__edge e = {(tn__node *)&o->node, ANY};
    if (!s->t || tn__is_shell(s->t))
        return TN_OK;
    if (!s->is_output) {
        if (!tn__requires_grad(s->t))
            return TN_OK;
        TN__TRY(tn__edge_of(s->t, &e));
    }
    *out |= e.node && !is_reached(from, e.node, e.nr, since);
    return TN_OK;
}

static bool is_in(const tn__op_node *o, const tn__kept *k, tn_tensor *const *field)
{
    const char *place = o->frame + k->place.offset;
    if (!k->place.is_list)
        return (const char *)field == place;
    const tn_tensors *list = (const tn_tensors *)place;
    return field >= list->data && field < list->data + list->len;
}

/* Whether argument i's formula read something that its result, with the history `from`, has no path
 * to. */
static tn_status needs_tie(const tn__op_node *o, int i, const tn__edge *from, uint64_t since,
                           bool *out)
{
    const tn__derivative *d = o->d;
    *out = false;
    for (int k = 0; k < d->n_kept && !*out; k++) {
        if (!(d->kept[k].value_for >> i & 1))
            continue;
        for (uint32_t j = 0; j < o->n_saved && !*out; j++)
            if (is_in(o, &d->kept[k], tn__op_kept(o)[j].field))
                TN__TRY(reads_without_path(o, &tn__op_kept(o)[j], from, since, out));
    }
    return TN_OK;
}

/* ---- tying ----------------------------------------------------------------------------------- */
/* The gradient itself when nobody else has it, else an alias. */
static tn_status own(tn_tensor **grad)
{
    const tn__tensor *t = tn__impl(*grad);
    tn_tensor *alias;
    if (atomic_load_explicit(&t->refs, memory_order_acquire) == 1 && !t->base)
        return TN_OK;
    TN__TRY(tn__tensor_detached(NULL, *grad, &alias));
    tn__tensor_release(*grad);
    *grad = alias;
    return TN_OK;
}

static tn_status tie(const tn__op_node *o, int i, uint64_t since, tn_tensor **grad)
{
    tn__edge from = {NULL, 0};
    tn__node *n = NULL;
    bool needed;
    if (tn__requires_grad(*grad))
        TN__TRY(tn__edge_of(*grad, &from));
    TN__TRY(needs_tie(o, i, &from, since, &needed));
    if (!needed)
        return TN_OK;
    TN__TRY(new_node(&o->node, &from, *grad, &n));
    tn_status status = own(grad);
    if (status == TN_OK)
        status = tn__set_history(*grad, n, 0);
    tn__node_release(n);
    return status;
}

tn_status tn__op_tie(const tn__op_node *o, uint64_t mask, const int32_t *first, uint64_t since,
                     tn_tensor **grads)
{
    for (int i = 0; i < o->d->n_args; i++)
        for (int32_t j = first[i]; mask >> i & 1 && j < first[i + 1]; j++)
            if (grads[j])
                TN__TRY(tie(o, i, since, &grads[j]));
    return TN_OK;
}

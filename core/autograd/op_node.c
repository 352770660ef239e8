/* op_node.c - the node of a recorded operator call: a copy of its frame, in which of the tensors
 * only those stand that the gradients asked for need.
 *
 * One block holds it all: the node, its edges, the frame, the saved tensors, and copies of the
 * frame's lists and strings. What is kept by shape alone is a tensor without data, in the frame's
 * field like any other, so that a derivative function reads one frame whatever was saved how. */
#include <string.h>

#include "core/autograd/derivative.h"

typedef struct kept {
    tn__saved saved;
    tn_tensor **field; /* where it stands in the frame */
} kept;

typedef struct op_node {
    tn__node node;
    const tn__derivative *d;
    uint64_t wants;
    size_t bytes; /* of the block */
    char *frame;
    kept *kept; /* as many as were saved, in the order of the arguments, then of the results */
    uint32_t n_saved;
} op_node;

enum { SMALL_BLOCK = 16384 };

static tn_status op_run(tn__node *n, const tn__pass *pass, tn_tensor *const *grads,
                        const bool *wants, tn_tensor **out);
static void op_drop(tn__node *n);

static void op_free(tn__node *n)
{
    op_node *o = (op_node *)n;
    for (uint32_t i = 0; i < o->n_saved; i++)
        tn__saved_drop(&o->kept[i].saved);
    if (n->outlooks != &n->one_output)
        tn__free(n->outlooks);
    if (o->bytes <= SMALL_BLOCK)
        tn__small_free(o, o->bytes);
    else
        tn__block_free(o, o->bytes);
}

static tn_status op_spend(tn__node *n, const tn__storage *storage, uint32_t *found)
{
    op_node *o = (op_node *)n;
    for (uint32_t i = 0; i < o->n_saved; i++) {
        kept *k = &o->kept[i];
        TN__TRY(tn__saved_spend(&k->saved, storage, found));
        *k->field = k->saved.t;
    }
    return TN_OK;
}

static const tn__node_class op_class = {op_run, op_drop, op_spend, op_free};

/* ---- tensors without data -------------------------------------------------------------------- */
static tn__storage nowhere = {.refs = 1, .device = {TN_META, 0}};

static tn_status new_shell(const tn_tensor *of, tn_tensor **out)
{
    tn__tensor *t = tn__small_alloc(sizeof *t);
    int64_t ndim = of->ndim;
    if (!t)
        return tn__fail_memory(NULL, sizeof *t);
    t->pub = *of;
    t->pub.data = NULL;
    t->pub.keys = tn__tensor_keys((tn_device){TN_META, 0});
    atomic_init(&t->refs, 1);
    t->storage = &nowhere;
    atomic_fetch_add_explicit(&nowhere.refs, 1, memory_order_relaxed);
    t->offset = tn__impl(of)->offset;
    t->autograd = NULL;
    t->base = NULL;
    t->dims = t->inline_dims;
    t->dims_capacity = TN__INLINE_DIMS;
    if (ndim > TN__INLINE_DIMS) {
        t->dims = tn__alloc(2 * (size_t)ndim * sizeof *t->dims);
        t->dims_capacity = (uint32_t)ndim;
        if (!t->dims) {
            t->dims = t->inline_dims;
            tn__tensor_release(&t->pub);
            return tn__fail_memory(NULL, 2 * (size_t)ndim * sizeof *t->dims);
        }
    }
    for (int64_t d = 0; d < ndim; d++) {
        t->dims[d] = of->sizes[d];
        t->dims[t->dims_capacity + d] = of->strides[d];
    }
    t->pub.sizes = t->dims;
    t->pub.strides = t->dims + t->dims_capacity;
    *out = &t->pub;
    return TN_OK;
}

static bool is_shell(const tn_tensor *t)
{
    return tn__impl(t)->storage == &nowhere;
}

/* ---- sizes of the block ---------------------------------------------------------------------- */
static size_t rounded(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

static size_t list_bytes(const tn__list *l, const void *frame)
{
    if (l->item == 0) {
        const char *text = *(const char *const *)((const char *)frame + l->offset);
        return text ? rounded(strlen(text) + 1) : 0;
    }
    int64_t len = ((const tn_ints *)((const char *)frame + l->offset))->len;
    return len > 0 ? rounded((size_t)len * l->item) : 0;
}

static inline bool is_asked_for(const tn__kept *k, uint64_t wants)
{
    return (k->value_for | k->shape_for) & wants;
}

/* Tensors that may be saved. */
static inline size_t count_saved(const tn__derivative *d, uint64_t wants)
{
    size_t n = 0;
    for (int i = 0; i < d->n_kept; i++)
        n += is_asked_for(&d->kept[i], wants);
    return n;
}

typedef struct room { /* parts of a node's block behind its frame */
    size_t n_saved;
    size_t arrays, lists; /* bytes: tensors of lists, and the plain lists and strings */
} room;

/* A result that is a list is saved by its shapes or values in a list made later. */
static TN_COLD room count_lists(const tn__derivative *d, const void *frame, uint64_t wants)
{
    room r = {0};
    for (int i = 0; i < d->n_kept; i++) {
        const tn__kept *k = &d->kept[i];
        if (!is_asked_for(k, wants))
            continue;
        int64_t len = k->result >= 0 ? 1 : tn__items_at(frame, &k->place).len;
        r.n_saved += (size_t)len;
        if (k->place.is_list)
            r.arrays += (size_t)len * sizeof(tn_tensor *);
    }
    for (int i = 0; i < d->n_lists; i++)
        r.lists += list_bytes(&d->lists[i], frame);
    return r;
}

/* ---- making one ------------------------------------------------------------------------------ */
static void copy_lists(op_node *o, const void *frame, char *room)
{
    const tn__derivative *d = o->d;
    for (int i = 0; i < d->n_lists; i++) {
        const tn__list *l = &d->lists[i];
        size_t bytes = list_bytes(l, frame);
        void **field = (void **)(o->frame + l->offset); /* a list begins with its data pointer */
        if (!bytes)
            continue;
        size_t used = l->item ? (size_t)((tn_ints *)field)->len * l->item
                              : strlen((const char *)*field) + 1;
        memcpy(room, *field, used);
        *field = room;
        room += bytes;
    }
}

static void clear_tensors(op_node *o)
{
    const tn__derivative *d = o->d;
    for (int i = 0; i < d->n_tensors; i++) {
        char *field = o->frame + d->tensors[i].offset;
        if (TN__UNLIKELY(d->tensors[i].is_list))
            *(tn_tensors *)field = (tn_tensors){NULL, 0};
        else
            *(tn_tensor **)field = NULL;
    }
}

/* What has just been saved stands in the frame from here on. */
static inline void keep(op_node *o, tn_tensor **field)
{
    kept *k = &o->kept[o->n_saved++];
    k->field = field;
    *field = k->saved.t;
}

/* A tensor that the call is about to write is kept as a copy. */
static tn_status save_value(op_node *o, tn_tensor *t, bool is_written)
{
    tn__saved *s = &o->kept[o->n_saved].saved;
    if (!is_written)
        return tn__save_input(s, t);
    tn_tensor *copy;
    TN__TRY(tn__op_clone(t, &copy));
    tn_status status = tn__save_input(s, copy);
    tn__tensor_release(copy);
    return status;
}

static tn_status save_one(op_node *o, tn_tensor *t, bool value, bool is_written, tn_tensor **field)
{
    if (!t)
        return TN_OK;
    tn_tensor *shell = NULL;
    if (value) {
        TN__TRY(save_value(o, t, is_written));
    } else {
        TN__TRY(new_shell(t, &shell));
        o->kept[o->n_saved].saved = (tn__saved){.t = shell};
    }
    keep(o, field);
    return TN_OK;
}

static tn_status save_arguments(op_node *o, const void *frame, char *arrays)
{
    const tn__derivative *d = o->d;
    for (int i = 0; i < d->n_kept; i++) {
        const tn__kept *k = &d->kept[i];
        bool value = k->value_for & o->wants;
        if (k->result >= 0 || !(value || k->shape_for & o->wants))
            continue;
        tn__items from = tn__items_at(frame, &k->place);
        tn_tensor **to = (tn_tensor **)(o->frame + k->place.offset);
        if (k->place.is_list) {
            *(tn_tensors *)(o->frame + k->place.offset) =
                (tn_tensors){(tn_tensor **)arrays, from.len};
            to = (tn_tensor **)arrays;
            arrays += (size_t)from.len * sizeof *to;
            memset(to, 0, (size_t)from.len * sizeof *to);
        }
        bool written = d->effect == TN__EFFECT_INPLACE && k->place.offset == d->self;
        for (int64_t j = 0; j < from.len; j++)
            TN__TRY(save_one(o, from.data[j], value, written, &to[j]));
    }
    return TN_OK;
}

static tn_status look_up_edge(tn__edge *e, tn_tensor *t)
{
    TN__TRY(tn__edge_look_up(t, e));
    if (TN__LIKELY(e->node != NULL))
        tn__node_retain(e->node);
    return TN_OK;
}

/* Holds the node: one that made t, or a leaf's, which is held through its tensor. */
static inline tn_status set_edge(tn__edge *e, tn_tensor *t, bool wanted)
{
    *e = (tn__edge){NULL, 0};
    if (!wanted)
        return TN_OK;
    const tn__record *r = tn__record_of(t);
    if (TN__UNLIKELY(!r || tn__impl(t)->base))
        return look_up_edge(e, t);
    tn__leaf *leaf = __atomic_load_n(&r->leaf, __ATOMIC_ACQUIRE);
    if (r->grad_fn) {
        *e = (tn__edge){r->grad_fn, r->nr};
        atomic_fetch_add_explicit(&r->grad_fn->refs, 1, memory_order_relaxed);
    } else if (TN__LIKELY(leaf && r->requires_grad)) {
        e->node = &leaf->node;
        atomic_fetch_add_explicit(&tn__impl(t)->refs, 1, memory_order_relaxed);
    } else {
        return look_up_edge(e, t);
    }
    return TN_OK;
}

static TN_COLD tn_status make_edges_of_lists(op_node *o, const void *frame)
{
    for (int i = 0; i < o->d->n_args; i++) {
        tn__items span = tn__items_at(frame, &o->d->args[i]);
        for (int64_t j = 0; j < span.len; j++)
            TN__TRY(set_edge(&o->node.edges[o->node.n_edges++], span.data[j],
                             span.data[j] && o->wants >> i & 1));
    }
    return TN_OK;
}

/* The node has the edges that were set, whatever fails. */
static inline tn_status make_edges(op_node *o, const void *frame)
{
    const tn__derivative *d = o->d;
    tn_status status = TN_OK;
    int i = 0;
    if (TN__UNLIKELY(d->has_lists))
        return make_edges_of_lists(o, frame);
    for (; i < d->n_args && status == TN_OK; i++)
        status =
            set_edge(&o->node.edges[i], tn__tensor_at(frame, d->args[i].offset), o->wants >> i & 1);
    o->node.n_edges = (uint32_t)i;
    return status;
}

static inline op_node *new_block(const tn__derivative *d, const tn__survey *s, const room *r)
{
    size_t edges = (size_t)s->n_edges * sizeof(tn__edge), frame = rounded(d->frame_size);
    size_t bytes = sizeof(op_node) + edges + frame + r->n_saved * sizeof(kept) + r->arrays +
                   r->lists;
    op_node *o = TN__LIKELY(bytes <= SMALL_BLOCK) ? tn__small_alloc(bytes) : tn__block_alloc(bytes);
    if (TN__UNLIKELY(!o)) {
        tn__fail_memory(NULL, bytes);
        return NULL;
    }
    tn__node_init(&o->node, &op_class, d->decl.name);
    o->node.edges = (tn__edge *)(o + 1);
    o->node.op = d->op;
    o->d = d;
    o->wants = s->wants;
    o->bytes = bytes;
    o->n_saved = 0;
    o->frame = (char *)(o + 1) + edges;
    o->kept = (kept *)(o->frame + frame);
    return o;
}

tn_status tn__op_node_new(const tn__derivative *d, const void *frame, const tn__survey *s,
                          const char *file, int line, tn__node **out)
{
    const room r = TN__LIKELY(d->is_plain) ? (room){.n_saved = count_saved(d, s->wants)}
                                           : count_lists(d, frame, s->wants);
    op_node *o = new_block(d, s, &r);
    if (TN__UNLIKELY(!o))
        return TN_ERR_MEMORY;
    o->node.file = file;
    o->node.line = line;
    memcpy(o->frame, frame, d->frame_size);
    clear_tensors(o);
    char *arrays = (char *)(o->kept + r.n_saved);
    if (TN__UNLIKELY(d->n_lists))
        copy_lists(o, frame, arrays + r.arrays);
    tn_status status = make_edges(o, frame);
    if (status == TN_OK && r.n_saved)
        status = save_arguments(o, frame, arrays);
    if (TN__UNLIKELY(status != TN_OK)) {
        tn__node_release(&o->node);
        return status;
    }
    *out = &o->node;
    return TN_OK;
}

tn_status tn__op_node_save_results(tn__node *n, const void *frame)
{
    op_node *o = (op_node *)n;
    const tn__derivative *d = o->d;
    for (int i = 0; i < d->n_results; i++) /* how many gradients there will be */
        if (d->results[i].is_list)
            ((tn_tensors *)(o->frame + d->results[i].offset))->len =
                tn__tensors_at(frame, d->results[i].offset)->len;
    for (int i = 0; i < d->n_kept; i++) {
        const tn__kept *k = &d->kept[i];
        bool value = k->value_for & o->wants;
        if (k->result < 0 || k->place.is_list || !(value || k->shape_for & o->wants))
            continue;
        tn_tensor *t = tn__tensor_at(frame, k->place.offset);
        tn_tensor **field = (tn_tensor **)(o->frame + k->place.offset);
        if (!value)
            TN__TRY(save_one(o, t, false, false, field));
        if (!value || !t)
            continue;
        TN__TRY(tn__save_output(&o->kept[o->n_saved].saved, t, (uint32_t)k->result));
        keep(o, field);
    }
    return TN_OK;
}

/* ---- running it ------------------------------------------------------------------------------ */
/* The error of a saved tensor that was written since. In a pass that creates a graph, saved outputs
 * get their history back: put in the frame for the run, and taken out again. */
static tn_status check_saved(op_node *o, const tn__pass *pass, tn_tensor **owned)
{
    for (uint32_t i = 0; i < o->n_saved; i++) {
        const kept *k = &o->kept[i];
        tn_tensor *t;
        owned[i] = NULL;
        if (is_shell(k->saved.t))
            continue;
        TN__TRY(tn__saved_get(&k->saved, &o->node, pass, &t, &owned[i]));
        *k->field = t;
    }
    return TN_OK;
}

static void put_back(op_node *o, tn_tensor **owned)
{
    for (uint32_t i = 0; i < o->n_saved; i++) {
        if (!owned[i])
            continue;
        *o->kept[i].field = o->kept[i].saved.t;
        tn__tensor_release(owned[i]);
    }
}

/* Where each argument's entries begin, and which arguments are asked for. */
static TN_COLD uint64_t arguments_wanted(const op_node *o, const bool *wants, int32_t *first)
{
    uint64_t mask = 0;
    int32_t at = 0;
    for (int i = 0; i < o->d->n_args; i++) {
        const tn__place *p = &o->d->args[i];
        int64_t len = p->is_list ? -1 : 1;
        first[i] = at;
        if (p->is_list) /* only one list: what the others leave */
            len = (int64_t)o->node.n_edges - (o->d->n_args - 1);
        for (int64_t j = 0; j < len; j++, at++)
            if (wants[at])
                mask |= UINT64_C(1) << i;
    }
    first[o->d->n_args] = at;
    return mask;
}

/* The same where no argument is a list: an entry each. */
static const int32_t one_each[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
_Static_assert(sizeof one_each / sizeof *one_each == TN__MOST_DIFFERENTIABLE + 1, "one each");

static inline uint64_t edges_wanted(const op_node *o, const bool *wants)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < o->node.n_edges; i++)
        mask |= (uint64_t)wants[i] << i;
    return mask;
}

static TN_COLD tn_status no_formula(const op_node *o, int i)
{
    const tn_op *op = o->d->op;
    const char *name = "an argument";
    char site[TN__SITE_CHARS];
    for (int f = 0; f < op->layout->n_results + op->layout->n_args; f++)
        if (op->layout->fields[f].offset == o->d->args[i].offset)
            name = op->layout->fields[f].name;
    return tn__fail(&(tn_call){.op = op, .file = o->node.file, .line = o->node.line},
                    TN_ERR_UNSUPPORTED,
                    "the derivative of %s for '%s' is not implemented; the call is %s", op->name,
                    name, tn__site_text(site, o->node.file, o->node.line));
}

static TN_COLD tn_status without_formula(const op_node *o, uint64_t mask)
{
    for (int i = 0; i < o->d->n_args && !o->d->decl.backward; i++)
        if (mask >> i & 1 && o->d->args[i].no_formula)
            return no_formula(o, i);
    return TN_OK;
}

/* own: room for what check_saved makes. */
static inline tn_status call_backward(op_node *o, const tn__pass *pass, tn_grad_call *g,
                                      tn_tensor **own)
{
    for (uint32_t i = 0; i < o->n_saved; i++)
        own[i] = NULL;
    tn_status status = check_saved(o, pass, own);
    if (status == TN_OK)
        status = o->d->decl.backward(g, o->frame);
    if (status == TN_OK)
        status = g->status;
    put_back(o, own);
    return status;
}

static tn_status op_run(tn__node *n, const tn__pass *pass, tn_tensor *const *grads,
                        const bool *wants, tn_tensor **out)
{
    op_node *o = (op_node *)n;
    const tn__derivative *d = o->d;
    int32_t begins[TN__MOST_DIFFERENTIABLE + 1];
    const int32_t *first = d->has_lists ? begins : one_each;
    uint64_t mask = d->has_lists ? arguments_wanted(o, wants, begins) : edges_wanted(o, wants);
    mask &= o->wants;
    if (TN__UNLIKELY(!d->decl.backward || !mask))
        return without_formula(o, mask);
    if (TN__UNLIKELY(n->dropped))
        return tn__node_was_dropped(n);
    tn_tensor *owned[TN__MOST_FIELDS], **own = owned;
    if (o->n_saved > TN__MOST_FIELDS && !(own = tn__alloc(o->n_saved * sizeof *own)))
        return tn__fail_memory(NULL, o->n_saved * sizeof *own);
    tn_grad_call g;
    tn__held held;
    tn__grad_call_begin(&g, &held);
    g.wants = mask;
    g.in = grads;
    g.out = out;
    g.first = first;
    g.op = d->op;
    g.file = n->file;
    g.line = n->line;
    g.n_arguments = d->n_args;
    tn_status status = call_backward(o, pass, &g, own);
    tn__grad_call_end(&g);
    if (TN__UNLIKELY(own != owned))
        tn__free(own);
    for (uint32_t i = 0; status != TN_OK && i < n->n_edges; i++) {
        tn__tensor_release(out[i]);
        out[i] = NULL;
    }
    return status;
}

/* Shapes stay: a node that saved nothing else can run again. */
static void op_drop(tn__node *n)
{
    op_node *o = (op_node *)n;
    for (uint32_t i = 0; i < o->n_saved; i++) {
        const kept *k = &o->kept[i];
        if (!k->saved.t || is_shell(k->saved.t))
            continue;
        *k->field = NULL;
        tn__saved_drop(&o->kept[i].saved);
        n->dropped = true;
    }
}

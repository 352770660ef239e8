/* op_node.c - the node of a recorded operator call: a copy of its frame, in which of the tensors
 * only those stand that the gradients asked for need.
 *
 * One block holds it all: the node, its edges, the frame, the saved tensors, and copies of the
 * frame's lists and strings. What is kept by shape alone is a tensor without data, in the frame's
 * field like any other, so that a derivative function reads one frame whatever was saved how. */
#include <string.h>

#include "core/autograd/op_node.h"

enum { SMALL_BLOCK = 16384 };

static void op_free(tn__node *n)
{
    tn__op_node *o = (tn__op_node *)n;
    for (uint32_t i = 0; i < o->n_saved; i++)
        tn__saved_drop(&o->kept[i].saved);
    if (n->outlooks != &n->one_output)
        tn__free(n->outlooks);
    if (o->bytes <= SMALL_BLOCK)
        tn__class_free(o, o->class, o->bytes);
    else
        tn__block_free(o, o->bytes);
}

static tn_status op_spend(tn__node *n, const tn__storage *storage, uint32_t *found)
{
    tn__op_node *o = (tn__op_node *)n;
    for (uint32_t i = 0; i < o->n_saved; i++) {
        tn__op_saved *k = &o->kept[i];
        TN__TRY(tn__saved_spend(&k->saved, storage, found));
        *k->field = k->saved.t;
    }
    return TN_OK;
}

static const tn__node_class op_class = {tn__op_run, tn__op_drop, op_spend, op_free};

/* ---- tensors without data -------------------------------------------------------------------- */
tn__storage tn__nowhere = {.refs = 1, .device = {TN_META, 0}};

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
    t->storage = &tn__nowhere;
    atomic_fetch_add_explicit(&tn__nowhere.refs, 1, memory_order_relaxed);
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
static TN_COLD void copy_lists(tn__op_node *o, const void *frame, char *room)
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

static inline void clear_tensors(const tn__derivative *d, char *frame)
{
    const tn__place *end = d->tensors + d->n_tensors;
    for (const tn__place *p = d->tensors; p < end; p++) {
        *(tn_tensor **)(frame + p->offset) = NULL; /* a list begins with its data pointer */
        if (TN__UNLIKELY(p->is_list))
            ((tn_tensors *)(frame + p->offset))->len = 0;
    }
}

/* What has just been saved stands in the frame from here on. */
static inline void keep(tn__op_node *o, tn_tensor **field)
{
    tn__op_saved *k = &o->kept[o->n_saved++];
    k->field = field;
    *field = k->saved.t;
}

/* A tensor that the call is about to write is kept as a copy. */
static tn_status save_value(tn__op_node *o, tn_tensor *t, bool is_written)
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

static tn_status save_one(tn__op_node *o, tn_tensor *t, bool value, bool is_written,
                          tn_tensor **field)
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

/* arrays: room for the list's tensors, which moves on. */
static TN_COLD tn_status save_list(tn__op_node *o, tn__items from, bool value, bool is_written,
                                   tn_tensors *list, char **arrays)
{
    *list = (tn_tensors){(tn_tensor **)*arrays, from.len};
    *arrays += (size_t)from.len * sizeof *list->data;
    memset(list->data, 0, (size_t)from.len * sizeof *list->data);
    for (int64_t j = 0; j < from.len; j++)
        TN__TRY(save_one(o, from.data[j], value, is_written, &list->data[j]));
    return TN_OK;
}

static tn_status save_arguments(tn__op_node *o, const tn__derivative *d, const void *frame,
                                char *arrays)
{
    for (int i = 0; i < d->n_kept; i++) {
        const tn__kept *k = &d->kept[i];
        bool value = k->value_for & o->wants;
        void *field = o->frame + k->place.offset;
        if (k->result >= 0 || !(value || k->shape_for & o->wants))
            continue;
        bool written = d->effect == TN__EFFECT_INPLACE && k->place.offset == d->self;
        if (TN__UNLIKELY(k->place.is_list))
            TN__TRY(save_list(o, tn__items_at(frame, &k->place), value, written, field, &arrays));
        else
            TN__TRY(save_one(o, tn__tensor_at(frame, k->place.offset), value, written, field));
    }
    return TN_OK;
}

static __attribute__((noinline)) tn_status look_up_edge(tn__edge *e, tn_tensor *t)
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

static TN_COLD tn_status make_edges_of_lists(tn__op_node *o, const void *frame)
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
static inline tn_status make_edges(tn__op_node *o, const tn__derivative *d, const void *frame,
                                   uint64_t wants)
{
    tn__edge *edges = o->node.edges;
    tn_status status = TN_OK;
    uint32_t i = 0, n = (uint32_t)d->n_args;
    if (TN__UNLIKELY(d->has_lists))
        return make_edges_of_lists(o, frame);
    for (; i < n && status == TN_OK; i++)
        status = set_edge(&edges[i], tn__tensor_at(frame, d->args[i].offset), wants >> i & 1);
    o->node.n_edges = i;
    return status;
}

static size_t bytes_without_saved(const tn__derivative *d, size_t n_edges)
{
    return sizeof(tn__op_node) + n_edges * sizeof(tn__edge) + rounded(d->frame_size);
}

void tn__op_node_prepare(tn__derivative *d)
{
    d->node_bytes = bytes_without_saved(d, (size_t)d->n_args);
    d->node_class = tn__block_class(d->node_bytes);
}

static inline tn__op_node *new_block(const tn__derivative *d, const tn__survey *s, const room *r)
{
    size_t edges = (size_t)s->n_edges * sizeof(tn__edge), bytes = d->node_bytes;
    int class = d->node_class;
    if (!d->is_plain || r->n_saved) {
        bytes = bytes_without_saved(d, (size_t)s->n_edges) + r->n_saved * sizeof(tn__op_saved) +
                r->arrays + r->lists;
        class = tn__block_class(bytes);
    }
    tn__op_node *o = TN__LIKELY(bytes <= SMALL_BLOCK) ? tn__class_alloc(class, bytes)
                                                      : tn__block_alloc(bytes);
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
    o->class = class;
    o->n_saved = 0;
    o->frame = (char *)(o + 1) + edges;
    o->kept = (tn__op_saved *)(o->frame + rounded(d->frame_size));
    return o;
}

tn_status tn__op_node_new(const tn__derivative *d, const void *frame, const tn__survey *s,
                          const char *file, int line, tn__node **out)
{
    const room r = TN__LIKELY(d->is_plain) ? (room){.n_saved = count_saved(d, s->wants)}
                                           : count_lists(d, frame, s->wants);
    tn__op_node *o = new_block(d, s, &r);
    if (TN__UNLIKELY(!o))
        return TN_ERR_MEMORY;
    o->node.file = file;
    o->node.line = line;
    memcpy(o->frame, frame, d->frame_size);
    clear_tensors(d, o->frame);
    char *arrays = (char *)(o->kept + r.n_saved);
    if (TN__UNLIKELY(d->n_lists))
        copy_lists(o, frame, arrays + r.arrays);
    tn_status status = make_edges(o, d, frame, s->wants);
    if (status == TN_OK && r.n_saved)
        status = save_arguments(o, d, frame, arrays);
    if (TN__UNLIKELY(status != TN_OK)) {
        tn__node_release(&o->node);
        return status;
    }
    *out = &o->node;
    return TN_OK;
}

tn_status tn__op_node_save_results(tn__node *n, const void *frame)
{
    tn__op_node *o = (tn__op_node *)n;
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

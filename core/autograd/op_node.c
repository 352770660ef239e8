/* op_node.c - the node of a recorded operator call: a copy of its frame, in which of the tensors
 * only those stand that the gradients asked for need.
 *
 * One block holds it all: the node, the frame, the edges, the saved tensors, and copies of the
 * frame's lists and strings. A derivative is plain when its frames have none of the latter: then
 * all its nodes are alike, and made inline (op_node.h). What is kept by shape alone is a tensor without data, in the frame's
 * field like any other, so that a derivative function reads one frame whatever was saved how. */
#include <string.h>

#include "core/autograd/op_node.h"

static __attribute__((noinline)) void free_with_care(tn__op_node *o)
{
    for (uint32_t i = 0; i < o->n_saved; i++)
        tn__saved_drop(&tn__op_kept(o)[i].saved);
    if (o->d->is_plain)
        tn__class_free(o, o->d->node_class, o->d->node_bytes);
    else
        tn__block_free(o, (size_t)o->words * 8);
}

static void op_free(tn__node *n)
{
    tn__op_node *o = (tn__op_node *)n;
    const tn__derivative *d = o->d;
    if (o->n_saved || !d->is_plain)
        free_with_care(o);
    else
        tn__class_free(o, d->node_class, d->node_bytes);
}

static tn_status op_spend(tn__node *n, const tn__storage *storage, uint32_t *found)
{
    tn__op_node *o = (tn__op_node *)n;
    for (uint32_t i = 0; i < o->n_saved; i++) {
        tn__op_saved *k = &tn__op_kept(o)[i];
        TN__TRY(tn__saved_spend(&k->saved, storage, found));
        *k->field = k->saved.t;
    }
    return TN_OK;
}

const tn__node_class tn__op_class = {tn__op_run, tn__op_drop, op_spend, op_free};

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
    t->moves = 0;
    if (ndim > TN__INLINE_DIMS) {
        t->dims = tn__alloc(2 * (size_t)ndim * sizeof *t->dims);
        t->dims_capacity = (uint16_t)ndim;
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

/* How many of a node's parts there are, each of its own size. */
typedef struct parts {
    size_t edges, saved; /* saved: at most */
    size_t arrays;       /* tensors of lists that may be saved */
    size_t lists;        /* bytes of the plain lists and strings */
} parts;

/* A result that is a list is saved by its shapes or values in a list made later. */
static parts count_parts(const tn__derivative *d, const void *frame)
{
    parts n = {.saved = (size_t)d->n_kept};
    for (int i = 0; i < d->n_args; i++)
        n.edges += (size_t)tn__items_at(frame, &d->args[i]).len;
    for (int i = d->n_kept_results; i < d->n_kept; i++) {
        const tn__kept *k = &d->kept[i];
        if (!k->place.is_list)
            continue;
        size_t len = (size_t)tn__items_at(frame, &k->place).len;
        n.saved += len;
        n.arrays += len;
    }
    for (int i = 0; i < d->n_lists; i++)
        n.lists += list_bytes(&d->lists[i], frame);
    return n;
}

static size_t bytes_of(const tn__derivative *d, const parts *n)
{
    return d->edges_at + n->edges * sizeof(tn__edge) + n->saved * sizeof(tn__op_saved) +
           n->arrays * sizeof(tn_tensor *) + n->lists;
}

/* How far the frame is tensors from its beginning on. */
static int count_leading(const tn__derivative *d)
{
    int n = 0;
    while (n < d->n_tensors && n < TN__LEADING &&
           d->tensors[n].offset == sizeof(tn_frame) + (size_t)n * sizeof(tn_tensor *))
        n++;
    return n;
}

void tn__op_node_prepare(tn__derivative *d)
{
    const parts plain = {.edges = (size_t)d->n_args, .saved = (size_t)d->n_kept};
    size_t least = sizeof(tn_frame) + TN__LEADING * sizeof(tn_tensor *);
    size_t frame = rounded(d->frame_size);
    d->n_leading = count_leading(d);
    d->leading_end = (uint32_t)(sizeof(tn_frame) + (size_t)d->n_leading * sizeof(tn_tensor *));
    d->edges_at = offsetof(tn__op_node, frame) + (frame > least ? frame : least);
    d->node_bytes = bytes_of(d, &plain);
    d->node_class = tn__block_class(d->node_bytes);
}

/* ---- what is kept ---------------------------------------------------------------------------- */
static void copy_lists(tn__op_node *o, const void *frame, char *room)
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

/* What has just been saved as s stands in the frame from here on. */
static inline void keep(tn__op_node *o, tn__op_saved *s, tn_tensor **field)
{
    s->field = field;
    *field = s->saved.t;
    o->n_saved++;
}

static inline tn__op_saved *next_saved(const tn__op_node *o)
{
    return tn__op_kept(o) + o->n_saved;
}

/* A tensor that the call is about to write is kept as a copy. */
static tn_status save_copy(tn__saved *s, tn_tensor *t)
{
    tn_tensor *copy;
    TN__TRY(tn__op_clone(t, &copy));
    tn_status status = tn__save_input(s, copy);
    tn__tensor_release(copy);
    return status;
}

static tn_status save_one(tn__op_node *o, tn_tensor *t, bool value, bool is_written,
                          tn_tensor **field)
{
    tn__op_saved *s = next_saved(o);
    tn_tensor *shell = NULL;
    if (!t)
        return TN_OK;
    if (value) {
        TN__TRY(is_written ? save_copy(&s->saved, t) : tn__save_input(&s->saved, t));
    } else {
        TN__TRY(new_shell(t, &shell));
        s->saved = (tn__saved){.t = shell};
    }
    keep(o, s, field);
    return TN_OK;
}

/* arrays: room for the list's tensors, which moves on. */
static tn_status save_list(tn__op_node *o, tn__items from, bool value, bool is_written,
                           tn_tensors *list, char **arrays)
{
    *list = (tn_tensors){(tn_tensor **)*arrays, from.len};
    *arrays += (size_t)from.len * sizeof *list->data;
    memset(list->data, 0, (size_t)from.len * sizeof *list->data);
    for (int64_t j = 0; j < from.len; j++)
        TN__TRY(save_one(o, from.data[j], value, is_written, &list->data[j]));
    return TN_OK;
}

static __attribute__((noinline)) tn_status save_with_care(tn__op_node *o, const tn__kept *k,
                                                          const void *frame, char **arrays)
{
    void *field = o->frame + k->place.offset;
    bool value = k->value_for & o->wants;
    bool written = o->d->effect == TN__EFFECT_INPLACE && k->place.offset == o->d->self;
    if (k->place.is_list)
        return save_list(o, tn__items_at(frame, &k->place), value, written, field, arrays);
    return save_one(o, tn__tensor_at(frame, k->place.offset), value, written, field);
}

tn_status tn__op_node_save(tn__op_node *o, const void *frame, char *arrays)
{
    const tn__derivative *d = o->d;
    const tn__kept *end = d->kept + d->n_kept;
    for (const tn__kept *k = d->kept + d->n_kept_results; k < end; k++) {
        if (!((k->value_for | k->shape_for) & o->wants))
            continue;
        if (TN__UNLIKELY(!(k->value_for & o->wants) || k->place.is_list ||
                         d->effect == TN__EFFECT_INPLACE)) {
            TN__TRY(save_with_care(o, k, frame, &arrays));
            continue;
        }
        tn__op_saved *s = next_saved(o);
        tn_tensor *t = tn__tensor_at(frame, k->place.offset);
        if (!t)
            continue;
        TN__TRY(tn__save_input(&s->saved, t));
        keep(o, s, (tn_tensor **)(o->frame + k->place.offset));
    }
    return TN_OK;
}

/* ---- making one ------------------------------------------------------------------------------ */
static tn_status look_up_edge(tn__edge *e, tn_tensor *t)
{
    *e = (tn__edge){NULL, 0};
    if (t)
        TN__TRY(tn__edge_look_up(t, e));
    if (e->node)
        tn__node_retain(e->node);
    return TN_OK;
}

/* The node has the edges that were set, whatever fails. */
tn_status tn__op_edges_from(tn__op_node *o, const void *frame, uint32_t i)
{
    tn__node *n = &o->node;
    n->n_edges = i;
    for (; i < (uint32_t)o->d->n_args; i++) {
        tn__items span = tn__items_at(frame, &o->d->args[i]);
        for (int64_t j = 0; j < span.len; j++) {
            tn__edge *e = &n->edges[n->n_edges];
            TN__TRY(look_up_edge(e, span.data[j]));
            n->n_edges++;
            o->wants |= (uint64_t)(e->node != NULL) << i;
        }
    }
    return TN_OK;
}

static void clear_tensors(const tn__derivative *d, char *frame)
{
    const tn__place *end = d->tensors + d->n_tensors;
    for (const tn__place *p = d->tensors; p < end; p++) {
        *(tn_tensor **)(frame + p->offset) = NULL; /* a list begins with its data pointer */
        if (p->is_list)
            ((tn_tensors *)(frame + p->offset))->len = 0;
    }
}

static tn__op_node *begin_with_lists(const tn__derivative *d, const void *frame, const tn__site *at,
                                     char **arrays)
{
    parts n = count_parts(d, frame);
    size_t bytes = bytes_of(d, &n);
    tn__op_node *o = bytes / 8 <= UINT32_MAX ? tn__block_alloc(bytes) : NULL;
    if (!o) {
        tn__fail_memory(NULL, bytes);
        return NULL;
    }
    tn__op_node_init(o, d, n.edges, at);
    o->words = (uint32_t)(bytes / 8);
    o->wants = 0;
    memcpy(o->frame, frame, d->frame_size);
    clear_tensors(d, o->frame);
    *arrays = (char *)(tn__op_kept(o) + n.saved);
    copy_lists(o, frame, *arrays + n.arrays * sizeof(tn_tensor *));
    return o;
}

static tn_status new_with_lists(const tn__derivative *d, const void *frame, const tn__site *at,
                                tn__op_node **out)
{
    char *arrays = NULL;
    tn__op_node *o = *out = begin_with_lists(d, frame, at, &arrays);
    if (!o)
        return TN_ERR_MEMORY;
    tn_status status = d->has_lists ? tn__op_edges_from(o, frame, 0)
                                    : tn__op_edges_set(o, d, frame);
    if (status == TN_OK)
        status = tn__op_node_save(o, frame, arrays);
    if (status != TN_OK)
        tn__node_release(&o->node);
    return status;
}

tn_status tn__op_node_new(const tn__derivative *d, const void *frame, const tn__site *at,
                          tn__op_node **out)
{
    return d->is_plain ? tn__op_node_plain(d, frame, at, out) : new_with_lists(d, frame, at, out);
}

tn_status tn__op_node_save_results(tn__node *n, const void *frame)
{
    tn__op_node *o = (tn__op_node *)n;
    const tn__derivative *d = o->d;
    for (int i = 0; i < d->n_results; i++) /* how many gradients there will be */
        if (d->results[i].is_list)
            ((tn_tensors *)(o->frame + d->results[i].offset))->len =
                tn__tensors_at(frame, d->results[i].offset)->len;
    for (int i = 0; i < d->n_kept_results; i++) {
        const tn__kept *k = &d->kept[i];
        bool value = k->value_for & o->wants;
        if (k->place.is_list || !(value || k->shape_for & o->wants))
            continue;
        tn_tensor *t = tn__tensor_at(frame, k->place.offset);
        tn_tensor **field = (tn_tensor **)(o->frame + k->place.offset);
        if (!value)
            TN__TRY(save_one(o, t, false, false, field));
        if (!value || !t)
            continue;
        TN__TRY(tn__save_output(&next_saved(o)->saved, t, (uint32_t)k->result));
        keep(o, next_saved(o), field);
    }
    return TN_OK;
}

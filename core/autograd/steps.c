/* steps.c - which nodes a pass visits, and how many others give gradients to each.
 *
 * A depth-first walk without recursion: a step that is being discovered knows its parent and its
 * next edge. Where captured gradients alone are asked for, it is known when a step's edges are done
 * whether one is below it, and only then do its edges count. A node with a single reference has a single giver, so it is never
 * looked up: a chain needs no table. */
#include <string.h>

#include "core/autograd/pass.h"
#include "core/base/block_cache.h"

/* ---- memory ---------------------------------------------------------------------------------- */
enum { BLOCK = 16384 };

typedef struct tn__arena_block {
    struct tn__arena_block *older;
    size_t bytes;
} arena_block;

static TN_COLD void *alloc_block(tn__walk *w, size_t bytes)
{
    size_t whole = bytes + sizeof(arena_block) > BLOCK ? bytes + sizeof(arena_block) : BLOCK;
    arena_block *b = tn__block_alloc(whole);
    if (!b) {
        tn__fail_memory(NULL, whole);
        return NULL;
    }
    *b = (arena_block){w->blocks, whole};
    w->blocks = b;
    w->room = (char *)(b + 1) + bytes;
    w->room_end = (char *)b + whole;
    return b + 1;
}

static inline void *alloc(tn__walk *w, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (TN__UNLIKELY(bytes > (size_t)(w->room_end - w->room)))
        return alloc_block(w, bytes);
    void *p = w->room;
    w->room += bytes;
    return p;
}

void *tn__walk_alloc(tn__walk *w, size_t bytes)
{
    return alloc(w, bytes);
}

void tn__walk_begin(tn__walk *w, const tn_backward_options *options)
{
    memset(w, 0, offsetof(tn__walk, first_table));
    memset(w->first_table, 0, sizeof w->first_table);
    if (options)
        w->options = (tn__pass){.keep_graph = options->keep_graph || options->create_graph,
                                .create_graph = options->create_graph};
    w->error_kept = tn__error_kept();
    w->anomaly = atomic_load_explicit(&tn__anomaly, memory_order_relaxed);
    w->table = w->first_table;
    w->table_mask = TN__TABLE_INLINE - 1;
    w->table_shift = 64 - __builtin_ctz(TN__TABLE_INLINE);
    w->room = w->first_room;
    w->room_end = w->first_room + sizeof w->first_room;
    w->n_captures = -1;
    tn__queue_begin(&w->queue);
}

void tn__walk_drop_gradients(tn__walk *w)
{
    for (tn__step *s = w->newest; s; s = s->older)
        for (uint32_t i = 0; i < s->node->n_outputs; i++)
            tn__tensor_release(s->grads[i]);
}

void tn__walk_end(tn__walk *w)
{
    if (w->table != w->first_table)
        tn__block_free(w->table, (w->table_mask + 1) * sizeof *w->table);
    tn__queue_end(&w->queue);
    while (w->blocks) {
        arena_block *b = w->blocks;
        w->blocks = b->older;
        tn__block_free(b, b->bytes);
    }
}

/* ---- steps by node --------------------------------------------------------------------------- */
static inline size_t slot_of(const tn__walk *w, const tn__node *n)
{
    return (size_t)(((uint64_t)(uintptr_t)n >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> w->table_shift);
}

static TN_COLD tn_status grow_table(tn__walk *w)
{
    size_t old_size = w->table_mask + 1, size = old_size * 4;
    tn__step **old = w->table, **grown = tn__block_alloc(size * sizeof *grown);
    if (!grown)
        return tn__fail_memory(NULL, size * sizeof *grown);
    memset(grown, 0, size * sizeof *grown);
    w->table = grown;
    w->table_mask = size - 1;
    w->table_shift -= 2;
    for (size_t i = 0; i < old_size; i++) {
        if (!old[i])
            continue;
        size_t at = slot_of(w, old[i]->node);
        while (grown[at])
            at = (at + 1) & w->table_mask;
        grown[at] = old[i];
    }
    if (old != w->first_table)
        tn__block_free(old, old_size * sizeof *old);
    return TN_OK;
}

static inline tn__step *new_step(tn__walk *w, tn__node *n)
{
    size_t grads = n->n_outputs * sizeof(tn_tensor *), next = n->n_edges * sizeof(tn__step *);
    tn__step *s = alloc(w, sizeof *s + grads + next);
    if (TN__UNLIKELY(!s))
        return NULL;
    *s = (tn__step){.node = n, .capture = -1, .older = w->newest};
    s->grads[0] = NULL;
    for (uint32_t i = 1; i < n->n_outputs; i++)
        s->grads[i] = NULL;
    s->next = (tn__step **)(s->grads + n->n_outputs);
    w->newest = s;
    return s;
}

tn_status tn__walk_step(tn__walk *w, tn__node *n, tn__step **out)
{
    size_t at = slot_of(w, n);
    for (; w->table[at]; at = (at + 1) & w->table_mask)
        if (w->table[at]->node == n) {
            *out = w->table[at];
            return TN_OK;
        }
    tn__step *s = new_step(w, n);
    if (TN__UNLIKELY(!s))
        return TN_ERR_MEMORY;
    w->table[at] = s;
    *out = s;
    return TN__UNLIKELY(++w->n_steps * 2 > w->table_mask) ? grow_table(w) : TN_OK;
}

/* ---- discovery ------------------------------------------------------------------------------- */
static inline bool all_are_needed(const tn__walk *w)
{
    return w->n_captures < 0;
}

static inline void visit(tn__walk *w, tn__step *s, tn__step *parent)
{
    const tn__node *n = s->node;
    s->visited = true;
    s->parent = parent;
    s->runs = s->needed = all_are_needed(w);
    s->index = w->n_found++;
    if (n->n_edges > w->most_edges)
        w->most_edges = n->n_edges;
    int type = n->outlooks[0].device.type;
    if (TN__UNLIKELY(type != TN_CPU && type != TN_META))
        w->devices |= UINT64_C(1) << (type & 63);
}

/* All edges are done, and some gradients are asked for: whether one of them is below s. */
static void finish(tn__step *s)
{
    for (uint32_t i = 0; i < s->node->n_edges; i++) {
        if (s->next[i] && !s->next[i]->needed)
            s->next[i] = NULL;
        if (s->next[i]) {
            s->next[i]->dependencies++;
            s->runs = true;
        }
    }
    s->needed = s->runs || s->capture >= 0;
}

static inline bool has_one_giver(const tn__node *n)
{
    return !tn__is_leaf_node(n) &&
           atomic_load_explicit(&((tn__node *)n)->refs, memory_order_relaxed) == 1;
}

/* Edges that lead nowhere are no steps. */
static inline bool has_more(tn__step *s)
{
    const tn__node *n = s->node;
    for (; s->at < n->n_edges; s->next[s->at++] = NULL)
        if (n->edges[s->at].node)
            return true;
    return false;
}

/* The step behind the next edge of s. */
static inline tn_status follow(tn__walk *w, tn__step *s, tn__step **out)
{
    uint32_t i = s->at++;
    tn__node *below = s->node->edges[i].node;
    if (TN__LIKELY(has_one_giver(below))) {
        *out = new_step(w, below);
        if (TN__UNLIKELY(!*out))
            return TN_ERR_MEMORY;
    } else {
        TN__TRY(tn__walk_step(w, below, out));
    }
    s->next[i] = *out;
    return TN_OK;
}

/* Where all gradients are needed, edges count as they are followed, and nobody comes back to a step
 * after its last one: a chain is walked once. */
tn_status tn__walk_discover(tn__walk *w, tn__step *root)
{
    const bool all = all_are_needed(w);
    if (root->visited)
        return TN_OK;
    visit(w, root, NULL);
    for (tn__step *s = root; s;) {
        tn__step *below;
        if (!has_more(s)) {
            if (!all)
                finish(s);
            s = s->parent;
            continue;
        }
        TN__TRY(follow(w, s, &below));
        if (all)
            below->dependencies++;
        if (!below->visited) {
            visit(w, below, all && !has_more(s) ? s->parent : s);
            s = below;
        }
    }
    return TN_OK;
}

/* pairs.c - where pairs and structs come from, and how they end. */
#include "core/tensor/pairs.h"

static void trim(tn__block_cache *c)
{
    for (unsigned i = 1; i <= TN__PAIR_CLASSES; i++)
        while (c->pairs[i]) {
            tn__tensor *t = c->pairs[i];
            c->pairs[i] = t->pub.data;
            c->pair_room[i]++;
            tn__storage_free(t->storage);
            tn__small_free(t, sizeof *t);
        }
    while (c->structs) {
        tn__tensor *t = c->structs;
        c->structs = t->storage;
        c->struct_room++;
        tn__small_free(t, sizeof *t);
    }
}

tn__tensor *tn__struct_new(void)
{
    tn__tensor *t = tn__small_alloc(sizeof *t);
    if (!t)
        return NULL;
    atomic_store_explicit(&tn__block_trim_pairs, trim, memory_order_relaxed);
    atomic_init(&t->refs, 1);
    t->dims_capacity = TN__INLINE_DIMS;
    t->moves = 0;
    t->dims = t->inline_dims;
    t->pub.sizes = t->inline_dims;
    t->pub.strides = t->inline_dims + TN__INLINE_DIMS;
    t->autograd = NULL;
    return t;
}

void tn__struct_free(tn__tensor *t)
{
    if (t->dims != t->inline_dims)
        tn__free(t->dims);
    tn__small_free(t, sizeof *t);
}

tn__tensor *tn__pair_new(size_t bytes)
{
    tn__tensor *t = tn__struct_take();
    if (!t)
        return NULL;
    tn__storage *s;
    if (tn__storage_new(NULL, bytes, (tn_device){TN_CPU, 0}, &s) != TN_OK) {
        tn__struct_keep(t);
        return NULL;
    }
    t->storage = s;
    t->offset = 0;
    t->base = NULL;
    t->pub.data = s->data;
    return t;
}

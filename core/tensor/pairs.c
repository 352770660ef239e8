/* pairs.c - where pairs come from, and how they end. */
#include "core/tensor/pairs.h"

static void trim(tn__block_cache *c)
{
    for (int class = 0; class < TN__BLOCK_SMALL_CLASSES; class ++)
        while (c->pairs[class]) {
            tn__tensor *t = c->pairs[class];
            c->pairs[class] = t->autograd;
            c->pair_room[class]++;
            tn__small_free(t->storage, TN__STORAGE_HEADER + t->storage->bytes);
            tn__small_free(t, sizeof *t);
        }
}

tn__tensor *tn__pair_new(size_t bytes)
{
    tn__tensor *t = tn__small_alloc(sizeof *t);
    if (!t)
        return NULL;
    tn__storage *s = tn__small_alloc(TN__STORAGE_HEADER + bytes);
    if (!s) {
        tn__small_free(t, sizeof *t);
        return NULL;
    }
    atomic_store_explicit(&tn__block_trim_pairs, trim, memory_order_relaxed);
    atomic_init(&s->refs, 1);
    atomic_init(&s->version, 0);
    s->device = (tn_device){TN_CPU, 0};
    s->data = (char *)s + TN__STORAGE_HEADER;
    s->bytes = bytes;
    s->release = NULL;
    s->owner = NULL;
    atomic_init(&t->refs, 1);
    t->dims_capacity = TN__INLINE_DIMS;
    t->dims = t->inline_dims;
    t->storage = s;
    t->offset = 0;
    t->autograd = NULL;
    t->base = NULL;
    t->pub.data = s->data;
    t->pub.sizes = t->inline_dims;
    t->pub.strides = t->inline_dims + TN__INLINE_DIMS;
    return t;
}

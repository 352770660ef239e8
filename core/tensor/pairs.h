/* pairs.h - small host tensors that were released together with their storage, kept as they are.
 *
 * Most tensors die with their storage, and most new ones are of a size that has just died. So the
 * two are kept tied together: taking one out is a pop and a new geometry, nothing is initialised
 * twice. One list per storage size class and thread; what is in it: refs = 1 on both sides, inline
 * dims, data behind the storage's header, no autograd record. */
#ifndef TN_CORE_PAIRS_H
#define TN_CORE_PAIRS_H

#include "core/base/block_cache.h"
#include "core/tensor/tensor_impl.h"

/* A new pair; NULL when out of memory. */
tn__tensor *tn__pair_new(size_t bytes);

/* A host tensor over `bytes` (at most TN__STORAGE_SMALL) without geometry, keys, dtype and
 * flags. */
static inline tn__tensor *tn__pair_take(size_t bytes)
{
    tn__block_cache *c = &tn__block_cache_tls;
    int class = tn__block_class(TN__STORAGE_HEADER + bytes);
    tn__tensor *t = c->pairs[class];
    if (TN__UNLIKELY(!t))
        return tn__pair_new(bytes);
    c->pairs[class] = t->autograd; /* the link */
    c->pair_room[class]++;
    t->autograd = NULL;
    t->storage->bytes = bytes;
    return t;
}

/* Keeps a tensor whose last reference is going, and its storage's too; false when it does not
 * qualify or the list is full. */
static inline bool tn__pair_keep(tn__tensor *t)
{
    tn__storage *s = t->storage;
    tn__block_cache *c = &tn__block_cache_tls;
    if (s->release || s->bytes - 1 >= TN__STORAGE_SMALL || s->device.type != TN_CPU ||
        t->dims != t->inline_dims || t->base)
        return false;
    int class = tn__block_class(TN__STORAGE_HEADER + s->bytes);
    if (TN__UNLIKELY(c->pair_room[class] == 0))
        return false;
    t->autograd = c->pairs[class];
    c->pairs[class] = t;
    c->pair_room[class]--;
    return true;
}

#endif

/* pairs.h - small host tensors that were released together with their storage, kept as they are;
 * and the structs of tensors that went without one.
 *
 * Most tensors die with their storage, and most new ones are of a size that has just died. So the
 * two are kept tied together: taking one out is a pop and a new geometry, nothing is initialised
 * twice. One list per power of two of bytes and thread; what is in it: refs = 1 on both sides, inline
 * dims, data behind the storage's header, no autograd record. The structs, from which views are
 * made, are the same without a storage.
 *
 * The lists are named in full, not through a pointer: GCC's check that such a pointer is not null
 * reads the flags of an addition that the linker relaxes to one without flags. */
#ifndef TN_CORE_PAIRS_H
#define TN_CORE_PAIRS_H

#include "core/base/block_cache.h"
#include "core/base/devices.h"
#include "core/tensor/tensor_impl.h"

_Static_assert(TN__STORAGE_SMALL == 32 << TN__PAIR_CLASSES, "small data has a class");

/* The class of 1 to TN__STORAGE_SMALL bytes of data. */
static inline unsigned tn__pair_class(size_t bytes)
{
    return (unsigned)(63 ^ __builtin_clzll((bytes - 1) | 63)) - 4;
}

/* How many bytes a storage of the class has room for. */
static inline size_t tn__pair_bytes(unsigned pair_class)
{
    return (size_t)32 << pair_class;
}

/* A new pair; NULL when out of memory. */
tn__tensor *tn__pair_new(size_t bytes);
/* A new struct, as one that is kept; NULL when out of memory. */
tn__tensor *tn__struct_new(void);
void tn__struct_free(tn__tensor *t);

static inline bool tn__pair_waits(size_t bytes)
{
    return tn__block_cache_tls.pairs[tn__pair_class(bytes)] != NULL;
}

/* A host tensor over 1 to TN__STORAGE_SMALL bytes without geometry, data pointer, keys, dtype and
 * flags. */
static inline tn__tensor *tn__pair_take(size_t bytes)
{
    unsigned i = tn__pair_class(bytes);
    tn__tensor *t = tn__block_cache_tls.pairs[i];
    if (TN__UNLIKELY(!t))
        return tn__pair_new(bytes);
    tn__block_cache_tls.pairs[i] = t->pub.data; /* the link */
    tn__block_cache_tls.pair_room[i]++;
    t->storage->bytes = bytes;
    return t;
}

/* What a pair does not keep. The offset and the data pointer may have been moved in place, the
 * version says how often the former tensor was written. */
static inline void tn__pair_dress(tn__tensor *t, int64_t numel, tn_dtype dtype, int64_t ndim)
{
    tn__storage *s = t->storage;
    uint16_t mode = tn__mode_tls.flags;
    atomic_store_explicit(&s->version, 0, memory_order_relaxed);
    t->offset = 0;
    t->pub.data = (char *)s + TN__STORAGE_HEADER;
    t->pub.numel = numel;
    t->pub.keys = tn__tensor_keys((tn_device){TN_CPU, 0});
    t->pub.device = (tn_device){TN_CPU, 0};
    t->pub.dtype = (uint8_t)dtype;
    t->pub.ndim = (uint8_t)ndim;
    t->pub.flags = TN_TENSOR_CONTIGUOUS | TN_TENSOR_DENSE | mode;
}

/* A host tensor of the sizes of a row-major `like` and of a few thousand bytes; NULL, with nothing
 * recorded, when it does not fit that or (`waiting`) there is no pair for it. */
static inline __attribute__((always_inline)) tn__tensor *tn__pair_like(const tn_tensor *like,
                                                                       tn_dtype dtype, bool waiting)
{
    size_t bytes = (size_t)like->numel * tn__dtype_sizes[dtype];
    int64_t ndim = like->ndim;
    if (ndim > TN__INLINE_DIMS || bytes - 1 >= TN__STORAGE_SMALL ||
        (waiting && !tn__pair_waits(bytes)))
        return NULL;
    tn__tensor *t = tn__pair_take(bytes);
    if (TN__UNLIKELY(!t))
        return NULL;
    tn__pair_dress(t, like->numel, dtype, ndim);
    for (int64_t i = 0; i < ndim; i++) {
        t->inline_dims[i] = like->sizes[i];
        t->inline_dims[TN__INLINE_DIMS + i] = like->strides[i];
    }
    return t;
}

/* Keeps a tensor without base and record whose last reference is going, and the one of its storage
 * s too; false when it does not qualify or the list is full. */
static inline bool tn__pair_keep(tn__tensor *t, const tn__storage *s)
{
    size_t i = s->pair_class;
    if (t->dims_capacity != TN__INLINE_DIMS)
        return false;
    if (TN__UNLIKELY(--tn__block_cache_tls.pair_room[i] < 0)) {
        tn__block_cache_tls.pair_room[i] = 0;
        return false;
    }
    t->pub.data = tn__block_cache_tls.pairs[i];
    tn__block_cache_tls.pairs[i] = t;
    return true;
}

/* A tensor with one reference, room for TN__INLINE_DIMS dimensions and no record; whatever else it
 * has is of no meaning. */
static inline tn__tensor *tn__struct_take(void)
{
    tn__tensor *t = tn__block_cache_tls.structs;
    if (TN__UNLIKELY(!t))
        return tn__struct_new();
    tn__block_cache_tls.structs = t->storage; /* the link */
    tn__block_cache_tls.struct_room++;
    return t;
}

/* Keeps a struct of one reference without storage, base and record; false when there is no room, or
 * it is a large one. */
static inline bool tn__struct_push(tn__tensor *t)
{
    if (t->dims_capacity != TN__INLINE_DIMS)
        return false;
    if (TN__UNLIKELY(--tn__block_cache_tls.struct_room < 0)) {
        tn__block_cache_tls.struct_room = 0;
        return false;
    }
    t->storage = tn__block_cache_tls.structs;
    tn__block_cache_tls.structs = t;
    return true;
}

/* The end of a tensor of one reference that has let go of storage, base and record, or never had
 * them. */
static inline void tn__struct_keep(tn__tensor *t)
{
    if (TN__UNLIKELY(!tn__struct_push(t)))
        tn__struct_free(t);
}

#endif

/* block_cache.h - the short road of block allocation, inline: a thread's lists of free blocks.
 *
 * Class 4k+j holds blocks of (4+j)/4 * 2^k * 128 bytes, so at most a fifth of a block is unused.
 * Popping and pushing take a handful of instructions; everything else is in memory.c. */
#ifndef TN_CORE_BLOCK_CACHE_H
#define TN_CORE_BLOCK_CACHE_H

#include "core/base/base.h"

enum {
    TN__BLOCK_SMALLEST_LOG2 = 7, /* 128 bytes: a storage header and a small tensor */
    TN__BLOCK_LARGEST_LOG2 = 28, /* 256 MiB; larger blocks go straight to the system */
    TN__BLOCK_CLASSES = 4 * (TN__BLOCK_LARGEST_LOG2 - TN__BLOCK_SMALLEST_LOG2) + 1,
    TN__BLOCK_SMALL_CLASSES =
        4 * (14 - TN__BLOCK_SMALLEST_LOG2), /* up to 16 KiB: counted by number alone */
    TN__PAIR_CLASSES = 8, /* of tensors with their storage: 64 bytes of data, 128, .. 8 KiB */
};

typedef struct tn__free_block {
    struct tn__free_block *next;
} tn__free_block;

typedef struct tn__block_cache {
    /* Host tensors whose storage stayed attached, by class from 1; class 0 never has room:
     * core/tensor/pairs.h. */
    void *pairs[TN__PAIR_CLASSES + 1];
    int16_t pair_room[TN__PAIR_CLASSES + 1];
    void *structs; /* tensors without a storage, for views */
    int16_t struct_room;
    tn__free_block *lists[TN__BLOCK_CLASSES];
    /* Blocks that each list still takes; 0 in a thread that has not begun. */
    int16_t room[TN__BLOCK_CLASSES];
    size_t bytes;
    bool registered; /* for release at thread exit */
} tn__block_cache;

extern _Thread_local tn__block_cache tn__block_cache_tls __attribute__((tls_model("initial-exec")));

void *tn__block_alloc_slow(size_t bytes);
bool tn__block_begin_thread(tn__block_cache *c); /* false: this thread keeps nothing */
/* Set by the tensors' own file: returns what pairs and structs hold. */
extern void (*_Atomic tn__block_trim_pairs)(tn__block_cache *c);
void tn__block_free_slow(void *p, size_t bytes);

static inline int tn__block_class(size_t bytes)
{
    if (bytes <= (size_t)1 << TN__BLOCK_SMALLEST_LOG2)
        return 0;
    size_t n = bytes - 1;
    int log2 = 63 - __builtin_clzll(n);
    return 4 * (log2 - TN__BLOCK_SMALLEST_LOG2) + ((int)(n >> (log2 - 2)) & 3) + 1;
}

/* For sizes of up to 16 KiB, whose class is known. */
static inline void *tn__class_alloc(int class, size_t bytes)
{
    tn__free_block *b = tn__block_cache_tls.lists[class];
    if (TN__UNLIKELY(!b))
        return tn__block_alloc_slow(bytes);
    tn__block_cache_tls.lists[class] = b->next;
    tn__block_cache_tls.room[class]++;
    return b;
}

static inline void tn__class_free(void *p, int class, size_t bytes)
{
    if (TN__UNLIKELY(--tn__block_cache_tls.room[class] < 0)) {
        tn__block_cache_tls.room[class] = 0;
        tn__block_free_slow(p, bytes);
        return;
    }
    tn__free_block *b = p;
    b->next = tn__block_cache_tls.lists[class];
    tn__block_cache_tls.lists[class] = b;
}

/* The class is a constant where the size is. */
static inline void *tn__small_alloc(size_t bytes)
{
    return tn__class_alloc(tn__block_class(bytes), bytes);
}

static inline void tn__small_free(void *p, size_t bytes)
{
    tn__class_free(p, tn__block_class(bytes), bytes);
}

#endif

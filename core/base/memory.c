/* memory.c - every allocation of the core, and the cache of tensor memory.
 *
 * Reusing a block matters more than any kernel: fresh pages cost a fault each. A released block
 * goes to a per-thread list of its size class and is handed out again without a lock. Each list is
 * bounded in blocks and the thread in bytes. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/block_cache.h"
#include "core/base/guarded.h"

/* How many blocks a list keeps: more of the size of a graph's nodes, which come and go by the
 * thousand. */
enum { ALIGNMENT = 64, CLASS_BLOCKS = 64, NODE_BLOCKS = 2048, NODE_BYTES = 512 };
static const size_t CACHE_BYTES = (size_t)512 << 20; /* per thread */

static atomic_llong live_allocations, system_blocks;
/* 0: off; from above down to 1, which fails once; from below up to -1, which goes on. */
static atomic_llong fail_countdown;

static bool fails_now(void)
{
    long long left = atomic_load_explicit(&fail_countdown, memory_order_relaxed);
    if (TN__LIKELY(left == 0))
        return false;
    if (left == -1)
        return true;
    return atomic_fetch_add(&fail_countdown, left < 0 ? 1 : -1) == 1;
}

static void *counted(void *p)
{
    if (p)
        atomic_fetch_add_explicit(&live_allocations, 1, memory_order_relaxed);
    return p;
}

void *tn__alloc(size_t bytes)
{
    return fails_now() ? NULL : counted(malloc(bytes ? bytes : 1));
}

void *tn__zalloc(size_t bytes)
{
    return fails_now() ? NULL : counted(calloc(1, bytes ? bytes : 1));
}

void *tn__realloc(void *p, size_t bytes)
{
    if (!p)
        return tn__alloc(bytes);
    return fails_now() ? NULL : realloc(p, bytes ? bytes : 1);
}

char *tn__strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *copy = tn__alloc(n);
    return copy ? memcpy(copy, s, n) : NULL;
}

void tn__free(void *p)
{
    if (!p)
        return;
    atomic_fetch_sub_explicit(&live_allocations, 1, memory_order_relaxed);
    free(p);
}

/* ---- blocks ---------------------------------------------------------------------------------- */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TN_BLOCK_CACHE 0 /* a cached block would hide use after release */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TN_BLOCK_CACHE 0
#endif
#endif
#ifndef TN_BLOCK_CACHE
#define TN_BLOCK_CACHE 1
#endif

_Thread_local tn__block_cache tn__block_cache_tls __attribute__((tls_model("initial-exec")));
static pthread_key_t exit_key;
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;

static inline size_t class_bytes(int class)
{
    return (size_t)(4 + (class & 3)) << ((class >> 2) + TN__BLOCK_SMALLEST_LOG2 - 2);
}

static inline int16_t class_room(int class)
{
    return class_bytes(class) <= NODE_BYTES ? NODE_BLOCKS : CLASS_BLOCKS;
}

static inline int16_t pair_room(int pair_class)
{
    return 64 << pair_class <= NODE_BYTES ? NODE_BLOCKS : CLASS_BLOCKS;
}

static int class_or_none(size_t bytes)
{
    return bytes <= (size_t)1 << TN__BLOCK_LARGEST_LOG2 ? tn__block_class(bytes)
                                                        : TN__BLOCK_CLASSES;
}

void (*_Atomic tn__block_trim_pairs)(tn__block_cache *c);

/* From here on the thread keeps nothing, until it begins again. */
static void end_thread(tn__block_cache *c)
{
    tn__block_trim();
    memset(c->room, 0, sizeof c->room);
    memset(c->pair_room, 0, sizeof c->pair_room);
    c->struct_room = 0;
}

static void trim_at_exit(void *cache)
{
    end_thread(cache);
}

static void make_exit_key(void)
{
    pthread_key_create(&exit_key, trim_at_exit);
}

/* The first block that a thread gives back. While allocations are being made to fail, nothing is
 * kept, so that every allocation is one that can fail. */
bool tn__block_begin_thread(tn__block_cache *c)
{
    if (c->registered || !TN_BLOCK_CACHE || tn__guarded() ||
        atomic_load_explicit(&fail_countdown, memory_order_relaxed))
        return false;
    pthread_once(&exit_once, make_exit_key);
    pthread_setspecific(exit_key, c);
    for (int i = 0; i < TN__BLOCK_CLASSES; i++)
        c->room[i] = class_room(i);
    for (int i = 1; i <= TN__PAIR_CLASSES; i++)
        c->pair_room[i] = pair_room(i);
    c->struct_room = NODE_BLOCKS;
    c->registered = true;
    return true;
}

void tn__alloc_fail_at(int64_t nth)
{
    end_thread(&tn__block_cache_tls);
    tn__block_cache_tls.registered = false;
    atomic_store(&fail_countdown, nth);
}

void *tn__block_alloc_slow(size_t bytes)
{
    if (fails_now() || bytes > (size_t)INT64_MAX - 2 * TN__GUARD_BYTES)
        return NULL;
    int class = class_or_none(bytes);
    bool guarded = tn__guarded();
    size_t whole = guarded                     ? bytes + 2 * TN__GUARD_BYTES
                   : class < TN__BLOCK_CLASSES ? class_bytes(class)
                                               : (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void *p = NULL;
    if (posix_memalign(&p, ALIGNMENT, whole)) {
        tn__block_trim(); /* what this thread keeps may be just what is missing */
        if (posix_memalign(&p, ALIGNMENT, whole))
            return NULL;
    }
    atomic_fetch_add_explicit(&system_blocks, 1, memory_order_relaxed);
    return guarded ? tn__guard_put(p, bytes) : p;
}

void tn__block_free_slow(void *p, size_t bytes)
{
    if (tn__block_begin_thread(&tn__block_cache_tls)) {
        tn__block_free(p, bytes);
        return;
    }
    atomic_fetch_sub_explicit(&system_blocks, 1, memory_order_relaxed);
    free(tn__guarded() ? tn__guard_check(p) : p);
}

void *tn__block_alloc(size_t bytes)
{
    int class = class_or_none(bytes);
    if (class < TN__BLOCK_SMALL_CLASSES)
        return tn__small_alloc(bytes);
    tn__block_cache *c = &tn__block_cache_tls;
    tn__free_block *b = class < TN__BLOCK_CLASSES ? c->lists[class] : NULL;
    if (!b)
        return tn__block_alloc_slow(bytes);
    c->lists[class] = b->next;
    c->room[class]++;
    c->bytes -= class_bytes(class);
    return b;
}

void tn__block_free(void *p, size_t bytes)
{
    if (!p)
        return;
    int class = class_or_none(bytes);
    tn__block_cache *c = &tn__block_cache_tls;
    if (class < TN__BLOCK_SMALL_CLASSES) {
        tn__small_free(p, bytes);
        return;
    }
    if (class == TN__BLOCK_CLASSES || c->room[class] == 0 || c->bytes > CACHE_BYTES) {
        tn__block_free_slow(p, bytes);
        return;
    }
    c->bytes += class_bytes(class);
    tn__small_free(p, bytes);
}

void tn__block_trim(void)
{
    tn__block_cache *c = &tn__block_cache_tls;
    void (*trim_pairs)(tn__block_cache *) =
        atomic_load_explicit(&tn__block_trim_pairs, memory_order_relaxed);
    if (trim_pairs)
        trim_pairs(c);
    for (int i = 0; i < TN__BLOCK_CLASSES; i++) {
        while (c->lists[i]) {
            tn__free_block *b = c->lists[i];
            c->lists[i] = b->next;
            c->room[i]++;
            atomic_fetch_sub_explicit(&system_blocks, 1, memory_order_relaxed);
            free(b);
        }
    }
    c->bytes = 0;
}

static int64_t cached_blocks(const tn__block_cache *c)
{
    int64_t n = 0;
    for (int i = 0; i < TN__BLOCK_CLASSES; i++)
        for (const tn__free_block *b = c->lists[i]; b; b = b->next)
            n++;
    for (int i = 1; i <= TN__PAIR_CLASSES; i++)
        if (c->pairs[i])
            n += 2 * (pair_room(i) - c->pair_room[i]);
    return c->structs ? n + NODE_BLOCKS - c->struct_room : n;
}

void tn__memory_get(tn__memory_stats *out)
{
    const tn__block_cache *c = &tn__block_cache_tls;
    out->live_allocations = atomic_load(&live_allocations);
    out->live_blocks = atomic_load(&system_blocks) - cached_blocks(c);
    out->cached_bytes = (int64_t)c->bytes;
}

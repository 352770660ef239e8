/* memory.c - every allocation of the core, and the cache of tensor memory.
 *
 * Reusing a block matters more than any kernel: fresh pages cost a fault each. A released block goes to a
 * per-thread list of its size class (four classes to a power of two, so at most a quarter is unused) and is handed
 * out again without a lock. Each list is bounded in blocks and the thread in bytes. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

enum {
    ALIGNMENT = 64,
    SMALLEST_LOG2 = 7, /* 128 bytes: a storage header and a small tensor */
    LARGEST_LOG2 = 28, /* 256 MiB; larger blocks go straight to the system */
    CLASSES = 4 * (LARGEST_LOG2 - SMALLEST_LOG2) + 1,
    CLASS_BLOCKS = 64,
};
static const size_t CACHE_BYTES = (size_t)512 << 20; /* per thread */

static atomic_llong live_allocations, system_blocks;
static atomic_llong fail_countdown; /* 0: off */

static bool fails_now(void)
{
    if (TN__LIKELY(atomic_load_explicit(&fail_countdown, memory_order_relaxed) == 0)) return false;
    return atomic_fetch_sub(&fail_countdown, 1) == 1;
}

void tn__alloc_fail_at(int64_t nth)
{
    atomic_store(&fail_countdown, nth);
}

static void *counted(void *p)
{
    if (p) atomic_fetch_add_explicit(&live_allocations, 1, memory_order_relaxed);
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
    if (!p) return tn__alloc(bytes);
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
    if (!p) return;
    atomic_fetch_sub_explicit(&live_allocations, 1, memory_order_relaxed);
    free(p);
}

/* ---- blocks --------------------------------------------------------------------------------------- */
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

typedef struct free_block {
    struct free_block *next;
} free_block;

typedef struct block_cache {
    free_block *lists[CLASSES];
    uint8_t counts[CLASSES];
    size_t bytes;
    bool registered; /* for release at thread exit */
} block_cache;

static _Thread_local block_cache tls_cache __attribute__((tls_model("initial-exec")));
static pthread_key_t exit_key;
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;

/* Class 4k+j holds blocks of (4+j)/4 * 2^(k + SMALLEST_LOG2) bytes. */
static inline int class_of(size_t bytes)
{
    if (bytes <= (size_t)1 << SMALLEST_LOG2) return 0;
    size_t n = bytes - 1;
    int log2 = 63 - __builtin_clzll(n);
    int quarter = (int)(n >> (log2 - 2)) & 3;
    return 4 * (log2 - SMALLEST_LOG2) + quarter + 1;
}

static inline size_t class_bytes(int class)
{
    return (size_t)(4 + (class & 3)) << ((class >> 2) + SMALLEST_LOG2 - 2);
}

static void trim_at_exit(void *unused)
{
    (void)unused;
    tn__block_trim();
}

static void make_exit_key(void)
{
    pthread_key_create(&exit_key, trim_at_exit);
}

static TN_COLD void register_thread(block_cache *c)
{
    pthread_once(&exit_once, make_exit_key);
    pthread_setspecific(exit_key, c);
    c->registered = true;
}

static void *system_block(size_t bytes)
{
    void *p = NULL;
    if (posix_memalign(&p, ALIGNMENT, bytes)) return NULL;
    return p;
}

void *tn__block_alloc(size_t bytes)
{
    if (TN__UNLIKELY(fails_now())) return NULL;
    int class = bytes <= (size_t)1 << LARGEST_LOG2 ? class_of(bytes) : CLASSES;
    block_cache *c = &tls_cache;
    void *p;
    if (TN__LIKELY(class < CLASSES && c->lists[class])) {
        free_block *b = c->lists[class];
        c->lists[class] = b->next;
        c->counts[class]--;
        c->bytes -= class_bytes(class);
        p = b;
    } else {
        if (bytes > (size_t)INT64_MAX - ALIGNMENT) return NULL;
        p = system_block(class < CLASSES ? class_bytes(class) : (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
        if (!p) return NULL;
        atomic_fetch_add_explicit(&system_blocks, 1, memory_order_relaxed);
    }
    return p;
}

static void to_system(void *p)
{
    atomic_fetch_sub_explicit(&system_blocks, 1, memory_order_relaxed);
    free(p);
}

void tn__block_free(void *p, size_t bytes)
{
    if (!p) return;
    int class = TN_BLOCK_CACHE && bytes <= (size_t)1 << LARGEST_LOG2 ? class_of(bytes) : CLASSES;
    block_cache *c = &tls_cache;
    if (class >= CLASSES || c->counts[class] >= CLASS_BLOCKS || c->bytes > CACHE_BYTES) {
        to_system(p);
        return;
    }
    if (TN__UNLIKELY(!c->registered)) register_thread(c);
    free_block *b = p;
    b->next = c->lists[class];
    c->lists[class] = b;
    c->counts[class]++;
    c->bytes += class_bytes(class);
}

void tn__block_trim(void)
{
    block_cache *c = &tls_cache;
    for (int i = 0; i < CLASSES; i++) {
        while (c->lists[i]) {
            free_block *b = c->lists[i];
            c->lists[i] = b->next;
            to_system(b);
        }
        c->counts[i] = 0;
    }
    c->bytes = 0;
}

void tn__memory_get(tn__memory_stats *out)
{
    const block_cache *c = &tls_cache;
    int64_t cached = 0;
    for (int i = 0; i < CLASSES; i++) cached += c->counts[i];
    out->live_allocations = atomic_load(&live_allocations);
    out->live_blocks = atomic_load(&system_blocks) - cached;
    out->cached_bytes = (int64_t)c->bytes;
}

/* base.h - what every file of the core may use: the error record, memory, thread-local state,
 * threads.
 *
 * All allocation of the core goes through this header, which counts it and, in test builds, makes
 * the n-th one fail (tn__alloc_fail_at). */
#ifndef TN_CORE_BASE_H
#define TN_CORE_BASE_H

#include <tenon/border.h>
#include <tenon/error.h>

#define TN__LIKELY(x) __builtin_expect(!!(x), 1)
#define TN__UNLIKELY(x) __builtin_expect(!!(x), 0)
/* Passes a failure on. */
#define TN__TRY(expr)                                                                              \
    do {                                                                                           \
        tn_status try_status_ = (expr);                                                            \
        if (TN__UNLIKELY(try_status_ != TN_OK))                                                    \
            return try_status_;                                                                    \
    } while (0)

/* ---- memory (memory.c) ----------------------------------------------------------------------- */
void *tn__alloc(size_t bytes);  /* uninitialised; NULL when out of memory */
void *tn__zalloc(size_t bytes); /* zeroed */
void *tn__realloc(void *p, size_t bytes);
char *tn__strdup(const char *s);
void tn__free(void *p);

/* Blocks of host memory for tensors: 64-byte aligned, kept in per-thread lists by size class, so
 * that a block just released is handed out again with its pages still mapped. */
void *tn__block_alloc(size_t bytes);
void tn__block_free(void *p, size_t bytes); /* bytes as asked for */
void tn__block_trim(void);                  /* returns this thread's cached blocks to the system */

typedef struct tn__memory_stats {
    int64_t live_allocations; /* of tn__alloc and its kin */
    int64_t live_blocks;      /* tensor memory in use; exact while one thread runs */
    int64_t cached_bytes;     /* in this thread's lists */
} tn__memory_stats;
TN_API void tn__memory_get(tn__memory_stats *out); /* for tests */
/* With TENON_GUARD=1 in the environment every block has sentinels on both sides: how many of their
 * bytes had been written when their blocks were released. */
TN_API int64_t tn__guard_damage(void); /* for tests */
TN_API void tn__alloc_fail_at(
    int64_t nth); /* the n-th allocation from now fails, that and all after it for -n; 0: none */

/* ---- errors (error.c) ------------------------------------------------------------------------ */
/* Writes the record and returns status. `call` says operator, plugin and site; it may be NULL. */
tn_status tn__fail(tn_call *call, tn_status status, const char *fmt, ...) TN_PRINTF(3, 4) TN_COLD;
tn_status tn__fail_memory(tn_call *call, size_t bytes) TN_COLD;
void tn__error_set_site(const char *file, int line); /* of the record just written */
void tn__error_keep_first(void); /* the record just written stays until it is cleared */
bool tn__error_kept(void);
/* Puts words before the message just written: what was being done when it happened. */
void tn__error_prefix(const char *fmt, ...) TN_PRINTF(1, 2) TN_COLD;
/* A record on its way from one thread to another that waits for it. */
typedef struct tn__error_record {
    tn_error public;
    bool kept; /* an expression call failed: stays until it is cleared */
    char message[1024];
    char plugin[256];
} tn__error_record;
void tn__error_copy(tn__error_record *out);
void tn__error_adopt(const tn__error_record *from); /* a kept record stays */
/* "[2, 3]"; buf of TN__SHAPE_CHARS always suffices (long shapes are cut with "..."). Returns
 * buf. */
enum { TN__SHAPE_CHARS = 160 };
const char *tn__shape_text(char *buf, int64_t ndim, const int64_t *sizes);

/* ---- dtypes (dtype.c) ------------------------------------------------------------------------ */
extern const uint8_t tn__dtype_sizes[TN_DTYPE_COUNT] __attribute__((visibility("hidden")));
const char *tn__dtype_name(
    tn_dtype dtype); /* "float32"; "none" for TN_DTYPE_NONE, "invalid" otherwise */
tn_dtype tn__dtype_parse(const char *name);   /* "float32" or "f32"; TN_DTYPE_NONE when unknown */
tn_dtype tn__promote(tn_dtype a, tn_dtype b); /* PyTorch's table */
int tn__can_cast(tn_dtype from,
                 tn_dtype to); /* PyTorch's can_cast: no complex->real, float->int, x->bool */
tn_dtype tn__default_dtype(void);
/* Elements from one dtype to another, strides in bytes; a same-dtype convert is a copy. Float to
 * integer goes as C does within range; out of range and NaN are defined (wrapped through i64),
 * never undefined behaviour. */
typedef void (*tn__convert_fn)(char *dst, int64_t dst_stride, const char *src, int64_t src_stride,
                               int64_t n);
tn__convert_fn tn__converter(tn_dtype to, tn_dtype from);

/* ---- threads (parallel.c) -------------------------------------------------------------------- */
tn_status tn__parallel_for(tn_call *call, int64_t n, int64_t grain, tn_range_fn fn, void *arg);

/* ---- scratch memory of a call (scratch.c) ---------------------------------------------------- */
enum { TN__CALL_LEAF = 1 }; /* tn_call.flags: the record of leaf kernels, which take none */
/* Lives until the kernel returns. 64-byte aligned; NULL when out of memory (recorded). */
void *tn__scratch(tn_call *call, size_t bytes);
void tn__scratch_free(tn_call *call); /* every block that the call was given */

#endif

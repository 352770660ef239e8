/* truths.h - a tensor seen as truth values, walked in row-major order beside another one.
 *
 *     cpu_truths t;
 *     cpu_truths_begin(&t, mask, ndim, sizes, mask strides, other strides);
 *     TN_TRY(cpu_truths_count(call, &t, &count));
 *     TN_TRY(cpu_truths_run(call, &t, fn, arg));
 *
 * The walk is cut into chunks by the number of elements alone. Counting remembers how many are true
 * before each, so that threads which run the chunks know where their results go: what comes out
 * does not depend on how many threads there are. */
#ifndef CPU_TRUTHS_H
#define CPU_TRUTHS_H

#include "moves.h"

enum { CPU_TRUTHS_PIECE = CPU_MOVES_MOST };

typedef struct cpu_truths {
    const char *data;
    tn_dtype dtype;
    int64_t numel, ndim, sizes[TN_MAX_DIMS];
    int64_t strides[TN_MAX_DIMS], other[TN_MAX_DIMS]; /* bytes */
    int64_t n_chunks, *before;                        /* before[k]: true elements before chunk k */
} cpu_truths;

/* A piece of the walk: n elements along the innermost dimension. */
typedef struct cpu_piece {
    const uint8_t *truth; /* 0: false; any other: true */
    int64_t n;
    int64_t at;    /* how many elements lie before it */
    int64_t nth;   /* how many true ones do */
    int64_t other; /* bytes from the other tensor's first element; step bytes between neighbours */
    int64_t step;
} cpu_piece;
/* Returns how many of the piece are true. */
typedef int64_t (*cpu_piece_fn)(void *arg, const cpu_piece *p);

/* Strides are in elements of either tensor. `other` may be NULL, with other_size 0. */
void cpu_truths_begin(cpu_truths *t, const tn_tensor *mask, int64_t ndim, const int64_t *sizes,
                      const int64_t *strides, const int64_t *other, int64_t other_size);
tn_status cpu_truths_count(tn_call *call, cpu_truths *t, int64_t *count);
/* Of each chunk the pieces come in order; chunks run on several threads. */
tn_status cpu_truths_run(tn_call *call, const cpu_truths *t, cpu_piece_fn fn, void *arg);

/* nonzero.c: the elements of self where mask, of bool or bytes, is true; broadcast together. */
tn_status cpu_select_masked(tn_call *call, tn_tensor *self, tn_tensor *mask, tn_tensor **result);

/* The strides of t as it is broadcast to ndim dimensions, into strides. */
void cpu_broadcast_strides(const tn_tensor *t, int64_t ndim, int64_t *strides);

#endif

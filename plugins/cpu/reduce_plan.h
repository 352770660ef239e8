/* reduce_plan.h - the geometry of one reduction: which dimensions stay, which go, and in what order
 * memory is walked. reduce.c states what is reduced, reduce_run.c walks the plan, the loops over
 * elements are in kernels/.
 *
 * Dimensions of size 1 are gone; each group has dimension 0 innermost, neighbours are merged where
 * strides allow, and an empty group is one dimension of size 1. Strides are in bytes. */
#ifndef CPU_REDUCE_PLAN_H
#define CPU_REDUCE_PLAN_H

#include <tenon/border.h>

typedef struct reduce_plan {
    const char *in;
    int64_t outputs, reduced; /* how many results; how many elements make one */
    int32_t n_kept, n_reduced;
    bool by_columns; /* neighbouring results at once, rather than one result after another */
    int64_t kept_sizes[TN_MAX_DIMS], kept_in[TN_MAX_DIMS];
    int64_t kept_out[2][TN_MAX_DIMS];
    int64_t reduced_sizes[TN_MAX_DIMS], reduced_in[TN_MAX_DIMS];
} reduce_plan;

/* `dims` lists what is reduced, in the range that the shape rule has checked; an empty list is
 * everything. results[k] may be NULL. in_order keeps the reduced elements in row-major order, for
 * an answer that is their index; else they come in the order of memory. */
void reduce_plan_init(reduce_plan *plan, const tn_tensor *self, tn_ints dims,
                      tn_tensor *const results[2], bool in_order);

/* A place in one of the two groups: an element's position in each dimension, and its address. */
typedef struct reduce_walk {
    const int64_t *sizes, *strides;
    int32_t n;
    const char *p;
    int64_t at[TN_MAX_DIMS];
} reduce_walk;

void reduce_walk_start(reduce_walk *w, int32_t n, const int64_t *sizes, const int64_t *strides,
                       const char *origin, int64_t index);

/* How many of the next `n` elements lie at one stride, w->strides[0]. */
static inline int64_t reduce_walk_run(const reduce_walk *w, int64_t n)
{
    int64_t left = w->sizes[0] - w->at[0];
    return n < left ? n : left;
}

/* Goes `run` elements on, at most to the end of dimension 0, and on to the next dimension there. */
static inline void reduce_walk_on(reduce_walk *w, int64_t run)
{
    w->at[0] += run;
    w->p += run * w->strides[0];
    for (int32_t d = 0; d + 1 < w->n && w->at[d] == w->sizes[d]; d++) {
        w->p += w->strides[d + 1] - w->sizes[d] * w->strides[d];
        w->at[d] = 0;
        w->at[d + 1]++;
    }
}

#endif

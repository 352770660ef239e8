/* places.h - the places in a tensor that indices name, as byte offsets from its first element.
 *
 * Every tensor of a list of indices adds its part: an integer, wrapped, times the stride of the
 * dimension that it takes; for a mask the offsets of its true elements, found once. Indices are
 * checked whole when places are made, so that what uses them cannot fail half way. */
#ifndef CPU_PLACES_H
#define CPU_PLACES_H

#include <tenon/indexing.h>

#include "cpu.h"

typedef struct cpu_index_part {   /* one tensor of the list */
    const char *data;             /* integers, or offsets of true elements */
    bool narrow;                  /* int32 */
    bool is_row;                  /* along the joint shape it has the one stride of `strides[0]` */
    int64_t limit, step;          /* the dimension's size and stride; of offsets 0 and 1 */
    int64_t strides[TN_MAX_DIMS]; /* bytes, along the joint shape */
} cpu_index_part;

typedef struct cpu_places {
    int64_t count;                    /* how many */
    int64_t ndim, sizes[TN_MAX_DIMS]; /* the joint shape of the indices */
    int64_t n;
    cpu_index_part *indices;
    const tn_tensor *whole; /* the one index counts through all of this tensor; else NULL */
} cpu_places;

/* Of t[indices]; x gets the geometry. */
tn_status cpu_places_of_list(tn_call *call, cpu_places *p, tn_indexing *x, const tn_tensor *t,
                             tn_tensors indices);
/* Of elements of t counted in row-major order, from the end where negative. */
tn_status cpu_places_in_whole(tn_call *call, cpu_places *p, const tn_tensor *t,
                              const tn_tensor *index);
/* The offsets of places begin .. begin + n - 1. */
void cpu_places_get(const cpu_places *p, int64_t begin, int64_t n, int64_t *offsets);

/* What strides come to along all dimensions, if they come to one: then *step is it. */
bool cpu_is_row(int64_t ndim, const int64_t *sizes, const int64_t *strides, int64_t *step);

#endif

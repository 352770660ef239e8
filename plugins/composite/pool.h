/* pool.h - what avg_pool.c and max_pool.c share: the arguments of a pooling, and its windows along one
 * dimension as a table (pool.c). */
#ifndef COMPOSITE_POOL_H
#define COMPOSITE_POOL_H

#include "tables.h"

enum { POOL_DIMS = 3 };

typedef struct pooling {
    int n; /* dimensions */
    bool adaptive, ceil_mode, include_pad;
    int64_t kernel[POOL_DIMS], stride[POOL_DIMS], padding[POOL_DIMS], dilation[POOL_DIMS];
    int64_t out[POOL_DIMS]; /* how many windows */
} pooling;

/* The last n dimensions are pooled, behind channels and perhaps a batch. */
tn_status pool_check(tn_call *call, const tn_tensor *self, int n, tn_dtypes allowed);
/* One number stands for all dimensions; none, where `or_else` is given, for what that says. */
tn_status pool_take(tn_call *call, const char *name, tn_ints list, const pooling *p,
                    const int64_t *or_else, int64_t least, int64_t *out);
/* Fills p->out from the others. */
tn_status pool_count_windows(tn_call *call, const tn_tensor *self, pooling *p);
/* All of an adaptive pooling. */
tn_status pool_adaptive(tn_call *call, const tn_tensor *self, int n, tn_ints output_size,
                        pooling *p);

/* The windows of one dimension; the memory is scratch. */
typedef struct pool_axis {
    int64_t out, taps;
    int64_t *index; /* [out, taps]: which element, in its window whatever the border is */
    bool *valid;    /* [out, taps]: not beyond the border */
    bool all_valid, some_empty;
    double *count; /* [out]: what a mean divides by */
} pool_axis;
tn_status pool_axis_of(tn_call *call, const pooling *p, int i, int64_t size, pool_axis *x);
/* Dimension dim as [out, taps]. */
tn_tensor *pool_windows(work *w, tn_tensor *t, int64_t dim, const pool_axis *x);

#endif

/* broadcast.c - the common shape of several tensors: shapes are aligned at their last dimensions,
 * and there each size is the same, or 1. First step of tn__iter_init, and the shape rule of every
 * pointwise operator. */
#include <string.h>

#include "core/iter/iter.h"

static tn_status fail_mismatch(tn_call *call, int64_t ndim, const int64_t *sizes,
                               const tn_tensor *t, int64_t dim, int64_t other)
{
    char so_far[TN__SHAPE_CHARS], shape[TN__SHAPE_CHARS];
    return tn__fail(call, TN_ERR_ARGUMENT,
                    "shapes %s and %s do not broadcast: at dimension %lld their sizes are %lld and "
                    "%lld, neither is 1",
                    tn__shape_text(so_far, ndim, sizes), tn__shape_text(shape, t->ndim, t->sizes),
                    (long long)dim, (long long)sizes[dim], (long long)other);
}

/* Moves the sizes right to make room for leading dimensions of size 1. */
static void widen(int64_t *ndim, int64_t *sizes, int64_t wanted)
{
    int64_t extra = wanted - *ndim;
    memmove(sizes + extra, sizes, (size_t)*ndim * sizeof *sizes);
    for (int64_t d = 0; d < extra; d++)
        sizes[d] = 1;
    *ndim = wanted;
}

tn_status tn__broadcast(tn_call *call, tn_tensor *const *tensors, int64_t n, int64_t *ndim,
                        int64_t *sizes)
{
    *ndim = 0;
    for (int64_t i = 0; i < n; i++) {
        const tn_tensor *t = tensors[i];
        if (!t)
            continue;
        int64_t narrower = t->ndim < *ndim ? t->ndim : *ndim;
        for (int64_t back = 1; back <= narrower; back++) {
            int64_t *size = &sizes[*ndim - back], other = t->sizes[t->ndim - back];
            if (*size == other || other == 1)
                continue;
            if (*size != 1)
                return fail_mismatch(call, *ndim, sizes, t, *ndim - back, other);
            *size = other;
        }
        if (t->ndim > *ndim) {
            int64_t extra = t->ndim - *ndim;
            widen(ndim, sizes, t->ndim);
            memcpy(sizes, t->sizes, (size_t)extra * sizeof *sizes);
        }
    }
    return TN_OK;
}

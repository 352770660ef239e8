/* range.h - how many elements a range has: one answer for every backend's arange. */
#ifndef TENON_RANGE_H
#define TENON_RANGE_H

#include <math.h>

#include <tenon/number.h>

static inline bool tn_scalar_is_integer(const tn_scalar *s)
{
    return s->kind == TN_SCALAR_INT || s->kind == TN_SCALAR_BOOL;
}

/* ceil((end - start) / step) into *n, in integers where the three are. Returns NULL, or what is
 * wrong with the range. */
static inline const char *tn_range_count(const tn_scalar *start, const tn_scalar *end,
                                         const tn_scalar *step, int64_t *n)
{
    double from = tn_scalar_as_double(start), to = tn_scalar_as_double(end),
           by = tn_scalar_as_double(step);
    if (by == 0)
        return "step must not be zero";
    if (!isfinite(from) || !isfinite(to) || isnan(by))
        return "the bounds must be finite";
    if ((by > 0 && from > to) || (by < 0 && from < to))
        return "step leads away from end";
    double size = ceil((to - from) / by);
    if (size >= 4611686018427387904.0)
        return "overflow: too many elements";
    *n = (int64_t)size;
    if (!tn_scalar_is_integer(start) || !tn_scalar_is_integer(end) || !tn_scalar_is_integer(step))
        return NULL;
    uint64_t distance = by > 0 ? (uint64_t)end->v.i - (uint64_t)start->v.i
                               : (uint64_t)start->v.i - (uint64_t)end->v.i;
    uint64_t stride = by > 0 ? (uint64_t)step->v.i : 0 - (uint64_t)step->v.i;
    *n = (int64_t)(distance / stride + (distance % stride != 0));
    return NULL;
}

#endif

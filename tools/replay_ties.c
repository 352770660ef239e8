/* replay_ties.c - index results of which several are right.
 *
 * Where equal values compete (sort, topk, argmax and their kin), other indices than the recorded
 * ones are accepted when each selects an equal value from self; sort, argsort and topk must also
 * name no element twice. A stable sort has one answer. */
#include "replay_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *name, size_t *n)
{
    const char *colons = strstr(name, "::");
    const char *base = colons ? colons + 2 : name;
    *n = strcspn(base, ".");
    return base;
}

static bool listed(const char *name, const char *const *names)
{
    size_t n;
    const char *base = base_name(name, &n);
    for (; *names; names++)
        if (strlen(*names) == n && memcmp(*names, base, n) == 0)
            return true;
    return false;
}

/* Results that are indices; the others of these operators are values, whatever their dtype. */
static bool is_index(const char *name, const char *where)
{
    static const char *const places[] = {"indices", "result1", "max_values", "min_indices"};
    if (strstr(name, "::arg"))
        return true;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(where, places[i]) == 0)
            return true;
    return false;
}

bool replay_ties(const replay_args *args, const char *where)
{
    static const char *const names[] = {"sort", "argsort", "topk",      "kthvalue",
                                        "mode", "median",  "nanmedian", "max",
                                        "min",  "argmax",  "argmin",    NULL};
    const json_t *stable = json_object_get(args->recorded, "stable");
    bool one_order = json_is_true(json_object_get(stable, "bool")); /* of equal elements */
    return listed(args->name, names) && is_index(args->name, where) && !one_order;
}

static bool distinct_needed(const char *name)
{
    static const char *const names[] = {"sort", "argsort", "topk", NULL};
    return listed(name, names);
}

/* How the index array's dimensions lie over self: outer x lane x inner, the lane along dim. */
typedef struct lanes {
    int64_t outer, inner;
    int64_t self_lane; /* elements of self along dim */
    int64_t lane;      /* indices along dim: 1 for a reduction, kept or not */
} lanes;

static bool lay_lanes(const replay_array *self, int64_t dim, const replay_array *index, lanes *l)
{
    *l = (lanes){1, 1, self->numel, 1};
    if (dim == TN_MAX_DIMS || self->ndim == 0)
        return index->numel == 1;
    dim += dim < 0 ? self->ndim : 0;
    if (dim < 0 || dim >= self->ndim)
        return false;
    for (int d = 0; d < self->ndim; d++) {
        l->outer *= d < dim ? self->sizes[d] : 1;
        l->inner *= d > dim ? self->sizes[d] : 1;
    }
    l->self_lane = self->sizes[dim];
    if (l->outer == 0 || l->inner == 0)
        return index->numel == 0;
    l->lane = index->numel / (l->outer * l->inner);
    return l->lane * l->outer * l->inner == index->numel;
}

static bool same_value(const replay_array *self, int64_t i, int64_t j)
{
    double a[2], b[2];
    if (tn_dtype_in(self->dtype, TN_DTYPES_WHOLE))
        return replay_integer(self, i) == replay_integer(self, j);
    replay_number(self, i, a);
    replay_number(self, j, b);
    return (isnan(a[0]) && isnan(b[0])) || (a[0] == b[0] && a[1] == b[1]);
}

bool replay_same_selection(const char *name, const replay_array *self, int64_t dim,
                           const replay_array *got, const replay_array *want)
{
    lanes l;
    if (got->numel != want->numel || !lay_lanes(self, dim, got, &l))
        return false;
    unsigned char *seen = calloc((size_t)l.self_lane + 1, 1);
    bool same = seen != NULL;
    for (int64_t o = 0; same && o < l.outer * l.inner; o++) {
        memset(seen, 0, (size_t)l.self_lane);
        int64_t outer = o / l.inner, inner = o % l.inner;
        for (int64_t k = 0; same && k < l.lane; k++) {
            int64_t at = (outer * l.lane + k) * l.inner + inner;
            int64_t i = replay_integer(got, at), j = replay_integer(want, at);
            same = i >= 0 && i < l.self_lane && j >= 0 && j < l.self_lane &&
                   !(seen[i] && distinct_needed(name)) &&
                   same_value(self, (outer * l.self_lane + i) * l.inner + inner,
                              (outer * l.self_lane + j) * l.inner + inner);
            if (same)
                seen[i] = 1;
        }
    }
    free(seen);
    return same;
}

/* overlap.c - does written memory share elements, with itself or with an input?
 *
 * Answers exactly, also for strided views: x[::2] and x[1::2] are disjoint, a and a[:, 0:1] are
 * not. Both questions become one: how many ways are there to reach `target` as a sum of steps, each
 * taken 0 .. count times? A view shares an element with another when there is one way, with itself
 * when there are two (the first is "the same index twice"). Steps sorted from large to small leave
 * almost no choice, so the search is a handful of nodes; geometry so tangled that MAX_NODES do not
 * settle it counts as overlapping. */
#include "core/tensor/tensor_impl.h"

enum { MAX_TERMS = 2 * TN_MAX_DIMS + 2, MAX_NODES = 1 << 15 };

/* Sums of step[i] * (0 .. count[i]), steps positive, and from sorting on in descending order. */
typedef struct sum {
    int n;
    int nodes;        /* visited so far */
    int ways, enough; /* found so far; where to stop */
    int64_t step[MAX_TERMS], count[MAX_TERMS];
    int64_t rest[MAX_TERMS + 1]; /* what the terms from i on can add up to */
} sum;

/* Keeps the order; equal steps become one term. Returns true when they were merged. */
static bool add_term(sum *s, int64_t step, int64_t count)
{
    int i = s->n;
    for (; i > 0 && s->step[i - 1] <= step; i--) {
        if (s->step[i - 1] != step)
            continue;
        s->count[i - 1] += count;
        return true;
    }
    for (int j = s->n++; j > i; j--) {
        s->step[j] = s->step[j - 1];
        s->count[j] = s->count[j - 1];
    }
    s->step[i] = step;
    s->count[i] = count;
    return false;
}

static void search(sum *s, int i, int64_t target)
{
    if (i == s->n) {
        s->ways += target == 0;
        return;
    }
    if (++s->nodes > MAX_NODES) {
        s->ways = s->enough;
        return;
    }
    int64_t step = s->step[i], short_of = target - s->rest[i + 1];
    int64_t least = short_of > 0 ? (short_of - 1) / step + 1 : 0;
    int64_t most = target / step < s->count[i] ? target / step : s->count[i];
    for (int64_t k = least; k <= most && s->ways < s->enough; k++)
        search(s, i + 1, target - k * step);
}

static bool has_ways(sum *s, int64_t target, int enough)
{
    s->rest[s->n] = 0;
    for (int i = s->n - 1; i >= 0; i--)
        s->rest[i] = s->rest[i + 1] + s->step[i] * s->count[i];
    if (target < 0 || target > s->rest[0])
        return false;
    s->enough = enough;
    search(s, 0, target);
    return s->ways >= enough;
}

/* Geometry whose sums, doubled, still fit in 64 bits; true of everything that was ever allocated.
 */
static bool is_sane(const tn_tensor *t)
{
    int64_t span = tn__span(t->ndim, t->sizes, t->strides);
    return span >= 0 && span < INT64_MAX / 64;
}

static bool overlaps_itself(const tn_tensor *t)
{
    sum s = {.n = 0};
    int64_t target = 0;
    for (int d = 0; d < t->ndim; d++) {
        if (t->sizes[d] == 1)
            continue;
        if (t->strides[d] == 0)
            return true;
        int64_t step = t->strides[d] < 0 ? -t->strides[d] : t->strides[d], reach = t->sizes[d] - 1;
        if (add_term(&s, step, 2 * reach))
            return true;
        target += step * reach;
    }
    return has_ways(&s, target, 2);
}

tn_status tn__check_no_internal_overlap(tn_call *call, const tn_tensor *t)
{
    if (t->flags & (TN_TENSOR_CONTIGUOUS | TN_TENSOR_DENSE) || t->numel < 2)
        return TN_OK;
    if (is_sane(t) && !overlaps_itself(t))
        return TN_OK;
    char sizes[TN__SHAPE_CHARS], strides[TN__SHAPE_CHARS];
    return tn__fail(call, TN_ERR_OVERLAP,
                    "several elements of the output share one memory location (shape %s, strides "
                    "%s); clone() it first",
                    tn__shape_text(sizes, t->ndim, t->sizes),
                    tn__shape_text(strides, t->ndim, t->strides));
}

/* The same elements in the same order: what an in-place call passes. Dimensions of size 1 do not
 * count. */
static bool same_elements(const tn_tensor *a, const tn_tensor *b)
{
    int i = 0, j = 0;
    if (tn__dtype_sizes[a->dtype] != tn__dtype_sizes[b->dtype] ||
        tn__impl(a)->offset != tn__impl(b)->offset) {
        return false;
    }
    for (;; i++, j++) {
        while (i < a->ndim && a->sizes[i] == 1)
            i++;
        while (j < b->ndim && b->sizes[j] == 1)
            j++;
        if (i == a->ndim || j == b->ndim)
            return i == a->ndim && j == b->ndim;
        if (a->sizes[i] != b->sizes[j] || a->strides[i] != b->strides[j])
            return false;
    }
}

/* Adds t's terms, `scale` units to an element, and returns where its lowest (or highest) element
 * begins. */
static int64_t add_tensor(sum *s, const tn_tensor *t, int64_t scale, bool highest)
{
    int64_t place = tn__impl(t)->offset * scale;
    for (int d = 0; d < t->ndim; d++) {
        if (t->sizes[d] == 1 || t->strides[d] == 0)
            continue;
        int64_t step = t->strides[d] * scale, reach = t->sizes[d] - 1;
        if ((step > 0) == highest)
            place += step * reach;
        add_term(s, step < 0 ? -step : step, reach);
    }
    return place;
}

/* a's lowest element plus steps equals b's highest element minus steps. Between dtypes of different
 * widths the unit is the byte, and the bytes of an element are one more term. */
static bool overlap(const tn_tensor *a, const tn_tensor *b)
{
    sum s = {.n = 0};
    int64_t a_size = tn__dtype_sizes[a->dtype], b_size = tn__dtype_sizes[b->dtype];
    bool bytes = a_size != b_size;
    int64_t low = add_tensor(&s, a, bytes ? a_size : 1, false);
    int64_t high = add_tensor(&s, b, bytes ? b_size : 1, true);
    if (bytes)
        add_term(&s, 1, a_size - 1 + b_size - 1);
    return has_ways(&s, high + (bytes ? b_size - 1 : 0) - low, 1);
}

tn_status tn__check_no_overlap(tn_call *call, const tn_tensor *out, const tn_tensor *in)
{
    if (out == in || tn__impl(out)->storage != tn__impl(in)->storage || !tn__impl(out)->storage)
        return TN_OK;
    if (out->numel == 0 || in->numel == 0 || same_elements(out, in))
        return TN_OK;
    if (is_sane(out) && is_sane(in) && !overlap(out, in))
        return TN_OK;
    char out_text[TN__SHAPE_CHARS], in_text[TN__SHAPE_CHARS];
    return tn__fail(call, TN_ERR_OVERLAP,
                    "the output (shape %s) shares part of its memory with an input (shape %s); "
                    "clone() the input first",
                    tn__shape_text(out_text, out->ndim, out->sizes),
                    tn__shape_text(in_text, in->ndim, in->sizes));
}

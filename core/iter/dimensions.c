/* dimensions.c - the dimensions of a tn_iter whose operands are known: byte strides, order,
 * merging.
 *
 * Second half of tn__iter_init. Innermost dimension first, sizes of 1 left out; sorted by stride so
 * that the first output is walked in memory order; neighbours that are one walk for every operand
 * become one dimension. */
#include "core/iter/iter.h"

/* The byte stride of t along dimension `back` counted from the last one; 0 where it is broadcast.
 */
static bool byte_stride(const tn_tensor *t, int64_t back, int64_t *out)
{
    *out = 0;
    if (back >= t->ndim || t->sizes[t->ndim - 1 - back] == 1)
        return true;
    return !__builtin_mul_overflow(t->strides[t->ndim - 1 - back],
                                   (int64_t)tn__dtype_sizes[t->dtype], out);
}

/* One element or none: a single dimension whose strides look contiguous. */
static void set_single(tn_iter *it)
{
    it->ndim = 1;
    it->sizes[0] = it->numel;
    for (int32_t k = 0; k < it->n_operands; k++)
        it->strides[k][0] = tn__dtype_sizes[it->dtypes[k]];
}

static tn_status set_dimensions(tn_call *call, tn_iter *it, int64_t ndim, const int64_t *sizes)
{
    it->ndim = 0;
    for (int64_t back = 0; back < ndim; back++) {
        if (sizes[ndim - 1 - back] == 1)
            continue;
        it->sizes[it->ndim] = sizes[ndim - 1 - back];
        for (int32_t k = 0; k < it->n_operands; k++) {
            if (!byte_stride(it->operands[k], back, &it->strides[k][it->ndim])) {
                return tn__fail(call, TN_ERR_OVERFLOW,
                                "the byte stride of operand %d overflows 64 bits", (int)k);
            }
        }
        it->ndim++;
    }
    return TN_OK;
}

static uint64_t magnitude(int64_t stride)
{
    return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

/* Less than 0: a belongs further in than b. The first operand that has two different strides there
 * decides; a broadcast one has no opinion. Equal strides: the smaller size goes in. */
static int order(const tn_iter *it, int32_t a, int32_t b)
{
    for (int32_t k = 0; k < it->n_operands; k++) {
        uint64_t sa = magnitude(it->strides[k][a]), sb = magnitude(it->strides[k][b]);
        if (sa == 0 || sb == 0)
            continue;
        if (sa != sb)
            return sa < sb ? -1 : 1;
        if (it->sizes[a] != it->sizes[b])
            return it->sizes[a] < it->sizes[b] ? -1 : 1;
    }
    return 0;
}

static void swap_dimensions(tn_iter *it, int32_t a, int32_t b)
{
    int64_t size = it->sizes[a];
    it->sizes[a] = it->sizes[b];
    it->sizes[b] = size;
    for (int32_t k = 0; k < it->n_operands; k++) {
        int64_t stride = it->strides[k][a];
        it->strides[k][a] = it->strides[k][b];
        it->strides[k][b] = stride;
    }
}

/* Insertion sort that looks past dimensions it cannot compare with: `order` is partial. */
static void sort_dimensions(tn_iter *it)
{
    for (int32_t i = 1; i < it->ndim; i++) {
        int32_t at = i;
        for (int32_t j = i - 1; j >= 0; j--) {
            int cmp = order(it, at, j);
            if (cmp > 0)
                break;
            if (cmp == 0)
                continue;
            swap_dimensions(it, at, j);
            at = j;
        }
    }
}

/* Stepping once along `outer` is the same, for every operand, as going on past the end of `inner`.
 * Wrapping arithmetic: a stride that wrapped cannot equal a real one. */
static bool can_merge(const tn_iter *it, int32_t inner, int32_t outer)
{
    for (int32_t k = 0; k < it->n_operands; k++) {
        const int64_t *strides = it->strides[k];
        if ((uint64_t)strides[inner] * (uint64_t)it->sizes[inner] != (uint64_t)strides[outer])
            return false;
    }
    return true;
}

static void merge_dimensions(tn_iter *it)
{
    int32_t last = 0;
    for (int32_t d = 1; d < it->ndim; d++) {
        if (can_merge(it, last, d)) {
            it->sizes[last] *= it->sizes[d];
            continue;
        }
        if (++last == d)
            continue;
        it->sizes[last] = it->sizes[d];
        for (int32_t k = 0; k < it->n_operands; k++)
            it->strides[k][last] = it->strides[k][d];
    }
    it->ndim = last + 1;
}

/* `sizes` is the broadcast shape, outermost dimension first, it->numel its count of elements. */
tn_status tn__iter_set_dimensions(tn_call *call, tn_iter *it, int64_t ndim, const int64_t *sizes)
{
    if (it->numel < 2) {
        set_single(it);
        return TN_OK;
    }
    TN__TRY(set_dimensions(call, it, ndim, sizes));
    sort_dimensions(it);
    merge_dimensions(it);
    return TN_OK;
}

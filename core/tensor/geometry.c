/* geometry.c - arithmetic on sizes and strides: counts, contiguity, density, span.
 *
 * No memory is touched. Nothing here overflows, whatever the numbers: dimensions of size 1 are
 * skipped before their stride (which may hold anything, 2^62 or INT64_MIN) is looked at, and
 * products are checked. */
#include "core/tensor/tensor_impl.h"

static bool is_empty(int64_t ndim, const int64_t *sizes)
{
    for (int64_t d = 0; d < ndim; d++) {
        if (sizes[d] == 0)
            return true;
    }
    return false;
}

static tn_status fail_shape(tn_call *call, tn_status status, const char *what, int64_t ndim,
                            const int64_t *sizes)
{
    char text[TN__SHAPE_CHARS];
    return tn__fail(call, status, "shape %s %s", tn__shape_text(text, ndim, sizes), what);
}

/* `running` is the row-major stride of dimension d, in which a size of 0 counts as 1: [0, 2^20,
 * 2^43] has no elements, but no stride for its first dimension either. */
tn_status tn__numel(tn_call *call, int64_t ndim, const int64_t *sizes, int64_t *out)
{
    if (ndim < 0 || ndim > TN_MAX_DIMS) {
        return tn__fail(call, TN_ERR_ARGUMENT, "a tensor has at most %d dimensions, got %lld",
                        TN_MAX_DIMS, (long long)ndim);
    }
    for (int64_t d = 0; d < ndim; d++) {
        if (sizes[d] < 0)
            return fail_shape(call, TN_ERR_ARGUMENT, "has a negative size", ndim, sizes);
    }
    bool empty = is_empty(ndim, sizes);
    int64_t running = 1;
    for (int64_t d = ndim - 1; d >= 0; d--) {
        if (d == 0 && empty)
            break;
        if (__builtin_mul_overflow(running, sizes[d] ? sizes[d] : 1, &running)) {
            return fail_shape(call, TN_ERR_OVERFLOW, "overflows 64 bits", ndim, sizes);
        }
    }
    *out = empty ? 0 : running;
    return TN_OK;
}

/* Wraps silently where tn__numel reports an overflow. */
void tn__contiguous_strides(int64_t ndim, const int64_t *sizes, int64_t *strides)
{
    int64_t running = 1;
    for (int64_t d = ndim - 1; d >= 0; d--) {
        strides[d] = running;
        (void)__builtin_mul_overflow(running, sizes[d] ? sizes[d] : 1, &running);
    }
}

bool tn__is_contiguous(int64_t ndim, const int64_t *sizes, const int64_t *strides)
{
    int64_t expected = 1;
    bool so_far = true;
    for (int64_t d = ndim - 1; d >= 0; d--) {
        if (sizes[d] == 0)
            return true;
        if (sizes[d] == 1)
            continue;
        so_far &= strides[d] == expected;
        so_far &= !__builtin_mul_overflow(expected, sizes[d], &expected);
    }
    return so_far;
}

/* The dimension, among those not yet taken, whose stride is exactly `stride`; -1 if there is none.
 */
static int64_t find_stride(int64_t ndim, const int64_t *sizes, const int64_t *strides,
                           uint64_t taken, int64_t stride)
{
    for (int64_t d = ndim - 1; d >= 0; d--) {
        if (sizes[d] > 1 && strides[d] == stride && !(taken >> d & 1))
            return d;
    }
    return -1;
}

/* Follows the chain 1, n, n * m, ... that the strides of a dense tensor form in some order. */
bool tn__is_dense(int64_t ndim, const int64_t *sizes, const int64_t *strides)
{
    if (tn__is_contiguous(ndim, sizes, strides))
        return true;
    uint64_t taken = 0;
    int64_t left = 0, stride = 1;
    for (int64_t d = 0; d < ndim; d++)
        left += sizes[d] > 1;
    for (; left > 0; left--) {
        int64_t d = find_stride(ndim, sizes, strides, taken, stride);
        if (d < 0 || __builtin_mul_overflow(stride, sizes[d], &stride))
            return false;
        taken |= (uint64_t)1 << d;
    }
    return true;
}

int64_t tn__span(int64_t ndim, const int64_t *sizes, const int64_t *strides)
{
    if (is_empty(ndim, sizes))
        return 0;
    int64_t span = 1;
    for (int64_t d = 0; d < ndim; d++) {
        int64_t reach;
        if (sizes[d] == 1)
            continue;
        if (__builtin_mul_overflow(sizes[d] - 1, strides[d], &reach) || reach == INT64_MIN)
            return -1;
        if (__builtin_add_overflow(span, reach < 0 ? -reach : reach, &span))
            return -1;
    }
    return span;
}

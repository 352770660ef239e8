/* view.c - the short roads of views: few dimensions, and geometries that lie plainly inside the
 * storage. Every other view, errors included, is made with care (tensor.c). */
#include <string.h>

#include "core/base/devices.h"
#include "core/tensor/pairs.h"
#include "core/tensor/tensor_impl.h"

enum {
    ROW_MAJOR = TN_TENSOR_CONTIGUOUS | TN_TENSOR_DENSE,
    KEPT_FLAGS = TN_TENSOR_DENSE | TN_TENSOR_INFERENCE, /* by a permutation */
};

static inline void point_into(tn__tensor *t, tn__storage *s, int64_t offset)
{
    char *base = s->data;
    t->storage = s;
    t->offset = offset;
    t->pub.data = base ? base + offset * tn__dtype_sizes[t->pub.dtype] : NULL;
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
}

/* One pass over a geometry that copies it, counts, finds the span and whether it is row-major.
 * False when something needs a closer look: a negative number, no elements, an overflow. */
static inline bool survey(tn__tensor *t, int64_t ndim, const int64_t *sizes, const int64_t *strides,
                          int64_t *last)
{
    int64_t *size = t->inline_dims, *stride = t->inline_dims + TN__INLINE_DIMS;
    int64_t numel = 1, reach = 0;
    bool row_major = true, ok = true;
    for (int64_t d = ndim - 1; d >= 0; d--) {
        int64_t n = sizes[d], step = strides[d], far;
        size[d] = n;
        stride[d] = step;
        row_major &= n == 1 || step == numel;
        ok &= n > 0 && step >= 0 && !__builtin_mul_overflow(n - 1, step, &far) &&
              !__builtin_add_overflow(reach, far, &reach) &&
              !__builtin_mul_overflow(numel, n, &numel);
        if (!ok)
            return false;
    }
    t->pub.numel = numel;
    t->pub.flags = row_major ? TN_TENSOR_CONTIGUOUS | TN_TENSOR_DENSE : 0;
    *last = reach;
    return true;
}

/* Whether a matrix that is not row-major is column-major; anything else is asked in full. */
static inline bool dense_otherwise(int64_t ndim, const int64_t *sizes, const int64_t *strides)
{
    if (ndim == 2 && strides[0] == 1 && strides[1] == sizes[0])
        return true;
    return tn__is_dense(ndim, sizes, strides);
}

/* The short road is for few dimensions and geometries that lie plainly inside the storage; every
 * other one, errors included, is looked at with care. */
tn_status tn__tensor_view(tn_call *call, tn_tensor *base, int64_t ndim, const int64_t *sizes,
                          const int64_t *strides, int64_t offset, tn_dtype dtype, tn_tensor **out)
{
    tn__storage *s = tn__impl(base)->storage;
    if ((uint64_t)ndim > TN__INLINE_DIMS || (uint32_t)dtype >= TN_DTYPE_COUNT || offset < 0)
        return tn__tensor_view_with_care(call, base, ndim, sizes, strides, offset, dtype, out);
    tn__tensor *t = tn__struct_take();
    if (TN__UNLIKELY(!t))
        return tn__fail_memory(call, sizeof *t);
    int64_t last = 0, end;
    int64_t capacity = (int64_t)(s->bytes / tn__dtype_sizes[dtype]);
    if (TN__UNLIKELY(!survey(t, ndim, sizes, strides, &last) ||
                     __builtin_add_overflow(last, offset, &end) || end >= capacity)) {
        tn__struct_keep(t);
        return tn__tensor_view_with_care(call, base, ndim, sizes, strides, offset, dtype, out);
    }
    t->pub.keys = tn__tensor_keys(base->device);
    t->pub.device = base->device;
    t->pub.dtype = (uint8_t)dtype;
    t->pub.ndim = (uint8_t)ndim;
    if (!(t->pub.flags & TN_TENSOR_CONTIGUOUS) &&
        dense_otherwise(ndim, t->pub.sizes, t->pub.strides))
        t->pub.flags = TN_TENSOR_DENSE;
    point_into(t, s, offset);
    t->pub.flags |= tn__mode_tls.flags;
    tn__view_bind(t, tn__impl(base));
    *out = &t->pub;
    return TN_OK;
}

/* ---- permutations ---------------------------------------------------------------------------- */
static tn_status permuted_with_care(tn_call *call, tn_tensor *base, const uint8_t *dims,
                                    tn_tensor **out)
{
    int64_t sizes[TN_MAX_DIMS], strides[TN_MAX_DIMS];
    for (int64_t d = 0; d < base->ndim; d++) {
        sizes[d] = base->sizes[dims[d]];
        strides[d] = base->strides[dims[d]];
    }
    return tn__tensor_view_with_care(call, base, base->ndim, sizes, strides, tn__impl(base)->offset,
                                     base->dtype, out);
}

/* What a permutation keeps: all but the geometry and its flags. */
static inline void alias(tn__tensor *t, tn_tensor *base, uint16_t flags)
{
    tn__tensor *b = tn__impl(base);
    tn__storage *s = b->storage;
    t->storage = s;
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    flags |= tn__mode_tls.flags;
    memcpy(&t->pub.device, &base->device, TN__KIND_BYTES);
    t->pub.flags = flags;
    t->pub.data = base->data;
    t->pub.numel = base->numel;
    t->offset = b->offset;
    t->pub.keys = base->keys & TN__KEYS_PLAIN;
    if (base->dtype >= TN_F16 && !(flags & TN_TENSOR_INFERENCE)) {
        tn_tensor *root = b->base ? b->base : base;
        atomic_fetch_add_explicit(&tn__impl(root)->refs, 1, memory_order_relaxed);
        t->base = root;
        tn__view_follow(t, base, root);
    } else {
        t->base = NULL;
    }
}

static __attribute__((noinline)) tn_status permuted(tn_call *call, tn_tensor *base,
                                                    const uint8_t *dims, tn_tensor **out)
{
    if (base->ndim > TN__INLINE_DIMS)
        return permuted_with_care(call, base, dims, out);
    tn__tensor *t = tn__struct_take();
    if (TN__UNLIKELY(!t))
        return tn__fail_memory(call, sizeof *t);
    uint64_t expected = 1; /* may wrap around, but only where there are no elements */
    bool row_major = true;
    for (int64_t d = base->ndim - 1; d >= 0; d--) {
        int64_t n = base->sizes[dims[d]], step = base->strides[dims[d]];
        t->inline_dims[d] = n;
        t->inline_dims[TN__INLINE_DIMS + d] = step;
        row_major &= n == 1 || (uint64_t)step == expected;
        expected *= (uint64_t)n;
    }
    uint16_t flags = base->flags & KEPT_FLAGS;
    alias(t, base, row_major || base->numel == 0 ? flags | ROW_MAJOR : flags);
    *out = &t->pub;
    return TN_OK;
}

typedef int64_t two __attribute__((vector_size(16)));

static inline void swap_two(int64_t *to, const int64_t *from)
{
    two v;
    memcpy(&v, from, sizeof v);
    v = __builtin_shufflevector(v, v, 1, 0);
    memcpy(to, &v, sizeof v);
}

/* The usual case, a matrix whose dimensions change places, calls nothing, and so saves no
 * register. */
tn_status tn__tensor_permuted(tn_call *call, tn_tensor *base, const uint8_t *dims, tn_tensor **out)
{
    if (TN__UNLIKELY(base->ndim != 2 || dims[0] != 1 || base->numel == 0 ||
                     !tn__block_cache_tls.structs))
        return permuted(call, base, dims, out);
    tn__tensor *t = tn__struct_take();
    const int64_t *sizes = base->sizes, *strides = base->strides;
    uint16_t flags = base->flags & KEPT_FLAGS;
    if (TN__UNLIKELY(strides[0] == 1 || sizes[0] == 1) && (strides[1] == sizes[0] || sizes[1] == 1))
        flags |= ROW_MAJOR;
    swap_two(t->inline_dims, sizes);
    swap_two(t->inline_dims + TN__INLINE_DIMS, strides);
    alias(t, base, flags);
    *out = &t->pub;
    return TN_OK;
}

/* tensor.c - making tensors; release.c lets them go. A new row-major host tensor is two blocks from
 * the cache: this struct and its storage with the data behind it. Nothing here knows of operators. */
#include <tenon/tensor.h>

#include <string.h>

#include "core/base/devices.h"
#include "core/tensor/pairs.h"
#include "core/tensor/tensor_impl.h"

/* ---- allocation of the struct ---------------------------------------------------------------- */
tn_status tn__tensor_grow_dims(tn_call *call, tn__tensor *t, int64_t ndim)
{
    if (TN__LIKELY(ndim <= (int64_t)t->dims_capacity))
        return TN_OK;
    int64_t *dims = tn__alloc((size_t)ndim * 2 * sizeof *dims);
    if (!dims)
        return tn__fail_memory(call, (size_t)ndim * 2 * sizeof *dims);
    if (t->dims != t->inline_dims)
        tn__free(t->dims);
    t->dims = dims;
    t->dims_capacity = (uint16_t)ndim;
    return TN_OK;
}

static tn_status check_kind(tn_call *call, int64_t ndim, tn_dtype dtype)
{
    if (ndim < 0 || ndim > TN_MAX_DIMS)
        return tn__fail(call, TN_ERR_ARGUMENT, "a tensor has at most %d dimensions, got %lld",
                        TN_MAX_DIMS, (long long)ndim);
    if (dtype < 0 || dtype >= TN_DTYPE_COUNT)
        return tn__fail(call, TN_ERR_DTYPE, "dtype %d does not exist", dtype);
    return TN_OK;
}

/* A tensor without geometry or storage. */
static inline __attribute__((always_inline)) tn_status new_struct(tn_call *call, int64_t ndim,
                                                                  tn_dtype dtype, tn_device device,
                                                                  tn__tensor **out)
{
    *out = NULL;
    if (device.type == TN_CPU || device.type == TN_META || device.index < 0)
        device.index = 0; /* the first, or only, one */
    if (TN__UNLIKELY((uint64_t)ndim > TN_MAX_DIMS || (uint32_t)dtype >= TN_DTYPE_COUNT))
        return check_kind(call, ndim, dtype);
    tn__tensor *t = tn__struct_take();
    if (TN__UNLIKELY(!t))
        return tn__fail_memory(call, sizeof *t);
    t->pub.keys = tn__tensor_keys(device);
    t->pub.device = device;
    t->pub.dtype = (uint8_t)dtype;
    t->pub.flags = tn__mode_tls.flags;
    t->storage = NULL;
    t->offset = 0;
    t->base = NULL;
    if (TN__UNLIKELY(ndim > TN__INLINE_DIMS)) {
        tn_status status = tn__tensor_grow_dims(call, t, ndim);
        if (status != TN_OK) {
            tn__struct_keep(t);
            return status;
        }
    }
    *out = t;
    return TN_OK;
}

/* ---- geometry -------------------------------------------------------------------------------- */
static void point_at(tn__tensor *t, int64_t ndim)
{
    t->pub.sizes = t->dims;
    t->pub.strides = t->dims + t->dims_capacity;
    t->pub.ndim = (uint8_t)ndim;
}

static void set_data(tn__tensor *t)
{
    char *base = t->storage->data;
    t->pub.data = base ? base + t->offset * tn__dtype_sizes[t->pub.dtype] : NULL;
}

/* Writes row-major geometry; false when a stride, the count or the bytes overflow, or a size is
 * negative. */
static inline bool fill_contiguous(tn__tensor *t, int64_t ndim, const int64_t *sizes, size_t *bytes)
{
    int64_t *size = t->dims, *stride = t->dims + t->dims_capacity;
    int64_t count = 1, any_zero = 0;
    for (int64_t i = ndim - 1; i >= 0; i--) {
        int64_t n = sizes[i];
        if (TN__UNLIKELY(n < 0))
            return false;
        size[i] = n;
        stride[i] = count;
        any_zero |= n == 0;
        if (TN__UNLIKELY(__builtin_mul_overflow(count, n + (n == 0), &count)) &&
            (i > 0 || !any_zero))
            return false;
    }
    int64_t total = 0;
    if (TN__UNLIKELY(!any_zero &&
                     __builtin_mul_overflow(count, tn__dtype_sizes[t->pub.dtype], &total)))
        return false;
    t->pub.numel = any_zero ? 0 : count;
    *bytes = any_zero ? 0 : (size_t)total;
    point_at(t, ndim);
    t->pub.flags |= TN_TENSOR_CONTIGUOUS | TN_TENSOR_DENSE;
    return true;
}

static TN_COLD tn_status bad_sizes(tn_call *call, int64_t ndim, const int64_t *sizes,
                                   tn_dtype dtype)
{
    char shape[TN__SHAPE_CHARS];
    for (int64_t i = 0; i < ndim; i++)
        if (sizes[i] < 0)
            return tn__fail(call, TN_ERR_ARGUMENT,
                            "size %lld of dimension %lld is negative in shape %s",
                            (long long)sizes[i], (long long)i, tn__shape_text(shape, ndim, sizes));
    return tn__fail(
        call, TN_ERR_OVERFLOW,
        "overflow: the elements, strides or bytes of a %s tensor of shape %s do not fit in 63 bits",
        tn__dtype_name(dtype), tn__shape_text(shape, ndim, sizes));
}

static void classify(tn__tensor *t)
{
    uint16_t flags = t->pub.flags & (uint16_t) ~(TN_TENSOR_CONTIGUOUS | TN_TENSOR_DENSE);
    if (tn__is_contiguous(t->pub.ndim, t->pub.sizes, t->pub.strides))
        flags |= TN_TENSOR_CONTIGUOUS | TN_TENSOR_DENSE;
    else if (tn__is_dense(t->pub.ndim, t->pub.sizes, t->pub.strides))
        flags |= TN_TENSOR_DENSE;
    t->pub.flags = flags;
}

/* Copies sizes and strides, which may be t's own. t has room. */
static void set_strided(tn__tensor *t, int64_t ndim, int64_t numel, const int64_t *sizes,
                        const int64_t *strides)
{
    if (ndim > 0) { /* of none, the pointers may be NULL */
        memmove(t->dims, sizes, (size_t)ndim * sizeof *sizes);
        memmove(t->dims + t->dims_capacity, strides, (size_t)ndim * sizeof *strides);
    }
    point_at(t, ndim);
    t->pub.numel = numel;
    classify(t);
}

static tn_status fill_strided(tn_call *call, tn__tensor *t, int64_t ndim, const int64_t *sizes,
                              const int64_t *strides)
{
    int64_t numel;
    TN__TRY(tn__numel(call, ndim, sizes, &numel));
    set_strided(t, ndim, numel, sizes, strides);
    return TN_OK;
}

/* ---- creation -------------------------------------------------------------------------------- */
static __attribute__((noinline)) tn_status new_with_care(tn_call *call, int64_t ndim,
                                                         const int64_t *sizes, tn_dtype dtype,
                                                         tn_device device, tn_tensor **out)
{
    tn__tensor *t;
    TN__TRY(new_struct(call, ndim, dtype, device, &t));
    size_t bytes;
    tn_status status = TN_OK;
    if (TN__UNLIKELY(!fill_contiguous(t, ndim, sizes, &bytes)))
        status = bad_sizes(call, ndim, sizes, dtype);
    else
        status = tn__storage_new(call, bytes, device, &t->storage);
    if (TN__UNLIKELY(status != TN_OK)) {
        tn__struct_keep(t);
        return status;
    }
    t->pub.data = t->storage->data;
    *out = &t->pub;
    return TN_OK;
}

/* A small row-major host tensor. What is none of that, or has something wrong with it, is made with
 * care. */
static __attribute__((noinline)) tn_status new_small(tn_call *call, int64_t ndim,
                                                     const int64_t *sizes, tn_dtype dtype,
                                                     tn_device device, tn_tensor **out)
{
    int64_t count = 1;
    if (device.type != TN_CPU || (uint64_t)ndim > TN__INLINE_DIMS ||
        (uint32_t)dtype >= TN_DTYPE_COUNT)
        return new_with_care(call, ndim, sizes, dtype, device, out);
    for (int64_t i = 0; i < ndim; i++) {
        if ((uint64_t)sizes[i] - 1 >= TN__STORAGE_SMALL || count > TN__STORAGE_SMALL)
            return new_with_care(call, ndim, sizes, dtype, device, out);
        count *= sizes[i]; /* both are at most 2^13 */
    }
    size_t bytes = (size_t)count * tn__dtype_sizes[dtype];
    if (bytes > TN__STORAGE_SMALL || !tn__pair_waits(bytes))
        return new_with_care(call, ndim, sizes, dtype, device, out);
    tn__tensor *t = tn__pair_take(bytes);
    tn__pair_dress(t, count, dtype, ndim);
    int64_t stride = 1;
    for (int64_t i = ndim - 1; i >= 0; i--) {
        t->inline_dims[i] = sizes[i];
        t->inline_dims[TN__INLINE_DIMS + i] = stride;
        stride *= sizes[i];
    }
    *out = &t->pub;
    return TN_OK;
}

/* One dimension, the usual case, needs no loop. */
tn_status tn__tensor_new(tn_call *call, int64_t ndim, const int64_t *sizes, tn_dtype dtype,
                         tn_device device, tn_tensor **out)
{
    if (ndim != 1 || device.type != TN_CPU || (uint32_t)dtype >= TN_DTYPE_COUNT)
        return new_small(call, ndim, sizes, dtype, device, out);
    int64_t count = sizes[0];
    size_t bytes = (size_t)count * tn__dtype_sizes[(uint32_t)dtype];
    if ((uint64_t)count > TN__STORAGE_SMALL || bytes - 1 >= TN__STORAGE_SMALL ||
        !tn__pair_waits(bytes))
        return new_small(call, 1, sizes, dtype, device, out);
    tn__tensor *t = tn__pair_take(bytes);
    tn__pair_dress(t, count, dtype, 1);
    t->inline_dims[0] = count;
    t->inline_dims[TN__INLINE_DIMS] = 1;
    *out = &t->pub;
    return TN_OK;
}

/* The bytes that a strided geometry needs, counted from the storage's begin. */
static tn_status storage_bytes(tn_call *call, int64_t ndim, const int64_t *sizes,
                               const int64_t *strides, int64_t offset, tn_dtype dtype, size_t *out)
{
    char shape[TN__SHAPE_CHARS], step[TN__SHAPE_CHARS];
    for (int64_t i = 0; i < ndim; i++)
        if (strides[i] < 0)
            return tn__fail(call, TN_ERR_ARGUMENT,
                            "stride %lld of dimension %lld is negative; strides are 0 or more",
                            (long long)strides[i], (long long)i);
    if (offset < 0)
        return tn__fail(call, TN_ERR_ARGUMENT, "storage offset %lld is negative",
                        (long long)offset);
    int64_t span = tn__span(ndim, sizes, strides), bytes = 0;
    if (span < 0 || __builtin_add_overflow(span, span ? offset : 0, &bytes) ||
        __builtin_mul_overflow(bytes, (int64_t)tn__dtype_sizes[dtype], &bytes))
        return tn__fail(call, TN_ERR_OVERFLOW,
                        "overflow: shape %s with strides %s spans more bytes than fit in 63 bits",
                        tn__shape_text(shape, ndim, sizes), tn__shape_text(step, ndim, strides));
    *out = (size_t)bytes;
    return TN_OK;
}

/* Without geometry, but with memory: a pair where one waits, so that what goes as a pair comes back
 * as one. */
static tn_status new_with_memory(tn_call *call, int64_t ndim, size_t bytes, tn_dtype dtype,
                                 tn_device device, tn__tensor **out)
{
    if (device.type == TN_CPU && ndim <= TN__INLINE_DIMS && bytes - 1 < TN__STORAGE_SMALL &&
        tn__pair_waits(bytes)) {
        *out = tn__pair_take(bytes);
        tn__pair_dress(*out, 0, dtype, ndim);
        return TN_OK;
    }
    TN__TRY(new_struct(call, ndim, dtype, device, out));
    tn_status status = tn__storage_new(call, bytes, device, &(*out)->storage);
    if (status != TN_OK)
        tn__struct_keep(*out);
    else
        (*out)->pub.data = (*out)->storage->data;
    return status;
}

tn_status tn__tensor_new_strided(tn_call *call, int64_t ndim, const int64_t *sizes,
                                 const int64_t *strides, tn_dtype dtype, tn_device device,
                                 tn_tensor **out)
{
    TN__TRY(check_kind(call, ndim, dtype));
    int64_t numel;
    TN__TRY(tn__numel(call, ndim, sizes, &numel));
    size_t bytes;
    TN__TRY(storage_bytes(call, ndim, sizes, strides, 0, dtype, &bytes));
    tn__tensor *t;
    TN__TRY(new_with_memory(call, ndim, bytes, dtype, device, &t));
    set_strided(t, ndim, numel, sizes, strides);
    *out = &t->pub;
    return TN_OK;
}

/* ---- views ----------------------------------------------------------------------------------- */
static TN_COLD tn_status out_of_storage(tn_call *call, const tn__storage *s, int64_t ndim,
                                        const int64_t *sizes, const int64_t *strides,
                                        int64_t offset, size_t needed)
{
    char shape[TN__SHAPE_CHARS], step[TN__SHAPE_CHARS];
    return tn__fail(
        call, TN_ERR_ARGUMENT,
        "shape %s with strides %s at offset %lld needs a storage of %zu bytes, this one has %zu",
        tn__shape_text(shape, ndim, sizes), tn__shape_text(step, ndim, strides), (long long)offset,
        needed, s->bytes);
}

static tn_status check_bounds(tn_call *call, const tn__storage *s, int64_t ndim,
                              const int64_t *sizes, const int64_t *strides, int64_t offset,
                              tn_dtype dtype)
{
    size_t needed;
    TN__TRY(storage_bytes(call, ndim, sizes, strides, offset, dtype, &needed));
    return needed <= s->bytes ? TN_OK
                              : out_of_storage(call, s, ndim, sizes, strides, offset, needed);
}

tn_status tn__tensor_view_with_care(tn_call *call, tn_tensor *base, int64_t ndim,
                                    const int64_t *sizes, const int64_t *strides, int64_t offset,
                                    tn_dtype dtype, tn_tensor **out)
{
    tn__tensor *b = tn__impl(base), *t;
    TN__TRY(new_struct(call, ndim, dtype, base->device, &t));
    tn_status status = check_bounds(call, b->storage, ndim, sizes, strides, offset, dtype);
    if (status == TN_OK)
        status = fill_strided(call, t, ndim, sizes, strides);
    if (TN__UNLIKELY(status != TN_OK)) {
        tn__struct_keep(t);
        return status;
    }
    atomic_fetch_add_explicit(&b->storage->refs, 1, memory_order_relaxed);
    t->storage = b->storage;
    t->offset = offset;
    set_data(t);
    tn__view_bind(t, b);
    *out = &t->pub;
    return TN_OK;
}

tn_status tn__tensor_set_geometry(tn_call *call, tn_tensor *t, int64_t ndim, const int64_t *sizes,
                                  const int64_t *strides, int64_t offset)
{
    tn__tensor *self = tn__impl(t);
    TN__TRY(check_kind(call, ndim, t->dtype));
    TN__TRY(check_bounds(call, self->storage, ndim, sizes, strides, offset, t->dtype));
    int64_t held[2 * TN_MAX_DIMS]; /* sizes and strides may be t's own, which growing would free */
    if (ndim > 0) {
        memcpy(held, sizes, (size_t)ndim * sizeof *sizes);
        memcpy(held + ndim, strides, (size_t)ndim * sizeof *strides);
    }
    TN__TRY(tn__tensor_grow_dims(call, self, ndim));
    TN__TRY(fill_strided(call, self, ndim, held, held + ndim));
    self->offset = offset;
    set_data(self);
    return TN_OK;
}

tn_status tn__tensor_resize(tn_call *call, tn_tensor *t, int64_t ndim, const int64_t *sizes)
{
    if (t->ndim == ndim &&
        (ndim == 0 || memcmp(t->sizes, sizes, (size_t)ndim * sizeof *sizes) == 0))
        return TN_OK;
    tn__tensor *self = tn__impl(t);
    TN__TRY(check_kind(call, ndim, t->dtype));
    int64_t numel, strides[TN_MAX_DIMS];
    TN__TRY(tn__numel(call, ndim, sizes, &numel));
    tn__contiguous_strides(ndim, sizes, strides);
    size_t needed;
    TN__TRY(storage_bytes(call, ndim, sizes, strides, self->offset, t->dtype, &needed));
    tn__storage *grown = NULL;
    if (needed > self->storage->bytes) {
        TN__TRY(storage_bytes(call, ndim, sizes, strides, 0, t->dtype, &needed));
        TN__TRY(tn__storage_new(call, needed, t->device, &grown));
    }
    tn_status status = tn__tensor_grow_dims(call, self, ndim);
    if (status != TN_OK) {
        if (grown)
            tn__storage_release(grown);
        return status;
    }
    TN__TRY(fill_strided(call, self, ndim, sizes, strides));
    if (grown) {
        tn__storage_release(self->storage);
        self->storage = grown;
        self->offset = 0;
    }
    set_data(self);
    return TN_OK;
}

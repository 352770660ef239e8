/* tensor.c - making and releasing tensors. A new row-major host tensor is two blocks from the
 * cache: this struct and its storage with the data behind it. Nothing here knows of operators. */
#include <string.h>

#include "core/base/devices.h"
#include "core/tensor/pairs.h"
#include "core/tensor/tensor_impl.h"

/* ---- allocation of the struct ---------------------------------------------------------------- */
static tn_status grow_dims(tn_call *call, tn__tensor *t, int64_t ndim)
{
    if (TN__LIKELY(ndim <= (int64_t)t->dims_capacity))
        return TN_OK;
    int64_t *dims = tn__alloc((size_t)ndim * 2 * sizeof *dims);
    if (!dims)
        return tn__fail_memory(call, (size_t)ndim * 2 * sizeof *dims);
    if (t->dims != t->inline_dims)
        tn__free(t->dims);
    t->dims = dims;
    t->dims_capacity = (uint32_t)ndim;
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
    tn__tensor *t = tn__small_alloc(sizeof *t);
    if (TN__UNLIKELY(!t))
        return tn__fail_memory(call, sizeof *t);
    t->dims = t->inline_dims;
    t->dims_capacity = TN__INLINE_DIMS;
    t->pub.keys = tn__tensor_keys(device);
    t->pub.device = device;
    t->pub.dtype = (uint8_t)dtype;
    t->pub.flags = tn__mode_tls.flags;
    t->storage = NULL;
    t->offset = 0;
    t->autograd = NULL;
    t->base = NULL;
    atomic_init(&t->refs, 1);
    if (TN__UNLIKELY(ndim > TN__INLINE_DIMS)) {
        tn_status status = grow_dims(call, t, ndim);
        if (status != TN_OK) {
            tn__small_free(t, sizeof *t);
            return status;
        }
    }
    *out = t;
    return TN_OK;
}

static void free_struct(tn__tensor *t)
{
    if (t->dims != t->inline_dims)
        tn__free(t->dims);
    tn__small_free(t, sizeof *t);
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
static tn_status fill_strided(tn_call *call, tn__tensor *t, int64_t ndim, const int64_t *sizes,
                              const int64_t *strides)
{
    int64_t numel;
    TN__TRY(tn__numel(call, ndim, sizes, &numel));
    if (ndim > 0) { /* of none, the pointers may be NULL */
        memmove(t->dims, sizes, (size_t)ndim * sizeof *sizes);
        memmove(t->dims + t->dims_capacity, strides, (size_t)ndim * sizeof *strides);
    }
    point_at(t, ndim);
    t->pub.numel = numel;
    classify(t);
    return TN_OK;
}

/* ---- creation -------------------------------------------------------------------------------- */
/* What a pair does not keep. The offset and the data pointer may have been moved in place, the
 * version says how often the former tensor was written. */
static inline void dress(tn__tensor *t, int64_t numel, tn_dtype dtype, int64_t ndim)
{
    atomic_store_explicit(&t->storage->version, 0, memory_order_relaxed);
    t->offset = 0;
    t->pub.data = t->storage->data;
    t->pub.numel = numel;
    t->pub.keys = tn__tensor_keys((tn_device){TN_CPU, 0});
    t->pub.device = (tn_device){TN_CPU, 0};
    t->pub.dtype = (uint8_t)dtype;
    t->pub.ndim = (uint8_t)ndim;
    t->pub.flags = TN_TENSOR_CONTIGUOUS | TN_TENSOR_DENSE | tn__mode_tls.flags;
}

tn_tensor *tn__tensor_new_small_like(const tn_tensor *like, tn_dtype dtype)
{
    size_t bytes = (size_t)like->numel * tn__dtype_sizes[dtype];
    int64_t ndim = like->ndim;
    if (ndim > TN__INLINE_DIMS || bytes - 1 >= TN__STORAGE_SMALL)
        return NULL;
    tn__tensor *t = tn__pair_take(bytes);
    if (TN__UNLIKELY(!t))
        return NULL;
    dress(t, like->numel, dtype, ndim);
    for (int64_t i = 0; i < ndim; i++) {
        t->inline_dims[i] = like->sizes[i];
        t->inline_dims[TN__INLINE_DIMS + i] = like->strides[i];
    }
    return &t->pub;
}

/* A small row-major host tensor; false when it is none of that, or something is wrong with it. */
static inline bool new_small(int64_t ndim, const int64_t *sizes, tn_dtype dtype, tn_tensor **out)
{
    int64_t strides[TN__INLINE_DIMS], count = 1;
    if ((uint64_t)ndim > TN__INLINE_DIMS || (uint32_t)dtype >= TN_DTYPE_COUNT)
        return false;
    for (int64_t i = ndim - 1; i >= 0; i--) {
        strides[i] = count;
        if ((uint64_t)sizes[i] - 1 >= TN__STORAGE_SMALL)
            return false;
        count *= sizes[i]; /* at most 2^13 a step, and checked before the next */
        if (count > TN__STORAGE_SMALL)
            return false;
    }
    size_t bytes = (size_t)count * tn__dtype_sizes[dtype];
    if (bytes > TN__STORAGE_SMALL)
        return false;
    tn__tensor *t = tn__pair_take(bytes);
    if (TN__UNLIKELY(!t))
        return false;
    dress(t, count, dtype, ndim);
    for (int64_t i = 0; i < ndim; i++) {
        t->inline_dims[i] = sizes[i];
        t->inline_dims[TN__INLINE_DIMS + i] = strides[i];
    }
    *out = &t->pub;
    return true;
}

tn_status tn__tensor_new(tn_call *call, int64_t ndim, const int64_t *sizes, tn_dtype dtype,
                         tn_device device, tn_tensor **out)
{
    if (TN__LIKELY(device.type == TN_CPU) && new_small(ndim, sizes, dtype, out))
        return TN_OK;
    tn__tensor *t;
    TN__TRY(new_struct(call, ndim, dtype, device, &t));
    size_t bytes;
    tn_status status = TN_OK;
    if (TN__UNLIKELY(!fill_contiguous(t, ndim, sizes, &bytes)))
        status = bad_sizes(call, ndim, sizes, dtype);
    else
        status = tn__storage_new(call, bytes, device, &t->storage);
    if (TN__UNLIKELY(status != TN_OK)) {
        free_struct(t);
        return status;
    }
    t->pub.data = t->storage->data;
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
    TN__TRY(new_struct(call, ndim, dtype, device, &t));
    tn_status status = fill_strided(call, t, ndim, sizes, strides);
    if (status == TN_OK)
        status = tn__storage_new(call, bytes, device, &t->storage);
    if (status != TN_OK) {
        free_struct(t);
        return status;
    }
    t->pub.data = t->storage->data;
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
        free_struct(t);
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
    TN__TRY(grow_dims(call, self, ndim));
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
    tn_status status = grow_dims(call, self, ndim);
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

/* ---- references ------------------------------------------------------------------------------ */
_Thread_local tn__tensor_mode tn__mode_tls
    __attribute__((tls_model("initial-exec"))) = {TN__KEY_AUTOGRAD, 0};
void (*_Atomic tn__autograd_drop)(tn__tensor *t);

static TN_COLD void drop_autograd(tn__tensor *t)
{
    atomic_load_explicit(&tn__autograd_drop, memory_order_acquire)(t);
    t->autograd = NULL;
}

void tn__tensor_retain(tn_tensor *t)
{
    atomic_fetch_add_explicit(&tn__impl(t)->refs, 1, memory_order_relaxed);
}

/* A view lets go of a storage that others hold; a tensor that goes with its storage is kept as a
 * pair. */
void tn__tensor_release(tn_tensor *t)
{
    if (!t)
        return;
    tn__tensor *self = tn__impl(t);
    if (atomic_load_explicit(&self->refs, memory_order_acquire) != 1 &&
        atomic_fetch_sub_explicit(&self->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (TN__UNLIKELY(self->autograd != NULL))
        drop_autograd(self);
    tn__storage *s = self->storage;
    if (atomic_load_explicit(&s->refs, memory_order_acquire) == 1 && tn__pair_keep(self)) {
        atomic_store_explicit(&self->refs, 1, memory_order_relaxed);
        return;
    }
    tn_tensor *base = self->base;
    tn__storage_release(s);
    free_struct(self);
    if (base)
        tn__tensor_release(base); /* no view itself: it goes no deeper */
}

tn_status tn__tensors_new(tn_call *call, int64_t len, tn_tensors *out)
{
    *out = (tn_tensors){0};
    size_t bytes = (size_t)(len > 0 ? len : 1);
    if (__builtin_mul_overflow(bytes, sizeof *out->data, &bytes))
        bytes = SIZE_MAX;
    tn_tensor **data = bytes < SIZE_MAX ? tn__zalloc(bytes) : NULL;
    if (!data)
        return tn__fail_memory(call, bytes);
    *out = (tn_tensors){data, len};
    return TN_OK;
}

void tn__tensors_release(tn_tensors *list)
{
    if (!list->data)
        return;
    for (int64_t i = 0; i < list->len; i++)
        tn__tensor_release(list->data[i]);
    tn__free(list->data);
    *list = (tn_tensors){0};
}

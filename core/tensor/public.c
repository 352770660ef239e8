/* public.c - tenon/tensor.h: tensors as a program makes and reads them. */
#include <tenon/tensor.h>

#include <string.h>

#include "core/base/devices.h"
#include "core/tensor/tensor_impl.h"

void tn_retain(tn_tensor *t)
{
    tn__tensor_retain(t);
}

void tn_tensors_release(tn_tensors *list)
{
    tn__tensors_release(list);
}

tn_status tn_device_parse(const char *text, tn_device *out)
{
    return tn__device_parse(text, out);
}

tn_status tn_tensor_new(int64_t ndim, const int64_t *sizes, tn_dtype dtype, tn_device device,
                        tn_tensor **out)
{
    return tn__tensor_new(NULL, ndim, sizes, dtype, device, out);
}

static TN_COLD tn_status no_data(int64_t ndim, const int64_t *sizes)
{
    char shape[TN__SHAPE_CHARS];
    return tn__fail(NULL, TN_ERR_ARGUMENT,
                    "data is NULL; the elements of shape %s are expected there",
                    tn__shape_text(shape, ndim, sizes));
}

tn_status tn_tensor_from_data(const void *data, tn_dtype dtype, int64_t ndim, const int64_t *sizes,
                              tn_tensor **out)
{
    tn_tensor *t;
    TN__TRY(tn__tensor_new(NULL, ndim, sizes, dtype, (tn_device){TN_CPU, -1}, &t));
    if (t->numel && !data) {
        tn__tensor_release(t);
        return no_data(ndim, sizes);
    }
    if (t->numel)
        memcpy(t->data, data, (size_t)t->numel * tn__dtype_sizes[dtype]);
    *out = t;
    return TN_OK;
}

/* An empty tensor first, which is then given the caller's memory as its storage: geometry is
 * checked in one place. */
tn_status tn_tensor_from_memory(void *data, tn_dtype dtype, int64_t ndim, const int64_t *sizes,
                                const int64_t *strides,
                                void (*release)(void *owner, void *data, size_t bytes), void *owner,
                                tn_tensor **out)
{
    tn_tensor *t;
    int64_t none = 0, row_major[TN_MAX_DIMS];
    TN__TRY(tn__tensor_new(NULL, 1, &none, dtype, (tn_device){TN_CPU, -1}, &t));
    tn_status status = ndim >= 0 && ndim <= TN_MAX_DIMS
                           ? TN_OK
                           : tn__fail(NULL, TN_ERR_ARGUMENT,
                                      "a tensor has at most %d dimensions, got %lld", TN_MAX_DIMS,
                                      (long long)ndim);
    int64_t numel = 0;
    if (status == TN_OK)
        status = tn__numel(NULL, ndim, sizes, &numel);
    if (status == TN_OK && !strides) {
        tn__contiguous_strides(ndim, sizes, row_major);
        strides = row_major;
    }
    int64_t span = status == TN_OK ? tn__span(ndim, sizes, strides) : 0, bytes = 0;
    if (status == TN_OK &&
        (span < 0 || __builtin_mul_overflow(span, (int64_t)tn__dtype_sizes[dtype], &bytes)))
        status = tn__fail(NULL, TN_ERR_OVERFLOW,
                          "overflow: the strides span more bytes than fit in 63 bits");
    if (status == TN_OK && numel > 0 && !data)
        status = no_data(ndim, sizes);
    tn__storage *s = NULL;
    if (status == TN_OK)
        status = tn__storage_from_memory(NULL, data, (size_t)bytes, t->device,
                                         tn__storage_keep_memory, owner, &s);
    if (status == TN_OK) {
        tn__storage_release(tn__impl(t)->storage);
        tn__impl(t)->storage = s;
        status = tn__tensor_set_geometry(NULL, t, ndim, sizes, strides, 0);
    }
    if (status != TN_OK) {
        tn__tensor_release(t);
        return status;
    }
    if (release)
        s->release = release; /* only now: a failed call leaves the memory with its owner */
    *out = t;
    return TN_OK;
}

tn_status tn_tensor_view(tn_tensor *base, int64_t ndim, const int64_t *sizes,
                         const int64_t *strides, int64_t offset, tn_tensor **out)
{
    if (!base)
        return tn__fail(NULL, TN_ERR_ARGUMENT, "base is missing: a view needs a tensor to look at");
    return tn__tensor_view(NULL, base, ndim, sizes, strides, offset, base->dtype, out);
}

int64_t tn_tensor_offset(const tn_tensor *t)
{
    return tn__impl(t)->offset;
}

int64_t tn_tensor_storage_bytes(const tn_tensor *t)
{
    return (int64_t)tn__impl(t)->storage->bytes;
}

void *tn_tensor_storage_data(const tn_tensor *t)
{
    return tn__impl(t)->storage->data;
}

bool tn_tensor_same_storage(const tn_tensor *a, const tn_tensor *b)
{
    return tn__impl(a)->storage == tn__impl(b)->storage;
}

uint32_t tn_tensor_version(const tn_tensor *t)
{
    return atomic_load(&tn__impl(t)->storage->version) + tn__impl(t)->moves;
}

tn_status tn_tensor_item(const tn_tensor *t, tn_scalar *out)
{
    char shape[TN__SHAPE_CHARS];
    if (!t)
        return tn__fail(NULL, TN_ERR_ARGUMENT, "item() was given no tensor");
    if (t->numel != 1)
        return tn__fail(NULL, TN_ERR_ARGUMENT, "item() needs one element, got shape %s",
                        tn__shape_text(shape, t->ndim, t->sizes));
    if (t->device.type != TN_CPU)
        return tn__fail(NULL, TN_ERR_DEVICE,
                        "item() reads host memory; move the tensor with to() first");
    tn_dtype d = t->dtype;
    if (tn_dtype_in(d, TN_DTYPES_WHOLE)) {
        *out = d == TN_BOOL ? tn_scalar_bool(false) : tn_scalar_int(0);
        tn__converter(TN_I64, d)((char *)&out->v.i, 8, t->data, 8, 1);
    } else if (tn_dtype_in(d, TN_DTYPES_FLOATING)) {
        *out = tn_scalar_float(0);
        tn__converter(TN_F64, d)((char *)&out->v.f, 8, t->data, 8, 1);
    } else {
        *out = tn_scalar_complex(0, 0);
        tn__converter(TN_C128, d)((char *)out->v.c, 16, t->data, 16, 1);
    }
    return TN_OK;
}

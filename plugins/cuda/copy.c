/* copy.c - copy_, fill_, zero_: moving elements within the device, to it and from it.
 *
 * Within a device one identity kernel does every layout and cast. Between host and device only
 * dense memory travels: what is strided or of another dtype is packed on the side that it comes
 * from and cast on the device. */
#include "arithmetic.h"
#include "pointwise.h"

/* A copy that converts nothing moves bits: a dtype of the same size whose kernel leaves every bit
 * alone. */
static tn_dtype bits_of(tn_dtype dtype)
{
    switch (tn->dtype_size(dtype)) {
    case 1:
        return TN_U8;
    case 2:
        return TN_I16;
    case 4:
        return TN_I32;
    case 8:
        return TN_I64;
    default:
        return TN_C128;
    }
}

tn_status cuda_copy_tensor(tn_call *call, tn_tensor *dst, tn_tensor *src)
{
    tn_iter it;
    tn_tensor *operands[] = {dst, src};
    TN_TRY(tn->iter_init(call, &it, 1, 2, operands, dst->dtype, dst->dtype, 0));
    if (src->device.type != TN_CPU && src->dtype == dst->dtype) {
        tn_dtype bits = bits_of(dst->dtype);
        it.dtype = it.out_dtype = bits;
        it.dtypes[0] = it.dtypes[1] = (uint8_t)bits;
    }
    return cuda_pointwise_run(call, &it, cuda_identity_kernels[it.dtype], NULL);
}

/* ---- between host and device ----------------------------------------------------------------- */
static bool is_dense_row_major(const tn_tensor *t)
{
    return (t->flags & TN_TENSOR_CONTIGUOUS) != 0;
}

static bool same_shape(const tn_tensor *a, const tn_tensor *b)
{
    bool same = a->ndim == b->ndim;
    for (int d = 0; same && d < a->ndim; d++)
        same = a->sizes[d] == b->sizes[d];
    return same;
}

static bool is_pinned(const void *host)
{
    struct cudaPointerAttributes attributes;
    if (cuda.PointerGetAttributes(&attributes, host) == cudaSuccess)
        return attributes.type == cudaMemoryTypeHost;
    cuda.GetLastError();
    return false;
}

/* Host memory that CUDA has not pinned is read before the copy returns. */
static tn_status upload(tn_call *call, tn_tensor *dst, const tn_tensor *src, bool non_blocking)
{
    size_t bytes = (size_t)src->numel * tn->dtype_size(src->dtype);
    cudaStream_t stream = cuda_stream(call);
    TN_TRY(cuda_check(call,
                      cuda.MemcpyAsync(dst->data, src->data, bytes, cudaMemcpyHostToDevice, stream),
                      "copying to the device"));
    if (non_blocking || !is_pinned(src->data))
        return TN_OK;
    return cuda_wait(call, dst->device, stream);
}

static tn_status download(tn_call *call, tn_tensor *dst, const tn_tensor *src, bool non_blocking)
{
    size_t bytes = (size_t)src->numel * tn->dtype_size(src->dtype);
    cudaStream_t stream = cuda_stream(call);
    TN_TRY(cuda_check(call,
                      cuda.MemcpyAsync(dst->data, src->data, bytes, cudaMemcpyDeviceToHost, stream),
                      "copying from the device"));
    if (non_blocking && is_pinned(dst->data))
        return TN_OK;
    return cuda_wait(call, src->device, stream);
}

static tn_status copy_by_cpu(tn_tensor *dst, tn_tensor *src)
{
    struct tn_copy__args a = {TN_FRAME(copy_), .self = dst, .src = src};
    TN_TRY(tn->op_call(tn->op_find(TN_SCHEMA_copy_), &a));
    tn->tensor_release(a.result);
    return TN_OK;
}

static tn_status to_device(tn_call *call, tn_tensor *dst, tn_tensor *src, bool non_blocking)
{
    tn_tensor *packed = NULL, *landing = NULL;
    tn_status status = TN_OK;
    if (!is_dense_row_major(src)) {
        status = tn->tensor_new(call, src->ndim, src->sizes, src->dtype, src->device, &packed);
        if (status == TN_OK)
            status = copy_by_cpu(packed, src);
        src = packed;
        non_blocking = false;
    }
    bool direct = status == TN_OK && is_dense_row_major(dst) && dst->dtype == src->dtype &&
                  same_shape(dst, src);
    if (status == TN_OK && !direct)
        status = tn->tensor_new(call, src->ndim, src->sizes, src->dtype, dst->device, &landing);
    if (status == TN_OK && src->numel)
        status = upload(call, direct ? dst : landing, src, non_blocking);
    if (status == TN_OK && !direct)
        status = cuda_copy_tensor(call, dst, landing);
    tn->tensor_release(landing);
    tn->tensor_release(packed);
    return status;
}

static tn_status to_host(tn_call *call, tn_tensor *dst, tn_tensor *src, bool non_blocking)
{
    tn_tensor *packed = NULL, *landing = NULL;
    tn_status status = TN_OK;
    if (!is_dense_row_major(src) || src->dtype != dst->dtype) {
        status = tn->tensor_new(call, src->ndim, src->sizes, dst->dtype, src->device, &packed);
        if (status == TN_OK)
            status = cuda_copy_tensor(call, packed, src);
        src = packed;
    }
    bool direct = status == TN_OK && is_dense_row_major(dst) && same_shape(dst, src);
    if (status == TN_OK && !direct)
        status = tn->tensor_new(call, src->ndim, src->sizes, src->dtype, dst->device, &landing);
    if (status == TN_OK && src->numel)
        status = download(call, direct ? dst : landing, src, non_blocking && direct && !packed);
    if (status == TN_OK && !direct)
        status = copy_by_cpu(dst, landing);
    tn->tensor_release(landing);
    tn->tensor_release(packed);
    return status;
}

/* Dense on src's device, by that device's own queue: the call's stream is dst's. What src comes from may
 * be on any stream there. */
static tn_status pack_there(tn_call *call, tn_tensor *packed, tn_tensor *src)
{
    void *stream = call->stream;
    TN_TRY(cuda_enter(call, src->device));
    TN_TRY(cuda_check(call, cuda.DeviceSynchronize(), "waiting for the device"));
    call->stream = NULL;
    tn_status status = cuda_copy_tensor(call, packed, src);
    if (status == TN_OK)
        status = cuda_wait(call, src->device, NULL);
    call->stream = stream;
    return status;
}

/* Between two devices: packed on the first, sent, spread and cast on the second. */
static tn_status across(tn_call *call, tn_tensor *dst, tn_tensor *src)
{
    tn_tensor *packed = NULL, *landing = NULL;
    size_t bytes = (size_t)src->numel * tn->dtype_size(src->dtype);
    tn_status status =
        tn->tensor_new(call, src->ndim, src->sizes, src->dtype, src->device, &packed);
    if (status == TN_OK)
        status = tn->tensor_new(call, src->ndim, src->sizes, src->dtype, dst->device, &landing);
    if (status == TN_OK)
        status = pack_there(call, packed, src);
    if (status == TN_OK)
        status = cuda_enter(call, dst->device);
    if (status == TN_OK && bytes)
        status = cuda_check(call,
                            cuda.MemcpyAsync(landing->data, packed->data, bytes, cudaMemcpyDefault,
                                             cuda_stream(call)),
                            "copying between devices");
    if (status == TN_OK)
        status = cuda_copy_tensor(call, dst, landing);
    if (status == TN_OK)
        status = cuda_wait(call, dst->device, cuda_stream(call)); /* packed is another device's */
    tn->tensor_release(landing);
    tn->tensor_release(packed);
    return status;
}

static tn_status copy_(tn_call *call, struct tn_copy__args *a)
{
    tn_tensor *dst = a->self, *src = a->src;
    bool from_host = src->device.type == TN_CPU, to_the_host = dst->device.type == TN_CPU;
    TN_TRY(cuda_enter(call, from_host ? dst->device : src->device));
    if (from_host)
        TN_TRY(to_device(call, dst, src, a->non_blocking));
    else if (to_the_host)
        TN_TRY(to_host(call, dst, src, a->non_blocking));
    else if (cuda_ordinal(src->device) != cuda_ordinal(dst->device))
        TN_TRY(across(call, dst, src));
    else
        TN_TRY(cuda_copy_tensor(call, dst, src));
    tn->tensor_retain(dst);
    a->result = dst;
    return TN_OK;
}

/* ---- fills
 * -----------------------------------------------------------------------------------------------
 */
static tn_status fill_with(tn_call *call, tn_tensor *self, const tn_scalar *value)
{
    tn_iter it;
    tn_dtype dtype = self->dtype;
    TN_TRY(tn->iter_init(call, &it, 1, 1, &self, dtype, dtype, 0));
    cuda_extras extras = {.value_mask = 2};
    extras.values[1] = tn_number_of(dtype, value);
    cuda_iter_add_value(&it);
    return cuda_pointwise_run(call, &it, cuda_identity_kernels[dtype], &extras);
}

static tn_status fill_(tn_call *call, struct tn_fill__Scalar_args *a)
{
    TN_TRY(fill_with(call, a->self, &a->value));
    tn->tensor_retain(a->self);
    a->result = a->self;
    return TN_OK;
}

static tn_status clear(tn_call *call, tn_tensor *self)
{
    static const tn_scalar zero = {{0}, TN_SCALAR_INT, 0};
    if (!is_dense_row_major(self))
        return fill_with(call, self, &zero);
    TN_TRY(cuda_enter(call, self->device));
    if (self->numel == 0)
        return TN_OK;
    size_t bytes = (size_t)self->numel * tn->dtype_size(self->dtype);
    cudaStream_t stream = cuda_stream(call);
    TN_TRY(cuda_check(call, cuda.MemsetAsync(self->data, 0, bytes, stream), "clearing memory"));
    return TN_OK;
}

static tn_status zero_(tn_call *call, struct tn_zero__args *a)
{
    TN_TRY(clear(call, a->self));
    tn->tensor_retain(a->self);
    a->result = a->self;
    return TN_OK;
}

static const tn_kernel_decl kernels[] = {
    TN_KERNEL(copy_, "CUDA", copy_),
    TN_KERNEL(fill__Scalar, "CUDA", fill_),
    TN_KERNEL(zero_, "CUDA", zero_),
};
const cuda_kernels cuda_copy = {kernels, TN_COUNT(kernels)};

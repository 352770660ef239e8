/* device.c - the device type "cuda": memory, copies, waiting, and the faults that waiting brings
 * to light.
 *
 * Kernels that take indices check them on the device and note the first bad one in the device's
 * fault record. It is read when the host waits for the device: copies to the host, synchronize. */
#include <pthread.h>

#include "cuda.h"
#include "faults.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cuda_fault *records[CUDA_MAX_DEVICES];

static tn_status new_record(tn_call *call, int device)
{
    void *data;
    TN_TRY(cuda_check(call, cuda.Malloc(&data, sizeof(cuda_fault)), "allocating the fault record"));
    cudaError_t error = cuda.MemsetAsync(data, 0, sizeof(cuda_fault), NULL);
    if (error == cudaSuccess)
        error = cuda.StreamSynchronize(NULL); /* no stream waits for that one */
    if (error != cudaSuccess)
        cuda.Free(data);
    TN_TRY(cuda_check(call, error, "clearing the fault record"));
    records[device] = data;
    return TN_OK;
}

tn_status cuda_fault_record(tn_call *call, tn_device device, cuda_fault **out)
{
    int i = cuda_ordinal(device);
    tn_status status = TN_OK;
    pthread_mutex_lock(&lock);
    if (!records[i])
        status = new_record(call, i);
    *out = records[i];
    pthread_mutex_unlock(&lock);
    return status;
}

static tn_status report(tn_call *call, const cuda_fault *f)
{
    static const char *const names[] = {"", "index_select", "gather", "embedding"};
    if (f->kind == CUDA_FAULT_DIVISION)
        return tn->fail(call, TN_ERR_ARGUMENT,
                        "an earlier integer division or remainder on the device was by zero");
    return tn->fail(call, TN_ERR_INDEX,
                    "an earlier %s on the device met index %lld, out of range for size %lld",
                    names[f->kind], (long long)f->index, (long long)f->size);
}

/* The record is cleared once read: a fault is told once. */
static tn_status take_fault(tn_call *call, int device, cudaStream_t stream)
{
    cuda_fault f;
    TN_TRY(cuda_check(
        call, cuda.MemcpyAsync(&f, records[device], sizeof f, cudaMemcpyDeviceToHost, stream),
        "reading faults"));
    TN_TRY(cuda_check(call, cuda.StreamSynchronize(stream), "waiting for the device"));
    if (f.kind == CUDA_FAULT_NONE)
        return TN_OK;
    TN_TRY(cuda_check(call, cuda.MemsetAsync(records[device], 0, sizeof f, stream),
                      "clearing faults"));
    return report(call, &f);
}

tn_status cuda_wait(tn_call *call, tn_device device, cudaStream_t stream)
{
    if (records[cuda_ordinal(device)])
        return take_fault(call, cuda_ordinal(device), stream);
    return cuda_check(call, cuda.StreamSynchronize(stream), "waiting for the device");
}

static tn_status count(int32_t *out)
{
    *out = cuda_device_count();
    return TN_OK;
}

static tn_status copy(tn_device to, void *dst, tn_device from, const void *src, size_t bytes)
{
    tn_device on = to.type == TN_CPU ? from : to;
    TN_TRY(cuda_enter(NULL, on));
    TN_TRY(cuda_check(NULL, cuda.DeviceSynchronize(), "waiting for the device"));
    TN_TRY(cuda_check(NULL, cuda.Memcpy(dst, src, bytes, cudaMemcpyDefault), "copying memory"));
    return to.type == TN_CPU ? cuda_wait(NULL, on, NULL) : TN_OK;
}

static tn_status synchronize(tn_device device)
{
    TN_TRY(cuda_enter(NULL, device));
    TN_TRY(cuda_check(NULL, cuda.DeviceSynchronize(), "waiting for the device"));
    return cuda_wait(NULL, device, NULL);
}

static tn_status stream_synchronize(tn_device device, void *stream)
{
    TN_TRY(cuda_enter(NULL, device));
    return cuda_wait(NULL, device, stream);
}

static tn_status stream_query(tn_device device, void *stream, int32_t *busy)
{
    TN_TRY(cuda_enter(NULL, device));
    cudaError_t error = cuda.StreamQuery(stream);
    *busy = error == cudaErrorNotReady;
    if (*busy)
        cuda.GetLastError();
    return *busy ? TN_OK : cuda_check(NULL, error, "asking a stream");
}

const tn_device_decl cuda_device = {
    .name = "cuda",
    .key = "CUDA",
    .alloc = cuda_alloc,
    .free = cuda_free,
    .count = count,
    .copy = copy,
    .synchronize = synchronize,
    .stream_new = cuda_stream_new,
    .stream_free = cuda_stream_free,
    .stream_synchronize = stream_synchronize,
    .stream_wait = cuda_stream_wait,
    .stream_query = stream_query,
    .alloc_on = cuda_alloc_on,
    .free_on = cuda_free_on,
};

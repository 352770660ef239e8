/* cuda.h - what the host files of the cuda plugin share: the CUDA runtime as a table, devices,
 * streams, memory.
 *
 * The plugin links no CUDA library: runtime.c opens libcudart.so.13 at the first use and fills
 * `cuda`, so that the plugin loads on any machine. Every entry into a device goes through
 * cuda_enter. */
#ifndef CUDA_H
#define CUDA_H

#include <cuda_runtime_api.h>

#include <tenon/frames.h>
#include <tenon/plugin.h>

/* The calls of the runtime that the plugin makes: cuda.Malloc is cudaMalloc. */
#define CUDA_RUNTIME_CALLS(X)                                                                      \
    X(GetDeviceCount)                                                                              \
    X(SetDevice)                                                                                   \
    X(Malloc)                                                                                      \
    X(Free)                                                                                        \
    X(Memcpy)                                                                                      \
    X(MemcpyAsync)                                                                                 \
    X(MemsetAsync)                                                                                 \
    X(DeviceSynchronize)                                                                           \
    X(StreamCreateWithFlags)                                                                       \
    X(StreamDestroy)                                                                               \
    X(StreamSynchronize)                                                                           \
    X(StreamQuery)                                                                                 \
    X(StreamWaitEvent)                                                                             \
    X(EventCreateWithFlags)                                                                        \
    X(EventDestroy)                                                                                \
    X(EventRecord)                                                                                 \
    X(EventQuery)                                                                                  \
    X(PointerGetAttributes)                                                                        \
    X(LaunchKernel)                                                                                \
    X(GetLastError)                                                                                \
    X(GetErrorString)

#define CUDA_RUNTIME_MEMBER(name) __typeof__(cuda##name) *name;
typedef struct cuda_runtime {
    CUDA_RUNTIME_CALLS(CUDA_RUNTIME_MEMBER)
} cuda_runtime;
#undef CUDA_RUNTIME_MEMBER
extern cuda_runtime cuda;

enum { CUDA_MAX_DEVICES = 64, CUDA_THREADS = 128 };

/* runtime.c */
/* Opens the runtime once and counts devices; afterwards the number is known. Never an error: no
 * device is 0. */
int cuda_device_count(void);
/* Why cuda_device_count() is 0, as a sentence's end. */
const char *cuda_no_device_reason(void);
/* Makes `device` the thread's current one; "no CUDA device: ..." where it is not there. Index -1
 * is device 0. */
tn_status cuda_enter(tn_call *call, tn_device device);
/* TN_OK, or the failure with CUDA's own text; out of memory keeps its own status. */
tn_status cuda_check(tn_call *call, cudaError_t error, const char *doing);

/* Makes a device that has been entered before the thread's current one, for as long as something is
 * let go of; returns which one was. */
int cuda_switch(int ordinal);

static inline int cuda_ordinal(tn_device device)
{
    return device.index < 0 ? 0 : device.index;
}

/* The stream of a call. NULL is the legacy default stream: a program that never speaks of streams is
 * ordered, whichever threads call. The others do not wait for it, nor it for them. */
static inline cudaStream_t cuda_stream(const tn_call *call)
{
    return (cudaStream_t)call->stream;
}

/* Starts one kernel on the call's stream. fn is the kernel's address as its .cu file gives it,
 * args its one parameter, by pointer. */
typedef void (*cuda_kernel_address)(void);
tn_status cuda_launch(tn_call *call, cuda_kernel_address fn, int64_t blocks, int threads,
                      size_t shared, void *args);

/* allocator.c: memory and streams, as tn_device_decl has them. */
tn_status cuda_alloc(tn_device device, size_t bytes, void **out);
void cuda_free(tn_device device, void *data, size_t bytes);
tn_status cuda_alloc_on(tn_device device, void *stream, size_t bytes, void **out);
void cuda_free_on(tn_device device, void *stream, int32_t shared, void *data, size_t bytes);
tn_status cuda_stream_new(tn_device device, void **out);
void cuda_stream_free(tn_device device, void *stream);
tn_status cuda_stream_wait(tn_device device, void *stream, tn_device of, void *other);

/* device.c */
extern const tn_device_decl cuda_device;
/* The device's record of the first bad index, for kernels to write to: see faults.h. */
struct cuda_fault;
tn_status cuda_fault_record(tn_call *call, tn_device device, struct cuda_fault **out);
/* Waits for the stream, then reports a bad index that a kernel has met. */
tn_status cuda_wait(tn_call *call, tn_device device, cudaStream_t stream);

/* Families of kernels: a file has one table. */
typedef struct cuda_kernels {
    const tn_kernel_decl *list;
    size_t count;
} cuda_kernels;
extern const tn_kernel_decl cuda_pointwise_kernels[]; /* generated */
extern const size_t cuda_pointwise_count;
extern const cuda_kernels cuda_copy, cuda_arithmetic, cuda_reductions, cuda_softmax, cuda_matmul,
    cuda_index;

/* copy.c: src into dst, both on one device, any strides and dtypes; src is broadcast. */
tn_status cuda_copy_tensor(tn_call *call, tn_tensor *dst, tn_tensor *src);

#endif

/* runtime.c - the CUDA runtime, opened when it is first needed.
 *
 * nvcc's objects register their kernels with the runtime while the plugin is being loaded, through
 * the functions __cudaRegister.. below. Here they are ours: they only write down what they are
 * given, and the notes are handed to the real runtime once libcudart.so.13 has been opened and
 * shows a device. So loading the plugin costs microseconds and needs neither runtime nor driver.
 * Kernels are started by address with cudaLaunchKernel; the launch stubs that nvcc makes for
 * <<<>>> are never called. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "cuda.h"

cuda_runtime cuda;

/* ---- what nvcc's objects say at load --------------------------------------------------------- */
enum { MAX_MODULES = 64, MAX_FUNCTIONS = 2048 };
typedef struct function_note {
    int module;
    const char *host, *name;
    char *device;
    int thread_limit;
} function_note;

static void *modules[MAX_MODULES]; /* fat binaries */
static void **handles[MAX_MODULES +
                      1]; /* an object's handle is the address of its entry; later the runtime's */
static function_note functions[MAX_FUNCTIONS];
static int n_modules, n_functions;
static bool too_many;

#define CUDA_ENTRY __attribute__((visibility("hidden")))
CUDA_ENTRY void **__cudaRegisterFatBinary(void *binary);
CUDA_ENTRY void __cudaRegisterFatBinaryEnd(void **handle);
CUDA_ENTRY void __cudaUnregisterFatBinary(void **handle);
CUDA_ENTRY void __cudaRegisterFunction(void **handle, const char *host, char *device,
                                       const char *name, int thread_limit, void *tid, void *bid,
                                       void *block, void *grid, int *warp);
CUDA_ENTRY void __cudaRegisterVar(void **handle, char *host, char *device, const char *name,
                                  int external, size_t size, int constant, int global);
CUDA_ENTRY char __cudaInitModule(void **handle);
CUDA_ENTRY unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream);
CUDA_ENTRY cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                                  void *stream);
CUDA_ENTRY cudaError_t __cudaGetKernel(void **kernel, const void *host);
CUDA_ENTRY cudaError_t __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **args,
                                          size_t shared, void *stream);

void **__cudaRegisterFatBinary(void *binary)
{
    if (n_modules == MAX_MODULES) {
        too_many = true;
        return (void **)&handles[MAX_MODULES];
    }
    modules[n_modules] = binary;
    return (void **)&handles[n_modules++];
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

/* At exit; the runtime may have gone before us, and the process's end frees what it holds. */
void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int thread_limit, void *tid, void *bid, void *block, void *grid,
                            int *warp)
{
    (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    if (n_functions == MAX_FUNCTIONS) {
        too_many = true;
        return;
    }
    int module = (int)((void ***)handle - handles);
    functions[n_functions++] = (function_note){module, host, name, device, thread_limit};
}

/* Constants of headers: kernels have them in their own module, and the host never asks for one. */
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                       size_t size, int constant, int global)
{
    (void)handle, (void)host, (void)device, (void)name, (void)external, (void)size, (void)constant,
        (void)global;
}

/* The rest is named by launch stubs, which nothing calls. */
char __cudaInitModule(void **handle)
{
    (void)handle;
    return 0;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream)
{
    (void)grid, (void)block, (void)shared, (void)stream;
    return 1;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    (void)grid, (void)block, (void)shared, (void)stream;
    return cudaErrorNotSupported;
}

cudaError_t __cudaGetKernel(void **kernel, const void *host)
{
    (void)kernel, (void)host;
    return cudaErrorNotSupported;
}

cudaError_t __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **args, size_t shared,
                               void *stream)
{
    (void)kernel, (void)grid, (void)block, (void)args, (void)shared, (void)stream;
    return cudaErrorNotSupported;
}

/* ---- opening --------------------------------------------------------------------------------- */
typedef void **(*register_binary_fn)(void *);
typedef void (*register_end_fn)(void **);
typedef void (*register_function_fn)(void **, const char *, char *, const char *, int, void *,
                                     void *, void *, void *, int *);

static pthread_once_t opened = PTHREAD_ONCE_INIT;
static int device_count;
static char reason[200];
static _Thread_local int current; /* the device that the thread entered last */

/* dlsym gives object pointers; POSIX says that they hold functions. */
static void find(void *library, const char *name, void *out)
{
    *(void **)out = dlsym(library, name);
    if (!*(void **)out && !*reason)
        snprintf(reason, sizeof reason, "the CUDA runtime has no %s", name);
}

static void hand_over(void *library)
{
    register_binary_fn binary;
    register_end_fn end;
    register_function_fn function;
    find(library, "__cudaRegisterFatBinary", &binary);
    find(library, "__cudaRegisterFatBinaryEnd", &end);
    find(library, "__cudaRegisterFunction", &function);
    if (*reason)
        return;
    for (int i = 0; i < n_modules; i++)
        handles[i] = binary(modules[i]);
    for (int i = 0; i < n_functions; i++) {
        const function_note *f = &functions[i];
        function(handles[f->module], f->host, f->device, f->name, f->thread_limit, NULL, NULL, NULL,
                 NULL, NULL);
    }
    for (int i = 0; i < n_modules; i++)
        end(handles[i]);
}

static void open_runtime(void)
{
    void *library = dlopen("libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(reason, sizeof reason, "the CUDA runtime libcudart.so.13 is not installed");
        return;
    }
#define FIND(name) find(library, "cuda" #name, &cuda.name);
    CUDA_RUNTIME_CALLS(FIND)
#undef FIND
    if (too_many)
        snprintf(reason, sizeof reason,
                 "the plugin has more kernels than runtime.c makes room for");
    if (*reason)
        return;
    int n = 0;
    cudaError_t error = cuda.GetDeviceCount(&n);
    if (error != cudaSuccess) {
        cuda.GetLastError();
        snprintf(reason, sizeof reason, "%s", cuda.GetErrorString(error));
    } else if (n == 0) {
        snprintf(reason, sizeof reason, "the driver shows none");
    } else {
        hand_over(library);
    }
    if (!*reason)
        device_count = n < CUDA_MAX_DEVICES ? n : CUDA_MAX_DEVICES;
}

int cuda_device_count(void)
{
    pthread_once(&opened, open_runtime);
    return device_count;
}

const char *cuda_no_device_reason(void)
{
    return reason;
}

/* ---- every use ------------------------------------------------------------------------------- */
tn_status cuda_enter(tn_call *call, tn_device device)
{
    int n = cuda_device_count();
    if (n == 0)
        return tn->fail(call, TN_ERR_DEVICE, "no CUDA device: %s", cuda_no_device_reason());
    if (cuda_ordinal(device) >= n)
        return tn->fail(call, TN_ERR_DEVICE,
                        "no CUDA device cuda:%d: this machine has %d, the last is cuda:%d",
                        device.index, n, n - 1);
    current = cuda_ordinal(device);
    return cuda_check(call, cuda.SetDevice(current), "choosing the device");
}

int cuda_switch(int ordinal)
{
    int was = current;
    if (ordinal != current && cuda.SetDevice(ordinal) == cudaSuccess)
        current = ordinal;
    return was;
}

tn_status cuda_check(tn_call *call, cudaError_t error, const char *doing)
{
    if (error == cudaSuccess)
        return TN_OK;
    cuda.GetLastError(); /* or the next call would report it again */
    tn_status status = error == cudaErrorMemoryAllocation ? TN_ERR_MEMORY : TN_ERR_DEVICE;
    return tn->fail(call, status, "CUDA error while %s: %s", doing, cuda.GetErrorString(error));
}

tn_status cuda_launch(tn_call *call, cuda_kernel_address fn, int64_t blocks, int threads,
                      size_t shared, void *args)
{
    if (blocks == 0)
        return TN_OK;
    if (blocks > INT32_MAX)
        return tn->fail(call, TN_ERR_OVERFLOW,
                        "%lld blocks of threads are needed; a device starts %d at once",
                        (long long)blocks, INT32_MAX);
    const void *address;
    __builtin_memcpy(&address, &fn, sizeof address);
    void *parameters[] = {args};
    cudaError_t error = cuda.LaunchKernel(address, (dim3){(unsigned)blocks, 1, 1},
                                          (dim3){(unsigned)threads, 1, 1}, parameters, shared,
                                          cuda_stream(call));
    return cuda_check(call, error, "starting a kernel");
}

/* device.c - a plugin that brings a device type, "plgdev", whose memory is the host's, and one
 * operator, which says which build serves: its tensors are made and released.
 *   GENERATION=n  the build's number; the environment variables TENON_TEST_FREED and
 *                 TENON_TEST_WAITED get that of the build that was last asked for it
 *   RELOADS       it promises TN_DEVICE_RELOADS
 *   STREAMS       it has streams, which are numbers
 *   KEY           its dispatch key
 *   NO_DEVICE     it brings none */
#include <tenon/plugin.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef GENERATION
#define GENERATION 1
#endif
#ifndef KEY
#define KEY "PLGDEV"
#endif

static void tell(const char *name)
{
    char text[16];
    snprintf(text, sizeof text, "%d", GENERATION);
    setenv(name, text, 1);
}

static tn_status alloc(tn_device device, size_t bytes, void **out)
{
    (void)device;
    *out = malloc(bytes);
    return *out ? TN_OK : tn->fail(NULL, TN_ERR_MEMORY, "plgdev: %zu bytes cannot be had", bytes);
}

static void release(tn_device device, void *data, size_t bytes)
{
    (void)device, (void)bytes;
    tell("TENON_TEST_FREED");
    free(data);
}

static tn_status count(int32_t *out)
{
    *out = 1;
    return TN_OK;
}

static tn_status copy(tn_device to, void *dst, tn_device from, const void *src, size_t bytes)
{
    (void)to, (void)from;
    memcpy(dst, src, bytes);
    return TN_OK;
}

static tn_status synchronize(tn_device device)
{
    (void)device;
    tell("TENON_TEST_WAITED");
    return TN_OK;
}

#ifdef STREAMS
static tn_status stream_new(tn_device device, void **out)
{
    static uintptr_t n;
    (void)device;
    *out = (void *)++n;
    return TN_OK;
}

static void stream_free(tn_device device, void *stream)
{
    (void)device, (void)stream;
}

static tn_status stream_synchronize(tn_device device, void *stream)
{
    (void)device, (void)stream;
    return TN_OK;
}

static tn_status stream_wait(tn_device device, void *stream, tn_device of, void *other)
{
    (void)device, (void)stream, (void)of, (void)other;
    return TN_OK;
}
#endif

static const tn_device_decl device = {
    .name = "plgdev",
    .key = KEY,
    .alloc = alloc,
    .free = release,
    .count = count,
    .copy = copy,
    .synchronize = synchronize,
#ifdef RELOADS
    .flags = TN_DEVICE_RELOADS,
#endif
#ifdef STREAMS
    .stream_new = stream_new,
    .stream_free = stream_free,
    .stream_synchronize = stream_synchronize,
    .stream_wait = stream_wait,
#endif
};

struct args {
    tn_frame frame;
    int64_t result;
    tn_tensor *x;
};
#define WHICH "plgdevice::which(Tensor x) -> int"

static tn_status which(tn_call *call, void *frame)
{
    struct args *a = frame;
    (void)call;
    a->result = GENERATION;
    return TN_OK;
}

static tn_status start(tn_registry *r)
{
    static const tn_op_decl op = {.schema = WHICH};
    static const tn_kernel_decl kernel = {
        .schema = WHICH, .key = KEY, .fn = which, .frame_size = sizeof(struct args)};
    int16_t type;
    (void)device, (void)kernel, (void)type;
    TN_TRY(tn->register_ops(r, &op, 1));
#ifdef NO_DEVICE
    return TN_OK;
#else
    TN_TRY(tn->register_device(r, &device, &type));
    return tn->register_kernels(r, &kernel, 1);
#endif
}

TN_PLUGIN("device", "1.0", start, NULL);

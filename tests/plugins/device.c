/* device.c - a plugin that brings a device type, "plgdev", whose memory is the host's, and no
 * operators: its tensors are made and released. */
#include <tenon/plugin.h>

#include <stdlib.h>
#include <string.h>

static tn_status alloc(tn_device device, size_t bytes, void **out)
{
    (void)device;
    *out = malloc(bytes);
    return *out ? TN_OK : tn->fail(NULL, TN_ERR_MEMORY, "plgdev: %zu bytes cannot be had", bytes);
}

static void release(tn_device device, void *data, size_t bytes)
{
    (void)device, (void)bytes;
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
    return TN_OK;
}

static const tn_device_decl device = {"plgdev", "PLGDEV", alloc, release, count, copy, synchronize};

static tn_status start(tn_registry *r)
{
    int16_t type;
    return tn->register_device(r, &device, &type);
}

TN_PLUGIN("device", "1.0", start, NULL);

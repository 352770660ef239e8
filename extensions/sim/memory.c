/* memory.c - the devices' memory: blocks of the host's, handed out under addresses that the host
 * cannot use. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

static tn_status allocate(tn_device device, size_t bytes, void **out)
{
    if (device.index >= SIM_DEVICES)
        return tn->fail(NULL, TN_ERR_DEVICE, "there is no device sim:%d; there are %d",
                        device.index, SIM_DEVICES);
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!memory)
        return tn->fail(NULL, TN_ERR_MEMORY, "sim:%d has no %zu bytes left", device.index, bytes);
    *out = (void *)((uintptr_t)memory | SIM_BIT);
    return TN_OK;
}

static void free_block(void *args)
{
    free(sim_memory(*(void **)args));
}

/* Work that was submitted before may still use the block, so giving it back is work too. */
static void release(tn_device device, void *data, size_t bytes)
{
    (void)bytes;
    if (sim_submit(NULL, device, free_block, &data, sizeof data) == TN_OK)
        return;
    sim_wait(device);
    free(sim_memory(data));
}

static tn_status count(int32_t *out)
{
    *out = SIM_DEVICES;
    return TN_OK;
}

static tn_status synchronize(tn_device device)
{
    sim_wait(device);
    return TN_OK;
}

static tn_status copy(tn_device to, void *dst, tn_device from, const void *src, size_t bytes)
{
    if (from.type == sim_type)
        sim_wait(from);
    if (to.type == sim_type)
        sim_wait(to);
    memcpy(sim_memory(dst), sim_memory(src), bytes);
    return TN_OK;
}

const tn_device_decl sim_device = {
    .name = "sim",
    .key = "SIM",
    .alloc = allocate,
    .free = release,
    .count = count,
    .copy = copy,
    .synchronize = synchronize,
};

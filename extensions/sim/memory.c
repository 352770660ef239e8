/* memory.c - the devices' memory: blocks of the host's, handed out under addresses that the host
 * cannot use.
 *
 * What one queue alone has used is given out for that queue again at once: its work comes later in the
 * same order. Whatever another queue has taken goes back when no queue can be at work with it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the queues' blocks */

/* ---- blocks ---------------------------------------------------------------------------------- */
/* In front of every block, so that a block that waits needs no other memory. */
enum { HEADER = 64 };

static void *data_of(sim_block *b)
{
    return (void *)((uintptr_t)((char *)b + HEADER) | SIM_BIT);
}

static sim_block *block_of(void *data)
{
    return (sim_block *)((char *)sim_memory(data) - HEADER);
}

static sim_block *take(sim_queue *q, size_t bytes)
{
    pthread_mutex_lock(&lock);
    sim_block **at = sim_blocks_of(q);
    while (*at && (*at)->bytes != bytes)
        at = &(*at)->next;
    sim_block *b = *at;
    if (b)
        *at = b->next;
    pthread_mutex_unlock(&lock);
    return b;
}

static tn_status allocate_on(tn_device device, void *stream, size_t bytes, void **out)
{
    if (device.index >= SIM_DEVICES)
        return tn->fail(NULL, TN_ERR_DEVICE, "there is no device sim:%d; there are %d",
                        device.index, SIM_DEVICES);
    sim_block *b = take(sim_queue_of(device, stream), bytes);
    if (!b)
        b = aligned_alloc(64, HEADER + (bytes + 63) / 64 * 64);
    if (!b)
        return tn->fail(NULL, TN_ERR_MEMORY, "sim:%d has no %zu bytes left", device.index, bytes);
    b->bytes = bytes;
    *out = data_of(b);
    return TN_OK;
}

static tn_status allocate(tn_device device, size_t bytes, void **out)
{
    return allocate_on(device, NULL, bytes, out);
}

static void release(tn_device device, void *data, size_t bytes)
{
    (void)bytes;
    sim_when_over(device, free, block_of(data));
}

static void release_on(tn_device device, void *stream, int32_t shared, void *data, size_t bytes)
{
    if (shared) {
        release(device, data, bytes);
        return;
    }
    sim_block *b = block_of(data), **blocks = sim_blocks_of(sim_queue_of(device, stream));
    pthread_mutex_lock(&lock);
    b->next = *blocks;
    *blocks = b;
    pthread_mutex_unlock(&lock);
}

/* What waits for a stream that is no more, or for the end. */
void sim_blocks_drop(sim_queue *q)
{
    for (sim_block *b; (b = *sim_blocks_of(q));) {
        *sim_blocks_of(q) = b->next;
        free(b);
    }
}

/* ---- the rest of a device type --------------------------------------------------------------- */
static tn_status count(int32_t *out)
{
    *out = SIM_DEVICES;
    return TN_OK;
}

static tn_status synchronize(tn_device device)
{
    sim_wait_device(device);
    return TN_OK;
}

static tn_status copy(tn_device to, void *dst, tn_device from, const void *src, size_t bytes)
{
    if (from.type == sim_type)
        sim_wait_device(from);
    if (to.type == sim_type)
        sim_wait_device(to);
    memcpy(sim_memory(dst), sim_memory(src), bytes);
    return TN_OK;
}

static tn_status stream_new(tn_device device, void **out)
{
    if (device.index >= SIM_DEVICES)
        return tn->fail(NULL, TN_ERR_DEVICE, "there is no device sim:%d; there are %d",
                        device.index, SIM_DEVICES);
    *out = sim_queue_new(device);
    return *out ? TN_OK : tn->fail(NULL, TN_ERR_DEVICE, "all %d streams are in use", SIM_STREAMS);
}

static void stream_free(tn_device device, void *stream)
{
    (void)device;
    sim_queue_free(stream);
}

static tn_status stream_synchronize(tn_device device, void *stream)
{
    sim_wait(sim_queue_of(device, stream));
    return TN_OK;
}

static tn_status stream_wait(tn_device device, void *stream, tn_device of, void *other)
{
    return sim_order(sim_queue_of(device, stream), sim_queue_of(of, other));
}

static tn_status stream_query(tn_device device, void *stream, int32_t *busy)
{
    *busy = sim_is_busy(sim_queue_of(device, stream));
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
    .flags = TN_DEVICE_RELOADS, /* memory is the host's, whichever build asked for it */
    .stream_new = stream_new,
    .stream_free = stream_free,
    .stream_synchronize = stream_synchronize,
    .stream_wait = stream_wait,
    .stream_query = stream_query,
    .alloc_on = allocate_on,
    .free_on = release_on,
};

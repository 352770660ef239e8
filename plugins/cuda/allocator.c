/* allocator.c - device memory: a cache of blocks per device, reused in stream order.
 *
 * cudaMalloc and cudaFree stop the device, so freed blocks are kept by size class (powers of two,
 * four steps between them) and given out again. On the default stream a freed block is ready at
 * once: whoever gets it runs later in the same stream. Work on other streams is noted by one event
 * per stream; a block freed while such work may be running waits until the events have passed.
 * When CUDA has no memory left, the cache is emptied and the request tried once more. */
#include <pthread.h>
#include <stdlib.h>

#include "cuda.h"

enum { CLASSES = 4 * 48, MAX_STREAMS = 64, MIN_SHIFT = 9 };

typedef struct block {
    struct block *next;
    void *data;
    uint64_t ticket; /* of the last noted work when it was freed */
} block;

typedef struct stream_note {
    cudaStream_t stream;
    cudaEvent_t event;
    int device;
    uint64_t last, done; /* tickets of the last noted work, and of work known to be over */
} stream_note;

typedef struct pool {
    block *ready[CLASSES], *waiting[CLASSES];
} pool;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pool pools[CUDA_MAX_DEVICES];
static stream_note streams[MAX_STREAMS];
static int n_streams;
static uint64_t ticket;
static bool streams_lost; /* more streams than notes: freed blocks then wait for the whole device */

/* ---- size classes: 512, 640, 768, 896, 1024, 1280, ... --------------------------------------- */
static int class_of(size_t bytes, size_t *rounded)
{
    size_t base = (size_t)1 << MIN_SHIFT;
    int bin = 0;
    while (base * 2 <= bytes && bin < CLASSES - 4)
        base *= 2, bin += 4;
    size_t step = base / 4;
    size_t steps = bytes <= base ? 0 : (bytes - base + step - 1) / step;
    *rounded = base + steps * step;
    return bin + (int)steps;
}

/* ---- streams --------------------------------------------------------------------------------- */
static stream_note *note_of(cudaStream_t stream, int device)
{
    for (int i = 0; i < n_streams; i++)
        if (streams[i].stream == stream && streams[i].device == device)
            return &streams[i];
    if (n_streams == MAX_STREAMS)
        return NULL;
    stream_note *s = &streams[n_streams];
    if (cuda.EventCreateWithFlags(&s->event, cudaEventDisableTiming) != cudaSuccess)
        return NULL;
    s->stream = stream;
    s->device = device;
    n_streams++;
    return s;
}

void cuda_note_stream(cudaStream_t stream, int device)
{
    if (!stream)
        return;
    pthread_mutex_lock(&lock);
    stream_note *s = note_of(stream, device);
    if (s && cuda.EventRecord(s->event, stream) == cudaSuccess)
        s->last = ++ticket;
    else
        streams_lost = true;
    pthread_mutex_unlock(&lock);
}

/* All noted work up to this ticket is over. */
static bool passed(int device, uint64_t freed_at)
{
    for (int i = 0; i < n_streams; i++) {
        stream_note *s = &streams[i];
        if (s->device != device || s->done >= s->last)
            continue;
        if (s->done >= freed_at)
            continue;
        if (cuda.EventQuery(s->event) != cudaSuccess)
            return false;
        s->done = s->last;
    }
    return true;
}

/* ---- blocks ---------------------------------------------------------------------------------- */
static block *take(pool *p, int device, int bin)
{
    block *b = p->ready[bin];
    if (b) {
        p->ready[bin] = b->next;
        return b;
    }
    b = p->waiting[bin];
    if (!b || streams_lost || !passed(device, b->ticket))
        return NULL;
    p->waiting[bin] = b->next;
    return b;
}

static void give_back(block **list)
{
    for (block *b; (b = *list);) {
        *list = b->next;
        cuda.Free(b->data);
        free(b);
    }
}

static void empty_cache(pool *p)
{
    cuda.DeviceSynchronize();
    for (int bin = 0; bin < CLASSES; bin++) {
        give_back(&p->ready[bin]);
        give_back(&p->waiting[bin]);
    }
}

static tn_status alloc_locked(pool *p, int device, size_t bytes, void **out)
{
    size_t rounded;
    int bin = class_of(bytes, &rounded);
    block *b = take(p, device, bin);
    if (b) {
        *out = b->data;
        free(b);
        return TN_OK;
    }
    cudaError_t error = cuda.Malloc(out, rounded);
    if (error == cudaErrorMemoryAllocation) {
        cuda.GetLastError();
        empty_cache(p);
        error = cuda.Malloc(out, rounded);
    }
    return cuda_check(NULL, error, "allocating device memory");
}

tn_status cuda_alloc(tn_device device, size_t bytes, void **out)
{
    TN_TRY(cuda_enter(NULL, device));
    if (bytes > (size_t)1 << 47)
        return tn->fail(NULL, TN_ERR_MEMORY, "out of device memory: %zu bytes were asked for",
                        bytes);
    pthread_mutex_lock(&lock);
    tn_status status = alloc_locked(&pools[cuda_ordinal(device)], cuda_ordinal(device), bytes, out);
    pthread_mutex_unlock(&lock);
    return status;
}

/* Without memory for the note of it, the block goes back to CUDA. */
void cuda_free(tn_device device, void *data, size_t bytes)
{
    pool *p = &pools[cuda_ordinal(device)];
    size_t rounded;
    int bin = class_of(bytes, &rounded);
    block *b = malloc(sizeof *b);
    pthread_mutex_lock(&lock);
    if (b) {
        block **list = n_streams || streams_lost ? &p->waiting[bin] : &p->ready[bin];
        *b = (block){*list, data, ticket};
        *list = b;
    } else if (cuda.SetDevice(cuda_ordinal(device)) == cudaSuccess) {
        cuda.Free(data);
    }
    pthread_mutex_unlock(&lock);
}

/* allocator.c - device memory: a cache of blocks per stream, reused in stream order; and streams.
 *
 * cudaMalloc and cudaFree stop the device, so freed blocks are kept by size class (powers of two,
 * four steps between them) and given out again. What one stream alone has used is ready for that
 * stream at once: whoever gets it runs later in the same order. Whatever other streams have taken,
 * and what a stream leaves behind, waits until an event on every stream of the device has passed.
 * When CUDA has no memory left, the cache is emptied and the request tried once more. */
#include <pthread.h>
#include <stdlib.h>

#include "cuda.h"

enum { CLASSES = 4 * 48, MIN_SHIFT = 9, MARKS = 8 };

typedef struct block {
    struct block *next;
    void *data;
    uint64_t ticket; /* of the events that it waits for */
} block;

/* An event behind what a stream had to do when the ticket was given out. */
typedef struct mark {
    cudaEvent_t event;
    uint64_t ticket;
} mark;

/* A stream of a device, or (NULL) the device's own queue. One that was freed stays until its last
 * mark has passed. */
typedef struct queue {
    struct queue *next;
    cudaStream_t stream;
    mark marks[MARKS]; /* a ring: `count` that have not passed yet, the oldest at `first` */
    int first, count;
    uint64_t done; /* the newest ticket that is known to have passed */
    bool freed;
    bool lost; /* CUDA refused a mark: nothing passes until the cache is emptied */
    block *ready[CLASSES];
} queue;

typedef struct pool {
    queue *queues;
    block *waiting[CLASSES];
} pool;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pool pools[CUDA_MAX_DEVICES];
static uint64_t ticket;

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

/* ---- queues: under the lock, the device is the thread's ---------------------------------------- */
/* NULL: out of memory. */
static queue *new_queue(pool *p, cudaStream_t stream)
{
    queue *q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    q->stream = stream;
    q->next = p->queues;
    p->queues = q;
    return q;
}

static queue *queue_of(pool *p, cudaStream_t stream)
{
    for (queue *q = p->queues; q; q = q->next)
        if (q->stream == stream && !q->freed)
            return q;
    return new_queue(p, stream);
}

/* When the ring is full its newest mark moves on, so that the older ones still pass in time. */
static void put_mark(queue *q, uint64_t at)
{
    if (q->count < MARKS)
        q->count++;
    mark *m = &q->marks[(q->first + q->count - 1) % MARKS];
    m->ticket = at;
    bool ok = m->event ||
              cuda.EventCreateWithFlags(&m->event, cudaEventDisableTiming) == cudaSuccess;
    if (ok && cuda.EventRecord(m->event, q->stream) == cudaSuccess)
        return;
    cuda.GetLastError();
    q->lost = true;
}

/* From now on the ticket has passed when all that the device's streams have now is over. */
static uint64_t mark_all(pool *p)
{
    uint64_t now = ++ticket;
    for (queue *q = p->queues; q; q = q->next)
        if (!q->freed)
            put_mark(q, now);
    return now;
}

static bool passed(pool *p, uint64_t at)
{
    for (queue *q = p->queues; q; q = q->next) {
        while (q->count && q->done < at) {
            const mark *m = &q->marks[q->first];
            if (q->lost || cuda.EventQuery(m->event) != cudaSuccess) {
                cuda.GetLastError();
                return false;
            }
            q->done = m->ticket;
            q->first = (q->first + 1) % MARKS;
            q->count--;
        }
    }
    return true;
}

static void drop_freed(pool *p)
{
    for (queue **at = &p->queues, *q; (q = *at);) {
        if (!q->freed || q->count) {
            at = &q->next;
            continue;
        }
        *at = q->next;
        for (int i = 0; i < MARKS; i++)
            if (q->marks[i].event)
                cuda.EventDestroy(q->marks[i].event);
        free(q);
    }
}

/* ---- blocks ---------------------------------------------------------------------------------- */
static block *take(pool *p, queue *q, int bin)
{
    block *b = q ? q->ready[bin] : NULL;
    if (b) {
        q->ready[bin] = b->next;
        return b;
    }
    b = p->waiting[bin];
    if (!b || !passed(p, b->ticket))
        return NULL;
    p->waiting[bin] = b->next;
    drop_freed(p);
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
    for (queue *q = p->queues; q; q = q->next) {
        q->count = 0;
        q->done = ticket;
        q->lost = false;
        for (int bin = 0; bin < CLASSES; bin++)
            give_back(&q->ready[bin]);
    }
    for (int bin = 0; bin < CLASSES; bin++)
        give_back(&p->waiting[bin]);
    drop_freed(p);
}

static tn_status alloc_locked(pool *p, cudaStream_t stream, size_t bytes, void **out)
{
    size_t rounded;
    int bin = class_of(bytes, &rounded);
    block *b = take(p, queue_of(p, stream), bin);
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

tn_status cuda_alloc_on(tn_device device, void *stream, size_t bytes, void **out)
{
    TN_TRY(cuda_enter(NULL, device));
    if (bytes > (size_t)1 << 47)
        return tn->fail(NULL, TN_ERR_MEMORY, "out of device memory: %zu bytes were asked for",
                        bytes);
    pthread_mutex_lock(&lock);
    tn_status status = alloc_locked(&pools[cuda_ordinal(device)], stream, bytes, out);
    pthread_mutex_unlock(&lock);
    return status;
}

/* Without memory for the note of it, the block goes back to CUDA, which waits. */
void cuda_free_on(tn_device device, void *stream, int32_t shared, void *data, size_t bytes)
{
    pool *p = &pools[cuda_ordinal(device)];
    size_t rounded;
    int bin = class_of(bytes, &rounded), was = cuda_switch(cuda_ordinal(device));
    block *b = malloc(sizeof *b);
    pthread_mutex_lock(&lock);
    queue *q = queue_of(p, stream);
    if (!b || !q) {
        cuda.Free(data);
        free(b);
    } else if (!shared) {
        *b = (block){q->ready[bin], data, 0};
        q->ready[bin] = b;
    } else {
        *b = (block){p->waiting[bin], data, mark_all(p)};
        p->waiting[bin] = b;
    }
    pthread_mutex_unlock(&lock);
    cuda_switch(was);
}

tn_status cuda_alloc(tn_device device, size_t bytes, void **out)
{
    return cuda_alloc_on(device, NULL, bytes, out);
}

void cuda_free(tn_device device, void *data, size_t bytes)
{
    cuda_free_on(device, NULL, true, data, bytes);
}

/* ---- streams --------------------------------------------------------------------------------- */
tn_status cuda_stream_new(tn_device device, void **out)
{
    cudaStream_t stream;
    TN_TRY(cuda_enter(NULL, device));
    TN_TRY(cuda_check(NULL, cuda.StreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                      "making a stream"));
    pthread_mutex_lock(&lock);
    bool ok = new_queue(&pools[cuda_ordinal(device)], stream) != NULL;
    pthread_mutex_unlock(&lock);
    if (!ok) {
        cuda.StreamDestroy(stream);
        return tn->fail(NULL, TN_ERR_MEMORY, "out of memory for a stream");
    }
    *out = stream;
    return TN_OK;
}

/* Its blocks may be in use by what it still has to do. CUDA keeps the stream until that is over. */
void cuda_stream_free(tn_device device, void *stream)
{
    pool *p = &pools[cuda_ordinal(device)];
    int was = cuda_switch(cuda_ordinal(device));
    pthread_mutex_lock(&lock);
    queue *q = queue_of(p, stream);
    uint64_t now = mark_all(p);
    for (int bin = 0; q && bin < CLASSES; bin++)
        for (block *b; (b = q->ready[bin]);) {
            q->ready[bin] = b->next;
            b->ticket = now;
            b->next = p->waiting[bin];
            p->waiting[bin] = b;
        }
    if (q)
        q->freed = true;
    cuda.StreamDestroy(stream);
    pthread_mutex_unlock(&lock);
    cuda_switch(was);
}

/* By an event of its own: those of the queues stand for tickets. */
tn_status cuda_stream_wait(tn_device device, void *stream, tn_device of, void *other)
{
    cudaEvent_t event;
    TN_TRY(cuda_enter(NULL, of));
    TN_TRY(cuda_check(NULL, cuda.EventCreateWithFlags(&event, cudaEventDisableTiming),
                      "making an event"));
    tn_status status = cuda_check(NULL, cuda.EventRecord(event, other), "recording an event");
    if (status == TN_OK)
        status = cuda_enter(NULL, device);
    if (status == TN_OK)
        status = cuda_check(NULL, cuda.StreamWaitEvent(stream, event, 0), "waiting for a stream");
    cuda.EventDestroy(event); /* which CUDA keeps until it has passed */
    return status;
}

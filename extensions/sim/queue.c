/* queue.c - a queue: a list of work and a thread that does it in order. The thread starts with the
 * first work, so that a program that only loads the plugin, or forks, has none.
 *
 * Queues are a fixed table: the devices' own, then those of streams. A place that was freed works off
 * what it has and is taken again when it is empty. `done` never goes back, so that whoever waits for a
 * point of a queue is right whoever has its place by then. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

typedef struct item {
    struct item *next;
    sim_work work;
    max_align_t args[]; /* a copy */
} item;

struct sim_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    item *first, **last; /* the first stays in the list while it is worked on */
    uint64_t submitted, done;
    bool started, stops, taken;
    int device; /* its index */
    sim_block *blocks;
};

enum { QUEUES = SIM_DEVICES + SIM_STREAMS };
static sim_queue queues[QUEUES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_queues(void)
{
    for (int i = 0; i < QUEUES; i++) {
        pthread_mutex_init(&queues[i].lock, NULL);
        pthread_cond_init(&queues[i].changed, NULL);
        queues[i].taken = i < SIM_DEVICES;
        queues[i].device = i < SIM_DEVICES ? i : -1;
    }
}

static int index_of(tn_device device)
{
    return device.index > 0 ? device.index : 0;
}

sim_queue *sim_queue_of(tn_device device, void *stream)
{
    pthread_once(&once, make_queues);
    return stream ? stream : &queues[index_of(device)];
}

sim_block **sim_blocks_of(sim_queue *q)
{
    return &q->blocks;
}

static bool take(sim_queue *q, int device)
{
    pthread_mutex_lock(&q->lock);
    bool unused = !q->taken && !q->first;
    if (unused) {
        q->taken = true;
        q->device = device;
    }
    pthread_mutex_unlock(&q->lock);
    return unused;
}

sim_queue *sim_queue_new(tn_device device)
{
    pthread_once(&once, make_queues);
    for (int i = SIM_DEVICES; i < QUEUES; i++)
        if (take(&queues[i], index_of(device)))
            return &queues[i];
    return NULL;
}

void sim_queue_free(sim_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->taken = false;
    pthread_mutex_unlock(&q->lock);
}

/* ---- work ------------------------------------------------------------------------------------ */
static void *work_off(void *arg)
{
    sim_queue *q = arg;
    pthread_mutex_lock(&q->lock);
    while (q->first || !q->stops) {
        item *it = q->first;
        if (!it) {
            pthread_cond_wait(&q->changed, &q->lock);
            continue;
        }
        pthread_mutex_unlock(&q->lock);
        it->work(it->args);
        pthread_mutex_lock(&q->lock);
        q->first = it->next;
        if (!q->first)
            q->last = &q->first;
        q->done++;
        free(it);
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

/* Under the queue's lock. */
static bool append(sim_queue *q, item *it)
{
    if (!q->started) {
        q->last = &q->first;
        q->started = pthread_create(&q->thread, NULL, work_off, q) == 0;
    }
    if (!q->started)
        return false;
    *q->last = it;
    q->last = &it->next;
    q->submitted++;
    pthread_cond_broadcast(&q->changed);
    return true;
}

tn_status sim_submit(tn_call *call, sim_queue *q, sim_work work, const void *args, size_t bytes)
{
    item *it = malloc(sizeof *it + bytes);
    if (!it)
        return tn->fail(call, TN_ERR_MEMORY, "no memory for work of sim:%d", q->device);
    it->next = NULL;
    it->work = work;
    memcpy(it->args, args, bytes);
    pthread_mutex_lock(&q->lock);
    bool accepted = append(q, it);
    pthread_mutex_unlock(&q->lock);
    if (accepted)
        return TN_OK;
    free(it);
    return tn->fail(call, TN_ERR_DEVICE, "sim:%d cannot start its thread", q->device);
}

/* ---- waiting --------------------------------------------------------------------------------- */
typedef struct point {
    sim_queue *of;
    uint64_t at;
} point;

static point end_of(sim_queue *q)
{
    pthread_mutex_lock(&q->lock);
    point end = {q, q->submitted};
    pthread_mutex_unlock(&q->lock);
    return end;
}

static void wait_for(void *args)
{
    const point *p = args;
    pthread_mutex_lock(&p->of->lock);
    while (p->of->done < p->at)
        pthread_cond_wait(&p->of->changed, &p->of->lock);
    pthread_mutex_unlock(&p->of->lock);
}

void sim_wait(sim_queue *q)
{
    point end = end_of(q);
    wait_for(&end);
}

/* A point of the past: queues that wait for each other come to an end. */
tn_status sim_order(sim_queue *q, sim_queue *other)
{
    const point end = end_of(other);
    return q == other ? TN_OK : sim_submit(NULL, q, wait_for, &end, sizeof end);
}

static bool is_busy_for(sim_queue *q, int device)
{
    pthread_mutex_lock(&q->lock);
    bool busy = q->first && q->device == device;
    pthread_mutex_unlock(&q->lock);
    return busy;
}

bool sim_is_busy(sim_queue *q)
{
    return is_busy_for(q, q->device);
}

/* ---- all queues of a device ------------------------------------------------------------------ */
void sim_wait_device(tn_device device)
{
    pthread_once(&once, make_queues);
    for (int i = 0; i < QUEUES; i++)
        if (is_busy_for(&queues[i], index_of(device)))
            sim_wait(&queues[i]);
}

typedef struct countdown {
    atomic_int left;
    void (*done)(void *arg);
    void *arg;
} countdown;

static void count_down(void *args)
{
    countdown *c = *(countdown **)args;
    if (atomic_fetch_sub(&c->left, 1) != 1)
        return;
    c->done(c->arg);
    free(c);
}

void sim_when_over(tn_device device, void (*done)(void *arg), void *arg)
{
    countdown *c = malloc(sizeof *c);
    if (!c) {
        sim_wait_device(device);
        done(arg);
        return;
    }
    atomic_init(&c->left, 1);
    c->done = done;
    c->arg = arg;
    for (int i = 0; i < QUEUES; i++) {
        sim_queue *q = &queues[i];
        if (!is_busy_for(q, index_of(device)))
            continue;
        atomic_fetch_add(&c->left, 1);
        if (sim_submit(NULL, q, count_down, &c, sizeof c) != TN_OK) {
            sim_wait(q);
            atomic_fetch_sub(&c->left, 1);
        }
    }
    count_down(&c);
}

void sim_stop(void)
{
    pthread_once(&once, make_queues);
    for (int i = 0; i < QUEUES; i++) {
        sim_queue *q = &queues[i];
        pthread_mutex_lock(&q->lock);
        bool started = q->started;
        q->stops = true;
        pthread_cond_broadcast(&q->changed);
        pthread_mutex_unlock(&q->lock);
        if (started)
            pthread_join(q->thread, NULL);
        q->started = q->stops = false;
        sim_blocks_drop(q);
    }
}

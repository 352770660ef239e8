/* queue.c - a device's stream: a list of work and a thread that does it in order. The thread starts
 * with the first work, so that a program that only loads the plugin, or forks, has none. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

typedef struct item {
    struct item *next;
    sim_work work;
    max_align_t args[]; /* a copy */
} item;

typedef struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    item *first, **last; /* the first stays in the list while it is worked on */
    bool started, stops;
} queue;

static queue queues[SIM_DEVICES] = {
    {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER},
    {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER},
};

static queue *queue_of(tn_device device)
{
    return &queues[device.index > 0 ? device.index : 0];
}

static void *work_off(void *arg)
{
    queue *q = arg;
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
        free(it);
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

tn_status sim_submit(tn_call *call, tn_device device, sim_work work, const void *args, size_t bytes)
{
    queue *q = queue_of(device);
    item *it = malloc(sizeof *it + bytes);
    if (!it)
        return tn->fail(call, TN_ERR_MEMORY, "no memory for work of sim:%d", device.index);
    it->next = NULL;
    it->work = work;
    memcpy(it->args, args, bytes);
    pthread_mutex_lock(&q->lock);
    if (!q->started) {
        q->last = &q->first;
        q->started = pthread_create(&q->thread, NULL, work_off, q) == 0;
    }
    bool accepted = q->started;
    if (accepted) {
        *q->last = it;
        q->last = &it->next;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    if (accepted)
        return TN_OK;
    free(it);
    return tn->fail(call, TN_ERR_DEVICE, "sim:%d cannot start its thread", device.index);
}

void sim_wait(tn_device device)
{
    queue *q = queue_of(device);
    pthread_mutex_lock(&q->lock);
    while (q->first)
        pthread_cond_wait(&q->changed, &q->lock);
    pthread_mutex_unlock(&q->lock);
}

void sim_stop(void)
{
    for (int i = 0; i < SIM_DEVICES; i++) {
        queue *q = &queues[i];
        pthread_mutex_lock(&q->lock);
        bool started = q->started;
        q->stops = true;
        pthread_cond_broadcast(&q->changed);
        pthread_mutex_unlock(&q->lock);
        if (started)
            pthread_join(q->thread, NULL);
        q->started = q->stops = false;
    }
}

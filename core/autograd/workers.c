/* workers.c - a pass over several devices: the nodes of a device run on a thread of that device's,
 * which starts when its first node is ready; the calling thread serves the host and waits.
 *
 * One mutex guards the pass: queues, counts and buffers. It is free while a node runs, so what is
 * waited for is nodes of other devices alone. A tensor that two devices give gradients to has them
 * summed in the order of arrival; the sum of two is the same either way. */
#include "core/autograd/pass.h"

typedef struct lane { /* a device's nodes */
    tn_device device;
    struct lane *next;
    tn__walk *walk;
    tn__queue queue;
    pthread_cond_t more;
    tn__bench bench;
    tn__helper helper; /* not of the host's lane */
} lane;

struct tn__workers {
    pthread_mutex_t mutex;
    lane host;
    lane *lanes;       /* of the others */
    size_t unfinished; /* steps that are queued or running */
    bool over;
};

static void finish_all(struct tn__workers *workers)
{
    workers->over = true;
    pthread_cond_broadcast(&workers->host.more);
    for (lane *l = workers->lanes; l; l = l->next)
        pthread_cond_broadcast(&l->more);
}

/* The next step, waited for; NULL when the pass is over. Under the mutex. */
static tn__step *next_step(struct tn__workers *workers, lane *l)
{
    while (!workers->over) {
        tn__step *s = tn__queue_pop(&l->queue);
        if (s)
            return s;
        pthread_cond_wait(&l->more, &workers->mutex);
    }
    return NULL;
}

/* Returns the failure that ended the pass, in the lane where it was. */
static tn_status serve(void *arg)
{
    lane *l = arg;
    struct tn__workers *workers = l->walk->workers;
    tn_status status = TN_OK;
    pthread_mutex_lock(&workers->mutex);
    for (tn__step *s; (s = next_step(workers, l)) != NULL;) {
        pthread_mutex_unlock(&workers->mutex);
        tn_status ran = tn__step_run(l->walk, s, &l->bench);
        pthread_mutex_lock(&workers->mutex);
        if (ran == TN_OK)
            ran = tn__step_deliver(l->walk, s, &l->bench);
        if (ran != TN_OK && !workers->over)
            status = ran;
        if (--workers->unfinished == 0 || ran != TN_OK)
            finish_all(workers);
    }
    pthread_mutex_unlock(&workers->mutex);
    return status;
}

static tn_status set_up(lane *l, tn__walk *w, tn_device device)
{
    l->device = device;
    l->walk = w;
    l->next = NULL;
    tn__queue_begin(&l->queue);
    TN__TRY(tn__bench_set_up(w, &l->bench));
    return pthread_cond_init(&l->more, NULL) == 0
               ? TN_OK
               : tn__fail(NULL, TN_ERR_MEMORY, "out of memory for a condition variable");
}

static tn_status start_lane(tn__walk *w, tn_device device, lane **out)
{
    lane *l = tn__walk_alloc(w, sizeof *l);
    if (!l)
        return TN_ERR_MEMORY;
    TN__TRY(set_up(l, w, device));
    tn_status status = tn__helper_start(&l->helper, serve, l);
    if (status != TN_OK) {
        pthread_cond_destroy(&l->more);
        return status;
    }
    l->next = w->workers->lanes;
    w->workers->lanes = l;
    *out = l;
    return TN_OK;
}

static tn_status lane_of(tn__walk *w, tn_device device, lane **out)
{
    *out = &w->workers->host;
    if (device.type == TN_CPU || device.type == TN_META)
        return TN_OK;
    for (lane *l = w->workers->lanes; l; l = l->next)
        if (tn__same_device_as(l->device, device)) {
            *out = l;
            return TN_OK;
        }
    return start_lane(w, device, out);
}

tn_status tn__workers_push(tn__walk *w, tn__step *s)
{
    lane *l;
    TN__TRY(lane_of(w, s->node->outlooks[0].device, &l));
    TN__TRY(tn__queue_push(&l->queue, s));
    w->workers->unfinished++;
    pthread_cond_signal(&l->more);
    return TN_OK;
}

static tn_status push_roots(tn__walk *w, tn__step *const *roots, size_t n_roots)
{
    for (size_t i = 0; i < n_roots; i++) {
        if (roots[i]->queued || roots[i]->dependencies)
            continue;
        roots[i]->queued = true;
        TN__TRY(tn__workers_push(w, roots[i]));
    }
    return TN_OK;
}

static tn_status join_all(struct tn__workers *workers)
{
    tn_status status = TN_OK;
    for (lane *l = workers->lanes; l; l = l->next) {
        tn_status one = tn__helper_join(&l->helper);
        if (one != TN_OK)
            status = one;
        tn__queue_end(&l->queue);
        pthread_cond_destroy(&l->more);
    }
    return status;
}

tn_status tn__workers_run(tn__walk *w, tn__step *const *roots, size_t n_roots)
{
    struct tn__workers workers = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    TN__TRY(set_up(&workers.host, w, (tn_device){TN_CPU, 0}));
    w->workers = &workers;
    pthread_mutex_lock(&workers.mutex);
    tn_status status = push_roots(w, roots, n_roots);
    if (status != TN_OK || workers.unfinished == 0)
        finish_all(&workers);
    pthread_mutex_unlock(&workers.mutex);
    tn_status served = serve(&workers.host);
    tn_status joined = join_all(&workers);
    w->workers = NULL;
    tn__queue_end(&workers.host.queue);
    pthread_cond_destroy(&workers.host.more);
    return status != TN_OK ? status : served != TN_OK ? served : joined;
}

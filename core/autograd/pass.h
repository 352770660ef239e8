/* pass.h - one walk over a graph, as the engine's files share it.
 *
 * steps.c finds the nodes of the walk and counts who will give gradients to each; queue.c says which
 * one is next; buffers.c adds up what a node is given; engine.c runs them; workers.c does the same
 * with a thread per device; nested.c is about passes inside of passes. All memory of a pass is its own, so any number of passes may walk a
 * graph at a time. */
#ifndef TN_CORE_AUTOGRAD_PASS_H
#define TN_CORE_AUTOGRAD_PASS_H

#include "core/autograd/autograd_impl.h"
#include "core/base/streams.h"

/* A node's part in a pass. */
typedef struct tn__step tn__step;
struct tn__step {
    tn__node *node;
    uint32_t dependencies; /* nodes that have yet to run before it */
    uint32_t index;        /* order of discovery: decides between equal sequences */
    uint32_t at;           /* while it is discovered: the next edge */
    int32_t capture;       /* first of its captures in the pass; -1: none */
    bool visited;
    bool needed; /* its gradients are asked for */
    bool runs;   /* and so are those of its inputs */
    bool queued;
    tn__step *parent;   /* while it is discovered; then the next in a queue */
    tn__step *older;    /* all steps of the pass */
    tn__step **next;    /* [n_edges]; NULL: no gradient is asked for there */
    tn_tensor *grads[]; /* [n_outputs]; then the array next */
};

typedef struct tn__capture { /* an input of tn_grad_of */
    tn__step *step;
    uint32_t nr;
    int32_t next; /* of the same step; -1: the last */
    tn_tensor *grad;
} tn__capture;

typedef struct tn__ready {
    uint64_t sequence;
    tn__step *step;
} tn__ready;

enum { TN__QUEUE_INLINE = 8 };
typedef struct tn__queue { /* greatest sequence first */
    tn__ready top;         /* step NULL: empty */
    tn__ready *heap;       /* the others */
    size_t n, capacity;
    tn__ready first[TN__QUEUE_INLINE];
} tn__queue;

enum { TN__TABLE_INLINE = 32, TN__ARENA_INLINE = 2048, TN__EDGES_INLINE = 8 };
typedef struct tn__walk {
    tn__pass options; /* first: what nodes see */
    bool error_kept;  /* an older error stays the thread's */
    bool anomaly;
    /* steps by node: open addressing, at most half full */
    tn__step **table;
    size_t table_mask, n_steps;
    int table_shift;
    tn__step *newest; /* the list of all */
    uint32_t n_found, most_edges;
    uint64_t devices; /* other than the host that nodes work on: bit = type */
    struct tn__arena_block *blocks;
    char *room, *room_end;
    tn__capture *captures;
    int32_t n_captures;          /* -1: none are asked for, leaves are added to */
    tn__queue queue;             /* of the calling thread */
    struct tn__workers *workers; /* NULL: one thread does all */
    tn__step *first_table[TN__TABLE_INLINE];
    char first_room[TN__ARENA_INLINE] __attribute__((aligned(16)));
} tn__walk;

/* ---- steps.c --------------------------------------------------------------------------------- */
void tn__walk_begin(tn__walk *w, const tn_backward_options *options);
void tn__walk_drop_gradients(tn__walk *w); /* after a failure, while the nodes are alive */
void tn__walk_end(tn__walk *w);
void *tn__walk_alloc(tn__walk *w, size_t bytes); /* until the end; NULL, recorded */
/* Finds or adds. */
tn_status tn__walk_step(tn__walk *w, tn__node *n, tn__step **out);
/* Visits all that is below a root; captures are known by then. */
tn_status tn__walk_discover(tn__walk *w, tn__step *root);

/* ---- queue.c --------------------------------------------------------------------------------- */
void tn__queue_begin(tn__queue *q);
void tn__queue_end(tn__queue *q);
tn_status tn__queue_push_more(tn__queue *q, tn__ready r);
void tn__queue_refill(tn__queue *q);

static inline bool tn__ready_before(tn__ready a, tn__ready b)
{
    return a.sequence > b.sequence || (a.sequence == b.sequence && a.step->index < b.step->index);
}

static inline tn_status tn__queue_push(tn__queue *q, tn__step *s)
{
    tn__ready r = {s->node->sequence, s};
    if (TN__LIKELY(!q->top.step)) {
        q->top = r;
        return TN_OK;
    }
    return tn__queue_push_more(q, r);
}

static inline tn__step *tn__queue_pop(tn__queue *q)
{
    tn__step *s = q->top.step;
    q->top.step = NULL;
    if (TN__UNLIKELY(q->n > 0))
        tn__queue_refill(q);
    return s;
}

/* ---- buffers.c ------------------------------------------------------------------------------- */
/* Adds to a buffer that holds a gradient already. */
tn_status tn__buffer_sum(tn__walk *w, tn__step *s, uint32_t nr, tn_tensor *grad);
/* Makes *grad, which `giver` gave (NULL: the caller of backward), one of s's output nr in shape,
 * dtype and device. */
tn_status tn__bring_home_slow(const tn__node *giver, const tn__node *n, uint32_t nr,
                              tn_tensor **grad);
/* Nobody else can see the gradient or its memory, and every element has a place of its own. */
bool tn__grad_is_ours(const tn_tensor *grad);

static inline bool tn__outlook_matches(const tn__outlook *o, const tn_tensor *t)
{
    if (o->ndim != t->ndim || o->dtype != t->dtype || o->device.type != t->device.type ||
        o->device.index != t->device.index)
        return false;
    const int64_t *sizes = tn__outlook_sizes(o);
    for (int d = 0; d < t->ndim; d++)
        if (sizes[d] != t->sizes[d])
            return false;
    return true;
}

static inline tn_status tn__bring_home(const tn__node *giver, const tn__node *n, uint32_t nr,
                                       tn_tensor **grad)
{
    return TN__LIKELY(tn__outlook_matches(&n->outlooks[nr], *grad))
               ? TN_OK
               : tn__bring_home_slow(giver, n, nr, grad);
}

/* Adds a gradient, a reference of the caller's that is taken over, to the buffer of output nr of
 * s; it has been brought home. */
static inline tn_status tn__buffer_add(tn__walk *w, tn__step *s, uint32_t nr, tn_tensor *grad)
{
    if (TN__UNLIKELY(s->grads[nr] != NULL))
        return tn__buffer_sum(w, s, nr, grad);
    s->grads[nr] = grad;
    return TN_OK;
}

/* ---- engine.c -------------------------------------------------------------------------------- */
typedef struct tn__bench { /* what a thread runs nodes with; [most_edges] each */
    tn_tensor **out;       /* all NULL between steps: who takes one out leaves NULL */
    bool *wants;
    tn_tensor *first_out[TN__EDGES_INLINE];
    bool first_wants[TN__EDGES_INLINE];
} tn__bench;
tn_status tn__bench_set_up(tn__walk *w, tn__bench *b);
/* Hooks, captures, and the node itself: from the step's gradients, which are complete and go, to
 * b->out. */
tn_status tn__step_run(tn__walk *w, tn__step *s, tn__bench *b);
/* Hands b->out to the steps below. */
tn_status tn__step_deliver(tn__walk *w, tn__step *s, tn__bench *b);
/* Runs all that the roots, whose gradients are in their buffers, lead to. */
tn_status tn__walk_run(tn__walk *w, tn__step *const *roots, size_t n_roots);

/* ---- workers.c ------------------------------------------------------------------------------- */
/* The same with a thread for each device; the pass's state is one thread's at a time. */
tn_status tn__workers_run(tn__walk *w, tn__step *const *roots, size_t n_roots);
tn_status tn__workers_push(tn__walk *w, tn__step *s);

/* ---- nested.c -------------------------------------------------------------------------------- */
typedef struct tn__running { /* a node that is being run, and those that wait for it to end */
    const tn__node *node;
    const struct tn__running *outer;
} tn__running;
extern _Thread_local const tn__running *tn__running_tls __attribute__((tls_model("initial-exec")));
/* body(arg) on this thread, or on a fresh one when passes are nested too deeply for this one's
 * stack. */
tn_status tn__nested(tn_status (*body)(void *arg), void *arg);
/* A thread that works for another one: takes over its mode, runs body, keeps the error in *error. */
typedef struct tn__helper {
    tn_status (*body)(void *arg);
    void *arg;
    tn__tensor_mode mode;
    tn__key_guard keys;
    const tn__running *running;
    uint64_t forward; /* its level of forward mode */
    tn_stream_scope *streams;
    tn_status status;
    tn__error_record error;
    pthread_t thread;
} tn__helper;
tn_status tn__helper_start(tn__helper *h, tn_status (*body)(void *arg), void *arg);
tn_status tn__helper_join(tn__helper *h); /* its status, and its error record */

#endif

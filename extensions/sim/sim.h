/* sim.h - what the sources of this plugin share: device addresses and queues. */
#ifndef SIM_H
#define SIM_H

#include <tenon/frames.h> /* frames of Tenon's own operators */
#include <tenon/plugin.h>

enum { SIM_DEVICES = 2, SIM_STREAMS = 16 /* of all devices */ };

extern const tn_device_decl sim_device; /* memory.c */
extern const tn_kernel_decl sim_kernels[];
extern const size_t sim_kernel_count; /* kernels.c */
extern int16_t sim_type;              /* the number that the core gave the device type */

/* The device's work sees memory at sim_memory(address); on the host an address with this bit is
 * nobody's, so that a host that reads through it crashes. Other addresses are the host's own. */
#define SIM_BIT ((uintptr_t)1 << 62)
static inline void *sim_memory(const void *address)
{
    return (void *)((uintptr_t)address & ~SIM_BIT);
}
static inline bool sim_is_here(const tn_tensor *t)
{
    return t->device.type == sim_type;
}

/* ---- queues (queue.c) ------------------------------------------------------------------------ */
/* Each device has one of its own; a stream is one more. */
typedef struct sim_queue sim_queue;
sim_queue *sim_queue_of(tn_device device, void *stream); /* NULL: the device's own */
sim_queue *sim_queue_new(tn_device device);              /* NULL: all are in use */
void sim_queue_free(sim_queue *q);                       /* its work goes on */

/* Work is a function and a copy of its arguments. It begins when all that was submitted to the same
 * queue before has ended. */
typedef void (*sim_work)(void *args);
tn_status sim_submit(tn_call *call, sim_queue *q, sim_work work, const void *args, size_t bytes);
/* What is submitted to q from now on begins when all that is in `other` now has ended. */
tn_status sim_order(sim_queue *q, sim_queue *other);
bool sim_is_busy(sim_queue *q);
void sim_wait(sim_queue *q);
void sim_wait_device(tn_device device); /* for all its queues */
/* Calls done(arg) once all that is in the device's queues now has ended, now or on a queue's thread. */
void sim_when_over(tn_device device, void (*done)(void *arg), void *arg);
void sim_stop(void); /* finishes all work and ends the threads */

/* Blocks that a queue may be given again at once (memory.c). */
typedef struct sim_block {
    struct sim_block *next;
    size_t bytes;
} sim_block;
sim_block **sim_blocks_of(sim_queue *q);
void sim_blocks_drop(sim_queue *q);

/* ---- fallback.c: a kernel for any operator, on the cpu --------------------------------------- */
tn_status sim_fallback(tn_call *call, void *frame);
tn_status sim_fallback_import(tn_registry *r);

#endif

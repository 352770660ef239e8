/* sim.h - what the sources of this plugin share: device addresses and the queue. */
#ifndef SIM_H
#define SIM_H

#include <tenon/frames.h> /* frames of Tenon's own operators */
#include <tenon/plugin.h>

enum { SIM_DEVICES = 2 };

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

/* Work is a function and a copy of its arguments. It begins when all that was submitted to the same
 * device before has ended. */
typedef void (*sim_work)(void *args);
tn_status sim_submit(tn_call *call, tn_device device, sim_work work, const void *args,
                     size_t bytes);
void sim_wait(tn_device device);
void sim_stop(void); /* finishes all work and ends the threads */

/* A kernel for any operator, on the cpu (fallback.c). */
tn_status sim_fallback(tn_call *call, void *frame);
tn_status sim_fallback_import(tn_registry *r);

#endif

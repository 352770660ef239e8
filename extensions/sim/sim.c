/* sim.c - the plugin: a device type, its kernels, and, where the user wants it, the fallback to the
 * cpu. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

int16_t sim_type;

/* "*" stands for every operator that has no kernel of its own under the key. */
static const tn_kernel_decl fallback = {.schema = "*", .key = "SIM", .fn = sim_fallback};

static tn_status start(tn_registry *r)
{
    const char *allowed = getenv("TENON_SIM_FALLBACK");
    TN_TRY(tn->register_device(r, &sim_device, &sim_type));
    TN_TRY(tn->register_kernels(r, sim_kernels, sim_kernel_count));
    if (!allowed || strcmp(allowed, "1") != 0)
        return TN_OK;
    TN_TRY(sim_fallback_import(r));
    return tn->register_kernels(r, &fallback, 1);
}

TN_PLUGIN("sim", "1.0.0", start, sim_stop);

/* kernel.c - a plugin that brings a kernel alone: for plgtest::scale, under KEY and with RANK,
 * times FACTOR. FLUSHES: it changes the floating-point mode; WAITS: it returns only when the
 * environment variable TENON_TEST_GO is there. */
#include <fenv.h>
#include <stdlib.h>
#include <unistd.h>

#include "scale.h"

#ifndef KEY
#define KEY "CPU"
#endif
#ifndef RANK
#define RANK 0
#endif

static tn_status kernel(tn_call *call, struct tn_scale_args *a)
{
#ifdef FLUSHES
    fesetround(FE_TOWARDZERO);
#endif
#ifdef WAITS
    while (!getenv("TENON_TEST_GO"))
        usleep(1000);
#endif
    return scale(call, a);
}

static const tn_kernel_decl kernels[] = {{TN_SCHEMA_scale, KEY, TN_KERNEL_FN(scale, kernel), NULL,
                                          sizeof(struct tn_scale_args), RANK, 0, 0, NULL, 0, 0}};

static tn_status start(tn_registry *r)
{
    (void)scale_ops, (void)scale_kernels;
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

TN_PLUGIN(NAME, "1.0.0", start, NULL);

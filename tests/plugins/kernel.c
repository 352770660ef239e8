/* kernel.c - a plugin that brings a kernel alone: for plgtest::scale, under KEY and with RANK,
 * times FACTOR. */
#include "scale.h"

#ifndef KEY
#define KEY "CPU"
#endif
#ifndef RANK
#define RANK 0
#endif

static const tn_kernel_decl kernels[] = {{TN_SCHEMA_scale, KEY, TN_KERNEL_FN(scale, scale), NULL,
                                          sizeof(struct tn_scale_args), RANK, 0, 0, NULL}};

static tn_status start(tn_registry *r)
{
    (void)scale_ops, (void)scale_kernels;
    return tn->register_kernels(r, kernels, TN_COUNT(kernels));
}

TN_PLUGIN(NAME, "1.0.0", start, NULL);

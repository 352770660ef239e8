/* reduce_run.h - runs a reduction: what reduce.c asks for, walked by the plan, by kernels. */
#ifndef CPU_REDUCE_RUN_H
#define CPU_REDUCE_RUN_H

#include "reduce_kernels.h"

typedef struct reduce_request {
    reduce_op op;
    bool mean;     /* divide the sum by how many there are */
    tn_dtype cast; /* elements become this first */
    const tn_tensor *self;
    tn_ints dims;             /* what goes; empty: everything */
    tn_tensor *value, *index; /* where the answer goes; NULL where nobody asked */
} reduce_request;

tn_status reduce_run(tn_call *call, const reduce_request *request);

#endif

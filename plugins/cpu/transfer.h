/* transfer.h - elements moved between places of a tensor and another tensor that has the shape of
 * what the indices name: the one road of index, index_put and their kin. */
#ifndef CPU_TRANSFER_H
#define CPU_TRANSFER_H

#include "moves.h"
#include "places.h"

typedef enum cpu_transfer_kind {
    CPU_READ,  /* other = indexed[places] */
    CPU_WRITE, /* indexed[places] = other; of equal places the last one counts */
    CPU_ADD,   /* indexed[places] += other, in order; not of halves */
} cpu_transfer_kind;

/* `indexed` has the dimensions that x was made for; `other` has x's shape or broadcasts to it, and
 * both have one dtype. Nothing here can fail but memory. The result does not depend on the number of
 * threads: equal places are met by one thread, in order. */
tn_status cpu_transfer(tn_call *call, cpu_transfer_kind kind, const cpu_places *p,
                       const tn_indexing *x, const tn_tensor *indexed, const tn_tensor *other);

/* The same for places in the whole of `indexed`: `other` has as many elements, row-major. */
tn_status cpu_transfer_whole(tn_call *call, cpu_transfer_kind kind, const cpu_places *p,
                             const tn_tensor *indexed, const tn_tensor *other);

#endif

/* faults.h - the record of a bad index, shared by kernels and the host.
 *
 * A kernel that meets an index out of range writes zero in place of the element and notes the
 * first such index here. The host reads the record where it waits for the device anyway
 * (device.c), so no call waits only for the check. */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdint.h>

enum {
    CUDA_FAULT_NONE = 0,
    CUDA_FAULT_INDEX_SELECT,
    CUDA_FAULT_GATHER,
    CUDA_FAULT_EMBEDDING,
    CUDA_FAULT_DIVISION
};

typedef struct cuda_fault {
    int32_t kind; /* taken by the first with an atomic exchange */
    int32_t reserved;
    int64_t index, size;
} cuda_fault;

#endif

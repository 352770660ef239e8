/* cpu.h - what the files of the cpu plugin share: the tables of kernels, one per family of operators. */
#ifndef CPU_H
#define CPU_H

#include <tenon/frames.h>
#include <tenon/plugin.h>

typedef struct cpu_kernels {
    const tn_kernel_decl *list;
    size_t count;
} cpu_kernels;

/* A family is one file; its table has the file's name. */
extern const tn_kernel_decl cpu_pointwise[]; /* generated */
extern const size_t cpu_pointwise_count;
extern const cpu_kernels cpu_copy; /* copy.c: copy_, fill_, zero_ */

#endif

/* meta.h - what the files of the meta plugin share. */
#ifndef META_H
#define META_H

#include <tenon/border.h>

/* structured.c, generated: a kernel for every structured operator. */
extern const tn_kernel_decl meta_structured[];
extern const size_t meta_structured_count;

typedef struct meta_kernels {
    const tn_kernel_decl *list;
    size_t count;
} meta_kernels;
extern const meta_kernels meta_index_list; /* index_list.c: index, nonzero, masked_select */
extern const meta_kernels meta_unique;     /* unique.c */

#endif

/* meta.h - what the files of the meta plugin share. */
#ifndef META_H
#define META_H

#include <tenon/border.h>

/* structured.c, generated: a kernel for every structured operator. */
extern const tn_kernel_decl meta_structured[];
extern const size_t meta_structured_count;

#endif

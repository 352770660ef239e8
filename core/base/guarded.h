/* guarded.h - blocks with sentinels on both sides, for tests (TENON_GUARD=1 in the environment).
 *
 * While guarded, nothing is cached, so every block passes memory.c's slow road: the fast one pays
 * nothing for this. */
#ifndef TN_CORE_GUARDED_H
#define TN_CORE_GUARDED_H

#include "core/base/base.h"

enum { TN__GUARD_BYTES = 64 }; /* on each side: what keeps the alignment */

bool tn__guarded(void);
/* memory: bytes + 2 * TN__GUARD_BYTES. Returns the block inside. */
void *tn__guard_put(void *memory, size_t bytes);
/* The memory of a block; what was written outside of it is counted. */
void *tn__guard_check(void *block);

#endif

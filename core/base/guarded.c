/* guarded.c - sentinels around blocks of tensor memory: what stands in front holds the block's
 * size, and both sides a pattern that is looked at when the block goes. Every byte inside begins
 * as a pattern, too, so that what nobody wrote is the same in no two places. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/guarded.h"

static atomic_llong damage;

bool tn__guarded(void)
{
    static atomic_int state; /* 0: not yet known, 1: no, 2: yes */
    int known = atomic_load_explicit(&state, memory_order_relaxed);
    if (!known) {
        const char *asked = getenv("TENON_GUARD");
        known = asked && strcmp(asked, "1") == 0 ? 2 : 1;
        atomic_store_explicit(&state, known, memory_order_relaxed);
    }
    return known == 2;
}

static unsigned char sentinel(size_t i)
{
    return (unsigned char)(0xc3 ^ (i * 31 & 0x3c));
}

void *tn__guard_put(void *memory, size_t bytes)
{
    unsigned char *at = memory;
    for (size_t i = 0; i < bytes + 2 * TN__GUARD_BYTES; i++)
        at[i] = sentinel(i);
    memcpy(at, &bytes, sizeof bytes);
    return at + TN__GUARD_BYTES;
}

void *tn__guard_check(void *block)
{
    unsigned char *at = (unsigned char *)block - TN__GUARD_BYTES;
    size_t bytes;
    long long wrong = 0;
    memcpy(&bytes, at, sizeof bytes);
    for (size_t i = sizeof bytes; i < TN__GUARD_BYTES; i++)
        wrong += at[i] != sentinel(i);
    for (size_t i = TN__GUARD_BYTES + bytes; wrong == 0 && i < bytes + 2 * TN__GUARD_BYTES; i++)
        wrong += at[i] != sentinel(i);
    if (wrong)
        atomic_fetch_add(&damage, wrong);
    return at;
}

int64_t tn__guard_damage(void)
{
    return atomic_load(&damage);
}

/* Sentinels around blocks: TENON_GUARD=1, asked for before the process's first block. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "core/base/block_cache.h"

static void guard(void)
{
    setenv("TENON_GUARD", "1", 1);
}

TestSuite(guarded, .init = guard);

static int64_t damage_of(void *(*alloc)(size_t), void (*release)(void *, size_t), size_t bytes,
                         int64_t at)
{
    int64_t before = tn__guard_damage();
    unsigned char *p = alloc(bytes);
    cr_assert(p);
    cr_expect_eq((uintptr_t)p % 64, 0);
    p[at] ^= 0xff;
    release(p, bytes);
    return tn__guard_damage() - before;
}

Test(guarded, a_byte_on_either_side_is_seen)
{
    static const size_t sizes[] = {1, 100, 128, 4096, 20000, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t n = (int64_t)sizes[i];
        cr_expect_eq(damage_of(tn__block_alloc, tn__block_free, sizes[i], 0), 0);
        cr_expect_eq(damage_of(tn__block_alloc, tn__block_free, sizes[i], n - 1), 0);
        cr_expect_eq(damage_of(tn__block_alloc, tn__block_free, sizes[i], n), 1);
        cr_expect_eq(damage_of(tn__block_alloc, tn__block_free, sizes[i], n + 63), 1);
        cr_expect_eq(damage_of(tn__block_alloc, tn__block_free, sizes[i], -1), 1);
    }
    cr_expect_eq(damage_of(tn__small_alloc, tn__small_free, 300, 300), 1);
}

Test(guarded, nothing_is_kept)
{
    tn__memory_stats s;
    void *p = tn__block_alloc(1000);
    tn__block_free(p, 1000);
    tn__memory_get(&s);
    cr_expect_eq(s.cached_bytes, 0);
    cr_expect_eq(s.live_blocks, 0);
}

Test(guarded, off_by_default, .init = NULL)
{
    unsetenv("TENON_GUARD");
    cr_expect_eq(damage_of(tn__block_alloc, tn__block_free, 100, 100), 0);
}

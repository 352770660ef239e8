/* The table that plugins are handed: complete, and scratch memory that ends with its call. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "core/plugin/plugin.h"

TestSuite(api);

Test(api, every_member_has_a_function)
{
    cr_assert_eq(tn__api.size, sizeof(tn_api));
    cr_assert_eq(tn__api.abi, TN_BORDER_REVISION);
    for (size_t at = 8; at < sizeof(tn_api); at += sizeof(void *)) {
        void *p;
        memcpy(&p, (const char *)&tn__api + at, sizeof p);
        cr_assert_not_null(p, "the member at %zu is missing in core/plugin/api.c", at);
    }
}

Test(api, scratch_is_aligned_and_freed)
{
    tn__memory_stats before, during, after;
    tn_call call = {.size = sizeof call};
    tn__memory_get(&before);
    for (size_t bytes = 0; bytes < 5000; bytes = bytes * 3 + 1) {
        unsigned char *p = tn__api.scratch(&call, bytes);
        cr_assert_not_null(p);
        cr_assert_eq((uintptr_t)p % 64, 0);
        memset(p, 0xab, bytes);
    }
    tn__memory_get(&during);
    cr_assert_gt(during.live_blocks, before.live_blocks);
    tn__scratch_free(&call);
    cr_assert_null(call.scratch);
    tn__memory_get(&after);
    cr_assert_eq(after.live_blocks, before.live_blocks);
}

Test(api, scratch_that_cannot_be_had)
{
    tn_call call = {.size = sizeof call};
    cr_assert_null(tn__api.scratch(&call, SIZE_MAX));
    cr_assert_eq(tn_error_last()->status, TN_ERR_MEMORY);
    cr_assert_null(tn__api.scratch(&call, SIZE_MAX / 2));
    cr_assert_eq(tn_error_last()->status, TN_ERR_MEMORY);
    cr_assert_null(tn__api.scratch(NULL, 1));
    cr_assert_eq(tn_error_last()->status, TN_ERR_ARGUMENT);
    cr_assert_null(call.scratch);
}

Test(api, answers_for_what_does_not_exist)
{
    cr_assert_null(tn__api.extension("tenon.nothing", 1));
    cr_assert_eq(tn__api.dtype_size(TN_F64), 8);
    cr_assert_eq(tn__api.dtype_size(TN_DTYPE_NONE), 0);
    cr_assert_eq(tn__api.dtype_size(99), 0);
    char x[8];
    cr_assert_eq(tn__api.convert(NULL, x, 99, 1, x, TN_F32, 1, 1), TN_ERR_DTYPE);
    cr_assert_eq(tn__api.register_ops(NULL, NULL, 0), TN_ERR_PLUGIN);
}

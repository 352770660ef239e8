/* scratch.c - scratch memory of a call: a list of blocks that the dispatcher frees when the kernel
 * has returned.
 *
 * Each block begins with a header of 64 bytes that links it to the one before, so what the kernel
 * gets is 64-byte aligned as the block itself is. */
#include "core/base/base.h"

enum { HEADER_BYTES = 64 };

typedef struct block {
    struct block *before;
    size_t bytes; /* with the header */
} block;

void *tn__scratch(tn_call *call, size_t bytes)
{
    if (!call) {
        tn__fail(NULL, TN_ERR_ARGUMENT,
                 "scratch: expected the call that the kernel was given, got NULL");
        return NULL;
    }
    if (call->flags & TN__CALL_LEAF) {
        tn__fail(call, TN_ERR_PLUGIN,
                 "a kernel that promised TN_KERNEL_LEAF takes no scratch memory");
        return NULL;
    }
    block *b = bytes > SIZE_MAX - HEADER_BYTES ? NULL : tn__block_alloc(HEADER_BYTES + bytes);
    if (!b) {
        tn__fail_memory(call, bytes);
        return NULL;
    }
    b->before = call->scratch;
    b->bytes = HEADER_BYTES + bytes;
    call->scratch = b;
    return (char *)b + HEADER_BYTES;
}

void tn__scratch_free(tn_call *call)
{
    while (call->scratch) {
        block *b = call->scratch;
        call->scratch = b->before;
        tn__block_free(b, b->bytes);
    }
}

/* arena.c - bump allocation for what one parse makes.
 *
 * A schema is a few dozen small objects that live and die together, so they are cut from blocks and
 * released as a whole. Blocks grow by doubling up to a limit; a request larger than a block gets
 * one of its own. */
#include "schema.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16, FIRST_BLOCK = 1 << 12, LARGEST_BLOCK = 1 << 18 };

struct tn__arena_block {
    struct tn__arena_block *next;
    size_t used, size; /* of bytes[] */
    _Alignas(16) unsigned char bytes[];
};

static struct tn__arena_block *add_block(tn__arena *a, size_t need)
{
    size_t size = FIRST_BLOCK;
    if (a->head)
        size = a->head->size < LARGEST_BLOCK ? a->head->size * 2 : LARGEST_BLOCK;
    if (size < need)
        size = need;
    struct tn__arena_block *b = calloc(1, sizeof *b + size);
    if (!b)
        return NULL;
    b->size = size;
    b->next = a->head;
    a->head = b;
    return b;
}

void *tn__arena_alloc(tn__arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 4)
        return NULL;
    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    struct tn__arena_block *b = a->head;
    if (!b || b->size - b->used < bytes)
        b = add_block(a, bytes);
    if (!b)
        return NULL;
    void *p = b->bytes + b->used;
    b->used += bytes;
    return p;
}

char *tn__arena_strndup(tn__arena *a, const char *s, size_t n)
{
    char *copy = tn__arena_alloc(a, n + 1);
    if (copy && n)
        memcpy(copy, s, n);
    return copy;
}

void tn__arena_free(tn__arena *a)
{
    while (a->head) {
        struct tn__arena_block *next = a->head->next;
        free(a->head);
        a->head = next;
    }
}

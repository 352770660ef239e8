/* scope.c - scopes: a thread's stack of lists of tensors that expression calls made. */
#include <tenon/tensor.h>

#include <string.h>

#include "core/tensor/scope.h"
#include "core/tensor/tensor_impl.h"

static _Thread_local tn_scope *innermost;

enum { INLINE_TENSORS = sizeof((tn_scope){0}.first) / sizeof(tn_tensor *) };

void tn_scope_enter(tn_scope *s)
{
    s->outer = innermost;
    s->tensors = s->first;
    s->count = 0;
    s->capacity = INLINE_TENSORS;
    innermost = s;
}

void tn_scope_leave(tn_scope *s)
{
    for (int64_t i = s->count; i-- > 0;)
        tn__tensor_release(s->tensors[i]);
    if (s->tensors != s->first)
        tn__free(s->tensors);
    innermost = s->outer;
}

static bool grow(tn_scope *s)
{
    int64_t capacity = s->capacity * 2;
    size_t bytes = (size_t)capacity * sizeof *s->tensors;
    tn_tensor **grown = s->tensors == s->first ? tn__alloc(bytes) : tn__realloc(s->tensors, bytes);
    if (!grown)
        return false;
    if (s->tensors == s->first)
        memcpy(grown, s->first, sizeof s->first);
    s->tensors = grown;
    s->capacity = capacity;
    return true;
}

tn_tensor *tn__scope_add(tn_tensor *t)
{
    tn_scope *s = innermost;
    if (!s)
        return t; /* outside every scope an expression's result is the caller's */
    if (TN__UNLIKELY(s->count == s->capacity && !grow(s))) {
        tn__tensor_release(t);
        tn__fail_memory(NULL, (size_t)s->capacity * 2 * sizeof *s->tensors);
        tn__error_keep_first();
        return NULL;
    }
    s->tensors[s->count++] = t;
    return t;
}

tn_tensor *tn_scoped(tn_tensor *t)
{
    return t ? tn__scope_add(t) : NULL;
}

tn_tensor *tn_keep(tn_tensor *t)
{
    for (tn_scope *s = innermost; s && t; s = s->outer)
        for (int64_t i = s->count; i-- > 0;)
            if (s->tensors[i] == t) {
                s->tensors[i] = s->tensors[--s->count];
                return t;
            }
    return t;
}

/* text.c - see text.h. Doubling in an arena wastes at most as much as the text is long. */
#include "text.h"

#include <string.h>

cg_text cg_text_start(tn__arena *a)
{
    cg_text t = {.arena = a, .cap = 256, .ok = true};
    t.s = tn__arena_alloc(a, t.cap);
    t.ok = t.s != NULL;
    return t;
}

void cg_text_put_n(cg_text *t, const char *s, size_t n)
{
    if (t->ok && t->n + n + 1 > t->cap) {
        size_t cap = (t->n + n + 1) * 2;
        char *more = tn__arena_alloc(t->arena, cap);
        t->ok = more != NULL;
        if (more)
            memcpy(more, t->s, t->n);
        t->s = more;
        t->cap = cap;
    }
    if (!t->ok)
        return;
    memcpy(t->s + t->n, s, n);
    t->n += n;
    t->s[t->n] = '\0';
}

void cg_text_put(cg_text *t, const char *s)
{
    cg_text_put_n(t, s, strlen(s));
}

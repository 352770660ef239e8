/* text.h - text that grows in an arena. After memory ran out ok is false and everything else does
 * nothing, so that callers look once, at their end. */
#ifndef TN_CODEGEN_TEXT_H
#define TN_CODEGEN_TEXT_H

#include "schema.h"

typedef struct cg_text {
    tn__arena *arena;
    char *s; /* NUL-terminated once something was put */
    size_t n, cap;
    bool ok;
} cg_text;

cg_text cg_text_start(tn__arena *a);
void cg_text_put(cg_text *t, const char *s);
void cg_text_put_n(cg_text *t, const char *s, size_t n);

#endif

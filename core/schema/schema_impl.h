/* schema_impl.h - what the files of core/schema share: the lexer and the pieces of the parser.
 *
 * One tn__lex is one parse. The first error wins: after it every token is TN__TOK_END and every
 * function returns NULL or false, so that callers need to look only once, at their end. */
#ifndef TN_CORE_SCHEMA_SCHEMA_IMPL_H
#define TN_CORE_SCHEMA_SCHEMA_IMPL_H

#include "schema.h"

enum {
    TN__SCHEMA_MAX_DEPTH = 64,     /* of types in types, and of lists in a default */
    TN__SCHEMA_MAX_NAME = 255,     /* bytes of one name */
    TN__SCHEMA_MAX_TEXT = 1 << 20, /* bytes of one schema */
};

/* Tokens of one character stand for themselves. */
typedef enum tn__tok {
    TN__TOK_END = 256,
    TN__TOK_IDENT,
    TN__TOK_NUMBER, /* without sign; a complex one ends in j */
    TN__TOK_STRING, /* with its quotes */
    TN__TOK_ARROW,  /* -> */
    TN__TOK_DOTS,   /* ... */
    TN__TOK_COLONS, /* :: */
} tn__tok;

typedef struct tn__lex {
    const char *text;
    size_t n;
    size_t start, end; /* of the current token */
    size_t last_end;   /* of the token before it */
    int tok;           /* tn__tok, or a character */
    bool strict;
    bool failed;
    int depth;
    tn__arena *arena;
    tn__schema_error *err;
} tn__lex;

/* lex.c */
void tn__lex_start(tn__lex *x);
void tn__lex_next(tn__lex *x);
bool tn__lex_accept(tn__lex *x, int tok);             /* takes the token if it is the current one */
bool tn__lex_is(const tn__lex *x, const char *ident); /* is the current token this identifier? */
char *tn__lex_copy(tn__lex *x, size_t start, size_t end); /* a slice of the text; NULL: no memory */
/* Records the error at a byte offset; later ones are dropped. Always returns false. */
bool tn__lex_fail(tn__lex *x, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "expected WANT, got TOKEN; HINT" at the current token. Always returns false. */
bool tn__lex_unexpected(tn__lex *x, const char *want, const char *hint);
bool tn__lex_no_memory(tn__lex *x);

/* Makes room for one more item in an arena array. Returns the array, moved or not; NULL: no memory.
 */
void *tn__vec_grow(tn__arena *a, void *items, int n, int *cap, size_t size);

/* The parts of the grammar. */
const tn__type *tn__parse_type(tn__lex *x);       /* parse_type.c */
bool tn__parse_value(tn__lex *x, tn__value *out); /* parse_value.c */

/* strict.c: the rules of a new schema, after the grammar has accepted it. */
bool tn__schema_strict(tn__lex *x, const tn__schema *s);

/* types.c */
bool tn__type_known(const char *name, size_t n, tn__type_kind *kind, const char **spelling);
const char *tn__type_nearest(const char *name, size_t n);   /* NULL when nothing is near */
bool tn__type_is_variable_name(const char *name, size_t n); /* t, t1, tVal: not a misspelt type */

#endif

/* lex.c - the tokens of a function schema, and how an error names one.
 *
 * Hand-written, one token ahead. Everything that is not a schema's alphabet (NUL and control bytes,
 * text outside ASCII) stops here with its column, so that the parser above sees clean tokens only.
 */
#include "schema_impl.h"

#include <stdarg.h>
#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static char peek(const tn__lex *x, size_t at)
{
    return at < x->n ? x->text[at] : '\0';
}

/* The current token for a message: quoted, shortened, and printable whatever it held. */
static void show(const tn__lex *x, char *out, size_t cap)
{
    if (x->tok == TN__TOK_END) {
        snprintf(out, cap, "end of text");
        return;
    }
    size_t len = x->end - x->start, most = len > 40 ? 40 : len, k = 0;
    out[k++] = '\'';
    for (size_t i = 0; i < most && k + 8 < cap; i++) {
        unsigned char c = (unsigned char)x->text[x->start + i];
        if (c >= 0x20 && c < 0x7f)
            out[k++] = (char)c;
        else
            k += (size_t)snprintf(out + k, cap - k, "\\x%02x", c);
    }
    snprintf(out + k, cap - k, "%s'", len > most ? "..." : "");
}

bool tn__lex_fail(tn__lex *x, size_t at, const char *format, ...)
{
    if (!x->failed) {
        va_list ap;
        va_start(ap, format);
        x->err->column = (int)at + 1;
        vsnprintf(x->err->message, sizeof x->err->message, format, ap);
        va_end(ap);
    }
    x->failed = true;
    x->tok = TN__TOK_END;
    x->start = x->end = x->n;
    return false;
}

bool tn__lex_unexpected(tn__lex *x, const char *want, const char *hint)
{
    char got[80];
    show(x, got, sizeof got);
    return tn__lex_fail(x, x->start, "expected %s, got %s; %s", want, got, hint);
}

bool tn__lex_no_memory(tn__lex *x)
{
    return tn__lex_fail(x, x->start, "out of memory while reading the schema");
}

char *tn__lex_copy(tn__lex *x, size_t start, size_t end)
{
    char *copy = tn__arena_strndup(x->arena, x->text + start, end - start);
    if (!copy)
        tn__lex_no_memory(x);
    return copy;
}

static size_t end_of_digits(const tn__lex *x, size_t p)
{
    while (is_digit(peek(x, p)))
        p++;
    return p;
}

static void lex_number(tn__lex *x)
{
    size_t p = end_of_digits(x, x->start);
    if (peek(x, p) == '.' && peek(x, p + 1) != '.')
        p = end_of_digits(x, p + 1);
    if (peek(x, p) == 'e' || peek(x, p) == 'E') {
        size_t sign = peek(x, p + 1) == '+' || peek(x, p + 1) == '-';
        if (is_digit(peek(x, p + 1 + sign)))
            p = end_of_digits(x, p + 1 + sign);
    }
    if (peek(x, p) == 'j')
        p++;
    x->tok = TN__TOK_NUMBER;
    x->end = p;
    if (is_letter(peek(x, p)))
        tn__lex_fail(
            x, p,
            "a number must not run into a name; got '%c' after '%.*s'; begin names with a letter",
            x->text[p], (int)(p - x->start > 40 ? 40 : p - x->start), x->text + x->start);
}

static void lex_ident(tn__lex *x)
{
    size_t p = x->start;
    while (is_letter(peek(x, p)) || is_digit(peek(x, p)))
        p++;
    x->tok = TN__TOK_IDENT;
    x->end = p;
    if (p - x->start > TN__SCHEMA_MAX_NAME)
        tn__lex_fail(x, x->start, "the name '%.40s...' has %zu characters; at most %d are allowed",
                     x->text + x->start, p - x->start, TN__SCHEMA_MAX_NAME);
}

static void lex_string(tn__lex *x)
{
    char quote = x->text[x->start];
    size_t p = x->start + 1;
    for (; p < x->n && x->text[p] != quote; p++) {
        if (x->text[p] == '\\')
            p++;
        if (p < x->n && (unsigned char)x->text[p] < 0x20) {
            tn__lex_fail(x, p,
                         "the byte \\x%02x stands raw in a string; write it as an escape, e.g. \\n",
                         (unsigned char)x->text[p]);
            return;
        }
    }
    if (p >= x->n) {
        tn__lex_fail(x, x->start, "the string that starts here is not closed; end it with %c",
                     quote);
        return;
    }
    x->tok = TN__TOK_STRING;
    x->end = p + 1;
}

static void lex_punctuation(tn__lex *x)
{
    char c = x->text[x->start];
    const char *rest = x->text + x->start;
    size_t left = x->n - x->start;
    x->tok = (unsigned char)c;
    x->end = x->start + 1;
    if (left >= 2 && memcmp(rest, "->", 2) == 0) {
        x->tok = TN__TOK_ARROW;
        x->end = x->start + 2;
    } else if (left >= 2 && memcmp(rest, "::", 2) == 0) {
        x->tok = TN__TOK_COLONS;
        x->end = x->start + 2;
    } else if (left >= 3 && memcmp(rest, "...", 3) == 0) {
        x->tok = TN__TOK_DOTS;
        x->end = x->start + 3;
    } else if (c == '\0') {
        tn__lex_fail(x, x->start, "a NUL byte stands in the schema; remove it");
    } else if (!strchr("()[],=*?!|.-:", c)) {
        char got[80];
        show(x, got, sizeof got);
        tn__lex_fail(x, x->start, "the character %s has no place in a schema; remove it", got);
    }
}

void tn__lex_next(tn__lex *x)
{
    if (x->failed)
        return;
    x->last_end = x->end;
    size_t p = x->end;
    while (p < x->n && is_space(x->text[p]))
        p++;
    x->start = x->end = p;
    x->tok = TN__TOK_END;
    if (p >= x->n)
        return;
    char c = x->text[p];
    if (is_letter(c))
        lex_ident(x);
    else if (is_digit(c) || (c == '.' && is_digit(peek(x, p + 1))))
        lex_number(x);
    else if (c == '"' || c == '\'')
        lex_string(x);
    else
        lex_punctuation(x);
}

void tn__lex_start(tn__lex *x)
{
    x->start = x->end = x->last_end = 0;
    x->depth = 0;
    x->failed = false;
    if (x->n > TN__SCHEMA_MAX_TEXT)
        tn__lex_fail(x, 0, "the schema has %zu bytes; at most %d are allowed", x->n,
                     TN__SCHEMA_MAX_TEXT);
    else
        tn__lex_next(x);
}

bool tn__lex_accept(tn__lex *x, int tok)
{
    if (x->failed || x->tok != tok)
        return false;
    tn__lex_next(x);
    return !x->failed;
}

bool tn__lex_is(const tn__lex *x, const char *ident)
{
    size_t len = strlen(ident);
    return x->tok == TN__TOK_IDENT && x->end - x->start == len &&
           memcmp(x->text + x->start, ident, len) == 0;
}

void *tn__vec_grow(tn__arena *a, void *items, int n, int *cap, size_t size)
{
    if (n < *cap)
        return items;
    int more = *cap ? *cap * 2 : 4;
    void *moved = tn__arena_alloc(a, (size_t)more * size);
    if (!moved)
        return NULL;
    if (n)
        memcpy(moved, items, (size_t)n * size);
    *cap = more;
    return moved;
}

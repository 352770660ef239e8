/* parse_value.c - default values: None, True, -1, 1e-5, "mean", Mean, [0, 1].
 *
 * Besides its meaning a value keeps the text that it was read from, because the text is what prints
 * back: 0.1 and 1e-1 mean the same and are written differently. */
#include "schema_impl.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* strtod as in the "C" locale: the program around the library may have chosen a decimal comma. */
static bool to_double(const char *digits, double *out)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c)
        return false;
    locale_t before = uselocale(c);
    *out = strtod(digits, NULL);
    uselocale(before);
    freelocale(c);
    return true;
}

static bool parse_number(tn__lex *x, tn__value *out, size_t start)
{
    char digits[80];
    size_t len = x->end - x->start, sign = x->start > start;
    if (len + 2 > sizeof digits)
        return tn__lex_fail(x, x->start, "the number has %zu characters; at most %zu are allowed",
                            len, sizeof digits - 2);
    digits[0] = '-';
    memcpy(digits + sign, x->text + x->start, len);
    digits[len + sign] = '\0';
    bool imaginary = digits[len + sign - 1] == 'j';
    if (imaginary || strpbrk(digits, ".eE")) {
        double d = 0;
        if (!to_double(digits, &d))
            return tn__lex_no_memory(x);
        if (isinf(d))
            return tn__lex_fail(x, x->start, "the number %s is too large for a float", digits);
        out->kind = imaginary ? TN__VALUE_COMPLEX : TN__VALUE_FLOAT;
        out->re = imaginary ? 0 : d;
        out->im = imaginary ? d : 0;
    } else {
        errno = 0;
        out->kind = TN__VALUE_INT;
        out->i = strtoll(digits, NULL, 10);
        if (errno)
            return tn__lex_fail(x, x->start, "the number %s does not fit into 64 bits", digits);
    }
    tn__lex_next(x);
    return !x->failed;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* One escape at p (behind the backslash). Returns the bytes it took, 0 when there is no such
 * escape. */
static size_t unescape(const char *p, const char *end, char *out)
{
    static const char from[] = "abfnrtv\\'\"", to[] = "\a\b\f\n\r\t\v\\'\"";
    const char *hit = p < end ? strchr(from, *p) : NULL;
    if (hit && *hit) {
        *out = to[hit - from];
        return 1;
    }
    if (end - p >= 3 && *p == 'x' && hex_digit(p[1]) >= 0 && hex_digit(p[2]) >= 0) {
        *out = (char)(hex_digit(p[1]) * 16 + hex_digit(p[2]));
        return *out ? 3 : 0;
    }
    return 0;
}

static bool parse_string(tn__lex *x, tn__value *out)
{
    const char *p = x->text + x->start + 1, *end = x->text + x->end - 1;
    char *text = tn__arena_alloc(x->arena, (size_t)(end - p) + 1);
    if (!text)
        return tn__lex_no_memory(x);
    out->kind = TN__VALUE_STR;
    out->quote = x->text[x->start];
    out->text = text;
    while (p < end) {
        if (*p != '\\') {
            *text++ = *p++;
            continue;
        }
        size_t took = unescape(p + 1, end, text);
        if (!took)
            return tn__lex_fail(
                x, (size_t)(p - x->text),
                "unknown escape in a string; use \\n \\t \\\\ \\' \\\" or \\xNN (not \\x00)");
        p += 1 + took;
        text++;
    }
    tn__lex_next(x);
    return !x->failed;
}

static bool parse_word(tn__lex *x, tn__value *out)
{
    bool is_true = tn__lex_is(x, "True");
    out->kind = TN__VALUE_IDENT;
    if (is_true || tn__lex_is(x, "False")) {
        out->kind = TN__VALUE_BOOL;
        out->i = is_true;
    } else if (tn__lex_is(x, "None")) {
        out->kind = TN__VALUE_NONE;
    }
    tn__lex_next(x);
    return !x->failed;
}

static bool parse_items(tn__lex *x, tn__value *out)
{
    tn__value *items = NULL;
    int cap = 0;
    out->kind = TN__VALUE_LIST;
    tn__lex_next(x);
    if (tn__lex_accept(x, ']'))
        return true;
    do {
        items = tn__vec_grow(x->arena, items, out->n_items, &cap, sizeof *items);
        if (!items)
            return tn__lex_no_memory(x);
        if (!tn__parse_value(x, &items[out->n_items]))
            return false;
        out->n_items++;
        out->items = items;
    } while (tn__lex_accept(x, ','));
    if (x->failed)
        return false;
    if (x->tok != ']')
        return tn__lex_unexpected(x, "',' or ']' in the list", "write e.g. [0, 1]");
    tn__lex_next(x);
    return !x->failed;
}

static bool parse_kind(tn__lex *x, tn__value *out)
{
    size_t start = x->start;
    bool negative = tn__lex_accept(x, '-');
    if (x->failed)
        return false;
    if (x->tok == TN__TOK_NUMBER)
        return parse_number(x, out, start);
    if (negative)
        return tn__lex_unexpected(x, "a number after '-'", "write e.g. -1 or -0.5");
    if (x->tok == TN__TOK_STRING)
        return parse_string(x, out);
    if (x->tok == TN__TOK_IDENT)
        return parse_word(x, out);
    if (x->tok == '[')
        return parse_items(x, out);
    return tn__lex_unexpected(x, "a default value", "write e.g. =None, =0, =\"mean\" or =[0, 1]");
}

bool tn__parse_value(tn__lex *x, tn__value *out)
{
    size_t start = x->start;
    memset(out, 0, sizeof *out);
    out->column = (int)start + 1;
    if (++x->depth > TN__SCHEMA_MAX_DEPTH)
        return tn__lex_fail(x, start, "the default is nested more than %d deep; simplify it",
                            TN__SCHEMA_MAX_DEPTH);
    if (!parse_kind(x, out))
        return false;
    x->depth--;
    out->source = tn__lex_copy(x, start, x->last_end);
    if (out->kind != TN__VALUE_STR)
        out->text = out->source;
    return out->source != NULL;
}

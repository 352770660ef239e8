/* border_decl.c - reads one C declaration of the border's description: a field, a parameter, a
 * function.
 *
 * Only what the border uses: words, stars, array lengths, one parameter list. The type comes out in
 * one spelling, because it is part of the fingerprint. */
#include "border_impl.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_CHARS = 128, MAX_PARAMS = 24, MAX_ARRAY = 1 << 20 };

typedef struct cursor {
    bd_border *border;
    cg_pos pos;
    const char *at;
    bool ok;
} cursor;

static void complain(cursor *c, const char *what)
{
    if (c->ok)
        bd_error(c->border, c->pos, "%s, near '%.40s'", what, c->at);
    c->ok = false;
}

static void skip_space(cursor *c)
{
    while (isspace((unsigned char)*c->at))
        c->at++;
}

static bool take(cursor *c, char token)
{
    skip_space(c);
    if (*c->at != token)
        return false;
    c->at++;
    return true;
}

static bool take_word(cursor *c, char word[WORD_CHARS])
{
    skip_space(c);
    size_t n = 0;
    while (isalnum((unsigned char)c->at[n]) || c->at[n] == '_')
        n++;
    if (n == 0 || n >= WORD_CHARS)
        return false;
    memcpy(word, c->at, n);
    word[n] = '\0';
    c->at += n;
    return true;
}

/* Words and stars of a type and its name; the last word is the name. */
static void parse_type(cursor *c, bool named, bd_decl *out)
{
    cg_text type = cg_text_start(&c->border->arena);
    char word[WORD_CHARS], pending[WORD_CHARS] = "";
    bool star = false, any = false;
    for (;;) {
        bool is_word = take_word(c, word);
        bool is_star = !is_word && take(c, '*');
        if (!is_word && !is_star)
            break;
        if (*pending) {
            cg_text_put(&type, any && !star ? " " : "");
            cg_text_put(&type, pending);
            any = true;
            star = false;
        }
        pending[0] = '\0';
        if (is_word)
            memcpy(pending, word, sizeof word);
        if (is_star)
            cg_text_put(&type, any && !star ? " *" : "*");
        star = star || is_star;
        any = any || is_star;
    }
    if (!named && *pending) {
        cg_text_put(&type, any && !star ? " " : "");
        cg_text_put(&type, pending);
        pending[0] = '\0';
        any = true;
    }
    if (!any || (named && !*pending))
        complain(c, "expected a type and a name");
    out->type = any && type.ok ? type.s : "";
    char *name = tn__arena_strndup(&c->border->arena, pending, strlen(pending));
    out->name = name ? name : "";
}

static uint64_t length_of(cursor *c, const char *word)
{
    if (isdigit((unsigned char)word[0]))
        return strtoull(word, NULL, 10);
    const bd_item *constant = bd_find(c->border, word);
    if (constant && constant->kind == BD_CONSTANT)
        return constant->value;
    complain(c, "expected a number or a constant that is described above as an array's length");
    return 1;
}

static void parse_dims(cursor *c, bd_decl *out)
{
    cg_text dims = cg_text_start(&c->border->arena);
    char word[WORD_CHARS];
    out->count = 1;
    while (c->ok && take(c, '[')) {
        if (!take_word(c, word))
            complain(c, "expected an array's length");
        if (!c->ok)
            break;
        uint64_t n = length_of(c, word);
        if (n == 0 || n > MAX_ARRAY || out->count > MAX_ARRAY / n)
            complain(c, "an array of no or too many elements");
        out->count *= c->ok ? n : 1;
        if (!take(c, ']'))
            complain(c, "expected ']'");
        cg_text_put(&dims, "[");
        cg_text_put(&dims, word);
        cg_text_put(&dims, "]");
    }
    out->dims = dims.ok && dims.n ? dims.s : "";
}

static void parse_params(cursor *c, bd_decl *out)
{
    out->is_function = true;
    skip_space(c);
    if (strncmp(c->at, "void)", 5) == 0) {
        c->at += 5;
        return;
    }
    out->params = bd_alloc(c->border, MAX_PARAMS * sizeof *out->params);
    if (!out->params)
        c->ok = false;
    do {
        if (!c->ok)
            return;
        skip_space(c);
        if (strncmp(c->at, "...", 3) == 0) {
            c->at += 3;
            out->variadic = true;
            break;
        }
        if (out->n_params == MAX_PARAMS)
            complain(c, "more than 24 parameters");
        if (!c->ok)
            return;
        parse_type(c, true, &out->params[out->n_params++]);
    } while (c->ok && take(c, ','));
    if (!take(c, ')'))
        complain(c, "expected ')'");
}

bool bd_parse_decl(bd_border *b, cg_pos pos, const char *text, bool named, bd_decl *out)
{
    cursor c = {b, pos, text, true};
    *out = (bd_decl){.type = "", .name = "", .dims = "", .count = 1};
    parse_type(&c, named, out);
    if (c.ok && take(&c, '('))
        parse_params(&c, out);
    else if (c.ok)
        parse_dims(&c, out);
    skip_space(&c);
    if (*c.at)
        complain(&c, "expected the end of the declaration");
    return c.ok;
}

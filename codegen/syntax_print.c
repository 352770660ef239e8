/* syntax_print.c - trees that were built by hand, and the text of a tree. A derived formula goes this
 * way: it is written out and parsed again, so that people and the compiler see the same one. */
#include <string.h>

#include "syntax.h"
#include "text.h"

const cg_syntax *cg_syntax_leaf(tn__arena *a, cg_syntax_kind kind, const char *text)
{
    cg_syntax *x = tn__arena_alloc(a, sizeof *x);
    if (!x || !text)
        return NULL;
    x->kind = kind;
    x->text = text;
    return x;
}

const cg_syntax *cg_syntax_call(tn__arena *a, const char *token, const char *text, int n,
                                const cg_syntax *const *operands)
{
    cg_syntax *x = tn__arena_alloc(a, sizeof *x);
    const cg_syntax **copy = tn__arena_alloc(a, ((size_t)n + 1) * sizeof *copy);
    const char **keywords = tn__arena_alloc(a, ((size_t)n + 1) * sizeof *keywords);
    if (!x || !copy || !keywords)
        return NULL;
    for (int i = 0; i < n; i++) {
        if (!operands[i])
            return NULL;
        copy[i] = operands[i];
    }
    *x = (cg_syntax){.kind = CG_SYNTAX_CALL,
                     .text = text,
                     .token = token,
                     .operands = copy,
                     .keywords = keywords,
                     .n = n};
    return x;
}

/* As in syntax.c, then signs and what is never put in parentheses. */
enum { SELECTION = -1, SIGN = 5, PRIMARY = 6 };

static int level_of(const cg_syntax *x)
{
    static const char *const levels[] = {"||", "&&", "== != <= >= < >", "+ -", "* /"};
    if (x->kind != CG_SYNTAX_CALL || !x->token)
        return PRIMARY;
    if (x->n == 1)
        return SIGN;
    if (strcmp(x->token, "?") == 0)
        return SELECTION;
    for (int i = 0; i < 5; i++)
        if (strstr(levels[i], x->token))
            return i;
    return PRIMARY;
}

static void put(cg_text *t, const cg_syntax *x, int level);

static void put_list(cg_text *t, const cg_syntax *x, int from, const char *close)
{
    for (int i = from; i < x->n; i++) {
        cg_text_put(t, i > from ? ", " : "");
        if (x->keywords && x->keywords[i]) {
            cg_text_put(t, x->keywords[i]);
            cg_text_put(t, "=");
        }
        put(t, x->operands[i], SELECTION);
    }
    cg_text_put(t, close);
}

static void put_operator(cg_text *t, const cg_syntax *x, int level)
{
    if (level == SELECTION) {
        put(t, x->operands[0], 0);
        cg_text_put(t, " ? ");
        put(t, x->operands[1], SELECTION);
        cg_text_put(t, " : ");
        put(t, x->operands[2], SELECTION);
    } else if (x->n == 1) {
        cg_text_put(t, x->token);
        put(t, x->operands[0], SIGN);
    } else {
        put(t, x->operands[0], level);
        cg_text_put(t, " ");
        cg_text_put(t, x->token);
        cg_text_put(t, " ");
        put(t, x->operands[1], level + 1);
    }
}

static void put_primary(cg_text *t, const cg_syntax *x)
{
    switch (x->kind) {
    case CG_SYNTAX_NUMBER:
    case CG_SYNTAX_NAME:
        cg_text_put(t, x->text);
        break;
    case CG_SYNTAX_STRING:
        cg_text_put(t, "'");
        cg_text_put(t, x->text);
        cg_text_put(t, "'");
        break;
    case CG_SYNTAX_LIST:
        cg_text_put(t, "[");
        put_list(t, x, 0, "]");
        break;
    case CG_SYNTAX_INDEX:
        put(t, x->operands[0], PRIMARY);
        cg_text_put(t, "[");
        put_list(t, x, 1, "]");
        break;
    case CG_SYNTAX_MEMBER:
        put(t, x->operands[0], PRIMARY);
        cg_text_put(t, ".");
        cg_text_put(t, x->text);
        break;
    case CG_SYNTAX_CALL:
        if (x->is_method) {
            put(t, x->operands[0], PRIMARY);
            cg_text_put(t, ".");
        }
        cg_text_put(t, x->text);
        cg_text_put(t, "(");
        put_list(t, x, x->is_method, ")");
        break;
    }
}

static void put(cg_text *t, const cg_syntax *x, int level)
{
    int own = level_of(x);
    if (own < level)
        cg_text_put(t, "(");
    if (own == PRIMARY)
        put_primary(t, x);
    else
        put_operator(t, x, own);
    if (own < level)
        cg_text_put(t, ")");
}

const char *cg_syntax_print(tn__arena *a, const cg_syntax *x)
{
    cg_text t = cg_text_start(a);
    if (!x)
        return NULL;
    put(&t, x, SELECTION);
    return t.ok ? t.s : NULL;
}

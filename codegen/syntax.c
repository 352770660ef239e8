/* syntax.c - the parser of syntax.h: recursive descent over precedence levels. The first error of an
 * expression is reported, at its place in the YAML file. */
#include "syntax.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "m4.h"

enum {
    DEPTH = 64,   /* of parentheses and signs */
    NODES = 2048, /* of the whole: what walks the tree recurses as deep as a+a+a+.. is long */
    OPERANDS = 64,
};

typedef struct parser {
    cg_diag *d;
    tn__arena *a;
    const cg_syntax_source *source;
    const char *text, *at;
    int depth, nodes;
    bool failed;
} parser;

static const cg_syntax *parse_expr(parser *p);

static size_t here(const parser *p)
{
    return (size_t)(p->at - p->text);
}

/* Says the first error only: what follows one mostly follows from it. */
__attribute__((format(printf, 3, 4))) static cg_syntax *fail(parser *p, size_t offset,
                                                             const char *format, ...)
{
    char message[512];
    va_list args;
    if (p->failed)
        return NULL;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    cg_error(p->d, p->source->file, cg_at(p->source->str, offset), "%s", message);
    p->failed = true;
    return NULL;
}

static const char *leaves(const parser *p)
{
    return p->source->is_formula ? "a name, a number" : "an argument's name, a number";
}

static void skip_space(parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static bool take(parser *p, const char *token)
{
    skip_space(p);
    size_t n = strlen(token);
    if (strncmp(p->at, token, n) != 0)
        return false;
    p->at += n;
    return true;
}

static cg_syntax *node(parser *p, cg_syntax_kind kind, size_t offset)
{
    if (++p->nodes > NODES)
        return fail(p, offset, "the expression has more than %d parts; write a %s by hand", NODES,
                    p->source->is_formula ? "helper" : "kernel");
    cg_syntax *x = tn__arena_alloc(p->a, sizeof *x);
    if (!x)
        return fail(p, offset, "out of memory");
    x->kind = kind;
    x->offset = offset;
    return x;
}

static cg_syntax *give_operands(parser *p, cg_syntax *x, int n, const cg_syntax *const *operands,
                                const char *const *keywords)
{
    if (!x)
        return NULL;
    x->operands = tn__arena_alloc(p->a, ((size_t)n + 1) * sizeof *x->operands);
    x->keywords = tn__arena_alloc(p->a, ((size_t)n + 1) * sizeof *x->keywords);
    if (!x->operands || !x->keywords)
        return fail(p, x->offset, "out of memory");
    for (int i = 0; i < n; i++) {
        x->operands[i] = operands[i];
        x->keywords[i] = keywords ? keywords[i] : NULL;
    }
    x->n = n;
    return x;
}

static const cg_syntax *operator_call(parser *p, size_t offset, const char *token, const char *word,
                                      int n, const cg_syntax *const *operands)
{
    for (int i = 0; i < n; i++)
        if (!operands[i])
            return NULL;
    cg_syntax *x = node(p, CG_SYNTAX_CALL, offset);
    if (!x)
        return NULL;
    x->text = word;
    x->token = token;
    return give_operands(p, x, n, operands, NULL);
}

/* ---- leaves ---------------------------------------------------------------------------------- */
bool cg_literal_is_floating(const char *literal)
{
    return strncmp(literal, "0x", 2) != 0 && strpbrk(literal, ".eE");
}

/* The literal stands in C as it is written, where 010 would be eight. */
static bool is_c_integer(const char *literal)
{
    char *end;
    bool octal = literal[0] == '0' && isdigit((unsigned char)literal[1]);
    errno = 0;
    strtoll(literal, &end, 0);
    return !octal && errno == 0 && *end == '\0';
}

static const cg_syntax *parse_number(parser *p)
{
    const char *begin = p->at;
    bool exponent = false;
    while (isalnum((unsigned char)*p->at) || *p->at == '.' ||
           (exponent && (*p->at == '-' || *p->at == '+'))) {
        exponent = (*p->at == 'e' || *p->at == 'E') && strncmp(begin, "0x", 2) != 0;
        p->at++;
    }
    char *end;
    char *literal = tn__arena_strndup(p->a, begin, (size_t)(p->at - begin));
    cg_syntax *x = node(p, CG_SYNTAX_NUMBER, (size_t)(begin - p->text));
    if (!x || !literal)
        return NULL;
    double number = strtod(literal, &end);
    if (*end)
        return fail(p, x->offset, "this is not a number; write it like 2, 0.5 or 1e-3");
    if (isinf(number) || isnan(number))
        return fail(p, x->offset, "this number is too large for a float; write 1e308 at most");
    if (!cg_literal_is_floating(literal) && !is_c_integer(literal))
        return fail(p, x->offset,
                    "C would read this integer as another one, or not at all; leave leading zeros "
                    "out, and give what is larger than 64 bits a decimal point");
    x->text = literal;
    return x;
}

static const cg_syntax *parse_string(parser *p)
{
    size_t offset = here(p);
    char quote = *p->at++;
    const char *begin = p->at;
    while (isalnum((unsigned char)*p->at) || (*p->at && strchr("_-+.:;,=<>/() ", *p->at)))
        p->at++;
    if (*p->at != quote)
        return fail(p, *p->at ? here(p) : offset,
                    "this string is not closed, or holds more than letters, digits, blanks and "
                    "'_-+.:;,=<>/()'; write it like 'none'");
    cg_syntax *x = node(p, CG_SYNTAX_STRING, offset);
    char *text = tn__arena_strndup(p->a, begin, (size_t)(p->at - begin));
    p->at++;
    if (text && cg_m4_word(text))
        return fail(p, offset, "the templates would take '%.3s' for theirs; write another text",
                    cg_m4_word(text));
    if (x)
        x->text = text;
    return x && text ? x : NULL;
}

/* "name=" of a keyword argument, but not the begin of "name == 2". */
static const char *take_keyword(parser *p)
{
    skip_space(p);
    const char *begin = p->at, *at = begin;
    if (!p->source->is_formula || !(isalpha((unsigned char)*at) || *at == '_'))
        return NULL;
    while (isalnum((unsigned char)*at) || *at == '_')
        at++;
    size_t n = (size_t)(at - begin);
    while (isspace((unsigned char)*at))
        at++;
    if (*at != '=' || at[1] == '=')
        return NULL;
    p->at = at + 1;
    return tn__arena_strndup(p->a, begin, n);
}

/* What stands between brackets, up to `close`, into x behind its `n` first operands. */
static cg_syntax *parse_operands(parser *p, cg_syntax *x, const cg_syntax *first, const char *close)
{
    const cg_syntax *operands[OPERANDS] = {first};
    const char *keywords[OPERANDS] = {NULL}, *keyword = NULL;
    int n = first != NULL;
    if (!x)
        return NULL;
    if (p->source->is_formula && take(p, close))
        return give_operands(p, x, n, operands, keywords);
    do {
        keyword = *close == ')' ? take_keyword(p) : NULL;
        const cg_syntax *operand = parse_expr(p);
        if (!operand)
            return NULL;
        if (n == OPERANDS)
            return fail(p, operand->offset, "more than %d arguments; use fewer", OPERANDS);
        if (!keyword && n && keywords[n - 1])
            return fail(p, operand->offset,
                        "an argument without a name stands behind '%s='; write names for all that "
                        "follow the first one that has one",
                        keywords[n - 1]);
        keywords[n] = keyword;
        operands[n++] = operand;
    } while (take(p, ","));
    if (!take(p, close)) {
        if (x->kind == CG_SYNTAX_LIST)
            return fail(p, here(p), "the list is not closed; write ',' or ']' here");
        return fail(p, here(p), "the arguments of %s are not closed; write ',' or ')' here",
                    x->text);
    }
    return give_operands(p, x, n, operands, keywords);
}

static const char *take_name(parser *p)
{
    skip_space(p);
    const char *begin = p->at;
    if (!isalpha((unsigned char)*begin) && *begin != '_')
        return NULL;
    while (isalnum((unsigned char)*p->at) || *p->at == '_')
        p->at++;
    return tn__arena_strndup(p->a, begin, (size_t)(p->at - begin));
}

static const cg_syntax *parse_named(parser *p)
{
    size_t offset = here(p);
    const char *name = take_name(p);
    bool is_call = take(p, "(");
    cg_syntax *x = node(p, is_call ? CG_SYNTAX_CALL : CG_SYNTAX_NAME, offset);
    if (!x || !name)
        return NULL;
    x->text = name;
    return is_call ? parse_operands(p, x, NULL, ")") : x;
}

static const cg_syntax *unexpected(parser *p)
{
    const char *strings = p->source->is_formula ? ", a list" : "";
    if (*p->at)
        return fail(p, here(p), "'%c' cannot stand here; write %s, a function%s or '('", *p->at,
                    leaves(p), strings);
    return fail(p, here(p), "the expression ends too early; write %s or a function", leaves(p));
}

static const cg_syntax *parse_primary(parser *p)
{
    skip_space(p);
    size_t offset = here(p);
    char c = *p->at;
    if (isdigit((unsigned char)c) || c == '.')
        return parse_number(p);
    if (isalpha((unsigned char)c) || c == '_')
        return parse_named(p);
    if (p->source->is_formula && (c == '\'' || c == '"'))
        return parse_string(p);
    if (p->source->is_formula && take(p, "["))
        return parse_operands(p, node(p, CG_SYNTAX_LIST, offset), NULL, "]");
    if (!take(p, "("))
        return unexpected(p);
    const cg_syntax *x = parse_expr(p);
    if (x && !take(p, ")"))
        return fail(p, here(p), "a parenthesis is not closed; write ')' here");
    return x;
}

/* ---- what follows a value: .member, .method(..), [index] ------------------------------------- */
static const cg_syntax *parse_member(parser *p, const cg_syntax *of)
{
    skip_space(p);
    size_t offset = here(p);
    const char *name = take_name(p);
    if (!name)
        return fail(p, offset, "expected a name behind '.'; write x.sizes, x.dim or x.sum(..)");
    bool is_call = take(p, "(");
    cg_syntax *x = node(p, is_call ? CG_SYNTAX_CALL : CG_SYNTAX_MEMBER, offset);
    if (!x)
        return NULL;
    x->text = name;
    x->is_method = is_call;
    return is_call ? parse_operands(p, x, of, ")") : give_operands(p, x, 1, &of, NULL);
}

static const cg_syntax *parse_index(parser *p, size_t offset, const cg_syntax *of)
{
    const cg_syntax *operands[] = {of, parse_expr(p)};
    if (!operands[1])
        return NULL;
    if (!take(p, "]"))
        return fail(p, here(p), "the index is not closed; write ']' here");
    return give_operands(p, node(p, CG_SYNTAX_INDEX, offset), 2, operands, NULL);
}

static const cg_syntax *parse_postfix(parser *p)
{
    const cg_syntax *x = parse_primary(p);
    while (x && p->source->is_formula) {
        skip_space(p);
        size_t offset = here(p);
        if (take(p, "."))
            x = parse_member(p, x);
        else if (take(p, "["))
            x = parse_index(p, offset, x);
        else
            break;
    }
    return x;
}

static const cg_syntax *parse_unary(parser *p)
{
    skip_space(p);
    size_t offset = here(p);
    if (++p->depth > DEPTH)
        return fail(p, offset, "the expression is nested more than %d deep; use fewer parentheses",
                    DEPTH);
    const cg_syntax *x;
    if (take(p, "-")) {
        x = parse_unary(p);
        x = operator_call(p, offset, "-", "neg", 1, &x);
    } else if (*p->at == '!' && p->at[1] != '=' && take(p, "!")) {
        x = parse_unary(p);
        x = operator_call(p, offset, "!", "logical_not", 1, &x);
    } else {
        x = parse_postfix(p);
    }
    p->depth--;
    return x;
}

/* ---- operators of two operands, lowest level first ------------------------------------------- */
typedef struct binary {
    int level;
    const char *token, *word;
} binary;

static const binary binaries[] = {
    {0, "||", "logical_or"}, {1, "&&", "logical_and"}, {2, "==", "eq"}, {2, "!=", "ne"},
    {2, "<=", "le"},         {2, ">=", "ge"},          {2, "<", "lt"},  {2, ">", "gt"},
    {3, "+", "add"},         {3, "-", "sub"},          {4, "*", "mul"}, {4, "/", "div"},
};
enum { LEVELS = 5, N_BINARIES = sizeof binaries / sizeof *binaries };

const char *cg_syntax_token(const char *word, int n)
{
    if (n == 1)
        return strcmp(word, "neg") == 0 ? "-" : strcmp(word, "logical_not") == 0 ? "!" : NULL;
    for (int i = 0; i < N_BINARIES; i++)
        if (strcmp(binaries[i].word, word) == 0)
            return binaries[i].token;
    return NULL;
}

static const binary *take_binary(parser *p, int level)
{
    for (int i = 0; i < N_BINARIES; i++)
        if (binaries[i].level == level && take(p, binaries[i].token))
            return &binaries[i];
    return NULL;
}

static const cg_syntax *parse_level(parser *p, int level)
{
    if (level == LEVELS)
        return parse_unary(p);
    const cg_syntax *left = parse_level(p, level + 1);
    while (left) {
        skip_space(p);
        size_t offset = here(p);
        const binary *b = take_binary(p, level);
        if (!b)
            break;
        const cg_syntax *operands[] = {left, parse_level(p, level + 1)};
        left = operator_call(p, offset, b->token, b->word, 2, operands);
    }
    return left;
}

static const cg_syntax *parse_expr(parser *p)
{
    const cg_syntax *condition = parse_level(p, 0);
    if (!condition)
        return NULL;
    skip_space(p);
    size_t offset = here(p);
    if (!take(p, "?"))
        return condition;
    const cg_syntax *yes = parse_expr(p);
    if (!yes)
        return NULL;
    if (!take(p, ":"))
        return fail(p, here(p), "the '?' before has no ':'; write condition ? value : value");
    const cg_syntax *operands[] = {condition, yes, parse_expr(p)};
    return operator_call(p, offset, "?", "where", 3, operands);
}

/* How much of the text a message shows: a word, or one sign. */
static int word_length(const char *at)
{
    int n = 0;
    while (n < 40 && (isalnum((unsigned char)at[n]) || at[n] == '_'))
        n++;
    return n ? n : 1;
}

const cg_syntax *cg_syntax_parse(cg_diag *d, tn__arena *a, const cg_syntax_source *source)
{
    parser p = {.d = d, .a = a, .source = source};
    p.text = p.at = source->str->text;
    const cg_syntax *x = parse_expr(&p);
    skip_space(&p);
    if (x && *p.at)
        x = fail(&p, here(&p),
                 "expected an operator or the end of the expression, got '%.*s'; operators are + - "
                 "* / == != < <= > >= && || ! ?:",
                 word_length(p.at), p.at);
    if (!x && !p.failed)
        d->no_memory = true;
    return p.failed ? NULL : x;
}

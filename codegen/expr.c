/* expr.c - the expression parser: recursive descent over precedence levels, then one walk that
 * settles types. The first error of an expression is reported, at its place in the YAML file. */
#include "expr.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH = 64,   /* of parentheses and signs */
    NODES = 2048, /* of the whole: what walks the tree recurses as deep as a+a+a+.. is long */
};

typedef struct parser {
    cg_diag *d;
    tn__arena *a;
    const cg_entry *e;
    const char *text, *at;
    int depth, nodes;
    bool failed;
} parser;

static const cg_expr *parse_expr(parser *p);

static size_t here(const parser *p)
{
    return (size_t)(p->at - p->text);
}

/* Says the first error only: what follows one mostly follows from it. */
__attribute__((format(printf, 3, 4))) static const cg_expr *fail(parser *p, size_t offset,
                                                                 const char *format, ...)
{
    char message[512];
    va_list args;
    if (p->failed)
        return NULL;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    cg_error(p->d, p->e->file->name, cg_at(&p->e->pointwise, offset), "%s", message);
    p->failed = true;
    return NULL;
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

static cg_expr *node(parser *p, cg_expr_kind kind, size_t offset)
{
    if (++p->nodes > NODES) {
        fail(p, offset, "the expression has more than %d parts; write a kernel by hand", NODES);
        return NULL;
    }
    cg_expr *x = tn__arena_alloc(p->a, sizeof *x);
    if (!x) {
        fail(p, offset, "out of memory");
        return NULL;
    }
    x->kind = kind;
    x->offset = offset;
    return x;
}

static const cg_expr *call(parser *p, size_t offset, const char *name, const cg_expr *a,
                           const cg_expr *b, const cg_expr *c)
{
    cg_expr *x = node(p, CG_EXPR_CALL, offset);
    if (!x || !a)
        return NULL;
    x->word = cg_word_find(name, strlen(name));
    x->operands[0] = a;
    x->operands[1] = b;
    x->operands[2] = c;
    return x;
}

/* ---- leaves ---------------------------------------------------------------------------------- */
static bool is_floating(const char *literal)
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

static const cg_expr *parse_number(parser *p)
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
    cg_expr *x = node(p, CG_EXPR_NUMBER, (size_t)(begin - p->text));
    if (!x || !literal)
        return NULL;
    strtod(literal, &end);
    if (*end)
        return fail(p, x->offset, "this is not a number; write it like 2, 0.5 or 1e-3");
    if (!is_floating(literal) && !is_c_integer(literal))
        return fail(p, x->offset,
                    "C would read this integer as another one, or not at all; leave leading zeros "
                    "out, and give what is larger than 64 bits a decimal point");
    x->text = literal;
    return x;
}

static const char *list_args(char *buf, size_t cap, const tn__schema *s)
{
    size_t n = 0;
    for (int i = 0; i < s->n_args && n < cap; i++)
        n += (size_t)snprintf(buf + n, cap - n, "%s%s", i ? ", " : "", s->args[i].name);
    return buf;
}

static const cg_expr *parse_argument(parser *p, const char *name, size_t n)
{
    const tn__schema *s = p->e->schema;
    for (int i = 0; i < s->n_args; i++) {
        if (strlen(s->args[i].name) != n || memcmp(s->args[i].name, name, n) != 0)
            continue;
        cg_expr *x = node(p, CG_EXPR_ARG, (size_t)(name - p->text));
        if (!x)
            return NULL;
        x->text = s->args[i].name;
        x->index = i;
        return x;
    }
    char args[256];
    return fail(p, (size_t)(name - p->text),
                "'%.*s' is no argument of this operator; its arguments are %s",
                (int)(n < 64 ? n : 64), name, list_args(args, sizeof args, s));
}

static const cg_expr *unknown_function(parser *p, const char *name, size_t n)
{
    const char *names[128];
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(n < 60 ? n : 60), name);
    const char *near = cg_near(word, names, (int)cg_word_names(names, 128));
    size_t offset = (size_t)(name - p->text);
    if (near)
        return fail(p, offset, "there is no function '%s'; did you mean '%s'?", word, near);
    return fail(p, offset, "there is no function '%s'; docs/schema.md lists them", word);
}

static const cg_expr *parse_call(parser *p, const char *name, size_t n)
{
    const cg_word *w = cg_word_find(name, n);
    if (!w)
        return unknown_function(p, name, n);
    cg_expr *x = node(p, CG_EXPR_CALL, (size_t)(name - p->text));
    int count = 0;
    if (!x)
        return NULL;
    x->word = w;
    do {
        const cg_expr *operand = parse_expr(p);
        if (!operand)
            return NULL;
        if (count < 3)
            x->operands[count] = operand;
        count++;
    } while (take(p, ","));
    if (!take(p, ")"))
        return fail(p, here(p), "the arguments of %s are not closed; write ',' or ')' here",
                    w->name);
    static const char *const forms[] = {"", "a", "a, b", "a, b, c"};
    if (count != w->arity)
        return fail(p, x->offset, "%s takes %d argument%s, got %d; write %s(%s)", w->name, w->arity,
                    w->arity == 1 ? "" : "s", count, w->name, forms[w->arity]);
    return x;
}

static const cg_expr *parse_primary(parser *p)
{
    skip_space(p);
    const char *begin = p->at;
    if (isdigit((unsigned char)*begin) || *begin == '.')
        return parse_number(p);
    if (isalpha((unsigned char)*begin) || *begin == '_') {
        while (isalnum((unsigned char)*p->at) || *p->at == '_')
            p->at++;
        size_t n = (size_t)(p->at - begin);
        return take(p, "(") ? parse_call(p, begin, n) : parse_argument(p, begin, n);
    }
    if (!take(p, "("))
        return *begin ? fail(p, here(p),
                             "'%c' cannot stand here; write an argument's name, a number, a "
                             "function or '('",
                             *begin)
                      : fail(p, here(p),
                             "the expression ends too early; write an argument's name, a number or "
                             "a function");
    const cg_expr *x = parse_expr(p);
    if (x && !take(p, ")"))
        return fail(p, here(p), "a parenthesis is not closed; write ')' here");
    return x;
}

static const cg_expr *parse_unary(parser *p)
{
    skip_space(p);
    size_t offset = here(p);
    if (++p->depth > DEPTH)
        return fail(p, offset, "the expression is nested more than %d deep; use fewer parentheses",
                    DEPTH);
    const cg_expr *x;
    if (take(p, "-"))
        x = call(p, offset, "neg", parse_unary(p), NULL, NULL);
    else if (*p->at == '!' && p->at[1] != '=' && take(p, "!"))
        x = call(p, offset, "logical_not", parse_unary(p), NULL, NULL);
    else
        x = parse_primary(p);
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
enum { LEVELS = 5 };

static const binary *take_binary(parser *p, int level)
{
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++)
        if (binaries[i].level == level && take(p, binaries[i].token))
            return &binaries[i];
    return NULL;
}

static const cg_expr *parse_level(parser *p, int level)
{
    if (level == LEVELS)
        return parse_unary(p);
    const cg_expr *left = parse_level(p, level + 1);
    while (left) {
        skip_space(p);
        size_t offset = here(p);
        const binary *b = take_binary(p, level);
        if (!b)
            break;
        const cg_expr *right = parse_level(p, level + 1);
        if (!right)
            return NULL;
        left = call(p, offset, b->word, left, right, NULL);
    }
    return left;
}

static const cg_expr *parse_expr(parser *p)
{
    const cg_expr *condition = parse_level(p, 0);
    if (!condition)
        return NULL;
    skip_space(p);
    size_t offset = here(p);
    if (!take(p, "?"))
        return condition;
    const cg_expr *yes = parse_expr(p);
    if (!yes)
        return NULL;
    if (!take(p, ":"))
        return fail(p, here(p), "the '?' before has no ':'; write condition ? value : value");
    const cg_expr *no = parse_expr(p);
    return no ? call(p, offset, "where", condition, yes, no) : NULL;
}

/* ---- types ----------------------------------------------------------------------------------- */
static const cg_expr *as_bool(parser *p, const cg_expr *x)
{
    if (!x || x->is_bool)
        return x;
    cg_expr *t = (cg_expr *)call(p, x->offset, "truth", x, NULL, NULL);
    if (t)
        t->is_bool = true;
    return t;
}

/* Settles is_bool bottom up and collects what the expression asks of the dtype. */
static void settle(parser *p, cg_expr *x, cg_pointwise *out)
{
    if (x->kind == CG_EXPR_NUMBER && is_floating(x->text)) {
        out->dtypes &= TN_DTYPES_FLOATING |
                       TN_DTYPES_COMPLEX; /* 0.5 * self makes integers floating */
        out->kind |= TN_POINTWISE_FLOAT;
    }
    if (x->kind != CG_EXPR_CALL || p->failed)
        return;
    bool select = x->word->arity == 3;
    for (int i = 0; i < x->word->arity; i++) {
        settle(p, (cg_expr *)x->operands[i], out);
        bool wants_bool = x->word->takes_bool || (select && i == 0);
        if (wants_bool)
            x->operands[i] = as_bool(p, x->operands[i]);
        else if (x->operands[i]->is_bool && !select)
            fail(p, x->operands[i]->offset,
                 "a truth value cannot be computed with; write 'condition ? 1 : 0'");
    }
    if (p->failed)
        return;
    if (select && x->operands[1]->is_bool != x->operands[2]->is_bool)
        fail(p, x->offset,
             "the two sides of '?:' are a number and a truth value; make both the same");
    x->is_bool = select ? x->operands[1]->is_bool : x->word->gives_bool;
    out->dtypes &= x->word->dtypes;
    if (x->word->needs_floating)
        out->kind |= TN_POINTWISE_FLOAT;
}

static bool check_argument(parser *p, const cg_expr *x)
{
    if (x->kind == CG_EXPR_CALL) {
        for (int i = 0; i < x->word->arity; i++)
            if (!check_argument(p, x->operands[i]))
                return false;
        return true;
    }
    if (x->kind == CG_EXPR_NUMBER)
        return true;
    const tn__type *t = p->e->schema->args[x->index].type;
    if (t->kind == TN__TYPE_TENSOR || t->kind == TN__TYPE_SCALAR)
        return true;
    fail(p, x->offset,
         "'%s' is neither a Tensor nor a Scalar, or is optional; only arguments that are always a "
         "Tensor or a Scalar can stand in an expression",
         x->text);
    return false;
}

/* cg_dtypes numbers dtypes as PyTorch does; ours are tenon/base.h's. */
tn_dtypes cg_own_dtypes(cg_dtypes set)
{
    static const int8_t ours[] = {TN_U8, TN_I8,  TN_I16,  TN_I32,  TN_I64, TN_F16, TN_F32, TN_F64,
                                  -1,    TN_C64, TN_C128, TN_BOOL, -1,     -1,     -1,     TN_BF16};
    tn_dtypes out = 0;
    for (size_t i = 0; i < sizeof ours; i++)
        if (set >> i & 1 && ours[i] >= 0)
            out |= TN_DTYPE_BIT(ours[i]);
    return out;
}

bool cg_pointwise_parse(cg_diag *d, tn__arena *a, const cg_entry *e, cg_pointwise *out)
{
    parser p = {.d = d, .a = a, .e = e, .text = e->pointwise.text, .at = e->pointwise.text};
    *out = (cg_pointwise){.dtypes = TN_DTYPES_ALL, .kind = TN_POINTWISE};
    out->root = parse_expr(&p);
    skip_space(&p);
    if (out->root && *p.at)
        fail(&p, here(&p),
             "expected an operator or the end of the expression; operators are + - * / == != < <= "
             "> >= "
             "&& || ! ?:");
    if (!p.failed && out->root && check_argument(&p, out->root))
        settle(&p, (cg_expr *)out->root, out);
    if (p.failed || !out->root)
        return false;
    if (out->root->is_bool)
        out->kind |= TN_POINTWISE_BOOL;
    if (e->dtypes)
        out->dtypes &= cg_own_dtypes(e->dtypes);
    if (!out->dtypes)
        fail(&p, 0,
             "no dtype is left: what the expression uses and the dtypes key exclude each other");
    return !p.failed;
}

/* ---- C --------------------------------------------------------------------------------------- */
/* The loops' own names, which an argument may have too. */
const char *cg_local_name(const char *argument)
{
    static const char *const taken[][2] = {
        {"a", "a_"},           {"call", "call_"}, {"data", "data_"},       {"i", "i_"},
        {"n", "n_"},           {"out", "out_"},   {"numbers", "numbers_"}, {"params", "params_"},
        {"result", "result_"}, {"s", "s_"},       {"type", "type_"},       {"x", "x_"},
        {"p1", "p1_"},         {"p2", "p2_"},     {"p3", "p3_"},           {"p4", "p4_"},
        {"s0", "s0_"},         {"s1", "s1_"},     {"s2", "s2_"},           {"s3", "s3_"},
        {"s4", "s4_"},
    };
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(taken[i][0], argument) == 0)
            return taken[i][1];
    return argument;
}

void cg_expr_print(const cg_expr *e, const char *suffix, FILE *to)
{
    if (e->kind == CG_EXPR_ARG) {
        fputs(cg_local_name(e->text), to);
        return;
    }
    if (e->kind == CG_EXPR_NUMBER) {
        fprintf(to, "tnm_number_%s(%s)", suffix, e->text);
        return;
    }
    if (e->word->arity == 3) {
        fputc('(', to);
        cg_expr_print(e->operands[0], suffix, to);
        fputs(" ? ", to);
        cg_expr_print(e->operands[1], suffix, to);
        fputs(" : ", to);
        cg_expr_print(e->operands[2], suffix, to);
        fputc(')', to);
        return;
    }
    if (e->word->takes_bool)
        fprintf(to, "tnm_%s(", e->word->name);
    else
        fprintf(to, "tnm_%s_%s(", e->word->name, suffix);
    for (int i = 0; i < e->word->arity; i++) {
        if (i)
            fputs(", ", to);
        cg_expr_print(e->operands[i], suffix, to);
    }
    fputc(')', to);
}

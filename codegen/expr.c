/* expr.c - what an expression means: names and functions of a syntax tree, then one walk that settles
 * types. The first error of an expression is reported, at its place in the YAML file. */
#include "expr.h"

#include <stdarg.h>
#include <string.h>

#include "syntax.h"

typedef struct parser {
    cg_diag *d;
    tn__arena *a;
    const cg_entry *e;
    bool failed;
} parser;

static const cg_expr *resolve(parser *p, const cg_syntax *x);

static const cg_str *text_of(const cg_entry *e)
{
    return e->pointwise.text ? &e->pointwise : &e->reference;
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
    cg_error(p->d, p->e->file->name, cg_at(text_of(p->e), offset), "%s", message);
    p->failed = true;
    return NULL;
}

static cg_expr *node(parser *p, cg_expr_kind kind, size_t offset)
{
    cg_expr *x = tn__arena_alloc(p->a, sizeof *x);
    if (!x) {
        fail(p, offset, "out of memory");
        return NULL;
    }
    x->kind = kind;
    x->offset = offset;
    return x;
}

/* ---- names ----------------------------------------------------------------------------------- */
static const char *list_args(char *buf, size_t cap, const tn__schema *s)
{
    size_t n = 0;
    for (int i = 0; i < s->n_args && n < cap; i++)
        n += (size_t)snprintf(buf + n, cap - n, "%s%s", i ? ", " : "", s->args[i].name);
    return buf;
}

static const cg_expr *resolve_argument(parser *p, const cg_syntax *x)
{
    const tn__schema *s = p->e->schema;
    for (int i = 0; i < s->n_args; i++) {
        if (strcmp(s->args[i].name, x->text) != 0)
            continue;
        cg_expr *e = node(p, CG_EXPR_ARG, x->offset);
        if (!e)
            return NULL;
        e->text = s->args[i].name;
        e->index = i;
        return e;
    }
    char args[256];
    return fail(p, x->offset, "'%.64s' is no argument of this operator; its arguments are %s",
                x->text, list_args(args, sizeof args, s));
}

static const cg_expr *unknown_function(parser *p, const cg_syntax *x)
{
    const char *names[128];
    const char *near = cg_near(x->text, names, (int)cg_word_names(names, 128));
    if (near)
        return fail(p, x->offset, "there is no function '%.60s'; did you mean '%s'?", x->text,
                    near);
    return fail(p, x->offset, "there is no function '%.60s'; docs/schema.md lists them", x->text);
}

static const cg_expr *resolve_call(parser *p, const cg_syntax *x)
{
    static const char *const forms[] = {"", "a", "a, b", "a, b, c"};
    const cg_word *w = cg_word_find(x->text, strlen(x->text));
    if (!w)
        return unknown_function(p, x);
    if (x->n != w->arity)
        return fail(p, x->offset, "%s takes %d argument%s, got %d; write %s(%s)", w->name, w->arity,
                    w->arity == 1 ? "" : "s", x->n, w->name, forms[w->arity]);
    cg_expr *e = node(p, CG_EXPR_CALL, x->offset);
    if (!e)
        return NULL;
    e->word = w;
    for (int i = 0; i < w->arity; i++) {
        e->operands[i] = resolve(p, x->operands[i]);
        if (!e->operands[i])
            return NULL;
    }
    return e;
}

static const cg_expr *resolve(parser *p, const cg_syntax *x)
{
    if (x->kind == CG_SYNTAX_CALL)
        return resolve_call(p, x);
    if (x->kind == CG_SYNTAX_NAME)
        return resolve_argument(p, x);
    cg_expr *e = node(p, CG_EXPR_NUMBER, x->offset);
    if (e)
        e->text = x->text;
    return e;
}

/* ---- types ----------------------------------------------------------------------------------- */
static const cg_expr *as_bool(parser *p, const cg_expr *x)
{
    if (!x || x->is_bool)
        return x;
    cg_expr *t = node(p, CG_EXPR_CALL, x->offset);
    if (!t)
        return NULL;
    t->word = cg_word_find("truth", strlen("truth"));
    t->operands[0] = x;
    t->is_bool = true;
    return t;
}

/* Settles is_bool bottom up and collects what the expression asks of the dtype. */
static void settle(parser *p, cg_expr *x, cg_pointwise *out)
{
    if (x->kind == CG_EXPR_NUMBER && cg_literal_is_floating(x->text)) {
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
    parser p = {.d = d, .a = a, .e = e};
    const cg_syntax_source source = {e->file->name, text_of(e), false};
    const cg_syntax *syntax = cg_syntax_parse(d, a, &source);
    *out = (cg_pointwise){.dtypes = TN_DTYPES_ALL, .kind = TN_POINTWISE};
    if (!syntax)
        return false;
    out->root = resolve(&p, syntax);
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

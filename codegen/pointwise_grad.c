/* pointwise_grad.c - the gradient of an expression, in reverse mode: walks the tree from its root with
 * the gradient that arrives at each node, and sums up what arrives at each argument. Every function of
 * the language has a rule, a formula of the gradient g, the operands a and b and the node's own value
 * r. What comes out is the text of a formula, read like one that somebody wrote.
 *
 * A selection selects last: the gradient of each side is computed with all of g, then where() takes
 * it or an exact zero. The other way round, zero times an infinite derivative of the side that was not
 * selected would be a NaN. */
#include <string.h>

#include "derivatives_impl.h"
#include "syntax.h"

enum { ARGUMENTS = 64, PARTS = 1024 };

typedef struct rule {
    const char *word, *a, *b; /* NULL: the operand has no gradient */
    bool selects;             /* g is then the gradient that the operand's own leaves have */
} rule;

static const rule rules[] = {
    {"add", "g", "g", false},
    {"sub", "g", "-g", false},
    {"mul", "g * conj(b)", "g * conj(a)", false},
    {"div", "g / conj(b)", "-g * conj(r / b)", false},
    {"neg", "-g", NULL, false},
    {"positive", "g", NULL, false},
    {"abs", "g * sign(a)", NULL, false},
    {"square", "g * conj(2 * a)", NULL, false},
    {"reciprocal", "-g * conj(r * r)", NULL, false},
    {"exp", "g * conj(r)", NULL, false},
    {"exp2", "g * conj(r) * 0.6931471805599453", NULL, false},
    {"expm1", "g * conj(r + 1)", NULL, false},
    {"log", "g / conj(a)", NULL, false},
    {"log2", "g / conj(a * 0.6931471805599453)", NULL, false},
    {"log10", "g / conj(a * 2.302585092994046)", NULL, false},
    {"log1p", "g / conj(a + 1)", NULL, false},
    {"sqrt", "g / conj(2 * r)", NULL, false},
    {"rsqrt", "g * conj(r * r * r) * -0.5", NULL, false},
    {"sin", "g * conj(cos(a))", NULL, false},
    {"cos", "-g * conj(sin(a))", NULL, false},
    {"tan", "g * conj(1 + r * r)", NULL, false},
    {"asin", "g * conj(rsqrt(1 - a * a))", NULL, false},
    {"acos", "-g * conj(rsqrt(1 - a * a))", NULL, false},
    {"atan", "g / conj(1 + a * a)", NULL, false},
    {"sinh", "g * conj(cosh(a))", NULL, false},
    {"cosh", "g * conj(sinh(a))", NULL, false},
    {"tanh", "g * conj(1 - r * r)", NULL, false},
    {"asinh", "g * conj(rsqrt(1 + a * a))", NULL, false},
    {"acosh", "g * conj(rsqrt(a - 1) * rsqrt(a + 1))", NULL,
     false}, /* on the right branch everywhere */
    {"atanh", "g / conj(1 - a * a)", NULL, false},
    {"sigmoid", "g * conj(r * (1 - r))", NULL, false},
    {"erf", "g * exp(-(a * a)) * 1.1283791670955126", NULL, false},
    {"erfc", "g * exp(-(a * a)) * -1.1283791670955126", NULL, false},
    {"atan2", "g * (b / (a * a + b * b))", "-g * (a / (a * a + b * b))", false},
    {"hypot", "g * (a / r)", "g * (b / r)", false},
    /* selections: of equals each takes half */
    {"maximum", "where(a < b, 0, where(a == b, g / 2, g))",
     "where(a > b, 0, where(a == b, g / 2, g))", true},
    {"minimum", "where(a > b, 0, where(a == b, g / 2, g))",
     "where(a < b, 0, where(a == b, g / 2, g))", true},
    {"fmax", "where(a >= b || isnan(b), g, 0)", "where(a >= b || isnan(b), 0, g)", true},
    {"fmin", "where(a <= b || isnan(b), g, 0)", "where(a <= b || isnan(b), 0, g)", true},
    {"copysign", "where(a == 0, 0, g * (r / a))", NULL, true},
    /* steps: flat wherever they have a derivative */
    {"sign", NULL, NULL, false},
    {"floor", NULL, NULL, false},
    {"ceil", NULL, NULL, false},
    {"trunc", NULL, NULL, false},
    {"round", NULL, NULL, false},
};

typedef struct deriver {
    cg_maker *m;
    const cg_group *g;
    bool is_complex; /* the expression is defined for complex numbers: conj matters */
    bool no_memory;
    const cg_syntax **sums;         /* [ARGUMENTS] */
    const char *missing[ARGUMENTS]; /* the function without a rule through which it goes */
    bool used[ARGUMENTS];
} deriver;

static const rule *find_rule(const char *word)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].word, word) == 0)
            return &rules[i];
    return NULL;
}

static bool is_tensor(const deriver *r, const cg_expr *e)
{
    if (e->kind == CG_EXPR_ARG)
        return r->g->entry->schema->args[e->index].type->kind == TN__TYPE_TENSOR;
    for (int i = 0; e->kind == CG_EXPR_CALL && i < e->word->arity; i++)
        if (is_tensor(r, e->operands[i]))
            return true;
    return false;
}

/* Numbers that the host can compute with, and compare: what formula_host.c has operators for. */
static bool is_of_host(const deriver *r, const cg_expr *e)
{
    static const char *const words[] = {
        "add", "sub", "mul", "div",   "neg",         "eq",         "ne",          "lt",
        "le",  "gt",  "ge",  "truth", "logical_and", "logical_or", "logical_not", "where"};
    bool known = e->kind == CG_EXPR_CALL ? false : !is_tensor(r, e);
    for (size_t i = 0; e->kind == CG_EXPR_CALL && i < sizeof words / sizeof *words; i++)
        known |= strcmp(words[i], e->word->name) == 0;
    for (int i = 0; known && e->kind == CG_EXPR_CALL && i < e->word->arity; i++)
        known = is_of_host(r, e->operands[i]);
    return known;
}

/* ---- building -------------------------------------------------------------------------------- */
static const cg_syntax *leaf(deriver *r, cg_syntax_kind kind, const char *text)
{
    const cg_syntax *x = cg_syntax_leaf(r->m->a, kind, text);
    r->no_memory |= !x;
    return x;
}

static const cg_syntax *call(deriver *r, const char *token, const char *name, int n,
                             const cg_syntax *const *operands)
{
    const cg_syntax *x = cg_syntax_call(r->m->a, token, name, n, operands);
    r->no_memory |= !x;
    return x;
}

/* where(c, a, b) of operators; c ? a : b when c is decided on the host. */
static const cg_syntax *select(deriver *r, bool on_host, const cg_syntax *c, const cg_syntax *a,
                               const cg_syntax *b)
{
    const cg_syntax *operands[] = {c, a, b};
    return call(r, on_host ? "?" : NULL, "where", 3, operands);
}

static const cg_syntax *value(deriver *r, const cg_expr *e);

/* where() takes a tensor for what it is worth, the host's ?: a comparison. */
static const cg_syntax *condition(deriver *r, const cg_expr *e)
{
    bool is_truth = e->kind == CG_EXPR_CALL && strcmp(e->word->name, "truth") == 0;
    return value(r, is_truth && !is_of_host(r, e) ? e->operands[0] : e);
}

/* The value of a node, computed anew from the arguments; of the root, the result. */
static const cg_syntax *value(deriver *r, const cg_expr *e)
{
    const cg_syntax *operands[3] = {NULL};
    if (e == r->g->pointwise.root)
        return leaf(r, CG_SYNTAX_NAME, r->g->forms[0]->layout->fields[0].name);
    if (e->kind != CG_EXPR_CALL)
        return leaf(r, e->kind == CG_EXPR_ARG ? CG_SYNTAX_NAME : CG_SYNTAX_NUMBER, e->text);
    for (int i = 0; i < e->word->arity; i++)
        operands[i] = value(r, e->operands[i]);
    if (e->word->arity == 3)
        return select(r, is_of_host(r, e->operands[0]), condition(r, e->operands[0]), operands[1],
                      operands[2]);
    if (strcmp(e->word->name, "truth") == 0) {
        operands[1] = leaf(r, CG_SYNTAX_NUMBER, "0");
        return call(r, "!=", "ne", 2, operands);
    }
    return call(r, cg_syntax_token(e->word->name, e->word->arity), e->word->name, e->word->arity,
                operands);
}

/* ---- rules ----------------------------------------------------------------------------------- */
typedef struct names {
    const cg_syntax *g, *a, *b, *r;
} names;

static const cg_syntax *named(const names *n, const char *name)
{
    return name[1]          ? NULL
           : name[0] == 'g' ? n->g
           : name[0] == 'a' ? n->a
           : name[0] == 'b' ? n->b
           : name[0] == 'r' ? n->r
                            : NULL;
}

/* A rule with its names replaced. conj stays where it can matter. */
static const cg_syntax *substitute(deriver *r, const cg_syntax *x, const names *n)
{
    const cg_syntax *operands[3] = {NULL};
    if (x->kind == CG_SYNTAX_NAME)
        return named(n, x->text);
    if (x->kind != CG_SYNTAX_CALL)
        return x;
    for (int i = 0; i < x->n && i < 3; i++)
        operands[i] = substitute(r, x->operands[i], n);
    bool is_conj = strcmp(x->text, "conj") == 0;
    if (is_conj && operands[0] && (!r->is_complex || operands[0]->kind == CG_SYNTAX_NUMBER))
        return operands[0];
    return call(r, x->token, x->text, x->n, operands);
}

static const cg_syntax *apply(deriver *r, const char *formula, const names *n)
{
    const cg_str text = {formula, {0, 0}, NULL, 'p'};
    const cg_syntax_source source = {"rule", &text, true};
    const cg_syntax *x = cg_syntax_parse(r->m->d, r->m->a, &source);
    r->no_memory |= !x;
    return x ? substitute(r, x, n) : NULL;
}

/* ---- the walk -------------------------------------------------------------------------------- */
static void walk(deriver *r, const cg_expr *e, const cg_syntax *g);

static void arrive(deriver *r, int argument, const cg_syntax *g)
{
    const cg_syntax *operands[] = {r->sums[argument], g};
    r->sums[argument] = operands[0] ? call(r, "+", "add", 2, operands) : g;
}

/* A function without a rule: what lies below it has no gradient that can be written down. */
static void give_up(deriver *r, const cg_expr *e, const char *word)
{
    if (e->kind == CG_EXPR_ARG && is_tensor(r, e))
        r->missing[e->index] = word;
    for (int i = 0; e->kind == CG_EXPR_CALL && i < e->word->arity; i++)
        give_up(r, e->operands[i], word);
}

/* The gradients of one side of a selection, all of g given: into sums of their own. */
static void walk_side(deriver *r, const cg_expr *e, const cg_syntax *g, const cg_syntax **sums)
{
    const cg_syntax **outer = r->sums;
    r->sums = sums;
    walk(r, e, g);
    r->sums = outer;
}

static void walk_selection(deriver *r, const cg_expr *e, const cg_syntax *g)
{
    const cg_syntax *yes[ARGUMENTS] = {NULL}, *no[ARGUMENTS] = {NULL};
    bool on_host = is_of_host(r, e->operands[0]);
    const cg_syntax *zero = on_host ? leaf(r, CG_SYNTAX_NAME, "None")
                                    : leaf(r, CG_SYNTAX_NUMBER, "0");
    walk_side(r, e->operands[1], g, yes);
    walk_side(r, e->operands[2], g, no);
    for (int i = 0; i < ARGUMENTS; i++)
        if (yes[i] || no[i])
            arrive(r, i,
                   select(r, on_host, condition(r, e->operands[0]), yes[i] ? yes[i] : zero,
                          no[i] ? no[i] : zero));
}

static void walk_operand(deriver *r, const rule *with, const char *formula, const cg_expr *operand,
                         names n)
{
    const cg_syntax *sums[ARGUMENTS] = {NULL};
    if (!formula || !is_tensor(r, operand))
        return;
    if (!with->selects) {
        walk(r, operand, apply(r, formula, &n));
        return;
    }
    walk_side(r, operand, n.g, sums);
    for (int i = 0; i < ARGUMENTS; i++)
        if (sums[i]) {
            n.g = sums[i];
            arrive(r, i, apply(r, formula, &n));
        }
}

static void walk(deriver *r, const cg_expr *e, const cg_syntax *g)
{
    if (!g || r->no_memory || e->is_bool || !is_tensor(r, e))
        return;
    if (e->kind == CG_EXPR_ARG) {
        arrive(r, e->index, g);
        return;
    }
    if (e->word->arity == 3) {
        walk_selection(r, e, g);
        return;
    }
    const rule *with = find_rule(e->word->name);
    if (!with) {
        give_up(r, e, e->word->name);
        return;
    }
    const names n = {g, value(r, e->operands[0]),
                     e->word->arity > 1 ? value(r, e->operands[1]) : NULL, value(r, e)};
    walk_operand(r, with, with->a, e->operands[0], n);
    if (e->word->arity > 1)
        walk_operand(r, with, with->b, e->operands[1], n);
}

/* What stands in conditions alone has no gradient. */
static void find_used(deriver *r, const cg_expr *e)
{
    if (e->kind == CG_EXPR_ARG)
        r->used[e->index] = is_tensor(r, e);
    for (int i = 0; e->kind == CG_EXPR_CALL && !e->is_bool && i < e->word->arity; i++)
        find_used(r, e->operands[i]);
}

/* ---- the derivative -------------------------------------------------------------------------- */
/* Counts no further than PARTS: subtrees are shared, so the text may be far longer than the tree. */
static int count_parts(const cg_syntax *x, int so_far)
{
    so_far++;
    for (int i = 0; i < x->n && so_far <= PARTS; i++)
        so_far = count_parts(x->operands[i], so_far);
    return so_far;
}

static void refuse(deriver *r, cg_derivative *d, int bit, int argument, const char *why,
                   const char *word)
{
    char text[160];
    snprintf(text, sizeof text, why, word);
    d->flags[d->arguments[bit]] |= TN_FIELD_NO_FORMULA;
    char *kept = tn__arena_strndup(r->m->a, text, strlen(text));
    r->no_memory |= !kept;
    d->backward[d->n_backward++] = (cg_rule){.kind = CG_RULE_NOT_IMPLEMENTED,
                                             .who = r->g->entry->schema->args[argument].name,
                                             .text = kept,
                                             .why = kept,
                                             .bits = UINT64_C(1) << bit,
                                             .result = -1};
}

static void add_gradient(deriver *r, cg_derivative *d, int bit, int argument)
{
    const cg_syntax *sum = r->sums[argument];
    cg_str *str = cg_maker_alloc(r->m, sizeof *str);
    if (r->missing[argument]) {
        refuse(r, d, bit, argument, "the derivative of %s is not known", r->missing[argument]);
        return;
    }
    if (sum && count_parts(sum, 0) > PARTS) {
        refuse(r, d, bit, argument, "its formula is too long to be derived%s", "");
        return;
    }
    const char *text = sum ? cg_syntax_print(r->m->a, sum) : "zeros_like(grad)";
    r->no_memory |= !text;
    if (!str || !text)
        return;
    *str = (cg_str){text, r->g->entry->pointwise.pos, NULL, 'p'};
    cg_derivative_add(r->m, d,
                      &(cg_rule_source){.who = r->g->entry->schema->args[argument].name,
                                        .str = str,
                                        .bits = UINT64_C(1) << bit,
                                        .result = -1,
                                        .is_derived = true});
}

static bool is_differentiable(const cg_group *g)
{
    return !(g->pointwise.kind & TN_POINTWISE_BOOL) && g->entry->schema->n_args <= ARGUMENTS &&
           g->pointwise.dtypes & (TN_DTYPES_FLOATING | TN_DTYPES_COMPLEX);
}

void cg_derivative_derive(cg_maker *m, const cg_group *g)
{
    const cg_syntax *sums[ARGUMENTS] = {NULL};
    deriver r = {
        .m = m, .g = g, .is_complex = g->pointwise.dtypes & TN_DTYPES_COMPLEX, .sums = sums};
    if (!is_differentiable(g))
        return;
    find_used(&r, g->pointwise.root);
    walk(&r, g->pointwise.root, leaf(&r, CG_SYNTAX_NAME, "grad"));
    cg_derivative *d =
        r.no_memory ? NULL : cg_derivative_start(m, g->forms[0], false, g->entry->pointwise.pos);
    if (d) {
        const tn__layout *l = d->op->layout;
        d->is_derived = true;
        d->file = g->entry->file->name;
        d->forward_flags = TN_FORWARD_ELEMENTWISE;
        for (int i = 0; i < l->n_args; i++)
            if (r.used[i]) {
                ((int *)d->arguments)[d->n_arguments++] = l->n_results + i;
                d->flags[l->n_results + i] |= TN_FIELD_DIFFERENTIABLE;
            }
        for (int bit = 0; bit < d->n_arguments; bit++)
            add_gradient(&r, d, bit, d->arguments[bit] - l->n_results);
    }
    m->d->no_memory |= r.no_memory;
}

/* reference.c - tells the two kinds of `reference` apart, and finds the mistakes of formulas. The
 * typing that derivatives are generated from (formula.h) checks calls here; its result is not
 * used. */
#include "reference.h"

#include <string.h>

#include "formula.h"

static const tn__arg *find_argument(const cg_entry *e, const char *name)
{
    for (int i = 0; i < e->schema->n_args; i++)
        if (strcmp(e->schema->args[i].name, name) == 0)
            return &e->schema->args[i];
    return NULL;
}

static bool is_literal(const char *name)
{
    return strcmp(name, "True") == 0 || strcmp(name, "False") == 0 || strcmp(name, "None") == 0;
}

/* Could it stand behind `pointwise`? A name that is none at all could: it is a mistake there. */
static bool is_expression(const cg_entry *e, const cg_syntax *x)
{
    if (x->kind == CG_SYNTAX_NAME) {
        const tn__arg *arg = find_argument(e, x->text);
        tn__type_kind kind = arg ? arg->type->kind : TN__TYPE_TENSOR;
        return !is_literal(x->text) && (kind == TN__TYPE_TENSOR || kind == TN__TYPE_SCALAR);
    }
    if (x->kind != CG_SYNTAX_CALL)
        return x->kind == CG_SYNTAX_NUMBER;
    const cg_word *word = cg_word_find(x->text, strlen(x->text));
    if (x->is_method || !word || word->arity != x->n)
        return false;
    for (int i = 0; i < x->n; i++)
        if (x->keywords[i] || !is_expression(e, x->operands[i]))
            return false;
    return true;
}

/* ---- names of a formula ---------------------------------------------------------------------- */
typedef struct checker {
    cg_diag *d;
    const cg_entry *e;
    bool failed;
} checker;

static void refuse(checker *c, const cg_syntax *x, const char *what)
{
    cg_error(c->d, c->e->file->name, cg_at(&c->e->reference, x->offset), "%s", what);
    c->failed = true;
}

static void unknown(checker *c, const cg_syntax *x)
{
    const char *names[64] = {"True", "False", "None"};
    int n = 3;
    for (int i = 0; i < c->e->schema->n_args && n < 64; i++)
        names[n++] = c->e->schema->args[i].name;
    const char *near = cg_near(x->text, names, n);
    char message[200];
    snprintf(message, sizeof message, "there is no argument '%.60s'%s%.60s%s", x->text,
             near ? "; did you mean '" : "; write one of the schema's", near ? near : "",
             near ? "'?" : "");
    refuse(c, x, message);
}

static void check_names(checker *c, const cg_syntax *x)
{
    if (c->failed)
        return;
    if (x->kind == CG_SYNTAX_NAME && !is_literal(x->text) && !find_argument(c->e, x->text))
        unknown(c, x);
    if (x->kind == CG_SYNTAX_CALL && !x->is_method && strcmp(x->text, "wants") == 0)
        refuse(c, x, "wants is for gradients; write a formula of what the operator computes");
    /* sum.dim_IntList(self, dim): the first operand is the operator's name */
    bool is_overload = x->kind == CG_SYNTAX_CALL && x->is_method &&
                       x->operands[0]->kind == CG_SYNTAX_NAME &&
                       !find_argument(c->e, x->operands[0]->text);
    for (int i = is_overload; i < x->n; i++)
        check_names(c, x->operands[i]);
}

bool cg_reference_parse(cg_diag *d, tn__arena *a, const cg_entry *e, cg_reference *out)
{
    const cg_syntax_source source = {e->file->name, &e->reference, true};
    *out = (cg_reference){{0}, cg_syntax_parse(d, a, &source)};
    if (!out->formula)
        return false;
    if (is_expression(e, out->formula)) {
        out->formula = NULL;
        return cg_pointwise_parse(d, a, e, &out->expression);
    }
    checker c = {.d = d, .e = e};
    check_names(&c, out->formula);
    return !c.failed;
}

/* ---- calls of a formula ---------------------------------------------------------------------- */
static void check_formula(cg_diag *d, tn__arena *a, const cg_group *g, cg_derivatives *callees)
{
    const cg_entry *e = g->entry;
    cg_reference reference;
    if (!e->reference.text || !g->forms[CG_FUNCTIONAL] ||
        !cg_reference_parse(d, a, e, &reference) || !reference.formula)
        return;
    const cg_derivative none = {.op = g->forms[CG_FUNCTIONAL]};
    cg_scope scope = {.diag = d,
                      .arena = a,
                      .all = callees,
                      .of = &none,
                      .str = &e->reference,
                      .file = e->file->name,
                      .is_reference = true};
    const cg_value *v = cg_formula_type(&scope, reference.formula);
    bool tensors = v && (cg_is_tensor(v) || v->type.kind == TN_FIELD_TENSORS ||
                         v->type.kind == CG_TYPE_RESULTS);
    if (v && !tensors)
        cg_formula_fail(&scope, 0,
                        "the formula gives no Tensor; write what the operator gives, a list for "
                        "several results");
}

void cg_reference_check(cg_diag *d, tn__arena *a, const cg_ops *ops, cg_derivatives *callees)
{
    for (int i = 0; i < ops->n_groups; i++)
        check_formula(d, a, &ops->groups[i], callees);
    for (int i = 0; i < callees->n_callees; i++)
        callees->callees[i].used = false; /* nothing is generated for a test */
    memset(callees->extras, 0, sizeof callees->extras);
    memset(callees->extra_used, 0, sizeof callees->extra_used);
}

/* formula_call.c - which operator or helper a call means: all overloads of the name are tried, the one
 * whose arguments need the least conversion is taken. A schema file's own operators come before the
 * built-in ones when both fit alike. */
#include "formula.h"

#include <string.h>

#include "defaults.h"

enum { ARGUMENTS = 64, OVERLOADS = 64 };

/* How a call's operands become a callee's arguments. */
typedef struct binding {
    const cg_callee *callee;
    const cg_value *args[ARGUMENTS]; /* NULL: the default */
    int cost;                        /* -1: it does not fit, and why: */
    char why[256];
    size_t offset;
} binding;

static bool matches(const cg_callee *c, const char *name, const char *overload)
{
    return !c->is_written && strcmp(c->name, name) == 0 &&
           (!overload || strcmp(c->overload, overload) == 0);
}

bool cg_formula_can_call(const cg_scope *s, const char *name, const char *overload)
{
    for (int i = 0; i < s->all->n_callees; i++)
        if (matches(&s->all->callees[i], name, overload))
            return true;
    return false;
}

/* ---- one overload ---------------------------------------------------------------------------- */
static void misfit(binding *b, size_t offset, const char *what, const char *name)
{
    b->cost = -1;
    b->offset = offset;
    snprintf(b->why, sizeof b->why, what, name);
}

static int find_argument(const tn__schema *schema, const char *name)
{
    for (int i = 0; i < schema->n_args; i++)
        if (strcmp(schema->args[i].name, name) == 0)
            return i;
    return -1;
}

static void check_type(binding *b, int at, const cg_value *v)
{
    const tn__layout *l = b->callee->layout;
    int cost = cg_convert_cost(v, &l->fields[l->n_results + at], b->callee->schema->args[at].type);
    b->args[at] = v;
    b->cost += cost;
    if (cost >= 0)
        return;
    char type[64], declared[64];
    tn__type_print(b->callee->schema->args[at].type, declared, sizeof declared);
    snprintf(b->why, sizeof b->why, "argument '%s' is %s %s, got %s",
             b->callee->schema->args[at].name, strchr("aeiou", declared[0]) ? "an" : "a", declared,
             cg_type_name(type, sizeof type, v->type));
    b->cost = -1;
    b->offset = v->offset;
}

static void bind(binding *b, size_t offset, int n, const cg_value *const *operands,
                 const char *const *keywords)
{
    const tn__schema *schema = b->callee->schema;
    if (schema->n_args > ARGUMENTS) {
        misfit(b, offset, "it has more arguments than a formula can give%s", "");
        return;
    }
    for (int i = 0; i < n && b->cost >= 0; i++) {
        const char *keyword = keywords ? keywords[i] : NULL;
        int at = keyword ? find_argument(schema, keyword) : i;
        if (keyword && at < 0)
            misfit(b, operands[i]->offset, "it has no argument '%.60s'", keyword);
        else if (!keyword && at >= schema->n_positional)
            misfit(b, operands[i]->offset, "too many arguments without a name%s", "");
        else if (b->args[at])
            misfit(b, operands[i]->offset, "argument '%.60s' is given twice",
                   schema->args[at].name);
        else
            check_type(b, at, operands[i]);
    }
    for (int i = 0; i < schema->n_args && b->cost >= 0; i++)
        if (!b->args[i] && !schema->args[i].def)
            misfit(b, offset, "argument '%.60s' is missing", schema->args[i].name);
}

/* ---- messages -------------------------------------------------------------------------------- */
static const char *schema_text(const cg_callee *c, char *buf, size_t cap)
{
    tn__schema_print(c->schema, buf, cap);
    return buf;
}

static const cg_value *unknown(cg_scope *s, size_t offset, const char *name, const char *overload)
{
    enum { MOST = 2048 };
    const char *names[MOST];
    int n = 0;
    for (int i = 0; i < s->all->n_callees && n < MOST; i++)
        if (!s->all->callees[i].is_written)
            names[n++] = s->all->callees[i].name;
    const char *near = cg_near(name, names, n);
    if (cg_formula_can_call(s, name, NULL))
        return cg_formula_fail(s, offset, "'%.60s' has no overload '%.60s'; write %.60s(..)", name,
                               overload, name);
    if (s->derived)
        return cg_formula_fail(s, offset, "there is no operator '%.60s'; declare it", name);
    if (near)
        return cg_formula_fail(
            s, offset, "there is no operator or helper '%.60s'; did you mean '%s'?", name, near);
    if (s->is_reference)
        return cg_formula_fail(
            s, offset, "there is no operator '%.60s'; write one of Tenon's or of this file", name);
    return cg_formula_fail(s, offset,
                           "there is no operator or helper '%.60s'; declare it: '- helper: "
                           "%.60s(Tensor grad) -> Tensor'",
                           name, name);
}

static const cg_value *no_fit(cg_scope *s, size_t offset, const char *name, const binding *only,
                              int n_overloads)
{
    char text[512];
    if (n_overloads == 1)
        return cg_formula_fail(s, only->offset, "%s does not fit this call: %s; it is %s", name,
                               only->why, schema_text(only->callee, text, sizeof text));
    char list[512] = "";
    for (int i = 0; i < s->all->n_callees; i++)
        if (matches(&s->all->callees[i], name, NULL) && strlen(list) + 80 < sizeof list)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%.200s", *list ? ", " : "",
                     schema_text(&s->all->callees[i], text, sizeof text));
    return cg_formula_fail(s, offset,
                           "no overload of %s fits this call (the nearest: %s); write one of %s",
                           name, only->why, list);
}

static const cg_value *ambiguous(cg_scope *s, size_t offset, const cg_callee *a, const cg_callee *b)
{
    return cg_formula_fail(
        s, offset,
        "this call is ambiguous: %s%s%s and %s%s%s fit alike; write the overload, as "
        "%s.%s(..)",
        a->name, *a->overload ? "." : "", a->overload, b->name, *b->overload ? "." : "",
        b->overload, a->name, *a->overload ? a->overload : b->overload);
}

/* ---- the call -------------------------------------------------------------------------------- */
static cg_type result_type(const cg_callee *c)
{
    const tn__layout *l = c->layout;
    if (l->n_results != 1)
        return (cg_type){CG_TYPE_RESULTS, false, l->n_results};
    return cg_type_of_field(&l->fields[0]);
}

/* Operators give tensors, or one list of them; helpers may give anything. */
static bool check_results(cg_scope *s, size_t offset, const cg_callee *c)
{
    const tn__layout *l = c->layout;
    for (int i = 0; !c->is_helper && i < l->n_results; i++)
        if (l->fields[i].kind != TN_FIELD_TENSOR &&
            !(l->n_results == 1 && l->fields[i].kind == TN_FIELD_TENSORS)) {
            cg_formula_fail(s, offset,
                            "%s gives a %s, which a formula cannot hold; write a helper for it",
                            c->name, l->fields[i].type);
            return false;
        }
    if (l->n_results > 0)
        return true;
    cg_formula_fail(s, offset, "%s gives no result; call something that does", c->name);
    return false;
}

static const cg_value *default_of(cg_scope *s, size_t offset, const tn__layout *l,
                                  const tn_field *f)
{
    const char *text = cg_default_argument(s->arena, f, l->defaults + f->offset);
    if (!text)
        return cg_formula_fail(s, offset, "out of memory");
    return cg_value_new(s, CG_VALUE_LEAF, cg_type_of_field(f), offset, text);
}

static const cg_value *make_call(cg_scope *s, size_t offset, const binding *b)
{
    const cg_callee *c = b->callee;
    const tn__layout *l = c->layout;
    const cg_value *args[ARGUMENTS], *like = NULL;
    if (!check_results(s, offset, c))
        return NULL;
    for (int i = 0; i < l->n_args && !like; i++)
        if (b->args[i] && cg_is_tensor(b->args[i]) &&
            (b->args[i]->kind == CG_VALUE_LEAF || b->args[i]->kind == CG_VALUE_FIELD))
            like = b->args[i];
    for (int i = 0; i < l->n_args; i++) {
        const tn_field *f = &l->fields[l->n_results + i];
        args[i] = b->args[i] ? cg_convert(s, b->args[i], f, like) : default_of(s, offset, l, f);
    }
    cg_value *v = cg_value_new(s, CG_VALUE_CALL, result_type(c), offset, c->c_name);
    if (!cg_value_give(s, v, l->n_args, args))
        return NULL;
    v->callee = c;
    ((cg_callee *)c)->used = true;
    return v;
}

const cg_value *cg_formula_call(cg_scope *s, size_t offset, const char *name, const char *overload,
                                int n, const cg_value *const *operands, const char *const *keywords)
{
    binding best = {.cost = -1}, nearest = {.cost = -1};
    const cg_callee *rival = NULL;
    int n_overloads = 0;
    for (int i = 0; i < s->all->n_callees; i++) {
        const cg_callee *c = &s->all->callees[i];
        if (!matches(c, name, overload))
            continue;
        binding b = {.callee = c};
        bind(&b, offset, n, operands, keywords);
        n_overloads++;
        if (b.cost < 0) {
            nearest = nearest.callee ? nearest : b;
            continue;
        }
        bool better = best.cost < 0 || b.cost < best.cost ||
                      (b.cost == best.cost && c->is_own && !best.callee->is_own);
        bool equal = best.cost == b.cost && c->is_own == best.callee->is_own;
        rival = better ? NULL : equal ? c : rival;
        if (better)
            best = b;
    }
    if (!n_overloads)
        return unknown(s, offset, name, overload);
    if (best.cost < 0)
        return no_fit(s, offset, name, &nearest, n_overloads);
    if (rival)
        return ambiguous(s, offset, best.callee, rival);
    return make_call(s, offset, &best);
}

/* ---- extras ---------------------------------------------------------------------------------- */
static const cg_callee *use(cg_derivatives *all, const char *name, const char *overload)
{
    for (int own = 0; own < 2; own++)
        for (int i = 0; i < all->n_callees; i++) {
            cg_callee *c = &all->callees[i];
            if (c->is_own != own && matches(c, name, overload) && !c->is_helper) {
                c->used = true;
                return c;
            }
        }
    return NULL;
}

bool cg_formula_extra(cg_scope *s, size_t offset, cg_extra extra)
{
    static const char *const operators[CG_EXTRAS][2][2] = {
        [CG_EXTRA_PLUS] = {{"add", "Tensor"}},
        [CG_EXTRA_MINUS] = {{"sub", "Tensor"}, {"neg", ""}},
        [CG_EXTRA_TIMES] = {{"mul", "Scalar"}},
        [CG_EXTRA_NUMBER] = {{"scalar_tensor", ""}},
    };
    static const char *const conjugates[] = {"conj", "_conj", "conj_physical"};
    cg_derivatives *all = s->all;
    if (all->extra_used[extra])
        return true;
    all->extra_used[extra] = true;
    for (size_t i = 0; extra == CG_EXTRA_CONJ && !all->extras[extra][0] && i < 3; i++)
        all->extras[extra][0] = use(all, conjugates[i], "");
    for (int i = 0; i < 2 && operators[extra][i][0]; i++) {
        all->extras[extra][i] = use(all, operators[extra][i][0], operators[extra][i][1]);
        if (!all->extras[extra][i]) {
            all->extra_used[extra] = false;
            cg_formula_fail(s, offset,
                            "this needs the operator %s%s%s, which is not declared; declare it, or "
                            "write the formula without it",
                            operators[extra][i][0], *operators[extra][i][1] ? "." : "",
                            operators[extra][i][1]);
            return false;
        }
    }
    return true;
}

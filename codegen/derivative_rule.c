/* derivative_rule.c - what every derivative has, written or derived: flags of its results, the node's
 * name, and its formulas, each typed, checked against what it must give, and turned into C. */
#include "derivatives_impl.h"

#include <ctype.h>
#include <string.h>

#include "formula.h"

/* ---- the parts of every derivative ----------------------------------------------------------- */
/* "index_select" gives "IndexSelectBackward". */
static const char *node_name(cg_maker *m, const char *name)
{
    size_t n = 0;
    bool begins = true;
    char *s = cg_maker_alloc(m, strlen(name) + sizeof "Backward");
    for (; s && *name; name++) {
        if (*name != '_')
            s[n++] = begins ? (char)toupper((unsigned char)*name) : *name;
        begins = *name == '_';
    }
    if (s)
        strcpy(s + n, "Backward");
    return s;
}

cg_derivative *cg_derivative_start(cg_maker *m, const cg_op *op, bool gives_bool, cg_pos pos)
{
    const tn__layout *l = op->layout;
    size_t n = (size_t)(l->n_results + l->n_args) + 1;
    cg_derivative *d = &m->out->items[m->out->n];
    *d = (cg_derivative){.op = op,
                         .pos = pos,
                         .file = m->file,
                         .node = node_name(m, op->schema->name),
                         .flags = cg_maker_alloc(m, n * sizeof *d->flags),
                         .value_for = cg_maker_alloc(m, n * sizeof *d->value_for),
                         .shape_for = cg_maker_alloc(m, n * sizeof *d->shape_for),
                         .backward = cg_maker_alloc(m, n * sizeof *d->backward),
                         .forward = cg_maker_alloc(m, n * sizeof *d->forward),
                         .arguments = cg_maker_alloc(m, n * sizeof *d->arguments)};
    if (!d->node || !d->flags || !d->value_for || !d->shape_for || !d->backward || !d->forward ||
        !d->arguments)
        return NULL;
    for (int i = 0; i < l->n_results; i++)
        if (cg_field_is_tensor(&l->fields[i]) && !gives_bool)
            d->flags[i] = TN_FIELD_DIFFERENTIABLE;
    m->out->n++;
    return d;
}

/* ---- a formula ------------------------------------------------------------------------------- */
static int count_bits(uint64_t bits)
{
    int n = 0;
    for (; bits; bits &= bits - 1)
        n++;
    return n;
}

/* The one argument that a formula serves, or -1: several. */
static int only_field(const cg_derivative *d, uint64_t bits)
{
    for (int i = 0; i < d->n_arguments; i++)
        if (bits == UINT64_C(1) << i)
            return d->arguments[i];
    return -1;
}

static bool check_several(cg_scope *s, const cg_value *v, int n)
{
    char type[64];
    if (v->type.kind == CG_TYPE_RESULTS && v->type.n == n)
        return true;
    cg_formula_fail(s, v->offset,
                    "this formula serves %d arguments and gives %s; call an operator or a helper "
                    "that gives %d Tensors",
                    n, cg_type_name(type, sizeof type, v->type), n);
    return false;
}

/* What the formula gives must be what the gradient of these arguments, or the tangent, is. */
static const cg_value *check_result(cg_scope *s, const cg_value *v, const cg_rule_source *source,
                                    cg_rule *rule)
{
    const cg_derivative *d = s->of;
    char type[64];
    int n = count_bits(source->bits);
    if (n > 1) {
        rule->n_results = n;
        rule->order = source->order;
        return check_several(s, v, n) ? v : NULL;
    }
    const tn_field *f = &d->op->layout->fields[n ? only_field(d, source->bits) : source->result];
    const tn_field wanted = {.kind = f->kind, .flags = TN_FIELD_OPTIONAL};
    rule->is_list = f->kind == TN_FIELD_TENSORS;
    if (cg_convert_cost(v, &wanted, NULL) >= 0 && !cg_is_number(v) && v->type.kind != TN_FIELD_BOOL)
        return cg_convert(s, v, &wanted, NULL);
    cg_formula_fail(s, v->offset, "the %s of '%s' must be a %s, and this gives %s; %s",
                    n ? "gradient" : "tangent", f->name, rule->is_list ? "Tensor[]" : "Tensor",
                    cg_type_name(type, sizeof type, v->type),
                    v->type.kind == CG_TYPE_RESULTS
                        ? "take one of the results with [0], or name as many arguments in the key"
                        : "write a formula that does");
    return NULL;
}

static bool uses_grad(const cg_value *v)
{
    bool uses = v->uses_grad;
    for (int i = 0; i < v->n && !uses; i++)
        uses = uses_grad(v->operands[i]);
    return uses;
}

static bool uses_args(const cg_value *v)
{
    bool uses = v->kind == CG_VALUE_FIELD;
    for (int i = 0; i < v->n && !uses; i++)
        uses = uses_args(v->operands[i]);
    return uses;
}

static bool make_rule(cg_scope *s, const cg_rule_source *source, cg_rule *rule)
{
    const cg_syntax_source text = {s->file, source->str, true};
    const cg_syntax *x = cg_syntax_parse(s->diag, s->arena, &text);
    if (!x)
        return false;
    const cg_value *v = cg_formula_type(s, x);
    v = v ? check_result(s, v, source, rule) : NULL;
    if (!v)
        return false;
    if (!s->is_forward)
        cg_formula_saves(v, source->bits, (cg_derivative *)s->of);
    rule->text = cg_syntax_print(s->arena, x);
    rule->uses_grad = uses_grad(v);
    rule->uses_args = uses_args(v);
    s->diag->no_memory |= !cg_formula_print(s->arena, v, &rule->code) || !rule->text;
    return true;
}

void cg_derivative_add(cg_maker *m, cg_derivative *d, const cg_rule_source *source)
{
    bool backward = source->bits != 0;
    cg_scope s = {.diag = m->d,
                  .arena = m->a,
                  .all = m->out,
                  .of = d,
                  .str = source->str,
                  .file = d->file,
                  .derived = source->is_derived ? source->str->text : NULL,
                  .is_forward = !backward};
    cg_rule *rule = backward ? &d->backward[d->n_backward] : &d->forward[d->n_forward];
    *rule = (cg_rule){.kind = CG_RULE_FORMULA,
                      .who = source->who,
                      .bits = source->bits,
                      .result = backward ? -1 : source->result};
    if (!make_rule(&s, source, rule))
        return;
    d->n_backward += backward;
    d->n_forward += !backward;
}

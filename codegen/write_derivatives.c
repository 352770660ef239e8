/* write_derivatives.c - the facts of derivatives: the operators that they call (cg_calls), other
 * functions (cg_helpers), and cg_derivatives. templates/derivative_facts.m4 lists them. */
#include <inttypes.h>
#include <string.h>

#include "derivatives.h"

enum { WIDTH = 98 }; /* leaves room for what closes a statement */

/* Long text is broken at blanks; what `text` begins with stands at `column` already. */
static void fill(FILE *to, const char *text, int column, const char *new_line)
{
    bool quoted = false;
    int indent = (int)strlen(new_line) - 1;
    for (const char *at = text; *at; at++) {
        quoted ^= *at == '"';
        int word = 1;
        while (at[word] && at[word] != ' ')
            word++;
        if (*at == ' ' && !quoted && column + word > WIDTH && column > indent) {
            fputs(new_line, to);
            column = indent;
            continue;
        }
        fputc(*at, to);
        column++;
    }
}

/* ---- what is called -------------------------------------------------------------------------- */
static void write_calls(const cg_derivatives *ds, FILE *to)
{
    int index = 0;
    fputs("m4_define(@{cg_calls@}, @{m4_dnl\n", to);
    for (int i = 0; i < ds->n_callees; i++) {
        const cg_callee *c = &ds->callees[i];
        if (!c->used || c->is_helper)
            continue;
        const cg_op op = {.schema = c->schema,
                          .layout = c->layout,
                          .full = c->full,
                          .id = c->frame,
                          .short_id = c->c_name,
                          .index = index++};
        cg_fact_op(to, &op, c->is_own ? "own" : "built_in", 0);
    }
    fputs("@})m4_dnl\n", to);
}

static int count_calls(const cg_derivatives *ds)
{
    int n = 0;
    for (int i = 0; i < ds->n_callees; i++)
        n += ds->callees[i].used && !ds->callees[i].is_helper;
    return n;
}

static const char *joined(tn_field_kind kind)
{
    const char *type = tn__field_c_type(kind);
    return type[strlen(type) - 1] == '*' ? "" : " ";
}

static void write_helper(const cg_callee *c, FILE *to)
{
    const tn__layout *l = c->layout;
    bool several = l->n_results > 1;
    const char *type = several ? "void" : tn__field_c_type(l->fields[0].kind);
    fprintf(to, "cg_helper(@{%s@}, @{%s%s@})m4_dnl\n", c->name, type,
            several ? " " : joined(l->fields[0].kind));
    for (int i = 0; i < l->n_args; i++) {
        const tn_field *f = &l->fields[l->n_results + i];
        fprintf(to, "cg_helper_arg(@{%s@}, @{%s%s@})m4_dnl\n", f->name, tn__field_c_type(f->kind),
                joined(f->kind));
    }
    fprintf(to, "cg_helper_end(@{%s@}, %d)m4_dnl\n", c->name, l->n_results);
}

static void write_extras(const cg_derivatives *ds, FILE *to)
{
    static const char *const names[CG_EXTRAS] = {"plus", "minus", "times", "conj", "number"};
    for (int i = 0; i < CG_EXTRAS; i++)
        if (ds->extra_used[i])
            fprintf(to, "cg_extra(@{%s@}, @{%s@}, @{%s@})m4_dnl\n", names[i],
                    ds->extras[i][0] ? ds->extras[i][0]->c_name : "",
                    ds->extras[i][1] ? ds->extras[i][1]->c_name : "");
}

static void write_helpers(const cg_derivatives *ds, FILE *to)
{
    fputs("m4_define(@{cg_helpers@}, @{m4_dnl\n", to);
    for (int i = 0; i < ds->n_callees; i++)
        if (ds->callees[i].is_helper)
            write_helper(&ds->callees[i], to);
    write_extras(ds, to);
    fputs("@})m4_dnl\n", to);
}

/* ---- one derivative -------------------------------------------------------------------------- */
static void write_comment(const char *who, const char *text, const char *what, FILE *to)
{
    fprintf(to, "cg_rule(@{%s@}, @{%s@}, @{", who, text);
    fill(to, text, (int)strlen(who) + 7, "\n *       ");
    fprintf(to, "@}, @{%s@})m4_dnl\n", what);
}

static int first_bit(uint64_t bits)
{
    int i = 0;
    while (!(bits >> i & 1))
        i++;
    return i;
}

/* The last argument of a fact: the lines that declare what its formula uses. */
static void write_variables(const cg_code *c, FILE *to)
{
    fputs("@}, @{", to);
    for (int i = 0; i < c->n_variables; i++) {
        int column = fprintf(to, "        tn_tensor *t%d = ", i + 1);
        fill(to, c->variables[i], column, "\n            ");
        fputs(";\n", to);
    }
    fputs("@})m4_dnl\n", to);
}

static void write_gradient(const cg_rule *r, FILE *to)
{
    if (r->kind == CG_RULE_NOT_IMPLEMENTED) {
        for (int i = 0; i < 64; i++)
            if (r->bits >> i & 1)
                fprintf(to, "cg_missing(%d, @{%s@})m4_dnl\n", i, r->why);
        return;
    }
    if (r->n_results) {
        fprintf(to, "cg_several(%d, @{", r->n_results);
        fill(to, r->code.expression, 8, "\n            ");
        write_variables(&r->code, to);
        for (int i = 0; i < r->n_results; i++)
            fprintf(to, "cg_several_wants(%d, %d)m4_dnl\n", r->order[i], i);
        fputs("cg_several_end()m4_dnl\n", to);
        return;
    }
    fprintf(to, "cg_gradient(%d, @{%s@}, @{", first_bit(r->bits), r->is_list ? "list" : "tensor");
    fill(to, r->code.expression, r->is_list ? 32 : 27, "\n            ");
    write_variables(&r->code, to);
}

static void write_backward(const cg_derivative *d, FILE *to)
{
    bool args = false, grad = false;
    for (int i = 0; i < d->n_backward; i++) {
        args |= d->backward[i].uses_args;
        grad |= d->backward[i].uses_grad;
    }
    if (!d->n_backward)
        return;
    fprintf(to, "cg_backward(@{%s@}, @{%s@}, @{%s@})m4_dnl\n", d->op->id, args ? "args" : "",
            grad ? "grad" : "");
    for (int i = 0; i < d->n_backward; i++)
        write_gradient(&d->backward[i], to);
    fprintf(to, "cg_backward_end(@{%s@})m4_dnl\n", d->op->id);
}

static void write_forward(const cg_derivative *d, FILE *to)
{
    bool args = false;
    for (int i = 0; i < d->n_forward; i++)
        args |= d->forward[i].uses_args;
    if (!d->n_forward)
        return;
    fprintf(to, "cg_forward(@{%s@}, @{%s@})m4_dnl\n", d->op->id, args ? "args" : "");
    for (int i = 0; i < d->n_forward; i++) {
        fprintf(to, "cg_tangent(%d, @{", d->forward[i].result);
        fill(to, d->forward[i].code.expression, 30, "\n            ");
        write_variables(&d->forward[i].code, to);
    }
    fprintf(to, "cg_forward_end(@{%s@})m4_dnl\n", d->op->id);
}

static void write_rules(const cg_derivative *d, FILE *to)
{
    bool linear = d->forward_flags & TN_FORWARD_LINEAR;
    for (int i = 0; i < d->n_backward; i++)
        write_comment(d->backward[i].who, d->backward[i].text, "gradient", to);
    for (int i = 0; i < d->n_forward; i++)
        write_comment(d->forward[i].who, d->forward[i].text, "tangent", to);
    if (d->forward_flags)
        write_comment("result", linear ? "auto_linear" : "auto_element_wise", "tangent", to);
    fprintf(to, "cg_rules_end(@{%s@})m4_dnl\n", d->op->id);
}

static void write_saved(const cg_derivative *d, FILE *to)
{
    const tn__layout *l = d->op->layout;
    for (int i = 0; i < l->n_results + l->n_args; i++)
        fprintf(to, "cg_saved(@{%s@}, %u, @{0x%" PRIx64 "@}, @{0x%" PRIx64 "@})m4_dnl\n",
                l->fields[i].name, d->flags[i], d->value_for[i], d->shape_for[i]);
}

static void write_derivative(const cg_derivative *d, unsigned which, FILE *to)
{
    const tn__schema *s = d->op->schema;
    fprintf(to, "cg_derivative(@{%s@}, @{%s%s%s@}, @{%s@}, @{%s@}, @{%s@})m4_dnl\n", d->op->id,
            s->name, *s->overload ? "." : "", s->overload, d->is_derived ? "derived" : "written",
            d->n_backward ? "backward" : "", d->n_forward ? "forward" : "");
    write_rules(d, to);
    if (which & CG_FACTS_CODE) {
        write_backward(d, to);
        write_forward(d, to);
        write_saved(d, to);
    }
    fprintf(to, "cg_derivative_end(@{%s@}, @{%s@}, %u)m4_dnl\n", d->op->id, d->node,
            d->forward_flags);
}

bool cg_facts_write_derivatives(const cg_derivatives *ds, const char *prefix, unsigned which,
                                FILE *to)
{
    fprintf(to, "m4_define(@{cg_prefix@}, @{%s@})m4_dnl\n", prefix);
    fprintf(to, "m4_define(@{cg_n_derivatives@}, %d)m4_dnl\n", ds->n);
    fprintf(to, "m4_define(@{cg_n_calls@}, %d)m4_dnl\n", count_calls(ds));
    if (which & CG_FACTS_CALLS) {
        write_calls(ds, to);
        write_helpers(ds, to);
    }
    if (which & (CG_FACTS_RULES | CG_FACTS_CODE)) {
        fputs("m4_define(@{cg_derivatives@}, @{m4_dnl\n", to);
        for (int i = 0; i < ds->n; i++)
            write_derivative(&ds->items[i], which, to);
        fputs("@})m4_dnl\n", to);
    }
    return !ferror(to);
}

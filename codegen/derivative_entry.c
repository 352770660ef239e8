/* derivative_entry.c - one entry of derivatives.yaml: the operator that it names, its keys, their
 * values. */
#include "derivatives_impl.h"

#include <string.h>

#include "entry_impl.h"
#include "formula.h"

enum { DIFFERENTIABLE = 64 }; /* bits of value_for */

/* ---- which operator an entry is about --------------------------------------------------------- */
static const cg_op *find_op(const cg_maker *m, const char *name, const char *overload,
                            const cg_group **group)
{
    const cg_ops *ops = m->source->ops;
    for (int i = 0; i < ops->n_groups; i++)
        for (int form = 0; form < CG_FORMS; form++) {
            const cg_op *op = ops->groups[i].forms[form];
            *group = &ops->groups[i];
            if (op && strcmp(op->schema->name, name) == 0 &&
                strcmp(op->schema->overload, overload) == 0)
                return op;
        }
    return NULL;
}

static const char *plain_schema(const tn__schema *s, char *buf, size_t cap)
{
    tn__schema_print(s, buf, cap);
    const char *ns = s->ns_written ? strstr(buf, "::") : NULL;
    return ns ? ns + 2 : buf;
}

static void unknown_operator(cg_maker *m, cg_pos pos, const tn__schema *s)
{
    enum { MOST = 4096 };
    const char *names[MOST];
    int n = 0;
    for (int i = 0; i < m->source->ops->n_groups && n < MOST; i++)
        names[n++] = m->source->ops->groups[i].entry->op;
    char name[256];
    snprintf(name, sizeof name, "%.120s%s%.120s", s->name, *s->overload ? "." : "", s->overload);
    const char *near = cg_near(name, names, n);
    if (near)
        cg_refuse(m, pos, "there is no operator '%s'; did you mean '%s'?", name, near);
    else
        cg_refuse(m, pos, "there is no operator '%s'; declare it in the schema file first", name);
}

/* The forms that follow from a declaration share its derivative. */
static bool check_form(cg_maker *m, cg_pos pos, const cg_op *op, const cg_group *g)
{
    if (op->form == CG_INPLACE && g->forms[CG_FUNCTIONAL])
        cg_refuse(m, pos, "the in-place form takes the derivative of %s; remove this entry",
                  g->entry->op);
    else if (op->form == CG_OUT || tn__schema_kind_of(op->schema) == TN__SCHEMA_OUT)
        cg_refuse(m, pos, "an operator that writes 'out' has no derivative; remove this entry");
    else
        return true;
    return false;
}

static const cg_op *entry_operator(cg_maker *m, const cg_node *v, const cg_group **group)
{
    char ours[2048], theirs[2048];
    cg_str text = cg_str_of(v);
    tn__schema_error err = {0, ""};
    if (v->kind != CG_NODE_STR) {
        cg_refuse(m, v->pos,
                  "'name' must be a schema, found %s; write 'name: exp(Tensor self) -> "
                  "Tensor'",
                  cg_node_describe(v));
        return NULL;
    }
    const tn__schema *s = tn__schema_parse(m->a, v->text, strlen(v->text), false, &err);
    if (!s) {
        cg_refuse(m, cg_at(&text, err.column > 0 ? (size_t)err.column - 1 : 0), "%s", err.message);
        return NULL;
    }
    const cg_op *op = find_op(m, s->name, s->overload, group);
    if (!op) {
        unknown_operator(m, v->pos, s);
        return NULL;
    }
    const char *declared = plain_schema(op->schema, ours, sizeof ours);
    if (strcmp(declared, plain_schema(s, theirs, sizeof theirs)) != 0) {
        cg_refuse(m, v->pos, "this is not the schema of %s%s%s; write 'name: %s'", s->name,
                  *s->overload ? "." : "", s->overload, declared);
        return NULL;
    }
    return check_form(m, v->pos, op, *group) ? op : NULL;
}

/* ---- keys ------------------------------------------------------------------------------------ */
typedef struct key {
    const cg_node *node, *value;
    int fields[DIFFERENTIABLE]; /* of the frame: arguments, or one result */
    int n;
    bool is_forward;
} key;

typedef struct keys {
    key *items;
    int n;
} keys;

static void unknown_key(cg_maker *m, const cg_derivative *d, const cg_node *node, const char *word)
{
    const tn__layout *l = d->op->layout;
    const char *names[128] = {"name", "result", "output_differentiability"};
    char list[256] = "";
    int n = 3;
    for (int i = l->n_results; i < l->n_results + l->n_args && n < 128; i++) {
        names[n++] = l->fields[i].name;
        if (cg_field_is_tensor(&l->fields[i]))
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? ", " : "",
                     l->fields[i].name);
    }
    if (cg_find_argument(l, word) >= 0) {
        cg_refuse(m, node->pos,
                  "'%.60s' is no Tensor, so it has no gradient; the Tensor arguments "
                  "are %s",
                  word, list);
        return;
    }
    const char *near = cg_near(word, names, n);
    cg_refuse(m, node->pos,
              "'%.60s' is neither a Tensor argument of the operator nor a result; %s%s%s", word,
              near ? "did you mean '" : "its Tensor arguments are ", near ? near : list,
              near ? "'?" : "");
}

static bool taken(const keys *ks, int field, bool is_forward)
{
    for (int i = 0; i < ks->n; i++)
        for (int k = 0; k < ks->items[i].n; k++)
            if (ks->items[i].fields[k] == field && ks->items[i].is_forward == is_forward)
                return true;
    return false;
}

/* One name of a key. */
static bool read_name(cg_maker *m, const cg_derivative *d, const keys *ks, key *k, const char *word)
{
    const tn__layout *l = d->op->layout;
    int at = cg_find_argument(l, word);
    bool is_result = at < 0;
    if (is_result)
        at = cg_find_result(l, word);
    if (at < 0 || !cg_field_is_tensor(&l->fields[at])) {
        unknown_key(m, d, k->node, word);
        return false;
    }
    bool twice = taken(ks, at, is_result);
    for (int i = 0; i < k->n; i++)
        twice |= k->fields[i] == at;
    if (twice || (k->n && is_result) || k->is_forward || k->n == DIFFERENTIABLE) {
        cg_refuse(m, k->node->pos, "%s; write one key per %s",
                  twice ? "this name has a formula already" : "a result stands in a key alone",
                  is_result ? "result" : "argument");
        return false;
    }
    k->is_forward = is_result;
    k->fields[k->n++] = at;
    return true;
}

static bool read_key(cg_maker *m, const cg_derivative *d, keys *ks, const cg_node *node)
{
    key *k = &ks->items[ks->n];
    *k = (key){.node = node, .value = node->next};
    char word[128];
    for (const char *at = node->text; at;) {
        at += strspn(at, " ");
        size_t n = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)(n < 120 ? n : 120), at);
        for (size_t i = strlen(word); i > 0 && word[i - 1] == ' '; i--)
            word[i - 1] = '\0';
        if (!read_name(m, d, ks, k, word))
            return false;
        at = at[n] ? at + n + 1 : NULL;
    }
    ks->n++;
    return true;
}

/* [True, False]: which results may require a gradient. */
static void read_outputs(cg_maker *m, cg_derivative *d, const cg_node *v)
{
    int n = d->op->layout->n_results, i = 0;
    bool ok = v->kind == CG_NODE_LIST && v->n == n;
    for (const cg_node *item = v->child; ok && item; item = item->next, i++) {
        ok = item->kind == CG_NODE_BOOL || (item->kind == CG_NODE_STR && item->style == 'p');
        bool is_true = ok && strcmp(item->text, "True") == 0;
        ok = ok && (is_true || item->kind == CG_NODE_BOOL || strcmp(item->text, "False") == 0);
        if (ok && !(item->kind == CG_NODE_BOOL ? item->truth : is_true))
            d->flags[i] &= ~(uint32_t)TN_FIELD_DIFFERENTIABLE;
    }
    if (!ok)
        cg_refuse(m, v->pos,
                  "'output_differentiability' must list True or False for each result, %d in all; "
                  "write [%s]",
                  n, n == 1 ? "False" : "True, False");
}

static keys read_keys(cg_maker *m, cg_derivative *d, const cg_node *entry)
{
    keys ks = {cg_maker_alloc(m, ((size_t)entry->n + 1) * sizeof *ks.items), 0};
    for (const cg_node *k = entry->child; ks.items && k; k = k->next->next) {
        if (strcmp(k->text, "name") == 0)
            continue;
        if (strcmp(k->text, "output_differentiability") == 0)
            read_outputs(m, d, k->next);
        else
            read_key(m, d, &ks, k);
    }
    return ks;
}

/* ---- values ---------------------------------------------------------------------------------- */
static bool says(const cg_node *v, const char *word)
{
    return v->kind == CG_NODE_STR && strcmp(v->text, word) == 0;
}

/* Numbers the differentiable arguments, in the order of the schema. */
static void number_arguments(cg_maker *m, cg_derivative *d, const keys *ks)
{
    const tn__layout *l = d->op->layout;
    int *arguments = (int *)d->arguments;
    for (int f = l->n_results; f < l->n_results + l->n_args; f++)
        for (int i = 0; i < ks->n; i++)
            for (int k = 0; k < ks->items[i].n; k++) {
                if (ks->items[i].fields[k] != f || says(ks->items[i].value, "non_differentiable"))
                    continue;
                if (d->n_arguments == DIFFERENTIABLE) {
                    cg_refuse(m, ks->items[i].node->pos,
                              "more than %d differentiable arguments; "
                              "write the others non_differentiable",
                              DIFFERENTIABLE);
                    return;
                }
                d->flags[f] |= TN_FIELD_DIFFERENTIABLE;
                arguments[d->n_arguments++] = f;
            }
}

static uint64_t bits_of(const cg_derivative *d, const key *k)
{
    uint64_t bits = 0;
    for (int i = 0; i < d->n_arguments; i++)
        for (int j = 0; j < k->n; j++)
            if (d->arguments[i] == k->fields[j])
                bits |= UINT64_C(1) << i;
    return bits;
}

static const int *order_of(cg_maker *m, const cg_derivative *d, const key *k)
{
    int *order = cg_maker_alloc(m, (size_t)k->n * sizeof *order);
    for (int j = 0; order && j < k->n; j++)
        for (int i = 0; i < d->n_arguments; i++)
            if (d->arguments[i] == k->fields[j])
                order[j] = i;
    return order;
}

/* not_implemented("why"); NULL: something else. */
static const char *not_implemented(cg_maker *m, const cg_str *str)
{
    if (strncmp(str->text, "not_implemented", 15) != 0)
        return NULL;
    const cg_syntax_source source = {m->file, str, true};
    const cg_syntax *x = cg_syntax_parse(m->d, m->a, &source);
    if (x && x->kind == CG_SYNTAX_CALL && x->n == 1 && x->operands[0]->kind == CG_SYNTAX_STRING)
        return x->operands[0]->text;
    if (x)
        cg_refuse(m, str->pos,
                  "not_implemented says why; write not_implemented(\"its inverse is "
                  "missing\")");
    return "";
}

static void read_backward(cg_maker *m, cg_derivative *d, const key *k)
{
    cg_str str = cg_str_of(k->value);
    if (says(k->value, "non_differentiable"))
        return;
    if (says(k->value, "auto_linear") || says(k->value, "auto_element_wise")) {
        cg_refuse(m, k->value->pos, "'%s' is for results, in forward mode; write a formula",
                  k->value->text);
        return;
    }
    const char *why = not_implemented(m, &str);
    if (!why) {
        cg_rule_source source = {.who = k->node->text,
                                 .str = &str,
                                 .bits = bits_of(d, k),
                                 .order = order_of(m, d, k),
                                 .result = -1};
        cg_derivative_add(m, d, &source);
        return;
    }
    for (int i = 0; i < k->n; i++)
        d->flags[k->fields[i]] |= TN_FIELD_NO_FORMULA;
    d->backward[d->n_backward++] = (cg_rule){.kind = CG_RULE_NOT_IMPLEMENTED,
                                             .who = k->node->text,
                                             .text = str.text,
                                             .why = why,
                                             .bits = bits_of(d, k),
                                             .result = -1};
}

static void read_forward(cg_maker *m, cg_derivative *d, const key *k)
{
    cg_str str = cg_str_of(k->value);
    if (says(k->value, "auto_linear"))
        d->forward_flags |= TN_FORWARD_LINEAR;
    else if (says(k->value, "auto_element_wise"))
        d->forward_flags |= TN_FORWARD_ELEMENTWISE;
    else if (strncmp(str.text, "not_implemented", 15) == 0)
        not_implemented(m, &str);
    else if (says(k->value, "non_differentiable"))
        cg_refuse(m, k->value->pos,
                  "a result is made non-differentiable with "
                  "output_differentiability; write 'output_differentiability: "
                  "[False]'");
    else
        cg_derivative_add(
            m, d, &(cg_rule_source){.who = k->node->text, .str = &str, .result = k->fields[0]});
}

/* A tangent formula for one result asks for one of every other that has a gradient. */
static void check_tangents(cg_maker *m, const cg_derivative *d)
{
    const tn__layout *l = d->op->layout;
    for (int i = 0; d->n_forward && i < l->n_results; i++) {
        bool found = !(d->flags[i] & TN_FIELD_DIFFERENTIABLE);
        for (int k = 0; k < d->n_forward; k++)
            found |= d->forward[k].result == i;
        if (!found)
            cg_refuse(
                m, d->pos,
                "result '%s' has no formula for its tangent, and another has; write '%s: ..', "
                "or say with output_differentiability that it has none",
                l->fields[i].name, l->fields[i].name);
    }
}

static void check_entry(cg_maker *m, const cg_derivative *d)
{
    bool linear = d->forward_flags & TN_FORWARD_LINEAR, any = false;
    for (int i = 0; i < d->op->layout->n_results; i++)
        any |= d->flags[i] & TN_FIELD_DIFFERENTIABLE;
    if (d->n_arguments && !any)
        cg_refuse(m, d->pos,
                  "an argument has a gradient and no result has one; write the arguments "
                  "non_differentiable");
    if (linear && d->forward_flags & TN_FORWARD_ELEMENTWISE)
        cg_refuse(m, d->pos, "auto_linear and auto_element_wise exclude each other; write one");
    if (d->forward_flags & TN_FORWARD_ELEMENTWISE && !d->n_backward)
        cg_refuse(
            m, d->pos,
            "auto_element_wise applies the formulas of the gradients, and there is none; write "
            "one, as 'self: ..'");
    if (d->forward_flags && d->n_forward)
        cg_refuse(m, d->pos,
                  "one result has a formula and another an auto_ word; write formulas for "
                  "all results, or the word alone");
    else
        check_tangents(m, d);
}

void cg_derivative_read(cg_maker *m, const cg_node *entry)
{
    const cg_group *group = NULL;
    const cg_node *name = cg_node_get(entry, "name", NULL);
    const cg_op *op = entry_operator(m, name, &group);
    if (!op)
        return;
    for (int i = 0; i < m->out->n; i++)
        if (m->out->items[i].op == op) {
            cg_refuse(m, name->pos, "%s has an entry already, on line %d; remove one of the two",
                      group->entry->op, m->out->items[i].pos.line);
            return;
        }
    cg_derivative *d =
        cg_derivative_start(m, op, group->pointwise.kind & TN_POINTWISE_BOOL, name->pos);
    if (!d)
        return;
    int before = m->d->n_items;
    keys ks = read_keys(m, d, entry);
    number_arguments(m, d, &ks);
    for (int i = 0; i < ks.n; i++) {
        const cg_node *v = ks.items[i].value;
        if (v->kind == CG_NODE_LIST || v->kind == CG_NODE_MAP || v->kind == CG_NODE_NULL ||
            !v->text[0])
            cg_refuse(m, v->pos,
                      "'%.60s' must be a formula, found %s; write it in quotes when YAML "
                      "reads it otherwise",
                      ks.items[i].node->text,
                      v->kind == CG_NODE_STR ? "an empty string" : cg_node_describe(v));
        else if (ks.items[i].is_forward)
            read_forward(m, d, &ks.items[i]);
        else
            read_backward(m, d, &ks.items[i]);
    }
    if (m->d->n_items == before)
        check_entry(m, d);
}

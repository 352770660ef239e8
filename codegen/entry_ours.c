/* entry_ours.c - our keys: pointwise, reference, shape, dtypes, since, forms, out.
 *
 * Ours states an operator once, on its functional form; which forms follow, and what the out= form
 * is called, is settled here. Whether the schema allows them is validate_ours.c's. */
#include "entry_impl.h"

#include <stdio.h>
#include <string.h>

/* An expression may look like a number to YAML: `pointwise: 0`. */
static cg_str take_expression(cg_reader *r, const char *key)
{
    const cg_node *v = cg_node_get(r->node, key, NULL);
    if (!v)
        return (cg_str){0};
    if ((v->kind == CG_NODE_STR || v->kind == CG_NODE_NUMBER) && v->text[0])
        return cg_str_of(v);
    cg_fail(r, v->pos, "'%s' must be an expression, found %s; write '%s: alpha * self + beta'", key,
            v->kind == CG_NODE_STR ? "an empty string" : cg_node_describe(v), key);
    return (cg_str){0};
}

static size_t identifier_length(const char *s)
{
    if (*s >= '0' && *s <= '9')
        return 0;
    return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

/* "rule" or "rule(self, dim)": what the rule takes is for the back half to know. */
static void check_shape(cg_reader *r, const cg_str *s)
{
    size_t n = identifier_length(s->text);
    const char *rest = s->text + n;
    int depth = 0;
    size_t i = 0;
    for (; n > 0 && rest[i]; i++) {
        depth += rest[i] == '(';
        depth -= rest[i] == ')';
        if (depth == 0)
            break;
    }
    bool whole = n > 0 &&
                 (rest[0] == '\0' || (rest[0] == '(' && rest[i] == ')' && rest[i + 1] == '\0'));
    if (!whole)
        cg_fail(r, cg_at(s, n + i + (rest[i] == ')')),
                "'shape' must be one call of a shape rule; write 'shape: reduce(self, dim, "
                "keepdim)'");
}

static void take_dtypes(cg_reader *r)
{
    cg_entry *e = r->entry;
    const cg_str *words = NULL;
    int n = cg_take_words(r, "dtypes", &words);
    for (int i = 0; i < n; i++) {
        char hint[300];
        cg_dtypes bits = cg_dtypes_parse(words[i].text, strlen(words[i].text));
        e->dtypes |= bits;
        if (!bits)
            cg_fail(r, words[i].pos, "unknown dtype '%.60s'%s", words[i].text,
                    cg_hint(hint, sizeof hint, cg_dtype_words, words[i].text));
    }
    if (n)
        e->dtypes_text = words[0];
    const cg_node *v = cg_node_get(r->node, "dtypes", NULL);
    if (v && v->kind == CG_NODE_LIST && v->n == 0)
        cg_fail(r, v->pos, "'dtypes' is empty; list at least one, or remove the key");
}

static void take_since(cg_reader *r)
{
    const cg_node *v = cg_node_get(r->node, "since", NULL);
    if (!v)
        return;
    int parts = 0;
    bool ok = v->kind == CG_NODE_STR || v->kind == CG_NODE_NUMBER;
    for (const char *p = v->text; ok; p++) {
        size_t n = strspn(p, "0123456789");
        ok = n > 0 && n < 7 && ++parts <= 3;
        p += n;
        if (*p == '\0')
            break;
        ok = ok && *p == '.';
    }
    if (ok)
        r->entry->since = cg_str_of(v);
    else
        cg_fail(r, v->pos, "'since' must be a version; write 'since: 1.2'");
}

static unsigned default_forms(const cg_entry *e)
{
    unsigned forms = CG_FORM_FUNCTIONAL | CG_FORM_OUT;
    const tn__schema *s = e->schema;
    bool self = s && s->n_positional > 0 && s->args[0].type->kind == TN__TYPE_TENSOR &&
                strcmp(s->args[0].name, "self") == 0;
    if (e->pointwise.text && self)
        forms |= CG_FORM_INPLACE;
    for (int i = 0; s && i < s->n_rets; i++)
        if (tn__type_alias(s->rets[i].type))
            return CG_FORM_FUNCTIONAL; /* a view has no result to write into */
    return forms;
}

static void take_forms(cg_reader *r)
{
    static const char *const names[] = {"functional", "inplace", "out"};
    cg_entry *e = r->entry;
    const cg_str *words = NULL;
    int n = cg_take_words(r, "forms", &words);
    unsigned forms = 0;
    for (int i = 0; i < n; i++) {
        unsigned form = 0;
        for (unsigned k = 0; k < 3; k++)
            if (strcmp(words[i].text, names[k]) == 0)
                form = 1u << k;
        forms |= form;
        char hint[120];
        if (!form)
            cg_fail(r, words[i].pos, "unknown form '%.60s'%s", words[i].text,
                    cg_hint(hint, sizeof hint, (cg_words){names, 3}, words[i].text));
    }
    const cg_node *v = cg_node_get(r->node, "forms", NULL);
    if (v && v->kind == CG_NODE_LIST && v->n == 0)
        cg_fail(r, v->pos, "'forms' is empty; list at least functional, or remove the key");
    if (e->is_ours)
        e->forms = forms ? forms : default_forms(e);
}

/* "dim_max" or "dim_max(max, max_values)" */
static void take_out(cg_reader *r)
{
    cg_entry *e = r->entry;
    e->out = cg_take_string(r, "out", false, "dim_max(max, max_values)");
    if (!e->out.text)
        return;
    const char *text = e->out.text;
    size_t n = identifier_length(text), len = strlen(text);
    bool names = text[n] == '(' && text[len - 1] == ')';
    if (n == 0 || (text[n] && !names)) {
        cg_fail(r, e->out.pos,
                "bad 'out'; write the overload of the out= form and, for several results, their "
                "arguments: 'out: dim_max(max, max_values)'");
        return;
    }
    e->out_overload = cg_str_part(r, &e->out, 0, n).text;
    if (!names)
        return;
    cg_str list = cg_str_part(r, &e->out, n + 1, len - n - 2);
    const cg_str *parts = NULL;
    int n_parts = cg_split(r, &list, &parts);
    const char **out = cg_alloc(r, ((size_t)n_parts + 1) * sizeof *out);
    for (int i = 0; i < n_parts && out; i++) {
        out[i] = parts[i].text;
        if (parts[i].text[identifier_length(parts[i].text)] != '\0')
            cg_fail(r, parts[i].pos, "'%.60s' is not an argument's name; write a plain word",
                    parts[i].text);
    }
    if (out && e->schema && n_parts > 0 && n_parts != e->schema->n_rets)
        cg_fail(r, cg_at(&e->out, n + 1),
                "%d names for %d results; name each result's argument once", n_parts,
                e->schema->n_rets);
    else if (n_parts > 0)
        e->out_names = out;
}

/* The rule when no key says otherwise: "" and "Tensor" give "out", any other overload gives
 * "<overload>_out". */
static void default_out(cg_reader *r)
{
    cg_entry *e = r->entry;
    const tn__schema *s = e->schema;
    if (!s)
        return;
    char text[320] = "out";
    if (s->overload[0] && strcmp(s->overload, "Tensor") != 0)
        snprintf(text, sizeof text, "%.255s_out", s->overload);
    if (!e->out_overload)
        e->out_overload = tn__arena_strndup(r->arena, text, strlen(text));
    if (e->out_names)
        return;
    const char **names = cg_alloc(r, ((size_t)s->n_rets + 1) * sizeof *names);
    for (int i = 0; i < s->n_rets && names; i++) {
        snprintf(text, sizeof text, "out%d", i);
        names[i] = tn__arena_strndup(r->arena, text, s->n_rets == 1 ? 3 : strlen(text));
    }
    e->out_names = names;
}

void cg_read_ours(cg_reader *r)
{
    cg_entry *e = r->entry;
    e->pointwise = take_expression(r, "pointwise");
    e->reference = take_expression(r, "reference");
    e->shape = cg_take_string(r, "shape", false, "reduce(self, dim, keepdim)");
    if (e->shape.text)
        check_shape(r, &e->shape);
    e->is_ours = cg_node_get(r->node, "pointwise", NULL) || cg_node_get(r->node, "shape", NULL);
    take_dtypes(r);
    take_since(r);
    take_forms(r);
    take_out(r);
    cg_read_samples(r);
    if (e->is_ours)
        default_out(r);
}

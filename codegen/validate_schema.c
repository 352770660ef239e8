/* validate_schema.c - the rules that one schema of native_functions.yaml must keep, beyond being a
 * schema.
 *
 * The parser reads the JIT's language in full; here it is cut down to ATen's: its types, its few
 * forms of alias annotation, one spelling. Then come the conventions of out=, in-place and mutable
 * forms. */
#include "validate_impl.h"

#include <string.h>

/* ---- spelling -------------------------------------------------------------------------------- */

/* PyTorch compares a schema with its own printing of it: blanks, parentheses and '*' must be where
 * it puts them. */
static void check_spelling(cg_check *c, cg_facts *f)
{
    char buf[4096];
    const char *text = f->e->func.text;
    size_t n = tn__schema_print(f->e->schema, buf, sizeof buf);
    if (n >= sizeof buf || strcmp(buf, text) == 0)
        return;
    size_t at = 0;
    while (text[at] && text[at] == buf[at])
        at++;
    cg_complain(c, f, cg_at(&f->e->func, at), "not PyTorch's spelling of this schema; write '%s'",
                buf);
}

/* A name that says by its ending what it is must not say two things. */
void cg_check_operator_name(cg_check *c, cg_facts *f, cg_pos pos, const char *op)
{
    cg_facts name = {0};
    size_t n = strcspn(op, ".");
    const char *text = tn__arena_strndup(&c->arena, op, n);
    if (!text) {
        c->diag->no_memory = true;
        return;
    }
    cg_facts_split_name(c, &name, text);
    if (n > 4 && strcmp(text + n - 4, "_out") == 0)
        cg_complain(c, f, pos,
                    "operator name '%.80s' ends in _out; write an overload instead: '%.*s.out'",
                    text, (int)(n - 4 < 80 ? n - 4 : 80), text);
    if (n == 0 || name.base[0] == '\0')
        cg_complain(c, f, pos, "'%.80s' is not an operator's name; write 'name' or 'name.overload'",
                    op);
    if (name.dunder && !name.inplace && name.base[0] == 'i')
        cg_complain(c, f, pos,
                    "'%.80s' is not one of Python's in-place operators; write one like '__iadd__'",
                    text);
    if (name.functional_suffix && name.inplace)
        cg_complain(
            c, f, pos,
            "'%.80s' is named both functional and in-place; remove '_functional' or the last '_'",
            text);
}

static void check_name(cg_check *c, cg_facts *f)
{
    const tn__schema *s = f->e->schema;
    cg_pos pos = f->e->func.pos;
    cg_check_operator_name(c, f, pos, f->e->op);
    if (strstr(s->overload, "functional") && f->kind != TN__SCHEMA_FUNCTIONAL)
        cg_complain(c, f, pos,
                    "overload '%.80s' says functional but the function writes an argument; give it "
                    "another overload name",
                    s->overload);
    if (s->is_vararg || s->is_varret)
        cg_complain(c, f, pos, "'...' is only for TorchScript's own operators; name every %s",
                    s->is_vararg ? "argument" : "result");
    if (s->n_rets == 1 && s->returns_in_parens)
        cg_complain(c, f, pos, "a single result in parentheses; write it without them");
}

/* ---- types and annotations ------------------------------------------------------------------- */

static bool is_custom_class(const char *name)
{
    static const char prefix[] = "__torch__.torch.classes.";
    return name && strncmp(name, prefix, sizeof prefix - 1) == 0 && name[sizeof prefix - 1];
}

/* The innermost part that native_functions.yaml does not know, or NULL. */
static const tn__type *foreign_part(const tn__type *t)
{
    while (t->kind == TN__TYPE_OPTIONAL || t->kind == TN__TYPE_LIST)
        t = t->elem;
    bool known = t->kind == TN__TYPE_TENSOR || is_custom_class(t->name) ||
                 (t->name && cg_word_in(cg_base_types, t->name));
    return known ? NULL : t;
}

static void check_type(cg_check *c, cg_facts *f, const tn__arg *a)
{
    const tn__type *t = foreign_part(a->type);
    char name[200], hint[400];
    if (t) {
        tn__type_print(t, name, sizeof name);
        cg_complain(c, f, cg_arg_pos(f->e, a),
                    "type '%.80s' is not known to native_functions.yaml%s", name,
                    cg_hint(hint, sizeof hint, cg_base_types, name));
    }
    for (t = a->type; t->kind == TN__TYPE_OPTIONAL || t->kind == TN__TYPE_LIST; t = t->elem)
        if (t->kind == TN__TYPE_LIST && t->list_size == 0)
            cg_complain(c, f, cg_arg_pos(f->e, a), "a list of size 0; write '[]' for any size");
}

static bool good_set(const char *s, bool longer)
{
    for (int n = 1; *s >= 'a' && *s <= 'z'; s += 2, n++) {
        if (s[1] == '\0')
            return n <= 2 || longer;
        if (s[1] != '|')
            return false;
    }
    return false;
}

/* Tensor(a), Tensor(a!)?, Tensor(a)[]: an annotation stands right behind Tensor, with at most one
 * of ? and [] behind. */
static bool good_place(const tn__type *t)
{
    bool wrapped = t->kind == TN__TYPE_OPTIONAL || (t->kind == TN__TYPE_LIST && t->list_size < 0);
    if (wrapped && !t->alias)
        t = t->elem;
    return t->kind == TN__TYPE_TENSOR && t->alias;
}

static bool any_alias(const tn__type *t)
{
    for (; t; t = t->kind == TN__TYPE_OPTIONAL || t->kind == TN__TYPE_LIST ? t->elem : NULL)
        if (t->alias)
            return true;
    return false;
}

static void check_alias(cg_check *c, cg_facts *f, const tn__arg *a)
{
    if (!any_alias(a->type))
        return;
    cg_pos pos = cg_arg_pos(f->e, a);
    const tn__alias *alias = tn__type_alias(a->type);
    if (!good_place(a->type) || !alias) {
        cg_complain(c, f, pos,
                    "an alias annotation in an unusual place; write 'Tensor(a)', 'Tensor(a)?' or "
                    "'Tensor(a)[]'");
        return;
    }
    bool wide = strchr(alias->before, '|') != NULL;
    bool after_ok = !alias->after || strcmp(alias->after, "*") == 0 || good_set(alias->after, true);
    if (!good_set(alias->before, false) || !after_ok)
        cg_complain(
            c, f, pos,
            "bad alias annotation '(%.40s%s)'; name alias sets by one lower case letter each: "
            "'(a)', '(a!)', '(a|b)', '(a -> *)'",
            alias->before, alias->is_write ? "!" : "");
    else if (wide && alias->is_write)
        cg_complain(c, f, pos, "'(%.40s!)' writes to more than one alias set; write to one: '(a!)'",
                    alias->before);
    else if (wide && alias->after && strchr(alias->after, '|'))
        cg_complain(
            c, f, pos,
            "an alias annotation with several sets on both sides of '->'; keep several on one");
}

/* ---- arguments ------------------------------------------------------------------------------- */

static void check_default(cg_check *c, cg_facts *f, const tn__arg *a)
{
    if (!a->def || !a->def->source)
        return;
    const char *comma = strstr(a->def->source, ", ");
    if (comma || strchr(a->def->source, '='))
        cg_complain(c, f, cg_arg_pos(f->e, a), "default of '%.60s' holds %s; %s", a->name,
                    comma ? "', '" : "'='",
                    comma ? "write lists without blanks: [0,1]" : "choose another default");
}

static void check_arg_name(cg_check *c, cg_facts *f, int i)
{
    const tn__schema *s = f->e->schema;
    const tn__arg *a = &s->args[i];
    if (cg_word_in(cg_python_keywords, a->name) && !cg_word_in(cg_except_keyword, f->e->op))
        cg_complain(c, f, cg_arg_pos(f->e, a),
                    "argument '%s' has the name of a Python keyword; call it '%s_' or "
                    "choose another name",
                    a->name, a->name);
    for (int j = 0; j < i; j++)
        if (strcmp(s->args[j].name, a->name) == 0) {
            cg_complain(c, f, cg_arg_pos(f->e, a),
                        "two arguments are named '%.60s'; give each its own name", a->name);
            return;
        }
}

static void check_args(cg_check *c, cg_facts *f)
{
    const tn__schema *s = f->e->schema;
    for (int i = 0; i < s->n_args; i++) {
        const tn__arg *a = &s->args[i];
        check_type(c, f, a);
        check_alias(c, f, a);
        check_default(c, f, a);
        check_arg_name(c, f, i);
        if (i < f->self && cg_arg_written(a))
            cg_complain(c, f, cg_arg_pos(f->e, a),
                        "'%.60s' is written and stands before self; put self first", a->name);
        if (i > f->first_out && !a->is_out)
            cg_complain(c, f, cg_arg_pos(f->e, a),
                        "'%.60s' stands after the out argument '%.60s'; put out arguments "
                        "last",
                        a->name, s->args[f->first_out].name);
        if (f->options >= 0 && i == f->options && f->kind != TN__SCHEMA_FUNCTIONAL)
            cg_complain(c, f, cg_arg_pos(f->e, a),
                        "dtype, layout, device and pin_memory make a factory function, and "
                        "this function writes an argument; remove them");
    }
    for (int i = 0; i < s->n_rets; i++) {
        check_type(c, f, &s->rets[i]);
        check_alias(c, f, &s->rets[i]);
        const tn__alias *alias = tn__type_alias(s->rets[i].type);
        if (alias && alias->after && !s->rets[i].name)
            cg_complain(c, f, cg_arg_pos(f->e, &s->rets[i]),
                        "an unnamed result with '->' in its annotation; name it");
        for (int j = 0; j < i; j++)
            if (s->rets[i].name && s->rets[j].name && strcmp(s->rets[i].name, s->rets[j].name) == 0)
                cg_complain(c, f, cg_arg_pos(f->e, &s->rets[i]),
                            "two results are named '%.60s'; give each its own "
                            "name",
                            s->rets[i].name);
    }
}

/* ---- results and what is written ------------------------------------------------------------- */

static const tn__alias *ret_alias(const tn__schema *s, int i)
{
    return tn__type_alias(s->rets[i].type);
}

static bool returns_alias(const tn__schema *s, const tn__alias *alias)
{
    for (int i = 0; i < s->n_rets; i++)
        if (cg_alias_equal(ret_alias(s, i), alias))
            return true;
    return false;
}

static void check_mutable_args(cg_check *c, cg_facts *f)
{
    const tn__schema *s = f->e->schema;
    for (int i = f->self + 1; i < s->n_positional; i++)
        if (cg_arg_written(&s->args[i]) && returns_alias(s, tn__type_alias(s->args[i].type)))
            cg_complain(c, f, cg_arg_pos(f->e, &s->args[i]),
                        "'%.60s' is written and also returned; write it after "
                        "'*' if it is an out argument, else return nothing for it",
                        s->args[i].name);
}

/* A returned (a!) must be self or an out argument. */
static bool is_out_or_self(const cg_facts *f, const tn__alias *alias)
{
    const tn__schema *s = f->e->schema;
    if (f->self >= 0 && cg_alias_equal(tn__type_alias(s->args[f->self].type), alias))
        return true;
    for (int i = f->first_out; i < s->n_args; i++)
        if (cg_alias_equal(tn__type_alias(s->args[i].type), alias))
            return true;
    return false;
}

static void check_returns(cg_check *c, cg_facts *f)
{
    const tn__schema *s = f->e->schema;
    int written = 0;
    for (int i = 0; i < s->n_rets; i++) {
        const tn__alias *alias = ret_alias(s, i);
        if (!alias || !alias->is_write)
            continue;
        written++;
        if (!is_out_or_self(f, alias))
            cg_complain(c, f, cg_arg_pos(f->e, &s->rets[i]),
                        "result (%.20s!) is neither self nor an out argument; "
                        "annotate the argument it returns, and write an out argument after '*'",
                        alias->before);
    }
    if (written && written < s->n_rets)
        cg_complain(c, f, cg_arg_pos(f->e, &s->rets[0]),
                    "some results are written arguments and some are new; return "
                    "only one kind");
}

static void check_out(cg_check *c, cg_facts *f)
{
    const tn__schema *s = f->e->schema;
    int outs = 0;
    const tn__arg *list = NULL;
    for (int i = f->first_out; i < s->n_args; i++) {
        const tn__arg *a = &s->args[i];
        outs += strncmp(a->name, "_scratch_", 9) != 0;
        if (a->type->kind != TN__TYPE_TENSOR && !list)
            list = a;
        int k = i - f->first_out;
        if (k < s->n_rets && !cg_alias_equal(tn__type_alias(a->type), ret_alias(s, k)))
            cg_complain(c, f, cg_arg_pos(f->e, &s->rets[k]),
                        "result %d is not the out argument '%.60s'; return the out "
                        "arguments in their order, with their annotations",
                        k + 1, a->name);
    }
    if (list && s->n_rets > 0)
        cg_complain(c, f, cg_arg_pos(f->e, &s->rets[0]),
                    "out argument '%.60s' is not a plain Tensor, so nothing may be "
                    "returned; write '-> ()'",
                    list->name);
    else if (!list && outs != s->n_rets)
        cg_complain(c, f, cg_arg_pos(f->e, &s->args[f->first_out]),
                    "%d out arguments and %d results; return each out "
                    "argument once",
                    outs, s->n_rets);
    if (f->inplace)
        cg_complain(c, f, f->e->func.pos,
                    "'%.80s' is named in-place and has an out argument; remove the last '_'",
                    s->name);
}

static void check_inplace(cg_check *c, cg_facts *f)
{
    const tn__schema *s = f->e->schema;
    const tn__arg *self = f->self >= 0 ? &s->args[f->self] : NULL;
    if (!self || !cg_arg_written(self)) {
        cg_complain(c, f, self ? cg_arg_pos(f->e, self) : f->e->func.pos,
                    "'%.80s' is named in-place and does not "
                    "write self; write 'Tensor(a!) self', or remove the last '_'",
                    s->name);
        return;
    }
    bool tensor = self->type->kind == TN__TYPE_TENSOR;
    cg_pos pos = s->n_rets ? cg_arg_pos(f->e, &s->rets[0]) : f->e->func.pos;
    if (tensor && (s->n_rets != 1 || !cg_alias_equal(ret_alias(s, 0), tn__type_alias(self->type))))
        cg_complain(c, f, pos, "an in-place function returns self; write '-> Tensor(%s!)'",
                    tn__type_alias(self->type)->before);
    else if (!tensor && s->n_rets != 0)
        cg_complain(
            c, f, pos,
            "self is not a plain Tensor, so an in-place function returns nothing; write '-> ()'");
}

void cg_validate_schema(cg_check *c, cg_facts *f)
{
    check_name(c, f);
    check_args(c, f);
    if (!f->ok)
        return; /* the rest leans on annotations that mean something */
    check_mutable_args(c, f);
    check_returns(c, f);
    if (f->first_out < f->e->schema->n_args)
        check_out(c, f);
    else if (f->inplace)
        check_inplace(c, f);
    if (f->ok)
        check_spelling(c, f);
}

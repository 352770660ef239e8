/* validate_facts.c - what the rules need to know of one schema: its base name, where self, the out
 * arguments and the tensor options stand, its kind, and the signature that all forms of one
 * function share.
 *
 * The signature is text: base name, arguments without annotations, out arguments and tensor
 * options, then the results with what is written beyond them. Forms are grouped by comparing it. */
#include "validate_impl.h"

#include "text.h"

#include <string.h>

cg_pos cg_arg_pos(const cg_entry *e, const tn__arg *a)
{
    return cg_at(&e->func, a->column > 0 ? (size_t)a->column - 1 : 0);
}

bool cg_alias_equal(const tn__alias *a, const tn__alias *b)
{
    if (!a || !b)
        return a == b;
    const char *after_a = a->after ? a->after : a->before,
               *after_b = b->after ? b->after : b->before;
    return a->is_write == b->is_write && strcmp(a->before, b->before) == 0 &&
           strcmp(after_a, after_b) == 0;
}

bool cg_arg_written(const tn__arg *a)
{
    const tn__alias *alias = tn__type_alias(a->type);
    return alias && alias->is_write;
}

tn__type_kind cg_type_core(const tn__type *t)
{
    while (t->kind == TN__TYPE_OPTIONAL || t->kind == TN__TYPE_LIST)
        t = t->elem;
    return t->kind;
}

const cg_kernel *cg_kernel_for(const cg_entry *e, const char *key)
{
    for (int i = 0; i < e->n_dispatch; i++)
        if (strcmp(e->dispatch[i].key, key) == 0)
            return &e->dispatch[i];
    return NULL;
}

const char *cg_overload(const cg_facts *f)
{
    return f->e->schema->overload;
}

/* ---- the name -------------------------------------------------------------------------------- */

static bool ends_with(const char *s, size_t n, const char *end)
{
    size_t m = strlen(end);
    return n >= m && memcmp(s + n - m, end, m) == 0;
}

void cg_facts_split_name(cg_check *c, cg_facts *f, const char *name)
{
    static const char *const assigned[] = {"iadd",    "isub",    "imul", "idiv", "imod", "ipow",
                                           "ilshift", "irshift", "iand", "ixor", "ior"};
    size_t n = strlen(name);
    const char *inner = n > 4 ? name + 2 : NULL;
    f->dunder = inner && memcmp(name, "__", 2) == 0 && ends_with(name, n, "__") &&
                !memchr(inner, '_', n - 4);
    f->base = tn__arena_strndup(&c->arena, f->dunder ? inner : name, f->dunder ? n - 4 : n);
    if (!f->base) {
        c->diag->no_memory = true;
        f->base = "";
    } else if (f->dunder) {
        f->inplace = cg_word_in((cg_words){assigned, sizeof assigned / sizeof *assigned}, f->base);
        f->base += f->inplace;
    } else {
        char *base = (char *)f->base;
        f->inplace = n > 0 && base[n - 1] == '_';
        n -= f->inplace;
        f->functional_suffix = ends_with(base, n, "_functional");
        n -= f->functional_suffix ? strlen("_functional") : 0;
        base[n] = '\0';
    }
}

/* ---- the arguments --------------------------------------------------------------------------- */

static int find_kind(const cg_facts *f, const tn__schema *s)
{
    if (f->inplace)
        return TN__SCHEMA_INPLACE;
    for (int i = f->first_out; i < s->n_args; i++)
        if (strncmp(s->args[i].name, "_scratch_", 9) == 0)
            return CG_KIND_SCRATCH;
    if (f->first_out < s->n_args)
        return TN__SCHEMA_OUT;
    for (int i = f->self + 1; i < s->n_positional; i++)
        if (cg_arg_written(&s->args[i]))
            return TN__SCHEMA_MUTABLE;
    return TN__SCHEMA_FUNCTIONAL;
}

static bool find_view(const cg_entry *e, const tn__schema *s)
{
    for (int i = 0; i < s->n_rets; i++) {
        const tn__alias *alias = tn__type_alias(s->rets[i].type);
        if (alias && !alias->is_write)
            return true;
    }
    for (int i = 0; i < s->n_args; i++) {
        const tn__alias *alias = tn__type_alias(s->args[i].type);
        if (alias && alias->after && strchr(alias->after, '*'))
            return true;
    }
    return cg_entry_has_tag(e, "inplace_view") && strcmp(e->op, "resize_") != 0 &&
           strcmp(e->op, "resize_as_") != 0;
}

void cg_facts_fill(cg_check *c, cg_facts *f)
{
    const tn__schema *s = f->e->schema;
    cg_facts_split_name(c, f, s->name);
    f->self = -1;
    for (int i = s->n_positional; i-- > 0;)
        if (strcmp(s->args[i].name, "self") == 0)
            f->self = i;
    f->first_out = s->n_args;
    for (int i = s->n_args; i-- > 0;)
        if (s->args[i].is_out)
            f->first_out = i;
    f->options = cg_options_at(s);
    f->kind = find_kind(f, s);
    f->is_view = find_view(f->e, s);
}

/* ---- the signature --------------------------------------------------------------------------- */

static void put_type(cg_text *t, const tn__type *type)
{
    char size[32];
    if (type->kind == TN__TYPE_OPTIONAL) {
        put_type(t, type->elem);
        cg_text_put(t, "?");
    } else if (type->kind == TN__TYPE_LIST) {
        put_type(t, type->elem);
        if (type->list_size >= 0)
            snprintf(size, sizeof size, "[%lld]", (long long)type->list_size);
        cg_text_put(t, type->list_size >= 0 ? size : "[]");
    } else {
        cg_text_put(t, type->name ? type->name : "Tensor");
    }
}

static void put_args(cg_text *t, const cg_facts *f)
{
    const tn__schema *s = f->e->schema;
    /* PyTorch's one exception: bernoulli.p takes no default for p, its in-place form does. */
    bool bernoulli = strcmp(f->e->op, "bernoulli.p") == 0;
    for (int i = 0; i < s->n_args && i < f->first_out; i++) {
        if (f->options >= 0 && i >= f->options && i < f->options + 4)
            continue;
        cg_text_put(t, i < s->n_positional ? "," : ",*");
        put_type(t, s->args[i].type);
        cg_text_put(t, " ");
        cg_text_put(t, s->args[i].name);
        const char *def = s->args[i].def ? s->args[i].def->source : NULL;
        if (bernoulli && !def && strcmp(s->args[i].name, "p") == 0)
            def = "0.5";
        cg_text_put(t, def ? "=" : "");
        cg_text_put(t, def ? def : "");
    }
}

/* An argument that is written and not returned counts as one more result. */
static void put_written(cg_text *t, const tn__schema *s, const tn__arg *a)
{
    if (!cg_arg_written(a))
        return;
    for (int i = 0; i < s->n_rets; i++)
        if (cg_alias_equal(tn__type_alias(a->type), tn__type_alias(s->rets[i].type)))
            return;
    cg_text_put(t, ",");
    put_type(t, a->type);
}

static void put_rest(cg_text *t, const cg_facts *f)
{
    const tn__schema *s = f->e->schema;
    cg_text_put(t, "(");
    put_args(t, f);
    cg_text_put(t, ")");
    for (int i = 0; i < s->n_rets; i++) {
        cg_text_put(t, ",");
        put_type(t, s->rets[i].type);
    }
    if (f->self >= 0)
        put_written(t, s, &s->args[f->self]);
    for (int i = f->first_out; i < s->n_args; i++)
        put_written(t, s, &s->args[i]);
    for (int i = f->self + 1; i < s->n_positional; i++)
        put_written(t, s, &s->args[i]);
}

/* "x_copy" is x's copy; "x_scatter" that of x_inverse. */
static void put_view_base(cg_text *t, const char *base)
{
    size_t n = strlen(base);
    bool copy = ends_with(base, n, "_copy"), scatter = ends_with(base, n, "_scatter");
    const char *gone = copy ? "_copy" : "scatter";
    const char *at;
    for (; (copy || scatter) && (at = strstr(base, gone)); base = at + strlen(gone)) {
        cg_text_put_n(t, base, (size_t)(at - base));
        cg_text_put(t, copy ? "" : "inverse");
    }
    cg_text_put(t, base);
}

void cg_facts_sign(cg_check *c, cg_facts *f)
{
    cg_text rest = cg_text_start(&c->arena);
    put_rest(&rest, f);
    cg_text plain = cg_text_start(&c->arena), view = cg_text_start(&c->arena);
    cg_text_put(&plain, f->dunder ? "__" : "");
    cg_text_put(&view, f->dunder ? "__" : "");
    cg_text_put(&plain, f->base);
    put_view_base(&view, f->base);
    cg_text_put(&plain, rest.ok ? rest.s : "");
    cg_text_put(&view, rest.ok ? rest.s : "");
    if (!rest.ok || !plain.ok || !view.ok) {
        c->diag->no_memory = true;
        f->ok = false;
        return;
    }
    f->signature = plain.s;
    f->view_signature = view.s;
}

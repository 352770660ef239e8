/* ops.c - from checked entries to operators: forms, frames, names, expressions, shape rule calls.
 *
 * An entry becomes a group of one to three operators; groups are sorted by name, so that nothing
 * that is generated depends on the order of the YAML file but the line numbers in comments. */
#include "ops.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "m4.h"
#include "reference.h"

typedef struct maker {
    cg_diag *d;
    tn__arena *a;
    const cg_file *file;
    bool ok;
} maker;

static const char *format(tn__arena *a, const char *fmt, const char *x, const char *y,
                          const char *z)
{
    int n = snprintf(NULL, 0, fmt, x, y, z);
    char *s = tn__arena_alloc(a, (size_t)n + 1);
    if (s)
        snprintf(s, (size_t)n + 1, fmt, x, y, z);
    return s;
}

static void fail(maker *m, const cg_entry *e, cg_pos pos, const char *what, const char *name)
{
    cg_error(m->d, e->file->name, pos, what, name);
    m->ok = false;
}

static const char *full_schema(maker *m, const tn__schema *s)
{
    size_t n = tn__schema_print(s, NULL, 0);
    char *text = tn__arena_alloc(m->a, n + 1);
    if (!text)
        return NULL;
    tn__schema_print(s, text, n + 1);
    return s->ns_written ? text : format(m->a, "%s::%s%s", s->ns, text, "");
}

/* ---- names that C or the frame has already --------------------------------------------------- */
static bool is_word_of_c(const char *name)
{
    static const char *const words[] = {
        "auto",     "break",  "case",     "char",    "const",    "continue",  "default",
        "do",       "double", "else",     "enum",    "extern",   "float",     "for",
        "goto",     "if",     "inline",   "int",     "long",     "register",  "restrict",
        "return",   "short",  "signed",   "sizeof",  "static",   "struct",    "switch",
        "typedef",  "union",  "unsigned", "void",    "volatile", "while",     "bool",
        "true",     "false",  "NULL",     "complex", "class",    "new",       "delete",
        "template", "this",   "private",  "public",  "operator", "namespace",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0)
            return true;
    return false;
}

/* Where an argument of this name stands in the func line; the line's begin for a result. */
static cg_pos place_of(const cg_entry *e, const char *name)
{
    const tn__schema *s = e->schema;
    for (int i = 0; i < s->n_args; i++)
        if (strcmp(s->args[i].name, name) == 0 && s->args[i].column > 0)
            return cg_at(&e->func, (size_t)s->args[i].column - 1);
    return e->func.pos;
}

/* Fields become members of a struct: each name must be a C name, and only once there. */
static void check_names(maker *m, const cg_entry *e, const tn__layout *l)
{
    int n = l->n_results + l->n_args;
    for (int i = 0; i < n; i++) {
        const char *name = l->fields[i].name;
        if (is_word_of_c(name))
            fail(m, e, place_of(e, name),
                 "'%s' is a word of C or C++; add a '_' to the argument's name", name);
        if (strcmp(name, "frame") == 0)
            fail(m, e, place_of(e, name),
                 "'%s' is the name of the frame's own header; choose another one", name);
        for (int j = 0; j < i; j++)
            if (strcmp(name, l->fields[j].name) == 0)
                fail(m, e, place_of(e, name),
                     "'%s' names two fields of the frame, results included; rename one", name);
    }
}

/* What becomes C must be as strict as a schema that a plugin registers. */
static void check_schema(maker *m, const cg_entry *e, const tn__schema *s)
{
    tn__schema_error err = {0, ""};
    if (!s->text) /* it follows from another one */
        return;
    const char *taken = cg_m4_word(s->text);
    if (taken)
        fail(m, e, e->func.pos,
             "it holds '%.3s', which the templates would take for theirs; write another name or "
             "default",
             taken);
    else if (!tn__schema_parse(m->a, s->text, strlen(s->text), true, &err))
        fail(m, e, cg_at(&e->func, err.column > 0 ? (size_t)err.column - 1 : 0), "%s", err.message);
}

/* An option of an expression call replaces a number, not its kind. */
static void check_defaults(maker *m, const cg_entry *e, const tn__layout *l)
{
    for (int i = l->n_results; i < l->n_results + l->n_args; i++) {
        const tn_field *f = &l->fields[i];
        const tn_scalar *s = (const void *)((const char *)l->defaults + f->offset);
        if (f->kind == TN_FIELD_SCALAR && s->kind == TN_SCALAR_COMPLEX)
            fail(m, e, place_of(e, f->name),
                 "the default of '%s' is complex; write a real number or None", f->name);
    }
}

/* What a frame cannot hold, and how many tensors an operator can have. */
static void check_types(maker *m, const cg_entry *e, const tn__layout *l)
{
    enum { LISTS = 4 }; /* as core/dispatch has it */
    int tensors = 0, lists = 0;
    for (int i = 0; i < l->n_results + l->n_args; i++) {
        const tn_field *f = &l->fields[i];
        if (f->kind == TN_FIELD_UNSUPPORTED)
            fail(m, e, place_of(e, f->name),
                 "a call frame cannot hold '%s' yet, because of its type; docs/schema.md lists "
                 "types",
                 f->name);
        tensors += i >= l->n_results && f->kind == TN_FIELD_TENSOR;
        lists += i >= l->n_results && f->kind == TN_FIELD_TENSORS;
    }
    if (m->ok && (tensors > TN_MAX_OPERANDS || lists > LISTS))
        fail(m, e, e->func.pos,
             "%s has more tensors than a call can; write at most 8 Tensor and 4 "
             "Tensor[] arguments",
             e->schema->name);
    else if (e->pointwise.text && tensors >= TN_MAX_OPERANDS)
        fail(m, e, e->func.pos, "%s has more tensors than an expression can; write at most 7",
             e->schema->name);
}

/* ---- one operator ---------------------------------------------------------------------------- */
static cg_op *make_op(maker *m, const cg_entry *e, const tn__schema *s, int form)
{
    cg_op *op = tn__arena_alloc(m->a, sizeof *op);
    if (!op || !s) {
        m->ok = false;
        return NULL;
    }
    check_schema(m, e, s);
    op->schema = s;
    op->form = form;
    op->layout = tn__layout_new(m->a, s);
    op->full = full_schema(m, s);
    if (op->layout && m->ok) {
        check_names(m, e, op->layout);
        check_defaults(m, e, op->layout);
    }
    op->id = format(m->a, "%s%s%s", s->name, *s->overload ? "_" : "", s->overload);
    op->short_id = op->id;
    if (!op->layout || !op->full || !op->id) {
        m->ok = false;
        return NULL;
    }
    check_types(m, e, op->layout);
    return op;
}

/* ---- shape rules ----------------------------------------------------------------------------- */
static bool is_argument(const tn__schema *s, const char *name, size_t n)
{
    for (int i = 0; i < s->n_args; i++)
        if (strlen(s->args[i].name) == n && memcmp(s->args[i].name, name, n) == 0)
            return true;
    return false;
}

static bool is_literal(const char *word, size_t n)
{
    static const char *const names[] = {"true", "false", "bool", "i64", "f32", "none"};
    char *end;
    strtoll(word, &end, 10);
    if (end == word + n)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && memcmp(names[i], word, n) == 0)
            return true;
    return false;
}

static const char *literal_c(const char *word, size_t n)
{
    static const char *const c[][2] = {
        {"bool", "TN_BOOL"}, {"i64", "TN_I64"}, {"f32", "TN_F32"}, {"none", "TN_DTYPE_NONE"}};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        if (strlen(c[i][0]) == n && memcmp(c[i][0], word, n) == 0)
            return c[i][1];
    return NULL;
}

/* One argument of the rule: an argument of the operator, or a literal. Appends its C. */
static bool shape_argument(maker *m, const cg_entry *e, const char *word, size_t n, char *c,
                           size_t cap)
{
    size_t used = strlen(c);
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)(n < 120 ? n : 120), word);
    if (is_argument(e->schema, word, n)) {
        snprintf(c + used, cap - used, ", a->%s", name);
    } else if (is_literal(word, n)) {
        const char *known = literal_c(word, n);
        snprintf(c + used, cap - used, ", %s", known ? known : name);
    } else {
        fail(m, e, cg_at(&e->shape, (size_t)(word - e->shape.text)),
             "'%s' is neither an argument of the operator nor a literal; write an argument's name, "
             "a number, true, false, a dtype or none",
             name);
        return false;
    }
    return true;
}

/* "rule(self, dim)" or just "rule". */
static void make_shape(maker *m, const cg_entry *e, cg_group *g)
{
    const char *at = e->shape.text, *begin = at;
    char c[512] = "";
    while (isalnum((unsigned char)*at) || *at == '_')
        at++;
    g->shape_rule = tn__arena_strndup(m->a, begin, (size_t)(at - begin));
    if (*at == '(') {
        do {
            at++;
            while (*at == ' ')
                at++;
            const char *word = at;
            while (isalnum((unsigned char)*at) || *at == '_' || *at == '-')
                at++;
            if (at > word && !shape_argument(m, e, word, (size_t)(at - word), c, sizeof c))
                return;
            while (*at == ' ')
                at++;
        } while (*at == ',');
        if (*at != ')') {
            fail(m, e, cg_at(&e->shape, (size_t)(at - e->shape.text)),
                 "expected ',' or ')' in the shape rule %s", g->shape_rule);
            return;
        }
    }
    g->shape_args = tn__arena_strndup(m->a, c, strlen(c));
}

/* `shape: pointwise`: the core prepares the call as for an expression, but the loop is written by
 * hand. */
static bool is_prepared(const char *shape, int32_t *kind)
{
    static const struct {
        const char *name;
        int32_t kind;
    } kinds[] = {{"pointwise", TN_POINTWISE},
                 {"pointwise_float", TN_POINTWISE | TN_POINTWISE_FLOAT},
                 {"pointwise_bool", TN_POINTWISE | TN_POINTWISE_BOOL}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, shape) == 0) {
            *kind = kinds[i].kind;
            return true;
        }
    return false;
}

/* ---- groups ---------------------------------------------------------------------------------- */
/* "add" of "add_": a page holds what differs in form only. Names like __and__ stand for
 * themselves. */
static const char *page_name(maker *m, const tn__schema *s)
{
    size_t n = strlen(s->name);
    bool inplace = n > 1 && s->name[n - 1] == '_' && s->name[n - 2] != '_';
    return inplace ? tn__arena_strndup(m->a, s->name, n - 1) : s->name;
}

static void make_group(maker *m, const cg_entry *e, cg_group *g)
{
    g->entry = e;
    g->page = page_name(m, e->schema);
    if (!g->page) {
        m->ok = false;
        return;
    }
    g->forms[CG_FUNCTIONAL] = make_op(m, e, e->schema, CG_FUNCTIONAL);
    cg_reference reference; /* only to find its errors: tests evaluate it, nothing is made of it */
    if (e->reference.text && !cg_reference_parse(m->d, m->a, e, &reference))
        m->ok = false;
    if (!e->is_ours)
        return;
    if (e->forms & CG_FORM_INPLACE)
        g->forms[CG_INPLACE] = make_op(m, e, cg_schema_inplace(m->a, e), CG_INPLACE);
    if (e->forms & CG_FORM_OUT)
        g->forms[CG_OUT] = make_op(m, e, cg_schema_out(m->a, e), CG_OUT);
    g->is_pointwise = e->pointwise.text != NULL;
    g->pointwise.dtypes = e->dtypes ? cg_own_dtypes(e->dtypes) : TN_DTYPES_ALL;
    if (e->dtypes && !g->pointwise.dtypes)
        fail(m, e, e->dtypes_text.pos,
             "none of the dtypes '%s' is one of Tenon's; docs/schema.md lists them",
             e->dtypes_text.text);
    if (g->is_pointwise && !cg_pointwise_parse(m->d, m->a, e, &g->pointwise))
        m->ok = false;
    if (e->shape.text && !is_prepared(e->shape.text, &g->pointwise.kind))
        make_shape(m, e, g);
}

static int by_name(const void *a, const void *b)
{
    const cg_group *x = a, *y = b;
    int c = strcmp(x->page, y->page);
    if (c == 0)
        c = strcmp(x->entry->schema->name, y->entry->schema->name);
    return c ? c : strcmp(x->entry->schema->overload, y->entry->schema->overload);
}

bool cg_ops_make(cg_diag *d, tn__arena *a, const cg_file *f, cg_ops *out)
{
    maker m = {d, a, f, true};
    *out = (cg_ops){tn__arena_alloc(a, (size_t)(f->n_entries + 1) * sizeof *out->groups),
                    f->n_entries};
    if (!out->groups)
        return false;
    for (int i = 0; i < f->n_entries; i++)
        make_group(&m, &f->entries[i], &out->groups[i]);
    if (!m.ok)
        return false;
    qsort(out->groups, (size_t)out->n_groups, sizeof *out->groups, by_name);
    for (int i = 0; i < out->n_groups; i++)
        for (int form = 0; form < CG_FORMS; form++)
            if (out->groups[i].forms[form])
                out->groups[i].forms[form]->index = i * CG_FORMS + form;
    cg_names_choose(out);
    return cg_names_check(d, a, out);
}

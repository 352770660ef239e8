/* formula.c - from the syntax of a formula to its typed tree: what names, members and calls mean. The
 * first error of a formula is reported. */
#include "formula.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const cg_value *cg_formula_fail(cg_scope *s, size_t offset, const char *format, ...)
{
    char message[768];
    va_list args;
    if (s->failed)
        return NULL;
    s->failed = true;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (s->derived)
        cg_error(s->diag, s->file, s->str->pos,
                 "the gradient that follows from the expression, '%.200s', cannot be made: %s; or "
                 "write an entry in the derivatives file",
                 s->derived, message);
    else
        cg_error(s->diag, s->file, cg_at(s->str, offset), "%s", message);
    return NULL;
}

cg_value *cg_value_new(cg_scope *s, cg_value_kind kind, cg_type type, size_t offset,
                       const char *text)
{
    cg_value *v = tn__arena_alloc(s->arena, sizeof *v);
    if (!v) {
        cg_formula_fail(s, offset, "out of memory");
        return NULL;
    }
    v->kind = kind;
    v->type = type;
    v->offset = offset;
    v->text = text;
    return v;
}

bool cg_value_give(cg_scope *s, cg_value *v, int n, const cg_value *const *operands)
{
    if (!v)
        return false;
    v->operands = tn__arena_alloc(s->arena, ((size_t)n + 1) * sizeof *v->operands);
    if (!v->operands)
        return cg_formula_fail(s, v->offset, "out of memory") != NULL;
    for (int i = 0; i < n; i++) {
        if (!operands[i])
            return false;
        v->operands[i] = operands[i];
    }
    v->n = n;
    return true;
}

/* ---- names ----------------------------------------------------------------------------------- */
static const cg_type tensor = {TN_FIELD_TENSOR, false, 0};

static const cg_value *leaf(cg_scope *s, const cg_syntax *x, cg_type type, const char *text)
{
    return cg_value_new(s, CG_VALUE_LEAF, type, x->offset, text);
}

static const char *format(cg_scope *s, const char *fmt, int i)
{
    char buf[64];
    int n = snprintf(buf, sizeof buf, fmt, i);
    return tn__arena_strndup(s->arena, buf, (size_t)n);
}

static const cg_value *field(cg_scope *s, const cg_syntax *x, int i)
{
    const tn_field *f = &s->of->op->layout->fields[i];
    cg_value *v = cg_value_new(s, CG_VALUE_FIELD, cg_type_of_field(f), x->offset, f->name);
    if (v)
        v->index = i;
    return v;
}

static int find_field(const tn__layout *l, int from, int to, const char *name)
{
    for (int i = from; i < to; i++)
        if (strcmp(l->fields[i].name, name) == 0)
            return i;
    return -1;
}

int cg_find_argument(const tn__layout *l, const char *name)
{
    return find_field(l, l->n_results, l->n_results + l->n_args, name);
}

int cg_find_result(const tn__layout *l, const char *name)
{
    char numbered[32];
    int i = find_field(l, 0, l->n_results, name);
    if (i >= 0)
        return i;
    for (i = 0; i < l->n_results; i++) {
        snprintf(numbered, sizeof numbered, "result%d", i);
        if (strcmp(numbered, name) == 0)
            return i;
    }
    return l->n_results && strcmp(name, "result") == 0 ? 0 : -1;
}

static bool result_is_list(const cg_scope *s)
{
    const tn__layout *l = s->of->op->layout;
    return l->n_results == 1 && l->fields[0].kind == TN_FIELD_TENSORS;
}

/* The gradient of result i, or of entry i of a result that is a list. */
static const cg_value *gradient(cg_scope *s, const cg_syntax *x, int i)
{
    const tn__layout *l = s->of->op->layout;
    if (s->is_forward)
        return cg_formula_fail(s, x->offset,
                               "there is no gradient in a forward formula; write an argument's "
                               "tangent, as self_t");
    if (!result_is_list(s)) {
        if (i >= l->n_results)
            return cg_formula_fail(s, x->offset,
                                   "there is no grads[%d]; the operator has %d result%s", i,
                                   l->n_results, l->n_results == 1 ? "" : "s");
        if (!(s->of->flags[i] & TN_FIELD_DIFFERENTIABLE))
            return cg_formula_fail(s, x->offset,
                                   "result '%s' has no gradient: it is not differentiable; write "
                                   "grads[i] of another result",
                                   l->fields[i].name);
    }
    cg_value *v =
        cg_value_new(s, CG_VALUE_LEAF, tensor, x->offset, i ? format(s, "g->in[%d]", i) : "grad");
    if (v)
        v->uses_grad = i == 0;
    return v;
}

static const cg_value *gradients(cg_scope *s, const cg_syntax *x)
{
    if (!result_is_list(s))
        return cg_formula_fail(s, x->offset,
                               "'grads' alone is for operators that give a Tensor[]; write grad or "
                               "grads[i]");
    if (s->is_forward)
        return gradient(s, x, 0);
    cg_value *v = cg_value_new(s, CG_VALUE_FUNCTION, (cg_type){TN_FIELD_TENSORS, false, 0},
                               x->offset, "tn_grad_list");
    const cg_value *list = field(s, x, 0);
    if (!v || !list)
        return NULL;
    v->takes_g = true;
    v->is_geometry = true;
    return cg_value_give(s, v, 1, &list) ? v : NULL;
}

/* "self_t": the tangent of an argument, "self_p" its value. */
static const cg_value *tangent(cg_scope *s, const cg_syntax *x)
{
    const tn__layout *l = s->of->op->layout;
    size_t n = strlen(x->text);
    char name[128];
    if (!s->is_forward || n < 3 || n > 120 || x->text[n - 2] != '_' ||
        !strchr("tp", x->text[n - 1]))
        return NULL;
    snprintf(name, sizeof name, "%.*s", (int)n - 2, x->text);
    int at = cg_find_argument(l, name);
    if (at < 0)
        return NULL;
    if (x->text[n - 1] == 'p')
        return field(s, x, at);
    for (int i = 0; i < s->of->n_arguments; i++)
        if (s->of->arguments[i] == at)
            return l->fields[at].kind == TN_FIELD_TENSORS
                       ? leaf(s, x, (cg_type){TN_FIELD_TENSORS, false, 0},
                              format(s, "tn_tangents(g, %d)", i))
                       : leaf(s, x, tensor, format(s, "tn_tangent(g, %d)", i));
    return cg_formula_fail(
        s, x->offset, "'%s' has no tangent: it has no gradient either; give it a formula", name);
}

static const cg_value *unknown_name(cg_scope *s, const cg_syntax *x)
{
    const tn__layout *l = s->of->op->layout;
    const char *names[128] = {"grad",
                              "grads",
                              "result",
                              "True",
                              "False",
                              "None",
                              "auto_linear",
                              "auto_element_wise",
                              "not_implemented",
                              "non_differentiable"};
    int n = 10;
    for (int i = 0; i < l->n_results + l->n_args && n < 128; i++)
        names[n++] = l->fields[i].name;
    const char *near = cg_near(x->text, names, n);
    char list[256] = "";
    for (int i = l->n_results; i < l->n_results + l->n_args; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s",
                 i > l->n_results ? ", " : "", l->fields[i].name);
    if (near)
        return cg_formula_fail(s, x->offset, "there is no '%.60s' here; did you mean '%s'?",
                               x->text, near);
    return cg_formula_fail(s, x->offset,
                           "there is no '%.60s' here; names are grad, grads, result and the "
                           "arguments %s",
                           x->text, list);
}

static const cg_value *type_name(cg_scope *s, const cg_syntax *x)
{
    const tn__layout *l = s->of->op->layout;
    int at = cg_find_argument(l, x->text);
    if (at >= 0)
        return field(s, x, at);
    if (strcmp(x->text, "grad") == 0)
        return gradient(s, x, 0);
    if (strcmp(x->text, "grads") == 0)
        return gradients(s, x);
    at = cg_find_result(l, x->text);
    if (at >= 0)
        return field(s, x, at);
    if (strcmp(x->text, "True") == 0 || strcmp(x->text, "False") == 0)
        return leaf(s, x, (cg_type){TN_FIELD_BOOL, false, 0}, x->text[0] == 'T' ? "true" : "false");
    if (strcmp(x->text, "None") == 0)
        return leaf(s, x, (cg_type){CG_TYPE_NONE, true, 0}, "NULL");
    const cg_value *v = tangent(s, x);
    return v || s->failed ? v : unknown_name(s, x);
}

/* ---- literals -------------------------------------------------------------------------------- */
static const cg_value *type_number(cg_scope *s, const cg_syntax *x)
{
    int kind = cg_literal_is_floating(x->text) ? TN_FIELD_FLOAT : TN_FIELD_INT;
    return leaf(s, x, (cg_type){kind, false, 0}, x->text);
}

static const cg_value *type_string(cg_scope *s, const cg_syntax *x)
{
    size_t n = strlen(x->text) + 3;
    char *quoted = tn__arena_alloc(s->arena, n);
    if (!quoted)
        return cg_formula_fail(s, x->offset, "out of memory");
    snprintf(quoted, n, "\"%s\"", x->text);
    return leaf(s, x, (cg_type){TN_FIELD_STR, false, 0}, quoted);
}

static bool type_all(cg_scope *s, const cg_syntax *x, int from, const cg_value **out)
{
    for (int i = from; i < x->n; i++) {
        out[i] = cg_formula_type(s, x->operands[i]);
        if (!out[i])
            return false;
    }
    return true;
}

/* ---- functions that are no operators --------------------------------------------------------- */
static const cg_value *arity(cg_scope *s, const cg_syntax *x)
{
    return cg_formula_fail(s, x->offset, "%s takes 1 argument, got %d; write %s(self)", x->text,
                           x->n, x->text);
}

static const cg_value *function(cg_scope *s, const cg_syntax *x, const char *name, bool takes_g,
                                const cg_value *operand)
{
    cg_value *v = cg_value_new(s, CG_VALUE_FUNCTION, operand->type, x->offset, name);
    if (!cg_value_give(s, v, 1, &operand))
        return NULL;
    v->takes_g = takes_g;
    return v;
}

/* Of real numbers itself. */
static const cg_value *type_conj(cg_scope *s, const cg_syntax *x)
{
    if (x->n != 1)
        return arity(s, x);
    const cg_value *of = cg_formula_type(s, x->operands[0]);
    if (!of)
        return NULL;
    if (cg_is_tensor(of))
        return cg_formula_extra(s, x->offset, CG_EXTRA_CONJ) ? function(s, x, "grad_conj", true, of)
                                                             : NULL;
    if (!cg_is_number(of))
        return cg_formula_fail(s, x->offset, "conj takes a Tensor or a number; write conj(self)");
    return of->type.kind == TN_FIELD_SCALAR ? function(s, x, "tn_scalar_conj", false, of) : of;
}

static const cg_value *type_wants(cg_scope *s, const cg_syntax *x)
{
    const tn__layout *l = s->of->op->layout;
    if (x->n != 1)
        return arity(s, x);
    if (s->is_forward)
        return cg_formula_fail(s, x->offset,
                               "wants is about gradients, and a forward formula makes a tangent; "
                               "test self_t.defined");
    const cg_syntax *of = x->operands[0];
    for (int i = 0; of->kind == CG_SYNTAX_NAME && i < s->of->n_arguments; i++)
        if (strcmp(l->fields[s->of->arguments[i]].name, of->text) == 0)
            return leaf(s, x, (cg_type){TN_FIELD_BOOL, false, 0},
                        format(s, "tn_grad_wants(g, %d)", i));
    return cg_formula_fail(s, of->offset,
                           "wants takes the name of an argument that has a gradient; write "
                           "wants(%s)",
                           s->of->n_arguments ? l->fields[s->of->arguments[0]].name : "self");
}

/* A tensor, or a list of them, of which only the geometry is kept. */
static const cg_value *type_shape(cg_scope *s, const cg_syntax *x)
{
    if (x->n != 1)
        return arity(s, x);
    const cg_value *of = cg_formula_type(s, x->operands[0]);
    if (!of)
        return NULL;
    if (of->kind != CG_VALUE_FIELD || !cg_field_is_tensor(&s->of->op->layout->fields[of->index]))
        return cg_formula_fail(
            s, x->operands[0]->offset,
            "shape takes an argument or a result that is a Tensor or a Tensor[]; "
            "write shape(self)");
    cg_value *v = cg_value_new(s, CG_VALUE_FIELD, of->type, of->offset, of->text);
    if (!v)
        return NULL;
    v->index = of->index;
    v->is_geometry = true;
    return v;
}

typedef struct word {
    const char *name;
    const cg_value *(*type)(cg_scope *s, const cg_syntax *x);
} word;

static const word words[] = {{"conj", type_conj}, {"wants", type_wants}, {"shape", type_shape}};

/* ---- calls ----------------------------------------------------------------------------------- */
/* "sum.dim_IntList(x)": what looks like a method is an overload by its name. */
static bool is_overload(const cg_scope *s, const cg_syntax *x)
{
    if (!x->is_method || x->operands[0]->kind != CG_SYNTAX_NAME)
        return false;
    const tn__layout *l = s->of->op->layout;
    const char *name = x->operands[0]->text;
    bool is_value = strcmp(name, "grad") == 0 || strcmp(name, "grads") == 0 ||
                    cg_find_result(l, name) >= 0 || cg_find_argument(l, name) >= 0;
    return cg_formula_can_call(s, name, x->text) ||
           (!is_value && cg_formula_can_call(s, name, NULL));
}

static const cg_value *type_operator(cg_scope *s, const cg_syntax *x)
{
    const cg_value *operands[3] = {NULL};
    if (!type_all(s, x, 0, operands))
        return NULL;
    if (strcmp(x->token, "?") == 0)
        return cg_host_select(s, x, operands);
    return cg_host_operator(s, x, operands);
}

static const cg_value *type_call(cg_scope *s, const cg_syntax *x)
{
    const cg_value *operands[64] = {NULL};
    if (x->token)
        return type_operator(s, x);
    for (size_t i = 0; !x->is_method && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].name, x->text) == 0)
            return words[i].type(s, x);
    if (is_overload(s, x))
        return type_all(s, x, 1, operands)
                   ? cg_formula_call(s, x->offset, x->operands[0]->text, x->text, x->n - 1,
                                     operands + 1, x->keywords + 1)
                   : NULL;
    if (!type_all(s, x, 0, operands))
        return NULL;
    if (x->is_method && x->n <= 2) {
        const cg_value *v = cg_host_member(s, x, operands[0], operands[1]);
        if (v || s->failed)
            return v;
    }
    if (x->is_method && !cg_is_tensor(operands[0]))
        return cg_formula_fail(s, x->offset, "only a Tensor has methods; write %s(..)", x->text);
    return cg_formula_call(s, x->offset, x->text, NULL, x->n, operands, x->keywords);
}

/* "grads[1]" is no list's entry but a result's gradient. */
static const cg_value *type_index(cg_scope *s, const cg_syntax *x)
{
    const cg_syntax *of = x->operands[0], *index = x->operands[1];
    if (of->kind == CG_SYNTAX_NAME && strcmp(of->text, "grads") == 0 && !result_is_list(s)) {
        if (index->kind != CG_SYNTAX_NUMBER || cg_literal_is_floating(index->text) ||
            strlen(index->text) > 2)
            return cg_formula_fail(s, index->offset,
                                   "which gradient is meant must be a number; write grads[0]");
        return gradient(s, of, atoi(index->text));
    }
    const cg_value *list = cg_formula_type(s, of);
    const cg_value *at = list ? cg_formula_type(s, index) : NULL;
    return at ? cg_host_index(s, x, list, at) : NULL;
}

static const cg_value *type_member(cg_scope *s, const cg_syntax *x)
{
    const cg_value *of = cg_formula_type(s, x->operands[0]);
    if (!of)
        return NULL;
    const cg_value *v = cg_host_member(s, x, of, NULL);
    if (v || s->failed)
        return v;
    char type[64];
    return cg_formula_fail(
        s, x->offset,
        "%s has no member '%.60s'; a Tensor has sizes, strides, dim, numel, dtype, device, "
        "offset, is_complex and defined, a list has len, what is optional has "
        "defined and value",
        cg_type_name(type, sizeof type, of->type), x->text);
}

static const cg_value *type_list(cg_scope *s, const cg_syntax *x)
{
    const cg_value *operands[64] = {NULL};
    return type_all(s, x, 0, operands) ? cg_host_list(s, x, x->n, operands) : NULL;
}

const cg_value *cg_formula_type(cg_scope *s, const cg_syntax *x)
{
    switch (x->kind) {
    case CG_SYNTAX_NUMBER:
        return type_number(s, x);
    case CG_SYNTAX_STRING:
        return type_string(s, x);
    case CG_SYNTAX_NAME:
        return type_name(s, x);
    case CG_SYNTAX_CALL:
        return type_call(s, x);
    case CG_SYNTAX_MEMBER:
        return type_member(s, x);
    case CG_SYNTAX_INDEX:
        return type_index(s, x);
    case CG_SYNTAX_LIST:
        return type_list(s, x);
    }
    return NULL;
}

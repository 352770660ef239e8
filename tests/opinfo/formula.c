/* formula.c - a formula evaluated: names are the arguments in a call's frame, operators between
 * tensors are calls, everything else is computed here. */
#include "formula.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

oi_value oi_formula_fail(oi_formula *f, size_t offset, const char *format, ...)
{
    va_list args;
    if (f->failed)
        return oi_value_none();
    f->failed = true;
    cg_pos at = f->text ? cg_at(f->text, offset) : (cg_pos){0, 0};
    int n = f->text ? snprintf(f->why, sizeof f->why, "%.120s:%d:%d: ", f->file, at.line, at.column)
                    : 0;
    va_start(args, format);
    vsnprintf(f->why + n, sizeof f->why - (size_t)n, format, args);
    va_end(args);
    return oi_value_none();
}

/* ---- names ----------------------------------------------------------------------------------- */
static oi_value moved_argument(oi_formula *f, oi_value v)
{
    if (v.kind == OI_VALUE_TENSOR)
        return oi_formula_moved(f, v.tensor);
    if (v.kind != OI_VALUE_LIST)
        return v;
    oi_value *items = oi_alloc((size_t)(v.n + 1) * sizeof *items);
    for (int64_t i = 0; i < v.n; i++)
        items[i] = moved_argument(f, v.items[i]);
    v.items = items;
    return v;
}

/* -1: there is no such argument. */
static int find_argument(const oi_formula *f, const char *name)
{
    int n_results, n_args;
    const tn_field *fields = tn_op_fields(f->op, &n_results, &n_args) + n_results;
    for (int k = 0; k < n_args; k++)
        if (strcmp(fields[k].name, name) == 0)
            return k;
    return -1;
}

/* An argument is moved once, so that self - self stays zero. */
static oi_value argument(oi_formula *f, int k)
{
    int n_results, n_args;
    const tn_field *fields = tn_op_fields(f->op, &n_results, &n_args) + n_results;
    if (!f->asked) {
        f->asked = oi_alloc((size_t)n_args * sizeof *f->asked);
        f->arguments = oi_alloc((size_t)n_args * sizeof *f->arguments);
    }
    if (!f->asked[k])
        f->arguments[k] = moved_argument(f, oi_value_of_field(&fields[k], f->call->frame));
    f->asked[k] = true;
    return f->arguments[k];
}

static oi_value name(oi_formula *f, const cg_syntax *x)
{
    int k = find_argument(f, x->text);
    if (k >= 0)
        return argument(f, k);
    if (strcmp(x->text, "None") == 0)
        return oi_value_none();
    if (strcmp(x->text, "True") == 0 || strcmp(x->text, "False") == 0)
        return oi_value_bool(*x->text == 'T');
    return oi_formula_fail(f, x->offset, "there is no argument '%.60s'", x->text);
}

oi_value oi_formula_itself(oi_formula *f)
{
    int n_results, n_args;
    const tn_field *fields = tn_op_fields(f->op, &n_results, &n_args) + n_results;
    void *frame = oi_alloc(tn_op_frame_size(f->op));
    memcpy(frame, f->call->frame, tn_op_frame_size(f->op));
    for (int k = 0; k < n_args && f->noise > 0; k++) {
        oi_value v = fields[k].flags & TN_FIELD_WRITTEN ? oi_value_none() : argument(f, k);
        void *at = (char *)frame + fields[k].offset;
        if (v.kind == OI_VALUE_TENSOR)
            *(tn_tensor **)at = v.tensor;
        if (fields[k].kind != TN_FIELD_TENSORS || v.kind != OI_VALUE_LIST)
            continue;
        tn_tensor **data = oi_alloc((size_t)(v.n + 1) * sizeof *data);
        for (int64_t i = 0; i < v.n; i++)
            data[i] = v.items[i].tensor;
        *(tn_tensors *)at = (tn_tensors){data, v.n};
    }
    if (f->failed)
        return oi_value_none();
    if (tn_op_call(f->op, frame) != TN_OK)
        return oi_formula_fail(f, 0, "%.300s", tn_error_last()->message);
    return oi_formula_results(f, f->op, frame);
}

/* ---- operators ------------------------------------------------------------------------------- */
/* A number before a tensor: operators take the tensor first. */
static oi_value turned(oi_formula *f, const cg_syntax *x, const oi_value *v)
{
    static const char *const words[][2] = {
        {"lt", "gt"}, {"le", "ge"}, {"gt", "lt"}, {"ge", "le"}, {"sub", "rsub"}};
    const oi_value turn[] = {v[1], v[0]};
    const char *word = x->text;
    if (strcmp(word, "div") == 0) {
        const oi_value inverse[] = {
            oi_formula_call(f, x->offset, "reciprocal", NULL, 1, turn, NULL), v[0]};
        return oi_formula_call(f, x->offset, "mul", NULL, 2, inverse, NULL);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], x->text) == 0)
            word = words[i][1];
    return oi_formula_call(f, x->offset, word, NULL, 2, turn, NULL);
}

static oi_value operator(oi_formula *f, const cg_syntax *x)
{
    oi_value v[2] = {oi_value_none(), oi_value_none()};
    if (*x->token == '?') {
        v[0] = oi_formula_evaluate(f, x->operands[0]);
        if (v[0].kind != OI_VALUE_NUMBER)
            return oi_formula_fail(f, x->operands[0]->offset,
                                   "the condition of '?:' must be a number or a bool");
        return oi_formula_evaluate(f, x->operands[oi_value_truth(&v[0]) ? 1 : 2]);
    }
    for (int i = 0; i < x->n; i++)
        v[i] = oi_formula_evaluate(f, x->operands[i]);
    if (f->failed || (v[0].kind != OI_VALUE_TENSOR && v[1].kind != OI_VALUE_TENSOR))
        return oi_formula_host(f, x, v);
    if (x->n == 2 && v[0].kind == OI_VALUE_NUMBER)
        return turned(f, x, v);
    return oi_formula_call(f, x->offset, x->text, NULL, x->n, v, NULL);
}

static oi_value entry(oi_formula *f, const cg_syntax *x)
{
    oi_value list = oi_formula_evaluate(f, x->operands[0]),
             at = oi_formula_evaluate(f, x->operands[1]);
    int64_t i = oi_value_is_int(&at) ? at.number.v.i : -1;
    i += i < 0 ? list.n : 0;
    if (list.kind != OI_VALUE_LIST || i < 0 || i >= list.n)
        return oi_formula_fail(f, x->offset, "there is no such entry");
    return list.items[i];
}

/* ---- calls ----------------------------------------------------------------------------------- */
static oi_value conjugate(oi_formula *f, const cg_syntax *x, const oi_value *v)
{
    if (v->kind == OI_VALUE_NUMBER && v->number.kind == TN_SCALAR_COMPLEX)
        return oi_value_number(tn_scalar_complex(v->number.v.c[0], -v->number.v.c[1]));
    if (v->kind == OI_VALUE_TENSOR && oi_is_complex(v->tensor->dtype))
        return oi_formula_call(f, x->offset, "conj_physical", NULL, 1, v, NULL);
    return *v;
}

static oi_value call(oi_formula *f, const cg_syntax *x)
{
    if (x->token)
        return operator(f, x);
    /* sum.dim_IntList(self, dim): what stands before the point is no value */
    const cg_syntax *first = x->n ? x->operands[0] : NULL;
    bool overload = x->is_method && first->kind == CG_SYNTAX_NAME &&
                    find_argument(f, first->text) < 0;
    oi_value *v = oi_alloc((size_t)(x->n + 1) * sizeof *v), out = oi_value_none();
    for (int i = overload; i < x->n && !f->failed; i++) {
        v[i] = oi_formula_evaluate(f, x->operands[i]);
        if (i == 0 && x->is_method && !f->failed && oi_formula_member(f, x, &v[0], &out))
            return out;
    }
    if (f->failed)
        return out;
    if (overload)
        return oi_formula_call(f, x->offset, first->text, x->text, x->n - 1, v + 1,
                               x->keywords + 1);
    if (!x->is_method && x->n == 1 && strcmp(x->text, "conj") == 0)
        return conjugate(f, x, v);
    if (!x->is_method && x->n == 1 && strcmp(x->text, "shape") == 0)
        return v[0];
    return oi_formula_call(f, x->offset, x->text, NULL, x->n, v, x->keywords);
}

static oi_value list(oi_formula *f, const cg_syntax *x)
{
    oi_value *items = oi_alloc((size_t)(x->n + 1) * sizeof *items);
    for (int i = 0; i < x->n; i++)
        items[i] = oi_formula_evaluate(f, x->operands[i]);
    return (oi_value){.kind = OI_VALUE_LIST, .items = items, .n = x->n};
}

static oi_value literal(const cg_syntax *x)
{
    return cg_literal_is_floating(x->text) ? oi_value_number(tn_scalar_float(strtod(x->text, NULL)))
                                           : oi_value_int((int64_t)strtoll(x->text, NULL, 0));
}

oi_value oi_formula_evaluate(oi_formula *f, const cg_syntax *x)
{
    oi_value of, out = oi_value_none();
    if (f->failed)
        return out;
    switch (x->kind) {
    case CG_SYNTAX_NUMBER:
        return literal(x);
    case CG_SYNTAX_STRING:
        return (oi_value){.kind = OI_VALUE_TEXT, .text = x->text};
    case CG_SYNTAX_NAME:
        return name(f, x);
    case CG_SYNTAX_CALL:
        return call(f, x);
    case CG_SYNTAX_MEMBER:
        of = oi_formula_evaluate(f, x->operands[0]);
        if (!f->failed && !oi_formula_member(f, x, &of, &out))
            return oi_formula_fail(f, x->offset, "it has no member '%.60s'", x->text);
        return out;
    case CG_SYNTAX_INDEX:
        return entry(f, x);
    case CG_SYNTAX_LIST:
        return list(f, x);
    }
    return out;
}

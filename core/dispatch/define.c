/* define.c - from schemas to operators: parse, lay out the frame, note where the tensors stand, tie
 * the forms. */
#include <string.h>

#include "core/dispatch/registry.h"

/* Layouts live as long as the process: an operator is never freed, so that a handle to it stays
 * safe. */
static tn__arena layouts;

tn_status tn__layout_parse(const char *text, const tn__layout **out)
{
    tn__schema_error err;
    const tn__schema *s = tn__schema_parse(&layouts, text, strlen(text), true, &err);
    if (!s)
        return tn__fail(NULL, TN_ERR_SCHEMA, "schema '%.200s': column %d: %s", text, err.column,
                        err.message);
    *out = tn__layout_new(&layouts, s);
    if (!*out)
        return tn__fail_memory(NULL, sizeof **out);
    return TN_OK;
}

static const char *full_name(const tn__schema *s)
{
    size_t n = strlen(s->ns) + strlen(s->name) + strlen(s->overload) + 4;
    char *name = tn__arena_alloc(&layouts, n);
    if (name)
        snprintf(name, n, "%s::%s%s%s", s->ns, s->name, *s->overload ? "." : "", s->overload);
    return name;
}

/* The schema with its namespace, even where the source left out "aten::". */
static const char *full_schema(const tn__schema *s, const char *text)
{
    if (s->ns_written)
        return tn__arena_strndup(&layouts, text, strlen(text));
    size_t n = strlen(s->ns) + strlen(text) + 3;
    char *full = tn__arena_alloc(&layouts, n);
    if (full)
        snprintf(full, n, "%s::%s", s->ns, text);
    return full;
}

static tn_status add_tensor(tn_op *op, const tn_field *f)
{
    if (op->n_tensor_args == TN_MAX_OPERANDS)
        return tn__fail(NULL, TN_ERR_SCHEMA, "%s has more than %d tensor arguments", op->name,
                        TN_MAX_OPERANDS);
    op->tensor_offsets[op->n_tensor_args++] = (uint16_t)f->offset;
    return TN_OK;
}

static tn_status add_list(tn_op *op, const tn_field *f)
{
    int limit = sizeof op->list_offsets / sizeof *op->list_offsets;
    if (op->n_list_args == limit)
        return tn__fail(NULL, TN_ERR_SCHEMA, "%s has more than %d tensor lists", op->name, limit);
    op->list_offsets[op->n_list_args++] = (uint16_t)f->offset;
    return TN_OK;
}

/* Where the tensors stand, required ones first, and what else a call must look at. */
static tn_status note_tensors(tn_op *op)
{
    const tn_field *f = op->layout->fields + op->layout->n_results;
    int n = op->layout->n_args;
    for (int i = 0; i < n; i++)
        if (f[i].kind == TN_FIELD_TENSOR && !(f[i].flags & TN_FIELD_OPTIONAL))
            TN__TRY(add_tensor(op, &f[i]));
    op->n_required = op->n_tensor_args;
    for (int i = 0; i < n; i++) {
        if (f[i].kind == TN_FIELD_TENSOR && f[i].flags & TN_FIELD_OPTIONAL)
            TN__TRY(add_tensor(op, &f[i]));
        if (f[i].kind == TN_FIELD_TENSORS)
            TN__TRY(add_list(op, &f[i]));
        if (f[i].kind == TN_FIELD_DEVICE)
            op->device_offset = (uint16_t)f[i].offset;
        op->checks_more |= f[i].kind == TN_FIELD_TENSORS || f[i].kind == TN_FIELD_STR;
    }
    return TN_OK;
}

tn_op *tn__op_new(const char *schema, tn__plugin *owner, tn_status *status)
{
    const tn__layout *layout = NULL;
    *status = tn__layout_parse(schema, &layout);
    if (*status != TN_OK)
        return NULL;
    tn_op *op = tn__zalloc(sizeof *op);
    if (!op) {
        *status = tn__fail_memory(NULL, sizeof *op);
        return NULL;
    }
    op->layout = layout;
    op->name = full_name(layout->schema);
    op->schema = full_schema(layout->schema, schema);
    op->frame_size = (uint16_t)layout->size;
    op->owner = owner;
    op->defined = true;
    if (!op->name || !op->schema)
        *status = tn__fail_memory(NULL, strlen(schema));
    else if (!layout->callable)
        *status = tn__fail(NULL, TN_ERR_UNSUPPORTED,
                           "%s cannot be called: its schema has a type without a frame "
                           "representation or is too long",
                           op->name);
    else
        *status = note_tensors(op);
    tn__op_choose_call(op);
    if (*status == TN_OK)
        return op;
    tn__free(op);
    return NULL;
}

void tn__op_free(tn_op *op)
{
    tn__free(op);
}

/* In-place forms write their first tensor; out arguments stand at the frame's end, as many as there
 * are results. */
uint16_t tn__given_offset(const tn_op *op)
{
    const tn__layout *l = op->layout;
    if (!op->structure || op->form == TN__FORM_FUNCTIONAL)
        return 0;
    if (op->form == TN__FORM_INPLACE)
        return op->structure->tensors[0];
    return (uint16_t)l->fields[l->n_results + l->n_args - op->structure->n_results].offset;
}

/* ---- structure ------------------------------------------------------------------------------- */
/* A number with a default other than None only scales (alpha=1); every other one takes part in
 * promotion, as an operand does. */
static bool add_number(tn__structure *s, const tn_field *f)
{
    if (s->n_numbers == TN_MAX_OPERANDS)
        return false;
    s->promotes[s->n_numbers] = !(f->flags & TN_FIELD_DEFAULTED) || f->flags & TN_FIELD_OPTIONAL;
    s->numbers[s->n_numbers++] = (uint16_t)f->offset;
    return true;
}

tn_status tn__structure_new(const tn_op_decl *decl, tn_op *forms[TN__FORMS], tn__structure **out)
{
    const tn_op *op = forms[TN__FORM_FUNCTIONAL];
    tn__structure *s = tn__zalloc(sizeof *s);
    if (!s)
        return tn__fail_memory(NULL, sizeof *s);
    s->shape = decl->shape;
    s->pointwise = decl->pointwise;
    s->dtypes = decl->dtypes ? decl->dtypes : TN_DTYPES_ALL;
    s->n_results = (int16_t)op->layout->n_results;
    const tn_field *f = op->layout->fields + op->layout->n_results;
    bool fits = s->n_results <= 4;
    int most = decl->pointwise ? TN_MAX_OPERANDS - 1
                               : TN_MAX_OPERANDS; /* the result is an operand too */
    for (int i = 0; i < op->layout->n_args && fits; i++) {
        if (f[i].kind == TN_FIELD_TENSOR && s->n_tensors == most)
            fits = false;
        else if (f[i].kind == TN_FIELD_TENSOR)
            s->tensors[s->n_tensors++] = (uint16_t)f[i].offset;
        else if (f[i].kind == TN_FIELD_SCALAR && decl->pointwise)
            fits = add_number(s, &f[i]);
    }
    if (decl->pointwise && s->n_tensors == 0)
        fits = false;
    if (!fits) {
        tn__free(s);
        return tn__fail(
            NULL, TN_ERR_SCHEMA,
            "%s cannot be structured: it needs at least one tensor, at most 4 results and %d "
            "numbers",
            op->name, TN_MAX_OPERANDS);
    }
    for (int i = 0; i < op->layout->n_args; i++)
        if (f[i].kind == TN_FIELD_DTYPE)
            s->dtype_offset = (uint16_t)f[i].offset;
    if (decl->pointwise && s->n_tensors <= 2 && op->n_required == s->n_tensors) {
        if (s->n_tensors == 1)
            s->tensors[1] = s->tensors[0];
        s->direct = s->dtypes & ~(decl->pointwise & TN_POINTWISE_FLOAT
                                      ? TN_DTYPES_INTEGRAL | TN_DTYPE_BIT(TN_BOOL)
                                      : 0);
    }
    *out = s;
    return TN_OK;
}

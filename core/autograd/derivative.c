/* derivative.c - registration: a plugin's declaration becomes a table of offsets into the
 * operator's frame, and the boxed kernel of recording.c is registered under Autograd with that
 * table as its data. The forms of one declaration get a table each. */
#include "core/autograd/derivative.h"

#include <string.h>

#include "core/dispatch/registry.h"

/* ---- the table ------------------------------------------------------------------------------- */
static uint8_t item_size(tn_field_kind kind)
{
    switch (kind) {
    case TN_FIELD_INTS:
        return sizeof(int64_t);
    case TN_FIELD_FLOATS:
        return sizeof(double);
    case TN_FIELD_BOOLS:
        return sizeof(bool);
    case TN_FIELD_SCALARS:
        return sizeof(tn_scalar);
    default:
        return 0;
    }
}

static bool is_tensor(const tn_field *f)
{
    return f->kind == TN_FIELD_TENSOR || f->kind == TN_FIELD_TENSORS;
}

static tn_status too_many(const tn_op *op)
{
    return tn__fail(NULL, TN_ERR_PLUGIN,
                    "the derivative of %s has more than %d differentiable arguments or %d fields",
                    op->name, TN__MOST_DIFFERENTIABLE, TN__MOST_FIELDS);
}

static tn_status add_argument(tn__derivative *d, const tn_field *f, const tn_derivative_field *df)
{
    if (!df || !(df->flags & (TN_FIELD_DIFFERENTIABLE | TN_FIELD_NO_FORMULA)))
        return TN_OK;
    if (d->n_args == TN__MOST_DIFFERENTIABLE)
        return too_many(d->op);
    if (f->kind == TN_FIELD_TENSORS && d->has_lists)
        return tn__fail(NULL, TN_ERR_UNSUPPORTED,
                        "%s has two differentiable lists of tensors; a derivative takes one",
                        d->op->name);
    d->has_lists |= f->kind == TN_FIELD_TENSORS;
    d->args[d->n_args++] = (tn__place){.offset = (uint16_t)f->offset,
                                       .is_list = f->kind == TN_FIELD_TENSORS,
                                       .no_formula = df->flags & TN_FIELD_NO_FORMULA};
    return TN_OK;
}

static tn_status add_field(tn__derivative *d, int i, const tn_derivative_field *df)
{
    const tn__layout *l = d->op->layout;
    const tn_field *f = &l->fields[i];
    bool is_result = i < l->n_results;
    if (!is_tensor(f)) {
        if (item_size(f->kind) || f->kind == TN_FIELD_STR) {
            d->lists[d->n_lists++] = (tn__list){(uint16_t)f->offset, item_size(f->kind)};
            d->is_plain = false;
        }
        return TN_OK;
    }
    if (f->flags & TN_FIELD_WRITTEN && !(f->flags & TN_FIELD_OUT) && !is_result) {
        d->self = (uint16_t)f->offset;
        bool counts = df && df->flags & (TN_FIELD_DIFFERENTIABLE | TN_FIELD_NO_FORMULA);
        d->written = counts ? d->n_args : -1;
    }
    tn__place place = {.offset = (uint16_t)f->offset, .is_list = f->kind == TN_FIELD_TENSORS};
    d->tensors[d->n_tensors++] = place;
    d->is_plain &= !place.is_list;
    d->keeps_results |= is_result && place.is_list;
    if (f->flags & TN_FIELD_OUT && !is_result && d->n_outs < TN_MAX_OPERANDS)
        d->outs[d->n_outs++] = place;
    if (is_result) {
        place.differentiable = df && df->flags & TN_FIELD_DIFFERENTIABLE;
        d->results[d->n_results++] = place;
    } else {
        TN__TRY(add_argument(d, f, df));
    }
    if (!df || !(df->value_for || df->shape_for))
        return TN_OK;
    d->keeps_results |= is_result;
    d->n_kept_results += is_result;
    d->kept[d->n_kept++] = (tn__kept){.place = place,
                                      .result = is_result ? (int8_t)i : -1,
                                      .value_for = df->value_for,
                                      .shape_for = df->shape_for & ~df->value_for};
    return TN_OK;
}

static tn__effect effect_of(const tn__layout *l)
{
    tn__effect effect = TN__EFFECT_NEW;
    for (int i = 0; i < l->n_results + l->n_args; i++) {
        uint32_t flags = l->fields[i].flags;
        if (flags & TN_FIELD_OUT)
            return TN__EFFECT_OUT;
        if (i >= l->n_results && flags & TN_FIELD_WRITTEN)
            effect = TN__EFFECT_INPLACE;
        if (i < l->n_results && flags & TN_FIELD_ALIASED && effect == TN__EFFECT_NEW)
            effect = TN__EFFECT_VIEW;
    }
    return effect;
}

/* fields may be NULL: nothing is differentiable. Those of an out= form stand behind the
 * declaration's. */
static tn_status fill(tn__derivative *d, const tn_op *op, const tn_derivative_field *fields,
                      int n_fields)
{
    const tn__layout *l = op->layout;
    if (l->n_results > TN_MAX_OPERANDS || l->n_results + l->n_args > TN__MOST_FIELDS)
        return too_many(op);
    d->op = op;
    d->effect = effect_of(l);
    d->written = -1;
    d->is_plain = true;
    d->frame_size = l->size;
    for (int i = 0; i < l->n_results + l->n_args; i++)
        TN__TRY(add_field(d, i, i < n_fields ? &fields[i] : NULL));
    bool writes = d->effect == TN__EFFECT_INPLACE || d->effect == TN__EFFECT_OUT;
    d->is_usual = d->decl.backward && !writes && !d->has_lists;
    d->is_short = d->is_usual && d->is_plain;
    d->has_one_result = d->n_results == 1 && d->results[0].differentiable && !d->results[0].is_list;
    tn__op_node_prepare(d);
    return TN_OK;
}

/* ---- operators without formulas -------------------------------------------------------------- */
/* Every tensor of a floating or complex dtype could carry a gradient, and for none is there a
 * formula. */
static tn_status fill_unknown(tn__derivative *d, const tn_op *op)
{
    static const tn_derivative_field result = {.flags = TN_FIELD_DIFFERENTIABLE};
    static const tn_derivative_field argument = {.flags = TN_FIELD_NO_FORMULA};
    tn_derivative_field fields[TN__MOST_FIELDS];
    const tn__layout *l = op->layout;
    int n = l->n_results + l->n_args;
    for (int i = 0; i < n && i < TN__MOST_FIELDS; i++)
        fields[i] = i < l->n_results ? result : argument;
    d->decl.name = op->name;
    d->unknown = true;
    return fill(d, op, fields, n);
}

const tn__derivative *tn__derivative_unknown(const tn_op *op)
{
    const void *none = NULL;
    const tn__derivative *known = atomic_load(&((tn_op *)op)->unknown_derivative);
    if (known)
        return known;
    tn__derivative *d = tn__zalloc(sizeof *d);
    if (!d) {
        tn__fail_memory(NULL, sizeof *d);
        return NULL;
    }
    if (fill_unknown(d, op) != TN_OK) {
        tn__free(d);
        return NULL;
    }
    if (!atomic_compare_exchange_strong(&((tn_op *)op)->unknown_derivative, &none, d)) {
        tn__free(d);
        return none;
    }
    return d;
}

/* ---- registration ---------------------------------------------------------------------------- */
/* A gradient is a tensor's, and a tensor is kept for gradients that there are. */
static tn_status check_fields(const tn_derivative_decl *decl, const tn__layout *built,
                              const char *name)
{
    const uint32_t marks = TN_FIELD_DIFFERENTIABLE | TN_FIELD_NO_FORMULA;
    uint64_t gradients = 0;
    for (uint32_t i = 0; i < decl->n_fields; i++)
        if (i >= (uint32_t)built->n_results && decl->fields[i].flags & marks)
            gradients = gradients << 1 | 1;
    for (uint32_t i = 0; i < decl->n_fields; i++) {
        const tn_derivative_field *df = &decl->fields[i];
        const tn_field *f = &built->fields[i];
        if ((df->flags || df->value_for || df->shape_for) && !is_tensor(f))
            return tn__fail(
                NULL, TN_ERR_PLUGIN,
                "the derivative of %s speaks of '%s', which is of type %s and no tensor", name,
                f->name, f->type);
        if ((df->value_for | df->shape_for) & ~gradients)
            return tn__fail(NULL, TN_ERR_PLUGIN,
                            "the derivative of %s keeps '%s' for the gradient of an argument that "
                            "it does not mark as differentiable",
                            name, f->name);
    }
    return TN_OK;
}

/* The declaration's schema is the operator's, or an older one that it grew from: results and
 * arguments that both have stand at the same places. */
static tn_status check_decl(const tn_derivative_decl *decl, const tn_op *op)
{
    const tn__layout *built;
    TN__TRY(tn__layout_parse(decl->schema, &built));
    if (strcmp(op->schema, decl->schema) != 0)
        TN__TRY(tn__adapt_check(op, built));
    if (decl->frame_size != built->size)
        return tn__fail(NULL, TN_ERR_PLUGIN,
                        "the derivative of %s was compiled with a frame of %u bytes, its schema's "
                        "has %u",
                        op->name, decl->frame_size, built->size);
    if (decl->n_fields != (uint32_t)(built->n_results + built->n_args))
        return tn__fail(NULL, TN_ERR_PLUGIN,
                        "the derivative of %s describes %u fields; its schema has %d results and "
                        "%d arguments",
                        op->name, decl->n_fields, built->n_results, built->n_args);
    return check_fields(decl, built, op->name);
}

static tn_status register_form(tn_registry *r, const tn_derivative_decl *decl, const tn_op *op)
{
    tn__derivative *d = tn__zalloc(sizeof *d);
    if (!d)
        return tn__fail_memory(NULL, sizeof *d);
    d->decl = *decl;
    tn_status status = fill(d, op, decl->fields, (int)decl->n_fields);
    tn_kernel_decl kernel = {.schema = op->schema,
                             .key = "Autograd",
                             .fn = tn__autograd_call,
                             .data = d,
                             .frame_size = op->layout->size};
    if (status == TN_OK)
        status = tn__registry_kernels(r, &kernel, 1);
    if (status != TN_OK) {
        tn__free(d);
        return status;
    }
    r->made->owned = d;
    r->made->enter = tn__autograd_enter;
    return TN_OK;
}

static tn_status register_one(tn_registry *r, const tn_derivative_decl *decl)
{
    tn_op *forms[TN__FORMS], *op;
    if (!decl->schema || !decl->name || !decl->fields)
        return tn__fail(NULL, TN_ERR_PLUGIN,
                        "a derivative is registered without schema, name or fields");
    TN__TRY(tn__registry_find(r, decl->schema, &op, forms));
    TN__TRY(check_decl(decl, op));
    TN__TRY(register_form(r, decl, op));
    for (int form = 0; form < TN__FORMS; form++)
        if (forms[form] && forms[form] != op)
            TN__TRY(register_form(r, decl, forms[form]));
    return TN_OK;
}

tn_status tn__registry_derivatives(tn_registry *r, const tn_derivative_decl *decls, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        tn_status status = r->status == TN_OK ? register_one(r, &decls[i]) : r->status;
        if (status != TN_OK) {
            r->status = r->status == TN_OK ? status : r->status;
            return r->status;
        }
    }
    return TN_OK;
}

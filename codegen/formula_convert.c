/* formula_convert.c - which value may be passed where, what that costs in overload resolution, and the
 * conversion. The least cost wins, so an exact type beats a number that becomes a Scalar, and that
 * beats a number that becomes a tensor. */
#include <stdio.h>
#include <string.h>

#include "formula.h"

enum { EXACT = 0, PRESENT = 1, PROMOTED = 2, ONE_OF_MANY = 3, AS_TENSOR = 16, NEVER = -1 };

cg_type cg_type_of_field(const tn_field *f)
{
    bool in_band = f->kind != TN_FIELD_OPT_INT && f->kind != TN_FIELD_OPT_FLOAT &&
                   f->kind != TN_FIELD_OPT_BOOL;
    return (cg_type){(int)f->kind, in_band && f->flags & TN_FIELD_OPTIONAL, 0};
}

const char *cg_type_name(char *buf, size_t cap, cg_type t)
{
    static const char *const names[] = {
        "Tensor",  "Tensor[]", "int",          "int?",   "int[]",     "float",      "float?",
        "float[]", "bool",     "bool?",        "bool[]", "Scalar",    "Scalar[]",   "ScalarType",
        "Device",  "Layout",   "MemoryFormat", "str",    "Generator", "unsupported"};
    if (t.kind == CG_TYPE_RESULTS)
        snprintf(buf, cap, "%d results", t.n);
    else
        snprintf(buf, cap, "%s%s",
                 t.kind == CG_TYPE_NONE    ? "None"
                 : t.kind == CG_TYPE_EMPTY ? "an empty list"
                                           : names[t.kind],
                 t.optional && t.kind != CG_TYPE_NONE ? "?" : "");
    return buf;
}

static bool is_list(int kind)
{
    return kind == TN_FIELD_TENSORS || kind == TN_FIELD_INTS || kind == TN_FIELD_FLOATS ||
           kind == TN_FIELD_BOOLS || kind == TN_FIELD_SCALARS;
}

bool cg_field_is_tensor(const tn_field *f)
{
    return f->kind == TN_FIELD_TENSOR || f->kind == TN_FIELD_TENSORS;
}

bool cg_is_tensor(const cg_value *v)
{
    return v->type.kind == TN_FIELD_TENSOR;
}

bool cg_is_number(const cg_value *v)
{
    int k = v->type.kind;
    return !v->type.optional && (k == TN_FIELD_INT || k == TN_FIELD_FLOAT || k == TN_FIELD_SCALAR);
}

bool cg_is_list(const cg_value *v)
{
    return is_list(v->type.kind);
}

static bool may_be_absent(const tn_field *f)
{
    return f->flags & TN_FIELD_OPTIONAL || f->kind == TN_FIELD_OPT_INT ||
           f->kind == TN_FIELD_OPT_FLOAT || f->kind == TN_FIELD_OPT_BOOL;
}

/* "int[1]" takes an int. */
static bool takes_one(const tn__type *declared)
{
    if (declared && declared->kind == TN__TYPE_OPTIONAL)
        declared = declared->elem;
    return declared && declared->kind == TN__TYPE_LIST && declared->list_size > 0;
}

static int cost_of_number(int from, int to)
{
    bool is_int = from == TN_FIELD_INT, is_float = from == TN_FIELD_FLOAT;
    switch (to) {
    case TN_FIELD_OPT_INT:
        return is_int ? PRESENT : NEVER;
    case TN_FIELD_FLOAT:
        return is_int ? PROMOTED : NEVER;
    case TN_FIELD_OPT_FLOAT:
        return is_float ? PRESENT : is_int ? PROMOTED : NEVER;
    case TN_FIELD_OPT_BOOL:
        return from == TN_FIELD_BOOL ? PRESENT : NEVER;
    case TN_FIELD_SCALAR:
        return is_int || is_float ? PRESENT : from == TN_FIELD_BOOL ? PROMOTED : NEVER;
    case TN_FIELD_TENSOR:
        return is_int || is_float || from == TN_FIELD_SCALAR || from == TN_FIELD_BOOL ? AS_TENSOR
                                                                                      : NEVER;
    default:
        return NEVER;
    }
}

int cg_convert_cost(const cg_value *v, const tn_field *to, const tn__type *declared)
{
    int from = v->type.kind;
    if (from == CG_TYPE_NONE)
        return may_be_absent(to) ? EXACT : NEVER;
    if (from == CG_TYPE_EMPTY)
        return is_list((int)to->kind) ? EXACT : NEVER;
    bool too_optional = v->type.optional && !may_be_absent(to) && from != TN_FIELD_TENSOR;
    if (from == (int)to->kind)
        return too_optional ? NEVER : EXACT;
    if (v->type.optional)
        return NEVER;
    if (from == TN_FIELD_INT && to->kind == TN_FIELD_INTS)
        return takes_one(declared) ? ONE_OF_MANY : NEVER;
    if (v->kind == CG_VALUE_LIST && from == TN_FIELD_INTS &&
        (to->kind == TN_FIELD_FLOATS || to->kind == TN_FIELD_SCALARS))
        return PROMOTED;
    if (v->kind == CG_VALUE_LIST && from == TN_FIELD_FLOATS && to->kind == TN_FIELD_SCALARS)
        return PROMOTED;
    return cost_of_number(from, (int)to->kind);
}

/* ---- the conversion -------------------------------------------------------------------------- */
static const cg_value *wrap(cg_scope *s, const cg_value *v, const tn_field *to,
                            const char *function)
{
    cg_value *w = cg_value_new(s, CG_VALUE_FUNCTION, cg_type_of_field(to), v->offset, function);
    return cg_value_give(s, w, 1, &v) ? w : NULL;
}

static const cg_value *absent(cg_scope *s, const cg_value *v, const tn_field *to)
{
    static const char *const texts[TN_FIELD_UNSUPPORTED] = {
        [TN_FIELD_TENSOR] = "NULL",
        [TN_FIELD_TENSORS] = "TN_NO_TENSORS",
        [TN_FIELD_OPT_INT] = "TN_NO_INT",
        [TN_FIELD_INTS] = "TN_NO_INTS",
        [TN_FIELD_OPT_FLOAT] = "TN_NO_FLOAT",
        [TN_FIELD_FLOATS] = "TN_NO_FLOATS",
        [TN_FIELD_OPT_BOOL] = "-1",
        [TN_FIELD_BOOLS] = "TN_NO_BOOLS",
        [TN_FIELD_SCALAR] = "TN_NO_SCALAR",
        [TN_FIELD_SCALARS] = "TN_NO_SCALARS",
        [TN_FIELD_DTYPE] = "TN_DTYPE_NONE",
        [TN_FIELD_DEVICE] = "TN_NO_DEVICE",
        [TN_FIELD_LAYOUT] = "TN_LAYOUT_NONE",
        [TN_FIELD_MEMORY_FORMAT] = "TN_FORMAT_NONE",
        [TN_FIELD_STR] = "NULL",
        [TN_FIELD_GENERATOR] = "NULL",
    };
    return cg_value_new(s, CG_VALUE_LEAF, cg_type_of_field(to), v->offset, texts[to->kind]);
}

static const char *list_type(int kind)
{
    return kind == TN_FIELD_TENSORS   ? "tn_tensors"
           : kind == TN_FIELD_FLOATS  ? "tn_floats"
           : kind == TN_FIELD_BOOLS   ? "tn_bools"
           : kind == TN_FIELD_SCALARS ? "tn_scalars"
                                      : "tn_ints";
}

static const cg_value *list_of(cg_scope *s, const cg_value *v, const tn_field *to, int n,
                               const cg_value *const *items)
{
    cg_value *w =
        cg_value_new(s, CG_VALUE_LIST, cg_type_of_field(to), v->offset, list_type((int)to->kind));
    return cg_value_give(s, w, n, items) ? w : NULL;
}

static const cg_value *scalar(cg_scope *s, const cg_value *v, const tn_field *to)
{
    int k = v->type.kind;
    return k == TN_FIELD_SCALAR  ? v
           : k == TN_FIELD_FLOAT ? wrap(s, v, to, "tn_scalar_float")
           : k == TN_FIELD_BOOL  ? wrap(s, v, to, "tn_scalar_bool")
                                 : wrap(s, v, to, "tn_scalar_int");
}

static const cg_value *promoted_list(cg_scope *s, const cg_value *v, const tn_field *to)
{
    const cg_value *items[64];
    const tn_field one = {.kind = TN_FIELD_SCALAR};
    for (int i = 0; i < v->n && i < 64; i++)
        items[i] = to->kind == TN_FIELD_SCALARS ? scalar(s, v->operands[i], &one) : v->operands[i];
    return list_of(s, v, to, v->n < 64 ? v->n : 64, items);
}

/* On the device of `like`, or of the gradient. */
static const cg_value *number_tensor(cg_scope *s, const cg_value *v, const tn_field *to,
                                     const cg_value *like)
{
    const tn_field number = {.kind = TN_FIELD_SCALAR};
    bool is_name = like && (like->kind == CG_VALUE_LEAF || like->kind == CG_VALUE_FIELD);
    const cg_value *operands[2] = {is_name ? like : NULL, scalar(s, v, &number)};
    cg_value *w =
        cg_value_new(s, CG_VALUE_FUNCTION, cg_type_of_field(to), v->offset, "grad_number");
    if (!w || !cg_formula_extra(s, v->offset, CG_EXTRA_NUMBER))
        return NULL;
    if (!is_name) { /* nothing is computed twice for it */
        operands[0] = cg_value_new(s, CG_VALUE_LEAF, cg_type_of_field(to), v->offset,
                                   s->is_forward ? "tn_tangent(g, 0)" : "grad");
        if (operands[0] && !s->is_forward)
            ((cg_value *)operands[0])->uses_grad = true;
    }
    w->takes_g = true;
    return cg_value_give(s, w, 2, operands) ? w : NULL;
}

const cg_value *cg_convert(cg_scope *s, const cg_value *v, const tn_field *to, const cg_value *like)
{
    int from = v->type.kind;
    if (from == CG_TYPE_NONE)
        return absent(s, v, to);
    if (from == CG_TYPE_EMPTY)
        return list_of(s, v, to, 0, NULL);
    if (from == (int)to->kind)
        return v;
    switch ((int)to->kind) {
    case TN_FIELD_OPT_INT:
        return wrap(s, v, to, "tn_some_int");
    case TN_FIELD_OPT_FLOAT:
        return wrap(s, v, to, "tn_some_float");
    case TN_FIELD_SCALAR:
        return scalar(s, v, to);
    case TN_FIELD_TENSOR:
        return number_tensor(s, v, to, like);
    case TN_FIELD_INTS:
        return list_of(s, v, to, 1, &v);
    case TN_FIELD_FLOATS:
    case TN_FIELD_SCALARS:
        return promoted_list(s, v, to);
    default:
        return v;
    }
}

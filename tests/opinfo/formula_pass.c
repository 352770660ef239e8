/* formula_pass.c - values as arguments: what passing one for a field costs, and the passing. The
 * least cost wins, so that an exact type beats a number that becomes a Scalar, and that beats a
 * number that becomes a tensor. */
#include "formula.h"

#include <string.h>

enum { PRESENT = 1, PROMOTED = 2, ONE_OF_MANY = 3, AS_TENSOR = 16, NEVER = -1 };

/* ---- what fits ------------------------------------------------------------------------------- */
static bool is_list_of(const oi_value *v, tn_field_kind item)
{
    for (int64_t i = 0; v->kind == OI_VALUE_LIST && i < v->n; i++) {
        const oi_value *x = &v->items[i];
        bool fits = item == TN_FIELD_TENSOR ? x->kind == OI_VALUE_TENSOR || x->kind == OI_VALUE_NONE
                    : item == TN_FIELD_INT  ? oi_value_is_int(x)
                    : item == TN_FIELD_BOOL
                        ? x->kind == OI_VALUE_NUMBER && x->number.kind == TN_SCALAR_BOOL
                        : x->kind == OI_VALUE_NUMBER;
        if (!fits)
            return false;
    }
    return v->kind == OI_VALUE_LIST;
}

static int cost_of_list(const oi_value *v, const tn_field *to)
{
    switch (to->kind) {
    case TN_FIELD_TENSORS:
        return is_list_of(v, TN_FIELD_TENSOR) ? 0 : NEVER;
    case TN_FIELD_INTS:
        if (oi_value_is_int(v)) /* int[1] takes an int */
            return strpbrk(to->type, "123456789") ? ONE_OF_MANY : NEVER;
        return is_list_of(v, TN_FIELD_INT) ? 0 : NEVER;
    case TN_FIELD_BOOLS:
        return is_list_of(v, TN_FIELD_BOOL) ? 0 : NEVER;
    default:
        return is_list_of(v, TN_FIELD_SCALAR) ? PROMOTED : NEVER;
    }
}

static int cost_of_number(const tn_scalar *s, const tn_field *to)
{
    bool is_int = s->kind == TN_SCALAR_INT, is_bool = s->kind == TN_SCALAR_BOOL,
         is_float = s->kind == TN_SCALAR_FLOAT;
    switch (to->kind) {
    case TN_FIELD_INT:
        return is_int ? 0 : NEVER;
    case TN_FIELD_OPT_INT:
        return is_int ? PRESENT : NEVER;
    case TN_FIELD_FLOAT:
        return is_float ? 0 : is_int ? PROMOTED : NEVER;
    case TN_FIELD_OPT_FLOAT:
        return is_float ? PRESENT : is_int ? PROMOTED : NEVER;
    case TN_FIELD_BOOL:
        return is_bool ? 0 : NEVER;
    case TN_FIELD_OPT_BOOL:
        return is_bool ? PRESENT : NEVER;
    case TN_FIELD_SCALAR:
        return is_bool ? PROMOTED : PRESENT;
    case TN_FIELD_TENSOR:
        return AS_TENSOR;
    default:
        return NEVER;
    }
}

int oi_value_cost(const oi_value *v, const tn_field *to)
{
    bool may_be_absent = to->flags & TN_FIELD_OPTIONAL || to->kind == TN_FIELD_OPT_INT ||
                         to->kind == TN_FIELD_OPT_FLOAT || to->kind == TN_FIELD_OPT_BOOL;
    switch (v->kind) {
    case OI_VALUE_NONE:
        return may_be_absent ? 0 : NEVER;
    case OI_VALUE_TENSOR:
        return to->kind == TN_FIELD_TENSOR ? 0 : NEVER;
    case OI_VALUE_NUMBER:
        if (to->kind == TN_FIELD_INTS)
            return cost_of_list(v, to);
        return cost_of_number(&v->number, to);
    case OI_VALUE_LIST:
        return cost_of_list(v, to);
    case OI_VALUE_TEXT:
        return to->kind == TN_FIELD_STR ? 0 : NEVER;
    case OI_VALUE_TYPE:
        return to->kind == TN_FIELD_DTYPE ? 0 : NEVER;
    default:
        return v->field == to->kind ? 0 : NEVER;
    }
}

/* ---- passing --------------------------------------------------------------------------------- */
static double as_float(const tn_scalar *s)
{
    return (double)oi_from_scalar(s, TN_F64).re;
}

/* A number among tensors is weak: it takes the dtype of the highest kind of them, unless it is of a
 * higher kind itself. */
static oi_value number_tensor(oi_formula *f, const tn_scalar *s, int n, const oi_value *operands)
{
    tn_dtype d = TN_DTYPE_NONE;
    for (int i = 0; i < n; i++)
        if (operands[i].kind == OI_VALUE_TENSOR)
            d = d == TN_DTYPE_NONE ? operands[i].tensor->dtype
                                   : oi_promote(d, operands[i].tensor->dtype);
    bool real = s->kind == TN_SCALAR_FLOAT, complex = s->kind == TN_SCALAR_COMPLEX;
    if (d == TN_DTYPE_NONE || (complex && !oi_is_complex(d)) || (real && oi_is_integral(d)) ||
        (d == TN_BOOL && s->kind == TN_SCALAR_INT))
        d = complex ? (f->wide ? TN_C128 : TN_C64) : real ? (f->wide ? TN_F64 : TN_F32) : TN_I64;
    tn_tensor *t = NULL;
    if (tn_tensor_new(0, NULL, d, f->device, &t) != TN_OK)
        return oi_formula_fail(f, 0, "%s", tn_error_last()->message);
    if (t->data && f->device.type == TN_CPU)
        oi_store(t->data, d, oi_from_scalar(s, d));
    return oi_formula_keep(f, t);
}

static void fill_list(void *at, const oi_value *v, const tn_field *to)
{
    int64_t n = v->kind == OI_VALUE_LIST ? v->n : 1;
    const oi_value *items = v->kind == OI_VALUE_LIST ? v->items : v;
    const char *size = strpbrk(to->type, "123456789");
    if (v->kind != OI_VALUE_LIST && size && *size > '1' && size[1] == ']')
        n = *size - '0'; /* one value for all */
    bool *bools = oi_alloc((size_t)(n + 1) * sizeof *bools);
    double *floats = oi_alloc((size_t)(n + 1) * sizeof *floats);
    int64_t *ints = oi_alloc((size_t)(n + 1) * sizeof *ints);
    tn_scalar *scalars = oi_alloc((size_t)(n + 1) * sizeof *scalars);
    tn_tensor **tensors = oi_alloc((size_t)(n + 1) * sizeof *tensors);
    for (int64_t i = 0; i < n; i++) {
        const oi_value *x = &items[v->kind == OI_VALUE_LIST ? i : 0];
        tensors[i] = x->tensor;
        scalars[i] = x->number;
        ints[i] = x->number.v.i;
        bools[i] = x->number.v.i != 0;
        floats[i] = x->kind == OI_VALUE_NUMBER ? as_float(&x->number) : 0;
    }
    switch (to->kind) {
    case TN_FIELD_TENSORS:
        *(tn_tensors *)at = (tn_tensors){tensors, n};
        break;
    case TN_FIELD_INTS:
        *(tn_ints *)at = (tn_ints){ints, n};
        break;
    case TN_FIELD_FLOATS:
        *(tn_floats *)at = (tn_floats){floats, n};
        break;
    case TN_FIELD_BOOLS:
        *(tn_bools *)at = (tn_bools){bools, n};
        break;
    default:
        *(tn_scalars *)at = (tn_scalars){scalars, n};
    }
}

static void fill_number(void *at, const tn_scalar *s, const tn_field *to)
{
    switch (to->kind) {
    case TN_FIELD_INT:
        *(int64_t *)at = s->v.i;
        break;
    case TN_FIELD_OPT_INT:
        *(tn_opt_int *)at = (tn_opt_int){s->v.i, true};
        break;
    case TN_FIELD_FLOAT:
        *(double *)at = as_float(s);
        break;
    case TN_FIELD_OPT_FLOAT:
        *(tn_opt_float *)at = (tn_opt_float){as_float(s), true};
        break;
    case TN_FIELD_BOOL:
        *(bool *)at = s->v.i != 0;
        break;
    case TN_FIELD_OPT_BOOL:
        *(tn_opt_bool *)at = s->v.i != 0;
        break;
    default:
        *(tn_scalar *)at = *s;
    }
}

/* The absent value stands in the frame where the argument has no default; None means it always. */
static void fill_absent(void *at, const tn_field *to)
{
    switch (to->kind) {
    case TN_FIELD_OPT_INT:
        *(tn_opt_int *)at = (tn_opt_int){0, false};
        break;
    case TN_FIELD_OPT_FLOAT:
        *(tn_opt_float *)at = (tn_opt_float){0, false};
        break;
    case TN_FIELD_OPT_BOOL:
        *(tn_opt_bool *)at = -1;
        break;
    case TN_FIELD_SCALAR:
        *(tn_scalar *)at = tn_scalar_none();
        break;
    case TN_FIELD_DTYPE:
        *(tn_dtype *)at = TN_DTYPE_NONE;
        break;
    case TN_FIELD_TENSOR:
    case TN_FIELD_STR:
        *(void **)at = NULL;
        break;
    case TN_FIELD_TENSORS:
    case TN_FIELD_INTS:
    case TN_FIELD_FLOATS:
    case TN_FIELD_BOOLS:
    case TN_FIELD_SCALARS:
        *(tn_ints *)at = (tn_ints){NULL, -1};
        break;
    default:
        break;
    }
}

void oi_formula_pass(oi_formula *f, void *at, const oi_value *v, const tn_field *to, int n,
                     const oi_value *operands)
{
    switch (v->kind) {
    case OI_VALUE_NONE:
        fill_absent(at, to);
        break;
    case OI_VALUE_TENSOR:
        *(tn_tensor **)at = v->tensor;
        break;
    case OI_VALUE_NUMBER:
        if (to->kind == TN_FIELD_TENSOR)
            *(tn_tensor **)at = number_tensor(f, &v->number, n, operands).tensor;
        else if (to->kind == TN_FIELD_INTS)
            fill_list(at, v, to);
        else
            fill_number(at, &v->number, to);
        break;
    case OI_VALUE_LIST:
        fill_list(at, v, to);
        break;
    case OI_VALUE_TEXT:
        *(const char **)at = v->text;
        break;
    case OI_VALUE_TYPE:
        *(tn_dtype *)at = v->dtype;
        break;
    default:
        memcpy(at, v->raw, to->size);
    }
}

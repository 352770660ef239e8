/* formula_value.c - the values of a formula: made from fields of a frame, and the tensors among
 * them, which are released with the formula.
 *
 * With noise every floating tensor that appears, argument or result, is multiplied by 1 + r, r
 * random and tiny: what that does to the outcome is what rounding at each step can do to it. */
#include "formula.h"

#include <string.h>

/* ---- values ---------------------------------------------------------------------------------- */
oi_value oi_value_none(void)
{
    return (oi_value){.kind = OI_VALUE_NONE, .number = tn_scalar_none()};
}

oi_value oi_value_number(tn_scalar s)
{
    return s.kind == TN_SCALAR_NONE ? oi_value_none()
                                    : (oi_value){.kind = OI_VALUE_NUMBER, .number = s};
}

bool oi_value_is_int(const oi_value *v)
{
    return v->kind == OI_VALUE_NUMBER && v->number.kind == TN_SCALAR_INT;
}

oi_value oi_value_tensor(tn_tensor *t)
{
    return t ? (oi_value){.kind = OI_VALUE_TENSOR, .tensor = t} : oi_value_none();
}

oi_value oi_value_int(int64_t i)
{
    return oi_value_number(tn_scalar_int(i));
}

oi_value oi_value_bool(bool b)
{
    return oi_value_number(tn_scalar_bool(b));
}

oi_value oi_value_ints(int64_t n, const int64_t *ints)
{
    oi_value *items = oi_alloc((size_t)(n + 1) * sizeof *items);
    for (int64_t i = 0; i < n; i++)
        items[i] = oi_value_int(ints[i]);
    return (oi_value){.kind = OI_VALUE_LIST, .items = items, .n = n};
}

static oi_value of_list(const tn_field *field, const void *at)
{
    const tn_ints *list = at; /* all lists are a pointer and a length */
    oi_value *items = oi_alloc((size_t)(list->len > 0 ? list->len : 1) * sizeof *items);
    for (int64_t i = 0; i < list->len; i++)
        items[i] = field->kind == TN_FIELD_TENSORS
                       ? oi_value_tensor(((const tn_tensors *)at)->data[i])
                   : field->kind == TN_FIELD_INTS  ? oi_value_int(list->data[i])
                   : field->kind == TN_FIELD_BOOLS ? oi_value_bool(((const tn_bools *)at)->data[i])
                   : field->kind == TN_FIELD_FLOATS
                       ? oi_value_number(tn_scalar_float(((const tn_floats *)at)->data[i]))
                       : oi_value_number(((const tn_scalars *)at)->data[i]);
    return list->len < 0 ? oi_value_none()
                         : (oi_value){.kind = OI_VALUE_LIST, .items = items, .n = list->len};
}

oi_value oi_value_of_field(const tn_field *field, const void *frame)
{
    const void *at = (const char *)frame + field->offset;
    switch (field->kind) {
    case TN_FIELD_TENSOR:
        return oi_value_tensor(*(tn_tensor *const *)at);
    case TN_FIELD_TENSORS:
    case TN_FIELD_INTS:
    case TN_FIELD_FLOATS:
    case TN_FIELD_BOOLS:
    case TN_FIELD_SCALARS:
        return of_list(field, at);
    case TN_FIELD_INT:
        return oi_value_int(*(const int64_t *)at);
    case TN_FIELD_OPT_INT:
        return ((const tn_opt_int *)at)->has ? oi_value_int(((const tn_opt_int *)at)->value)
                                             : oi_value_none();
    case TN_FIELD_FLOAT:
        return oi_value_number(tn_scalar_float(*(const double *)at));
    case TN_FIELD_OPT_FLOAT:
        return ((const tn_opt_float *)at)->has
                   ? oi_value_number(tn_scalar_float(((const tn_opt_float *)at)->value))
                   : oi_value_none();
    case TN_FIELD_BOOL:
        return oi_value_bool(*(const bool *)at);
    case TN_FIELD_OPT_BOOL:
        return *(const tn_opt_bool *)at < 0 ? oi_value_none()
                                            : oi_value_bool(*(const tn_opt_bool *)at);
    case TN_FIELD_SCALAR:
        return oi_value_number(*(const tn_scalar *)at);
    case TN_FIELD_STR:
        return *(const char *const *)at
                   ? (oi_value){.kind = OI_VALUE_TEXT, .text = *(const char *const *)at}
                   : oi_value_none();
    case TN_FIELD_DTYPE:
        return *(const tn_dtype *)at == TN_DTYPE_NONE
                   ? oi_value_none()
                   : (oi_value){.kind = OI_VALUE_TYPE, .dtype = *(const tn_dtype *)at};
    default:
        return (oi_value){.kind = OI_VALUE_RAW, .raw = at, .field = field->kind};
    }
}

/* ---- tensors that are made ------------------------------------------------------------------- */
oi_value oi_formula_keep(oi_formula *f, tn_tensor *t)
{
    if (f->n_owned == f->cap) {
        tn_tensor **bigger = oi_alloc((size_t)(f->cap * 2 + 16) * sizeof *bigger);
        if (f->n_owned)
            memcpy(bigger, f->owned, (size_t)f->n_owned * sizeof *bigger);
        f->owned = bigger;
        f->cap = f->cap * 2 + 16;
    }
    f->owned[f->n_owned++] = t;
    return oi_value_tensor(t);
}

void oi_formula_free(oi_formula *f)
{
    for (int i = 0; i < f->n_owned; i++)
        tn_release(f->owned[i]);
    f->n_owned = 0;
}

/* t times 1 + r, element by element; r is as large as the noise. */
oi_value oi_formula_moved(oi_formula *f, tn_tensor *t)
{
    bool floating = oi_is_floating(t->dtype) || oi_is_complex(t->dtype);
    double noise = f->noise;
    tn_tensor *factor = NULL;
    if (noise == 0 || !floating || t->numel == 0 || t->device.type != TN_CPU)
        return oi_value_tensor(t);
    if (tn_tensor_new(t->ndim, t->sizes, oi_real_of(t->dtype), t->device, &factor) != TN_OK)
        return oi_formula_fail(f, 0, "%s", tn_error_last()->message);
    for (int64_t i = 0; i < factor->numel; i++) {
        double r = oi_random(&f->rng) >> 63 ? noise : -noise;
        oi_store((char *)factor->data + i * oi_size_of(factor->dtype), factor->dtype,
                 oi_float(1 + r));
    }
    const oi_value operands[] = {oi_value_tensor(t), oi_formula_keep(f, factor)};
    f->noise = 0;
    oi_value v = oi_formula_call(f, 0, "mul", "Tensor", 2, operands, NULL);
    f->noise = noise;
    return v;
}

oi_value oi_formula_own(oi_formula *f, tn_tensor *t)
{
    oi_formula_keep(f, t);
    return oi_formula_moved(f, t);
}

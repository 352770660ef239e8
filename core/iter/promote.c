/* promote.c - the dtype that operands of different dtypes compute in.
 *
 * Operands fall into three classes: tensors with dimensions, 0-dim tensors, numbers. Each class
 * promotes by the table of tn__promote. A lower class then counts only when its category (bool <
 * integral < floating < complex) is higher than what stands above it: f16[3] + 2.5 stays f16,
 * i64[3] + 2.5 becomes the default dtype. */
#include "core/iter/iter.h"

typedef struct classes {
    tn_dtype dimensioned, zero_dim, number;
} classes;

static int category(tn_dtype dtype)
{
    tn_dtypes bit = dtype == TN_DTYPE_NONE ? 0 : TN_DTYPE_BIT(dtype);
    if (bit & TN_DTYPES_COMPLEX)
        return 4;
    if (bit & TN_DTYPES_FLOATING)
        return 3;
    if (bit & TN_DTYPES_INTEGRAL)
        return 2;
    return bit != 0;
}

/* The width that a number brings along: none of its own beyond its category's default. */
static tn_dtype number_dtype(int cat)
{
    if (cat == 4)
        return tn__promote(tn__default_dtype(), TN_C64);
    return cat == 3 ? tn__default_dtype() : cat == 2 ? TN_I64 : TN_BOOL;
}

static void add_tensor(classes *c, const tn_tensor *t)
{
    tn_dtype dtype = t->dtype;
    if (t->flags & TN_TENSOR_WRAPPED_NUMBER) {
        tn_dtype number = category(dtype) >= 3 ? number_dtype(category(dtype)) : dtype;
        c->number = tn__promote(c->number, number);
    } else if (t->ndim > 0) {
        c->dimensioned = tn__promote(c->dimensioned, dtype);
    } else {
        c->zero_dim = tn__promote(c->zero_dim, dtype);
    }
}

static void add_scalar(classes *c, const tn_scalar *s)
{
    switch (s->kind) {
    case TN_SCALAR_FLOAT:
        c->number = tn__promote(c->number, number_dtype(3));
        break;
    case TN_SCALAR_INT:
        c->number = tn__promote(c->number, number_dtype(2));
        break;
    case TN_SCALAR_BOOL:
        c->number = tn__promote(c->number, number_dtype(1));
        break;
    case TN_SCALAR_COMPLEX:
        c->number = tn__promote(c->number, number_dtype(4));
        break;
    default:
        break; /* an absent Scalar? */
    }
}

/* A lower class changes the category, never the width: a float32 stays single beside a
 * complex128. */
static tn_dtype combine(tn_dtype higher, tn_dtype lower)
{
    if (category(higher) == 3 && category(lower) == 4)
        return tn__promote(higher, TN_C64);
    return category(lower) > category(higher) ? tn__promote(higher, lower) : higher;
}

tn_dtype tn__result_type(tn_tensor *const *tensors, int64_t n, const tn_scalar *scalars, int64_t m)
{
    classes c = {TN_DTYPE_NONE, TN_DTYPE_NONE, TN_DTYPE_NONE};
    for (int64_t i = 0; i < n; i++) {
        if (tensors[i])
            add_tensor(&c, tensors[i]);
    }
    for (int64_t i = 0; i < m; i++)
        add_scalar(&c, &scalars[i]);
    return combine(c.dimensioned, combine(c.zero_dim, c.number));
}

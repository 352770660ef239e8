/* dtype.c - facts about element types: size, names, promotion, allowed casts.
 *
 * Everything is a table indexed by tn_dtype; a new dtype is one entry in each, and one row in
 * convert.c. */
#include <string.h>

#include "core/base/base.h"

const uint8_t tn__dtype_sizes[TN_DTYPE_COUNT] = {
    [TN_BOOL] = 1, [TN_U8] = 1,   [TN_I8] = 1,  [TN_I16] = 2, [TN_I32] = 4, [TN_I64] = 8,
    [TN_F16] = 2,  [TN_BF16] = 2, [TN_F32] = 4, [TN_F64] = 8, [TN_C64] = 8, [TN_C128] = 16,
};

static const struct {
    const char *name, *alias;
} names[TN_DTYPE_COUNT] = {
    [TN_BOOL] = {"bool", "bool"},    [TN_U8] = {"uint8", "u8"},
    [TN_I8] = {"int8", "i8"},        [TN_I16] = {"int16", "i16"},
    [TN_I32] = {"int32", "i32"},     [TN_I64] = {"int64", "i64"},
    [TN_F16] = {"float16", "f16"},   [TN_BF16] = {"bfloat16", "bf16"},
    [TN_F32] = {"float32", "f32"},   [TN_F64] = {"float64", "f64"},
    [TN_C64] = {"complex64", "c64"}, [TN_C128] = {"complex128", "c128"},
};

/* Rows and columns in the order of tn_dtype. Symmetric. */
static const uint8_t promotions[TN_DTYPE_COUNT][TN_DTYPE_COUNT] = {
#define B1 TN_BOOL
#define U8 TN_U8
#define I8 TN_I8
#define I16 TN_I16
#define I32 TN_I32
#define I64 TN_I64
#define F16 TN_F16
#define B16 TN_BF16
#define F32 TN_F32
#define F64 TN_F64
#define C64 TN_C64
#define C128 TN_C128
    {B1, U8, I8, I16, I32, I64, F16, B16, F32, F64, C64, C128},
    {U8, U8, I16, I16, I32, I64, F16, B16, F32, F64, C64, C128},
    {I8, I16, I8, I16, I32, I64, F16, B16, F32, F64, C64, C128},
    {I16, I16, I16, I16, I32, I64, F16, B16, F32, F64, C64, C128},
    {I32, I32, I32, I32, I32, I64, F16, B16, F32, F64, C64, C128},
    {I64, I64, I64, I64, I64, I64, F16, B16, F32, F64, C64, C128},
    {F16, F16, F16, F16, F16, F16, F16, F32, F32, F64, C64, C128},
    {B16, B16, B16, B16, B16, B16, F32, B16, F32, F64, C64, C128},
    {F32, F32, F32, F32, F32, F32, F32, F32, F32, F64, C64, C128},
    {F64, F64, F64, F64, F64, F64, F64, F64, F64, F64, C128, C128},
    {C64, C64, C64, C64, C64, C64, C64, C64, C64, C128, C64, C128},
    {C128, C128, C128, C128, C128, C128, C128, C128, C128, C128, C128, C128},
};

static bool valid(tn_dtype dtype)
{
    return (uint32_t)dtype < TN_DTYPE_COUNT;
}

const char *tn__dtype_name(tn_dtype dtype)
{
    if (dtype == TN_DTYPE_NONE)
        return "none";
    return valid(dtype) ? names[dtype].name : "invalid";
}

tn_dtype tn__dtype_parse(const char *name)
{
    if (!name)
        return TN_DTYPE_NONE;
    for (tn_dtype dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
        if (!strcmp(name, names[dtype].name) || !strcmp(name, names[dtype].alias))
            return dtype;
    }
    return TN_DTYPE_NONE;
}

/* An absent dtype gives way to the other one, so a fold may start from TN_DTYPE_NONE. */
tn_dtype tn__promote(tn_dtype a, tn_dtype b)
{
    if (TN__LIKELY(valid(a) && valid(b)))
        return promotions[a][b];
    if (a == TN_DTYPE_NONE && valid(b))
        return b;
    if (b == TN_DTYPE_NONE && valid(a))
        return a;
    return TN_DTYPE_NONE;
}

int tn__can_cast(tn_dtype from, tn_dtype to)
{
    if (!valid(from) || !valid(to))
        return 0;
    if (tn_dtype_in(from, TN_DTYPES_COMPLEX) && !tn_dtype_in(to, TN_DTYPES_COMPLEX))
        return 0;
    if (tn_dtype_in(from, TN_DTYPES_FLOATING) && tn_dtype_in(to, TN_DTYPES_INTEGRAL))
        return 0;
    return from == TN_BOOL || to != TN_BOOL;
}

tn_dtype tn__default_dtype(void)
{
    return TN_F32;
}

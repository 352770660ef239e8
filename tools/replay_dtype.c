/* replay_dtype.c - the names of dtypes in replay files, and what they are stored as: shared by those
 * who read and those who write. */
#include "replay_write.h"

#include <string.h>

const replay_dtype replay_dtypes[TN_DTYPE_COUNT] = {
    [TN_BOOL] = {"bool", "BOOL", 1},    [TN_U8] = {"uint8", "U8", 1},
    [TN_I8] = {"int8", "I8", 1},        [TN_I16] = {"int16", "I16", 2},
    [TN_I32] = {"int32", "I32", 4},     [TN_I64] = {"int64", "I64", 8},
    [TN_F16] = {"float16", "F16", 2},   [TN_BF16] = {"bfloat16", "BF16", 2},
    [TN_F32] = {"float32", "F32", 4},   [TN_F64] = {"float64", "F64", 8},
    [TN_C64] = {"complex64", "F32", 8}, [TN_C128] = {"complex128", "F64", 16},
};

const char *replay_dtype_name(tn_dtype dtype)
{
    return dtype >= 0 && dtype < TN_DTYPE_COUNT ? replay_dtypes[dtype].name : "none";
}

tn_dtype replay_dtype_named(const char *name)
{
    for (int i = 0; i < TN_DTYPE_COUNT; i++)
        if (name && strcmp(replay_dtypes[i].name, name) == 0)
            return i;
    return TN_DTYPE_NONE;
}

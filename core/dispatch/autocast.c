/* autocast.c - what the thread casts: a lower precision per device type, and the Autocast key, which
 * every call gets while there is one. The casting itself is a plugin's, whose kernels stand under
 * that key; a thread that casts nothing pays nothing. */
#include <tenon/autocast.h>
#include <tenon/op.h>

#include "core/dispatch/registry.h"

/* dtype + 1, so that a thread begins with nothing. */
static _Thread_local uint8_t lower[TN_DEVICE_TYPES];

static bool is_type(int16_t type)
{
    return type >= 0 && type < TN_DEVICE_TYPES;
}

tn_dtype tn_autocast_dtype(int16_t type)
{
    return is_type(type) ? (tn_dtype)lower[type] - 1 : TN_DTYPE_NONE;
}

const tn_autocast_api tn__autocast_api = {sizeof tn__autocast_api, 0, tn_autocast_dtype};

/* held: the device type and what it had; whether calls had the key. */
static void set(tn_autocast *a, int16_t type, tn_dtype dtype)
{
    a->held[0] = UINT64_MAX;
    a->held[1] = tn__keys_tls.include & TN__KEY(TN__BIT_AUTOCAST);
    if (!is_type(type))
        return;
    a->held[0] = (uint64_t)type << 8 | lower[type];
    lower[type] = (uint8_t)(dtype + 1);
    bool any = false;
    for (int i = 0; i < TN_DEVICE_TYPES; i++)
        any |= lower[i] != 0;
    tn__keys_tls.include &= ~TN__KEY(TN__BIT_AUTOCAST);
    tn__keys_tls.include |= any ? TN__KEY(TN__BIT_AUTOCAST) : 0;
}

/* A plugin that casts anything casts mm. */
static bool is_served(int type)
{
    const tn__kernel *k;
    const tn_op *mm = tn_op_find("aten::mm");
    return mm && tn__registry_slot(mm, TN__SLOT_AUTOCAST + type, &k) == TN__HOW_KERNEL;
}

tn_status tn_autocast_enter(tn_autocast *a, int16_t type, tn_dtype dtype)
{
    const char *name = is_type(type) ? tn__device_type_name(type) : NULL;
    if (!name)
        return tn__fail(NULL, TN_ERR_DEVICE, "tn_autocast_enter: there is no device type %d", type);
    if (dtype == TN_DTYPE_NONE)
        dtype = type == TN_CPU ? TN_BF16 : TN_F16;
    if (!tn_dtype_in(dtype, TN_DTYPE_BIT(TN_F16) | TN_DTYPE_BIT(TN_BF16)))
        return tn__fail(NULL, TN_ERR_DTYPE,
                        "tn_autocast_enter: expected float16 or bfloat16, got %s",
                        tn__dtype_name(dtype));
    if (!is_served(type))
        return tn__fail(NULL, TN_ERR_PLUGIN,
                        "tn_autocast_enter: no plugin that is loaded casts for device type %s",
                        name);
    set(a, type, dtype);
    return TN_OK;
}

void tn_autocast_pause(tn_autocast *a, int16_t type)
{
    set(a, type, TN_DTYPE_NONE);
}

void tn_autocast_leave(tn_autocast *a)
{
    if (a->held[0] != UINT64_MAX)
        lower[a->held[0] >> 8] = (uint8_t)a->held[0];
    tn__keys_tls.include = (tn__keys_tls.include & ~TN__KEY(TN__BIT_AUTOCAST)) | a->held[1];
}

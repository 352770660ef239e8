/* keys.c - names of dispatch keys, and where a key set finds its slot. Adding a functionality: one
 * bit and one slot range in dispatch.h, one row in each table here. */
#include <stdio.h>
#include <string.h>

#include <tenon/op.h>

#include "core/dispatch/dispatch.h"

enum { PER_BACKEND = TN__BACKENDS - 1, SINGLE = 0 };

const tn__slot_shape tn__slot_shapes[64] = {
    [TN__BIT_DENSE] = {TN__SLOT_DENSE, PER_BACKEND},
    [TN__BIT_BACKEND_SELECT] = {TN__SLOT_BACKEND_SELECT, SINGLE},
    [TN__BIT_AD_INPLACE_OR_VIEW] = {TN__SLOT_AD_INPLACE_OR_VIEW, SINGLE},
    [TN__BIT_AUTOGRAD] = {TN__SLOT_AUTOGRAD, PER_BACKEND},
    [TN__BIT_AUTOCAST] = {TN__SLOT_AUTOCAST, PER_BACKEND},
    [TN__BIT_FUNCTIONALIZE] = {TN__SLOT_FUNCTIONALIZE, SINGLE},
    [TN__BIT_TRACER] = {TN__SLOT_TRACER, SINGLE},
};

_Thread_local tn__key_guard tn__keys_tls __attribute__((tls_model("initial-exec")));

typedef struct named_key {
    const char *name;
    int key;
} named_key;

static const named_key single_keys[] = {
    {"Undefined", TN__SLOT_UNDEFINED},
    {"BackendSelect", TN__SLOT_BACKEND_SELECT},
    {"ADInplaceOrView", TN__SLOT_AD_INPLACE_OR_VIEW},
    {"Functionalize", TN__SLOT_FUNCTIONALIZE},
    {"Tracer", TN__SLOT_TRACER},
    {"Autograd", TN__ALIAS_AUTOGRAD},
    {"CompositeImplicitAutograd", TN__ALIAS_COMPOSITE_IMPLICIT},
    {"CompositeExplicitAutograd", TN__ALIAS_COMPOSITE_EXPLICIT},
    {"CompositeExplicitAutogradNonFunctional", TN__ALIAS_COMPOSITE_EXPLICIT_NON_FUNCTIONAL},
};

/* Keys that exist once per backend: a prefix before the backend's own name. */
static const named_key backend_keys[] = {
    {"Autograd", TN__SLOT_AUTOGRAD},
    {"Autocast", TN__SLOT_AUTOCAST},
    {"", TN__SLOT_DENSE},
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static int backend_of(const char *name)
{
    for (int type = 0; type < TN_DEVICE_TYPES; type++) {
        const char *key = tn__device_key(type);
        if (key && strcmp(key, name) == 0)
            return type;
    }
    return -1;
}

int tn__key_parse(const char *name)
{
    for (size_t i = 0; i < COUNT(single_keys); i++)
        if (strcmp(single_keys[i].name, name) == 0)
            return single_keys[i].key;
    for (size_t i = 0; i < COUNT(backend_keys); i++) {
        size_t n = strlen(backend_keys[i].name);
        int backend = strncmp(name, backend_keys[i].name, n) == 0 ? backend_of(name + n) : -1;
        if (backend >= 0)
            return backend_keys[i].key + backend;
    }
    return -1;
}

uint64_t tn__key_bit(const char *name)
{
    static const struct {
        const char *name;
        int bit;
    } functionalities[] = {
        {"Dense", TN__BIT_DENSE},       {"BackendSelect", TN__BIT_BACKEND_SELECT},
        {"Autograd", TN__BIT_AUTOGRAD}, {"ADInplaceOrView", TN__BIT_AD_INPLACE_OR_VIEW},
        {"Autocast", TN__BIT_AUTOCAST}, {"Functionalize", TN__BIT_FUNCTIONALIZE},
        {"Tracer", TN__BIT_TRACER},
    };
    for (size_t i = 0; i < COUNT(functionalities); i++)
        if (strcmp(functionalities[i].name, name) == 0)
            return TN__KEY(functionalities[i].bit);
    return 0;
}

const char *tn__key_name(int key)
{
    static _Thread_local char text[64];
    for (size_t i = 0; i < COUNT(single_keys); i++)
        if (single_keys[i].key == key)
            return single_keys[i].name;
    for (size_t i = 0; i < COUNT(backend_keys); i++) {
        int backend = key - backend_keys[i].key;
        if (backend < 0 || backend >= TN__BACKENDS)
            continue;
        const char *name = tn__device_key(backend);
        if (!name)
            return "";
        snprintf(text, sizeof text, "%s%s", backend_keys[i].name, name);
        return text;
    }
    return "";
}

bool tn_key_include(const char *functionality, bool on)
{
    uint64_t bit = tn__key_bit(functionality);
    tn__keys_tls.include = on ? tn__keys_tls.include | bit : tn__keys_tls.include & ~bit;
    return bit != 0;
}

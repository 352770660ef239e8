/* devices.h - device types: the two that the core has memory for (cpu, meta), and those that
 * plugins bring. */
#ifndef TN_CORE_DEVICES_H
#define TN_CORE_DEVICES_H

#include "core/base/base.h"
#include "core/base/provenance.h"

const tn_device_decl *tn__device_of(int type);          /* NULL: the core's own, or no such type */
const char *tn__device_type_name(int type);             /* "cpu"; NULL when not registered */
const char *tn__device_key(int type);                   /* "CPU"; NULL when not registered */
const char *tn__device_text(char buf[32], tn_device d); /* "cuda:0" */
tn_status tn__device_parse(const char *text, tn_device *out);

/* A plain tensor's dispatch keys: bit `type` (its backend) and the dense functionality (bit 8). */
static inline uint64_t tn__tensor_keys(tn_device device)
{
    return (UINT64_C(1) << (device.type & 7)) | UINT64_C(1) << 8;
}

/* A missing index (-1) is the first device of its type. */
static inline bool tn__same_device_as(tn_device a, tn_device b)
{
    return a.type == b.type && (a.index < 0 ? 0 : a.index) == (b.index < 0 ? 0 : b.index);
}

/* Of an operator without tensors: its `device` argument's, the host when none is given. */
static inline uint64_t tn__factory_keys(tn_device device)
{
    _Static_assert(TN_DEVICE_NONE == -1 && TN_CPU == 0, "both, plus one, are 0 or 1");
    if (TN__LIKELY((uint16_t)(device.type + 1) <= 1))
        return tn__tensor_keys((tn_device){TN_CPU, 0});
    return tn__tensor_keys(device);
}

/* A device type is there at once, so that kernels can be registered under its key; a transaction
 * that fails withdraws it, and its name with it when the name was new. Of an unloaded plugin the
 * name stays: tensors may be left. */
tn_status tn__device_add(tn__plugin *plugin, const tn_device_decl *d, int16_t *type_out,
                         bool *is_new);
void tn__device_withdraw(int type, bool is_new);
void tn__device_remove(tn__plugin *plugin);

/* Whether memory of a device type that the plugin brought is alive; `why` (n bytes) says which and
 * how much. */
bool tn__device_held(const tn__plugin *plugin, char *why, size_t n);
/* A device type that the plugin brought; NULL when it brought none. */
const char *tn__device_name_of(const tn__plugin *plugin);

#endif

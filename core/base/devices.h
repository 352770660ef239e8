/* devices.h - device types: the two that the core has memory for (cpu, meta), and those that
 * plugins bring; who provides each, and what of it is alive. */
#ifndef TN_CORE_DEVICES_H
#define TN_CORE_DEVICES_H

#include <stdatomic.h>

#include "core/base/base.h"
#include "core/base/provenance.h"

/* One plugin, in one generation, that provides a device type. Never freed: storages and streams
 * point to it, and go back to it. */
typedef struct tn__provider {
    tn_device_decl decl; /* a copy of the plugin's */
    tn__plugin *plugin;
    int16_t type;
    _Atomic int64_t blocks, bytes, streams; /* alive */
    struct tn__provider *older;             /* of the same type */
} tn__provider;

tn__provider *tn__device_provider(int type);            /* NULL: the core's own, or no such type */
const char *tn__device_type_name(int type);             /* "cpu"; NULL when not registered */
const char *tn__device_key(int type);                   /* "CPU"; NULL when not registered */
const char *tn__device_text(char buf[32], tn_device d); /* "cuda:0" */
tn_status tn__device_parse(const char *text, tn_device *out);
/* The error of a type without a provider. */
tn_status tn__device_missing(tn_call *call, tn_device device) TN_COLD;

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

/* ---- memory and streams, counted: provider.c ------------------------------------------------- */
/* What a plugin's function returned, as a status: what is none becomes an error that names it. */
tn_status tn__provider_status(const tn__provider *p, const char *function, tn_status status);
/* Memory for work on `stream`. bytes > 0. */
tn_status tn__provider_alloc(tn__provider *p, tn_device device, void *stream, size_t bytes,
                             void **out);
/* shared: work on other streams may use it too. */
void tn__provider_free(tn__provider *p, tn_device device, void *stream, bool shared, void *data,
                       size_t bytes);
/* Waits for all work that a plugin's device types have on their queues. */
void tn__device_drain(const tn__plugin *plugin);
/* Whether memory or streams of a device type that the plugin brought, of former generations too,
 * are alive; `why` (n bytes) says which and how much. */
bool tn__device_held(const tn__plugin *plugin, char *why, size_t n);
/* Whether what is alive of it forbids that another build of the plugin takes over. */
bool tn__device_blocks_reload(const tn__plugin *plugin, char *why, size_t n);

/* ---- registration ---------------------------------------------------------------------------- */
/* A device type is there at once, so that kernels can be registered under its key; a transaction
 * that fails withdraws it, and its name with it when the name was new. Of an unloaded plugin the
 * name stays: tensors may be left. One that `replaced` provides goes on with it until the
 * transaction is committed. */
tn_status tn__device_add(tn__plugin *plugin, const tn__plugin *replaced, const tn_device_decl *d,
                         int16_t *type_out, bool *is_new);
void tn__device_withdraw(int type, bool is_new);
void tn__device_remove(tn__plugin *plugin);
/* For the commit of a generation that brings the types of the set (bit = type): whether all that
 * `replaced` provides goes on; then makes it so. */
tn_status tn__device_check_successor(const tn__plugin *replaced, uint32_t types);
void tn__device_succeed(const tn__plugin *replaced, uint32_t types);

#endif

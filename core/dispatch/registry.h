/* registry.h - what the registry's own files share. */
#ifndef TN_CORE_REGISTRY_H
#define TN_CORE_REGISTRY_H

#include "core/dispatch/dispatch.h"

/* The fallback registered for a slot (schema "*"), or NULL. */
tn__kernel *tn__registry_fallback(int slot);
tn_status tn__kernel_fall_through(tn_call *call, void *frame);

/* devices.c */
/* A device type is there at once, so that kernels can be registered under its key; a transaction that fails withdraws it,
 * and its name with it when the name was new. Of an unloaded plugin the name stays: tensors may be left. */
tn_status tn__device_add(tn__plugin *plugin, const tn_device_decl *d, int16_t *type_out, bool *is_new);
void tn__device_withdraw(int type, bool is_new);
void tn__device_remove(tn__plugin *plugin);

/* define.c: builds an operator from a schema, not yet visible to anyone. */
tn_op *tn__op_new(const char *schema, tn__plugin *owner, tn_status *status);
void tn__op_free(tn_op *op); /* one that was never published */
uint16_t tn__given_offset(const tn_op *op);
/* Ties the forms of one declaration together and works out how its calls are prepared. */
tn_status tn__structure_new(const tn_op_decl *decl, tn_op *forms[TN__FORMS], tn__structure **out);

/* Parses a schema and lays out its frame; lives as long as the process. */
tn_status tn__layout_parse(const char *schema, const tn__layout **out);

/* adapt.c: whether a kernel compiled against `older` can serve calls of `op`; an error with both schemas if not. */
tn_status tn__adapt_check(const tn_op *op, const tn__layout *older);
/* The same for a caller, whose frames must be the beginning of today's. */
tn_status tn__adapt_check_caller(const tn_op *op, const tn__layout *older, const char *caller);

/* native.c: the operators of native_functions.yaml, from the generated table; registered on first use. */
void tn__runtime_init(void);
extern const tn_op_decl tn__native_decls[];
extern const size_t tn__native_count;
extern tn_op *tn__native_ops[]; /* [TN__FORMS * i + form] */

#endif

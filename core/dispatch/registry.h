/* registry.h - what the registry's own files share. */
#ifndef TN_CORE_REGISTRY_H
#define TN_CORE_REGISTRY_H

#include <string.h>

#include "core/dispatch/dispatch.h"

/* ---- a transaction's parts (stage.c, registry.c) --------------------------------------------- */
typedef struct tn__staged_op {
    tn_op *op;
    uint32_t hash; /* of its name */
    tn__structure *structure;
    tn_op *forms[TN__FORMS];
    tn__form form;
    bool again; /* an operator whose plugin was unloaded comes back: old handles work again */
} tn__staged_op;

typedef struct tn__staged_kernel {
    tn_op *op; /* NULL: a fallback for the key */
    tn__kernel *kernel;
    int key;
} tn__staged_kernel;

/* n bytes of a name against a whole one, as strcmp does. */
static inline int tn__op_compare_name(const char *name, size_t n, const char *other)
{
    int c = strncmp(name, other, n);
    return c ? c : other[n] ? -1 : 0;
}

/* ---- what is registered: registry.c, for readers beside calls; each takes the lock ----------- */
tn__how tn__registry_slot(const tn_op *op, int slot, const tn__kernel **k);
/* Writes "CPU (plugin cpu), Meta (plugin meta)"; false when the operator is not registered any
 * more. */
bool tn__registry_servers(const tn_op *op, char *buf, size_t cap);

/* stage.c, for stage_kernel.c: room for one more item; keeps the transaction's first failure; the
 * operator that a schema names, of this transaction or of a loaded plugin; its structure when it is
 * the functional form, and its forms; whether a schema is the operator's own of today. */
tn_status tn__stage_reserve(void **array, size_t *cap, size_t n, size_t item);
tn_status tn__stage_failure(tn_registry *r, tn_status status);
tn_op *tn__stage_find(const tn_registry *r, const char *schema, char name[256]);
const tn__structure *tn__stage_structure(const tn_registry *r, const tn_op *op,
                                         tn_op *const **forms);
bool tn__same_schema(const tn_op *op, const char *schema);
static inline bool tn__is_backend(int key)
{
    return key >= TN__SLOT_DENSE && key < TN__SLOT_DENSE + TN__BACKENDS;
}

/* table.c: notes for each kernel of a list which one it has replaced. */
void tn__list_chain(tn__kernel *list);

/* The fallback registered for a slot (schema "*"), or NULL. */
tn__kernel *tn__registry_fallback(int slot);
tn_status tn__kernel_fall_through(tn_call *call, void *frame);

/* define.c: builds an operator from a schema, not yet visible to anyone. */
tn_op *tn__op_new(const char *schema, tn__plugin *owner, tn_status *status);
void tn__op_free(tn_op *op); /* one that was never published */
/* Whether the forms of one declaration belong together; structured: one kernel serves all. */
tn_status tn__forms_check(tn_op *const forms[TN__FORMS], bool structured);
uint16_t tn__given_offset(const tn_op *op);
/* Ties the forms of one declaration together and works out how its calls are prepared. */
tn_status tn__structure_new(const tn_op_decl *decl, tn_op *forms[TN__FORMS], tn__structure **out);

/* Parses a schema and lays out its frame; lives as long as the process. */
tn_status tn__layout_parse(const char *schema, const tn__layout **out);

/* adapt.c: whether a kernel compiled against `older` can serve calls of `op`; an error with both
 * schemas if not. */
tn_status tn__adapt_check(const tn_op *op, const tn__layout *older);
/* The same for a caller, whose frames must be the beginning of today's. */
tn_status tn__adapt_check_caller(const tn_op *op, const tn__layout *older, const char *caller);
/* Calls fn, which takes today's frame, with an older one. */
tn_status tn__call_from_older(tn_call *call, const tn__layout *older, void *old_frame,
                              tn_status (*fn)(tn_call *call, void *frame));

/* native.c: the operators of native_functions.yaml, from the generated table; registered on first
 * use. */
void tn__runtime_init(void);
extern const tn_op_decl tn__native_decls[];
extern const size_t tn__native_count;
extern tn_op *tn__native_ops[] __attribute__((visibility("hidden"))); /* [TN__FORMS * i + form] */

#endif

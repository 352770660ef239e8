/* native.c - the operators of native_functions.yaml enter the registry, from the table that the
 * generator wrote, when the runtime is first used. They are registered through the same transaction
 * as a plugin's. */
#include <pthread.h>

#include "core/dispatch/native.h"
#include "core/tensor/scope.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init(void)
{
    tn_registry r;
    tn__registry_begin(&r, NULL);
    tn__registry_ops(&r, tn__native_decls, tn__native_count);
    tn__registry_fallbacks(&r, TN__SLOT_AUTOGRAD, TN__BACKENDS, tn__autograd_unknown);
    if (tn__registry_commit(&r) != TN_OK)
        return; /* the record says why; every call will report a missing operator */
    for (size_t i = 0; i < tn__native_count; i++) {
        const tn_op_decl *d = &tn__native_decls[i];
        const char *schemas[TN__FORMS] = {d->schema, d->inplace, d->out};
        for (int form = 0; form < TN__FORMS; form++) {
            if (!schemas[form])
                continue;
            size_t n = 0;
            while (schemas[form][n] != '(')
                n++;
            tn__native_ops[TN__FORMS * i + (size_t)form] = tn__op_lookup(schemas[form], n);
        }
    }
}

void tn__runtime_init(void)
{
    pthread_once(&once, init);
}

/* ---- what generated calls share -------------------------------------------------------------- */
tn_op *tn__native_late(int index)
{
    tn__runtime_init();
    return tn__native_ops[index];
}

tn_status tn__native_failed(void)
{
    return tn__fail(NULL, TN_ERR_INTERNAL, "the native operators could not be registered");
}

tn_status tn__missing(const tn_op *op, const char *arg, const char *file, int line)
{
    return tn__fail(&(tn_call){.op = op, .file = file, .line = line}, TN_ERR_ARGUMENT,
                    "%s is missing: a tensor is required", arg);
}

tn_tensor *tn__expr_missing(const tn_op *op, const char *arg, const char *file, int line)
{
    if (!tn__error_kept()) {
        tn__missing(op, arg, file, line);
        tn__error_keep_first();
    }
    return NULL;
}

tn_tensor *tn__expr(const tn_op *op, void *frame, tn_tensor **result, const char *file, int line)
{
    tn_status status = tn_op_call_at(op, frame, file, line);
    if (TN__LIKELY(status == TN_OK))
        return tn__scope_add(*result);
    tn__error_keep_first();
    return NULL;
}

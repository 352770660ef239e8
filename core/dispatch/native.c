/* native.c - the operators of native_functions.yaml enter the registry, from the table that the
 * generator wrote, when the runtime is first used. They are registered through the same transaction
 * as a plugin's. */
#include <pthread.h>

#include "core/dispatch/native.h"
#include "core/tensor/scope.h"

static tn_status call_unborn(const tn_op *op, tn__kernel *k, void *frame, uint64_t keys,
                             const char *file, int line)
{
    (void)op, (void)k, (void)frame, (void)keys, (void)file, (void)line;
    return TN__UNBORN;
}

/* Its key mask is empty, so every call goes to the plain host tensors' slot or to the first. */
static tn__kernel unborn_kernel = {.enter = call_unborn};
tn_op tn__unborn = {
    .slots = {[TN__SLOT_UNDEFINED] = &unborn_kernel, [TN__SLOT_DENSE + TN_CPU] = &unborn_kernel}};

static __attribute__((constructor)) void fill_table(void)
{
    for (size_t i = 0; i < TN__FORMS * tn__native_count; i++)
        tn__native_ops[i] = &tn__unborn;
}

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
const tn_op *tn__born(int index)
{
    tn__runtime_init();
    if (tn__native_ops[index] != &tn__unborn)
        return tn__native_ops[index];
    tn__fail(NULL, TN_ERR_INTERNAL, "the native operators could not be registered");
    return NULL;
}

tn_status tn__call_failed(int index, tn_status status)
{
    return tn__status_of_kernel(tn__native_ops[index], status);
}

static void missing(int index, const char *arg, const char *file, int line)
{
    const tn_op *op = tn__born(index);
    if (op)
        tn__fail(&(tn_call){.op = op, .file = file, .line = line}, TN_ERR_ARGUMENT,
                 "%s is missing: a tensor is required", arg);
}

tn_status tn__missing(int index, const char *arg)
{
    missing(index, arg, NULL, 0);
    return TN_ERR_ARGUMENT;
}

tn_tensor *tn__expr_missing(int index, const char *arg, const char *file, int line)
{
    if (!tn__error_kept()) {
        missing(index, arg, file, line);
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

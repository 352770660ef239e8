/* ref.c - tenon/calls.h: operators that a plugin brings, as the calls in its generated header have
 * them. The handle is kept where the call is made, so a call costs one load more than that of an
 * operator of Tenon's own; everything else is off to the side. */
#include <tenon/calls.h>

#include "core/dispatch/native.h"
#include "core/tensor/scope.h"

static int name_length(const tn_op_ref *ref)
{
    return (int)strcspn(ref->schema, "(");
}

static tn_op *today(const tn_op_ref *ref)
{
    tn__runtime_init();
    return tn__op_lookup(ref->schema, (size_t)name_length(ref));
}

/* What the caller's frames are made for is compared here, once. */
static tn_status check_schema(const tn_op_ref *ref, const tn_op *op)
{
    const tn__layout *older;
    if (strcmp(op->schema, ref->schema) == 0)
        return TN_OK;
    TN__TRY(tn__layout_parse(ref->schema, &older));
    tn_status status = tn__adapt_check_caller(op, older, "the program");
    if (status == TN_OK)
        return TN_OK;
    return tn__fail(
        NULL, status,
        "the program calls '%s', but the plugin %s has '%s', whose frame does not begin "
        "like that one; compile the program with the header of that plugin",
        ref->schema, ref->plugin, op->schema);
}

static TN_COLD const tn_op *find(tn_op_ref *ref, tn_status *status, const char *file, int line)
{
    const tn_op *op = today(ref);
    if (op)
        *status = check_schema(ref, op);
    else
        *status = tn__fail(NULL, TN_ERR_NO_KERNEL,
                           "%.*s is not registered: load the plugin %s, which brings it",
                           name_length(ref), ref->schema, ref->plugin);
    if (*status == TN_OK) {
        __atomic_store_n(&ref->op, op, __ATOMIC_RELEASE);
        return op;
    }
    if (file)
        tn__error_set_site(file, line);
    return NULL;
}

/* Behind a failure of `gone`: the call of an operator that has taken its name since. The record of
 * the failure goes, unless an earlier one is kept. */
static TN_COLD tn_status call_another(tn_op_ref *ref, const tn_op *gone, tn_status status,
                                      void *frame, const char *file, int line)
{
    if (status != TN_ERR_NO_KERNEL || today(ref) == gone)
        return status;
    if (!tn__error_kept())
        tn_error_clear();
    const tn_op *op = find(ref, &status, file, line);
    return op ? tn_op_call_at(op, frame, file, line) : status;
}

static inline const tn_op *known(const tn_op_ref *ref)
{
    return __atomic_load_n(&ref->op, __ATOMIC_ACQUIRE);
}

tn_status tn_op_ref_call(tn_op_ref *ref, void *frame)
{
    tn_status status;
    const tn_op *op = known(ref);
    if (TN__UNLIKELY(!op) && !(op = find(ref, &status, NULL, 0)))
        return status;
    status = tn_op_call(op, frame);
    return TN__LIKELY(status == TN_OK) ? TN_OK : call_another(ref, op, status, frame, NULL, 0);
}

tn_tensor *tn_op_ref_expr(tn_op_ref *ref, void *frame, const char *file, int line)
{
    tn_status status = TN_OK;
    const tn_op *op = known(ref);
    if (TN__LIKELY(op != NULL) || (op = find(ref, &status, file, line)))
        status = tn_op_call_at(op, frame, file, line);
    if (TN__UNLIKELY(status != TN_OK && op))
        status = call_another(ref, op, status, frame, file, line);
    if (TN__LIKELY(status == TN_OK))
        return tn__scope_add(*(tn_tensor **)((tn_frame *)frame + 1));
    tn__error_keep_first();
    return NULL;
}

tn_tensor *tn_op_ref_missing(tn_op_ref *ref, const char *arg, const char *file, int line)
{
    tn_status status;
    const tn_op *op = known(ref);
    if (tn__error_kept())
        return NULL;
    if (op || (op = find(ref, &status, file, line)))
        tn__fail(&(tn_call){.op = op, .file = file, .line = line}, TN_ERR_ARGUMENT,
                 "%s is missing: a tensor is required", arg);
    tn__error_keep_first();
    return NULL;
}

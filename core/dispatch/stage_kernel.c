/* stage_kernel.c - a kernel's declaration becomes records that nobody sees yet: checked against its
 * operator's schema, and wrapped in what prepares its calls. */
#include <string.h>

#include "core/dispatch/registry.h"

typedef tn__staged_kernel staged_kernel;

enum { DTYPES_OF_REVISION_1 = 12 };

static tn_status stage_kernel(tn_registry *r, tn_op *op, int key, tn__kernel *k)
{
    tn_status status =
        tn__stage_reserve((void **)&r->kernels, &r->cap_kernels, r->n_kernels, sizeof *r->kernels);
    if (tn__is_backend(key) && key != TN__SLOT_DENSE + TN_CPU && key != TN__SLOT_DENSE + TN_META &&
        k->enter == tn__kernel_call)
        k->enter = tn__device_call;
    if (status == TN_OK)
        r->kernels[r->n_kernels++] = (staged_kernel){op, k, key};
    return status;
}

static tn__kernel *new_kernel(tn_registry *r, const tn_kernel_decl *d, tn_kernel_fn fn,
                              tn__kernel *inner)
{
    size_t record = d->flags & TN_KERNEL_LEAF ? sizeof(tn_call) : 0;
    tn__kernel *k = tn__zalloc(sizeof *k + record);
    if (!k)
        return NULL;
    *k = (tn__kernel){.enter = tn__kernel_call,
                      .fn = fn,
                      .data = d->data,
                      .plugin = r->plugin,
                      .inner = inner,
                      .rank = d->rank,
                      .dtypes = d->dtypes,
                      .made_before = r->made};
    r->made = k;
    return k;
}

static void set_outer(tn__kernel *inner, tn__kernel *outer)
{
    for (int form = 0; form < TN__FORMS; form++)
        inner->outer[form] = outer;
}

/* A kernel reads the frame that its schema lays out; one compiled with another struct would read
 * past it. */
static tn_status check_frame_size(const tn_kernel_decl *d, const tn__layout *layout)
{
    if (d->frame_size == 0 || d->frame_size == layout->size)
        return TN_OK;
    return tn__fail(
        NULL, TN_ERR_PLUGIN,
        "kernel for '%.200s': it was compiled with a frame of %u bytes, its schema's has %u",
        d->schema, d->frame_size, layout->size);
}

/* A kernel of an older schema is reached through the adapter, which calls it with a frame of its
 * own time. */
static tn_status adapt(tn_registry *r, const tn_op *op, const tn_kernel_decl *d, tn__kernel **k)
{
    const tn__layout *older;
    TN__TRY(tn__layout_parse(d->schema, &older));
    TN__TRY(tn__adapt_check(op, older));
    TN__TRY(check_frame_size(d, older));
    tn__kernel *outer = new_kernel(r, d, tn__adapted_call, *k);
    if (!outer)
        return tn__fail_memory(NULL, sizeof *outer);
    outer->layout = older;
    set_outer(*k, outer);
    *k = outer;
    return TN_OK;
}

static tn_status stage_fallback(tn_registry *r, const tn_kernel_decl *d, int key)
{
    if (key >= TN__SLOTS)
        return tn__fail(NULL, TN_ERR_PLUGIN,
                        "a fallback stands under one runtime key, not under the alias %s", d->key);
    tn__kernel *k = new_kernel(r, d, d->fn, NULL);
    return k ? stage_kernel(r, NULL, key, k) : tn__fail_memory(NULL, sizeof *k);
}

/* A plugin whose compiler knew fewer dtypes has no loops for the others. */
static tn_status take_loops(const tn_kernel_decl *d, tn__kernel *inner, const tn_loop_fn **out)
{
    size_t n = d->loops_count ? d->loops_count : DTYPES_OF_REVISION_1;
    *out = d->loops;
    if (!d->loops || n >= TN_DTYPE_COUNT)
        return TN_OK;
    tn_loop_fn *all = tn__zalloc(TN_DTYPE_COUNT * sizeof *all);
    if (!all)
        return tn__fail_memory(NULL, TN_DTYPE_COUNT * sizeof *all);
    memcpy(all, d->loops, n * sizeof *all);
    inner->owned = all;
    *out = all;
    return TN_OK;
}

static tn_status stage_forms(tn_registry *r, const tn_kernel_decl *d, int key, tn_op *const *forms,
                             tn__kernel *inner)
{
    const tn_loop_fn *loops;
    TN__TRY(take_loops(d, inner, &loops));
    for (int form = 0; form < TN__FORMS; form++) {
        if (!forms[form])
            continue;
        tn__kernel *k = new_kernel(r, d, tn__structured_call, inner);
        if (!k)
            return tn__fail_memory(NULL, sizeof *k);
        inner->outer[form] = k;
        k->loops = inner->layout || key != TN__SLOT_DENSE + TN_CPU
                       ? NULL
                       : loops; /* which compute on the host */
        if (k->loops)
            k->enter = tn__short_call;
        TN__TRY(stage_kernel(r, forms[form], key, k));
    }
    return TN_OK;
}

tn_status tn__registry_fallbacks(tn_registry *r, int slot, int n, tn_kernel_fn fn)
{
    tn_kernel_decl decl = {.schema = "*", .fn = fn};
    for (int i = 0; i < n && r->status == TN_OK; i++)
        tn__stage_failure(r, stage_fallback(r, &decl, slot + i));
    return r->status;
}

static tn_status check_kernel_decl(const tn_registry *r, const tn_kernel_decl *d, int key)
{
    if (key < 0)
        return tn__fail(
            NULL, TN_ERR_PLUGIN,
            "kernel for '%.200s': dispatch key '%s' does not exist; keys are the names of "
            "device types (CPU, CUDA, Meta), Autograd*, Autocast*, and the Composite* aliases",
            d->schema, d->key);
    if (!tn__plugin_is_newer(r->plugin) &&
        (d->dtypes & ~TN_DTYPES_ALL || d->flags & ~(uint32_t)TN_KERNEL_LEAF))
        return tn__fail(
            NULL, TN_ERR_PLUGIN,
            "kernel for '%.200s': its dtypes 0x%x or its flags 0x%x have bits that mean "
            "nothing",
            d->schema, d->dtypes, d->flags);
    if (!d->fn && key >= TN__SLOTS)
        return tn__fail(
            NULL, TN_ERR_PLUGIN,
            "kernel for '%.200s': the alias %s needs a function; only a runtime key can fall "
            "through",
            d->schema, d->key);
    return TN_OK;
}

static bool gives_one_tensor(const tn_op *op)
{
    return op->layout->n_results == 1 && op->layout->fields[0].kind == TN_FIELD_TENSOR;
}

static bool writes(const tn_op *op)
{
    const tn__layout *l = op->layout;
    for (int i = l->n_results; i < l->n_results + l->n_args; i++)
        if (l->fields[i].flags & TN_FIELD_WRITTEN)
            return true;
    return false;
}

/* Puts `fn` before the kernel. */
static tn_status wrap(tn_registry *r, const tn_kernel_decl *d, tn_kernel_fn fn, tn__kernel **k)
{
    tn__kernel *outer = new_kernel(r, d, fn, *k);
    if (!outer)
        return tn__fail_memory(NULL, sizeof *outer);
    set_outer(*k, outer);
    *k = outer;
    return TN_OK;
}

static void make_leaf(tn__kernel *k, const tn_op *op)
{
    k->leaf_record[0] = (tn_call){
        .size = sizeof(tn_call), .flags = TN__CALL_LEAF, .op = op, .data = k->data, .kernel = k};
    k->leaf = k->leaf_record;
    k->enter = tn__leaf_call;
}

static tn_status stage_kernel_decl(tn_registry *r, const tn_kernel_decl *d)
{
    if (!d->schema || !d->key)
        return tn__fail(NULL, TN_ERR_PLUGIN, "a kernel is registered without a schema or a key");
    int key = tn__key_parse(d->key);
    TN__TRY(check_kernel_decl(r, d, key));
    if (strcmp(d->schema, "*") == 0)
        return stage_fallback(r, d, key);
    char name[256];
    tn_op *op = tn__stage_find(r, d->schema, name);
    if (!op)
        return tn__fail(NULL, TN_ERR_PLUGIN, "kernel for %s: no such operator is registered", name);
    tn__kernel *k = new_kernel(r, d, d->fn, NULL);
    if (!k)
        return tn__fail_memory(NULL, sizeof *k);
    TN__TRY(tn__same_schema(op, d->schema) ? check_frame_size(d, op->layout) : adapt(r, op, d, &k));
    tn_op *const *forms;
    if (d->fn && tn__is_backend(key) && tn__stage_structure(r, op, &forms))
        return stage_forms(r, d, key, forms, k);
    if (d->fn && (tn__is_backend(key) || key == TN__ALIAS_COMPOSITE_EXPLICIT) && writes(op))
        TN__TRY(wrap(r, d, tn__written_call, &k));
    else if (d->flags & TN_KERNEL_LEAF && !k->layout && gives_one_tensor(op))
        make_leaf(k, op);
    else if (d->fn && key == TN__ALIAS_COMPOSITE_EXPLICIT)
        TN__TRY(wrap(r, d, tn__fresh_call, &k));
    return stage_kernel(r, op, key, k);
}

tn_status tn__registry_kernels(tn_registry *r, const tn_kernel_decl *kernels, size_t n)
{
    tn_status status = r->status;
    for (size_t i = 0; i < n && status == TN_OK; i++)
        status = stage_kernel_decl(r, &kernels[i]);
    return tn__stage_failure(r, status);
}

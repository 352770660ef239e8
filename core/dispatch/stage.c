/* stage.c - registration, first half: what a plugin declares becomes records that nobody sees yet.
 * The second half, commit (registry.c), publishes all of them or none. The first failure sticks to
 * the transaction. */
#include <string.h>

#include "core/dispatch/registry.h"

typedef tn__staged_op staged_op;
typedef tn__staged_kernel staged_kernel;

/* ---- staging --------------------------------------------------------------------------------- */
static tn_status reserve(void **array, size_t *cap, size_t n, size_t item)
{
    if (n < *cap)
        return TN_OK;
    size_t grown = *cap ? *cap * 2 : 64;
    void *p = tn__realloc(*array, grown * item);
    if (!p)
        return tn__fail_memory(NULL, grown * item);
    *array = p;
    *cap = grown;
    return TN_OK;
}

void tn__registry_begin(tn_registry *r, tn__plugin *plugin)
{
    *r = (tn_registry){.plugin = plugin};
}

static uint32_t hash_of(const char *name, size_t n)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)name[i]) * 16777619u;
    return h;
}

static tn_op *find_staged(const tn_registry *r, const char *name, size_t n)
{
    uint32_t hash = hash_of(name, n);
    for (size_t i = r->n_ops; i-- > 0;)
        if (r->ops[i].hash == hash && tn__op_compare_name(name, n, r->ops[i].op->name) == 0)
            return r->ops[i].op;
    return NULL;
}

static tn_status name_taken(tn__plugin *owner, const tn_op *old, const char *schema,
                            tn__plugin *plugin)
{
    return tn__fail(NULL, TN_ERR_PLUGIN,
                    "%s is already registered by %s as '%s'; %s cannot register it again as '%s'",
                    old->name, tn__plugin_text(owner), old->schema, tn__plugin_text(plugin),
                    schema);
}

static tn_status stage_op(tn_registry *r, const char *schema, tn__form form, staged_op **out)
{
    TN__TRY(reserve((void **)&r->ops, &r->cap_ops, r->n_ops, sizeof *r->ops));
    tn_status status;
    tn_op *op = tn__op_new(schema, r->plugin, &status);
    if (!op)
        return status;
    staged_op *s = &r->ops[r->n_ops];
    *s = (staged_op){.op = op, .hash = hash_of(op->name, strlen(op->name)), .form = form};
    tn_op *staged = find_staged(r, op->name, strlen(op->name));
    tn_op *old = staged ? staged : tn__op_lookup(op->name, strlen(op->name));
    bool comes_again = r->replaced && !staged && old && old->owner == r->replaced;
    if (staged || (old && old->defined && !comes_again)) {
        status = name_taken(staged ? r->plugin : old->owner, old, op->schema, r->plugin);
        tn__op_free(op);
        return status;
    }
    if (old && strcmp(old->schema, op->schema) == 0) {
        tn__op_free(op);
        s->op = old;
        s->again = true;
    }
    r->n_ops++;
    *out = s;
    return TN_OK;
}

static tn_status stage_decl(tn_registry *r, const tn_op_decl *d)
{
    const char *schemas[TN__FORMS] = {d->schema, d->inplace, d->out};
    size_t first = r->n_ops;
    tn_op *forms[TN__FORMS] = {0};
    if (!d->schema)
        return tn__fail(NULL, TN_ERR_PLUGIN, "an operator is registered without a schema");
    for (int form = 0; form < TN__FORMS; form++) {
        staged_op *s = NULL;
        if (!schemas[form])
            continue;
        TN__TRY(stage_op(r, schemas[form], (tn__form)form, &s));
        forms[form] = s->op;
    }
    tn__structure *structure = NULL;
    if (d->shape || d->pointwise)
        TN__TRY(tn__structure_new(d, forms, &structure));
    for (size_t i = first; i < r->n_ops; i++) {
        r->ops[i].structure = structure;
        memcpy(r->ops[i].forms, forms, sizeof forms);
    }
    return TN_OK;
}

static tn_status first_failure(tn_registry *r, tn_status status)
{
    if (r->status == TN_OK)
        r->status = status;
    return r->status;
}

tn_status tn__registry_ops(tn_registry *r, const tn_op_decl *ops, size_t n)
{
    tn_status status = r->status;
    for (size_t i = 0; i < n && status == TN_OK; i++)
        status = stage_decl(r, &ops[i]);
    return first_failure(r, status);
}

/* ---- kernels --------------------------------------------------------------------------------- */
static tn_status stage_kernel(tn_registry *r, tn_op *op, int key, tn__kernel *k)
{
    tn_status status =
        reserve((void **)&r->kernels, &r->cap_kernels, r->n_kernels, sizeof *r->kernels);
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
    *k = outer;
    return TN_OK;
}

static bool same_schema(const tn_op *op, const char *schema)
{
    return strcmp(op->schema, schema) == 0 ||
           (strncmp(op->schema, "aten::", 6) == 0 && strcmp(op->schema + 6, schema) == 0);
}

static const tn__structure *structure_of(const tn_registry *r, const tn_op *op,
                                         tn_op *const **forms)
{
    for (size_t i = 0; i < r->n_ops; i++)
        if (r->ops[i].op == op) {
            *forms = r->ops[i].forms;
            return r->ops[i].form == TN__FORM_FUNCTIONAL ? r->ops[i].structure : NULL;
        }
    *forms = op->forms;
    return op->form == TN__FORM_FUNCTIONAL ? op->structure : NULL;
}

static bool is_backend(int key)
{
    return key >= TN__SLOT_DENSE && key < TN__SLOT_DENSE + TN__BACKENDS;
}

static tn_status stage_fallback(tn_registry *r, const tn_kernel_decl *d, int key)
{
    if (key >= TN__SLOTS)
        return tn__fail(NULL, TN_ERR_PLUGIN,
                        "a fallback stands under one runtime key, not under the alias %s", d->key);
    tn__kernel *k = new_kernel(r, d, d->fn, NULL);
    return k ? stage_kernel(r, NULL, key, k) : tn__fail_memory(NULL, sizeof *k);
}

static tn_status stage_forms(tn_registry *r, const tn_kernel_decl *d, int key, tn_op *const *forms,
                             tn__kernel *inner)
{
    for (int form = 0; form < TN__FORMS; form++) {
        if (!forms[form])
            continue;
        tn__kernel *k = new_kernel(r, d, tn__structured_call, inner);
        if (!k)
            return tn__fail_memory(NULL, sizeof *k);
        k->loops = inner->layout || key != TN__SLOT_DENSE + TN_CPU
                       ? NULL
                       : d->loops; /* which compute on the host */
        if (k->loops)
            k->enter = tn__short_call;
        TN__TRY(stage_kernel(r, forms[form], key, k));
    }
    return TN_OK;
}

/* The operator that a schema names: of this transaction, or registered by a plugin that is
 * loaded. */
static tn_op *find_defined(const tn_registry *r, const char *schema, char name[256])
{
    size_t n = strcspn(schema, "(");
    snprintf(name, 256, "%s%.*s",
             memmem(schema, n, "::", 2) ? "" : "aten::", (int)(n < 200 ? n : 200), schema);
    tn_op *op = find_staged(r, name, strlen(name));
    if (op)
        return op;
    op = tn__op_lookup(name, strlen(name));
    return op && op->defined ? op : NULL;
}

tn_status tn__registry_find(const tn_registry *r, const char *schema, tn_op **out,
                            tn_op *forms[TN__FORMS])
{
    char name[256];
    tn_op *const *known;
    *out = find_defined(r, schema, name);
    if (!*out)
        return tn__fail(NULL, TN_ERR_PLUGIN, "%s: no such operator is registered", name);
    structure_of(r, *out, &known);
    memcpy(forms, known, TN__FORMS * sizeof *forms);
    return TN_OK;
}

tn_status tn__registry_fallbacks(tn_registry *r, int slot, int n, tn_kernel_fn fn)
{
    tn_kernel_decl decl = {.schema = "*", .fn = fn};
    for (int i = 0; i < n && r->status == TN_OK; i++)
        first_failure(r, stage_fallback(r, &decl, slot + i));
    return r->status;
}

static tn_status check_kernel_decl(const tn_kernel_decl *d, int key)
{
    if (key < 0)
        return tn__fail(
            NULL, TN_ERR_PLUGIN,
            "kernel for '%.200s': dispatch key '%s' does not exist; keys are the names of "
            "device types (CPU, CUDA, Meta), Autograd*, Autocast*, and the Composite* aliases",
            d->schema, d->key);
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
    TN__TRY(check_kernel_decl(d, key));
    if (strcmp(d->schema, "*") == 0)
        return stage_fallback(r, d, key);
    char name[256];
    tn_op *op = find_defined(r, d->schema, name);
    if (!op)
        return tn__fail(NULL, TN_ERR_PLUGIN, "kernel for %s: no such operator is registered", name);
    tn__kernel *k = new_kernel(r, d, d->fn, NULL);
    if (!k)
        return tn__fail_memory(NULL, sizeof *k);
    TN__TRY(same_schema(op, d->schema) ? check_frame_size(d, op->layout) : adapt(r, op, d, &k));
    tn_op *const *forms;
    if (d->fn && is_backend(key) && structure_of(r, op, &forms))
        return stage_forms(r, d, key, forms, k);
    if (d->fn && (is_backend(key) || key == TN__ALIAS_COMPOSITE_EXPLICIT) && writes(op))
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
    return first_failure(r, status);
}

/* A device's dispatch key is its own: no other key has that name, unless it is the dense key of
 * this very device type. */
static tn_status check_device_key(const tn_device_decl *d)
{
    int key = d->name && d->key ? tn__key_parse(d->key) : -1;
    const char *owner = key >= TN__SLOT_DENSE ? tn__device_type_name(key - TN__SLOT_DENSE) : NULL;
    if (key < 0 || (is_backend(key) && owner && strcmp(owner, d->name) == 0))
        return TN_OK;
    return tn__fail(NULL, TN_ERR_PLUGIN,
                    "device type '%s' cannot have the dispatch key '%s': the key exists", d->name,
                    d->key);
}

tn_status tn__registry_device(tn_registry *r, const tn_device_decl *device, int16_t *type_out)
{
    if (r->status != TN_OK)
        return r->status;
    bool is_new = false;
    tn_status status = check_device_key(device);
    if (status == TN_OK)
        status = tn__device_add(r->plugin, device, type_out, &is_new);
    if (status == TN_OK)
        r->devices |= 1u << *type_out;
    if (is_new)
        r->new_devices |= 1u << *type_out;
    return first_failure(r, status);
}

static tn_status import(const tn_registry *r, const char *schema, const tn_op **handle)
{
    char name[256];
    const tn_op *op = find_defined(r, schema, name);
    if (!op)
        return tn__fail(NULL, TN_ERR_PLUGIN, "%s calls %s, which no loaded plugin defines",
                        tn__plugin_text(r->plugin), name);
    if (!same_schema(op, schema)) {
        const tn__layout *older;
        TN__TRY(tn__layout_parse(schema, &older));
        TN__TRY(tn__adapt_check_caller(op, older, tn__plugin_text(r->plugin)));
    }
    *handle = op;
    return TN_OK;
}

tn_status tn__registry_imports(tn_registry *r, const char *const *schemas, const tn_op **handles,
                               size_t n)
{
    tn_status status = r->status;
    for (size_t i = 0; i < n && status == TN_OK; i++)
        status = import(r, schemas[i], &handles[i]);
    return first_failure(r, status);
}

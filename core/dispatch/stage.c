/* stage.c - registration, first half: what a plugin declares becomes records that nobody sees yet;
 * operators, devices and imports here, kernels in stage_kernel.c. The second half, commit
 * (registry.c), publishes all of them or none. The first failure sticks to the transaction. */
#include <string.h>

#include "core/dispatch/registry.h"

typedef tn__staged_op staged_op;

/* ---- staging --------------------------------------------------------------------------------- */
tn_status tn__stage_reserve(void **array, size_t *cap, size_t n, size_t item)
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
    *r = (tn_registry){.plugin = plugin, .schemas = UINT64_C(0xcbf29ce484222325)};
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
    TN__TRY(tn__stage_reserve((void **)&r->ops, &r->cap_ops, r->n_ops, sizeof *r->ops));
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
    if (r->plugin && strncmp(op->name, "aten::", 6) == 0) {
        status = tn__fail(NULL, TN_ERR_PLUGIN,
                          "%s cannot be registered by %s: 'aten', which a name without a namespace "
                          "means, is Tenon's own; write it with a namespace of the plugin's, "
                          "'myops::%s'",
                          op->name, tn__plugin_text(r->plugin), op->name + 6);
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

/* FNV-1a over the schemas and a newline behind each: what a note may say before any code runs. */
static void hash_schema(tn_registry *r, const char *schema)
{
    for (size_t i = 0; i <= strlen(schema); i++)
        r->schemas = (r->schemas ^ (unsigned char)(schema[i] ? schema[i] : '\n')) *
                     UINT64_C(0x100000001b3);
}

static tn_status check_op_decl(const tn_registry *r, const tn_op_decl *d)
{
    const int32_t known = TN_POINTWISE | TN_POINTWISE_FLOAT | TN_POINTWISE_BOOL;
    if (!d->schema)
        return tn__fail(NULL, TN_ERR_PLUGIN, "an operator is registered without a schema");
    if (d->shape && d->pointwise)
        return tn__fail(NULL, TN_ERR_PLUGIN,
                        "'%.200s': an operator has a shape rule or is pointwise, not both",
                        d->schema);
    if (tn__plugin_is_newer(r->plugin))
        return TN_OK;
    if (d->dtypes & ~TN_DTYPES_ALL || d->pointwise & ~known)
        return tn__fail(
            NULL, TN_ERR_PLUGIN,
            "'%.200s': its dtypes 0x%x or its pointwise 0x%x have bits that mean nothing",
            d->schema, d->dtypes, (unsigned)d->pointwise);
    return TN_OK;
}

static tn_status stage_decl(tn_registry *r, const tn_op_decl *d)
{
    const char *schemas[TN__FORMS] = {d->schema, d->inplace, d->out};
    size_t first = r->n_ops;
    tn_op *forms[TN__FORMS] = {0};
    TN__TRY(check_op_decl(r, d));
    for (int form = 0; form < TN__FORMS; form++) {
        staged_op *s = NULL;
        if (!schemas[form])
            continue;
        hash_schema(r, schemas[form]);
        TN__TRY(stage_op(r, schemas[form], (tn__form)form, &s));
        forms[form] = s->op;
    }
    TN__TRY(tn__forms_check(forms, d->shape || d->pointwise));
    tn__structure *structure = NULL;
    if (d->shape || d->pointwise)
        TN__TRY(tn__structure_new(d, forms, &structure));
    for (size_t i = first; i < r->n_ops; i++) {
        r->ops[i].structure = structure;
        memcpy(r->ops[i].forms, forms, sizeof forms);
    }
    return TN_OK;
}

tn_status tn__stage_failure(tn_registry *r, tn_status status)
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
    return tn__stage_failure(r, status);
}

/* ---- what is there ---------------------------------------------------------------------------- */
bool tn__same_schema(const tn_op *op, const char *schema)
{
    return strcmp(op->schema, schema) == 0 ||
           (strncmp(op->schema, "aten::", 6) == 0 && strcmp(op->schema + 6, schema) == 0);
}

const tn__structure *tn__stage_structure(const tn_registry *r, const tn_op *op,
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

/* The operator that a schema names: of this transaction, or registered by a plugin that is
 * loaded. */
tn_op *tn__stage_find(const tn_registry *r, const char *schema, char name[256])
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
    *out = tn__stage_find(r, schema, name);
    if (!*out)
        return tn__fail(NULL, TN_ERR_PLUGIN, "%s: no such operator is registered", name);
    tn__stage_structure(r, *out, &known);
    memcpy(forms, known, TN__FORMS * sizeof *forms);
    return TN_OK;
}

/* ---- devices and imports ---------------------------------------------------------------------- */
/* A device's dispatch key is its own: no other key has that name, unless it is the dense key of
 * this very device type. */
static tn_status check_device_key(const tn_device_decl *d)
{
    int key = d->name && d->key ? tn__key_parse(d->key) : -1;
    const char *owner = key >= TN__SLOT_DENSE ? tn__device_type_name(key - TN__SLOT_DENSE) : NULL;
    if (key < 0 || (tn__is_backend(key) && owner && strcmp(owner, d->name) == 0))
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
    tn_status status = device && type_out
                           ? check_device_key(device)
                           : tn__fail(NULL, TN_ERR_PLUGIN,
                                      "a device type is registered without a declaration, or "
                                      "without a place for its number");
    if (status == TN_OK)
        status = tn__device_add(r->plugin, r->replaced, device, type_out, &is_new);
    if (status == TN_OK)
        r->devices |= 1u << *type_out;
    if (is_new)
        r->new_devices |= 1u << *type_out;
    return tn__stage_failure(r, status);
}

static tn_status import(const tn_registry *r, const char *schema, const tn_op **handle)
{
    char name[256];
    if (!schema)
        return tn__fail(NULL, TN_ERR_PLUGIN, "%s imports an operator without a schema",
                        tn__plugin_text(r->plugin));
    const tn_op *op = tn__stage_find(r, schema, name);
    if (!op)
        return tn__fail(NULL, TN_ERR_PLUGIN, "%s calls %s, which no loaded plugin defines",
                        tn__plugin_text(r->plugin), name);
    if (!tn__same_schema(op, schema)) {
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
    return tn__stage_failure(r, status);
}

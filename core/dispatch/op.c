/* op.c - tenon/op.h: operators as data. */
#include <tenon/op.h>

#include <string.h>

#include "core/dispatch/registry.h"
#include "core/tensor/tensor_impl.h"

const tn_op *tn_op_find(const char *name)
{
    tn__runtime_init();
    char full[256];
    size_t n = strcspn(name, "(");
    if (n >= sizeof full - sizeof "aten::")
        return NULL;
    snprintf(full, sizeof full, "%s%.*s", memmem(name, n, "::", 2) ? "" : "aten::", (int)n, name);
    return tn__op_lookup(full, strlen(full));
}

const char *tn_op_name(const tn_op *op)
{
    return op->name;
}

const char *tn_op_schema(const tn_op *op)
{
    return op->schema;
}

const tn_field *tn_op_fields(const tn_op *op, int *n_results, int *n_args)
{
    *n_results = op->layout->n_results;
    *n_args = op->layout->n_args;
    return op->layout->fields;
}

uint32_t tn_op_frame_size(const tn_op *op)
{
    return op->layout->size;
}

void tn_op_frame_init(const tn_op *op, void *frame)
{
    memcpy(frame, op->layout->defaults, op->layout->size);
}

void tn_op_frame_release(const tn_op *op, void *frame)
{
    for (int i = 0; i < op->layout->n_results; i++) {
        const tn_field *f = &op->layout->fields[i];
        void *at = (char *)frame + f->offset;
        if (f->kind == TN_FIELD_TENSOR)
            tn__tensor_release(*(tn_tensor **)at);
        if (f->kind == TN_FIELD_TENSORS)
            tn__tensors_release(at);
        memset(at, 0, f->size);
    }
}

/* A required tensor that is missing never reaches a kernel. */
static TN_COLD tn_status check_frame(const tn_op *op, const void *frame, const char *file, int line)
{
    const tn_field *f = op->layout->fields + op->layout->n_results;
    tn_call call = {.op = op, .file = file, .line = line};
    for (int i = 0; i < op->layout->n_args; i++) {
        const char *at = (const char *)frame + f[i].offset;
        bool optional = f[i].flags & TN_FIELD_OPTIONAL;
        if (f[i].kind == TN_FIELD_TENSOR && !optional && !*(tn_tensor *const *)at)
            return tn__fail(&call, TN_ERR_ARGUMENT, "%s is missing: a tensor is required",
                            f[i].name);
        if (f[i].kind == TN_FIELD_TENSORS && strchr(f[i].type, '?') == NULL)
            for (int64_t j = 0; j < ((const tn_tensors *)at)->len; j++)
                if (!((const tn_tensors *)at)->data[j])
                    return tn__fail(&call, TN_ERR_ARGUMENT,
                                    "%s[%lld] is missing: a tensor is required", f[i].name,
                                    (long long)j);
        if (f[i].kind == TN_FIELD_STR && !optional && !*(const char *const *)at)
            return tn__fail(&call, TN_ERR_ARGUMENT, "%s is missing: a string is required",
                            f[i].name);
    }
    return TN_OK;
}

/* ---- calls ----------------------------------------------------------------------------------- */
static inline tn_status keys_of(const tn_op *op, const void *frame, const char *file, int line,
                                uint64_t *keys_out)
{
    uint64_t keys = 0;
    bool complete = !op->checks_more;
    for (int i = 0; i < op->n_required; i++) {
        const tn_tensor *t = *(tn_tensor *const *)((const char *)frame + op->tensor_offsets[i]);
        if (TN__LIKELY(t != NULL))
            keys |= t->keys;
        else
            complete = false;
    }
    if (TN__UNLIKELY(!complete))
        TN__TRY(check_frame(op, frame, file, line));
    if (keys == 0 || op->n_tensor_args > op->n_required || op->n_list_args)
        keys = tn__frame_keys(op, frame);
    *keys_out = keys;
    return TN_OK;
}

tn_status tn_op_call_at(const tn_op *op, void *frame, const char *file, int line)
{
    uint64_t keys;
    if (TN__UNLIKELY(((tn_frame *)frame)->size < op->frame_size))
        return tn__call_with_older_frame(op, frame, 0, file, line);
    TN__TRY(keys_of(op, frame, file, line, &keys));
    return tn__dispatch(op, frame, keys, file, line);
}

static tn_status call_any(const tn_op *op, void *frame)
{
    return tn_op_call_at(op, frame, NULL, 0);
}

/* What is kept for a failure goes to the stack, not to registers that would have to be saved. */
static inline tn_status enter(const tn_op *op, void *frame, uint64_t keys)
{
    keys |= tn__keys_tls.include;
    if (TN__UNLIKELY(keys != TN__KEYS_HOST))
        return tn__enter_any(op, frame, keys);
    tn__kernel *k = tn__kernel_in(op, TN__SLOT_DENSE + TN_CPU);
    if (!k->leaf)
        return k->enter(op, k, frame, TN__KEYS_HOST, NULL, 0);
    const tn_op *volatile kept_op = op;
    void *volatile kept_frame = frame;
    tn_status status = k->fn((tn_call *)k->leaf, frame);
    return TN__LIKELY(status == TN_OK) ? TN_OK : tn__kernel_failed(kept_op, kept_frame, status);
}

/* One tensor, and nothing else to look at. */
static tn_status call_unary(const tn_op *op, void *frame)
{
    const tn_tensor *t = *(tn_tensor *const *)((const char *)frame + op->tensor_offsets[0]);
    if (TN__UNLIKELY(((tn_frame *)frame)->size < op->frame_size || !t))
        return call_any(op, frame);
    return enter(op, frame, t->keys);
}

static tn_status call_binary(const tn_op *op, void *frame)
{
    const tn_tensor *a = *(tn_tensor *const *)((const char *)frame + op->tensor_offsets[0]);
    const tn_tensor *b = *(tn_tensor *const *)((const char *)frame + op->tensor_offsets[1]);
    if (TN__UNLIKELY(((tn_frame *)frame)->size < op->frame_size || !a || !b))
        return call_any(op, frame);
    return enter(op, frame, a->keys | b->keys);
}

void tn__op_choose_call(tn_op *op)
{
    bool plain = op->n_required == op->n_tensor_args && !op->n_list_args && !op->checks_more;
    op->call = plain && op->n_required == 1   ? call_unary
               : plain && op->n_required == 2 ? call_binary
                                              : call_any;
}

tn_status tn_op_call(const tn_op *op, void *frame)
{
    return op->call(op, frame);
}

const tn_op *tn_op_at(size_t i)
{
    tn__runtime_init();
    return tn__op_index(i);
}

const char *tn_op_server(const tn_op *op, const char *key, const char **how)
{
    int slot = tn__key_parse(key);
    if (slot < 0 || slot >= TN__SLOTS) {
        if (how)
            *how = tn__how_text(TN__HOW_MISSING);
        return "";
    }
    const tn__kernel *k;
    tn__how why = tn__registry_slot(op, slot, &k);
    if (how)
        *how = tn__how_text(why);
    return why == TN__HOW_MISSING || why == TN__HOW_FALLTHROUGH ? "" : tn__plugin_name(k->plugin);
}

tn_dtypes tn_op_dtypes(const tn_op *op, const char *key)
{
    int slot = tn__key_parse(key);
    const tn__kernel *k;
    if (slot < 0 || slot >= TN__SLOTS || tn__registry_slot(op, slot, &k) == TN__HOW_MISSING)
        return 0;
    tn_dtypes all = op->structure ? op->structure->dtypes : TN_DTYPES_ALL;
    return k->dtypes ? k->dtypes & all : all;
}

const char *tn_key_at(int slot)
{
    return slot >= 0 && slot < TN__SLOTS ? tn__key_name(slot) : NULL;
}

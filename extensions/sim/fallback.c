/* fallback.c - any operator, on the cpu: a kernel that knows no operator and reads every frame by
 * its fields.
 *
 *     frame --copy with host tensors--> the cpu's kernel --results, written arguments--> back
 *
 * An argument that is written goes there and back: what the caller holds is what changes. */
#include <string.h>

#include "sim.h"

static const tn_op *copy_op;

tn_status sim_fallback_import(tn_registry *r)
{
    static const char *const schemas[] = {TN_SCHEMA_copy_};
    return tn->import_ops(r, schemas, &copy_op, 1);
}

/* A tensor of the caller's frame and its copy on the host. */
typedef struct pair {
    tn_tensor *here, *host;
    bool written;
} pair;

typedef struct journey {
    tn_call *call;
    char *frame, *host; /* the caller's, and the one that the cpu gets */
    pair *pairs;
    size_t n;
    tn_device device; /* where results go */
} journey;

/* Keys of a call that goes straight to a device's kernel, past gradients and other layers: they
 * have seen this call already. */
static uint64_t keys_of(int16_t type)
{
    return tn->key_bit("Dense") | UINT64_C(1) << type;
}

static tn_status copy(tn_tensor *to, tn_tensor *from)
{
    struct tn_copy__args f = {TN_FRAME(copy_), .self = to, .src = from};
    TN_TRY(tn->op_redispatch(copy_op, keys_of(sim_type), &f));
    tn->tensor_release(f.result);
    return TN_OK;
}

/* ---- there ----------------------------------------------------------------------------------- */
static tn_status to_host(journey *j, tn_tensor **slot, bool written)
{
    tn_tensor *t = *slot, *host;
    const tn_device cpu = {TN_CPU, 0};
    if (!t || !sim_is_here(t))
        return TN_OK;
    TN_TRY(tn->tensor_new(j->call, t->ndim, t->sizes, t->dtype, cpu, &host));
    j->pairs[j->n++] = (pair){t, host, written};
    j->device = t->device;
    *slot = host;
    return copy(host, t);
}

static tn_status list_to_host(journey *j, tn_tensors *list, bool written)
{
    if (list->len <= 0)
        return TN_OK;
    size_t bytes = (size_t)list->len * sizeof *list->data;
    tn_tensor **copies = tn->scratch(j->call, bytes);
    if (!copies)
        return TN_ERR_MEMORY;
    memcpy(copies, list->data, bytes);
    list->data = copies;
    for (int64_t i = 0; i < list->len; i++)
        TN_TRY(to_host(j, &copies[i], written));
    return TN_OK;
}

static tn_status argument_to_host(journey *j, const tn_field *f)
{
    void *at = j->host + f->offset;
    bool written = (f->flags & TN_FIELD_WRITTEN) != 0;
    if (f->kind == TN_FIELD_TENSOR)
        return to_host(j, at, written);
    if (f->kind == TN_FIELD_TENSORS)
        return list_to_host(j, at, written);
    tn_device *device = at;
    if (f->kind == TN_FIELD_DEVICE && device->type == sim_type) {
        j->device = *device;
        *device = (tn_device){TN_CPU, 0};
    }
    return TN_OK;
}

/* ---- and back -------------------------------------------------------------------------------- */
static tn_status written_back(journey *j)
{
    for (size_t i = 0; i < j->n; i++) {
        const pair *p = &j->pairs[i];
        if (!p->written)
            continue;
        TN_TRY(tn->tensor_resize(j->call, p->here, p->host->ndim, p->host->sizes));
        TN_TRY(copy(p->here, p->host));
    }
    return TN_OK;
}

/* A result is an argument that was written, or new. One that shares memory with an argument cannot
 * be made here: it would have to share the device's. */
static tn_status to_device(journey *j, tn_tensor *host, tn_tensor **out)
{
    for (size_t i = 0; host && i < j->n; i++) {
        const pair *p = &j->pairs[i];
        if (host == p->host && p->written) {
            tn->tensor_retain(p->here);
            *out = p->here;
            return TN_OK;
        }
        if (tn->tensor_same_storage(host, p->host))
            return tn->fail(j->call, TN_ERR_UNSUPPORTED,
                            "the result is a view of an argument, which the cpu cannot make of "
                            "the device's memory");
    }
    if (!host)
        return TN_OK;
    TN_TRY(tn->tensor_new(j->call, host->ndim, host->sizes, host->dtype, j->device, out));
    return copy(*out, host);
}

static tn_status list_to_device(journey *j, const tn_tensors *host, tn_tensors *out)
{
    TN_TRY(tn->tensors_new(j->call, host->len, out));
    for (int64_t i = 0; i < host->len; i++)
        TN_TRY(to_device(j, host->data[i], &out->data[i]));
    return TN_OK;
}

static tn_status result_to_device(journey *j, const tn_field *f)
{
    void *from = j->host + f->offset, *to = j->frame + f->offset;
    if (f->kind == TN_FIELD_TENSOR)
        return to_device(j, *(tn_tensor **)from, to);
    if (f->kind == TN_FIELD_TENSORS)
        return list_to_device(j, from, to);
    memcpy(to, from, f->size);
    return TN_OK;
}

static void release_results(char *frame, const tn_field *fields, int n)
{
    for (int i = 0; i < n; i++) {
        if (fields[i].kind == TN_FIELD_TENSOR)
            tn->tensor_release(*(tn_tensor **)(frame + fields[i].offset));
        else if (fields[i].kind == TN_FIELD_TENSORS)
            tn->tensors_release((tn_tensors *)(frame + fields[i].offset));
    }
}

/* ---- the kernel ------------------------------------------------------------------------------ */
static tn_status pack(journey *j, const tn_field *arguments, int n)
{
    size_t size = ((tn_frame *)j->frame)->size, tensors = 0;
    for (int i = 0; i < n; i++) {
        const tn_tensors *list = (const tn_tensors *)(j->frame + arguments[i].offset);
        tensors += arguments[i].kind == TN_FIELD_TENSOR;
        if (arguments[i].kind == TN_FIELD_TENSORS && list->len > 0)
            tensors += (size_t)list->len;
    }
    j->host = tn->scratch(j->call, size);
    j->pairs = tn->scratch(j->call, (tensors + 1) * sizeof *j->pairs);
    if (!j->host || !j->pairs)
        return TN_ERR_MEMORY;
    memcpy(j->host, j->frame, size);
    for (int i = 0; i < n; i++)
        TN_TRY(argument_to_host(j, &arguments[i]));
    return TN_OK;
}

static tn_status unpack(journey *j, const tn_field *results, int n)
{
    tn_status status = written_back(j);
    for (int i = 0; i < n && status == TN_OK; i++)
        status = result_to_device(j, &results[i]);
    if (status != TN_OK)
        release_results(j->frame, results, n);
    return status;
}

tn_status sim_fallback(tn_call *call, void *frame)
{
    int n_results, n_args;
    const tn_field *fields = tn->op_fields(call->op, &n_results, &n_args);
    journey j = {.call = call, .frame = frame, .device = {sim_type, 0}};
    tn_status status = pack(&j, fields + n_results, n_args);
    if (status == TN_OK) {
        status = tn->op_redispatch(call->op, keys_of(TN_CPU), j.host);
        if (status == TN_OK) {
            status = unpack(&j, fields, n_results);
            release_results(j.host, fields, n_results);
        }
    }
    for (size_t i = 0; i < j.n; i++)
        tn->tensor_release(j.pairs[i].host);
    return status;
}

/* cast.c - the kernel of every operator that autocast knows: it knows none of them, and reads each
 * frame by its fields. Arguments are exchanged in the caller's own frame for the length of the call,
 * so that results land where they belong.
 *
 *     frame --floating arguments cast by _to_copy, recorded--> below Autocast --> written ones back
 *
 * No update is lost. What an in-place or out= form writes is what it returns: it is never exchanged,
 * and the other arguments follow its dtype. Any other written argument (running statistics) is cast
 * there and copied back. */
#include "cast.h"

#include <string.h>

enum { COPY_TO, COPY_INTO, OPS };
static const tn_op *ops[OPS];
static const tn_autocast_api *autocast;
static uint64_t autocast_key;

tn_status cast_import(tn_registry *r)
{
    static const char *const schemas[OPS] = {TN_SCHEMA__to_copy, TN_SCHEMA_copy_};
    autocast = tn->extension(TN_AUTOCAST_ABILITY, 1);
    if (!autocast)
        return tn->fail(NULL, TN_ERR_PLUGIN, "this host has no ability '" TN_AUTOCAST_ABILITY "'");
    autocast_key = tn->key_bit("Autocast");
    return tn->import_ops(r, schemas, ops, OPS);
}

/* ---- what a call asks for -------------------------------------------------------------------- */
typedef struct frame_view {
    char *at;
    const tn_field *results, *args;
    int n_results, n_args;
} frame_view;

static frame_view view_of(const tn_call *call, void *frame)
{
    frame_view v = {.at = frame};
    v.results = tn->op_fields(call->op, &v.n_results, &v.n_args);
    v.args = v.results + v.n_results;
    return v;
}

/* The tensors of an argument: one, those of a list, or none. */
static tn_tensors tensors_at(const frame_view *v, const tn_field *f)
{
    void *at = v->at + f->offset;
    if (f->kind == TN_FIELD_TENSOR)
        return (tn_tensors){at, 1};
    if (f->kind == TN_FIELD_TENSORS && ((tn_tensors *)at)->len > 0)
        return *(tn_tensors *)at;
    return (tn_tensors){NULL, 0};
}

/* f64 was asked for by the program and stays; so does a number that is weak in promotion. */
static bool can_cast(const tn_tensor *t, const cast_rule *rule)
{
    const tn_dtypes dtypes = TN_DTYPE_BIT(TN_F16) | TN_DTYPE_BIT(TN_BF16) | TN_DTYPE_BIT(TN_F32);
    return t && t->device.type == rule->device && tn_dtype_in(t->dtype, dtypes) &&
           !(t->flags & TN_TENSOR_WRAPPED_NUMBER);
}

static bool returns_what_it_writes(const frame_view *v)
{
    for (int i = 0; i < v->n_results; i++)
        if (v->results[i].flags & TN_FIELD_WRITTEN)
            return true;
    return false;
}

static tn_dtype dtype_written(const frame_view *v)
{
    for (int i = 0; i < v->n_args; i++) {
        tn_tensors list = tensors_at(v, &v->args[i]);
        if (v->args[i].flags & TN_FIELD_WRITTEN && list.len > 0 && list.data[0])
            return tn_dtype_in(list.data[0]->dtype, TN_DTYPES_FLOATING) ? list.data[0]->dtype
                                                                        : TN_DTYPE_NONE;
    }
    return TN_DTYPE_NONE;
}

static tn_dtype widest(const frame_view *v, const cast_rule *rule)
{
    tn_dtype dtype = TN_DTYPE_NONE;
    for (int i = 0; i < v->n_args; i++) {
        tn_tensors list = tensors_at(v, &v->args[i]);
        for (int64_t j = 0; j < list.len; j++)
            if (can_cast(list.data[j], rule))
                dtype = dtype == TN_DTYPE_NONE ? list.data[j]->dtype
                                               : tn->promote(dtype, list.data[j]->dtype);
    }
    return dtype;
}

static bool says_dtype(const frame_view *v)
{
    for (int i = 0; i < v->n_args; i++)
        if (v->args[i].kind == TN_FIELD_DTYPE &&
            *(const tn_dtype *)(v->at + v->args[i].offset) != TN_DTYPE_NONE)
            return true;
    return false;
}

/* TN_DTYPE_NONE: nothing is cast. */
static tn_dtype dtype_for(const frame_view *v, const cast_rule *rule, tn_dtype lower)
{
    if (returns_what_it_writes(v))
        return dtype_written(v);
    if (rule->policy == CAST_LOWER)
        return lower;
    if (rule->policy == CAST_WIDEST)
        return widest(v, rule);
    return says_dtype(v) ? TN_DTYPE_NONE : TN_F32;
}

/* ---- exchanged arguments --------------------------------------------------------------------- */
typedef struct exchange {
    tn_tensor **slot; /* in the frame, or in our copy of a list */
    tn_tensor *own, *cast;
    bool written;
} exchange;

typedef struct list_exchange {
    tn_tensors *at;
    tn_tensor **own;
} list_exchange;

typedef struct exchanges {
    exchange *items;
    list_exchange *lists;
    size_t n, n_lists;
} exchanges;

static bool differs(const tn_tensor *t, const cast_rule *rule, tn_dtype to)
{
    return can_cast(t, rule) && t->dtype != to;
}

static size_t count(const frame_view *v, const cast_rule *rule, tn_dtype to)
{
    size_t n = 0;
    for (int i = 0; i < v->n_args; i++) {
        tn_tensors list = tensors_at(v, &v->args[i]);
        for (int64_t j = 0; j < list.len; j++)
            n += differs(list.data[j], rule, to);
    }
    return n;
}

static tn_status cast_to(tn_tensor *t, tn_dtype dtype, tn_tensor **out)
{
    struct tn__to_copy_args f = {TN_FRAME(_to_copy),
                                 .self = t,
                                 .dtype = dtype,
                                 .layout = TN_LAYOUT_NONE,
                                 .device = {TN_DEVICE_NONE, -1},
                                 .pin_memory = -1,
                                 .memory_format = TN_FORMAT_NONE};
    TN_TRY(tn->op_call(ops[COPY_TO], &f));
    *out = f.result;
    return TN_OK;
}

static tn_status copy_back(tn_tensor *own, tn_tensor *cast)
{
    struct tn_copy__args f = {TN_FRAME(copy_), .self = own, .src = cast};
    TN_TRY(tn->op_call(ops[COPY_INTO], &f));
    tn->tensor_release(f.result);
    return TN_OK;
}

/* The caller's list stays as it is: the frame gets a copy. */
static tn_status own_list(tn_call *call, exchanges *x, tn_tensors *list)
{
    size_t bytes = (size_t)list->len * sizeof *list->data;
    tn_tensor **copy = tn->scratch(call, bytes);
    if (!copy)
        return TN_ERR_MEMORY;
    memcpy(copy, list->data, bytes);
    x->lists[x->n_lists++] = (list_exchange){list, list->data};
    list->data = copy;
    return TN_OK;
}

static tn_status exchange_argument(tn_call *call, const frame_view *v, const tn_field *f,
                                   const cast_rule *rule, tn_dtype to, exchanges *x)
{
    bool written = (f->flags & TN_FIELD_WRITTEN) != 0, copied = f->kind == TN_FIELD_TENSOR;
    for (int64_t j = 0; j < tensors_at(v, f).len; j++) {
        if (!differs(tensors_at(v, f).data[j], rule, to))
            continue;
        if (!copied)
            TN_TRY(own_list(call, x, (tn_tensors *)(v->at + f->offset)));
        copied = true;
        tn_tensor **slot = &tensors_at(v, f).data[j], *cast;
        TN_TRY(cast_to(*slot, to, &cast));
        x->items[x->n++] = (exchange){slot, *slot, cast, written};
        *slot = cast;
    }
    return TN_OK;
}

static tn_status exchange_all(tn_call *call, const frame_view *v, const cast_rule *rule,
                              tn_dtype to, size_t n, exchanges *x)
{
    bool keeps_written = returns_what_it_writes(v);
    x->items = tn->scratch(call, n * sizeof *x->items);
    x->lists = tn->scratch(call, (size_t)v->n_args * sizeof *x->lists);
    if (!x->items || !x->lists)
        return TN_ERR_MEMORY;
    for (int i = 0; i < v->n_args; i++)
        if (!(keeps_written && v->args[i].flags & TN_FIELD_WRITTEN))
            TN_TRY(exchange_argument(call, v, &v->args[i], rule, to, x));
    return TN_OK;
}

/* The frame is the caller's again. */
static void exchange_back(const exchanges *x)
{
    for (size_t i = x->n; i-- > 0;)
        *x->items[i].slot = x->items[i].own;
    for (size_t i = 0; i < x->n_lists; i++)
        x->lists[i].at->data = x->lists[i].own;
}

static tn_status written_back(const exchanges *x)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->items[i].written)
            TN_TRY(copy_back(x->items[i].own, x->items[i].cast));
    return TN_OK;
}

static void release_results(const frame_view *v)
{
    for (int i = 0; i < v->n_results; i++) {
        if (v->results[i].kind == TN_FIELD_TENSOR)
            tn->tensor_release(*(tn_tensor **)(v->at + v->results[i].offset));
        else if (v->results[i].kind == TN_FIELD_TENSORS)
            tn->tensors_release((tn_tensors *)(v->at + v->results[i].offset));
    }
}

static tn_status call_cast(tn_call *call, const frame_view *v, const cast_rule *rule, tn_dtype to)
{
    exchanges x = {0};
    size_t n = to == TN_DTYPE_NONE ? 0 : count(v, rule, to);
    tn_status status = n ? exchange_all(call, v, rule, to, n, &x) : TN_OK;
    if (status == TN_OK)
        status = tn->call_next(call, v->at);
    exchange_back(&x);
    if (status == TN_OK) {
        status = written_back(&x);
        if (status != TN_OK)
            release_results(v);
    }
    for (size_t i = 0; i < x.n; i++)
        tn->tensor_release(x.items[i].cast);
    return status;
}

/* What the operator calls below is not looked at again. */
tn_status cast_call(tn_call *call, void *frame)
{
    const cast_rule *rule = call->data;
    tn_dtype lower = autocast->dtype(rule->device);
    if (lower == TN_DTYPE_NONE)
        return tn->call_next(call, frame);
    uint64_t keys[2];
    tn->key_guard(0, 0, keys);
    tn->key_guard(keys[0] & ~autocast_key, keys[1], NULL);
    frame_view v = view_of(call, frame);
    tn_status status = call_cast(call, &v, rule, dtype_for(&v, rule, lower));
    tn->key_guard(keys[0], keys[1], NULL);
    return status;
}

/* replay_write.c - frames become JSON and storages. Every value is found by its field's kind alone, so
 * operators of any plugin can be written. */
#include "replay_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 64 << 20 };

/* ---- storages -------------------------------------------------------------------------------- */
static bool reserve(replay_writer *w)
{
    if (w->n_parts < w->cap)
        return true;
    size_t cap = w->cap ? w->cap * 2 : 16;
    replay_part *more = realloc(w->parts, cap * sizeof *more);
    if (more) {
        w->parts = more;
        w->cap = cap;
    }
    return more != NULL;
}

/* Its name within the case; "" when it cannot be written. */
static const char *add_part(replay_writer *w, const tn_tensor *owner, tn_dtype dtype,
                            const void *data, size_t bytes)
{
    size_t most = w->max_bytes ? w->max_bytes : MAX_BYTES;
    void *copy = bytes <= most && reserve(w) ? malloc(bytes + 1) : NULL;
    if (!copy) {
        w->bad = true;
        return "";
    }
    if (bytes)
        memcpy(copy, data, bytes);
    unsigned char *truths = copy; /* between the elements of a bool tensor may be anything */
    for (size_t i = 0; dtype == TN_BOOL && i < bytes; i++)
        truths[i] &= 1;
    replay_part *p = &w->parts[w->n_parts];
    *p = (replay_part){
        .owner = owner, .dtype = replay_dtypes[dtype].stored, .data = copy, .bytes = bytes};
    snprintf(p->name, sizeof p->name, "%d.s%zu", w->n, w->n_parts++ - w->first);
    return strchr(p->name, '.') + 1;
}

static const char *storage_of(replay_writer *w, const tn_tensor *t)
{
    for (size_t i = w->first; i < w->n_parts; i++)
        if (w->parts[i].owner && w->access.same_storage(w->parts[i].owner, t))
            return strchr(w->parts[i].name, '.') + 1;
    size_t size = (size_t)replay_dtypes[t->dtype].size;
    size_t bytes = (size_t)w->access.storage_bytes(t) / size * size;
    const char *data = t->data ? (const char *)t->data - (size_t)w->access.offset(t) * size : NULL;
    return add_part(w, t, t->dtype, data, data ? bytes : 0);
}

/* ---- values ---------------------------------------------------------------------------------- */
static json_t *ints(const int64_t *v, int64_t n)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < n; k++)
        json_array_append_new(list, json_integer(v[k]));
    return list;
}

static json_t *described(const char *name, tn_dtype dtype, int ndim, const int64_t *sizes,
                         const int64_t *strides, int64_t offset)
{
    return json_pack("{s:s, s:s, s:o, s:o, s:I}", "tensor", name, "dtype", replay_dtype_name(dtype),
                     "shape", ints(sizes, ndim), "stride", ints(strides, ndim), "offset",
                     (json_int_t)offset);
}

json_t *replay_tensor_json(replay_writer *w, tn_dtype dtype, int ndim, const int64_t *sizes,
                           const int64_t *strides, const void *data, size_t bytes)
{
    return described(add_part(w, NULL, dtype, data, bytes), dtype, ndim, sizes, strides, 0);
}

static json_t *tensor(replay_writer *w, const tn_tensor *t)
{
    if (!t)
        return json_null();
    if (t->device.type != TN_CPU || t->dtype >= TN_DTYPE_COUNT) {
        w->bad = true;
        return json_null();
    }
    return described(storage_of(w, t), t->dtype, t->ndim, t->sizes, t->strides,
                     w->access.offset(t));
}

static json_t *real(double x)
{
    return isnan(x)   ? json_string("nan")
           : isinf(x) ? json_string(x < 0 ? "-inf" : "inf")
                      : json_real(x);
}

static json_t *one(const char *kind, json_t *value)
{
    return json_pack("{s:o}", kind, value);
}

static json_t *scalar(const tn_scalar *s)
{
    switch (s->kind) {
    case TN_SCALAR_INT:
        return one("int", json_integer(s->v.i));
    case TN_SCALAR_BOOL:
        return one("bool", json_boolean(s->v.i));
    case TN_SCALAR_FLOAT:
        return one("float", real(s->v.f));
    case TN_SCALAR_COMPLEX:
        return json_pack("{s:[o, o]}", "complex", real(s->v.c[0]), real(s->v.c[1]));
    default:
        return json_null();
    }
}

static json_t *item(replay_writer *w, tn_field_kind kind, const void *list, int64_t k)
{
    const tn_ints *l = list; /* all lists are {pointer, length} */
    switch (kind) {
    case TN_FIELD_TENSORS:
        return tensor(w, ((const tn_tensors *)list)->data[k]);
    case TN_FIELD_INTS:
        return one("int", json_integer(l->data[k]));
    case TN_FIELD_FLOATS:
        return one("float", real(((const tn_floats *)list)->data[k]));
    case TN_FIELD_BOOLS:
        return one("bool", json_boolean(((const tn_bools *)list)->data[k]));
    default:
        return scalar(&((const tn_scalars *)list)->data[k]);
    }
}

static json_t *list(replay_writer *w, tn_field_kind kind, const void *at)
{
    int64_t n = ((const tn_ints *)at)->len;
    json_t *to = n < 0 ? json_null() : json_array();
    for (int64_t k = 0; k < n; k++)
        json_array_append_new(to, item(w, kind, at, k));
    return to;
}

static json_t *named(const tn_field *f, const void *at)
{
    static const char *const formats[] = {
        [TN_CONTIGUOUS] = "contiguous_format",
        [TN_PRESERVE] = "preserve_format",
        [TN_CHANNELS_LAST] = "channels_last",
        [TN_CHANNELS_LAST_3D] = "channels_last_3d",
    };
    int32_t v = f->kind == TN_FIELD_DEVICE ? ((const tn_device *)at)->type : *(const int32_t *)at;
    if (v < 0)
        return json_null();
    return f->kind == TN_FIELD_DEVICE   ? one("device", json_string("cpu"))
           : f->kind == TN_FIELD_DTYPE  ? one("dtype", json_string(replay_dtype_name(v)))
           : f->kind == TN_FIELD_LAYOUT ? one("layout", json_string("strided"))
                                        : one("memory_format", json_string(formats[v & 3]));
}

static json_t *text(const char *s)
{
    json_t *t = s ? json_string(s) : NULL;
    return t ? one("str", t) : json_null();
}

static json_t *value(replay_writer *w, const tn_field *f, const void *at)
{
    const tn_opt_int *o = at;
    const tn_opt_float *x = at;
    switch (f->kind) {
    case TN_FIELD_TENSOR:
        return tensor(w, *(tn_tensor *const *)at);
    case TN_FIELD_INT:
        return one("int", json_integer(*(const int64_t *)at));
    case TN_FIELD_OPT_INT:
        return o->has ? one("int", json_integer(o->value)) : json_null();
    case TN_FIELD_FLOAT:
        return one("float", real(*(const double *)at));
    case TN_FIELD_OPT_FLOAT:
        return x->has ? one("float", real(x->value)) : json_null();
    case TN_FIELD_BOOL:
        return one("bool", json_boolean(*(const bool *)at));
    case TN_FIELD_OPT_BOOL:
        return *(const tn_opt_bool *)at < 0 ? json_null()
                                            : one("bool", json_boolean(*(const tn_opt_bool *)at));
    case TN_FIELD_SCALAR:
        return scalar(at);
    case TN_FIELD_STR:
        return text(*(const char *const *)at);
    case TN_FIELD_GENERATOR:
    case TN_FIELD_UNSUPPORTED:
        return json_null();
    case TN_FIELD_DTYPE:
    case TN_FIELD_DEVICE:
    case TN_FIELD_LAYOUT:
    case TN_FIELD_MEMORY_FORMAT:
        return named(f, at);
    default:
        return list(w, f->kind, at);
    }
}

/* ---- cases ----------------------------------------------------------------------------------- */
void replay_begin(replay_writer *w, int n, const char *schema)
{
    w->n = n;
    w->first = w->n_parts;
    w->bad = false;
    w->open = json_pack("{s:i, s:s}", "n", n, "schema", schema);
}

void replay_add(replay_writer *w, const char *key, json_t *v)
{
    json_object_set_new(w->open, key, v);
}

/* What is written after the call is a storage of its own, whatever it shares with. */
static void forget_owners(replay_writer *w)
{
    for (size_t i = w->first; i < w->n_parts; i++)
        w->parts[i].owner = NULL;
}

void replay_add_arguments(replay_writer *w, const tn_field *fields, int n, const void *frame)
{
    json_t *args = json_object();
    for (int i = 0; i < n; i++)
        json_object_set_new(args, fields[i].name,
                            value(w, &fields[i], (const char *)frame + fields[i].offset));
    replay_add(w, "args", args);
    forget_owners(w);
}

void replay_add_results(replay_writer *w, const tn_field *fields, int n, const void *frame)
{
    json_t *returns = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(returns,
                              value(w, &fields[i], (const char *)frame + fields[i].offset));
    replay_add(w, "returns", returns);
    forget_owners(w);
}

void replay_add_mutated(replay_writer *w, const tn_field *fields, int n, const void *frame)
{
    json_t *mutated = json_object();
    for (int i = 0; i < n; i++)
        if (fields[i].flags & TN_FIELD_WRITTEN)
            json_object_set_new(mutated, fields[i].name,
                                value(w, &fields[i], (const char *)frame + fields[i].offset));
    if (json_object_size(mutated))
        replay_add(w, "mutated", mutated);
    else
        json_decref(mutated);
    forget_owners(w);
}

bool replay_end(replay_writer *w, bool keep)
{
    keep = keep && w->open && !w->bad;
    if (!w->cases)
        w->cases = json_array();
    if (keep)
        keep = json_array_append(w->cases, w->open) == 0;
    while (!keep && w->n_parts > w->first)
        free(w->parts[--w->n_parts].data);
    json_decref(w->open);
    w->open = NULL;
    w->first = w->n_parts;
    return keep;
}

bool replay_save(const replay_writer *w, const char *path, const char *source, json_t *more)
{
    st_part *parts = calloc(w->n_parts + 1, sizeof *parts);
    json_t *root = json_pack("{s:i, s:s}", "version", 1, "source", source);
    for (size_t i = 0; parts && i < w->n_parts; i++)
        parts[i] =
            (st_part){w->parts[i].name, w->parts[i].dtype, w->parts[i].data, w->parts[i].bytes};
    json_object_update(root, more);
    json_object_set_new(root, "cases", w->cases ? json_incref(w->cases) : json_array());
    char *json = json_dumps(root, JSON_COMPACT);
    bool ok = parts && json && st_write(path, "tenon_replay", json, parts, w->n_parts);
    free(json);
    free(parts);
    json_decref(root);
    json_decref(more);
    return ok;
}

void replay_writer_free(replay_writer *w)
{
    while (w->n_parts)
        free(w->parts[--w->n_parts].data);
    free(w->parts);
    json_decref(w->cases);
    json_decref(w->open);
    *w = (replay_writer){.access = w->access, .max_bytes = w->max_bytes};
}

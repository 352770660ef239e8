/* save.c - the call that fails, as a replay file (`tenon replay`).
 *
 * Which call a failure or a crash lies in is known only afterwards: so every call of the case is
 * written before it is made, each over the one before, until one is blamed or the process dies.
 * Only a failed case's second run does this (run.c). What is written is the frame itself, and the
 * reference's results beside it. */
#include "opinfo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/safetensors.h"

enum { MAX_PARTS = OI_ARGS * 2 + OI_RESULTS, MAX_BYTES = 64 << 20 };

static struct {
    const char *path; /* NULL: nothing is saved */
    const oi_case *c;
    int sample; /* whose call the file holds; -1: no file */
} saving;

/* What becomes the file. */
typedef struct parts {
    st_part list[MAX_PARTS];
    const tn_tensor *owner[MAX_PARTS]; /* of the storage; NULL: a result's */
    char names[MAX_PARTS][16];
    size_t n;
    bool bad; /* it cannot be written */
} parts;

/* ---- storages and tensors -------------------------------------------------------------------- */
static const char *stored_dtype(tn_dtype d)
{
    static const char *const names[TN_DTYPE_COUNT] = {
        [TN_BOOL] = "BOOL", [TN_U8] = "U8",   [TN_I8] = "I8",   [TN_I16] = "I16",
        [TN_I32] = "I32",   [TN_I64] = "I64", [TN_F16] = "F16", [TN_BF16] = "BF16",
        [TN_F32] = "F32",   [TN_F64] = "F64", [TN_C64] = "F32", [TN_C128] = "F64",
    };
    return names[d];
}

static const char *add_part(parts *p, const tn_tensor *owner, tn_dtype d, void *data, size_t bytes)
{
    if (p->n == MAX_PARTS || bytes > MAX_BYTES) {
        p->bad = true;
        return "";
    }
    size_t i = p->n++;
    snprintf(p->names[i], sizeof p->names[i], "0.s%zu", i);
    p->owner[i] = owner;
    p->list[i] = (st_part){p->names[i], stored_dtype(d), data, bytes};
    return p->names[i] + 2;
}

/* Between the elements of a bool tensor there may be bytes that are no bool. */
static void *bools(const unsigned char *from, size_t n)
{
    unsigned char *to = oi_alloc(n);
    for (size_t i = 0; i < n; i++)
        to[i] = from[i] & 1;
    return to;
}

static const char *storage(parts *p, const tn_tensor *t)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->owner[i] && tn_tensor_same_storage(p->owner[i], t))
            return p->names[i] + 2;
    size_t size = (size_t)oi_size_of(t->dtype), bytes = (size_t)tn_tensor_storage_bytes(t);
    bytes = bytes / size * size;
    void *data = tn_tensor_storage_data(t);
    if (t->dtype == TN_BOOL && bytes <= MAX_BYTES)
        data = bools(data, bytes);
    return add_part(p, t, t->dtype, data, bytes);
}

static json_t *ints(const int64_t *v, int64_t n)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < n; k++)
        json_array_append_new(list, json_integer(v[k]));
    return list;
}

static json_t *tensor(const char *name, tn_dtype d, int ndim, const int64_t *sizes,
                      const int64_t *strides, int64_t offset)
{
    return json_pack("{s:s, s:s, s:o, s:o, s:I}", "tensor", name, "dtype", oi_dtype_name(d),
                     "shape", ints(sizes, ndim), "stride", ints(strides, ndim), "offset",
                     (json_int_t)offset);
}

static json_t *argument_tensor(parts *p, const tn_tensor *t)
{
    if (!t)
        return json_null();
    if (t->device.type != TN_CPU) {
        p->bad = true;
        return json_null();
    }
    return tensor(storage(p, t), t->dtype, t->ndim, t->sizes, t->strides, tn_tensor_offset(t));
}

static json_t *result(parts *p, const oi_array *want, tn_dtype d)
{
    oi_array a = oi_array_cast(want, d);
    size_t size = (size_t)oi_size_of(d);
    unsigned char *data = oi_alloc((size_t)a.numel * size);
    int64_t strides[OI_DIMS], next = 1;
    for (int k = a.ndim - 1; k >= 0; k--) {
        strides[k] = next;
        next *= a.sizes[k];
    }
    for (int64_t i = 0; i < a.numel; i++)
        oi_store(data + (size_t)i * size, d, a.v[i]);
    const char *name = add_part(p, NULL, d, data, (size_t)a.numel * size);
    return tensor(name, d, a.ndim, a.sizes, strides, 0);
}

/* ---- other values ---------------------------------------------------------------------------- */
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

static json_t *list(parts *p, tn_field_kind kind, const void *at)
{
    const tn_ints *l = at; /* all lists are {pointer, length} */
    json_t *to = l->len < 0 ? json_null() : json_array();
    for (int64_t k = 0; k < l->len; k++)
        json_array_append_new(
            to, kind == TN_FIELD_TENSORS  ? argument_tensor(p, ((const tn_tensors *)at)->data[k])
                : kind == TN_FIELD_INTS   ? one("int", json_integer(l->data[k]))
                : kind == TN_FIELD_FLOATS ? one("float", real(((const tn_floats *)at)->data[k]))
                : kind == TN_FIELD_BOOLS
                    ? one("bool", json_boolean(((const tn_bools *)at)->data[k]))
                    : scalar(&((const tn_scalars *)at)->data[k]));
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
           : f->kind == TN_FIELD_DTYPE  ? one("dtype", json_string(oi_dtype_name(v)))
           : f->kind == TN_FIELD_LAYOUT ? one("layout", json_string("strided"))
                                        : one("memory_format", json_string(formats[v & 3]));
}

static json_t *value(parts *p, const tn_field *f, const void *at)
{
    const tn_opt_int *o = at;
    const tn_opt_float *x = at;
    switch (f->kind) {
    case TN_FIELD_TENSOR:
        return argument_tensor(p, *(tn_tensor *const *)at);
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
        return *(const char *const *)at ? one("str", json_string(*(const char *const *)at))
                                        : json_null();
    case TN_FIELD_GENERATOR:
    case TN_FIELD_UNSUPPORTED:
        return json_null();
    case TN_FIELD_DTYPE:
    case TN_FIELD_DEVICE:
    case TN_FIELD_LAYOUT:
    case TN_FIELD_MEMORY_FORMAT:
        return named(f, at);
    default:
        return list(p, f->kind, at);
    }
}

/* ---- the case -------------------------------------------------------------------------------- */
/* The dtype of result k: of the tensor it is written to, if it is. */
static tn_dtype dtype_of_result(const oi_call *call, int k, tn_dtype otherwise)
{
    int n_results, n_args;
    const tn_field *f = tn_op_fields(call->op, &n_results, &n_args) + n_results;
    for (int i = 0; i < n_args; i++)
        if (f[i].kind == TN_FIELD_TENSOR && f[i].flags & (TN_FIELD_WRITTEN | TN_FIELD_OUT) &&
            k-- == 0)
            return (*(tn_tensor *const *)((char *)call->frame + f[i].offset))->dtype;
    return otherwise;
}

/* The limit in last places as a relative and an absolute tolerance. A limit of half a place allows
 * the rounded reference alone, unless larger terms made an element. */
static void add_tolerance(json_t *to, const oi_case *c, const oi_array *want, int n)
{
    double rtol = 0, atol = 0;
    for (int k = 0; k < n; k++) {
        tn_dtype d = want[k].dtype, part = oi_real_of(d);
        double limit = oi_is_integral(d) ? 0 : oi_tolerance(c->row->tolerance, d);
        if (limit > 0.5) {
            rtol = fmax(rtol, (limit + 0.5) * (double)oi_ulp(1, part));
            atol = fmax(atol, (limit + 0.5) * (double)oi_ulp(0, part));
        }
        for (int64_t i = 0; limit > 0 && want[k].mag && i < want[k].numel; i++) {
            oi_real mag = want[k].mag[i], size = hypotl(want[k].v[i].re, want[k].v[i].im);
            if (isfinite(mag) && mag > size)
                atol = fmax(atol, (limit + 0.5) * (double)oi_ulp(mag, part));
        }
    }
    if (rtol > 0 || atol > 0) {
        json_object_set_new(to, "rtol", json_real(rtol));
        json_object_set_new(to, "atol", json_real(atol));
    }
}

/* False: there is nothing to compare with. */
static bool add_expected(parts *p, json_t *to, const oi_call *call)
{
    int n_results, n_args;
    const tn_field *f = tn_op_fields(call->op, &n_results, &n_args);
    if (call->refused)
        return json_object_set_new(to, "raises", json_true()) == 0;
    oi_array want[OI_RESULTS];
    int n = saving.c->row->reference(saving.c->row, call->sample, want);
    bool is_list = n_results == 1 && f[0].kind == TN_FIELD_TENSORS;
    if (n == 0 || (n != n_results && !is_list))
        return false;
    json_t *returns = json_array();
    for (int k = 0; k < n; k++)
        json_array_append_new(returns,
                              result(p, &want[k], dtype_of_result(call, k, want[k].dtype)));
    json_object_set_new(to, "returns", is_list ? json_pack("[o]", returns) : returns);
    if (saving.c->row->flags & OI_META_ONLY)
        json_object_set_new(to, "compare", json_string("meta"));
    add_tolerance(to, saving.c, want, n);
    return true;
}

static bool write_call(const oi_call *call)
{
    parts *p = oi_alloc(sizeof *p);
    int n_results, n_args;
    const tn_field *f = tn_op_fields(call->op, &n_results, &n_args) + n_results;
    json_t *args = json_object(),
           *case_ = json_pack("{s:i, s:s}", "n", 0, "schema", tn_op_schema(call->op));
    for (int k = 0; k < n_args; k++)
        json_object_set_new(args, f[k].name, value(p, &f[k], (char *)call->frame + f[k].offset));
    json_object_set_new(case_, "args", args);
    bool ok = add_expected(p, case_, call) && !p->bad;
    json_t *root =
        json_pack("{s:i, s:s, s:[o]}", "version", 1, "source", "tenon opinfo", "cases", case_);
    char *text = json_dumps(root, JSON_COMPACT);
    ok = ok && text && st_write(saving.path, "tenon_replay", text, p->list, p->n);
    free(text);
    json_decref(root);
    return ok;
}

/* ---- the file -------------------------------------------------------------------------------- */
void oi_save_to(const char *path)
{
    saving.path = path;
    saving.sample = -1;
}

void oi_save_case(const oi_case *c)
{
    saving.c = c;
}

static void forget(void)
{
    if (saving.sample >= 0)
        remove(saving.path);
    saving.sample = -1;
}

void oi_save_call(const oi_call *call)
{
    char why[OI_TEXT];
    oi_call here = *call;
    if (!saving.path || !saving.c)
        return;
    forget();
    /* On meta there are no values: the same call on the host has them. */
    bool twin = saving.c->target->device.type != TN_CPU;
    if (twin && !oi_call_make(&here, call->op, call->sample, (tn_device){TN_CPU, -1}, NULL, why))
        return;
    here.refused = call->refused;
    if (write_call(&here))
        saving.sample = call->sample->number;
    if (twin)
        oi_call_free(&here);
}

void oi_save_blamed(const oi_sample *s)
{
    if (!saving.path)
        return;
    if (!s || s->number != saving.sample)
        forget();
    saving.path = NULL;
}

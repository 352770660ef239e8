/* replay_value.c - recorded values become frame fields; recorded storages become tensors.
 *
 * Every storage of a case is one base tensor over a copy of the recorded bytes (on meta: of the same
 * size), and every tensor a view of its base, so arguments that shared memory when they were recorded
 * share it here. The copy has exactly the recorded size: a sanitizer sees a step outside it. */
#include "replay_impl.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- dtypes ------------------------------------------------------------------------------------ */
static const struct {
    const char *name;
    const char *stored; /* dtype of the storage in the file; complex ones are pairs of reals */
    int size;
} dtypes[TN_DTYPE_COUNT] = {
    [TN_BOOL] = {"bool", "BOOL", 1},         [TN_U8] = {"uint8", "U8", 1},
    [TN_I8] = {"int8", "I8", 1},             [TN_I16] = {"int16", "I16", 2},
    [TN_I32] = {"int32", "I32", 4},          [TN_I64] = {"int64", "I64", 8},
    [TN_F16] = {"float16", "F16", 2},        [TN_BF16] = {"bfloat16", "BF16", 2},
    [TN_F32] = {"float32", "F32", 4},        [TN_F64] = {"float64", "F64", 8},
    [TN_C64] = {"complex64", "F32", 8},      [TN_C128] = {"complex128", "F64", 16},
};

const char *replay_dtype_name(tn_dtype dtype)
{
    return dtype >= 0 && dtype < TN_DTYPE_COUNT ? dtypes[dtype].name : "none";
}

static tn_dtype dtype_named(const char *name)
{
    for (int i = 0; i < TN_DTYPE_COUNT; i++)
        if (name && strcmp(dtypes[i].name, name) == 0)
            return i;
    return TN_DTYPE_NONE;
}

static bool malformed(replay_outcome *o, const char *what)
{
    replay_set(o, REPLAY_MALFORMED, "", "%s", what);
    return false;
}

static bool out_of_memory(replay_outcome *o)
{
    replay_set(o, REPLAY_FAILED, "", "out of memory in the replay itself");
    return false;
}

static bool unsupported(replay_outcome *o, const char *what, const char *value)
{
    char reason[REPLAY_REASON];
    snprintf(reason, sizeof reason, "%s %.80s", what, value ? value : "?");
    replay_set(o, REPLAY_UNSUPPORTED, reason, "%s", reason);
    return false;
}

/* ---- recorded tensors -------------------------------------------------------------------------- */
static bool read_ints(const json_t *list, int64_t *out, int *n)
{
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > TN_MAX_DIMS)
        return false;
    for (size_t i = 0; i < count; i++) {
        const json_t *v = json_array_get(list, i);
        if (!json_is_integer(v))
            return false;
        out[i] = json_integer_value(v);
    }
    *n = (int)count;
    return true;
}

/* Does every element lie inside `available` elements? Computes numel. */
static bool fits(replay_array *a, int64_t offset, int64_t available)
{
    int64_t last = offset, step;
    a->numel = 1;
    for (int i = 0; i < a->ndim; i++)
        if (a->sizes[i] < 0 || __builtin_mul_overflow(a->numel, a->sizes[i], &a->numel))
            return false;
    if (a->numel == 0)
        return offset >= 0;
    for (int i = 0; i < a->ndim; i++)
        if (a->strides[i] < 0 || __builtin_mul_overflow(a->sizes[i] - 1, a->strides[i], &step) ||
            __builtin_add_overflow(last, step, &last))
            return false;
    return offset >= 0 && last < available;
}

static bool bools_only(const st_entry *e)
{
    for (size_t i = 0; i < e->bytes; i++)
        if ((unsigned char)e->data[i] > 1)
            return false;
    return true;
}

static bool find_storage(const replay_file *f, int n, const json_t *v, char name[REPLAY_NAME],
                         st_entry *e)
{
    const char *storage = json_string_value(json_object_get(v, "tensor"));
    if (!storage)
        return false;
    int length = snprintf(name, REPLAY_NAME, "%d.%s", n, storage);
    return length < REPLAY_NAME && st_find(&f->data, name, e);
}

bool replay_recorded(const replay_file *f, int n, const json_t *v, replay_array *out, st_entry *e,
                     replay_outcome *o)
{
    char name[REPLAY_NAME];
    const char *dtype = json_string_value(json_object_get(v, "dtype"));
    int n_strides = -1;
    const json_t *offset = json_object_get(v, "offset");
    if (!dtype || !json_is_integer(offset) ||
        !read_ints(json_object_get(v, "shape"), out->sizes, &out->ndim) ||
        !read_ints(json_object_get(v, "stride"), out->strides, &n_strides) ||
        n_strides != out->ndim)
        return malformed(o, "a tensor needs tensor, dtype, shape, stride and offset");
    out->dtype = dtype_named(dtype);
    if (out->dtype == TN_DTYPE_NONE)
        return unsupported(o, "dtype", dtype);
    if (!find_storage(f, n, v, name, e))
        return malformed(o, "a tensor names a storage that the file does not hold");
    if (strcmp(e->dtype, dtypes[out->dtype].stored) != 0)
        return malformed(o, "a tensor's dtype is not that of its storage");
    int64_t at = json_integer_value(offset), size = dtypes[out->dtype].size;
    if (!fits(out, at, (int64_t)e->bytes / size))
        return malformed(o, "a tensor's strides leave its storage");
    out->data = e->data + (out->numel ? at * size : 0);
    return true;
}

void replay_array_of(const tn_tensor *t, replay_array *out)
{
    out->dtype = t->dtype;
    out->ndim = t->ndim;
    out->numel = t->numel;
    out->data = t->data;
    memcpy(out->sizes, t->sizes, (size_t)t->ndim * sizeof *t->sizes);
    memcpy(out->strides, t->strides, (size_t)t->ndim * sizeof *t->strides);
}

/* ---- argument tensors -------------------------------------------------------------------------- */
static void free_memory(void *owner, void *data, size_t bytes)
{
    (void)data, (void)bytes;
    free(owner);
}

static tn_status make_base(const replay_build *b, const st_entry *e, tn_dtype dtype, tn_tensor **out)
{
    int64_t n = (int64_t)e->bytes / dtypes[dtype].size;
    if (b->meta)
        return tn_tensor_new(1, &n, dtype, (tn_device){TN_META, -1}, out);
    void *copy = malloc(e->bytes ? e->bytes : 1);
    if (!copy)
        return TN_ERR_MEMORY;
    memcpy(copy, e->data, e->bytes);
    tn_status status = tn_tensor_from_memory(copy, dtype, 1, &n, NULL, free_memory, copy, out);
    if (status != TN_OK)
        free(copy);
    return status;
}

static replay_storage *storage_of(replay_build *b, const json_t *v, const st_entry *e, tn_dtype dtype)
{
    char name[REPLAY_NAME];
    st_entry same;
    find_storage(b->file, b->n, v, name, &same);
    for (replay_storage *s = b->storages; s; s = s->next)
        if (strcmp(s->name, name) == 0)
            return s;
    replay_storage *s = tn__arena_alloc(&b->arena, sizeof *s);
    unsigned char *written = tn__arena_alloc(&b->arena, e->bytes + 1);
    if (!s || !written || make_base(b, e, dtype, &s->base) != TN_OK)
        return NULL;
    memcpy(s->name, name, sizeof s->name);
    s->entry = *e;
    s->written = written;
    s->next = b->storages;
    b->storages = s;
    return s;
}

static void mark_written(replay_storage *s, const replay_array *a)
{
    int size = dtypes[a->dtype].size;
    for (int64_t i = 0; i < a->numel; i++)
        memset(s->written + (replay_element(a, i) - s->entry.data), 1, (size_t)size);
}

static bool keep(replay_build *b, tn_tensor *t)
{
    if (b->n_tensors == b->cap) {
        size_t cap = b->cap ? b->cap * 2 : 16;
        tn_tensor **more = realloc(b->tensors, cap * sizeof(tn_tensor *));
        if (!more) {
            tn_release(t);
            return out_of_memory(b->outcome);
        }
        b->tensors = more;
        b->cap = cap;
    }
    b->tensors[b->n_tensors++] = t;
    return true;
}

static bool scalar_of(const json_t *v, tn_scalar *out);

/* A number where a tensor is due: 0-dim, of the number's widest dtype, weak in type promotion. */
static bool fill_wrapped_number(replay_build *b, const json_t *v, tn_tensor **at)
{
    static const tn_dtype kinds[] = {TN_F64, TN_I64, TN_BOOL, TN_C128};
    tn_scalar number;
    tn_tensor *t;
    if (!scalar_of(v, &number))
        return malformed(b->outcome, "a value for a Tensor argument is neither a tensor nor a number");
    bool truth = number.v.i != 0;
    tn_dtype dtype = kinds[number.kind];
    const void *data = number.kind == TN_SCALAR_BOOL ? (const void *)&truth : &number.v;
    tn_status status = b->meta ? tn_tensor_new(0, NULL, dtype, (tn_device){TN_META, -1}, &t)
                               : tn_tensor_from_data(data, dtype, 0, NULL, &t);
    if (status != TN_OK)
        return out_of_memory(b->outcome);
    t->flags |= TN_TENSOR_WRAPPED_NUMBER;
    *at = t;
    return keep(b, t);
}

static bool fill_tensor(replay_build *b, uint32_t flags, const json_t *v, tn_tensor **at)
{
    *at = NULL;
    if (json_is_null(v))
        return true; /* the call itself says when a required one is missing */
    replay_array a;
    st_entry e;
    if (!json_object_get(v, "tensor"))
        return fill_wrapped_number(b, v, at);
    if (!replay_recorded(b->file, b->n, v, &a, &e, b->outcome))
        return false;
    if (a.dtype == TN_BOOL && !bools_only(&e))
        return malformed(b->outcome, "a bool storage holds something else than 0 and 1");
    replay_storage *s = storage_of(b, v, &e, a.dtype);
    if (!s)
        return out_of_memory(b->outcome);
    if (s->base->dtype != a.dtype)
        return unsupported(b->outcome, "one storage for two dtypes:", dtypes[a.dtype].name);
    tn_tensor *t;
    int64_t offset = json_integer_value(json_object_get(v, "offset"));
    if (tn_tensor_view(s->base, a.ndim, a.sizes, a.strides, offset, &t) != TN_OK)
        return malformed(b->outcome, tn_error_last()->message);
    if (flags & TN_FIELD_WRITTEN)
        mark_written(s, &a);
    *at = t;
    return keep(b, t);
}

/* ---- numbers and names ------------------------------------------------------------------------- */
static bool int_of(const json_t *v, int64_t *out)
{
    const json_t *i = json_object_get(v, "int"), *t = json_object_get(v, "bool");
    *out = json_is_integer(i) ? json_integer_value(i) : json_is_true(t);
    return json_is_integer(i) || json_is_boolean(t);
}

static bool real_of(const json_t *v, double *out)
{
    static const struct {
        const char *name;
        double value;
    } special[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};
    const char *name = json_string_value(v);
    for (size_t i = 0; name && i < 3; i++)
        if (strcmp(name, special[i].name) == 0) {
            *out = special[i].value;
            return true;
        }
    *out = json_number_value(v);
    return json_is_number(v);
}

static bool float_of(const json_t *v, double *out)
{
    int64_t i;
    if (real_of(json_object_get(v, "float"), out))
        return true;
    bool ok = int_of(v, &i);
    *out = ok ? (double)i : 0;
    return ok;
}

static bool scalar_of(const json_t *v, tn_scalar *out)
{
    const json_t *c = json_object_get(v, "complex"), *t = json_object_get(v, "bool");
    double re, im;
    int64_t i;
    if (json_array_size(c) == 2 && real_of(json_array_get(c, 0), &re) &&
        real_of(json_array_get(c, 1), &im))
        *out = tn_scalar_complex(re, im);
    else if (json_is_boolean(t))
        *out = tn_scalar_bool(json_is_true(t));
    else if (real_of(json_object_get(v, "float"), &re))
        *out = tn_scalar_float(re);
    else if (int_of(v, &i))
        *out = tn_scalar_int(i);
    else
        return false;
    return true;
}

/* One of a list of names, numbered from 0; -1 when it is none. */
static int name_of(const json_t *v, const char *kind, const char *const *names)
{
    const char *text = json_string_value(json_object_get(v, kind));
    for (int i = 0; text && names[i]; i++)
        if (strcmp(names[i], text) == 0)
            return i;
    return -1;
}

static const char *text_of(const json_t *v, const char *kind)
{
    return json_string_value(json_object_get(v, kind));
}

/* ---- lists ------------------------------------------------------------------------------------- */
static size_t element_size(tn_field_kind kind)
{
    switch (kind) {
    case TN_FIELD_TENSORS: return sizeof(tn_tensor *);
    case TN_FIELD_BOOLS: return sizeof(bool);
    case TN_FIELD_SCALARS: return sizeof(tn_scalar);
    default: return 8;
    }
}

static bool fill_item(replay_build *b, const tn_field *f, const json_t *v, void *items, size_t i)
{
    int64_t truth = 0;
    bool ok = true;
    switch (f->kind) {
    case TN_FIELD_TENSORS: return fill_tensor(b, f->flags, v, (tn_tensor **)items + i);
    case TN_FIELD_INTS: ok = int_of(v, (int64_t *)items + i); break;
    case TN_FIELD_FLOATS: ok = float_of(v, (double *)items + i); break;
    case TN_FIELD_SCALARS: ok = scalar_of(v, (tn_scalar *)items + i); break;
    default:
        ok = int_of(v, &truth);
        ((bool *)items)[i] = truth != 0;
    }
    return ok || malformed(b->outcome, "a list holds a value of another kind");
}

/* tn_ints, tn_tensors and the other lists are all {pointer, length}. A single value is a list of one. */
static bool fill_list(replay_build *b, const tn_field *f, const json_t *v, void *at)
{
    tn_ints *list = at;
    if (json_is_null(v)) {
        *list = (tn_ints){NULL, f->flags & TN_FIELD_OPTIONAL ? -1 : 0};
        return true;
    }
    size_t n = json_is_array(v) ? json_array_size(v) : 1;
    void *items = tn__arena_alloc(&b->arena, (n + 1) * element_size(f->kind));
    if (!items)
        return out_of_memory(b->outcome);
    for (size_t i = 0; i < n; i++)
        if (!fill_item(b, f, json_is_array(v) ? json_array_get(v, i) : v, items, i))
            return false;
    *list = (tn_ints){items, (int64_t)n};
    return true;
}

/* ---- fields ------------------------------------------------------------------------------------ */
static bool fill_named(replay_build *b, const tn_field *f, const json_t *v, void *at)
{
    static const char *const layouts[] = {"strided", NULL};
    static const char *const formats[] = {"contiguous_format", "preserve_format", "channels_last",
                                          "channels_last_3d", NULL};
    switch (f->kind) {
    case TN_FIELD_DTYPE:
        *(tn_dtype *)at = dtype_named(text_of(v, "dtype"));
        return *(tn_dtype *)at >= 0 || unsupported(b->outcome, "dtype", text_of(v, "dtype"));
    case TN_FIELD_LAYOUT:
        *(tn_layout *)at = name_of(v, "layout", layouts);
        return *(tn_layout *)at >= 0 || unsupported(b->outcome, "layout", text_of(v, "layout"));
    case TN_FIELD_MEMORY_FORMAT:
        *(tn_memory_format *)at = name_of(v, "memory_format", formats);
        return *(tn_memory_format *)at >= 0 ||
               unsupported(b->outcome, "memory format", text_of(v, "memory_format"));
    case TN_FIELD_DEVICE: {
        const char *device = text_of(v, "device");
        *(tn_device *)at = (tn_device){b->meta ? TN_META : TN_CPU, -1};
        return (device && strcmp(device, "cpu") == 0) || unsupported(b->outcome, "device", device);
    }
    default:
        *(const char **)at = text_of(v, "str");
        return *(const char **)at || malformed(b->outcome, "a value for a str is no string");
    }
}

static bool fill_number(replay_build *b, const tn_field *f, const json_t *v, void *at)
{
    int64_t i = 0;
    double d = 0;
    bool ok;
    switch (f->kind) {
    case TN_FIELD_INT: ok = int_of(v, at); break;
    case TN_FIELD_OPT_INT:
        ok = int_of(v, &i);
        *(tn_opt_int *)at = (tn_opt_int){i, 1};
        break;
    case TN_FIELD_FLOAT: ok = float_of(v, at); break;
    case TN_FIELD_OPT_FLOAT:
        ok = float_of(v, &d);
        *(tn_opt_float *)at = (tn_opt_float){d, 1};
        break;
    case TN_FIELD_BOOL:
        ok = int_of(v, &i);
        *(bool *)at = i != 0;
        break;
    case TN_FIELD_OPT_BOOL:
        ok = int_of(v, &i);
        *(tn_opt_bool *)at = i != 0;
        break;
    default: ok = scalar_of(v, at);
    }
    return ok || malformed(b->outcome, "a value is of another kind than its argument");
}

/* An optional field keeps the absent value that the frame was initialised with. */
static bool fill_null(replay_build *b, const tn_field *f, void *at)
{
    switch (f->kind) {
    case TN_FIELD_OPT_INT: *(tn_opt_int *)at = (tn_opt_int){0, 0}; return true;
    case TN_FIELD_OPT_FLOAT: *(tn_opt_float *)at = (tn_opt_float){0, 0}; return true;
    case TN_FIELD_OPT_BOOL: *(tn_opt_bool *)at = -1; return true;
    case TN_FIELD_SCALAR: *(tn_scalar *)at = tn_scalar_none(); return true;
    case TN_FIELD_DTYPE: *(tn_dtype *)at = TN_DTYPE_NONE; return true;
    case TN_FIELD_DEVICE: *(tn_device *)at = (tn_device){TN_DEVICE_NONE, -1}; return true;
    case TN_FIELD_LAYOUT:
    case TN_FIELD_MEMORY_FORMAT: *(int32_t *)at = -1; return true;
    case TN_FIELD_STR:
    case TN_FIELD_GENERATOR: *(void **)at = NULL; return true;
    default: return malformed(b->outcome, "null for an argument that is not optional");
    }
}

bool replay_fill(replay_build *b, const tn_field *f, const json_t *v, void *at)
{
    if (f->kind == TN_FIELD_TENSOR)
        return fill_tensor(b, f->flags, v, at);
    switch (f->kind) {
    case TN_FIELD_TENSORS:
    case TN_FIELD_INTS:
    case TN_FIELD_FLOATS:
    case TN_FIELD_BOOLS:
    case TN_FIELD_SCALARS: return fill_list(b, f, v, at);
    default: break;
    }
    if (json_is_null(v))
        return fill_null(b, f, at);
    if (f->kind == TN_FIELD_GENERATOR || f->kind == TN_FIELD_UNSUPPORTED)
        return unsupported(b->outcome, "a value of type", f->type);
    return f->kind >= TN_FIELD_DTYPE ? fill_named(b, f, v, at) : fill_number(b, f, v, at);
}

void replay_build_free(replay_build *b)
{
    for (size_t i = 0; i < b->n_tensors; i++)
        tn_release(b->tensors[i]);
    for (replay_storage *s = b->storages; s; s = s->next)
        tn_release(s->base);
    free(b->tensors);
    tn__arena_free(&b->arena);
}

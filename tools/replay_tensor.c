/* replay_tensor.c - recorded storages become tensors.
 *
 * Every storage of a case is one base tensor over a copy of the recorded bytes (on meta: of the
 * same size), and every tensor a view of its base, so arguments that shared memory when they were
 * recorded share it here. The copy has exactly the recorded size: a sanitizer sees a step outside
 * it. */
#include "replay_impl.h"

#include <stdlib.h>
#include <string.h>

bool replay_malformed(replay_outcome *o, const char *what)
{
    replay_set(o, REPLAY_MALFORMED, "", "%s", what);
    return false;
}

bool replay_out_of_memory(replay_outcome *o)
{
    replay_set(o, REPLAY_FAILED, "", "out of memory in the replay itself");
    return false;
}

bool replay_unsupported(replay_outcome *o, const char *what, const char *value)
{
    char reason[REPLAY_REASON];
    snprintf(reason, sizeof reason, "%s %.80s", what, value ? value : "?");
    replay_set(o, REPLAY_UNSUPPORTED, reason, "%s", reason);
    return false;
}

/* ---- recorded tensors ----------------------------------------------------------------------- */
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
        return replay_malformed(o, "a tensor needs tensor, dtype, shape, stride and offset");
    out->dtype = replay_dtype_named(dtype);
    if (out->dtype == TN_DTYPE_NONE)
        return replay_unsupported(o, "dtype", dtype);
    if (!find_storage(f, n, v, name, e))
        return replay_malformed(o, "a tensor names a storage that the file does not hold");
    if (strcmp(e->dtype, replay_dtypes[out->dtype].stored) != 0)
        return replay_malformed(o, "a tensor's dtype is not that of its storage");
    int64_t at = json_integer_value(offset), size = replay_dtypes[out->dtype].size;
    if (!fits(out, at, (int64_t)e->bytes / size))
        return replay_malformed(o, "a tensor's strides leave its storage");
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

/* ---- argument tensors ----------------------------------------------------------------------- */
static void free_memory(void *owner, void *data, size_t bytes)
{
    (void)data, (void)bytes;
    free(owner);
}

static tn_status make_base(const replay_build *b, const st_entry *e, tn_dtype dtype,
                           tn_tensor **out)
{
    int64_t n = (int64_t)e->bytes / replay_dtypes[dtype].size;
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

static replay_storage *storage_of(replay_build *b, const json_t *v, const st_entry *e,
                                  tn_dtype dtype)
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
    int size = replay_dtypes[a->dtype].size;
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
            return replay_out_of_memory(b->outcome);
        }
        b->tensors = more;
        b->cap = cap;
    }
    b->tensors[b->n_tensors++] = t;
    return true;
}

/* A number where a tensor is due: 0-dim, of the number's widest dtype, weak in type promotion. */
static bool fill_wrapped_number(replay_build *b, const json_t *v, tn_tensor **at)
{
    static const tn_dtype kinds[] = {TN_F64, TN_I64, TN_BOOL, TN_C128};
    tn_scalar number;
    tn_tensor *t;
    if (!replay_scalar(v, &number))
        return replay_malformed(b->outcome,
                                "a value for a Tensor argument is neither a tensor nor a number");
    bool truth = number.v.i != 0;
    tn_dtype dtype = kinds[number.kind];
    const void *data = number.kind == TN_SCALAR_BOOL ? (const void *)&truth : &number.v;
    tn_status status = b->meta ? tn_tensor_new(0, NULL, dtype, (tn_device){TN_META, -1}, &t)
                               : tn_tensor_from_data(data, dtype, 0, NULL, &t);
    if (status != TN_OK)
        return replay_out_of_memory(b->outcome);
    t->flags |= TN_TENSOR_WRAPPED_NUMBER;
    *at = t;
    return keep(b, t);
}

bool replay_fill_tensor(replay_build *b, uint32_t flags, const json_t *v, tn_tensor **at)
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
        return replay_malformed(b->outcome, "a bool storage holds something else than 0 and 1");
    replay_storage *s = storage_of(b, v, &e, a.dtype);
    if (!s)
        return replay_out_of_memory(b->outcome);
    if (s->base->dtype != a.dtype)
        return replay_unsupported(b->outcome,
                                  "one storage for two dtypes:", replay_dtypes[a.dtype].name);
    tn_tensor *t;
    int64_t offset = json_integer_value(json_object_get(v, "offset"));
    if (tn_tensor_view(s->base, a.ndim, a.sizes, a.strides, offset, &t) != TN_OK)
        return replay_malformed(b->outcome, tn_error_last()->message);
    if (flags & TN_FIELD_WRITTEN)
        mark_written(s, &a);
    *at = t;
    return keep(b, t);
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

/* replay_steps.c - the steps that make a recorded call simpler: smaller sizes, shorter lists, absent
 * arguments, plain layouts, small numbers.
 *
 * One trick: a step is a number. The steps are the places where something could be simpler, in one
 * fixed order, large ones first; to apply the n-th, the walk counts the places as it passes them. */
#include "replay_shrink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIZES = 64, FEW_ELEMENTS = 16 };

/* ---- places ---------------------------------------------------------------------------------- */
/* True at the one place where the step is to be applied. */
static bool here(shrink *s)
{
    if (s->applied || s->left-- > 0)
        return false;
    s->applied = true;
    return true;
}

/* ---- sizes ----------------------------------------------------------------------------------- */
typedef struct sizes {
    int64_t v[MAX_SIZES];
    int n;
} sizes;

static bool collect_sizes(void *arg, json_t *tensor)
{
    sizes *all = arg;
    const json_t *shape = json_object_get(tensor, "shape");
    for (size_t i = 0; i < json_array_size(shape); i++) {
        int k = 0;
        while (k < all->n && all->v[k] != shrink_at(shape, i))
            k++;
        if (k == all->n && k < MAX_SIZES && shrink_at(shape, i) > 1)
            all->v[all->n++] = shrink_at(shape, i);
    }
    return true;
}

typedef struct resize {
    int64_t from, to;
} resize;

static bool resize_dims(void *arg, json_t *tensor)
{
    const resize *r = arg;
    json_t *shape = json_object_get(tensor, "shape");
    for (size_t i = 0; i < json_array_size(shape); i++)
        if (shrink_at(shape, i) == r->from)
            json_array_set_new(shape, i, json_integer(r->to));
    return true;
}

static void resize_ints(json_t *value, const resize *r)
{
    const char *key;
    json_t *v;
    size_t i;
    if (json_is_array(value))
        json_array_foreach(value, i, v) resize_ints(v, r);
    if (json_is_object(value) && !json_object_get(value, "tensor"))
        json_object_foreach(value, key, v) resize_ints(v, r);
    json_t *number = json_object_get(value, "int");
    if (json_is_integer(number) && json_integer_value(number) == r->from)
        json_object_set_new(value, "int", json_integer(r->to));
}

static void shrink_sizes(shrink *s, json_t *args)
{
    sizes all = {.n = 0};
    shrink_each_tensor(args, collect_sizes, &all);
    for (int i = 0; i < all.n; i++) {
        const int64_t v = all.v[i], to[] = {1, v / 2, v - 1};
        for (int k = 0; k < 3; k++) {
            resize r = {v, to[k]};
            if ((k == 1 && v / 2 <= 1) || (k == 2 && v - 1 <= v / 2))
                continue;
            if (here(s))
                shrink_each_tensor(args, resize_dims, &r);
            if (here(s)) {
                shrink_each_tensor(args, resize_dims, &r);
                resize_ints(args, &r);
            }
        }
    }
}

/* One dimension of one tensor: its first part, or its last one. */
static bool shrink_own_size(void *arg, json_t *tensor)
{
    json_t *shape = json_object_get(tensor, "shape"), *stride = json_object_get(tensor, "stride");
    for (size_t i = 0; i < json_array_size(shape); i++) {
        const int64_t v = shrink_at(shape, i), to[] = {1, v / 2, v - 1};
        for (int k = 0; k < 6 && v > 1; k++) {
            int64_t size = to[k / 2], skipped = k % 2 ? v - size : 0;
            if (size < 1 || !here(arg))
                continue;
            json_t *offset = json_object_get(tensor, "offset");
            json_array_set_new(shape, i, json_integer(size));
            json_object_set_new(
                tensor, "offset",
                json_integer(json_integer_value(offset) + skipped * shrink_at(stride, i)));
            return true;
        }
    }
    return true;
}

static bool drop_first_dim(void *arg, json_t *tensor)
{
    (void)arg;
    json_t *shape = json_object_get(tensor, "shape");
    if (json_array_size(shape) && shrink_at(shape, 0) == 1) {
        json_array_remove(shape, 0);
        json_array_remove(json_object_get(tensor, "stride"), 0);
    }
    return true;
}

static bool drop_own_dim(void *arg, json_t *tensor)
{
    json_t *shape = json_object_get(tensor, "shape"), *stride = json_object_get(tensor, "stride");
    for (size_t i = 0; i < json_array_size(shape); i++)
        if (shrink_at(shape, i) == 1 && here(arg)) {
            json_array_remove(shape, i);
            json_array_remove(stride, i);
            break;
        }
    return true;
}

/* ---- layouts and values ---------------------------------------------------------------------- */
static tn_dtype dtype_of(const json_t *tensor)
{
    return replay_dtype_named(json_string_value(json_object_get(tensor, "dtype")));
}

/* The tensor's elements alone, one behind the other, in a storage of its own. */
static void make_plain(shrink *s, json_t *tensor)
{
    json_t *shape = json_object_get(tensor, "shape"), *stride = json_object_get(tensor, "stride");
    const shrink_part *p =
        shrink_find_part(s, json_string_value(json_object_get(tensor, "tensor")));
    size_t size = (size_t)replay_dtypes[dtype_of(tensor)].size, n = (size_t)shrink_elements(tensor);
    int ndim = (int)json_array_size(shape);
    char *data = malloc(n * size + 1), name[32];
    for (size_t i = 0; data && i < n; i++) {
        int64_t from = json_integer_value(json_object_get(tensor, "offset")), rest = (int64_t)i;
        for (int d = ndim; d-- > 0; rest /= shrink_at(shape, (size_t)d))
            from += rest % shrink_at(shape, (size_t)d) * shrink_at(stride, (size_t)d);
        memcpy(data + i * size, p->data + (size_t)from * size, size);
    }
    snprintf(name, sizeof name, "m%zu", s->n);
    if (data && shrink_add_part(s, name, p->dtype, data, n * size)) {
        int64_t next = 1;
        for (int d = ndim; d-- > 0; next *= shrink_at(shape, (size_t)d))
            json_array_set_new(stride, (size_t)d, json_integer(next));
        json_object_set_new(tensor, "tensor", json_string(name));
        json_object_set_new(tensor, "offset", json_integer(0));
    }
    free(data);
}

static bool shrink_layout(void *arg, json_t *tensor)
{
    shrink *s = arg;
    const shrink_part *p =
        shrink_find_part(s, json_string_value(json_object_get(tensor, "tensor")));
    size_t size = (size_t)replay_dtypes[dtype_of(tensor)].size;
    bool exact = p->bytes == (size_t)shrink_elements(tensor) * size;
    if ((!shrink_is_plain(tensor) || !exact) && here(s))
        make_plain(s, tensor);
    return true;
}

static void put_one(const char *dtype, char *to)
{
    static const struct {
        const char *dtype, *bytes;
        size_t n;
    } ones[] = {{"F64", "\0\0\0\0\0\0\360\77", 8},
                {"F32", "\0\0\200\77", 4},
                {"F16", "\0\74", 2},
                {"BF16", "\200\77", 2}};
    size_t size = st_dtype_size(dtype);
    memset(to, 0, size);
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        if (strcmp(ones[i].dtype, dtype) == 0) {
            memcpy(to, ones[i].bytes, size);
            return;
        }
    to[0] = 1;
}

static bool shrink_values(void *arg, json_t *tensor)
{
    shrink *s = arg;
    shrink_part *p = shrink_find_part(s, json_string_value(json_object_get(tensor, "tensor")));
    size_t size = st_dtype_size(p->dtype), n = p->bytes / size;
    if (here(s))
        memset(p->data, 0, p->bytes);
    if (here(s))
        for (size_t i = 0; i < n; i++)
            put_one(p->dtype, p->data + i * size);
    for (size_t i = 0; i < n && n <= FEW_ELEMENTS; i++) {
        if (here(s))
            memset(p->data + i * size, 0, size);
        if (here(s))
            put_one(p->dtype, p->data + i * size);
    }
    return true;
}

/* ---- arguments that are no tensors ----------------------------------------------------------- */
static void shrink_number(shrink *s, json_t *holder, const char *key)
{
    json_t *v = json_object_get(holder, key);
    bool whole = json_is_integer(v);
    double x = json_number_value(v);
    if (json_is_true(v) && here(s))
        json_object_set_new(holder, key, json_false());
    if (!json_is_number(v) && !json_is_string(v))
        return;
    const double to[] = {0, 1, trunc(x / 2)};
    for (int i = 0; i < 3; i++)
        if (here(s))
            json_object_set_new(holder, key,
                                whole ? json_integer((json_int_t)to[i]) : json_real(to[i]));
}

static void shrink_value(shrink *s, json_t *value)
{
    static const char *const numbers[] = {"int", "float", "bool"};
    size_t i;
    json_t *v;
    if (json_is_array(value)) {
        size_t n = json_array_size(value);
        if (n && here(s))
            json_array_remove(value, n - 1);
        if (n > 1 && here(s))
            json_array_remove(value, 0);
        json_array_foreach(value, i, v) shrink_value(s, v);
        return;
    }
    for (i = 0; i < 3; i++)
        if (json_object_get(value, numbers[i]))
            shrink_number(s, value, numbers[i]);
}

/* Whether the schema lets an argument be None; one that must be there may crash without. */
static bool is_optional(const shrink *s, const char *argument)
{
    char name[REPLAY_NAME];
    int n_results, n_args;
    const char *schema = json_string_value(json_object_get(s->case_, "schema"));
    snprintf(name, sizeof name, "%.*s", (int)strcspn(schema, "("), schema);
    const tn_op *op = tn_op_find(name);
    const tn_field *f = op ? tn_op_fields(op, &n_results, &n_args) : NULL;
    for (int i = 0; f && i < n_args; i++)
        if (strcmp(f[n_results + i].name, argument) == 0)
            return f[n_results + i].flags & TN_FIELD_OPTIONAL;
    return false;
}

static void shrink_arguments(shrink *s, json_t *args)
{
    const char *key;
    json_t *v;
    void *next;
    json_object_foreach_safe(args, next, key, v)
    {
        if (!json_is_null(v) && is_optional(s, key) && here(s))
            json_object_set_new(args, key, json_null());
        else
            shrink_value(s, v);
    }
}

bool shrink_step(shrink *s, int number)
{
    json_t *args = json_object_get(s->case_, "args");
    s->left = number;
    s->applied = false;
    if (s->keeps_results) {
        shrink_each_tensor(args, shrink_layout, s);
        return s->applied;
    }
    shrink_sizes(s, args);
    shrink_arguments(s, args);
    shrink_each_tensor(args, shrink_own_size, s);
    if (here(s))
        shrink_each_tensor(args, drop_first_dim, NULL);
    shrink_each_tensor(args, drop_own_dim, s);
    shrink_each_tensor(args, shrink_layout, s);
    shrink_each_tensor(args, shrink_values, s);
    return s->applied;
}

/* ---- halves ---------------------------------------------------------------------------------- */
typedef struct half {
    size_t from_end; /* which dimension, counted from the last; 0: `from_front` counts */
    size_t from_front;
    int64_t size; /* that it has in the result */
    bool upper;
} half;

static bool keep_half(void *arg, json_t *tensor)
{
    const half *h = arg;
    json_t *shape = json_object_get(tensor, "shape"), *stride = json_object_get(tensor, "stride");
    size_t n = json_array_size(shape), d = h->from_end ? n - h->from_end : h->from_front;
    if (d >= n || shrink_at(shape, d) != h->size)
        return true; /* it is broadcast along this one */
    int64_t low = h->size / 2, offset = json_integer_value(json_object_get(tensor, "offset"));
    json_array_set_new(shape, d, json_integer(h->upper ? h->size - low : low));
    if (h->upper)
        json_object_set_new(tensor, "offset", json_integer(offset + low * shrink_at(stride, d)));
    return true;
}

static bool first_shape(void *arg, json_t *tensor)
{
    *(const json_t **)arg = json_object_get(tensor, "shape");
    return false;
}

bool shrink_half(shrink *s, int number, bool other)
{
    const json_t *shape = NULL;
    shrink_each_tensor(json_object_get(s->case_, "returns"), first_shape, &shape);
    s->left = number;
    s->applied = false;
    for (size_t k = json_array_size(shape); k > 0; k--) {
        int64_t size = shrink_at(shape, json_array_size(shape) - k);
        for (int upper = 0; upper < 2 && size > 1; upper++)
            if (here(s)) {
                half h = {k, 0, size, (upper != 0) != other};
                shrink_each_tensor(s->case_, keep_half, &h);
                return true;
            }
    }
    s->by_front = true;
    for (size_t k = 0; k < json_array_size(shape); k++) {
        int64_t size = shrink_at(shape, k);
        for (int upper = 0; upper < 2 && size > 1; upper++)
            if (here(s)) {
                half h = {0, k, size, (upper != 0) != other};
                shrink_each_tensor(s->case_, keep_half, &h);
                return true;
            }
    }
    return false;
}

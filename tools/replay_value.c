/* replay_value.c - recorded values become frame fields, by the field's kind alone.
 *
 * Every value is looked at before it is taken: a file may hold anything. */
#include "replay_impl.h"

#include <math.h>
#include <string.h>

/* ---- numbers and names ---------------------------------------------------------------------- */
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

bool replay_scalar(const json_t *v, tn_scalar *out)
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

/* ---- lists ---------------------------------------------------------------------------------- */
static size_t element_size(tn_field_kind kind)
{
    switch (kind) {
    case TN_FIELD_TENSORS:
        return sizeof(tn_tensor *);
    case TN_FIELD_BOOLS:
        return sizeof(bool);
    case TN_FIELD_SCALARS:
        return sizeof(tn_scalar);
    default:
        return 8;
    }
}

static bool fill_item(replay_build *b, const tn_field *f, const json_t *v, void *items, size_t i)
{
    int64_t truth = 0;
    bool ok = true;
    switch (f->kind) {
    case TN_FIELD_TENSORS:
        return replay_fill_tensor(b, f->flags, v, (tn_tensor **)items + i);
    case TN_FIELD_INTS:
        ok = int_of(v, (int64_t *)items + i);
        break;
    case TN_FIELD_FLOATS:
        ok = float_of(v, (double *)items + i);
        break;
    case TN_FIELD_SCALARS:
        ok = replay_scalar(v, (tn_scalar *)items + i);
        break;
    default:
        ok = int_of(v, &truth);
        ((bool *)items)[i] = truth != 0;
    }
    return ok || replay_malformed(b->outcome, "a list holds a value of another kind");
}

/* tn_ints, tn_tensors and the other lists are all {pointer, length}. A single value is a list of
 * one. */
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
        return replay_out_of_memory(b->outcome);
    for (size_t i = 0; i < n; i++)
        if (!fill_item(b, f, json_is_array(v) ? json_array_get(v, i) : v, items, i))
            return false;
    *list = (tn_ints){items, (int64_t)n};
    return true;
}

/* ---- fields --------------------------------------------------------------------------------- */
static bool fill_named(replay_build *b, const tn_field *f, const json_t *v, void *at)
{
    static const char *const layouts[] = {"strided", NULL};
    static const char *const formats[] = {"contiguous_format", "preserve_format", "channels_last",
                                          "channels_last_3d", NULL};
    switch (f->kind) {
    case TN_FIELD_DTYPE:
        *(tn_dtype *)at = replay_dtype_named(text_of(v, "dtype"));
        return *(tn_dtype *)at >= 0 || replay_unsupported(b->outcome, "dtype", text_of(v, "dtype"));
    case TN_FIELD_LAYOUT:
        *(tn_layout *)at = name_of(v, "layout", layouts);
        return *(tn_layout *)at >= 0 ||
               replay_unsupported(b->outcome, "layout", text_of(v, "layout"));
    case TN_FIELD_MEMORY_FORMAT:
        *(tn_memory_format *)at = name_of(v, "memory_format", formats);
        return *(tn_memory_format *)at >= 0 ||
               replay_unsupported(b->outcome, "memory format", text_of(v, "memory_format"));
    case TN_FIELD_DEVICE: {
        const char *device = text_of(v, "device");
        *(tn_device *)at = (tn_device){b->meta ? TN_META : TN_CPU, -1};
        return (device && strcmp(device, "cpu") == 0) ||
               replay_unsupported(b->outcome, "device", device);
    }
    default:
        *(const char **)at = text_of(v, "str");
        return *(const char **)at || replay_malformed(b->outcome, "a value for a str is no string");
    }
}

static bool fill_number(replay_build *b, const tn_field *f, const json_t *v, void *at)
{
    int64_t i = 0;
    double d = 0;
    bool ok;
    switch (f->kind) {
    case TN_FIELD_INT:
        ok = int_of(v, at);
        break;
    case TN_FIELD_OPT_INT:
        ok = int_of(v, &i);
        *(tn_opt_int *)at = (tn_opt_int){i, 1};
        break;
    case TN_FIELD_FLOAT:
        ok = float_of(v, at);
        break;
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
    default:
        ok = replay_scalar(v, at);
    }
    return ok || replay_malformed(b->outcome, "a value is of another kind than its argument");
}

/* An optional field keeps the absent value that the frame was initialised with. */
static bool fill_null(replay_build *b, const tn_field *f, void *at)
{
    switch (f->kind) {
    case TN_FIELD_OPT_INT:
        *(tn_opt_int *)at = (tn_opt_int){0, 0};
        return true;
    case TN_FIELD_OPT_FLOAT:
        *(tn_opt_float *)at = (tn_opt_float){0, 0};
        return true;
    case TN_FIELD_OPT_BOOL:
        *(tn_opt_bool *)at = -1;
        return true;
    case TN_FIELD_SCALAR:
        *(tn_scalar *)at = tn_scalar_none();
        return true;
    case TN_FIELD_DTYPE:
        *(tn_dtype *)at = TN_DTYPE_NONE;
        return true;
    case TN_FIELD_DEVICE:
        *(tn_device *)at = (tn_device){TN_DEVICE_NONE, -1};
        return true;
    case TN_FIELD_LAYOUT:
    case TN_FIELD_MEMORY_FORMAT:
        *(int32_t *)at = -1;
        return true;
    case TN_FIELD_STR:
    case TN_FIELD_GENERATOR:
        *(void **)at = NULL;
        return true;
    default:
        return replay_malformed(b->outcome, "null for an argument that is not optional");
    }
}

bool replay_fill(replay_build *b, const tn_field *f, const json_t *v, void *at)
{
    if (f->kind == TN_FIELD_TENSOR)
        return replay_fill_tensor(b, f->flags, v, at);
    switch (f->kind) {
    case TN_FIELD_TENSORS:
    case TN_FIELD_INTS:
    case TN_FIELD_FLOATS:
    case TN_FIELD_BOOLS:
    case TN_FIELD_SCALARS:
        return fill_list(b, f, v, at);
    default:
        break;
    }
    if (json_is_null(v))
        return fill_null(b, f, at);
    if (f->kind == TN_FIELD_GENERATOR || f->kind == TN_FIELD_UNSUPPORTED)
        return replay_unsupported(b->outcome, "a value of type", f->type);
    return f->kind >= TN_FIELD_DTYPE ? fill_named(b, f, v, at) : fill_number(b, f, v, at);
}

/* layout.c - computes a call frame from a schema. The only place that knows which C type holds
 * which schema type. */
#include "core/schema/layout.h"

#include <string.h>

typedef struct field_type {
    tn_field_kind kind;
    uint32_t size, align;
} field_type;

#define OF(field_kind, c_type) ((field_type){field_kind, sizeof(c_type), _Alignof(c_type)})

static const field_type unsupported = {TN_FIELD_UNSUPPORTED, 8, 8};

static field_type list_of(const tn__type *elem)
{
    switch (elem->kind) {
    case TN__TYPE_TENSOR:
        return OF(TN_FIELD_TENSORS, tn_tensors);
    case TN__TYPE_INT:
    case TN__TYPE_SYMINT:
        return OF(TN_FIELD_INTS, tn_ints);
    case TN__TYPE_FLOAT:
        return OF(TN_FIELD_FLOATS, tn_floats);
    case TN__TYPE_BOOL:
        return OF(TN_FIELD_BOOLS, tn_bools);
    case TN__TYPE_SCALAR:
        return OF(TN_FIELD_SCALARS, tn_scalars);
    case TN__TYPE_OPTIONAL:
        return elem->elem->kind == TN__TYPE_TENSOR ? OF(TN_FIELD_TENSORS, tn_tensors) : unsupported;
    default:
        return unsupported;
    }
}

static field_type leaf(tn__type_kind kind, bool optional)
{
    switch (kind) {
    case TN__TYPE_TENSOR:
        return OF(TN_FIELD_TENSOR, tn_tensor *);
    case TN__TYPE_INT:
    case TN__TYPE_SYMINT:
    case TN__TYPE_DEVICEINDEX:
        return optional ? OF(TN_FIELD_OPT_INT, tn_opt_int) : OF(TN_FIELD_INT, int64_t);
    case TN__TYPE_FLOAT:
    case TN__TYPE_SYMFLOAT:
        return optional ? OF(TN_FIELD_OPT_FLOAT, tn_opt_float) : OF(TN_FIELD_FLOAT, double);
    case TN__TYPE_BOOL:
    case TN__TYPE_SYMBOOL:
        return optional ? OF(TN_FIELD_OPT_BOOL, tn_opt_bool) : OF(TN_FIELD_BOOL, bool);
    case TN__TYPE_SCALAR:
        return OF(TN_FIELD_SCALAR, tn_scalar);
    case TN__TYPE_SCALARTYPE:
        return OF(TN_FIELD_DTYPE, tn_dtype);
    case TN__TYPE_DEVICE:
        return OF(TN_FIELD_DEVICE, tn_device);
    case TN__TYPE_LAYOUT:
        return OF(TN_FIELD_LAYOUT, tn_layout);
    case TN__TYPE_MEMORYFORMAT:
        return OF(TN_FIELD_MEMORY_FORMAT, tn_memory_format);
    case TN__TYPE_STR:
        return OF(TN_FIELD_STR, const char *);
    case TN__TYPE_GENERATOR:
        return OF(TN_FIELD_GENERATOR, void *);
    default:
        return unsupported;
    }
}

static field_type field_type_of(const tn__type *t)
{
    bool optional = t->kind == TN__TYPE_OPTIONAL;
    if (optional)
        t = t->elem;
    if (t->kind == TN__TYPE_LIST)
        return list_of(t->elem);
    return leaf(t->kind, optional);
}

const char *tn__field_c_type(tn_field_kind kind)
{
    static const char *const names[] = {
        [TN_FIELD_TENSOR] = "tn_tensor *",
        [TN_FIELD_TENSORS] = "tn_tensors",
        [TN_FIELD_INT] = "int64_t",
        [TN_FIELD_OPT_INT] = "tn_opt_int",
        [TN_FIELD_INTS] = "tn_ints",
        [TN_FIELD_FLOAT] = "double",
        [TN_FIELD_OPT_FLOAT] = "tn_opt_float",
        [TN_FIELD_FLOATS] = "tn_floats",
        [TN_FIELD_BOOL] = "bool",
        [TN_FIELD_OPT_BOOL] = "tn_opt_bool",
        [TN_FIELD_BOOLS] = "tn_bools",
        [TN_FIELD_SCALAR] = "tn_scalar",
        [TN_FIELD_SCALARS] = "tn_scalars",
        [TN_FIELD_DTYPE] = "tn_dtype",
        [TN_FIELD_DEVICE] = "tn_device",
        [TN_FIELD_LAYOUT] = "tn_layout",
        [TN_FIELD_MEMORY_FORMAT] = "tn_memory_format",
        [TN_FIELD_STR] = "const char *",
        [TN_FIELD_GENERATOR] = "void *",
        [TN_FIELD_UNSUPPORTED] = NULL,
    };
    return names[kind];
}

/* ---- fields ---------------------------------------------------------------------------------- */
static const char *type_text(tn__arena *a, const tn__type *t)
{
    size_t n = tn__type_print(t, NULL, 0);
    char *text = tn__arena_alloc(a, n + 1);
    if (text)
        tn__type_print(t, text, n + 1);
    return text;
}

static bool is_argument(const tn__schema *s, const char *name)
{
    for (int i = 0; i < s->n_args; i++)
        if (strcmp(s->args[i].name, name) == 0)
            return true;
    return false;
}

/* A result that has the name of its out argument, as in sort.values, is numbered instead. */
static const char *result_name(tn__arena *a, const tn__schema *s, int i)
{
    char name[32];
    if (s->rets[i].name && !is_argument(s, s->rets[i].name))
        return s->rets[i].name;
    int n = s->n_rets == 1 ? snprintf(name, sizeof name, "result")
                           : snprintf(name, sizeof name, "result%d", i);
    return tn__arena_strndup(a, name, (size_t)n);
}

static uint32_t flags_of(const tn__arg *arg)
{
    const tn__alias *alias = tn__type_alias(arg->type);
    return (arg->type->kind == TN__TYPE_OPTIONAL ? TN_FIELD_OPTIONAL : 0) |
           (alias ? TN_FIELD_ALIASED : 0) | (alias && alias->is_write ? TN_FIELD_WRITTEN : 0) |
           (arg->is_out ? TN_FIELD_OUT : 0) | (arg->kwonly ? TN_FIELD_KWONLY : 0) |
           (arg->def ? TN_FIELD_DEFAULTED : 0);
}

static bool place(tn__arena *a, tn__layout *l, tn_field *f, const tn__arg *arg, const char *name)
{
    field_type t = field_type_of(arg->type);
    l->size = (l->size + t.align - 1) / t.align * t.align;
    *f = (tn_field){.name = name,
                    .type = type_text(a, arg->type),
                    .kind = t.kind,
                    .flags = flags_of(arg),
                    .offset = l->size,
                    .size = t.size};
    l->size += t.size;
    if (t.kind == TN_FIELD_UNSUPPORTED)
        l->callable = false;
    return f->name && f->type;
}

/* ---- default values -------------------------------------------------------------------------- */
static tn_dtype dtype_named(const char *text)
{
    static const struct {
        const char *name;
        tn_dtype dtype;
    } names[] = {{"long", TN_I64},
                 {"float", TN_F32},
                 {"double", TN_F64},
                 {"int", TN_I32},
                 {"bool", TN_BOOL}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, text) == 0)
            return names[i].dtype;
    return TN_DTYPE_NONE;
}

static int64_t int_named(const tn__value *v)
{
    if (v->kind != TN__VALUE_IDENT)
        return v->i;
    static const struct {
        const char *name;
        int64_t value;
    } names[] = {{"Mean", 1},
                 {"Sum", 2},
                 {"None", 0},
                 {"contiguous_format", TN_CONTIGUOUS},
                 {"preserve_format", TN_PRESERVE},
                 {"channels_last", TN_CHANNELS_LAST},
                 {"strided", TN_STRIDED}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, v->text) == 0)
            return names[i].value;
    return 0;
}

static double float_of(const tn__value *v)
{
    return v->kind == TN__VALUE_INT || v->kind == TN__VALUE_BOOL ? (double)v->i : v->re;
}

static tn_scalar scalar_of(const tn__value *v)
{
    tn_scalar s = {{0}, TN_SCALAR_NONE, 0};
    switch (v->kind) {
    case TN__VALUE_INT:
        s.kind = TN_SCALAR_INT;
        s.v.i = v->i;
        break;
    case TN__VALUE_BOOL:
        s.kind = TN_SCALAR_BOOL;
        s.v.i = v->i;
        break;
    case TN__VALUE_FLOAT:
        s.kind = TN_SCALAR_FLOAT;
        s.v.f = v->re;
        break;
    case TN__VALUE_COMPLEX:
        s.kind = TN_SCALAR_COMPLEX;
        s.v.c[0] = v->re;
        s.v.c[1] = v->im;
        break;
    default:
        break;
    }
    return s;
}

/* A list default; a single number for int[N] stands for N of them. */
static bool list_default(tn__arena *a, const tn__type *t, const tn__value *v, tn_field_kind kind,
                         void *field)
{
    if (t->kind == TN__TYPE_OPTIONAL)
        t = t->elem;
    bool single = v->kind != TN__VALUE_LIST;
    int64_t n = single ? (t->list_size > 0 ? t->list_size : 1) : v->n_items;
    int64_t *ints = tn__arena_alloc(a, (size_t)(n ? n : 1) * 8);
    if (!ints)
        return false;
    double *floats = (double *)ints;
    bool *bools = (bool *)ints;
    for (int64_t i = 0; i < n; i++) {
        const tn__value *item = single ? v : &v->items[i];
        if (kind == TN_FIELD_INTS)
            ints[i] = int_named(item);
        if (kind == TN_FIELD_FLOATS)
            floats[i] = float_of(item);
        if (kind == TN_FIELD_BOOLS)
            bools[i] = item->i != 0;
    }
    memcpy(field, &(tn_ints){ints, n}, sizeof(tn_ints));
    return true;
}

static void set_absent(tn_field_kind kind, uint32_t flags, void *field)
{
    bool optional = flags & TN_FIELD_OPTIONAL;
    switch (kind) {
    case TN_FIELD_TENSORS:
    case TN_FIELD_INTS:
    case TN_FIELD_FLOATS:
    case TN_FIELD_BOOLS:
    case TN_FIELD_SCALARS:
        ((tn_ints *)field)->len = optional ? -1 : 0;
        break;
    case TN_FIELD_OPT_BOOL:
        *(tn_opt_bool *)field = -1;
        break;
    case TN_FIELD_SCALAR:
        ((tn_scalar *)field)->kind = optional ? TN_SCALAR_NONE : TN_SCALAR_FLOAT;
        break;
    case TN_FIELD_DTYPE:
        *(tn_dtype *)field = TN_DTYPE_NONE;
        break;
    case TN_FIELD_DEVICE:
        *(tn_device *)field = (tn_device){TN_DEVICE_NONE, -1};
        break;
    case TN_FIELD_LAYOUT:
    case TN_FIELD_MEMORY_FORMAT:
        *(int32_t *)field = -1;
        break;
    default:
        break;
    }
}

static bool set_default(tn__arena *a, const tn__arg *arg, const tn_field *f, void *field)
{
    const tn__value *v = arg->def;
    set_absent(f->kind, f->flags, field);
    if (!v || v->kind == TN__VALUE_NONE)
        return true;
    switch (f->kind) {
    case TN_FIELD_INT:
        *(int64_t *)field = int_named(v);
        break;
    case TN_FIELD_OPT_INT:
        *(tn_opt_int *)field = (tn_opt_int){int_named(v), 1};
        break;
    case TN_FIELD_FLOAT:
        *(double *)field = float_of(v);
        break;
    case TN_FIELD_OPT_FLOAT:
        *(tn_opt_float *)field = (tn_opt_float){float_of(v), 1};
        break;
    case TN_FIELD_BOOL:
        *(bool *)field = v->i != 0;
        break;
    case TN_FIELD_OPT_BOOL:
        *(tn_opt_bool *)field = v->i != 0;
        break;
    case TN_FIELD_SCALAR:
        *(tn_scalar *)field = scalar_of(v);
        break;
    case TN_FIELD_DTYPE:
        *(tn_dtype *)field = v->text ? dtype_named(v->text) : TN_DTYPE_NONE;
        break;
    case TN_FIELD_LAYOUT:
    case TN_FIELD_MEMORY_FORMAT:
        *(int32_t *)field = (int32_t)int_named(v);
        break;
    case TN_FIELD_STR:
        *(const char **)field = v->text;
        break;
    case TN_FIELD_INTS:
    case TN_FIELD_FLOATS:
    case TN_FIELD_BOOLS:
        return list_default(a, arg->type, v, f->kind, field);
    default:
        break;
    }
    return true;
}

const tn__layout *tn__layout_new(tn__arena *a, const tn__schema *s)
{
    tn__layout *l = tn__arena_alloc(a, sizeof *l);
    if (!l)
        return NULL;
    *l = (tn__layout){.schema = s,
                      .n_results = s->n_rets,
                      .n_args = s->n_args,
                      .size = sizeof(tn_frame),
                      .callable = true};
    l->fields = tn__arena_alloc(a, (size_t)(s->n_rets + s->n_args + 1) * sizeof *l->fields);
    if (!l->fields)
        return NULL;
    for (int i = 0; i < s->n_rets; i++)
        if (!place(a, l, &l->fields[i], &s->rets[i], result_name(a, s, i)))
            return NULL;
    for (int i = 0; i < s->n_args; i++)
        if (!place(a, l, &l->fields[s->n_rets + i], &s->args[i], s->args[i].name))
            return NULL;
    l->size = (l->size + 7) / 8 * 8;
    if (s->is_vararg || s->is_varret || l->size > UINT16_MAX)
        l->callable = false;

    unsigned char *frame = tn__arena_alloc(a, l->size);
    if (!frame)
        return NULL;
    ((tn_frame *)frame)->size = l->size;
    for (int i = 0; i < s->n_args; i++) {
        const tn_field *f = &l->fields[s->n_rets + i];
        if (!set_default(a, &s->args[i], f, frame + f->offset))
            return NULL;
    }
    l->defaults = frame;
    return l;
}

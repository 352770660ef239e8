/* strict.c - what a new schema must keep to, beyond the grammar.
 *
 * PyTorch's parsers let these pass and fail later, or never; registration of ours, `tenon schema
 * parse
 * --strict` and our own YAML do not. Runs after the whole text has been accepted. */
#include "schema_impl.h"

#include <string.h>

static bool fail(tn__lex *x, const tn__arg *arg, const char *want)
{
    char type[100];
    tn__type_print(arg->type, type, sizeof type);
    return tn__lex_fail(x, (size_t)arg->def->column - 1,
                        "the default '%.60s' of argument '%.60s' does not fit its type '%s'; %s",
                        arg->def->source, arg->name, type, want);
}

static bool is_named(const tn__value *v, const char *const *allowed)
{
    for (; v->kind == TN__VALUE_IDENT && *allowed; allowed++)
        if (strcmp(v->text, *allowed) == 0)
            return true;
    return false;
}

static const char *scalar_misfit(tn__type_kind kind, const tn__value *v)
{
    static const char *const reductions[] = {"Mean", "Sum", NULL};
    static const char *const layouts[] = {"strided", "sparse", NULL};
    static const char *const formats[] = {"contiguous_format", "preserve_format", "channels_last",
                                          "channels_last_3d", NULL};
    static const char *const dtypes[] = {
        "uint8",     "byte",   "int8",       "char",    "int16",   "short",    "int32",   "int",
        "int64",     "long",   "float16",    "half",    "float32", "float",    "float64", "double",
        "complex64", "cfloat", "complex128", "cdouble", "bool",    "bfloat16", NULL};
    bool is_int = v->kind == TN__VALUE_INT, is_real = is_int || v->kind == TN__VALUE_FLOAT;
    switch (kind) {
    case TN__TYPE_INT:
    case TN__TYPE_SYMINT:
    case TN__TYPE_DEVICEINDEX:
        return is_int || is_named(v, reductions) ? NULL : "write a whole number";
    case TN__TYPE_FLOAT:
    case TN__TYPE_SYMFLOAT:
        return is_real ? NULL : "write a number";
    case TN__TYPE_BOOL:
    case TN__TYPE_SYMBOOL:
        return v->kind == TN__VALUE_BOOL ? NULL : "write True or False";
    case TN__TYPE_COMPLEX:
        return is_real || v->kind == TN__VALUE_COMPLEX ? NULL : "write a number";
    case TN__TYPE_SCALAR:
        return is_real || v->kind == TN__VALUE_COMPLEX || v->kind == TN__VALUE_BOOL
                   ? NULL
                   : "write a number";
    case TN__TYPE_STR:
    case TN__TYPE_DIMNAME:
        return v->kind == TN__VALUE_STR ? NULL : "write a string in quotes";
    case TN__TYPE_DEVICE:
        return v->kind == TN__VALUE_STR ? NULL : "write a device in quotes, e.g. \"cpu\"";
    case TN__TYPE_SCALARTYPE:
        return is_int || is_named(v, dtypes) ? NULL : "write a dtype, e.g. long";
    case TN__TYPE_LAYOUT:
        return is_int || is_named(v, layouts) ? NULL : "write a layout, e.g. strided";
    case TN__TYPE_MEMORYFORMAT:
        return is_int || is_named(v, formats) ? NULL
                                              : "write a memory format, e.g. contiguous_format";
    case TN__TYPE_NONE:
        return v->kind == TN__VALUE_NONE ? NULL : "write None";
    case TN__TYPE_ANY:
    case TN__TYPE_VAR:
        return NULL;
    default:
        return "only an optional (with '?') of this type can have a default, None";
    }
}

static const char *misfit(const tn__type *t, const tn__value *v);

/* A list's default is a list; one value for all elements is allowed where the size is known. A list
 * of size 1 is ATen's way to say "or one value", so it takes any length; an empty list means "not
 * given". */
static const char *list_misfit(const tn__type *t, const tn__value *v)
{
    if (v->kind != TN__VALUE_LIST) {
        if (t->list_size < 0)
            return "write a list, e.g. [0], or give the type a size, e.g. int[2]";
        return misfit(t->elem, v);
    }
    if (t->list_size > 1 && v->n_items > 0 && v->n_items != t->list_size)
        return "write as many elements as the type's size says, or one value for all";
    const char *want = NULL;
    for (int i = 0; i < v->n_items && !want; i++)
        want = misfit(t->elem, &v->items[i]);
    return want;
}

/* NULL when the value fits, otherwise what to write instead. */
static const char *misfit(const tn__type *t, const tn__value *v)
{
    if (t->kind == TN__TYPE_OPTIONAL)
        return v->kind == TN__VALUE_NONE ? NULL : misfit(t->elem, v);
    if (t->kind == TN__TYPE_LIST)
        return list_misfit(t, v);
    return scalar_misfit(t->kind, v);
}

static bool check_names(tn__lex *x, const tn__arg *list, int n, const char *what)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; list[i].name && j < i; j++)
            if (list[j].name && strcmp(list[i].name, list[j].name) == 0)
                return tn__lex_fail(x, (size_t)list[i].name_column - 1,
                                    "%s '%.60s' stands twice (%d and %d); give each its own name",
                                    what, list[i].name, j + 1, i + 1);
    return true;
}

static bool check_order(tn__lex *x, const tn__schema *s)
{
    const tn__arg *defaulted = NULL;
    for (int i = 0; i < s->n_positional; i++) {
        if (s->args[i].def)
            defaulted = &s->args[i];
        else if (defaulted)
            return tn__lex_fail(
                x, (size_t)s->args[i].column - 1,
                "non-default argument '%.60s' follows default argument '%.60s'; give it a "
                "default, or move it before '%.60s' or behind '*'",
                s->args[i].name, defaulted->name, defaulted->name);
    }
    return true;
}

bool tn__schema_strict(tn__lex *x, const tn__schema *s)
{
    if (!check_names(x, s->args, s->n_args, "argument") ||
        !check_names(x, s->rets, s->n_rets, "return") || !check_order(x, s))
        return false;
    for (int i = 0; i < s->n_args; i++) {
        const char *want = s->args[i].def ? misfit(s->args[i].type, s->args[i].def) : NULL;
        if (want)
            return fail(x, &s->args[i], want);
    }
    return true;
}

/* types.c - the names of types, and questions about types, values and schemas.
 *
 * The table below is the only place where a type's spelling stands: the parser reads it, messages
 * suggest from it. A name that is not in it is a class, a type variable or a mistake (parse_type.c
 * decides). */
#include "schema_impl.h"

#include <string.h>

static const struct {
    const char *name;
    tn__type_kind kind;
} names[] = {
    {"Tensor", TN__TYPE_TENSOR},
    {"int", TN__TYPE_INT},
    {"SymInt", TN__TYPE_SYMINT},
    {"float", TN__TYPE_FLOAT},
    {"SymFloat", TN__TYPE_SYMFLOAT},
    {"bool", TN__TYPE_BOOL},
    {"SymBool", TN__TYPE_SYMBOOL},
    {"complex", TN__TYPE_COMPLEX},
    {"str", TN__TYPE_STR},
    {"Scalar", TN__TYPE_SCALAR},
    {"number", TN__TYPE_SCALAR},
    {"ScalarType", TN__TYPE_SCALARTYPE},
    {"Device", TN__TYPE_DEVICE},
    {"DeviceIndex", TN__TYPE_DEVICEINDEX},
    {"Layout", TN__TYPE_LAYOUT},
    {"MemoryFormat", TN__TYPE_MEMORYFORMAT},
    {"Generator", TN__TYPE_GENERATOR},
    {"Dimname", TN__TYPE_DIMNAME},
    {"Storage", TN__TYPE_STORAGE},
    {"Stream", TN__TYPE_STREAM},
    {"QScheme", TN__TYPE_QSCHEME},
    {"NoneType", TN__TYPE_NONE},
    {"None", TN__TYPE_NONE},
    {"Any", TN__TYPE_ANY},
    {"AnyClassType", TN__TYPE_ANY},
    {"AnyEnumType", TN__TYPE_ANY},
    {"AnyListType", TN__TYPE_ANY},
    {"AnyTupleType", TN__TYPE_ANY},
    {"Capsule", TN__TYPE_CLASS},
    {"Quantizer", TN__TYPE_CLASS},
    {"ConstQuantizerPtr", TN__TYPE_CLASS},
    {"DimVector", TN__TYPE_CLASS},
    {"GraphModule", TN__TYPE_CLASS},
    {"PyObject", TN__TYPE_CLASS},
};
enum { N_NAMES = sizeof names / sizeof names[0] };

static const char *const generics[] = {"Dict", "Future", "RRef", "Await", "Union"};

bool tn__type_known(const char *name, size_t n, tn__type_kind *kind, const char **spelling)
{
    for (int i = 0; i < N_NAMES; i++) {
        if (strncmp(names[i].name, name, n) == 0 && names[i].name[n] == '\0') {
            *kind = names[i].kind;
            *spelling = names[i].name;
            return true;
        }
    }
    return false;
}

const char *tn__type_kind_name(tn__type_kind kind)
{
    static const char *const compound[] = {"variable", "class",  "optional", "list",
                                           "dict",     "future", "tuple",    "union"};
    if (kind >= TN__TYPE_VAR)
        return compound[kind - TN__TYPE_VAR];
    for (int i = 0; i < N_NAMES; i++)
        if (names[i].kind == kind)
            return names[i].name;
    return "?";
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Edit distance, case ignored, of a short word to a known name; both under 24 characters. */
static int distance(const char *a, size_t na, const char *b, size_t nb)
{
    int row[25];
    for (size_t j = 0; j <= nb; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int best = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[nb];
}

static void consider(const char *name, size_t n, const char *known, int *best, const char **nearest)
{
    int d = distance(name, n, known, strlen(known));
    if (d < *best) {
        *best = d;
        *nearest = known;
    }
}

const char *tn__type_nearest(const char *name, size_t n)
{
    static const struct {
        const char *from, *to;
    } habits[] = {{"double", "float"},        {"long", "int"},   {"int64_t", "int"},
                  {"IntList", "int[]"},       {"string", "str"}, {"dtype", "ScalarType"},
                  {"TensorList", "Tensor[]"}, {"void", "()"},    {"IntArrayRef", "int[]"},
                  {"object", "Any"}};
    for (size_t i = 0; i < sizeof habits / sizeof habits[0]; i++)
        if (strlen(habits[i].from) == n && memcmp(habits[i].from, name, n) == 0)
            return habits[i].to;
    if (n > 20)
        return NULL;
    int best = n <= 3 ? 2 : 3;
    const char *nearest = NULL;
    for (int i = 0; i < N_NAMES; i++)
        consider(name, n, names[i].name, &best, &nearest);
    for (size_t i = 0; i < sizeof generics / sizeof generics[0]; i++)
        consider(name, n, generics[i], &best, &nearest);
    return nearest;
}

bool tn__type_is_variable_name(const char *name, size_t n)
{
    if (n == 0 || name[0] != 't')
        return false;
    if (n > 1 && name[1] >= 'A' && name[1] <= 'Z')
        return true;
    for (size_t i = 1; i < n; i++)
        if (name[i] < '0' || name[i] > '9')
            return false;
    return true;
}

static bool same_name(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool tn__type_equal(const tn__type *a, const tn__type *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->kind != b->kind || a->list_size != b->list_size ||
        a->n_members != b->n_members)
        return false;
    if ((a->kind == TN__TYPE_ANY || a->kind == TN__TYPE_VAR || a->kind == TN__TYPE_CLASS ||
         a->kind == TN__TYPE_FUTURE) &&
        !same_name(a->name, b->name))
        return false;
    for (int i = 0; i < a->n_members; i++)
        if (!tn__type_equal(a->members[i], b->members[i]))
            return false;
    return tn__type_equal(a->elem, b->elem) && tn__type_equal(a->key, b->key);
}

bool tn__value_equal(const tn__value *a, const tn__value *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->kind != b->kind || a->n_items != b->n_items)
        return false;
    switch (a->kind) {
    case TN__VALUE_NONE:
        return true;
    case TN__VALUE_BOOL:
    case TN__VALUE_INT:
        return a->i == b->i;
    case TN__VALUE_FLOAT:
        return a->re == b->re;
    case TN__VALUE_COMPLEX:
        return a->re == b->re && a->im == b->im;
    case TN__VALUE_STR:
    case TN__VALUE_IDENT:
        return same_name(a->text, b->text);
    case TN__VALUE_LIST:
        break;
    }
    for (int i = 0; i < a->n_items; i++)
        if (!tn__value_equal(&a->items[i], &b->items[i]))
            return false;
    return true;
}

/* The numbers are ATen's, which stored programs contain. */
bool tn__value_named_int(const char *name, int64_t *out)
{
    static const struct {
        const char *name;
        int64_t value;
    } constants[] = {
        {"Mean", 1},
        {"Sum", 2},
        {"contiguous_format", 0},
        {"preserve_format", 1},
        {"strided", 0},
        {"sparse", 1},
        {"uint8", 0},
        {"byte", 0},
        {"int8", 1},
        {"char", 1},
        {"int16", 2},
        {"short", 2},
        {"int32", 3},
        {"int", 3},
        {"int64", 4},
        {"long", 4},
        {"float16", 5},
        {"half", 5},
        {"float32", 6},
        {"float", 6},
        {"float64", 7},
        {"double", 7},
        {"complex64", 9},
        {"cfloat", 9},
        {"complex128", 10},
        {"cdouble", 10},
        {"bool", 11},
        {"bfloat16", 15},
        {"channels_last", 2},
        {"channels_last_3d", 3},
    };
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        if (strcmp(constants[i].name, name) == 0) {
            *out = constants[i].value;
            return true;
        }
    }
    return false;
}

const tn__alias *tn__type_alias(const tn__type *t)
{
    const tn__alias *found = NULL;
    while (t) {
        if (t->alias)
            found = t->alias;
        t = t->kind == TN__TYPE_OPTIONAL || t->kind == TN__TYPE_LIST ? t->elem : NULL;
    }
    return found;
}

static bool is_written(const tn__arg *arg)
{
    const tn__alias *alias = tn__type_alias(arg->type);
    return alias && alias->is_write;
}

/* add_, but not __and__; __iand__ as Python names the in-place form of an operator sign. */
static bool has_inplace_name(const char *name)
{
    static const char *const augmented[] = {"add",    "sub",    "mul", "div", "mod", "pow",
                                            "lshift", "rshift", "and", "xor", "or"};
    size_t n = strlen(name);
    if (n < 5 || strncmp(name, "__", 2) != 0 || strcmp(name + n - 2, "__") != 0)
        return n > 1 && name[n - 1] == '_';
    for (size_t i = 0; i < sizeof augmented / sizeof augmented[0]; i++)
        if (name[2] == 'i' && n == strlen(augmented[i]) + 5 &&
            strncmp(name + 3, augmented[i], n - 5) == 0)
            return true;
    return false;
}

tn__schema_kind tn__schema_kind_of(const tn__schema *s)
{
    if (has_inplace_name(s->name) && s->n_args > 0 && !s->args[0].kwonly && is_written(&s->args[0]))
        return TN__SCHEMA_INPLACE;
    for (int i = 0; i < s->n_args; i++)
        if (s->args[i].is_out)
            return TN__SCHEMA_OUT;
    return tn__schema_is_mutable(s) ? TN__SCHEMA_MUTABLE : TN__SCHEMA_FUNCTIONAL;
}

bool tn__schema_is_mutable(const tn__schema *s)
{
    for (int i = 0; i < s->n_args; i++)
        if (is_written(&s->args[i]))
            return true;
    return false;
}

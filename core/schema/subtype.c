/* subtype.c - which type holds the values of which other, and when two defaults or annotations are
 * the same.
 *
 * The questions behind every compatibility rule, as PyTorch answers them: T is part of T?, every
 * type of Any, int, float and complex of Scalar; lists and dicts are invariant, tuples and futures
 * are not. */
#include "compat_impl.h"

#include <string.h>

/* ---- types ----------------------------------------------------------------------------------- */

static tn__type_kind merged(const tn__type *t)
{
    switch (t->kind) {
    case TN__TYPE_SYMINT:
    case TN__TYPE_SCALARTYPE:
    case TN__TYPE_LAYOUT:
    case TN__TYPE_MEMORYFORMAT:
    case TN__TYPE_DEVICEINDEX:
        return TN__TYPE_INT;
    case TN__TYPE_DIMNAME:
        return TN__TYPE_STR;
    case TN__TYPE_CLASS:
        return strcmp(t->name, "ConstQuantizerPtr") ? TN__TYPE_CLASS : TN__TYPE_INT;
    case TN__TYPE_SCALAR: /* PyTorch prints "number", but reads it as a type variable */
        return strcmp(t->name, "number") ? TN__TYPE_SCALAR : TN__TYPE_VAR;
    default:
        return t->kind;
    }
}

/* Without merging, only DeviceIndex is int: it is one in every binding and in the frame. */
static tn__type_kind kind_of(const tn__type *t, bool merge)
{
    if (merge)
        return merged(t);
    return t->kind == TN__TYPE_DEVICEINDEX ? TN__TYPE_INT : t->kind;
}

/* T?? is T?. */
static const tn__type *flat(const tn__type *t)
{
    while (t->kind == TN__TYPE_OPTIONAL && t->elem->kind == TN__TYPE_OPTIONAL)
        t = t->elem;
    return t;
}

static bool same(const tn__type *a, const tn__type *b, bool merge)
{
    if (a == b)
        return true;
    if (!a || !b)
        return false;
    a = flat(a);
    b = flat(b);
    tn__type_kind ka = kind_of(a, merge), kb = kind_of(b, merge);
    if (ka != kb || a->n_members != b->n_members)
        return false;
    bool named = ka == TN__TYPE_ANY || (ka == TN__TYPE_VAR && !merge) || ka == TN__TYPE_CLASS ||
                 ka == TN__TYPE_FUTURE;
    if (named && strcmp(a->name, b->name) != 0)
        return false;
    for (int i = 0; i < a->n_members; i++)
        if (!same(a->members[i], b->members[i], merge))
            return false;
    return same(a->elem, b->elem, merge) && same(a->key, b->key, merge);
}

static bool in_any(const tn__type *a, const tn__type *b)
{
    if (strcmp(b->name, "Any") == 0)
        return true;
    return (strcmp(b->name, "AnyListType") == 0 && a->kind == TN__TYPE_LIST) ||
           (strcmp(b->name, "AnyTupleType") == 0 && a->kind == TN__TYPE_TUPLE) ||
           (strcmp(b->name, "AnyClassType") == 0 && a->kind == TN__TYPE_CLASS &&
            strchr(a->name, '.')); /* Capsule and its kin are no classes */
}

/* int in SymInt and its kin: only when they are told apart at all. */
static bool in_symbolic(const tn__type *a, const tn__type *b)
{
    return (a->kind == TN__TYPE_INT && b->kind == TN__TYPE_SYMINT) ||
           (a->kind == TN__TYPE_FLOAT && b->kind == TN__TYPE_SYMFLOAT) ||
           (a->kind == TN__TYPE_BOOL && b->kind == TN__TYPE_SYMBOOL);
}

/* ---- unions: T? is the union of T and None --------------------------------------------------- */

static bool takes_none(const tn__type *t)
{
    if (t->kind == TN__TYPE_OPTIONAL || t->kind == TN__TYPE_NONE)
        return true;
    if (t->kind == TN__TYPE_ANY)
        return strcmp(t->name, "Any") == 0;
    for (int i = 0; t->kind == TN__TYPE_UNION && i < t->n_members; i++)
        if (takes_none(t->members[i]))
            return true;
    return false;
}

static bool all_members_in(const tn__type *a, const tn__type *b, bool merge)
{
    for (int i = 0; i < a->n_members; i++)
        if (!tn__compat_subtype(a->members[i], b, merge))
            return false;
    return true;
}

/* Is a, which is no union itself, in a member? A Scalar is in what takes all of its kinds. */
static bool in_some_member(const tn__type *a, const tn__type *b, bool merge)
{
    static const tn__type kinds[] = {
        {.kind = TN__TYPE_INT}, {.kind = TN__TYPE_FLOAT}, {.kind = TN__TYPE_COMPLEX}};
    for (int i = 0; i < b->n_members; i++)
        if (tn__compat_subtype(a, b->members[i], merge))
            return true;
    if (kind_of(a, merge) != TN__TYPE_SCALAR)
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (!in_some_member(&kinds[i], b, merge))
            return false;
    return true;
}

static bool tuple_in(const tn__type *a, const tn__type *b, bool merge)
{
    if (a->n_members != b->n_members)
        return false;
    for (int i = 0; i < a->n_members; i++)
        if (!tn__compat_subtype(a->members[i], b->members[i], merge))
            return false;
    return true;
}

/* int[] in SymInt[]: a list of a symbolic type takes a list of plain ones. */
static bool list_in(const tn__type *a, const tn__type *b)
{
    return in_symbolic(a->elem, b->elem) ||
           (a->elem->kind == TN__TYPE_OPTIONAL && b->elem->kind == TN__TYPE_OPTIONAL &&
            in_symbolic(a->elem->elem, b->elem->elem));
}

bool tn__compat_subtype(const tn__type *a, const tn__type *b, bool merge)
{
    tn__type_kind ka = kind_of(a, merge), kb = kind_of(b, merge);
    if (same(a, b, merge) || (!merge && in_symbolic(a, b)))
        return true;
    if (a->kind == TN__TYPE_UNION)
        return all_members_in(a, b, merge);
    if (b->kind == TN__TYPE_ANY)
        return in_any(a, b);
    if (a->kind == TN__TYPE_OPTIONAL)
        return takes_none(b) && tn__compat_subtype(a->elem, b, merge);
    if (b->kind == TN__TYPE_OPTIONAL)
        return a->kind == TN__TYPE_NONE || tn__compat_subtype(a, b->elem, merge);
    if (b->kind == TN__TYPE_UNION)
        return in_some_member(a, b, merge);
    if (kb == TN__TYPE_SCALAR)
        return ka == TN__TYPE_INT || ka == TN__TYPE_FLOAT || ka == TN__TYPE_COMPLEX;
    if (a->kind != b->kind)
        return false;
    if (a->kind == TN__TYPE_TUPLE)
        return tuple_in(a, b, merge);
    if (a->kind == TN__TYPE_FUTURE)
        return strcmp(a->name, b->name) == 0 && strcmp(a->name, "RRef") != 0 &&
               tn__compat_subtype(a->elem, b->elem, merge);
    return a->kind == TN__TYPE_LIST && !merge && list_in(a, b);
}

int64_t tn__compat_list_size(const tn__type *t)
{
    while (t->kind == TN__TYPE_OPTIONAL)
        t = t->elem;
    return t->kind == TN__TYPE_LIST ? t->list_size : -1;
}

/* ---- annotations ----------------------------------------------------------------------------- */

/* Is every set of a in b? A wildcard swallows what is written after it. */
static bool sets_in(const char *a, const char *b)
{
    while (*a) {
        size_t n = strcspn(a, "|");
        const char *p = b;
        while (*p && !(strcspn(p, "|") == n && memcmp(p, a, n) == 0)) {
            if (*p == '*')
                return false;
            p += strcspn(p, "|");
            p += *p == '|';
        }
        if (!*p)
            return false;
        if (*a == '*')
            return true;
        a += n;
        a += *a == '|';
    }
    return true;
}

static bool sets_equal(const char *a, const char *b)
{
    return sets_in(a, b) && sets_in(b, a);
}

static bool one_alias_equal(const tn__alias *a, const tn__alias *b)
{
    if (!a || !b)
        return a == b;
    return a->is_write == b->is_write && a->bare == b->bare && sets_equal(a->before, b->before) &&
           sets_equal(a->after ? a->after : a->before, b->after ? b->after : b->before);
}

bool tn__compat_alias_equal(const tn__type *a, const tn__type *b)
{
    while (a && a->kind == TN__TYPE_OPTIONAL)
        a = a->elem;
    while (b && b->kind == TN__TYPE_OPTIONAL)
        b = b->elem;
    if (!a || !b)
        return !tn__type_alias(a ? a : b);
    if (!one_alias_equal(a->alias, b->alias))
        return false;
    if (a->kind != TN__TYPE_LIST && b->kind != TN__TYPE_LIST)
        return true;
    return tn__compat_alias_equal(a->kind == TN__TYPE_LIST ? a->elem : NULL,
                                  b->kind == TN__TYPE_LIST ? b->elem : NULL);
}

/* ---- defaults -------------------------------------------------------------------------------- */

/* A default under its type: names are numbers, and an int is a float where the type is float. Not
 * so a name, nor anything under float?: PyTorch keeps those as they are written. */
static tn__value evaluated(const tn__type *t, const tn__value *v)
{
    tn__value r = *v;
    if (r.kind == TN__VALUE_IDENT && tn__value_named_int(r.text, &r.i)) {
        r.kind = TN__VALUE_INT;
    } else if (r.kind == TN__VALUE_INT && t->kind == TN__TYPE_FLOAT) {
        r.kind = TN__VALUE_FLOAT;
        r.re = (double)r.i;
    }
    return r;
}

/* int[2]=0 is a list; int[2]?=0 is as it is written. */
static bool is_list(const tn__type *t, const tn__value *v)
{
    return v->kind == TN__VALUE_LIST || (t->kind == TN__TYPE_LIST && v->kind != TN__VALUE_NONE);
}

static bool value_equal(const tn__type *ta, const tn__value *a, const tn__type *tb,
                        const tn__value *b);

/* Both are lists; a value that is not written as one stands for all of its type's N elements. */
static bool list_equal(const tn__type *ta, const tn__value *a, const tn__type *tb,
                       const tn__value *b)
{
    int64_t na = a->kind == TN__VALUE_LIST ? a->n_items : ta->list_size;
    int64_t nb = b->kind == TN__VALUE_LIST ? b->n_items : tb->list_size;
    bool broadcast = a->kind != TN__VALUE_LIST && b->kind != TN__VALUE_LIST;
    const tn__type *ea = ta->kind == TN__TYPE_LIST ? ta->elem : ta;
    const tn__type *eb = tb->kind == TN__TYPE_LIST ? tb->elem : tb;
    if (na != nb)
        return false;
    for (int64_t i = 0; i < (broadcast ? 1 : na); i++) {
        const tn__value *ia = a->kind == TN__VALUE_LIST ? &a->items[i] : a;
        const tn__value *ib = b->kind == TN__VALUE_LIST ? &b->items[i] : b;
        if (!value_equal(ea, ia, eb, ib))
            return false;
    }
    return true;
}

static bool value_equal(const tn__type *ta, const tn__value *a, const tn__type *tb,
                        const tn__value *b)
{
    if (is_list(ta, a) != is_list(tb, b))
        return false;
    if (is_list(ta, a))
        return list_equal(ta, a, tb, b);
    if (a->kind == TN__VALUE_STR && (ta->kind == TN__TYPE_DEVICE) != (tb->kind == TN__TYPE_DEVICE))
        return false; /* a device under Device, a string under Device? */
    tn__value va = evaluated(ta, a), vb = evaluated(tb, b);
    return tn__value_equal(&va, &vb);
}

bool tn__compat_default_equal(const tn__arg *a, const tn__arg *b)
{
    if (!a->def || !b->def)
        return !a->def && !b->def;
    return value_equal(a->type, a->def, b->type, b->def);
}

/* parse_type.c - types and alias annotations: Tensor(a!)[], int[2]?, Dict(str, t), ((Tensor, t)[]).
 *
 * A type is an atom followed by any number of suffixes ([], [N], ?). An alias annotation follows an
 * atom or a list and belongs to exactly that part: t[](a!) annotates the list, Tensor(a!)[] its
 * elements. */
#include "schema_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static tn__type *new_type(tn__lex *x, tn__type_kind kind)
{
    tn__type *t = tn__arena_alloc(x->arena, sizeof *t);
    if (!t) {
        tn__lex_no_memory(x);
        return NULL;
    }
    t->kind = kind;
    t->list_size = -1;
    return t;
}

/* a|b|*, kept as one string without blanks. May be empty when a '!' follows: "(!)". */
static const char *parse_sets(tn__lex *x, bool may_be_empty)
{
    char sets[TN__SCHEMA_MAX_NAME + 1];
    size_t k = 0;
    if (may_be_empty && x->tok == '!')
        return "";
    do {
        size_t len = x->end - x->start;
        if (x->tok != TN__TOK_IDENT && x->tok != '*') {
            tn__lex_unexpected(x, "an alias set",
                               "write a letter or '*', e.g. (a), (a!), (a|b), (a -> *)");
            return NULL;
        }
        if (k + len + 1 > sizeof sets - 1) {
            tn__lex_fail(x, x->start,
                         "the alias annotation has more than %zu characters; write e.g. (a|b)",
                         sizeof sets - 1);
            return NULL;
        }
        if (k)
            sets[k++] = '|';
        memcpy(sets + k, x->text + x->start, len);
        k += len;
        tn__lex_next(x);
    } while (tn__lex_accept(x, '|'));
    const char *kept = x->failed ? NULL : tn__arena_strndup(x->arena, sets, k);
    if (!kept)
        tn__lex_no_memory(x);
    return kept;
}

/* Reads an annotation if one stands here. *alias stays NULL when none does. */
static bool parse_alias(tn__lex *x, const tn__alias **alias)
{
    *alias = NULL;
    if (x->failed || (x->tok != '(' && x->tok != '!'))
        return !x->failed;
    tn__alias *a = tn__arena_alloc(x->arena, sizeof *a);
    if (!a)
        return tn__lex_no_memory(x);
    if (tn__lex_accept(x, '!')) {
        a->before = "";
        a->is_write = a->bare = true;
        *alias = a;
        return !x->failed;
    }
    tn__lex_next(x);
    a->before = parse_sets(x, true);
    a->is_write = a->before && tn__lex_accept(x, '!');
    if (a->before && tn__lex_accept(x, TN__TOK_ARROW))
        a->after = parse_sets(x, false);
    if (x->failed)
        return false;
    if (x->tok != ')')
        return tn__lex_unexpected(x, "')' to close the alias annotation",
                                  "write it as (a), (a!), (a|b) or (a -> *)");
    tn__lex_next(x);
    *alias = a;
    return !x->failed;
}

static bool parse_members(tn__lex *x, tn__type *t, int close)
{
    const tn__type **members = NULL;
    int cap = 0;
    if (tn__lex_accept(x, close))
        return true;
    do {
        members = tn__vec_grow(x->arena, members, t->n_members, &cap, sizeof *members);
        if (!members)
            return tn__lex_no_memory(x);
        members[t->n_members] = tn__parse_type(x);
        if (!members[t->n_members])
            return false;
        t->n_members++;
        t->members = members;
    } while (tn__lex_accept(x, ','));
    if (x->failed)
        return false;
    if (x->tok != close)
        return tn__lex_unexpected(
            x, close == ')' ? "',' or ')' in the list of types" : "',' or ']' in the list of types",
            "separate types by ', ' and close the list");
    tn__lex_next(x);
    return !x->failed;
}

/* Dict(K, V), Future(T), RRef(T), Await(T): the atoms with arguments. */
static tn__type *parse_generic(tn__lex *x, const char *name, int n_params)
{
    tn__type *t = new_type(x, n_params == 2 ? TN__TYPE_DICT : TN__TYPE_FUTURE);
    if (!t)
        return NULL;
    t->name = name;
    tn__lex_next(x);
    if (!tn__lex_accept(x, '(')) {
        tn__lex_unexpected(x, "'(' and the element types",
                           n_params == 2 ? "write Dict(str, Tensor)" : "write e.g. Future(Tensor)");
        return NULL;
    }
    tn__type inner = {0};
    if (!parse_members(x, &inner, ')'))
        return NULL;
    if (inner.n_members != n_params) {
        tn__lex_fail(x, x->last_end - 1, "%s takes %d type%s, got %d; write %s", name, n_params,
                     n_params == 1 ? "" : "s", inner.n_members,
                     n_params == 2 ? "Dict(str, Tensor)" : "e.g. Future(Tensor)");
        return NULL;
    }
    t->elem = inner.members[n_params - 1];
    t->key = n_params == 2 ? inner.members[0] : NULL;
    return t;
}

static tn__type *parse_union(tn__lex *x)
{
    tn__type *t = new_type(x, TN__TYPE_UNION);
    if (!t)
        return NULL;
    tn__lex_next(x);
    bool square = x->tok == '[';
    if (!square && x->tok != '(') {
        tn__lex_unexpected(x, "'[' and the members of the union", "write Union[int, str]");
        return NULL;
    }
    t->name = square ? "Union[" : "Union(";
    tn__lex_next(x);
    return parse_members(x, t, square ? ']' : ')') ? t : NULL;
}

/* A dotted name, without blanks. The first part has been read. */
static tn__type *parse_class(tn__lex *x, size_t start)
{
    while (x->start == x->last_end && tn__lex_accept(x, '.')) {
        if (x->tok != TN__TOK_IDENT || x->start != x->last_end) {
            tn__lex_unexpected(x, "a name after '.' in the class name",
                               "write e.g. __torch__.torch.classes.ns.Name");
            return NULL;
        }
        tn__lex_next(x);
    }
    if (!x->failed && x->last_end - start > TN__SCHEMA_MAX_NAME)
        tn__lex_fail(x, start, "the class name has %zu characters; at most %d are allowed",
                     x->last_end - start, TN__SCHEMA_MAX_NAME);
    tn__type *t = x->failed ? NULL : new_type(x, TN__TYPE_CLASS);
    if (t)
        t->name = tn__lex_copy(x, start, x->last_end);
    return t && t->name ? t : NULL;
}

static void fail_unknown(tn__lex *x, size_t start, size_t len)
{
    static const char *const others[][2] = {
        {"List", "int[]"}, {"Optional", "int?"}, {"string", "str"}, {"double", "float"}};
    const char *near = tn__type_nearest(x->text + start, len);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strlen(others[i][0]) == len && memcmp(others[i][0], x->text + start, len) == 0)
            near = others[i][1];
    int shown = (int)(len > 60 ? 60 : len);
    if (near)
        tn__lex_fail(x, start, "unknown type '%.*s'; did you mean '%s'?", shown, x->text + start,
                     near);
    else
        tn__lex_fail(
            x, start,
            "unknown type '%.*s'; use Tensor, int, float, bool, str, Scalar or another ATen type, "
            "or a class by its full name __torch__.torch.classes.ns.Name",
            shown, x->text + start);
}

/* A lower-case name that is no type is a type variable, as in PyTorch; of a new schema only t, t1,
 * tVal. */
static tn__type *parse_named(tn__lex *x)
{
    size_t start = x->start, len = x->end - x->start;
    tn__type_kind kind = TN__TYPE_VAR;
    const char *spelling = NULL;
    bool known = tn__type_known(x->text + start, len, &kind, &spelling);
    tn__lex_next(x);
    if (!known && x->tok == '.')
        return parse_class(x, start);
    char first = x->text[start];
    bool variable = first >= 'a' && first <= 'z';
    if (variable && x->strict)
        variable = tn__type_is_variable_name(x->text + start, len);
    if (x->failed)
        return NULL;
    if (!known && !variable) {
        fail_unknown(x, start, len);
        return NULL;
    }
    tn__type *t = new_type(x, kind);
    if (t)
        t->name = known ? spelling : tn__lex_copy(x, start, start + len);
    return t && t->name ? t : NULL;
}

static tn__type *parse_atom(tn__lex *x)
{
    if (tn__lex_accept(x, '(')) {
        tn__type *t = new_type(x, TN__TYPE_TUPLE);
        return t && parse_members(x, t, ')') ? t : NULL;
    }
    if (x->failed)
        return NULL;
    if (x->tok != TN__TOK_IDENT) {
        tn__lex_unexpected(x, "a type", "write e.g. 'Tensor self' or 'int dim=0'");
        return NULL;
    }
    if (tn__lex_is(x, "Dict"))
        return parse_generic(x, "Dict", 2);
    if (tn__lex_is(x, "Future"))
        return parse_generic(x, "Future", 1);
    if (tn__lex_is(x, "RRef"))
        return parse_generic(x, "RRef", 1);
    if (tn__lex_is(x, "Await"))
        return parse_generic(x, "Await", 1);
    if (tn__lex_is(x, "Union"))
        return parse_union(x);
    return parse_named(x);
}

static bool parse_size(tn__lex *x, int64_t *size)
{
    char digits[24];
    size_t len = x->end - x->start;
    if (x->tok != TN__TOK_NUMBER || len >= sizeof digits)
        return tn__lex_unexpected(x, "']' or a list size", "write e.g. int[] or int[2]");
    memcpy(digits, x->text + x->start, len);
    digits[len] = '\0';
    if (digits[strspn(digits, "0123456789")] != '\0')
        return tn__lex_unexpected(x, "a whole number as list size", "write e.g. int[2]");
    errno = 0;
    *size = strtoll(digits, NULL, 10);
    if (errno || *size > INT32_MAX)
        return tn__lex_fail(x, x->start, "the list size %s is too large; at most %d", digits,
                            INT32_MAX);
    tn__lex_next(x);
    return !x->failed;
}

static tn__type *wrap(tn__lex *x, tn__type_kind kind, const tn__type *elem)
{
    if (++x->depth > TN__SCHEMA_MAX_DEPTH) {
        tn__lex_fail(x, x->last_end - 1, "the type is nested more than %d deep; simplify it",
                     TN__SCHEMA_MAX_DEPTH);
        return NULL;
    }
    tn__type *t = new_type(x, kind);
    if (t)
        t->elem = elem;
    return t;
}

static tn__type *parse_suffixes(tn__lex *x, tn__type *t)
{
    while (t && !x->failed) {
        if (tn__lex_accept(x, '?')) {
            t = wrap(x, TN__TYPE_OPTIONAL, t);
        } else if (tn__lex_accept(x, '[')) {
            t = wrap(x, TN__TYPE_LIST, t);
            if (!t || (x->tok != ']' && !parse_size(x, &t->list_size)))
                return NULL;
            if (!tn__lex_accept(x, ']')) {
                tn__lex_unexpected(x, "']' after the list size", "write e.g. int[2]");
                return NULL;
            }
            if (!parse_alias(x, &t->alias))
                return NULL;
        } else {
            return t;
        }
    }
    return NULL;
}

const tn__type *tn__parse_type(tn__lex *x)
{
    int depth = x->depth;
    if (++x->depth > TN__SCHEMA_MAX_DEPTH) {
        tn__lex_fail(x, x->start, "the type is nested more than %d deep; simplify it",
                     TN__SCHEMA_MAX_DEPTH);
        return NULL;
    }
    tn__type *t = parse_atom(x);
    if (!t || !parse_alias(x, &t->alias))
        return NULL;
    t = parse_suffixes(x, t);
    x->depth = depth;
    return t;
}

/* print.c - a schema, a type or a default back to text, in PyTorch's spelling.
 *
 * Printing is the inverse of parsing: blanks are canonical, all else is as it was read. Like
 * snprintf every function returns the length of the whole text, so that a caller can measure with
 * cap = 0. */
#include "schema.h"

#include <string.h>

typedef struct sink {
    char *buf;
    size_t cap, len;
} sink;

static void put(sink *k, const char *s)
{
    size_t n = strlen(s);
    if (k->len < k->cap) {
        size_t room = k->cap - k->len;
        memcpy(k->buf + k->len, s, n < room ? n : room);
    }
    k->len += n;
}

static size_t finish(sink *k)
{
    if (k->cap)
        k->buf[k->len < k->cap ? k->len : k->cap - 1] = '\0';
    return k->len;
}

static void put_alias(sink *k, const tn__alias *a)
{
    if (!a)
        return;
    if (a->bare) {
        put(k, "!");
        return;
    }
    put(k, "(");
    put(k, a->before);
    if (a->is_write)
        put(k, "!");
    if (a->after) {
        put(k, " -> ");
        put(k, a->after);
    }
    put(k, ")");
}

static void put_type(sink *k, const tn__type *t);

static void put_members(sink *k, const tn__type *t)
{
    for (int i = 0; i < t->n_members; i++) {
        if (i)
            put(k, ", ");
        put_type(k, t->members[i]);
    }
}

static void put_list(sink *k, const tn__type *t)
{
    char size[32] = "[]";
    if (t->list_size >= 0)
        snprintf(size, sizeof size, "[%lld]", (long long)t->list_size);
    put_type(k, t->elem);
    put(k, size);
}

static void put_type(sink *k, const tn__type *t)
{
    switch (t->kind) {
    case TN__TYPE_OPTIONAL:
        put_type(k, t->elem);
        put(k, "?");
        break;
    case TN__TYPE_LIST:
        put_list(k, t);
        break;
    case TN__TYPE_DICT:
    case TN__TYPE_FUTURE:
        put(k, t->name);
        put(k, "(");
        if (t->key) {
            put_type(k, t->key);
            put(k, ", ");
        }
        put_type(k, t->elem);
        put(k, ")");
        break;
    case TN__TYPE_TUPLE:
        put(k, "(");
        put_members(k, t);
        put(k, ")");
        break;
    case TN__TYPE_UNION:
        put(k, t->name);
        put_members(k, t);
        put(k, strchr(t->name, '[') ? "]" : ")");
        break;
    default:
        put(k, t->name);
    }
    put_alias(k, t->alias);
}

static void put_arg(sink *k, const tn__arg *arg)
{
    put_type(k, arg->type);
    if (arg->name) {
        put(k, " ");
        put(k, arg->name);
    }
    if (arg->def) {
        put(k, "=");
        put(k, arg->def->source);
    }
}

static void put_args(sink *k, const tn__schema *s)
{
    const char *comma = "";
    for (int i = 0; i < s->n_args; i++) {
        put(k, comma);
        if (i == s->n_positional)
            put(k, "*, ");
        put_arg(k, &s->args[i]);
        comma = ", ";
    }
    if (s->is_vararg) {
        put(k, comma);
        put(k, "...");
    }
}

static void put_returns(sink *k, const tn__schema *s)
{
    put(k, s->returns_in_parens ? "(" : "");
    for (int i = 0; i < s->n_rets; i++) {
        put(k, i ? ", " : "");
        put_arg(k, &s->rets[i]);
    }
    if (s->is_varret)
        put(k, s->n_rets ? ", ..." : "...");
    put(k, s->returns_in_parens ? ")" : "");
}

size_t tn__schema_print(const tn__schema *s, char *buf, size_t cap)
{
    sink k = {buf, cap, 0};
    if (s->ns_written) {
        put(&k, s->ns);
        put(&k, "::");
    }
    put(&k, s->name);
    if (s->overload[0]) {
        put(&k, ".");
        put(&k, s->overload);
    }
    put(&k, "(");
    put_args(&k, s);
    put(&k, ") -> ");
    put_returns(&k, s);
    return finish(&k);
}

size_t tn__type_print(const tn__type *t, char *buf, size_t cap)
{
    sink k = {buf, cap, 0};
    put_type(&k, t);
    return finish(&k);
}

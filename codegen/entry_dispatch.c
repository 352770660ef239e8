/* entry_dispatch.c - the dispatch table of an entry: "CPU, CUDA: at::add" becomes one cg_kernel per
 * key, and what PyTorch adds by itself (CompositeImplicitAutograd, a ufunc's CPU and CUDA) is added
 * here too, marked implied. */
#include "entry_impl.h"

#include <stdio.h>
#include <string.h>

enum { KERNEL_NAMESPACES = 3 };

typedef struct table {
    cg_kernel *rows;
    int n, cap;
} table;

static cg_kernel *add_row(cg_reader *r, table *t)
{
    if (t->n == t->cap) {
        int cap = t->cap ? t->cap * 2 : 4;
        cg_kernel *rows = cg_alloc(r, (size_t)cap * sizeof *rows);
        if (!rows)
            return NULL;
        if (t->n)
            memcpy(rows, t->rows, (size_t)t->n * sizeof *rows);
        t->rows = rows;
        t->cap = cap;
    }
    return &t->rows[t->n++];
}

const char *cg_default_kernel(tn__arena *a, const tn__schema *s)
{
    bool out = false;
    for (int i = 0; i < s->n_args; i++)
        out |= s->args[i].is_out;
    size_t n = strlen(s->name);
    char *name = tn__arena_alloc(a, n + 5);
    if (name)
        snprintf(name, n + 5, "%s%s", s->name, out ? "_out" : "");
    return name;
}

static bool is_identifier(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return n > 0 && s[n] == '\0' && !(s[0] >= '0' && s[0] <= '9');
}

/* Splits "a::b::name"; false: it is no kernel's name, and that has been reported. */
static bool read_kernel(cg_reader *r, const cg_str *value, cg_kernel *k)
{
    const char *last = value->text;
    int levels = 0;
    for (const char *p = value->text; (p = strstr(p, "::")); p += 2, levels++)
        last = p + 2;
    if (levels > KERNEL_NAMESPACES) {
        cg_fail(r, value->pos,
                "kernel '%.80s' is in %d namespaces; write at most %d: 'a::b::c::name'",
                value->text, levels, KERNEL_NAMESPACES);
        return false;
    }
    if (!is_identifier(last)) {
        cg_fail(
            r, value->pos,
            "'%.80s' is not a kernel's name; write a C identifier, with namespaces before it if "
            "need be: 'ns::name'",
            value->text);
        return false;
    }
    size_t n = last == value->text ? 0 : (size_t)(last - value->text) - 2;
    k->ns = cg_str_part(r, value, 0, n).text;
    k->name = last;
    k->pos = value->pos;
    return true;
}

static void check_key(cg_reader *r, const table *t, const cg_str *key)
{
    static const char *const others[] = {
        "XLA",           "HIP",    "IPU",         "HPU",           "VE",
        "Lazy",          "Vulkan", "Metal",       "FPGA",          "MAIA",
        "Autograd",      "Tracer", "Autocast",    "BackendSelect", "Named",
        "Functionalize", "Python", "PrivateUse1", "PrivateUse2",   "PrivateUse3"};
    char hint[500];
    for (int i = 0; i < t->n; i++)
        if (strcmp(t->rows[i].key, key->text) == 0)
            cg_fail(r, key->pos,
                    "dispatch key '%s' has a kernel already, on line %d; keep one of the two",
                    key->text, t->rows[i].key_pos.line);
    if (cg_word_in(cg_dispatch_keys, key->text))
        return;
    if (cg_word_in((cg_words){others, sizeof others / sizeof *others}, key->text))
        cg_fail(
            r, key->pos,
            "dispatch key '%s' cannot stand in a dispatch table; a plugin registers its kernels "
            "for it when it is loaded",
            key->text);
    else
        cg_fail(r, key->pos, "unknown dispatch key '%.60s'%s", key->text,
                strcmp(key->text, "GPU") == 0
                    ? "; did you mean 'CUDA'?"
                    : cg_hint(hint, sizeof hint, cg_dispatch_keys, key->text));
}

/* One line: keys that share a kernel. */
static void read_line(cg_reader *r, table *t, const cg_node *key, const cg_node *value)
{
    cg_str keys = cg_str_of(key), kernel = cg_str_of(value);
    cg_kernel row = {0};
    if (key->kind != CG_NODE_STR || value->kind != CG_NODE_STR) {
        bool bad_key = key->kind != CG_NODE_STR;
        cg_fail(r, bad_key ? key->pos : value->pos,
                "%s must be a name, found %s; write 'CPU: kernel_name'",
                bad_key ? "a dispatch key" : "a kernel", cg_node_describe(bad_key ? key : value));
        return;
    }
    bool ok = read_kernel(r, &kernel, &row);
    for (size_t at = 0;;) {
        size_t lead = strspn(keys.text + at, " "), len = strcspn(keys.text + at + lead, ",");
        size_t end = at + lead + len;
        while (len > 0 && keys.text[at + lead + len - 1] == ' ')
            len--;
        cg_str part = cg_str_part(r, &keys, at + lead, len);
        check_key(r, t, &part);
        cg_kernel *k = ok ? add_row(r, t) : NULL;
        if (k) {
            *k = row;
            k->key = part.text;
            k->key_pos = part.pos;
            k->structured = (r->entry->structured || r->entry->is_ours) &&
                            cg_word_in(cg_structured_keys, k->key);
        }
        if (keys.text[end] == '\0')
            return;
        at = end + 1;
    }
}

static void imply(cg_reader *r, table *t, const char *key, const char *name, bool structured)
{
    cg_kernel *k = name ? add_row(r, t) : NULL;
    if (k)
        *k = (cg_kernel){key, "", name, r->entry->pos, r->entry->pos, structured, true};
}

/* A ufunc brings its own CPU and CUDA kernels; a written one beside them is an error. */
static void imply_ufunc(cg_reader *r, table *t)
{
    static const char *const keys[] = {"CPU", "CUDA"};
    for (int i = 0; i < 2; i++) {
        bool written = false;
        for (int j = 0; j < t->n; j++)
            if (strcmp(t->rows[j].key, keys[i]) == 0) {
                written = true;
                cg_fail(r, t->rows[j].key_pos,
                        "'ufunc_inner_loop' makes the %s kernel; remove this line", keys[i]);
            }
        char name[300];
        snprintf(name, sizeof name, "ufunc_%.255s_%s", r->entry->schema->name, keys[i]);
        if (!written)
            imply(r, t, keys[i], tn__arena_strndup(r->arena, name, strlen(name)), true);
    }
}

void cg_read_dispatch(cg_reader *r)
{
    cg_entry *e = r->entry;
    table t = {0};
    const cg_node *v = cg_node_get(r->node, "dispatch", NULL);
    if (v && v->kind == CG_NODE_MAP) {
        e->has_dispatch = true;
        for (const cg_node *k = v->child; k; k = k->next->next)
            read_line(r, &t, k, k->next);
    } else if (v && v->kind != CG_NODE_NULL) {
        e->has_dispatch = true;
        cg_fail(
            r, v->pos,
            "'dispatch' must be a mapping, found %s; write 'CPU: kernel_name' on a line below it",
            cg_node_describe(v));
    }
    if (e->schema && e->n_ufunc_inner_loop)
        imply_ufunc(r, &t);
    if (e->schema && !e->has_dispatch && !e->structured && !e->structured_delegate.text &&
        !e->is_ours)
        imply(r, &t, "CompositeImplicitAutograd", cg_default_kernel(r->arena, e->schema), false);
    e->dispatch = t.rows;
    e->n_dispatch = t.n;
}

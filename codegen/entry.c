/* entry.c - from the YAML tree to the list of entries: the file as a whole, its func lines,
 * positions.
 *
 * Reading only checks what a key's value looks like (entry_keys.c, entry_dispatch.c, entry_ours.c);
 * what the values mean together is validate.c's. */
#include "entry_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_CAP = 64 << 20 };

void *cg_alloc(cg_reader *r, size_t bytes)
{
    void *p = tn__arena_alloc(r->arena, bytes);
    if (!p)
        r->diag->no_memory = true;
    return p;
}

/* ---- positions ------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Moves over one character of the source. */
static const char *step(const char *s, cg_pos *pos)
{
    if (*s == '\n' || (*s == '\r' && s[1] != '\n'))
        *pos = (cg_pos){pos->line + 1, 0};
    do
        s++;
    while (((unsigned char)*s & 0xc0) == 0x80);
    pos->column++;
    return s;
}

/* Source characters of the escape at s, in a double-quoted scalar. */
static int escape_length(const char *s)
{
    return s[1] == 'x' ? 4 : s[1] == 'u' ? 6 : s[1] == 'U' ? 10 : 2;
}

cg_pos cg_at(const cg_str *s, size_t offset)
{
    cg_pos pos = s->pos;
    const char *src = s->src;
    for (size_t i = 0; s->text && src && i < offset && s->text[i]; i++) {
        bool escaped = s->style == '"' && *src == '\\';
        if (((unsigned char)s->text[i] & 0xc0) == 0x80)
            continue; /* moved over with its first byte */
        if (!escaped && *src != s->text[i] && is_blank(*src)) {
            while (is_blank(*src)) /* a folded line: its break and indentation became one blank */
                src = step(src, &pos);
            if (is_blank(s->text[i]))
                continue;
        }
        int n = escaped ? escape_length(src) : s->style == '\'' && *src == '\'' ? 2 : 1;
        for (; n > 0 && *src; n--)
            src = step(src, &pos);
    }
    while (src && s->style != '"' && s->text && offset < strlen(s->text) &&
           !is_blank(s->text[offset]) && is_blank(*src))
        src = step(src, &pos);
    return pos;
}

cg_str cg_str_of(const cg_node *n)
{
    return (cg_str){n->text, n->pos, n->src, n->style};
}

cg_str cg_str_part(cg_reader *r, const cg_str *whole, size_t at, size_t n)
{
    cg_str part = {tn__arena_strndup(r->arena, whole->text + at, n), cg_at(whole, at), NULL,
                   whole->style};
    if (!part.text) {
        r->diag->no_memory = true;
        part.text = "";
    }
    part.src = whole->style == 'p' ? whole->src + at : NULL;
    return part;
}

/* ---- values that several keys share ---------------------------------------------------------- */

cg_str cg_take_string(cg_reader *r, const char *key, bool null_is_absent, const char *example)
{
    const cg_node *v = cg_node_get(r->node, key, NULL);
    if (!v || (v->kind == CG_NODE_NULL && null_is_absent))
        return (cg_str){0};
    if (v->kind == CG_NODE_STR && v->text[0])
        return cg_str_of(v);
    if (v->kind == CG_NODE_STR)
        cg_fail(r, v->pos, "'%s' is empty; write '%s: %s', or remove the key", key, key, example);
    else
        cg_fail(r, v->pos, "'%s' must be a string, found %s; write '%s: %s'", key,
                cg_node_describe(v), key, example);
    return (cg_str){0};
}

int cg_split(cg_reader *r, const cg_str *whole, const cg_str **parts)
{
    size_t count = 1;
    for (const char *p = whole->text; *p; p++)
        count += *p == ',';
    cg_str *out = cg_alloc(r, count * sizeof *out);
    int n = 0;
    for (size_t at = 0; out; n++) {
        size_t len = strcspn(whole->text + at, ",");
        const char *part = whole->text + at;
        bool tight = part[len] == ',' && (part[len + 1] != ' ' || part[len + 2] == ' ');
        if (len == 0 || tight || is_blank(part[0]) || is_blank(part[len - 1])) {
            cg_fail(r, cg_at(whole, at),
                    "bad list '%.80s'; separate its items with a comma and one blank: 'a, b'",
                    whole->text);
            return 0;
        }
        out[n] = cg_str_part(r, whole, at, len);
        if (part[len] == '\0') {
            *parts = out;
            return n + 1;
        }
        at += len + 2;
    }
    return 0;
}

int cg_take_words(cg_reader *r, const char *key, const cg_str **words)
{
    const cg_node *v = cg_node_get(r->node, key, NULL);
    if (!v)
        return 0;
    if (v->kind == CG_NODE_STR && v->text[0]) {
        cg_str whole = cg_str_of(v);
        return cg_split(r, &whole, words);
    }
    if (v->kind != CG_NODE_LIST) {
        cg_fail(r, v->pos, "'%s' must be a word or a list of words, found %s; write '%s: [a, b]'",
                key, v->kind == CG_NODE_STR ? "an empty string" : cg_node_describe(v), key);
        return 0;
    }
    cg_str *out = cg_alloc(r, ((size_t)v->n + 1) * sizeof *out);
    int n = 0;
    for (const cg_node *item = v->child; item && out; item = item->next) {
        if (item->kind != CG_NODE_STR) {
            cg_fail(r, item->pos, "'%s' must list words, found %s; write '%s: [a, b]'", key,
                    cg_node_describe(item), key);
            continue;
        }
        out[n++] = cg_str_of(item);
    }
    *words = out;
    return n;
}

/* ---- the func line --------------------------------------------------------------------------- */

/* "ns::add.Tensor(" gives "add.Tensor": also of lines that do not parse, so that what names them
 * finds them. */
static const char *operator_name(cg_reader *r, const char *func)
{
    size_t n = strcspn(func, "(");
    size_t begin = 0;
    for (size_t i = 0; i + 1 < n; i++)
        if (func[i] == ':' && func[i + 1] == ':')
            begin = i + 2;
    while (n > begin && is_blank(func[n - 1]))
        n--;
    const char *op = tn__arena_strndup(r->arena, func + begin, n - begin);
    if (!op)
        r->diag->no_memory = true;
    return op ? op : "";
}

/* The namespace is part of the name to the schema's parser, but more than one level has a message
 * of its own. */
static bool check_namespace(cg_reader *r)
{
    const char *func = r->entry->func.text;
    size_t n = strcspn(func, "(");
    int levels = 0;
    for (size_t i = 0; i + 1 < n; i++)
        levels += func[i] == ':' && func[i + 1] == ':';
    if (levels > 1)
        cg_fail(r, r->entry->func.pos, "more than one namespace in '%.*s'; write one: 'ns::name'",
                (int)(n < 80 ? n : 80), func);
    return levels <= 1;
}

static void read_func(cg_reader *r)
{
    cg_entry *e = r->entry;
    const cg_node *v = cg_node_get(r->node, "func", NULL);
    if (!v || v->kind != CG_NODE_STR || !v->text[0]) {
        if (!e->broken)
            cg_fail(r, v ? v->pos : e->pos, "%s%s; write 'func: name(Tensor self) -> Tensor'",
                    v ? "'func' must be a schema, found " : "an entry without 'func'",
                    v ? (v->kind == CG_NODE_STR ? "an empty string" : cg_node_describe(v)) : "");
        return;
    }
    e->func = cg_str_of(v);
    e->op = operator_name(r, v->text);
    if (!check_namespace(r))
        return;
    tn__schema_error err = {0, ""};
    e->schema = tn__schema_parse(r->arena, v->text, strlen(v->text), false, &err);
    if (e->schema)
        e->kind = tn__schema_kind_of(e->schema);
    else if (!e->broken)
        cg_fail(r, cg_at(&e->func, err.column > 0 ? (size_t)err.column - 1 : 0), "%s", err.message);
}

static void check_keys(cg_reader *r)
{
    char hint[200];
    for (const cg_node *k = r->node->child; k; k = k->next->next)
        if (!cg_word_in(cg_keys, k->text))
            cg_fail(r, k->pos, "unknown key '%.60s'%s", k->text,
                    cg_hint(hint, sizeof hint, cg_keys, k->text));
}

static void read_entry(cg_reader *r)
{
    cg_entry *e = r->entry;
    e->pos = r->node->pos;
    e->node = r->node;
    e->op = "";
    e->broken = r->node->broken;
    e->variants = CG_VARIANT_FUNCTION;
    e->device_guard = true;
    if (r->node->kind != CG_NODE_MAP) {
        if (!e->broken)
            cg_fail(
                r, e->pos,
                "an entry must be a mapping, found %s; write '- func: name(Tensor self) -> Tensor'",
                cg_node_describe(r->node));
        e->broken = true;
        return;
    }
    read_func(r);
    if (e->broken)
        return;
    check_keys(r);
    cg_read_keys(r);
    cg_read_ours(r);
    cg_read_dispatch(r);
}

/* ---- files ----------------------------------------------------------------------------------- */

cg_file *cg_file_parse(cg_diag *d, const char *name, const char *bytes, size_t n)
{
    cg_file *f = calloc(1, sizeof *f);
    if (!f) {
        d->no_memory = true;
        return NULL;
    }
    f->name = tn__arena_strndup(&f->arena, name, strlen(name));
    const cg_node *root = f->name ? cg_yaml_parse(&f->arena, d, name,
                                                  "func: name(Tensor self) -> Tensor", bytes, n,
                                                  &f->complete)
                                  : NULL;
    cg_entry *entries = root ? tn__arena_alloc(&f->arena, ((size_t)root->n + 1) * sizeof *entries)
                             : NULL;
    if (!f->name || (root && !entries)) {
        d->no_memory = true;
        cg_file_free(f);
        return NULL;
    }
    f->entries = entries;
    for (const cg_node *item = root ? root->child : NULL; item; item = item->next) {
        cg_entry *e = &entries[f->n_entries++];
        e->file = f;
        int before = d->n_items;
        read_entry(&(cg_reader){&f->arena, d, f->name, item, e});
        e->misread = d->n_items > before;
    }
    return f;
}

char *cg_slurp(cg_diag *d, const char *path, size_t *n)
{
    FILE *in = fopen(path, "rb");
    char *bytes = NULL;
    size_t cap = 0;
    const char *why = in ? NULL : strerror(errno);
    for (*n = 0; !why;) {
        if (*n == cap) {
            cap = cap ? cap * 2 : 1 << 16;
            char *more = cap <= FILE_CAP ? realloc(bytes, cap) : NULL;
            why = more ? NULL : cap > FILE_CAP ? "it is larger than 32 MiB" : "not enough memory";
            if (!more)
                break;
            bytes = more;
        }
        size_t got = fread(bytes + *n, 1, cap - *n, in);
        *n += got;
        if (got == 0) {
            why = ferror(in) ? strerror(errno) : NULL;
            break;
        }
    }
    if (in)
        fclose(in);
    if (!why)
        return bytes;
    cg_error(d, path, (cg_pos){0, 0}, "cannot be read: %s; name a readable YAML file", why);
    free(bytes);
    return NULL;
}

cg_file *cg_file_read(cg_diag *d, const char *path)
{
    size_t n = 0;
    char *bytes = cg_slurp(d, path, &n);
    if (!bytes)
        return NULL;
    cg_file *f = cg_file_parse(d, path, bytes, n);
    free(bytes);
    return f;
}

void cg_file_free(cg_file *f)
{
    if (f)
        tn__arena_free(&f->arena);
    free(f);
}

const cg_entry *cg_file_find(const cg_file *f, const char *op)
{
    for (int i = 0; i < f->n_entries; i++)
        if (strcmp(f->entries[i].op, op) == 0)
            return &f->entries[i];
    return NULL;
}

cg_pos cg_entry_key_pos(const cg_entry *e, const char *key)
{
    const cg_node *k = NULL;
    cg_node_get(e->node, key, &k);
    return k ? k->pos : e->pos;
}

bool cg_entry_has_tag(const cg_entry *e, const char *tag)
{
    for (int i = 0; i < e->n_tags; i++)
        if (strcmp(e->tags[i].text, tag) == 0)
            return true;
    return false;
}

/* schema_ops.c - the operators that a file declares, as a list of schemas with keys and positions.
 *
 * Two sources look alike afterwards: YAML, where one entry of ours stands for up to three
 * operators, and text with one schema per line (schema.lock, or what PyTorch prints). */
#include "schema_impl.h"

#include <stdlib.h>
#include <string.h>

bool schema_is_yaml(const char *path)
{
    size_t n = strlen(path);
    return (n > 5 && strcmp(path + n - 5, ".yaml") == 0) ||
           (n > 4 && strcmp(path + n - 4, ".yml") == 0);
}

static const char *key_of(tn__arena *a, const tn__schema *s)
{
    size_t n = strlen(s->ns) + strlen(s->name) + strlen(s->overload) + 4;
    char *key = tn__arena_alloc(a, n);
    if (key)
        snprintf(key, n, "%s::%s%s%s", s->ns, s->name, s->overload[0] ? "." : "", s->overload);
    return key;
}

static void no_memory(cg_diag *d, const char *file)
{
    cg_error(d, file, (cg_pos){0, 0}, "out of memory");
}

static void add(schema_ops *ops, cg_diag *d, const tn__schema *s, int line, int column)
{
    const char *key = key_of(&ops->arena, s);
    if (ops->n == ops->cap) {
        int cap = ops->cap ? ops->cap * 2 : 256;
        schema_op *more = realloc(ops->items, (size_t)cap * sizeof *more);
        if (more) {
            ops->items = more;
            ops->cap = cap;
        }
    }
    if (!key || ops->n == ops->cap) {
        no_memory(d, ops->file);
        return;
    }
    ops->items[ops->n++] = (schema_op){key, s, line, column};
}

static void read_line(schema_ops *ops, cg_diag *d, const char *text, size_t n, int line,
                      bool strict)
{
    tn__schema_error err;
    size_t blank = 0;
    while (blank < n && (text[blank] == ' ' || text[blank] == '\t'))
        blank++;
    if (blank == n || text[blank] == '#') {
        schema_gradient_read(ops, text, n);
        return;
    }
    const tn__schema *s = tn__schema_parse(&ops->arena, text, n, strict, &err);
    if (s)
        add(ops, d, s, line, (int)blank + 1);
    else
        cg_error(d, ops->file, (cg_pos){line, err.column}, "%s", err.message);
}

static bool read_lines(schema_ops *ops, cg_diag *d, const char *path, bool strict)
{
    size_t n = 0;
    char *bytes = tool_read_file(path, &n);
    if (!bytes)
        return false;
    int line = 1;
    for (size_t at = 0; at < n; line++) {
        const char *end = memchr(bytes + at, '\n', n - at);
        size_t len = end ? (size_t)(end - (bytes + at)) : n - at;
        bool cr = len > 0 && bytes[at + len - 1] == '\r';
        read_line(ops, d, bytes + at, len - cr, line, strict);
        at += len + 1;
    }
    free(bytes);
    return true;
}

/* PyTorch's YAML is taken as PyTorch takes it; strictness is asked for by --strict, or by an entry
 * being ours. */
static void check_strictly(const schema_ops *ops, cg_diag *d, const cg_entry *e)
{
    tn__arena a = {0};
    tn__schema_error err;
    if (!tn__schema_parse(&a, e->func.text, strlen(e->func.text), true, &err))
        cg_error(d, ops->file, cg_at(&e->func, (size_t)(err.column > 0 ? err.column - 1 : 0)), "%s",
                 err.message);
    tn__arena_free(&a);
}

static bool read_yaml(schema_ops *ops, cg_diag *d, const char *path, bool strict)
{
    ops->yaml = cg_file_read(d, path);
    if (!ops->yaml)
        return false;
    cg_validate(d, ops->yaml);
    for (int i = 0; i < ops->yaml->n_entries; i++) {
        const cg_entry *e = &ops->yaml->entries[i];
        if (!e->schema)
            continue;
        cg_pos pos = e->func.pos;
        if (strict)
            check_strictly(ops, d, e);
        add(ops, d, e->schema, pos.line, pos.column);
        const tn__schema *inplace = cg_schema_inplace(&ops->arena, e),
                         *out = cg_schema_out(&ops->arena, e);
        if (inplace)
            add(ops, d, inplace, pos.line, pos.column);
        if (out)
            add(ops, d, out, pos.line, pos.column);
    }
    return true;
}

bool schema_ops_read(schema_ops *ops, cg_diag *d, const char *path, bool yaml, bool strict)
{
    memset(ops, 0, sizeof *ops);
    ops->file = path;
    return yaml ? read_yaml(ops, d, path, strict) : read_lines(ops, d, path, strict);
}

static int by_key(const void *a, const void *b)
{
    const schema_op *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

void schema_ops_sort(schema_ops *ops, cg_diag *d)
{
    if (!ops->n)
        return;
    qsort(ops->items, (size_t)ops->n, sizeof *ops->items, by_key);
    for (int i = 1; i < ops->n; i++) {
        const schema_op *o = &ops->items[i];
        if (strcmp(o->key, ops->items[i - 1].key) == 0)
            cg_error(d, ops->file, (cg_pos){o->line, o->column},
                     "operator '%s' stands twice, first in line %d; "
                     "give it another overload name",
                     o->key, ops->items[i - 1].line);
    }
}

void schema_ops_free(schema_ops *ops)
{
    free(ops->items);
    free(ops->gradients);
    if (ops->yaml)
        cg_file_free(ops->yaml);
    tn__arena_free(&ops->arena);
    memset(ops, 0, sizeof *ops);
}

bool schema_ops_load(schema_ops *ops, const char *path)
{
    cg_diag d = {0};
    bool well = schema_ops_read(ops, &d, path, schema_is_yaml(path), false);
    if (well && !cg_diag_failed(&d))
        schema_ops_sort(ops, &d);
    well = well && !cg_diag_failed(&d);
    cg_diag_print(&d, stderr, CG_DIAG_TEXT);
    cg_diag_free(&d);
    return well;
}

/* schema_gradients.c - which arguments of a file's operators have a gradient, by the same code that
 * tenon-gen makes them with. Taking one away breaks those who train through it, so a lock lists them:
 *
 *     # gradient aten::mul.Tensor: self, other */
#include "schema_impl.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/derivatives.h"

static const char mark[] = "# gradient ";

bool schema_gradient_add(schema_ops *ops, const char *key, size_t key_n, const char *argument,
                         size_t argument_n)
{
    if (ops->n_gradients == ops->cap_gradients) {
        int cap = ops->cap_gradients ? ops->cap_gradients * 2 : 256;
        schema_gradient *more = realloc(ops->gradients, (size_t)cap * sizeof *more);
        if (!more)
            return false;
        ops->gradients = more;
        ops->cap_gradients = cap;
    }
    schema_gradient *g = &ops->gradients[ops->n_gradients++];
    g->key = tn__arena_strndup(&ops->arena, key, key_n);
    g->argument = tn__arena_strndup(&ops->arena, argument, argument_n);
    ops->has_gradients = true;
    return g->key && g->argument;
}

bool schema_gradient_read(schema_ops *ops, const char *line, size_t n)
{
    size_t at = sizeof mark - 1, colon = at;
    if (n < at || memcmp(line, mark, at) != 0)
        return false;
    while (colon < n && !(line[colon] == ':' && colon + 1 < n && line[colon + 1] == ' '))
        colon++;
    for (size_t from = colon + 2; from < n;) {
        size_t to = from;
        while (to < n && line[to] != ',')
            to++;
        if (!schema_gradient_add(ops, line + at, colon - at, line + from, to - from))
            return false;
        from = to + 2;
    }
    return true;
}

void schema_gradients_print(const schema_ops *ops, FILE *to)
{
    for (int i = 0; i < ops->n_gradients; i++) {
        const schema_gradient *g = &ops->gradients[i];
        bool first = i == 0 || strcmp(ops->gradients[i - 1].key, g->key) != 0;
        if (first)
            fprintf(to, "%s%s%s: %s", i ? "\n" : "", mark, g->key, g->argument);
        else
            fprintf(to, ", %s", g->argument);
    }
    if (ops->n_gradients)
        fputc('\n', to);
}

bool schema_has_gradient(const schema_ops *ops, const char *key, const char *argument)
{
    for (int i = 0; i < ops->n_gradients; i++)
        if (strcmp(ops->gradients[i].key, key) == 0 &&
            strcmp(ops->gradients[i].argument, argument) == 0)
            return true;
    return false;
}

/* ---- of a YAML file -------------------------------------------------------------------------- */
/* The built-in operators that a plugin's formulas call: beside the program, or beside the schema. */
static bool find_operators(char *path, size_t n)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return false;
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    if (!slash)
        return false;
    *slash = '\0';
    snprintf(path, n, "%s/../share/tenon/native_functions.yaml", self);
    return access(path, R_OK) == 0;
}

static bool read_operators(cg_diag *d, tn__arena *a, const char *path, cg_file **f, cg_ops *ops)
{
    *f = cg_file_read(d, path);
    if (*f)
        cg_validate(d, *f);
    return *f && !cg_diag_failed(d) && cg_ops_make(d, a, *f, ops);
}

static bool keep(schema_ops *ops, const cg_derivatives *ds)
{
    for (int i = 0; i < ds->n; i++) {
        const cg_derivative *d = &ds->items[i];
        for (int k = 0; k < d->n_arguments; k++) {
            int field = d->arguments[k];
            const char *name = d->op->layout->fields[field].name;
            if (!(d->flags[field] & TN_FIELD_NO_FORMULA) &&
                !schema_gradient_add(ops, d->op->full, strcspn(d->op->full, "("), name,
                                     strlen(name)))
                return false;
        }
    }
    return true;
}

static int by_key(const void *a, const void *b)
{
    const schema_gradient *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order ? order : strcmp(x->argument, y->argument);
}

bool schema_gradients_load(schema_ops *ops, const char *derivatives)
{
    cg_diag d = {0};
    tn__arena a = {0};
    cg_file *file = NULL, *built_in_file = NULL;
    cg_ops own, built_in;
    cg_derivatives ds;
    char path[PATH_MAX + 64];
    cg_derivatives_source source = {.path = derivatives, .ops = &own};
    bool native = ops->n && strncmp(ops->items[0].key, "aten::", 6) == 0;
    bool ok = read_operators(&d, &a, ops->file, &file, &own);
    if (ok && !native && find_operators(path, sizeof path)) {
        ok = read_operators(&d, &a, path, &built_in_file, &built_in);
        source.built_in = &built_in;
    }
    ok = ok && cg_derivatives_make(&d, &a, &source, &ds) && !cg_diag_failed(&d) && keep(ops, &ds);
    cg_diag_print(&d, stderr, CG_DIAG_TEXT);
    if (ok && ops->n_gradients)
        qsort(ops->gradients, (size_t)ops->n_gradients, sizeof *ops->gradients, by_key);
    ops->has_gradients = ok;
    cg_file_free(file);
    cg_file_free(built_in_file);
    tn__arena_free(&a);
    cg_diag_free(&d);
    return ok;
}

/* kernel_calls.c - the file of operators that a plugin's kernels call, read and written as facts. Each
 * item is one key with an operator's name, and the arguments that are given in parentheses. */
#include "kernel_calls.h"

#include <stdlib.h>
#include <string.h>

#include "entry_impl.h"

typedef struct reader {
    cg_diag *d;
    tn__arena *a;
    const char *file;
    const cg_ops *own, *built_in;
    cg_kernel_calls *out;
} reader;

#define refuse(r, pos, ...) cg_error((r)->d, (r)->file, pos, __VA_ARGS__)

/* ---- the operator ---------------------------------------------------------------------------- */
/* "add.Tensor"; of the plugin's own "myops::add.Tensor". */
static void print_name(char *buf, size_t n, const cg_op *op, bool own)
{
    const tn__schema *s = op->schema;
    snprintf(buf, n, "%s%s%s%s%s", own ? s->ns : "", own ? "::" : "", s->name,
             *s->overload ? "." : "", s->overload);
}

static const cg_op *find(const cg_ops *ops, bool own, const char *name)
{
    char buf[256];
    for (int i = 0; ops && i < ops->n_groups; i++)
        for (int form = 0; form < CG_FORMS; form++) {
            const cg_op *op = ops->groups[i].forms[form];
            if (!op)
                continue;
            print_name(buf, sizeof buf, op, own);
            if (strcmp(buf, name) == 0)
                return op;
        }
    return NULL;
}

static const char *near_operator(const reader *r, const char *name)
{
    enum { MOST = 8192 };
    const char *names[MOST];
    int n = 0;
    for (int i = 0; i < r->built_in->n_groups; i++)
        for (int form = 0; form < CG_FORMS; form++)
            if (r->built_in->groups[i].forms[form] && n < MOST)
                names[n++] = r->built_in->groups[i].forms[form]->schema->name;
    return cg_near(name, names, n);
}

/* Of a name that has other overloads those are said. */
static void refuse_operator(const reader *r, cg_pos pos, const char *name)
{
    char all[256] = "", buf[160];
    size_t n = strcspn(name, ".");
    for (int i = 0; i < r->built_in->n_groups; i++) {
        const cg_op *op = r->built_in->groups[i].forms[0];
        if (strlen(op->schema->name) != n || memcmp(op->schema->name, name, n) != 0)
            continue;
        print_name(buf, sizeof buf, op, false);
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", used ? ", " : "", buf);
    }
    const char *near = *all ? NULL : near_operator(r, name);
    refuse(r, pos, "there is no operator '%.80s'; %s%s%s", name,
           *all   ? "write "
           : near ? "did you mean '"
                  : "`tenon ops` lists them; a plugin's own is written with its namespace",
           *all   ? all
           : near ? near
                  : "",
           near ? "'?" : "");
}

/* ---- the arguments --------------------------------------------------------------------------- */
static bool find_argument(const cg_op *op, const char *name, size_t n, int *at)
{
    const tn__layout *l = op->layout;
    for (int i = 0; i < l->n_args; i++) {
        const tn_field *f = &l->fields[l->n_results + i];
        if (strlen(f->name) == n && memcmp(f->name, name, n) == 0) {
            *at = i;
            return true;
        }
    }
    return false;
}

static bool is_given(const char *given, const char *name)
{
    char word[160];
    snprintf(word, sizeof word, "|%s|", name);
    return strstr(given, word) != NULL;
}

/* One argument: it is the operator's, and comes behind the last one. */
static bool check_argument(const reader *r, cg_pos pos, const cg_op *op, const char *name, size_t n,
                           int *last)
{
    int place;
    if (!find_argument(op, name, n, &place)) {
        refuse(r, pos, "'%.*s' is no argument of '%s'; write names of its arguments, or remove it",
               (int)(n < 80 ? n : 80), name, op->full);
        return false;
    }
    if (place <= *last) {
        refuse(r, pos, "'%.*s' stands twice or out of order; write arguments as '%s' has them",
               (int)n, name, op->full);
        return false;
    }
    *last = place;
    return true;
}

/* What stands in the parentheses, as "|self|other|"; NULL after an error. */
static const char *read_arguments(const reader *r, const cg_str *text, size_t at, const cg_op *op)
{
    const char *p = text->text + at;
    char *given = tn__arena_alloc(r->a, strlen(p) + 3);
    size_t used = 0;
    int last = -1;
    if (!given)
        return NULL;
    given[used++] = '|';
    for (; *p != ')'; p++) {
        p += strspn(p, " ");
        size_t n = strcspn(p, ", )");
        if (!check_argument(r, cg_at(text, (size_t)(p - text->text)), op, p, n, &last))
            return NULL;
        memcpy(given + used, p, n);
        used += n;
        given[used++] = '|';
        p += n + strspn(p + n, " ");
        if (*p != ',')
            break;
    }
    given[used] = '\0';
    if (*p == ')' && !p[1])
        return given;
    cg_pos pos = cg_at(text, (size_t)(p - text->text) + (*p == ')'));
    if (*p == ')')
        refuse(r, pos, "nothing may follow the arguments; remove '%.40s'", p + 1);
    else
        refuse(r, pos, "the arguments are not closed; write ')' or ', ' here");
    return NULL;
}

/* What functions need: one tensor as the result, and a value for every argument. */
static bool check_call(const reader *r, cg_pos pos, const cg_op *op, const char *given)
{
    const tn__layout *l = op->layout;
    if (l->n_results != 1 || l->fields[0].kind != TN_FIELD_TENSOR) {
        refuse(r, pos,
               "'%s' gives more than one tensor, which no function here returns; write the "
               "name without arguments: its handle",
               op->full);
        return false;
    }
    for (int i = 0; i < l->n_args; i++) {
        const tn_field *f = &l->fields[l->n_results + i];
        if (f->flags & (TN_FIELD_DEFAULTED | TN_FIELD_OPTIONAL) || is_given(given, f->name))
            continue;
        refuse(r, pos, "argument '%s' of '%s' has no default; write it, too", f->name, op->full);
        return false;
    }
    return true;
}

/* ---- the file -------------------------------------------------------------------------------- */
static bool check_key(const reader *r, const cg_node *key)
{
    static const char *const taken[] = {"on",     "hold",     "call", "end",  "fail",
                                        "import", "register", "ops",  "count"};
    const char *text = key->text ? key->text : "";
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (!*text || text[n] || (*text >= '0' && *text <= '9')) {
        refuse(r, key->pos,
               "'%.80s' cannot begin the name of a function; write small letters, digits "
               "and '_', no digit first",
               text);
        return false;
    }
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(text, taken[i]) == 0) {
            refuse(r, key->pos, "'%s' is the name of a generated function; choose another one",
                   text);
            return false;
        }
    for (int i = 0; i < r->out->n; i++)
        if (strcmp(text, r->out->items[i].key) == 0) {
            refuse(r, key->pos, "'%s' stands twice; choose another name, or remove one", text);
            return false;
        }
    return true;
}

static void read_item(reader *r, const cg_node *item)
{
    const cg_node *key = item->kind == CG_NODE_MAP ? item->child : NULL;
    if (!key || item->n != 1 || key->next->kind != CG_NODE_STR) {
        refuse(r, item->pos,
               "an item is a name and the operator that it calls; write '- add: "
               "add.Tensor(self, other)'");
        return;
    }
    if (!check_key(r, key))
        return;
    cg_str text = cg_str_of(key->next);
    size_t n = strcspn(text.text, "(");
    const char *name = tn__arena_strndup(r->a, text.text, n);
    if (!name)
        return;
    bool own = strstr(name, "::") != NULL;
    cg_kernel_call c = {.key = key->text, .op = find(own ? r->own : r->built_in, own, name)};
    if (!c.op) {
        refuse_operator(r, key->next->pos, name);
        return;
    }
    if (text.text[n] == '(') {
        c.given = read_arguments(r, &text, n + 1, c.op);
        if (!c.given || !check_call(r, key->next->pos, c.op, c.given))
            return;
    }
    r->out->items[r->out->n++] = c;
}

bool cg_kernel_calls_read(cg_diag *d, tn__arena *a, const char *path, const cg_ops *own,
                          const cg_ops *built_in, cg_kernel_calls *out)
{
    reader r = {d, a, path, own, built_in, out};
    int before = d->n_items;
    size_t n;
    bool complete;
    char *bytes = cg_slurp(d, path, &n);
    const cg_node *root =
        bytes ? cg_yaml_parse(a, d, path, "add: add.Tensor(self, other)", bytes, n, &complete)
              : NULL;
    *out = (cg_kernel_calls){root ? tn__arena_alloc(a, (size_t)root->n * sizeof *out->items) : NULL,
                             0};
    if (root && !out->items)
        d->no_memory = true;
    for (const cg_node *item = out->items ? root->child : NULL; item; item = item->next)
        if (!item->broken)
            read_item(&r, item);
    free(bytes);
    return d->n_items == before && !d->no_memory;
}

bool cg_kernel_calls_write(const cg_kernel_calls *calls, const char *ns, FILE *to)
{
    fprintf(to, "m4_define(@{cg_namespace@}, @{%s@})\n", ns);
    fputs("m4_define(@{cg_facts@}, @{m4_dnl\n", to);
    for (int i = 0; i < calls->n; i++) {
        const cg_kernel_call *c = &calls->items[i];
        cg_op op = *c->op;
        op.id = op.short_id = c->key;
        op.twin = NULL;
        fprintf(to, "m4_define(@{cg_given@}, @{%s@})m4_dnl\n", c->given ? c->given : "");
        cg_fact_op(to, &op, c->given ? "function" : "handle", 0);
    }
    fputs("@})m4_dnl\n", to);
    return !ferror(to);
}

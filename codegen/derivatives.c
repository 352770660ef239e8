/* derivatives.c - derivatives.yaml as a whole: what formulas may call, then entry by entry, then the
 * pointwise operators that have none. */
#include "derivatives_impl.h"

#include <stdlib.h>
#include <string.h>

#include "entry_impl.h"
#include "reference.h"

void *cg_maker_alloc(cg_maker *m, size_t bytes)
{
    void *p = tn__arena_alloc(m->a, bytes);
    if (!p)
        m->d->no_memory = true;
    return p;
}

static const char *join(cg_maker *m, const char *a, const char *b)
{
    size_t n = strlen(a) + strlen(b) + 1;
    char *s = cg_maker_alloc(m, n);
    if (s)
        snprintf(s, n, "%s%s", a, b);
    return s ? s : "";
}

/* ---- operators that can be called ------------------------------------------------------------ */
static bool has_own(const cg_maker *m, const char *id)
{
    for (int i = 0; i < m->out->n_callees; i++)
        if (m->out->callees[i].is_own && strcmp(m->out->callees[i].frame, id) == 0)
            return true;
    return false;
}

static void add_operator(cg_maker *m, const cg_op *op, bool own)
{
    const tn__schema *s = op->schema;
    cg_callee c = {.name = s->name,
                   .overload = s->overload,
                   .schema = s,
                   .layout = op->layout,
                   .full = op->full,
                   .frame = own ? op->id : join(m, "aten_", op->id),
                   .is_own = own,
                   .is_written = tn__schema_is_mutable(s)};
    c.c_name = join(m, own || !has_own(m, op->id) ? "call_" : "call_aten_", op->id);
    m->out->callees[m->out->n_callees++] = c;
}

static int count_operators(const cg_ops *ops)
{
    return ops ? ops->n_groups * CG_FORMS : 0;
}

static void add_operators(cg_maker *m, const cg_ops *ops, bool own)
{
    for (int i = 0; ops && i < ops->n_groups; i++)
        for (int form = 0; form < CG_FORMS; form++)
            if (ops->groups[i].forms[form])
                add_operator(m, ops->groups[i].forms[form], own);
}

static cg_callee *find_callee(cg_maker *m, const char *op)
{
    char name[256];
    for (int i = 0; i < m->out->n_callees; i++) {
        cg_callee *c = &m->out->callees[i];
        snprintf(name, sizeof name, "%s%s%s", c->name, *c->overload ? "." : "", c->overload);
        if (strcmp(name, op) == 0)
            return c;
    }
    return NULL;
}

/* ---- helper: sum_back(Tensor grad, int[] sizes) -> Tensor ------------------------------------- */
/* "exp_backward" of the operator exp. */
static bool is_generated(const cg_maker *m, const char *name)
{
    static const char *const endings[] = {"_backward", "_jvp", "_fields", "_register", "_ops"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(name), end = strlen(endings[i]);
        if (n <= end || strcmp(name + n - end, endings[i]) != 0)
            continue;
        for (int k = 0; k < m->out->n_callees; k++)
            if (strlen(m->out->callees[k].frame) == n - end &&
                strncmp(m->out->callees[k].frame, name, n - end) == 0)
                return true;
    }
    static const char *const extras[] = {"plus", "minus", "times", "conj", "number"};
    for (size_t i = 0; strncmp(name, "grad_", 5) == 0 && i < sizeof extras / sizeof *extras; i++)
        if (strcmp(name + 5, extras[i]) == 0)
            return true;
    return strncmp(name, "call_", 5) == 0 || strncmp(name, "tn_", 3) == 0;
}

static bool check_helper(cg_maker *m, const cg_node *v, const cg_callee *c)
{
    if (*c->overload || c->schema->ns_written) {
        cg_refuse(m, v->pos, "a helper has no namespace and no overload; write '%s(..)'", c->name);
        return false;
    }
    for (int i = 0; i < m->out->n_callees; i++)
        if (strcmp(m->out->callees[i].name, c->name) == 0) {
            cg_refuse(m, v->pos, "'%s' is %s already; choose another name", c->name,
                      m->out->callees[i].is_helper ? "a helper" : "an operator");
            return false;
        }
    for (int i = 0; i < c->layout->n_results; i++)
        if (c->layout->n_results > 1 && c->layout->fields[i].kind != TN_FIELD_TENSOR) {
            cg_refuse(m, v->pos,
                      "a helper with several results gives Tensors alone; write (Tensor, Tensor)");
            return false;
        }
    if (is_generated(m, c->name)) {
        cg_refuse(m, v->pos, "'%s' is the name of a generated function; choose another name",
                  c->name);
        return false;
    }
    if (c->layout->callable && c->layout->n_results)
        return true;
    cg_refuse(m, v->pos,
              "helper %s has no result, or a type that C has no word for; use types of "
              "docs/derivatives.md",
              c->name);
    return false;
}

static void read_helper(cg_maker *m, const cg_node *entry, const cg_node *v)
{
    cg_str text = cg_str_of(v);
    tn__schema_error err = {0, ""};
    if (entry->n != 1)
        cg_refuse(m, entry->child->next->next->pos,
                  "a helper has no other keys; begin a new entry with '- '");
    if (v->kind != CG_NODE_STR) {
        cg_refuse(
            m, v->pos,
            "'helper' must be a schema, found %s; write 'helper: name(Tensor grad) -> Tensor'",
            cg_node_describe(v));
        return;
    }
    cg_callee c = {.schema = tn__schema_parse(m->a, v->text, strlen(v->text), true, &err),
                   .overload = "",
                   .is_helper = true,
                   .is_own = true,
                   .frame = ""};
    if (!c.schema) {
        cg_refuse(m, cg_at(&text, err.column > 0 ? (size_t)err.column - 1 : 0), "%s", err.message);
        return;
    }
    c.name = c.c_name = c.schema->name;
    c.overload = c.schema->overload;
    c.layout = tn__layout_new(m->a, c.schema);
    if (!c.layout)
        m->d->no_memory = true;
    else if (check_helper(m, v, &c))
        m->out->callees[m->out->n_callees++] = c;
}

/* ---- calls: [unsqueeze, sum.dim_IntList] ------------------------------------------------------ */
/* Of a name that has other overloads those are said. */
static void refuse_call(cg_maker *m, const cg_node *item, const char *name)
{
    enum { MOST = 4096 };
    const char *names[MOST];
    char all[256] = "";
    int n = 0;
    size_t base = strcspn(name, ".");
    for (int i = 0; i < m->out->n_callees && n < MOST; i++) {
        const cg_callee *c = &m->out->callees[i];
        names[n++] = c->name;
        if (c->is_helper || strlen(c->name) != base || memcmp(c->name, name, base) != 0)
            continue;
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s%s%s", used ? ", " : "", c->name,
                 *c->overload ? "." : "", c->overload);
    }
    const char *near = *all ? all : cg_near(name, names, n);
    cg_refuse(m, item->pos, "there is no operator '%.80s'; %s%s%s", name,
              *all   ? "write "
              : near ? "did you mean '"
                     : "`tenon ops` lists them",
              near ? near : "", near && !*all ? "'?" : "");
}

static void read_calls(cg_maker *m, const cg_node *v)
{
    if (v->kind != CG_NODE_LIST) {
        cg_refuse(m, v->pos,
                  "'calls' must be a list of operators, found %s; write 'calls: "
                  "[expand, sum.dim_IntList]'",
                  cg_node_describe(v));
        return;
    }
    for (const cg_node *item = v->child; item; item = item->next) {
        const char *name = item->text ? item->text : "";
        cg_callee *c = find_callee(m, name);
        if (c && !c->is_helper) {
            c->used = true;
            continue;
        }
        refuse_call(m, item, name);
    }
}

/* ---- the file -------------------------------------------------------------------------------- */
static int count_nodes(const cg_node *root)
{
    return root ? root->n : 0;
}

static void read_declarations(cg_maker *m, const cg_node *root)
{
    const cg_node *v;
    for (const cg_node *e = root ? root->child : NULL; e; e = e->next) {
        if (e->broken || e->kind != CG_NODE_MAP)
            continue;
        if ((v = cg_node_get(e, "helper", NULL)))
            read_helper(m, e, v);
    }
    for (const cg_node *e = root ? root->child : NULL; e; e = e->next)
        if (!e->broken && e->kind == CG_NODE_MAP && (v = cg_node_get(e, "calls", NULL)))
            read_calls(m, v);
}

static void read_entries(cg_maker *m, const cg_node *root)
{
    for (const cg_node *e = root ? root->child : NULL; e; e = e->next) {
        if (e->broken)
            continue;
        if (e->kind == CG_NODE_MAP && cg_node_get(e, "name", NULL))
            cg_derivative_read(m, e);
        else if (e->kind != CG_NODE_MAP ||
                 (!cg_node_get(e, "helper", NULL) && !cg_node_get(e, "calls", NULL)))
            cg_refuse(m, e->pos,
                      "an entry begins with 'name', 'helper' or 'calls'; write '- name: exp(Tensor "
                      "self) -> Tensor'");
    }
}

static bool has_derivative(const cg_maker *m, const cg_op *op)
{
    for (int i = 0; i < m->out->n; i++)
        if (m->out->items[i].op == op)
            return true;
    return false;
}

static void derive(cg_maker *m)
{
    const cg_ops *ops = m->source->ops;
    for (int i = 0; i < ops->n_groups; i++)
        if (ops->groups[i].is_pointwise && !has_derivative(m, ops->groups[i].forms[0]))
            cg_derivative_derive(m, &ops->groups[i]);
}

static int by_operator(const void *a, const void *b)
{
    const cg_derivative *x = a, *y = b;
    return (x->op->index > y->op->index) - (x->op->index < y->op->index);
}

bool cg_derivatives_make(cg_diag *d, tn__arena *a, const cg_derivatives_source *source,
                         cg_derivatives *out)
{
    cg_maker m = {d, a, source, source->path, out};
    const cg_node *root = NULL;
    bool complete;
    size_t n = source->n_bytes;
    int before = d->n_items;
    *out = (cg_derivatives){0};
    char *slurped = source->path && !source->bytes ? cg_slurp(d, source->path, &n) : NULL;
    const char *bytes = source->bytes ? source->bytes : slurped;
    if (bytes)
        root = cg_yaml_parse(a, d, source->path, "name: exp(Tensor self) -> Tensor", bytes, n,
                             &complete);
    size_t callees = (size_t)(count_operators(source->ops) + count_operators(source->built_in) +
                              count_nodes(root));
    size_t items = (size_t)(count_nodes(root) + source->ops->n_groups);
    out->callees = cg_maker_alloc(&m, (callees + 1) * sizeof *out->callees);
    out->items = cg_maker_alloc(&m, (items + 1) * sizeof *out->items);
    if (out->callees && out->items) {
        add_operators(&m, source->ops, true);
        add_operators(&m, source->built_in, false);
        cg_reference_check(d, a, source->ops, out);
        read_declarations(&m, root);
        read_entries(&m, root);
        derive(&m);
        qsort(out->items, (size_t)out->n, sizeof *out->items, by_operator);
    }
    free(slurped);
    return d->n_items == before && !d->no_memory;
}

bool cg_derivatives_list(const cg_derivatives *ds, FILE *to)
{
    for (int i = 0; i < ds->n; i++) {
        const cg_derivative *d = &ds->items[i];
        const tn__schema *s = d->op->schema;
        for (int k = 0; k < d->n_arguments; k++)
            if (!(d->flags[d->arguments[k]] & TN_FIELD_NO_FORMULA))
                fprintf(to, "%s%s%s: %s\n", s->name, *s->overload ? "." : "", s->overload,
                        d->op->layout->fields[d->arguments[k]].name);
    }
    return !ferror(to);
}

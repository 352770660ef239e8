/* names.c - the expression calls' names: tn_add for add.Tensor, and for add.Scalar too; and names of
 * operators that clash, with each other or with Tenon's.
 *
 * Of the overloads of a name the one whose overload name stands first in `plain` takes the plain
 * word. The list is fixed, so that an overload that is added later takes a word from nobody who
 * stands before it. A *twin* differs in one required argument alone, a tensor here and a number
 * there; the plain word then serves both. */
#include <stdlib.h>
#include <string.h>

#include "ops.h"

/* SIZE_MAX: keeps its overload in its name. */
static size_t rank(const tn__schema *s)
{
    static const char *const plain[] = {"",    "Tensor",        "self",      "Tensor_Tensor",
                                        "int", "memory_format", "using_ints"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(plain[i], s->overload) == 0)
            return i;
    return SIZE_MAX;
}

static bool same_name(const cg_op *a, const cg_op *b)
{
    return a != b && strcmp(a->schema->name, b->schema->name) == 0;
}

static bool is_required(const tn_field *f)
{
    return !(f->flags & TN_FIELD_DEFAULTED);
}

/* The next required argument from *i on; NULL at the end. */
static const tn_field *required(const tn__layout *l, int *i)
{
    while (*i < l->n_args) {
        const tn_field *f = &l->fields[l->n_results + (*i)++];
        if (is_required(f))
            return f;
    }
    return NULL;
}

static bool has_options(const tn__layout *l)
{
    for (int i = 0; i < l->n_args; i++)
        if (!is_required(&l->fields[l->n_results + i]))
            return true;
    return false;
}

/* The one required argument, behind the first, in which they differ, tensor against number; NULL:
 * they differ in more. */
static const char *difference(const cg_op *a, const cg_op *b)
{
    const char *found = NULL;
    int i = 0, j = 0;
    for (;;) {
        const tn_field *x = required(a->layout, &i), *y = required(b->layout, &j);
        if (!x || !y)
            return x || y ? NULL : found;
        if (strcmp(x->name, y->name) != 0)
            return NULL;
        if (x->kind == y->kind)
            continue;
        bool pair = (x->kind == TN_FIELD_TENSOR && y->kind == TN_FIELD_SCALAR) ||
                    (x->kind == TN_FIELD_SCALAR && y->kind == TN_FIELD_TENSOR);
        if (!pair || found || i == 1)
            return NULL;
        found = x->name;
    }
}

/* Among the operators of one page. */
static void choose(cg_op *op, const cg_group *page, const cg_group *end)
{
    size_t mine = rank(op->schema);
    if (mine == SIZE_MAX || op->form == CG_OUT)
        return;
    for (const cg_group *g = page; g < end; g++)
        for (int form = 0; form < CG_OUT; form++)
            if (g->forms[form] && same_name(op, g->forms[form]) &&
                rank(g->forms[form]->schema) < mine)
                return;
    op->short_id = op->schema->name;
    if (!*op->schema->overload) /* its own macro has the plain word already */
        return;
    for (const cg_group *g = page; g < end && !op->twin; g++)
        for (int form = 0; form < CG_OUT && !op->twin; form++)
            if (g->forms[form] && same_name(op, g->forms[form]) &&
                has_options(op->layout) == has_options(g->forms[form]->layout)) {
                op->twin_arg = difference(op, g->forms[form]);
                op->twin = op->twin_arg ? g->forms[form] : NULL;
            }
}

void cg_names_choose(cg_ops *ops)
{
    const cg_group *end = ops->groups + ops->n_groups, *next;
    for (const cg_group *page = ops->groups; page < end; page = next) {
        for (next = page; next < end && strcmp(next->page, page->page) == 0;)
            next++;
        for (const cg_group *g = page; g < next; g++)
            for (int form = 0; form < CG_OUT; form++)
                if (g->forms[form])
                    choose(g->forms[form], page, next);
    }
}

/* ---- names that clash ------------------------------------------------------------------------ */
static int by_id(const void *a, const void *b)
{
    const cg_op *const *x = a, *const *y = b;
    return strcmp((*x)->id, (*y)->id);
}

static const cg_entry *entry_of(const cg_ops *ops, const cg_op *op)
{
    return ops->groups[op->index / CG_FORMS].entry;
}

bool cg_names_check(cg_diag *d, tn__arena *a, const cg_ops *ops)
{
    const cg_op **all = tn__arena_alloc(a, (size_t)(ops->n_groups * CG_FORMS + 1) * sizeof *all);
    int n = 0, before = d->n_items;
    if (!all)
        return false;
    for (int i = 0; i < ops->n_groups; i++)
        for (int form = 0; form < CG_FORMS; form++)
            if (ops->groups[i].forms[form])
                all[n++] = ops->groups[i].forms[form];
    qsort(all, (size_t)n, sizeof *all, by_id);
    for (int i = 1; i < n; i++) {
        if (strcmp(all[i - 1]->id, all[i]->id) != 0)
            continue;
        const cg_entry *x = entry_of(ops, all[i - 1]), *y = entry_of(ops, all[i]);
        bool first = x->func.pos.line < y->func.pos.line;
        cg_error(d, x->file->name, first ? y->func.pos : x->func.pos,
                 "this and line %d give operators of one name in C, %s; rename one of the two",
                 first ? x->func.pos.line : y->func.pos.line, all[i]->id);
    }
    return d->n_items == before;
}

static bool has(const cg_ops *ops, const cg_op *op)
{
    for (int i = 0; i < ops->n_groups; i++)
        for (int form = 0; form < CG_FORMS; form++) {
            const cg_op *other = ops->groups[i].forms[form];
            if (other && same_name(op, other) &&
                strcmp(op->schema->overload, other->schema->overload) == 0)
                return true;
        }
    return false;
}

bool cg_names_check_plugin(cg_diag *d, const char *plugin, const cg_ops *ops,
                           const cg_ops *built_in)
{
    int before = d->n_items;
    for (int i = 0; i < ops->n_groups; i++) {
        const cg_op *op = ops->groups[i].forms[0];
        const cg_entry *e = ops->groups[i].entry;
        if (strcmp(op->schema->ns, "tn") == 0)
            cg_error(d, e->file->name, e->func.pos,
                     "in C the namespace 'tn' is Tenon's own; write another, as '%s::%s'", plugin,
                     op->schema->name);
        if (strcmp(op->schema->ns, "aten") == 0 && has(built_in, op))
            cg_error(d, e->file->name, e->func.pos,
                     "aten::%s is an operator of Tenon's own; write another namespace, as '%s::%s'",
                     op->schema->name, plugin, op->schema->name);
    }
    return d->n_items == before;
}

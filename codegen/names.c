/* names.c - the expression calls' names: tn_add for add.Tensor, and for add.Scalar too.
 *
 * Of the overloads of a name the one whose overload name stands first in `plain` takes the plain
 * word. The list is fixed, so that an overload that is added later takes a word from nobody who
 * stands before it. A *twin* differs in one required argument alone, a tensor here and a number
 * there; the plain word then serves both. */
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

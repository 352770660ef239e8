/* validate_view.c - the rules among a view (foo), its in-place form (foo_) and its copy (foo_copy),
 * which belong together by their view signature. */
#include "validate_impl.h"

#include "text.h"

#include <stdlib.h>
#include <string.h>

enum { ALIASING = CG_N_KINDS, ALIASING_INPLACE, N_VIEW_KINDS };

static bool is_implicit(const cg_facts *f, const char *suffix)
{
    return cg_kernel_for(f->e, suffix[0] ? "CompositeImplicitAutogradNestedTensor"
                                         : "CompositeImplicitAutograd");
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

/* PyTorch wants a copy of every view except those that decompose into other views. */
static bool needs_copy(const cg_facts *view)
{
    return !is_implicit(view, "") && !cg_entry_has_tag(view->e, "inplace_view") &&
           !ends_with(view->base, "_inverse");
}

/* Is the copy there, with an error of its own? */
static bool copy_failed(cg_check *c, const cg_facts *view)
{
    cg_text t = cg_text_start(&c->arena);
    cg_text_put(&t, view->base);
    cg_text_put(&t, "_copy");
    return t.ok && cg_base_tainted(c, t.s);
}

static void check_copy(cg_check *c, const cg_facts *view, const cg_facts *copy)
{
    const char *dot = cg_overload(view)[0] ? "." : "";
    if (!copy && needs_copy(view)) {
        bool hidden = c->names_missing || cg_base_tainted(c, view->base) || copy_failed(c, view);
        if (!hidden)
            cg_complain(c, NULL, view->e->func.pos,
                        "'%.80s' returns a view and has no copying form; add the entry "
                        "'%.80s_copy%s%.80s' with 'tags: view_copy'",
                        view->e->op, view->base, dot, cg_overload(view));
        return;
    }
    if (!copy)
        return;
    if (!ends_with(copy->base, "_copy") && !ends_with(copy->base, "_scatter"))
        cg_complain(c, NULL, copy->e->func.pos,
                    "'%.80s' has the arguments of the view '%.80s' on line %d and does not return "
                    "a view; name it '%.80s_copy%s%.80s', or change its arguments",
                    copy->e->op, view->e->op, view->e->pos.line, view->base, dot,
                    cg_overload(view));
    else if (!cg_entry_has_tag(copy->e, "view_copy"))
        cg_complain(c, NULL, copy->e->func.pos,
                    "'%.80s' is the copying form of '%.80s' and lacks the tag; write 'tags: "
                    "view_copy'",
                    copy->e->op, view->e->op);
}

static void check_inplace(cg_check *c, const cg_facts *view, const cg_facts *inplace)
{
    static const char *const suffixes[] = {"", "NestedTensor"};
    for (int i = 0; inplace && i < 2; i++)
        if (is_implicit(view, suffixes[i]) && !is_implicit(inplace, suffixes[i]))
            cg_complain(c, NULL, inplace->e->func.pos,
                        "'%.80s' has no CompositeImplicitAutograd%s kernel and its view '%.80s' "
                        "has one; give it to both or to none",
                        inplace->e->op, suffixes[i], view->e->op);
}

static int by_view_signature(const void *a, const void *b)
{
    const cg_facts *x = *(cg_facts *const *)a, *y = *(cg_facts *const *)b;
    int order = strcmp(x->view_signature, y->view_signature);
    return order ? order : (x > y) - (x < y);
}

static void join(cg_check *c, cg_facts **members, cg_facts *f)
{
    int kind = !f->is_view ? f->kind : f->inplace ? ALIASING_INPLACE : ALIASING;
    const cg_facts *other = members[kind];
    if (!other)
        members[kind] = f;
    else if (strcmp(other->signature, f->signature) != 0 || (f->is_view && f->kind != other->kind))
        cg_complain(
            c, NULL, f->e->func.pos,
            "'%.80s' and '%.80s' on line %d are forms of one view; rename one or change its "
            "arguments",
            f->e->op, other->e->op, other->e->pos.line);
}

void cg_validate_views(cg_check *c)
{
    cg_facts **list = tn__arena_alloc(&c->arena, ((size_t)c->n + 1) * sizeof *list);
    int n = 0;
    if (!list) {
        c->diag->no_memory = true;
        return;
    }
    for (int i = 0; i < c->n; i++)
        if (c->facts[i].ok)
            list[n++] = &c->facts[i];
    qsort(list, (size_t)n, sizeof *list, by_view_signature);
    for (int i = 0; i < n;) {
        cg_facts *members[N_VIEW_KINDS] = {NULL};
        for (int first = i;
             i < n && strcmp(list[i]->view_signature, list[first]->view_signature) == 0; i++)
            join(c, members, list[i]);
        if (!members[ALIASING])
            continue;
        check_copy(c, members[ALIASING], members[TN__SCHEMA_FUNCTIONAL]);
        check_inplace(c, members[ALIASING], members[ALIASING_INPLACE]);
    }
}

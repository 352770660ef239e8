/* validate_group.c - the rules among the forms of one function: functional, in-place, mutable and
 * out=.
 *
 * Forms belong together when their signatures (validate_facts.c) are equal. PyTorch's generator
 * adds missing functional and out= forms of its own; which ones it would add is worked out here,
 * because `autogen` must name exactly those. */
#include "validate_impl.h"

#include "text.h"

#include <stdlib.h>
#include <string.h>

typedef struct group {
    cg_facts *member[CG_N_KINDS]; /* by kind */
    const char *made[CG_N_KINDS]; /* operator name of the form that PyTorch would add */
    int n;                        /* written members */
    cg_facts *first;
} group;

static const char *const kind_words[] = {"functional", "in-place", "out=", "mutable", "scratch"};

static bool has_composite(const cg_facts *f)
{
    return cg_kernel_for(f->e, "CompositeImplicitAutograd") != NULL;
}

/* ---- delegates and in-place views: by name --------------------------------------------------- */

static const cg_derived *find_derived(const cg_check *c, const char *op)
{
    for (int i = 0; i < c->n_derived; i++)
        if (strcmp(c->derived[i].op, op) == 0)
            return &c->derived[i];
    return NULL;
}

static void check_delegate(cg_check *c, cg_facts *f)
{
    const cg_str *to = &f->e->structured_delegate;
    if (!to->text)
        return;
    const cg_facts *target = cg_facts_find(c, to->text);
    if (!target && !c->names_missing && !find_derived(c, to->text)) {
        const char **names = tn__arena_alloc(&c->arena, ((size_t)c->n + 1) * sizeof *names);
        int n = 0;
        for (int i = 0; i < c->n && names; i++)
            if (c->facts[i].e->structured)
                names[n++] = c->facts[i].e->op;
        const char *near = names ? cg_near(to->text, names, n) : NULL;
        cg_complain(c, NULL, to->pos,
                    "'%.80s' is delegated to '%.80s', which is not in this file; %s%.80s%s",
                    f->e->op, to->text,
                    near ? "did you mean '" : "add its entry with 'structured: True'",
                    near ? near : "", near ? "'?" : "");
    } else if (target && target->ok && !target->e->structured) {
        cg_complain(
            c, NULL, to->pos,
            "'%.80s' is delegated to '%.80s', which is not structured; write 'structured: True' "
            "on line %d",
            f->e->op, to->text, target->e->pos.line);
    }
}

static void check_inplace_view(cg_check *c, const cg_facts *f)
{
    bool keeps = strcmp(f->e->op, "resize_") == 0 || strcmp(f->e->op, "resize_as_") == 0 ||
                 strcmp(f->e->schema->name, "set_") == 0;
    if (!cg_entry_has_tag(f->e, "inplace_view") || keeps || c->names_missing)
        return;
    for (int i = 0; i < c->n; i++) {
        const cg_facts *g = &c->facts[i];
        if (!g->ok || (!g->inplace && !g->functional_suffix && strcmp(g->base, f->base) == 0 &&
                       g->dunder == f->dunder))
            if (g->ok || cg_base_tainted(c, f->base))
                return;
    }
    cg_complain(c, NULL, f->e->func.pos,
                "'%.80s' is tagged inplace_view and there is no view '%.80s'; add its entry",
                f->e->op, f->base);
}

/* ---- what PyTorch would add ------------------------------------------------------------------ */

static const char *made_name(cg_check *c, const cg_facts *base, int kind)
{
    cg_text t = cg_text_start(&c->arena);
    bool out = kind == TN__SCHEMA_OUT;
    const char *overload = cg_overload(base);
    cg_text_put(&t, base->dunder ? "__" : "");
    cg_text_put(&t, base->base);
    cg_text_put(&t, base->dunder ? "__" : "");
    cg_text_put(&t, !out && base->kind == TN__SCHEMA_MUTABLE ? "_functional" : "");
    cg_text_put(&t, overload[0] || out ? "." : "");
    cg_text_put(&t, overload);
    cg_text_put(&t, out ? (overload[0] ? "_out" : "out") : "");
    if (!t.ok)
        c->diag->no_memory = true;
    return t.ok ? t.s : "";
}

static bool is_skipped(const group *g)
{
    bool manual = true, composite = true, view = false, core = false;
    for (int k = 0; k < CG_N_KINDS; k++) {
        const cg_facts *f = g->member[k];
        if (!f)
            continue;
        manual &= f->e->manual_cpp_binding;
        composite &= has_composite(f);
        view |= f->is_view && strcmp(f->e->schema->name, "set_") != 0;
        core |= cg_entry_has_tag(f->e, "core");
    }
    return manual || view || (composite && !core);
}

/* 0: no result is a tensor, 1: some are, 2: all are. */
static int tensor_results(const cg_facts *f)
{
    const tn__schema *s = f->e->schema;
    int n = 0;
    for (int i = 0; i < s->n_rets; i++)
        n += cg_type_core(s->rets[i].type) == TN__TYPE_TENSOR;
    return n == 0 ? 0 : n < s->n_rets ? 1 : 2;
}

static bool wants_out(const cg_facts *f)
{
    for (int i = 0; i < f->e->n_autogen; i++)
        if (strstr(f->e->autogen[i].text, "out"))
            return true;
    return false;
}

static void make_form(cg_check *c, group *g, const cg_facts *base, int kind)
{
    g->made[kind] = made_name(c, base, kind);
    const cg_facts *written = cg_facts_find(c, g->made[kind]);
    if (written && written->ok)
        cg_complain(c, NULL, written->e->func.pos,
                    "'%.80s' has other arguments or results than the %s form of '%.80s' on line "
                    "%d; make them agree, or give it another overload name",
                    written->e->op, kind_words[kind], base->e->op, base->e->pos.line);
}

static void work_out_made(cg_check *c, group *g)
{
    cg_facts *out = g->member[TN__SCHEMA_OUT], *inplace = g->member[TN__SCHEMA_INPLACE];
    cg_facts *functional = g->member[TN__SCHEMA_FUNCTIONAL],
             *mutable = g->member[TN__SCHEMA_MUTABLE];
    cg_facts *base = mutable ? mutable : inplace ? inplace : out ? out : functional;
    if (!base || is_skipped(g))
        return;
    if (out && g->n == 1) {
        if (!cg_word_in(cg_except_out_alone, out->e->op) && !c->names_missing &&
            !cg_base_tainted(c, out->base))
            cg_complain(c, NULL, out->e->func.pos,
                        "out= form '%.80s' has no functional form of the same arguments and "
                        "results; add '%.80s', or make its arguments agree",
                        out->e->op, out->base);
        return;
    }
    if (inplace && cg_word_in(cg_except_inplace, inplace->e->op))
        return;
    int tensors = tensor_results(base);
    bool valid = base->kind == TN__SCHEMA_INPLACE || tensors > 0;
    if (!out && !valid && !cg_word_in(cg_except_no_out, base->e->op))
        cg_complain(c, NULL, base->e->func.pos,
                    "'%.80s' returns no Tensor, so it cannot have an out= form; return a Tensor, "
                    "or remove its dispatch table",
                    base->e->op);
    bool makes_out = !out && valid && wants_out(base);
    if (makes_out && base->kind != TN__SCHEMA_INPLACE && tensors == 1)
        cg_complain(c, NULL, cg_entry_key_pos(base->e, "autogen"),
                    "no out= form can be made of '%.80s': not all its results "
                    "are Tensors; remove '.out' from autogen",
                    base->e->op);
    bool writes_self = base->kind == TN__SCHEMA_FUNCTIONAL && base->self >= 0 &&
                       cg_arg_written(&base->e->schema->args[base->self]);
    if (makes_out && writes_self)
        cg_complain(
            c, NULL, cg_entry_key_pos(base->e, "autogen"),
            "no out= form can be made of '%.80s': it writes self and its name does not say so; "
            "name it '%.80s_', or remove autogen",
            base->e->op, base->base);
    if (makes_out)
        make_form(c, g, base, TN__SCHEMA_OUT);
    if (!functional && (out || makes_out))
        make_form(c, g, base, TN__SCHEMA_FUNCTIONAL);
}

/* ---- the group ------------------------------------------------------------------------------- */

typedef struct names {
    const char *list[64];
    cg_pos pos[64];
    int n;
} names;

static void add_name(names *l, const char *name, cg_pos pos)
{
    for (int i = 0; i < l->n; i++)
        if (strcmp(l->list[i], name) == 0)
            return;
    if (l->n < 64) {
        int i = l->n++;
        for (; i > 0 && strcmp(l->list[i - 1], name) > 0; i--) {
            l->list[i] = l->list[i - 1];
            l->pos[i] = l->pos[i - 1];
        }
        l->list[i] = name;
        l->pos[i] = pos;
    }
}

static bool same_names(const names *a, const names *b)
{
    for (int i = 0; i < a->n && a->n == b->n; i++)
        if (strcmp(a->list[i], b->list[i]) != 0)
            return false;
    return a->n == b->n;
}

static void check_autogen(cg_check *c, const group *g)
{
    names made = {.n = 0}, said = {.n = 0};
    cg_facts *speaker = g->first;
    for (int k = 0; k < CG_N_KINDS; k++) {
        const cg_facts *f = g->member[k];
        if (g->made[k] || (f && cg_entry_has_tag(f->e, "generated")))
            add_name(&made, f ? f->e->op : g->made[k], (cg_pos){0, 0});
        for (int i = 0; f && i < f->e->n_autogen; i++)
            add_name(&said, f->e->autogen[i].text, f->e->autogen[i].pos);
        if (f && f->e->n_autogen && !speaker->e->n_autogen)
            speaker = g->member[k];
    }
    if (same_names(&made, &said))
        return;
    cg_text t = cg_text_start(&c->arena);
    for (int i = 0; i < made.n; i++) {
        cg_text_put(&t, i ? ", " : "");
        cg_text_put(&t, made.list[i]);
    }
    cg_pos pos = speaker->e->n_autogen ? cg_entry_key_pos(speaker->e, "autogen")
                                       : speaker->e->func.pos;
    if (!t.ok)
        c->diag->no_memory = true;
    else if (made.n)
        cg_complain(c, NULL, pos,
                    "autogen of '%.80s' must name the forms that are missing; write 'autogen: %s'",
                    speaker->e->op, t.s);
    else
        cg_complain(c, NULL, pos, "autogen of '%.80s' names forms that exist; remove the key",
                    speaker->e->op);
}

static void check_structured(cg_check *c, const group *g)
{
    const cg_facts *out = g->member[TN__SCHEMA_OUT];
    bool structured = out && out->e->structured;
    for (int k = 0; k < CG_N_KINDS; k++) {
        const cg_facts *f = g->member[k];
        const char *to = f ? f->e->structured_delegate.text : NULL;
        if (!f || f == out || (structured && f->e->structured))
            continue;
        if (structured && !to)
            cg_complain(
                c, NULL, f->e->func.pos,
                "'%.80s' belongs to the structured '%.80s' and does not delegate to it; write "
                "'structured_delegate: %.80s'",
                f->e->op, out->e->op, out->e->op);
        else if (structured && k != TN__SCHEMA_MUTABLE && strcmp(to, out->e->op) != 0)
            cg_complain(c, NULL, f->e->structured_delegate.pos,
                        "'%.80s' is delegated to '%.80s', but its out= form is "
                        "'%.80s'; write that",
                        f->e->op, to, out->e->op);
        else if (!structured && to && (out ? cg_facts_find(c, to) == out : false))
            continue; /* said already, where the delegate was looked up */
        else if (!structured && to && out)
            cg_complain(c, NULL, f->e->structured_delegate.pos,
                        "'%.80s' delegates, but its out= form '%.80s' is not "
                        "structured; write 'structured: True' there",
                        f->e->op, out->e->op);
    }
    if (structured && (g->made[TN__SCHEMA_FUNCTIONAL]))
        cg_complain(c, NULL, out->e->func.pos,
                    "structured '%.80s' has no functional form in this file; add '%.80s' with "
                    "'structured_delegate: %.80s'",
                    out->e->op, out->base, out->e->op);
    const cg_kernel *k = structured ? cg_kernel_for(out->e, "CompositeImplicitAutograd") : NULL;
    k = k || !structured ? k : cg_kernel_for(out->e, "CompositeImplicitAutogradNestedTensor");
    if (k)
        cg_complain(c, NULL, k->key_pos,
                    "a structured kernel cannot be %s; write one for each backend", k->key);
}

static void check_whole(cg_check *c, const group *g)
{
    const cg_facts *functional = g->member[TN__SCHEMA_FUNCTIONAL], *out = g->member[TN__SCHEMA_OUT];
    const cg_facts *mutable = g->member[TN__SCHEMA_MUTABLE];
    for (int k = 0; k < CG_N_KINDS; k++) {
        const cg_facts *f = g->member[k];
        if (f && strcmp(f->e->schema->ns, g->first->e->schema->ns) != 0)
            cg_complain(
                c, NULL, f->e->func.pos,
                "'%.80s' is in namespace '%.40s', its other form on line %d in '%.40s'; use "
                "one",
                f->e->op, f->e->schema->ns, g->first->e->pos.line, g->first->e->schema->ns);
    }
    if (mutable && functional && !functional->functional_suffix)
        cg_complain(c, NULL, functional->e->func.pos,
                    "the functional form of the mutable '%.80s' on line %d must be named "
                    "'%.80s_functional'; rename it",
                    mutable->e->op, mutable->e->pos.line, mutable->base);
    check_structured(c, g);
    if (!out || !out->e->structured || !g->made[TN__SCHEMA_FUNCTIONAL])
        check_autogen(c, g);
}

/* Outside a whole group nothing can have been generated. */
static void check_generated(cg_check *c, const group *g)
{
    for (int k = 0; k < CG_N_KINDS; k++)
        if (g->member[k] && cg_entry_has_tag(g->member[k]->e, "generated"))
            cg_complain(c, NULL, cg_entry_key_pos(g->member[k]->e, "tags"),
                        "tag 'generated' on '%.80s', which is written "
                        "here; remove the tag",
                        g->member[k]->e->op);
}

static void check_group(cg_check *c, group *g)
{
    for (int k = 0; k < CG_N_KINDS; k++)
        if (g->member[k] && g->member[k]->e->is_ours)
            return; /* its forms follow from it; what stands beside it was checked by name */
    work_out_made(c, g);
    int n = 0;
    for (int k = 0; k < CG_N_KINDS; k++)
        n += g->member[k] || g->made[k];
    if (n < 2 || !(g->member[TN__SCHEMA_OUT] || g->made[TN__SCHEMA_OUT]))
        check_generated(c, g);
    if (n < 2)
        return;
    bool functional = g->member[TN__SCHEMA_FUNCTIONAL] || g->made[TN__SCHEMA_FUNCTIONAL];
    bool hidden = c->names_missing || cg_base_tainted(c, g->first->base);
    if (!functional || g->member[CG_KIND_SCRATCH]) {
        if (!hidden)
            cg_complain(c, NULL, g->first->e->func.pos,
                        "'%.80s' has other forms and no functional one; add '%.80s' with the "
                        "same arguments",
                        g->first->e->op, g->first->base);
        return;
    }
    if (!hidden && (g->member[TN__SCHEMA_OUT] || g->made[TN__SCHEMA_OUT]))
        check_whole(c, g);
}

/* ---- grouping -------------------------------------------------------------------------------- */

static int by_signature(const void *a, const void *b)
{
    const cg_facts *x = *(cg_facts *const *)a, *y = *(cg_facts *const *)b;
    int order = strcmp(x->signature, y->signature);
    return order ? order : (x > y) - (x < y);
}

static void join(cg_check *c, group *g, cg_facts *f)
{
    const cg_facts *other = g->member[f->kind];
    if (!g->first)
        g->first = f;
    if (!other) {
        g->member[f->kind] = f;
        g->n++;
    } else if (strcmp(other->e->op, f->e->op) != 0) {
        cg_complain(
            c, NULL, f->e->func.pos,
            "'%.80s' takes and returns the same as '%.80s' on line %d, and both are %s; give "
            "one of them another argument, or remove it",
            f->e->op, other->e->op, other->e->pos.line, kind_words[f->kind]);
    }
}

void cg_validate_groups(cg_check *c)
{
    cg_facts **list = tn__arena_alloc(&c->arena, ((size_t)c->n + 1) * sizeof *list);
    int n = 0;
    if (!list) {
        c->diag->no_memory = true;
        return;
    }
    for (int i = 0; i < c->n; i++) {
        cg_facts *f = &c->facts[i];
        if (f->e->schema && !f->e->broken)
            check_delegate(c, f);
        if (!f->ok)
            continue;
        check_inplace_view(c, f);
        list[n++] = f;
    }
    qsort(list, (size_t)n, sizeof *list, by_signature);
    for (int i = 0; i < n;) {
        group g = {0};
        for (int first = i; i < n && strcmp(list[i]->signature, list[first]->signature) == 0; i++)
            join(c, &g, list[i]);
        check_group(c, &g);
    }
}

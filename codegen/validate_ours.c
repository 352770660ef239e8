/* validate_ours.c - the rules of our keys, and the names of the forms that follow from them.
 *
 * pointwise and shape make an entry structured by itself: what PyTorch's structured keys would say
 * about it is said already, so those keys are refused beside ours. */
#include "validate_impl.h"

#include "text.h"

#include <string.h>

static const char *our_key(const cg_entry *e)
{
    return e->pointwise.text ? "pointwise" : "shape";
}

static void check_other_keys(cg_check *c, cg_facts *f)
{
    static const char *const refused[] = {"structured",
                                          "structured_delegate",
                                          "structured_inherits",
                                          "precomputed",
                                          "ufunc_inner_loop",
                                          "autogen",
                                          "manual_kernel_registration"};
    const cg_entry *e = f->e;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        cg_pos pos = cg_entry_key_pos(e, refused[i]);
        if (pos.line != e->pos.line || pos.column != e->pos.column)
            cg_complain(c, f, pos,
                        "'%s' beside '%s', which makes the kernel structured and its in-place and "
                        "out= forms "
                        "by itself; remove one of the two",
                        refused[i], our_key(e));
    }
    if (!e->device_guard)
        cg_complain(c, f, cg_entry_key_pos(e, "device_guard"),
                    "structured kernels always guard the device; remove "
                    "'device_guard: False'");
    const cg_kernel *k = cg_kernel_for(e, "CompositeImplicitAutograd");
    if (k)
        cg_complain(
            c, f, k->key_pos,
            "CompositeImplicitAutograd beside '%s'; write a kernel for a backend, or remove "
            "'%s'",
            our_key(e), our_key(e));
    if (e->pointwise.text && e->shape.text)
        cg_complain(c, f, cg_entry_key_pos(e, "shape"),
                    "'shape' beside 'pointwise', which broadcasts its arguments by "
                    "itself; remove one of the two");
}

static void check_form_of_schema(cg_check *c, cg_facts *f)
{
    const tn__schema *s = f->e->schema;
    bool writes = false, tensor = false;
    for (int i = 0; i < s->n_args; i++) {
        writes |= cg_arg_written(&s->args[i]);
        tensor |= cg_type_core(s->args[i].type) == TN__TYPE_TENSOR;
    }
    if (writes || f->inplace) {
        cg_complain(c, f, cg_entry_key_pos(f->e, our_key(f->e)),
                    "'%s' on a form that writes its arguments; write it on "
                    "the functional form, the in-place and out= forms follow from it",
                    our_key(f->e));
        return;
    }
    if (s->n_rets == 0)
        cg_complain(c, f, f->e->func.pos,
                    "'%s' on a function without a result; it must return a Tensor", our_key(f->e));
    for (int i = 0; i < s->n_rets; i++) {
        const tn__arg *r = &s->rets[i];
        bool good = f->e->pointwise.text
                        ? r->type->kind == TN__TYPE_TENSOR && !tn__type_alias(r->type)
                        : cg_type_core(r->type) == TN__TYPE_TENSOR;
        if (!good)
            cg_complain(c, f, cg_arg_pos(f->e, r),
                        "'%s' on a function whose result %d is no %sTensor; return 'Tensor'",
                        our_key(f->e), i + 1, f->e->pointwise.text ? "new " : "");
    }
    if (f->e->pointwise.text && s->n_rets > 1)
        cg_complain(c, f, cg_arg_pos(f->e, &s->rets[1]),
                    "'pointwise' is one expression and has one result; return one "
                    "Tensor");
    if (f->e->pointwise.text && !tensor)
        cg_complain(c, f, f->e->func.pos,
                    "'pointwise' on a function without a Tensor argument; it has no shape to "
                    "follow");
}

static void check_forms(cg_check *c, cg_facts *f)
{
    const cg_entry *e = f->e;
    const tn__schema *s = e->schema;
    cg_pos pos = cg_entry_key_pos(e, "forms");
    if (!(e->forms & CG_FORM_FUNCTIONAL))
        cg_complain(c, f, pos,
                    "'forms' without functional, which is the form the entry states; add it");
    bool plain = s->n_rets > 0 && s->n_rets <= 26;
    for (int i = 0; i < s->n_rets; i++)
        plain = plain && s->rets[i].type->kind == TN__TYPE_TENSOR &&
                !tn__type_alias(s->rets[i].type);
    bool self = f->self >= 0 && s->args[f->self].type->kind == TN__TYPE_TENSOR;
    if ((e->forms & CG_FORM_INPLACE) && !(self && plain && s->n_rets == 1 && f->options < 0))
        cg_complain(c, f, pos,
                    "no in-place form follows from this schema: it needs a 'Tensor self', one "
                    "Tensor result "
                    "and no tensor options; remove inplace from 'forms'");
    if ((e->forms & CG_FORM_INPLACE) && f->dunder)
        cg_complain(
            c, f, pos,
            "no in-place form follows from a dunder name; write 'forms: [functional, out]'");
    if ((e->forms & CG_FORM_OUT) && !plain)
        cg_complain(c, f, e->func.pos,
                    "no out= form follows from results that are not plain Tensors; write 'forms: "
                    "[functional]'");
    if (e->out.text && !(e->forms & CG_FORM_OUT))
        cg_complain(c, f, cg_entry_key_pos(e, "out"),
                    "'out' names an out= form that this entry does not have; remove it");
}

static void check_out_names(cg_check *c, cg_facts *f)
{
    const cg_entry *e = f->e;
    const tn__schema *s = e->schema;
    cg_pos pos = e->out.text ? e->out.pos : e->func.pos;
    for (int i = 0; e->out_names && i < s->n_rets; i++) {
        bool taken = false;
        for (int j = 0; j < s->n_args; j++)
            taken |= strcmp(s->args[j].name, e->out_names[i]) == 0;
        for (int j = 0; j < i; j++)
            taken |= strcmp(e->out_names[j], e->out_names[i]) == 0;
        if (taken && (e->forms & CG_FORM_OUT))
            cg_complain(c, f, pos,
                        "out argument '%.60s' has the name of another argument; name the out "
                        "arguments: 'out: "
                        "%.60s(result)'",
                        e->out_names[i], e->out_overload ? e->out_overload : "out");
    }
}

void cg_validate_ours(cg_check *c, cg_facts *f)
{
    static const char *const only_ours[] = {"forms", "out"};
    const cg_entry *e = f->e;
    for (int i = 0; i < 2; i++) {
        cg_pos pos = cg_entry_key_pos(e, only_ours[i]);
        if (!e->is_ours && (pos.line != e->pos.line || pos.column != e->pos.column))
            cg_complain(c, f, pos,
                        "'%s' is only for entries with pointwise or shape; write the forms of this "
                        "function "
                        "as entries of their own",
                        only_ours[i]);
    }
    if (e->reference.text && e->pointwise.text)
        cg_complain(c, f, cg_entry_key_pos(e, "reference"),
                    "'reference' beside 'pointwise', which says what is computed already; remove "
                    "one of the two");
    if (!e->is_ours)
        return;
    check_other_keys(c, f);
    bool before = f->ok;
    check_form_of_schema(c, f);
    if (f->ok == before && !f->e->misread) {
        check_forms(c, f);
        check_out_names(c, f);
    }
}

/* ---- the names of derived forms -------------------------------------------------------------- */

static void add_derived(cg_check *c, const cg_facts *f, const char *suffix, const char *overload,
                        bool is_out)
{
    cg_text t = cg_text_start(&c->arena);
    cg_text_put(&t, f->e->schema->name);
    cg_text_put(&t, suffix);
    cg_text_put(&t, overload[0] ? "." : "");
    cg_text_put(&t, overload);
    if (t.ok)
        c->derived[c->n_derived++] = (cg_derived){t.s, f, is_out};
    else
        c->diag->no_memory = true;
}

static void check_against(cg_check *c, int i)
{
    const cg_derived *d = &c->derived[i];
    cg_facts *written = cg_facts_find(c, d->op);
    if (written)
        cg_complain(c, written, written->e->func.pos,
                    "'%.80s' follows from '%.80s' on line %d by itself; remove this "
                    "entry, or restrict 'forms' there",
                    d->op, d->from->e->op, d->from->e->pos.line);
    for (int j = 0; j < i; j++)
        if (strcmp(c->derived[j].op, d->op) == 0)
            cg_complain(c, NULL, d->from->e->func.pos,
                        "'%.80s' follows from this entry and from '%.80s' on line %d; name "
                        "the out= form of one of them with 'out:'",
                        d->op, c->derived[j].from->e->op, c->derived[j].from->e->pos.line);
}

void cg_validate_derived(cg_check *c)
{
    c->derived = tn__arena_alloc(&c->arena, (2 * (size_t)c->n + 1) * sizeof *c->derived);
    if (!c->derived) {
        c->diag->no_memory = true;
        return;
    }
    for (int i = 0; i < c->n; i++) {
        const cg_facts *f = &c->facts[i];
        if (!f->ok || !f->e->is_ours)
            continue;
        if (f->e->forms & CG_FORM_INPLACE)
            add_derived(c, f, "_", cg_overload(f), false);
        if ((f->e->forms & CG_FORM_OUT) && f->e->out_overload)
            add_derived(c, f, "", f->e->out_overload, true);
    }
    for (int i = 0; i < c->n_derived; i++)
        check_against(c, i);
}

/* validate_entry.c - the rules among the keys of one entry: dispatch tables, structured kernels,
 * tags, variants. */
#include "validate_impl.h"

#include <string.h>

/* ---- the dispatch table ---------------------------------------------------------------------- */

static const char implicit[] = "CompositeImplicitAutograd";

static bool has_tensor_arg(const cg_facts *f)
{
    const tn__schema *s = f->e->schema;
    for (int i = 0; i < s->n_args && i < f->first_out; i++)
        if (cg_type_core(s->args[i].type) == TN__TYPE_TENSOR)
            return true;
    return false;
}

/* A table that says only what its absence would say, or would if the kernel had the default name.
 */
static void check_lone_implicit(cg_check *c, cg_facts *f)
{
    const cg_entry *e = f->e;
    if (!e->has_dispatch || e->n_dispatch != 1 || strcmp(e->dispatch[0].key, implicit) != 0)
        return;
    const cg_kernel *k = &e->dispatch[0];
    const char *name = cg_default_kernel(&c->arena, e->schema);
    bool same = name && !k->ns[0] && strcmp(name, k->name) == 0;
    if (same)
        cg_complain(c, f, k->key_pos,
                    "this dispatch table says what holds without one; remove the dispatch key");
    else if (!e->structured_delegate.text && !strstr(k->name, "_symint"))
        cg_complain(
            c, f, k->pos,
            "kernel '%.80s' of a lone CompositeImplicitAutograd must have the function's name; "
            "rename it to '%.80s' and remove the dispatch key",
            k->name, name ? name : "");
}

static void check_composites(cg_check *c, cg_facts *f)
{
    static const char *const keys[] = {"CompositeExplicitAutograd", "CompositeImplicitAutograd",
                                       "CompositeExplicitAutogradNonFunctional",
                                       "CompositeImplicitAutogradNestedTensor"};
    const cg_kernel *found[4];
    int n = 0;
    for (int i = 0; i < 4; i++) {
        const cg_kernel *k = cg_kernel_for(f->e, keys[i]);
        if (k)
            found[n++] = k;
    }
    bool nested = cg_kernel_for(f->e, keys[3]), non_functional = cg_kernel_for(f->e, keys[2]);
    if (n <= 1 || (n == 2 && nested && !non_functional))
        return;
    const cg_kernel *late = found[0]->key_pos.line > found[1]->key_pos.line ? found[0] : found[1];
    cg_complain(c, f, late->key_pos,
                "%s and %s exclude each other; keep CompositeExplicitAutograd if the kernel has a "
                "derivative of its own, else CompositeImplicitAutograd",
                found[0]->key, found[1]->key);
}

/* new_x, x_like, and what makes a tensor from no tensor. */
static void check_factory(cg_check *c, cg_facts *f)
{
    const cg_entry *e = f->e;
    const char *name = e->schema->name;
    size_t n = strlen(name);
    bool like = strncmp(name, "new_", 4) == 0 || (n >= 5 && strcmp(name + n - 5, "_like") == 0);
    bool factory = like || (f->options >= 0 && !has_tensor_arg(f));
    const cg_kernel *k = cg_kernel_for(e, implicit);
    if (factory && k && k->implied)
        cg_complain(
            c, f, e->func.pos,
            "factory function '%.80s' has no dispatch table; write 'dispatch:' and below it "
            "'CompositeExplicitAutograd: %.80s'",
            name, name);
}

/* PyTorch generates the kernels of one operator into one namespace. */
static void check_namespaces(cg_check *c, cg_facts *f)
{
    const cg_entry *e = f->e;
    for (int i = 1; i < e->n_dispatch; i++) {
        const cg_kernel *k = &e->dispatch[i];
        if (!k->implied && !e->dispatch[0].implied && strcmp(k->ns, e->dispatch[0].ns) != 0) {
            cg_complain(c, f, k->pos,
                        "kernels of one function in two namespaces, '%.40s' and '%.40s'; use one",
                        e->dispatch[0].ns, k->ns);
            return;
        }
    }
}

static void check_dispatch(cg_check *c, cg_facts *f)
{
    if (f->e->has_dispatch && f->e->manual_kernel_registration)
        cg_complain(c, f, cg_entry_key_pos(f->e, "dispatch"),
                    "a dispatch table has no effect beside "
                    "manual_kernel_registration; remove one of the two");
    check_lone_implicit(c, f);
    check_composites(c, f);
    check_factory(c, f);
    check_namespaces(c, f);
}

/* ---- structured kernels ---------------------------------------------------------------------- */

static void check_structured(cg_check *c, cg_facts *f)
{
    const cg_entry *e = f->e;
    cg_pos pos = cg_entry_key_pos(e, "structured");
    if (!e->structured) {
        if (e->structured_inherits.text)
            cg_complain(c, f, cg_entry_key_pos(e, "structured_inherits"),
                        "'structured_inherits' without "
                        "'structured: True'; add it, or remove this key");
        if (e->precomputed)
            cg_complain(c, f, cg_entry_key_pos(e, "precomputed"),
                        "'precomputed' without 'structured: True'; add it, or "
                        "remove this key");
        if (e->n_ufunc_inner_loop)
            cg_complain(c, f, cg_entry_key_pos(e, "ufunc_inner_loop"),
                        "'ufunc_inner_loop' without 'structured: True'; "
                        "add it, or remove this key");
        return;
    }
    if (f->kind != TN__SCHEMA_OUT)
        cg_complain(
            c, f, pos,
            "'structured' belongs on the out= form; write 'structured_delegate: %.80s.out' here",
            e->schema->name);
    if (!e->device_guard)
        cg_complain(c, f, cg_entry_key_pos(e, "device_guard"),
                    "structured kernels always guard the device; remove "
                    "'device_guard: False'");
    if (e->structured_inherits.text && strstr(e->structured_inherits.text, "::"))
        cg_complain(c, f, e->structured_inherits.pos,
                    "'structured_inherits' takes no namespace; write the name alone");
}

static void check_delegate(cg_check *c, cg_facts *f)
{
    const cg_entry *e = f->e;
    if (!e->structured_delegate.text)
        return;
    cg_pos pos = cg_entry_key_pos(e, "structured_delegate");
    if (strstr(e->structured_delegate.text, "::"))
        cg_complain(c, f, e->structured_delegate.pos,
                    "'structured_delegate' takes no namespace; write 'name.overload'");
    if (f->kind == TN__SCHEMA_OUT)
        cg_complain(c, f, pos,
                    "'structured_delegate' on an out= form; write 'structured: True' here instead");
    if (!e->device_guard)
        cg_complain(c, f, cg_entry_key_pos(e, "device_guard"),
                    "structured kernels always guard the device; remove "
                    "'device_guard: False'");
    for (int i = 0; i < e->n_dispatch; i++)
        if (!e->dispatch[i].implied && cg_word_in(cg_structured_keys, e->dispatch[i].key))
            cg_complain(c, f, e->dispatch[i].key_pos,
                        "%s is delegated to %.80s; remove this kernel, or the delegation",
                        e->dispatch[i].key, e->structured_delegate.text);
}

static void check_precomputed(cg_check *c, cg_facts *f)
{
    const tn__schema *s = f->e->schema;
    for (int i = 0; i < f->e->n_precomputed; i++) {
        const cg_precomputed *p = &f->e->precomputed[i];
        bool found = !p->replaces;
        for (int j = 0; j < s->n_args && !found; j++)
            found = strcmp(s->args[j].name, p->replaces) == 0;
        if (!found)
            cg_complain(
                c, f, p->pos,
                "precomputed replaces '%.60s', which is no argument; name an argument of '%.60s'",
                p->replaces, f->e->op);
    }
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void check_variants(cg_check *c, cg_facts *f)
{
    const cg_entry *e = f->e;
    bool method = e->variants & CG_VARIANT_METHOD;
    if (f->first_out < e->schema->n_args && e->variants != CG_VARIANT_FUNCTION)
        cg_complain(c, f, cg_entry_key_pos(e, "variants"),
                    "an out= form can only be a function; write 'variants: "
                    "function', or remove the key");
    if (method && e->python_module.text)
        cg_complain(c, f, cg_entry_key_pos(e, "python_module"),
                    "a function of a module cannot be a method too; write "
                    "'variants: function'");
}

static void check_no_default_args(cg_check *c, cg_facts *f)
{
    const tn__schema *s = f->e->schema;
    for (int i = 0; i < f->e->n_cpp_no_default_args; i++) {
        const cg_str *name = &f->e->cpp_no_default_args[i];
        bool found = false;
        for (int j = 0; j < s->n_args; j++)
            found |= s->args[j].def && strcmp(s->args[j].name, name->text) == 0;
        if (!found)
            cg_complain(c, f, name->pos,
                        "'%.60s' is no argument with a default; name one that has a default",
                        name->text);
    }
}

/* Does the name, or an argument, say that the function is random? */
static const char *random_reason(const cg_facts *f)
{
    const tn__schema *s = f->e->schema;
    for (int i = 0; i < s->n_args && i < f->first_out; i++)
        if (cg_type_core(s->args[i].type) == TN__TYPE_GENERATOR)
            return "takes a Generator";
    if (strstr(f->e->op, "rand"))
        return "has 'rand' in its name";
    bool dropout = strstr(f->e->op, "dropout") != NULL;
    for (int i = 0; i < s->n_args; i++)
        dropout |= strstr(s->args[i].name, "dropout") != NULL;
    return dropout && !strstr(f->e->op, "backward") ? "has 'dropout' in a name" : NULL;
}

static void check_tags(cg_check *c, cg_facts *f)
{
    const cg_entry *e = f->e;
    const char *reason = random_reason(f);
    if (reason && !cg_entry_has_tag(e, "nondeterministic_seeded") &&
        !cg_word_in(cg_except_seeded, e->op))
        cg_complain(c, f, e->func.pos,
                    "'%.80s' %s and lacks the tag; write 'tags: nondeterministic_seeded'", e->op,
                    reason);
    if (strncmp(e->op, "_foreach", 8) == 0 && e->device_check != CG_DEVICE_CHECK_NO_CHECK)
        cg_complain(c, f, e->func.pos,
                    "a _foreach function takes tensors of several devices; write 'device_check: "
                    "NoCheck'");
    bool keeps = strcmp(e->op, "resize_") == 0 || strcmp(e->op, "resize_as_") == 0 ||
                 strcmp(e->schema->name, "set_") == 0;
    if (cg_entry_has_tag(e, "inplace_view") && !keeps && !f->inplace)
        cg_complain(c, f, cg_entry_key_pos(e, "tags"),
                    "tag inplace_view on '%.80s', whose name does not end in '_'; "
                    "rename the function, or remove the tag",
                    e->op);
    if (f->is_view && f->inplace && !cg_entry_has_tag(e, "inplace_view"))
        cg_complain(c, f, e->func.pos,
                    "'%.80s' is an in-place view and lacks the tag; write 'tags: inplace_view'",
                    e->op);
}

static void check_names(cg_check *c, cg_facts *f)
{
    const cg_entry *e = f->e;
    if (e->structured_delegate.text)
        cg_check_operator_name(c, f, e->structured_delegate.pos, e->structured_delegate.text);
    for (int i = 0; i < e->n_autogen; i++)
        cg_check_operator_name(c, f, e->autogen[i].pos, e->autogen[i].text);
}

void cg_validate_entry(cg_check *c, cg_facts *f)
{
    const cg_entry *e = f->e;
    check_names(c, f);
    check_dispatch(c, f);
    check_structured(c, f);
    check_delegate(c, f);
    check_precomputed(c, f);
    check_variants(c, f);
    check_no_default_args(c, f);
    check_tags(c, f);
    if (e->use_const_ref_for_mutable_tensors && f->first_out < e->schema->n_args &&
        !cg_word_in(cg_except_const_ref, e->op))
        cg_complain(c, f, cg_entry_key_pos(e, "use_const_ref_for_mutable_tensors"),
                    "out arguments are never passed as "
                    "const; remove use_const_ref_for_mutable_tensors");
}

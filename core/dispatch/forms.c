/* forms.c - whether the forms of one declaration belong together. A structured kernel is compiled with
 * the functional form's frame and serves the others through it, so their frames must begin alike. */
#include <string.h>

#include "core/dispatch/registry.h"

static tn_status refuse(const tn_op *op, const tn_op *base, const char *why)
{
    return tn__fail(NULL, TN_ERR_PLUGIN, "'%.300s' is no form of '%.300s': %s", op->schema,
                    base->schema, why);
}

static bool same_namespace(const tn_op *a, const tn_op *b)
{
    return strcmp(a->layout->schema->ns, b->layout->schema->ns) == 0;
}

/* "relu" and "relu_". */
static bool is_inplace_name(const char *name, const char *base)
{
    size_t n = strlen(base);
    return strncmp(name, base, n) == 0 && strcmp(name + n, "_") == 0;
}

static int count_args(const tn_op *op, uint32_t flag)
{
    const tn__layout *l = op->layout;
    int n = 0;
    for (int i = l->n_results; i < l->n_results + l->n_args; i++)
        n += (l->fields[i].flags & flag) != 0;
    return n;
}

/* The base's whole frame, at the same places, and `more` arguments behind it. */
static bool begins_like(const tn_op *op, const tn_op *base, int more)
{
    const tn__layout *l = op->layout, *b = base->layout;
    if (l->n_results != b->n_results || l->n_args != b->n_args + more)
        return false;
    for (int i = 0; i < b->n_results + b->n_args; i++)
        if (l->fields[i].kind != b->fields[i].kind || l->fields[i].offset != b->fields[i].offset)
            return false;
    return true;
}

tn_status tn__forms_check(tn_op *const forms[TN__FORMS], bool structured)
{
    const tn_op *base = forms[TN__FORM_FUNCTIONAL], *inplace = forms[TN__FORM_INPLACE],
                *out = forms[TN__FORM_OUT];
    const char *name = base->layout->schema->name;
    int n_results = base->layout->n_results;
    if (inplace &&
        (!same_namespace(inplace, base) || !is_inplace_name(inplace->layout->schema->name, name)))
        return refuse(inplace, base, "an in-place form has the same name with '_' behind it");
    if (inplace && count_args(inplace, TN_FIELD_WRITTEN) == 0)
        return refuse(inplace, base, "an in-place form writes an argument, marked (a!)");
    if (inplace && structured && !begins_like(inplace, base, 0))
        return refuse(inplace, base, "its results and arguments must be the same");
    if (out && (!same_namespace(out, base) || strcmp(out->layout->schema->name, name) != 0))
        return refuse(out, base, "an out= form has the same name and another overload");
    if (out && structured &&
        (count_args(out, TN_FIELD_OUT) != n_results || !begins_like(out, base, n_results)))
        return refuse(out, base,
                      "it must have the same results and arguments, then an out argument, marked "
                      "(a!) behind '*', for each result");
    return TN_OK;
}

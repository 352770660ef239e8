/* derive.c - the in-place and out= schemas that follow from one functional declaration.
 *
 * Both are written out as text and parsed again: the result is then a schema like any other, with
 * its text, and the parser stays the only place that builds one. */
#include "entry.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

/* A type with an alias annotation behind its Tensor: "Tensor(a!)", "Tensor(a!)[]". */
static void put_type(cg_text *t, const tn__type *type, const char *annotation)
{
    char buf[512];
    size_t n = tn__type_print(type, buf, sizeof buf);
    bool tensor = n < sizeof buf && strncmp(buf, "Tensor", 6) == 0 && !tn__type_alias(type);
    t->ok = t->ok && n < sizeof buf;
    if (tensor && annotation) {
        cg_text_put(t, "Tensor");
        cg_text_put(t, annotation);
        cg_text_put(t, buf + 6);
    } else {
        cg_text_put(t, buf);
    }
}

static void put_arg(cg_text *t, const tn__arg *a, const char *annotation)
{
    put_type(t, a->type, annotation);
    if (a->name) {
        cg_text_put(t, " ");
        cg_text_put(t, a->name);
    }
    if (a->def) {
        cg_text_put(t, "=");
        cg_text_put(t, a->def->source);
    }
}

static void put_name(cg_text *t, const tn__schema *s, const char *suffix, const char *overload)
{
    if (s->ns_written) {
        cg_text_put(t, s->ns);
        cg_text_put(t, "::");
    }
    cg_text_put(t, s->name);
    cg_text_put(t, suffix);
    if (overload[0]) {
        cg_text_put(t, ".");
        cg_text_put(t, overload);
    }
    cg_text_put(t, "(");
}

static bool is_option(const tn__arg *a, const char *name, tn__type_kind kind)
{
    const tn__type *t = a->type->kind == TN__TYPE_OPTIONAL ? a->type->elem : a->type;
    return a->kwonly && t->kind == kind && strcmp(a->name, name) == 0;
}

int cg_options_at(const tn__schema *s)
{
    for (int i = 0; i + 4 <= s->n_args; i++) {
        const tn__arg *a = s->args + i;
        if (is_option(a, "dtype", TN__TYPE_SCALARTYPE) &&
            is_option(a + 1, "layout", TN__TYPE_LAYOUT) &&
            is_option(a + 2, "device", TN__TYPE_DEVICE) &&
            is_option(a + 3, "pin_memory", TN__TYPE_BOOL))
            return i;
    }
    return -1;
}

static const tn__schema *parse(cg_text *t)
{
    tn__schema_error err;
    return t->ok ? tn__schema_parse(t->arena, t->s, t->n, false, &err) : NULL;
}

const tn__schema *cg_schema_inplace(tn__arena *a, const cg_entry *e)
{
    const tn__schema *s = e->schema;
    if (!s || !(e->forms & CG_FORM_INPLACE))
        return NULL;
    cg_text t = cg_text_start(a);
    put_name(&t, s, "_", s->overload);
    for (int i = 0; i < s->n_args; i++) {
        cg_text_put(&t, i ? ", " : "");
        cg_text_put(&t, i == s->n_positional ? "*, " : "");
        put_arg(&t, &s->args[i], strcmp(s->args[i].name, "self") == 0 ? "(a!)" : NULL);
    }
    cg_text_put(&t, ") -> Tensor(a!)");
    return parse(&t);
}

const tn__schema *cg_schema_out(tn__arena *a, const cg_entry *e)
{
    const tn__schema *s = e->schema;
    if (!s || !(e->forms & CG_FORM_OUT) || !e->out_overload || !e->out_names || s->n_rets > 26)
        return NULL;
    cg_text t = cg_text_start(a);
    int options = cg_options_at(s);
    const char *comma = "";
    bool star = false;
    put_name(&t, s, "", e->out_overload);
    for (int i = 0; i < s->n_args; i++) {
        if (options >= 0 && i >= options && i < options + 4)
            continue; /* the out argument says dtype, layout and device */
        cg_text_put(&t, comma);
        cg_text_put(&t, !star && i >= s->n_positional ? "*, " : "");
        star |= i >= s->n_positional;
        put_arg(&t, &s->args[i], NULL);
        comma = ", ";
    }
    char annotation[8];
    for (int i = 0; i < s->n_rets; i++) {
        snprintf(annotation, sizeof annotation, "(%c!)", 'a' + i);
        cg_text_put(&t, comma);
        cg_text_put(&t, star ? "" : "*, ");
        star = true;
        put_arg(&t, &(tn__arg){.name = e->out_names[i], .type = s->rets[i].type}, annotation);
        comma = ", ";
    }
    cg_text_put(&t, s->n_rets == 1 ? ") -> " : ") -> (");
    for (int i = 0; i < s->n_rets; i++) {
        snprintf(annotation, sizeof annotation, "(%c!)", 'a' + i);
        cg_text_put(&t, i ? ", " : "");
        put_arg(&t, &s->rets[i], annotation);
    }
    cg_text_put(&t, s->n_rets == 1 ? "" : ")");
    return parse(&t);
}

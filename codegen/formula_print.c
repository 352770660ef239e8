/* formula_print.c - a typed formula as C: nested calls, a->name for what the frame holds, and a
 * variable for each call that is long or stands twice. */
#include <string.h>

#include "formula.h"
#include "text.h"

/* A call longer than this, and one that stands twice, gets a variable of its own. */
enum { LONG = 56 };

typedef struct printer {
    tn__arena *a;
    cg_code *out;
    const char **calls; /* the text of every call that is made in any case */
    int n_calls;
    int branch; /* inside of '?:', where only what is needed is called */
    bool ok;
} printer;

static void put(printer *p, cg_text *t, const cg_value *v);

static void put_all(printer *p, cg_text *t, const cg_value *v, const char *first)
{
    const char *comma = "";
    if (first) {
        cg_text_put(t, first);
        comma = ", ";
    }
    for (int i = 0; i < v->n; i++) {
        cg_text_put(t, comma);
        put(p, t, v->operands[i]);
        comma = ", ";
    }
}

/* Operators are put in parentheses wherever another one is around. */
static void put_operand(printer *p, cg_text *t, const cg_value *v)
{
    bool compound = v->kind == CG_VALUE_OPERATOR || v->kind == CG_VALUE_SELECT;
    cg_text_put(t, compound ? "(" : "");
    put(p, t, v);
    cg_text_put(t, compound ? ")" : "");
}

static void put_operator(printer *p, cg_text *t, const cg_value *v)
{
    if (v->n == 1) {
        cg_text_put(t, v->text);
        put_operand(p, t, v->operands[0]);
        return;
    }
    put_operand(p, t, v->operands[0]);
    cg_text_put(t, " ");
    cg_text_put(t, v->text);
    cg_text_put(t, " ");
    put_operand(p, t, v->operands[1]);
}

static void put_select(printer *p, cg_text *t, const cg_value *v)
{
    put_operand(p, t, v->operands[0]);
    p->branch++;
    cg_text_put(t, " ? ");
    put_operand(p, t, v->operands[1]);
    cg_text_put(t, " : ");
    put_operand(p, t, v->operands[2]);
    p->branch--;
}

static const char *item_type(const cg_value *v)
{
    switch (v->type.kind) {
    case TN_FIELD_TENSORS:
        return "tn_tensor *[]";
    case TN_FIELD_FLOATS:
        return "const double[]";
    case TN_FIELD_BOOLS:
        return "const bool[]";
    case TN_FIELD_SCALARS:
        return "const tn_scalar[]";
    default:
        return "const int64_t[]";
    }
}

static void put_list(printer *p, cg_text *t, const cg_value *v)
{
    char n[32];
    cg_text_put(t, "(");
    cg_text_put(t, v->text);
    if (!v->n) {
        cg_text_put(t, "){NULL, 0}");
        return;
    }
    cg_text_put(t, "){(");
    cg_text_put(t, item_type(v));
    cg_text_put(t, "){");
    put_all(p, t, v, NULL);
    snprintf(n, sizeof n, "}, %d}", v->n);
    cg_text_put(t, n);
}

/* A call that gives several results, without the array and the closing parenthesis. */
static void put_call(printer *p, cg_text *t, const cg_value *v, bool open)
{
    cg_text_put(t, v->callee->c_name);
    cg_text_put(t, "(");
    put_all(p, t, v, "g");
    cg_text_put(t, open ? "" : ")");
}

static void put_whole(printer *p, cg_text *t, const cg_value *v)
{
    char buf[64];
    switch (v->kind) {
    case CG_VALUE_LEAF:
        cg_text_put(t, v->text);
        break;
    case CG_VALUE_FIELD:
        cg_text_put(t, "a->");
        cg_text_put(t, v->text);
        break;
    case CG_VALUE_CALL:
        put_call(p, t, v, v->type.kind == CG_TYPE_RESULTS);
        break;
    case CG_VALUE_FUNCTION:
        cg_text_put(t, v->text);
        cg_text_put(t, "(");
        put_all(p, t, v, v->takes_g ? "g" : NULL);
        cg_text_put(t, ")");
        break;
    case CG_VALUE_OPERATOR:
        put_operator(p, t, v);
        break;
    case CG_VALUE_SELECT:
        put_select(p, t, v);
        break;
    case CG_VALUE_LIST:
        put_list(p, t, v);
        break;
    case CG_VALUE_MEMBER:
        put_operand(p, t, v->operands[0]);
        cg_text_put(t, ".");
        cg_text_put(t, v->text);
        break;
    case CG_VALUE_RESULT:
        put_call(p, t, v->operands[0], true);
        snprintf(buf, sizeof buf, ", (tn_tensor *[%d]){NULL})[%d]", v->operands[0]->type.n,
                 v->index);
        cg_text_put(t, buf);
        break;
    }
}

/* ---- variables ------------------------------------------------------------------------------- */
/* What calls an operator or a helper and gives a tensor. */
static bool is_call(const cg_value *v)
{
    bool calls = v->kind == CG_VALUE_CALL || v->kind == CG_VALUE_RESULT ||
                 (v->kind == CG_VALUE_FUNCTION && v->takes_g);
    return calls && v->type.kind == TN_FIELD_TENSOR;
}

static int count_calls(const cg_value *v)
{
    int n = is_call(v);
    for (int i = 0; i < v->n; i++)
        n += count_calls(v->operands[i]);
    return n;
}

/* Every call's own text, without variables. */
static void collect(printer *p, const cg_value *v)
{
    int n = v->kind == CG_VALUE_SELECT ? 1 : v->n;
    if (is_call(v)) {
        cg_text t = cg_text_start(p->a);
        p->branch++;
        put_whole(p, &t, v);
        p->branch--;
        p->ok &= t.ok;
        p->calls[p->n_calls++] = t.s;
    }
    for (int i = 0; i < n; i++)
        collect(p, v->operands[i]);
}

static bool stands_twice(const printer *p, const char *call)
{
    int n = 0;
    for (int i = 0; i < p->n_calls; i++)
        n += strcmp(p->calls[i], call) == 0;
    return n > 1;
}

/* The variable that holds `text`, made when there is none. */
static void put_variable(printer *p, cg_text *t, const char *text)
{
    char name[32];
    int i = 0;
    while (i < p->out->n_variables && strcmp(p->out->variables[i], text) != 0)
        i++;
    if (i == p->out->n_variables)
        p->out->variables[p->out->n_variables++] = text;
    snprintf(name, sizeof name, "t%d", i + 1);
    cg_text_put(t, name);
}

static void put(printer *p, cg_text *t, const cg_value *v)
{
    if (p->branch || !is_call(v)) {
        put_whole(p, t, v);
        return;
    }
    cg_text bare = cg_text_start(p->a), whole = cg_text_start(p->a);
    p->branch++;
    put_whole(p, &bare, v);
    p->branch--;
    put_whole(p, &whole, v);
    p->ok &= bare.ok && whole.ok;
    if (!p->ok)
        return;
    if (whole.n > LONG || stands_twice(p, bare.s))
        put_variable(p, t, whole.s);
    else
        cg_text_put(t, whole.s);
}

bool cg_formula_print(tn__arena *a, const cg_value *v, cg_code *out)
{
    size_t n = (size_t)count_calls(v) + 1;
    printer p = {.a = a, .out = out, .ok = true};
    cg_text t = cg_text_start(a);
    *out = (cg_code){.variables = tn__arena_alloc(a, n * sizeof *out->variables)};
    p.calls = tn__arena_alloc(a, n * sizeof *p.calls);
    if (!p.calls || !out->variables)
        return false;
    collect(&p, v);
    if (p.ok)
        put_whole(&p, &t, v);
    out->expression = t.s;
    return p.ok && t.ok;
}

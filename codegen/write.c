/* write.c - the facts: what the generator knows, as m4 macro calls. It writes no C but names, types
 * and literals; the templates own every other token. templates/README.md says what each fact
 * means. */
#include <string.h>

#include "defaults.h"
#include "ops.h"

static const char *const suffixes[TN_DTYPE_COUNT] = {"bool", "u8",   "i8",  "i16", "i32", "i64",
                                                     "f16",  "bf16", "f32", "f64", "c64", "c128"};

const char *cg_suffix(tn_dtype dtype)
{
    return suffixes[dtype];
}

/* A fact's argument is quoted, so that commas and parentheses in it are text. */
static void quoted(FILE *to, const char *text)
{
    fprintf(to, "@{%s@}", text);
}

/* Inside a C string literal. */
static void c_string(FILE *to, const char *text)
{
    fputs("@{", to);
    for (size_t n; *text; text += n) {
        if (*text == '"' || *text == '\\')
            fputc('\\', to);
        n = 1 + strcspn(text + 1, "\"\\");
        fwrite(text, 1, n, to);
    }
    fputs("@}", to);
}

/* ---- one operator ---------------------------------------------------------------------------- */
static const char *kind_word(tn_field_kind kind)
{
    static const char *const words[] = {
        "tensor", "tensors", "int",           "opt_int", "ints",      "float",      "opt_float",
        "floats", "bool",    "opt_bool",      "bools",   "scalar",    "scalars",    "dtype",
        "device", "layout",  "memory_format", "str",     "generator", "unsupported"};
    return words[kind];
}

/* "tn_tensor *" joins its name without a space, every other type with one. */
static void write_declarator(FILE *to, const tn_field *f)
{
    const char *type = tn__field_c_type(f->kind);
    bool pointer = type[strlen(type) - 1] == '*';
    fprintf(to, "@{%s%s@}", type, pointer ? "" : " ");
}

/* A default as the schema writes it; "" for a required argument. */
static const char *default_text(const cg_op *op, const tn_field *f)
{
    const tn__schema *s = op->schema;
    for (int i = 0; i < s->n_args; i++)
        if (strcmp(s->args[i].name, f->name) == 0)
            return s->args[i].def ? s->args[i].def->source : "";
    return "";
}

static void write_field(FILE *to, const char *fact, const cg_op *op, const tn_field *f)
{
    fprintf(to, "cg_%s(@{%s@}, ", fact, f->name);
    write_declarator(to, f);
    fprintf(to, ", %u, @{%s@}, @{%s@}", f->offset, kind_word(f->kind), f->type);
    if (strcmp(fact, "arg") == 0) {
        bool required = !(f->flags & TN_FIELD_DEFAULTED);
        fprintf(to, ", @{%s@}, @{%s@}, @{", required ? "required" : "default",
                f->flags & TN_FIELD_OPTIONAL ? "optional" : "always");
        cg_default_initialise(to, f, op->layout->defaults + f->offset);
        fprintf(to, "@}, @{%s@}, @{", default_text(op, f));
        if (!required || f->flags & TN_FIELD_OPTIONAL)
            cg_default_in_frame(to, f, op->layout->defaults + f->offset);
        fputs("@}", to);
    }
    fputs(")m4_dnl\n", to);
}

static const char *form_word(const cg_group *g, int form)
{
    static const char *const words[] = {"functional", "inplace", "out"};
    return g->entry->is_ours ? words[form] : "plain";
}

/* Only what gives one tensor can stand in an expression. */
static bool is_single(const tn__layout *l)
{
    return l->n_results == 1 && l->fields[0].kind == TN_FIELD_TENSOR;
}

void cg_fact_op(FILE *to, const cg_op *op, const char *form, int line)
{
    const tn__layout *l = op->layout;
    fprintf(to, "cg_op(@{%s@}, @{%s@}, ", op->id, op->short_id);
    c_string(to, op->full);
    fprintf(to, ", @{%s@}, %d, %d, %d, %u, ", form, line, op->index, l->n_results, l->size);
    fprintf(to, "@{%s@}, @{%s@}, @{%s@})m4_dnl\n", op->twin ? op->twin->id : "",
            op->twin ? op->twin_arg : "", is_single(l) ? "single" : "");
    for (int i = 0; i < l->n_results; i++)
        write_field(to, "result", op, &l->fields[i]);
    for (int i = 0; i < l->n_args; i++)
        write_field(to, "arg", op, &l->fields[l->n_results + i]);
    fprintf(to, "cg_op_end(@{%s@})m4_dnl\n", op->id);
}

/* ---- one declaration ------------------------------------------------------------------------- */
static void write_shape(FILE *to, const cg_group *g)
{
    if (!g->shape_rule)
        return;
    fprintf(to, "cg_shape(@{%s@}, @{%s@}, @{%s@})m4_dnl\n", g->forms[0]->id, g->shape_rule,
            g->shape_args);
}

/* What the promoted operands may be. Without a dtypes key a floating-point function takes integers
 * too, and computes them in the default floating dtype. */
static tn_dtypes operand_dtypes(const cg_group *g)
{
    bool floats = g->pointwise.kind & TN_POINTWISE_FLOAT && !g->entry->dtypes;
    if (!g->entry->is_ours)
        return 0;
    return g->pointwise.dtypes | (floats ? TN_DTYPES_INTEGRAL | TN_DTYPE_BIT(TN_BOOL) : 0);
}

static void write_decl(FILE *to, const cg_group *g)
{
    fprintf(to, "cg_decl(@{%s@}, ", g->forms[0]->id);
    for (int form = 0; form < CG_FORMS; form++) {
        if (g->forms[form])
            c_string(to, g->forms[form]->full);
        else
            fputs("@{@}", to);
        fputs(", ", to);
    }
    fprintf(to, "@{%s@}, %d, @{0x%x@}, @{%s@}, @{%s@}, %d)m4_dnl\n", g->shape_rule ? "shape" : "",
            g->pointwise.kind, operand_dtypes(g), g->entry->since.text ? g->entry->since.text : "",
            g->entry->is_ours ? "structured" : "plain", g->entry->func.pos.line);
}

static bool uses(const cg_expr *e, int index)
{
    if (e->kind == CG_EXPR_ARG)
        return e->index == index;
    for (int i = 0; e->kind == CG_EXPR_CALL && i < e->word->arity; i++)
        if (uses(e->operands[i], index))
            return true;
    return false;
}

/* f16 and bf16 are computed in f32: a template loads and stores them through a conversion. */
static const char *compute_suffix(tn_dtype d)
{
    return d == TN_F16 || d == TN_BF16 ? "f32" : suffixes[d];
}

static void write_loop(FILE *to, const cg_group *g, tn_dtype d)
{
    if (!(g->pointwise.dtypes & TN_DTYPE_BIT(d)))
        return;
    fprintf(to, "cg_loop(@{%s@}, @{%s@}, @{%s@}, @{", g->forms[0]->id, suffixes[d],
            compute_suffix(d));
    cg_expr_print(g->pointwise.root, compute_suffix(d), to);
    fputs("@})m4_dnl\n", to);
}

/* With the loops of these dtypes. */
static void write_pointwise(FILE *to, const cg_group *g, tn_dtypes loops)
{
    if (!g->is_pointwise)
        return;
    const tn__schema *s = g->entry->schema;
    int tensors = 0, numbers = 0;
    fprintf(to, "cg_pointwise(@{%s@}, ", g->forms[0]->id);
    quoted(to, g->entry->pointwise.text);
    fprintf(to, ", @{%s@})m4_dnl\n", g->pointwise.kind & TN_POINTWISE_BOOL ? "bool" : "same");
    for (int i = 0; i < s->n_args; i++) {
        const char *used = uses(g->pointwise.root, i) ? "used" : "unused", *name = s->args[i].name;
        if (s->args[i].type->kind == TN__TYPE_TENSOR)
            fprintf(to, "cg_input(@{%s@}, %d, @{%s@}, @{%s@})m4_dnl\n", name, ++tensors, used,
                    cg_local_name(name));
        else if (s->args[i].type->kind == TN__TYPE_SCALAR)
            fprintf(to, "cg_number(@{%s@}, %d, @{%s@}, @{%s@})m4_dnl\n", name, numbers++, used,
                    cg_local_name(name));
    }
    for (tn_dtype d = 0; d < TN_DTYPE_COUNT; d++)
        if (loops & TN_DTYPE_BIT(d))
            write_loop(to, g, d);
    fprintf(to, "cg_pointwise_end(@{%s@}, %d, %d)m4_dnl\n", g->forms[0]->id, tensors, numbers);
}

/* ---- all of them ----------------------------------------------------------------------------- */
static void begin_facts(FILE *to, const char *ns, int count)
{
    fprintf(to, "m4_define(@{cg_namespace@}, @{%s@})\n", ns);
    fprintf(to, "m4_define(@{cg_count@}, %d)\n", count);
    fputs("m4_define(@{cg_facts@}, @{m4_dnl\n", to);
}

static void write_group(FILE *to, const cg_group *g, unsigned which, tn_dtypes loops)
{
    for (int form = 0; which & CG_FACTS_FORMS && form < CG_FORMS; form++)
        if (g->forms[form])
            cg_fact_op(to, g->forms[form], form_word(g, form), g->entry->func.pos.line);
    if (which & CG_FACTS_SHAPES)
        write_shape(to, g);
    if (which & CG_FACTS_POINTWISE)
        write_pointwise(to, g, loops);
    if (which & CG_FACTS_DECLS)
        write_decl(to, g);
}

bool cg_facts_write(const cg_ops *ops, const char *ns, unsigned which, tn_dtypes loops, FILE *to)
{
    bool pages = which & CG_FACTS_PAGES;
    begin_facts(to, ns, ops->n_groups);
    for (int i = 0; i < ops->n_groups; i++) {
        const cg_group *g = &ops->groups[i];
        if (pages && (i == 0 || strcmp(g[-1].page, g->page) != 0))
            fprintf(to, "cg_page(@{%s@})m4_dnl\n", g->page);
        write_group(to, g, which, loops);
        if (pages && (i == ops->n_groups - 1 || strcmp(g[1].page, g->page) != 0))
            fprintf(to, "cg_page_end(@{%s@})m4_dnl\n", g->page);
    }
    fputs("@})m4_dnl\n", to);
    return !ferror(to);
}

bool cg_facts_write_loops(const cg_ops *ops, const char *ns, tn_dtype dtype, FILE *to)
{
    fprintf(to, "m4_define(@{cg_dtype@}, @{%s@})\n", suffixes[dtype]);
    return cg_facts_write(ops, ns, CG_FACTS_POINTWISE, TN_DTYPE_BIT(dtype), to);
}

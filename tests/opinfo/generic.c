/* generic.c - rows for a plugin's operators that nobody wrote a row for.
 *
 * What they are tried on: the samples that the plugin's YAML declares (declared.c), or else tensors
 * of one dtype and numbers, as elementwise operators take them. What they are compared with: the
 * YAML's expression (expression.c) or formula (formula*.c), or else the operator itself in double
 * precision, and then the report says so. */
#include "generic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool oi_generic_is_form(const tn_op *op)
{
    const tn_op *x;
    for (size_t i = 0; (x = tn_op_at(i)); i++)
        if (x != op && (oi_form_inplace(x) == op || oi_form_out(x) == op))
            return true;
    return false;
}

/* ---- no expression: the operator itself, in float64 ------------------------------------------ */
static oi_sample in_double(const oi_sample *s)
{
    oi_sample wide = *s;
    for (int k = 0; k < wide.n_args; k++) {
        oi_arg *a = &wide.args[k];
        if (a->kind != TN_FIELD_TENSOR)
            continue;
        oi_tensor *t = oi_alloc(sizeof *t);
        *t = *a->tensors;
        t->a = oi_array_cast(&t->a, oi_is_complex(t->a.dtype) ? TN_C128 : TN_F64);
        a->tensors = t;
    }
    return wide;
}

/* Nothing is known of the terms inside, so that what cancels is judged by the operands' own
 * size. */
static void set_mags(const oi_sample *s, oi_array *r)
{
    int64_t coords[OI_DIMS];
    oi_array_mags(r);
    for (int64_t i = 0; i < r->numel; i++) {
        oi_coords(r, i, coords);
        oi_real mag = hypotl(r->v[i].re, r->v[i].im);
        for (int k = 0; k < s->n_args; k++) {
            const oi_arg *a = &s->args[k];
            oi_num v = oi_int(0);
            if (a->kind == TN_FIELD_SCALAR)
                v = oi_from_scalar(&a->scalar, TN_C128);
            else if (a->kind == TN_FIELD_TENSOR && a->tensors->a.ndim <= r->ndim)
                v = a->tensors->a.v[oi_broadcast_index(&a->tensors->a, r->ndim, coords)];
            mag += hypotl(v.re, v.im);
        }
        r->mag[i] = isfinite(mag) ? mag : 0;
    }
}

static bool is_broadcast(const oi_sample *s, const oi_array *r)
{
    const oi_array *arrays[OI_ARGS];
    int64_t sizes[OI_DIMS];
    int n = 0, ndim;
    for (int k = 0; k < s->n_args; k++)
        if (s->args[k].kind == TN_FIELD_TENSOR)
            arrays[n++] = &s->args[k].tensors->a;
    return oi_broadcast(n, arrays, &ndim, sizes) && ndim == r->ndim &&
           memcmp(sizes, r->sizes, (size_t)ndim * sizeof *sizes) == 0;
}

static int itself_in_double(const oi_row *row, const oi_sample *s, oi_array *results)
{
    char why[OI_TEXT];
    oi_sample wide = in_double(s);
    oi_call c;
    if (!oi_call_make(&c, tn_op_find(row->op), &wide, (tn_device){TN_CPU, -1}, NULL, why))
        return 0;
    oi_call_run(&c);
    bool read = c.status == TN_OK && c.n_results == 1 && oi_read(c.results[0], &results[0], why);
    oi_call_free(&c);
    if (!read)
        return 0;
    if (oi_is_integral(results[0].dtype))
        return 1;
    if (is_broadcast(s, &results[0]))
        set_mags(s, &results[0]);
    tn_dtype d = oi_elementwise_dtype(row, s);
    if (oi_is_integral(d))
        results[0] = oi_array_cast(&results[0], d);
    results[0].dtype = d;
    return 1;
}

/* ---- rows ------------------------------------------------------------------------------------ */
/* The names of tensors and numbers; NULL when there is an argument that cannot be made up. */
static char *operands_of(const tn_op *op)
{
    int n_results, n_args, tensors = 0;
    const tn_field *f = tn_op_fields(op, &n_results, &n_args);
    char *names = calloc(1, 256);
    for (int k = 0; names && k < n_args; k++) {
        const tn_field *a = &f[n_results + k];
        bool number = a->kind == TN_FIELD_SCALAR && !(a->flags & TN_FIELD_OPTIONAL);
        bool tensor = a->kind == TN_FIELD_TENSOR &&
                      !(a->flags & (TN_FIELD_OPTIONAL | TN_FIELD_WRITTEN));
        if ((!number && !tensor && !(a->flags & TN_FIELD_DEFAULTED)) ||
            strlen(names) + strlen(a->name) > 250) {
            free(names);
            return NULL;
        }
        tensors += tensor;
        if (number || tensor)
            sprintf(names + strlen(names), "%s%s", *names ? " " : "", a->name);
    }
    bool usable = names && tensors > 0 && n_results == 1 && f[0].kind == TN_FIELD_TENSOR;
    if (!usable)
        free(names);
    return usable ? names : NULL;
}

/* Which inputs an operator takes when it computes in these dtypes. */
static tn_dtypes inputs_of(tn_dtypes computed, bool to_float)
{
    tn_dtypes inputs = computed;
    if (to_float && computed & TN_DTYPE_BIT(TN_F32))
        inputs |= TN_DTYPES_INTEGRAL | TN_DTYPE_BIT(TN_BOOL);
    return inputs;
}

/* Which it claims. A composite kernel claims nothing: what it refuses, those below it refuse. */
static tn_dtypes claims_of(const tn_op *op)
{
    const char *how;
    tn_op_server(op, "CPU", &how);
    return strncmp(how, "Composite", 9) == 0 ? 0 : tn_op_dtypes(op, "CPU");
}

/* The plugin's YAML, read once; it and all that is made of it live as long as the process. NULL:
 * it has mistakes, which are on stderr. */
static const cg_file *read_yaml(const char *yaml)
{
    static cg_file *file;
    static bool tried;
    cg_diag d = {0};
    if (!tried)
        file = cg_file_read(&d, yaml);
    tried = true;
    if (cg_diag_failed(&d)) {
        cg_diag_print(&d, stderr, CG_DIAG_TEXT);
        cg_file_free(file);
        file = NULL;
    }
    cg_diag_free(&d);
    return file;
}

static const cg_entry *entry_of(const tn_op *op, const cg_file *file)
{
    const char *ns = strstr(tn_op_name(op), "::");
    return cg_file_find(file, ns ? ns + 2 : tn_op_name(op));
}

/* False: the expression or the formula has a mistake. */
static bool take_reference(oi_row *row, oi_generic *g, cg_reference *r)
{
    static tn__arena arena;
    cg_diag d = {0};
    *r = (cg_reference){{0}, NULL};
    bool ok = true;
    if (g->entry->pointwise.text)
        ok = cg_pointwise_parse(&d, &arena, g->entry, &r->expression);
    else if (g->entry->reference.text)
        ok = cg_reference_parse(&d, &arena, g->entry, r);
    cg_diag_print(&d, stderr, CG_DIAG_TEXT);
    cg_diag_free(&d);
    g->formula = ok ? r->formula : NULL;
    g->root = ok ? r->expression.root : NULL;
    row->element = g->root ? oi_expression_value : NULL;
    row->reference = g->root ? oi_elementwise_reference : oi_formula_values;
    return ok;
}

/* What the YAML says; false: it has a mistake. */
static bool from_yaml(oi_row *row, oi_generic *g, const cg_entry *e)
{
    cg_reference r;
    g->entry = e;
    if (!take_reference(row, g, &r))
        return false;
    const cg_pointwise *p = &r.expression;
    bool floats = p->kind & TN_POINTWISE_FLOAT;
    row->flags |= (g->root && floats && !e->dtypes ? OI_TO_FLOAT : 0) |
                  (g->root && p->kind & TN_POINTWISE_BOOL ? OI_TO_BOOL : 0) |
                  (!g->root && !g->formula ? OI_SELF_CONSISTENT : 0) |
                  (e->n_samples ? OI_DECLARED : 0);
    if (cg_entry_has_tag(e, "dynamic_output_shape") || cg_entry_has_tag(e, "data_dependent_output"))
        row->flags |= OI_NO_META;
    if (!g->root)
        row->tolerance = "formula";
    if (e->dtypes)
        row->dtypes = g->root ? p->dtypes : cg_own_dtypes(e->dtypes);
    else if (e->pointwise.text)
        row->dtypes = inputs_of(p->dtypes, floats);
    if (e->n_samples)
        row->samples = oi_declared_samples;
    if (g->root)
        row->operands = oi_expression_operands(g->root);
    return true;
}

const oi_row *oi_generic_row(const tn_op *op, const char *yaml, bool *ok)
{
    const cg_file *file = yaml ? read_yaml(yaml) : NULL;
    const cg_entry *e = file ? entry_of(op, file) : NULL;
    oi_row *row = calloc(1, sizeof *row);
    oi_generic *g = calloc(1, sizeof *g);
    if (yaml && !file)
        *ok = false;
    if (!row || !g) {
        free(row);
        free(g);
        return NULL;
    }
    g->op = op;
    *row = (oi_row){.op = tn_op_name(op),
                    .dtypes = claims_of(op),
                    .flags = OI_GENERIC,
                    .tolerance = "composed",
                    .samples = oi_elementwise_samples,
                    .data = g};
    if (e && !from_yaml(row, g, e))
        *ok = false;
    if (row->samples != oi_elementwise_samples)
        return row;
    free((char *)row->operands);
    row->operands = operands_of(op);
    if (!e || row->flags & OI_SELF_CONSISTENT) {
        row->flags |= OI_SELF_CONSISTENT;
        row->tolerance = "composed";
        row->reference = itself_in_double;
    }
    if (row->operands)
        return row;
    free(row);
    free(g);
    return NULL;
}

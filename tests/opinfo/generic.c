/* generic.c - rows for a plugin's operators that nobody wrote a row for.
 *
 * Arguments are made up from the schema: tensors of one dtype, numbers. With the plugin's YAML a
 * `pointwise` expression is evaluated here, node by node, each node by the body of the OpInfo row
 * of the same name: the generator's parser is used, none of its code. Without it the operator in
 * float64 is what the other dtypes are compared with, and the report says so. */
#include "generic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/expr.h"

bool oi_generic_is_form(const tn_op *op)
{
    const tn_op *x;
    for (size_t i = 0; (x = tn_op_at(i)); i++)
        if (x != op && (oi_form_inplace(x) == op || oi_form_out(x) == op))
            return true;
    return false;
}

/* ---- an expression, evaluated ---------------------------------------------------------------- */
typedef struct value {
    oi_num v;
    oi_real mag; /* what rounding at every node so far may have moved v by, in units of a place */
} value;

/* An operand or a number: every implementation begins with the same bits. */
static value exact(oi_num v)
{
    return (value){v, 0};
}

static oi_num absolute(const oi_row *row, const oi_sample *s, tn_dtype d, const oi_num *in,
                       oi_real *mag)
{
    (void)row, (void)s, (void)mag;
    if (oi_is_integral(d))
        return oi_int(in[0].i < 0 ? (int64_t)(0 - (uint64_t)in[0].i) : in[0].i);
    return oi_float(hypotl(in[0].re, in[0].im));
}

static const oi_row *body_of(const char *word)
{
    static const oi_row of_abs = {.op = "abs", .element = absolute}; /* its row has a reference */
    char name[64];
    if (strcmp(word, "abs") == 0)
        return &of_abs;
    const oi_row *row = oi_row_find(word);
    if (!row && strcmp(word, "lshift") == 0)
        row = oi_row_find("bitwise_left_shift.Tensor");
    if (!row && strcmp(word, "rshift") == 0)
        row = oi_row_find("bitwise_right_shift.Tensor");
    snprintf(name, sizeof name, "%s.Tensor", word);
    return row ? row : oi_row_find(name);
}

/* What an operand's own rounding does to the result: its error goes through the node's derivative,
 * taken as a difference over four places. Half precision is computed in float32 and rounded once,
 * so that there an operand's places are 2^-13 or 2^-16 of the result's. */
static oi_real passed_on(const oi_row *body, const oi_sample *s, tn_dtype d, oi_num *operands,
                         int k, const value *x, oi_num result)
{
    tn_dtype part = oi_real_of(d);
    bool half = part == TN_F16 || part == TN_BF16;
    oi_real own = 0, sum = 0, step = x->mag * 4 * oi_ulp(1, half ? TN_F32 : part);
    for (int im = 0; im <= oi_is_complex(d); im++) {
        oi_num moved;
        operands[k] = (oi_num){x->v.re + (im ? 0 : step), x->v.im + (im ? step : 0), x->v.i};
        moved = body->element(body, s, d, operands, &own);
        sum += hypotl(moved.re - result.re, moved.im - result.im);
    }
    operands[k] = x->v;
    return sum / (4 * oi_ulp(1, part));
}

static value rounded(const oi_row *body, const oi_sample *s, tn_dtype d, oi_num *operands,
                     const value *x, int arity, bool is_number)
{
    oi_real own = 0;
    oi_num v = body->element(body, s, d, operands, &own);
    oi_real mag = hypotl(v.re, v.im);
    mag = own > mag ? own : mag;
    /* sigmoid, lgamma and their kin round functions of the operand inside: as if it were rounded. */
    bool composed = body->tolerance && (strcmp(body->tolerance, "composed") == 0 ||
                                        strcmp(body->tolerance, "hard") == 0);
    for (int k = 0; k < arity && is_number && !oi_is_integral(d); k++) {
        value from = x[k];
        from.mag = fmaxl(from.mag, composed ? hypotl(from.v.re, from.v.im) : 0);
        if (from.mag > 0)
            mag += passed_on(body, s, d, operands, k, &from, v);
    }
    if (oi_is_integral(d) && is_number)
        v = oi_cast(oi_int(v.i), TN_I64, d);
    return (value){v, isfinite(mag) ? mag : 0};
}

static value evaluate(const cg_expr *e, const oi_row *row, const oi_sample *s, tn_dtype d,
                      const oi_num *in);

static value call(const cg_expr *e, const oi_row *row, const oi_sample *s, tn_dtype d,
                  const oi_num *in)
{
    const char *word = e->word->name;
    value x[4] = {{{0}, 0}};
    oi_num operands[4];
    for (int k = 0; k < e->word->arity; k++)
        x[k] = evaluate(e->operands[k], row, s, d, in);
    if (strcmp(word, "where") == 0)
        return oi_truth(x[0].v) ? x[1] : x[2];
    if (strcmp(word, "truth") == 0)
        return exact(oi_int(oi_truth(x[0].v)));
    for (int k = 0; k < 4; k++)
        operands[k] = k < e->word->arity ? x[k].v
                                         : oi_cast(oi_int(1), TN_I64, d); /* alpha of add and sub */
    const oi_row *body = body_of(word);
    if (!body || !body->element) /* a word without a row: every comparison fails, and says where */
        return exact(oi_float(NAN));
    return rounded(body, s, d, operands, x, e->word->arity, !e->is_bool);
}

static value evaluate(const cg_expr *e, const oi_row *row, const oi_sample *s, tn_dtype d,
                      const oi_num *in)
{
    if (e->kind == CG_EXPR_CALL)
        return call(e, row, s, d, in);
    if (e->kind == CG_EXPR_NUMBER) {
        oi_real x = strtold(e->text, NULL);
        return exact(oi_is_integral(d) ? oi_cast(oi_int((int64_t)x), TN_I64, d)
                                       : oi_float(oi_round(x, oi_real_of(d))));
    }
    const char *names = row->operands;
    for (int k = 0; *names; k++) {
        size_t n = strcspn(names, " ");
        if (strlen(e->text) == n && memcmp(names, e->text, n) == 0)
            return exact(in[k]);
        names += n + (names[n] == ' ');
    }
    return exact(oi_float(NAN));
}

static oi_num expression(const oi_row *row, const oi_sample *s, tn_dtype d, const oi_num *in,
                         oi_real *mag)
{
    value x = evaluate(row->data, row, s, d, in);
    *mag = x.mag;
    return x.v;
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

/* Reads the YAML once; it and the expressions live as long as the process. */
static bool from_yaml(oi_row *row, const tn_op *op, const char *yaml)
{
    static cg_file *file;
    static tn__arena arena;
    const char *ns = strstr(tn_op_name(op), "::");
    cg_diag d = {0};
    cg_pointwise p;
    if (!file)
        file = cg_file_read(&d, yaml);
    const cg_entry *e = file ? cg_file_find(file, ns ? ns + 2 : tn_op_name(op)) : NULL;
    bool found = e && (e->pointwise.text || e->reference.text) &&
                 cg_pointwise_parse(&d, &arena, e, &p);
    cg_diag_print(&d, stderr, CG_DIAG_TEXT);
    cg_diag_free(&d);
    if (!found)
        return false;
    row->data = p.root;
    row->element = expression;
    row->reference = oi_elementwise_reference;
    row->flags |= (p.kind & TN_POINTWISE_FLOAT && !e->dtypes ? OI_TO_FLOAT : 0) |
                  (p.kind & TN_POINTWISE_BOOL ? OI_TO_BOOL : 0);
    if (e->dtypes)
        row->dtypes = p.dtypes;
    else if (e->reference.text)
        row->dtypes = tn_op_dtypes(op, "CPU");
    else
        row->dtypes = inputs_of(p.dtypes, p.kind & TN_POINTWISE_FLOAT);
    return true;
}

const oi_row *oi_generic_row(const tn_op *op, const char *yaml)
{
    char *operands = operands_of(op);
    oi_row *row = operands ? calloc(1, sizeof *row) : NULL;
    if (!row)
        return NULL;
    *row = (oi_row){.op = tn_op_name(op),
                    .flags = OI_GENERIC,
                    .tolerance = "composed",
                    .operands = operands,
                    .samples = oi_elementwise_samples};
    if (yaml && from_yaml(row, op, yaml))
        return row;
    row->flags |= OI_SELF_CONSISTENT;
    row->reference = itself_in_double;
    row->dtypes = tn_op_dtypes(op, "CPU");
    return row;
}

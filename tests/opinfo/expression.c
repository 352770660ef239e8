/* expression.c - an expression of a plugin's YAML, evaluated node by node, each node by the body of
 * the OpInfo row of the same name: the generator's parser is used, none of its code.
 *
 * Beside its value each node has what rounding may have done to it so far, through the
 * expression's own conditioning. */
#include "generic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    /* sigmoid, lgamma and their kin round functions of the operand: as if it were rounded. */
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

oi_num oi_expression_value(const oi_row *row, const oi_sample *s, tn_dtype d, const oi_num *in,
                           oi_real *mag)
{
    const oi_generic *g = row->data;
    value x = evaluate(g->root, row, s, d, in);
    *mag = x.mag;
    return x.v;
}

/* ---- its names ------------------------------------------------------------------------------- */
static bool has_name(const char *names, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = names; (at = strstr(at, name)); at += n)
        if ((at == names || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    return false;
}

static bool add_names(const cg_expr *e, char **names)
{
    bool ok = true;
    if (e->kind == CG_EXPR_ARG && !has_name(*names, e->text)) {
        char *more = realloc(*names, strlen(*names) + strlen(e->text) + 2);
        if (!more)
            return false;
        *names = more;
        sprintf(more + strlen(more), "%s%s", *more ? " " : "", e->text);
    }
    for (int k = 0; e->kind == CG_EXPR_CALL && k < e->word->arity; k++)
        ok = ok && add_names(e->operands[k], names);
    return ok;
}

char *oi_expression_operands(const cg_expr *root)
{
    char *names = calloc(1, 1);
    if (names && add_names(root, &names))
        return names;
    free(names);
    return NULL;
}

/* generic.h - rows made from a plugin's schema, for operators that nobody wrote a row for. */
#ifndef TENON_OPINFO_GENERIC_H
#define TENON_OPINFO_GENERIC_H

#include "opinfo.h"

#include "codegen/reference.h"
#include "codegen/samples.h"

/* What such a row is made from: its `data`. */
typedef struct oi_generic {
    const tn_op *op;
    const cg_entry *entry;    /* of the plugin's YAML; NULL: none */
    const cg_expr *root;      /* an expression of one element; NULL: none */
    const cg_syntax *formula; /* over whole tensors; NULL: none */
    tn__arena arena;          /* of values in samples */
} oi_generic;

/* A row for the operator, or NULL when its arguments cannot be made up (then it is NOT-RUN). yaml:
 * the plugin's schema file, or NULL; with it an operator is tested on the samples that it declares,
 * and compared with its `pointwise` or its `reference`. *ok: false when the file has mistakes,
 * which are on stderr. */
const oi_row *oi_generic_row(const tn_op *op, const char *yaml, bool *ok);
/* An in-place or out= form of another operator. */
bool oi_generic_is_form(const tn_op *op);

/* expression.c: an oi_element_fn for rows with a root. */
oi_num oi_expression_value(const oi_row *row, const oi_sample *s, tn_dtype d, const oi_num *in,
                           oi_real *mag);
/* The names in it, as `operands` of a row wants them. NULL: no memory. */
char *oi_expression_operands(const cg_expr *root);

/* declared.c */
void oi_declared_samples(const oi_row *row, oi_samples *out, tn_dtype d, uint64_t seed);

/* formula_reference.c: the formula, or the operator itself, in double precision. -1: it failed, and
 * oi_reference_failure says how. */
int oi_formula_values(const oi_row *row, const oi_sample *s, oi_array *results);

#endif

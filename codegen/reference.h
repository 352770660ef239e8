/* reference.h - `reference`: what an operator with kernels of its own computes, for `tenon opinfo`.
 *
 * It is an expression of one element, as `pointwise` is, when it says nothing that an expression
 * cannot say: names of Tensors and Scalars, numbers, functions of expr_words.c. Otherwise it is a
 * formula over whole tensors, in the language of derivatives.yaml: sum(self * weight, [dim]). */
#ifndef TN_CODEGEN_REFERENCE_H
#define TN_CODEGEN_REFERENCE_H

#include "derivatives.h"
#include "syntax.h"

typedef struct cg_reference {
    cg_pointwise expression;  /* root NULL: it is a formula */
    const cg_syntax *formula; /* NULL: an expression */
} cg_reference;

/* Of an entry with the key. Grammar and names are checked; which operators a formula calls is for
 * cg_reference_check, which knows them, or for the harness, which calls them. */
bool cg_reference_parse(cg_diag *d, tn__arena *a, const cg_entry *e, cg_reference *out);

/* The formulas of all operators: does each call fit an operator? Before helpers are known, as a
 * formula of a test can call none. */
void cg_reference_check(cg_diag *d, tn__arena *a, const cg_ops *ops, cg_derivatives *callees);

#endif

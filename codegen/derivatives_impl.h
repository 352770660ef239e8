/* derivatives_impl.h - what the files that read derivatives.yaml share. */
#ifndef TN_CODEGEN_DERIVATIVES_IMPL_H
#define TN_CODEGEN_DERIVATIVES_IMPL_H

#include "derivatives.h"
#include "tree.h"

typedef struct cg_maker {
    cg_diag *d;
    tn__arena *a;
    const cg_derivatives_source *source;
    const char *file; /* what messages name */
    cg_derivatives *out;
} cg_maker;

/* Reports an error of the derivatives file. */
#define cg_refuse(m, pos, ...) cg_error((m)->d, (m)->file, pos, __VA_ARGS__)

void *cg_maker_alloc(cg_maker *m, size_t bytes); /* NULL: the diagnostics say so */

/* derivative_entry.c: one entry with a `name`. */
void cg_derivative_read(cg_maker *m, const cg_node *entry);

/* ---- derivative_rule.c ----------------------------------------------------------------------- */
/* The parts that every derivative has. NULL: no memory. */
cg_derivative *cg_derivative_start(cg_maker *m, const cg_op *op, bool gives_bool, cg_pos pos);

/* Types a formula that serves these arguments (backward) or gives this result's tangent, and adds it
 * to d. Its errors go to the diagnostics. */
typedef struct cg_rule_source {
    const char *who;
    const cg_str *str;
    uint64_t bits;    /* 0: of a forward formula */
    const int *order; /* of several arguments: the bit of each, as the key names them */
    int result;
    bool is_derived;
} cg_rule_source;
void cg_derivative_add(cg_maker *m, cg_derivative *d, const cg_rule_source *source);

/* pointwise_grad.c: adds the derivative of an expression, if it has one. */
void cg_derivative_derive(cg_maker *m, const cg_group *g);

#endif

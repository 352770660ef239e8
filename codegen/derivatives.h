/* derivatives.h - how operators differentiate: derivatives.yaml and what follows from expressions.
 *
 *     entries of derivatives.yaml --derivatives.c, derivative_entry.c--> cg_derivative[]
 *     expressions without an entry --pointwise_grad.c--> formulas as text, and the same road
 *     formula --syntax.c--> tree --formula*.c--> typed tree --> C, and which tensors are saved
 *
 * docs/derivatives.md is the user's page of the language. */
#ifndef TN_CODEGEN_DERIVATIVES_H
#define TN_CODEGEN_DERIVATIVES_H

#include "ops.h"

enum { CG_MAX_RESULTS = 32 };

/* What a formula may call: an operator of the schema file or of the built-in ones, or a helper. */
typedef struct cg_callee {
    const char *name, *overload; /* of a helper: its name, "" */
    const tn__schema *schema;
    const tn__layout *layout;
    const char *full;   /* the schema with its namespace; NULL of a helper */
    const char *frame;  /* struct tn_FRAME_args */
    const char *c_name; /* what the C calls */
    bool is_helper;
    bool is_own;     /* of the schema file, not of the built-in operators that a plugin calls */
    bool is_written; /* writes an argument: only helpers may call it */
    bool used;       /* a wrapper is generated */
} cg_callee;

/* Inline functions that a formula's operators need besides the wrappers. */
typedef enum cg_extra {
    CG_EXTRA_PLUS,   /* a + b, one of which may be undefined */
    CG_EXTRA_MINUS,  /* a - b */
    CG_EXTRA_TIMES,  /* a * number: a itself for 1 */
    CG_EXTRA_CONJ,   /* conj(a) */
    CG_EXTRA_NUMBER, /* a number as a tensor */
    CG_EXTRAS,
} cg_extra;

/* A formula in C. */
typedef struct cg_code {
    const char *expression; /* of several results a call without its last argument */
    const char **variables; /* t1, t2, ..: what each is */
    int n_variables;
} cg_code;

/* One key of an entry, or a derived formula. */
typedef enum cg_rule_kind {
    CG_RULE_FORMULA,
    CG_RULE_NOT_IMPLEMENTED,
} cg_rule_kind;

typedef struct cg_rule {
    cg_rule_kind kind;
    const char *who;  /* "self, other"; "result" */
    const char *text; /* the formula on one line */
    const char *why;  /* NOT_IMPLEMENTED */
    cg_code code;
    uint64_t bits; /* the differentiable arguments that it serves */
    int result;    /* of a forward rule: whose tangent; else -1 */
    bool is_list;  /* gives a Tensor[] */
    int n_results; /* more than one: through an array, whose entry i is of argument order[i] */
    const int *order;
    bool uses_args, uses_grad;
} cg_rule;

typedef struct cg_derivative {
    const cg_op *op;
    cg_pos pos;
    const char *file, *node; /* "MulBackward" */
    bool is_derived;
    const int *arguments; /* fields of the differentiable arguments, by their bit */
    int n_arguments;
    uint32_t *flags;                 /* TN_FIELD_DIFFERENTIABLE .. by field */
    uint64_t *value_for, *shape_for; /* by field */
    cg_rule *backward, *forward;
    int n_backward, n_forward;
    uint32_t forward_flags; /* TN_FORWARD_* */
} cg_derivative;

typedef struct cg_derivatives {
    cg_derivative *items; /* in the order of the operators */
    int n;
    cg_callee *callees;
    int n_callees;
    const cg_callee
        *extras[CG_EXTRAS][2]; /* the operators that an extra is made of; NULL, NULL: not used */
    bool extra_used[CG_EXTRAS];
} cg_derivatives;

typedef struct cg_derivatives_source {
    const char *path;  /* derivatives.yaml; NULL: derived ones only */
    const char *bytes; /* NULL, or what stands in it */
    size_t n_bytes;
    const cg_ops *ops;      /* of the schema file */
    const cg_ops *built_in; /* what a plugin's formulas may call besides; NULL: nothing */
} cg_derivatives_source;

/* Everything lives in the arena; errors go to d, all of a file in one run. */
bool cg_derivatives_make(cg_diag *d, tn__arena *a, const cg_derivatives_source *source,
                         cg_derivatives *out);

/* "add.Tensor: self" for every argument that has a gradient, in the order of the operators: what a lock
 * may hold, as taking one away breaks those who train. */
bool cg_derivatives_list(const cg_derivatives *ds, FILE *to);

/* These facts of derivatives (templates/derivative_facts.m4). prefix: what generated names begin
 * with. */
bool cg_facts_write_derivatives(const cg_derivatives *ds, const char *prefix, unsigned which,
                                FILE *to);

#endif

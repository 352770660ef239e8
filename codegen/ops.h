/* ops.h - the operators to generate: every form of every entry, with its frame and its names in C.
 *
 *     entry --ops.c--> cg_group (one declaration) of up to three cg_op (forms)
 *           --write.c--> facts --templates--> files */
#ifndef TN_CODEGEN_OPS_H
#define TN_CODEGEN_OPS_H

#include "entry.h"
#include "expr.h"
#include "layout.h"

enum { CG_FUNCTIONAL, CG_INPLACE, CG_OUT, CG_FORMS };

typedef struct cg_op {
    const tn__schema *schema;
    const tn__layout *layout;
    const char *full; /* the schema with its namespace */
    const char
        *id; /* "add_Tensor": struct tn_add_Tensor_args, TN_SCHEMA_add_Tensor, tn_call_add_Tensor */
    const char *short_id; /* "add": the expression call tn_add */
    /* The overload that takes a number where this one takes a tensor, or the other way round, in this
     * argument: one expression call serves both. NULL: none, or this one has no plain name. */
    const struct cg_op *twin;
    const char *twin_arg;
    int form, index; /* index: of the group's, times CG_FORMS, plus the form */
} cg_op;

typedef struct cg_group {
    const cg_entry *entry;
    const char
        *page; /* its name without the '_' of an in-place form: what one reference page holds */
    cg_op *forms[CG_FORMS]; /* an entry of ATen's kind has only the first, whatever it is */
    bool is_pointwise;
    cg_pointwise pointwise;
    const char *shape_rule; /* "reduce" of "reduce(self, dim)"; NULL: none */
    const char *shape_args; /* C arguments: "a->self, a->dim" */
} cg_group;

typedef struct cg_ops {
    cg_group *groups; /* sorted by name, so that the order of the YAML does not matter */
    int n_groups;
} cg_ops;

/* Everything lives in the arena. Errors (an operator that has no frame, an expression, a shape
 * rule) go to d. */
bool cg_ops_make(cg_diag *d, tn__arena *a, const cg_file *f, cg_ops *out);

/* Parts of it (names.c): names that are one in C are errors; short names and twins. */
bool cg_names_check(cg_diag *d, tn__arena *a, const cg_ops *ops);
void cg_names_choose(cg_ops *ops);
/* Names that are Tenon's are errors for a plugin. */
bool cg_names_check_plugin(cg_diag *d, const char *plugin, const cg_ops *ops,
                           const cg_ops *built_in);

/* Facts that are written together. m4 reads all that it is given, so an output gets what its template
 * looks at. */
enum {
    CG_FACTS_FORMS = 1 << 0, /* cg_op, its fields, cg_op_end: the larger part */
    CG_FACTS_SHAPES = 1 << 1,
    CG_FACTS_POINTWISE = 1 << 2,
    CG_FACTS_DECLS = 1 << 3,
    CG_FACTS_PAGES = 1 << 4,
    CG_FACTS_CALLS = 1 << 5, /* of derivatives: cg_calls, cg_helpers */
    CG_FACTS_RULES = 1 << 6, /* cg_derivatives: each with its formulas as text */
    CG_FACTS_CODE = 1 << 7,  /* .. and with their C */
    CG_FACTS_OF_DERIVATIVES = CG_FACTS_CALLS | CG_FACTS_RULES | CG_FACTS_CODE,
    CG_FACTS_ALL = (1 << 8) - 1,
};

/* Writes these facts: m4 macro calls as the body of cg_facts (templates/README.md lists them), with
 * loops for these dtypes. */
bool cg_facts_write(const cg_ops *ops, const char *ns, unsigned which, tn_dtypes loops, FILE *to);

/* cg_op, its fields, cg_op_end. */
void cg_fact_op(FILE *to, const cg_op *op, const char *form, int line);

/* What the loops of one dtype are made of, with cg_dtype naming it. */
bool cg_facts_write_loops(const cg_ops *ops, const char *ns, tn_dtype dtype, FILE *to);

/* "f32": how a dtype is named in facts, and at the end of a C name. */
const char *cg_suffix(tn_dtype dtype);

#endif

/* validate_impl.h - what the files of the validator share: the facts of each entry, and how to
 * point at a part of its schema.
 *
 *     validate.c         the order of things, duplicates
 *     validate_schema.c  rules of one schema
 *     validate_entry.c   rules of one entry's keys
 *     validate_ours.c    rules of our keys
 *     validate_group.c   rules among functional, in-place, mutable and out= forms; delegates;
 * autogen validate_view.c    rules among a view, its in-place form and its copy */
#ifndef TN_CODEGEN_VALIDATE_IMPL_H
#define TN_CODEGEN_VALIDATE_IMPL_H

#include "entry.h"
#include "words.h"

/* PyTorch's generator tells one kind more apart than the schema: out= forms with _scratch_
 * arguments. */
enum { CG_KIND_SCRATCH = TN__SCHEMA_MUTABLE + 1, CG_N_KINDS };

typedef struct cg_facts {
    const cg_entry *e;
    bool ok;          /* no error so far: fit for the rules among entries */
    const char *base; /* the name without in-place '_', "_functional", dunder underscores */
    bool inplace, dunder, functional_suffix;
    int self;      /* index of the positional argument `self`, or -1 */
    int first_out; /* index of the first out argument, or n_args */
    int options;   /* index of the dtype, layout, device, pin_memory block, or -1 */
    int kind;      /* tn__schema_kind or CG_KIND_SCRATCH */
    bool is_view;
    const char *signature;      /* equal for the forms of one function */
    const char *view_signature; /* the same, with "_copy" and "_scatter" gone */
} cg_facts;

/* A form that no entry writes: it follows from one of ours. */
typedef struct cg_derived {
    const char *op; /* "add_.Tensor", "add.out" */
    const cg_facts *from;
    bool is_out;
} cg_derived;

typedef struct cg_check {
    cg_diag *diag;
    const cg_file *file;
    tn__arena arena;   /* of the facts; released at the end */
    cg_facts *facts;   /* one per entry */
    cg_facts **sorted; /* the same by operator name, then by position */
    cg_facts **failed; /* those with an error of their own */
    int n, n_failed;
    cg_derived *derived;
    int n_derived;
    bool names_missing; /* a broken entry did not even give its name: do not claim that something is
                           missing */
} cg_check;

/* Reports at a position and marks the entry, if one is given, as unfit for the rules among entries.
 */
void cg_complain(cg_check *c, cg_facts *f, cg_pos pos, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

cg_pos cg_arg_pos(const cg_entry *e, const tn__arg *a);
bool cg_alias_equal(const tn__alias *a, const tn__alias *b); /* NULL: none */
bool cg_arg_written(const tn__arg *a);
tn__type_kind cg_type_core(const tn__type *t); /* of the innermost element: Tensor for Tensor?[] */
const cg_kernel *cg_kernel_for(const cg_entry *e,
                               const char *key);      /* written or implied, or NULL */
cg_facts *cg_facts_find(cg_check *c, const char *op); /* by operator name, or NULL */

void cg_facts_fill(cg_check *c, cg_facts *f); /* validate_facts.c; needs a schema */
void cg_facts_split_name(cg_check *c, cg_facts *f,
                         const char *name); /* base, inplace, dunder, ... */
void cg_facts_sign(cg_check *c, cg_facts *f);
const char *cg_overload(const cg_facts *f);

void cg_check_operator_name(cg_check *c, cg_facts *f, cg_pos pos,
                            const char *op); /* validate_schema.c */
void cg_validate_schema(cg_check *c, cg_facts *f);
void cg_validate_entry(cg_check *c, cg_facts *f);
void cg_validate_ours(cg_check *c, cg_facts *f);
void cg_validate_derived(
    cg_check *c); /* validate_ours.c: names of the forms that follow from ours */
void cg_validate_groups(cg_check *c);
void cg_validate_views(cg_check *c);

/* Did an entry of this base name fail? Then what seems to be missing may only be hidden. */
bool cg_base_tainted(const cg_check *c, const char *base);

#endif

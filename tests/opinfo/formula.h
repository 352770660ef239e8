/* formula.h - the formulas that `reference` of a plugin's YAML may be (docs/derivatives.md): the
 * generator's parser gives the tree, which is walked here, value by value, calling operators by
 * name. Types are found while it runs, so that nothing of the generator's typing is trusted.
 *
 * All memory but the tensors is the pool's. */
#ifndef TENON_OPINFO_FORMULA_H
#define TENON_OPINFO_FORMULA_H

#include "opinfo.h"

#include "codegen/syntax.h"

typedef enum oi_value_kind {
    OI_VALUE_NONE,
    OI_VALUE_TENSOR,
    OI_VALUE_NUMBER, /* a bool, too */
    OI_VALUE_LIST,   /* and several results */
    OI_VALUE_TEXT,
    OI_VALUE_TYPE, /* a dtype */
    OI_VALUE_RAW,  /* any other field of a frame: passed on, and no more */
} oi_value_kind;

typedef struct oi_value oi_value;
struct oi_value {
    oi_value_kind kind;
    tn_tensor *tensor; /* borrowed: of the arguments, or of `owned` */
    tn_scalar number;
    const oi_value *items;
    int64_t n;
    const char *text;
    tn_dtype dtype;
    const void *raw;
    tn_field_kind field;
};

typedef struct oi_formula {
    const cg_str *text; /* for positions */
    const char *file;
    const tn_op *op;     /* whose reference it is: it cannot call itself */
    const oi_call *call; /* its frame holds the arguments */
    tn_device device;
    bool wide;    /* floating operands are in double precision */
    double noise; /* every floating tensor is moved by this share of it; 0: none */
    oi_rng rng;
    oi_value *arguments; /* by number, once they have been asked for */
    bool *asked;
    tn_tensor **owned;
    int n_owned, cap;
    bool failed;
    char why[OI_TEXT];
} oi_formula;

/* Says the first failure, at its place in the YAML; a value that is None. */
oi_value oi_formula_fail(oi_formula *f, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
oi_value oi_formula_evaluate(oi_formula *f, const cg_syntax *x);
/* The operator itself, with the arguments as they are. */
oi_value oi_formula_itself(oi_formula *f);
void oi_formula_free(oi_formula *f);
/* Takes over a new tensor; oi_formula_own moves it besides, when there is noise. */
oi_value oi_formula_keep(oi_formula *f, tn_tensor *t);
oi_value oi_formula_own(oi_formula *f, tn_tensor *t);

/* formula_value.c */
oi_value oi_value_none(void);
oi_value oi_value_tensor(tn_tensor *t);
oi_value oi_value_number(tn_scalar s);
oi_value oi_value_int(int64_t i);
oi_value oi_value_bool(bool b);
oi_value oi_value_ints(int64_t n, const int64_t *ints);
bool oi_value_is_int(const oi_value *v);
/* The field of a frame as a value. */
oi_value oi_value_of_field(const tn_field *field, const void *frame);
/* A tensor as it is, or multiplied by the noise. */
oi_value oi_formula_moved(oi_formula *f, tn_tensor *t);

/* formula_host.c: an operator between values none of which is a tensor. */
oi_value oi_formula_host(oi_formula *f, const cg_syntax *x, const oi_value *v);
bool oi_value_truth(const oi_value *v);
/* x.sizes, x.size(0): true when it is one of them. */
bool oi_formula_member(oi_formula *f, const cg_syntax *x, const oi_value *of, oi_value *out);

/* formula_pass.c: what passing a value for a field costs, -1 when it cannot be; and the passing,
 * one of n operands. */
int oi_value_cost(const oi_value *v, const tn_field *to);
void oi_formula_pass(oi_formula *f, void *at, const oi_value *v, const tn_field *to, int n,
                     const oi_value *operands);

/* formula_call.c: the overload that needs the least conversion. overload NULL: any. */
oi_value oi_formula_call(oi_formula *f, size_t offset, const char *name, const char *overload,
                         int n, const oi_value *operands, const char *const *keywords);
bool oi_formula_can_call(const oi_formula *f, const char *name, const char *overload);
/* The results of a frame that was called, taken out of it. */
oi_value oi_formula_results(oi_formula *f, const tn_op *op, void *frame);

#endif

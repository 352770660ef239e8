/* formula.h - what the files that read formulas share: names in scope, typed trees.
 *
 *     cg_syntax --formula.c, formula_call.c--> cg_value --formula_saves.c--> which fields are saved
 *                                                       --formula_print.c--> C
 * A value's type is a field's of a call frame, so that passing one on is a matter of fields alone. */
#ifndef TN_CODEGEN_FORMULA_H
#define TN_CODEGEN_FORMULA_H

#include "derivatives.h"
#include "syntax.h"

/* Beside the kinds of tn_field_kind: None, several results, a list without items. */
enum { CG_TYPE_NONE = 100, CG_TYPE_RESULTS, CG_TYPE_EMPTY };

typedef struct cg_type {
    int kind;
    bool optional; /* of a kind whose absent value is of the same C type */
    int n;         /* CG_TYPE_RESULTS: how many */
} cg_type;

typedef enum cg_value_kind {
    CG_VALUE_LEAF,     /* text */
    CG_VALUE_FIELD,    /* a->name */
    CG_VALUE_CALL,     /* callee(g, operands..) */
    CG_VALUE_FUNCTION, /* text(operands..), with g first if takes_g */
    CG_VALUE_OPERATOR, /* a text b, or text a */
    CG_VALUE_SELECT,   /* a ? b : c */
    CG_VALUE_LIST,     /* (text){(..){operands}, n} */
    CG_VALUE_MEMBER,   /* operands[0].text */
    CG_VALUE_RESULT,   /* one of a call's several results: operands[0], index */
} cg_value_kind;

typedef struct cg_value cg_value;
struct cg_value {
    cg_value_kind kind;
    cg_type type;
    size_t offset;
    const char *text;
    int index; /* FIELD: of the frame; RESULT */
    bool takes_g;
    bool is_geometry; /* what is below is looked at for its shape and dtype only */
    bool uses_grad;
    const cg_callee *callee;
    const cg_value **operands;
    int n;
};

/* The reading of one formula. */
typedef struct cg_scope {
    cg_diag *diag;
    tn__arena *arena;
    cg_derivatives *all; /* callees */
    const cg_derivative *of;
    const cg_str *str; /* the formula */
    const char *file;
    const char *derived; /* the text of a derived formula, for messages; else NULL */
    bool is_forward;
    bool is_reference; /* no gradient's, but what tests compare with: it can call no helper */
    bool failed;
} cg_scope;

/* Says the first error of a formula; NULL. */
const cg_value *cg_formula_fail(cg_scope *s, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
cg_value *cg_value_new(cg_scope *s, cg_value_kind kind, cg_type type, size_t offset,
                       const char *text);
bool cg_value_give(cg_scope *s, cg_value *v, int n, const cg_value *const *operands);

/* formula.c: fields by name, -1: there is none. "result" is the first one, "result2" the third, whatever
 * their names. */
int cg_find_argument(const tn__layout *l, const char *name);
int cg_find_result(const tn__layout *l, const char *name);
/* NULL after an error. */
const cg_value *cg_formula_type(cg_scope *s, const cg_syntax *x);

/* formula_host.c: operators and members of what is no tensor. NULL, and no error: it is none of those. */
const cg_value *cg_host_operator(cg_scope *s, const cg_syntax *x, const cg_value *const *operands);
const cg_value *cg_host_select(cg_scope *s, const cg_syntax *x, const cg_value *const *operands);
const cg_value *cg_host_member(cg_scope *s, const cg_syntax *x, const cg_value *of,
                               const cg_value *argument);
const cg_value *cg_host_index(cg_scope *s, const cg_syntax *x, const cg_value *of,
                              const cg_value *index);
const cg_value *cg_host_list(cg_scope *s, const cg_syntax *x, int n,
                             const cg_value *const *operands);

/* formula_call.c: overload resolution. `keywords` may be NULL. `overload` NULL: any. */
const cg_value *cg_formula_call(cg_scope *s, size_t offset, const char *name, const char *overload,
                                int n, const cg_value *const *operands,
                                const char *const *keywords);
bool cg_formula_can_call(const cg_scope *s, const char *name, const char *overload);
/* The operator of an extra, marked as used. */
bool cg_formula_extra(cg_scope *s, size_t offset, cg_extra extra);

/* formula_convert.c: what passing `v` for a field costs, -1 when it cannot be; and the passing. `like` gives
 * a number that becomes a tensor its device, NULL: the gradient does. */
int cg_convert_cost(const cg_value *v, const tn_field *to, const tn__type *declared);
const cg_value *cg_convert(cg_scope *s, const cg_value *v, const tn_field *to,
                           const cg_value *like);
const char *cg_type_name(char *buf, size_t cap, cg_type t);
cg_type cg_type_of_field(const tn_field *f);
bool cg_field_is_tensor(const tn_field *f); /* or a Tensor[] */
bool cg_is_tensor(const cg_value *v);
bool cg_is_list(const cg_value *v);
bool cg_is_number(const cg_value *v); /* int, float or Scalar, not optional */

/* formula_saves.c: adds to the derivative's value_for and shape_for. */
void cg_formula_saves(const cg_value *v, uint64_t bits, cg_derivative *d);

/* formula_print.c: false when memory ran out. */
bool cg_formula_print(tn__arena *a, const cg_value *v, cg_code *out);

#endif

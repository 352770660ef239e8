/* expr.h - the scalar expression language of `pointwise`: check, print per dtype.
 *
 *     alpha * self + beta        a < b ? a : b        where(self >= 0, self, exp(self) - 1)
 *
 * Names are the operator's arguments. Operators, by rising precedence: ?:  ||  &&  == != < <= > >=
 * + -  * /  unary - !. Functions are the rows of expr_words.c. Every value is either of the
 * computation's dtype or a bool; what an expression uses says which dtypes it is defined for,
 * whether integers must become floating first, and whether its result is a bool: nothing of that is
 * written in the YAML. docs/schema.md is the user's page of it. */
#ifndef TN_CODEGEN_EXPR_H
#define TN_CODEGEN_EXPR_H

#include <tenon/border.h>

#include "diag.h"
#include "entry.h"

typedef enum cg_expr_kind { CG_EXPR_NUMBER, CG_EXPR_ARG, CG_EXPR_CALL } cg_expr_kind;

/* A function of the language; operators are functions too: "a + b" is add(a, b). */
typedef struct cg_word {
    const char *name;
    int arity;
    tn_dtypes dtypes; /* where it is defined */
    bool gives_bool;
    bool takes_bool; /* its operands are bools: && || ! ; a number is compared with zero first */
    bool needs_floating; /* integers are computed in the default floating dtype */
} cg_word;

const cg_word *cg_word_find(const char *name, size_t n);
size_t cg_word_names(const char **names, size_t cap);

typedef struct cg_expr cg_expr;
struct cg_expr {
    cg_expr_kind kind;
    size_t offset;       /* in the expression's text */
    const char *text;    /* NUMBER: the literal; ARG: the name */
    int index;           /* ARG: which argument of the schema */
    const cg_word *word; /* CALL; `where` (the ?: operator) has three operands, the first a bool */
    const cg_expr *operands[3];
    bool is_bool;
};

typedef struct cg_pointwise {
    const cg_expr *root;
    tn_dtypes dtypes; /* of the computation */
    int32_t kind;     /* TN_POINTWISE and what goes with it */
} cg_pointwise;

/* Parses and checks an entry's `pointwise`, or the `reference` of one without. Errors go to d with
 * line and column. */
bool cg_pointwise_parse(cg_diag *d, tn__arena *a, const cg_entry *e, cg_pointwise *out);

/* The dtypes of an entry's `dtypes` key, numbered as tenon/base.h does. */
tn_dtypes cg_own_dtypes(cg_dtypes set);

/* What an argument is called in a loop: its own name, or with a '_' behind where the loop has that
 * name itself. */
const char *cg_local_name(const char *argument);

/* Writes the C of an expression computed in `suffix` ("f32", "i8", "c64"): nested calls of the
 * functions in tenon/math.h. */
void cg_expr_print(const cg_expr *e, const char *suffix, FILE *to);

#endif

/* syntax.h - the grammar that `pointwise` expressions and the formulas of derivatives.yaml share: text
 * to an untyped tree. What names and calls mean is settled by expr.c and formula.c.
 *
 * Operators, by rising precedence: ?:  ||  &&  == != < <= > >=  + -  * /  unary - !. An operator is a
 * call too: "a + b" is add(a, b), "c ? a : b" is where(c, a, b) with `token` "?". Formulas have more leaves:
 * strings, lists, x.member, x.method(..), x[i], keyword arguments. */
#ifndef TN_CODEGEN_SYNTAX_H
#define TN_CODEGEN_SYNTAX_H

#include "entry.h"

typedef enum cg_syntax_kind {
    CG_SYNTAX_NUMBER, /* text: the literal */
    CG_SYNTAX_STRING, /* text: without its quotes */
    CG_SYNTAX_NAME,   /* text */
    CG_SYNTAX_CALL,   /* text: the function, or the method of operands[0] */
    CG_SYNTAX_MEMBER, /* operands[0].text */
    CG_SYNTAX_INDEX,  /* operands[0][operands[1]] */
    CG_SYNTAX_LIST,   /* [operands..] */
} cg_syntax_kind;

typedef struct cg_syntax cg_syntax;
struct cg_syntax {
    cg_syntax_kind kind;
    size_t offset; /* in the expression's text: of an operator, where it stands */
    const char *text;
    const char *token; /* of an operator: "+", "?"; else NULL */
    bool is_method;
    const cg_syntax **operands;
    const char **keywords; /* CALL: the keyword of each operand, NULL where there is none */
    int n;
};

/* Where an expression stands, and what may stand in it. */
typedef struct cg_syntax_source {
    const char *file;
    const cg_str *str;
    bool is_formula;
} cg_syntax_source;

/* NULL after an error; the first one is reported at its place. */
const cg_syntax *cg_syntax_parse(cg_diag *d, tn__arena *a, const cg_syntax_source *source);

/* Builds a node by hand: for formulas that are derived. NULL when memory ran out. */
const cg_syntax *cg_syntax_leaf(tn__arena *a, cg_syntax_kind kind, const char *text);
const cg_syntax *cg_syntax_call(tn__arena *a, const char *token, const char *text, int n,
                                const cg_syntax *const *operands);

/* The text of a tree, with no more parentheses than it needs. NULL when memory ran out. */
const char *cg_syntax_print(tn__arena *a, const cg_syntax *x);

/* "+" of "add" with two operands; NULL: a function without an operator. */
const char *cg_syntax_token(const char *word, int n);

/* Literals: with a point or an exponent. */
bool cg_literal_is_floating(const char *literal);

#endif

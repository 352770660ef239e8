/* expr_words.c - the functions of the expression language. A new one is a row here, a body per
 * dtype class in templates/math.h.m4, and a row of docs/schema.md's table, which a test
 * compares. */
#include <string.h>

#include "expr.h"

#define INTEGRAL TN_DTYPES_INTEGRAL
#define FLOATING TN_DTYPES_FLOATING
#define COMPLEX TN_DTYPES_COMPLEX
#define BOOL TN_DTYPE_BIT(TN_BOOL)
#define REAL (INTEGRAL | FLOATING | BOOL)
#define ALL TN_DTYPES_ALL

static const cg_word words[] = {
    /* arithmetic */
    {"add", 2, ALL, false, false, false},
    {"sub", 2, ALL & ~BOOL, false, false, false},
    {"mul", 2, ALL, false, false, false},
    {"div", 2, FLOATING | COMPLEX, false, false, true},
    {"neg", 1, ALL & ~BOOL, false, false, false},
    {"abs", 1, REAL, false, false, false},
    {"square", 1, ALL, false, false, false},
    {"maximum", 2, REAL, false, false, false},
    {"minimum", 2, REAL, false, false, false},
    {"sign", 1, REAL, false, false, false},
    {"positive", 1, ALL & ~BOOL, false, false, false},
    /* floating-point functions */
    {"reciprocal", 1, FLOATING | COMPLEX, false, false, true},
    {"exp", 1, FLOATING | COMPLEX, false, false, true},
    {"exp2", 1, FLOATING, false, false, true},
    {"expm1", 1, FLOATING, false, false, true},
    {"log", 1, FLOATING | COMPLEX, false, false, true},
    {"log2", 1, FLOATING | COMPLEX, false, false, true},
    {"log10", 1, FLOATING | COMPLEX, false, false, true},
    {"log1p", 1, FLOATING, false, false, true},
    {"sqrt", 1, FLOATING | COMPLEX, false, false, true},
    {"rsqrt", 1, FLOATING | COMPLEX, false, false, true},
    {"sin", 1, FLOATING | COMPLEX, false, false, true},
    {"cos", 1, FLOATING | COMPLEX, false, false, true},
    {"tan", 1, FLOATING | COMPLEX, false, false, true},
    {"asin", 1, FLOATING | COMPLEX, false, false, true},
    {"acos", 1, FLOATING | COMPLEX, false, false, true},
    {"atan", 1, FLOATING | COMPLEX, false, false, true},
    {"sinh", 1, FLOATING | COMPLEX, false, false, true},
    {"cosh", 1, FLOATING | COMPLEX, false, false, true},
    {"tanh", 1, FLOATING | COMPLEX, false, false, true},
    {"asinh", 1, FLOATING | COMPLEX, false, false, true},
    {"acosh", 1, FLOATING | COMPLEX, false, false, true},
    {"atanh", 1, FLOATING | COMPLEX, false, false, true},
    {"sigmoid", 1, FLOATING | COMPLEX, false, false, true},
    {"erf", 1, FLOATING, false, false, true},
    {"erfc", 1, FLOATING, false, false, true},
    {"lgamma", 1, FLOATING, false, false, true},
    {"atan2", 2, FLOATING, false, false, true},
    {"hypot", 2, FLOATING, false, false, false},
    {"copysign", 2, FLOATING, false, false, true},
    {"nextafter", 2, FLOATING, false, false, false},
    /* rounding: integers are their own */
    {"floor", 1, INTEGRAL | FLOATING, false, false, false},
    {"ceil", 1, INTEGRAL | FLOATING, false, false, false},
    {"trunc", 1, INTEGRAL | FLOATING, false, false, false},
    {"round", 1, INTEGRAL | FLOATING, false, false, false},
    {"fmax", 2, REAL, false, false, false},
    {"fmin", 2, REAL, false, false, false},
    /* bits */
    {"bitwise_and", 2, INTEGRAL | BOOL, false, false, false},
    {"bitwise_or", 2, INTEGRAL | BOOL, false, false, false},
    {"bitwise_xor", 2, INTEGRAL | BOOL, false, false, false},
    {"bitwise_not", 1, INTEGRAL | BOOL, false, false, false},
    {"lshift", 2, INTEGRAL, false, false, false},
    {"rshift", 2, INTEGRAL, false, false, false},
    /* comparisons */
    {"eq", 2, ALL, true, false, false},
    {"ne", 2, ALL, true, false, false},
    {"lt", 2, REAL, true, false, false},
    {"le", 2, REAL, true, false, false},
    {"gt", 2, REAL, true, false, false},
    {"ge", 2, REAL, true, false, false},
    {"isnan", 1, ALL, true, false, false},
    {"isinf", 1, ALL, true, false, false},
    {"isfinite", 1, ALL, true, false, false},
    {"signbit", 1, REAL, true, false, false},
    {"truth", 1, ALL, true, false, false}, /* other than zero */
    /* bools */
    {"logical_and", 2, ALL, true, true, false},
    {"logical_or", 2, ALL, true, true, false},
    {"logical_xor", 2, ALL, true, true, false},
    {"logical_not", 1, ALL, true, true, false},
    {"where", 3, ALL, false, false, false}, /* the ?: operator; the first operand is a bool */
};

const cg_word *cg_word_find(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].name) == n && memcmp(words[i].name, name, n) == 0)
            return &words[i];
    return NULL;
}

size_t cg_word_names(const char **names, size_t cap)
{
    size_t n = sizeof words / sizeof *words;
    for (size_t i = 0; i < n && i < cap; i++)
        names[i] = words[i].name;
    return n < cap ? n : cap;
}

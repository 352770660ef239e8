/* pointwise_grad.c - gradients that follow from expressions: their text, and their numbers against
 * central differences of the expression itself. */
#include <math.h>

#include "derivatives_test.h"

#include "codegen/syntax.h"

static derived of_expression(const char *expression, const char *more)
{
    char text[8192];
    snprintf(text, sizeof text,
             "%s- func: abs(Tensor self) -> Tensor\n- func: sign(Tensor self) -> Tensor\n"
             "- func: rsqrt(Tensor self) -> Tensor\n- func: expm1(Tensor self) -> Tensor\n"
             "- func: isnan(Tensor self) -> Tensor\n- func: logical_or(Tensor self, Tensor other) "
             "-> Tensor\n"
             "- func: ge.Tensor(Tensor self, Tensor other) -> Tensor\n"
             "- func: logical_and(Tensor self, Tensor other) -> Tensor\n"
             "- func: p(Tensor self, Tensor other, Scalar s) -> Tensor\n  pointwise: \"%s\"\n%s",
             operators, expression, more);
    return derive(text, NULL);
}

static void expect_gradient(const char *expression, const char *self, const char *other)
{
    derived r = of_expression(expression, "");
    cr_assert(r.ok, "'%s': %s", expression, r.m.diag.n_items ? r.m.diag.items[0].message : "");
    const cg_derivative *d = derivative_of(&r, "p");
    const char *expected[] = {self, other};
    int at = 0;
    cr_expect(d->is_derived && d->forward_flags == TN_FORWARD_ELEMENTWISE);
    for (int i = 0; i < 2; i++) {
        if (!expected[i])
            continue;
        cr_assert(at < d->n_backward, "'%s' has %d gradients", expression, d->n_backward);
        cr_expect_str_eq(d->backward[at].text, expected[i], "'%s': %s", expression,
                         d->backward[at].text);
        at++;
    }
    cr_expect_eq(at, d->n_backward, "'%s' has %d gradients", expression, d->n_backward);
    derived_free(&r);
}

Test(codegen_pointwise_grad, arithmetic)
{
    expect_gradient("self + s * other", "grad", "grad * conj(s)");
    expect_gradient("s * self", "grad * conj(s)", NULL);
    expect_gradient("self - other", "grad", "-grad");
    expect_gradient("self / other", "grad / conj(other)", "-grad * conj(result / other)");
    expect_gradient("self * self", "grad * conj(self) + grad * conj(self)", NULL);
    expect_gradient("(self + other) * 2", "grad * 2", "grad * 2");
}

/* What is the whole is the result, which is saved instead of the arguments. */
Test(codegen_pointwise_grad, result)
{
    expect_gradient("exp(self)", "grad * conj(result)", NULL);
    expect_gradient("s * exp(self)", "grad * conj(s) * conj(exp(self))", NULL);
    derived r = of_expression("exp(self)", "");
    cr_expect_eq(derivative_of(&r, "p")->value_for[0], 1);
    cr_expect_eq(derivative_of(&r, "p")->value_for[1], 0);
    derived_free(&r);
}

/* conj stands only where an expression is defined for complex numbers. */
Test(codegen_pointwise_grad, conjugates)
{
    expect_gradient("abs(self) * other", "grad * other * sign(self)", "grad * abs(self)");
    expect_gradient("expm1(self)", "grad * (result + 1)", NULL);
}

Test(codegen_pointwise_grad, selections)
{
    expect_gradient("self > 0 ? self : s * expm1(self)",
                    "where(self > 0, grad, grad * s * (expm1(self) + 1))", NULL);
    expect_gradient("self < other ? other : 0", NULL, "where(self < other, grad, 0)");
    expect_gradient("s > 1 ? self : other", "s > 1 ? grad : None", "s > 1 ? None : grad");
    /* of a number, but not with an operator of the host */
    expect_gradient("isnan(s) ? self : 2 * self", "where(isnan(s), grad, grad * 2)", NULL);
    expect_gradient("abs(s) < 1 && s + 1 > 0 ? self : -self",
                    "where(abs(s) < 1 && s + 1 > 0, grad, -grad)", NULL);
    expect_gradient("s && !(s > 2) ? self : 0", "s != 0 && !(s > 2) ? grad : None", NULL);
    expect_gradient("maximum(self, 0)", "where(self < 0, 0, where(self == 0, grad / 2, grad))",
                    NULL);
    expect_gradient(
        "maximum(exp(self), other)",
        "where(exp(self) < other, 0, where(exp(self) == other, grad * exp(self) / 2, grad "
        "* exp(self)))",
        "where(exp(self) > other, 0, where(exp(self) == other, grad / 2, grad))");
    expect_gradient("fmax(self, other)", "where(self >= other || isnan(other), grad, 0)",
                    "where(self >= other || isnan(other), 0, grad)");
}

/* Steps have the gradient zero, truth values none, and what has no rule says so. */
Test(codegen_pointwise_grad, flat_and_unknown)
{
    expect_gradient("sign(self) + other", "zeros_like(grad)", "grad");
    derived r = of_expression("self > 2", "");
    for (int i = 0; i < r.all.n; i++)
        cr_expect_str_neq(r.all.items[i].op->id, "p");
    derived_free(&r);
    r = of_expression("bitwise_and(self, other)", "");
    for (int i = 0; i < r.all.n; i++)
        cr_expect_str_neq(r.all.items[i].op->id, "p");
    derived_free(&r);
    r = of_expression("lgamma(self) + other", "");
    const cg_derivative *d = derivative_of(&r, "p");
    cr_expect_str_eq(d->backward[0].why, "the derivative of lgamma is not known");
    cr_expect_eq(d->flags[1], TN_FIELD_DIFFERENTIABLE | TN_FIELD_NO_FORMULA);
    cr_expect_str_eq(d->backward[1].text, "grad");
    derived_free(&r);
}

/* An operator that the formula needs and that is not there is an error of the expression. */
Test(codegen_pointwise_grad, missing_operator)
{
    derived r = of_expression("sin(self)", "");
    cr_assert_eq(r.m.diag.n_items, 1);
    const cg_diag_item *e = r.m.diag.items;
    cr_expect(
        strstr(e->message, "'grad * conj(cos(self))', cannot be made: there is no operator 'cos'"),
        "%s", e->message);
    cr_expect(strstr(e->message, "write an entry in the derivatives file"));
    derived_free(&r);
}

/* A formula that grows out of bounds is refused, not made. */
Test(codegen_pointwise_grad, too_long)
{
    char expression[2048] = "self";
    for (int i = 0; i < 12; i++) {
        char more[2048];
        snprintf(more, sizeof more, "maximum(%.1500s, %d)", expression, i);
        strcpy(expression, more);
    }
    derived r = of_expression(expression, "");
    cr_expect_str_eq(derivative_of(&r, "p")->backward[0].why,
                     "its formula is too long to be derived");
    derived_free(&r);
}

/* ---- numbers --------------------------------------------------------------------------------- */
typedef struct values {
    double self, other, s, grad, result;
} values;

static double word(const char *name, double a, double b, double c)
{
    static const struct {
        const char *name;
        double (*f)(double);
    } of_one[] = {{"exp", exp},   {"exp2", exp2},   {"expm1", expm1}, {"log", log},
                  {"log2", log2}, {"log10", log10}, {"log1p", log1p}, {"sqrt", sqrt},
                  {"sin", sin},   {"cos", cos},     {"tan", tan},     {"asin", asin},
                  {"acos", acos}, {"atan", atan},   {"sinh", sinh},   {"cosh", cosh},
                  {"tanh", tanh}, {"asinh", asinh}, {"acosh", acosh}, {"atanh", atanh},
                  {"erf", erf},   {"erfc", erfc},   {"abs", fabs},    {"floor", floor},
                  {"ceil", ceil}, {"trunc", trunc}, {"round", rint},  {"lgamma", lgamma}};
    static const struct {
        const char *name;
        double (*f)(double, double);
    } of_two[] = {{"atan2", atan2}, {"hypot", hypot},  {"copysign", copysign}, {"fmax", fmax},
                  {"fmin", fmin},   {"maximum", fmax}, {"minimum", fmin}};
    for (size_t i = 0; i < sizeof of_one / sizeof *of_one; i++)
        if (strcmp(of_one[i].name, name) == 0)
            return of_one[i].f(a);
    for (size_t i = 0; i < sizeof of_two / sizeof *of_two; i++)
        if (strcmp(of_two[i].name, name) == 0)
            return of_two[i].f(a, b);
    const char *all[] = {"add",   "sub",        "mul",        "div",   "neg",     "positive",
                         "conj",  "square",     "reciprocal", "rsqrt", "sigmoid", "sign",
                         "lt",    "gt",         "eq",         "ge",    "le",      "where",
                         "isnan", "logical_or", "zeros_like"};
    const double results[] = {a + b,
                              a - b,
                              a * b,
                              a / b,
                              -a,
                              a,
                              a,
                              a * a,
                              1 / a,
                              1 / sqrt(a),
                              1 / (1 + exp(-a)),
                              (a > 0) - (a < 0),
                              a<b, a>
                                  b,
                              a == b,
                              a >= b,
                              a <= b,
                              a != 0 ? b : c,
                              isnan(a),
                              a != 0 || b != 0,
                              0};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i], name) == 0)
            return results[i];
    cr_assert_fail("the test does not know %s", name);
    return 0;
}

static double evaluate(const cg_syntax *x, const values *v)
{
    double operands[3] = {0};
    if (x->kind == CG_SYNTAX_NUMBER)
        return strtod(x->text, NULL);
    if (x->kind == CG_SYNTAX_NAME)
        return strcmp(x->text, "self") == 0    ? v->self
               : strcmp(x->text, "other") == 0 ? v->other
               : strcmp(x->text, "grad") == 0  ? v->grad
               : strcmp(x->text, "None") == 0  ? 0
                                               : v->result;
    for (int i = 0; i < x->n && i < 3; i++)
        operands[i] = evaluate(x->operands[i], v);
    return word(x->text, operands[0], operands[1], operands[2]);
}

static const cg_syntax *parse(derived *r, const char *text)
{
    const cg_str *str = &(cg_str){text, {1, 1}, NULL, 'p'};
    const cg_syntax *x =
        cg_syntax_parse(&r->m.diag, &r->arena, &(cg_syntax_source){"t", str, true});
    cr_assert(x, "%s", text);
    return x;
}

/* Every function of the language, at points where it is smooth. */
static void expect_numbers(const char *expression, double self, double other)
{
    const double h = 1e-5;
    char schema[8192];
    int n = snprintf(schema, sizeof schema,
                     "%s- func: p(Tensor self, Tensor other) -> Tensor\n  pointwise: %s\n",
                     operators, expression);
    static const char *const more[] = {"exp2",    "log",   "log2", "log10", "log1p", "sqrt",
                                       "rsqrt",   "sin",   "cos",  "tan",   "sinh",  "cosh",
                                       "sigmoid", "expm1", "sign", "isnan", "abs",   "erf"};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        n += snprintf(schema + n, sizeof schema - (size_t)n, "- func: %s(Tensor self) -> Tensor\n",
                      more[i]);
    snprintf(schema + n, sizeof schema - (size_t)n,
             "- func: logical_or(Tensor self, Tensor other) -> Tensor\n"
             "- func: ge.Tensor(Tensor self, Tensor other) -> Tensor\n"
             "- func: le.Tensor(Tensor self, Tensor other) -> Tensor\n"
             "- func: atan2(Tensor self, Tensor other) -> Tensor\n"
             "- func: hypot(Tensor self, Tensor other) -> Tensor\n"
             "- func: copysign(Tensor self, Tensor other) -> Tensor\n"
             "- func: maximum(Tensor self, Tensor other) -> Tensor\n"
             "- func: minimum(Tensor self, Tensor other) -> Tensor\n"
             "- func: fmax(Tensor self, Tensor other) -> Tensor\n"
             "- func: fmin(Tensor self, Tensor other) -> Tensor\n");
    derived r = derive(schema, NULL);
    cr_assert(r.ok, "%s: %s", expression, r.m.diag.n_items ? r.m.diag.items[0].message : "");
    const cg_derivative *d = derivative_of(&r, "p");
    const cg_syntax *whole = parse(&r, expression);
    for (int i = 0; i < d->n_backward; i++) {
        bool by_self = strcmp(d->backward[i].who, "self") == 0;
        values at = {.self = self, .other = other, .grad = 1.5}, low = at, high = at;
        at.result = evaluate(whole, &at);
        *(by_self ? &low.self : &low.other) -= h;
        *(by_self ? &high.self : &high.other) += h;
        double numeric = 1.5 * (evaluate(whole, &high) - evaluate(whole, &low)) / (2 * h);
        double derived_value = evaluate(parse(&r, d->backward[i].text), &at);
        cr_expect(fabs(numeric - derived_value) <= 1e-7 * (1 + fabs(numeric)),
                  "%s by %s: %g, expected %g: %s", expression, d->backward[i].who, derived_value,
                  numeric, d->backward[i].text);
    }
    derived_free(&r);
}

Test(codegen_pointwise_grad, numbers)
{
    static const char *const everywhere[] = {
        "exp",  "exp2", "expm1", "sin",     "cos",  "tan",   "atan",   "sinh",
        "cosh", "tanh", "asinh", "sigmoid", "erf",  "erfc",  "square", "positive",
        "abs",  "neg",  "sign",  "floor",   "ceil", "trunc", "round",  "reciprocal"};
    static const char *const positive[] = {"log", "log2", "log10", "log1p", "sqrt", "rsqrt"};
    static const char *const of_two[] = {"add",      "sub",  "mul",  "div",     "atan2",  "hypot",
                                         "copysign", "fmax", "fmin", "maximum", "minimum"};
    char text[128];
    for (size_t i = 0; i < sizeof everywhere / sizeof *everywhere; i++) {
        snprintf(text, sizeof text, "%s(self * other)", everywhere[i]);
        expect_numbers(text, 0.7, 0.6);
        expect_numbers(text, -0.7, 0.6);
        snprintf(text, sizeof text, "%s(self)", everywhere[i]);
        expect_numbers(text, 1.2, 0);
    }
    for (size_t i = 0; i < sizeof positive / sizeof *positive; i++) {
        snprintf(text, sizeof text, "%s(self) * other", positive[i]);
        expect_numbers(text, 0.7, 0.6);
        expect_numbers(text, 3.2, -0.6);
    }
    expect_numbers("asin(self)", 0.4, 0);
    expect_numbers("acos(self)", -0.4, 0);
    expect_numbers("acosh(self)", 1.4, 0);
    expect_numbers("atanh(self)", 0.4, 0);
    for (size_t i = 0; i < sizeof of_two / sizeof *of_two; i++) {
        snprintf(text, sizeof text, "%s(self, other)", of_two[i]);
        expect_numbers(text, 0.7, 1.6);
        expect_numbers(text, 1.7, -0.6);
        snprintf(text, sizeof text, "%s(self * self, sin(other)) * self", of_two[i]);
        expect_numbers(text, 0.7, 1.6);
    }
}

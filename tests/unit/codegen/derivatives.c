/* derivatives.c - derivatives.yaml as a file: kinds of entries, keys and values, mistakes in them, all
 * in one run; the list of what has a gradient. */
#include "derivatives_test.h"

static void refuse(const char *text, int line, int column, const char *what, const char *instead)
{
    derived r = derive(operators, text);
    bool found = false;
    cr_expect_not(r.ok, "%s", text);
    for (int i = 0; i < r.m.diag.n_items; i++) {
        const cg_diag_item *e = &r.m.diag.items[i];
        found |= e->pos.line == line && e->pos.column == column && strstr(e->message, what) &&
                 strstr(e->message, instead) && strchr(e->message, ';');
    }
    cr_expect(found, "expected %d:%d '%s' '%s' of\n%sgot %d errors, first %d:%d: %s", line, column,
              what, instead, text, r.m.diag.n_items,
              r.m.diag.n_items ? r.m.diag.items[0].pos.line : 0,
              r.m.diag.n_items ? r.m.diag.items[0].pos.column : 0,
              r.m.diag.n_items ? r.m.diag.items[0].message : "");
    derived_free(&r);
}

#define EXP "- name: exp(Tensor self) -> Tensor\n"
#define MUL "- name: mul.Tensor(Tensor self, Tensor other) -> Tensor\n"
#define MAX                                                                                        \
    "- name: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor "         \
    "indices)\n"

Test(codegen_derivatives, entries)
{
    refuse("- foo: bar\n", 1, 3, "an entry begins with 'name', 'helper' or 'calls'", "- name:");
    refuse("- foo\n", 1, 3, "an entry begins with", "- name:");
    refuse("- name: 3\n", 1, 9, "'name' must be a schema", "exp(Tensor self)");
    refuse("- name: exp(Tensor self\n", 1, 24, "", ";");
    refuse("- name: exq(Tensor self) -> Tensor\n", 1, 9, "no operator 'exq'", "did you mean 'exp'");
    refuse("- name: exp(Tensor x) -> Tensor\n", 1, 9, "not the schema of exp",
           "'name: exp(Tensor self) -> Tensor'");
    refuse(EXP "  self: grad\n" EXP "  self: grad\n", 3, 9, "an entry already, on line 1",
           "remove");
    refuse(EXP "  self: grad\n  self: grad\n", 3, 3, "", "");
    derived r =
        derive("- func: g(Tensor self) -> Tensor\n  pointwise: -self\n",
               "- name: g_(Tensor(a!) self) -> Tensor(a!)\n  self: grad\n"
               "- name: g.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  self: grad\n");
    cr_assert_geq(r.m.diag.n_items, 2);
    derived_free(&r);
}

Test(codegen_derivatives, forms)
{
    const char *schema = "- func: g(Tensor self) -> Tensor\n  pointwise: positive(self)\n";
    derived r = derive(schema, "- name: g_(Tensor(a!) self) -> Tensor(a!)\n  self: grad\n");
    cr_assert_eq(r.m.diag.n_items, 1);
    cr_expect(strstr(r.m.diag.items[0].message, "takes the derivative of g; remove"));
    derived_free(&r);
    r = derive(schema,
               "- name: g.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  self: grad\n");
    cr_assert_eq(r.m.diag.n_items, 1);
    cr_expect(strstr(r.m.diag.items[0].message, "writes 'out' has no derivative; remove"));
    derived_free(&r);
    r = derive(operators,
               "- name: zero_(Tensor(a!) self) -> Tensor(a!)\n  self: zeros_like(grad)\n");
    cr_expect(r.ok, "an operator that exists in place only has an entry");
    cr_expect_str_eq(derivative_of(&r, "zero_")->node, "ZeroBackward");
    derived_free(&r);
}

Test(codegen_derivatives, keys)
{
    refuse(EXP "  slef: grad\n", 2, 3, "neither a Tensor argument", "did you mean 'self'");
    refuse(MUL "  quux: grad\n", 2, 3, "neither a Tensor argument", "self, other");
    refuse(MAX "  dim: grad\n", 2, 3, "'dim' is no Tensor", "arguments are self");
    refuse(MUL "  self, other: grad\n", 2, 16, "serves 2 arguments and gives Tensor", "2 Tensors");
    refuse(MUL "  self: grad\n  other, self: grad\n", 3, 3, "has a formula already", "one key");
    refuse(MUL "  self, result: grad\n", 2, 3, "a result stands in a key alone", "one key");
    refuse(EXP "  self: [grad]\n", 2, 9, "must be a formula, found a list", "quotes");
    refuse(EXP "  self:\n", 2, 8, "must be a formula", "quotes");
    refuse(EXP "  self: ''\n", 2, 10, "must be a formula", "quotes");
    refuse(EXP "  self: auto_linear\n", 2, 9, "is for results", "write a formula");
    refuse(EXP "  result: non_differentiable\n", 2, 11, "output_differentiability", "[False]");
    refuse(EXP "  self: not_implemented\n", 2, 9, "says why", "not_implemented(\"");
    refuse(MAX "  output_differentiability: [True]\n", 2, 29, "for each result, 2 in all",
           "[True, False]");
    refuse(MAX "  output_differentiability: [True, maybe]\n", 2, 29, "True or False",
           "[True, False]");
    refuse(MAX "  output_differentiability: [False, True]\n  self: grad\n", 3, 9,
           "'values' has no gradient", "grads[i]");
    refuse(MAX "  self: grad\n  result: auto_linear\n  result1: self_t\n", 1, 9,
           "another an auto_ word", "formulas for all results");
    refuse(EXP "  output_differentiability: [False]\n  self: exp(self)\n", 1, 9,
           "no result has one", "non_differentiable");
    refuse(MAX "  self: grad\n  values: self_t\n", 1, 9, "result 'indices' has no formula",
           "'indices: ..'");
    refuse(EXP "  self: grad\n  result: \"wants(self) ? self_t : None\"\n", 3, 12,
           "wants is about gradients", "self_t.defined");
    refuse(EXP "  self: grad\n  result: grad\n", 3, 11, "no gradient in a forward formula",
           "self_t");
    refuse(EXP "  self: non_differentiable\n  result: self_t\n", 3, 11, "'self' has no tangent",
           "formula");
}

Test(codegen_derivatives, helpers_and_calls)
{
    refuse("- helper: h\n", 1, 12, "", ";");
    refuse("- helper: [h]\n", 1, 11, "must be a schema, found a list", "helper: name(");
    refuse("- helper: h.x(Tensor g) -> Tensor\n", 1, 11, "no namespace and no overload", "'h(..)'");
    refuse("- helper: exp(Tensor g) -> Tensor\n", 1, 11, "is an operator already", "another name");
    refuse("- helper: exp_backward(Tensor g) -> Tensor\n", 1, 11, "a generated function",
           "another name");
    refuse("- helper: h(Tensor g) -> ()\n", 1, 11, "has no result", "docs/derivatives.md");
    refuse("- helper: h(Tensor g) -> (Tensor, int)\n", 1, 11, "gives Tensors alone",
           "(Tensor, Tensor)");
    refuse("- helper: h(Tensor g) -> Tensor\n  self: grad\n", 2, 3, "no other keys", "'- '");
    refuse("- calls: exp\n", 1, 10, "must be a list", "[expand, sum.dim_IntList]");
    refuse("- calls: [expp]\n", 1, 11, "no operator 'expp'", "exp");
    derived r = derive(operators, "- calls: [split.Tensor, zero_]\n");
    cr_expect(r.ok, "helpers may call what writes, too");
    int used = 0;
    for (int i = 0; i < r.all.n_callees; i++)
        used += r.all.callees[i].used;
    cr_expect_eq(used, 2);
    derived_free(&r);
}

Test(codegen_derivatives, all_mistakes_in_one_run)
{
    derived r = derive(operators, EXP "  self: grad * othr\n  result: self_t *\n" MUL
                                      "  self: exp(grad, 2)\n  other: grad + 1\n"
                                      "- name: nothing(Tensor self) -> Tensor\n  self: grad\n");
    cr_expect_eq(r.m.diag.n_items, 4);
    static const int lines[] = {2, 3, 5, 7};
    for (int i = 0; i < 4 && i < r.m.diag.n_items; i++)
        cr_expect_eq(r.m.diag.items[i].pos.line, lines[i], "%s", r.m.diag.items[i].message);
    derived_free(&r);
}

Test(codegen_derivatives, values)
{
    derived r = derive(operators,
                       MUL "  self: not_implemented(\"nobody knows\")\n"
                           "  other: non_differentiable\n  result: auto_element_wise\n" EXP
                           "  self: grad * result\n  result: auto_linear\n");
    cr_assert(r.ok, "%s", r.m.diag.n_items ? r.m.diag.items[0].message : "");
    const cg_derivative *d = derivative_of(&r, "mul_Tensor");
    cr_expect_eq(d->flags[1], TN_FIELD_DIFFERENTIABLE | TN_FIELD_NO_FORMULA);
    cr_expect_eq(d->flags[2], 0);
    cr_expect_eq(d->n_arguments, 1);
    cr_expect_str_eq(d->backward[0].why, "nobody knows");
    cr_expect_eq(d->forward_flags, TN_FORWARD_ELEMENTWISE);
    cr_expect_eq(derivative_of(&r, "exp")->forward_flags, TN_FORWARD_LINEAR);
    cr_expect_str_eq(d->node, "MulBackward");
    derived_free(&r);
}

Test(codegen_derivatives, list)
{
    char *text = NULL;
    size_t n = 0;
    derived r = derive(operators,
                       MUL "  other: grad\n  self: not_implemented(\"no\")\n" EXP "  self: grad\n");
    FILE *to = open_memstream(&text, &n);
    cr_expect(cg_derivatives_list(&r.all, to));
    fclose(to);
    cr_expect_str_eq(text, "exp: self\nmul.Tensor: other\n");
    free(text);
    derived_free(&r);
}

/* A plugin's formulas call its own operators first, then the built-in ones, whose frames have names of
 * their own. */
Test(codegen_derivatives, of_a_plugin)
{
    const char *own = "- func: my::exp(Tensor self) -> Tensor\n"
                      "- func: my::twice(Tensor self, Scalar k) -> Tensor\n  pointwise: k * self\n"
                      "- func: my::f(Tensor self) -> Tensor\n";
    const char *text = "- name: my::f(Tensor self) -> Tensor\n  self: exp(grad) * neg(self)\n";
    derived built_in = derive(operators, NULL), r = {.m = model_check(own)};
    cr_assert(r.m.diag.n_items == 0 && cg_ops_make(&r.m.diag, &r.arena, r.m.file, &r.ops));
    const cg_derivatives_source source = {.path = "d.yaml",
                                          .bytes = text,
                                          .n_bytes = strlen(text),
                                          .ops = &r.ops,
                                          .built_in = &built_in.ops};
    cr_assert(cg_derivatives_make(&r.m.diag, &r.arena, &source, &r.all), "%s",
              r.m.diag.n_items ? r.m.diag.items[0].message : "");
    cr_expect_str_eq(derivative_of(&r, "f")->backward[0].code.expression,
                     "call_mul_Tensor(g, call_exp(g, grad), call_neg(g, a->self))");
    cr_expect_str_eq(derivative_of(&r, "twice")->backward[0].text, "grad * conj(k)");
    for (int i = 0; i < r.all.n_callees; i++) {
        const cg_callee *c = &r.all.callees[i];
        if (strcmp(c->name, "exp") == 0)
            cr_expect_str_eq(c->c_name, c->is_own ? "call_exp" : "call_aten_exp");
        if (strcmp(c->name, "exp") == 0)
            cr_expect_str_eq(c->frame, c->is_own ? "exp" : "aten_exp");
        cr_expect(c->is_own || strcmp(c->name, "exp") != 0 || !c->used,
                  "the plugin's exp is meant");
    }
    derived_free(&r);
    derived_free(&built_in);
}

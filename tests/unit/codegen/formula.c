/* formula.c - formulas of derivatives.yaml: the C that they become, which tensors they save, which
 * overload a call means, and every mistake with its place and what to write instead. */
#include "derivatives_test.h"

/* The operators, the helpers and an entry for f whose `self` is this formula, in quotes: it begins in
 * line 5, column 10. */
static derived entry(const char *formula, const char *more)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s  self: \"%s\"\n%s", helpers, f_name, formula, more);
    return derive(operators, text);
}

static void expect_c(const char *formula, const char *c)
{
    derived r = entry(formula, "");
    cr_assert(r.ok, "'%s': %s", formula, r.m.diag.n_items ? r.m.diag.items[0].message : "");
    const cg_derivative *d = derivative_of(&r, "f");
    cr_expect_str_eq(d->backward[0].code.expression, c, "'%s': %s", formula,
                     d->backward[0].code.expression);
    derived_free(&r);
}

static void expect_refused(const char *formula, int offset, const char *what, const char *instead)
{
    derived r = entry(formula, "");
    cr_expect_not(r.ok, "'%s' was taken", formula);
    cr_expect_eq(r.m.diag.n_items, 1, "'%s': %d errors", formula, r.m.diag.n_items);
    const cg_diag_item none = {"", {0, 0}, "no error", 0};
    const cg_diag_item *e = r.m.diag.n_items ? r.m.diag.items : &none;
    cr_expect(e->pos.line == 5 && e->pos.column == 10 + offset, "'%s': %d:%d, expected 5:%d: %s",
              formula, e->pos.line, e->pos.column, 10 + offset, e->message);
    cr_expect(strstr(e->message, what) && strstr(e->message, instead),
              "'%s': expected '%s' and '%s' in: %s", formula, what, instead, e->message);
    cr_expect(strchr(e->message, ';'), "it does not say what to write instead: %s", e->message);
    derived_free(&r);
}

Test(codegen_formula, names)
{
    expect_c("grad", "grad");
    expect_c("self", "a->self");
    expect_c("result", "a->result");
    expect_c("result0", "a->result");
    expect_c("grads[0]", "grad");
    expect_c("None", "NULL");
    expect_c("extra", "a->extra");
}

Test(codegen_formula, operators_with_tensors)
{
    expect_c("grad * other", "call_mul_Tensor(g, grad, a->other)");
    expect_c("grad * s", "grad_times(g, grad, a->s)");
    expect_c("s * grad", "grad_times(g, grad, a->s)");
    expect_c("2 * grad", "grad_times(g, grad, tn_scalar_int(2))");
    expect_c("grad + other", "grad_plus(g, grad, a->other)");
    expect_c("grad - other", "grad_minus(g, grad, a->other)");
    expect_c("grad + 1", "call_add_Scalar(g, grad, tn_scalar_int(1), tn_scalar_int(1))");
    expect_c("1 - grad", "call_rsub_Scalar(g, grad, tn_scalar_int(1), tn_scalar_int(1))");
    expect_c("grad / x", "call_div_Scalar(g, grad, tn_scalar_float(a->x))");
    expect_c("1 / self", "grad_times(g, call_reciprocal(g, a->self), tn_scalar_int(1))");
    expect_c("-grad", "call_neg(g, grad)");
    expect_c("self < 2", "call_lt_Scalar(g, a->self, tn_scalar_int(2))");
    expect_c("2 > self", "call_lt_Scalar(g, a->self, tn_scalar_int(2))");
    expect_c("0.5 < self", "call_gt_Scalar(g, a->self, tn_scalar_float(0.5))");
    expect_c("grad * conj(other)", "call_mul_Tensor(g, grad, grad_conj(g, a->other))");
    expect_c("grad * conj(s)", "grad_times(g, grad, tn_scalar_conj(a->s))");
    expect_c("grad * conj(2)", "grad_times(g, grad, tn_scalar_int(2))");
}

Test(codegen_formula, host_arithmetic)
{
    expect_c("grad * (i + 1)", "grad_times(g, grad, tn_scalar_int(a->i + 1))");
    expect_c("grad * (x * 2)", "grad_times(g, grad, tn_scalar_float(a->x * 2))");
    expect_c("grad * (i / 2)", "grad_times(g, grad, tn_scalar_float(tn_float_div(a->i, 2)))");
    expect_c("grad * (s - 1)", "grad_times(g, grad, tn_scalar_sub(a->s, tn_scalar_int(1)))");
    expect_c("grad * -s", "grad_times(g, grad, tn_scalar_neg(a->s))");
    expect_c("b ? grad : None", "a->b ? grad : NULL");
    expect_c("s == 0 || !b ? grad : self",
             "(tn_scalar_eq(a->s, tn_scalar_int(0)) || (!a->b)) ? grad : a->self");
    expect_c("mode == 'none' && t.defined ? grad * t.value : grad",
             "(tn_str_eq(a->mode, \"none\") && tn_has_scalar(a->t)) ? grad_times(g, grad, a->t) : "
             "grad");
    expect_c("j.defined ? grad * j.value : grad",
             "tn_has_int(a->j) ? grad_times(g, grad, tn_scalar_int(a->j.value)) : grad");
    expect_c("wants(self) ? grad : self", "tn_grad_wants(g, 0) ? grad : a->self");
}

Test(codegen_formula, members)
{
    expect_c("size_back(grad, self.sizes, self.dim)",
             "size_back(g, grad, tn_sizes_of(a->self), tn_dim_of(a->self))");
    expect_c("grad * self.size(-1)", "grad_times(g, grad, tn_scalar_int(tn_size_of(a->self, -1)))");
    expect_c("grad * self.sizes[0]",
             "grad_times(g, grad, tn_scalar_int(tn_ints_at(tn_sizes_of(a->self), 0)))");
    expect_c("self.is_complex ? grad : None", "tn_is_complex(a->self) ? grad : NULL");
    expect_c("size_back(grad, [i, 2], dims.defined ? dims.value[0] : 0)",
             "size_back(g, grad, (tn_ints){(const int64_t[]){a->i, 2}, 2}, tn_has_ints(a->dims) ? "
             "tn_ints_at(a->dims, 0) : 0)");
    expect_c("size_back(grad, [], 0)", "size_back(g, grad, (tn_ints){NULL, 0}, 0)");
}

Test(codegen_formula, calls)
{
    expect_c("sum(grad)", "call_sum(g, grad, TN_DTYPE_NONE)");
    expect_c("grad.sum()", "call_sum(g, grad, TN_DTYPE_NONE)");
    expect_c("grad.sum(dims)", "call_sum_dim_IntList(g, grad, a->dims, false, TN_DTYPE_NONE)");
    expect_c("sum(grad, 0)", "call_sum_dim_IntList(g, grad, (tn_ints){(const int64_t[]){0}, 1}, "
                             "false, TN_DTYPE_NONE)");
    expect_c("sum(grad, None, keepdim=True)",
             "call_sum_dim_IntList(g, grad, TN_NO_INTS, true, TN_DTYPE_NONE)");
    expect_c("sum.dim_IntList(grad, dims, dtype=self.dtype)",
             "call_sum_dim_IntList(g, grad, a->dims, false, tn_dtype_of(a->self))");
    expect_c("two.a(grad)", "call_two_a(g, grad, NULL)");
    expect_c("two(grad, y=self)", "call_two_b(g, grad, a->self)");
    expect_c("max.dim(grad, 0)[1]", "call_max_dim(g, grad, 0, false, (tn_tensor *[2]){NULL})[1]");
    expect_c("cat([grad, self], i)",
             "call_cat(g, (tn_tensors){(tn_tensor *[]){grad, a->self}, 2}, a->i)");
    expect_c("split(grad, 2)[0]", "tn_tensors_at(call_split_Tensor(g, grad, 2, 0), 0)");
}

/* A number where a tensor is wanted: on the device of the gradient. */
Test(codegen_formula, numbers_as_tensors)
{
    expect_c("where(extra, grad, 0)",
             "call_where_self(g, a->extra, grad, grad_number(g, a->extra, tn_scalar_int(0)))");
    expect_c("b ? grad : 2", "a->b ? grad : grad_number(g, grad, tn_scalar_int(2))");
}

Test(codegen_formula, variables)
{
    derived r = entry("exp(self) * (grad + exp(self))", "");
    const cg_code *c = &derivative_of(&r, "f")->backward[0].code;
    cr_assert_eq(c->n_variables, 1);
    cr_expect_str_eq(c->variables[0], "call_exp(g, a->self)");
    cr_expect_str_eq(c->expression, "call_mul_Tensor(g, t1, grad_plus(g, grad, t1))");
    derived_free(&r);
    /* what one side of ?: alone needs is not called on the other */
    r = entry("b ? exp(self) * exp(self) : grad", "");
    cr_expect_eq(derivative_of(&r, "f")->backward[0].code.n_variables, 0);
    derived_free(&r);
}

/* A formula is shown with no more parentheses than it needs, and means the same. */
Test(codegen_formula, text)
{
    static const char *const same[] = {"(grad + self) * other",
                                       "grad - (self - other)",
                                       "grad - self - other",
                                       "-(grad * self)",
                                       "-grad * self",
                                       "grad / (self * other)",
                                       "grad * self / other",
                                       "grad * -0.5",
                                       "b ? grad : i == 1 ? self : other",
                                       "(b ? grad : self) * other",
                                       "(grad + self).sum([0, -1], keepdim=True)",
                                       "max.dim(grad, self.sizes[i + 1])[0]",
                                       "i + 1 < 2 && (b || !(mode == 'x')) ? grad : None"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        derived r = entry(same[i], "");
        cr_assert(r.ok, "'%s': %s", same[i], r.m.diag.n_items ? r.m.diag.items[0].message : "");
        cr_expect_str_eq(derivative_of(&r, "f")->backward[0].text, same[i], "%s",
                         derivative_of(&r, "f")->backward[0].text);
        derived_free(&r);
    }
    derived r = entry("((grad) * (self))  +(other*2)", "");
    cr_expect_str_eq(derivative_of(&r, "f")->backward[0].text, "grad * self + other * 2");
    derived_free(&r);
}

/* ---- what is saved --------------------------------------------------------------------------- */
static void expect_saved(const char *formula, const char *more, int at, uint64_t value,
                         uint64_t shape)
{
    derived r = entry(formula, more);
    cr_assert(r.ok, "'%s': %s", formula, r.m.diag.n_items ? r.m.diag.items[0].message : "");
    const cg_derivative *d = derivative_of(&r, "f");
    cr_expect_eq(d->value_for[at], value, "'%s': value_for %llx", formula,
                 (unsigned long long)d->value_for[at]);
    cr_expect_eq(d->shape_for[at], shape, "'%s': shape_for %llx", formula,
                 (unsigned long long)d->shape_for[at]);
    derived_free(&r);
}

Test(codegen_formula, saves)
{
    enum { RESULT, SELF, OTHER };
    expect_saved("grad", "", SELF, 0, 0);
    expect_saved("grad * self", "", SELF, 1, 0);
    expect_saved("grad * result", "", RESULT, 1, 0);
    expect_saved("grad * self.numel", "", SELF, 0, 1);
    expect_saved("size_back(grad, self.sizes, i)", "", SELF, 0, 1);
    expect_saved("zeros_like(shape(self))", "", SELF, 0, 1);
    expect_saved("exp(self).dim > 1 ? grad : None", "", SELF, 1,
                 0);                                          /* the shape of what is computed */
    expect_saved("grad * self * self.numel", "", SELF, 1, 0); /* a value has its shape with it */
    expect_saved("self.is_complex ? grad : None", "", SELF, 0, 1);
    expect_saved("grad", "  other: grad * self + other.numel\n", SELF, 2, 0);
    expect_saved("grad", "  other: grad * self + other.numel\n", OTHER, 0, 2);
    expect_saved("grad * other.numel", "  other: grad * other\n", OTHER, 2, 1);
    expect_saved("grad", "  result: self_t * self\n", SELF, 0,
                 0); /* forward sees the whole frame */
}

Test(codegen_formula, saves_of_several)
{
    char text[2048];
    snprintf(text, sizeof text,
             "%s%s  other, self: many(grad, self.sizes, t, j, mode, wants(self))\n", helpers,
             f_name);
    derived r = derive(operators, text);
    cr_assert(r.ok, "%s", r.m.diag.n_items ? r.m.diag.items[0].message : "");
    const cg_derivative *d = derivative_of(&r, "f");
    cr_assert_eq(d->n_backward, 1);
    cr_expect_eq(d->backward[0].n_results, 2);
    cr_expect_eq(d->backward[0].order[0], 1, "the key's order is the results'");
    cr_expect_eq(d->backward[0].order[1], 0);
    cr_expect_eq(d->shape_for[1], 3);
    cr_expect_str_eq(
        d->backward[0].code.expression,
        "many(g, grad, tn_sizes_of(a->self), a->t, a->j, a->mode, tn_grad_wants(g, 0)");
    derived_free(&r);
}

Test(codegen_formula, lists)
{
    derived r = derive(
        operators,
        "- helper: list_back(Tensor grad, Tensor[] tensors) -> Tensor[]\n"
        "- helper: join(Tensor[] grads, int[] sizes) -> Tensor\n"
        "- name: cat(Tensor[] tensors, int dim=0) -> Tensor\n"
        "  tensors: list_back(grad, shape(tensors))\n"
        "- name: split.Tensor(Tensor(a -> *) self, int split_size, int dim=0) -> Tensor(a)[]\n"
        "  self: join(grads, self.sizes)\n"
        "- name: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, "
        "Tensor indices)\n  output_differentiability: [True, False]\n"
        "  self: grad * indices\n  values: self_t * self_p\n");
    cr_assert(r.ok, "%s", r.m.diag.n_items ? r.m.diag.items[0].message : "");
    const cg_derivative *d = derivative_of(&r, "cat");
    cr_expect(d->backward[0].is_list);
    cr_expect_eq(d->shape_for[1], 1);
    d = derivative_of(&r, "split_Tensor");
    cr_expect_str_eq(d->backward[0].code.expression,
                     "join(g, tn_grad_list(g, a->result), tn_sizes_of(a->self))");
    cr_expect_eq(d->value_for[0], 0, "only the length of the result is looked at");
    d = derivative_of(&r, "max_dim");
    cr_expect_eq(d->flags[0], TN_FIELD_DIFFERENTIABLE);
    cr_expect_eq(d->flags[1], 0);
    cr_expect_str_eq(d->forward[0].code.expression,
                     "call_mul_Tensor(g, tn_tangent(g, 0), a->self)");
    derived_free(&r);
}

/* ---- mistakes -------------------------------------------------------------------------------- */
Test(codegen_formula, unknown_names)
{
    expect_refused("grad * othr", 7, "there is no 'othr'", "did you mean 'other'");
    expect_refused("quux", 0, "there is no 'quux'", "names are grad");
    expect_refused("expp(grad)", 0, "no operator or helper 'expp'", "did you mean 'exp'");
    expect_refused("frobnicate(grad)", 0, "no operator or helper", "- helper: frobnicate(");
    expect_refused("grad.frobnicate()", 5, "no operator or helper", "- helper:");
    expect_refused("self.shape", 5, "Tensor has no member 'shape'", "sizes, strides");
    expect_refused("i.sizes", 2, "int has no member", "a Tensor has");
    expect_refused("b.len", 2, "bool has no member 'len'", "a list has len");
    expect_refused("grads[1]", 0, "no grads[1]", "1 result");
    expect_refused("grads", 0, "operators that give a Tensor[]", "write grad");
    expect_refused("self_t", 0, "no 'self_t'", "did you mean 'self'");
}

Test(codegen_formula, wrong_calls)
{
    expect_refused("exp(grad, self)", 10, "too many arguments", "exp(Tensor self)");
    expect_refused("exp()", 0, "argument 'self' is missing", "exp(Tensor self)");
    expect_refused("exp(x=grad)", 6, "no argument 'x'", "exp(Tensor self)");
    expect_refused("exp(grad, self=grad)", 15, "given twice", "exp(Tensor self)");
    expect_refused("exp(mode)", 4, "'self' is a Tensor, got str", "exp(Tensor self)");
    expect_refused("sum(grad, mode)", 0, "no overload of sum fits", "sum.dim_IntList(");
    expect_refused("two(grad)", 0, "ambiguous: two.a and two.b", "two.a(..)");
    expect_refused("sum.all(grad)", 4, "'sum' has no overload 'all'", "write sum(..)");
    expect_refused("size_back(grad, dims, 0)", 16, "'sizes' is an int[], got int[]?", "size_back(");
    expect_refused("zero_(grad)", 0, "no operator or helper 'zero_'", ";");
    expect_refused("max(grad, 0)", 0, "must be a Tensor, and this gives 2 results", "[0]");
    expect_refused("many(grad, [], t, j, mode, b)[0]", 30, "taken by its number",
                   "helper with one");
}

Test(codegen_formula, wrong_types)
{
    expect_refused("i", 0, "must be a Tensor", "and this gives");
    expect_refused("mode", 0, "must be a Tensor, and this gives str", "write a formula");
    expect_refused("list_back(grad, [self])", 0, "gives Tensor[]", "write a formula");
    expect_refused("grad ? self : other", 0, "the condition of '?:' is a Tensor", "where(");
    expect_refused("i ? self : other", 0, "must be a bool, got int", "comparison");
    expect_refused("b ? self : mode", 2, "two sides of '?:' are Tensor and str", "both the same");
    expect_refused("grad * mode", 5, "no overload of mul fits", "mul.Scalar");
    expect_refused("grad * t", 5, "no overload of mul", "mul.Scalar(");
    expect_refused("grad * (i + mode)", 10, "'+' cannot stand between int and str", "numbers");
    expect_refused("grad * (i + j)", 10, "'+' cannot stand between int and int?", "x.value");
    expect_refused("i && b ? grad : self", 2, "'&&' cannot stand between int and bool", "numbers");
    expect_refused("!i ? grad : self", 0, "'!' cannot be applied to int", "condition");
    expect_refused("grad * self.size(x)", 17, "size takes an int", "x.size(0)");
    expect_refused("grad * self.sizes[x]", 18, "an index must be an int, got float", "x[0]");
    expect_refused("grad[0]", 4, "Tensor has no entries", "lists");
    expect_refused("cat([grad, mode], 0)", 4, "not of one type", "Tensors alone");
    expect_refused("wants(grad)", 6, "name of an argument that has a gradient", "wants(self)");
    expect_refused("shape(i)", 6, "a Tensor or a Tensor[]", "shape(self)");
    expect_refused("conj(mode)", 0, "conj takes a Tensor or a number", "conj(self)");
    expect_refused("conj(self, other)", 0, "conj takes 1 argument, got 2", "conj(self)");
}

Test(codegen_formula, wrong_syntax)
{
    expect_refused("grad *", 6, "ends too early", "a name");
    expect_refused("grad)", 4, "expected an operator", "operators are");
    expect_refused("sum(grad", 8, "not closed", "')'");
    expect_refused("sum(grad, keepdim=True, 0)", 24, "without a name stands behind 'keepdim='",
                   "names for all");
    expect_refused("grad.", 5, "expected a name behind '.'", "x.sizes");
    expect_refused("self.sizes[0", 12, "index is not closed", "']'");
    expect_refused("cat([grad, self)", 15, "list is not closed", "']'");
    expect_refused("mode == 'none", 8, "string is not closed", "'none'");
    expect_refused("mode == 'a*b'", 10, "holds more than letters", "'none'");
    expect_refused("mode == 'm4_dnl'", 8, "templates would take 'm4_'", "another text");
    expect_refused("grad % 2", 5, "expected an operator", "operators are");
}

/* derive.c - tests of codegen/derive.c and entry_ours.c: what follows from one functional
 * declaration. */
#include "model_test.h"

/* The derived schemas of the only entry, printed; "" where the entry has no such form. */
static void expect_forms(const char *yaml, const char *inplace, const char *out)
{
    model m = model_check(yaml);
    tn__arena a = {0};
    cr_expect_eq(m.diag.n_items, 0, "%s-> %s", yaml, m.diag.n_items ? m.diag.items[0].message : "");
    const tn__schema *got[2] = {cg_schema_inplace(&a, m.file->entries),
                                cg_schema_out(&a, m.file->entries)};
    const char *want[2] = {inplace, out};
    for (int i = 0; i < 2; i++) {
        char text[1024] = "";
        if (got[i])
            tn__schema_print(got[i], text, sizeof text);
        cr_expect_str_eq(text, want[i], "%s gives '%s'", yaml, text);
    }
    tn__arena_free(&a);
    model_free(&m);
}

Test(codegen_derive, pointwise)
{
    expect_forms(
        "- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n"
        "  pointwise: self + alpha * other\n",
        "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
        "add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)");
    expect_forms("- func: myops::scale(Tensor self, Scalar a) -> Tensor\n  pointwise: a * self\n",
                 "myops::scale_(Tensor(a!) self, Scalar a) -> Tensor(a!)",
                 "myops::scale.out(Tensor self, Scalar a, *, Tensor(a!) out) -> Tensor(a!)");
    expect_forms(
        "- func: add.Scalar(Tensor self, Scalar other) -> Tensor\n  pointwise: self + other\n",
        "add_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
        "add.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)");
}

Test(codegen_derive, no_inplace_form_without_a_leading_self)
{
    expect_forms("- func: where.self(Tensor condition, Tensor self, Tensor other) -> Tensor\n"
                 "  pointwise: 'condition ? self : other'\n",
                 "",
                 "where.self_out(Tensor condition, Tensor self, Tensor other, *, Tensor(a!) out) "
                 "-> Tensor(a!)");
}

Test(codegen_derive, shape)
{
    expect_forms(
        "- func: sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? "
        "dtype=None) "
        "-> Tensor\n  shape: reduce(self, dim, keepdim, dtype)\n  out: IntList_out\n",
        "",
        "sum.IntList_out(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, "
        "Tensor(a!) out) -> Tensor(a!)");
    expect_forms("- func: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, "
                 "Tensor indices)\n"
                 "  shape: reduce(self, dim, keepdim)\n  out: dim_max(max, max_values)\n",
                 "",
                 "max.dim_max(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) max, "
                 "Tensor(b!) max_values) "
                 "-> (Tensor(a!) values, Tensor(b!) indices)");
    expect_forms(
        "- func: two(Tensor self) -> (Tensor, Tensor)\n  shape: same\n", "",
        "two.out(Tensor self, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))");
    expect_forms(
        "- func: parts(Tensor self) -> Tensor[]\n  shape: parts(self)\n  forms: [functional]\n", "",
        "");
}

Test(codegen_derive, a_factory_has_no_options_in_its_out_form)
{
    expect_forms(
        "- func: full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? "
        "layout=None, "
        "Device? device=None, bool? pin_memory=None) -> Tensor\n  shape: factory(size, dtype)\n",
        "", "full.out(SymInt[] size, Scalar fill_value, *, Tensor(a!) out) -> Tensor(a!)");
}

Test(codegen_derive, forms_can_be_chosen)
{
    expect_forms(
        "- func: foo(Tensor self) -> Tensor\n  pointwise: self\n  forms: functional, inplace\n",
        "foo_(Tensor(a!) self) -> Tensor(a!)", "");
    expect_forms(
        "- func: foo(Tensor self) -> Tensor\n  shape: same\n  forms: [functional, inplace]\n",
        "foo_(Tensor(a!) self) -> Tensor(a!)", "");
}

Test(codegen_derive, our_keys_are_checked)
{
#define FOO "- func: foo(Tensor self, Tensor other) -> Tensor\n"
    expect_error(FOO "  pointwise: self\n  structured_delegate: foo.out\n", 3, 3,
                 "beside 'pointwise'");
    expect_error(FOO "  pointwise: self\n  autogen: foo.out\n", 3, 3, "'autogen' beside");
    expect_error(FOO "  pointwise: self\n  shape: same\n", 3, 3, "'shape' beside 'pointwise'");
    expect_error(FOO "  pointwise: [self]\n", 2, 14, "must be an expression");
    expect_error(FOO "  shape: reduce(self\n", 2, 21, "one call of a shape rule");
    expect_error(FOO "  shape: 'a(self) b'\n", 2, 18, "one call of a shape rule");
    expect_error(FOO "  pointwise: self\n  dispatch:\n    CompositeImplicitAutograd: foo\n", 4, 5,
                 "beside 'pointwise'");
    expect_error(FOO "  pointwise: self\n  forms: [inplace]\n", 3, 3, "without functional");
    expect_error(FOO "  pointwise: self\n  forms: [functional, inplce]\n", 3, 23,
                 "did you mean 'inplace'?");
    expect_error(FOO "  pointwise: self\n  forms: [functional]\n  out: bar\n", 4, 3,
                 "does not have");
    expect_error(FOO "  pointwise: self\n  out: bar(a, b)\n", 3, 12, "2 names for 1 results");
    expect_error(FOO "  pointwise: self\n  out: bar(other)\n", 3, 8, "name of another argument");
    expect_error(FOO "  forms: [functional]\n", 2, 3, "only for entries with pointwise or shape");
    expect_error(FOO "  dtypes: [f32, float]\n", 2, 17, "unknown dtype 'float'");
    expect_error(FOO "  dtypes: []\n", 2, 11, "is empty");
    expect_error(FOO "  since: new\n", 2, 10, "must be a version");
    expect_error("- func: foo(Tensor self) -> int\n  pointwise: self\n", 1, 29, "result 1 is no");
    expect_error("- func: foo(Scalar self) -> Tensor\n  pointwise: self\n", 1, 9,
                 "without a Tensor argument");
    expect_error("- func: foo_(Tensor(a!) self) -> Tensor(a!)\n  pointwise: self\n", 2, 3,
                 "on the functional form");
    expect_error("- func: foo(Tensor self) -> (Tensor, Tensor)\n  pointwise: self\n", 1, 38,
                 "one result");
    expect_error("- func: foo(Tensor self) -> ()\n  shape: same\n", 1, 9, "without a result");
    expect_error("- func: foo(Tensor self) -> Tensor[]\n  shape: same\n", 1, 9,
                 "forms: [functional]");
    expect_ok(FOO "  pointwise: 0\n  dtypes: floating, complex\n  since: 0.1\n");
    expect_ok(FOO "  pointwise: self\n  dispatch:\n    CPU: foo_cpu\n");
#undef FOO
}

Test(codegen_derive, derived_forms_are_written_once)
{
#define ADD "- func: add.Tensor(Tensor self, Tensor other) -> Tensor\n  pointwise: self + other\n"
    expect_error(ADD
                 "- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)\n",
                 3, 9, "follows from 'add.Tensor' on line 1");
    expect_error(ADD "- func: add(Tensor self) -> Tensor\n  pointwise: self\n", 3, 9,
                 "with 'out:'");
    expect_ok(
        ADD "- func: add.Scalar(Tensor self, Scalar other) -> Tensor\n  pointwise: self + other\n");
#undef ADD
}

Test(codegen_derive, dtypes)
{
    model m = model_check(
        "- func: foo(Tensor self) -> Tensor\n  pointwise: self\n  dtypes: [floating, bool, i64]\n");
    cr_expect_eq(m.file->entries[0].dtypes,
                 1u << 5 | 1u << 6 | 1u << 7 | 1u << 15 | 1u << 11 | 1u << 4);
    cr_expect_eq(cg_dtypes_parse("f32x", 3), 1u << 6);
    model_free(&m);
}

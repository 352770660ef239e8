/* ops.c - what the back half refuses although the YAML is valid: names that C or the frame has
 * already, shape rules that are no calls, dtypes that Tenon has not; and the names that operators
 * get in C. */
#include "model_test.h"

#include "codegen/ops.h"

static bool make(const char *text, model *m, tn__arena *a, cg_ops *ops)
{
    *m = model_check(text);
    cr_assert(m->file && m->diag.n_items == 0, "%s\n-> %s", text,
              m->diag.n_items ? m->diag.items->message : "");
    return cg_ops_make(&m->diag, a, m->file, ops);
}

static void expect_refused(const char *text, const char *part)
{
    model m;
    tn__arena a = {0};
    cg_ops ops;
    cr_expect_not(make(text, &m, &a, &ops), "taken: %s", text);
    cr_expect(m.diag.n_items && strstr(m.diag.items->message, part), "expected '%s', got '%s'",
              part, m.diag.n_items ? m.diag.items->message : "no error");
    tn__arena_free(&a);
    model_free(&m);
}

Test(codegen_ops, names_that_c_has)
{
    expect_refused("- func: q::f(Tensor self, int int) -> Tensor\n", "'int' is a word of C");
    expect_refused("- func: q::f(Tensor self, Tensor NULL) -> Tensor\n", "'NULL' is a word of C");
}

Test(codegen_ops, names_that_the_frame_has)
{
    expect_refused("- func: q::f(Tensor frame) -> Tensor\n", "frame's own header");
    expect_refused("- func: q::f(Tensor result) -> Tensor\n", "two fields");
    model m;
    tn__arena a = {0};
    cg_ops ops;
    cr_expect(make("- func: q::f(Tensor self) -> (Tensor a, Tensor self)\n", &m, &a, &ops),
              "a result that has an argument's name is numbered");
    tn__arena_free(&a);
    model_free(&m);
}

/* An error stands at the argument that it is about. */
Test(codegen_ops, places_of_errors)
{
    static const struct {
        const char *args;
        int column;
    } rows[] = {{"Tensor self, int NULL", 32},
                {"Tensor frame", 19},
                {"Tensor self, Storage kept", 32},
                {"Tensor self, Scalar s=1j", 32}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[128];
        snprintf(text, sizeof text, "- func: places::f(%s) -> Tensor\n", rows[i].args);
        model m;
        tn__arena a = {0};
        cg_ops ops;
        cr_expect_not(make(text, &m, &a, &ops), "taken: %s", text);
        cr_expect(m.diag.n_items && m.diag.items->pos.column == rows[i].column, "%s: column %d",
                  text, m.diag.n_items ? m.diag.items->pos.column : 0);
        tn__arena_free(&a);
        model_free(&m);
    }
}

Test(codegen_ops, names_that_are_one_in_c)
{
    expect_refused("- func: q::f.a_b(Tensor self) -> Tensor\n- func: q::f_a.b(Tensor self) -> "
                   "Tensor\n",
                   "line 1 give operators of one name in C, f_a_b");
}

static void expect_plugin_refused(const char *text, const char *part)
{
    model own, built_in;
    tn__arena a = {0};
    cg_ops ops, native;
    cr_assert(make(text, &own, &a, &ops));
    cr_assert(make("- func: relu(Tensor self) -> Tensor\n", &built_in, &a, &native));
    cr_expect_not(cg_names_check_plugin(&own.diag, "q", &ops, &native), "taken: %s", text);
    cr_expect(own.diag.n_items && strstr(own.diag.items->message, part), "expected '%s'", part);
    tn__arena_free(&a);
    model_free(&own);
    model_free(&built_in);
}

Test(codegen_ops, names_of_tenons_own)
{
    expect_plugin_refused("- func: relu(Tensor self) -> Tensor\n", "as 'q::relu'");
    expect_plugin_refused("- func: tn::mine(Tensor self) -> Tensor\n", "as 'q::mine'");
}

Test(codegen_ops, more_tensors_than_a_call_has)
{
    expect_refused(
        "- func: q::f(Tensor a, Tensor b, Tensor c, Tensor d, Tensor e, Tensor f, Tensor "
        "g, Tensor h, Tensor i) -> Tensor\n",
        "at most 8 Tensor");
}

Test(codegen_ops, words_of_the_templates)
{
    expect_refused("- func: q::f(Tensor self, str s=\"m4_dnl\") -> Tensor\n", "'m4_'");
    expect_refused("- func: q::f(Tensor self, str s=\"@<a@|b@>\") -> Tensor\n", "'@<a'");
    expect_refused("- func: q::f(Tensor self, str s=\"@{\") -> Tensor\n", "'@{");
    expect_refused("- func: q::f(Tensor self, int cg_id) -> Tensor\n", "'cg_'");
}

Test(codegen_ops, defaults_that_are_none)
{
    expect_refused("- func: q::f(Tensor self, float x=inf) -> Tensor\n", "float");
    expect_refused("- func: q::f(Tensor self, int[2] x=[1,2,3]) -> Tensor\n", "as many elements");
    expect_refused("- func: q::f(Tensor self, Scalar x=1j) -> Tensor\n", "'x' is complex");
}

Test(codegen_ops, shape_rules)
{
    expect_refused("- func: q::f(Tensor self) -> Tensor\n  shape: reduce(self, 3x)\n", "3x");
    expect_refused("- func: q::f(Tensor self) -> Tensor\n  shape: reduce(self, -)\n", "-");
    expect_refused("- func: q::f(Tensor self) -> Tensor\n  shape: reduce(self, other)\n", "other");
}

Test(codegen_ops, dtypes_that_tenon_has_not)
{
    expect_refused("- func: q::f(Tensor self) -> Tensor\n  shape: abs(self)\n  dtypes: [u16]\n",
                   "u16");
}

/* What an operator by hand must compute is checked as an expression is. */
Test(codegen_ops, references)
{
    expect_refused("- func: q::f(Tensor self) -> Tensor\n  shape: pointwise\n"
                   "  reference: self + other\n",
                   "'other' is no argument");
    expect_refused("- func: q::f(Tensor self) -> Tensor\n  reference: exp(self, 2).sizzes(othr)\n",
                   "there is no argument 'othr'");
    model m;
    tn__arena a = {0};
    cg_ops ops;
    cr_expect(make("- func: q::f(Tensor self) -> Tensor\n  shape: pointwise\n"
                   "  reference: exp2(log2(self) / 3)\n  dtypes: [f32]\n",
                   &m, &a, &ops));
    cr_expect_not(ops.groups[0].is_pointwise, "nothing is made of it");
    tn__arena_free(&a);
    model_free(&m);
}

Test(codegen_ops, quotes_of_the_templates)
{
    expect_refused("- func: \"q::f(Tensor self, str s='@}') -> Tensor\"\n", "@}");
}

Test(codegen_ops, names_in_c)
{
    model m;
    tn__arena a = {0};
    cg_ops ops;
    cr_assert(
        make("- func: q::f.Tensor(Tensor self) -> Tensor\n  pointwise: self\n", &m, &a, &ops));
    cr_assert_eq(ops.n_groups, 1);
    cr_expect_str_eq(ops.groups[0].forms[CG_FUNCTIONAL]->id, "f_Tensor");
    cr_expect_str_eq(ops.groups[0].forms[CG_FUNCTIONAL]->short_id, "f");
    cr_expect_str_eq(ops.groups[0].forms[CG_OUT]->id, "f_out");
    tn__arena_free(&a);
    model_free(&m);
}

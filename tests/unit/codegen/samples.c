/* samples.c - tests of `samples` and `reference`, the keys that `tenon opinfo` reads: each mistake
 * at its place, and what is meant by what is right. */
#include "derivatives_test.h"

#include "codegen/reference.h"
#include "codegen/samples.h"

#define F                                                                                          \
    "- func: q::f(Tensor self, Tensor? w, Tensor[] list, Tensor?[] some, int dim, int[2] size, "   \
    "float x, Scalar s, str mode, ScalarType t) -> Tensor\n"                                       \
    "  samples:\n  - "
#define G "- func: q::g(Tensor self, int dim=1, *, str mode='mean') -> Tensor\n  samples:\n  - "

static const cg_sample *sample_of(const model *m, int i)
{
    cr_assert_eq(m->diag.n_items, 0, "%s", m->diag.n_items ? m->diag.items->message : "");
    cr_assert_gt(m->file->entries[0].n_samples, i);
    return &m->file->entries[0].samples[i];
}

Test(codegen_samples, every_kind_of_argument)
{
    model m = model_check(F "(self=[3, 4] from 0.5 to 2, w=None, list=[[2], [] i64 from 0 to 3], "
                            "some=[None, [0, 5] bool],\n"
                            "     dim=-1, size=3, x=1e-5, s=2, mode='a, (b)', t=long)\n");
    cg_sample s = *sample_of(&m, 0);
    cr_assert_eq(s.n_args, 10);
    const cg_sample_tensor *self = s.args[0].tensors, *list = s.args[2].tensors,
                           *some = s.args[3].tensors;
    cr_expect(self->ndim == 2 && self->sizes[1] == 4 && self->has_range && self->lo == 0.5 &&
              self->hi == 2 && self->dtype == 0);
    cr_expect(s.args[1].n_tensors == 1 && s.args[1].tensors->absent);
    cr_expect(s.args[2].n_tensors == 2 && list[1].ndim == 0 && list[1].hi == 3);
    cr_expect_eq(list[1].dtype, cg_dtypes_parse("i64", 3));
    cr_expect(some[0].absent && !some[1].absent && some[1].sizes[0] == 0);
    cr_expect_eq(some[1].dtype, cg_dtypes_parse("bool", 4));
    cr_expect_eq(s.args[4].value->args[0].def->i, -1);
    cr_expect_str_eq(s.args[8].value->args[0].def->text, "a, (b)");
    cr_expect_not(s.fails);
    model_free(&m);
}

Test(codegen_samples, calls)
{
    model m = model_check(G "(self=[])\n  - ( self = [3] , dim=0, mode=\"x\") fails\n");
    cr_expect_eq(sample_of(&m, 0)->n_args, 1);
    cr_expect(sample_of(&m, 1)->fails);
    model_free(&m);
}

Test(codegen_samples, mistakes_of_calls)
{
    expect_error("- func: q::g(Tensor self) -> Tensor\n  samples: (self=[3])\n", 2, 12, "a list");
    expect_error("- func: q::g(Tensor self) -> Tensor\n  samples: []\n", 2, 12, "an empty one");
    expect_error(G "{self: [3]}\n", 3, 5, "must list calls");
    expect_error(G "self=[3]\n", 3, 5, "a sample is a call");
    expect_error(G "(slef=[3])\n", 3, 6, "did you mean 'self'?");
    expect_error(G "(self=[3], self=[3])\n", 3, 16, "given twice");
    expect_error(G "(self=[3]; dim=0)\n", 3, 14, "write ',' or ')'");
    expect_error(G "(self [3])\n", 3, 11, "expected '='");
    expect_error(G "(self=[3]) fail\n", 3, 16, "nothing can follow");
    expect_error(G "(dim=0)\n", 3, 5, "does not give 'self'");
    expect_error(G "()\n", 3, 5, "does not give 'self'");
    expect_error("- func: q::g(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  samples:\n"
                 "  - (self=[3], out=[3])\n",
                 3, 16, "the harness gives");
}

/* Each sample's own first mistake is told, and the good ones stay. */
Test(codegen_samples, several_mistakes)
{
    static const char text[] = G "(self=[3], dim=x)\n  - (self=[-1])\n  - (self=[2])\n";
    expect_error(text, 3, 20, "does not fit");
    expect_error(text, 4, 12, "whole number");
    model m = model_check(text);
    cr_expect_eq(m.diag.n_items, 2);
    cr_expect_eq(m.file->entries[0].n_samples, 1);
    model_free(&m);
}

Test(codegen_samples, mistakes_of_values)
{
    expect_error(G "(self=3)\n", 3, 11, "given by its shape");
    expect_error(G "(self=[3, -4])\n", 3, 15, "whole number from 0");
    expect_error(G "(self=[3 4])\n", 3, 14, "write ',' or ']'");
    expect_error(G "(self=[1,1,1,1,1,1,1,1,1])\n", 3, 28, "more than 8 dimensions");
    expect_error(G "(self=[4096, 4096])\n", 3, 11, "more than 1048576 elements");
    expect_error(G "(self=[3] i65)\n", 3, 15, "unknown dtype 'i65'");
    expect_error(G "(self=[3] floating)\n", 3, 15, "not one dtype");
    expect_error(G "(self=[3] u16)\n", 3, 15, "not one dtype of Tenon's");
    expect_error(G "(self=[3] from 4 to 0)\n", 3, 19, "behind its end");
    expect_error(G "(self=[3] from 4)\n", 3, 21, "expected 'to'");
    expect_error(G "(self=[3], dim=1.5)\n", 3, 20,
                 "the value '1.5' of argument 'dim' does not fit");
    expect_error(G "(self=[3], dim=)\n", 3, 20, "expected a default value");
    expect_error(G "(self=[3], mode=mean)\n", 3, 21, "write a string in quotes");
    expect_error(G "(self=None)\n", 3, 11, "given by its shape");
}

/* ---- references ------------------------------------------------------------------------------ */
/* The first mistake that the generator finds, in the order in which it looks. */
static const char *found_in(const char *entry, cg_pos *at)
{
    static char message[512];
    char schema[sizeof operators + 600];
    tn__arena a = {0};
    cg_ops ops;
    cg_derivatives all = {0};
    snprintf(schema, sizeof schema, "%s%s", operators, entry);
    model m = model_check(schema);
    cg_derivatives_source source = {.ops = &ops};
    if (cg_ops_make(&m.diag, &a, m.file, &ops))
        cg_derivatives_make(&m.diag, &a, &source, &all);
    snprintf(message, sizeof message, "%s", m.diag.n_items ? m.diag.items->message : "");
    *at = m.diag.n_items ? m.diag.items->pos : (cg_pos){0, 0};
    for (int i = 0; i < all.n_callees; i++)
        cr_expect_not(all.callees[i].used, "nothing is generated for a reference");
    tn__arena_free(&a);
    model_free(&m);
    return message;
}

#define H "- func: h(Tensor self, Tensor[] list, int dim, str mode='sum') -> Tensor\n  reference: "

static void expect_found(const char *entry, int column, const char *part)
{
    cg_pos at = {0, 0};
    const char *message = found_in(entry, &at);
    cr_expect(strstr(message, part), "expected '%s', got '%s'", part, message);
    cr_expect_eq(at.column, column, "column %d of '%s'", at.column, message);
}

Test(codegen_samples, formulas_are_typed)
{
    cg_pos at;
    cr_expect_str_eq(found_in(H "sum(self * self, [dim])\n", &at), "");
    cr_expect_str_eq(found_in(H "\"mode == 'sum' ? cat(list).sum() : self\"\n", &at), "");
    cr_expect_str_eq(found_in(H "\"max.dim(self, self.dim - 1)[0]\"\n", &at), "");
    cr_expect_str_eq(found_in(H "self * exp(self)\n", &at), "", "an expression");
    expect_found(H "bessel(self, dim)\n", 14, "there is no operator 'bessel'");
    expect_found(H "exp(self, axis=1)\n", 29, "no argument 'axis'");
    expect_found(H "sum(self, mode)\n", 14, "no overload of sum");
    expect_found(H "cat(list) + dimm\n", 26, "did you mean 'dim'?");
    expect_found(H "sum(self, [dim]\n", 29, "not closed");
    expect_found(H "dim + 1\n", 14, "gives no Tensor");
    expect_found(H "wants(self) + dim\n", 14, "is for gradients");
}

Test(codegen_samples, what_an_expression_can_say_is_one)
{
    static const struct {
        const char *text;
        bool formula;
    } rows[] = {{"self * 2 + exp(self)", false},
                {"\"self > 0 ? self : s * self\"", false},
                {"self * dim", true},
                {"sum(self)", true},
                {"round(self, decimals=2)", true},
                {"self.sizes", true},
                {"div(self, s)", false},
                {"div(self, s, 'floor')", true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "- func: q::k(Tensor self, Scalar s, int dim) -> Tensor\n  reference: %s\n",
                 rows[i].text);
        model m = model_check(text);
        cg_reference r;
        tn__arena a = {0};
        cr_expect(cg_reference_parse(&m.diag, &a, &m.file->entries[0], &r), "%s", rows[i].text);
        cr_expect_eq(r.formula != NULL, rows[i].formula, "%s", rows[i].text);
        cr_expect_eq(r.expression.root != NULL, !rows[i].formula, "%s", rows[i].text);
        tn__arena_free(&a);
        model_free(&m);
    }
}

/* derivatives_test.h - what the tests of derivatives share: a schema file and a derivatives file as
 * text, the facts of one operator. */
#ifndef TN_TESTS_DERIVATIVES_TEST_H
#define TN_TESTS_DERIVATIVES_TEST_H

#include "model_test.h"

#include "codegen/derivatives.h"

/* Operators of every kind of argument and result, and those that formulas are written with. */
static const char operators[] =
    "- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n"
    "- func: add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor\n"
    "- func: sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n"
    "- func: sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor\n"
    "- func: rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor\n"
    "- func: mul.Tensor(Tensor self, Tensor other) -> Tensor\n"
    "- func: mul.Scalar(Tensor self, Scalar other) -> Tensor\n"
    "- func: div.Tensor(Tensor self, Tensor other) -> Tensor\n"
    "- func: div.Scalar(Tensor self, Scalar other) -> Tensor\n"
    "- func: neg(Tensor self) -> Tensor\n"
    "- func: exp(Tensor self) -> Tensor\n"
    "- func: reciprocal(Tensor self) -> Tensor\n"
    "- func: lt.Tensor(Tensor self, Tensor other) -> Tensor\n"
    "- func: lt.Scalar(Tensor self, Scalar other) -> Tensor\n"
    "- func: gt.Tensor(Tensor self, Tensor other) -> Tensor\n"
    "- func: gt.Scalar(Tensor self, Scalar other) -> Tensor\n"
    "- func: eq.Tensor(Tensor self, Tensor other) -> Tensor\n"
    "- func: eq.Scalar(Tensor self, Scalar other) -> Tensor\n"
    "- func: where.self(Tensor condition, Tensor self, Tensor other) -> Tensor\n"
    "- func: scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? "
    "device=None,"
    " bool? pin_memory=None) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: scalar_tensor\n"
    "- func: zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
    "device=None,"
    " bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor\n  dispatch:\n"
    "    CompositeExplicitAutograd: zeros_like\n"
    "- func: sum(Tensor self, *, ScalarType? dtype=None) -> Tensor\n"
    "- func: sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? "
    "dtype=None)"
    " -> Tensor\n"
    "- func: two.a(Tensor self, Tensor? x=None) -> Tensor\n"
    "- func: two.b(Tensor self, Tensor? y=None) -> Tensor\n"
    "- func: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)\n"
    "- func: cat(Tensor[] tensors, int dim=0) -> Tensor\n"
    "- func: split.Tensor(Tensor(a -> *) self, int split_size, int dim=0) -> Tensor(a)[]\n"
    "- func: zero_(Tensor(a!) self) -> Tensor(a!)\n"
    "- func: f(Tensor self, Tensor other, Scalar s, Scalar? t=None, int i=0, int? j=None, float "
    "x=0.5, bool b=False, "
    "int[]? dims=None, str mode='none', Tensor? extra=None) -> Tensor\n";

static const char f_name[] = "- name: f(Tensor self, Tensor other, Scalar s, Scalar? t=None, int "
                             "i=0, int? j=None, float x=0.5, bool b=False, "
                             "int[]? dims=None, str mode='none', Tensor? extra=None) -> Tensor\n";

static const char helpers[] = "- helper: many(Tensor grad, int[] sizes, Scalar? t, int? j, str "
                              "mode, bool b) -> (Tensor, Tensor)\n"
                              "- helper: list_back(Tensor grad, Tensor[] tensors) -> Tensor[]\n"
                              "- helper: size_back(Tensor grad, int[] sizes, int dim) -> Tensor\n";

typedef struct derived {
    model m;
    tn__arena arena;
    cg_ops ops;
    cg_derivatives all;
    bool ok;
} derived;

static inline derived derive(const char *schema, const char *derivatives)
{
    derived r = {.m = model_check(schema)};
    cr_assert(r.m.file && r.m.diag.n_items == 0, "%s",
              r.m.diag.n_items ? r.m.diag.items[0].message : "");
    cr_assert(cg_ops_make(&r.m.diag, &r.arena, r.m.file, &r.ops));
    cg_derivatives_source source = {.path = derivatives ? "d.yaml" : NULL,
                                    .bytes = derivatives,
                                    .n_bytes = derivatives ? strlen(derivatives) : 0,
                                    .ops = &r.ops};
    r.ok = cg_derivatives_make(&r.m.diag, &r.arena, &source, &r.all);
    cg_diag_sort(&r.m.diag);
    return r;
}

static inline void derived_free(derived *r)
{
    tn__arena_free(&r->arena);
    model_free(&r->m);
}

static inline const cg_derivative *derivative_of(const derived *r, const char *id)
{
    for (int i = 0; i < r->all.n; i++)
        if (strcmp(r->all.items[i].op->id, id) == 0)
            return &r->all.items[i];
    cr_assert_fail("%s has no derivative: %s", id,
                   r->m.diag.n_items ? r->m.diag.items[0].message : "no error");
    return NULL;
}

#endif

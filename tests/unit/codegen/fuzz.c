/* fuzz.c - text that was cut off or damaged is an error or a file, never a crash. The sanitizers
 * watch. */
#include "derivatives_test.h"

#include "codegen/reference.h"

static const char sample[] =
    "# a comment\n"
    "- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n"
    "  structured_delegate: add.out\n"
    "  variants: function, method\n"
    "  dispatch:\n    SparseCPU, SparseCUDA: at::add_sparse\n    MkldnnCPU: 'mkldnn_add'\n"
    "  tags: [core, \"pointwise\"]\n\n"
    "- func: add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)\n"
    "  structured: True\n  structured_inherits: TensorIteratorBase\n"
    "  ufunc_inner_loop:\n    Generic: add (AllAndComplex, BFloat16)\n    ScalarOnly: add (Bool)\n"
    "- func: cum.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)\n"
    "  structured: True\n  precomputed:\n  - dim -> int dim, int size\n  - int numel\n"
    "- func: scale(Tensor self, Scalar alpha) -> Tensor\n"
    "  pointwise: >-\n    alpha *\n    self\n  dtypes: [floating, f32]\n  since: 0.1\n"
    "- func: max.dim(Tensor self, int dim) -> (Tensor values, Tensor indices)\n"
    "  shape: reduce(self, dim)\n  out: dim_max(max, max_values)\n  forms: functional, out\n"
    "- func: foo_(Tensor(a!) self) -> Tensor(a!)\n  autogen: foo, foo.out\n  cpp_no_default_args: "
    "[]\n"
    "- func: all(Tensor? self, Tensor[] list, int[2] size=1, str mode='a') -> Tensor\n"
    "  reference: \"mode == 'a' ? sum.dim_IntList(cat(list), [-1])[0] : self.sizes\"\n"
    "  samples:\n  - (self=None, list=[[2, 3] i64 from -1 to 2.5, []], size=[1, 2], "
    "mode=\"b\")\n"
    "  - (self=[0], list=[]) fails\n";

/* Reads, checks, prints, derives: everything that a damaged file can reach. */
static int run(const char *bytes, size_t n)
{
    char *text = NULL;
    size_t length = 0;
    cg_diag d = {0};
    tn__arena a = {0};
    char *copy = malloc(n ? n : 1); /* exactly n bytes: one read too far is seen */
    memcpy(copy, bytes, n);
    cg_file *f = cg_file_parse(&d, "f", copy, n);
    free(copy);
    for (int i = 0; f && i < f->n_entries; i++) {
        const cg_entry *e = &f->entries[i];
        cg_schema_inplace(&a, e);
        cg_schema_out(&a, e);
        cg_reference reference;
        if (e->schema && e->reference.text && !e->misread)
            cg_reference_parse(&d, &a, e, &reference);
        for (size_t k = 0; e->pointwise.text && k <= strlen(e->pointwise.text) + 1; k++)
            cg_at(&e->pointwise, k);
    }
    if (f)
        cg_validate(&d, f);
    FILE *to = open_memstream(&text, &length);
    cg_diag_print(&d, to, CG_DIAG_GITHUB);
    cg_diag_print(&d, to, CG_DIAG_JSON);
    fclose(to);
    free(text);
    int errors = d.n_items;
    cr_expect_not(d.no_memory);
    tn__arena_free(&a);
    cg_file_free(f);
    cg_diag_free(&d);
    return errors;
}

Test(codegen_fuzz, every_prefix)
{
    int clean = 0;
    for (size_t n = 0; n < sizeof sample; n++)
        clean += run(sample, n) == 0;
    cr_expect_gt(clean, 0, "the sample itself is valid up to some of its entries");
}

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Damages text[0 .. n-1], which has room for cap, in one to six places; the new length. */
static size_t damage(char *text, size_t n, size_t cap, uint32_t *state)
{
    static const char junk[] = "-:,[]{}()!*&#|>'\"\\ \n\t?=.%@`\0\xff\xc3\xa9"
                               "a0";
    for (uint32_t k = 1 + next(state) % 6; k > 0; k--) {
        size_t at = next(state) % n;
        switch (next(state) % 4) {
        case 0:
            text[at] = junk[next(state) % (sizeof junk - 1)];
            break;
        case 1:
            text[at] = (char)next(state);
            break;
        case 2: /* a piece is lost */
            memmove(text + at, text + at + 1, n - at - 1);
            n--;
            break;
        default: /* a piece is doubled */
            if (n + 8 < cap && at + 8 < n) {
                memmove(text + at + 8, text + at, n - at);
                n += 8;
            }
        }
    }
    return n;
}

Test(codegen_fuzz, random_damage)
{
    uint32_t state = 20240229;
    char text[sizeof sample + 64];
    int failed = 0;
    for (int round = 0; round < 3000; round++) {
        memcpy(text, sample, sizeof sample);
        failed += run(text, damage(text, sizeof sample - 1, sizeof text, &state)) > 0;
    }
    cr_expect_gt(failed, 1000);
}

/* ---- derivatives ----------------------------------------------------------------------------- */
static const char derivatives_sample[] =
    "- helper: h(Tensor grad, int[] sizes, Scalar? t, str mode='a') -> (Tensor, Tensor)\n"
    "- helper: l(Tensor[] grads) -> Tensor[]\n"
    "- calls: [zero_, sum.dim_IntList]\n"
    "- name: mul.Tensor(Tensor self, Tensor other) -> Tensor\n"
    "  self: grad * conj(other)\n  other: 'where(self < 0, grad, 0) - self.sizes[0] * grad'\n"
    "  result: auto_element_wise\n"
    "- name: exp(Tensor self) -> Tensor\n  self: >-\n    grad *\n    conj(result)\n"
    "  result: \"self_t.dim > 1 && !self.is_complex ? self_t * result : sum(self_t, [0, -1], "
    "keepdim=True)\"\n"
    "- name: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n"
    "  self, other: h(grads[0], [1, self.size(-1)], alpha, mode='x')\n"
    "- name: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)\n"
    "  output_differentiability: [True, False]\n  self: not_implemented('why')\n  result0: self_t\n"
    "- name: cat(Tensor[] tensors, int dim=0) -> Tensor\n  tensors: l([grad, max.dim(grad, "
    "0)[1]])\n"
    "- name: zero_(Tensor(a!) self) -> Tensor(a!)\n  self: non_differentiable\n";

/* With everything that is derived and written after it. */
static int run_derivatives(const cg_ops *ops, const char *bytes, size_t n)
{
    char *text = NULL;
    size_t length = 0;
    cg_diag d = {0};
    tn__arena a = {0};
    cg_derivatives all;
    char *copy = malloc(n + 1);
    memcpy(copy, bytes, n);
    copy[n] = '\0';
    const cg_derivatives_source source = {.path = "d", .bytes = copy, .n_bytes = n, .ops = ops};
    FILE *to = open_memstream(&text, &length);
    if (cg_derivatives_make(&d, &a, &source, &all)) {
        cg_facts_write_derivatives(&all, "x", CG_FACTS_ALL, to);
        cg_derivatives_list(&all, to);
    }
    cg_diag_print(&d, to, CG_DIAG_JSON);
    fclose(to);
    free(text);
    free(copy);
    int errors = d.n_items;
    cr_expect_not(d.no_memory);
    tn__arena_free(&a);
    cg_diag_free(&d);
    return errors;
}

Test(codegen_fuzz, derivatives)
{
    char text[sizeof derivatives_sample + 64];
    uint32_t state = 20241129;
    int failed = 0;
    derived r = derive(operators, derivatives_sample);
    cr_assert(r.ok, "%s", r.m.diag.n_items ? r.m.diag.items[0].message : "");
    for (size_t n = 0; n < sizeof derivatives_sample; n++)
        failed += run_derivatives(&r.ops, derivatives_sample, n) > 0;
    cr_expect_gt(failed, 500);
    for (int round = 0; round < 2000; round++) {
        memcpy(text, derivatives_sample, sizeof derivatives_sample);
        size_t n = damage(text, sizeof derivatives_sample - 1, sizeof text, &state);
        failed += run_derivatives(&r.ops, text, n) > 0;
    }
    cr_expect_gt(failed, 1500);
    derived_free(&r);
}

Test(codegen_fuzz, many_broken_entries)
{
    size_t n = 0, cap = 1 << 20;
    char *text = malloc(cap);
    while (n + 64 < cap)
        n += (size_t)snprintf(text + n, cap - n, "- func: \"f%zu(Tensor self) -> Tensor\n", n);
    cr_expect_gt(run(text, n), 1);
    free(text);
}

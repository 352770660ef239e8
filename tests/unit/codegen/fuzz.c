/* fuzz.c - text that was cut off or damaged is an error or a file, never a crash. The sanitizers
 * watch. */
#include "model_test.h"

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
    "[]\n";

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

Test(codegen_fuzz, random_damage)
{
    static const char junk[] = "-:,[]{}()!*&#|>'\"\\ \n\t?=.%@`\0\xff\xc3\xa9"
                               "a0";
    uint32_t state = 20240229;
    char text[sizeof sample + 64];
    int failed = 0;
    for (int round = 0; round < 3000; round++) {
        size_t n = sizeof sample - 1;
        memcpy(text, sample, n);
        for (uint32_t k = 1 + next(&state) % 6; k > 0; k--) {
            size_t at = next(&state) % n;
            switch (next(&state) % 4) {
            case 0:
                text[at] = junk[next(&state) % (sizeof junk - 1)];
                break;
            case 1:
                text[at] = (char)next(&state);
                break;
            case 2: /* a piece is lost */
                memmove(text + at, text + at + 1, n - at - 1);
                n--;
                break;
            default: /* a piece is doubled */
                if (n + 8 < sizeof text && at + 8 < n) {
                    memmove(text + at + 8, text + at, n - at);
                    n += 8;
                }
            }
        }
        failed += run(text, n) > 0;
    }
    cr_expect_gt(failed, 1000);
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

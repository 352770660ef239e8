/* entry.c - tests of codegen/entry*.c: what the model holds, and where its texts stand. */
#include "model_test.h"

static const char add_text[] =
    "- func: add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)\n"
    "  variants: function, method\n"
    "  structured_delegate: add.out\n"
    "  device_check: NoCheck   # comment\n"
    "  tags: [core, pointwise]\n"
    "  dispatch:\n"
    "    SparseCPU, SparseCUDA: at::sparse::add_\n"
    "    MkldnnCPU: mkldnn_add_\n"
    "  autogen: a, a.out\n"
    "  cpp_no_default_args: [alpha]\n";

Test(codegen_entry, reads_every_key)
{
    model m = model_read(add_text);
    cr_assert_eq(m.diag.n_items, 0);
    const cg_entry *e = cg_file_find(m.file, "add_.Tensor");
    cr_assert_not_null(e);
    cr_expect_str_eq(e->schema->name, "add_");
    cr_expect_eq(e->kind, TN__SCHEMA_INPLACE);
    cr_expect_eq(e->variants, CG_VARIANT_FUNCTION | CG_VARIANT_METHOD);
    cr_expect_str_eq(e->structured_delegate.text, "add.out");
    cr_expect_eq(e->device_check, CG_DEVICE_CHECK_NO_CHECK);
    cr_expect(e->device_guard && e->has_dispatch && !e->structured && !e->is_ours);
    cr_assert_eq(e->n_dispatch, 3);
    cr_expect_str_eq(e->dispatch[1].key, "SparseCUDA");
    cr_expect_str_eq(e->dispatch[1].ns, "at::sparse");
    cr_expect_str_eq(e->dispatch[1].name, "add_");
    cr_expect_eq(e->dispatch[1].key_pos.line, 7);
    cr_expect_eq(e->dispatch[1].key_pos.column, 16);
    cr_expect_str_eq(e->dispatch[2].ns, "");
    cr_expect(cg_entry_has_tag(e, "pointwise") && !cg_entry_has_tag(e, "generated"));
    cr_assert_eq(e->n_autogen, 2);
    cr_expect_str_eq(e->autogen[1].text, "a.out");
    cr_expect_eq(e->autogen[1].pos.column, 15);
    cr_expect_str_eq(e->cpp_no_default_args[0].text, "alpha");
    model_free(&m);
}

Test(codegen_entry, implied_kernels)
{
    model m = model_read(
        "- func: a.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
        "- func: b(Tensor self) -> Tensor\n  dispatch: {}\n"
        "- func: c.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  ufunc_inner_loop:\n    Generic: add (AllAndComplex, BFloat16)\n    ScalarOnly: add "
        "(Bool)\n");
    cr_assert_eq(m.diag.n_items, 0);
    const cg_entry *e = m.file->entries;
    cr_assert_eq(e[0].n_dispatch, 1);
    cr_expect(e[0].dispatch[0].implied);
    cr_expect_str_eq(e[0].dispatch[0].key, "CompositeImplicitAutograd");
    cr_expect_str_eq(e[0].dispatch[0].name, "a_out");
    cr_expect_eq(e[1].n_dispatch, 0);
    cr_assert_eq(e[2].n_dispatch, 2);
    cr_expect_str_eq(e[2].dispatch[1].name, "ufunc_c_CUDA");
    cr_assert_eq(e[2].n_ufunc_inner_loop, 2);
    cr_expect_str_eq(e[2].ufunc_inner_loop[0].dtypes[1], "BFloat16");
    model_free(&m);
}

Test(codegen_entry, precomputed)
{
    model m = model_read(
        "- func: a.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  precomputed:\n  - dim -> int dim, int size\n  - int numel\n");
    const cg_entry *e = m.file->entries;
    cr_assert_eq(e->n_precomputed, 2);
    cr_expect_str_eq(e->precomputed[0].replaces, "dim");
    cr_assert_eq(e->precomputed[0].n_added, 2);
    cr_expect_str_eq(e->precomputed[0].added[1].name, "size");
    cr_expect_null(e->precomputed[1].replaces);
    model_free(&m);
    expect_error(
        "- func: a.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  precomputed:\n  - dim -> int dim, Foo x\n",
        4, 21, "Foo");
}

Test(codegen_entry, positions_inside_a_text)
{
    static const struct {
        const char *yaml;
        size_t offset;
        int line, column;
    } cases[] = {
        {"- pointwise: self + x\n", 7, 1, 21},
        {"- pointwise: \"self + x\"\n", 7, 1, 22},
        {"- pointwise: \"a\\tb\\u0041c\"\n", 4, 1, 25},
        {"- pointwise: 'it''s x'\n", 5, 1, 21},
        {"- pointwise: self\n    + x\n", 5, 2, 5},
        {"- pointwise: self\n    + x\n", 7, 2, 7},
        {"- pointwise: |\n    self\n    + x\n", 7, 3, 7},
        {"- pointwise: >-\n    self\n    + x\n", 7, 3, 7},
        {"- pointwise: \"\xc3\xa9 + x\"\n", 5, 1, 19},
        {"- pointwise: self + x\n", 0, 1, 14},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        model m = model_read(cases[i].yaml);
        const cg_str *s = &m.file->entries[0].pointwise;
        cr_assert_not_null(s->text, "%s", cases[i].yaml);
        cg_pos pos = cg_at(s, cases[i].offset);
        cr_expect(pos.line == cases[i].line && pos.column == cases[i].column,
                  "%s gives %d:%d for %zu", cases[i].yaml, pos.line, pos.column, cases[i].offset);
        model_free(&m);
    }
}

Test(codegen_entry, a_schema_error_points_into_the_line)
{
    expect_error("- func: foo(Tensor self, Foo x) -> Tensor\n", 1, 26, "Foo");
    expect_error("- func: 'foo(Tensor self, Foo x) -> Tensor'\n", 1, 27, "Foo");
    expect_error("- variants: function\n  func: foo(Tensor self\n", 2, 24, "");
}

Test(codegen_entry, forms_of_values)
{
#define FOO "- func: foo(Tensor self) -> Tensor\n"
    expect_error("- variants: function\n", 1, 3, "without 'func'");
    expect_error("- func: 3\n", 1, 9, "must be a schema, found a number");
    expect_error("- func: a::b::foo(Tensor self) -> Tensor\n", 1, 9, "more than one namespace");
    expect_error(FOO "  dipatch:\n    CPU: a\n", 2, 3, "did you mean 'dispatch'?");
    expect_error(FOO "  tags: pointwis\n", 2, 9, "did you mean 'pointwise'?");
    expect_error(FOO "  tags: core, pointwise\n", 2, 9, "write a list");
    expect_error(FOO "  tags: [core, 3]\n", 2, 16, "found a number");
    expect_error(FOO "  dispatch: CPU\n", 2, 13, "must be a mapping");
    expect_error(FOO "  dispatch:\n    GPU: a\n", 3, 5, "did you mean 'CUDA'?");
    expect_error(FOO "  dispatch:\n    CPU, CDUA: a\n", 3, 10, "did you mean 'CUDA'?");
    expect_error(FOO "  dispatch:\n    CPU, CPU: a\n", 3, 10, "has a kernel already");
    expect_error(FOO "  dispatch:\n    XLA: a\n", 3, 5, "cannot stand in a dispatch table");
    expect_error(FOO "  dispatch:\n    CPU: 3\n", 3, 10, "a kernel must be a name");
    expect_error(FOO "  dispatch:\n    CPU: a b\n", 3, 10, "not a kernel's name");
    expect_error(FOO "  dispatch:\n    CPU: a::b::c::d::foo\n", 3, 10, "4 namespaces");
    expect_error(FOO "  variants: function,method\n", 2, 13, "a comma and one blank");
    expect_error(FOO "  variants: function, methods\n", 2, 23, "did you mean 'method'?");
    expect_error(FOO "  variants: [function]\n", 2, 13, "found a list");
    expect_error(FOO "  device_check: Same\n", 2, 17, "NoCheck, ExactSame");
    expect_error(FOO "  autogen: 3\n", 2, 12, "found a number");
    expect_error(FOO "  cpp_no_default_args: self\n", 2, 24, "must be a list");
    expect_error(FOO "  ufunc_inner_loop:\n    Generik: a (All)\n", 3, 5,
                 "did you mean 'Generic'?");
    expect_error(FOO "  ufunc_inner_loop:\n    Generic: a(All)\n", 3, 14,
                 "write 'name (All, BFloat16)'");
    expect_error(FOO "  ufunc_inner_loop:\n    Generic: a (All, Flaot)\n", 3, 22,
                 "did you mean 'Float'?");
    expect_error(FOO "  precomputed: dim\n", 2, 16, "must be a list");
#undef FOO
}

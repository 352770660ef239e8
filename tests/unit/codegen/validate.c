/* validate.c - tests of codegen/validate*.c: each rule refused once at the place that is wrong, and
 * its near relative accepted. */
#include "model_test.h"

#define TENSOR "(Tensor self) -> Tensor\n"
#define OUT "(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
#define INPLACE "(Tensor(a!) self) -> Tensor(a!)\n"
#define CPU "  dispatch:\n    CPU: kernel\n"

Test(codegen_validate, names_of_operators)
{
    expect_error("- func: foo_out" TENSOR, 1, 9, "write an overload instead: 'foo.out'");
    expect_error("- func: __ifoo__" TENSOR, 1, 9, "in-place operators");
    expect_error("- func: foo_functional_" INPLACE, 1, 9, "both functional and in-place");
    expect_error("- func: foo.functional(Tensor self, Tensor(a!) x) -> ()\n", 1, 9,
                 "says functional");
    expect_ok("- func: __and__" TENSOR "- func: __iand__" INPLACE);
}

Test(codegen_validate, references)
{
    expect_error("- func: foo" TENSOR "  pointwise: self\n  reference: self\n", 3, 3,
                 "'reference' beside 'pointwise'");
    expect_error("- func: foo" TENSOR "  reference: []\n", 2, 14, "write 'reference: alpha");
    expect_ok("- func: foo" TENSOR CPU "  reference: self\n");
}

Test(codegen_validate, spelling_of_schemas)
{
    expect_error("- func: foo(Tensor self,int a) -> Tensor\n", 1, 25,
                 "write 'foo(Tensor self, int a) -> Tensor'");
    expect_error("- func: foo(Tensor self) -> (Tensor)\n", 1, 9, "in parentheses");
    expect_error("- func: foo(Tensor self, int[2] a=[0, 1]) -> Tensor\n", 1, 26, "without blanks");
    expect_error("- func: foo(Tensor self, ...) -> Tensor\n", 1, 9, "'...'");
    expect_ok("- func: foo(Tensor self, int[2] a=[0,1], str b=\"x y\") -> (Tensor a, Tensor b)\n");
}

Test(codegen_validate, types_and_annotations)
{
    expect_error("- func: foo(Tensor self, Dict(str, int) a) -> Tensor\n", 1, 26,
                 "type 'Dict(str, int)' is not known");
    expect_error("- func: foo(Tensor self, number a) -> Tensor\n", 1, 26,
                 "type 'number' is not known");
    expect_error("- func: foo(Tensor(A!) self) -> Tensor\n", 1, 13, "one lower case letter");
    expect_error("- func: foo(Tensor(ab) self) -> Tensor\n", 1, 13, "one lower case letter");
    expect_error("- func: foo(int(a!) self) -> Tensor\n", 1, 13, "unusual place");
    expect_error("- func: foo(Tensor(a!)?[] self) -> Tensor\n", 1, 13, "unusual place");
    expect_error("- func: foo(Tensor(a|b!) self) -> Tensor\n", 1, 13, "more than one alias set");
    expect_ok(
        "- func: foo(Tensor(a!)? self, Tensor(b!)[] x, __torch__.torch.classes.a.B c) -> Tensor\n");
}

Test(codegen_validate, argument_names)
{
    expect_error("- func: foo(Tensor self, int a, int a) -> Tensor\n", 1, 33,
                 "two arguments are named 'a'");
    expect_error("- func: foo(Tensor self, int lambda) -> Tensor\n", 1, 26, "Python keyword");
    expect_error("- func: foo(Tensor self) -> (Tensor a, Tensor a)\n", 1, 40,
                 "two results are named 'a'");
    expect_ok("- func: uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? "
              "generator=None) -> "
              "Tensor(a!)\n  tags: nondeterministic_seeded\n");
}

Test(codegen_validate, out_arguments)
{
    expect_ok("- func: foo" TENSOR "- func: foo.out" OUT);
    expect_error("- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(b!)\n", 1, 52,
                 "result 1 is not");
    expect_error("- func: foo.out(Tensor self, *, Tensor(a!) out) -> ()\n", 1, 33,
                 "1 out arguments and 0 results");
    expect_error("- func: foo.out(Tensor self, *, Tensor(a!)[] out) -> Tensor(a!)[]\n", 1, 54,
                 "write '-> ()'");
    expect_error("- func: foo.out(Tensor self, *, Tensor(a!) out, int b=1) -> Tensor(a!)\n", 1, 49,
                 "out arguments last");
    expect_error("- func: foo_.out" OUT, 1, 9, "named in-place and has an out argument");
    expect_error("- func: foo" TENSOR "- func: foo.out" OUT "  variants: function, method\n", 3, 3,
                 "only be a function");
    expect_error("- func: foo.out" OUT CPU, 1, 9, "no functional form");
}

Test(codegen_validate, written_arguments)
{
    expect_error("- func: foo(Tensor self, Tensor(a!) o) -> Tensor(a!)\n", 1, 26,
                 "written and also returned");
    expect_error("- func: foo(Tensor(a!) x, Tensor self) -> Tensor\n", 1, 13, "before self");
    expect_error("- func: foo_(Tensor self) -> Tensor\n", 1, 14, "does not write self");
    expect_error("- func: foo_(Tensor(a!) self) -> Tensor\n", 1, 34, "write '-> Tensor(a!)'");
    expect_error("- func: foo_(Tensor(a!)[] self) -> Tensor(a!)[]\n", 1, 36, "write '-> ()'");
    expect_error("- func: foo.out(Tensor self, *, Tensor(a!) out) -> (Tensor(a!), Tensor)\n", 1, 53,
                 "only one kind");
    expect_error("- func: foo_(Tensor(a!) self, *, ScalarType? dtype=None, Layout? layout=None, "
                 "Device? device=None, "
                 "bool? pin_memory=None) -> Tensor(a!)\n",
                 1, 34, "factory function");
}

Test(codegen_validate, dispatch_tables)
{
    expect_error("- func: foo" TENSOR "  dispatch:\n    CompositeImplicitAutograd: foo\n", 3, 5,
                 "what holds without");
    expect_error("- func: foo" TENSOR "  dispatch:\n    CompositeImplicitAutograd: bar\n", 3, 32,
                 "rename it to 'foo'");
    expect_ok("- func: foo" TENSOR "  dispatch:\n    CompositeImplicitAutograd: foo_symint\n");
    expect_error("- func: foo" TENSOR "  dispatch:\n    CompositeExplicitAutograd: a\n"
                 "    CompositeImplicitAutograd: b\n",
                 4, 5, "exclude each other");
    expect_ok("- func: foo" TENSOR "  dispatch:\n    CompositeImplicitAutograd: a\n"
              "    CompositeImplicitAutogradNestedTensor: b\n");
    expect_error("- func: foo" TENSOR CPU "  manual_kernel_registration: True\n", 2, 3,
                 "no effect");
    expect_error("- func: foo" TENSOR "  dispatch:\n    CPU: a::x\n    CUDA: b::x\n", 4, 11,
                 "two namespaces");
    expect_error("- func: foo_like" TENSOR, 1, 9, "factory function 'foo_like'");
    expect_error("- func: new_foo" TENSOR, 1, 9, "factory function 'new_foo'");
    expect_error("- func: foo(*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
                 "bool? pin_memory=None"
                 ") -> Tensor\n",
                 1, 9, "factory function 'foo'");
    expect_ok("- func: foo_like" TENSOR "  dispatch:\n    CompositeExplicitAutograd: foo_like\n");
}

Test(codegen_validate, structured_kernels)
{
#define DELEGATE "- func: foo" TENSOR "  structured_delegate: foo.out\n"
    expect_ok(DELEGATE "- func: foo.out" OUT "  structured: True\n" CPU);
    expect_error(DELEGATE, 2, 24, "not in this file");
    expect_error(DELEGATE "- func: foo.uot" OUT "  structured: True\n" CPU, 2, 24,
                 "did you mean 'foo.uot'?");
    expect_error(DELEGATE "- func: foo.out" OUT CPU, 2, 24, "'structured: True' on line 3");
    expect_error(DELEGATE "- func: foo.out" OUT "  structured: True\n" CPU "- func: foo_" INPLACE,
                 7, 9, "write 'structured_delegate: foo.out'");
    expect_error(DELEGATE CPU "- func: foo.out" OUT "  structured: True\n" CPU, 4, 5,
                 "is delegated to foo.out");
    expect_error(DELEGATE "- func: foo.out" OUT "  structured: True\n  dispatch:\n    CPU: a\n"
                          "    CompositeImplicitAutograd: foo_out\n",
                 7, 5, "cannot be CompositeImplicitAutograd");
    expect_error(DELEGATE "  device_guard: False\n"
                          "- func: foo.out" OUT "  structured: True\n" CPU,
                 3, 3, "guard");
    expect_error("- func: foo" TENSOR "  structured: True\n", 2, 3, "belongs on the out= form");
    expect_error("- func: foo.out" OUT "  structured_delegate: foo.out\n", 2, 3, "on an out= form");
    expect_error("- func: foo" TENSOR "  structured_inherits: X\n", 2, 3,
                 "without 'structured: True'");
    expect_error("- func: foo" TENSOR "  precomputed:\n  - dim -> int dim\n", 2, 3,
                 "without 'structured: True'");
    expect_error("- func: foo" TENSOR "  ufunc_inner_loop: add (All)\n", 2, 3,
                 "without 'structured: True'");
    expect_error(DELEGATE "- func: foo.out" OUT
                          "  structured: True\n  ufunc_inner_loop: add (All)\n" CPU,
                 7, 5, "makes the CPU kernel");
#undef DELEGATE
}

Test(codegen_validate, autogen)
{
    expect_ok("- func: foo" TENSOR CPU "  autogen: foo.out\n");
    expect_ok("- func: foo_" INPLACE CPU "  autogen: foo, foo.out\n");
    expect_ok("- func: foo(Tensor self, Tensor(a!) rm) -> Tensor\n" CPU
              "  autogen: foo_functional, foo.out\n");
    expect_error("- func: foo_" INPLACE CPU "  autogen: foo.out\n", 4, 3,
                 "write 'autogen: foo, foo.out'");
    expect_error("- func: foo" TENSOR "- func: foo.out" OUT CPU "  autogen: foo.out\n", 5, 3,
                 "names forms that exist");
    expect_error("- func: foo" TENSOR CPU "  autogen: foo_out\n", 4, 12,
                 "write an overload instead");
    expect_error("- func: foo(Tensor self) -> (Tensor, int)\n" CPU "  autogen: foo.out\n", 4, 3,
                 "not all its results");
    expect_error("- func: foo(Tensor self) -> int\n" CPU, 1, 9, "returns no Tensor");
    expect_ok("- func: foo(Tensor self) -> int\n");
    expect_error("- func: foo.out(Tensor self, int a) -> Tensor\n" CPU "- func: foo_" INPLACE CPU
                 "  autogen: foo, foo.out\n",
                 1, 9, "other arguments or results");
    expect_error("- func: foo(Tensor(a!) self) -> Tensor\n" CPU "  autogen: foo.out\n", 4, 3,
                 "writes self");
    expect_error("- func: foo" TENSOR "  tags: generated\n", 2, 3, "remove the tag");
}

Test(codegen_validate, duplicates)
{
    expect_error("- func: foo" TENSOR "- func: bar" TENSOR
                 "- func: foo(Tensor self, int a) -> Tensor\n",
                 3, 9, "duplicate entry 'foo' on line 3, first on line 1");
    expect_error("- func: foo.a" TENSOR "- func: foo.b" TENSOR, 2, 9,
                 "same as 'foo.a' on line 1, and both are functional");
    expect_count("- func: foo" TENSOR "- func: foo" TENSOR, 1);
}

Test(codegen_validate, groups)
{
    expect_error("- func: a::foo" TENSOR "- func: b::foo.out" OUT, 2, 9, "in namespace 'b'");
    expect_error("- func: foo_" INPLACE "- func: foo.out" OUT, 1, 9, "no functional one");
    expect_error(
        "- func: foo(Tensor self, Tensor(a!) x) -> Tensor\n" CPU
        "- func: foo.f(Tensor self, Tensor x) -> (Tensor, "
        "Tensor)\n" CPU
        "- func: foo.out(Tensor self, Tensor x, *, Tensor(a!) a, Tensor(b!) b) -> (Tensor(a!), "
        "Tensor(b!))\n" CPU,
        4, 9, "must be named 'foo_functional'");
}

Test(codegen_validate, views)
{
#define VIEW "- func: foo(Tensor(a) self) -> Tensor(a)\n"
    expect_error(VIEW CPU, 1, 9, "add the entry 'foo_copy'");
    expect_ok(VIEW);
    expect_ok(VIEW CPU "- func: foo_copy" TENSOR CPU
                       "  tags: view_copy\n  autogen: foo_copy.out\n");
    expect_error(VIEW CPU "- func: foo_copy" TENSOR CPU, 4, 9, "lacks the tag");
    expect_error(VIEW CPU "- func: foo.x" TENSOR, 4, 9, "does not return a view");
    expect_error("- func: foo_" INPLACE CPU "  tags: inplace_view\n", 1, 9,
                 "there is no view 'foo'");
    expect_error(VIEW "  tags: inplace_view\n", 2, 3, "does not end in '_'");
    expect_error("- func: foo_(Tensor(a! -> *) self) -> Tensor(a! -> *)\n", 1, 9,
                 "in-place view and lacks the tag");
    expect_error(VIEW "- func: foo_" INPLACE "  tags: inplace_view\n" CPU, 2, 9,
                 "give it to both or to none");
#undef VIEW
}

Test(codegen_validate, tags_and_the_rest)
{
    expect_error("- func: foo(Tensor self, *, Generator? g=None) -> Tensor\n", 1, 9,
                 "takes a Generator");
    expect_error("- func: randfoo" TENSOR, 1, 9, "'rand' in its name");
    expect_error("- func: foo(Tensor self, float dropout) -> Tensor\n", 1, 9,
                 "'dropout' in a name");
    expect_ok("- func: dropout_backward" TENSOR);
    expect_error("- func: _foreach_foo(Tensor[] self) -> Tensor[]\n" CPU, 1, 9,
                 "write 'device_check: NoCheck'");
    expect_error("- func: foo" TENSOR "  variants: method\n  python_module: nn\n", 3, 3,
                 "cannot be a method");
    expect_error("- func: foo" TENSOR "  cpp_no_default_args: [self]\n", 2, 25,
                 "no argument with a default");
    expect_error("- func: foo.out" OUT "  use_const_ref_for_mutable_tensors: True\n", 2, 3,
                 "never passed as const");
}

Test(codegen_validate, one_mistake_is_reported_once)
{
    /* foo.out does not parse: nothing that leans on it is called wrong for it. */
    expect_count(
        "- func: foo" TENSOR "  structured_delegate: foo.out\n- func: foo_" INPLACE
        "  structured_delegate: foo.out\n- func: foo.out(Tensor self\n  structured: True\n" CPU,
        1);
    expect_count("- func: foo(Foo self) -> Tensor\n- func: foo.out" OUT CPU, 1);
    expect_count("- func: foo(Tensor(a) self) -> Tensor(a)\n" CPU
                 "- func: foo_copy(Tensor self -> Tensor\n",
                 1);
}

Test(codegen_validate, all_errors_of_a_file_in_one_run)
{
    expect_count(
        "- func: foo(Foo self) -> Tensor\n  bogus: 1\n  tags: nope\n  variants: x\n- func: 3\n"
        "- func: bar" TENSOR
        "  dispatch:\n    GPU: a\n    CPU: a::b::c::d::e\n- func: baz_like" TENSOR,
        8);
}

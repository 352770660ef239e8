/* formulas.c - the language of `reference` formulas: a plugin, made here, whose operators all give
 * self, each with a formula that is self by another road. The generator must take every one, and
 * the harness must find that all of them say the same as the kernel. */
#include <sys/stat.h>

#include "tests/unit/tools/tool_test.h"

#define ARGUMENTS                                                                                  \
    "(Tensor self, Tensor[] list, int[] dims, Scalar s, float x, int n=3, bool b=True, str "       \
    "mode='mean', int? i=None, Tensor? t=None, int[]? none=None, ScalarType? d=None) -> Tensor"
#define SAMPLE "(self=[3, 4], list=[[2], [2]], dims=[0, 1], s=2, x=0.5)"

static const char *const formulas[] = {
    /* calls: overloads by their arguments, by name, as methods, with keywords */
    "reshape(self, [3, 4])",
    "reshape(self, self.sizes)",
    "self.reshape([-1]).reshape(self.sizes)",
    "transpose.int(transpose(self, 0, 1), 0, 1)",
    "cat([self, self], dim=0).split(n)[0]",
    "sum(unsqueeze(self, 0), [0], keepdim=False)",
    "sum(unsqueeze(self, 0), 0)",
    "max.dim(unsqueeze(self, 0), 0)[0]",
    "sum(stack(list), [0]).numel == 2 ? self + 0 : self * 0",
    "where(self > 0, self, self)",
    "where(self > 100, 1, self)",
    /* tensors and numbers, in either order */
    "(self * s + 1 - 1) / 2",
    "-(0 - self)",
    "1 - (1 - self)",
    "self * (4 / (s * s))",
    "(2 < self || 2 >= self).reshape(self.sizes) * self",
    "self - (self != self).reshape(self.sizes) * self",
    "conj(self) * conj(1)",
    "shape(self) * x * s",
    /* the host: numbers, conditions, members, lists */
    "n - 1 == 2 && !(n < 3) || b == False ? self * 1 : self * 0",
    "x * 2 >= 1 ? self * 1 : self * 0",
    "5 / 2 == 2.5 ? self * 1 : self * 0",
    "mode == 'mean' && mode != 'sum' ? self * 1 : self * 0",
    "i.defined || t.defined || none.defined || d.defined ? self * 0 : self * 1",
    "dims.len == 2 && dims[1] == 1 && list.len == 2 ? self * 1 : self * 0",
    "self.dim == 2 && self.numel == 12 && self.size(-1) == 4 ? self * 1 : self * 0",
    "self.sizes == [3, 4] && self.strides == [4, 1] && self.stride(0) == 4 ? self * 1 : self * 0",
    "self.dtype == list[0].dtype && !self.is_complex && self.offset == 0 ? self * 1 : self * 0",
    "zeros(self.sizes, dtype=self.dtype, device=self.device) + self",
    "sum(self.unsqueeze(-1), [-1], dtype=None)",
};
enum { N = sizeof formulas / sizeof *formulas };

static void shell(const char *format, ...)
{
    char command[3000];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    cr_assert_eq(system(command), 0, "failed: %s", command);
}

static void write_yaml(const char *reference, int n)
{
    FILE *to = fopen(in_folder("forms.yaml"), "w");
    cr_assert(to);
    for (int i = 0; i < n; i++)
        fprintf(to, "- func: \"forms::f%d%s\"\n  samples:\n  - %s\n  reference: \"%s\"\n", i,
                ARGUMENTS, SAMPLE, reference ? reference : formulas[i]);
    fclose(to);
}

static void write_kernels(void)
{
    FILE *to = fopen(in_folder("plugin.c"), "w");
    cr_assert(to);
    fputs("#include <tenon/frames.h>\n#include \"forms_ops.h\"\n"
          "static const tn_op *clone_op;\n"
          "static tn_status copy(tn_tensor *self, tn_tensor **out)\n{\n"
          "    struct tn_clone_args f = {TN_FRAME(clone), .self = self, .memory_format = "
          "TN_FORMAT_NONE};\n"
          "    TN_TRY(tn->op_call(clone_op, &f));\n    *out = f.result;\n    return TN_OK;\n}\n",
          to);
    for (int i = 0; i < N; i++)
        fprintf(to,
                "static tn_status k%d(tn_call *call, struct tn_f%d_args *a)\n"
                "{\n    (void)call;\n    return copy(a->self, &a->result);\n}\n",
                i, i);
    fputs("static const tn_kernel_decl kernels[] = {\n", to);
    for (int i = 0; i < N; i++)
        fprintf(to, "    TN_KERNEL(f%d, \"CompositeImplicitAutograd\", k%d),\n", i, i);
    fputs("};\nstatic tn_status start(tn_registry *r)\n{\n"
          "    static const char *const imports[] = {TN_SCHEMA_clone};\n"
          "    TN_TRY(tn->import_ops(r, imports, &clone_op, 1));\n"
          "    TN_TRY(forms_register(r));\n"
          "    return tn->register_kernels(r, kernels, TN_COUNT(kernels));\n}\n"
          "TN_PLUGIN(\"forms\", \"1.0.0\", start, NULL);\n",
          to);
    fclose(to);
}

static void build(void)
{
    const char *tree = getenv("TENON_SOURCE"), *build = getenv("TENON_BUILD");
    cr_assert(tree && build, "TENON_SOURCE and TENON_BUILD: run through ctest");
    make_folder();
    if (system("cc --version >/dev/null 2>&1") != 0)
        cr_skip_test("no C compiler");
    umask(022);
    write_yaml(NULL, N);
    write_kernels();
    shell("cd '%s' && '%s/bin/tenon-gen' --templates '%s/codegen/templates' --operators "
          "'%s/native_functions.yaml' --schema forms.yaml --plugin forms --out .",
          test_folder, build, tree, tree);
    shell("cd '%s' && cc -std=gnu11 -O0 -shared -fPIC -fvisibility=hidden -Wall -Werror -I. "
          "-I'%s/generated/include' -I'%s/include' "
          "-Wl,--version-script='%s/cmake/tenon_plugin.map' plugin.c forms_ops.c -lm -o forms.so",
          test_folder, build, tree, tree);
}

Test(opinfo_formulas, every_road_leads_to_self, .init = build, .fini = remove_folder,
     .timeout = 120)
{
    int status = run_tenon("opinfo --plugin ./forms.so --schema forms.yaml --dtype f32 --no-save");
    char *said = read_file("out"), *from = strstr(said, "\nFAIL"), *error = strstr(said, "\nERROR");
    cr_expect_eq(status, 0, "%.3000s", error ? error : from ? from : said);
    free(said);
}

/* Of every kind of number: those that only move elements. */
Test(opinfo_formulas, of_every_dtype, .init = build, .fini = remove_folder, .timeout = 120)
{
    int status = run_tenon("opinfo --plugin ./forms.so --schema forms.yaml --no-save --ops "
                           "'^forms::f[0-4]$'");
    char *said = read_file("out");
    cr_expect_eq(status, 0, "%.3000s", said);
    cr_expect_not(strstr(said, "UNSUPPORTED"));
    free(said);
}

/* What only a run can see is an error of the case, at its place in the file. */
Test(opinfo_formulas, a_reference_that_fails_is_told, .init = build, .fini = remove_folder,
     .timeout = 120)
{
    static const struct {
        const char *formula, *message;
    } rows[] = {
        {"reshape(self, [5, 5])", "no reference: forms.yaml:4:15: "},
        {"list[7]", "no reference: forms.yaml:4:19: there is no such entry"},
        {"f0(self, list, dims, s, x)", "no reference: forms.yaml:4:15: there is no operator 'f0'"},
        {"n + 1", "the reference gives something that is no Tensor"},
        {"self * 2", "wrong value at ["},
        {"sum(self, [0])", "got float32[3, 4], expected float32[4]"},
        {"[self, self]", "gave 1 results, expected 2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_yaml(rows[i].formula, 1);
        cr_expect_eq(run_tenon("opinfo --plugin ./forms.so --schema forms.yaml --dtype f32 --ops "
                               "'^forms::f0$' --no-save"),
                     1);
        expect_words("out", rows[i].message);
    }
}

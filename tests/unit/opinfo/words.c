/* words.c - every word of the expression language is evaluated by the harness: a plugin with one
 * operator per word, made by the generator and compiled here, must be green by its own YAML; so
 * must expressions whose conditioning, and whose numbers' defaults, the harness has to know. */
#include <sys/stat.h>

#include "codegen/expr.h"
#include "tests/unit/tools/tool_test.h"

static const char *const harder[] = {
    "swish(Tensor self, Scalar beta) -> Tensor\n  pointwise: self * sigmoid(beta * self)",
    "leaky(Tensor self, Scalar slope=0.01) -> Tensor\n  pointwise: \"self > 0 ? self : slope * "
    "self\"",
    "softsign(Tensor self, Scalar scale=3) -> Tensor\n  pointwise: scale * self / (1 + abs(self))",
    "spread(Tensor self, Tensor other) -> Tensor\n  pointwise: exp(sin(self) - cos(other))",
};

static void put_word(FILE *to, const cg_word *w)
{
    static const char *const arguments[] = {"self", "other", "third"};
    if (strcmp(w->name, "where") == 0) {
        fputs("- func: words::w_where(Tensor self, Tensor other) -> Tensor\n"
              "  pointwise: \"self != 0 ? self : other\"\n",
              to);
        return;
    }
    fprintf(to, "- func: words::w_%s(", w->name);
    for (int k = 0; k < w->arity; k++)
        fprintf(to, "%sTensor %s", k ? ", " : "", arguments[k]);
    fprintf(to, ") -> Tensor\n  pointwise: %s(", w->name);
    for (int k = 0; k < w->arity; k++)
        fprintf(to, "%s%s", k ? ", " : "", arguments[k]);
    fputs(")\n", to);
}

static size_t write_yaml(void)
{
    const char *names[128];
    size_t n = cg_word_names(names, 128);
    FILE *to = fopen(in_folder("words.yaml"), "w");
    cr_assert(to);
    for (size_t i = 0; i < n; i++)
        put_word(to, cg_word_find(names[i], strlen(names[i])));
    for (size_t i = 0; i < sizeof harder / sizeof *harder; i++)
        fprintf(to, "- func: words::%s\n", harder[i]);
    fclose(to);
    return n;
}

static int shell(const char *format, ...)
{
    char command[3000];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    return system(command);
}

Test(opinfo_words, every_word_is_evaluated, .init = make_folder, .fini = remove_folder,
     .timeout = 300)
{
    const char *tree = getenv("TENON_SOURCE"), *build = getenv("TENON_BUILD");
    cr_assert(tree && build, "TENON_SOURCE and TENON_BUILD: run through ctest");
    if (shell("cc --version >/dev/null 2>&1") != 0)
        cr_skip_test("no C compiler");
    umask(022);
    size_t n = write_yaml();
    cr_assert_gt(n, 60);
    write_file("plugin.c", "#include \"words_ops.h\"\n"
                           "static tn_status start(tn_registry *r)\n"
                           "{\n    return words_register(r);\n}\n"
                           "TN_PLUGIN(\"words\", \"1.0.0\", start, NULL);\n");
    cr_assert_eq(shell("cd '%s' && '%s/bin/tenon-gen' --templates '%s/codegen/templates' "
                       "--schema words.yaml --plugin words --out .",
                       test_folder, build, tree),
                 0);
    cr_assert_eq(shell("cd '%s' && cc -std=gnu11 -O0 -shared -fPIC -fvisibility=hidden "
                       "-fno-math-errno -fno-trapping-math -ffp-contract=off -fwrapv "
                       "-I. -I'%s/generated/include' -I'%s/include' "
                       "-Wl,--version-script='%s/cmake/tenon_plugin.map' plugin.c words_ops.c "
                       "-lm -o words.so",
                       test_folder, build, tree, tree),
                 0);
    int status = run_tenon("opinfo --plugin ./words.so --schema words.yaml --device cpu "
                           "--column values");
    char *said = read_file("out"), *from = strstr(said, "\nFAIL"), *end = strstr(said, "observed");
    cr_expect_eq(status, 0, "%.3000s", from ? from : end ? end : said);
    free(said);
}

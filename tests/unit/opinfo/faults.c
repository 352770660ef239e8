/* faults.c - the harness is tested: every planted fault of tests/opinfo/faults must be caught, in
 * the column and with a state that fits, and a right kernel must pass. The plugin is built once,
 * while the test runs; a fault is an environment variable away. One test per group, so that a
 * fault that is not caught is named and the others are looked at all the same. */
#include <jansson.h>
#include <sys/stat.h>

#include "tests/opinfo/faults/faults.h"
#include "tests/unit/tools/tool_test.h"

typedef struct fault {
    const char *name, *ops, *device, *dtype, *column, *states;
} fault;
#define ROW(name, ops, device, dtype, column, states) {#name, ops, device, dtype, column, states},
static const fault faults[] = {FAULTS(ROW)};

static void compile(const char *source, const char *flags, const char *to)
{
    const char *tree = getenv("TENON_SOURCE"), *build = getenv("TENON_BUILD");
    char command[2000];
    snprintf(
        command, sizeof command,
        "cc -std=gnu11 -shared -fPIC -fvisibility=hidden -O1 -Wall -Wextra -Werror %s "
        "-I'%s/stage-include' "
        "-I'%s/generated/include' -I'%s/include' -Wl,--version-script='%s/cmake/tenon_plugin.map' "
        "'%s/tests/opinfo/faults/%s' -lm -o '%s'",
        flags, build, build, tree, tree, tree, source, in_folder(to));
    cr_assert_eq(system(command), 0, "%s does not compile", source);
}

static void build(void)
{
    cr_assert(
        getenv("TENON_SOURCE") && getenv("TENON_BUILD"),
        "TENON_SOURCE and TENON_BUILD say where the tree and the build are: run through ctest");
    make_folder();
    if (system("cc --version >/dev/null 2>&1") != 0) {
        printf("skipped: no C compiler (cc) to build the planted faults with\n");
        cr_skip_test("no C compiler");
    }
    umask(022);
    compile("faults.c", "", "faults.so");
    compile("scale.c", "", "scale.so");
    compile("scale.c", "-DWRONG=1", "wrong.so");
}

/* Runs the harness on one fault; "out" holds its JSON Lines. Returns the exit status. */
static int run_fault(const char *name, const char *ops, const char *device, const char *dtype)
{
    char command[2000];
    snprintf(command, sizeof command,
             "TENON_FAULT=%s '%s/bin/tenon' opinfo --plugin '%s' --ops '%s' --device %s --dtype %s "
             "--timeout 2 --no-save --format json > '%s' 2> '%s'",
             name, getenv("TENON_BUILD"), in_folder("faults.so"), ops, device, dtype,
             in_folder("out"), in_folder("err"));
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool contains(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += n)
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    return false;
}

/* Is there a case of the column in one of the states? What there was otherwise goes into `seen`. */
static bool is_caught(const fault *f, char *seen, size_t n)
{
    char *text = read_file("out"), *line = strtok(text, "\n");
    bool caught = false;
    seen[0] = '\0';
    for (; line; line = strtok(NULL, "\n")) {
        json_t *row = json_loads(line, 0, NULL);
        const char *column = json_string_value(json_object_get(row, "column")),
                   *state = json_string_value(json_object_get(row, "state"));
        if (column && state && (!*f->column || strcmp(column, f->column) == 0))
            caught = caught || contains(f->states, state);
        if (column && state && strcmp(state, "PASS") != 0 && strlen(seen) + 40 < n)
            sprintf(seen + strlen(seen), " %s:%s", column, state);
        json_decref(row);
    }
    free(text);
    return caught;
}

Test(opinfo_faults, a_right_kernel_passes, .init = build, .fini = remove_folder)
{
    int status = run_fault("none", "^relu$", "cpu", "f32");
    char *said = read_file("err");
    cr_expect_eq(status, 0, "exit status %d: %s", status, said);
    free(said);
}

Test(opinfo_faults, every_fault_is_caught, .init = build, .fini = remove_folder, .timeout = 300)
{
    char seen[600];
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        const fault *f = &faults[k];
        int status = run_fault(f->name, f->ops, f->device, f->dtype);
        bool caught = is_caught(f, seen, sizeof seen);
        cr_expect(caught, "%s is not caught as %s in '%s'; seen:%s", f->name, f->states, f->column,
                  seen);
        cr_expect(status == 1, "%s: exit status %d, expected 1", f->name, status);
    }
}

/* ---- gradients ------------------------------------------------------------------------------- */
#define GRADIENT_ROW(name, dtype, column, states) {#name, "", "cpu", dtype, column, states},
static const fault gradients[] = {GRADIENT_FAULTS(GRADIENT_ROW)};

static void build_gradients(void)
{
    const char *tree = getenv("TENON_SOURCE"), *build_dir = getenv("TENON_BUILD");
    char command[2000], flags[400];
    build();
    snprintf(command, sizeof command,
             "'%s/bin/tenon-gen' --templates '%s/codegen/templates' --plugin gradients "
             "--schema '%s/tests/opinfo/faults/gradients.yaml' "
             "--derivatives '%s/tests/opinfo/faults/gradients_derivatives.yaml' --out '%s'",
             build_dir, tree, tree, tree, test_folder);
    cr_assert_eq(system(command), 0, "gradients.yaml is refused");
    snprintf(flags, sizeof flags,
             "-O0 -fno-math-errno -fno-trapping-math -ffp-contract=off -fwrapv -I'%s' "
             "'%s/gradients_ops.c'",
             test_folder, test_folder);
    compile("gradients.c", flags, "gradients.so");
}

static int run_gradient(const char *op, const char *dtype)
{
    return run_tenon("opinfo --plugin ./gradients.so --schema '%s/tests/opinfo/faults/"
                     "gradients.yaml' --ops '^gradfaults::%s$' --device cpu --dtype %s "
                     "--no-save --format json",
                     getenv("TENON_SOURCE"), op, dtype);
}

Test(opinfo_faults, every_wrong_gradient_is_caught, .init = build_gradients, .fini = remove_folder,
     .timeout = 300)
{
    char seen[600];
    cr_expect_eq(run_gradient("right", "f64,c128"), 0);
    cr_expect_eq(run_gradient("right_by_hand", "f64,c128"), 0);
    for (size_t k = 0; k < sizeof gradients / sizeof *gradients; k++) {
        const fault *f = &gradients[k];
        int status = run_gradient(f->name, f->dtype), due = strcmp(f->name, "none") != 0;
        bool caught = is_caught(f, seen, sizeof seen);
        cr_expect(caught, "%s is not caught as %s in '%s'; seen:%s", f->name, f->states, f->column,
                  seen); /* a plugin may have no gradient, when it says so */
        cr_expect(status == due, "%s: exit status %d, expected %d", f->name, status, due);
    }
}

/* ---- operators with samples of their own ----------------------------------------------------- */
#define DECLARED_ROW(name, op, device, dtype, column, states)                                      \
    {#name, #op, device, dtype, column, states},
static const fault declared[] = {DECLARED_FAULTS(DECLARED_ROW)};

static void build_declared(void)
{
    const char *tree = getenv("TENON_SOURCE"), *build_dir = getenv("TENON_BUILD");
    char command[2000], flags[400];
    build();
    snprintf(command, sizeof command,
             "'%s/bin/tenon-gen' --templates '%s/codegen/templates' --plugin declared "
             "--schema '%s/tests/opinfo/faults/declared.yaml' "
             "--derivatives '%s/tests/opinfo/faults/declared_derivatives.yaml' --out '%s'",
             build_dir, tree, tree, tree, test_folder);
    cr_assert_eq(system(command), 0, "declared.yaml is refused");
    snprintf(flags, sizeof flags, "-I'%s' '%s/declared_ops.c'", test_folder, test_folder);
    compile("declared.c", flags, "declared.so");
}

static int run_declared(const char *fault, const char *arguments)
{
    setenv("TENON_FAULT", fault, 1);
    int status = run_tenon("opinfo --plugin ./declared.so --schema '%s/tests/opinfo/faults/"
                           "declared.yaml' %s",
                           getenv("TENON_SOURCE"), arguments);
    return status;
}

Test(opinfo_faults, right_operators_with_samples_pass, .init = build_declared,
     .fini = remove_folder, .timeout = 60)
{
    int status = run_declared("none", "--ops '(weighted|centred|pick|totals|scaled)$'");
    cr_expect_eq(status, 0);
    expect_words("out", "without a gradient: declared::pick, declared::scaled, declared::totals");
    cr_expect_neq(access(in_folder("opinfo-failures"), F_OK), 0, "nothing failed");
}

Test(opinfo_faults, every_fault_of_them_is_caught, .init = build_declared, .fini = remove_folder,
     .timeout = 300)
{
    char seen[600], arguments[400];
    for (size_t k = 0; k < sizeof declared / sizeof *declared; k++) {
        const fault *f = &declared[k];
        snprintf(arguments, sizeof arguments,
                 "--ops '^declared::%s$' --device %s --dtype %s --no-save --format json", f->ops,
                 f->device, f->dtype);
        int status = run_declared(f->name, arguments);
        bool caught = is_caught(f, seen, sizeof seen);
        cr_expect(caught, "%s of %s is not caught as %s in '%s'; seen:%s", f->name, f->ops,
                  f->states, f->column, seen);
        cr_expect(status == 1, "%s: exit status %d, expected 1", f->name, status);
    }
}

/* A failing case leaves its call without being asked; it fails alone, and can be made smaller. */
Test(opinfo_faults, a_failing_case_of_a_plugin_is_replayed, .init = build_declared,
     .fini = remove_folder, .timeout = 120)
{
    static const char file[] = "opinfo-failures/declared__weighted_cpu_float32_values.safetensors";
    cr_expect_eq(run_declared("positive_rows", "--ops '^declared::weighted$' --dtype f32"), 1);
    expect_words("out", "tenon replay --plugin ./declared.so opinfo-failures/declared__weighted_");
    cr_expect_eq(run_tenon("replay --plugin ./declared.so %s", file), 1);
    expect_words("out", "1 failed");
    cr_expect_eq(run_tenon("replay --plugin ./declared.so --minimize %s", file), 0);
    expect_words("out", "\"shape\": [1, 4]");
    setenv("TENON_FAULT", "none", 1);
    cr_expect_eq(run_tenon("replay --plugin ./declared.so %s minimized.safetensors", file), 0);
    expect_words("out", "2 passed");
}

/* The harness says what the generator says, and runs nothing. */
Test(opinfo_faults, mistakes_in_the_schema_are_named, .init = build_declared, .fini = remove_folder)
{
    write_file("bad.yaml", "- func: declared::weighted(Tensor self, Tensor weight, *, bool "
                           "keepdim=False) -> Tensor\n  samples:\n  - (self=[3, 4])\n");
    cr_expect_eq(run_tenon("opinfo --plugin ./declared.so --schema bad.yaml"), 2);
    expect_words("err", "bad.yaml:3:5: the sample does not give 'weight'");
    write_file("bad.yaml", "- func: declared::weighted(Tensor self, Tensor weight, *, bool "
                           "keepdim=False) -> Tensor\n  samples:\n  - (self=[3, 4], weight=[4])\n"
                           "  reference: sum(self * wait, [-1])\n");
    cr_expect_eq(run_tenon("opinfo --plugin ./declared.so --schema bad.yaml"), 2);
    expect_words("err", "bad.yaml:4:25: there is no argument 'wait'");
}

static int exit_of(const char *arguments)
{
    char command[1000];
    snprintf(command, sizeof command, "'%s/bin/tenon' opinfo %s >/dev/null 2>&1",
             getenv("TENON_BUILD"), arguments);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* An operator that nobody wrote a row for: by its YAML's expression, and by itself in float64. */
Test(opinfo_faults, a_plugins_own_operator, .init = build, .fini = remove_folder)
{
    const char *yaml = getenv("TENON_SOURCE");
    cr_expect_eq(
        run_tenon("opinfo --plugin ./scale.so --schema %s/tests/opinfo/faults/scale.yaml", yaml),
        0);
    expect_words("out", "24 PASS");
    cr_expect_eq(run_tenon("opinfo --plugin ./scale.so"), 0);
    expect_words("out", "compared with itself in float64");
    cr_expect_eq(
        run_tenon("opinfo --plugin ./wrong.so --schema %s/tests/opinfo/faults/scale.yaml", yaml),
        1);
    cr_expect_eq(run_tenon("opinfo --plugin ./wrong.so"), 1);
    expect_words("out", "FAIL oitest::scale_shift/cpu/float32/values");
}

/* A wrong result and a crash are each left as one call, which the sound plugin makes well. */
Test(opinfo_faults, a_failing_call_is_saved, .init = build, .fini = remove_folder)
{
    static const char *const faults_saved[][2] = {{"drops_nan", "values"},
                                                  {"crash", "dtypes"},
                                                  {"in_gaps", "out"},
                                                  {"inplace_differs", "inplace"}};
    for (size_t k = 0; k < sizeof faults_saved / sizeof *faults_saved; k++) {
        const char *name = faults_saved[k][0], *column = faults_saved[k][1];
        setenv("TENON_FAULT", name, 1);
        cr_expect_eq(
            run_tenon("opinfo --plugin ./faults.so --ops '^relu$' --device cpu --dtype f32 "
                      "--timeout 2 --save saved"),
            1);
        cr_expect_eq(run_tenon("replay saved/relu_cpu_float32_%s.safetensors", column), 0, "%s",
                     name);
        expect_words("out", "1 passed");
    }
    cr_expect_eq(run_tenon("opinfo --ops '^relu$' --device cpu --dtype f32 --save none"), 0);
    cr_expect_neq(access(in_folder("none/relu_cpu_float32_values.safetensors"), F_OK), 0);
}

Test(opinfo_faults, every_format_says_the_same, .init = build, .fini = remove_folder)
{
    cr_expect_eq(run_tenon("opinfo --ops '^relu$' --dtype f32,bool --format junit"), 0);
    expect_words("out", "<testcase classname=\"opinfo.relu\" name=\"cpu/float32/values\"/>");
    cr_expect_eq(run_tenon("opinfo --ops '^relu$' --dtype f32,bool --format html"), 0);
    expect_words("out", "<td>relu</td>");
    cr_expect_eq(run_tenon("opinfo --ops '^relu$' --dtype f32,bool --format json"), 0);
    expect_words("out", "\"kind\": \"summary\"");
    expect_words("out", "\"green\": true");
}

Test(opinfo_faults, what_matches_nothing_is_wrong_use)
{
    cr_expect_eq(exit_of("--device abacus"), 2);
    cr_expect_eq(exit_of("--ops '^no_such_operator$'"), 2);
    cr_expect_eq(exit_of("--dtype f33"), 2);
    cr_expect_eq(exit_of("--column beauty"), 2);
    cr_expect_eq(exit_of("--case relu/cpu"), 2);
    cr_expect_eq(exit_of("--plugin /nonexistent.so"), 2);
    cr_expect_eq(exit_of("--ops '('"), 2);
    cr_expect_eq(exit_of("--seed many"), 2);
}

Test(opinfo_faults, a_case_runs_alone)
{
    cr_expect_eq(exit_of("--case relu/cpu/float32/values"), 0);
    cr_expect_eq(exit_of("--case relu/cpu/float32/values/3 --seed 7"), 0);
}

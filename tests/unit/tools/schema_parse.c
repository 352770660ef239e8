/* schema_parse.c - `tenon schema parse`: every error with its place, counts, formats, exit status.
 */
#include "tool_test.h"

TestSuite(tools_schema_parse, .init = make_folder, .fini = remove_folder);

Test(tools_schema_parse, lines)
{
    write_file(
        "good.txt",
        "# a comment\n\nns::f(Tensor self) -> Tensor\r\nf.out(Tensor self, *, Tensor(a!) out) -> "
        "Tensor(a!)\nf_(Tensor(a!) self) -> Tensor(a!)");
    cr_expect_eq(run_tenon("schema parse --lines good.txt"), 0);
    expect_words("out", "good.txt: 3 functions, 0 errors");
    expect_words("out", "1 functional, 1 inplace, 1 out, 0 mutable");
    cr_expect_eq(run_tenon("schema parse --lines good.txt --format json"), 0);
    expect_words("out", "{\"kind\": \"summary\", \"files\": 1, \"functions\": 3, \"errors\": 0,");
}

Test(tools_schema_parse, every_error_of_a_file)
{
    write_file("bad.txt", "f(Tensr x) -> Tensor\nf(Tensor x) -> Tensor\nf(Tensor x)\n");
    cr_expect_eq(run_tenon("schema parse --lines bad.txt"), 1);
    expect_words("err", "bad.txt:1:3: unknown type 'Tensr'; did you mean 'Tensor'?");
    expect_words("err", "bad.txt:3:12: expected '->'");
    expect_words("out", "bad.txt: 1 function, 2 errors");
    cr_expect_eq(run_tenon("schema parse --lines --format json bad.txt"), 1);
    expect_words("out", "\"line\": 3");
    expect_words("out", "\"functions\": 1, \"errors\": 2");
    cr_expect_eq(run_tenon("schema parse --lines --format=github bad.txt"), 1);
    expect_words("out", "::error file=bad.txt,line=1,col=3::");
    cr_expect_eq(run_tenon("schema parse --lines --format junit bad.txt"), 1);
    expect_words("out", "tests=\"3\" failures=\"2\"");
}

Test(tools_schema_parse, strictness_is_asked_for)
{
    write_file("loose.txt", "f(int a=hello) -> ()\n");
    cr_expect_eq(run_tenon("schema parse --lines loose.txt"), 0);
    cr_expect_eq(run_tenon("schema parse --lines --strict loose.txt"), 1);
    expect_words("err", "loose.txt:1:9: the default 'hello'");
    write_file("loose.yaml", "- func: foo(Tensor self, int a=hello) -> Tensor\n");
    cr_expect_eq(run_tenon("schema parse loose.yaml"), 0);
    cr_expect_eq(run_tenon("schema parse --strict loose.yaml"), 1);
    expect_words("err", "loose.yaml:1:32: the default 'hello'");
}

Test(tools_schema_parse, yaml)
{
    write_file("one.yaml",
               "- func: foo(Tensor self) -> Tensor\n- func: foo(Tensor self\n  bogus: 1\n");
    cr_expect_eq(run_tenon("schema parse one.yaml"), 1);
    expect_words("err", "one.yaml:2:");
    expect_words("err", "one.yaml:3:");
}

Test(tools_schema_parse, wrong_use)
{
    cr_expect_eq(run_tenon("schema parse"), 2);
    cr_expect_eq(run_tenon("schema parse --lines absent.txt"), 2);
    expect_words("err", "absent.txt");
    cr_expect_eq(run_tenon("schema parse --format xml x.yaml"), 2);
    expect_words("err", "unknown format 'xml'");
    cr_expect_eq(run_tenon("schema parse --bogus"), 2);
    expect_words("err", "unknown option '--bogus'");
    write_file("empty.txt", "# nothing\n");
    cr_expect_eq(run_tenon("schema parse --lines empty.txt"), 2);
    expect_words("err", "no schema was found");
    cr_expect_eq(run_tenon("schema parse --help"), 0);
    expect_words("out", "usage: tenon schema parse");
    cr_expect_eq(run_tenon("schema bogus"), 2);
    cr_expect_eq(run_tenon("bogus"), 2);
}

Test(tools_schema_parse, shared_files)
{
    const char *shared = getenv("TENON_SHARED"), *source = getenv("TENON_SOURCE");
    char folder[3000];
    snprintf(folder, sizeof folder, "%s%s/upstream",
             shared   ? shared
             : source ? source
                      : ".",
             shared ? "" : "/../shared");
    if (access(folder, R_OK) != 0) {
        fprintf(stderr, "SKIPPED: %s is not there\n", folder);
        cr_skip_test("no shared data");
    }
    cr_expect_eq(
        run_tenon("schema parse --lines --format json %.900s/registered-schemas-1.13.txt", folder),
        0);
    expect_words("out", "\"functions\": 4165, \"errors\": 0");
    cr_expect_eq(
        run_tenon("schema parse --strict --format json %.900s/native_functions-2.9.yaml", folder),
        0);
    expect_words("out", "\"functions\": 2658, \"errors\": 0");
    cr_expect_eq(run_tenon("schema diff --rules pytorch %.900s/native_functions-2.4.yaml "
                           "%.900s/native_functions-2.9.yaml",
                           folder, folder),
                 1);
    expect_words("out", "break      aten::_scaled_mm: the number of returns changed from 2 to 1");
    expect_words("out", "45 added, 1 removed, 28 compatible changes, 10 breaks");
}

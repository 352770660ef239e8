/* schema_diff.c - `tenon schema diff`, `lock`, `check` and the allow-list. */
#include "tool_test.h"

TestSuite(tools_schema_diff, .init = make_folder, .fini = remove_folder);

static void write_old_and_new(void)
{
    write_file("old.txt", "ns::same(Tensor a) -> Tensor\n"
                          "ns::grown(Tensor a) -> Tensor\n"
                          "ns::broken(Tensor a, int b) -> Tensor\n"
                          "ns::gone(Tensor a) -> Tensor\n");
    write_file("new.txt", "ns::grown(Tensor a, int n=1) -> Tensor\n"
                          "ns::broken(Tensor a, int c) -> Tensor\n"
                          "ns::fresh(Tensor a) -> Tensor\n"
                          "ns::same(Tensor a) -> Tensor\n");
}

Test(tools_schema_diff, text)
{
    write_old_and_new();
    cr_expect_eq(run_tenon("schema diff old.txt new.txt"), 1);
    expect_words("out", "break      ns::broken [b]: argument 'b' is now named 'c'\n");
    expect_words("out", "added      ns::fresh\n");
    expect_words("out", "removed    ns::gone: ");
    expect_words("out", "compatible ns::grown [n]: new 'n'=1\n");
    expect_words("out", "1 added, 1 removed, 1 compatible change, 1 break; 0 allowed, 2 not");
    expect_no_words("out", "ns::same");
    cr_expect_eq(run_tenon("schema diff new.txt new.txt"), 0);
}

Test(tools_schema_diff, other_formats)
{
    write_old_and_new();
    cr_expect_eq(run_tenon("schema diff old.txt new.txt --format json"), 1);
    expect_words("out", "{\"kind\": \"break\", \"operator\": \"ns::broken\", \"arguments\": "
                        "[\"b\"], \"bc\": \"no\"");
    expect_words(
        "out",
        "{\"kind\": \"summary\", \"added\": 1, \"removed\": 1, \"compatible\": 1, \"break\": 1,");
    cr_expect_eq(run_tenon("schema diff old.txt new.txt --format github"), 1);
    expect_words("out",
                 "::error file=new.txt,line=2::break ns::broken: argument 'b' is now named 'c'");
    cr_expect_eq(run_tenon("schema diff old.txt new.txt --format junit"), 1);
    expect_words(
        "out",
        "<testcase classname=\"schema\" name=\"ns::broken\"><failure message=\"argument 'b'");
}

Test(tools_schema_diff, BB_bcfc_04)
{
    write_file("old.txt", "ns::add(Tensor a) -> Tensor\nns::add_relu(Tensor a) -> Tensor\n"
                          "ns::mul(Tensor a) -> Tensor\nns::mul.Scalar(Tensor a) -> Tensor\n");
    write_file("new.txt", "ns::add(Tensor b) -> Tensor\nns::add_relu(Tensor b) -> Tensor\n"
                          "ns::mul(Tensor b) -> Tensor\nns::mul.Scalar(Tensor b) -> Tensor\n");
    write_file("allow", "# what may break\n"
                        "ns::add   2024-01-01  the old name was misleading\n"
                        "ns::mul   2024-12-31  the same here\n"
                        "ns::never 2024-12-31  an operator that no longer exists\n");
    cr_expect_eq(run_tenon("schema diff old.txt new.txt --allow allow --today 2024-06-01"), 1);
    expect_words(
        "out",
        "ns::add [a]: argument 'a' is now named 'b'; the allow-list entry of line 2 expired on "
        "2024-01-01");
    expect_words("out", "ns::add_relu [a]: argument 'a' is now named 'b'\n");
    expect_words("out", "ns::mul.Scalar [a]: argument 'a' is now named 'b'\n");
    expect_words(
        "out",
        "ns::mul [a]: argument 'a' is now named 'b'; allowed until 2024-12-31: the same here");
    expect_words("out", "4 breaks; 1 allowed, 3 not; 2 allow-list entries at fault");
    expect_words("err", "allow:2:1: allow-list entry 'ns::add' expired on 2024-01-01");
    expect_words("err", "allow:4:1: allow-list entry 'ns::never' is unused");
}

Test(tools_schema_diff, granularity_of_the_allow_list)
{
    write_file("old.txt", "ns::mul(Tensor a) -> Tensor\nns::mul.Scalar(Tensor a) -> Tensor\n");
    write_file("new.txt", "ns::mul(Tensor b) -> Tensor\nns::mul.Scalar(Tensor b) -> Tensor\n");
    write_file("allow", "ns::mul.*  2024-12-31  all overloads\n");
    cr_expect_eq(run_tenon("schema diff old.txt new.txt --allow allow --today 2024-12-31"), 0);
    cr_expect_eq(run_tenon("schema diff old.txt new.txt --allow allow --today 2025-01-01"), 1);
    write_file("allow", "ns::mul  2024-12-31  one\nns::mul.Scalar  2024-12-31  the other\n");
    cr_expect_eq(run_tenon("schema diff old.txt new.txt --allow allow --today 2024-06-01"), 0);
    cr_expect_eq(run_tenon("schema diff new.txt new.txt --allow allow --today 2024-06-01"), 1);
    expect_words("err", "'ns::mul' is unused");
}

Test(tools_schema_diff, malformed_allow_lists)
{
    static const char *const rows[][2] = {
        {"mul 2024-12-31 why\n", "full name"},       {"ns::mul why\n", "expiry date"},
        {"ns::mul 2024-13-01 why\n", "expiry date"}, {"ns::mul 2024-12-31\n", "reason"},
        {"ns::mul* 2024-12-31 why\n", "full name"},
    };
    write_old_and_new();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        write_file("allow", rows[i][0]);
        cr_expect_eq(run_tenon("schema diff old.txt new.txt --allow allow"), 2, "%s", rows[i][0]);
        expect_words("err", "allow:1:1: ");
        expect_words("err", rows[i][1]);
    }
}

Test(tools_schema_diff, BB_bcfc_05)
{
    write_file("old.txt", "ns::s(Tensor x) -> ()\nns::s.dim(Tensor x, int[1]? dim=None) -> ()\n");
    write_file("new.txt", "ns::s.dim(Tensor x, int[1]? dim=None) -> ()\n");
    cr_expect_eq(run_tenon("schema diff old.txt new.txt"), 1);
    expect_words("out", "removed    ns::s: ");
    expect_words("out", "remaining candidates: ns::s.dim");
    write_file("new.txt",
               "other::s(Tensor x) -> ()\nother::s.dim(Tensor x, int[1]? dim=None) -> ()\n");
    cr_expect_eq(run_tenon("schema diff old.txt new.txt"), 1);
    expect_words("out", "another namespace has other::s\n");
    expect_words("out", "2 added, 2 removed");
    write_file("new.txt", "ns::t(Tensor x) -> ()\n");
    cr_expect_eq(run_tenon("schema diff old.txt new.txt"), 1);
    expect_no_words("out", "remaining");
}

static const char yaml[] = "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
                           "- func: foo(Tensor self) -> Tensor\n";

Test(tools_schema_diff, lock_and_check)
{
    write_file("native_functions.yaml", yaml);
    cr_expect_eq(run_tenon("schema lock"), 0);
    char *lock = read_file("schema.lock");
    cr_expect(strstr(lock, "# ") == lock);
    cr_expect(strstr(lock, "\naten::foo(Tensor self) -> Tensor\n"
                           "aten::foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"),
              "%s", lock);
    free(lock);
    cr_expect_eq(run_tenon("schema check --fresh"), 0);
    write_file("native_functions.yaml",
               "- func: foo(Tensor self, int n=1) -> Tensor\n"
               "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n");
    cr_expect_eq(run_tenon("schema check"), 0);
    expect_words("err", "schema.lock is not up to date");
    cr_expect_eq(run_tenon("schema check --fresh"), 1);
    write_file("native_functions.yaml",
               "- func: foo(Tensor self, int n) -> Tensor\n"
               "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n");
    cr_expect_eq(run_tenon("schema check"), 1);
    expect_words("out", "break      aten::foo [n]: the new argument 'n' has no default");
    write_file("schema.allow", "aten::foo 2024-12-31 every caller passes n already\n");
    cr_expect_eq(run_tenon("schema check --today 2024-06-01"), 0);
    cr_expect_eq(run_tenon("schema check --today 2025-06-01"), 1);
    cr_expect_eq(run_tenon("schema check --lock absent"), 2);
}

Test(tools_schema_diff, files_that_do_not_parse)
{
    write_file("bad.txt", "ns::f(Tensr a) -> ()\n");
    write_file("twice.txt", "ns::f(Tensor a) -> ()\nns::f(int a) -> ()\n");
    cr_expect_eq(run_tenon("schema diff bad.txt bad.txt"), 2);
    expect_words("err", "bad.txt:1:7: unknown type 'Tensr'");
    cr_expect_eq(run_tenon("schema diff twice.txt twice.txt"), 2);
    expect_words("err", "twice.txt:2:1: operator 'ns::f' stands twice, first in line 1");
    cr_expect_eq(run_tenon("schema diff bad.txt"), 2);
}

/* cases_sch.c - the schema cases of the case bank: BB-sch-02, BB-sch-03, BB-sch-05. */
#include "schema_test.h"

Test(schema_cases, BB_sch_02)
{
    expect_round_trip("a(Tensor(a) x) -> Tensor(b|a)", true);
    expect_round_trip("b(Tensor(a -> *) x, int n) -> Tensor(a)[]", true);
    expect_round_trip("c(Tensor(a!)[] xs) -> ()", true);
    expect_round_trip("d(Tensor(a!)? x, *, Tensor(b!) out) -> (Tensor(a!), Tensor(b!))", true);
    expect_round_trip("e(Tensor?[] idx) -> Tensor", true);
    expect_round_trip("g(int[][] m) -> int[]", true);
}

Test(schema_cases, BB_sch_03)
{
    const char *text =
        "ns::split_copy.out(Tensor self, int n, int dim=0, *, Tensor(a!)[] out) -> ()";
    char printed[200];
    tn__arena a = {0};
    const tn__schema *s = parse_text(&a, text, true);
    cr_assert(s);
    tn__schema_print(s, printed, sizeof printed);
    cr_expect(strstr(printed, "Tensor(a!)[] out"));
    const tn__schema *again = parse_text(&a, printed, true);
    cr_assert(again);
    cr_expect(tn__schema_is_mutable(again));
    cr_expect(again->args[3].is_out && !again->args[2].is_out);
    cr_expect_eq(again->n_rets, 0);
    tn__compat c;
    tn__schema_compat(s, again, TN__COMPAT_TENON, &c);
    cr_expect(c.bc.verdict == TN__VERDICT_YES && c.fc.verdict == TN__VERDICT_YES);
    tn__arena_free(&a);
}

Test(schema_cases, BB_sch_05)
{
    static const struct {
        const char *text;
        int column;
        const char *words;
    } rows[] = {
        {"", 1, "empty"},
        {"f", 2, "got end of text"},
        {"f(", 3, "got end of text"},
        {"f(Tensor)", 9, "got ')'"},
        {"f(Tensor x, Tensor x)", 22, "got end of text"},
        {"f(Tensor x, Tensor x) -> ()", 20, "'x' stands twice"},
        {"f(int x=abc) -> ()", 9, "'abc'"},
        {"f(Tensor x=1) -> ()", 12, "'1'"},
        {"f(int[2] x=[1,2,3]) -> ()", 12, "'[1,2,3]'"},
        {"f(int a=1, int b) -> ()", 12, "non-default argument 'b' follows default argument 'a'"},
        {"f(*, *, int a) -> ()", 6, "second '*'"},
        {"f(Tensor(a x) -> ()", 12, "got 'x'"},
        {"ns::::f(int a) -> ()", 5, "got '::'"},
        {"f(Tensr x) -> Tensor", 3, "unknown type 'Tensr'; did you mean 'Tensor'?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_strict_error(rows[i].text, rows[i].column, rows[i].words);
    expect_error("f\0g(int a) -> ()", 16, true, 2, "NUL byte");
    size_t n = 70 * 1024;
    char *name = malloc(n + 16);
    memset(name, 'x', n);
    memcpy(name + n, "(int a) -> ()", 14);
    expect_strict_error(name, 1, "71680 characters; at most 255");
    free(name);
}

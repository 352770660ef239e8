/* compat.c - the two sets of compatibility rules, on pairs that tell them apart. */
#include "schema_test.h"

typedef struct row {
    const char *old, *now;
    const char *pytorch, *tenon; /* "bc fc" */
} row;

static void expect_verdicts(const row *r, tn__compat_rules rules, const char *want)
{
    tn__arena a = {0};
    char got[32];
    tn__compat c;
    const tn__schema *old = parse_text(&a, r->old, false), *now = parse_text(&a, r->now, false);
    cr_assert(old && now, "%s -> %s", r->old, r->now);
    tn__schema_compat(old, now, rules, &c);
    snprintf(got, sizeof got, "%s %s", tn__verdict_name(c.bc.verdict),
             tn__verdict_name(c.fc.verdict));
    cr_expect_str_eq(got, want, "%s -> %s by %s rules: %s, expected %s (%s; %s)", r->old, r->now,
                     rules == TN__COMPAT_PYTORCH ? "PyTorch's" : "our", got, want, c.bc.reason,
                     c.fc.reason);
    cr_expect_eq(c.bc.reason[0] == '\0', c.bc.verdict == TN__VERDICT_YES);
    cr_expect_eq(c.fc.reason[0] == '\0', c.fc.verdict == TN__VERDICT_YES);
    tn__arena_free(&a);
}

static void expect_rows(const row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        expect_verdicts(&rows[i], TN__COMPAT_PYTORCH, rows[i].pytorch);
        expect_verdicts(&rows[i], TN__COMPAT_TENON, rows[i].tenon);
    }
}

/* docs/schema-compat.md lists the same differences. */
Test(schema_compat, where_our_rules_differ)
{
    static const row rows[] = {
        {"f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
         "f.out(Tensor x, *, Tensor(a!) out, int b) -> Tensor(a!)", "yes no", "no no"},
        {"f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
         "f.out(Tensor x, *, int b=1) -> Tensor(a!)", "error no", "no no"},
        {"f(Tensor x, int a) -> Tensor", "f(Tensor x) -> Tensor", "no yes", "no no"},
        {"f(Tensor x) -> Tensor", "f(Tensor x) -> int", "no yes", "no no"},
        {"f(Tensor x) -> Tensor?", "f(Tensor x) -> Tensor", "yes yes", "yes no"},
        {"f(Tensor x) -> Tensor", "f(Tensor x) -> Tensor y", "no yes", "no no"},
        {"f(Tensor(a) x) -> Tensor", "f(Tensor(a) x) -> Tensor(a)", "no yes", "no no"},
        {"f(Tensor x) -> int[]", "f(Tensor x) -> int[2]", "no yes", "no no"},
        {"f(Tensor x, *, int a) -> Tensor", "f(Tensor x, int a) -> Tensor", "yes yes", "yes no"},
        {"f(SymInt a) -> ()", "f(int a) -> ()", "yes yes", "no yes"},
        {"f(int[] a) -> ()", "f(SymInt[] a) -> ()", "yes yes", "yes no"},
        {"f(int? a) -> ()", "f(SymInt? a) -> ()", "yes yes", "yes no"},
        {"f(int a) -> ()", "f(ScalarType a) -> ()", "yes yes", "no no"},
        {"f(Dimname a) -> ()", "f(str a) -> ()", "yes yes", "no no"},
        {"f(Tensor x, ...) -> ()", "f(Tensor x, int a=1, ...) -> ()", "yes yes", "no no"},
        {"f(int a) -> ()", "f(DeviceIndex a) -> ()", "yes yes", "yes yes"},
    };
    expect_rows(rows, sizeof rows / sizeof rows[0]);
}

Test(schema_compat, types_and_defaults)
{
    static const row rows[] = {
        {"f((int, int) a) -> ()", "f((int, int?) a) -> ()", "yes no", "yes no"},
        {"f(Future(int) a) -> ()", "f(Future(Scalar) a) -> ()", "yes no", "yes no"},
        {"f(Tensor? a) -> ()", "f(Any a) -> ()", "yes no", "yes no"},
        {"f(NoneType a) -> ()", "f(int? a) -> ()", "yes no", "yes no"},
        {"f(int a) -> ()", "f(Union[int, str] a) -> ()", "yes no", "yes no"},
        {"f(Tensor[] a) -> ()", "f(AnyListType a) -> ()", "yes no", "yes no"},
        {"f(bool a) -> ()", "f(Scalar a) -> ()", "no no", "no no"},
        {"f(int[2] a=1) -> ()", "f(int[2] a=[1, 1]) -> ()", "yes yes", "yes yes"},
        {"f(int[2] a=1) -> ()", "f(int[2] a=[1, 2]) -> ()", "no no", "no no"},
        {"f(float a=1) -> ()", "f(float a=1.0) -> ()", "yes yes", "yes yes"},
        {"f(float? a=1) -> ()", "f(float? a=1.0) -> ()", "no no", "no no"},
        {"f(str a=\"x\") -> ()", "f(str a='x') -> ()", "yes yes", "yes yes"},
        {"f(Tensor(a|b) x) -> ()", "f(Tensor(b|a) x) -> ()", "yes yes", "yes yes"},
        {"f(Tensor(a!)[] x) -> ()", "f(Tensor(b!)[] x) -> ()", "no no", "no no"},
        {"f(RRef(int) a) -> ()", "f(RRef(Scalar) a) -> ()", "no no", "no no"},
        {"f(__torch__.A.B a) -> ()", "f(AnyClassType a) -> ()", "yes no", "yes no"},
        {"f(Capsule a) -> ()", "f(AnyClassType a) -> ()", "no no", "no no"},
        {"f(t a) -> ()", "f(t1 a) -> ()", "yes yes", "no no"},
        {"f(t[] a) -> ()", "f(t1[] a) -> ()", "yes yes", "no no"},
        {"f(number a) -> ()", "f(Scalar a) -> ()", "no no", "no no"},
        {"f(number a) -> ()", "f(t a) -> ()", "yes yes", "no no"},
        {"f(int a) -> ()", "f(number a) -> ()", "no no", "no no"},
    };
    expect_rows(rows, sizeof rows / sizeof rows[0]);
}

/* T? is the union of T and None, Scalar that of int, float and complex. */
Test(schema_compat, unions)
{
    static const row rows[] = {
        {"f(int? a) -> ()", "f(int?? a) -> ()", "yes yes", "yes yes"},
        {"f(Scalar? a) -> ()", "f(int?? a) -> ()", "no yes", "no yes"},
        {"f(int?[] a) -> ()", "f(int??[] a) -> ()", "yes yes", "yes yes"},
        {"f(int? a) -> ()", "f(Union(int, NoneType) a) -> ()", "yes yes", "yes yes"},
        {"f(int? a) -> ()", "f(Union(int, str, NoneType) a) -> ()", "yes no", "yes no"},
        {"f(int? a) -> ()", "f(Union(int, str) a) -> ()", "no no", "no no"},
        {"f() -> Union(int, str, NoneType)", "f() -> Union(str, int?)", "yes yes", "yes yes"},
        {"f(Scalar a) -> ()", "f(Union(int, float, complex) a) -> ()", "yes yes", "yes yes"},
        {"f(Scalar a) -> ()", "f(Union(int, float) a) -> ()", "no yes", "no yes"},
    };
    expect_rows(rows, sizeof rows / sizeof rows[0]);
}

/* What PyTorch's parser makes of a default depends on the type that it stands under. */
Test(schema_compat, defaults_as_pytorch_reads_them)
{
    static const row rows[] = {
        {"f(float a=Mean) -> ()", "f(float a=1.0) -> ()", "no no", "no no"},
        {"f(float a=Mean) -> ()", "f(float a=1) -> ()", "no no", "no no"},
        {"f(Scalar a=Mean) -> ()", "f(Scalar a=1) -> ()", "yes yes", "yes yes"},
        {"f(float a=0.0) -> ()", "f(float a=-0.0) -> ()", "yes yes", "yes yes"},
        {"f(float[] a=[1, 2]) -> ()", "f(float[] a=[1.0, 2.0]) -> ()", "yes yes", "yes yes"},
        {"f(float[2] a=1) -> ()", "f(float[2] a=[1.0, 1.0]) -> ()", "yes yes", "yes yes"},
        {"f(float[]? a=1) -> ()", "f(float[]? a=1.0) -> ()", "no no", "no no"},
        {"f(int[2] a=1) -> ()", "f(int[2]? a=1) -> ()", "no no", "no no"},
        {"f(int[2]? a=1) -> ()", "f(SymInt[2]? a=1) -> ()", "yes yes", "yes no"},
        {"f(Device a=\"cpu\") -> ()", "f(Device a='cpu') -> ()", "yes yes", "yes yes"},
        {"f(Device a=\"cpu\") -> ()", "f(Device? a=\"cpu\") -> ()", "no no", "no no"},
        {"f(str a=\"x\") -> ()", "f(str? a=\"x\") -> ()", "yes no", "yes no"},
    };
    expect_rows(rows, sizeof rows / sizeof rows[0]);
}

/* Pairs over which PyTorch's check throws or its parser dies; ours give the reason instead. */
Test(schema_compat, where_pytorch_crashes)
{
    static const row rows[] = {
        {"f(Tensor out, *, Tensor(x!) a) -> ()", "f(*, Tensor(x!) out) -> ()", "no error", "no no"},
        {"f(int a, *, Tensor(x!) o=None) -> ()", "f(*, Tensor(x!) o) -> ()", "no error", "no no"},
        {"f(int a, *, Tensor(x!) o) -> ()", "f(*, Tensor(x!) o) -> ()", "no yes", "no no"},
        {"f(Tensor a=None, int b) -> ()", "f(Tensor a, int b) -> ()", "error error", "no no"},
        {"f(int a, int b) -> ()", "f(int a=1, int b) -> ()", "error error", "yes no"},
        {"f(int a, int[2] b) -> ()", "f(int a=1, int[2] b) -> ()", "yes no", "yes no"},
        {"f(int a, *, int b) -> ()", "f(int a=1, *, int b) -> ()", "yes no", "yes no"},
        {"f(Tensor a) -> ()", "aten::f(Tensor a) -> ()", "no no", "yes yes"},
        {"aten::f(int a) -> ()", "aten::f(int a) -> ()", "yes yes", "yes yes"},
    };
    expect_rows(rows, sizeof rows / sizeof rows[0]);
}

Test(schema_compat, BB_bcfc_02)
{
    static const char old[] = "g(Tensor a, int x, int y, *, float alpha=1.) -> Tensor";
    static const struct {
        const char *now;
        bool compatible;
    } rows[] = {
        {"g(Tensor a, int y, int x, *, float alpha=1.) -> Tensor", false},
        {"g(Tensor a, int x, int z, *, float alpha=1.) -> Tensor", false},
        {"g(Tensor a, int x, *, int y, float alpha=1.) -> Tensor", false},
        {"g(Tensor a, int x, int y, float alpha=1.) -> Tensor", true},
        {"g(Tensor a, int x, int y, *, int alpha=1) -> Tensor", false},
        {"g(Tensor? a, int x, int y, *, float alpha=1.) -> Tensor", true},
        {"g(Tensor a, int x, int y, *, float alpha=1.) -> Tensor?", false},
        {"g(Tensor a, int x, int y, *, float alpha=1.) -> (Tensor, Tensor)", false},
        {"g(Tensor(a!) a, int x, int y, *, float alpha=1.) -> Tensor", false},
        {"g(Tensor a, SymInt x, int y, *, float alpha=1.) -> Tensor", true},
        {"g(Tensor a, float x, int y, *, float alpha=1.) -> Tensor", false},
    };
    tn__arena a = {0};
    tn__compat c;
    const tn__schema *was = parse_text(&a, old, true);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tn__schema *now = parse_text(&a, rows[i].now, true);
        cr_assert(was && now);
        tn__schema_compat(was, now, TN__COMPAT_TENON, &c);
        cr_expect_eq(c.bc.verdict == TN__VERDICT_YES, rows[i].compatible, "%s: %s", rows[i].now,
                     c.bc.reason);
    }
    const tn__schema *out =
        parse_text(&a, "g.out(Tensor a, *, Tensor(a!) out) -> Tensor(a!)", true);
    const tn__schema *dropped =
        parse_text(&a, "g.out(Tensor a, *, Tensor out) -> Tensor(a!)", true);
    cr_assert(out && dropped);
    tn__schema_compat(out, dropped, TN__COMPAT_TENON, &c);
    cr_expect_eq(c.bc.verdict, TN__VERDICT_NO, "a dropped mutation passes");
    tn__arena_free(&a);
}

/* A stored call (x, out) runs on, because out is known by being keyword-only and written; that the
 * frame of compiled C callers moves is reported apart from that. */
Test(schema_compat, BB_cg_04)
{
    tn__arena a = {0};
    tn__compat c;
    const tn__schema *v1 = parse_text(&a, "f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", true);
    const tn__schema *v2 =
        parse_text(&a, "f.out(Tensor x, *, float scale=1., Tensor(a!) out) -> Tensor(a!)", true);
    cr_assert(v1 && v2);
    cr_expect(v2->args[2].is_out && !v2->args[1].is_out);
    tn__schema_compat(v1, v2, TN__COMPAT_TENON, &c);
    cr_expect_eq(c.bc.verdict, TN__VERDICT_YES);
    cr_expect_eq(c.fc.verdict, TN__VERDICT_YES);
    cr_expect_eq(c.frame.verdict, TN__VERDICT_NO);
    cr_expect_str_eq(c.frame.argument, "scale");
    cr_expect(strstr(c.frame.reason, "must be rebuilt"));
    tn__arena_free(&a);
}

Test(schema_compat, the_frame_may_grow_at_its_end)
{
    static const struct {
        const char *old, *now;
        bool grows;
    } rows[] = {
        {"f(Tensor a) -> Tensor", "f(Tensor a, int b=1) -> Tensor", true},
        {"f(Tensor a) -> Tensor", "f(Tensor? a) -> Tensor", true},
        {"f(int a) -> Tensor", "f(SymInt a) -> Tensor", true},
        {"f(int[2] a) -> Tensor", "f(int[2]? a) -> Tensor", true},
        {"f(int a) -> Tensor", "f(int? a) -> Tensor", false},
        {"f(int a) -> Tensor", "f(Scalar a) -> Tensor", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tn__arena a = {0};
        tn__compat c;
        const tn__schema *old = parse_text(&a, rows[i].old, true),
                         *now = parse_text(&a, rows[i].now, true);
        cr_assert(old && now);
        tn__schema_compat(old, now, TN__COMPAT_TENON, &c);
        cr_expect_eq(c.bc.verdict, TN__VERDICT_YES, "%s", c.bc.reason);
        cr_expect_eq(c.frame.verdict == TN__VERDICT_YES, rows[i].grows, "%s -> %s", rows[i].old,
                     rows[i].now);
        tn__arena_free(&a);
    }
}

Test(schema_compat, a_no_names_the_argument)
{
    static const struct {
        const char *old, *now, *argument, *words;
    } rows[] = {
        {"f(Tensor a, int b) -> ()", "f(Tensor a, int c) -> ()", "b",
         "argument 'b' is now named 'c'"},
        {"f(Tensor a, int b) -> ()", "f(Tensor a) -> ()", "b", "argument 'b' was removed"},
        {"f(int a, int b) -> ()", "f(int b, int a) -> ()", "a", "argument 'a' changed places"},
        {"f(int a, int b) -> ()", "f(int a, int c=1, *, int b) -> ()", "c",
         "new argument 'c' was put before 'b'"},
        {"f(int a=1) -> ()", "f(int a=2) -> ()", "a", "from 1 to 2"},
        {"f(int a=1) -> ()", "f(int a) -> ()", "a", "lost its default 1"},
        {"f(Tensor a) -> ()", "f(Tensor(a!) a) -> ()", "a", "from Tensor to Tensor(a!)"},
        {"f(int a) -> ()", "f(*, int a) -> ()", "a", "no longer be passed by position"},
        {"f(int a) -> ()", "f(str a) -> ()", "a", "was int and is now str"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tn__arena a = {0};
        tn__compat c;
        const tn__schema *old = parse_text(&a, rows[i].old, true),
                         *now = parse_text(&a, rows[i].now, true);
        cr_assert(old && now);
        tn__schema_compat(old, now, TN__COMPAT_PYTORCH, &c);
        cr_expect_eq(c.bc.verdict, TN__VERDICT_NO);
        cr_expect_str_eq(c.bc.argument, rows[i].argument, "%s: %s", rows[i].now, c.bc.reason);
        cr_expect(strstr(c.bc.reason, rows[i].words), "%s: %s", rows[i].now, c.bc.reason);
        tn__arena_free(&a);
    }
}

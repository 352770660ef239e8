/* strict.c - the rules of a new schema: each refusal has an accepted neighbour. */
#include "schema_test.h"

Test(schema_strict, defaults_fit_their_types)
{
    static const char *const good[] = {
        "f(int a=1, int r=Mean, SymInt s=0, float b=1, float c=1e-3, bool d=True) -> ()",
        "f(Scalar a=1, Scalar b=0.5, Scalar c=True, complex z=1j, str s='x', Dimname d=\"N\") -> "
        "()",
        "f(ScalarType a=long, Layout b=strided, MemoryFormat c=contiguous_format, Device "
        "d=\"cpu\") -> ()",
        "f(Tensor? a=None, int? b=None, int? c=3, Generator? g=None, int[]? l=None) -> ()",
        "f(int[2] a=0, int[2] b=[1, 2], int[2] c=[], int[1] d=[-2, -1], float[3] e=1, bool[2] "
        "m=True) -> ()",
    };
    static const struct {
        const char *text;
        int column;
    } bad[] = {
        {"f(int a=1.5) -> ()", 9},         {"f(int a=True) -> ()", 9},
        {"f(int a=None) -> ()", 9},        {"f(int a=mean) -> ()", 9},
        {"f(float a=\"x\") -> ()", 11},    {"f(bool a=1) -> ()", 10},
        {"f(str a=x) -> ()", 9},           {"f(Tensor a=None) -> ()", 12},
        {"f(ScalarType a=lng) -> ()", 16}, {"f(int[2] a=[1]) -> ()", 12},
        {"f(int[] a=0) -> ()", 11},        {"f(int[] a=[0, x]) -> ()", 11},
        {"f(Generator g=0) -> ()", 15},    {"f(int? a=x) -> ()", 10},
        {"f(Device d=cpu) -> ()", 12},     {"f(float? a=[1]) -> ()", 12},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        expect_round_trip(good[i], true);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        expect_strict_error(bad[i].text, bad[i].column, "does not fit its type");
        expect_round_trip(bad[i].text, false);
    }
}

Test(schema_strict, names_and_order)
{
    expect_strict_error("f(int a, float a) -> ()", 16, "argument 'a' stands twice (1 and 2)");
    expect_strict_error("f(int a) -> (int x, int x)", 25, "return 'x' stands twice");
    expect_round_trip("f(int a) -> int a", true);
    expect_round_trip("f(int a=1, *, int b) -> ()", true);
    expect_strict_error("f(int a=1, int[] b) -> ()", 12,
                        "non-default argument 'b' follows default argument 'a'");
}

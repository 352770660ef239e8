/* parse.c - the grammar: what is accepted prints back, what is not is refused with column, token
 * and advice. */
#include "schema_test.h"

Test(schema_parse, grammar)
{
    static const char *const texts[] = {
        "f() -> ()",
        "f(...) -> ...",
        "ns::f.overload(Tensor self, int n=-1, *, float eps=1e-05) -> (Tensor values, Tensor "
        "indices)",
        "f(Tensor self) -> (Tensor)",
        "f(Tensor self) -> (Tensor, ...)",
        "f(int[2] a=[0,1], int[2] b=[0, 1], str c=\"a\\\"b\", str d='x') -> int[]",
        "f(Dict(str, Tensor)[] d, Future(t) g, RRef(t)? h, (int, (float, str)[])? i) -> Dict(int, "
        "Tensor?)",
        "f(__torch__.torch.classes.quantized.LinearPackedParamsBase W) -> Any",
        "f(Union[int, str] a, Union(int, str) b) -> NoneType",
        "f(Tensor! self, t[](a!) xs, Tensor(*) y, Dict(str, t)(a!) d) -> t(*)?",
        "f(complex z=2j, float a=.5, float b=1., float c=-1E+3) -> SymInt",
        "__iand__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
        "f(int a, *, int b, ...) -> ()",
        "f(int[][] a, int?[] b, Tensor?[]? c, bool[3] m) -> ()",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        expect_round_trip(texts[i], false);
}

Test(schema_parse, blanks_are_free)
{
    char printed[200];
    tn__arena a = {0};
    const tn__schema *s =
        parse_text(&a, "  f ( Tensor  (a !)x ,int n = 1 , * , int k)->(Tensor(a!))\n", false);
    cr_assert(s);
    tn__schema_print(s, printed, sizeof printed);
    cr_expect_str_eq(printed, "f(Tensor(a!) x, int n=1, *, int k) -> (Tensor(a!))");
    tn__arena_free(&a);
}

Test(schema_parse, parts)
{
    tn__arena a = {0};
    const tn__schema *s = parse_text(
        &a, "ns::add_.out(Tensor self, int[2]? n=[1, 2], *, float eps=0.5, Tensor(a!)[] out) -> ()",
        false);
    cr_assert(s);
    cr_expect_str_eq(s->ns, "ns");
    cr_expect_str_eq(s->name, "add_");
    cr_expect_str_eq(s->overload, "out");
    cr_expect(s->n_args == 4 && s->n_positional == 2 && s->n_rets == 0);
    cr_expect(s->args[1].type->kind == TN__TYPE_OPTIONAL && s->args[1].type->elem->list_size == 2);
    cr_expect(s->args[1].def->kind == TN__VALUE_LIST && s->args[1].def->items[1].i == 2);
    cr_expect(s->args[2].kwonly && !s->args[2].is_out && s->args[2].def->re == 0.5);
    cr_expect(s->args[3].is_out && s->args[3].column == 63);
    cr_expect_eq(tn__schema_kind_of(s), TN__SCHEMA_OUT);
    tn__arena_free(&a);
}

Test(schema_parse, kinds)
{
    static const struct {
        const char *text;
        tn__schema_kind kind;
    } rows[] = {
        {"f(Tensor self) -> Tensor", TN__SCHEMA_FUNCTIONAL},
        {"f_(Tensor(a!) self) -> Tensor(a!)", TN__SCHEMA_INPLACE},
        {"f_(Tensor self) -> Tensor", TN__SCHEMA_FUNCTIONAL},
        {"__and__.Tensor(Tensor self, Tensor other) -> Tensor", TN__SCHEMA_FUNCTIONAL},
        {"__ior__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", TN__SCHEMA_INPLACE},
        {"f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", TN__SCHEMA_OUT},
        {"f(Tensor self, Tensor(a!) mean) -> Tensor", TN__SCHEMA_MUTABLE},
        {"f(Tensor(a) self) -> Tensor(a)", TN__SCHEMA_FUNCTIONAL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tn__arena a = {0};
        const tn__schema *s = parse_text(&a, rows[i].text, true);
        cr_assert(s, "%s", rows[i].text);
        cr_expect_eq(tn__schema_kind_of(s), rows[i].kind, "%s", rows[i].text);
        tn__arena_free(&a);
    }
}

Test(schema_parse, errors_say_where_what_and_what_instead)
{
    static const struct {
        const char *text;
        int column;
        const char *words;
    } rows[] = {
        {"f(Tensor x)", 12,
         "expected '->' after the arguments, got end of text; write '-> Tensor' or '-> ()'"},
        {"f(Tensor x -> Tensor", 12, "expected ',' or ')' after an argument, got '->'"},
        {"f(int[ x) -> ()", 8, "expected ']' or a list size, got 'x'"},
        {"f(int[2.5] x) -> ()", 7, "whole number"},
        {"f(int[99999999999] x) -> ()", 7, "too large"},
        {"f(Tensor x,) -> ()", 12, "expected a type, got ')'"},
        {"f(Tensor x, *) -> ()", 14, "keyword-only argument after '*'"},
        {"f(..., int a) -> ()", 8, "'...' must be the last"},
        {"f(int a) -> (..., int)", 19, "'...' must be the last"},
        {"f(int a) -> int, int", 16, "put several returns in parentheses"},
        {"f(int a) -> (int) x", 19, "expected the end of the schema"},
        {"f(int a) -> int x=1", 18, "a return takes no default"},
        {"f(int a=) -> ()", 9, "expected a default value, got ')'"},
        {"f(int a=-x) -> ()", 10, "expected a number after '-'"},
        {"f(int a=99999999999999999999) -> ()", 9, "64 bits"},
        {"f(float a=1e999) -> ()", 11, "too large for a float"},
        {"f(str a=\"x) -> ()", 9, "not closed"},
        {"f(str a=\"\\q\") -> ()", 10, "unknown escape"},
        {"f(str a=\"\\x00\") -> ()", 10, "unknown escape"},
        {"f(int 2a) -> ()", 8, "must not run into a name"},
        {"f(Dict(str) d) -> ()", 11, "Dict takes 2 types, got 1"},
        {"f(Future x) -> ()", 10, "expected '('"},
        {"f(Tensor(a!b) x) -> ()", 12, "close the alias annotation"},
        {"f(Tensor() x) -> ()", 10, "expected an alias set, got ')'"},
        {"f(int a; int b) -> ()", 8, "has no place in a schema"},
        {"f(int \xc3\xa4) -> ()", 7, "has no place in a schema"},
        {"ns::(int a) -> ()", 5, "operator's name after '::'"},
        {"f.(int a) -> ()", 3, "overload's name after '.'"},
        {"f(a.b. x) -> ()", 8, "a name after '.'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_error(rows[i].text, strlen(rows[i].text), false, rows[i].column, rows[i].words);
}

Test(schema_parse, unknown_types_are_named_and_the_nearest_is_suggested)
{
    expect_strict_error("f(tensor x) -> ()", 3, "unknown type 'tensor'; did you mean 'Tensor'?");
    expect_strict_error("f(double x) -> ()", 3, "did you mean 'float'?");
    expect_strict_error("f(Scalr x) -> ()", 3, "did you mean 'Scalar'?");
    expect_strict_error("f(Tensor x) -> string", 16, "did you mean 'str'?");
    expect_strict_error("f(Zebrafinch x) -> ()", 3, "unknown type 'Zebrafinch'; use Tensor");
}

static void expect_deep_error(const char *before, const char *open, const char *middle,
                              const char *close)
{
    static char text[1 << 16];
    size_t n = (size_t)snprintf(text, sizeof text, "f(%s", before);
    for (int i = 0; i < 5000; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s", open);
    n += (size_t)snprintf(text + n, sizeof text - n, "%s", middle);
    for (int i = 0; i < 5000; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s", close);
    n += (size_t)snprintf(text + n, sizeof text - n, " x) -> ()");
    tn__arena a = {0};
    tn__schema_error err = {0};
    cr_assert(!tn__schema_parse(&a, text, n, false, &err));
    cr_expect(strstr(err.message, "nested more than 64 deep"), "%s", err.message);
    tn__arena_free(&a);
}

Test(schema_parse, deep_nesting_is_an_error)
{
    expect_deep_error("", "(", "int", ")");
    expect_deep_error("", "Future(", "int", ")");
    expect_deep_error("", "", "int", "[]");
    expect_deep_error("", "", "int", "?");
    expect_deep_error("int a=", "[", "", "]");
    expect_round_trip("f((((((((int)[])[])[])[])[])?)[] x) -> ()", false);
}

Test(schema_parse, bytes_that_are_not_text)
{
    expect_error("f(int a\0) -> ()", 15, false, 8, "NUL byte");
    expect_error("f(int a) -> ()\0", 15, false, 15, "NUL byte");
    expect_error("f(str a=\"\0\") -> ()", 18, false, 10, "raw in a string");
    expect_error("", 0, false, 1, "the schema is empty");
    expect_error(NULL, 0, false, 1, "the schema is empty");
}

/* Whatever the cut, a prefix is refused or prints as itself; never does it crash. */
Test(schema_parse, truncated_text)
{
    const char *text =
        "ns::f.o(Tensor(a! -> b|c)[]? x, int[2] n=[1, -2], *, str s=\"a\\n\", Dict(str, t) d) -> "
        "(Tensor(a!) y, int)";
    for (size_t n = 0; n < strlen(text); n++) {
        tn__arena a = {0};
        tn__schema_error err = {0};
        char *exact = malloc(n + 1); /* so that a sanitizer sees a read past the end */
        memcpy(exact, text, n);
        cr_expect(!tn__schema_parse(&a, exact, n, false, &err), "%.*s", (int)n, text);
        cr_expect(err.column >= 1 && err.column <= (int)n + 1, "%.*s: %d", (int)n, text,
                  err.column);
        cr_expect(err.message[0]);
        tn__arena_free(&a);
        free(exact);
    }
    expect_round_trip(text, false);
}

/* fuzz.c - mutated schemas: refused or printed back, never a crash. Meant for the sanitizers; fixed
 * seeds. */
#include "schema_test.h"

static const char *const seeds[] = {
    "add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
    "aten::Delete.Dict_str(Dict(str, t)(a!) self, str key) -> ()",
    "aten::dict.int((int, tVal)[] inputs) -> Dict(int, tVal)",
    "split(Tensor(a -> *) self, int[2]? n=[1, 2], *, str mode=\"a\\\"b\") -> (Tensor(a)[], int x)",
    "aten::items.str(Dict(str, t) self) -> ((str, t)[])",
    "prim::f(Tensor! w, Union[int, str[]] a=None, complex z=-1.5e+3j, ...) -> ...",
    "f(__torch__.torch.classes.ns.C p, MemoryFormat? m=contiguous_format) -> t(*)?",
};
enum { N_SEEDS = sizeof seeds / sizeof seeds[0], ROUNDS = 20000, ROOM = 400 };

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static size_t mutate(char *text, size_t n)
{
    static const char alphabet[] = "()[],=*?!|.-:>ab1 \"'\\j\t\0\xff";
    size_t at = draw((uint32_t)n);
    switch (draw(4)) {
    case 0:
        text[at] = alphabet[draw(sizeof alphabet - 1)];
        return n;
    case 1:
        memmove(text + at, text + at + 1, n - at - 1);
        return n > 1 ? n - 1 : n;
    case 2:
        if (n + 1 >= ROOM)
            return n;
        memmove(text + at + 1, text + at, n - at);
        text[at] = alphabet[draw(sizeof alphabet - 1)];
        return n + 1;
    default: {
        size_t len = draw((uint32_t)(n - at)) + 1;
        if (n + len >= ROOM)
            return n;
        memmove(text + at + len, text + at, n - at);
        return n + len;
    }
    }
}

/* What parses prints, and what was printed parses to the same print. */
static bool try_text(const char *text, size_t n, bool strict)
{
    char once[2 * ROOM], twice[2 * ROOM];
    tn__arena a = {0};
    tn__schema_error err = {0};
    char *exact = malloc(n ? n : 1);
    memcpy(exact, text, n);
    const tn__schema *s = tn__schema_parse(&a, exact, n, strict, &err);
    free(exact);
    if (s) {
        size_t len = tn__schema_print(s, once, sizeof once);
        cr_assert_lt(len, sizeof once);
        const tn__schema *again = tn__schema_parse(&a, once, len, strict, &err);
        cr_assert(again, "%s: %s", once, err.message);
        tn__schema_print(again, twice, sizeof twice);
        cr_assert_str_eq(once, twice);
        tn__compat c;
        tn__schema_compat(s, again, TN__COMPAT_TENON, &c);
        cr_expect(c.bc.verdict == TN__VERDICT_YES && c.fc.verdict == TN__VERDICT_YES, "%s: %s %s",
                  once, c.bc.reason, c.fc.reason);
    } else {
        cr_assert(err.column >= 1 && (size_t)err.column <= n + 1 && err.message[0]);
    }
    tn__arena_free(&a);
    return s != NULL;
}

Test(schema_fuzz, mutations_are_refused_or_print_back)
{
    int accepted = 0;
    for (int i = 0; i < ROUNDS; i++) {
        char text[ROOM];
        const char *seed = seeds[draw(N_SEEDS)];
        size_t n = strlen(seed);
        memcpy(text, seed, n);
        for (uint32_t k = draw(4) + 1; k > 0 && n > 1; k--)
            n = mutate(text, n);
        accepted += try_text(text, n, draw(2));
    }
    cr_expect_gt(accepted, ROUNDS / 100,
                 "the mutations are too wild to test what comes after the parser");
}

Test(schema_fuzz, every_pair_of_seeds_has_verdicts_with_reasons)
{
    for (int i = 0; i < N_SEEDS * N_SEEDS; i++) {
        tn__arena a = {0};
        tn__compat c;
        const tn__schema *old = parse_text(&a, seeds[i / N_SEEDS], false);
        const tn__schema *now = parse_text(&a, seeds[i % N_SEEDS], false);
        cr_assert(old && now);
        for (int rules = 0; rules < 2; rules++) {
            tn__schema_compat(old, now, (tn__compat_rules)rules, &c);
            cr_expect_eq(c.bc.verdict == TN__VERDICT_YES, i / N_SEEDS == i % N_SEEDS);
            cr_expect_eq(c.bc.reason[0] == '\0', c.bc.verdict == TN__VERDICT_YES);
        }
        tn__arena_free(&a);
    }
}

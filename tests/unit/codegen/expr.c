/* expr.c - the expression language of `pointwise`: what is refused, where and in which words; what
 * an expression says about dtypes; the C that it becomes; and damaged expressions, under the
 * sanitizers. */
#include "model_test.h"

#include "codegen/expr.h"

/* Every expression is this operator's, in quotes, and begins in line 2, column 15. */
static const char head[] =
    "- func: f(Tensor self, Tensor other, Scalar alpha, Scalar? beta=None, int dim=0, Tensor n)"
    " -> Tensor\n  pointwise: \"";
enum { COLUMN = 15 };

typedef struct parsed {
    model m;
    tn__arena arena;
    cg_pointwise pointwise;
    bool ok;
} parsed;

static parsed parse(const char *expression, const char *more)
{
    size_t n = strlen(head) + strlen(expression) + strlen(more) + 8;
    char *text = malloc(n);
    snprintf(text, n, "%s%s\"\n%s", head, expression, more);
    parsed p = {.m = model_read(text)};
    free(text);
    cr_assert(p.m.file && p.m.file->n_entries == 1, "%s", expression);
    p.ok = cg_pointwise_parse(&p.m.diag, &p.arena, &p.m.file->entries[0], &p.pointwise);
    return p;
}

static void drop(parsed *p)
{
    tn__arena_free(&p->arena);
    model_free(&p->m);
}

/* Refused with exactly one error, at this offset in the expression, that says both parts. */
static void expect_refused(const char *expression, int offset, const char *what,
                           const char *instead)
{
    parsed p = parse(expression, "");
    cr_expect_not(p.ok, "'%s' was taken", expression);
    cr_expect_eq(p.m.diag.n_items, 1, "'%s': %d errors", expression, p.m.diag.n_items);
    const cg_diag_item none = {"", {0, 0}, "no error", 0};
    const cg_diag_item *e = p.m.diag.n_items ? p.m.diag.items : &none;
    cr_expect_eq(e->pos.line, 2, "'%s': line %d", expression, e->pos.line);
    cr_expect_eq(e->pos.column, COLUMN + offset, "'%s': column %d, expected %d: %s", expression,
                 e->pos.column, COLUMN + offset, e->message);
    cr_expect(strstr(e->message, what) && strstr(e->message, instead),
              "'%s': expected '%s' and '%s' in: %s", expression, what, instead, e->message);
    cr_expect(strchr(e->message, ';'), "it does not say what to write instead: %s", e->message);
    drop(&p);
}

static void expect_c(const char *expression, const char *suffix, const char *c)
{
    char *text = NULL;
    size_t n = 0;
    parsed p = parse(expression, "");
    cr_assert(p.ok, "'%s': %s", expression, p.m.diag.n_items ? p.m.diag.items[0].message : "");
    FILE *to = open_memstream(&text, &n);
    cg_expr_print(p.pointwise.root, suffix, to);
    fclose(to);
    cr_expect_str_eq(text, c, "'%s': %s", expression, text);
    free(text);
    drop(&p);
}

Test(codegen_expr, unknown_names)
{
    expect_refused("self + othr", 7, "'othr' is no argument", "self, other, alpha");
    expect_refused("exq(self)", 0, "no function 'exq'", "did you mean 'exp'");
    expect_refused("frobnicate(self)", 0, "no function 'frobnicate'", "docs/schema.md");
    expect_refused("self(1)", 0, "no function 'self'", ";");
    expect_refused("exp", 0, "'exp' is no argument", "arguments are");
}

Test(codegen_expr, arity)
{
    expect_refused("1 + exp(self, other)", 4, "exp takes 1 argument, got 2", "exp(a)");
    expect_refused("maximum(self)", 0, "maximum takes 2 arguments, got 1", "maximum(a, b)");
    expect_refused("where(self, other)", 0, "where takes 3 arguments, got 2", "where(a, b, c)");
    expect_refused("where(self, 1, 2, 3)", 0, "where takes 3 arguments, got 4", "where(a, b, c)");
    expect_refused("exp()", 4, "')' cannot stand here", "argument's name");
}

Test(codegen_expr, parentheses)
{
    expect_refused("(self + other", 13, "not closed", "')'");
    expect_refused("exp(self", 8, "arguments of exp are not closed", "')'");
    expect_refused("self + other)", 12, "expected an operator", "operators are");
    expect_refused("()", 1, "')' cannot stand here", "argument's name");
    expect_refused("exp(self,)", 9, "')' cannot stand here", "argument's name");
}

Test(codegen_expr, ends)
{
    expect_refused("   ", 3, "ends too early", "argument's name");
    expect_refused("self +", 6, "ends too early", "number");
    expect_refused("self other", 5, "expected an operator", "operators are");
    expect_refused("self % other", 5, "expected an operator", "+ - * /");
    expect_refused("self < 0 ? 1", 12, "has no ':'", "condition ? value : value");
    expect_refused("self & other", 5, "expected an operator", "&&");
    expect_refused("* self", 0, "'*' cannot stand here", "'('");
    expect_refused("self */ other", 6, "'/' cannot stand here", "'('");
}

Test(codegen_expr, empty)
{
    expect_error("- func: f(Tensor self) -> Tensor\n  pointwise: \"\"\n", 2, 15,
                 "found an empty string; ");
    expect_error("- func: f(Tensor self) -> Tensor\n  pointwise:\n", 2, 13,
                 "must be an expression");
}

Test(codegen_expr, numbers)
{
    expect_refused("self + 1f", 7, "not a number", "1e-3");
    expect_refused("1.2.3", 0, "not a number", "0.5");
    expect_refused("self + 1e400", 7, "too large for a float", "1e308");
    expect_refused("self + 010", 7, "another one", "leading zeros");
    expect_refused("self + 99999999999999999999", 7, "not at all", "decimal point");
    expect_c("self + 0", "f32", "tnm_add_f32(self, tnm_number_f32(0))");
    expect_c("self * 0x10", "i32", "tnm_mul_i32(self, tnm_number_i32(0x10))");
    expect_c("self * 1e-3", "f64", "tnm_mul_f64(self, tnm_number_f64(1e-3))");
}

Test(codegen_expr, kinds_do_not_mix)
{
    expect_refused("(self < other) + 1", 6, "truth value", "condition ? 1 : 0");
    expect_refused("exp(self == other)", 9, "truth value", "condition ? 1 : 0");
    expect_refused("self < 0 ? self : self > 1", 9, "number and a truth value",
                   "make both the same");
}

Test(codegen_expr, arguments_that_cannot_stand)
{
    expect_refused("self + beta", 7, "'beta' is neither", "only arguments that are always");
    expect_refused("self + dim", 7, "'dim' is neither", "Tensor or a Scalar");
}

static char *repeat(const char *before, const char *middle, const char *after, int n)
{
    size_t a = strlen(before), b = strlen(after);
    char *s = malloc((a + b) * (size_t)n + strlen(middle) + 1), *at = s;
    for (int i = 0; i < n; i++, at += a)
        memcpy(at, before, a);
    at = stpcpy(at, middle);
    for (int i = 0; i < n; i++, at += b)
        memcpy(at, after, b);
    *at = '\0';
    return s;
}

Test(codegen_expr, deep_and_long)
{
    static const struct {
        const char *before, *after, *what;
    } deep[] = {
        {"(", ")", "nested more than 64"},    {"-", "", "nested more than 64"},
        {"exp(", ")", "nested more than 64"}, {"self + ", "", "more than 2048 parts"},
        {"", " * self", "more than 2048"},    {"self ? 1 : ", "", "more than 2048"},
        {"! ", "", "nested more than 64"},    {"self ? ", ": 1", "more than 2048"},
    };
    for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
        char *text = repeat(deep[i].before, "self", deep[i].after, 4000);
        parsed p = parse(text, "");
        cr_expect_not(p.ok);
        cr_expect_eq(p.m.diag.n_items, 1);
        cr_expect(strstr(p.m.diag.items[0].message, deep[i].what), "%s: %s", deep[i].before,
                  p.m.diag.items[0].message);
        free(text);
        drop(&p);
    }
    char *fits = repeat("(", "self", ")", 60);
    expect_c(fits, "f32", "self");
    free(fits);
}

Test(codegen_expr, dtypes_follow_from_use)
{
    static const struct {
        const char *text;
        tn_dtypes dtypes;
        int32_t kind;
    } rows[] = {
        {"self + other", TN_DTYPES_ALL, TN_POINTWISE},
        {"self - other", TN_DTYPES_ALL & ~TN_DTYPE_BIT(TN_BOOL), TN_POINTWISE},
        {"exp(self)", TN_DTYPES_FLOATING | TN_DTYPES_COMPLEX, TN_POINTWISE | TN_POINTWISE_FLOAT},
        {"0.5 * self", TN_DTYPES_FLOATING | TN_DTYPES_COMPLEX, TN_POINTWISE | TN_POINTWISE_FLOAT},
        {"erf(self)", TN_DTYPES_FLOATING, TN_POINTWISE | TN_POINTWISE_FLOAT},
        {"self == other", TN_DTYPES_ALL, TN_POINTWISE | TN_POINTWISE_BOOL},
        {"lshift(self, other)", TN_DTYPES_INTEGRAL, TN_POINTWISE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        parsed p = parse(rows[i].text, "");
        cr_assert(p.ok, "%s", rows[i].text);
        cr_expect_eq(p.pointwise.dtypes, rows[i].dtypes, "%s: %x", rows[i].text,
                     p.pointwise.dtypes);
        cr_expect_eq(p.pointwise.kind, rows[i].kind, "%s: %d", rows[i].text, p.pointwise.kind);
        drop(&p);
    }
}

Test(codegen_expr, dtypes_that_exclude_each_other)
{
    parsed p = parse("erf(self)", "  dtypes: integral\n");
    cr_expect_not(p.ok);
    cr_expect(strstr(p.m.diag.items[0].message, "no dtype is left"));
    drop(&p);
}

Test(codegen_expr, prints_what_it_means)
{
    expect_c("self + alpha * other", "f32", "tnm_add_f32(self, tnm_mul_f32(alpha, other))");
    expect_c("self - other - alpha", "f32", "tnm_sub_f32(tnm_sub_f32(self, other), alpha)");
    expect_c("-self * other", "f32", "tnm_mul_f32(tnm_neg_f32(self), other)");
    expect_c("self < 0 || other && alpha", "f32",
             "tnm_logical_or(tnm_lt_f32(self, tnm_number_f32(0)), "
             "tnm_logical_and(tnm_truth_f32(other), tnm_truth_f32(alpha)))");
    expect_c("self ? other : alpha ? 1 : 2", "i8",
             "(tnm_truth_i8(self) ? other : (tnm_truth_i8(alpha) ? tnm_number_i8(1) : "
             "tnm_number_i8(2)))");
    expect_c("!self", "bool", "tnm_logical_not(tnm_truth_bool(self))");
    expect_c("self + n", "f32", "tnm_add_f32(self, n_)"); /* n is the loop's own name */
}

/* One character replaced, one removed, one doubled, everywhere: an error at a place inside, or
 * none. */
Test(codegen_expr, damaged)
{
    static const char text[] =
        "where(self >= 0.5e1, -exp(self) * alpha, !other ? 1 : n / 2) + 0x1f";
    static const char marks[] = "()+-*/!?:,.<>=&|0eax_ %$@{}";
    int refused = 0, taken = 0;
    for (size_t i = 0; i < strlen(text); i++)
        for (size_t k = 0; k < sizeof marks + 1; k++) {
            char damaged[3 * sizeof text];
            int head_n = (int)i;
            if (k < sizeof marks - 1)
                snprintf(damaged, sizeof damaged, "%.*s%c%s", head_n, text, marks[k], text + i + 1);
            else
                snprintf(damaged, sizeof damaged, "%.*s%s", head_n, text,
                         text + i + (k == sizeof marks));
            parsed p = parse(damaged, "");
            cr_expect_eq(p.ok, p.m.diag.n_items == 0, "%s", damaged);
            cr_expect(p.ok || (p.m.diag.items[0].pos.line == 2 &&
                               p.m.diag.items[0].pos.column >= COLUMN &&
                               p.m.diag.items[0].pos.column <= COLUMN + (int)strlen(damaged)),
                      "%s: column %d", damaged, p.ok ? 0 : p.m.diag.items[0].pos.column);
            refused += !p.ok;
            taken += p.ok;
            drop(&p);
        }
    cr_expect(refused > 500 && taken > 50, "%d refused, %d taken", refused, taken);
}

/* docs/schema.md has one row per function, with its operands and dtypes, and no other. */
Test(codegen_expr, the_page_lists_every_function)
{
    char path[4096], line[1024];
    const char *names[128], *source = getenv("TENON_SOURCE");
    int n = (int)cg_word_names(names, 128), rows = 0;
    snprintf(path, sizeof path, "%s/docs/schema.md", source ? source : ".");
    FILE *f = fopen(path, "r");
    cr_assert(f, "%s is absent", path);
    bool seen[128] = {false}, inside = false;
    while (fgets(line, sizeof line, f)) {
        char name[64], operands[64], dtypes[64], result[64];
        if (strstr(line, "| function |"))
            inside = true;
        else if (*line != '|')
            inside = false;
        if (!inside || sscanf(line, "| `%63[a-z0-9_](%63[^)])` | %63[^|] | %63[^|] |", name,
                              operands, dtypes, result) != 4)
            continue;
        const cg_word *w = cg_word_find(name, strlen(name));
        cr_assert(w, "the page has %s, expr_words.c has not", name);
        int arity = 1;
        for (const char *c = operands; *c; c++)
            arity += *c == ',';
        cr_expect_eq(arity, w->arity, "%s: the page gives it %d operands", name, arity);
        cr_expect_eq(strncmp(dtypes, "all ", 4) == 0, w->dtypes == TN_DTYPES_ALL, "%s", name);
        cr_expect_eq(strstr(dtypes, "complex") != NULL || strncmp(dtypes, "all", 3) == 0,
                     (w->dtypes & TN_DTYPES_COMPLEX) != 0, "%s: complex", name);
        cr_expect_eq(strstr(dtypes, "integral") || strstr(dtypes, "real") ||
                         strncmp(dtypes, "all", 3) == 0,
                     (w->dtypes & TN_DTYPES_INTEGRAL) != 0, "%s: integral", name);
        cr_expect_eq(strncmp(result, "bool", 4) == 0, w->gives_bool, "%s: result", name);
        for (int i = 0; i < n; i++)
            seen[i] = seen[i] || strcmp(names[i], name) == 0;
        rows++;
    }
    fclose(f);
    for (int i = 0; i < n; i++)
        cr_expect(seen[i], "docs/schema.md does not list %s", names[i]);
    cr_expect_eq(rows, n);
}

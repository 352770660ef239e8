/* shared.c - every schema that PyTorch publishes: parses, and prints back byte for byte. */
#include "schema_test.h"

#include <time.h>

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns how long parsing took. */
static double round_trip(const char *text, size_t n, bool strict)
{
    char printed[8192];
    tn__arena a = {0};
    tn__schema_error err;
    double start = seconds();
    const tn__schema *s = tn__schema_parse(&a, text, n, strict, &err);
    double took = seconds() - start;
    cr_assert(s, "%.*s\n  column %d: %s", (int)n, text, err.column, err.message);
    size_t m = tn__schema_print(s, printed, sizeof printed);
    cr_expect(m == n && memcmp(printed, text, n) == 0, "%.*s\n  printed as %s", (int)n, text,
              printed);
    tn__arena_free(&a);
    return took;
}

Test(schema_shared, all_registered_schemas)
{
    FILE *f = open_shared("upstream/registered-schemas-1.13.txt");
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    int lines = 0;
    double took = 0;
    if (!f)
        cr_skip_test("no shared data");
    while ((n = getline(&line, &cap, f)) > 0) {
        n -= line[n - 1] == '\n';
        took += round_trip(line, (size_t)n, false);
        lines++;
    }
    cr_expect_eq(lines, 4165);
    fprintf(stderr, "parsed %d schemas in %.1f ms\n", lines, took * 1e3);
    free(line);
    fclose(f);
}

/* The func lines are plain scalars on one line, which needs no YAML reader. */
static void native_functions(const char *name, int expected)
{
    FILE *f = open_shared(name);
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    int count = 0;
    if (!f)
        cr_skip_test("no shared data");
    while ((n = getline(&line, &cap, f)) > 0) {
        if (strncmp(line, "- func: ", 8) != 0)
            continue;
        while (n > 8 && strchr(" \r\n", line[n - 1]))
            n--;
        round_trip(line + 8, (size_t)n - 8, false);
        round_trip(line + 8, (size_t)n - 8, true);
        count++;
    }
    cr_expect_eq(count, expected);
    free(line);
    fclose(f);
}

Test(schema_shared, native_functions_1_13)
{
    native_functions("upstream/native_functions-1.13.yaml", 2493);
}

Test(schema_shared, native_functions_2_4)
{
    native_functions("upstream/native_functions-2.4.yaml", 2614);
}

Test(schema_shared, native_functions_2_9)
{
    native_functions("upstream/native_functions-2.9.yaml", 2658);
}

Test(schema_shared, compat_pairs_as_pytorch_judges_them)
{
    FILE *f = open_shared("schema/compat_pairs.tsv");
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    int rows = -1; /* the header */
    if (!f)
        cr_skip_test("no shared data");
    for (; (n = getline(&line, &cap, f)) > 0; rows++) {
        char *field[5] = {line};
        for (int i = 1; i < 5; i++) {
            char *tab = strchr(field[i - 1], '\t');
            cr_assert(tab);
            *tab = '\0';
            field[i] = tab + 1;
        }
        if (rows < 0)
            continue;
        field[4][strcspn(field[4], "\n")] = '\0';
        tn__arena a = {0};
        const tn__schema *old = parse_text(&a, field[1], false),
                         *now = parse_text(&a, field[2], false);
        cr_assert(old && now, "%s", field[0]);
        tn__compat c, ours;
        tn__schema_compat(old, now, TN__COMPAT_PYTORCH, &c);
        tn__schema_compat(old, now, TN__COMPAT_TENON, &ours);
        cr_expect_str_eq(tn__verdict_name(c.bc.verdict), field[3], "%s", field[0]);
        cr_expect_str_eq(tn__verdict_name(c.fc.verdict), field[4], "%s", field[0]);
        cr_expect(c.bc.verdict == TN__VERDICT_YES || c.bc.reason[0], "%s", field[0]);
        cr_expect(c.fc.verdict == TN__VERDICT_YES || c.fc.reason[0], "%s", field[0]);
        cr_expect(ours.bc.verdict <= c.bc.verdict && ours.fc.verdict <= c.fc.verdict,
                  "%s: our rules say yes where PyTorch's say no", field[0]);
        tn__arena_free(&a);
    }
    cr_expect_eq(rows, 132);
    free(line);
    fclose(f);
}

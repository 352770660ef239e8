/* bench.c - `tenon bench dispatch`: every case is measured; what no count could be had for says
 * why. */
#include <jansson.h>

#include "tool_test.h"

TestSuite(bench, .init = make_folder, .fini = remove_folder);

static const char *const required[] = {"noop",        "add",       "add_out", "add_", "add_scalar",
                                       "add_promote", "transpose", "empty",   "sum",  "mm16"};
enum { REQUIRED = sizeof required / sizeof *required };

static void check_row(const json_t *row, bool *seen)
{
    const char *name = json_string_value(json_object_get(row, "name"));
    const json_t *count = json_object_get(row, "instructions");
    cr_assert(name);
    cr_expect_gt(json_number_value(json_object_get(row, "ns")), 0.1, "%s", name);
    if (json_is_null(count))
        cr_expect(json_object_get(row, "instructions_reason"), "%s", name);
    else
        cr_expect_gt(json_number_value(count), 10.0, "%s", name);
    for (int i = 0; i < REQUIRED; i++)
        seen[i] = seen[i] || strcmp(required[i], name) == 0;
}

Test(bench, dispatch_measures_every_case, .timeout = 300)
{
    bool seen[REQUIRED] = {false};
    cr_expect_eq(run_tenon("bench dispatch --format json"), 0);
    char *out = read_file("out"), *next;
    for (char *line = out; (next = strchr(line, '\n')); line = next + 1) {
        json_t *row = json_loadb(line, (size_t)(next - line), 0, NULL);
        cr_assert(row, "%.100s", line);
        const char *kind = json_string_value(json_object_get(row, "kind"));
        if (strcmp(kind, "bench") == 0)
            check_row(row, seen);
        else
            cr_expect_eq(json_integer_value(json_object_get(row, "failed")), 0);
        json_decref(row);
    }
    for (int i = 0; i < REQUIRED; i++)
        cr_expect(seen[i], "no row for %s", required[i]);
    free(out);
}

Test(bench, wrong_use)
{
    cr_expect_eq(run_tenon("bench"), 2);
    cr_expect_eq(run_tenon("bench no_such_suite"), 2);
    expect_words("err", "needs the name of a suite: dispatch");
}

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
    expect_words("err", "needs the name of a suite, dispatch, or `op`");
    cr_expect_eq(run_tenon("bench op"), 2);
    expect_words("err", "write `tenon bench op NAME`");
    cr_expect_eq(run_tenon("bench op no_such_operator"), 2);
    expect_words("err", "there is no operator 'no_such_operator'");
    cr_expect_eq(run_tenon("bench op view"), 2);
    expect_words("err", "argument 'size' cannot be made up");
    cr_expect_eq(run_tenon("bench op mm"), 1);
    expect_words("err", "self must have 2 dimensions");
    cr_expect_eq(run_tenon("bench op relu --dtype f3"), 2);
    expect_words("err", "unknown dtype 'f3'");
    cr_expect_eq(run_tenon("bench op relu --numel 1,x"), 2);
    expect_words("err", "'x' is no number of elements");
}

Test(bench, op_counts_bytes_of_all_tensors)
{
    cr_assert_eq(run_tenon("bench op add.out --dtype i32 --numel 1000 --format json"), 0);
    char *out = read_file("out");
    json_t *row = json_loads(out, JSON_DISABLE_EOF_CHECK, NULL);
    cr_assert(row, "%s", out);
    double ns = json_number_value(json_object_get(row, "ns"));
    double rate = json_number_value(json_object_get(row, "bytes_per_ns"));
    cr_expect_gt(ns, 0.1);
    cr_expect(ns * rate > 11999 && ns * rate < 12001, "%g bytes", ns * rate);
    json_decref(row);
    free(out);
}

/* bench.c - `tenon bench`: what calls cost, in time and in instructions.
 *
 * A suite is a list of cases (bench_dispatch.c); measuring is bench_measure.c. Instruction counts
 * hold still on a noisy machine, times do not: compare counts, and read times as ratios. */
#include "bench_impl.h"

#include <stdlib.h>
#include <string.h>

#include <tenon/threads.h>

static const char usage[] =
    "usage: tenon bench dispatch [--check] [--format text|json]\n"
    "       tenon bench op NAME ..       (--help says more)\n"
    "\n"
    "Measures one-element calls, one thread: nanoseconds (the least of many short batches) and\n"
    "instructions per call (by callgrind where valgrind is installed, else by the processor's "
    "counter).\n"
    "limit_NAME is the same work in plain C.\n"
    "\n"
    "  --check   fail when a case needs more instructions than its goal\n"
    "\n"
    "Exit status: 0 measured; 1 a case failed, or missed its goal with --check; 2 wrong use.\n";

static void put_number(json_t *row, const char *key, double value)
{
    json_object_set_new(
        row, key, value < 0 ? json_null() : json_real((double)(int64_t)(value * 10 + 0.5) / 10));
}

static void put_json(const bench_case *c, const char *suite, const char *no_count)
{
    json_t *row = json_object();
    json_object_set_new(row, "kind", json_string("bench"));
    json_object_set_new(row, "suite", json_string(suite));
    json_object_set_new(row, "name", json_string(c->name));
    put_number(row, "instructions", c->instructions);
    put_number(row, "ns", c->ns);
    if (c->goal)
        json_object_set_new(row, "goal", json_integer(c->goal));
    if (c->instructions < 0)
        json_object_set_new(row, "instructions_reason",
                            json_string(no_count ? no_count : "the case failed"));
    tool_json_row(row);
}

static void put_text(const bench_case *c)
{
    printf("%-18s", c->name);
    if (c->instructions >= 0)
        printf(" %12.1f", c->instructions);
    else
        printf(" %12s", "-");
    if (c->ns >= 0)
        printf(" %10.1f", c->ns);
    else
        printf(" %10s", "-");
    if (c->goal)
        printf(" %8d%s", c->goal, c->instructions > c->goal ? "  missed" : "");
    putchar('\n');
}

static int report(const bench_case *cases, size_t n, const char *suite, const char *no_count,
                  tool_format format, bool check)
{
    int failed = 0, missed = 0;
    if (format == TOOL_TEXT)
        printf("%-18s %12s %10s %8s\n", "call", "instructions", "ns", "goal");
    for (size_t i = 0; i < n; i++) {
        failed += cases[i].ns < 0;
        missed += cases[i].goal && cases[i].instructions > cases[i].goal;
        if (format == TOOL_JSON)
            put_json(&cases[i], suite, no_count);
        else
            put_text(&cases[i]);
    }
    if (format == TOOL_JSON)
        tool_json_row(json_pack("{s:s, s:i, s:i, s:i}", "kind", "summary", "cases", (int)n,
                                "failed", failed, "missed", missed));
    else if (no_count)
        printf("no instruction counts: %s\n", no_count);
    return failed || (check && missed) ? TOOL_FAILED : TOOL_OK;
}

/* A case that fails is named with its error, once. */
static void complain(const bench_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cases[i].run(1) != TN_OK)
            tool_fail("case %s: %s", cases[i].name, tn_error_last()->message);
}

int tenon_cmd_bench(int argc, char **argv)
{
    const char *format_name = "text", *inner = getenv(BENCH_INNER);
    bool check = false;
    if (argc > 1 && strcmp(argv[1], "op") == 0)
        return bench_op(argc - 1, argv + 1);
    const tool_option options[] = {
        {"--format", &format_name, NULL}, {"--check", NULL, &check}, {0}};
    int n_args = tool_options(argc, argv, options, usage);
    if (n_args < 0)
        return tool_status(n_args);
    tool_format format = tool_format_parse(format_name, "text|json");
    if (format == TOOL_FORMAT_BAD)
        return TOOL_USAGE;
    if (n_args != 1 || strcmp(argv[1], "dispatch") != 0)
        return tool_fail("bench needs the name of a suite, dispatch, or `op` and an operator");
    size_t n;
    if (tn_set_num_threads(1) != TN_OK)
        return tool_fail("%s", tn_error_last()->message);
    bench_case *cases = bench_dispatch_suite(&n);
    if (!cases)
        return TOOL_FAILED;
    if (inner)
        return bench_count_inner(cases, n, strtoll(inner, NULL, 10));
    complain(cases, n);
    bench_time(cases, n);
    const char *no_count = bench_count(cases, n, argv[1]);
    return report(cases, n, argv[1], no_count, format, check);
}

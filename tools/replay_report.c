/* replay_report.c - counts per operator, per reason, and in all; printed as text, JSON Lines or
 * JUnit.
 *
 * Text and JSON print failures as they come (with --verbose every case), then one line per
 * operator, then the totals. JUnit holds one suite per operator. */
#include "replay_impl.h"

#include <stdlib.h>
#include <string.h>

typedef struct counter {
    char *name;
    int states[REPLAY_STATES], metas[REPLAY_METAS];
    char *junit; /* its test cases, as text */
    size_t junit_n;
} counter;

typedef struct counters {
    counter *items;
    size_t n, cap;
} counters;

struct replay_report {
    tool_format format;
    bool verbose, no_memory;
    counters ops, reasons;
    counter total;
    int files, broken;
};

replay_report *replay_report_new(tool_format format, bool verbose)
{
    replay_report *r = calloc(1, sizeof *r);
    if (r)
        *r = (replay_report){.format = format, .verbose = verbose};
    return r;
}

static counter *count_of(replay_report *r, counters *list, const char *name)
{
    for (size_t i = list->n; i-- > 0;) /* the last one, most often */
        if (strcmp(list->items[i].name, name) == 0)
            return &list->items[i];
    if (list->n == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 64;
        counter *more = realloc(list->items, cap * sizeof *more);
        if (!more) {
            r->no_memory = true;
            return NULL;
        }
        list->items = more;
        list->cap = cap;
    }
    char *copy = strdup(name);
    if (!copy) {
        r->no_memory = true;
        return NULL;
    }
    list->items[list->n] = (counter){.name = copy};
    return &list->items[list->n++];
}

/* ---- one case ------------------------------------------------------------------------------- */
static const char *const state_names[REPLAY_STATES] = {"passed", "failed", "unsupported",
                                                       "wrong-upstream", "malformed"};
static const char *const meta_names[REPLAY_METAS] = {"none", "passed", "missing", "data-dependent"};

static void put_case_json(const replay_file *f, const replay_outcome *o, const char *name)
{
    json_t *row = json_object();
    json_object_set_new(row, "kind", json_string("case"));
    json_object_set_new(row, "file", tool_json_text(f->path));
    json_object_set_new(row, "case", json_integer(replay_case_number(f, (size_t)o->index)));
    json_object_set_new(row, "op", tool_json_text(name));
    json_object_set_new(row, "state", json_string(state_names[o->state]));
    json_object_set_new(row, "meta", json_string(meta_names[o->meta]));
    json_object_set_new(row, "reason", tool_json_text(o->reason));
    json_object_set_new(row, "message", tool_json_text(o->message));
    tool_json_row(row);
}

static void put_case_junit(counter *c, const replay_file *f, const replay_outcome *o)
{
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    if (!to)
        return;
    if (c->junit)
        fwrite(c->junit, 1, c->junit_n, to);
    fputs("  <testcase classname=\"", to);
    tool_put_xml(to, c->name);
    fprintf(to, "\" name=\"case %d\"", replay_case_number(f, (size_t)o->index));
    if (o->state == REPLAY_PASSED) {
        fputs("/>\n", to);
    } else {
        bool failed = o->state == REPLAY_FAILED || o->state == REPLAY_MALFORMED;
        fprintf(to, "><%s message=\"", failed ? "failure" : "skipped");
        tool_put_xml(to, failed || !*o->reason ? o->message : o->reason);
        fputs("\"/></testcase>\n", to);
    }
    fclose(to);
    free(c->junit);
    c->junit = text;
    c->junit_n = n;
}

void replay_report_add(replay_report *r, const replay_file *f, const replay_outcome *o)
{
    char name[REPLAY_NAME];
    replay_case_name(f, (size_t)o->index, name);
    counter *op = count_of(r, &r->ops, name);
    counter *reason = *o->reason ? count_of(r, &r->reasons, o->reason) : NULL;
    if (!op)
        return;
    op->states[o->state]++, r->total.states[o->state]++;
    op->metas[o->meta]++, r->total.metas[o->meta]++;
    if (reason)
        reason->states[o->state]++;
    bool failed = o->state == REPLAY_FAILED || o->state == REPLAY_MALFORMED;
    if (r->format == TOOL_JUNIT)
        put_case_junit(op, f, o);
    else if (!failed && !r->verbose)
        return;
    else if (r->format == TOOL_JSON)
        put_case_json(f, o, name);
    else
        printf("%s %s case %d%s%s\n", state_names[o->state], name,
               replay_case_number(f, (size_t)o->index), *o->message ? ": " : "", o->message);
}

void replay_report_broken(replay_report *r, const char *path, const char *why)
{
    r->broken++;
    tool_fail("%s %s", path, why);
}

/* ---- totals --------------------------------------------------------------------------------- */
static int failures(const counter *c)
{
    return c->states[REPLAY_FAILED] + c->states[REPLAY_MALFORMED];
}

static json_t *counts_json(const char *kind, const counter *c)
{
    json_t *row = json_object();
    json_object_set_new(row, "kind", json_string(kind));
    if (c->name)
        json_object_set_new(row, "op", tool_json_text(c->name));
    json_object_set_new(row, "passed", json_integer(c->states[REPLAY_PASSED]));
    json_object_set_new(row, "failed", json_integer(failures(c)));
    json_object_set_new(row, "unsupported", json_integer(c->states[REPLAY_UNSUPPORTED]));
    json_object_set_new(row, "wrong_upstream", json_integer(c->states[REPLAY_KNOWN]));
    json_object_set_new(row, "meta_passed", json_integer(c->metas[REPLAY_META_PASSED]));
    json_object_set_new(row, "meta_missing", json_integer(c->metas[REPLAY_META_MISSING]));
    json_object_set_new(row, "meta_data_dependent", json_integer(c->metas[REPLAY_META_DATA]));
    return row;
}

static bool ran(const counter *c)
{
    return c->states[REPLAY_PASSED] + failures(c) + c->states[REPLAY_KNOWN] > 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const counter *)a)->name, ((const counter *)b)->name);
}

static void put_op_text(const counter *c)
{
    printf("%-40s %6d passed %6d failed %6d unsupported", c->name, c->states[REPLAY_PASSED],
           failures(c), c->states[REPLAY_UNSUPPORTED]);
    if (c->states[REPLAY_KNOWN])
        printf(" %6d wrong upstream", c->states[REPLAY_KNOWN]);
    if (c->metas[REPLAY_META_MISSING])
        printf(" (%d not on meta)", c->metas[REPLAY_META_MISSING]);
    putchar('\n');
}

static void put_total_text(const replay_report *r)
{
    printf("\nnot compared, by reason:\n");
    for (size_t i = 0; i < r->reasons.n; i++)
        printf("%8d %s\n",
               r->reasons.items[i].states[REPLAY_UNSUPPORTED] +
                   r->reasons.items[i].states[REPLAY_KNOWN],
               r->reasons.items[i].name);
    printf("meta: %d passed, %d without a kernel there, %d data-dependent\n",
           r->total.metas[REPLAY_META_PASSED], r->total.metas[REPLAY_META_MISSING],
           r->total.metas[REPLAY_META_DATA]);
    printf("total: %d passed, %d failed, %d unsupported, %d wrong upstream\n",
           r->total.states[REPLAY_PASSED], failures(&r->total), r->total.states[REPLAY_UNSUPPORTED],
           r->total.states[REPLAY_KNOWN]);
}

static void put_reasons_json(const replay_report *r)
{
    for (size_t i = 0; i < r->reasons.n; i++) {
        const counter *c = &r->reasons.items[i];
        json_t *row = json_object();
        json_object_set_new(row, "kind", json_string("reason"));
        json_object_set_new(row, "reason", tool_json_text(c->name));
        json_object_set_new(row, "unsupported", json_integer(c->states[REPLAY_UNSUPPORTED]));
        json_object_set_new(row, "wrong_upstream", json_integer(c->states[REPLAY_KNOWN]));
        tool_json_row(row);
    }
}

static void put_suites(const replay_report *r)
{
    puts("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>");
    for (size_t i = 0; i < r->ops.n; i++) {
        const counter *c = &r->ops.items[i];
        int skipped = c->states[REPLAY_UNSUPPORTED] + c->states[REPLAY_KNOWN];
        fputs(" <testsuite name=\"", stdout);
        tool_put_xml(stdout, c->name);
        printf("\" tests=\"%d\" failures=\"%d\" skipped=\"%d\">\n",
               c->states[REPLAY_PASSED] + failures(c) + skipped, failures(c), skipped);
        if (c->junit)
            fwrite(c->junit, 1, c->junit_n, stdout);
        puts(" </testsuite>");
    }
    puts("</testsuites>");
}

static void put_all(replay_report *r)
{
    if (r->format == TOOL_JUNIT) {
        put_suites(r);
        return;
    }
    for (size_t i = 0; i < r->ops.n; i++) {
        const counter *c = &r->ops.items[i];
        if (r->format == TOOL_JSON)
            tool_json_row(counts_json("op", c));
        else if (r->verbose || ran(c))
            put_op_text(c);
    }
    if (r->format == TOOL_TEXT) {
        put_total_text(r);
        return;
    }
    put_reasons_json(r);
    tool_json_row(counts_json("summary", &r->total));
}

static void free_counters(counters *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->items[i].name);
        free(list->items[i].junit);
    }
    free(list->items);
}

int replay_report_end(replay_report *r)
{
    int cases = 0, status = failures(&r->total) ? TOOL_FAILED : TOOL_OK;
    for (int i = 0; i < REPLAY_STATES; i++)
        cases += r->total.states[i];
    if (r->ops.n)
        qsort(r->ops.items, r->ops.n, sizeof *r->ops.items, by_name);
    if (cases || !r->broken)
        put_all(r);
    if (r->no_memory)
        status = tool_fail("out of memory");
    else if (r->broken)
        status = TOOL_USAGE;
    else if (cases == 0)
        status = tool_fail("no case matched");
    else if (!ran(&r->total))
        status = tool_fail("none of the %d cases could be run here", cases);
    free_counters(&r->ops);
    free_counters(&r->reasons);
    free(r);
    return status;
}

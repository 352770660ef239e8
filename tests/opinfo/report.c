/* report.c - the run as a table for people, and as JSON Lines for machines; report_pages.c has
 * JUnit and HTML. */
#include "report.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "tools/tool.h"

static const char letters[OI_STATES + 1] = "PFCTEuDMng";

bool oi_is_red(const oi_record *r)
{
    return r->r.state != OI_PASS && !r->r.expected;
}

oi_totals oi_count(const oi_run *run)
{
    oi_totals t = {.operators = run->n_rows};
    for (size_t k = 0; k < run->n; k++) {
        t.by_state[run->records[k].r.state]++;
        t.expected += run->records[k].r.state == OI_UNSUPPORTED && run->records[k].r.expected;
    }
    t.by_state[OI_NOT_RUN] += run->n_uncovered;
    return t;
}

int oi_exit_status(const oi_totals *t, const oi_run *run)
{
    if (run->n == 0)
        return TOOL_USAGE;
    for (size_t k = 0; k < run->n; k++)
        if (oi_is_red(&run->records[k]))
            return TOOL_FAILED;
    if (run->n_uncovered)
        return TOOL_FAILED;
    return t->by_state[OI_PASS] ? TOOL_OK : TOOL_USAGE;
}

const char *oi_case_id(const oi_record *r, char *buf, size_t n)
{
    snprintf(buf, n, "%s/%s/%s/%s", r->c.row->op, r->c.target->name, oi_dtype_name(r->c.dtype),
             oi_column_name(r->r.column));
    return buf;
}

const char *oi_repro(const oi_run *run, const oi_record *r, char *buf, size_t n)
{
    char id[160], sample[16] = "", plugin[600] = "", schema[600] = "";
    if (r->r.sample >= 0)
        snprintf(sample, sizeof sample, "/%d", r->r.sample);
    if (run->plugin)
        snprintf(plugin, sizeof plugin, " --plugin %s", run->plugin);
    if (run->plugin && run->schema)
        snprintf(schema, sizeof schema, " --schema %s", run->schema);
    snprintf(buf, n, "tenon opinfo --case %s%s --seed %llu%s%s%s", oi_case_id(r, id, sizeof id),
             sample, (unsigned long long)run->seed, run->slow ? " --slow" : "", plugin, schema);
    return buf;
}

/* ---- text ------------------------------------------------------------------------------------ */
/* The worst state of the cases of one operator, device and dtype. */
static char cell(const oi_run *run, const oi_row *row, const oi_target *target, tn_dtype d)
{
    static const int rank[OI_STATES] = {
        [OI_PASS] = 1,  [OI_NOT_RUN] = 2,    [OI_UNSUPPORTED] = 3, [OI_UNDECLARED] = 4,
        [OI_ERROR] = 5, [OI_FAIL] = 6,       [OI_MISTRUSTED] = 7,  [OI_TIMEOUT] = 8,
        [OI_CRASH] = 9, [OI_NO_GRADIENT] = 4};
    int worst = -1;
    bool expected = false;
    for (size_t k = 0; k < run->n; k++) {
        const oi_record *r = &run->records[k];
        if (r->c.row != row || r->c.target != target || r->c.dtype != d ||
            (r->r.column == OI_JVP && r->r.expected))
            continue;
        if (worst < 0 || rank[r->r.state] > rank[worst]) {
            worst = r->r.state;
            expected = r->r.expected;
        }
    }
    return worst < 0 ? ' ' : worst == OI_UNSUPPORTED && expected ? '.' : letters[worst];
}

static void put_matrix(const oi_run *run, FILE *to)
{
    fprintf(to, "%-28s %-6s", "operator", "device");
    for (tn_dtype d = 0; d < TN_DTYPE_COUNT; d++)
        if (run->dtypes & TN_DTYPE_BIT(d))
            fprintf(to, " %*s", (int)strlen(oi_dtype_name(d)), oi_dtype_name(d));
    fputc('\n', to);
    for (size_t k = 0; k < run->n_rows; k++)
        for (int t = 0; t < run->n_targets; t++) {
            fprintf(to, "%-28s %-6s", run->rows[k]->op, run->targets[t].name);
            for (tn_dtype d = 0; d < TN_DTYPE_COUNT; d++)
                if (run->dtypes & TN_DTYPE_BIT(d))
                    fprintf(to, " %*c", (int)strlen(oi_dtype_name(d)),
                            cell(run, run->rows[k], &run->targets[t], d));
            fputc('\n', to);
        }
    fputs("P pass  F fail  C crash  T timeout  E error  M mistrusted  D undeclared  u unsupported  "
          "n not run  g no gradient  "
          ". not defined for the dtype\n",
          to);
}

static bool is_saved(const oi_run *run, const oi_record *r, char *path, size_t n)
{
    return run->save && oi_is_red(r) && access(oi_replay_path(run, r, path, n), F_OK) == 0;
}

static void put_failures(const oi_run *run, FILE *to)
{
    char id[160], repro[1500], path[4096];
    for (size_t k = 0; k < run->n; k++) {
        const oi_record *r = &run->records[k];
        if (!oi_is_red(r))
            continue;
        fprintf(to, "\n%s %s: %s\n", oi_state_name(r->r.state), oi_case_id(r, id, sizeof id),
                r->r.message);
        if (r->r.state == OI_FAIL || r->r.state == OI_MISTRUSTED)
            fprintf(to, "    %.4g ulp, absolute %.4g, normalised %.4g, limit %g\n", r->r.ulp,
                    r->r.absolute, r->r.normalised, r->r.limit);
        fprintf(to, "    %s\n", oi_repro(run, r, repro, sizeof repro));
        if (is_saved(run, r, path, sizeof path))
            fprintf(to, "    tenon replay%s%s %s\n", run->plugin ? " --plugin " : "",
                    run->plugin ? run->plugin : "", path);
    }
}

typedef struct worst {
    const char *family;
    double observed[TN_DTYPE_COUNT];
} worst;

/* The observed worst of what passed, beside its limit: a limit far above is too lax. */
static void put_tolerances(const oi_run *run, FILE *to)
{
    worst families[32];
    int n = 0;
    for (size_t k = 0; k < run->n; k++) {
        const oi_record *r = &run->records[k];
        if (r->r.state != OI_PASS || oi_is_integral(r->c.dtype) || !(r->r.limit > 0) ||
            r->r.limit != oi_tolerance(r->c.row->tolerance, r->c.dtype))
            continue;
        int f = 0;
        while (f < n && strcmp(families[f].family, r->c.row->tolerance) != 0)
            f++;
        if (f == n && n < 32)
            families[n++] = (worst){.family = r->c.row->tolerance};
        double *o = &families[f].observed[r->c.dtype];
        *o = r->r.normalised > *o ? r->r.normalised : *o;
    }
    if (n)
        fprintf(to, "\nobserved worst / limit, in last places\n%-12s", "family");
    for (tn_dtype d = TN_F16; n && d < TN_DTYPE_COUNT; d++)
        fprintf(to, " %14s", oi_dtype_name(d));
    for (int f = 0; f < n; f++) {
        fprintf(to, "\n%-12s", families[f].family);
        for (tn_dtype d = TN_F16; d < TN_DTYPE_COUNT; d++)
            fprintf(to, "  %6.3f / %-4g", families[f].observed[d],
                    oi_tolerance(families[f].family, d));
    }
    if (n)
        fputc('\n', to);
}

/* What has no derivative and says so clearly is no failure everywhere, but it is told. */
static void put_without(const oi_run *run, oi_column column, const char *what, FILE *to)
{
    const oi_row *last = NULL;
    int n = 0;
    for (size_t k = 0; k < run->n; k++) {
        const oi_record *r = &run->records[k];
        if (r->r.column != (int)column || !r->r.expected || r->r.state == OI_PASS ||
            r->c.row == last)
            continue;
        if (!n++)
            fprintf(to, "\nwithout %s: ", what);
        fprintf(to, "%s%s", n > 1 ? ", " : "", r->c.row->op);
        last = r->c.row;
    }
    if (n)
        fputc('\n', to);
}

void oi_report_text(const oi_run *run, FILE *to)
{
    oi_totals t = oi_count(run);
    put_matrix(run, to);
    put_failures(run, to);
    put_tolerances(run, to);
    for (size_t k = 0; k < run->n_uncovered; k++)
        fprintf(to, "%sNOT-RUN %s: it has no OpInfo row\n", k ? "" : "\n", run->uncovered[k]);
    for (size_t k = 0; k < run->n_rows; k++)
        if (run->rows[k]->flags & OI_SELF_CONSISTENT)
            fprintf(to,
                    "\nnote: %s has no reference: its values were compared with itself in float64; "
                    "give %s",
                    run->rows[k]->op, run->schema ? "it one in the schema" : "--schema FILE");
    put_without(run, OI_GRAD, "a gradient", to);
    put_without(run, OI_JVP, "forward mode", to);
    fprintf(to, "\n%zu operators, %zu cases in %.1f s, seed %llu:", t.operators, run->n,
            run->seconds, (unsigned long long)run->seed);
    for (int s = 0; s < OI_STATES; s++)
        if (t.by_state[s])
            fprintf(to, " %zu %s", t.by_state[s], oi_state_name(s));
    if (t.expected)
        fprintf(to, " (%zu of them not defined for the dtype)", t.expected);
    fprintf(to, "\n%s\n", oi_exit_status(&t, run) == TOOL_OK ? "green" : "NOT GREEN");
}

/* ---- JSON Lines ------------------------------------------------------------------------------ */
static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_string(isnan(x) ? "nan" : "inf");
}

static void put_row(const oi_run *run, const oi_record *r)
{
    char repro[1500], path[4096];
    json_t *row = json_object();
    json_object_set_new(row, "kind", json_string("case"));
    json_object_set_new(row, "op", json_string(r->c.row->op));
    json_object_set_new(row, "device", json_string(r->c.target->name));
    json_object_set_new(row, "dtype", json_string(oi_dtype_name(r->c.dtype)));
    json_object_set_new(row, "column", json_string(oi_column_name(r->r.column)));
    json_object_set_new(row, "state", json_string(oi_state_name(r->r.state)));
    json_object_set_new(row, "expected", json_boolean(r->r.expected));
    json_object_set_new(row, "samples", json_integer(r->r.samples));
    json_object_set_new(row, "sample", json_integer(r->r.sample));
    json_object_set_new(row, "ulp", number(r->r.ulp));
    json_object_set_new(row, "absolute", number(r->r.absolute));
    json_object_set_new(row, "normalised", number(r->r.normalised));
    json_object_set_new(row, "limit", number(r->r.limit));
    json_object_set_new(row, "seed", json_integer((json_int_t)run->seed));
    json_object_set_new(row, "message", tool_json_text(r->r.message));
    json_object_set_new(row, "repro", tool_json_text(oi_repro(run, r, repro, sizeof repro)));
    if (is_saved(run, r, path, sizeof path))
        json_object_set_new(row, "replay", tool_json_text(path));
    tool_json_row(row);
}

static void key_of(oi_state s, char *buf, size_t n)
{
    static const char *const keys[OI_STATES] = {
        "passed",      "failed",     "crashed",    "timeout", "errors",
        "unsupported", "undeclared", "mistrusted", "not_run", "no_gradient"};
    snprintf(buf, n, "%s", keys[s]);
}

void oi_report_json(const oi_run *run)
{
    oi_totals t = oi_count(run);
    for (size_t k = 0; k < run->n; k++)
        put_row(run, &run->records[k]);
    for (size_t k = 0; k < run->n_uncovered; k++)
        tool_json_row(json_pack("{s:s, s:s, s:s, s:s}", "kind", "case", "op", run->uncovered[k],
                                "state", "NOT-RUN", "message", "it has no OpInfo row"));
    json_t *sum = json_object();
    json_object_set_new(sum, "kind", json_string("summary"));
    for (int s = 0; s < OI_STATES; s++) {
        char key[24];
        key_of(s, key, sizeof key);
        json_object_set_new(sum, key, json_integer((json_int_t)t.by_state[s]));
    }
    json_object_set_new(sum, "not_defined", json_integer((json_int_t)t.expected));
    json_object_set_new(sum, "operators", json_integer((json_int_t)t.operators));
    json_object_set_new(sum, "seconds", json_real(run->seconds));
    json_object_set_new(sum, "seed", json_integer((json_int_t)run->seed));
    json_object_set_new(sum, "green", json_boolean(oi_exit_status(&t, run) == TOOL_OK));
    tool_json_row(sum);
}

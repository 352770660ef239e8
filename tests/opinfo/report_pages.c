/* report_pages.c - the run for other programs' pages: JUnit for CI, and an HTML support matrix
 * stamped with date and commit (TENON_COMMIT or GITHUB_SHA, where a CI sets them). */
#include "report.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/tool.h"

void oi_report_junit(const oi_run *run, FILE *to)
{
    char repro[1500];
    oi_totals t = oi_count(run);
    size_t bad = 0;
    for (size_t k = 0; k < run->n; k++)
        bad += oi_is_red(&run->records[k]);
    fprintf(to,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"opinfo\" tests=\"%zu\" "
            "failures=\"%zu\" "
            "skipped=\"%zu\" time=\"%.3f\">\n",
            run->n, bad, t.expected, run->seconds);
    for (size_t k = 0; k < run->n; k++) {
        const oi_record *r = &run->records[k];
        fputs("  <testcase classname=\"opinfo.", to);
        tool_put_xml(to, r->c.row->op);
        fprintf(to, "\" name=\"%s/%s/%s\"", r->c.target->name, oi_dtype_name(r->c.dtype),
                oi_column_name(r->r.column));
        if (r->r.state == OI_PASS) {
            fputs("/>\n", to);
            continue;
        }
        fprintf(to, ">\n    <%s message=\"%s: ", oi_is_red(r) ? "failure" : "skipped",
                oi_state_name(r->r.state));
        tool_put_xml(to, r->r.message);
        fputs("\">", to);
        tool_put_xml(to, oi_repro(run, r, repro, sizeof repro));
        fprintf(to, "</%s>\n  </testcase>\n", oi_is_red(r) ? "failure" : "skipped");
    }
    fputs("</testsuite>\n", to);
}

static const char *colour(oi_state s, bool expected)
{
    switch (s) {
    case OI_PASS:
        return "#bfe8bf";
    case OI_UNSUPPORTED:
        return expected ? "#eeeeee" : "#ffe9a8";
    case OI_NOT_RUN:
        return "#ffffff";
    case OI_UNDECLARED:
        return "#ffd28a";
    default:
        return "#f4a6a6";
    }
}

static const oi_record *worst_of(const oi_run *run, const oi_row *row, const oi_target *t,
                                 tn_dtype d)
{
    const oi_record *worst = NULL;
    for (size_t k = 0; k < run->n; k++) {
        const oi_record *r = &run->records[k];
        if (r->c.row == row && r->c.target == t && r->c.dtype == d &&
            (!worst || (r->r.state != OI_PASS && worst->r.state == OI_PASS)))
            worst = r;
    }
    return worst;
}

static void put_cell(const oi_record *r, FILE *to)
{
    if (!r) {
        fputs("<td>not tested</td>", to);
        return;
    }
    fprintf(to, "<td style=\"background:%s\" title=\"", colour(r->r.state, r->r.expected));
    tool_put_xml(to, r->r.message);
    fprintf(to, "\">%s</td>",
            r->r.state == OI_UNSUPPORTED && r->r.expected ? "-" : oi_state_name(r->r.state));
}

void oi_report_html(const oi_run *run, FILE *to)
{
    char date[32];
    time_t now = time(NULL);
    const char *commit = getenv("TENON_COMMIT") ? getenv("TENON_COMMIT") : getenv("GITHUB_SHA");
    strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", gmtime(&now));
    fprintf(to,
            "<!doctype html><meta charset=\"utf-8\"><title>Tenon: support "
            "matrix</title>\n<style>table{border-collapse:"
            "collapse;font:12px monospace}td,th{border:1px solid #ccc;padding:2px "
            "5px}</style>\n<h1>Support matrix</h1>"
            "<p>%s, commit ",
            date);
    tool_put_xml(to, commit ? commit : "unknown");
    fprintf(to,
            ", seed %llu. Point at a cell for its reason; - means that the operator is not defined "
            "for the dtype.</p>\n"
            "<table><tr><th>operator<th>device",
            (unsigned long long)run->seed);
    for (tn_dtype d = 0; d < TN_DTYPE_COUNT; d++)
        if (run->dtypes & TN_DTYPE_BIT(d))
            fprintf(to, "<th>%s", oi_dtype_name(d));
    for (size_t k = 0; k < run->n_rows; k++)
        for (int t = 0; t < run->n_targets; t++) {
            fputs("</tr>\n<tr><td>", to);
            tool_put_xml(to, run->rows[k]->op);
            fprintf(to, "</td><td>%s</td>", run->targets[t].name);
            for (tn_dtype d = 0; d < TN_DTYPE_COUNT; d++)
                if (run->dtypes & TN_DTYPE_BIT(d))
                    put_cell(worst_of(run, run->rows[k], &run->targets[t], d), to);
        }
    fputs("</tr></table>\n", to);
}

/* schema_compat.c - `tenon schema compat`: verdicts on one pair of schemas, or on a table of them.
 */
#include "schema_impl.h"

#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: tenon schema compat OLD NEW [--rules tenon|pytorch] [--format text|json]\n"
    "       tenon schema compat --pairs FILE [--rules ..] [--format ..]\n"
    "\n"
    "May the schema OLD become NEW? Backward: what was written against OLD runs with\n"
    "NEW. Forward: what is written against NEW, without the new defaulted arguments,\n"
    "runs with OLD.\n"
    "\n"
    "  --pairs FILE   tab-separated; its header names the columns `old` and `new`,\n"
    "                 others are ignored. Out come a header and a line per pair:\n"
    "                 bc, fc (yes, no or error), reason\n"
    "  --rules R      tenon (default): what would break a caller or a stored program\n"
    "                 (docs/schema-compat.md); pytorch: PyTorch's verdicts, holes\n"
    "                 included; error where its own check crashes\n"
    "\n"
    "Exit status 1: not backward compatible (one pair), or a text in the table is no\n"
    "schema. 2: wrong use.\n";

/* Verdicts on one pair of texts. A text that is no schema makes both verdicts "error", with the
 * parser's message. */
static bool judge(const char *old, const char *now, tn__compat_rules rules, tn__compat *out)
{
    tn__arena a = {0};
    tn__schema_error err;
    const tn__schema *s = tn__schema_parse(&a, old, strlen(old), false, &err);
    const char *which = s ? "new" : "old";
    const tn__schema *t = s ? tn__schema_parse(&a, now, strlen(now), false, &err) : NULL;
    memset(out, 0, sizeof *out);
    if (t) {
        tn__schema_compat(s, t, rules, out);
    } else {
        out->bc.verdict = out->fc.verdict = TN__VERDICT_ERROR;
        snprintf(out->bc.reason, sizeof out->bc.reason, "the %s schema, column %d: %.320s", which,
                 err.column, err.message);
        out->fc = out->bc;
    }
    tn__arena_free(&a);
    return t != NULL;
}

/* Both reasons in one text, and what the frame has to say when nothing breaks. */
static void join_reasons(const tn__compat *c, char *buf, size_t cap)
{
    bool bc = c->bc.verdict != TN__VERDICT_YES, fc = c->fc.verdict != TN__VERDICT_YES;
    bool frame = !bc && c->frame.verdict != TN__VERDICT_YES && c->frame.reason[0];
    if (bc && fc && strcmp(c->bc.reason, c->fc.reason) == 0)
        snprintf(buf, cap, "%s", c->bc.reason);
    else
        snprintf(buf, cap, "%s%s%s%s%s", bc ? "backward: " : "", bc ? c->bc.reason : "",
                 bc && fc ? "; " : "", fc ? "forward: " : "", fc ? c->fc.reason : "");
    size_t n = strlen(buf);
    if (frame)
        snprintf(buf + n, cap - n, "%sframe: %s", n ? "; " : "", c->frame.reason);
    for (char *p = buf; *p; p++)
        if (*p == '\t' || *p == '\n' || *p == '\r')
            *p = ' ';
}

static void print_json(const char *old, const char *now, const tn__compat *c)
{
    char reason[1300];
    join_reasons(c, reason, sizeof reason);
    tool_json_row(json_pack("{s:s, s:o, s:o, s:s, s:s, s:s, s:o, s:o}", "kind", "pair", "old",
                            tool_json_text(old), "new", tool_json_text(now), "bc",
                            tn__verdict_name(c->bc.verdict), "fc", tn__verdict_name(c->fc.verdict),
                            "frame", tn__verdict_name(c->frame.verdict), "argument",
                            tool_json_text(c->bc.argument[0] ? c->bc.argument : c->fc.argument),
                            "reason", tool_json_text(reason)));
}

static void print_side(const char *name, const tn__compat_side *side)
{
    printf("%s %s%s%s\n", name, tn__verdict_name(side->verdict), side->reason[0] ? ": " : "",
           side->reason);
}

static int one_pair(const char *old, const char *now, tn__compat_rules rules, tool_format format)
{
    tn__compat c;
    if (!judge(old, now, rules, &c))
        return tool_fail("%s", c.bc.reason);
    if (format == TOOL_JSON) {
        print_json(old, now, &c);
    } else {
        print_side("backward", &c.bc);
        print_side("forward ", &c.fc);
        if (c.bc.verdict == TN__VERDICT_YES && c.frame.verdict != TN__VERDICT_YES)
            print_side("frame   ", &c.frame);
    }
    return c.bc.verdict == TN__VERDICT_YES ? TOOL_OK : TOOL_FAILED;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* The index of a column in a header line; -1 when it has none. */
static int find_column(const char *header, const char *name)
{
    size_t n = strlen(name);
    for (int i = 0;; i++) {
        size_t len = strcspn(header, "\t");
        if (len == n && memcmp(header, name, n) == 0)
            return i;
        if (header[len] == '\0')
            return -1;
        header += len + 1;
    }
}

/* A copy of the index-th field of a line; the caller frees it. "" when the line has fewer. */
static char *field(const char *line, int index)
{
    while (index > 0 && *line) {
        line += strcspn(line, "\t");
        line += *line == '\t';
        index--;
    }
    return strndup(line, strcspn(line, "\t"));
}

typedef struct table {
    tn__compat_rules rules;
    tool_format format;
    int old, now; /* columns */
    int n, n_bc, n_fc, n_unread;
} table;

static void table_row(table *t, const char *line)
{
    char reason[1300];
    tn__compat c;
    char *old = field(line, t->old), *now = field(line, t->now);
    t->n++;
    t->n_unread += !old || !now || !judge(old, now, t->rules, &c);
    if (old && now) {
        t->n_bc += c.bc.verdict == TN__VERDICT_YES;
        t->n_fc += c.fc.verdict == TN__VERDICT_YES;
        join_reasons(&c, reason, sizeof reason);
        if (t->format == TOOL_JSON)
            print_json(old, now, &c);
        else
            printf("%s\t%s\t%s\n", tn__verdict_name(c.bc.verdict), tn__verdict_name(c.fc.verdict),
                   reason);
    }
    free(old);
    free(now);
}

/* Cuts one line, without its line end, off *text. */
static char *cut_line(char **text)
{
    char *line = *text, *end = strchr(line, '\n');
    *text = end ? end + 1 : line + strlen(line);
    if (end)
        *end = '\0';
    line[strcspn(line, "\r")] = '\0';
    return line;
}

static int read_table(table *t, char *text, const char *path)
{
    const char *header = cut_line(&text);
    t->old = find_column(header, "old");
    t->now = find_column(header, "new");
    if (t->old < 0 || t->now < 0)
        return tool_fail("%s:1:1: the header has no column '%s'; write a tab-separated header with "
                         "`old` and `new`",
                         path, t->old < 0 ? "old" : "new");
    if (t->format == TOOL_TEXT)
        puts("bc\tfc\treason");
    while (*text) {
        const char *line = cut_line(&text);
        if (*line)
            table_row(t, line);
    }
    if (t->format == TOOL_JSON)
        tool_json_row(json_pack("{s:s, s:i, s:i, s:i, s:i}", "kind", "summary", "pairs", t->n,
                                "backward", t->n_bc, "forward", t->n_fc, "unreadable",
                                t->n_unread));
    if (!t->n)
        return tool_fail("%s has no pairs", path);
    return t->n_unread ? TOOL_FAILED : TOOL_OK;
}

int schema_cmd_compat(int argc, char **argv)
{
    const char *pairs = NULL, *rules_name = "tenon", *format_name = "text";
    const tool_option options[] = {{"--pairs", &pairs, NULL},
                                   {"--rules", &rules_name, NULL},
                                   {"--format", &format_name, NULL},
                                   {0}};
    table t = {0};
    int n = tool_options(argc, argv, options, usage);
    if (n < 0)
        return tool_status(n);
    t.format = tool_format_parse(format_name, "text|json");
    if (t.format == TOOL_FORMAT_BAD || !schema_rules_parse(rules_name, &t.rules))
        return TOOL_USAGE;
    if (n != (pairs ? 0 : 2))
        return tool_fail(
            "schema compat needs two schemas, OLD and NEW, or --pairs FILE; --help says more");
    if (!pairs)
        return one_pair(argv[1], argv[2], t.rules, t.format);
    size_t size = 0;
    char *text = tool_read_file(pairs, &size);
    int status = text ? read_table(&t, text, pairs) : TOOL_USAGE;
    free(text);
    return status;
}

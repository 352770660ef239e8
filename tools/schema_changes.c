/* schema_changes.c - two sets of operators, merged by key: what was added, removed, changed,
 * broken.
 *
 * The sets are sorted, so one pass finds every change; each is judged, matched with the allow-list,
 * and printed at once by the format's own function. */
#include "schema_impl.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef enum change_kind {
    ADDED,
    REMOVED,
    COMPATIBLE,
    BREAK,
    N_KINDS,
} change_kind;

static const char *const kind_names[] = {"added", "removed", "compatible", "break"};

typedef struct change {
    change_kind kind;
    const schema_op *old, *now; /* NULL: not there */
    tn__compat compat;          /* of COMPATIBLE and BREAK */
    const schema_allowed *allowed;
    const char *arguments[8]; /* names of what changed: the one that breaks first */
    int n_arguments;
    char text[1200]; /* what happened, in words */
} change;

typedef struct report {
    const schema_ops *old, *now;
    schema_allow *allow;
    tool_format format;
    int count[N_KINDS];
    int n_allowed, n_failed,
        n_stale; /* breaks covered, breaks not covered, allow-list entries at fault */
} report;

static const char *key_of(const change *c)
{
    return c->old ? c->old->key : c->now->key;
}

static void say(change *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(change *c, const char *format, ...)
{
    size_t n = strlen(c->text);
    va_list ap;
    va_start(ap, format);
    vsnprintf(c->text + n, sizeof c->text - n, format, ap);
    va_end(ap);
}

/* "ns::name" of a key, to find an operator's other overloads. */
static size_t stem(const char *key)
{
    return strcspn(key, ".");
}

/* ATen's generator may still make the operator, though no entry of its own declares it any more. */
static const char *autogen_of(const schema_ops *ops, const char *op)
{
    for (int i = 0; ops->yaml && i < ops->yaml->n_entries; i++) {
        const cg_entry *e = &ops->yaml->entries[i];
        for (int k = 0; k < e->n_autogen; k++)
            if (e->op && strcmp(e->autogen[k].text, op) == 0)
                return e->op;
    }
    return NULL;
}

/* Removing an overload breaks stored programs that name it, whatever else could serve the call. */
static void explain_removal(const report *r, change *c)
{
    size_t n = stem(c->old->key);
    const char *separator = "; remaining candidates: ";
    say(c, "the operator was removed, and stored programs name it");
    for (int i = 0; i < r->now->n; i++) {
        const char *key = r->now->items[i].key;
        if (stem(key) != n || strncmp(key, c->old->key, n) != 0)
            continue;
        say(c, "%s%s", separator, key);
        separator = ", ";
    }
    const char *plain = strstr(c->old->key, "::"), *maker = autogen_of(r->now, plain + 2);
    if (maker)
        say(c, "; '%s' lists it under autogen, so its schema can no longer be seen here", maker);
    for (int i = 0; i < r->now->n; i++)
        if (strcmp(strstr(r->now->items[i].key, "::"), plain) == 0)
            say(c, "; another namespace has %s", r->now->items[i].key);
}

static void name_argument(change *c, const char *name)
{
    enum { ROOM = sizeof c->arguments / sizeof c->arguments[0] };
    for (int i = 0; i < c->n_arguments; i++)
        if (strcmp(c->arguments[i], name) == 0)
            return;
    if (*name && c->n_arguments < ROOM)
        c->arguments[c->n_arguments++] = name;
}

static const tn__arg *find_argument(const tn__schema *s, const char *name)
{
    for (int i = 0; i < s->n_args; i++)
        if (strcmp(s->args[i].name, name) == 0)
            return &s->args[i];
    return NULL;
}

static void describe_argument(change *c, const tn__arg *old, const tn__arg *now)
{
    char a[200], b[200];
    const char *comma = c->text[0] ? ", " : "", *was = old->def ? old->def->source : "none",
               *is = now->def ? now->def->source : "none";
    tn__type_print(old->type, a, sizeof a);
    tn__type_print(now->type, b, sizeof b);
    if (strcmp(a, b) != 0)
        say(c, "%s'%s' from %s to %s", comma, now->name, a, b);
    else if (old->kwonly != now->kwonly)
        say(c, "%s'%s' %s", comma, now->name, now->kwonly ? "only by keyword" : "by position, too");
    else if (strcmp(was, is) != 0)
        say(c, "%s'%s' default from %s to %s", comma, now->name, was, is);
    else
        return;
    name_argument(c, now->name);
}

/* What differs, argument by argument, whether it matters or not. */
static void describe(change *c)
{
    const tn__schema *old = c->old->schema, *now = c->now->schema;
    for (int i = 0; i < now->n_args; i++) {
        const tn__arg *arg = &now->args[i], *before = find_argument(old, arg->name);
        if (before) {
            describe_argument(c, before, arg);
            continue;
        }
        say(c, "%snew '%s'%s%s", c->text[0] ? ", " : "", arg->name, arg->def ? "=" : "",
            arg->def ? arg->def->source : "");
        name_argument(c, arg->name);
    }
    for (int i = 0; i < old->n_args; i++) {
        if (find_argument(now, old->args[i].name))
            continue;
        say(c, "%s'%s' gone", c->text[0] ? ", " : "", old->args[i].name);
        name_argument(c, old->args[i].name);
    }
    if (!c->text[0])
        say(c, "returns or spelling differ");
}

static void explain_change(change *c)
{
    const tn__compat *v = &c->compat;
    if (v->bc.verdict != TN__VERDICT_YES) {
        name_argument(c, v->bc.argument);
        say(c, "%s", v->bc.reason);
    } else {
        describe(c);
    }
    if (v->fc.verdict != TN__VERDICT_YES && strcmp(v->bc.reason, v->fc.reason) != 0)
        say(c, "; forward: %s", v->fc.reason);
    if (v->bc.verdict == TN__VERDICT_YES && v->frame.verdict != TN__VERDICT_YES)
        say(c, "; frame: %s", v->frame.reason);
}

static bool is_break(const change *c)
{
    return c->kind == REMOVED || c->kind == BREAK;
}

static void match_allow_list(report *r, change *c)
{
    c->allowed = is_break(c) ? schema_allow_find(r->allow, key_of(c)) : NULL;
    if (c->allowed && !c->allowed->expired)
        say(c, "; allowed until %s: %s", c->allowed->expires, c->allowed->reason);
    else if (c->allowed)
        say(c, "; the allow-list entry of line %d expired on %s", c->allowed->line,
            c->allowed->expires);
}

static bool same_text(const tn__schema *a, const tn__schema *b)
{
    char x[4096], y[4096];
    tn__schema p = *a, q = *b;
    p.ns_written = q.ns_written = true;
    size_t n = tn__schema_print(&p, x, sizeof x), m = tn__schema_print(&q, y, sizeof y);
    if (n >= sizeof x)
        return strcmp(a->ns, b->ns) == 0 && strcmp(a->text, b->text) == 0;
    return n == m && memcmp(x, y, n) == 0;
}

/* ---- printing -------------------------------------------------------------------------------- */

static json_t *json_arguments(const change *c)
{
    json_t *names = json_array();
    for (int i = 0; i < c->n_arguments; i++)
        json_array_append_new(names, tool_json_text(c->arguments[i]));
    return names;
}

static json_t *schema_text(const schema_op *op)
{
    char text[4096];
    if (!op)
        return json_null();
    size_t n = tn__schema_print(op->schema, text, sizeof text);
    return tool_json_text(n < sizeof text ? text : op->schema->text);
}

static void print_json(const report *r, const change *c, bool covered)
{
    json_t *row = json_object();
    json_object_set_new(row, "kind", json_string(kind_names[c->kind]));
    json_object_set_new(row, "operator", tool_json_text(key_of(c)));
    json_object_set_new(row, "arguments", json_arguments(c));
    if (c->old && c->now) {
        json_object_set_new(row, "bc", json_string(tn__verdict_name(c->compat.bc.verdict)));
        json_object_set_new(row, "fc", json_string(tn__verdict_name(c->compat.fc.verdict)));
        json_object_set_new(row, "frame", json_string(tn__verdict_name(c->compat.frame.verdict)));
    }
    json_object_set_new(row, "reason", tool_json_text(c->text));
    json_object_set_new(row, "allowed", json_boolean(covered));
    json_object_set_new(row, "old", schema_text(c->old));
    json_object_set_new(row, "new", schema_text(c->now));
    json_object_set_new(row, "file", tool_json_text(c->now ? r->now->file : r->old->file));
    json_object_set_new(row, "line", json_integer(c->now ? c->now->line : c->old->line));
    tool_json_row(row);
}

static void print_text(const change *c)
{
    printf("%-10s %s", kind_names[c->kind], key_of(c));
    if (c->kind == ADDED) {
        putchar('\n');
        return;
    }
    for (int i = 0; i < c->n_arguments; i++)
        printf("%s%s", i ? ", " : " [", c->arguments[i]);
    printf("%s: %s\n", c->n_arguments ? "]" : "", c->text);
    if (c->kind != BREAK || same_text(c->old->schema, c->now->schema))
        return;
    printf("           - %s\n           + %s\n", c->old->schema->text, c->now->schema->text);
}

static void print_github(const report *r, const change *c, bool covered)
{
    char message[1400];
    const char *level = !is_break(c) ? "notice" : covered ? "warning" : "error";
    snprintf(message, sizeof message, "%s %s: %s", kind_names[c->kind], key_of(c), c->text);
    if (c->kind != ADDED)
        tool_github(level, r->now->file, c->now ? c->now->line : 1, message);
}

static void print_junit(const change *c, bool covered)
{
    fputs("  <testcase classname=\"schema\" name=\"", stdout);
    tool_put_xml(stdout, key_of(c));
    if (!is_break(c) || covered) {
        puts("\"/>");
        return;
    }
    fputs("\"><failure message=\"", stdout);
    tool_put_xml(stdout, c->text);
    puts("\"/></testcase>");
}

static void print_change(const report *r, const change *c, bool covered)
{
    switch (r->format) {
    case TOOL_JSON:
        print_json(r, c, covered);
        break;
    case TOOL_GITHUB:
        print_github(r, c, covered);
        break;
    case TOOL_JUNIT:
        print_junit(c, covered);
        break;
    default:
        print_text(c);
    }
}

/* ---- the pass -------------------------------------------------------------------------------- */

static void settle(report *r, change *c)
{
    match_allow_list(r, c);
    bool covered = c->allowed && !c->allowed->expired;
    r->count[c->kind]++;
    r->n_allowed += is_break(c) && covered;
    r->n_failed += is_break(c) && !covered;
    print_change(r, c, covered);
}

static void compare(report *r, const schema_op *old, const schema_op *now, tn__compat_rules rules)
{
    change c = {.old = old, .now = now, .kind = !old ? ADDED : !now ? REMOVED : COMPATIBLE};
    if (old && now) {
        if (same_text(old->schema, now->schema))
            return;
        tn__schema_compat(old->schema, now->schema, rules, &c.compat);
        c.kind = c.compat.bc.verdict == TN__VERDICT_YES ? COMPATIBLE : BREAK;
        explain_change(&c);
    } else if (old) {
        explain_removal(r, &c);
    } else {
        say(&c, "a new operator");
    }
    settle(r, &c);
}

static const schema_op *find(const schema_ops *ops, const char *key)
{
    int low = 0, high = ops->n;
    while (low < high) {
        int mid = (low + high) / 2, order = strcmp(key, ops->items[mid].key);
        if (order == 0)
            return &ops->items[mid];
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

static void compare_all(report *r, tn__compat_rules rules)
{
    int i = 0, j = 0;
    while (i < r->old->n || j < r->now->n) {
        int order = i == r->old->n   ? 1
                    : j == r->now->n ? -1
                                     : strcmp(r->old->items[i].key, r->now->items[j].key);
        compare(r, order <= 0 ? &r->old->items[i] : NULL, order >= 0 ? &r->now->items[j] : NULL,
                rules);
        i += order <= 0;
        j += order >= 0;
    }
}

/* A gradient that the old one had, of an operator that both have. */
static void compare_gradients(report *r)
{
    for (int i = 0; i < r->old->n_gradients && r->now->has_gradients; i++) {
        const schema_gradient *g = &r->old->gradients[i];
        const schema_op *old = find(r->old, g->key), *now = find(r->now, g->key);
        if (!now || schema_has_gradient(r->now, g->key, g->argument))
            continue;
        change c = {.old = old ? old : now, .now = now, .kind = BREAK};
        c.compat.bc.verdict = TN__VERDICT_NO;
        name_argument(&c, g->argument);
        say(&c, "the gradient of '%s' is gone, and programs train through it", g->argument);
        settle(r, &c);
    }
}

/* An entry that is expired, or that covers nothing (any more), must leave the list: it would hide a
 * later break. */
static void report_stale(report *r)
{
    for (int i = 0; i < r->allow->n; i++) {
        const schema_allowed *a = &r->allow->items[i];
        char message[400];
        if (a->used && !a->expired)
            continue;
        r->n_stale++;
        snprintf(message, sizeof message, "allow-list entry '%s' %s%s%s%s; remove it", a->pattern,
                 a->expired ? "expired on " : "", a->expired ? a->expires : "",
                 a->expired && !a->used ? " and " : "",
                 a->used ? "" : "is unused: no break of this operator was found");
        if (r->format == TOOL_GITHUB)
            tool_github("error", r->allow->file, a->line, message);
        else if (r->format == TOOL_JSON)
            tool_json_row(json_pack(
                "{s:s, s:o, s:s, s:o, s:o, s:i}", "kind", "allow", "operator",
                tool_json_text(a->pattern), "problem", a->expired ? "expired" : "unused", "message",
                tool_json_text(message), "file", tool_json_text(r->allow->file), "line", a->line));
        else
            fprintf(stderr, "%s:%d:1: %s\n", r->allow->file, a->line, message);
    }
}

static void summarize(const report *r)
{
    if (r->format == TOOL_JSON)
        tool_json_row(json_pack(
            "{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "kind", "summary", "added", r->count[ADDED],
            "removed", r->count[REMOVED], "compatible", r->count[COMPATIBLE], "break",
            r->count[BREAK], "allowed", r->n_allowed, "failed", r->n_failed, "stale", r->n_stale));
    else if (r->format == TOOL_TEXT)
        printf("%d added, %d removed, %d compatible change%s, %d break%s; %d allowed, %d not; %d "
               "allow-list "
               "entr%s at fault\n",
               r->count[ADDED], r->count[REMOVED], r->count[COMPATIBLE],
               r->count[COMPATIBLE] == 1 ? "" : "s", r->count[BREAK],
               r->count[BREAK] == 1 ? "" : "s", r->n_allowed, r->n_failed, r->n_stale,
               r->n_stale == 1 ? "y" : "ies");
    else if (r->format == TOOL_JUNIT)
        puts("</testsuite>");
}

int schema_changes(const schema_ops *old, const schema_ops *now, tn__compat_rules rules,
                   schema_allow *allow, tool_format format)
{
    report r = {.old = old, .now = now, .allow = allow, .format = format};
    if (format == TOOL_JUNIT)
        puts("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"tenon schema\">");
    compare_all(&r, rules);
    compare_gradients(&r);
    if (old->n_gradients && !now->has_gradients)
        fprintf(stderr, "%s lists gradients, which were not looked at; give --derivatives\n",
                old->file);
    report_stale(&r);
    summarize(&r);
    return r.n_failed || r.n_stale ? TOOL_FAILED : TOOL_OK;
}

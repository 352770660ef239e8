/* border_facts.c - the border's items as m4 facts: one macro call each, in the order of the
 * description.
 *
 *     cg_revision(N) cg_fingerprint(N, HEX) cg_names() .. cg_section(TEXT) cg_struct(NAME, DOC) ..
 * cg_struct_end(NAME)
 *
 * What is left to the templates is C; what is decided here is where lines break, because m4 cannot
 * count columns. */
#include "border_impl.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { COLUMNS = 100, COMMENT = 6 /* of a comment's begin and end */, INDENT = 4 };

typedef struct facts {
    bd_border *border;
    cg_text *to;
    int column; /* comments behind declarations stand there, from the end of the indentation; 0:
                   close up */
} facts;

static void put(facts *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(facts *f, const char *format, ...)
{
    char buf[2048];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(buf, sizeof buf, format, args);
    va_end(args);
    if (n < 0 || n >= (int)sizeof buf) {
        f->to->ok = false;
        return;
    }
    cg_text_put_n(f->to, buf, (size_t)n);
}

/* Text broken at spaces so that no line passes the last column; further lines begin with `prefix`.
 */
static void put_wrapped(facts *f, const char *text, int at, const char *prefix)
{
    while (*text) {
        size_t n = strcspn(text, " ");
        if (at + (int)n > COLUMNS - 3 && at > (int)strlen(prefix)) {
            put(f, "\n%s", prefix);
            at = (int)strlen(prefix);
        }
        cg_text_put_n(f->to, text, n);
        at += (int)n + 1;
        text += n;
        while (*text == ' ')
            text++;
        if (*text) {
            size_t next = strcspn(text, " ");
            if (at + (int)next <= COLUMNS - 3)
                cg_text_put(f->to, " ");
        }
    }
}

/* "type " or "type *": what stands before a name. */
static const char *gap(const char *type)
{
    size_t n = strlen(type);
    return n && type[n - 1] == '*' ? "" : " ";
}

/* A comment as three macro arguments: behind the declaration when it fits there, else above it, and
 * the spaces that align the first kind. */
static void put_doc(facts *f, const char *tag, const char *doc, int indent, int used)
{
    char whole[1024];
    if (snprintf(whole, sizeof whole, "%s%s%s", tag, *tag && *doc ? " " : "", doc) >=
        (int)sizeof whole)
        f->to->ok = false;
    int pad = f->column > used ? f->column - used : 0;
    bool behind = indent + used + pad + 1 + COMMENT + (int)strlen(whole) <= COLUMNS;
    char prefix[32];
    snprintf(prefix, sizeof prefix, "%*s * ", indent, "");
    put(f, ", @{%s@}, @{", behind ? whole : "");
    if (!behind)
        put_wrapped(f, whole, indent + 3, prefix);
    put(f, "@}, @{%*s@}", pad, "");
}

/* ---- members --------------------------------------------------------------------------------- */
static void put_plain_params(facts *f, const bd_decl *d)
{
    put(f, "@{");
    for (int i = 0; i < d->n_params; i++)
        put(f, "%s%s%s%s", i ? ", " : "", d->params[i].type, gap(d->params[i].type),
            d->params[i].name);
    put(f, "%s@}", d->variadic ? ", ..." : d->n_params ? "" : "void");
}

static void put_params(facts *f, const bd_decl *d, int at)
{
    char prefix[128];
    snprintf(prefix, sizeof prefix, "%*s", at, "");
    for (int i = 0; i < d->n_params; i++) {
        const bd_decl *p = &d->params[i];
        bool last = i + 1 == d->n_params && !d->variadic;
        int n = (int)(strlen(p->type) + strlen(gap(p->type)) + strlen(p->name) + 2);
        if (i && at + n > COLUMNS - 2) {
            put(f, "\n%s", prefix);
            at = (int)strlen(prefix);
        } else if (i) {
            put(f, " ");
            at++;
        }
        put(f, "%s%s%s%s", p->type, gap(p->type), p->name, last ? "" : ",");
        at += n - 1;
    }
    if (d->variadic)
        put(f, " ...");
    if (d->n_params == 0)
        put(f, "void");
}

static int params_length(const bd_decl *d)
{
    int n = d->n_params ? -2 : 4;
    for (int i = 0; i < d->n_params; i++)
        n += (int)(strlen(d->params[i].type) + strlen(gap(d->params[i].type)) +
                   strlen(d->params[i].name)) +
             2;
    return n + (d->variadic ? 5 : 0);
}

/* cg_function(struct, "ret ", name, params, "format, first", threads, behind, above, pad, offset,
 * since, doc, params in one line) */
static void put_function(facts *f, const bd_item *s, const bd_member *m)
{
    const bd_decl *d = &m->decl;
    char tag[32];
    snprintf(tag, sizeof tag, "[%s]", m->threads);
    if (strcmp(m->threads, "any") == 0)
        tag[0] = '\0';
    int before = (int)(strlen(d->type) + strlen(gap(d->type)) + strlen(d->name)) + 4;
    put(f, "cg_function(@{%s@}, @{%s%s@}, @{%s@}, @{", s->name, d->type, gap(d->type), d->name);
    put_params(f, d, INDENT + before);
    put(f, "@}, @{%s%s%s@}, @{%s@}", m->printf_at, *m->printf_at ? ", " : "", m->printf_args,
        m->threads);
    int column = f->column, attribute = *m->printf_at ? (int)strlen(" TN_PRINTF(3, 4)") : 0;
    f->column = 0;
    put_doc(f, tag, m->doc, INDENT, before + params_length(d) + 2 + attribute);
    f->column = column;
    put(f, ", %" PRIu64 ", %d, @{%s@}, ", m->offset, m->since, m->doc);
    put_plain_params(f, d);
    put(f, ")\n");
}

static int field_length(const bd_decl *d)
{
    return (int)(strlen(d->type) + strlen(gap(d->type)) + strlen(d->name) + strlen(d->dims)) + 1;
}

/* Where the comments of a list of fields stand: behind the longest that has one. */
static int comment_column(const bd_member *members, int n)
{
    enum { LONGEST = 44 };
    int column = 0;
    for (int i = 0; i < n; i++) {
        const bd_member *m = &members[i];
        int used = m->kind == BD_VALUE ? (int)(strlen(m->decl.name) + strlen(m->value)) + 4
                                       : field_length(&m->decl);
        if ((m->kind == BD_FIELD || m->kind == BD_VALUE) && *m->doc && used > column &&
            used <= LONGEST)
            column = used;
    }
    return column;
}

/* cg_field(struct, "type ", name, dims, behind, above, pad, offset, size, since, doc) */
static void put_field(facts *f, const bd_item *s, const bd_member *m, const char *macro, int indent)
{
    const bd_decl *d = &m->decl;
    put(f, "%s(@{%s@}, @{%s%s@}, @{%s@}, @{%s@}", macro, s->name, d->type, gap(d->type), d->name,
        d->dims);
    put_doc(f, "", m->doc, indent, field_length(d));
    put(f, ", %" PRIu64 ", %" PRIu64 ", %d, @{%s@})\n", m->offset, m->size, m->since, m->doc);
}

static void put_union(facts *f, const bd_item *s, const bd_member *m)
{
    put(f, "cg_union(@{%s@}, @{%s@}, %" PRIu64 ", %" PRIu64 ", %d)\n", s->name, m->decl.name,
        m->offset, m->size, m->since);
    int outer = f->column;
    f->column = comment_column(m->members, m->n_members);
    for (int i = 0; i < m->n_members; i++)
        put_field(f, s, &m->members[i], "cg_case", 2 * INDENT);
    f->column = outer;
    put(f, "cg_union_end(@{%s@}, @{%s@}, %" PRIu64 ")\n", s->name, m->decl.name, m->offset);
}

static void put_members(facts *f, const bd_item *s)
{
    f->column = comment_column(s->members, s->n_members);
    int since = s->since;
    for (int i = 0; i < s->n_members; i++) {
        const bd_member *m = &s->members[i];
        if (m->kind != BD_GROUP && m->since != since) {
            if (since != s->since)
                put(f, "cg_since_end(%d)\n", since);
            since = m->since;
            put(f, "cg_since(%d)\n", since);
        }
        if (m->kind == BD_FIELD)
            put_field(f, s, m, "cg_field", INDENT);
        if (m->kind == BD_FUNCTION)
            put_function(f, s, m);
        if (m->kind == BD_UNION)
            put_union(f, s, m);
        if (m->kind == BD_GROUP)
            put(f, "cg_group(@{%s@})\n", m->decl.name);
    }
    if (since != s->since)
        put(f, "cg_since_end(%d)\n", since);
    f->column = 0;
}

/* cg_size(name, size, first revision, first revision with another size; 0: none) */
static void put_sizes(facts *f, const bd_item *s)
{
    int first = s->since;
    for (int revision = s->since + 1; revision <= f->border->revision; revision++) {
        if (s->size[revision] == s->size[first])
            continue;
        put(f, "cg_size(@{%s@}, %" PRIu64 ", %d, %d)\n", s->name, s->size[first], first, revision);
        first = revision;
    }
    put(f, "cg_size(@{%s@}, %" PRIu64 ", %d, 0)\n", s->name, s->size[first], first);
}

/* ---- items ----------------------------------------------------------------------------------- */
static void put_comment(facts *f, const char *doc)
{
    put(f, "@{");
    put_wrapped(f, doc, 3, " * ");
    put(f, "@}");
}

static void put_enum(facts *f, const bd_item *e)
{
    put(f, "cg_enum(@{%s@})\n", e->name);
    f->column = comment_column(e->members, e->n_members);
    for (int i = 0; i < e->n_members; i++) {
        const bd_member *m = &e->members[i];
        put(f, "cg_value(@{%s@}, @{%s@}", m->decl.name, m->value);
        put_doc(f, "", m->doc, INDENT, (int)(strlen(m->decl.name) + strlen(m->value)) + 4);
        put(f, ", %d, @{%s@})\n", m->since, m->doc);
    }
    put(f, "cg_enum_end(@{%s@})\n", e->name);
    f->column = 0;
}

static void put_callback(facts *f, const bd_item *c)
{
    const bd_decl *d = &c->decl;
    int before =
        (int)(strlen("typedef (*)(") + strlen(d->type) + strlen(gap(d->type)) + strlen(d->name));
    put(f, "cg_callback(@{%s%s@}, @{%s@}, @{", d->type, gap(d->type), d->name);
    put_params(f, d, before);
    put(f, "@}, ");
    put_comment(f, c->doc);
    put(f, ", @{%s@}, ", c->doc);
    put_plain_params(f, d);
    put(f, ")\n");
}

static void put_item(facts *f, const bd_item *item)
{
    switch (item->kind) {
    case BD_SECTION:
        put(f, "cg_section(@{%s@}, @{%.*s@})\n", item->name,
            (int)(COLUMNS - 12 > strlen(item->name) ? COLUMNS - 12 - strlen(item->name) : 0),
            "--------------------------------------------------------------------------------------"
            "--");
        break;
    case BD_STRUCT:
        put(f, "cg_struct(@{%s@}, ", item->name);
        put_comment(f, item->doc);
        put(f, ", %d, @{%s@})\n", item->since, item->doc);
        put_members(f, item);
        put(f, "cg_struct_end(@{%s@}, %" PRIu64 ")\n", item->name, item->align);
        put_sizes(f, item);
        break;
    case BD_ENUM:
        put_enum(f, item);
        break;
    case BD_ALIAS:
        put(f, "cg_alias(@{%s%s@}, @{%s@}", item->decl.type, gap(item->decl.type), item->name);
        put_doc(f, "", item->doc, 0,
                (int)(strlen("typedef  ;") + strlen(item->decl.type) + strlen(item->name)));
        put(f, ", @{%s@})\n", item->doc);
        break;
    case BD_EXTERNAL:
        put(f, "cg_external(@{%s@}, @{%s%s@})\n", item->name, item->decl.type, item->decl.dims);
        break;
    case BD_CONSTANT:
        put(f, "cg_constant(@{%s@}, %" PRIu64 ")\n", item->name, item->value);
        break;
    case BD_CALLBACK:
        put_callback(f, item);
        break;
    case BD_BORDER:
    case BD_OPAQUE:
        break;
    }
}

/* The names of all structs come first, so that they can point to each other. */
static void put_names(facts *f)
{
    for (int i = 0; i < f->border->n_items; i++) {
        const bd_item *item = &f->border->items[i];
        if (item->kind == BD_OPAQUE)
            put(f, "cg_name(@{%s@}, @{%s@})\n", item->name, item->doc);
        if (item->kind == BD_STRUCT)
            put(f, "cg_name(@{%s@}, @{@})\n", item->name);
    }
}

void bd_facts(bd_border *b, cg_text *t)
{
    facts f = {b, t, 0};
    put(&f, "m4_define(@{cg_facts@}, @{\n");
    put(&f, "cg_revision(%d)\n", b->revision);
    for (int revision = 1; revision <= b->revision; revision++)
        put(&f, "cg_fingerprint(%d, @{0x%016" PRIx64 "@})\n", revision, b->fingerprint[revision]);
    put_names(&f);
    for (int i = 0; i < b->n_items; i++) {
        int since = b->items[i].since;
        if (since > 1)
            put(&f, "cg_since(%d)\n", since);
        put_item(&f, &b->items[i]);
        if (since > 1)
            put(&f, "cg_since_end(%d)\n", since);
    }
    put(&f, "@})\n");
}

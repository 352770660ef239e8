/* abi_layout.c - two descriptions of the border, item by item and member by member: what was
 * removed, moved or retyped, and what was added without a revision of its own. Documentation and
 * the names of parameters are free. */
#include "abi_impl.h"

#include <inttypes.h>
#include <string.h>

static const char cure_keep[] = "put it back as it was";
static const char cure_since[] = "give it `since:` the next revision, at the end of its struct";

typedef struct sides {
    abi_report *report;
    const bd_border *old, *now;
} sides;

static void subject_of(char *buf, size_t n, const bd_item *item, const bd_member *m)
{
    snprintf(buf, n, "%s%s%s", item->name, m ? "." : "", m ? m->decl.name : "");
}

/* "tn_status (tn_call *, size_t)[4]": all of a declaration that binary code depends on. */
static void type_of(char *buf, size_t n, const bd_decl *d)
{
    int used = snprintf(buf, n, "%s", d->type);
    if (d->is_function)
        used += snprintf(buf + used, n - (size_t)used, " (");
    for (int i = 0; i < d->n_params && (size_t)used < n; i++)
        used += snprintf(buf + used, n - (size_t)used, "%s%s", i ? ", " : "", d->params[i].type);
    if (d->is_function && (size_t)used < n)
        used += snprintf(buf + used, n - (size_t)used, "%s)", d->variadic ? ", ..." : "");
    if (d->count != 1 && (size_t)used < n)
        snprintf(buf + used, n - (size_t)used, "[%" PRIu64 "]", d->count);
}

static void compare_type(const sides *s, const char *subject, int line, const bd_decl *old,
                         const bd_decl *now)
{
    char a[1024], b[1024];
    type_of(a, sizeof a, old);
    type_of(b, sizeof b, now);
    if (strcmp(a, b) != 0)
        abi_row(s->report, ABI_BREAK, line, subject, cure_keep, "its type was '%s' and is '%s'", a,
                b);
}

static void added(const sides *s, const char *subject, int line, int since)
{
    if (since <= s->old->revision)
        abi_row(s->report, ABI_BREAK, line, subject, cure_since,
                "it was added to revision %d, which is released", since);
    else
        abi_row(s->report, ABI_ADDED, line, subject, "", "since revision %d", since);
}

/* ---- members --------------------------------------------------------------------------------- */
static const bd_member *find_member(const bd_member *members, int n, const bd_member *like)
{
    for (int i = 0; i < n; i++)
        if (members[i].kind != BD_GROUP && strcmp(members[i].decl.name, like->decl.name) == 0)
            return &members[i];
    return NULL;
}

static void compare_members(const sides *s, const bd_item *item, const bd_member *old, int n_old,
                            const bd_member *now, int n_now);

static void compare_member(const sides *s, const bd_item *item, const bd_member *old,
                           const bd_member *now)
{
    char subject[192];
    subject_of(subject, sizeof subject, item, old);
    if (!now) {
        abi_row(s->report, ABI_BREAK, item->pos.line, subject, cure_keep, "it was removed");
        return;
    }
    if (old->kind != now->kind)
        abi_row(s->report, ABI_BREAK, now->pos.line, subject, cure_keep, "it is of another kind");
    if (old->offset != now->offset)
        abi_row(s->report, ABI_BREAK, now->pos.line, subject, cure_keep,
                "it stood at %" PRIu64 " and stands at %" PRIu64, old->offset, now->offset);
    if (strcmp(old->value ? old->value : "", now->value ? now->value : "") != 0)
        abi_row(s->report, ABI_BREAK, now->pos.line, subject, cure_keep,
                "its value was %s and is %s", old->value, now->value);
    if (old->since != now->since)
        abi_row(s->report, ABI_BREAK, now->pos.line, subject, cure_keep,
                "it is there since revision %d, and now says %d", old->since, now->since);
    compare_type(s, subject, now->pos.line, &old->decl, &now->decl);
    compare_members(s, item, old->members, old->n_members, now->members, now->n_members);
}

static void compare_members(const sides *s, const bd_item *item, const bd_member *old, int n_old,
                            const bd_member *now, int n_now)
{
    char subject[192];
    for (int i = 0; i < n_old; i++)
        if (old[i].kind != BD_GROUP)
            compare_member(s, item, &old[i], find_member(now, n_now, &old[i]));
    for (int i = 0; i < n_now; i++) {
        if (now[i].kind == BD_GROUP || find_member(old, n_old, &now[i]))
            continue;
        subject_of(subject, sizeof subject, item, &now[i]);
        added(s, subject, now[i].pos.line, now[i].since);
    }
}

/* ---- items ----------------------------------------------------------------------------------- */
static bool counts(const bd_item *item)
{
    return item->kind != BD_SECTION && item->kind != BD_BORDER;
}

static void compare_item(const sides *s, const bd_item *old, const bd_item *now)
{
    if (!now) {
        abi_row(s->report, ABI_BREAK, 0, old->name, cure_keep, "it was removed");
        return;
    }
    int line = now->pos.line;
    if (old->kind != now->kind)
        abi_row(s->report, ABI_BREAK, line, old->name, cure_keep, "it is of another kind");
    if (old->value != now->value)
        abi_row(s->report, ABI_BREAK, line, old->name, cure_keep,
                "it was %" PRIu64 " and is %" PRIu64, old->value, now->value);
    for (int i = old->since; i <= s->old->revision && old->kind == BD_STRUCT; i++)
        if (i <= s->now->revision && old->size[i] != now->size[i])
            abi_row(s->report, ABI_BREAK, line, old->name, cure_keep,
                    "at revision %d it had %" PRIu64 " bytes and has %" PRIu64, i, old->size[i],
                    now->size[i]);
    compare_type(s, old->name, line, &old->decl, &now->decl);
    compare_members(s, now, old->members, old->n_members, now->members, now->n_members);
}

/* An enum is known by its values: its title is free. */
static const bd_item *counterpart(const bd_border *in, const bd_item *item)
{
    if (item->kind != BD_ENUM)
        return bd_find(in, item->name);
    for (int i = 0; i < in->n_items; i++)
        for (int k = 0; k < item->n_members && in->items[i].kind == BD_ENUM; k++)
            if (find_member(in->items[i].members, in->items[i].n_members, &item->members[k]))
                return &in->items[i];
    return NULL;
}

void abi_layouts(abi_report *r, const bd_border *old, const bd_border *now)
{
    sides s = {r, old, now};
    for (int i = 0; i < old->n_items; i++)
        if (counts(&old->items[i]))
            compare_item(&s, &old->items[i], counterpart(now, &old->items[i]));
    for (int i = 0; i < now->n_items; i++)
        if (counts(&now->items[i]) && !counterpart(old, &now->items[i]))
            added(&s, now->items[i].name, now->items[i].pos.line, now->items[i].since);
}

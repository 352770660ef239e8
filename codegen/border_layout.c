/* border_layout.c - sizes and offsets as a C compiler gives them (LP64), for every revision; then
 * the fingerprints.
 *
 * A revision is the description without what is newer. Offsets must be the same in all of them:
 * that is what lets a plugin of revision 1 run in a host of revision 7, and it is checked here. */
#include "border_impl.h"

#include <inttypes.h>
#include <string.h>

typedef struct extent {
    uint64_t size, align;
} extent;

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

/* The type without its qualifiers. */
static const char *bare(const char *type)
{
    if (strncmp(type, "const ", 6) == 0)
        type += 6;
    if (strncmp(type, "struct ", 7) == 0)
        type += 7;
    return type;
}

static extent of_basic(const char *type)
{
    static const struct {
        const char *name;
        unsigned size;
    } basics[] = {{"char", 1},     {"bool", 1},    {"int8_t", 1},   {"uint8_t", 1}, {"int16_t", 2},
                  {"uint16_t", 2}, {"int", 4},     {"float", 4},    {"int32_t", 4}, {"uint32_t", 4},
                  {"double", 8},   {"int64_t", 8}, {"uint64_t", 8}, {"size_t", 8}};
    for (size_t i = 0; i < sizeof basics / sizeof *basics; i++)
        if (strcmp(basics[i].name, type) == 0)
            return (extent){basics[i].size, basics[i].size};
    return (extent){0, 0};
}

static extent of_type(const bd_border *b, const char *type, int revision);

static extent of_item(const bd_border *b, const bd_item *item, int revision)
{
    if (item->kind == BD_CALLBACK)
        return (extent){8, 8};
    if (item->kind == BD_STRUCT)
        return (extent){item->size[revision], item->align};
    if (item->kind != BD_ALIAS && item->kind != BD_EXTERNAL)
        return (extent){0, 0};
    extent e = of_basic(bare(item->decl.type));
    (void)b;
    return (extent){e.size * item->decl.count, e.align};
}

/* {0, 0} when the type is not described above. */
static extent of_type(const bd_border *b, const char *type, int revision)
{
    if (strchr(type, '*'))
        return (extent){8, 8};
    type = bare(type);
    extent e = of_basic(type);
    if (e.size)
        return e;
    const bd_item *item = bd_find(b, type);
    return item ? of_item(b, item, revision) : (extent){0, 0};
}

static extent of_member(bd_border *b, bd_member *m, int revision)
{
    if (m->kind == BD_FUNCTION)
        return (extent){8, 8};
    if (m->kind == BD_UNION) {
        extent whole = {0, 1};
        for (int i = 0; i < m->n_members; i++) {
            extent e = of_member(b, &m->members[i], revision);
            m->members[i].size = e.size;
            if (e.size > whole.size)
                whole.size = e.size;
            if (e.align > whole.align)
                whole.align = e.align;
        }
        return (extent){round_up(whole.size, whole.align), whole.align};
    }
    extent e = of_type(b, m->decl.type, revision);
    if (e.size == 0 && revision == b->revision)
        bd_error(b, m->pos, "the size of '%s' is not known; describe it above, or point to it",
                 m->decl.type);
    if (e.align == 0)
        e.align = 1;
    return (extent){e.size * m->decl.count, e.align};
}

static void place(bd_border *b, bd_item *s, bd_member *m, uint64_t offset, uint64_t size)
{
    if (m->size && m->offset != offset)
        bd_error(b, m->pos,
                 "%s.%s stands at %" PRIu64 " in an older revision and at %" PRIu64
                 " in a newer one; what is "
                 "embedded before it must not grow: embed a pointer",
                 s->name, m->decl.name, m->offset, offset);
    m->offset = offset;
    m->size = size;
    for (int i = 0; i < m->n_members; i++)
        m->members[i].offset = offset;
}

static void layout_struct(bd_border *b, bd_item *s, int revision)
{
    uint64_t at = 0, align = 1;
    for (int i = 0; i < s->n_members; i++) {
        bd_member *m = &s->members[i];
        if (m->kind == BD_GROUP || m->since > revision)
            continue;
        extent e = of_member(b, m, revision);
        at = round_up(at, e.align);
        place(b, s, m, at, e.size);
        at += e.size;
        if (e.align > align)
            align = e.align;
    }
    if (at == 0)
        bd_error(b, s->pos, "struct %s has no members in revision %d; give it `since`", s->name,
                 revision);
    s->align = align;
    s->size[revision] = round_up(at, align);
}

/* ---- fingerprints: FNV-1a over the layout, written out in one canonical form ----------------- */
static void hash(uint64_t *h, const char *s)
{
    for (; *s; s++)
        *h = (*h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
    *h = (*h ^ '\n') * UINT64_C(0x100000001b3);
}

static void hash_number(uint64_t *h, uint64_t n)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, n);
    hash(h, text);
}

static void hash_decl(uint64_t *h, const bd_decl *d)
{
    hash(h, d->type);
    hash_number(h, d->count);
    hash(h, d->is_function ? "(" : "");
    for (int i = 0; i < d->n_params; i++)
        hash(h, d->params[i].type); /* names of parameters are free */
    hash(h, d->variadic ? "..." : "");
}

static void hash_members(uint64_t *h, const bd_member *members, int n, int revision)
{
    for (int i = 0; i < n; i++) {
        const bd_member *m = &members[i];
        if (m->kind == BD_GROUP || m->since > revision)
            continue;
        hash(h, m->decl.name);
        hash(h, m->value);
        hash_number(h, m->offset);
        hash_decl(h, &m->decl);
        hash_members(h, m->members, m->n_members, revision);
    }
}

static uint64_t fingerprint(const bd_border *b, int revision)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < b->n_items; i++) {
        const bd_item *item = &b->items[i];
        if (item->since > revision || item->kind == BD_SECTION || item->kind == BD_BORDER ||
            item->kind == BD_OPAQUE)
            continue;
        hash(&h, item->kind == BD_ENUM ? "enum" : item->name);
        hash_decl(&h, &item->decl);
        hash_number(&h, item->value);
        hash_number(&h, item->size[revision]);
        hash_members(&h, item->members, item->n_members, revision);
    }
    return h;
}

void bd_layout(bd_border *b)
{
    for (int revision = 1; revision <= b->revision; revision++) {
        for (int i = 0; i < b->n_items; i++)
            if (b->items[i].kind == BD_STRUCT && b->items[i].since <= revision)
                layout_struct(b, &b->items[i], revision);
        b->fingerprint[revision] = fingerprint(b, revision);
    }
}

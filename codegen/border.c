/* border.c - reads abi/border.yaml into items, checks the rules of growth, and drives the output.
 *
 * The first key of an entry says what it describes; the tables below say which other keys it may
 * have. */
#include "border_impl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "m4.h"

static const char *const item_words[] = {"border", "external", "constant", "section", "struct",
                                         "enum",   "alias",    "opaque",   "callback"};
static const char *const member_words[] = {"field", "function", "union", "group"};
static const char *const item_keys[] = {"doc",    "since",   "type",    "value",
                                        "values", "members", "revision"};
static const char *const member_keys[] = {"doc", "since", "threads", "printf", "members"};
static const char *const thread_words[] = {"any", "registration", "stream"};

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

void bd_error(bd_border *b, cg_pos pos, const char *format, ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    cg_error(b->diag, b->file, pos, "%s", message);
}

void *bd_alloc(bd_border *b, size_t bytes)
{
    void *p = tn__arena_alloc(&b->arena, bytes ? bytes : 1);
    if (!p)
        b->diag->no_memory = true;
    return p;
}

const bd_item *bd_find(const bd_border *b, const char *name)
{
    for (int i = 0; i < b->n_items; i++)
        if (b->items[i].kind != BD_SECTION && strcmp(b->items[i].name, name) == 0)
            return &b->items[i];
    return NULL;
}

static int word_index(const char *word, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

/* ---- values of keys -------------------------------------------------------------------------- */
static const char *text_of(bd_border *b, const cg_node *map, const char *key)
{
    const cg_node *node = cg_node_get(map, key, NULL);
    if (!node)
        return "";
    if (node->kind == CG_NODE_LIST || node->kind == CG_NODE_MAP) {
        bd_error(b, node->pos, "'%s' is %s; write a text", key, cg_node_describe(node));
        return "";
    }
    if (strstr(node->text, "*/") || strchr(node->text, '|') || cg_m4_word(node->text))
        bd_error(
            b, node->pos,
            "'%s' contains */ or |, which end a comment or a table, or what the templates take "
            "for theirs, as @{ and m4_; write it differently",
            key);
    return node->text;
}

static int number_of(bd_border *b, const cg_node *map, const char *key, int low, int high,
                     int absent)
{
    const cg_node *node = cg_node_get(map, key, NULL);
    if (!node)
        return absent;
    char *end = NULL;
    long n = node->kind == CG_NODE_NUMBER ? strtol(node->text, &end, 10) : -1;
    if (end && *end == '\0' && n >= low && n <= high)
        return (int)n;
    bd_error(b, node->pos, "'%s' is '%.40s'; write a number from %d to %d", key, node->text, low,
             high);
    return absent;
}

/* Complains about keys that are not the first and not in `allowed`. */
static void check_keys(bd_border *b, const cg_node *map, const char *const *allowed, int n)
{
    for (const cg_node *key = map->child->next->next; key; key = key->next->next) {
        if (word_index(key->text, allowed, n) >= 0)
            continue;
        const char *near = cg_near(key->text, allowed, n);
        bd_error(b, key->pos, "key '%.40s' is not known here; %s%s", key->text,
                 near ? "did you mean " : "remove it", near ? near : "");
    }
}

/* ---- members --------------------------------------------------------------------------------- */
static void read_members(bd_border *b, const cg_node *list, int since, bd_member **members,
                         int *n_members);

static void read_printf(bd_border *b, const cg_node *map, bd_member *m)
{
    const cg_node *pair = cg_node_get(map, "printf", NULL);
    if (!pair)
        return;
    if (pair->kind != CG_NODE_LIST || pair->n != 2 || pair->child->kind != CG_NODE_NUMBER ||
        pair->child->next->kind != CG_NODE_NUMBER) {
        bd_error(b, pair->pos,
                 "'printf' takes two numbers: [parameter of the format, first argument]");
        return;
    }
    m->printf_at = pair->child->text;
    m->printf_args = pair->child->next->text;
}

static void check_threads(bd_border *b, const bd_member *m)
{
    if (m->kind != BD_FUNCTION || word_index(m->threads, thread_words, COUNT(thread_words)) >= 0)
        return;
    bd_error(b, m->pos, "function %s says no 'threads' that is any, registration or stream",
             m->decl.name);
}

static void read_member(bd_border *b, const cg_node *map, int since, bd_member *m)
{
    *m = (bd_member){
        .pos = map->pos, .doc = "", .threads = "", .value = "", .printf_at = "", .printf_args = ""};
    m->decl = (bd_decl){.type = "", .name = "", .dims = "", .count = 1};
    int kind = word_index(map->child->text, member_words, COUNT(member_words));
    if (kind < 0) {
        bd_error(b, map->pos, "a member begins with '%.40s'; write field, function, union or group",
                 map->child->text);
        m->kind = BD_GROUP;
        return;
    }
    m->kind = (bd_member_kind)kind;
    const char *text = text_of(b, map, member_words[kind]);
    check_keys(b, map, member_keys, COUNT(member_keys));
    m->doc = text_of(b, map, "doc");
    m->threads = text_of(b, map, "threads");
    m->since = number_of(b, map, "since", 1, b->revision, since);
    read_printf(b, map, m);
    m->decl.name = text;
    if (kind == BD_FIELD || kind == BD_FUNCTION)
        bd_parse_decl(b, m->pos, text, true, &m->decl);
    if (kind == BD_UNION)
        read_members(b, cg_node_get(map, "members", NULL), m->since, &m->members, &m->n_members);
    if (kind == BD_FUNCTION && !m->decl.is_function)
        bd_error(b, m->pos, "'%.60s' has no parameter list", text);
    if (kind == BD_FIELD && m->decl.is_function)
        bd_error(b, m->pos, "'%.60s' is a function; write function:", text);
    check_threads(b, m);
}

/* A growing struct keeps what it had: members come in the order of their revisions. */
static void check_growth(bd_border *b, const bd_member *members, int n)
{
    int newest = 0;
    for (int i = 0; i < n; i++) {
        if (members[i].kind == BD_GROUP)
            continue;
        if (members[i].since < newest)
            bd_error(
                b, members[i].pos,
                "%s (revision %d) stands behind a member of revision %d; new members stand at the "
                "end",
                members[i].decl.name, members[i].since, newest);
        newest = members[i].since > newest ? members[i].since : newest;
        for (int k = 0; k < i; k++)
            if (members[k].kind != BD_GROUP &&
                strcmp(members[k].decl.name, members[i].decl.name) == 0)
                bd_error(b, members[i].pos, "member '%s' is there twice; rename one",
                         members[i].decl.name);
    }
}

static bool is_list_of_maps(bd_border *b, const cg_node *list, cg_pos pos, const char *what)
{
    if (!list || list->kind != CG_NODE_LIST || list->n == 0) {
        bd_error(b, list ? list->pos : pos, "expected a list of %s", what);
        return false;
    }
    for (const cg_node *node = list->child; node; node = node->next)
        if (node->kind != CG_NODE_MAP || node->n == 0) {
            bd_error(b, node->pos, "%s in a list of %s; write '- key: value'",
                     cg_node_describe(node), what);
            return false;
        }
    return true;
}

static void read_members(bd_border *b, const cg_node *list, int since, bd_member **members,
                         int *n_members)
{
    if (!is_list_of_maps(b, list, (cg_pos){0, 0}, "members"))
        return;
    *members = bd_alloc(b, (size_t)list->n * sizeof **members);
    if (!*members)
        return;
    for (const cg_node *node = list->child; node; node = node->next)
        read_member(b, node, since, &(*members)[(*n_members)++]);
    check_growth(b, *members, *n_members);
}

/* The values of an enum: "- NAME: number", with doc and since. */
static void read_values(bd_border *b, const cg_node *map, bd_item *item)
{
    static const char *const keys[] = {"doc", "since"};
    const cg_node *list = cg_node_get(map, "values", NULL);
    if (!is_list_of_maps(b, list, item->pos, "values"))
        return;
    item->members = bd_alloc(b, (size_t)list->n * sizeof *item->members);
    if (!item->members)
        return;
    for (const cg_node *node = list->child; node; node = node->next) {
        bd_member *m = &item->members[item->n_members++];
        *m = (bd_member){
            .kind = BD_VALUE, .pos = node->pos, .threads = "", .printf_at = "", .printf_args = ""};
        m->decl = (bd_decl){.type = "", .name = node->child->text, .dims = "", .count = 1};
        m->value = text_of(b, node, node->child->text);
        if (node->child->next->kind != CG_NODE_NUMBER)
            bd_error(b, node->pos, "the value of %.60s is '%.40s'; write a number", m->decl.name,
                     m->value);
        check_keys(b, node, keys, COUNT(keys));
        m->doc = text_of(b, node, "doc");
        m->since = number_of(b, node, "since", 1, b->revision, item->since);
    }
}

/* ---- items ----------------------------------------------------------------------------------- */
static void read_body(bd_border *b, const cg_node *map, bd_item *item)
{
    switch (item->kind) {
    case BD_EXTERNAL:
    case BD_ALIAS:
        bd_parse_decl(b, item->pos, text_of(b, map, "type"), false, &item->decl);
        break;
    case BD_CONSTANT:
        item->value = (uint64_t)number_of(b, map, "value", 0, 1 << 20, 1);
        break;
    case BD_STRUCT: {
        const cg_node *list = cg_node_get(map, "members", NULL);
        if (!list)
            bd_error(b, item->pos, "struct %.60s has no 'members'", item->name);
        if (list)
            read_members(b, list, item->since, &item->members, &item->n_members);
        break;
    }
    case BD_ENUM:
        read_values(b, map, item);
        break;
    case BD_CALLBACK:
        if (!bd_parse_decl(b, item->pos, item->name, true, &item->decl))
            break;
        if (!item->decl.is_function)
            bd_error(b, item->pos, "callback '%.60s' has no parameter list", item->name);
        item->name = item->decl.name;
        break;
    case BD_BORDER:
    case BD_SECTION:
    case BD_OPAQUE:
        break;
    }
}

static void read_item(bd_border *b, const cg_node *map)
{
    int kind = word_index(map->child->text, item_words, COUNT(item_words));
    if (kind < 0) {
        const char *near = cg_near(map->child->text, item_words, COUNT(item_words));
        bd_error(
            b, map->pos, "an entry begins with '%.40s'; write %s", map->child->text,
            near ? near
                 : "struct, enum, alias, callback, opaque, section, external, constant or border");
        return;
    }
    bd_item item = {.kind = (bd_kind)kind, .pos = map->pos};
    item.name = text_of(b, map, item_words[kind]);
    item.decl = (bd_decl){.type = "", .name = "", .dims = "", .count = 1};
    check_keys(b, map, item_keys, COUNT(item_keys));
    item.doc = text_of(b, map, "doc");
    item.since = number_of(b, map, "since", 1, b->revision, 1);
    if (kind == BD_BORDER && b->n_items)
        bd_error(b, map->pos, "'border' stands once, as the first entry");
    read_body(b, map, &item);
    if (kind != BD_SECTION && bd_find(b, item.name))
        bd_error(b, map->pos, "'%.60s' is described twice; remove one", item.name);
    b->items[b->n_items++] = item;
}

static void read_border(bd_border *b, const char *bytes, size_t n)
{
    bool complete = false;
    const cg_node *root =
        cg_yaml_parse(&b->arena, b->diag, b->file, "struct: tn_name", bytes, n, &complete);
    if (!root || !is_list_of_maps(b, root, (cg_pos){1, 1}, "entries"))
        return;
    if (strcmp(root->child->child->text, "border") != 0)
        bd_error(b, root->child->pos,
                 "the first entry is '%.40s'; write 'border: tenon' with its revision",
                 root->child->child->text);
    b->revision = number_of(b, root->child, "revision", 1, BD_MAX_REVISIONS, 1);
    b->items = bd_alloc(b, (size_t)root->n * sizeof *b->items);
    if (!b->items)
        return;
    for (const cg_node *node = root->child; node; node = node->next)
        read_item(b, node);
}

/* ---- the whole ------------------------------------------------------------------------------- */
static void emit(bd_border *b, cg_out *out)
{
    cg_text facts = cg_text_start(&b->arena);
    bd_facts(b, &facts);
    if (!facts.ok)
        b->diag->no_memory = true;
    if (cg_diag_failed(b->diag))
        return;
    cg_emit(b->diag, out, "border.h.m4", facts.s, facts.n, "include/tenon/border.h");
    cg_emit(b->diag, out, "border.md.m4", facts.s, facts.n, "docs/border.md");
}

static char *read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    char *bytes = NULL;
    size_t cap = 0;
    *n = 0;
    do {
        cap = cap ? cap * 2 : 1 << 16;
        char *more = realloc(bytes, cap + 1);
        if (!more)
            break;
        bytes = more;
        *n += fread(bytes + *n, 1, cap - *n, f);
    } while (*n == cap);
    bool ok = bytes && feof(f) && !ferror(f);
    fclose(f);
    if (!ok) {
        free(bytes);
        return NULL;
    }
    bytes[*n] = '\0';
    return bytes;
}

bool bd_open(bd_border *b, cg_diag *d, const char *description)
{
    size_t n = 0;
    *b = (bd_border){.diag = d, .file = description};
    char *bytes = read_file(description, &n);
    if (!bytes) {
        cg_error(d, description, (cg_pos){0, 0}, "cannot be read: %s; check the path",
                 strerror(errno));
        return false;
    }
    read_border(b, bytes, n);
    free(bytes);
    if (!cg_diag_failed(d))
        bd_layout(b);
    return !cg_diag_failed(d);
}

void bd_close(bd_border *b)
{
    tn__arena_free(&b->arena);
}

bool cg_border(cg_diag *d, cg_out *out, const char *description)
{
    bd_border b;
    if (bd_open(&b, d, description))
        emit(&b, out);
    bd_close(&b);
    return !cg_diag_failed(d);
}

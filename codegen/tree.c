/* tree.c - libyaml's events turned into a tree with positions (see tree.h).
 *
 * Its two tricks: bytes that no YAML file may hold are reported and blanked before libyaml sees
 * them, so that they do not hide later errors; and after a YAML error a fresh parser is started at
 * the next line that begins a list item, with the lines before it only counted. Building uses an
 * explicit stack, so nesting costs no C stack. */
#include "tree_impl.h"

#include <string.h>
#include <yaml.h>

enum {
    DEPTH_CAP = 32,   /* native_functions.yaml needs 4 */
    RESTART_CAP = 50, /* YAML errors of one file: beyond them the file is not YAML at all */
    PAIR_CAP = 1000,  /* keys of one mapping: keeps the search for duplicates cheap */
    SCALAR_CAP = 65536,
};

typedef struct builder {
    tn__arena *arena;
    cg_diag *diag;
    const char *name, *example;
    const char *bytes;
    size_t n;
    size_t *lines; /* where each line begins */
    int n_lines;
    int first_line; /* of the text that the running parser was given */
    cg_node *root;
    cg_node *stack[DEPTH_CAP];
    cg_node *key[DEPTH_CAP]; /* of a mapping on the stack: the key whose value comes next */
    int depth;
    bool complete, stop;
} builder;

static cg_pos position(const builder *b, yaml_mark_t mark)
{
    return (cg_pos){(int)mark.line + b->first_line + 1, (int)mark.column + 1};
}

/* ---- lines and positions --------------------------------------------------------------------- */

static bool index_lines(builder *b)
{
    int count = 1;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1 && !(b->lines = tn__arena_alloc(b->arena, (size_t)count * sizeof *b->lines)))
            return false;
        b->n_lines = 1;
        for (size_t i = 0; i < b->n;) {
            unsigned char byte = (unsigned char)b->bytes[i];
            bool plain = byte >= ' ' && byte < 0x80; /* nearly all: worth not calling for */
            size_t len = plain ? 0 : cg_line_break(b->bytes + i, b->n - i);
            i += len ? len : 1;
            if (len && pass == 1)
                b->lines[b->n_lines] = i;
            b->n_lines += len != 0;
        }
        count = b->n_lines;
    }
    return true;
}

static const char *source_at(const builder *b, cg_pos pos)
{
    if (pos.line < 1 || pos.line > b->n_lines)
        return b->bytes + b->n;
    size_t i = b->lines[pos.line - 1];
    for (int c = 1; c < pos.column && i < b->n; c++)
        do
            i++;
        while (i < b->n && ((unsigned char)b->bytes[i] & 0xc0) == 0x80);
    return b->bytes + i;
}

/* ---- scalars --------------------------------------------------------------------------------- */

/* Where the content begins: behind the quote, or below the "|" of a block. */
static void place_content(const builder *b, cg_node *node)
{
    if (node->style == '\'' || node->style == '"')
        node->pos.column++;
    node->src = source_at(b, node->pos);
    if (node->style != 'b')
        return;
    cg_pos below = {node->pos.line + 1, 1};
    const char *s = source_at(b, below);
    while (*s == ' ')
        s++, below.column++;
    node->pos = below;
    node->src = s;
}

static cg_node *make(builder *b, cg_node_kind kind, cg_pos pos)
{
    cg_node *node = tn__arena_alloc(b->arena, sizeof *node);
    if (!node) {
        b->diag->no_memory = b->stop = true;
        return NULL;
    }
    node->kind = kind;
    node->pos = pos;
    node->text = "";
    node->src = b->bytes + b->n;
    return node;
}

static cg_node *make_scalar(builder *b, const yaml_event_t *event)
{
    cg_node *node = make(b, CG_NODE_STR, position(b, event->start_mark));
    if (!node)
        return NULL;
    size_t n = event->data.scalar.length;
    const char *value = (const char *)event->data.scalar.value;
    yaml_scalar_style_t style = event->data.scalar.style;
    if (n > SCALAR_CAP || memchr(value, '\0', n)) {
        cg_error(b->diag, b->name, node->pos,
                 n > SCALAR_CAP ? "a value of more than 65536 bytes; split it or shorten it"
                                : "a NUL character (\\0) in a value; remove it");
        n = 0;
        if (b->root && b->root->last)
            b->root->last->broken = true;
    }
    node->text = tn__arena_strndup(b->arena, value, n);
    if (!node->text) {
        b->diag->no_memory = b->stop = true;
        return NULL;
    }
    node->style = style == YAML_SINGLE_QUOTED_SCALAR_STYLE   ? '\''
                  : style == YAML_DOUBLE_QUOTED_SCALAR_STYLE ? '"'
                  : style == YAML_PLAIN_SCALAR_STYLE         ? 'p'
                                                             : 'b';
    place_content(b, node);
    if (node->style == 'p' && event->data.scalar.plain_implicit)
        node->kind = cg_plain_kind(node->text, &node->truth);
    return node;
}

/* ---- the tree -------------------------------------------------------------------------------- */

static void append(cg_node *parent, cg_node *node)
{
    if (parent->last)
        parent->last->next = node;
    else
        parent->child = node;
    parent->last = node;
}

static const char *key_text(const cg_node *key)
{
    return key->kind == CG_NODE_LIST || key->kind == CG_NODE_MAP ? "" : key->text;
}

static void append_pair(builder *b, cg_node *map, cg_node *key, cg_node *value)
{
    if (map->n >= PAIR_CAP) {
        if (map->n++ == PAIR_CAP)
            cg_error(b->diag, b->name, key->pos, "more than %d keys in one mapping; split it",
                     PAIR_CAP);
        return;
    }
    if (key->kind == CG_NODE_LIST || key->kind == CG_NODE_MAP) {
        cg_error(b->diag, b->name, key->pos, "%s as a key; write a plain word before the ':'",
                 cg_node_describe(key));
        return;
    }
    for (const cg_node *k = map->child; k; k = k->next->next)
        if (strcmp(k->text, key->text) == 0) {
            cg_error(b->diag, b->name, key->pos,
                     "duplicate key '%.60s' (first on line %d); keep one of the two", key_text(key),
                     k->pos.line);
            return;
        }
    append(map, key);
    append(map, value);
    map->n++;
}

/* A finished node goes into whatever is open: as a list's item, a mapping's key or value, or the
 * root. */
static void attach(builder *b, cg_node *node)
{
    cg_node *parent = b->depth ? b->stack[b->depth - 1] : NULL;
    if (!parent) {
        if (b->root == NULL && node->kind == CG_NODE_LIST) {
            b->root = node;
        } else if (node != b->root) {
            cg_error(b->diag, b->name, node->pos,
                     "%s where the list of entries should stand; begin each entry with '- %s'",
                     cg_node_describe(node), b->example);
            b->stop = true;
            b->complete = false;
        }
    } else if (parent->kind == CG_NODE_LIST) {
        append(parent, node);
        parent->n++;
    } else if (!b->key[b->depth - 1]) {
        b->key[b->depth - 1] = node;
    } else {
        append_pair(b, parent, b->key[b->depth - 1], node);
        b->key[b->depth - 1] = NULL;
    }
}

/* Items join the root as soon as they begin, so that a broken one is known; all else when it is
 * complete. */
static bool joins_early(const builder *b)
{
    return b->depth == 0 || (b->depth == 1 && b->stack[0] == b->root);
}

static void open_node(builder *b, cg_node_kind kind, const yaml_event_t *event)
{
    bool again = b->depth == 0 && b->root && kind == CG_NODE_LIST && b->first_line > 0;
    cg_node *node = again ? b->root : make(b, kind, position(b, event->start_mark));
    if (!node)
        return;
    if (!again && joins_early(b))
        attach(b, node);
    if (!b->stop) {
        b->key[b->depth] = NULL;
        b->stack[b->depth++] = node;
    }
}

static void close_node(builder *b)
{
    cg_node *node = b->stack[--b->depth];
    if (!joins_early(b))
        attach(b, node);
}

static void refuse(builder *b, const yaml_event_t *event, const char *what)
{
    cg_error(b->diag, b->name, position(b, event->start_mark), "%s", what);
    if (b->root && b->root->last)
        b->root->last->broken = true;
}

static void check_decorations(builder *b, const yaml_event_t *event, const yaml_char_t *anchor,
                              const yaml_char_t *tag)
{
    if (anchor)
        refuse(b, event, "a YAML anchor ('&'); write the value out where it is needed");
    if (tag && strcmp((const char *)tag, "!") != 0 && strcmp((const char *)tag, YAML_STR_TAG) != 0)
        refuse(b, event, "a YAML tag ('!'); remove it, the key decides what its value is");
}

static void take(builder *b, const yaml_event_t *event)
{
    cg_node *node = NULL;
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        check_decorations(b, event, event->data.scalar.anchor, event->data.scalar.tag);
        node = make_scalar(b, event);
        break;
    case YAML_ALIAS_EVENT:
        refuse(
            b, event,
            "a YAML alias ('*'); write the value out, or put it in quotes if it begins with '*'");
        node = make(b, CG_NODE_NULL, position(b, event->start_mark));
        break;
    case YAML_SEQUENCE_START_EVENT:
        check_decorations(b, event, event->data.sequence_start.anchor,
                          event->data.sequence_start.tag);
        open_node(b, CG_NODE_LIST, event);
        break;
    case YAML_MAPPING_START_EVENT:
        check_decorations(b, event, event->data.mapping_start.anchor,
                          event->data.mapping_start.tag);
        open_node(b, CG_NODE_MAP, event);
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        close_node(b);
        break;
    case YAML_DOCUMENT_START_EVENT:
        if (b->root && b->first_line == 0) {
            refuse(b, event, "a second YAML document; keep one list of entries in a file");
            b->stop = true;
            b->complete = false;
        }
        break;
    default:
        break;
    }
    if (node)
        attach(b, node);
}

/* ---- errors and restarts --------------------------------------------------------------------- */

static const char *advice(const char *problem, const char *context)
{
    if (strstr(problem, "mapping values are not allowed"))
        return "put a value that contains ': ' in quotes, or indent the key like the ones above it";
    if (strstr(problem, "cannot start any token") || strstr(problem, "tab character"))
        return "indent with spaces, not tabs, and put a value that begins with @, ` or % in quotes";
    if (strstr(problem, "unexpected end of stream") && context && strstr(context, "quoted"))
        return "close the quote that begins here";
    if (strstr(problem, "document indicator"))
        return "close the quote before the line that begins with '---' or '...'";
    if (strstr(problem, "expected ',' or"))
        return "separate items with ',' and close every bracket";
    return "check the quotes, brackets and indentation up to here";
}

static void report(builder *b, const yaml_parser_t *parser)
{
    const char *problem = parser->problem ? parser->problem : "unreadable";
    const char *context = parser->context;
    bool at_start = strstr(problem, "unexpected end of stream") ||
                    strstr(problem, "document indicator");
    yaml_mark_t mark = at_start && context ? parser->context_mark : parser->problem_mark;
    cg_error(b->diag, b->name, position(b, mark), "bad YAML: %s%s%s; %s", context ? context : "",
             context ? ", " : "", problem, advice(problem, context));
}

/* Runs one parser over the text from first_line on. False: it broke off, and that has been
 * reported. */
static bool run(builder *b)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        b->diag->no_memory = b->stop = true;
        return false;
    }
    size_t begin = b->lines[b->first_line];
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)b->bytes + begin, b->n - begin);
    bool ok = true, done = false;
    while (ok && !done && !b->stop) {
        yaml_event_t event;
        ok = yaml_parser_parse(&parser, &event);
        if (!ok) {
            if (parser.error == YAML_MEMORY_ERROR)
                b->diag->no_memory = b->stop = true;
            else
                report(b, &parser);
            break;
        }
        done = event.type == YAML_STREAM_END_EVENT;
        bool opens = event.type == YAML_SEQUENCE_START_EVENT ||
                     event.type == YAML_MAPPING_START_EVENT;
        ok = !(opens && b->depth == DEPTH_CAP);
        if (ok)
            take(b, &event);
        else
            refuse(b, &event, "nested more than 32 levels deep; an entry needs 3");
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return ok;
}

/* The first line after `line` (both 0-based) that begins a list item, or -1. */
static int next_item(const builder *b, int line)
{
    for (int i = line + 1; i < b->n_lines; i++) {
        const char *s = b->bytes + b->lines[i];
        size_t left = b->n - b->lines[i];
        if (left > 1 && s[0] == '-' && (s[1] == ' ' || s[1] == '\n' || s[1] == '\r'))
            return i;
    }
    return -1;
}

static void build(builder *b)
{
    for (int starts = 0; !run(b) && !b->stop; starts++) {
        b->complete = false;
        /* Whatever is open now was cut short. The item that was read last began the trouble, even
         * when the parser noticed it much later (an open quote swallows lines), so reading resumes
         * right behind it. */
        int line = b->first_line;
        if (b->root && b->root->last) {
            if (b->depth > 0)
                b->root->last->broken = true;
            if (b->root->last->pos.line - 1 > line)
                line = b->root->last->pos.line - 1;
        }
        b->depth = 0;
        int next = next_item(b, line);
        if (next < 0)
            return;
        if (starts == RESTART_CAP) {
            cg_error(
                b->diag, b->name, (cg_pos){next + 1, 1},
                "more than %d YAML errors; the rest of the file was not read, mend those first",
                RESTART_CAP);
            return;
        }
        b->first_line = next;
    }
}

const cg_node *cg_yaml_parse(tn__arena *a, cg_diag *d, const char *name, const char *example,
                             const char *bytes, size_t n, bool *complete)
{
    *complete = false;
    if (n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) /* a byte order mark takes no column */
        bytes += 3, n -= 3;
    char *own = tn__arena_alloc(a, n + 4); /* NUL-terminated: looking ahead needs no bounds */
    builder b = {.arena = a,
                 .diag = d,
                 .name = name,
                 .example = example,
                 .bytes = own,
                 .n = n,
                 .complete = true};
    if (!own) {
        d->no_memory = true;
        return NULL;
    }
    if (n)
        memcpy(own, bytes, n);
    int before = d->n_items;
    cg_bytes_clean(d, name, own, n);
    if (!index_lines(&b)) {
        d->no_memory = true;
        return NULL;
    }
    build(&b);
    *complete = b.complete && !d->no_memory;
    if (!b.root && d->n_items == before && !d->no_memory)
        cg_error(d, name, (cg_pos){1, 1}, "no entries; begin each one with '- %s'", example);
    return b.root;
}

const cg_node *cg_node_get(const cg_node *map, const char *key, const cg_node **key_node)
{
    if (map->kind == CG_NODE_MAP)
        for (const cg_node *k = map->child; k; k = k->next->next)
            if (strcmp(k->text, key) == 0) {
                if (key_node)
                    *key_node = k;
                return k->next;
            }
    return NULL;
}

const char *cg_node_describe(const cg_node *node)
{
    static const char *const words[] = {
        [CG_NODE_STR] = "a string",    [CG_NODE_NULL] = "nothing", [CG_NODE_BOOL] = "a truth value",
        [CG_NODE_NUMBER] = "a number", [CG_NODE_LIST] = "a list",  [CG_NODE_MAP] = "a mapping",
    };
    return words[node->kind];
}

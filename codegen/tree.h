/* tree.h - a YAML file as a tree of nodes, each with the line and column it was written at.
 *
 * Only what native_functions.yaml needs: a list of mappings of scalars, lists and mappings.
 * Aliases, merge keys, tags other than !!str and second documents are refused with a position. A
 * YAML error costs the list item that contains it, not the rest of the file: reading goes on at the
 * next line that begins with "- ". */
#ifndef TN_CODEGEN_TREE_H
#define TN_CODEGEN_TREE_H

#include "diag.h"

typedef enum cg_node_kind {
    CG_NODE_STR,
    CG_NODE_NULL,
    CG_NODE_BOOL,
    CG_NODE_NUMBER, /* an integer, a float or a date: what an unquoted scalar is in YAML when it
                       looks like one */
    CG_NODE_LIST,
    CG_NODE_MAP,
} cg_node_kind;

typedef struct cg_node cg_node;
struct cg_node {
    cg_node_kind kind;
    cg_pos
        pos; /* a scalar's first character (after its quote); a list's or mapping's first token */
    const char
        *text; /* scalars: the value as text, for every kind; never NULL, and free of NUL bytes */
    const char *src; /* scalars: the file's bytes from pos on */
    char style;      /* scalars: 'p'lain, '\'' or '"' quoted, 'b'lock */
    bool truth;      /* CG_NODE_BOOL */
    bool broken;     /* an item of the root list that a YAML error cut short (and that has been
                        reported) */
    cg_node *child, *last, *next; /* items of a list; key, value, key, value, ... of a mapping */
    int n;                        /* items of a list, pairs of a mapping */
};

/* The root is always a list when there is one: a file whose root is something else gets an error
 * and NULL, and so does an empty one. *complete says whether the end of the file was reached
 * without skipping anything. bytes must outlive the nodes. example: an entry, for messages. */
const cg_node *cg_yaml_parse(tn__arena *a, cg_diag *d, const char *name, const char *example,
                             const char *bytes, size_t n, bool *complete);

/* The value of `key` in a mapping, or NULL; the key itself when key_node is wanted. */
const cg_node *cg_node_get(const cg_node *map, const char *key, const cg_node **key_node);

/* "a string", "a list", ...: for messages. */
const char *cg_node_describe(const cg_node *node);

#endif

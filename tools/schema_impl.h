/* schema_impl.h - what the `tenon schema` subcommands share: operators read from files, the changes
 * between two sets of them, and the allow-list.
 *
 *     schema.c         the table of subcommands
 *     schema_ops.c     files -> schema_ops       (YAML through codegen/, or one schema per line)
 *     schema_gradients.c  which arguments have a gradient: a gradient that is gone is a break
 *     schema_allow.c   allow-list -> schema_allow
 *     schema_changes.c two schema_ops, an allow-list -> what changed, printed in every format
 *     schema_parse.c, schema_compat.c, schema_diff.c, schema_lock.c   the subcommands */
#ifndef TENON_TOOLS_SCHEMA_IMPL_H
#define TENON_TOOLS_SCHEMA_IMPL_H

#include "codegen/entry.h"
#include "core/schema/compat.h"
#include "tool.h"

int schema_cmd_parse(int argc, char **argv);
int schema_cmd_compat(int argc, char **argv);
int schema_cmd_diff(int argc, char **argv);
int schema_cmd_lock(int argc, char **argv);
int schema_cmd_check(int argc, char **argv);

/* "pytorch" or "tenon"; complains and returns false otherwise. */
bool schema_rules_parse(const char *name, tn__compat_rules *rules);

/* ---- operators of a file --------------------------------------------------------------------- */
typedef struct schema_op {
    const char *key; /* "aten::add.out": namespace always, overload unless it is the default */
    const tn__schema *schema;
    int line, column;
} schema_op;

typedef struct schema_gradient {
    const char *key, *argument; /* "aten::mul.Tensor", "self" */
} schema_gradient;

typedef struct schema_ops {
    const char *file;
    tn__arena arena;
    cg_file *yaml;    /* NULL: the file had one schema per line */
    schema_op *items; /* in file order until schema_ops_sort */
    int n, cap;
    /* Arguments that have a gradient, by key; known from a lock that lists them, or from
     * schema_gradients_load. */
    schema_gradient *gradients;
    int n_gradients, cap_gradients;
    bool has_gradients;
} schema_ops;

/* Is this file YAML (by its name's end), or one schema per line ('#' lines are comments)? */
bool schema_is_yaml(const char *path);
/* Adds the operators of one file; those that cannot be read go into d. Of our YAML entries every
 * form that follows from them is added. Returns false when the file itself cannot be read (said so
 * in d). */
bool schema_ops_read(schema_ops *ops, cg_diag *d, const char *path, bool yaml, bool strict);
/* By key, and a key that stands twice is an error in d. */
void schema_ops_sort(schema_ops *ops, cg_diag *d);
void schema_ops_free(schema_ops *ops);

/* Reads and sorts for comparison: complains on standard error and returns false at any error. */
bool schema_ops_load(schema_ops *ops, const char *path);
/* schema_gradients.c: adds the gradients of a YAML file's operators: of the formulas in `derivatives`
 * (NULL: none) and those derived from expressions. Complains and returns false at any error. */
bool schema_gradients_load(schema_ops *ops, const char *derivatives);
bool schema_gradient_add(schema_ops *ops, const char *key, size_t key_n, const char *argument,
                         size_t argument_n);
/* "# gradient ns::name: a, b" of a lock; false when the line is another comment. */
bool schema_gradient_read(schema_ops *ops, const char *line, size_t n);
/* Those lines, appended to a file. */
void schema_gradients_print(const schema_ops *ops, FILE *to);
bool schema_has_gradient(const schema_ops *ops, const char *key, const char *argument);
/* Writes the lock of a schema file and counts its schemas. Returns the exit status. */
int schema_lock_write(const char *schema, const char *out, int *count);

/* ---- the allow-list -------------------------------------------------------------------------- */
typedef struct schema_allowed {
    const char *pattern; /* ns::name, ns::name.overload, or ns::name.* */
    const char *expires; /* YYYY-MM-DD, the last day on which it holds */
    const char *reason;
    int line;
    bool expired, used;
} schema_allowed;

typedef struct schema_allow {
    const char *file; /* NULL: no list */
    tn__arena arena;
    schema_allowed *items;
    int n, cap;
} schema_allow;

/* today: YYYY-MM-DD, or NULL for the clock's (UTC). Complains and returns false at the first
 * malformed line. */
bool schema_allow_read(schema_allow *list, const char *path, const char *today);
void schema_allow_free(schema_allow *list);
/* The entry that covers an operator, and marks it used; one in force before an expired one. NULL:
 * none. */
const schema_allowed *schema_allow_find(schema_allow *list, const char *key);

/* ---- changes --------------------------------------------------------------------------------- */
/* Prints what changed from old to now and what is wrong with the allow-list. Returns the exit
 * status: TOOL_FAILED when a break is not covered by an entry in force, or an entry is expired or
 * unused. */
int schema_changes(const schema_ops *old, const schema_ops *now, tn__compat_rules rules,
                   schema_allow *allow, tool_format format);

#endif

/* border_impl.h - the border's description as data.
 *
 *     YAML --border.c--> bd_item[] --border_layout.c--> offsets, fingerprints --border_facts.c-->
 * m4 facts
 *
 * Everything lives in the arena of the bd_border. */
#ifndef TN_CODEGEN_BORDER_IMPL_H
#define TN_CODEGEN_BORDER_IMPL_H

#include <stdint.h>

#include "border.h"
#include "text.h"
#include "tree.h"

enum { BD_MAX_REVISIONS = 64 };

/* A C declaration: "const int64_t *sizes[4]", or a function's "tn_status fail(tn_call *call, ...)".
 */
typedef struct bd_decl {
    const char *type; /* normalised: "const int64_t *" */
    const char *name; /* "" for a type alone */
    const char *dims; /* "[TN_MAX_DIMS]", or "" */
    uint64_t count;   /* elements of the array; 1 without dims */
    bool is_function, variadic;
    struct bd_decl *params;
    int n_params;
} bd_decl;

typedef enum bd_member_kind { BD_FIELD, BD_FUNCTION, BD_UNION, BD_GROUP, BD_VALUE } bd_member_kind;

typedef struct bd_member bd_member;
struct bd_member {
    bd_member_kind kind;
    cg_pos pos;
    bd_decl decl; /* of a field or function; of the others the name only */
    const char *doc, *threads, *value;
    const char *printf_at, *printf_args; /* parameter numbers; "" when there is no format */
    int since;
    bd_member *members; /* of a union */
    int n_members;
    uint64_t offset, size; /* in the newest revision that has it */
};

typedef enum bd_kind {
    BD_BORDER,
    BD_EXTERNAL,
    BD_CONSTANT,
    BD_SECTION,
    BD_STRUCT,
    BD_ENUM,
    BD_ALIAS,
    BD_OPAQUE,
    BD_CALLBACK,
} bd_kind;

typedef struct bd_item {
    bd_kind kind;
    cg_pos pos;
    const char *name, *doc;
    bd_decl decl; /* of an alias, external or callback */
    int since;
    uint64_t value; /* of a constant */
    bd_member *members;
    int n_members;
    uint64_t align, size[BD_MAX_REVISIONS + 1]; /* size by revision; 0: not there yet */
} bd_item;

typedef struct bd_border {
    tn__arena arena;
    cg_diag *diag;
    const char *file;
    bd_item *items;
    int n_items, revision;
    uint64_t fingerprint[BD_MAX_REVISIONS + 1];
} bd_border;

void bd_error(bd_border *b, cg_pos pos, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void *bd_alloc(bd_border *b, size_t bytes); /* NULL: out of memory, and recorded */
const bd_item *bd_find(const bd_border *b, const char *name);

/* border.c: a description read, checked and laid out; false: d says why not. Close it in any case. */
bool bd_open(bd_border *b, cg_diag *d, const char *description);
void bd_close(bd_border *b);

/* border_decl.c */
bool bd_parse_decl(bd_border *b, cg_pos pos, const char *text, bool named, bd_decl *out);

/* border_layout.c: offsets and sizes of every revision, then the fingerprints. */
void bd_layout(bd_border *b);

/* border_facts.c: the body of cg_facts. */
void bd_facts(bd_border *b, cg_text *t);

#endif

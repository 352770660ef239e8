/* entry_impl.h - what the files that read an entry share: entry.c, entry_keys.c, entry_ours.c. */
#ifndef TN_CODEGEN_ENTRY_IMPL_H
#define TN_CODEGEN_ENTRY_IMPL_H

#include "entry.h"
#include "tree.h"
#include "words.h"

/* The reading of one entry. */
typedef struct cg_reader {
    tn__arena *arena;
    cg_diag *diag;
    const char *name;    /* of the file */
    const cg_node *node; /* the entry's mapping */
    cg_entry *entry;
} cg_reader;

#define cg_fail(r, pos, ...) cg_error((r)->diag, (r)->name, pos, __VA_ARGS__)

/* The whole file in one allocation of malloc, or NULL with the reason reported. */
char *cg_slurp(cg_diag *d, const char *path, size_t *n);

void *cg_alloc(cg_reader *r, size_t bytes); /* NULL: the diagnostics say so */
cg_str cg_str_of(const cg_node *scalar);
cg_str cg_str_part(cg_reader *r, const cg_str *whole, size_t at, size_t n);

/* The value of a key that must be a string; text is NULL when the key is absent, null, or wrong
 * (reported). */
cg_str cg_take_string(cg_reader *r, const char *key, bool null_is_absent, const char *example);

/* Splits "a, b" into parts with positions; the separator is exactly ", ", as PyTorch wants it.
 * Returns how many, 0 after an error. */
int cg_split(cg_reader *r, const cg_str *whole, const cg_str **parts);

/* A list of strings, or one string with commas. Returns how many, 0 when absent or after an error.
 */
int cg_take_words(cg_reader *r, const char *key, const cg_str **words);

void cg_read_keys(cg_reader *r);     /* entry_keys.c: ATen's keys, except func */
void cg_read_ours(cg_reader *r);     /* entry_ours.c: our keys */
void cg_read_samples(cg_reader *r);  /* samples.c: the calls to test with */
void cg_read_dispatch(cg_reader *r); /* entry_dispatch.c: the dispatch table, written and implied */

#endif

/* diag.h - every complaint of a run, collected: file:line:column: what is wrong; what to write
 * instead.
 *
 * Reading and validating never stop at the first error: each one is added here, and the caller
 * prints them all at the end, sorted by file and position. Nothing in the front half prints or
 * exits by itself.
 *
 * Memory: messages live in the diagnostics' own arena, so they outlive the files they speak of.
 * Threads: one cg_diag per thread. */
#ifndef TN_CODEGEN_DIAG_H
#define TN_CODEGEN_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "schema.h"

typedef struct cg_pos {
    int line, column; /* 1-based; columns count characters, not bytes; 0: the file as a whole */
} cg_pos;

typedef struct cg_diag_item {
    const char *file;
    cg_pos pos;
    const char *message;
    int order; /* of arrival: ties in position keep it */
} cg_diag_item;

typedef struct cg_diag {
    tn__arena arena;
    cg_diag_item *items;
    int n_items, cap;
    bool no_memory; /* an error could not be stored: the run failed whatever n_items says */
} cg_diag;          /* zero-initialised is empty and ready */

typedef enum cg_diag_format {
    CG_DIAG_TEXT, /* file:line:column: message */
    CG_DIAG_JSON, /* JSON Lines: {"kind": "error", "file": .., "line": .., "column": .., "message":
                     ..} */
    CG_DIAG_GITHUB, /* ::error file=..,line=..,col=..::message */
} cg_diag_format;

/* Adds one error. The sentence is "what is wrong; what to write instead", without a final full
 * stop. */
void cg_error(cg_diag *d, const char *file, cg_pos pos, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

bool cg_diag_failed(const cg_diag *d);

/* Sorts by file name, line, column. Printing sorts first. */
void cg_diag_sort(cg_diag *d);
void cg_diag_print(cg_diag *d, FILE *to, cg_diag_format format);
void cg_diag_free(cg_diag *d);

/* The candidate that `word` was most likely meant to be, or NULL when none is near: for "did you
 * mean". */
const char *cg_near(const char *word, const char *const *candidates, int n);

#endif

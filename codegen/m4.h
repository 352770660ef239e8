/* m4.h - one run of m4: facts and a template in, clean text out.
 *
 * Starting and finishing are two calls, so that several runs go on side by side. Each cg_m4_start
 * that succeeded is followed by one cg_m4_finish. Where m4 is run and in which language the user
 * speaks makes no difference to the output. */
#ifndef TN_CODEGEN_M4_H
#define TN_CODEGEN_M4_H

#include <sys/types.h>

#include "diag.h"

enum { CG_PATH_CHARS = 4096 };

typedef struct cg_m4 {
    FILE *in, *out, *err;
    pid_t child;
    char dir[CG_PATH_CHARS], prelude[CG_PATH_CHARS], template[CG_PATH_CHARS];
} cg_m4;

/* What in text the templates would take for theirs: a word that begins with m4_ or cg_, a quote, the
 * mark of a list; NULL: nothing. In a fact it must not be, in an output it is a placeholder that
 * nothing filled in. */
const char *cg_m4_word(const char *text);

/* m4 -P -s -E on template_dir/prelude.m4, the facts and template_dir/template_name. */
bool cg_m4_start(cg_diag *d, cg_m4 *m, const char *template_dir, const char *template_name,
                 const char *facts, size_t n);

/* Waits for it. *text is the caller's to free, NUL-terminated, without m4's sync lines and with its
 * lists ("@<head@|item@>") laid out; NULL after an error: a complaint of m4's, or a placeholder that
 * nothing filled in, at its template line. */
bool cg_m4_finish(cg_diag *d, cg_m4 *m, char **text, size_t *n);

#endif

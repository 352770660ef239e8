/* emit.h - facts and a template in, a generated file out.
 *
 * The generator writes facts as m4 macro calls; the template owns every token of the output. m4
 * runs as a child process (m4 -P -s -E), fed with three texts: templates/prelude.m4, the facts, the
 * template. What a template calls facts is its business; by convention the facts are the body of
 * one macro, cg_facts, that a template expands as often as it needs, each time with other
 * definitions of the macros in it. */
#ifndef TN_CODEGEN_EMIT_H
#define TN_CODEGEN_EMIT_H

#include "diag.h"

typedef struct cg_out {
    const char *outdir;       /* what is generated goes below it; made when absent */
    const char *template_dir; /* where prelude.m4 and the templates are */
    bool check;               /* write nothing: a file that would change is an error */
    int written, same;        /* counted by cg_emit */
} cg_out;

/* Makes outdir/relative_path from template_dir/template_name. The file is replaced as a whole, and
 * left alone when its content would not change. Errors are reported to d: m4's own with the
 * template's line; output that still contains "m4_", "cg_", "@{" or "@}" is a placeholder that
 * nothing filled in, and no file is written. */
bool cg_emit(cg_diag *d, cg_out *out, const char *template_name, const char *facts, size_t n,
             const char *relative_path);

/* The last half of it: writes text that needs no template. */
bool cg_emit_text(cg_diag *d, cg_out *out, const char *text, size_t n, const char *relative_path);

#endif

/* emit.h - facts and a template in, generated files out.
 *
 * The generator writes facts as m4 macro calls; the template owns every token of the output. m4
 * runs as a child process (m4.h), fed with three texts: templates/prelude.m4, the facts, the
 * template. What a template calls facts is its business; by convention the facts are the body of
 * one macro, cg_facts, that a template expands as often as it needs, each time with other
 * definitions of the macros in it. */
#ifndef TN_CODEGEN_EMIT_H
#define TN_CODEGEN_EMIT_H

#include <stdint.h>

#include "diag.h"

/* A file that stands in the output directory as it should, whether written or left alone. */
typedef struct cg_made {
    const char *path; /* below outdir */
    uint64_t hash;    /* of its content */
} cg_made;

typedef struct cg_out {
    const char *outdir;       /* what is generated goes below it; made when absent */
    const char *template_dir; /* where prelude.m4 and the templates are */
    bool check;               /* write nothing: a file that would change is an error */
    int written, same;        /* counted by cg_emit */
    int jobs;                 /* m4 processes at a time; 0: as many as there are CPUs, 4 at most */
    tn__arena *arena;         /* NULL: what is made is not recorded */
    cg_made *made;            /* all of it, in the order of the outputs */
    int n_made, cap_made;
} cg_out;

typedef struct cg_job {
    const char *template_name;
    const char *facts;
    size_t n;
    const char *path; /* of the output, below outdir. Ends in '/': a folder of pages */
} cg_job;

/* Makes every job's output; m4 runs side by side, files are written in the order of the jobs. A
 * file is replaced as a whole, and left alone when its content would not change. Errors are
 * reported to d: m4's own with the template's line; output that still contains "m4_", "cg_", "@{",
 * "@}" or the mark of a list is a placeholder that nothing filled in, and no file is written.
 *
 * A folder of pages is one run of m4 too: a line "@page NAME" begins the file NAME of the folder.
 * Pages of an earlier run that are no longer made are removed, or with check reported. */
bool cg_emit_all(cg_diag *d, cg_out *out, const cg_job *jobs, int n_jobs);

/* One file. */
bool cg_emit(cg_diag *d, cg_out *out, const char *template_name, const char *facts, size_t n,
             const char *relative_path);

/* The last half of it: writes text that needs no template. */
bool cg_emit_text(cg_diag *d, cg_out *out, const char *text, size_t n, const char *relative_path);

/* FNV-1a, 64 bits: the same on every machine. h is CG_HASH_START, or what an earlier call gave for
 * the bytes before these. */
#define CG_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t cg_hash(uint64_t h, const void *bytes, size_t n);

#endif

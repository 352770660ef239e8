/* outputs.h - which files are made of which template. */
#ifndef TN_CODEGEN_OUTPUTS_H
#define TN_CODEGEN_OUTPUTS_H

#include "derivatives.h"
#include "emit.h"
#include "kernel_calls.h"

typedef struct cg_outputs {
    const char *schema, *plugin;       /* plugin NULL: the built-in operators */
    const cg_ops *ops;                 /* NULL: a plugin that has none of its own */
    const cg_derivatives *derivatives; /* may be empty */
    const cg_kernel_calls *calls;      /* of a plugin's kernels; NULL: none */
} cg_outputs;

/* Makes every file below out->outdir. */
bool cg_outputs_make(cg_diag *d, cg_out *out, const cg_outputs *o);

/* Writes all facts. */
bool cg_outputs_dump(cg_diag *d, const cg_outputs *o, FILE *to);

#endif

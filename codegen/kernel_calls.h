/* kernel_calls.h - the operators that a plugin's kernels call, from a file of its own: which, by what
 * name, with which arguments.
 *
 *     - add: add.Tensor(self, other)     functions of these arguments; the others keep their defaults
 *     - addmm: addmm                     the handle alone */
#ifndef TN_CODEGEN_KERNEL_CALLS_H
#define TN_CODEGEN_KERNEL_CALLS_H

#include "ops.h"

typedef struct cg_kernel_call {
    const char *key;
    const cg_op *op;
    const char *given; /* "|self|other|"; NULL: the handle alone */
} cg_kernel_call;

typedef struct cg_kernel_calls {
    cg_kernel_call *items; /* in the order of the file */
    int n;
} cg_kernel_calls;

/* `own`: the plugin's operators, which are called with their namespace; `built_in`: Tenon's. Everything
 * lives in the arena; errors go to d, all of a file in one run. */
bool cg_kernel_calls_read(cg_diag *d, tn__arena *a, const char *path, const cg_ops *own,
                          const cg_ops *built_in, cg_kernel_calls *out);

/* As facts: cg_given, then what cg_fact_op writes, its id the key. */
bool cg_kernel_calls_write(const cg_kernel_calls *calls, const char *ns, FILE *to);

#endif

/* samples.h - `samples`: the calls on which `tenon opinfo` tries an operator that nobody wrote an
 * OpInfo row for. Nothing is generated from them; whoever reads the file, the generator or the
 * harness, finds the same mistakes.
 *
 *     samples:
 *       - (self=[3, 4], weight=[4], dim=1)
 *       - (self=[5], index=[3] i64 from 0 to 4)
 *       - (tensors=[[3, 4], [2, 4]], dim=0)
 *       - (self=[3, 4], weight=[5]) fails
 *
 * A tensor is its shape; everything else is written as a default value of a schema is. */
#ifndef TN_CODEGEN_SAMPLES_H
#define TN_CODEGEN_SAMPLES_H

#include "entry.h"

enum { CG_SAMPLE_DIMS = 8, CG_SAMPLE_ARGS = 10, CG_SAMPLE_TENSORS = 16 };

typedef struct cg_sample_tensor {
    bool absent; /* None */
    int ndim;
    int64_t sizes[CG_SAMPLE_DIMS];
    cg_dtypes dtype; /* one bit; 0: that of the case */
    bool has_range;
    double lo, hi; /* of the values, both included */
} cg_sample_tensor;

typedef struct cg_sample_arg {
    const tn__arg *arg;              /* of the entry's schema */
    const cg_sample_tensor *tensors; /* NULL: no tensors, but a value */
    int n_tensors;                   /* Tensor: 1; Tensor[]: any number, -1 for None */
    const tn__schema *value;         /* a schema with this argument alone, whose default it is */
} cg_sample_arg;

typedef struct cg_sample {
    cg_str text;
    cg_sample_arg args[CG_SAMPLE_ARGS];
    int n_args;
    bool fails; /* the call must be refused */
} cg_sample;

#endif

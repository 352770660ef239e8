/* scatter.h - the walk of scatter.c, which reads src and writes, adds or otherwise combines at places
 * that an index decides; in row-major order of src, on one thread. */
#ifndef CPU_SCATTER_H
#define CPU_SCATTER_H

#include "cpu.h"

/* Element i goes to out + i * out_stride + index[i] * step. Strides are bytes. */
typedef struct cpu_scatter_row {
    char *out;
    const char *src, *index;
    int64_t n, out_stride, src_stride, index_stride, step;
    int64_t bytes; /* of an element */
    bool narrow;   /* indices are int32 */
} cpu_scatter_row;

static inline char *cpu_scatter_place(const cpu_scatter_row *r, int64_t i)
{
    const char *at = r->index + i * r->index_stride;
    int64_t index = r->narrow ? *(const int32_t *)at : *(const int64_t *)at;
    return r->out + i * r->out_stride + index * r->step;
}

/* Combines out and src, in order; alpha is a factor of src for those that add. */
typedef void (*cpu_scatter_fn)(const cpu_scatter_row *r, const tn_number *alpha);
/* NULL for halves, which are combined in float32. */
extern const cpu_scatter_fn cpu_adders[TN_DTYPE_COUNT], cpu_multipliers[TN_DTYPE_COUNT];

typedef struct cpu_scatter_op {
    tn_tensor *result, *self, *index, *src; /* src NULL: `value` */
    int64_t dim;
    tn_scalar value; /* what is written, or alpha */
    bool adds;
    bool by_slices; /* index has one dimension, and names slices of src (index_add) */
} cpu_scatter_op;

/* Everything that can be wrong, before anything is written. */
tn_status cpu_scatter_check(tn_call *call, const cpu_scatter_op *o);
/* `out` holds self's values already; both it and src are of a dtype that fns has. fns NULL: src, or
 * the value, is written. */
void cpu_scatter_into(const cpu_scatter_op *o, const cpu_scatter_fn *fns, const tn_tensor *out,
                      const tn_tensor *src);

#endif

/* softmax_rows.h - softmax of one contiguous row; kernels/softmax_rows.c has it once per
 * instruction set. */
#ifndef CPU_SOFTMAX_ROWS_H
#define CPU_SOFTMAX_ROWS_H

#include <tenon/border.h>

/* Writes n elements; out may be in itself. */
typedef void (*softmax_row_fn)(const void *in, void *out, int64_t n);

typedef struct softmax_rows {
    softmax_row_fn f32[2], f64[2]; /* [log] */
} softmax_rows;

#endif

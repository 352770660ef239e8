/* blocks.h - elementwise loops that compute whole blocks of CPU_LANES elements.
 *
 * A function with a vector form (vector_math.h) differs in its last bit from libm's. So that no
 * element depends on where it stands, on strides or on how a range is split, all of them are
 * computed by the vector form: a block that is not whole, or not row-major, is gathered first. */
#ifndef CPU_BLOCKS_H
#define CPU_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include <tenon/number.h>

/* CPU_LANES row-major elements: data[0] is written, the others are read. */
typedef void cpu_block_fn(char *const *data, const tn_number *numbers);

/* A tn_loop_fn by `fn`: n elements of `inputs` operands of `size` bytes an element, and a result of
 * `out_size`. */
void cpu_in_blocks(cpu_block_fn *fn, int inputs, size_t out_size, size_t size, char *const *data,
                   const int64_t *strides, int64_t n, const tn_number *numbers);

#endif

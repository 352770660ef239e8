/* gemm.h - batches of matrix products of any dtype, shape and strides, on as many threads as the
 * call may use. */
#ifndef CPU_GEMM_H
#define CPU_GEMM_H

#include <tenon/plugin.h>

#include "kernels/gemm.h"

/* `batch` products whose matrices lie *.batch elements apart; c must share no memory with a or b.
 * p->c may have any strides. dtype is that of all matrices in memory; alpha and beta are in the
 * dtype of its arithmetic (f32 for f16 and bf16). p is used up. bool is an error. */
tn_status cpu_gemm(tn_call *call, tn_dtype dtype, int64_t batch, cpu_product *p);

#endif

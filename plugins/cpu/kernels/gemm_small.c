/* gemm_small.c - f32 and f64 products in registers, for matrices that are too small for a library's
 * packing, and for every size where no library is there.
 *
 * A tile of c, 4 rows by 2 vectors, stays in registers over the whole of k; b is read in place
 * where its rows are dense and full, else a panel of it is packed and padded on the stack. Compiled
 * with contraction, so that a multiply-add is one instruction with one rounding where the
 * instruction set has it: |error| <= k eps sum |a||b|, like any order. */
#include <string.h>

#include "gemm.h"
#include "per_isa.h"

#ifdef TN_ISA_baseline
#define VECTOR_BYTES 16
#else
#define VECTOR_BYTES 32 /* also with AVX-512: small tiles gain nothing from wider ones */
#endif
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#define UNROLL_DEPTH _Pragma("clang loop unroll_count(4)")
#define UNROLL_WIDTH _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 4")
#define UNROLL_DEPTH _Pragma("GCC unroll 4")
#define UNROLL_WIDTH _Pragma("GCC unroll 8")
#endif
#define INLINE static inline __attribute__((always_inline))

enum { ROWS = 4, DEPTH = 256 };

/* The halves of two vectors, interleaved. */
#if VECTOR_BYTES == 16
#define LOW_f32(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH_f32(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define LOW_f64(a, b) __builtin_shufflevector(a, b, 0, 2)
#define HIGH_f64(a, b) __builtin_shufflevector(a, b, 1, 3)
#else
#define LOW_f32(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_f32(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW_f64(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH_f64(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#endif

#define REAL float
#define FN(name) name##_f32
#define MEMBER f32
#include "gemm_small.inc"
#undef REAL
#undef FN
#undef MEMBER
#define REAL double
#define FN(name) name##_f64
#define MEMBER f64
#include "gemm_small.inc"

void CPU_TABLE(gemm_f32)(const cpu_product *p)
{
    gemm_f32(p);
}

void CPU_TABLE(gemm_f64)(const cpu_product *p)
{
    gemm_f64(p);
}

/* gemm_loop.c - products of integers, which no library does, and of complex numbers where no
 * library is there.
 *
 * Row by row of c: c[i] += alpha a[i][p] * b[p], over blocks of b that stay in cache; the inner
 * loop runs over dense rows. Integers wrap around in their own width. */
#include "gemm.h"
#include "per_isa.h"

enum { DEPTH = 64, COLUMNS = 256 };

#define TYPE uint8_t
#define OF(name) name##_u8
#define MEMBER u8
#include "gemm_loop.inc"
#define TYPE int8_t
#define OF(name) name##_i8
#define MEMBER i8
#include "gemm_loop.inc"
#define TYPE int16_t
#define OF(name) name##_i16
#define MEMBER i16
#include "gemm_loop.inc"
#define TYPE int32_t
#define OF(name) name##_i32
#define MEMBER i32
#include "gemm_loop.inc"
#define TYPE int64_t
#define OF(name) name##_i64
#define MEMBER i64
#include "gemm_loop.inc"
#define TYPE tn_c64
#define OF(name) name##_c64
#define MEMBER c64
#include "gemm_loop.inc"
#define TYPE tn_c128
#define OF(name) name##_c128
#define MEMBER c128
#include "gemm_loop.inc"

const cpu_gemm_fns CPU_TABLE(gemm) = {{
    [TN_U8] = gemm_u8,
    [TN_I8] = gemm_i8,
    [TN_I16] = gemm_i16,
    [TN_I32] = gemm_i32,
    [TN_I64] = gemm_i64,
    [TN_F32] = CPU_TABLE(gemm_f32),
    [TN_F64] = CPU_TABLE(gemm_f64),
    [TN_C64] = gemm_c64,
    [TN_C128] = gemm_c128,
}};

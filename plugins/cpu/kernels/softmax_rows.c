/* softmax_rows.c - softmax and log_softmax of a contiguous row, compiled once per instruction set.
 *
 * Three passes: the maximum; e^(x - maximum) and its sum, a block at a time; the scaling. The sum
 * is kept in f64. A row of -inf alone has no maximum to subtract and gives NaN, as does a row with
 * +inf or NaN. softmax_rows.inc is the row, included for f32 and f64.
 *
 * e^x: x = k ln 2 + r with |r| <= ln 2 / 2, ln 2 in two parts (Cody and Waite) the first of which
 * has so few bits that k times it is exact; e^r by its Taylor series, 2^k in two factors, so that
 * subnormal results are rounded once. No branches, so loops over it vectorise. Both are below
 * 1.5 ULP; tests/unit/plugins/cpu/reduce_softmax.c measures them against libm. */
#include "softmax_rows.h"

#include <math.h>
#include <string.h>

#include <tenon/half.h>

#include "per_isa.h"

/* Operands may share memory only element for element, so iterations are independent. */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

enum { BLOCK = 512, LANES = 16 };

/* Series to r^7: what is left out is below 2^-27 of the result. */
static inline float exp_f32(float x)
{
    const float round = 0x1.8p23f; /* adding it leaves the nearest integer in the low bits */
    x = x < -110 ? -110 : x;       /* there and below, 0; a NaN stays */
    float shifted = x * 0x1.7154760000000p+0f + round, k = shifted - round;
    float r = (x - k * 0x1.62e4p-1f) - k * 0x1.7f7d1c0000000p-20f;
    float q = 1.0f / 5040;
    q = q * r + 1.0f / 720;
    q = q * r + 1.0f / 120;
    q = q * r + 1.0f / 24;
    q = q * r + 1.0f / 6;
    q = q * r + 1.0f / 2;
    int32_t power = (int32_t)(tn_f32_to_bits(shifted) - tn_f32_to_bits(round)), half = power >> 1;
    float a = tn_f32_from_bits((uint32_t)(half + 127) << 23);
    float b = tn_f32_from_bits((uint32_t)(power - half + 127) << 23);
    return (1 + (r + r * r * q)) * a * b;
}

static inline double f64_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t f64_to_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Series to r^13: what is left out is below 2^-57 of the result. The power is halved by a shift of
 * its biased, positive form: 64-bit arithmetic shifts are not in every instruction set. */
static inline double exp_f64(double x)
{
    const double round = 0x1.8p52;
    x = x < -760 ? -760 : x;
    double shifted = x * 0x1.71547652b82fep+0 + round, k = shifted - round;
    double r = (x - k * 0x1.62e42fefa38p-1) - k * 0x1.ef35793c76730p-45;
    double q = 1.0 / 6227020800;
    q = q * r + 1.0 / 479001600;
    q = q * r + 1.0 / 39916800;
    q = q * r + 1.0 / 3628800;
    q = q * r + 1.0 / 362880;
    q = q * r + 1.0 / 40320;
    q = q * r + 1.0 / 5040;
    q = q * r + 1.0 / 720;
    q = q * r + 1.0 / 120;
    q = q * r + 1.0 / 24;
    q = q * r + 1.0 / 6;
    q = q * r + 1.0 / 2;
    uint64_t biased = f64_to_bits(shifted) - f64_to_bits(round) + 2046, half = biased >> 1;
    double a = f64_from_bits(half << 52), b = f64_from_bits((biased - half) << 52);
    return (1 + (r + r * r * q)) * a * b;
}

#define JOIN_(part, suffix) part##_##suffix
#define JOIN(part, suffix) JOIN_(part, suffix)
#define FN(part) JOIN(part, SUFFIX)

#define SUFFIX f32
#define T float
#include "softmax_rows.inc"

#define SUFFIX f64
#define T double
#include "softmax_rows.inc"

extern const softmax_rows CPU_TABLE(softmax_loops);
const softmax_rows CPU_TABLE(softmax_loops) = {
    .f32 = {row_f32, log_row_f32},
    .f64 = {row_f64, log_row_f64},
};

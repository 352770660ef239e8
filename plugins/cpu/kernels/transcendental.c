/* transcendental.c - gelu and powers of floating dtypes: loops over whole blocks (blocks.h), so that
 * the compiler calls the vector forms of erfc, exp and pow. */
#include "vector_math.h" /* before anything that calls them */

#include "transcendental.h"

#include "blocks.h"
#include "per_isa.h"
#include "pointwise_loops.h"

/* Phi(x) for gelu. 1 + erf would cancel for negative x, so it is made of its tail Q(|x|), as
 * exp(-x^2 / 2) u S(u) with u = 1 / (1 + 0.26 |x|): that is Mills' ratio, smooth in u, and S its
 * minimax polynomial (error 2.8e-8, fitted to |x| <= 14.5, where floats end). Relative error of the
 * whole: (4 + x^2) eps, of which x^2 comes from the rounding of x^2. */
static inline float normal_cdf_f32(float x)
{
    static const float c[] = {0.103757022f,  0.103050984f, 0.102788601f,
                              0.0519651651f, 0.158757887f, -0.147787978f,
                              0.24873192f,   -0.15149377f, 0.0302301548f};
    const float u = 1 / (1 + 0.26f * fabsf(x));
    float s = c[8];
    for (int k = 7; k >= 0; k--)
        s = s * u + c[k];
    const float tail = expf(-0.5f * x * x) * u * s;
    return x < 0 ? tail : 1 - tail;
}

/* By erfc, for the same reason. Relative error: (3 + x^2) eps. */
static inline double normal_cdf_f64(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2);
}

#define TYPE float
#define OF(name) name##_f32
#define MEMBER f32
#define LIBM(name) name##f
#include "transcendental.inc"

#define TYPE double
#define OF(name) name##_f64
#define MEMBER f64
#define LIBM(name) name
#include "transcendental.inc"

#define LOOPS(name)                                                                                \
    {                                                                                              \
        [TN_F32] = name##_f32, [TN_F64] = name##_f64                                               \
    }
const transcendental_loops CPU_TABLE(transcendental) = {
    .gelu_erf = LOOPS(gelu_erf),
    .gelu_tanh = LOOPS(gelu_tanh),
    .pow = LOOPS(pow),
    .pow_number = LOOPS(pow_number),
    .number_pow = LOOPS(number_pow),
    .cube = LOOPS(cube),
};

/* tolerances.c - how far a result may be from the reference, by family of operators and dtype: the
 * one place where a limit is written. Units: last places of the result's dtype, at the size of
 * max(|reference|, the terms it was made from). 0 means: the reference rounded to the dtype,
 * exactly. The observed worst stands beside the limit in every report; a limit far above it is too
 * lax.
 *
 * float16 and bfloat16 are computed in float32 and rounded once: half a place, and a little for a
 * result that float32 puts on the other side of the middle. */
#include "opinfo.h"

#include <string.h>

static const struct {
    const char *family;
    double half, f32, f64, c64, c128;
} limits[] = {
    {"exact", 0, 0, 0, 0, 0},             /* moved, chosen, compared: nothing is rounded */
    {"rounded", 0.51, 0.5, 0.5, 3, 3},    /* one IEEE operation, correctly rounded */
    {"arithmetic", 0.51, 1.5, 1.5, 3, 3}, /* a few correctly rounded operations */
    {"function", 0.51, 2, 2, 8, 8},       /* libm: one place each; complex: several, combined */
    {"composed", 0.51, 4, 4, 12, 12},     /* sigmoid, silu, gelu, rsqrt: functions of functions */
    {"hard", 0.51, 4, 4, 8, 8},           /* lgamma, pow: large intermediate values */
    {"sum", 0.6, 2, 4, 2, 4},             /* relative to the sum of magnitudes */
    {"product", 1, 64, 64, 96, 96},       /* up to 1,031 factors, half a place each at random */
    {"matrix", 1, 4, 4, 6, 6},            /* relative to sum |a||b| */
    {"moment", 0.6, 4, 4, 6, 6},          /* var, std, norms, logsumexp: sums of functions */
    {"loss", 2, 6, 6, 6, 6},              /* halves round each step: products, logarithms, sums */
    {"formula", 1, 4, 8, 8, 8}, /* a plugin's: its terms as noise shows them, in double precision */
    {"softmax", 0.6, 6, 6, 0, 0}, /* exp, sum and quotient */
};

double oi_tolerance(const char *family, tn_dtype dtype)
{
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (strcmp(limits[i].family, family) != 0)
            continue;
        switch (dtype) {
        case TN_F16:
        case TN_BF16:
            return limits[i].half;
        case TN_F32:
            return limits[i].f32;
        case TN_F64:
            return limits[i].f64;
        case TN_C64:
            return limits[i].c64;
        case TN_C128:
            return limits[i].c128;
        default:
            return 0;
        }
    }
    return 0;
}

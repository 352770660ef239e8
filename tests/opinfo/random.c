/* random.c - where samples take their values from: a counter through splitmix64, begun anew for
 * each sample from the seed, the operator, the dtype and the sample's number, so that one case
 * alone gives what the whole run gave. */
#include "opinfo.h"

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

oi_rng oi_rng_make(uint64_t seed, const char *op, int dtype, int sample)
{
    uint64_t h = mix(seed + UINT64_C(0x9e3779b97f4a7c15));
    for (; *op; op++)
        h = mix(h ^ (unsigned char)*op);
    return (oi_rng){mix(h ^ ((uint64_t)dtype << 32 | (uint32_t)sample))};
}

uint64_t oi_random(oi_rng *r)
{
    return mix(r->state += UINT64_C(0x9e3779b97f4a7c15));
}

double oi_uniform(oi_rng *r, double lo, double hi)
{
    return lo + (hi - lo) * ((double)(oi_random(r) >> 11) * 0x1p-53);
}

int64_t oi_uniform_int(oi_rng *r, int64_t lo, int64_t hi)
{
    return lo + (int64_t)(oi_random(r) % (uint64_t)(hi - lo + 1));
}

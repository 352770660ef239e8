/* isa.c - chooses the instruction set once, at start, and finds the generated loops that were
 * compiled for it. */
#include "isa.h"

#include <stdlib.h>
#include <string.h>

#include "pointwise_loops.h"

#define DECLARE(isa)                                                                               \
    extern const tn_loop_fn TN_LOOPS_NAME(isa, bool_loops)[], TN_LOOPS_NAME(isa, u8_loops)[],      \
        TN_LOOPS_NAME(isa, i8_loops)[], TN_LOOPS_NAME(isa, i16_loops)[],                           \
        TN_LOOPS_NAME(isa, i32_loops)[], TN_LOOPS_NAME(isa, i64_loops)[],                          \
        TN_LOOPS_NAME(isa, f16_loops)[], TN_LOOPS_NAME(isa, bf16_loops)[],                         \
        TN_LOOPS_NAME(isa, f32_loops)[], TN_LOOPS_NAME(isa, f64_loops)[],                          \
        TN_LOOPS_NAME(isa, c64_loops)[], TN_LOOPS_NAME(isa, c128_loops)[]
#define TABLE(isa)                                                                                 \
    {                                                                                              \
        TN_LOOPS_NAME(isa, bool_loops), TN_LOOPS_NAME(isa, u8_loops),                              \
            TN_LOOPS_NAME(isa, i8_loops), TN_LOOPS_NAME(isa, i16_loops),                           \
            TN_LOOPS_NAME(isa, i32_loops), TN_LOOPS_NAME(isa, i64_loops),                          \
            TN_LOOPS_NAME(isa, f16_loops), TN_LOOPS_NAME(isa, bf16_loops),                         \
            TN_LOOPS_NAME(isa, f32_loops), TN_LOOPS_NAME(isa, f64_loops),                          \
            TN_LOOPS_NAME(isa, c64_loops), TN_LOOPS_NAME(isa, c128_loops)                          \
    }

DECLARE(baseline);
#ifdef TN_HAVE_ISA_avx2
DECLARE(avx2);
#endif
#ifdef TN_HAVE_ISA_avx512
DECLARE(avx512);
#endif

static const tn_loop_fn *const tables[CPU_ISAS][TN_DTYPE_COUNT] = {
    [CPU_BASELINE] = TABLE(baseline),
#ifdef TN_HAVE_ISA_avx2
    [CPU_AVX2] = TABLE(avx2),
#endif
#ifdef TN_HAVE_ISA_avx512
    [CPU_AVX512] = TABLE(avx512),
#endif
};

static bool machine_has(cpu_isa isa)
{
#if defined(__x86_64__)
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
    if (isa == CPU_AVX2)
        return v3;
    if (isa == CPU_AVX512)
        return v4;
#endif
    return isa == CPU_BASELINE;
}

const char *cpu_isa_name(cpu_isa isa)
{
    static const char *const names[] = {"baseline", "avx2", "avx512"};
    return names[isa];
}

cpu_isa cpu_isa_chosen(void)
{
    static int chosen = -1; /* the same answer for every thread that may ask first */
    if (chosen >= 0)
        return (cpu_isa)chosen;
    const char *asked = getenv("TENON_CPU_ISA");
    cpu_isa isa = CPU_AVX512;
    for (int i = 0; i < CPU_ISAS; i++)
        if (asked && strcmp(asked, cpu_isa_name((cpu_isa)i)) == 0)
            isa = (cpu_isa)i;
    while (isa > CPU_BASELINE && (!tables[isa][0] || !machine_has(isa)))
        isa--;
    chosen = isa;
    return isa;
}

tn_loop_fn cpu_loops[LOOP_COUNT][TN_DTYPE_COUNT];

void cpu_isa_start(void)
{
    const tn_loop_fn *const *chosen = tables[cpu_isa_chosen()];
    for (int dtype = 0; dtype < TN_DTYPE_COUNT; dtype++)
        for (int loop = 0; loop < LOOP_COUNT; loop++)
            cpu_loops[loop][dtype] = chosen[dtype][loop];
}

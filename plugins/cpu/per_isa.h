/* per_isa.h - tables of hand-written loops that exist once per instruction set.
 *
 * A file in kernels/ defines `const TYPE CPU_TABLE(NAME) = {...}` and is compiled once per
 * instruction set. The family that uses it says CPU_PER_ISA(TYPE, NAME) once and reads
 * *NAME_table(): what was compiled for this processor. */
#ifndef CPU_PER_ISA_H
#define CPU_PER_ISA_H

#include "isa.h"

#ifndef TN_ISA
#define TN_ISA baseline
#endif
#define CPU_PASTE_(a, b) a##_##b
#define CPU_PASTE(a, b) CPU_PASTE_(a, b)
#define CPU_TABLE(name) CPU_PASTE(TN_ISA, name)

#ifdef TN_HAVE_ISA_avx2
#define CPU_AVX2_TABLE(name) avx2_##name
#else
#define CPU_AVX2_TABLE(name) baseline_##name
#endif
#ifdef TN_HAVE_ISA_avx512
#define CPU_AVX512_TABLE(name) avx512_##name
#else
#define CPU_AVX512_TABLE(name) CPU_AVX2_TABLE(name)
#endif

#define CPU_PER_ISA(type, name)                                                                    \
    extern const type baseline_##name, CPU_AVX2_TABLE(name), CPU_AVX512_TABLE(name);               \
    static inline const type *name##_table(void)                                                   \
    {                                                                                              \
        static const type *const tables[CPU_ISAS] = {&baseline_##name, &CPU_AVX2_TABLE(name),      \
                                                     &CPU_AVX512_TABLE(name)};                     \
        return tables[cpu_isa_chosen()];                                                           \
    }

#endif

/* isa.h - which instruction set the kernels use. Sources under kernels/ and the generated loops are compiled once per
 * instruction set; the choice is made when the plugin starts. */
#ifndef CPU_ISA_H
#define CPU_ISA_H

#include <tenon/border.h>

typedef enum cpu_isa { CPU_BASELINE, CPU_AVX2, CPU_AVX512, CPU_ISAS } cpu_isa;

/* The best that this processor and this build have. TENON_CPU_ISA=baseline|avx2|avx512 asks for less. */
cpu_isa cpu_isa_chosen(void);
const char *cpu_isa_name(cpu_isa isa);

/* Loops of the generated pointwise kernels for a dtype, by LOOP_*; NULL where an operator does not take it. */
void cpu_isa_start(void); /* once, in init */
const tn_loop_fn *cpu_loops(tn_dtype dtype);

#endif

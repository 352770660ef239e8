/* isa.h - which instruction set the kernels use. Sources under kernels/ and the generated loops are
 * compiled once per instruction set; the choice is made when the plugin starts. */
#ifndef CPU_ISA_H
#define CPU_ISA_H

#include <tenon/border.h>

typedef enum cpu_isa { CPU_BASELINE, CPU_AVX2, CPU_AVX512, CPU_ISAS } cpu_isa;

/* The best that this processor and this build have. TENON_CPU_ISA=baseline|avx2|avx512 asks for
 * less. */
cpu_isa cpu_isa_chosen(void);
const char *cpu_isa_name(cpu_isa isa);

void cpu_isa_start(void); /* once, in init */

/* Loops of the generated pointwise kernels, by LOOP_* and dtype; NULL where an operator does not
 * take the dtype. */
extern tn_loop_fn cpu_loops[][TN_DTYPE_COUNT];

#endif
